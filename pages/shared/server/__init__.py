"""The server, and its options. No Streamlit in here."""

from __future__ import annotations

import argparse
import sys
from functools import lru_cache

from nereval_core.cli.options import Parser, UsageError
from nereval_core.cli.server_options import add_server, check_server


def server_options() -> argparse.Namespace:
    """Return the options of `streamlit run app.py -- [--data DIR] [--mask] ... [--files GOLD SYSTEM ...]`.

    They are those of `nereval_core.cli.server_options`, and `files`: all that stands behind it, which are files and
    options of reading as `nereval app` takes them. `check_options` refuses others.
    """
    # Every run of a page asks for some of them.
    return _options(tuple(sys.argv[1:]))


@lru_cache(1)
def _options(arguments: tuple[str, ...]) -> argparse.Namespace:
    options = _parser().parse_known_args(arguments)[0]
    if options.data is not None:
        # Messages name files by their way from it, in which no link is left.
        options.data = options.data.resolve()
    return options


def check_options() -> None:
    """End the process, with one line and exit status 2, where it has an unknown option or one with a bad value."""
    parser = _parser()
    try:
        check_server(parser.parse_args(sys.argv[1:]))
    except UsageError as error:
        parser.error(str(error))


def _parser() -> Parser:
    parser = Parser(prog="streamlit run app.py --", allow_abbrev=False)
    add_server(parser.add_argument)
    files = "files that are shown, and how they are read, to the end of the line: see nereval app --help"
    parser.add_argument("--files", nargs=argparse.REMAINDER, default=[], metavar="GOLD SYSTEM ...", help=files)
    return parser
