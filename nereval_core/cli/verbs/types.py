"""The verb `types`: suggest gold types for the types of predictions, as a mapping file to check by hand."""

from __future__ import annotations

import argparse

from nereval_core.cli.options import GOLD_AND_PREDICTIONS, Parser, add_reading

HELP = "suggest gold types for the types of predictions"
USAGE = "GOLD PRED [PRED ...] [options]"
EXAMPLE = "gold.jsonl system.jsonl > names.types"
NOTES = f"""\
Each type that gold lacks gets a suggestion: the gold type that its spans overlap most, or else one with a similar name.
Uncertain suggestions are commented out by a #. Nothing is applied: check the lines, and score with --pred-types FILE.

{GOLD_AND_PREDICTIONS}"""


def add_arguments(parser: Parser) -> None:
    add_reading(parser)
    parser.set_defaults(criteria=None)


def run(options: argparse.Namespace) -> None:
    from nereval_core.cli.files import check_places, load_layers
    from nereval_core.cli.output import Console
    from nereval_core.pairing.type_suggestions import suggest_types, suggested_lines

    check_places(options, {})
    corpus = load_layers(options, Console(options.quiet)).corpus
    print(suggested_lines(suggest_types(corpus.gold, corpus.systems), corpus.gold, corpus.systems), end="")
