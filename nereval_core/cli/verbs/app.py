"""The verb `app`: the pages in the browser, on these files or on the demo."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from nereval_core.cli.options import Parser, UsageError, add_reading

HELP = "open the pages in the browser, on these files or on the demo"
USAGE = "[GOLD SYSTEM ...] [options]"
EXAMPLE = "gold.jsonl a.jsonl b.jsonl --port 8600"
NOTES = """\
The pages show the files given, which are read before the server starts, or the demo. Files that are dropped on the
front page later are read there. The server answers this machine alone, unless STREAMLIT_SERVER_ADDRESS names another
address; then it asks for a token, which it prints. It runs until Ctrl-C.
"""
BOUNDS = {"keep": "days", "memory": "gigabytes", "seconds": "seconds"}
"""Options that are numbers above 0, and what they count."""
INSTALLED = "nereval_app"
"""The folder beside `nereval_core` in which an installation has the pages; a clone has them beside it as they are."""


def add_arguments(parser: Parser) -> None:
    add = parser.add_argument_group("the server").add_argument
    add("--data", metavar="DIR", help="offer the files and folders in DIR on the front page, too")
    add("--review", metavar="FILE|URL", help="where verdicts are kept (default: $NEREVAL_REVIEW_URL, else a file)")
    add("--mask", action="store_true", help="replace letters and digits of all texts, which nobody can switch off")
    add("--open", action="store_true", help="off this machine, let in whoever reaches the server, without a token")
    add("--read-only", action="store_true", help="take no verdicts and no playlists")
    add("--keep", type=int, metavar="DAYS", help="remove uploads not opened for so long (off this machine: 30)")
    add("--memory", type=float, metavar="GB", help="memory of one reading or scoring (off this machine: half of it)")
    add("--seconds", type=float, metavar="N", help="time of one reading or scoring (off this machine: 600)")
    add("--port", type=int, metavar="N", help="the port that the server listens on (default: 8501, or the next free)")
    add_reading(parser, "GOLD first, then SYSTEM or NAME=SYSTEM; none for the demo", least=0)
    # The server parses them once more and reads the files, so that what was read is not carried from here to there.
    parser.set_defaults(arguments=list(parser.arguments))


def run(options: argparse.Namespace) -> None:
    if find_spec("streamlit") is None or find_spec("plotly") is None:
        raise UsageError("the pages need Streamlit and Plotly: pip install 'nereval[app]'")
    for name, unit in BOUNDS.items():
        given = getattr(options, name)
        if given is not None and not given > 0:
            raise UsageError(f"--{name} {given:g}, write a number of {unit}")
    if options.data is not None and not Path(options.data).is_dir():
        raise UsageError(f"--data {options.data}: no such folder")
    server = ["--server.port", str(options.port)] if options.port is not None else []
    ours = ["--data", options.data] if options.data is not None else []
    environment = dict(os.environ)
    if options.review is not None and "://" in options.review:
        from nereval_core.review.store.databases import VARIABLE

        environment[VARIABLE] = options.review
    elif options.review is not None:
        ours += ["--review", options.review]
    ours += [f"--{name}" for name in ("mask", "open", "read-only") if getattr(options, name.replace("-", "_"))]
    for name in BOUNDS:
        ours += [f"--{name}", str(getattr(options, name))] if getattr(options, name) is not None else []
    ours += ["--files", *options.arguments] if options.files else []
    line = [sys.executable, "-m", "streamlit", "run", str(_app_file()), *server, "--", *ours]
    # This process becomes the server, so that signals that end it end the server.
    os.execve(sys.executable, line, environment)


def _app_file() -> Path:
    """Return the file that Streamlit runs, of an installation or of a clone."""
    beside = Path(__file__).parents[3]
    found = [place / "app.py" for place in (beside / INSTALLED, beside) if (place / "pages").is_dir()]
    if not found:
        raise UsageError("the pages are not installed beside nereval_core: pip install 'nereval[app]'")
    return found[0]
