"""Run a script of endurance: `python -m tests.endurance SCRIPT [--seconds N]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

SCRIPTS = {"masking": "masking", "payloads": "payloads", "swapped-links": "swapped_links"}
NEVER = ("leaks", "faults", "ran", "made", "requests", "errors", "formulas")
"""The counts of what must not happen."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("script", choices=SCRIPTS)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    until = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        counts = import_module(f"tests.endurance.{SCRIPTS[options.script]}").run(
            Path(folder), lambda tries: time.monotonic() < until
        )
    print(", ".join(f"{name}: {count:,}" for name, count in sorted(counts.items())))
    return 1 if any(counts[name] for name in NEVER) else 0


if __name__ == "__main__":
    sys.exit(main())
