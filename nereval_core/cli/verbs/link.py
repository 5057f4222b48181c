"""The verb `link`: entity linking, the concept ids of predicted mentions compared with gold's."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nereval_core.cli.options import (
    GOLD_AND_PREDICTIONS,
    Parser,
    UsageError,
    add_leave_out,
    add_output,
    add_reading,
    check_by,
    comma_separated,
)
from nereval_core.problems import quoted

if TYPE_CHECKING:
    from nereval_core.analysis.linking.mentions import Boundaries

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
BOUNDARIES: tuple[Boundaries, ...] = ("strict", "overlapping")


def add_arguments(parser: Parser) -> None:
    parser.add_argument("--relaxed", metavar="FILE", help="lines id<tab>id: the first id counts as the second")
    add = parser.add_argument_group("scoring").add_argument
    add("--n", default="1,3,5", metavar="1,3,5", help="numbers of ranked links of a prediction that count")
    add("--boundaries", default="strict,overlapping", metavar="RULES", help="strict, overlapping (default: both)")
    add(
        "--mentions",
        choices=("end-to-end", "gold"),
        default="end-to-end",
        help="gold: judge equal boundaries only",
    )
    add("--gold-links", choices=("first", "any"), default="first", help="the links of gold that are correct")
    add_leave_out(add)
    records = "link records, as .parquet, .jsonl or .csv"
    add_output(parser, "scores", by=("document,confusion", "break the numbers down"), records=records)
    parser.set_defaults(criteria=None)
    add_reading(parser)


def run(options: argparse.Namespace) -> None:
    from nereval_core.analysis.linking import judge_links
    from nereval_core.analysis.linking.mentions import align_links
    from nereval_core.cli.output import output_places, say, write_result
    from nereval_core.cli.results.links import LinkedSystem, links_result
    from nereval_core.cli.runner import load_layers, say_unused, types_of
    from nereval_core.problems import FormatError
    from nereval_core.readers.shared.concepts import read_mapping
    from nereval_core.scoring import Settings
    from nereval_core.scoring.criteria import TypeRules
    from nereval_core.scoring.type_merging import apply_rules

    by = check_by(options, BY, f"choose among {', '.join(BY)}")
    places = output_places(options, "records")
    ranks, boundaries = comma_separated([options.n]), comma_separated([options.boundaries])
    _check_choices(options, ranks, boundaries)
    relaxed = {} if options.relaxed is None else read_mapping(options.relaxed)
    loaded = load_layers(options)
    leave_out = tuple(sorted(set(comma_separated(options.leave_out))))
    say_unused(Settings(leave_out=leave_out), types_of(loaded))
    gold = loaded.corpus.gold
    if not gold.links:
        remedy = "give gold with links: a NEL column (hipe), N lines or codes as notes (brat), links (jsonl)"
        raise FormatError.single(loaded.gold.source, None, "no span has a link", remedy)
    rules = TypeRules({}, leave_out)
    kept = apply_rules(gold, rules)
    systems = []
    for layer in loaded.corpus.systems:
        if not layer.links:
            say(f"{layer.name}: no span has a link, so every gold mention counts as missing", warning=True)
        scores = []
        for rule in BOUNDARIES if options.mentions == "end-to-end" else BOUNDARIES[:1]:
            if rule in boundaries:
                alignment = align_links(kept, apply_rules(layer, rules), boundaries=rule, mentions=options.mentions)
                scores += [
                    judge_links(alignment, n=int(n[:9]), truth=options.gold_links, relaxed=relaxed)
                    for n in dict.fromkeys(ranks)
                ]
        marks = (f"left out: {','.join(leave_out)}",) if leave_out else ()
        systems.append(LinkedSystem(layer, (*marks, *loaded.marks[layer.name]), tuple(scores)))
    write_result(links_result(gold, systems, by), places)


def _check_choices(options: argparse.Namespace, ranks: list[str], boundaries: list[str]) -> None:
    if not ranks or not all(n.isascii() and n.isdecimal() and int(n[:9]) > 0 for n in ranks):
        raise UsageError(f"--n {quoted(options.n)}, write numbers from 1, separated by commas: 1,3,5")
    unknown = [value for value in boundaries if value not in BOUNDARIES]
    if unknown or not boundaries:
        raise UsageError(f"--boundaries {quoted(options.boundaries)}, choose among {', '.join(BOUNDARIES)}")
    if options.mentions == "gold" and "strict" not in boundaries:
        raise UsageError("--mentions gold judges equal boundaries only, leave --boundaries out")
