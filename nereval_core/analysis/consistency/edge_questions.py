"""Questions about the edges of spans: words that are inside some spans and just outside others, and odd ends.

Words are counted for spans of each type separately: a guideline may include a word in cell types but not in proteins.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nereval_core.analysis.consistency.findings import (
    Occurrences,
    RankedFindings,
    concatenate_occurrences,
    rank_findings,
    select_occurrences,
)
from nereval_core.analysis.consistency.indexed_layer import Codes, IndexedLayer
from nereval_core.analysis.running_words import Words, fold

SIDES = ("left", "right")
WAYS = ("inside", "just outside")
OPEN, CLOSE = "([{", ")]}"
QUOTES = frozenset("\"'`‘’‚“”„«»‹›")
FINE_AT_EDGES = frozenset("%‰#@&*§†‡'’′″·_")
"""Punctuation that names may begin or end with."""


def find_edge_words(given: IndexedLayer) -> RankedFindings:
    """Find the words that are the first or last word of some spans and stand just outside others.

    A word counts as inside if the span has other words too, and as outside if it is in no span. Words without a letter
    are ignored.
    """
    words, layer, cover = given.places.words, given.layer, given.cover
    low, high = given.places.low, given.places.high
    kinds = len(layer.types)
    asked = given.kept & given.places.whole
    first = words.first[layer.doc], words.first[layer.doc + 1]
    parts: list[Occurrences] = []
    for side in range(len(SIDES)):
        inner = low if side == 0 else high - 1
        outer = low - 1 if side == 0 else high
        there = (outer >= first[0]) & (outer < first[1])
        there[there] = cover.free(outer[there], outer[there] + 1)
        for way, word, some in ((0, inner, asked & (high - low > 1)), (1, outer, asked & there)):
            span = np.flatnonzero(some)
            span = span[words.lettered[words.code[word[span]]]]
            at = word[span]
            of = (words.code[at].astype(np.int64) * len(SIDES) + side) * kinds + layer.type[span]
            stretch = given.stretch(np.minimum(at, low[span]), np.maximum(at + 1, high[span]))
            parts.append((of, *stretch, np.full(len(span), way, np.int8)))
    both = np.ones(len(words.names) * len(SIDES) * kinds, bool)
    for way in range(len(WAYS)):
        seen = [part[0] for part in parts[way :: len(WAYS)]]
        both &= np.bincount(np.concatenate(seen), minlength=len(both)) > 0
    found = concatenate_occurrences(*(select_occurrences(part, both[part[0]]) for part in parts))

    def describe(number: int) -> tuple[str, str]:
        rest, kind = divmod(number, kinds)
        word, side = divmod(rest, len(SIDES))
        return words.names[word], f"{SIDES[side]} edge of {layer.types[kind]}"

    return rank_findings(found, describe=describe, group_name=WAYS.__getitem__, votes=np.arange(len(WAYS)))


def find_odd_ends(given: IndexedLayer) -> RankedFindings:
    """Find the spans with white space or punctuation at an edge, with unbalanced brackets, or with an edge in a word.

    Each span needs settling. A bracket at an edge is fine if its other half is in the span. In scripts that put no
    blanks between words no edge is in a word.
    """
    layer = given.layer
    number: dict[tuple[str, str], int] = {}
    found = [(number.setdefault(oddity, len(number)), span) for oddity, span in _oddities(given)]
    of, span = np.array(found, np.int64).reshape(-1, 2).T
    names = list(number)
    return rank_findings(
        (of, *given.bounds(span), layer.type[span]), describe=names.__getitem__, group_name=layer.types.__getitem__
    )


def _oddities(given: IndexedLayer) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield oddities with their place at the span, and the span; a span may have several."""
    layer, words = given.layer, given.places.words
    low, high = given.places.low, given.places.high
    kept = given.kept
    for span in np.flatnonzero(kept & (high == low)).tolist():
        yield ("nothing but white space", ""), span
    spans = np.flatnonzero(kept & (high > low))
    low, high = low[spans], high[spans]
    base = layer.documents.base[layer.doc[spans]]
    start, end = base + layer.start[spans], base + layer.end[spans]
    begin, stop = words.start[low], words.end[high - 1]
    for where, blank in (("at the start", begin > start), ("at the end", stop < end)):
        for span in spans[blank].tolist():
            yield ("white space", where), span
    for where, cut, left in (
        ("just before the start", begin < start, True),
        ("just after the end", stop > end, False),
    ):
        for at in np.flatnonzero(cut).tolist():
            doc = int(layer.doc[spans[at]])
            edges = (begin[at], start[at]) if left else (end[at], stop[at])
            low_edge, high_edge = (int(edge - base[at]) for edge in edges)
            rest = layer.documents.texts[doc][low_edge:high_edge]
            yield (f"the rest of a word, “{fold(rest)}”", where), int(spans[at])
    alone = words.punctuation[words.code[low]] & (high - low == 1)
    for at in np.flatnonzero(alone).tolist():
        yield (f"nothing but “{words.names[words.code[low[at]]]}”", ""), int(spans[at])
    for where, word in (("at the start", low), ("at the end", high - 1)):
        marks = words.punctuation[words.code[word]] & ~alone
        for at in np.flatnonzero(marks).tolist():
            mark = words.names[words.code[word[at]]]
            if mark in FINE_AT_EDGES or mark in OPEN or mark in CLOSE:
                continue
            if mark in QUOTES and _quotes_balanced(words, int(low[at]), int(high[at])):
                continue
            yield (f"“{mark}”", where), int(spans[at])
    yield from _lone_brackets(given, spans, low, high)


def _quotes_balanced(words: Words, low: int, high: int) -> bool:
    """Tell whether the words have an even number of quotation marks, so that one at an edge is closed."""
    marks = [name for name in (words.names[code] for code in words.code[low:high].tolist()) if name in QUOTES]
    return len(marks) % 2 == 0


def _lone_brackets(given: IndexedLayer, spans: Codes, low: Codes, high: Codes) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the spans with brackets that lack their other half."""
    words = given.places.words
    half = np.array([name in OPEN or name in CLOSE for name in words.names], bool)
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(half[words.code[: given.document_words]])))
    for at in np.flatnonzero(before[high] > before[low]).tolist():
        span = int(spans[at])
        # The text between fragments is not part of a span.
        text = given.layer.text(span)
        for mark in dict.fromkeys(_unbalanced(text)):
            yield (f"“{mark}” without its other half", ""), span


def _unbalanced(text: str) -> list[str]:
    """Return the brackets of a text without their other half."""
    waiting: list[str] = []
    lone: list[str] = []
    for char in text:
        if char in OPEN:
            waiting.append(char)
        elif char in CLOSE:
            if waiting and OPEN.index(waiting[-1]) == CLOSE.index(char):
                waiting.pop()
            else:
                lone.append(char)
    return lone + waiting
