"""The question of nesting: the same text annotated as a whole here, in parts there, with others inside elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.consistency.findings import Found, found_of
from nereval_core.analysis.consistency.questioned_layer import Codes, Inspected
from nereval_core.analysis.running_words import form_of
from nereval_core.arrays import Int64

WHOLE = "as a whole"
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def nested_differently(given: Inspected) -> Found:
    """Find the texts of two words and more that are annotated in different ways: whole, in parts, with spans inside.

    Asked about is each place where the words of a form stand, something of them is annotated, and no span reaches
    over an edge or holds them all and more. Types are not looked at.
    """
    hits, cover = given.hits, given.cover
    some = np.flatnonzero((hits.size > 1) & ~given.free)
    low, high, form = hits.word[some], hits.word[some] + hits.size[some], hits.form[some]
    asked = cover.whole(low, high)
    low, high, form = low[asked], high[asked], form[asked]
    spans = _by_words(given)
    begin, stop, exact = given.places.low[spans], given.places.high[spans], given.places.whole[spans]
    begun = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(begin, minlength=given.many))))
    first, last = begun[low], begun[high]
    # Where one spot alone is there, is it the whole?
    plain = (last - first == 1) & exact[first] & (begin[first] == low) & (stop[first] == high)
    pattern = np.zeros(len(low), np.int64)
    odd = np.flatnonzero(~plain)
    pattern[odd] = 1 + _patterns(begin, stop, exact, low[odd], first[odd], last[odd], form[odd])
    # A form is a finding where it has two patterns.
    size = len(given.forms.size)
    ways = np.zeros(size, np.int64)
    # A pattern is of one form only: each counts where it is first met.
    _, met = np.unique(pattern[odd], return_index=True)
    ways += np.bincount(form[odd[met]], minlength=size)
    ways += np.bincount(form[plain], minlength=size) > 0
    kept = ways[form] > 1
    low, high, form, pattern = low[kept], high[kept], form[kept], pattern[kept]
    first, last = first[kept], last[kept]
    group, groups = pd.factorize(pattern)
    sample = np.empty(len(groups), np.int64)
    sample[group[::-1]] = np.arange(len(group))[::-1]

    def named(number: int) -> str:
        if groups[number] == 0:
            return WHOLE
        hit = sample[number]
        return _said(given, spans[int(first[hit]) : int(last[hit])], int(low[hit]), int(high[hit]))

    return found_of(
        (form, *given.stretch(low, high), group),
        what=lambda form: (given.form(form), ""),
        named=named,
        votes=np.arange(len(groups)),
    )


def _by_words(given: Inspected) -> Int64:
    """Return a span of each spot in the order of their words; spots of the same words, but for white space, are one."""
    spans, places = given.spots.span, given.places
    spans = spans[places.high[spans] > places.low[spans]]
    key = (places.low[spans] * (given.many + 1) + places.high[spans]) * 2 + places.whole[spans]
    return spans[np.unique(key, return_index=True)[1]]


def _patterns(
    begin: Int64, stop: Int64, exact: NDArray[np.bool_], low: Codes, first: Codes, last: Codes, form: Codes
) -> Int64:
    """Number how the spots `first` to `last` lie within words from `low` on, forms apart, shape (hits,)."""
    if not len(low):
        return np.zeros(0, np.int64)
    sizes = last - first
    hit = np.repeat(np.arange(len(low)), sizes)
    spot = np.arange(len(hit)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + first[hit]
    place = ((begin[spot] - low[hit]) * 64 + stop[spot] - low[hit]) * 2 + exact[spot]
    # Each spot has a number as though drawn at random; their sum tells sets of them apart.
    sums = np.add.reduceat(_mixed(place + 1), np.cumsum(sizes) - sizes)
    return pd.factorize(_mixed(sums ^ _mixed(form)))[0].astype(np.int64)


def _mixed(numbers: Codes) -> NDArray[np.uint64]:
    """Return numbers scattered over 64 bits (splitmix64's last steps)."""
    found = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in zip((30, 27), _MIX, strict=True):
        found = (found ^ (found >> np.uint64(shift))) * factor
    return np.asarray(found ^ (found >> np.uint64(31)), np.uint64)


def _said(given: Inspected, spans: Int64, low: int, high: int) -> str:
    """Say which parts of some words are annotated."""
    layer, places = given.layer, given.places
    parts, whole = [], False
    for span in spans.tolist():
        if places.whole[span] and (places.low[span], places.high[span]) == (low, high):
            whole = True
        else:
            parts.append(f"“{form_of(layer.text(span))}”")
    said = " and ".join(parts)
    return f"{WHOLE}, {said} inside" if whole and said else WHOLE if whole else f"{said} only"


__all__: Sequence[str] = ("WHOLE", "nested_differently")
