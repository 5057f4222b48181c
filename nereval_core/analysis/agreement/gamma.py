"""Gamma: agreement on units, their places and their types, by the best alignment of all annotators' units.

Mathet, Widlöcher and Métivier 2015 (The Unified and Holistic Method Gamma (γ) for Inter-Annotator Agreement Measure and
Alignment, Computational Linguistics 41(3)). A unit is the hull of a span. The dissimilarity of two units with their
starts s, ends e and types t is

    ((|s1 - s2| + |e1 - e2|) / (length 1 + length 2))^2 + [t1 differs from t2]

and that of a unit and no unit, or of no units, is 1: alpha, beta and the empty dissimilarity are 1 as in the paper. A
unitary alignment takes one unit or none of each annotator; its disorder is the mean dissimilarity of its pairs. An
alignment takes each unit once; its disorder is the sum over its unitary alignments / the mean number of units of an
annotator. Observed disorder is that of the best alignment. Expected disorder is the mean over random annotators: each
has the units of an annotator drawn by chance, moved around the text by a distance drawn by chance; distances differ by
half the mean length of a unit at least. Gamma is 1 less observed / expected.

Each document is a continuum of its own: alignments and random annotators stay within it, and disorders add up. The
number of samples is the paper's: of the first 30 the coefficient of variation says how many it takes for a relative
error of the expected disorder below 2% in 95 of 100 cases.

Gamma takes longer than all other figures together: 1,000 documents of 10 units an annotator take 1 s of CPU for two
annotators and 31 s for three.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import ceil, comb

import numpy as np

from nereval_core.analysis.agreement.coefficients import (
    NO_UNITS,
    NOTHING_EXPECTED,
    CoefficientKey,
    Row,
    annotator_groups,
)
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Bools, Float64, Int64
from nereval_core.problems import FormatError

GAMMA = "gamma"
"""The figure in tables of agreement."""
EMPTY = 1.0
"""Dissimilarity of a unit and no unit."""
FIRST_SAMPLES = 30
PRECISION = 0.02
MOST_SAMPLES = 1_000
MOST_ALIGNMENTS = 200_000
"""Unitary alignments of a document that are weighed against one another; with more, gamma is refused."""
TRIES = 100
"""Draws of a distance until it differs enough from those before; in a short text none may."""


@dataclass(frozen=True, eq=False)
class Continuum:
    """The units of annotators in one text of `length` characters: one array of (start, end, type) rows of each."""

    annotators: tuple[Int64, ...]
    length: int

    @property
    def size(self) -> int:
        """The number of units of all annotators."""
        return sum(map(len, self.annotators))


@dataclass(frozen=True, slots=True)
class Gamma:
    """Disorder of the best alignment and mean disorder of `samples`, with the units of all annotators together."""

    observed: float
    expected: float
    samples: int
    units: int

    @property
    def value(self) -> float:
        return 1 - self.observed / self.expected if self.expected > 0 else float("nan")


def continua(layers: Sequence[Layer], types: Sequence[str]) -> list[Continuum]:
    """Return the continuum of each document in which some annotator has a unit."""
    number = {kind: code for code, kind in enumerate(types)}
    columns = []
    for layer in layers:
        codes = np.array([number[kind] for kind in layer.types], np.int64)
        columns.append(np.stack((layer.start, layer.end, codes[layer.type]), axis=1).astype(np.int64))
    edges = [list(pairwise(layer.first.tolist())) for layer in layers]
    texts = zip(layers[0].documents.lengths.tolist(), *edges, strict=True)
    of_texts = (
        Continuum(tuple(rows[low:high] for rows, (low, high) in zip(columns, bounds, strict=True)), length)
        for length, *bounds in texts
    )
    return [continuum for continuum in of_texts if continuum.size]


def measure_gamma(texts: Sequence[Continuum], *, seed: int = 0, precision: float = PRECISION) -> Gamma:
    """Return gamma over texts of the same annotators.

    Raises:
        FormatError: too many unitary alignments.
    """
    units, annotators = sum(text.size for text in texts), len(texts[0].annotators)
    mean = units / annotators
    observed = sum(map(best_disorder, texts)) / mean
    rng = np.random.default_rng((seed, 2015))
    samples: list[float] = []
    n_samples = FIRST_SAMPLES
    while len(samples) < n_samples:
        random_texts = [_random_annotators(text, rng) for text in texts]
        size = sum(text.size for text in random_texts)
        samples.append(annotators * sum(map(best_disorder, random_texts)) / size if size else 0.0)
        if len(samples) == FIRST_SAMPLES and np.mean(samples) > 0:
            variation = np.std(samples, ddof=1) / np.mean(samples)
            n_samples = min(max(FIRST_SAMPLES, ceil((1.96 * variation / precision) ** 2)), MOST_SAMPLES)
    return Gamma(observed, float(np.mean(samples)), len(samples), units)


def gamma_rows(layers: Sequence[Layer], types: Sequence[str], *, seed: int = 0) -> Iterator[Row]:
    """Yield gamma of all annotators and of each pair, over all types; `why` says how many samples were drawn."""
    for group in annotator_groups(len(layers)):
        members = layers if group is None else [layers[number] for number in group]
        key = CoefficientKey(GAMMA, None, None, group)
        texts = continua(members, types)
        units, value, why = sum(text.size for text in texts), float("nan"), NO_UNITS
        if texts:
            try:
                gamma = measure_gamma(texts, seed=seed)
                value = gamma.value
                why = f"{gamma.samples} samples: no interval" if gamma.expected > 0 else NOTHING_EXPECTED
            except FormatError as error:
                why = error.problems[0].found
        yield key, value, float("nan"), float("nan"), 0, units, why


def dissimilarities(units: Int64, other_units: Int64) -> Float64:
    """Return the dissimilarity of the units of two annotators, shape (units of one, units of the other)."""
    starts, ends = (np.abs(units[:, None, column] - other_units[None, :, column]) for column in (0, 1))
    lengths = (units[:, 1] - units[:, 0])[:, None] + (other_units[:, 1] - other_units[:, 0])[None]
    # Two empty units at one place are alike.
    apart = (starts + ends) / np.maximum(lengths, 1)
    values: Float64 = apart**2 + (units[:, None, 2] != other_units[None, :, 2])
    return values


def best_disorder(text: Continuum) -> float:
    """Return the sum of the disorders of the unitary alignments of the best alignment.

    Raises:
        FormatError: too many unitary alignments.
    """
    if len(text.annotators) == 2:
        # Slow to import.
        from scipy.optimize import linear_sum_assignment

        # A pair is worth aligning where it costs less than both units alone.
        gain = np.minimum(dissimilarities(*text.annotators) - 2 * EMPTY, 0)
        return text.size * EMPTY + float(gain[linear_sum_assignment(gain)].sum())
    alignments, disorders = _unitary_alignments(text)
    return text.size * EMPTY + _best_partition(alignments, disorders - EMPTY * alignments.sum(axis=1))


def _unitary_alignments(text: Continuum) -> tuple[Bools, Float64]:
    """Return the unitary alignments that cost less than their units alone: their units, and their disorders.

    The units of all annotators are numbered in a row, shape (alignments, units).
    """
    sides = text.annotators
    first = np.cumsum([0, *map(len, sides)])
    between = {
        pair: dissimilarities(*(sides[number] for number in pair)) for pair in combinations(range(len(sides)), 2)
    }
    pairs = comb(len(sides), 2)
    # Of each alignment begun: its unit of each annotator so far (-1: none), and the sum over its pairs.
    begun: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    for number, side in enumerate(sides):
        longer = []
        for units, total in begun:
            for unit in range(-1, len(side)):
                costs = (
                    EMPTY if unit < 0 or before < 0 else float(between[place, number][before, unit])
                    for place, before in enumerate(units)
                )
                more = total + sum(costs)
                if more < pairs * len(sides) * EMPTY:
                    longer.append(((*units, unit), more))
        begun = longer
        if len(begun) > MOST_ALIGNMENTS:
            finding = f"refused, over {MOST_ALIGNMENTS:,} ways to align the units of a document"
            raise FormatError.single("gamma", None, finding, "compare fewer annotators")
    several = [(units, total / pairs) for units, total in begun if sum(unit >= 0 for unit in units) > 1]
    worth = [(units, disorder) for units, disorder in several if disorder < EMPTY * sum(unit >= 0 for unit in units)]
    members = np.zeros((len(worth), text.size), bool)
    for row, (units, _) in enumerate(worth):
        members[row, [first[number] + unit for number, unit in enumerate(units) if unit >= 0]] = True
    return members, np.array([disorder for _, disorder in worth])


def _best_partition(alignments: Bools, gains: Float64) -> float:
    """Return the least sum of gains (all below 0) of alignments of which no two have a unit in common."""
    if not len(gains):
        return 0.0
    # Slow to import.
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    each_once = LinearConstraint(csr_array(alignments.T.astype(float)), -np.inf, 1)
    solution = milp(gains, constraints=each_once, integrality=np.ones(len(gains)), bounds=Bounds(0, 1))
    assert solution.success, solution.message
    return float(solution.fun)


def _random_annotators(text: Continuum, rng: np.random.Generator) -> Continuum:
    """Draw annotators: the units of annotators drawn by chance, each moved around the text by a distance of its own."""
    lengths = np.concatenate([units[:, 1] - units[:, 0] for units in text.annotators])
    least = float(lengths.mean()) / 2
    distances: list[int] = []
    annotators = []
    for number in rng.integers(0, len(text.annotators), len(text.annotators)).tolist():
        for _ in range(TRIES):
            distance = int(rng.integers(0, max(text.length, 1)))
            if all(least <= abs(distance - other) <= text.length - least for other in distances):
                break
        distances.append(distance)
        moved = text.annotators[number].copy()
        start = (moved[:, 0] + distance) % max(text.length, 1)
        moved[:, 1] += start - moved[:, 0]
        moved[:, 0] = start
        annotators.append(moved)
    return Continuum(tuple(annotators), text.length)
