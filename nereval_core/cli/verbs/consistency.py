"""The verb `consistency`: annotations within one layer that contradict one another."""

from __future__ import annotations

import argparse

from nereval_core.cli.options import Parser, add_output, add_reading, comma_separated
from nereval_core.options import TOP

HELP = "find inconsistent annotations within one layer"
USAGE = "LAYER [OTHER ...] [options]"
EXAMPLE = "gold.jsonl --kinds types,edges --records places.csv"
NOTES = """\
LAYER is searched: gold, or any other layer. The OTHERs, layers over the same documents, are compared with it and shown
beside it. Findings are ranked by the number of places that would change if the most frequent annotation were used
everywhere. share is the share of places with that annotation; places that count for none are left out of it.

types takes several types at one place as one way. nesting looks at texts of two words and more. against-all lists
spans that no other layer has, where all have the same others or none, and spans that all others have where LAYER has
none.

Surface forms are compared without case, with white space as one blank, composed or not, and up to 30 words long. They
are searched at word boundaries; where a script has no blanks between words, every letter may begin or end one.
--case differs tells spellings of a form apart where two of them have two places or more and most of these are annotated
differently, as GAS, a gene, and gas. The signature says which.
not-everywhere leaves out forms of one letter or none, and those annotated in under 5% of their places; both are
counted. It lists places inside another span, but counts them for neither; places that share characters with a shorter
span are left to nesting. odd-ends takes brackets whose other half is in the span, %, ' and the like for right.
"""


def add_arguments(parser: Parser) -> None:
    add = parser.add_argument_group("searching").add_argument
    kinds = "types, not-everywhere, edges, nesting, odd-ends, against-all (default: all)"
    add("--kinds", action="append", default=[], metavar="LIST", help=kinds)
    case = "tell spellings that differ in case apart if they are annotated differently (default), never, always"
    add("--case", choices=("differs", "ignore", "keep"), default="differs", help=case)
    add("--top", type=int, metavar="N", help="findings of each kind (default: 20 in tables, all in JSON and CSV)")
    add_output(parser, records="all places of the findings, as .parquet, .jsonl or .csv")
    add_reading(parser, "LAYER first, then the OTHERs or NAME=OTHER", ("LAYER", "the OTHERs"))
    parser.set_defaults(alone=True, criteria=None)


def run(options: argparse.Namespace) -> None:
    from dataclasses import replace

    from nereval_core.analysis.consistency import consistency
    from nereval_core.analysis.consistency.kinds import check_kinds
    from nereval_core.cli.files import gold_name
    from nereval_core.cli.output import output_places, say, write_result
    from nereval_core.cli.results.consistency import consistency_result
    from nereval_core.cli.runner import load_layers
    from nereval_core.pairing import selection_marks

    if options.top is not None:
        TOP.check(options.top)
    places = output_places(options, "records")
    kinds = comma_separated(options.kinds)
    check_kinds(kinds)
    loaded = load_layers(options)
    layer = loaded.corpus.gold.renamed(gold_name(options))
    # A layer by itself is not paired, but its signature names the selected documents and renamed types.
    marks = [f"{name}: {mark}" for name, some in loaded.marks.items() for mark in some] or selection_marks(loaded.gold)
    found = replace(consistency(layer, loaded.corpus.systems, kinds, options.case), marks=tuple(marks))
    for line in found.skipped() if not options.quiet else ():
        say(line)
    write_result(consistency_result(found, options.top), places)
