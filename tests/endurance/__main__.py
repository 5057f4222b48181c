"""Run a script of endurance: `python -m tests.endurance SCRIPT [--seconds N | --tries N] [--processes N]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

from tests.endurance.tries import FAILURES

SCRIPTS = {
    "damaged-stores": "damaged_stores",
    "fuzzed-inputs": "fuzzed_inputs",
    "swapped-links": "swapped_links",
}
NEVER = ("leaks", FAILURES)
"""The counts of what must not happen."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("script", choices=SCRIPTS)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--tries", type=int, help="a number of tries, in place of seconds")
    parser.add_argument("--processes", type=int, help="processes that make tries at a time, where a script has several")
    parser.add_argument("--first", type=int, help="the number of the first try, where tries are numbered")
    options = parser.parse_args()
    more = {name: value for name in ("processes", "first") if (value := getattr(options, name)) is not None}
    until = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        counts = import_module(f"tests.endurance.{SCRIPTS[options.script]}").run(
            Path(folder),
            lambda tries: time.monotonic() < until if options.tries is None else tries < options.tries,
            **more,
        )
    print(", ".join(f"{name}: {count:,}" for name, count in sorted(counts.items())))
    return 1 if any(counts[name] for name in NEVER) else 0


if __name__ == "__main__":
    sys.exit(main())
