"""The verb `conventions`: the published scorers that are reproduced, by family."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from nereval_core.cli.options import Parser

if TYPE_CHECKING:
    from nereval_core.conventions import Convention

HELP = "list the published scorers that are reproduced"
USAGE = ""
EXAMPLE = ""
NOTES = ""


def add_arguments(parser: Parser) -> None:
    """Add no option."""


def run(_: argparse.Namespace) -> None:
    """List the conventions by family, each with its rule, its needs, its options and its source."""
    from nereval_core.conventions import conventions

    families: dict[str, list[Convention]] = {}
    for convention in conventions().values():
        families.setdefault(convention.family, []).append(convention)
    for family, members in families.items():
        print(family)
        for convention in members:
            print(f"  {convention.name:<17}  {convention.sentence}")
            print(f"{'':21}needs {convention.needs} [{convention.source}]")
            for option in convention.options:
                default = f" (default: {_plain(option.default)})" if option.default is not None else ""
                print(f"{'':21}--{option.name}: {option.help}{default}")
            if convention.forms:
                print(f"{'':21}--as-reference {'|'.join(convention.forms)}")


def _plain(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else "no" if value is False else str(value)
