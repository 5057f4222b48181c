"""All slices of one system under one criterion: what the verb `slices` and the library return."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from nereval_core.analysis.resampling import Plan
from nereval_core.analysis.resampling_units import ResamplingUnits, resampling_units
from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.scores_by_slice import PLAN, calibration, curve, slice_table, tally
from nereval_core.analysis.slices.slicings import SLICINGS, Sliced
from nereval_core.analysis.slices.thresholds import MOST_STEPS
from nereval_core.analysis.slices.user_columns import Columns
from nereval_core.analysis.slices.worst_combinations import worst_table
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.scoring import Scores

SCORE, WORST = "score", "worst"
"""What may be asked for beside slicings: thresholds and calibration, and the worst combinations of two."""
ASKED = (*(word for word, one in SLICINGS.items() if one.listed), SCORE, WORST)


@dataclass(frozen=True, eq=False)
class Slices:
    """The slices of a system under a criterion.

    `tables` are by the name of what is sliced by, with the columns of `sliced.SLICE_COLUMNS`; `titles` say it in words,
    `notes` say which ratios a table lacks because the spans of one side have no value, and hold only such tables.
    `thresholds` and `calibration` are there where predictions have scores, `gap` is the mean gap of the latter; `worst`
    where it is asked for.
    """

    scores: Scores
    criterion: str
    plan: Plan
    units: ResamplingUnits
    tables: Mapping[str, pd.DataFrame]
    titles: Mapping[str, str]
    thresholds: pd.DataFrame | None = None
    calibration: pd.DataFrame | None = None
    gap: float | None = None
    worst: pd.DataFrame | None = None
    notes: Mapping[str, str] = field(default_factory=dict)


def slice_report(
    scores: Scores,
    criterion: str,
    *,
    by: Sequence[str] = (),
    training: Layer | None = None,
    columns: Columns | None = None,
    steps: int = MOST_STEPS,
    resamples: int = PLAN.resamples,
    seed: int = PLAN.seed,
    units: ResamplingUnits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Slices:
    """Slice scores by some of ASKED, by default by all that applies but the combinations, which take longest.

    `meta` and `column` stand for all keys and columns, `meta source` for one. `units` are what is resampled, by default
    each document.

    Raises:
        FormatError: something else is asked for.
    """
    check_asked(by)
    beside: dict[str, object] = {one.digest[: slicings.DIGITS]: one for one in (training, columns) if one is not None}
    given = Sliced(scores, criterion, scores.read, beside.get)
    plan = Plan(resamples=resamples, seed=seed)
    units = units or resampling_units(scores.read[0].documents)
    offered = slicings.offered(given, training, columns)
    names = [name for name in offered if not by or _wanted(name, by)]
    values = {name: found for name in (offered if WORST in by else names) if (found := slicings.find(given, name))}
    tables, notes = {}, {}
    for number, name in enumerate(names):
        if progress is not None:
            progress(number, len(names))
        if name in values:
            counted = tally(given, values[name])
            tables[name] = slice_table(counted, plan, units)
            if (note := counted.note(slicings.within(name))) is not None:
                notes[name] = note
    points = curve(given, steps=steps) if not by or SCORE in by else None
    tenths, gap = None, None
    if points is not None and (found := slicings.find(given, "score")) is not None:
        tenths, gap = calibration(given, found)
    titles = {name: slicings.title(name) for name in tables}
    worst = worst_table(given, values, units) if WORST in by else None
    if progress is not None:
        progress(len(names), len(names))
    return Slices(scores, criterion, plan, units, tables, titles, points, tenths, gap, worst, notes)


def _wanted(name: str, by: Iterable[str]) -> bool:
    word = name.partition(" ")[0]
    return any(one in (word, name) or (one.startswith(f"{word} ") and _same(name, one)) for one in by)


def _same(name: str, asked: str) -> bool:
    """Tell whether a key or column is meant by its own words, not as it stands in a name."""
    word, _, argument = asked.partition(" ")
    return name == slicings.named(word, argument) or (
        word == "column" and slicings.title(name).endswith(f" {argument}")
    )


def check_asked(by: Sequence[str]) -> None:
    """Refuse what nothing can be sliced by.

    Raises:
        FormatError: with each such name.
    """
    remedy = f"choose among {', '.join(ASKED)}"
    problems = [
        Problem("--by", None, f"no slices by {quoted(one)}", remedy) for one in by if one.partition(" ")[0] not in ASKED
    ]
    if problems:
        raise FormatError(problems)
