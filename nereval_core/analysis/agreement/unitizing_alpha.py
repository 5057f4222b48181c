"""Krippendorff's unitizing alpha of 2004: agreement on the stretches of text that annotators mark.

This is the form of 2004 (Measuring the reliability of qualitative text analysis data, Quality & Quantity 38; Content
Analysis, 2nd edition, p. 251 ff.), not one of the family of 2016 (docs/scoring.md#agreement), for each type on its own.
Characters are the continuum; that of a corpus is its documents in a row, but neither units nor gaps reach from one
document into another. A unit is the hull of a span. Where units of one type and annotator overlap, the figure is
refused for that type and for all types together.

With m annotators, L characters, N units and gaps of all annotators together, of lengths l and g:

    observed  2 D / (m (m - 1) L^2), D summed over the pairs of annotators: of two units that overlap, the squares of
              the distances of their starts and of their ends; of a unit in a gap of the other annotator, l^2;
    expected  2/L ((N - 1)/3 F + X) / (mL (mL - 1) - Q), F = sum of l (l - 1)(2l - 1), Q = sum of l (l - 1),
              X = sum over units and gaps of l^2 (g - l + 1) where g >= l.

Alpha is 1 less observed / expected, over several types 1 less the sum of the observed / the sum of the expected.

Where not all annotators saw all documents, document d being seen by m_d of them and having L_d characters, the pairs
are those who both saw a document, T = sum of m_d L_d takes the place of mL, and D is weighted by document:

    observed  (sum over d of 2 D_d / (m_d - 1)) / (T L);
    expected  2/L ((N - 1)/3 F + X) / (T (T - 1) - Q).

The paper of 2004 has no missing values. This is the rule for them of Krippendorff 2011 (Computing Krippendorff's
alpha-reliability), by which a unit with m_u values weighs its pairs by 1 / (m_u - 1), applied to characters; where all
saw all it is the form of 2004.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from nereval_core.alignment.codes import ranges
from nereval_core.analysis.agreement.kappa_and_alpha import ratio_or_nan, split_by_number, weigh_pairs
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Array, Bools, Float64, Int64, edges_of

SUMMED_PARTS = ("length", "seen_length", "units", "cubes", "squares")
"""Fields of `Disagreement` that are sums over documents, besides `apart`."""
MOST_RESAMPLING_COUNTS = 1 << 24
"""Lengths of units times documents; with more, resampling would take too long."""


@dataclass(frozen=True, eq=False)
class AnnotatedUnits:
    """The units of one annotator and type in the order of the text, and the gaps between them.

    `doc`, `start`, `end` have the shape (units,), `gap_doc` and `gap` (lengths) the shape (gaps,). `crossed` are the
    documents in which units overlap, where alpha is refused.
    """

    doc: Int64
    start: Int64
    end: Int64
    gap_doc: Int64
    gap: Int64
    crossed: Int64

    @property
    def length(self) -> Int64:
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class Disagreement:
    """Sums from which the disagreement of some annotators is computed, by document or resample, shape (n,) each.

    In the module's formulas `length` is L, `seen_length` T, `units` N, `cubes` F, `squares` Q and `across` X. `apart`,
    shape (numbers, n), is D of the documents that each of the `numbers` of annotators saw.
    """

    numbers: tuple[int, ...]
    length: Array
    seen_length: Array
    units: Array
    cubes: Array
    squares: Array
    apart: Array
    across: Array

    @property
    def observed(self) -> Float64:
        pairs = np.asarray(self.seen_length, np.float64) * np.asarray(self.length, np.float64)
        return ratio_or_nan(weigh_pairs(self.apart, self.numbers), pairs)

    @property
    def expected(self) -> Float64:
        seen_length = np.asarray(self.seen_length, np.float64)
        # Without units no disagreement is expected.
        above = np.maximum(np.asarray(self.units, np.float64) - 1, 0) / 3 * self.cubes + self.across
        return ratio_or_nan(2 * above, self.length * (seen_length * (seen_length - 1) - self.squares))


class ResamplingCounts(NamedTuple):
    """Counts by document, shape (SUMMED_PARTS, numbers and 3 lengths, documents), with the lengths of units."""

    counts: Int64
    lengths: Int64
    numbers: tuple[int, ...]


class TypeUnits(Mapping[str, tuple[AnnotatedUnits, ...]]):
    """The units of each annotator by type, made when they are asked for: each has a gap in nearly every document."""

    def __init__(self, layers: Sequence[Layer], types: Sequence[str], saw: Sequence[Bools | None]) -> None:
        """Sort the spans of each layer by type; documents without `saw` have no gap."""
        self._types = tuple(types)
        self._layers = tuple(zip(layers, saw, strict=True))
        self._sorted = [np.argsort(layer.type, kind="stable") for layer in layers]
        self._edges = [edges_of(np.bincount(layer.type, minlength=len(layer.types))) for layer in layers]
        self._codes = [{name: code for code, name in enumerate(layer.types)} for layer in layers]

    def __getitem__(self, name: str) -> tuple[AnnotatedUnits, ...]:
        return tuple(self.of_annotator(name, number) for number in range(len(self._layers)))

    def of_annotator(self, name: str, number: int) -> AnnotatedUnits:
        """Return the units of one annotator."""
        layer, saw = self._layers[number]
        code, edges = self._codes[number].get(name), self._edges[number]
        spans = self._sorted[number][edges[code] : edges[code + 1]] if code is not None else np.zeros(0, np.int64)
        return _units_of_spans(layer, spans, saw)

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)


def annotator_units(layer: Layer, type: str, saw: Bools | None = None) -> AnnotatedUnits:
    """Return the units of a type in an annotator's layer; documents without `saw` have no gap."""
    return TypeUnits((layer,), (type,), (saw,)).of_annotator(type, 0)


