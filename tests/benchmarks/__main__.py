"""Measure nereval and print a table of ratios: `python -m tests.benchmarks [--quick] [GROUP ...]`.

Each row compares two things measured in turn in this process, so that a slow or busy machine slows both; the figure
is the median of the ratios of neighbouring runs. Nothing is asserted: the test suite has no clock.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

import numpy as np

GROUPS = {
    "columns": "reading_columns",
    "matching": "matching",
    "nested": "nested",
    "errors": "error_classes",
    "growth": "growth",
    "documents": "reading_documents",
    "formats": "formats",
    "conventions": "conventions",
    "cluster": "cluster",
    "app": "app",
    "store": "store",
    "folder": "folder",
    "parquet": "reading_parquet",
    "objects": "objects",
    "slices": "slices",
    "significance": "significance",
    "transitions": "transitions",
    "sensitivity": "sensitivity",
    "consistency": "consistency",
    "aligning": "aligning",
}
"""What can be measured, in this order, and the module that does."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out the rows over 10 million spans")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)} (default: all)")
    options = parser.parse_args()
    if unknown := set(options.groups) - set(GROUPS):
        parser.error(f"no group {', '.join(sorted(unknown))}, choose among {', '.join(GROUPS)}")
    print(f"numpy {np.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} processors, one thread used\n")
    print(f"{'what':<66} {'ratio':>8} {'aim':>10}")
    for name in options.groups or GROUPS:
        for what, figure, aim in import_module(f"tests.benchmarks.{GROUPS[name]}").rows(options.quick):
            print(f"{what:<66} {figure:>8.2f} {aim:>10}", flush=True)


if __name__ == "__main__":
    main()
