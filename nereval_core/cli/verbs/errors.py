"""The verb `errors`: classes of errors, the F1 that each costs, and predictions in which they are mended."""

from __future__ import annotations

import argparse

from nereval_core.cli.options import (
    GOLD_AND_PREDICTIONS,
    Parser,
    UsageError,
    add_output,
    add_reading,
    add_scoring,
    check_by,
    comma_separated,
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
    add = parser.add_argument_group("words of errors").add_argument
    forms = f"the N most frequent forms of each class ({FORMS}), with types, count and an example in its text"
    add("--forms", nargs="?", const=FORMS, type=form_limit, metavar="N", help=forms)
    add = parser.add_argument_group("mending").add_argument
    add("--mend", action="append", default=[], metavar="CLASS", help="classes separated by commas, or all")
    add("--out", metavar="FILE", help="write the prediction with these mended, as JSON lines")
    add_output(
        parser,
        by=("type", "also count the classes by type"),
        figure="the F1 gained by mending each class, and the tables",
        records="the errors with their classes, as .parquet, .jsonl or .csv",
    )
    add_scoring(parser, "strict")
    add_reading(parser)


def run(options: argparse.Namespace) -> None:
    from dataclasses import replace

    from nereval_core.analysis.errors import error_report, parse_classes
    from nereval_core.analysis.errors.error_classes import STRICT
    from nereval_core.cli.files import system_paths
    from nereval_core.cli.output import output_places, progress_bar, write_result
    from nereval_core.cli.results.errors import errors_result
    from nereval_core.cli.runner import load_for_scoring, score_systems
    from nereval_core.scoring.criteria import CRITERIA

    by = check_by(options, ("type",), "the only value is type")
    if bool(options.mend) != (options.out is not None):
        raise UsageError("--mend CLASS and --out FILE go together")
    if options.mend and len(system_paths(options)) > 1:
        raise UsageError("--mend is for one prediction, name one")
    places = output_places(options, "figure", "records", "out")
    mend = parse_classes(comma_separated(options.mend)) if options.mend else ()
    loaded, settings = load_for_scoring(options)
    names = [criterion.name for criterion in settings.criteria]
    if STRICT not in names:
        # Classes are those of the strict records, whatever criteria are shown.
        settings = replace(settings, criteria=(CRITERIA[STRICT], *settings.criteria))
    found = {
        layer.name: error_report(scores, names, progress=progress_bar(layer.name, "mended"))
        for layer, scores in score_systems(loaded, settings)
    }
    write_result(
        errors_result(loaded.corpus, found, by_type="type" in by, mend=mend, forms=options.forms),
        places,
        figure_width=options.figure_width,
    )
