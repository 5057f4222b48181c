"""The verb `review list`: the current verdicts, of all or some reviewers and kinds, or those that are stale."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from nereval_core.cli.options import Parser, UsageError, add_output, add_verdicts

if TYPE_CHECKING:
    from nereval_core.corpus import Layer

HELP = "list the current verdicts"
USAGE = "[GOLD [PRED ...]] [options]"
EXAMPLE = "gold.jsonl system.jsonl --review verdicts.db --stale"
NOTES = ""


def add_arguments(parser: Parser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="a corpus, to find stale verdicts")
    parser.add_argument("--format", default="auto", help="of the corpus; see `nereval formats` (default: auto)")
    parser.add_argument("--stale", action="store_true", help="only verdicts whose text or span has left the corpus")
    add_verdicts(parser)
    add_output(parser, "the list")


def run(options: argparse.Namespace) -> None:
    from nereval_core.cli.files import real_paths
    from nereval_core.cli.output import Result, say, unchecked_places, write_result
    from nereval_core.cli.verdicts import check_kept, existing_store, verdict_count, verdict_options
    from nereval_core.readers import garbage_collection_off
    from nereval_core.report.json_results import versions
    from nereval_core.review.tables import staleness_test, verdicts_table

    places = unchecked_places(options)
    accepting = verdict_options(options)
    if options.stale and not options.files:
        raise UsageError("--stale needs a corpus: review list GOLD [PRED ...] --stale")
    if len(set(places.values())) < len(places):
        raise UsageError("two outputs have one place, give each its own FILE")
    with closing(existing_store(options.review)) as store:
        for place in places.values():
            check_kept(place, [store.database.file, *real_paths(options.files)])
        layers = _layers(options.files, options.format)
        is_stale = staleness_test(layers)
        verdicts = (
            stored
            for stored in store.each_standing()
            if stored.is_of(accepting.reviewers, accepting.kinds) and (not options.stale or is_stale(stored))
        )
        with garbage_collection_off():
            table = verdicts_table(verdicts, layers)
    result = Result(
        tables=lambda: [table],
        long=lambda: table,
        json=lambda: {**versions(), "store": store.name, "verdicts": table.objects()},
    )
    write_result(result, places)
    if not places:
        say(f"{store.name}: {verdict_count(len(table.rows))}")


def _layers(files: Sequence[str], format: str) -> list[Layer]:
    if not files:
        return []
    from nereval_core.api.read import read

    gold = read(files[0], format=format)
    # Predictions without texts of their own, such as .ann files alone, stand in those of gold.
    predictions = [read(path, format=format, texts=gold) for path in files[1:]]
    return [reading.layer for reading in (gold, *predictions)]
