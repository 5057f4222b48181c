"""The verb `consistency`: annotations within one layer that contradict one another."""

from __future__ import annotations

import argparse

from nereval_core.api.verb_options import ConsistencyOptions
from nereval_core.cli.options import Parser, add_options, add_output, add_reading, parsed

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
    add_options(parser, ConsistencyOptions)
    add_output(parser, records="all places of the findings, as .parquet, .jsonl or .csv")
    add_reading(parser, "LAYER first, then the OTHERs or NAME=OTHER", ("LAYER", "the OTHERs"))
    parser.set_defaults(alone=True, criteria=None)


def run(arguments: argparse.Namespace) -> None:
    from nereval_core.api import consistency
    from nereval_core.cli.files import gold_name, load_layers
    from nereval_core.cli.output import Console, output_places, write_result
    from nereval_core.cli.results.consistency import consistency_result

    options = parsed(ConsistencyOptions, arguments)
    places = output_places(arguments, "records")
    console = Console(arguments.quiet)
    loaded = load_layers(arguments, console, reference="gold")
    findings = consistency.run(options, loaded, gold_name(arguments))
    for line in findings.skipped():
        console.read(line)
    write_result(consistency_result(findings, options.top), places)
