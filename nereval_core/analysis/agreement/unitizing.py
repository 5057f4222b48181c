"""Krippendorff's unitizing alpha: do annotators mark the same stretches of text?

The form of 2004 (Measuring the reliability of qualitative text analysis data, Quality & Quantity 38; Content Analysis,
2nd edition, p. 251 ff.), for each type on its own, characters being the continuum. The continuum of a corpus is that of
its documents in a row; neither units nor gaps reach from one document into another. A unit is the hull of a span. Units
of one type and annotator must not overlap: then the figure is refused, for that type and for all types together.

With m annotators, L characters, N units and gaps of all annotators together, of lengths l and g:
    observed  2 D / (m (m - 1) L^2), D summed over the pairs of annotators: of two units that overlap, the squares of
              the distances of their starts and of their ends; of a unit in a gap of the other annotator, l^2;
    expected  2/L ((N - 1)/3 F + X) / (mL (mL - 1) - Q), F = sum of l (l - 1)(2l - 1), Q = sum of l (l - 1),
              X = sum over units and gaps of l^2 (g - l + 1) where g >= l.
Alpha is 1 less observed / expected, over several types 1 less the sum of the observed / the sum of the expected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nereval_core.alignment.codes import ranges
from nereval_core.analysis.agreement.chance import Numbers, share
from nereval_core.arrays import Float64, Int64
from nereval_core.corpus import Layer

PARTS = ("length", "units", "apart", "cubes", "squares")
"""Fields of `Disagreement` that are sums over documents."""
ROOM = 1 << 24
"""Lengths of units times documents: beyond, resampling would take more than it tells."""


@dataclass(frozen=True, eq=False)
class Units:
    """The units of one annotator and type in the order of the text, and the gaps between them.

    `doc`, `start`, `end` have the shape (units,), `gap_doc` and `gap` (lengths) the shape (gaps,). `crossed` are the
    documents in which units overlap: nothing is to be made of these.
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
    """Sums that the disagreement of some annotators is made of, by place (document or resample), shape (n,) each.

    `units` is N, `apart` D, `cubes` F, `squares` Q and `across` X of the module's formulas, `length` is L.
    """

    annotators: int
    length: Numbers
    units: Numbers
    apart: Numbers
    cubes: Numbers
    squares: Numbers
    across: Numbers

    @property
    def observed(self) -> Float64:
        many = self.annotators * (self.annotators - 1)
        return share(2 * np.asarray(self.apart, np.float64), many * np.asarray(self.length, np.float64) ** 2)

    @property
    def expected(self) -> Float64:
        whole = self.annotators * np.asarray(self.length, np.float64)
        # Without units there is nothing to be expected.
        above = np.maximum(np.asarray(self.units, np.float64) - 1, 0) / 3 * self.cubes + self.across
        return share(2 * above, self.length * (whole * (whole - 1) - self.squares))


def units_of(layer: Layer, type: str) -> Units:
    """Return the units of a type."""
    lengths = layer.documents.lengths
    chosen = np.flatnonzero(layer.type == layer.types.index(type)) if type in layer.types else np.zeros(0, np.int64)
    doc, start, end = (column[chosen].astype(np.int64) for column in (layer.doc, layer.start, layer.end))
    base = layer.documents.base
    reached = np.maximum.accumulate(end + base[doc])
    crossed = np.unique(doc[1:][(start + base[doc])[1:] < reached[:-1]])
    # A gap stands before each unit and at the end of each document, if there is room for one.
    before = np.zeros(len(doc), np.int64)
    same = np.flatnonzero(doc[1:] == doc[:-1]) + 1
    before[same] = end[same - 1]
    last = np.zeros(len(lengths), np.int64)
    np.maximum.at(last, doc, end)
    gap = np.concatenate((start - before, lengths - last))
    gap_doc = np.concatenate((doc, np.arange(len(lengths))))
    room = gap > 0
    return Units(doc, start, end, gap_doc[room], gap[room], crossed)


def apart(one: Units, other: Units, base: Int64) -> Int64:
    """Return how far the units of two annotators lie apart by document: D of the pair, shape (documents,)."""
    found = np.zeros(len(base) - 1, np.int64)
    a, b = (units.start + base[units.doc] for units in (one, other))
    c, d = (units.end + base[units.doc] for units in (one, other))
    low, high = np.searchsorted(d, a, side="right"), np.searchsorted(b, c, side="left")
    row, match = ranges(low, np.maximum(low, high))
    np.add.at(found, one.doc[row], (a[row] - b[match]) ** 2 + (c[row] - d[match]) ** 2)
    for units, met in ((one, row), (other, match)):
        alone = np.ones(len(units.doc), bool)
        alone[met] = False
        np.add.at(found, units.doc[alone], units.length[alone] ** 2)
    return found


