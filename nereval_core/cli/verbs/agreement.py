"""The verb `agreement`: the agreement of annotators, of each pair and of all together."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from nereval_core.api.verb_options import AgreementOptions
from nereval_core.cli.options import (
    FILES,
    Parser,
    UsageError,
    add_options,
    add_output,
    add_reading,
    check_by,
    parsed,
)
from nereval_core.options import INTERVAL_METHOD

if TYPE_CHECKING:
    from nereval_core.analysis.agreement.coefficients import Pair
    from nereval_core.api.load import Loaded
    from nereval_core.api.scoring import Listener
    from nereval_core.cli.files import Paths
    from nereval_core.problems import Problem

HELP = "measure the agreement of annotators, with intervals"
USAGE = "A B [C ...] [options]"
EXAMPLE = "ann.jsonl bob.jsonl cem.jsonl --system tagger=run.jsonl"
NOTES = f"""\
A, B, C are the layers of annotators or systems over the same documents; none is gold. Options for gold apply to A,
options for predictions to the others. F1 is computed for each pair under --criteria, kappa and alpha on tokens (the
category of a token is the set of types that cover it), unitizing alpha (of 2004) on characters. For more than two
annotators F1 and observed agreement are means over the pairs, undefined ones left out, and kappa is Fleiss'. Criteria
that are not symmetric give both ways. Intervals are from the {INTERVAL_METHOD} over documents,
or the units of --resample-by. An undefined figure has its reason: no spans, one category only, or no expected
disagreement.

All annotators are taken to have read all documents. If one has not read a document, --documents shared leaves it out,
--documents pairwise compares each pair on the documents that both have, and --missing empty counts it as read, without
a span, which lowers agreement. A file that lacks a document says that its annotator did not see it. Pairwise, all
annotators together have the means of F1 and observed agreement, without intervals, no kappa, and both alphas with
missing values.

--system holds a system against the human ceiling: is its mean F1 with annotators below that of annotators with one
another? The difference has an interval and a one-sided randomization test (Holm's correction over the systems).
--gamma has neither intervals nor figures by type or document. --seed decides what it draws. --merge and --leave-out
count for every figure, types merged by a criterion of your own for its F1 alone.

{FILES.format("A, B, C", "agreement", "ann=A1 ann=A2 bob=B1 bob=B2", "B", "agreement")}"""
BY = ("type", "document")


def add_arguments(parser: Parser) -> None:
    system = "hold a system against the agreement of annotators; repeatable"
    add = add_options(parser, AgreementOptions)
    add("--system", action="append", default=[], metavar="[NAME=]FILE", help=system)
    add_output(parser, by=("type,document", "break the figures down"), methods=True)
    add_reading(parser, "A first, then B or NAME=B, …", ("A", "the others"))


def run(arguments: argparse.Namespace) -> None:
    from pathlib import Path

    from nereval_core.analysis.agreement import PAIRWISE
    from nereval_core.api import agreement
    from nereval_core.cli.files import TWO_OF_ONE, paths_by_name
    from nereval_core.cli.output import Console, output_places, write_result
    from nereval_core.cli.results.agreement import agreement_result

    annotators, systems = paths_by_name(arguments.files), paths_by_name(arguments.system)
    pairwise = arguments.documents == PAIRWISE and not Path(PAIRWISE).is_file()
    if pairwise and len(annotators) == 1:
        raise UsageError(f"--documents {PAIRWISE} compares files: name two annotators or more")
    if len(annotators) == 1 and None in (arguments.gold_column, arguments.pred_column):
        raise UsageError(f"name two annotators or more, {TWO_OF_ONE}")
    if both := sorted(annotators.keys() & systems.keys()):
        raise UsageError(f"--system {both[0]} is called as an annotator, write NAME=FILE")
    by = check_by(arguments, BY, f"there are {' and '.join(BY)}")
    options = parsed(AgreementOptions, arguments)
    places = output_places(arguments, "methods")
    console = Console(arguments.quiet)
    if pairwise:
        pairs = _load_pairs(arguments, annotators, systems)
        agreed = agreement.run_pairwise(options, pairs, tuple(annotators), tuple(systems), console)
        all_loaded = list(pairs.values())
    else:
        first, loaded = _load_all(arguments, annotators, systems, console)
        agreed = agreement.run(options, loaded, first, tuple(systems), console)
        all_loaded = [loaded]
    marks = [f"{name}: {mark}" for each in all_loaded for name, of_system in each.marks.items() for mark in of_system]
    write_result(agreement_result(agreed, by=by, marks=tuple(dict.fromkeys(marks))), places)


def _load_all(
    arguments: argparse.Namespace, annotators: Mapping[str, Paths], systems: Mapping[str, Paths], listener: Listener
) -> tuple[str, Loaded]:
    """Return the name of the first annotator, and all layers on its documents."""
    from nereval_core.cli.files import load_layers

    if len(annotators) == 1:
        # One file has both annotators in two columns.
        (path,) = annotators.values()
        annotators = {f"column {column}": path for column in (arguments.gold_column, arguments.pred_column)}
    (first, path), *others = annotators.items()
    return first, load_layers(arguments, listener, path, {**dict(others), **systems})


def _load_pairs(
    arguments: argparse.Namespace, annotators: Mapping[str, Paths], systems: Mapping[str, Paths]
) -> dict[Pair, Loaded]:
    """Read each annotator once, and return each two on the documents that both have, systems numbered last.

    Raises:
        FormatError: with the problems of all pairs, each once.
    """
    from dataclasses import replace

    from nereval_core.api.agreement import compared_pairs, pair_annotators
    from nereval_core.api.load import NONE_SHARED, load_corpus, read_layers
    from nereval_core.cli.options import SHARED, load_options
    from nereval_core.problems import FormatError

    paths = {**annotators, **systems}
    first, *others = paths
    both = load_options(argparse.Namespace(**{**vars(arguments), "documents": SHARED}))
    later = replace(both, gold_format=both.pred_format, gold_column=both.pred_column, gold_types=both.pred_types)
    read = read_layers(paths[first], {name: paths[name] for name in others}, both)
    readings = {first: read.gold, **read.systems}
    sound = {name: reading for name, reading in readings.items() if not isinstance(reading, FormatError)}
    if len(sound) == len(readings):
        with suppress(FormatError):
            return pair_annotators(sound, both, later, systems=len(systems))
    # Something is refused: each pair is loaded by itself, which tells what else stands behind a problem.
    pairs: dict[Pair, Loaded] = {}
    problems: list[Problem] = []
    for pair in compared_pairs(len(paths), len(systems)):
        gold, pred = (list(paths)[number] for number in pair)
        try:
            pairs[pair] = load_corpus(paths[gold], {pred: paths[pred]}, options=later if pair[0] else both)
        except FormatError as error:
            problems += [problem for problem in error.problems if problem.found != NONE_SHARED]
    if problems:
        raise FormatError(dict.fromkeys(problems))
    return pairs
