"""A text cut down to what is read around some spans: at sentences where they fit, else at words.

All places are code points, end exclusive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from nereval_core.report.highlight import Mark

CUT = "…"
# Not after a letter alone, as in initials and "e.g."
_SENTENCE_END = re.compile(r"(?:(?<!\b\w)\.|[!?…。！？])[\"'”’»)\]]*\s+(?=[^\sa-z])|\n\s*\n")
_LEAST = 12
"""Characters kept before and after each beginning and end of a span that is too long."""
_REACH = 200
"""Characters within which a word must end for a cut to wait for it."""


def cut_around(
    text: str, marks: Sequence[Mark], most: int, sentences: Sequence[tuple[int, int]] = ()
) -> tuple[str, list[Mark]]:
    """Return about `most` characters of a text around some marks, and the marks in it.

    Whole sentences where they fit (`sentences` of the document, else those that punctuation tells), else words. Where
    the marks alone are longer, what lies around their beginnings and ends is kept. `…` stands for what is left out
    but for whole sentences. No mark is lost.
    """
    first, last = min(mark.start for mark in marks), max(mark.end for mark in marks)
    if last - first <= most:
        bounds = sentence_bounds(text, sentences)
        kept = [_around(text, first, last, most, bounds)]
    else:
        bounds = ()
        edges = sorted({edge for mark in marks for part in mark.fragments for edge in part})
        reach = max(most // (2 * len(edges)), _LEAST)
        kept = _joined(_words_around(text, edge, reach) for edge in edges)
    return _taken(text, marks, kept, bounds)


def sentence_bounds(text: str, sentences: Sequence[tuple[int, int]] = ()) -> tuple[int, ...]:
    """Return where sentences begin, and the end of the text."""
    starts = [low for low, _ in sentences] or [match.end() for match in _SENTENCE_END.finditer(text)]
    return tuple(sorted({0, *starts, len(text)}))


def _around(text: str, first: int, last: int, most: int, bounds: Sequence[int]) -> tuple[int, int]:
    low = max(bound for bound in bounds if bound <= first)
    high = min(bound for bound in bounds if bound >= last)
    if high - low > most:
        room = most - (last - first)
        before = min(max(room // 2, room - (high - last)), first - low)
        after = min(room - before, high - last)
        cut = _word_end(text, last, last + after)
        return _word_start(text, first - before, first), high if text[cut:high].isspace() else cut
    # More sentences, by turns after and before.
    place, end = bounds.index(low), bounds.index(high)
    grown = True
    while grown:
        grown = False
        if end + 1 < len(bounds) and bounds[end + 1] - bounds[place] <= most:
            end, grown = end + 1, True
        if place and bounds[end] - bounds[place - 1] <= most:
            place, grown = place - 1, True
    return bounds[place], bounds[end]


def _words_around(text: str, edge: int, reach: int) -> tuple[int, int]:
    return _word_start(text, max(0, edge - reach), edge), _word_end(text, edge, min(len(text), edge + reach))


def _word_start(text: str, low: int, until: int) -> int:
    """Return the first place from `low` on where a word begins; `low` itself where none does before `until`."""
    if low == 0 or low >= until:
        return low
    return next((at for at in range(low, min(until, low + _REACH) + 1) if text[at - 1].isspace()), low)


def _word_end(text: str, since: int, high: int) -> int:
    """Return the last place up to `high` where a word ends; `high` itself where none does after `since`."""
    if high == len(text) or high <= since:
        return high
    return next((at for at in range(high, max(since, high - _REACH) - 1, -1) if text[at].isspace()), high)


def _joined(pieces: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for low, high in pieces:
        # What would leave out a character or two is kept whole.
        if found and low <= found[-1][1] + 3:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return found


def _taken(
    text: str, marks: Sequence[Mark], kept: Sequence[tuple[int, int]], whole: Sequence[int]
) -> tuple[str, list[Mark]]:
    """Return the pieces of a text with what stands between them, and the marks where they then lie."""
    low, high = kept[0][0], kept[-1][1]
    head = "" if low == 0 or low in whole else f"{CUT} "
    shifts = []
    parts = [head]
    at = len(head)
    for number, (start, end) in enumerate(kept):
        if number:
            parts.append(f" {CUT} ")
            at += len(parts[-1])
        shifts.append((start, end, at - start))
        parts.append(text[start:end])
        at += end - start
    parts.append("" if high == len(text) or high in whole else f" {CUT}")

    def moved(place: int) -> int:
        """Return where a place lies now; one that was left out, where what stands for it begins or ends."""
        for start, end, shift in shifts:
            if place <= end:
                return max(place, start) + shift
        return kept[-1][1] + shifts[-1][2]

    found = []
    for mark in marks:
        # Fragments that were both left out in one place become one.
        edges = [(moved(start), moved(end)) for start, end in mark.fragments]
        fragments = [(start, end) for start, end in edges if start < end]
        apart = [one for one, two in pairwise([*fragments, (at + 1, at + 1)]) if one != two]
        found.append(replace(mark, fragments=tuple(apart)))
    return "".join(parts), found
