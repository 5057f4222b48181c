"""The verb `store`: the folder of corpora that were read, its size, and how to clear it."""

from __future__ import annotations

import argparse

from nereval_core.cli.options import Parser, UsageError

HELP = "show the size of the app's store of corpora, or clear it"
USAGE = "[--clear]"
EXAMPLE = ""
NOTES = ""


def add_arguments(parser: Parser) -> None:
    parser.add_argument("--clear", action="store_true", help="remove all that is stored")


def run(options: argparse.Namespace) -> None:
    from nereval_core.store import FOLDER, Store

    store = Store.of_environment()
    if store is None:
        print(f"nothing is stored: {FOLDER} is empty")
        return
    if options.clear:
        store.clear()
    entries = store.entries()
    size = sum(entry.bytes for entry in entries)
    corpora = f"{len(entries):,} {'corpus' if len(entries) == 1 else 'corpora'}"
    print(f"{store.folder}: {corpora}, {size:,} of {store.limit:,} bytes")
    if options.clear and entries:
        raise UsageError(f"{store.folder} could not be cleared: check who may write there")
