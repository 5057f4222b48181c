"""Questions about the boundaries of spans: words inside some and just outside others, odd ends, and nesting.

Nesting is a text annotated as a whole in one place, in parts or with spans inside in another. Words are counted for
spans of each type separately: a guideline may include a word in cell types but not in proteins.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.consistency.findings import (
    Occurrences,
    RankedFindings,
    concatenate_occurrences,
    rank_findings,
    select_occurrences,
)
from nereval_core.analysis.consistency.form_search import SpanWords
from nereval_core.analysis.consistency.indexed_layer import Codes, IndexedLayer
from nereval_core.analysis.running_words import RunningWords, fold, form_of
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Int64

SIDES = ("left", "right")
WAYS = ("inside", "just outside")
OPEN, CLOSE = "([{", ")]}"
QUOTES = frozenset("\"'`‘’‚“”„«»‹›")
FINE_AT_EDGES = frozenset("%‰#@&*§†‡'’′″·_")
"""Punctuation that names may begin or end with."""
WHOLE = "as a whole"
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def find_edge_words(indexed: IndexedLayer) -> RankedFindings:
    """Find the words that are the first or last word of some spans and stand just outside others.

    A word counts as inside if the span has other words too, and as outside if it is in no span. Words without a letter
    are ignored.
    """
    words, layer, cover = indexed.places.words, indexed.layer, indexed.cover
    low, high = indexed.places.low, indexed.places.high
    kinds = len(layer.types)
    is_asked = indexed.kept & indexed.places.whole
    first = words.first[layer.doc], words.first[layer.doc + 1]
    parts: list[Occurrences] = []
    for side in range(len(SIDES)):
        inner = low if side == 0 else high - 1
        outer = low - 1 if side == 0 else high
        in_document = (outer >= first[0]) & (outer < first[1])
        in_document[in_document] = cover.free(outer[in_document], outer[in_document] + 1)
        for way, word, is_counted in ((0, inner, is_asked & (high - low > 1)), (1, outer, is_asked & in_document)):
            span = np.flatnonzero(is_counted)
            span = span[words.lettered[words.code[word[span]]]]
            at = word[span]
            of = (words.code[at].astype(np.int64) * len(SIDES) + side) * kinds + layer.type[span]
            stretch = indexed.stretch(np.minimum(at, low[span]), np.maximum(at + 1, high[span]))
            parts.append((of, *stretch, np.full(len(span), way, np.int8)))
    both = np.ones(len(words.names) * len(SIDES) * kinds, bool)
    for way in range(len(WAYS)):
        words_seen = [part[0] for part in parts[way :: len(WAYS)]]
        both &= np.bincount(np.concatenate(words_seen), minlength=len(both)) > 0
    occurrences = concatenate_occurrences(*(select_occurrences(part, both[part[0]]) for part in parts))

    def describe(number: int) -> tuple[str, str]:
        rest, kind = divmod(number, kinds)
        word, side = divmod(rest, len(SIDES))
        return words.names[word], f"{SIDES[side]} edge of {layer.types[kind]}"

    return rank_findings(occurrences, describe=describe, group_name=WAYS.__getitem__, votes=np.arange(len(WAYS)))


def find_odd_ends(indexed: IndexedLayer) -> RankedFindings:
    """Find the spans with white space or punctuation at an edge, with unbalanced brackets, or with an edge in a word.

    Each span needs settling. A bracket at an edge is fine if its other half is in the span. In scripts that put no
    blanks between words no edge is in a word.
    """
    layer = indexed.layer
    number: dict[tuple[str, str], int] = {}
    numbered = [(number.setdefault(oddity, len(number)), span) for oddity, span in _oddities(indexed)]
    of, span = np.array(numbered, np.int64).reshape(-1, 2).T
    names = list(number)
    return rank_findings(
        (of, *indexed.bounds(span), layer.type[span]), describe=names.__getitem__, group_name=layer.types.__getitem__
    )


def _oddities(indexed: IndexedLayer) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield oddities with their place at the span, and the span; a span may have several."""
    layer, words = indexed.layer, indexed.places.words
    low, high = indexed.places.low, indexed.places.high
    is_kept = indexed.kept
    for span in np.flatnonzero(is_kept & (high == low)).tolist():
        yield ("nothing but white space", ""), span
    spans = np.flatnonzero(is_kept & (high > low))
    low, high = low[spans], high[spans]
    base = layer.documents.base[layer.doc[spans]]
    start, end = base + layer.start[spans], base + layer.end[spans]
    begin, stop = words.start[low], words.end[high - 1]
    for where, blank in (("at the start", begin > start), ("at the end", stop < end)):
        for span in spans[blank].tolist():
            yield ("white space", where), span
    for where, cut, is_left in (
        ("just before the start", begin < start, True),
        ("just after the end", stop > end, False),
    ):
        for at in np.flatnonzero(cut).tolist():
            doc = int(layer.doc[spans[at]])
            edges = (begin[at], start[at]) if is_left else (end[at], stop[at])
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
    yield from _lone_brackets(indexed, spans, low, high)


def _quotes_balanced(words: RunningWords, low: int, high: int) -> bool:
    """Tell whether the words have an even number of quotation marks, so that one at an edge is closed."""
    marks = [name for name in (words.names[code] for code in words.code[low:high].tolist()) if name in QUOTES]
    return len(marks) % 2 == 0


