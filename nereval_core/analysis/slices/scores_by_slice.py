"""Scores by slice: counts of both sides, P, R and F1 with 95% intervals, and the same against the threshold.

Recall of a slice is over the gold spans with its value, precision over the predictions with it, each with their own
decisions; F1 is 2PR / (P + R). What has no value is in no slice: with it the slices add up to the corpus.
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
from nereval_core.analysis.resampling import (
    RATIOS,
    Counts,
    Plan,
    acceleration,
    bca,
    bootstrap_sums,
    leave_one_out,
    ratios,
)
from nereval_core.analysis.resampling_units import ResamplingUnits
from nereval_core.analysis.slices.thresholds import MOST_STEPS, scores_of, thresholded
from nereval_core.analysis.slices.values import CALIBRATION, Side, Sliced, Values
from nereval_core.arrays import Float64, Int64
from nereval_core.records.tables import categories
from nereval_core.scoring.averages import ratio_columns

_ENDS = tuple(f"{ratio}_{end}" for ratio in RATIOS for end in ("low", "high"))
SIDED = ("gold_COR", "gold_INC", "gold_PAR", "MIS", "pred_COR", "pred_INC", "pred_PAR", "SPU")
SLICE_COLUMNS: Mapping[str, str] = {
    "slice": "str",
    **dict.fromkeys(SIDED, "int64"),
    "POS": "int64",
    "ACT": "int64",
    "documents": "int64",
    **dict.fromkeys((*RATIOS, *_ENDS), "float64"),
    "interval": "category",
    "small": "bool",
}
"""Columns of `slice_table` and their dtypes.

