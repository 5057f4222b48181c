"""The slice report: all slices of one system under one criterion, for the verb `slices` and the library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits, resampling_units
from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.calibration import Calibration, calibration
from nereval_core.analysis.slices.scores_by_slice import SLICE_PLAN, SliceTally, slice_table, tally_slices
from nereval_core.analysis.slices.slice_tests import SliceTests, apart_tests, change_tests, worst_table
from nereval_core.analysis.slices.slicings import SLICINGS
from nereval_core.analysis.slices.span_values import SlicedScores
from nereval_core.analysis.slices.thresholds import sweep_thresholds
from nereval_core.analysis.slices.user_columns import UserColumns
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.report.displayed import Displayed
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE

SCORE, WORST = "score", "worst"
"""The choices besides slicings: thresholds and calibration, and the worst combinations of two slices."""
_YEAR = re.compile(r"year \d{4}", re.ASCII)
CHOICES = (*(word for word, slicing in SLICINGS.items() if slicing.listed), SCORE, WORST)


@dataclass(frozen=True, eq=False, repr=False)
class SliceReport(Displayed):
    """The slices of a system under a criterion.

    `tables` (SLICE_COLUMNS) and `titles` are by the name of the slicing; `notes` are about tables that lack ratios
    because the spans of one side have no value. `tallies` are the counts of each slicing by document. `thresholds`
    (CURVE_COLUMNS) and `calibration` need predictions with scores; `worst` and `apart`, the tests of slices against the
    rest, are there on request.
    """

    scores: Scores
    criterion: str
    plan: ResamplingPlan
    units: ResamplingUnits
    tables: Mapping[str, pd.DataFrame]
    titles: Mapping[str, str]
    tallies: Mapping[str, SliceTally] = field(default_factory=dict)
    thresholds: pd.DataFrame | None = None
    calibration: Calibration | None = None
    worst: pd.DataFrame | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    apart: SliceTests | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return the slices of all slicings: `slicing` and SLICE_COLUMNS."""
        slices = pd.concat(self.tables, names=["slicing"]).reset_index("slicing").reset_index(drop=True)
        return slices.astype({"slicing": TEXT_DTYPE})

    @property
    def signature(self) -> str:
        """The signature of the scores with that of the intervals."""
        return signature(self.scores, self.criterion, intervals=self.units.signature(self.plan))


def slice_report(
    scores: Scores,
    criterion: str,
    *,
    by: Sequence[str] = (),
    training: Layer | None = None,
    columns: UserColumns | None = None,
    resamples: int = SLICE_PLAN.resamples,
    seed: int = SLICE_PLAN.seed,
    units: ResamplingUnits | None = None,
    tests: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> SliceReport:
    """Slice scores by some of CHOICES, by default by all that apply except the combinations, which take longest.

    `meta` and `column` stand for all keys and columns, `meta source` for one; `year 1850` compares what is older and
    younger. `units` are resampled, by default each document. `tests` asks for tests of each slice against the rest.

    Raises:
        FormatError: `by` has another choice.
    """
    check_slicings(by)
    beside: dict[str, object] = {
        source.digest[: slicings.DIGEST_DIGITS]: source for source in (training, columns) if source is not None
    }
    sliced = SlicedScores(scores, criterion, scores.read, beside.get)
    plan = ResamplingPlan(resamples=resamples, seed=seed)
    units = units or resampling_units(scores.read[0].documents)
    years = [int(choice.partition(" ")[2]) for choice in by if choice.partition(" ")[0] == "year"]
    offered = slicings.applicable_slicings(sliced, training, columns, years)
    names = [name for name in offered if not by or _is_requested(name, by)]
    values = {
        name: of_spans
        for name in (offered if WORST in by else names)
        if (of_spans := slicings.find_values(sliced, name))
    }
    tables, tallies, notes = {}, {}, {}
    for number, name in enumerate(names):
        if progress is not None:
            progress(number, len(names))
        if name in values:
            tallies[name] = tally_slices(sliced, values[name])
            tables[name] = slice_table(tallies[name], plan, units)
            if (note := tallies[name].note(slicings.title_in_sentence(name))) is not None:
                notes[name] = note
    points, trust = None, None
    sweep = sweep_thresholds(scores, criterion, units=units, seed=seed) if not by or SCORE in by else None
    if sweep is not None:
        points, trust = sweep.curve(), calibration(sliced, sweep, plan, units)
    titles = {name: slicings.slicing_title(name) for name in tables}
    worst = worst_table(sliced, values, units) if WORST in by else None
    apart = apart_tests(tallies, units, plan) if tests else None
    if progress is not None:
        progress(len(names), len(names))
    return SliceReport(scores, criterion, plan, units, tables, titles, tallies, points, trust, worst, notes, apart)


def slice_changes(reports: Mapping[str, SliceReport], baseline: str | None = None) -> SliceTests:
    """Test the changes from the baseline, by default the first, to each other system within each slice.

    `reports` are by system, over the same gold and under the same criterion.

    Raises:
        FormatError: reports over another gold or under another criterion, or no report of the baseline.
    """
    base = next(iter(reports), "") if baseline is None else baseline
    if base not in reports:
        finding = f"no report is called {quoted(base)}" if reports else "no report to compare"
        raise FormatError.single("slice_changes", None, finding, "give reports by system, the baseline among them")
    if len({(report.criterion, report.scores.read[0].digest) for report in reports.values()}) > 1:
        finding = "reports over different gold or under different criteria"
        raise FormatError.single("slice_changes", None, finding, "give reports of the same gold and criterion")
    tallies = {name: report.tallies for name, report in reports.items()}
    return change_tests(tallies, base, reports[base].units, reports[base].plan)


def _is_requested(name: str, by: Iterable[str]) -> bool:
    word = name.partition(" ")[0]
    return any(choice in (word, name) or (choice.startswith(f"{word} ") and _is_named(name, choice)) for choice in by)


def _is_named(name: str, choice: str) -> bool:
    """Tell whether a slicing is requested by its key or column as written, not as quoted in its name."""
    word, _, argument = choice.partition(" ")
    return name == slicings.slicing_name(word, argument) or (
        word == "column" and slicings.slicing_title(name).endswith(f" {argument}")
    )


def check_slicings(by: Sequence[str]) -> None:
    """Check the choices of a report.

    Raises:
        FormatError: with each that is not one of CHOICES, or `year` without a year.
    """
    remedy = f"choose among {', '.join(CHOICES)}"
    problems = [
        Problem("--by", None, f"no slices by {quoted(choice)}", remedy)
        for choice in by
        if choice.partition(" ")[0] not in CHOICES
    ]
    problems += [
        Problem("--by", None, f"{quoted(choice)} names no year of four digits", 'write "year 1850"')
        for choice in by
        if choice.partition(" ")[0] == "year" and not _YEAR.fullmatch(choice)
    ]
    if problems:
        raise FormatError(problems)