def _units_of_spans(layer: Layer, spans: Int64, saw: Bools | None) -> AnnotatedUnits:
    lengths = layer.documents.lengths
    doc, start, end = (column[spans].astype(np.int64) for column in (layer.doc, layer.start, layer.end))
    base = layer.documents.base
    reached = np.maximum.accumulate(end + base[doc])
    crossed = np.unique(doc[1:][(start + base[doc])[1:] < reached[:-1]])
    # A gap precedes each unit and ends each document, if there is room for one.
    before = np.zeros(len(doc), np.int64)
    same = np.flatnonzero(doc[1:] == doc[:-1]) + 1
    before[same] = end[same - 1]
    last = np.zeros(len(lengths), np.int64)
    np.maximum.at(last, doc, end)
    gap = np.concatenate((start - before, lengths - last))
    gap_doc = np.concatenate((doc, np.arange(len(lengths))))
    room = (gap > 0) & (True if saw is None else saw[gap_doc])
    return AnnotatedUnits(doc, start, end, gap_doc[room], gap[room], crossed)


def pair_distance(first: AnnotatedUnits, second: AnnotatedUnits, base: Int64) -> Int64:
    """Return the distance between the units of two annotators by document: D of the pair, shape (documents,)."""
    distances = np.zeros(len(base) - 1, np.int64)
    a, b = (units.start + base[units.doc] for units in (first, second))
    c, d = (units.end + base[units.doc] for units in (first, second))
    low, high = np.searchsorted(d, a, side="right"), np.searchsorted(b, c, side="left")
    row, match = ranges(low, np.maximum(low, high))
    np.add.at(distances, first.doc[row], (a[row] - b[match]) ** 2 + (c[row] - d[match]) ** 2)
    for units, met in ((first, row), (second, match)):
        alone = np.ones(len(units.doc), bool)
        alone[met] = False
        np.add.at(distances, units.doc[alone], units.length[alone] ** 2)
    return distances


def disagreement(annotators: Sequence[AnnotatedUnits], base: Int64, who_saw: Bools | None = None) -> Disagreement:
    """Return the sums by document, where each document is a continuum of its own.

    `who_saw` tells which annotators saw which documents, shape (annotators, documents), at least two each; by default
    all saw all.
    """
    doc, length, gap_doc, gap = _pool_annotators(annotators)
    across = _units_across_gaps(doc, length, gap_doc, gap, len(base) - 1)
    return replace(_without_across(annotators, base, who_saw), across=across)


def _without_across(annotators: Sequence[AnnotatedUnits], base: Int64, who_saw: Bools | None) -> Disagreement:
    """Return the sums by document, but 0 for X, which is no sum over documents where these are one continuum."""
    doc, length, _, _ = _pool_annotators(annotators)
    documents = len(base) - 1
    saw = np.ones((len(annotators), documents), bool) if who_saw is None else who_saw
    distance = np.zeros(documents, np.int64)
    for (first, units), (second, other_units) in combinations(enumerate(annotators), 2):
        distance += pair_distance(units, other_units, base) * (saw[first] & saw[second])
    numbers, apart = split_by_number(distance, saw)
    return Disagreement(
        numbers=numbers,
        length=np.diff(base),
        seen_length=np.diff(base) * saw.sum(axis=0),
        units=np.bincount(doc, minlength=documents),
        cubes=_document_sums(length * (length - 1) * (2 * length - 1), doc, documents),
        squares=_document_sums(length * (length - 1), doc, documents),
        apart=apart,
        across=np.zeros(documents),
    )


