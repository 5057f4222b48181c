"""The verb `errors`: classes of errors, the F1 that each costs, and predictions in which they are mended."""

from __future__ import annotations

import argparse

from nereval_core.api.verb_options import ErrorsOptions
from nereval_core.cli.options import (
    GOLD_AND_PREDICTIONS,
    Parser,
    UsageError,
    add_options,
    add_output,
    add_reading,
    check_by,
    parsed,
)
from nereval_core.problems import quoted

HELP = "classes of errors, the F1 that each costs, and the most frequent confusions, misses and spurious forms"
USAGE = "GOLD PRED [PRED ...] [options]"
EXAMPLE = "gold.jsonl system.jsonl --by type --figure costs.html"
NOTES = f"""\
Each record that is not correct under strict has one class, the first that applies: duplicate, split (one gold span,
several predictions), merged (several gold spans, one prediction), type only, boundary only, type and boundary, missed,
spurious. The cost of a class is computed by mending it in the predictions and scoring them again, under --criteria.
"F1 so far" is with all classes above mended too. A gain below 0 is not a mistake: the mended spans were credited
already under that criterion, or take gold spans that other predictions have.

Wrong boundaries are counted by end: left short leaves words out there, left long takes some in. Their words are named
by kind, from short lists in English, German, French and Spanish, or as number, punctuation, parenthesis, part of a word
or white space, else as they are.

--forms prints the words of errors: the most frequent surface forms of each class, as missed and spurious ones and
confusions of types (type only), with the types, the count and an example in its text. Write --forms=N before files.
`nereval score --by confusion` counts each gold type with each predicted type. --by type takes the type of the gold
span, else that of the prediction. --records has the columns class, ends, pattern_left and pattern_right too.

{GOLD_AND_PREDICTIONS}"""


FORMS = 10
"""Forms of each class with --forms alone."""


def form_limit(text: str) -> int:
    """Return the N of `--forms N`.

    Raises:
        ArgumentTypeError: it is not a number of forms.
    """
    if text.isascii() and text.isdecimal() and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"{quoted(text)} is not a number from 1 on; before files write --forms={FORMS}")


def add_arguments(parser: Parser) -> None:
    forms = f"the N most frequent forms of each class ({FORMS}), with types, count and an example in its text"
    words = parser.add_argument_group("words of errors")
    words.add_argument("--forms", nargs="?", const=FORMS, type=form_limit, metavar="N", help=forms)
    add = add_options(parser, ErrorsOptions)
    fair = "also count every error once, as FairEval does (Ortmann 2022): TP, LE, BES, BEL, BEO, LBE, FN, FP"
    words.add_argument("--fair", action="store_true", help=fair)
    add("--out", metavar="FILE", help="write the prediction with these mended, as JSON lines")
    add_output(
        parser,
        by=("type", "also count the classes by type"),
        figure="the F1 gained by mending each class, and the tables",
        records="the errors with their classes, as .parquet, .jsonl or .csv",
    )
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    from nereval_core.api import errors
    from nereval_core.cli.files import load_layers, system_paths
    from nereval_core.cli.output import Console, output_places, write_result
    from nereval_core.cli.results.errors import errors_result

    by = check_by(arguments, ("type",), "the only value is type")
    if bool(arguments.mend) != (arguments.out is not None):
        raise UsageError("--mend CLASS and --out FILE go together")
    if arguments.mend and len(system_paths(arguments)) > 1:
        raise UsageError("--mend is for one prediction, name one")
    places = output_places(arguments, "figure", "records", "out")
    options = parsed(ErrorsOptions, arguments)
    console = Console(arguments.quiet)
    loaded = load_layers(arguments, console)
    reports = errors.run(options, loaded, console)
    write_result(
        errors_result(
            loaded.corpus,
            reports,
            by_type="type" in by,
            mend=options.mended,
            forms=arguments.forms,
            fair=arguments.fair,
        ),
        places,
        figure_width=arguments.figure_width,
    )
