"""The verb `criteria`: the matching criteria by group, each with its rule and its source."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nereval_core.cli.options import OWN_CRITERIA, Parser

if TYPE_CHECKING:
    from nereval_core.scoring.criteria import Criterion

HELP = "list the matching criteria"
USAGE = ""
EXAMPLE = ""
NOTES = OWN_CRITERIA


def add_arguments(parser: Parser) -> None:
    """Add no option."""


def run(_: argparse.Namespace) -> None:
    from nereval_core.scoring.criteria import CRITERIA

    groups: dict[str, list[Criterion]] = {}
    for criterion in CRITERIA.values():
        groups.setdefault(criterion.group, []).append(criterion)
    for group, members in groups.items():
        print(group)
        for criterion in members:
            needs = f"; needs {criterion.needs}" if criterion.needs else ""
            print(f"  {criterion.name:<12}  {criterion.sentence}")
            print(f"{'':16}COR where {criterion.rule()}{needs} [{criterion.source}]")
