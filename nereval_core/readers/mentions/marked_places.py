"""Where marked mentions stand in their text, by the words around them in the answer.

A model that is asked to mark mentions writes the text again, with tags or brackets in it. Of a name that the text has
several times it then marks a certain one, which the words beside it tell. Answer and text are aligned word by word
(`difflib`), so that words left out, added or changed do no harm elsewhere.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from difflib import SequenceMatcher

WORD = re.compile(r"\w+|[^\w\s]")
MOST_PAIRS = 4_000_000
"""The most pairs of words, beside the equal beginning and end, that are aligned; in longer ones places stay open."""

Place = tuple[int, int]


def places_of_marks(answer: str, marks: Sequence[Place], text: str) -> list[Place | None]:
    """Return the place in the text of each mark of an answer without its marks, None where its words do not tell.

    A place is told where the words of a mark are aligned with the text, and one beside it or most outside of marks are.
    """
    if html.unescape(answer) != answer:
        marks = [(len(html.unescape(answer[:start])), len(html.unescape(answer[:end]))) for start, end in marks]
        answer = html.unescape(answer)
    words = [match.span() for match in WORD.finditer(answer)]
    words_of_text = [match.span() for match in WORD.finditer(text)]
    starts, ends = [start for start, _ in words], [end for _, end in words]
    same = _same_words(
        [answer[start:end].lower() for start, end in words], [text[start:end].lower() for start, end in words_of_text]
    )
    bounds = [(bisect_left(starts, start), bisect_right(ends, end)) for start, end in marks]
    marked = {number for first, behind in bounds for number in range(first, behind)}
    outside = [at is not None for number, at in enumerate(same) if number not in marked]
    repeats_text = 2 * sum(outside) > len(outside)
    places: list[Place | None] = []
    for (start, end), (first, behind) in zip(marks, bounds, strict=True):
        own = same[first:behind]
        at = own[0] if own else None
        if at is None or own != list(range(at, at + len(own))):
            places.append(None)
            continue
        beside = (first > 0 and same[first - 1] == at - 1) or (behind < len(same) and same[behind] == at + len(own))
        place = words_of_text[at][0], words_of_text[at + len(own) - 1][1]
        # A mark may begin inside of a word.
        fits = text[slice(*place)].lower().split() == answer[start:end].lower().split()
        places.append(place if (beside or repeats_text) and fits else None)
    return places


def _same_words(words: Sequence[str], others: Sequence[str]) -> list[int | None]:
    """Return the number of the other word that each word is, None for none; neither order is changed."""
    same: list[int | None] = [None] * len(words)
    shorter = min(len(words), len(others))
    begin = next((at for at in range(shorter) if words[at] != others[at]), shorter)
    same[:begin] = range(begin)
    rest, other_rest = words[begin:], others[begin:]
    if len(rest) * len(other_rest) <= MOST_PAIRS:
        for at, other, size in SequenceMatcher(None, rest, other_rest, autojunk=False).get_matching_blocks():
            same[begin + at : begin + at + size] = range(begin + other, begin + other + size)
    return same
