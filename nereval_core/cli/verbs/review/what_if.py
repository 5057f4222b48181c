"""The verb `review what-if`: every score without and with verdicts applied to gold."""

from __future__ import annotations

import argparse

from nereval_core.cli.options import (
    ALL,
    GOLD_AND_PREDICTIONS,
    Parser,
    add_output,
    add_reading,
    add_scoring,
    add_verdicts,
    comma_separated,
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
    add_scoring(parser)
    add_reading(parser)


def run(options: argparse.Namespace) -> None:
    from nereval_core.cli.output import output_places, write_result
    from nereval_core.cli.results.what_if import what_if_result
    from nereval_core.cli.runner import say_unused, scoring_settings, types_of
    from nereval_core.cli.verdicts import check_kept, load_reviewed, read_verdicts, say_counts, verdict_kinds
    from nereval_core.review.apply import apply_verdicts
    from nereval_core.review.apply.deciding_verdicts import conclude_pairs
    from nereval_core.review.apply.what_if import what_if
    from nereval_core.scoring.criteria import check_criteria

    places = output_places(options)
    verdict_kinds(options)
    settings = scoring_settings(options)
    reviewed, kept = read_verdicts(options)
    for place in places.values():
        check_kept(place, [kept])
    loaded = load_reviewed(options)
    say_unused(settings, types_of(loaded))
    corpus = loaded.corpus
    found = apply_verdicts(corpus.gold, reviewed, corpus.systems, only_this_document=options.only_this_document)
    both = what_if(found, corpus.systems, settings)
    if ALL not in comma_separated([options.criteria or ""]):
        lacking = [criterion for criterion in settings.criteria if criterion not in both.settings.criteria]
        check_criteria(lacking, corpus.gold, source="--criteria")
    pairs = list(conclude_pairs(found, corpus.systems, both.settings).values()) if options.hangs else []
    say_counts(found)
    write_result(what_if_result(both, corpus.systems, pairs, hangs=options.hangs), places, always_print=True)
