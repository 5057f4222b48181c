"""The verb `compare`: systems side by side with intervals, differences to a baseline, and tests."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nereval_core.cli.options import (
    GOLD_AND_PREDICTIONS,
    Parser,
    UsageError,
    add_engine,
    add_output,
    add_reading,
    add_resampling,
    add_scoring,
    check_by,
    comma_separated,
)
from nereval_core.options import check_margin, check_resampling
from nereval_core.problems import quoted

if TYPE_CHECKING:
    from nereval_core.scoring.protocols import LayerSummary, SystemScores

HELP = "compare systems, with intervals and tests"
USAGE = "GOLD A B [C ...] [options] | --other-corpora RESULT RESULT ..."
EXAMPLE = "gold.jsonl old.jsonl new.jsonl --criteria strict --figure comparison.html"
NOTES = f"""\
Intervals are bias-corrected bootstrap intervals over documents (or the units of --resample-by), differences to the
baseline use the same resamples, and p comes from approximate randomization with Holm's correction over the systems.
Scores that rest on a single document have neither interval nor test. The table of power has the least difference that
a corpus of this size would show with a power of 80%, and with --margin the p of equivalence.

--by span follows each span from the baseline to each other system, as two matrices: gold spans by their decisions, and
predictions, "not predicted" being those of one system only. Then come the gold spans by the number of systems that get
them right. fragment counts tokens and has no transitions.

In LaTeX, Markdown and HTML the best of a column is bold where it is significantly better than the next best: p of at
most 0.05 after Holm's correction over all pairs of systems, under that criterion and of that type. A note names the
columns without bold. A dagger marks p of at most 0.05 against the baseline. --csv has a row a criterion, type and
system, with the difference beside the score; --json has everything, sentences too.

NAME=RUN,RUN,... are several runs of one system (from other seeds, say), called NAME-1, NAME-2, ...: systems are then
compared by the means of their runs, with intervals and tests over documents and runs together. --baseline is then a
system, not a run. --json has the means under "runs"; its other tables take each run for a system.

--other-corpora takes files of --json with the same names of systems and the same baseline; NAME=RESULT names a corpus.