def disagreement(annotators: Sequence[Units], base: Int64) -> Disagreement:
    """Return the sums by document, each document being a continuum of its own."""
    doc, length, gap_doc, gap = _pooled(annotators)
    documents = len(base) - 1
    distance = np.zeros(documents, np.int64)
    for one, other in combinations(annotators, 2):
        distance += apart(one, other, base)
    return Disagreement(
        annotators=len(annotators),
        length=np.diff(base),
        units=np.bincount(doc, minlength=documents),
        apart=distance,
        cubes=_summed(length * (length - 1) * (2 * length - 1), doc, documents),
        squares=_summed(length * (length - 1), doc, documents),
        across=_across(doc, length, gap_doc, gap, documents),
    )


def whole(annotators: Sequence[Units], base: Int64) -> Disagreement:
    """Return the sums over all documents as one continuum, shape (1,) each."""
    found = disagreement(annotators, base)
    _, length, _, gap = _pooled(annotators)
    parts = {name: getattr(found, name).sum(keepdims=True) for name in PARTS}
    return Disagreement(
        annotators=len(annotators),
        **parts,
        across=_across(np.zeros_like(length), length, np.zeros_like(gap), gap, 1),
    )


def countable(annotators: Sequence[Units], base: Int64) -> tuple[Int64, Int64] | None:
    """Return counts by document from which `of_sums` makes the sums of any sample of documents, and the lengths.

    X is no sum over documents, as a unit of one is held against the gaps of all. Yet for each length of a unit it is
    the number of such units times the places for one, and both of these are. Shapes (PARTS and 2 lengths, documents)
    and (lengths,); None where there would be more than ROOM.
    """
    found = disagreement(annotators, base)
    doc, length, gap_doc, gap = _pooled(annotators)
    documents = len(base) - 1
    distinct, place = np.unique(length, return_inverse=True)
    if len(distinct) * documents > ROOM:
        return None
    number = np.bincount(place * documents + doc, minlength=len(distinct) * documents)
    room = np.zeros((len(distinct), documents), np.int64)
    for row, size in zip(room, distinct.tolist(), strict=True):
        fits = gap >= size
        row[:] = np.bincount(gap_doc[fits], gap[fits] - size + 1, documents)
    plain = np.array([getattr(found, name) for name in PARTS], np.int64)
    return np.concatenate((plain, number.reshape(-1, documents), room)), distinct


def of_sums(sums: Numbers, lengths: Int64, annotators: int) -> Disagreement:
    """Return the sums of samples of documents from sums of what `countable` counts, shape (rows, n)."""
    stop = len(PARTS) + len(lengths)
    across = (lengths[:, None] ** 2 * sums[len(PARTS) : stop].astype(np.float64) * sums[stop:]).sum(axis=0)
    parts = dict(zip(PARTS, sums.astype(np.float64), strict=False))
    return Disagreement(annotators=annotators, **parts, across=across)


def _pooled(annotators: Sequence[Units]) -> tuple[Int64, Int64, Int64, Int64]:
    """Return documents and lengths of all units, then of all gaps."""
    names = ("doc", "length", "gap_doc", "gap")
    one, two, three, four = (np.concatenate([getattr(units, name) for units in annotators]) for name in names)
    return one, two, three, four


def _summed(values: Int64, doc: Int64, documents: int) -> Int64:
    """Return sums by document, exact beyond what a float holds."""
    found = np.zeros(documents, np.int64)
    np.add.at(found, doc, values)
    return found


def _across(doc: Int64, length: Int64, gap_doc: Int64, gap: Int64, documents: int) -> Float64:
    """Return X by document: only the gaps of a unit's own document are held against it.

    Gaps stand by document and length, so that those which hold a unit follow one another.
    """
    order = np.lexsort((gap, gap_doc))
    gap_doc, gap = gap_doc[order], gap[order]
    reached = np.concatenate((np.zeros(1, np.int64), np.cumsum(gap)))
    step = int(max(gap.max(initial=0), length.max(initial=0))) + 1
    low = np.searchsorted(gap_doc * step + gap, doc * step + length)
    high = np.searchsorted(gap_doc, doc, side="right")
    places = reached[high] - reached[low] - (high - low) * (length - 1)
    found: Float64 = np.bincount(doc, length.astype(np.float64) ** 2 * places, documents).astype(np.float64)
    return found
