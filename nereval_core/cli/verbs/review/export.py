"""The verb `review export`: every verdict ever given, as JSON lines."""

from __future__ import annotations

import argparse
from contextlib import closing

from nereval_core.cli.options import Parser, add_review_file

HELP = "write every verdict ever given as JSON lines"
USAGE = "[FILE] [options]"
EXAMPLE = "verdicts.jsonl --review verdicts.db"
NOTES = """\
An export has one verdict per line, with the whole history of each span, in ASCII. Stores that hold the same give the
same bytes. An export replaces an earlier one, and no other file (status 2).

Importing twice changes nothing, and a longer history of a span extends a shorter one. Where two histories part, both
are printed, with who decided, when and how; nothing of this span is imported, and the status is 0. A wrong line is
reported as FILE:LINE, and nothing is imported. CORPUS has the documents that lines written by hand name.
"""


def add_arguments(parser: Parser) -> None:
    parser.add_argument("output", nargs="?", default="-", metavar="FILE", help="default: standard output")
    add_review_file(parser.add_argument)


def run(options: argparse.Namespace) -> None:
    from nereval_core.cli.output import say, write_files
    from nereval_core.cli.verdicts import check_kept, check_replaceable, existing_store, verdict_count
    from nereval_core.review.verdict_lines import export_lines

    with closing(existing_store(options.review)) as store:
        check_kept(options.output, [store.database.file])
        check_replaceable(options.output)
        verdicts = store.every()
        write_files({"export": options.output}, {"export": b"".join(export_lines(verdicts))})
        say(f"{store.name}: {verdict_count(len(verdicts))} exported")
