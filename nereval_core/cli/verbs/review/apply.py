"""The verb `review apply`: a copy of gold with verdicts applied, and the log of its changes."""

from __future__ import annotations

import argparse

from nereval_core.cli.options import Parser, add_corrected_copy, add_reading, add_verdicts

HELP = "write a copy of gold with verdicts applied, and the log of its changes"
USAGE = "GOLD [PRED ...] --out OUT [options]"
EXAMPLE = "gold.jsonl system.jsonl --review verdicts.db --out corrected.jsonl"
NOTES = """\
Gold is never overwritten. Name the reviewed predictions too: a verdict on a prediction that no system has any more is
stale, and stale verdicts are not applied. Without predictions, none of these verdicts counts as stale.

Not applied, and listed with the reason, are stale verdicts (the text has changed, or no layer has the span any more);
"both are right" with two types or a discontinuous prediction, which no alternative can state; spans beyond the text, or
that gold has already; predictions called no entity that gold has all the same; and spans that give way to one another
in a circle. A span that comes in may have a verdict of its own, which is followed. With --every-document the last
verdict on a span counts.

Links, ids, cores, scores and metadata stay with spans that stay, and go with those that go. A prediction that comes in
brings its links, core and metadata along; what a changed span loses is counted. The log has a row for each verdict and
document, with the document that it was given on.
"""


def add_arguments(parser: Parser) -> None:
    add_corrected_copy(parser)
    add_verdicts(parser)
    add_reading(parser)


def run(options: argparse.Namespace) -> None:
    from nereval_core.cli.verdicts import (
        load_reviewed,
        read_verdicts,
        say_counts,
        say_lost_properties,
        verdict_options,
        write_layer,
    )
    from nereval_core.review.apply import apply_verdicts
    from nereval_core.review.apply.corrected_copy import log_csv, log_rows, signature
    from nereval_core.writers import writer_of

    # An unknown format is refused before anything is read.
    writer_of(options.target_format)
    accepting = verdict_options(options)
    reviewed, verdict_file = read_verdicts(options.review, accepting)
    corpus = load_reviewed(options).corpus
    applied = apply_verdicts(corpus.gold, reviewed, corpus.systems, only_this_document=accepting.only_this_document)
    signed = signature(applied)
    say_lost_properties(corpus.gold, applied.layer)
    write_layer(options, applied.layer, log_csv(log_rows(applied.log), signed), verdict_file)
    say_counts(applied)
    print(signed)