`documents` have a span of the slice on either side. `f1_low` and `f1_high` are NaN where only Wilson's interval is
given; `interval` says which it is: BOOTSTRAP, WILSON or NO_INTERVAL. `small`: fewer than SMALL gold spans, or
predictions.
"""
CURVE_COLUMNS: Mapping[str, str] = {
    "threshold": "float64",
    **dict.fromkeys(("COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT"), "Int64"),
    **dict.fromkeys(RATIOS, "float64"),
}
"""Columns of `curve`: counts of the predictions with at least so high a score; COR, INC, PAR are NA where the sides
differ."""
CALIBRATION_COLUMNS: Mapping[str, str] = {
    "slice": "str",
    "ACT": "int64",
    "credit": "float64",
    "confidence": "float64",
    "precision": "float64",
    "precision_low": "float64",
    "precision_high": "float64",
    "small": "bool",
}
"""Columns of `calibration`: `confidence` is the mean score of a tenth's predictions, `credit` their COR + 0.5 PAR."""
SMALL = 20
"""Fewer spans than that say little: they are drawn in grey."""
FEW = 10
"""A slice in fewer units has Wilson's interval, which takes spans for independent, in place of the bootstrap's."""
PLAN = Plan(resamples=2_000)
"""Slices are many: each has fewer resamples than the comparison of systems."""
GROUPS = 5_000
"""More documents than that are resampled in so many groups drawn as one."""
BOOTSTRAP, WILSON, NO_INTERVAL = "bootstrap", "Wilson", "none"
"""What intervals of a slice are; a slice in one unit alone has none."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Decisions by slice, shape (slices + 1, 5) a side, and the PARTS of each, shape (slices + 1, 4, documents).

    The last slice is no slice: the spans without a value.
    """

    names: tuple[str, ...]
    gold: Int64
    pred: Int64
    by_document: Counts

    @property
    def sides_without_values(self) -> tuple[Side, ...]:
        """The sides that have spans, but none with a value."""
        sides: tuple[tuple[Side, Int64], ...] = (("gold", self.gold), ("pred", self.pred))
        return tuple(side for side, counts in sides if counts[-1].any() and not counts[:-1].any())

    def note(self, sliced_by: str) -> str | None:
        """Say which ratios a slicing lacks because one side has no values; None where it lacks none.

        `sliced_by` is the slicing as it is called within a sentence.
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


def tally(given: Sliced, values: Values) -> Tally:
    """Count decisions by the values of a slicing; counted by token each run counts for its tokens."""
    layers, decided = given.layers, given.scores.decisions(given.criterion)
    weights = given.scores.weights(given.criterion)
    size, kinds = len(values.names) + 1, len(Decision)
    documents = len(layers[0].documents)
    tables, columns = [], []
    for layer, decisions, weight, codes in zip(layers, decided, weights, (values.gold, values.pred), strict=True):
        # -1, no value, is the last slice.
        place = np.where(codes < 0, size - 1, codes).astype(np.int64)
        tables.append(_sum(place * kinds + decisions, weight, size * kinds).reshape(size, kinds))
        cell = place * documents + layer.doc
        credit = 2 * (decisions == Decision.COR) + (decisions == Decision.PAR)
        columns += [_sum(cell, weight * credit, size * documents), _sum(cell, weight, size * documents)]
    # In the order of PARTS: the credit of both sides, then their numbers.
    parts = [columns[place].reshape(size, documents) for place in (0, 2, 1, 3)]
    return Tally(values.names, tables[0], tables[1], np.stack(parts, axis=1).astype(np.int32))


def _sum(place: Int64, weight: NDArray[Any], size: int) -> Int64:
    # Sums of whole numbers far below 2 to the power of 53.
    return np.bincount(place, weight, minlength=size).astype(np.int64)


def slice_table(found: Tally, plan: Plan = PLAN, units: ResamplingUnits | None = None) -> pd.DataFrame:
    """Return one row a slice that has spans, with the columns of SLICE_COLUMNS.

    Intervals are those of a bootstrap over units, by default each document, or Wilson's where a slice has spans in
    fewer than FEW of them, or is all right or all wrong; a slice in one unit alone has none.
    """
    gold, pred = found.gold[:-1], found.pred[:-1]
    some = np.flatnonzero(gold.any(axis=1) | pred.any(axis=1))
    gold, pred, cells = gold[some], pred[some], found.by_document[some]
    documents = cells[:, 2:].any(axis=1).sum(axis=1)
    pos, act = gold.sum(axis=1), pred.sum(axis=1)
    if units is not None:
        cells = units.summed(cells)
    number = cells[:, 2:].any(axis=1).sum(axis=1)
    few, lone = number < FEW, number < 2
    low, high = np.full((2, len(some), 3), np.nan)
    if not few.all():
        low, high = bootstrapped(cells, plan)
        # Where all spans are right, or none, all resamples agree: that is no certainty.
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
        # No span of one side has a value: there is no F1, not one of 0.
        for ends in (table["f1"], low[:, 2], high[:, 2]):
            ends[:] = np.nan
    for number, ratio in enumerate(RATIOS):
        table |= {f"{ratio}_low": low[:, number], f"{ratio}_high": high[:, number]}
    table["interval"] = categories(few.astype(np.int8) + lone, (BOOTSTRAP, WILSON, NO_INTERVAL))
    table["small"] = (pos < SMALL) | ((act < SMALL) & (act > 0))
    return pd.DataFrame(table, columns=list(SLICE_COLUMNS)).astype({"slice": "str"})


def wilson_interval(credit: NDArray[Any], whole: NDArray[Any], level: float) -> Float64:
    """Return Wilson's interval of credit / whole, shape (2, n); NaN where whole is 0.

    Half a credit is taken as it is. E. B. Wilson (1927), JASA 22.
    """
    z = float(ndtri((1 + level) / 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = credit / whole
        middle = (share + z**2 / (2 * whole)) / (1 + z**2 / whole)
        half = z / (1 + z**2 / whole) * np.sqrt(share * (1 - share) / whole + z**2 / (4 * whole**2))
    edges = np.stack([middle - half, middle + half])
    return np.where(whole > 0, edges.clip(0, 1), np.nan)


def bootstrapped(cells: Counts, plan: Plan) -> tuple[Float64, Float64]:
    """Return the ends of the bootstrap's intervals of P, R and F1 of each slice, shape (slices, 3) each.

    `cells` are as in `Tally.by_document`.
    """
    slices = len(cells)
    cells = _together(cells, plan.seed)
    seen = ratios(cells.sum(axis=-1, dtype=np.int64)[..., None]).reshape(-1)
    replicates = ratios(bootstrap_sums(cells, plan)).reshape(len(seen), plan.resamples)
    skew = np.concatenate([acceleration(ratios(leave_one_out(one))) for one in cells])
    low, high, _ = bca(seen, replicates, skew, plan.level)
    return low.reshape(slices, 3), high.reshape(slices, 3)


def _together(cells: Counts, seed: int) -> Counts:
    """Return the sums of GROUPS random groups of about as many documents each, where there are more documents.

    Resampling groups instead tells as much of how scores spread, to a few hundredths of the width of an interval.
    """
    documents = cells.shape[-1]
    if documents <= GROUPS:
        return cells
    order = np.random.default_rng((seed, 2)).permutation(documents)
    edges = np.arange(GROUPS) * documents // GROUPS
    return np.add.reduceat(cells[:, :, order], edges, axis=2)


def curve(given: Sliced, *, steps: int = MOST_STEPS) -> pd.DataFrame | None:
    """Return counts and ratios by threshold with the columns of CURVE_COLUMNS; None where no prediction has a score.

    A row keeps the predictions with that score or a higher one, and those without; each is scored anew.
    """
    found = thresholded(given.scores, given.criterion)
    if found is None:
        return None
    rows = []
    for threshold in found.steps(steps).tolist():
        counts = found.counts(threshold)
        decided = (counts.cor, counts.inc, counts.par, counts.mis, counts.spu, counts.pos, counts.act)
        rows.append((threshold, *decided, counts.precision, counts.recall, counts.f1))
    return pd.DataFrame(rows, columns=list(CURVE_COLUMNS)).astype(dict(CURVE_COLUMNS))


def calibration(given: Sliced, values: Values) -> tuple[pd.DataFrame, float]:
    """Return how right predictions are by tenths of their scores, as CALIBRATION_COLUMNS, and the mean gap.

    `values` are those of the slicing `score`. The gap is the expected calibration error: the differences of mean score
    and precision, each weighted by its predictions (Naeini, Cooper and Hauskrecht, AAAI 2015).
    """
    scores = scores_of(given.layers[1])
    there = values.pred >= 0
    codes = values.pred[there].astype(np.int64)
    decisions = given.scores.decisions(given.criterion)[1][there]
    size = len(CALIBRATION)
    number = np.bincount(codes, minlength=size)
    credit = np.bincount(codes, (decisions == Decision.COR) + 0.5 * (decisions == Decision.PAR), minlength=size)
    total = np.bincount(codes, scores[there], minlength=size)
    some = np.flatnonzero(number)
    number, credit, confidence = number[some], credit[some], total[some] / number[some]
    low, high = wilson_interval(credit, number, PLAN.level)
    table = pd.DataFrame(
        {
            "slice": [CALIBRATION[place] for place in some.tolist()],
            "ACT": number,
            "credit": credit,
            "confidence": confidence,
            "precision": credit / number,
            "precision_low": low,
            "precision_high": high,
            "small": number < SMALL,
        }
    )
    gap = float((np.abs(credit / number - confidence) * number).sum() / number.sum())
    return table.astype(dict(CALIBRATION_COLUMNS)), gap