{GOLD_AND_PREDICTIONS}"""
FIGURES = ("scores", "differences")
SHARDS = ("engine", "scheduler", "workers", "work")
"""Options of scoring shard by shard."""


def add_arguments(parser: Parser) -> None:
    add = parser.add_argument_group("comparing").add_argument
    add("--baseline", metavar="NAME", help="the system the others are compared with (default: the first)")
    add_resampling(add)
    margin = "also test equivalence: systems are as good as the baseline, F1 at most M apart, 0.01 say"
    add("--margin", type=float, metavar="M", help=margin)
    measures = "also compare these: f1, precision, recall, macro-f1, macro-precision, macro-recall"
    corpora = "instead of files: count the corpora that show a difference, from what --json wrote of each"
    add("--other-corpora", nargs="+", default=[], metavar="RESULT", help=corpora)
    add("--measures", action="append", default=[], metavar="M,...", help=measures)
    scorers = "also compare headline figures of published scorers (see `conventions`), and of one of their evaluations"
    add("--scorers", action="append", default=[], metavar="NAME[/EVALUATION],...", help=scorers)
    drawn = "what --figure draws: scores, or their differences from the baseline (default: scores)"
    add("--figure-of", choices=FIGURES, default=FIGURES[0], help=drawn)
    by = ("type,span", "also compare by type; follow each span from system to system")
    add_output(parser, by=by, figure="F1 under the first criterion with intervals and the tables", methods=True)
    add_scoring(parser)
    add_engine(parser)
    # Scoring shard by shard reads these options of `score`.
    parser.set_defaults(out=None, records=None, convention=None, differences=None)
    add_reading(parser, least=0)


def run(options: argparse.Namespace) -> None:
    from nereval_core.analysis.comparison import compare_scores
    from nereval_core.analysis.comparison.measures import check_measures, check_scorers
    from nereval_core.analysis.comparison.runs import group_runs
    from nereval_core.analysis.resampling_units import ResamplingPlan, resampling_units
    from nereval_core.cli.files import baseline_name, split_runs, system_paths
    from nereval_core.cli.output import output_places, write_result
    from nereval_core.cli.results.comparison import comparison_result
    from nereval_core.corpus import Documents

    if options.other_corpora:
        _count_corpora(options)
        return
    if not options.files:
        raise UsageError("the following arguments are required: FILE")
    options.files, runs = split_runs(options.files)
    if any(getattr(options, name) is not None for name in SHARDS):
        _check_shards(options)
    by = check_by(options, ("type", "span"), "there are type and span")
    check_resampling(options.resamples, options.seed)
    measures = comma_separated(options.measures)
    check_measures(measures)
    scorers = comma_separated(options.scorers)
    check_scorers(scorers)
    check_margin(options.margin, runs=bool(runs))
    places = output_places(options, "figure", "methods")
    systems = group_runs(system_paths(options), runs)
    baseline = baseline_name(options, systems)
    differences = options.figure_of == "differences"
    if differences and (options.figure is None or len(systems) == 1):
        raise UsageError("--figure-of differences draws two systems or more, name them and --figure FILE")
    with _scored(options) as (gold, scored):
        plan = ResamplingPlan(resamples=options.resamples, seed=options.seed)
        documents = gold.documents
        units = resampling_units(documents, options.resample_by) if isinstance(documents, Documents) else None
        scores = {one.name: each for one, each in scored}
        found = compare_scores(
            scores,
            baseline=baseline,
            plan=plan,
            units=units,
            by_type="type" in by,
            margin=options.margin,
            measures=measures,
            runs=runs,
            scorers=scorers,
        )
        write_result(
            comparison_result(gold, [one for one, _ in scored], found, by_span="span" in by, differences=differences),
            places,
            figure_width=options.figure_width,
        )


def _count_corpora(options: argparse.Namespace) -> None:
    """Write in how many corpora each system is better or worse, from the results of comparisons."""
    from nereval_core.cli.files import paths_by_name
    from nereval_core.cli.output import output_places, write_result
    from nereval_core.cli.results.corpora import corpora_result, read_comparison

    for name in ("files", "baseline", "by", "margin", "measures", "scorers", "figure", "methods"):
        if getattr(options, name):
            said = "other files" if name == "files" else f"--{name}"
            raise UsageError(f"--other-corpora counts what `compare --json` wrote, leave out {said}")
    # They are the inputs that no output may overwrite.
    options.files = options.other_corpora
    if len(options.files) < 2:
        raise UsageError(f"--other-corpora {options.files[0]}, give the results of two corpora or more")
    paths = paths_by_name(options.files)
    if several := [name for name, path in paths.items() if not isinstance(path, str)]:
        raise UsageError(f"two corpora are called {quoted(several[0])}, name each differently: NAME=RESULT")
    places = output_places(options)
    write_result(corpora_result({name: read_comparison(str(path)) for name, path in paths.items()}), places)


def _check_shards(options: argparse.Namespace) -> None:
    from nereval_core.cli import shards

    shards.check_usage(options)
    if options.resample_by:
        raise UsageError(f"--resample-by {options.resample_by} needs all documents at once, leave it out with --engine")
    for name in ("measures", "scorers", "by"):
        if given := comma_separated(getattr(options, name)):
            raise UsageError(f"--{name} {','.join(given)} needs all spans at once, leave it out with --engine")


@contextmanager
def _scored(options: argparse.Namespace) -> Iterator[tuple[LayerSummary, SystemScores]]:
    """Read and score, whole or shard by shard; give gold, and each system with its scores."""
    if options.engine is not None:
        from nereval_core.cli import shards
        from nereval_core.cli.runner import scoring_settings

        with shards.scored_shards(options, scoring_settings(options)) as whole:
            yield whole.gold, whole.systems
    else:
        from nereval_core.cli.runner import load_for_scoring, score_systems

        loaded, settings = load_for_scoring(options)
        yield loaded.corpus.gold, score_systems(loaded, settings)
