"""Scores by slice with 95% intervals.

Recall of a slice is over the gold spans with its value, precision over the predictions with its value; F1 is
2PR / (P + R). Spans without a value are in no slice; together with them the slices add up to the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from nereval_core.alignment.codes import Decision
from nereval_core.analysis.bootstrap import (
    RATIOS,
    DocumentCounts,
    ResampledValues,
    estimate_intervals,
    ratios,
    resample_counts,
)
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.analysis.slices.span_values import Side, SlicedScores, SpanValues
from nereval_core.arrays import Array, Float64, Int64
from nereval_core.records.tables import categories
from nereval_core.scoring.counts import ratio_columns

_ENDS = tuple(f"{ratio}_{end}" for ratio in RATIOS for end in ("low", "high"))
SIDED = ("gold_COR", "gold_INC", "gold_PAR", "MIS", "pred_COR", "pred_INC", "pred_PAR", "SPU")
SLICE_COLUMNS: Mapping[str, str] = {
    "slice": "str",
    **dict.fromkeys(SIDED, "int64"),
    **dict.fromkeys(("POS", "ACT", "documents"), "int64"),
    **dict.fromkeys((*RATIOS, *_ENDS), "float64"),
    "interval": "category",
    "small": "bool",
}
"""Columns of `slice_table` and their dtypes.

