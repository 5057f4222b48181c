"""The verb `app`: the pages in the browser, on these files or on the demo."""

from __future__ import annotations

import argparse
import os
import sys

from nereval_core.api.serving import EXTRA, serving_command, why_no_pages
from nereval_core.cli.options import Add, Parser, UsageError, add_reading
from nereval_core.cli.server_options import add_server, check_server, server_arguments
from nereval_core.options import PORT

HELP = "open the pages in the browser, on these files or on the demo"
USAGE = "[GOLD SYSTEM ...] [options]"
EXAMPLE = "gold.jsonl a.jsonl b.jsonl --port 8600"
NOTES = """\
The pages show the files given, which are read before the server starts, or the demo. Files that are dropped on the
front page later are read there. The server answers this machine alone, unless STREAMLIT_SERVER_ADDRESS names another
address; then it asks for a token, which it prints. It runs until Ctrl-C.
"""


def add_arguments(parser: Parser) -> None:
    _add_server(parser.add_argument_group("the server").add_argument)
    add_reading(parser, "GOLD first, then SYSTEM or NAME=SYSTEM; none for the demo", least=0)
    parser.set_defaults(arguments=list(parser.arguments))


def _add_server(add: Add) -> None:
    add_server(add)
    add("--port", metavar="N", help="the port that the server listens on (default: 8501, or the next free)")


def run(options: argparse.Namespace) -> None:
    if (reason := why_no_pages()) is not None:
        raise UsageError(f"{reason}; {EXTRA}")
    check_server(options)
    server = ["--server.port", f"{PORT.parse(options.port):.0f}"] if options.port is not None else []
    environment = dict(os.environ)
    if options.review is not None and "://" in options.review:
        from nereval_core.review.store.databases import VARIABLE

        # The arguments of a process are read by every account of the machine.
        environment[VARIABLE] = options.review
        options.review = None
    ours = server_arguments(options)
    if options.files:
        _open_files(options)
        # The server parses the rest once more and reads the files: what was read is not carried from here to there.
        of_server = Parser(add_help=False, allow_abbrev=False)
        _add_server(of_server.add_argument)
        ours += ["--files", *of_server.parse_known_args(options.arguments)[1]]
    line = serving_command(server, ours)
    # This process becomes the server, so that signals that end it end the server.
    os.execve(sys.executable, line, environment)


def _open_files(options: argparse.Namespace) -> None:
    """Refuse what cannot be opened before a server starts; it is read there, and standard input there alone.

    Raises:
        FormatError: no such file or folder, nothing in it, or two systems with one name.
    """
    from nereval_core.cli.files import gold_path, system_paths
    from nereval_core.readers.input.paths import STDIN_PATH
    from nereval_core.readers.input.source import Source

    for paths in (gold_path(options), *system_paths(options).values()):
        for path in (paths,) if isinstance(paths, str) else paths:
            if path != STDIN_PATH:
                Source.of_path(path)
