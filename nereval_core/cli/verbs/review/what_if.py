"""The verb `review what-if`: every score without and with verdicts applied to gold."""

from __future__ import annotations

import argparse

from nereval_core.api.load_options import ALL, ScoringOptions
from nereval_core.cli.options import (
    GOLD_AND_PREDICTIONS,
    Parser,
    add_options,
    add_output,
    add_reading,
    add_verdicts,
    parsed,
)
from nereval_core.cli.verbs.review.apply import NOTES as OF_GOLD

HELP = "score against gold without and with verdicts applied"
USAGE = "GOLD PRED [PRED ...] [options]"
EXAMPLE = "gold.jsonl a.jsonl b.jsonl --review verdicts.db --criteria strict --hangs"
NOTES = f"""\
{OF_GOLD}
--hangs names the verdicts that must fall for the better of two systems to be no longer better. The set is found
greedily and checked by scoring anew. No verdict in it can be left out, and the output says whether a smaller set might
do; counting each side for itself, or where over six verdicts touch one another, it claims little of smaller sets.

{GOLD_AND_PREDICTIONS}"""


def add_arguments(parser: Parser) -> None:
    add = parser.add_argument_group("what if").add_argument
    add("--hangs", action="store_true", help="the verdicts that decide the order of each pair of systems")
    add_output(parser)
    add_verdicts(parser)
    add_options(parser, ScoringOptions)
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    from nereval_core.api.scoring import tell_unused
    from nereval_core.cli.output import Console, output_places, write_result
    from nereval_core.cli.results.what_if import what_if_result
    from nereval_core.cli.verdicts import check_kept, load_reviewed, read_verdicts, say_counts, verdict_options
    from nereval_core.review.apply import apply_verdicts
    from nereval_core.review.apply.deciding_verdicts import conclude_pairs
    from nereval_core.review.apply.what_if import what_if
    from nereval_core.scoring.criteria import check_criteria

    places = output_places(arguments)
    accepting = verdict_options(arguments)
    options = parsed(ScoringOptions, arguments)
    reviewed, review_file = read_verdicts(arguments.review, accepting)
    for place in places.values():
        check_kept(place, [review_file])
    loaded = load_reviewed(arguments)
    tell_unused(options.settings, loaded.types, Console(arguments.quiet))
    corpus = loaded.corpus
    applied = apply_verdicts(corpus.gold, reviewed, corpus.systems, only_this_document=accepting.only_this_document)
    both = what_if(applied, corpus.systems, options.settings)
    if ALL not in (options.criteria or ()):
        lacking = [criterion for criterion in options.settings.criteria if criterion not in both.settings.criteria]
        check_criteria(lacking, corpus.gold, source="--criteria")
    pairs = list(conclude_pairs(applied, corpus.systems, both.settings).values()) if arguments.hangs else []
    say_counts(applied)
    write_result(what_if_result(both, corpus.systems, pairs, hangs=arguments.hangs), places, always_print=True)
