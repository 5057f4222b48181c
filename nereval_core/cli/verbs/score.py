"""The verb `score`: predictions against gold, under our criteria or by a published scorer, whole or shard by shard."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from nereval_core.api.load_options import ScoringOptions
from nereval_core.cli.options import (
    GOLD_AND_PREDICTIONS,
    OWN_CRITERIA,
    SHARED,
    Parser,
    UsageError,
    add_engine,
    add_options,
    add_output,
    add_reading,
    add_table_style,
    check_by,
    parsed,
    table_style,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from nereval_core.cli.output import Result
    from nereval_core.report.paper_tables import TableStyle
    from nereval_core.tables import Column

HELP = "score predictions against gold"
USAGE = "GOLD PRED [PRED ...] [options]"
EXAMPLE = "gold.jsonl system.jsonl --criteria strict,partial --by type --json scores.json"
NOTES = f"{GOLD_AND_PREDICTIONS}\n{OWN_CRITERIA}"
BY = ("type", "document", "confusion")
BY_HELP = "break the numbers down; confusion: each gold type with each predicted type, missed and spurious, ranked"
SER_HELP = "also the slot error rate, errors by gold span (Makhoul et al. 1999); JSON always has it"
SHARDS = ("engine", "scheduler", "workers", "work", "out")
"""Options of scoring shard by shard."""


def add_arguments(parser: Parser) -> None:
    add_options(parser, ScoringOptions)("--ser", action="store_true", help=SER_HELP)
    add = parser.add_argument_group("published scorers").add_argument
    add("--convention", metavar="NAME", help="score as a published scorer does; see `nereval conventions`")
    add(
        "--as-reference",
        nargs="?",
        const="",
        metavar="FORM",
        help="print the output of that scorer (in FORM, if it has several)",
    )
    add(
        "--differences",
        metavar="FILE",
        help="spans that it decides differently from ours, as .parquet, .jsonl or .csv; - counts them by cause",
    )
    records = "match records, as .parquet, .jsonl or .csv; with --engine a folder"
    add_output(parser, "scores", by=(",".join(BY), BY_HELP), records=records, methods=True)
    add_table_style(parser)
    out = "keep the scored folder: counts, signatures and the places of the shards"
    add_engine(parser)("--out", metavar="DIR", help=out)
    add_reading(parser)
    if convention := _named_convention(parser):
        from nereval_core.cli.published_scorers import add_scorer_options

        # The options of `score` come first: a scorer shares those of the same name.
        add_scorer_options(parser, convention)


def _named_convention(parser: Parser) -> str | None:
    """Return the published scorer that the arguments name, to add its options."""
    finder = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    finder.add_argument("--convention")
    try:
        name: str | None = finder.parse_known_args(parser.arguments)[0].convention
    except argparse.ArgumentError:
        return None
    return name


def run(options: argparse.Namespace) -> None:
    from nereval_core.cli.files import check_places
    from nereval_core.cli.output import output_places, unchecked_places, write_result

    by = check_by(options, BY, f"choose among {', '.join(BY)}")
    for option in ("engine", "convention"):
        if "confusion" in by and getattr(options, option):
            raise UsageError(f"--by confusion needs the pairs of criteria, leave it out with --{option}")
    for option in ("table_columns", "digits", "percent"):
        if options.convention and getattr(options, option) not in (None, False):
            raise UsageError(f"--{option.removeprefix('table_')} is for our criteria, leave it out with --convention")
    if options.convention and options.ser:
        raise UsageError("--ser is for our criteria, leave it out with --convention")
    style = table_style(options)
    for form in ("as_reference", "differences"):
        if getattr(options, form) is not None and not options.convention:
            raise UsageError(f"--{form.replace('_', '-')}: name the published scorer, --convention NAME")
    if any(getattr(options, name) is not None for name in SHARDS):
        from nereval_core.cli import shards

        # Records of shards are written to a folder.
        places = unchecked_places(options, "records", "differences", "methods")
        check_places(options, places)
        shards.check_usage(options)
        places.pop("records", None)
        shards.score(options, places, by, style, ratio_columns(options))
        return
    places = output_places(options, "records", "differences", "methods")
    write_result(_published(options, by) if options.convention else _scored(options, by, style), places)


def ratio_columns(arguments: argparse.Namespace) -> Sequence[Column]:
    """Return the ratios of tables: the usual ones, and SER on request."""
    from nereval_core.tables import RATIOS, SER

    return (*RATIOS, SER) if arguments.ser else RATIOS


def _scored(arguments: argparse.Namespace, by: list[str], style: TableStyle | None) -> Result:
    from nereval_core.api.scoring import score_loaded
    from nereval_core.cli.files import load_layers
    from nereval_core.cli.output import Console, scores_result

    options, console = parsed(ScoringOptions, arguments), Console(arguments.quiet)
    loaded = load_layers(arguments, console)
    scores = score_loaded(loaded, options, console)
    scored_layers = list(zip(loaded.corpus.systems, scores.values(), strict=True))

    def records() -> pd.DataFrame:
        from nereval_core.report.export import all_records

        return all_records(scored_layers)

    result = scores_result(loaded.corpus.gold, scored_layers, by, style, ratio_columns(arguments))
    return replace(result, frames={"records": records})


def _published(arguments: argparse.Namespace, by: list[str]) -> Result:
    from nereval_core.cli import published_scorers
    from nereval_core.cli.files import gold_path, system_paths
    from nereval_core.cli.options import load_options

    published_scorers.check_usage(arguments)
    load = load_options(arguments)
    if load.common:
        raise UsageError(f"--documents {SHARED} cannot be combined with --convention, name the documents")
    sides = published_scorers.scorer_sides(gold_path(arguments), system_paths(arguments), load)
    outcomes = published_scorers.score(arguments, sides)
    return published_scorers.published_result(arguments, outcomes, by, sides)
