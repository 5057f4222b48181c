"""Excerpts of a text around some spans, cut at sentences where they fit, otherwise at words; records in their text.

All places are code points, end exclusive.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from nereval_core.report.colours import LOOKS
from nereval_core.report.highlight import document_html
from nereval_core.report.marks import SIDES, USUAL_WORDS, Mark, SideWords, marks_of
from nereval_core.scoring import Scores

if TYPE_CHECKING:
    import pandas as pd

CUT = "…"
RECORD_CHARACTERS = 240
"""Characters of text around a record."""
LINE_CHARACTERS = 80
"""Characters of text around a record on one line."""
# Not after a letter alone, as in initials and "e.g."
_SENTENCE_END = re.compile(r"(?:(?<!\b\w)\.|[!?…。！？])[\"'”’»)\]]*\s+(?=[^\sa-z])|\n\s*\n")
_LEAST = 12
"""Characters kept on each side of the edges of a span that is too long."""
_REACH = 200
"""Characters by which a cut may move to the edge of a word."""


def record_html(
    scores: Scores,
    criterion: str,
    record: pd.Series,
    types: Sequence[str],
    *,
    most: int = RECORD_CHARACTERS,
    words: SideWords = USUAL_WORDS,
) -> Markup:
    """Return a record in its text as HTML, with the words around its spans; the page includes `highlight.STYLE`.

    `record` is a row of RECORD_COLUMNS, `types` are those of the whole corpus.
    """
    text, marks = _cut_around_record(scores, criterion, record, most)
    return document_html(text, marks, types=types, style=False, words=words)


def record_heading(record: pd.Series[Any], words: SideWords = USUAL_WORDS) -> str:
    """Return the decision on a record and its types: `≠ incorrect (INC): gold PER, predicted LOC`."""
    code = str(record["decision"])
    predicted = "predicted" if words is USUAL_WORDS else words.prediction
    sides = [f"{words.gold} {record['gold_type']}"] if int(record["gold"]) >= 0 else []
    sides += [f"{predicted} {record['pred_type']}"] if int(record["pred"]) >= 0 else []
    return f"{LOOKS[code].glyph} {words.decision(code)}: {', '.join(sides)}"


def record_text(scores: Scores, criterion: str, record: pd.Series, *, most: int = LINE_CHARACTERS) -> str:
    """Return a record in its text on one line, its gold span in brackets, or else its prediction.

    `record` is a row of RECORD_COLUMNS. Each fragment has brackets of its own. "" if the span stands nowhere in the
    text.
    """
    text, marks = _cut_around_record(scores, criterion, record, most)
    fragments = min(marks, key=lambda mark: SIDES.index(mark.side)).fragments
    if not fragments:
        return ""
    for start, end in reversed(fragments):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return " ".join(text.split())


def _cut_around_record(scores: Scores, criterion: str, record: pd.Series, most: int) -> tuple[str, list[Mark]]:
    """Return about `most` characters around the spans of a record, and their marks in text order."""
    number = int(record["doc"])
    documents = scores.gold.documents
    spans = zip(SIDES, (int(record["gold"]), int(record["pred"])), strict=True)
    marks = [mark for side, span in spans if span >= 0 for mark in marks_of(scores, criterion, side, [span])]
    marks.sort(key=lambda mark: (mark.start, -mark.end, mark.side))
    sentences: Sequence[tuple[int, int]] = ()
    if documents.sentences is not None:
        low, high = min(mark.start for mark in marks) - most, max(mark.end for mark in marks) + most
        sentences = documents.sentences.near(number, low, high)
    return cut_around(documents.texts[number], marks, most, sentences)


def cut_around(
    text: str,
    marks: Sequence[Mark],
    most: int,
    sentences: Sequence[tuple[int, int]] = (),
    *,
    neighbours: Sequence[Mark] = (),
) -> tuple[str, list[Mark]]:
    """Return about `most` characters of a text around some marks, and the marks in it.

    The excerpt has whole sentences where they fit, otherwise words. `sentences` are those of the document, or at least
    those near the marks; without any they are as punctuation ends them. Where the marks alone are longer, the text
    around their starts and ends is kept. `…` replaces omitted text, except whole sentences. No mark is lost. After the
    marks come the `neighbours` that reach into the excerpt. It does not end within one, unless that would make it too
    long: then the neighbour goes on over the `…`.
    """
    own = min(mark.start for mark in marks), max(mark.end for mark in marks)
    extents = [(mark.start, mark.end) for mark in neighbours]
    first, last = _with_overlapping(own, extents, most)
    if last - first <= most:
        window = _window(text, own[0] - most, own[1] + most)
        bounds = _outside(_sentence_bounds(text, window, sentences), [own, *extents])
        low, high = _around(text, first, last, most, bounds, window)
        if low not in bounds:
            low = _start_outside(text, low, first, extents)
        if high not in bounds:
            high = _end_outside(text, last, high, extents)
        pieces = [(low, high)]
    else:
        bounds = ()
        edges = sorted({edge for mark in marks for part in mark.fragments for edge in part})
        reach = max(most // (2 * len(edges)), _LEAST)
        pieces = _merged(_words_around(text, edge, reach) for edge in edges)
    return _excerpt(text, marks, pieces, bounds, neighbours)


def _window(text: str, low: int, high: int) -> tuple[int, int]:
    """Return places before `low` and after `high`, or the ends of the text, over which no end of a sentence reaches.

    The characters before both are letters or digits, of which the end of a sentence has none.
    """
    low, high = max(low - 1, 0), min(high + 1, len(text))
    while low > 0 and not text[low - 1].isalnum():
        low -= 1
    while high < len(text) and not text[high - 1].isalnum():
        high += 1
    return low, high


def _sentence_bounds(text: str, window: tuple[int, int], sentences: Sequence[tuple[int, int]] = ()) -> tuple[int, ...]:
    """Return the starts of sentences in a window, and the end of the text if it has that: a text may be very long."""
    low, high = window
    ends = _SENTENCE_END.finditer(text, low, high)
    starts = [start for start, _ in sentences] if sentences else [match.end() for match in ends]
    return tuple(sorted(start for start in {0, *starts, len(text)} if low <= start <= high))


Extent = tuple[int, int]


def _with_overlapping(own: Extent, extents: Iterable[Extent], most: int) -> Extent:
    """Return the extent of the marks together with the neighbours that overlap it, as far as `most` characters go."""
    first, last = own
    # The shortest first: one that goes too far is not to keep others out.
    by_length = sorted(extents, key=lambda extent: extent[1] - extent[0])
    is_growing = True
    while is_growing:
        is_growing = False
        for start, end in by_length:
            low, high = min(first, start), max(last, end)
            if start < last and end > first and (low, high) != (first, last) and high - low <= most:
                first, last, is_growing = low, high, True
    return first, last


def _outside(bounds: Sequence[int], extents: Iterable[Extent]) -> tuple[int, ...]:
    """Return the bounds of sentences that lie within no span: a sentence does not end there."""
    within: set[int] = set()
    for start, end in extents:
        within.update(bounds[bisect_right(bounds, start) : bisect_left(bounds, end)])
    return tuple(bound for bound in bounds if bound not in within)


def _start_outside(text: str, low: int, first: int, extents: Sequence[Extent]) -> int:
    """Return the first place from `low` on where an excerpt can begin without cutting a span that ends by `first`."""
    while ends := [end for start, end in extents if start < low < end <= first]:
        low = _word_start(text, max(ends), first)
    return low


def _end_outside(text: str, last: int, high: int, extents: Sequence[Extent]) -> int:
    """Return the last place up to `high` where an excerpt can end without cutting a span that begins after `last`."""
    while starts := [start for start, end in extents if last <= start < high < end]:
        high = min(starts)
        while high > last and text[high - 1].isspace():
            high -= 1
    return high


def _around(
    text: str, first: int, last: int, most: int, bounds: Sequence[int], window: tuple[int, int]
) -> tuple[int, int]:
    # Beyond the window a bound is too far away, wherever it is.
    low = max((bound for bound in bounds if bound <= first), default=window[0])
    high = min((bound for bound in bounds if bound >= last), default=window[1])
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


def _merged(pieces: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for low, high in pieces:
        # A gap of a character or two is kept.
        if merged and low <= merged[-1][1] + 3:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


def _excerpt(
    text: str,
    marks: Sequence[Mark],
    pieces: Sequence[tuple[int, int]],
    whole: Sequence[int],
    neighbours: Sequence[Mark] = (),
) -> tuple[str, list[Mark]]:
    """Return the pieces of a text joined by `…`, and at their places in it the marks, then neighbours in the pieces."""
    low, high = pieces[0][0], pieces[-1][1]
    head = "" if low == 0 or low in whole else f"{CUT} "
    shifts = []
    parts = [head]
    at = len(head)
    for number, (start, end) in enumerate(pieces):
        if number:
            parts.append(f" {CUT} ")
            at += len(parts[-1])
        shifts.append((start, end, at - start))
        parts.append(text[start:end])
        at += end - start
    parts.append("" if high == len(text) or high in whole else f" {CUT}")

    def moved(place: int) -> int:
        """Return the new position of a place; for an omitted one, the edge of the nearest piece."""
        for start, end, shift in shifts:
            if place <= end:
                return max(place, start) + shift
        return pieces[-1][1] + shifts[-1][2]

    moved_marks = []
    for mark in marks:
        # Fragments that were omitted at one place become one.
        edges = [(moved(start), moved(end)) for start, end in mark.fragments]
        fragments = [(start, end) for start, end in edges if start < end]
        apart = [fragment for fragment, following in pairwise([*fragments, (at + 1, at + 1)]) if fragment != following]
        moved_marks.append(replace(mark, fragments=tuple(apart)))
    for mark in neighbours:
        if any(start < last and end > first for start, end in mark.fragments for first, last, _ in shifts):
            clipped = (part for fragment in mark.fragments for part in _clipped(fragment, shifts))
            moved_marks.append(replace(mark, fragments=_joined(clipped)))
    return "".join(parts), moved_marks


def _clipped(fragment: Extent, shifts: Sequence[tuple[int, int, int]]) -> list[Extent]:
    """Return the parts of a neighbour's fragment in an excerpt, of which `shifts` are the pieces.

    Where it is cut or left out, the `…` there is taken in: the neighbour is not to look as if it ended before.
    """
    start, end = fragment
    parts = [
        ((first - _CUT_WIDTH if start < first else start) + shift, (last + _CUT_WIDTH if end > last else end) + shift)
        for first, last, shift in shifts
        if start < last and end > first
    ]
    if not parts:
        edges = [last + shift for _, last, shift in shifts if last <= start]
        parts = [(edges[-1], edges[-1] + _CUT_WIDTH) if edges else (0, _CUT_WIDTH)]
    return parts


_CUT_WIDTH = len(f"{CUT} ")


def _joined(fragments: Iterable[Extent]) -> tuple[Extent, ...]:
    """Return fragments in order, those that overlap as one: both sides of a `…` may take it in."""
    joined: list[Extent] = []
    for start, end in fragments:
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(joined)
