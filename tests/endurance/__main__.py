"""Run a script of endurance: `python -m tests.endurance SCRIPT [--seconds N] [--visitors N]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

SCRIPTS = {"neighbours": "neighbours", "people": "people", "swapped-links": "swapped_links", "week": "week"}
NEVER = (
    *("leaks", "foreign texts", "errors", "lost verdicts", "lost uploads", "grown"),
    *("more threads", "more open files", "temporaries", "processes"),
)
"""Counts of what must not happen."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("script", choices=SCRIPTS)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--visitors", type=int, help="people at the same time, of the scripts that have some")
    options = parser.parse_args()
    given = {} if options.visitors is None else {"visitors": options.visitors}
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        counts = import_module(f"tests.endurance.{SCRIPTS[options.script]}").run(
            Path(folder), lambda tries, share=1.0: time.monotonic() < begun + share * options.seconds, **given
        )
    print(", ".join(f"{name}: {count:,}" for name, count in sorted(counts.items())))
    return 1 if any(counts[name] for name in NEVER) else 0


if __name__ == "__main__":
    sys.exit(main())