def corpus_disagreement(annotators: Sequence[AnnotatedUnits], base: Int64, saw: Bools | None = None) -> Disagreement:
    """Return the sums over all documents as one continuum, shape (1,) each."""
    by_document = _without_across(annotators, base, saw)
    _, length, _, gap = _pool_annotators(annotators)
    parts = {name: getattr(by_document, name).sum(axis=-1, keepdims=True) for name in (*SUMMED_PARTS, "apart")}
    distinct, n_units = np.unique(length, return_counts=True)
    places = np.array([(gap - size + 1)[gap >= size].sum() for size in distinct.tolist()], np.float64)
    across = (distinct.astype(np.float64) ** 2 * n_units * places).sum(keepdims=True)
    return Disagreement(numbers=by_document.numbers, **parts, across=across)


def resampling_counts(
    annotators: Sequence[AnnotatedUnits], base: Int64, saw: Bools | None = None
) -> ResamplingCounts | None:
    """Return counts by document from which `disagreement_of_sums` computes any sample of documents.

    X is not a sum over documents, as a unit of one document is compared with the gaps of all. But for each length of
    a unit it is the number of such units times the number of places for one, and both of these are such sums. Places
    are counted as if no document had units, which all types share, and as the difference from that, which is 0 in
    documents without. None where there would be more than MOST_RESAMPLING_COUNTS.
    """
    by_document = _without_across(annotators, base, saw)
    doc, length, gap_doc, gap = _pool_annotators(annotators)
    documents = len(base) - 1
    distinct, place = np.unique(length, return_inverse=True)
    if len(distinct) * documents > MOST_RESAMPLING_COUNTS:
        return None
    number = np.bincount(place * documents + doc, minlength=len(distinct) * documents)
    n_saw = len(annotators) if saw is None else saw.sum(axis=0)
    empty = np.maximum(np.diff(base) - distinct[:, None] + 1, 0) * n_saw
    room = np.zeros((len(distinct), documents), np.int64)
    for row, size in zip(room, distinct.tolist(), strict=True):
        fits = gap >= size
        row[:] = np.bincount(gap_doc[fits], gap[fits] - size + 1, documents)
    plain = np.array([getattr(by_document, name) for name in SUMMED_PARTS], np.int64)
    counts = np.concatenate((plain, by_document.apart, number.reshape(-1, documents), empty, room - empty))
    return ResamplingCounts(counts, distinct, by_document.numbers)


def disagreement_of_sums(sums: Array, lengths: Int64, numbers: tuple[int, ...]) -> Disagreement:
    """Return the disagreement in samples of documents from sums of `ResamplingCounts.counts`, shape (rows, n)."""
    n_units, empty, difference = np.split(sums[len(SUMMED_PARTS) + len(numbers) :].astype(np.float64), 3)
    across = (lengths[:, None] ** 2 * n_units * (empty + difference)).sum(axis=0)
    parts = dict(zip(SUMMED_PARTS, sums.astype(np.float64), strict=False))
    return Disagreement(numbers=numbers, **parts, apart=sums[len(SUMMED_PARTS) :][: len(numbers)], across=across)


def _pool_annotators(annotators: Sequence[AnnotatedUnits]) -> tuple[Int64, Int64, Int64, Int64]:
    """Return the documents and lengths of the units of all annotators, then those of the gaps."""
    names = ("doc", "length", "gap_doc", "gap")
    doc, start, end, length = (np.concatenate([getattr(units, name) for units in annotators]) for name in names)
    return doc, start, end, length


def _document_sums(values: Int64, doc: Int64, documents: int) -> Int64:
    """Return sums by document in integers, which are exact beyond the range of floats."""
    sums = np.zeros(documents, np.int64)
    np.add.at(sums, doc, values)
    return sums


def _units_across_gaps(doc: Int64, length: Int64, gap_doc: Int64, gap: Int64, documents: int) -> Float64:
    """Return X by document, where a unit is compared only with the gaps of its own document.

    Gaps are sorted by document and length, so that those long enough for a unit are consecutive.
    """
    order = np.lexsort((gap, gap_doc))
    gap_doc, gap = gap_doc[order], gap[order]
    reached = np.concatenate((np.zeros(1, np.int64), np.cumsum(gap)))
    step = int(max(gap.max(initial=0), length.max(initial=0))) + 1
    low = np.searchsorted(gap_doc * step + gap, doc * step + length)
    high = np.searchsorted(gap_doc, doc, side="right")
    places = reached[high] - reached[low] - (high - low) * (length - 1)
    sums: Float64 = np.bincount(doc, length.astype(np.float64) ** 2 * places, documents).astype(np.float64)
    return sums
