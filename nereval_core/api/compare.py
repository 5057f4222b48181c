"""The verbs `compare` and `replicability` of the library: systems against gold and one of them, and over corpora."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Unpack

import pandas as pd

from nereval_core.analysis.comparison import Comparison, compare_scores
from nereval_core.analysis.comparison.replicability import replicability_table
from nereval_core.analysis.comparison.runs import group_runs
from nereval_core.analysis.resampling_units import ResamplingPlan, resampling_units
from nereval_core.api.inputs import Given, Texts, gold_reading
from nereval_core.api.score import score
from nereval_core.options import check_margin
from nereval_core.pairing import Pairing
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.python_objects import is_objects
from nereval_core.scoring import Counting, Scores
from nereval_core.scoring.criteria import SCHEMAS, Criterion


def compare(
    gold: Given,
    systems: Mapping[str, Given],
    *,
    baseline: str | None = None,
    runs: Mapping[str, Sequence[str]] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    resample_by: str = "",
    by_type: bool = False,
    margin: float | None = None,
    measures: Iterable[str] = (),
    scorers: Iterable[str] = (),
    criteria: Iterable[str | Criterion] = SCHEMAS,
    merge: Mapping[str, str] | Iterable[str] = (),
    leave_out: Iterable[str] = (),
    counting: Counting = "one-to-one",
    format: str = "auto",
    core_type: str | None = None,
    texts: Texts | None = None,
    **pairing: Unpack[Pairing],
) -> Comparison:
    """Compare systems by name: scores with intervals, differences to the baseline with p, ranks, all as tables.

    The baseline is the first system by default. `resample_by` is the unit of resampling: `document`, `sentence`, a
    metadata key or `runs:20`, by default each document as read. `margin` is the difference of F1 within which a system
    is tested to be as good as the baseline. `measures` are compared beside F1: `precision`, `macro-f1` and the like
    (`nereval_core.analysis.comparison.measures`). `scorers` are published scorers whose figures are compared too, such
    as `conlleval` or `nervaluate-1.2.1/partial`. `runs` says which systems are runs of one, {"a": ["a-1", "a-2"]}: the
    result's `runs` compares their means (`nereval_core.analysis.comparison.runs`), and the baseline is then "a", not
    one of its runs. The other options are those of `score`.

    See `nereval_core.analysis.comparison`; its module `nereval_core.analysis.comparison.transitions` follows spans from
    one system to another.

    Raises:
        FormatError: as `score`, with the problems of all systems; no system, or no system with the name of the
            baseline; a unit that gold's documents do not have; a number that is not possible
            (`nereval_core.options`).
    """
    check_margin(margin, runs=bool(runs))
    plan = ResamplingPlan(resamples=resamples, seed=seed)
    if not systems or (baseline is not None and baseline not in group_runs(systems, runs or {})):
        found = "no system to compare" if not systems else f"no system is called {quoted(str(baseline))}"
        raise FormatError.single("compare", None, found, "give systems by name, the baseline among them")
    if not is_objects(gold):
        # Read once for all systems.
        gold, core_type = gold_reading(gold, format=format, core_type=core_type), None
    problems: list[Problem] = []
    scores: dict[str, Scores] = {}
    for name, pred in systems.items():
        try:
            scores[name] = score(
                gold,
                pred,
                criteria=criteria,
                merge=merge,
                leave_out=leave_out,
                counting=counting,
                format=format,
                core_type=core_type,
                texts=texts,
                **pairing,
            )
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(dict.fromkeys(problems))
    units = resampling_units(next(iter(scores.values())).read[0].documents, resample_by)
    return compare_scores(
        scores,
        baseline=baseline,
        plan=plan,
        units=units,
        by_type=by_type,
        margin=margin,
        measures=tuple(measures),
        runs=runs,
        scorers=tuple(scorers),
    )


def replicability(comparisons: Mapping[str, Comparison], *, level: float = 0.95) -> pd.DataFrame:
    """Count the corpora in which each system is better or worse than the baseline: REPLICABILITY_COLUMNS.

    `comparisons` are those of the same systems with the same baseline, by the name of the corpus. `level` is the
    confidence of both directions together. See `nereval_core.analysis.comparison.replicability`.

    Raises:
        FormatError: fewer than two corpora, other systems or another baseline in one of them, or no common criterion.
    """
    return replicability_table({name: found.system_differences for name, found in comparisons.items()}, level)