def _lone_brackets(
    indexed: IndexedLayer, spans: Codes, low: Codes, high: Codes
) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the spans with brackets that lack their other half."""
    words = indexed.places.words
    half = np.array([name in OPEN or name in CLOSE for name in words.names], bool)
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(half[words.code[: indexed.document_words]])))
    for at in np.flatnonzero(before[high] > before[low]).tolist():
        span = int(spans[at])
        # The text between fragments is not part of a span.
        text = indexed.layer.text(span)
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


def find_different_nesting(indexed: IndexedLayer) -> RankedFindings:
    """Find the texts of two or more words that are annotated differently: as a whole, in parts, with spans inside.

    The places compared are those where the words of a form occur, some of them are annotated, and no span crosses an
    edge or contains them all and more. Types are ignored.
    """
    hits, cover = indexed.hits, indexed.cover
    spots = np.flatnonzero((hits.size > 1) & ~indexed.free)
    low, high, form = hits.word[spots], hits.word[spots] + hits.size[spots], hits.form[spots]
    is_whole = cover.whole(low, high)
    low, high, form = low[is_whole], high[is_whole], form[is_whole]
    spans = _spots_by_words(indexed)
    begin, stop, exact = indexed.places.low[spans], indexed.places.high[spans], indexed.places.whole[spans]
    begun = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(begin, minlength=indexed.document_words))))
    first, last = begun[low], begun[high]
    # A single spot may be the whole.
    plain = (last - first == 1) & exact[first] & (begin[first] == low) & (stop[first] == high)
    pattern = np.zeros(len(low), np.int64)
    odd = np.flatnonzero(~plain)
    pattern[odd] = 1 + _patterns(begin, stop, exact, low[odd], first[odd], last[odd], form[odd])
    # A form with two patterns is a finding.
    size = len(indexed.forms.size)
    ways = np.zeros(size, np.int64)
    # A pattern has a single form: each counts where it first occurs.
    _, met = np.unique(pattern[odd], return_index=True)
    ways += np.bincount(form[odd[met]], minlength=size)
    ways += np.bincount(form[plain], minlength=size) > 0
    is_listed = ways[form] > 1
    low, high, form, pattern = low[is_listed], high[is_listed], form[is_listed], pattern[is_listed]
    first, last = first[is_listed], last[is_listed]
    group, groups = pd.factorize(pattern)
    sample = np.empty(len(groups), np.int64)
    sample[group[::-1]] = np.arange(len(group))[::-1]

    layer, places, texts = indexed.layer, indexed.places, indexed.texts

    def group_name(number: int) -> str:
        if groups[number] == 0:
            return WHOLE
        hit = sample[number]
        return _annotated_parts(layer, places, spans[int(first[hit]) : int(last[hit])], int(low[hit]), int(high[hit]))

    return rank_findings(
        (form, *indexed.stretch(low, high), group),
        describe=lambda form: (texts.of_form(form), ""),
        group_name=group_name,
        votes=np.arange(len(groups)),
    )


def _spots_by_words(indexed: IndexedLayer) -> Int64:
    """Return a span of each spot in the order of words; spots that differ only in white space count as one."""
    spans, places = indexed.spots.span, indexed.places
    spans = spans[places.high[spans] > places.low[spans]]
    key = (places.low[spans] * (indexed.document_words + 1) + places.high[spans]) * 2 + places.whole[spans]
    return spans[np.unique(key, return_index=True)[1]]


def _patterns(
    begin: Int64, stop: Int64, exact: NDArray[np.bool_], low: Codes, first: Codes, last: Codes, form: Codes
) -> Int64:
    """Number the patterns of the spots `first` to `last` within words from `low` on, by form, shape (hits,)."""
    if not len(low):
        return np.zeros(0, np.int64)
    sizes = last - first
    hit = np.repeat(np.arange(len(low)), sizes)
    spot = np.arange(len(hit)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + first[hit]
    place = ((begin[spot] - low[hit]) * 64 + stop[spot] - low[hit]) * 2 + exact[spot]
    # Each spot has a pseudo-random number; sums of them identify sets of spots.
    sums = np.add.reduceat(_scatter(place + 1), np.cumsum(sizes) - sizes)
    return pd.factorize(_scatter(sums ^ _scatter(form)))[0].astype(np.int64)


def _scatter(numbers: Codes) -> NDArray[np.uint64]:
    """Return numbers scattered over 64 bits (splitmix64's last steps)."""
    hashes = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in zip((30, 27), _MIX, strict=True):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * factor
    return np.asarray(hashes ^ (hashes >> np.uint64(31)), np.uint64)


def _annotated_parts(layer: Layer, places: SpanWords, spans: Int64, low: int, high: int) -> str:
    """Return in words the annotated parts of the words `low` to `high`."""
    parts, whole = [], False
    for span in spans.tolist():
        if places.whole[span] and (places.low[span], places.high[span]) == (low, high):
            whole = True
        else:
            parts.append(f"“{form_of(layer.text(span))}”")
    description = " and ".join(parts)
    return f"{WHOLE}, {description} inside" if whole and description else WHOLE if whole else f"{description} only"