`documents` is the number of documents with a span of the slice on either side. `interval` is BOOTSTRAP, WILSON (then
`f1_low` and `f1_high` are NaN) or NO_INTERVAL. `small`: fewer than SMALL_SLICE_SPANS gold spans, or predictions.
"""
SMALL_SLICE_SPANS = 20
"""Slices of fewer spans are unreliable and drawn in grey."""
FEW_UNITS_OF_SLICE = 10
"""A slice in fewer units has Wilson's interval, which assumes independent spans, instead of the bootstrap's."""
SLICE_PLAN = ResamplingPlan(resamples=2_000)
"""Slices are many, so that each has fewer resamples than a comparison of systems."""
MOST_RESAMPLED_UNITS = 5_000
"""More units are resampled in so many random groups."""
BOOTSTRAP, WILSON, NO_INTERVAL = "bootstrap", "Wilson", "none"
"""The kinds of intervals; a slice in a single unit has none."""


@dataclass(frozen=True, eq=False)
class SliceTally:
    """Decisions by slice, shape (slices + 1, 5) for each side, and the PARTS of each, shape (slices + 1, 4, documents).

    The last row is that of the spans without a value.
    """

    names: tuple[str, ...]
    gold: Int64
    pred: Int64
    by_document: DocumentCounts

    @property
    def sides_without_values(self) -> tuple[Side, ...]:
        """The sides with spans of which none has a value."""
        sides: tuple[tuple[Side, Int64], ...] = (("gold", self.gold), ("pred", self.pred))
        return tuple(side for side, counts in sides if counts[-1].any() and not counts[:-1].any())

    def note(self, sliced_by: str) -> str | None:
        """Return a note on the ratios that are missing because one side has no values, None if all are there.

        `sliced_by` is the title of the slicing within a sentence.
        """
        lacking = self.sides_without_values
        if len(lacking) != 1:
            return None
        spans, kept, lost = _LACKING[lacking[0]]
        return f"{spans} carry no value for {sliced_by}: there is {kept} only, no {lost} and no F1"


_LACKING: Mapping[Side, tuple[str, str, str]] = {
    "gold": ("gold spans", "precision", "recall"),
    "pred": ("predictions", "recall", "precision"),
}


def tally_slices(given: SlicedScores, values: SpanValues) -> SliceTally:
    """Count decisions by the values of a slicing; under criteria that count tokens each run counts its tokens."""
    layers, decided = given.layers, given.scores.decisions(given.criterion)
    weights = given.scores.weights(given.criterion)
    size, kinds = len(values.names) + 1, len(Decision)
    documents = len(layers[0].documents)
    tables, columns = [], []
    for layer, decisions, weight, codes in zip(layers, decided, weights, (values.gold, values.pred), strict=True):
        # Spans without a value (-1) are counted in the last row.
        place = np.where(codes < 0, size - 1, codes).astype(np.int64)
        tables.append(_weighted_counts(place * kinds + decisions, weight, size * kinds).reshape(size, kinds))
        cell = place * documents + layer.doc
        credit = 2 * (decisions == Decision.COR) + (decisions == Decision.PAR)
        columns += [
            _weighted_counts(cell, weight * credit, size * documents),
            _weighted_counts(cell, weight, size * documents),
        ]
    # In the order of PARTS: the credit of both sides, then their numbers.
    parts = [columns[place].reshape(size, documents) for place in (0, 2, 1, 3)]
    return SliceTally(values.names, tables[0], tables[1], np.stack(parts, axis=1).astype(np.int32))


def _weighted_counts(place: Int64, weight: NDArray[Any], size: int) -> Int64:
    # The sums of whole numbers are far below 2 to the power of 53, and so exact.
    return np.bincount(place, weight, minlength=size).astype(np.int64)


def slice_table(
    found: SliceTally, plan: ResamplingPlan = SLICE_PLAN, units: ResamplingUnits | None = None
) -> pd.DataFrame:
    """Return a row for each slice with spans: SLICE_COLUMNS.

    Intervals are from a bootstrap over units, by default each document. They are Wilson's if a slice has spans in fewer
    than FEW_UNITS_OF_SLICE units, or is all right or all wrong. A slice in a single unit has none.
    """
    gold, pred = found.gold[:-1], found.pred[:-1]
    some = np.flatnonzero(gold.any(axis=1) | pred.any(axis=1))
    gold, pred, cells = gold[some], pred[some], found.by_document[some]
    documents = cells[:, 2:].any(axis=1).sum(axis=1)
    pos, act = gold.sum(axis=1), pred.sum(axis=1)
    if units is not None:
        cells = units.sum_counts(cells)
    number = cells[:, 2:].any(axis=1).sum(axis=1)
    few, lone = number < FEW_UNITS_OF_SLICE, number < 2
    low, high = np.full((2, len(some), 3), np.nan)
    if not few.all():
        low, high = bootstrap_intervals(cells, plan, None if units is None else units.strata)
        # If all spans are right, or all are wrong, all resamples agree, which does not make the ratio certain.
        few |= (low == high)[:, :2].any(axis=1)
    totals = cells.sum(axis=-1, dtype=np.int64)
    wilson = np.stack([wilson_interval(totals[:, part] / 2, totals[:, part + 2], plan.level) for part in (1, 0)])
    for part in range(2):
        low[few, part], high[few, part] = wilson[part, 0, few], wilson[part, 1, few]
    low[few, 2] = high[few, 2] = np.nan
    low[lone] = high[lone] = np.nan
    table: dict[str, Any] = {"slice": [found.names[place] for place in some.tolist()]}
    for side, counts in (("gold", gold), ("pred", pred)):
        table |= {f"{side}_{name}": counts[:, Decision[name]] for name in ("COR", "INC", "PAR")}
    table |= {"MIS": gold[:, Decision.MIS], "SPU": pred[:, Decision.SPU]}
    table |= {"POS": pos, "ACT": act, "documents": documents}
    table |= dict(zip(RATIOS, ratio_columns(gold, pred), strict=True))
    if found.sides_without_values:
        # If no span of one side has a value, F1 is undefined, not 0.
        for ends in (table["f1"], low[:, 2], high[:, 2]):
            ends[:] = np.nan
    for number, ratio in enumerate(RATIOS):
        table |= {f"{ratio}_low": low[:, number], f"{ratio}_high": high[:, number]}
    table["interval"] = categories(few.astype(np.int8) + lone, (BOOTSTRAP, WILSON, NO_INTERVAL))
    table["small"] = (pos < SMALL_SLICE_SPANS) | ((act < SMALL_SLICE_SPANS) & (act > 0))
    return pd.DataFrame(table, columns=list(SLICE_COLUMNS)).astype({"slice": "str"})


def wilson_interval(credit: NDArray[Any], whole: NDArray[Any], level: float) -> Float64:
    """Return Wilson's interval of credit / whole, where credit may be half, shape (2, n); NaN where whole is 0.

    E. B. Wilson (1927), JASA 22.
    """
    z = float(ndtri((1 + level) / 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = credit / whole
        middle = (share + z**2 / (2 * whole)) / (1 + z**2 / whole)
        half = z / (1 + z**2 / whole) * np.sqrt(share * (1 - share) / whole + z**2 / (4 * whole**2))
    edges = np.stack([middle - half, middle + half])
    return np.where(whole > 0, edges.clip(0, 1), np.nan)


def bootstrap_intervals(
    cells: DocumentCounts, plan: ResamplingPlan, strata: Int64 | None = None
) -> tuple[Float64, Float64]:
    """Return low and high ends of the bootstrap intervals of P, R and F1, shape (slices, 3) each.

    `cells` have the shape of `SliceTally.by_document`. Within strata, all units are resampled, however many.
    """
    grouped = random_groups(cells, plan.seed) if strata is None else cells
    found = [
        estimate_intervals(ResampledValues(*map(ratios, one)), plan, strata)
        for one in resample_counts(grouped, plan, strata)
    ]
    return np.stack([one.low for one in found]), np.stack([one.high for one in found])


def random_groups(cells: Array, seed: int) -> Array:
    """Return the sums of MOST_RESAMPLED_UNITS random groups of about equally many documents, if there are more.

    The last axis is documents or units. Resampling groups instead changes the width of an interval by a few hundredths
    at most.
    """
    documents = cells.shape[-1]
    if documents <= MOST_RESAMPLED_UNITS:
        return cells
    order = np.random.default_rng((seed, 2)).permutation(documents)
    edges = np.arange(MOST_RESAMPLED_UNITS) * documents // MOST_RESAMPLED_UNITS
    found: Array = np.add.reduceat(cells[..., order], edges, axis=-1)
    return found
