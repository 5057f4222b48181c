"""Tables of slices: scores by slice, tests, combinations, thresholds and the calibration of scores."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from nereval_core.analysis.slices import SliceReport
from nereval_core.analysis.slices.calibration import Calibration
from nereval_core.analysis.slices.scores_by_slice import (
    FEW_UNITS_OF_SLICE,
    NO_INTERVAL,
    SMALL_SLICE_SPANS,
    WILSON,
)
from nereval_core.analysis.slices.slice_tests import SHORT, SliceTests, worst_family
from nereval_core.analysis.slices.slicings import slicing_title, title_in_sentence
from nereval_core.records.queries import Query
from nereval_core.report.score_tables import score_columns
from nereval_core.scoring import Counts
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables import (
    DIFFERENCE,
    PRECISION,
    RATIOS,
    SHARED_COUNTS,
    SIDED_COUNTS,
    Column,
    RecordsOf,
    Row,
    Table,
    frame_table,
    p_value_text,
)

TESTS = (Column("p", kind="p"), Column("p_holm", "p after Holm", "p"), Column("p_bh", "p (BH)", "p"))
ACT = SHARED_COUNTS[-1]


def score_table(report: SliceReport, name: str, system: str) -> Table:
    """Return the ratios of each slice of a slicing, with their intervals and counts."""
    frame = report.tables[name]
    counts = [column for column in SIDED_COUNTS if "PAR" not in column.key or frame[column.key].any()]
    ratios = []
    for ratio in RATIOS:
        frame = frame.assign(**{f"{ratio.key}_interval": interval_texts(frame, ratio.key)})
        ratios += [ratio, Column(f"{ratio.key}_interval", f"{ratio.heading} {report.plan.level:.0%}", "estimate")]
    columns = (Column("slice", kind="name"), *ratios, *counts, Column("documents", kind="count"))
    return frame_table(
        f"{system}: {report.criterion} by {title_in_sentence(name)}",
        frame,
        columns,
        _slice_notes(report, name),
        name="slices",
    )


def interval_texts(frame: pd.DataFrame, ratio: str) -> pd.Series[str]:
    """Return the intervals of a ratio as texts, None where there is none."""
    ends = zip(frame[f"{ratio}_low"], frame[f"{ratio}_high"], strict=True)
    texts = [None if pd.isna(low) else f"{low:.3f}–{high:.3f}" for low, high in ends]
    return pd.Series(texts, frame.index, TEXT_DTYPE)


def _slice_notes(report: SliceReport, name: str) -> tuple[str, ...]:
    frame = report.tables[name]
    small = frame.loc[frame["small"].to_numpy(), "slice"].tolist()
    is_wilson = (frame["interval"] == WILSON).to_numpy() & frame["f1"].notna().to_numpy()
    without_f1 = frame.loc[is_wilson, "slice"].tolist()
    few = f"in fewer than {FEW_UNITS_OF_SLICE} {report.units.plural}, or all right or all wrong"
    alone = frame.loc[(frame["interval"] == NO_INTERVAL).to_numpy(), "slice"].tolist()
    return (
        *((report.notes[name],) if name in report.notes else ()),
        *((f"fewer than {SMALL_SLICE_SPANS} gold spans or predictions: {', '.join(small)}",) if small else ()),
        *((f"no interval for F1, as the slice is {few}: {', '.join(without_f1)}",) if without_f1 else ()),
        *((f"no interval, as all spans are in one {report.units.singular}: {', '.join(alone)}",) if alone else ()),
    )


def period_table(title: str, frame: pd.DataFrame, counts: Mapping[str, Counts], criterion: str) -> Table:
    """Return the scores of each decade; `frame` is a `decade_table`, `counts` are those of each decade."""

    def place(row: Row) -> RecordsOf:
        return RecordsOf(Query(period=str(row["period"])), criterion=criterion)

    heads = (Column("period", "decade", "name"), Column("documents", kind="count"))
    scores = score_columns(True, lambda row: counts[str(row["period"])], place)
    return frame_table(title, frame, (*heads, *scores), name="decades")


def hipe_table(title: str, frame: pd.DataFrame, axis: str, name: str) -> Table:
    """Return slices as the CLEF-HIPE scorer has them: micro averages, and the mean F1 over documents."""
    columns = (
        Column("slice", axis, "name"),
        *(Column(ratio.key, ratio.heading, "ratio") for ratio in RATIOS),
        Column("macro_f1", "F1 macro", "ratio"),
        Column("gold", "possible", "count"),
        Column("pred", "actual", "count"),
    )
    return frame_table(title, frame, columns, name=name)


def test_table(title: str, tests: SliceTests) -> Table:
    """Return tests of slices against the rest, or of their changes from system to system."""
    frame = tests.table.assign(
        by=[slicing_title(name) for name in tests.table["by"]],
        measure=tests.table["measure"].map(SHORT),
        **{column.key: [p_value_text(p) for p in tests.table[column.key]] for column in TESTS},
    )
    columns = (
        *(Column(key, kind="name") for key in ("system", "baseline", "by", "slice") if key in frame),
        Column("measure", "of", "text"),
        *SHARED_COUNTS[-2:],
        Column("value", kind="ratio"),
        Column("reference", "baseline's" if "system" in frame else "the rest's", "ratio"),
        *DIFFERENCE,
        *TESTS,
        Column("why", "no test, as", "text"),
    )
    return frame_table(title, frame, columns, (f"family: {tests.family}",), name="slice-tests")


def combination_table(title: str, frame: pd.DataFrame, rows: int | None = None) -> Table:
    """Return combinations of two slices with the lowest recall first; `frame` has WORST_COLUMNS."""
    titles = {name: slicing_title(name) for name in {*frame["by"], *frame["and_by"]}}
    columns = (
        *(Column(key, kind="name") for key in ("by", "slice", "and_by", "and_slice")),
        *SHARED_COUNTS[-2:-1],
        Column("documents", kind="count"),
        RATIOS[1],
        Column("difference", "less R elsewhere", "difference"),
        Column("p", kind="p", meaning="one-sided, for a lower recall than that of all other gold spans"),
        *TESTS[1:],
    )
    texts = {column.key: [p_value_text(p) for p in frame[column.key]] for column in TESTS}
    named = frame.assign(**texts).replace({"by": titles, "and_by": titles})
    return frame_table(
        title, named.head(len(frame) if rows is None else rows), columns, (worst_family(frame),), name="worst"
    )


def threshold_table(title: str, frame: pd.DataFrame) -> Table:
    """Return the scores of the predictions with at least so high a score; `frame` has CURVE_COLUMNS."""
    counts = [column for column in SHARED_COUNTS if column.key != "PAR" or frame["PAR"].any()]
    texts = frame.assign(threshold=[f"{value:.6g}" for value in frame["threshold"]])
    columns = (Column("threshold", "score at least", "name"), *RATIOS, *counts)
    return frame_table(title, texts, columns, name="thresholds")


def calibration_table(title: str, report: Calibration, binning: str) -> Table:
    """Return the precision of predictions in bins of their scores."""
    frame = report.bins[binning].assign(precision_interval=interval_texts(report.bins[binning], "precision"))
    columns = (
        Column("slice", "score", "name"),
        Column("confidence", "mean score", "ratio"),
        PRECISION,
        Column("precision_interval", "P 95%", "estimate"),
        ACT,
    )
    return frame_table(f"{title}, precision in bins of {binning}", frame, columns, name="calibration")
