"""The verb `review backup`: a copy of the store of verdicts, while a server writes to it."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

from nereval_core.cli.options import Parser, add_review_file

HELP = "copy all verdicts and playlists to a new SQLite file, while a server runs"
USAGE = "FILE [options]"
EXAMPLE = "verdicts-copy.db --review verdicts.db"
NOTES = """\
The copy holds what was stored at one moment, and is checked before it gets its name. No file is overwritten. To restore
it, name it as --review FILE, or bring its verdicts into another store by `review export` and `review import`.
"""


def add_arguments(parser: Parser) -> None:
    parser.add_argument("output", metavar="FILE", help="a new file")
    add_review_file(parser.add_argument)


def run(options: argparse.Namespace) -> None:
    from nereval_core.cli.output import say
    from nereval_core.cli.verdicts import existing_store, verdict_count
    from nereval_core.review.store.backup import back_up

    with closing(existing_store(options.review)) as store:
        say(f"{store.name}: {verdict_count(back_up(store, Path(options.output)))} copied to {options.output}")
