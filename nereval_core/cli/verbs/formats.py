"""The verb `formats`: the formats that can be read and written."""

from __future__ import annotations

import argparse

from nereval_core.cli.options import Parser

HELP = "list the formats that can be read and written"
USAGE = ""
EXAMPLE = ""
NOTES = ""


def add_arguments(parser: Parser) -> None:
    """Add no option."""


def run(_: argparse.Namespace) -> None:
    from nereval_core.api.read import formats

    rows = formats()
    width = max(len(row.name) for row in rows)
    for row in rows:
        able = " and ".join(["read"] * row.reads + ["written"] * row.writes)
        print(f"{row.name:<{width}}  {row.description} ({able})")
