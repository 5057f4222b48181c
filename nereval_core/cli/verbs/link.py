"""The verb `link`: entity linking, the concept ids of predicted mentions compared with gold's."""

from __future__ import annotations

import argparse

from nereval_core.api.verb_options import LinkOptions
from nereval_core.cli.options import (
    GOLD_AND_PREDICTIONS,
    Parser,
    add_options,
    add_output,
    add_reading,
    check_by,
    parsed,
)

HELP = "score the concept ids that mentions link to"
USAGE = "GOLD PRED [PRED ...] [options]"
EXAMPLE = "gold.jsonl system.jsonl --n 1,5 --by confusion"
NOTES = f"""\
A mention is a span with links: NEL columns of HIPE, N lines of brat and notes that are codes, links of JSON lines,
Parquet and CSV, concepts of PubTator, identifiers of BioC, kb_id of Prodigy. The links of a prediction are ranked, best
first; "|" inside a link separates several. NIL is an id like any other: the mention has no entry. A span without links
takes no part.

Mentions are aligned one to one, strict by equal boundaries or else by overlap, whatever their links and types. Of
several with equal boundaries, those with equal links are paired. P = right / predicted mentions, R = right / gold
mentions, F1 = 2 right / both. With --mentions gold the ratio is the accuracy over mentions of equal boundaries, and
over gold's where the prediction has the span without a link; mentions not judged are counted. Ids that --relaxed does
not map stay, and no mapping is followed further; files of HIPE (Main, then Alternatives) are read too.

{GOLD_AND_PREDICTIONS}"""
BY = ("document", "confusion")


def add_arguments(parser: Parser) -> None:
    parser.add_argument("--relaxed", metavar="FILE", help="lines id<tab>id: the first id counts as the second")
    add_options(parser, LinkOptions)
    records = "link records, as .parquet, .jsonl or .csv"
    add_output(parser, "scores", by=("document,confusion", "break the numbers down"), records=records)
    parser.set_defaults(criteria=None)
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    from nereval_core.api import linking
    from nereval_core.cli.files import load_layers
    from nereval_core.cli.output import Console, output_places, write_result
    from nereval_core.cli.results.links import LinkedSystem, links_result
    from nereval_core.readers.shared.concepts import read_mapping

    by = check_by(arguments, BY, f"choose among {', '.join(BY)}")
    places = output_places(arguments, "records")
    options = parsed(LinkOptions, arguments)
    relaxed = {} if arguments.relaxed is None else read_mapping(arguments.relaxed)
    console = Console(arguments.quiet)
    loaded = load_layers(arguments, console, reference="gold")
    gold = loaded.corpus.gold
    leave_out = sorted(set(options.leave_out))
    mark = (f"left out: {','.join(leave_out)}",) if leave_out else ()
    systems = [
        LinkedSystem(loaded.corpus.system(name), (*mark, *loaded.marks[name]), scores)
        for name, scores in linking.run(options, loaded, relaxed, console).items()
    ]
    write_result(links_result(gold, systems, by), places)
