"""The verbs `compare` and `replicability` of the library: systems against gold and one of them, and over corpora."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Unpack

import pandas as pd

from nereval_core.analysis.comparison import Comparison, compare_scores
from nereval_core.analysis.comparison.replicability import replicability_table
from nereval_core.analysis.resampling_units import resampling_units
from nereval_core.api.inputs import AnyAnnotations, Texts, check_named, load_inputs, scoring_options
from nereval_core.api.load import Loaded
from nereval_core.api.load_options import ResamplingOptions
from nereval_core.api.scoring import Listener, PythonWarnings, score_loaded
from nereval_core.api.verb_options import CompareOptions
from nereval_core.corpus import Documents
from nereval_core.pairing import Pairing
from nereval_core.scoring import Counting
from nereval_core.scoring.criteria import SCHEMAS, Criterion
from nereval_core.scoring.protocols import CountedScores


def compare(
    gold: AnyAnnotations,
    systems: Mapping[str, AnyAnnotations],
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
    options = CompareOptions(
        baseline=baseline,
        resampling=ResamplingOptions(resamples=resamples, seed=seed, by=resample_by),
        margin=margin,
        measures=tuple(measures),
        scorers=tuple(scorers),
        by_type=by_type,
        runs=runs or {},
        scoring=scoring_options(criteria, merge, leave_out, counting),
    )
    check_named(systems, "systems")
    options.check_systems(systems)
    loaded = load_inputs(gold, systems, format=format, core_type=core_type, texts=texts, pairing=pairing)
    return run(options, loaded, PythonWarnings())


def run(options: CompareOptions, loaded: Loaded, listener: Listener) -> Comparison:
    """Score the systems of a corpus and compare them.

    Raises:
        FormatError: as `compare`, of options that these documents and systems cannot have.
    """
    return compare_counts(options, score_loaded(loaded, options.scoring, listener), loaded.corpus.documents)


def compare_counts(
    options: CompareOptions, scores: Mapping[str, CountedScores], documents: Documents | None = None
) -> Comparison:
    """Compare systems by their scores; without `documents` each document is a unit of resampling.

    Raises:
        FormatError: as `run`.
    """
    options.check_systems(scores)
    return compare_scores(
        scores,
        baseline=options.baseline,
        plan=options.resampling.plan,
        units=None if documents is None else resampling_units(documents, options.resampling.by),
        by_type=options.by_type,
        margin=options.margin,
        measures=options.measures,
        runs=options.runs,
        scorers=options.scorers,
    )


def replicability(comparisons: Mapping[str, Comparison], *, level: float = 0.95) -> pd.DataFrame:
    """Count the corpora in which each system is better or worse than the baseline: REPLICABILITY_COLUMNS.

    `comparisons` are those of the same systems with the same baseline, by the name of the corpus. `level` is the
    confidence of both directions together. See `nereval_core.analysis.comparison.replicability`.

    Raises:
        FormatError: fewer than two corpora, other systems or another baseline in one of them, or no common criterion.
    """
    return replicability_table({name: each.system_differences for name, each in comparisons.items()}, level)
