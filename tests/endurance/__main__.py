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
    "bombs": "bombs",
    "cross-site": "cross_site",
    "damaged-stores": "damaged_stores",
    "forged-values": "forged_values",
    "full-disks": "full_disks",
    "fuzzed-inputs": "fuzzed_inputs",
    "killed-reviewers": "killed_reviewers",
    "masking": "masking",
    "neighbours": "neighbours",
    "payloads": "payloads",
    "people": "people",
    "raw-requests": "raw_requests",
    "second-account": "second_account",
    "swapped-links": "swapped_links",
    "week": "week",
}
NEVER = (
    FAILURES,
    *("leaks", "foreign texts", "errors", "lost verdicts", "lost uploads", "grown"),
    *("endless", "faults", "ran", "made", "requests", "formulas"),
    *("more threads", "more open files", "temporaries", "processes"),
)
"""Counts of what must not happen."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("script", choices=SCRIPTS)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--visitors", type=int, help="people at the same time, of the scripts that have some")
    parser.add_argument("--tries", type=int, help="a number of tries, in place of seconds")
    parser.add_argument("--processes", type=int, help="processes at the same time, of the scripts that number tries")
    parser.add_argument("--first", type=int, help="number of the first try, of the scripts that number tries")
    options = parser.parse_args()
    own = ("visitors", "processes", "first")
    given = {name: value for name in own if (value := getattr(options, name)) is not None}
    begun = 0.0

    def wanted(tries: int, share: float = 1.0) -> bool:
        nonlocal begun
        if options.tries is not None:
            return tries < share * options.tries
        now = time.monotonic()
        # What a script prepares before is no try, however long it takes.
        begun = begun or now
        return now <= begun + share * options.seconds

    with tempfile.TemporaryDirectory() as folder:
        counts = import_module(f"tests.endurance.{SCRIPTS[options.script]}").run(Path(folder), wanted, **given)
    print(", ".join(f"{name}: {count:,}" for name, count in sorted(counts.items())))
    return 1 if any(counts[name] for name in NEVER) else 0


if __name__ == "__main__":
    sys.exit(main())
