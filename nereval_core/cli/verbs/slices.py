"""The verb `slices`: scores by properties of spans and documents, with intervals."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nereval_core.api.verb_options import SlicesOptions
from nereval_core.cli.options import GOLD_AND_PREDICTIONS, Parser, add_options, add_output, add_reading, parsed

if TYPE_CHECKING:
    from nereval_core.analysis.slices.user_columns import UserColumns
    from nereval_core.api.scoring import Listener
    from nereval_core.corpus import Layer

HELP = "score by properties of spans and documents, with intervals"
USAGE = "GOLD PRED [PRED ...] [options]"
EXAMPLE = "gold.jsonl system.jsonl --by length,seen --training train.jsonl"
NOTES = f"""\
--by takes
  length, tokens       characters of the span without gaps; its tokens
  shape                capitals, letters and digits, by words
  frequency            the number of gold spans with the same words
  consistency          share of the words' most frequent type in gold
  seen, head           whether --training has the words, or the head word
  position             where in the document the span begins
  document-length      characters of the document
  spans                gold spans of the document
  period, "year 1850"  decade of the document's date; before and from a year
  noise                LED of the gold span, by HIPE's levels
  meta, "meta KEY"     every key of the documents' meta, or one
  column, "column K"   columns of --columns, or one
  score                P, R, F1 against the threshold, and calibration
  worst                combinations of two slices with the lowest recall

The default is all that apply, except years and worst. Numbers with more than ten values are cut into five ranges; of
more than 30 texts the most frequent are shown. A word of a shape ends at white space, a dash or a slash. A head word is
the last of a form, or the last before a comma, a bracket or one of: of for in at on de du des del della di do. That
suits English and German; read it with care elsewhere, and for names of persons. Worst combinations have at least 20
gold spans in 5 documents.

Intervals are those of compare, beyond 5,000 documents over groups of them. A slice in fewer than 10 documents, or all
right or all wrong, has Wilson's interval for P and R, which takes spans for independent, and none for F1; a slice in
one document has none. Each of up to 100 thresholds is scored anew; predictions without a score always stay.

--columns names a CSV file whose header has document, for single spans also span (the id of a gold span, or of a record,
such as g:12-19:Drug), and columns of your own. --tests compares each slice with the rest of its slicing, and systems
within it; p is corrected over all slices of all slicings of --by. --json has the tests as apart and changes, each with
its family in words, --csv as parts apart and change, whose value, low and high are the difference; the bins and errors
of calibration are the parts calibration and error.

{GOLD_AND_PREDICTIONS}"""


def add_arguments(parser: Parser) -> None:
    add = add_options(parser, SlicesOptions)
    add("--training", metavar="FILE", help="training data: slice by whether it has the text of a span")
    add("--training-format", default="auto", metavar="FORMAT", help="of the training data")
    add("--columns", metavar="FILE.csv", help="columns of your own, by document or by span")
    add_output(parser, figure="a figure for each slicing and the tables", methods=True)
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    from nereval_core.api import slices
    from nereval_core.api.verb_options import check_baseline
    from nereval_core.cli.files import load_layers, system_paths
    from nereval_core.cli.output import Console, output_places, write_result
    from nereval_core.cli.results.slices import slices_result

    options = parsed(SlicesOptions, arguments)
    check_baseline(options.baseline, system_paths(arguments))
    places = output_places(arguments, "figure", "methods")
    console = Console(arguments.quiet)
    training, columns = _read_files(arguments, console)
    loaded = load_layers(arguments, console)
    sliced = slices.run(options, loaded, console, training=training, columns=columns)
    result = slices_result(loaded.corpus, sliced.reports, sliced.changes)
    write_result(result, places, figure_width=arguments.figure_width)


def _read_files(arguments: argparse.Namespace, listener: Listener) -> tuple[Layer | None, UserColumns | None]:
    """Return the training data and the columns of the user.

    Raises:
        FormatError: with the problems of both.
    """
    from nereval_core.api.read import read
    from nereval_core.api.scoring import tell_read
    from nereval_core.api.slices import columns_of_file
    from nereval_core.problems import Steps

    steps = Steps()
    training, columns = None, None
    if arguments.training:
        with steps.collected():
            reading = read(arguments.training, format=arguments.training_format)
            training = reading.layer
            tell_read(reading, listener)
    if arguments.columns:
        with steps.collected():
            columns = columns_of_file(arguments.columns)
    steps.refuse()
    return training, columns
