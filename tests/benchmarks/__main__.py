"""Measure nereval and print a table of ratios: `python -m tests.benchmarks [--quick | --tiny] [GROUP ...]`.

Each row compares two things measured in turn in this process, so that a slow or busy machine slows both; the figure
is the median of the ratios of neighbouring runs. No figure is asserted: the test suite has no clock, and runs every
group with `--tiny` only to see that it runs.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from importlib import import_module

import numpy as np

from tests.benchmarks.scales import Scale

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
    "mentions": "mentions",
    "peers": "peers",
    "slices": "slices",
    "significance": "significance",
    "transitions": "transitions",
    "sensitivity": "sensitivity",
    "consistency": "consistency",
    "aligning": "aligning",
    "verdicts": "verdicts",
}
"""What can be measured, in this order, and the module that does."""


def measured(group: str, scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what a group measures, the figure and the aim; a group that lacks a package says so and ends."""
    try:
        yield from import_module(f"tests.benchmarks.{GROUPS[group]}").rows(scale)
    except ModuleNotFoundError as error:
        print(f"{group}: not measured to its end, {error.name} is not installed", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    scales = parser.add_mutually_exclusive_group()
    scales.add_argument("--quick", action="store_true", help="leave out the rows over 10 million spans")
    scales.add_argument("--tiny", action="store_true", help="see that every group runs; the figures say nothing")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)} (default: all)")
    options = parser.parse_args()
    if unknown := set(options.groups) - set(GROUPS):
        parser.error(f"no group {', '.join(sorted(unknown))}, choose among {', '.join(GROUPS)}")
    print(f"numpy {np.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} processors, one thread used\n")
    print(f"{'what':<66} {'ratio':>8} {'aim':>10}")
    scale = Scale.QUICK if options.quick else Scale.TINY if options.tiny else Scale.FULL
    for name in options.groups or GROUPS:
        for what, figure, aim in measured(name, scale):
            print(f"{what:<66} {figure:>8.2f} {aim:>10}", flush=True)


if __name__ == "__main__":
    main()
