"""The server: its options, and processes beside it. No Streamlit in here."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[3]


def server_options() -> argparse.Namespace:
    """Return the options of `streamlit run app.py -- [--data DIR] [--mask] ... [--files GOLD SYSTEM ...]`.

    They are `data` and `review` (None where not given), `mask`, `open`, `read_only`, `keep` (days), `memory` (GB),
    `seconds`, and `files`: all that stands behind it, which are arguments of `nereval app`. Others are Streamlit's own.
    """
    # Every run of a page asks for some of them.
    return _options(tuple(sys.argv[1:]))


@lru_cache(1)
def _options(arguments: tuple[str, ...]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--review", type=Path)
    parser.add_argument("--mask", action="store_true")
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--read-only", action="store_true")
    parser.add_argument("--keep", type=int)
    parser.add_argument("--memory", type=float)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--files", nargs=argparse.REMAINDER, default=[])
    return parser.parse_known_args(arguments)[0]


def start_process(module: str) -> subprocess.Popen[bytes]:
    """Start a module of ours in a process that is written to and read from by pipes."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )
