"""The verb `review adjudicate`: one layer from two annotators, with verdicts where they disagree."""

from __future__ import annotations

import argparse

from nereval_core.cli.options import Parser, UsageError, add_corrected_copy, add_reading, add_verdicts
from nereval_core.problems import quoted

HELP = "merge the layers of two annotators, with verdicts where they disagree"
USAGE = "A B --out OUT [options]"
EXAMPLE = "ann.jsonl bob.jsonl --review verdicts.db --out gold.jsonl"
NOTES = """\
Verdicts are those given on the records of B with A as gold. Records without a verdict are listed; OUT has none of their
spans, or those of A or of B. Agreed spans keep their links, ids and other attributes from A; spans of B alone bring
their links and metadata along.
"""
SHOWN_RECORDS = 20
"""Open records listed on the screen; the log has all."""


def add_arguments(parser: Parser) -> None:
    add_corrected_copy(parser)
    parser.add_argument(
        "--undecided",
        choices=("leave-out", "first", "second"),
        default="leave-out",
        help="records without a verdict: without their spans (the default), or with those of the first or the second",
    )
    add_verdicts(parser)
    add_reading(parser)


def run(options: argparse.Namespace) -> None:
    from nereval_core.cli.files import gold_name, paths_by_name, prediction_files, system_paths
    from nereval_core.cli.output import say
    from nereval_core.cli.verdicts import (
        load_reviewed,
        read_verdicts,
        say_applied,
        say_lost_properties,
        say_untaken_properties,
        verdict_options,
        write_layer,
    )
    from nereval_core.review.apply.adjudication import adjudicate
    from nereval_core.review.apply.corrected_copy import log_csv
    from nereval_core.writers import writer_of

    others = prediction_files(options.files)
    if len(system_paths(options)) != 1 or not others:
        raise UsageError(f"name two annotators; {1 + len(paths_by_name(others))} given")
    # An unknown format is refused before anything is read.
    writer_of(options.target_format)
    accepting = verdict_options(options)
    reviewed, verdict_file = read_verdicts(options.review, accepting)
    corpus = load_reviewed(options).corpus
    first = corpus.gold.renamed(gold_name(options))
    adjudicated = adjudicate(
        first,
        corpus.systems[0],
        reviewed,
        undecided=options.undecided,
        only_this_document=accepting.only_this_document,
    )
    say_applied(adjudicated.applied)
    say_lost_properties(first, adjudicated.layer)
    say_untaken_properties(corpus.systems[0], adjudicated.layer)
    write_layer(options, adjudicated.layer, log_csv(adjudicated.log, adjudicated.signature), verdict_file)
    kept = "not in the layer" if options.undecided == "leave-out" else f"as in the {options.undecided} layer"
    say(f"agreed: {adjudicated.agreed}; open: {len(adjudicated.open)}, {kept}")
    for row in adjudicated.open[:SHOWN_RECORDS]:
        say(f"open: {row.document} {row.record} {quoted(row.quote)}: {row.reason}")
    if len(adjudicated.open) > SHOWN_RECORDS:
        say(f"open: {len(adjudicated.open) - SHOWN_RECORDS} more, all in the log")
    print(adjudicated.signature)
