"""Questions about the edges of spans: words now inside, now just outside, and ends that look like slips.

A word counts for spans of one type at a time: what a guideline makes part of a cell type it may leave out of a protein.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nereval_core.analysis.consistency.findings import Found, Occurrences, chosen, found_of, joined
from nereval_core.analysis.consistency.questioned_layer import Codes, Inspected
from nereval_core.analysis.running_words import Words, fold

SIDES = ("left", "right")
WAYS = ("inside", "just outside")
OPEN, CLOSE = "([{", ")]}"
QUOTES = frozenset("\"'`‘’‚“”„«»‹›")
FINE = frozenset("%‰#@&*§†‡'’′″·_")
"""Marks that a name may well begin or end with."""


def edge_words(given: Inspected) -> Found:
    """Find the words that stand at an edge of spans, now as their first or last word, now just outside them.

    Inside counts where the span has other words too; outside where the word is in no span. Words without a letter
    are not asked about.
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
    found = joined(*(chosen(part, both[part[0]]) for part in parts))

    def what(number: int) -> tuple[str, str]:
        rest, kind = divmod(number, kinds)
        word, side = divmod(rest, len(SIDES))
        return words.names[word], f"{SIDES[side]} edge of {layer.types[kind]}"

    return found_of(found, what=what, named=WAYS.__getitem__, votes=np.arange(len(WAYS)))


def odd_ends(given: Inspected) -> Found:
    """Find the spans with white space or punctuation at an edge, with unbalanced brackets, or with an edge in a word.

    Each span is one to be settled. A bracket at an edge is fine if its other half is in the span. In scripts that put
    no blanks between words no edge is in a word.
    """
    layer = given.layer
    number: dict[tuple[str, str], int] = {}
    found = [(number.setdefault(oddity, len(number)), span) for oddity, span in _oddities(given)]
    of, span = np.array(found, np.int64).reshape(-1, 2).T
    names = list(number)
    return found_of((of, *given.bounds(span), layer.type[span]), what=names.__getitem__, named=layer.types.__getitem__)


def _oddities(given: Inspected) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield what is odd, where at the span, and which span; a span may be odd in several ways."""
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
            rest = given.text(doc, *(int(edge - base[at]) for edge in edges))
            yield (f"the rest of a word, “{fold(rest)}”", where), int(spans[at])
    alone = words.punctuation[words.code[low]] & (high - low == 1)
    for at in np.flatnonzero(alone).tolist():
        yield (f"nothing but “{words.names[words.code[low[at]]]}”", ""), int(spans[at])
    for where, word in (("at the start", low), ("at the end", high - 1)):
        marks = words.punctuation[words.code[word]] & ~alone
        for at in np.flatnonzero(marks).tolist():
            mark = words.names[words.code[word[at]]]
            if mark in FINE or mark in OPEN or mark in CLOSE:
                continue
            if mark in QUOTES and _quoted(words, int(low[at]), int(high[at]), mark):
                continue
            yield (f"“{mark}”", where), int(spans[at])
    yield from _brackets(given, spans, low, high)


def _quoted(words: Words, low: int, high: int, mark: str) -> bool:
    """Tell whether a quotation mark at an edge of some words has another one beside it there."""
    marks = [name for name in (words.names[code] for code in words.code[low:high].tolist()) if name in QUOTES]
    return len(marks) % 2 == 0


def _brackets(given: Inspected, spans: Codes, low: Codes, high: Codes) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the brackets without their other half."""
    words = given.places.words
    half = np.array([name in OPEN or name in CLOSE for name in words.names], bool)
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(half[words.code[: given.many]])))
    for at in np.flatnonzero(before[high] > before[low]).tolist():
        span = int(spans[at])
        # Of a span in fragments the text between them is no part.
        text = given.layer.text(span)
        for mark in dict.fromkeys(_unbalanced(text)):
            yield (f"“{mark}” without its other half", ""), span


def _unbalanced(text: str) -> list[str]:
    """Return the brackets of a text that have no other half in it."""
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


__all__: Sequence[str] = ("SIDES", "WAYS", "edge_words", "odd_ends")
