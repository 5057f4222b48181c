"""The verb `slices`: scores by properties of spans and documents, with intervals."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nereval_core.cli.options import (
    GOLD_AND_PREDICTIONS,
    Parser,
    UsageError,
    add_output,
    add_reading,
    add_resampling,
    add_scoring,
    comma_separated,
)
from nereval_core.options import check_resampling

if TYPE_CHECKING:
    from nereval_core.analysis.slices.user_columns import UserColumns
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
    add = parser.add_argument_group("slicing").add_argument
    add(
        "--by",
        action="append",
        default=[],
        metavar="LIST",
        help="properties, separated by commas; see below",
    )
    add("--training", metavar="FILE", help="training data: slice by whether it has the text of a span")
    add("--training-format", default="auto", metavar="FORMAT", help="of the training data")
    add("--columns", metavar="FILE.csv", help="columns of your own, by document or by span")
    add("--tests", action="store_true", help="test each slice against the rest, and changes between systems within it")
    add("--baseline", metavar="NAME", help="the system that changes are from (default: the first)")
    add_resampling(add, "resamples of the bootstrap", 2_000)
    add_output(parser, figure="a figure for each slicing and the tables", methods=True)
    add_scoring(parser, "strict")
    add_reading(parser)


def run(options: argparse.Namespace) -> None:
    from nereval_core.analysis.resampling_units import resampling_units
    from nereval_core.analysis.slices import check_slicings, slice_changes, slice_report
    from nereval_core.analysis.slices.user_columns import check_columns
    from nereval_core.cli.files import baseline_name
    from nereval_core.cli.output import output_places, progress_bar, say, write_result
    from nereval_core.cli.results.slices import slices_result
    from nereval_core.cli.runner import load_for_scoring, score_systems

    check_resampling(options.resamples, options.seed)
    places = output_places(options, "figure", "methods")
    by = comma_separated(options.by)
    check_slicings(by)
    if options.baseline and not options.tests:
        raise UsageError("--baseline is for --tests, add it")
    baseline = baseline_name(options)
    training, columns = _read_files(options)
    loaded, settings = load_for_scoring(options)
    corpus = loaded.corpus
    if columns is not None:
        check_columns(columns, corpus.gold, corpus.systems)
    units = resampling_units(corpus.documents, options.resample_by)
    for note in units.notes:
        say(note)
    found = {
        layer.name: [
            slice_report(
                scores,
                criterion.name,
                by=by,
                training=training,
                columns=columns,
                resamples=options.resamples,
                seed=options.seed,
                units=units,
                tests=options.tests,
                progress=progress_bar(layer.name, "sliced"),
            )
            for criterion in settings.criteria
        ]
        for layer, scores in score_systems(loaded, settings)
    }
    changes = {}
    if options.tests and len(found) > 1:
        for number, criterion in enumerate(settings.criteria):
            reports = {name: every[number] for name, every in found.items()}
            changes[criterion.name] = slice_changes(reports, baseline)
    write_result(slices_result(corpus, found, changes), places, figure_width=options.figure_width)


def _read_files(options: argparse.Namespace) -> tuple[Layer | None, UserColumns | None]:
    """Return the training data and the columns of the user.

    Raises:
        FormatError: with the problems of both.
    """
    from nereval_core.analysis.slices.user_columns import read_columns
    from nereval_core.api.read import read
    from nereval_core.cli.runner import say_read
    from nereval_core.problems import FormatError, Problem
    from nereval_core.readers import Source

    problems: list[Problem] = []
    training, columns = None, None
    try:
        if options.training:
            reading = read(options.training, format=options.training_format)
            training = reading.layer
            if not options.quiet:
                say_read(reading)
    except FormatError as error:
        problems += error.problems
    try:
        if options.columns:
            columns = read_columns(Source.of_path(options.columns).files[0].text(), options.columns)
    except FormatError as error:
        problems += error.problems
    if problems:
        raise FormatError(problems)
    return training, columns
