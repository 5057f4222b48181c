"""The verb `review import`: add new verdicts from a file, and print spans with conflicting verdicts."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import BinaryIO

from nereval_core.cli.options import STDOUT, Parser, add_review_file
from nereval_core.cli.verbs.review.export import NOTES as NOTES

HELP = "import verdicts from JSON lines"
USAGE = "FILE [CORPUS] [options]"
EXAMPLE = "verdicts.jsonl --review verdicts.db"


def add_arguments(parser: Parser) -> None:
    parser.add_argument("input", metavar="FILE", help="verdicts; - is standard input")
    parser.add_argument("files", nargs="?", metavar="CORPUS", help="a corpus that lines written by hand name")
    parser.add_argument("--format", default="auto", help="of the corpus; see `nereval formats` (default: auto)")
    parser.add_argument("--reviewer", metavar="NAME", help="the reviewer of lines that name none")
    add_review_file(parser.add_argument)


def run(options: argparse.Namespace) -> None:
    from nereval_core.cli.output import say
    from nereval_core.cli.verdicts import verdict_count
    from nereval_core.review.exchange import import_verdicts
    from nereval_core.review.store import ReviewStore
    from nereval_core.review.verdict_lines import read_lines

    documents = None
    if options.files:
        from nereval_core.api.read import read

        documents = read(options.files, format=options.format).layer.documents
    source = "standard input" if options.input == STDOUT else options.input
    with closing(ReviewStore.of_environment(options.review)) as store, ExitStack() as stack:
        stream: BinaryIO = sys.stdin.buffer
        if options.input != STDOUT:
            stream = stack.enter_context(Path(options.input).open("rb"))
        lines = read_lines(stream, source, documents=documents, who=options.reviewer or "")
        imported = import_verdicts(store, stack.enter_context(lines), source)
    for conflict in imported.conflicts:
        print(f"conflict: {conflict}")
    counts = f"{verdict_count(imported.n_added)} imported, {imported.n_known:,} known before"
    spans = "1 span" if len(imported.conflicts) == 1 else f"{len(imported.conflicts):,} spans"
    conflicts = f", {spans} with conflicting verdicts, not imported" if imported.conflicts else ""
    say(f"{store.name}: {counts}{conflicts}")
