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

from nereval_core.alignment.codes import Decision
from nereval_core.analysis.bootstrap import RATIOS, Bootstrap, DocumentCounts, ratios
from nereval_core.analysis.intervals import are_all_or_none, set_wilson_intervals
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits, document_units
from nereval_core.analysis.slices.span_values import Side, SlicedScores, SpanValues
from nereval_core.corpus.arrays import Int64
from nereval_core.records.tables import categories
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns
from nereval_core.scoring.counts import ratio_columns

_ENDS = tuple(f"{ratio}_{end}" for ratio in RATIOS for end in ("low", "high"))
SIDED = ("gold_COR", "gold_INC", "gold_PAR", "MIS", "pred_COR", "pred_INC", "pred_PAR", "SPU")
SLICE_COLUMNS: Columns = {
    "slice": TEXT_DTYPE,
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
"""More units are resampled in so many random groups, as slices are many."""
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
        spans, ratio, missing = _LACKING[lacking[0]]
        return f"{spans} carry no value for {sliced_by}: there is {ratio} only, no {missing} and no F1"


_LACKING: Mapping[Side, tuple[str, str, str]] = {
    "gold": ("gold spans", "precision", "recall"),
    "pred": ("predictions", "recall", "precision"),
}


def tally_slices(sliced: SlicedScores, values: SpanValues) -> SliceTally:
    """Count decisions by the values of a slicing; under criteria that count tokens each run counts its tokens."""
    layers, decided = sliced.layers, sliced.scores.decisions(sliced.criterion)
    weights = sliced.scores.weights(sliced.criterion)
    size, n_decisions = len(values.names) + 1, len(Decision)
    documents = len(layers[0].documents)
    tables, columns = [], []
    for layer, decisions, weight, codes in zip(layers, decided, weights, (values.gold, values.pred), strict=True):
        # Spans without a value (-1) are counted in the last row.
        row = np.where(codes < 0, size - 1, codes).astype(np.int64)
        counts = _weighted_counts(row * n_decisions + decisions, weight, size * n_decisions)
        tables.append(counts.reshape(size, n_decisions))
        cell = row * documents + layer.doc
        credit = 2 * (decisions == Decision.COR) + (decisions == Decision.PAR)
        columns += [
            _weighted_counts(cell, weight * credit, size * documents),
            _weighted_counts(cell, weight, size * documents),
        ]
    # In the order of PARTS: the credit of both sides, then their numbers.
    parts = [columns[part].reshape(size, documents) for part in (0, 2, 1, 3)]
    return SliceTally(values.names, tables[0], tables[1], np.stack(parts, axis=1).astype(np.int32))


def _weighted_counts(cell: Int64, weight: NDArray[Any], size: int) -> Int64:
    # The sums of whole numbers are far below 2 to the power of 53, and so exact.
    return np.bincount(cell, weight, minlength=size).astype(np.int64)


def slice_table(
    tally: SliceTally, plan: ResamplingPlan = SLICE_PLAN, units: ResamplingUnits | None = None
) -> pd.DataFrame:
    """Return a row for each slice with spans: SLICE_COLUMNS.

    Intervals are from a bootstrap over units, by default each document. They are Wilson's if a slice has spans in fewer
    than FEW_UNITS_OF_SLICE units, or is all right or all wrong. A slice in a single unit has none.
    """
    bootstrap = slice_bootstrap(plan, units or document_units(tally.by_document.shape[-1]))
    slices = np.flatnonzero(tally.gold[:-1].any(axis=1) | tally.pred[:-1].any(axis=1))
    gold, pred, by_document = tally.gold[slices], tally.pred[slices], tally.by_document[slices]
    n_documents = by_document[:, 2:].any(axis=1).sum(axis=1)
    pos, act = gold.sum(axis=1), pred.sum(axis=1)
    by_unit = bootstrap.units.sum_counts(by_document)
    n_units = by_unit[:, 2:].any(axis=1).sum(axis=1)
    is_wilson, is_lone = n_units < FEW_UNITS_OF_SLICE, n_units < 2
    low, high = np.full((2, len(slices), len(RATIOS)), np.nan)
    if not is_wilson.all():
        for row, sums in enumerate(bootstrap.resample_units(by_unit)):
            low[row], high[row] = bootstrap.estimate(sums.map(ratios))[1:3]
    totals = by_unit.sum(axis=-1, dtype=np.int64)
    is_wilson |= are_all_or_none(totals)
    set_wilson_intervals(low, high, totals, plan.level, is_wilson)
    low[is_lone] = high[is_lone] = np.nan
    table: dict[str, Any] = {"slice": [tally.names[code] for code in slices.tolist()]}
    for side, counts in (("gold", gold), ("pred", pred)):
        table |= {f"{side}_{name}": counts[:, Decision[name]] for name in ("COR", "INC", "PAR")}
    table |= {"MIS": gold[:, Decision.MIS], "SPU": pred[:, Decision.SPU]}
    table |= {"POS": pos, "ACT": act, "documents": n_documents}
    table |= dict(zip(RATIOS, ratio_columns(gold, pred), strict=True))
    if tally.sides_without_values:
        # If no span of one side has a value, F1 is undefined, not 0.
        for f1 in (table["f1"], low[:, 2], high[:, 2]):
            f1[:] = np.nan
    for number, ratio_name in enumerate(RATIOS):
        table |= {f"{ratio_name}_low": low[:, number], f"{ratio_name}_high": high[:, number]}
    table["interval"] = categories(is_wilson.astype(np.int8) + is_lone, (BOOTSTRAP, WILSON, NO_INTERVAL))
    table["small"] = (pos < SMALL_SLICE_SPANS) | ((act < SMALL_SLICE_SPANS) & (act > 0))
    return pd.DataFrame(table, columns=list(SLICE_COLUMNS)).astype({"slice": TEXT_DTYPE})


def slice_bootstrap(plan: ResamplingPlan, units: ResamplingUnits) -> Bootstrap:
    """Return the bootstrap of slices, which resamples groups of units where these are many."""
    return Bootstrap(plan, units, MOST_RESAMPLED_UNITS)
