"""Statements on slices of some systems under some criteria: the slicings, their intervals, and calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from nereval_core.analysis.methods.statements import Statement, cite, interval_statement, scored_statements
from nereval_core.analysis.sentences import name_list
from nereval_core.analysis.slices import SliceReport
from nereval_core.analysis.slices.calibration import EQUAL_WIDTH
from nereval_core.analysis.slices.scores_by_slice import BOOTSTRAP, FEW_UNITS_OF_SLICE, MOST_RESAMPLED_UNITS, WILSON
from nereval_core.analysis.slices.slicings import title_in_sentence
from nereval_core.report.method_terms import (
    AREA,
    BRIER,
    ECE,
    EQUAL_MASS,
    FALSE_DISCOVERY,
    HOLM,
    LEAST_DIFFERENCE,
    REFLECTED,
    WILSON_INTERVAL,
)

Reports = Sequence[SliceReport]


def _scores(reports: Reports) -> Iterator[Statement]:
    scored = {report.scores.read[1].name: report.scores for report in reports}
    return scored_statements(scored, list(dict.fromkeys(report.criterion for report in reports)))


def _slices(reports: Reports) -> Iterator[Statement]:
    titles = [title_in_sentence(name) for name in dict.fromkeys(name for report in reports for name in report.tables)]
    if not titles:
        return
    yield (
        f"Scores were broken down by {name_list(titles)}: recall of a slice is over its gold spans, precision over "
        "its predictions.",
    )
    kinds = {str(kind) for report in reports for table in report.tables.values() for kind in table["interval"]}
    plan, units = reports[0].plan, reports[0].units
    if BOOTSTRAP in kinds:
        grouped = units.count > MOST_RESAMPLED_UNITS and units.strata is None
        resampled_units = (
            f"{MOST_RESAMPLED_UNITS:,} random groups of {units.description}" if grouped else units.description
        )
        yield interval_statement("slices", plan, resampled_units, units)
    if WILSON in kinds:
        which = f"in fewer than {FEW_UNITS_OF_SLICE} {units.plural}, or all correct, or all wrong"
        yield (f"Slices {which}, have Wilson's intervals", cite(WILSON_INTERVAL), ".")


def _calibration(reports: Reports) -> Iterator[Statement]:
    calibrations = [report.calibration for report in reports if report.calibration is not None]
    if not calibrations:
        return
    if any(not calibration.refusal for calibration in calibrations):
        has_one_binning = all(len(calibration.bins) == 1 for calibration in calibrations)
        bins = EQUAL_WIDTH if has_one_binning else "equal width and of equal mass"
        yield (
            "The calibration of the scores of predictions is their expected and maximum calibration error in up to ten "
            f"bins of {bins}",
            cite(ECE, *([] if bins == EQUAL_WIDTH else [EQUAL_MASS])),
            " and the Brier score",
            cite(BRIER),
            ".",
        )
        if any(calibration.errors["low"].notna().any() for calibration in calibrations):
            yield (
                "Intervals of calibration errors are bootstrap intervals reflected at the value",
                cite(REFLECTED),
                ".",
            )
    yield ("Scores were also judged by the area under the curve of risk against coverage", cite(AREA), ".")
    if any(len(calibration.held_out) for calibration in calibrations):
        units = calibrations[0].units.plural
        yield (f"A threshold was chosen by F1 on a random half of the {units} and tried on the other half.",)


def _worst(reports: Reports) -> Iterator[Statement]:
    tests = [int(report.worst["tests"].max()) for report in reports if report.worst is not None and len(report.worst)]
    if tests:
        yield (
            "Recall of each combination of two slices was compared with that of all other gold spans by a one-sided "
            f"score test over {reports[0].units.plural}; p values were corrected over {max(tests):,} combinations by "
            "Holm's method",
            cite(HOLM),
            ".",
        )


def _tests(reports: Reports) -> Iterator[Statement]:
    families = [report.apart.family for report in reports if report.apart is not None and len(report.apart.table)]
    if families:
        yield (
            "Each slice was tested against all others of its slicing by Student's t at the standard error of the "
            "delete-one jackknife",
            cite(LEAST_DIFFERENCE),
            f" (family: {families[0]}), with p values corrected by Holm's method",
            cite(HOLM),
            " and by that of Benjamini and Hochberg",
            cite(FALSE_DISCOVERY),
            ".",
        )


SLICES: tuple[Callable[[Reports], Iterator[Statement]], ...] = (
    _scores,
    _slices,
    _tests,
    _calibration,
    _worst,
)
"""What is said of slices, in this order."""
