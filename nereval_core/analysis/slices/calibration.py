"""Calibration of the scores of predictions: reliability diagrams, calibration errors, risk by coverage, a threshold.

A prediction is correct by its credit under the matching criterion: 1 if COR, 1/2 if PAR, else 0. Missed gold spans have
no score and take no part here, except in the F1 at a threshold. Let n predictions have the scores s and the credits c,
and let a bin b hold n_b of them with the mean score s_b and the mean credit c_b, which is its precision:

    expected calibration error (ECE) = sum over b of n_b / n × |s_b − c_b|    Naeini, Cooper and Hauskrecht, AAAI 2015
    maximum calibration error (MCE)  = max over b of |s_b − c_b|              the same
    Brier score                      = sum of (s − c)² / n                    Brier 1950, Monthly Weather Review 78

Bins of equal width are those of Naeini et al., bins of equal mass those of Nguyen and O'Connor, EMNLP 2015.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.alignment.codes import Decision
from nereval_core.analysis.bootstrap import Bootstrap, ResampledValues
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits, resampling_units
from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.scores_by_slice import (
    FEW_UNITS_OF_SLICE,
    SLICE_PLAN,
    SMALL_SLICE_SPANS,
    slice_bootstrap,
    slice_table,
    tally_slices,
)
from nereval_core.analysis.slices.span_values import SlicedScores, SpanValues
from nereval_core.analysis.slices.thresholds import MOST_THRESHOLDS, ThresholdSweep, probabilities, span_scores
from nereval_core.corpus.arrays import Array, Float64, Int64
from nereval_core.problems import counted
from nereval_core.report.references import AREA, BRIER, ECE, MCE
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table

EQUAL_WIDTH, EQUAL_MASS = "equal width", "equal mass"
BINNINGS: Mapping[str, str] = {EQUAL_WIDTH: "score", EQUAL_MASS: "score-mass"}
"""The slicing that holds the bins of each binning."""
BIN_COLUMNS: Columns = {
    "slice": TEXT_DTYPE,
    **dict.fromkeys(("ACT", "documents"), "int64"),
    **dict.fromkeys(("confidence", "precision", "precision_low", "precision_high"), "float64"),
    "interval": "category",
    "small": "bool",
}
"""Columns of a table of bins: `confidence` is the mean score of the ACT predictions of a bin, `interval` as in
SLICE_COLUMNS. `small`: fewer than SMALL_SLICE_SPANS predictions."""
ERROR_COLUMNS: Columns = {
    **dict.fromkeys(("measure", "bins"), TEXT_DTYPE),
    **dict.fromkeys(("value", "low", "high"), "float64"),
}
"""Columns of a table of errors; `bins` is empty for the Brier score, which needs none."""
RISK_COLUMNS: Columns = {
    "threshold": "float64",
    "ACT": "int64",
    **dict.fromkeys(("coverage", "risk"), "float64"),
}
"""Columns of a curve of risk: the ACT predictions with at least a score, their share of all with a score, and the share
of their credit that is missing."""
SCORE_UNITS = 10**10
"""Scores are summed as whole numbers of ten-billionths, so that sums are exact whatever their order."""


@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """The risk of the predictions that are kept, 1 less their precision, by their share.

    `area` is the area under the curve of risk against coverage; `best` that of scores by which no prediction stands
    before one with more credit; `risk` that of scores at random, which is the risk of all predictions. `points` are up
    to MOST_THRESHOLDS points of the curve: RISK_COLUMNS.
    """

    points: pd.DataFrame
    area: float
    best: float
    risk: float

    def sentence(self) -> str:
        """Return the area in words."""
        return (
            f"{AREA} {self.area:.3f}; {self.best:.3f} if scores told right from wrong "
            f"predictions, {self.risk:.3f} if they were drawn at random"
        )


@dataclass(frozen=True, eq=False)
class Calibration:
    """How far the scores of a system's predictions can be trusted under a criterion.

    `predictions` have a score, `unscored` have none and are left out. `refusal` says why scores cannot be read as
    probabilities, "" where they can: then there are neither bins of equal width nor errors. `bins` are by binning
    (BIN_COLUMNS), `errors` are ERROR_COLUMNS, `held_out` tells what a threshold gives on data that it was not chosen on
    (HELD_OUT_COLUMNS), in numbers of `units`.
    """

    predictions: int
    unscored: int
    refusal: str
    bins: Mapping[str, pd.DataFrame]
    errors: pd.DataFrame
    risk: RiskCoverage
    held_out: pd.DataFrame
    units: ResamplingUnits
    level: float

    def note(self) -> str:
        """Return in words how many predictions take part."""
        without = f"; {self.unscored:,} without one are left out" if self.unscored else ""
        return f"{counted(self.predictions, 'prediction')} with a score{without}"

    def error_sentences(self, binning: str | None = None) -> tuple[str, ...]:
        """Return the errors in words with their intervals; `binning` leaves out those of the other bins."""
        if self.refusal:
            return (self.refusal,)
        sentences = []
        for row in self.errors.to_dict("records"):
            if binning is None or row["bins"] in (binning, ""):
                bins = f" in bins of {row['bins']}" if row["bins"] else ""
                interval = "" if pd.isna(row["low"]) else f" ({self.level:.0%} {row['low']:.3f} to {row['high']:.3f})"
                where = self._worst_bin(row["bins"]) if row["measure"] == MCE else ""
                sentences.append(f"{row['measure']}{bins} {row['value']:.3f}{interval}{where}")
        if self.errors["low"].isna().all():
            sentences.append(
                f"no intervals of errors, as predictions with scores are in fewer than {FEW_UNITS_OF_SLICE} "
                f"{self.units.plural}"
            )
        return tuple(sentences)

    def _worst_bin(self, binning: str) -> str:
        table = self.bins[binning]
        row = table.iloc[int((table["confidence"] - table["precision"]).abs().argmax())]
        return f", of {counted(int(row['ACT']), 'prediction')} scored {row['slice']}"

    def threshold_sentences(self) -> tuple[str, ...]:
        """Return in words what the threshold chosen on each half gives on the other."""
        return tuple(
            f"the threshold {row['threshold']:.6g}, best on {self.units.in_words(row['chosen_on'])} drawn at random "
            f"(F1 {row['f1_chosen']:.3f}), gives F1 {row['f1_tested']:.3f} on the other "
            f"{self.units.in_words(row['tested_on'])}, against {row['f1_without']:.3f} there without a threshold"
            for row in self.held_out.to_dict("records")
        )


def calibration(
    sliced: SlicedScores,
    sweep: ThresholdSweep,
    plan: ResamplingPlan = SLICE_PLAN,
    units: ResamplingUnits | None = None,
) -> Calibration:
    """Return the calibration of predictions with scores; `sweep` is that of the same scores and units.

    Bins are fixed on the whole corpus and their counts resampled by unit. Errors of scores in fewer than
    FEW_UNITS_OF_SLICE units have no interval, and no more has an MCE that is of a bin in so few.
    """
    units = units or resampling_units(sliced.scores.read[0].documents)
    pred = sliced.layers[1]
    scores = span_scores(pred)
    has_score = ~np.isnan(scores)
    decisions = sliced.scores.decisions(sliced.criterion)[1]
    twice = (2 * (decisions == Decision.COR) + (decisions == Decision.PAR)).astype(np.int64)
    refusal = _refusal(scores[has_score])
    binned = {
        name: values
        for name, slicing in BINNINGS.items()
        if not (refusal and name == EQUAL_WIDTH) and (values := slicings.find_values(sliced, slicing)) is not None
    }
    errors = typed_table([], ERROR_COLUMNS)
    if not refusal:
        scores = probabilities(scores)
        codes = [values.pred[has_score].astype(np.int64) for values in binned.values()]
        cells = _count_cells(
            codes, scores[has_score], twice[has_score], units.of_documents(pred.doc[has_score]), units.count
        )
        errors = _error_table(cells, tuple(binned), slice_bootstrap(plan, units))
    return Calibration(
        int(has_score.sum()),
        int((~has_score).sum()),
        refusal,
        {name: _bin_table(sliced, values, scores, plan, units) for name, values in binned.items()},
        errors,
        risk_coverage(scores[has_score], twice[has_score] / 2),
        sweep.held_out(),
        units,
        plan.level,
    )


def _refusal(scores: Float64) -> str:
    outside = int(np.isnan(probabilities(scores)).sum())
    if not outside:
        return ""
    lie = "lies" if outside == 1 else "lie"
    return (
        f"{outside:,} of {len(scores):,} scores {lie} outside 0 to 1 (they range from {scores.min():.6g} to "
        f"{scores.max():.6g}), so they are not probabilities: bins of equal width, ECE, MCE and Brier "
        "score do not apply"
    )


def _bin_table(
    sliced: SlicedScores, values: SpanValues, scores: Float64, plan: ResamplingPlan, units: ResamplingUnits
) -> pd.DataFrame:
    table = slice_table(tally_slices(sliced, values), plan, units)
    has_bin = values.pred >= 0
    codes = values.pred[has_bin].astype(np.int64)
    number = np.bincount(codes, minlength=len(values.names))
    total = np.bincount(codes, scores[has_bin], minlength=len(values.names))
    # A slice without spans has no row.
    filled = np.flatnonzero(number)
    table["confidence"] = total[filled] / number[filled]
    table["small"] = table["ACT"] < SMALL_SLICE_SPANS
    return table[list(BIN_COLUMNS)]


@dataclass(frozen=True, eq=False)
class _Cells:
    """Counts by unit, shape (rows, units), and the number of bins of each binning.

    For each binning there is a row for each bin of the number of predictions, then of twice their credit, then of their
    scores in SCORE_UNITS. The last row holds the squared differences of score and credit in SCORE_UNITS.
    """

    counts: Int64
    sizes: tuple[int, ...]

    def distances(self, sums: Array) -> Iterator[tuple[Float64, Float64]]:
        """Yield the predictions of each binning, and their |score − credit|, of sums of rows: shape (bins, n) each."""
        row = 0
        for size in self.sizes:
            number, twice, score = sums[row : row + 3 * size].astype(np.float64).reshape(3, size, -1)
            yield number, np.abs(score / SCORE_UNITS - twice / 2)
            row += 3 * size

    def errors(self, sums: Array) -> Float64:
        """Return ECE and MCE of each binning, then the Brier score, of sums of rows: shape (errors, n)."""
        errors: list[Float64] = []
        with np.errstate(invalid="ignore", divide="ignore"):
            for number, distance in self.distances(sums):
                total = number.sum(axis=0)
                most = (distance / np.maximum(number, 1)).max(axis=0)
                errors += [distance.sum(axis=0) / total, np.where(total > 0, most, np.nan)]
            errors.append(sums[-1] / SCORE_UNITS / total)
        return np.stack(errors)

    def units_of_worst_bins(self) -> Iterator[int]:
        """Yield for each binning the number of units in which the bin of its MCE has predictions."""
        row = 0
        for number, distance in self.distances(self.counts.sum(axis=1, keepdims=True)):
            worst = int((distance / np.maximum(number, 1)).argmax())
            yield int(np.count_nonzero(self.counts[row + worst]))
            row += 3 * len(number)


def _count_cells(binned: list[Int64], scores: Float64, twice: Int64, unit: Array, count: int) -> _Cells:
    squares = np.rint((scores - twice / 2) ** 2 * SCORE_UNITS)
    blocks, sizes = [], []
    for codes in binned:
        size = int(codes.max()) + 1
        weights = (None, twice, np.rint(scores * SCORE_UNITS))
        blocks += [
            np.bincount(codes * count + unit, row_weights, size * count).reshape(size, count) for row_weights in weights
        ]
        sizes.append(size)
    blocks.append(np.bincount(unit, squares, count)[None])
    return _Cells(np.concatenate(blocks).astype(np.int64), tuple(sizes))


def _error_table(cells: _Cells, binnings: tuple[str, ...], bootstrap: Bootstrap) -> pd.DataFrame:
    """Return ECE and MCE of each binning and the Brier score: ERROR_COLUMNS."""
    (sums,) = bootstrap.resample_units([cells.counts])
    figures = sums.map(cells.errors)
    value, low, high, _ = bootstrap.estimate(figures)
    low[:-1], high[:-1] = _reflected_intervals(figures, bootstrap.plan.level)[:, :-1]
    for binning, n_units in enumerate(cells.units_of_worst_bins()):
        if n_units < FEW_UNITS_OF_SLICE:
            low[2 * binning + 1] = high[2 * binning + 1] = np.nan
    if np.count_nonzero(cells.counts[: cells.sizes[0]].any(axis=0)) < FEW_UNITS_OF_SLICE:
        low[:] = high[:] = np.nan
    measures = [(measure, binning) for binning in binnings for measure in (ECE, MCE)]
    rows = zip([*measures, (BRIER, "")], value, low, high, strict=True)
    return typed_table([(*names, *numbers) for names, *numbers in rows], ERROR_COLUMNS)


def _reflected_intervals(figures: ResampledValues, level: float) -> Float64:
    """Return bootstrap intervals reflected at the value (Davison and Hinkley 1997, 5.2), shape (2, figures).

    Distances are never negative, so that noise raises a calibration error, and resampling raises it once more. Where
    scores are calibrated, bias-corrected quantiles may therefore shrink to a point beside the value. Reflection takes
    the same bias off the value. The intervals end at 0 and contain the value.
    """
    value = figures.observed[:, 0]
    resampled = np.where(np.isnan(figures.resampled), value[:, None], figures.resampled)
    high, low = 2 * value - np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2], axis=1)
    return np.stack([low.clip(0), np.maximum(high, value).clip(None, 1)])


def risk_coverage(scores: Float64, credit: Float64) -> RiskCoverage:
    """Return the curve of risk against coverage of predictions with scores of any range, and the area under it.

    The risk at coverage k / n is the mean of 1 − credit over the k predictions with the highest scores (El-Yaniv and
    Wiener, JMLR 2010; Geifman and El-Yaniv, NeurIPS 2017), and the area is the mean of these n risks (Geifman, Uziel
    and El-Yaniv, ICLR 2019). Of equal scores any order is as good, so that their mean stands for each.
    """
    order = np.argsort(-scores, kind="stable")
    ordered, loss = scores[order], 1 - credit[order]
    n_kept = np.arange(1, len(scores) + 1)
    first = np.flatnonzero(np.diff(ordered, prepend=np.nan) != 0)
    sizes = np.diff(first, append=len(scores))
    losses = np.repeat(np.add.reduceat(loss, first) / sizes, sizes)
    risks = losses.cumsum() / n_kept
    last = first + sizes - 1
    if len(last) > MOST_THRESHOLDS:
        # The points stand at about equal distances of coverage.
        even = np.linspace(last[0], last[-1], MOST_THRESHOLDS)
        last = np.unique(last[np.searchsorted(last, even)])
    points: dict[str, Any] = {"threshold": ordered[last], "ACT": n_kept[last], "coverage": n_kept[last] / len(scores)}
    table = pd.DataFrame(points | {"risk": risks[last]}).astype(dict(RISK_COLUMNS))
    return RiskCoverage(table, float(risks.mean()), float((np.sort(loss).cumsum() / n_kept).mean()), float(loss.mean()))
