"""The verb `compare`: systems side by side with intervals, differences to a baseline, and tests."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING

from nereval_core.api.verb_options import CompareOptions
from nereval_core.cli.options import (
    GOLD_AND_PREDICTIONS,
    Parser,
    UsageError,
    add_engine,
    add_options,
    add_output,
    add_reading,
    check_by,
    listed,
    parsed,
)
from nereval_core.options import INTERVAL_METHOD
from nereval_core.problems import quoted

if TYPE_CHECKING:
    from nereval_core.scoring.protocols import LayerSummary

HELP = "compare systems, with intervals and tests"
USAGE = "GOLD A B [C ...] [options] | --other-corpora RESULT RESULT ..."
EXAMPLE = "gold.jsonl old.jsonl new.jsonl --criteria strict --figure comparison.html"
NOTES = f"""\
Intervals are from the {INTERVAL_METHOD} over documents (or the units of --resample-by),
differences to the baseline use the same resamples, and p comes from approximate randomization with Holm's correction
over the systems.
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
    corpora = "instead of files: count the corpora that show a difference, from what --json wrote of each"
    add = add_options(parser, CompareOptions)
    add("--other-corpora", nargs="+", default=[], metavar="RESULT", help=corpora)
    add_engine(parser)
    # Scoring shard by shard reads these options of `score`.
    parser.set_defaults(out=None, records=None, convention=None, differences=None)
    by = ("type,span", "also compare by type; follow each span from system to system")
    figure = "F1 under the first criterion with intervals and the tables"
    add = add_output(parser, by=by, figure=figure, methods=True)
    figure_of = "what --figure draws: scores, or their differences from the baseline (default: scores)"
    add("--figure-of", choices=FIGURES, default=FIGURES[0], help=figure_of)
    add_reading(parser, least=0)


def run(arguments: argparse.Namespace) -> None:
    from nereval_core.api import compare
    from nereval_core.cli.files import load_layers, split_runs, system_paths
    from nereval_core.cli.output import Console, output_places, write_result
    from nereval_core.cli.results.comparison import comparison_result

    if arguments.other_corpora:
        _count_corpora(arguments)
        return
    if not arguments.files:
        raise UsageError("the following arguments are required: FILE")
    arguments.files, runs = split_runs(arguments.files)
    if any(getattr(arguments, name) is not None for name in SHARDS):
        _check_shards(arguments)
    by = check_by(arguments, ("type", "span"), "there are type and span")
    options = parsed(CompareOptions, arguments, by_type="type" in by, runs=runs)
    places = output_places(arguments, "figure", "methods")
    paths = system_paths(arguments)
    options.check_systems(paths)
    differences = arguments.figure_of == "differences"
    if differences and (arguments.figure is None or len(paths) == 1):
        raise UsageError("--figure-of differences draws two systems or more, name them and --figure FILE")
    console = Console(arguments.quiet)
    with ExitStack() as stack:
        if arguments.engine is None:
            loaded = load_layers(arguments, console)
            sides: tuple[LayerSummary, ...] = (loaded.corpus.gold, *loaded.corpus.systems)
            comparison = compare.run(options, loaded, console)
        else:
            from nereval_core.cli import shards

            whole = stack.enter_context(shards.scored_shards(arguments, options.scoring))
            sides = (whole.gold, *(layer for layer, _ in whole.systems))
            comparison = compare.compare_counts(options, {layer.name: scores for layer, scores in whole.systems})
        gold, *systems = sides
        result = comparison_result(gold, systems, comparison, by_span="span" in by, differences=differences)
        write_result(result, places, figure_width=arguments.figure_width)


def _count_corpora(arguments: argparse.Namespace) -> None:
    """Write in how many corpora each system is better or worse, from the results of comparisons."""
    from nereval_core.cli.files import paths_by_name
    from nereval_core.cli.output import output_places, write_result
    from nereval_core.cli.results.comparison import corpora_result, read_comparison

    for name in ("files", "baseline", "by", "margin", "measures", "scorers", "figure", "methods"):
        if getattr(arguments, name):
            superfluous = "other files" if name == "files" else f"--{name}"
            raise UsageError(f"--other-corpora counts what `compare --json` wrote, leave out {superfluous}")
    # They are the inputs that no output may overwrite.
    arguments.files = arguments.other_corpora
    if len(arguments.files) < 2:
        raise UsageError(f"--other-corpora {arguments.files[0]}, give the results of two corpora or more")
    paths = paths_by_name(arguments.files)
    if several := [name for name, path in paths.items() if not isinstance(path, str)]:
        raise UsageError(f"two corpora are called {quoted(several[0])}, name each differently: NAME=RESULT")
    places = output_places(arguments)
    write_result(corpora_result({name: read_comparison(str(path)) for name, path in paths.items()}), places)


def _check_shards(arguments: argparse.Namespace) -> None:
    from nereval_core.cli import shards

    shards.check_usage(arguments)
    if arguments.resample_by:
        by = f"--resample-by {arguments.resample_by}"
        raise UsageError(f"{by} needs all documents at once, leave it out with --engine")
    for name in ("measures", "scorers", "by"):
        if values := listed(getattr(arguments, name)):
            raise UsageError(f"--{name} {','.join(values)} needs all spans at once, leave it out with --engine")
