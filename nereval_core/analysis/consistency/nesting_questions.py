"""The question of nesting: texts annotated as a whole in one place, in parts or with spans inside in another."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.consistency.findings import RankedFindings, rank_findings
from nereval_core.analysis.consistency.form_search import SpanWords
from nereval_core.analysis.consistency.indexed_layer import Codes, IndexedLayer
from nereval_core.analysis.running_words import form_of
from nereval_core.arrays import Int64
from nereval_core.corpus import Layer

WHOLE = "as a whole"
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def find_different_nesting(given: IndexedLayer) -> RankedFindings:
    """Find the texts of two or more words that are annotated differently: as a whole, in parts, with spans inside.

    The places compared are those where the words of a form occur, some of them are annotated, and no span crosses an
    edge or contains them all and more. Types are ignored.
    """
    hits, cover = given.hits, given.cover
    some = np.flatnonzero((hits.size > 1) & ~given.free)
    low, high, form = hits.word[some], hits.word[some] + hits.size[some], hits.form[some]
    asked = cover.whole(low, high)
    low, high, form = low[asked], high[asked], form[asked]
    spans = _spots_by_words(given)
    begin, stop, exact = given.places.low[spans], given.places.high[spans], given.places.whole[spans]
    begun = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(begin, minlength=given.document_words))))
    first, last = begun[low], begun[high]
    # A single spot may be the whole.
    plain = (last - first == 1) & exact[first] & (begin[first] == low) & (stop[first] == high)
    pattern = np.zeros(len(low), np.int64)
    odd = np.flatnonzero(~plain)
    pattern[odd] = 1 + _patterns(begin, stop, exact, low[odd], first[odd], last[odd], form[odd])
    # A form with two patterns is a finding.
    size = len(given.forms.size)
    ways = np.zeros(size, np.int64)
    # A pattern has a single form: each counts where it first occurs.
    _, met = np.unique(pattern[odd], return_index=True)
    ways += np.bincount(form[odd[met]], minlength=size)
    ways += np.bincount(form[plain], minlength=size) > 0
    kept = ways[form] > 1
    low, high, form, pattern = low[kept], high[kept], form[kept], pattern[kept]
    first, last = first[kept], last[kept]
    group, groups = pd.factorize(pattern)
    sample = np.empty(len(groups), np.int64)
    sample[group[::-1]] = np.arange(len(group))[::-1]

    layer, places, texts = given.layer, given.places, given.texts

    def group_name(number: int) -> str:
        if groups[number] == 0:
            return WHOLE
        hit = sample[number]
        return _annotated_parts(layer, places, spans[int(first[hit]) : int(last[hit])], int(low[hit]), int(high[hit]))

    return rank_findings(
        (form, *given.stretch(low, high), group),
        describe=lambda form: (texts.of_form(form), ""),
        group_name=group_name,
        votes=np.arange(len(groups)),
    )


def _spots_by_words(given: IndexedLayer) -> Int64:
    """Return a span of each spot in the order of words; spots that differ only in white space count as one."""
    spans, places = given.spots.span, given.places
    spans = spans[places.high[spans] > places.low[spans]]
    key = (places.low[spans] * (given.document_words + 1) + places.high[spans]) * 2 + places.whole[spans]
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
    found = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in zip((30, 27), _MIX, strict=True):
        found = (found ^ (found >> np.uint64(shift))) * factor
    return np.asarray(found ^ (found >> np.uint64(31)), np.uint64)


def _annotated_parts(layer: Layer, places: SpanWords, spans: Int64, low: int, high: int) -> str:
    """Return in words the annotated parts of the words `low` to `high`."""
    parts, whole = [], False
    for span in spans.tolist():
        if places.whole[span] and (places.low[span], places.high[span]) == (low, high):
            whole = True
        else:
            parts.append(f"“{form_of(layer.text(span))}”")
    said = " and ".join(parts)
    return f"{WHOLE}, {said} inside" if whole and said else WHOLE if whole else f"{said} only"
