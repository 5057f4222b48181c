"""Options that several verbs share: what is read and how, what is scored, and where results go.

Everything heavy is imported inside the functions that turn options into values, so that `--help` is answered at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypedDict

from nereval_core.problems import quoted
from nereval_core.report import TABLES

if TYPE_CHECKING:
    from nereval_core.api.load import LoadOptions
    from nereval_core.pairing import Pairing
    from nereval_core.pairing.document_lists import DocumentIds
    from nereval_core.pairing.type_names import TypeNames
    from nereval_core.readers.shared.label_list import LabelList
    from nereval_core.readers.shared.offset_units import Offsets

BAD = 2
"""Exit status for bad usage or bad input."""

STDOUT = "-"
"""The FILE that is standard output."""

SHARED = "shared"
"""The value of `--documents` for those that gold and all predictions have."""

ALL = "all"
"""The value of `--criteria` for every criterion that gold allows."""

LEAST_RESAMPLES, MOST_RESAMPLES = 100, 1_000_000
"""Fewer resamples show no tail of 2.5%, more show nothing new."""

FILES = """\
{} are files, folders or zips; files may be packed by gzip or Zstandard (.gz, .zst), and one may be "-",
which is standard input. A layer is called NAME=PATH, else by its file or folder, with the parent
folder where two would be the same (a path that exists is never cut at its "="). Files given by one NAME are the parts
of one layer, in whatever formats: {} {}. One CoNLL file with both columns needs no {}:
{} FILE --gold-column 2 --pred-column 3.
"""
GOLD_AND_PREDICTIONS = FILES.format("GOLD and PRED", "score", "gold=A gold=B run=C run=D", "PRED", "score")
OWN_CRITERIA = """\
a criterion of one's own, inline or as a table in a .toml file that --criteria names:
  --criterion "half: boundaries=overlap, minimum=0.5, share=union, types=any, otherwise=PAR"

  [criterion.half]
  boundaries = "overlap"        # equal, start, end, either, contain, overlap, core, alternatives
  types = "any"                 # equal, any
  minimum = 0.5                 # shared characters, as a share
  share = "union"               # of gold, of prediction, of their union
  otherwise = "PAR"             # what an aligned pair gets that fails: INC, PAR
  merge = {macromolecule = ["protein", "DNA", "RNA"]}
  leave_out = ["cell_line"]
"""

Add = Callable[..., object]
"""`add_argument` of a parser or of a group of its options."""


class UsageError(Exception):
    """Options that cannot be used so; the message is one line and says what to give instead."""


class Parser(argparse.ArgumentParser):
    """The parser of the program or of a verb: it reports misuse in one line, as bad input is reported.

    `arguments` are those to be parsed: with `--convention NAME` among them the options of that scorer are known too.
    """

    arguments: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        self.exit(BAD, f"{self.prog}: {message}; see {self.prog} --help\n")


def comma_separated(values: Iterable[str]) -> list[str]:
    """Return the items of options that take several with commas between."""
    return [item.strip() for value in values for item in value.split(",") if item.strip()]


# Reading


def add_reading(
    parser: argparse.ArgumentParser,
    given: str = "GOLD first, then PRED or NAME=PRED",
    sides: tuple[str, str] = ("gold", "predictions"),
) -> None:
    """Add gold, the predictions, and how they are read; `sides` is what help calls the two."""
    first, others = sides
    parser.add_argument("files", nargs="+", metavar="FILE", help=given)
    parser.add_argument("-q", "--quiet", action="store_true", help="do not say on standard error what was read")

    add = parser.add_argument_group("reading").add_argument
    add("--format", default="auto", help=f"of {first} and {others}; see `nereval formats` (default: auto, by content)")
    add("--gold-format", metavar="FORMAT", help=f"of {first} only")
    add("--pred-format", metavar="FORMAT", help=f"of {others} only")
    add("--column", type=_column, metavar="N", help="the column with the tags, by number (from 1) or name")
    add("--gold-column", type=_column, metavar="N", help=f"of {first} only")
    add("--pred-column", type=_column, metavar="M", help=f"of {others} only")
    add("--scheme", help=f"tag scheme of {first} and {others} (default: the one that {first} fits)")
    add("--repair", choices=("conlleval", "discard"), help="mend malformed tag sequences instead of refusing them")
    _add_format_details(add)
    add("--missing", choices=("error", "empty"), default="error", help="empty: count missing documents as empty")
    add(
        "--token-text",
        choices=("own", "gold"),
        default="own",
        help=f"gold: take {first}'s text where as many tokens are spelt differently",
    )
    add(
        "--pair-by",
        choices=("auto", "text", "order"),
        default="auto",
        help="pair documents by identical text or by order, whatever their ids (default: by id, else by text)",
    )
    align = f"carry spans over to {first}'s text where white space or quotes differ"
    add("--align-text", action="store_true", help=align)

    add = parser.add_argument_group("what of it is scored").add_argument
    _add_documents(add, ", or shared: those that all have")
    add("--types", metavar="FILE", help="call types by other names on both sides; FILE has lines PER = person")
    add("--gold-types", metavar="FILE", help=f"of {first} only")
    add("--pred-types", metavar="FILE", help=f"of {others} only")


def add_reading_of_one(parser: argparse.ArgumentParser) -> None:
    """Add how a single layer is read, for the verb `convert`."""
    add = parser.add_argument_group("reading").add_argument
    # Problems name the option as the other verbs have it.
    source = ("--from", "--format")
    add(*source, dest="source_format", default="auto", metavar="FORMAT", help="of IN (default: auto)")
    add("--column", type=_column, metavar="N", help="the column with the tags, by number or name")
    add("--scheme", help="tag scheme (default: the one that fits)")
    add("--repair", choices=("conlleval", "discard"), help="mend malformed tag sequences")
    _add_format_details(add)
    _add_documents(add)
    add("--types", metavar="FILE", help="call types by other names; FILE has lines PER = person")


def _add_format_details(add: Add) -> None:
    """Add details that a format may leave open: cores, units of offsets, columns, and labels of numbered tags."""
    add("--core-type", metavar="NAME", help="brat: the type or attribute of spans that are the cores of others")
    units = "code-points, utf-16 or utf-8, perhaps with ,inclusive ,from-1"
    add("--offsets", metavar="UNIT", help=f"what offsets count, where a format leaves it open: {units}")
    columns = "CSV: what columns hold, by name or number from 1: document=doc,start=3,end=4,type=kind,text=6"
    add("--span-columns", metavar="WHAT=COLUMN,…", help=columns)
    labels = "datasets: the labels in which tags that are numbers are places, O,B-PER,I-PER,… or a file of them"
    add("--labels", metavar="LIST|FILE", help=labels)


def _add_documents(add: Add, more: str = "") -> None:
    what = f"these documents only: a file with an id a line, or ids with commas{more}"
    add("--documents", metavar="FILE|IDS", help=what)


def _column(value: str) -> int | str:
    return int(value) if value.isdecimal() else value


def load_options(options: argparse.Namespace) -> LoadOptions:
    """Return the options of reading and pairing gold and predictions.

    Raises:
        FormatError: an option has a value it cannot have.
    """
    from nereval_core.api.load import LoadOptions

    def first(*values: int | str | None) -> int | str | None:
        return next((value for value in values if value is not None), None)

    details = format_details(options)
    if shared := options.documents == SHARED and not Path(SHARED).is_file():
        details["documents"] = None
    return LoadOptions(
        gold_format=options.gold_format or options.format,
        pred_format=options.pred_format or options.format,
        gold_column=first(options.gold_column, options.column),
        pred_column=first(options.pred_column, options.column),
        scheme=options.scheme,
        repair=options.repair,
        core_type=options.core_type,
        **details,
        common=shared,
        **pairing(options),
        gold_types=_type_names(options.gold_types or options.types),
        pred_types=_type_names(options.pred_types or options.types),
    )


class FormatDetails(TypedDict):
    """Details that a format may leave open, and the documents that are read."""

    offsets: Offsets | None
    columns: Mapping[str, int | str] | None
    labels: LabelList | None
    documents: DocumentIds | None


def format_details(options: argparse.Namespace) -> FormatDetails:
    """Return the values of `--offsets`, `--span-columns`, `--labels` and `--documents`.

    Raises:
        FormatError: one has a value it cannot have.
    """
    from nereval_core.pairing.document_lists import document_ids
    from nereval_core.readers.shared.label_list import label_list
    from nereval_core.readers.shared.offset_units import offsets_of
    from nereval_core.readers.shared.table_columns import chosen_columns

    return {
        "offsets": None if options.offsets is None else offsets_of(options.offsets),
        "columns": None if options.span_columns is None else chosen_columns(options.span_columns),
        "labels": None if options.labels is None else label_list(options.labels),
        "documents": None if options.documents is None else document_ids(options.documents),
    }


def pairing(options: argparse.Namespace) -> Pairing:
    """Return the options of pairing predictions with gold's documents."""
    return {
        "missing": options.missing,
        "token_text": options.token_text,
        "pair_by": options.pair_by,
        "align_text": options.align_text,
    }


def _type_names(path: str | None) -> TypeNames | None:
    from nereval_core.pairing.type_names import read_types

    return None if path is None else read_types(path)


# Scoring


def add_scoring(parser: argparse.ArgumentParser, criteria: str | None = None) -> None:
    """Add what is scored under; criteria other than the schemas by default score one to one alone."""
    add = parser.add_argument_group("scoring").add_argument
    names = f"names and .toml files with commas between, or all (default: {criteria or 'the schemas'})"
    add("--criteria", default=criteria, metavar="LIST", help=names)
    add(
        "--criterion",
        action="append",
        default=[],
        metavar="RULE",
        help="a criterion of your own: `nereval score --help`",
    )
    add("--merge", action="append", default=[], metavar="A,B=NAME", help="score types A and B as NAME; repeatable")
    add_leave_out(add)
    if criteria is None:
        add("--counting", choices=("one-to-one", "each-side"), default="one-to-one", help="each-side: no alignment")
    else:
        parser.set_defaults(counting="one-to-one")


def add_leave_out(add: Add) -> None:
    add("--leave-out", action="append", default=[], metavar="TYPE", help="leave types out, with commas; repeatable")


def add_resampling(add: Add, resamples: str = "how often units are resampled", default: int = 10_000) -> None:
    add("--resamples", type=int, default=default, metavar="N", help=f"{resamples} ({default})")
    units = "what is resampled: document, sentence, a metadata key, or runs of N as they stand (default: as read)"
    add("--resample-by", default="", metavar="document|sentence|KEY|runs:N", help=units)
    add("--seed", type=int, default=0, metavar="N", help="what is drawn depends on it alone (0)")


def check_resampling(options: argparse.Namespace) -> None:
    """Refuse too few or too many resamples, and a seed below 0.

    Raises:
        UsageError: one of them.
    """
    if not LEAST_RESAMPLES <= options.resamples <= MOST_RESAMPLES:
        raise UsageError(f"--resamples {options.resamples}, write {LEAST_RESAMPLES} to {MOST_RESAMPLES}")
    if options.seed < 0:
        raise UsageError(f"--seed {options.seed}, write 0 or more")


def add_engine(parser: argparse.ArgumentParser) -> Add:
    """Add how shards are scored, and return what adds options to the group."""
    group = parser.add_argument_group("shard by shard (GOLD and PRED are folders of files paired by name)")
    add = group.add_argument
    add("--engine", choices=("dask", "local"), help="dask: on worker processes; local: one shard after the other")
    add("--workers", type=int, metavar="N", help="dask: so many processes on this machine (default: one a processor)")
    add("--scheduler", metavar="ADDRESS", help="dask: the workers of a cluster, tcp://HOST:PORT")
    add("--work", metavar="DIR", help="keep the counts of shards in DIR, so that a stopped job goes on where it was")
    return add


# Output


def add_output(
    parser: argparse.ArgumentParser,
    tables: str = "everything",
    *,
    by: tuple[str, str] | None = None,
    figure: str = "",
    records: str = "",
) -> None:
    """Add where results go: `tables` is what the tables hold; `by` is the metavar and the help of `--by`."""
    add = parser.add_argument_group("output (FILE - is standard output)").add_argument
    if by is not None:
        add("--by", action="append", default=[], metavar=by[0], help=by[1])
    for form in TABLES:
        add(f"--{form}", metavar="FILE", help=f"{tables} as one JSON object" if form == "json" else f"tables as {form}")
    if figure:
        add("--figure", metavar="FILE", help=f"{figure}, as .html; alone as .svg or .png")
    if records:
        add("--records", metavar="FILE", help=records)


def check_by(options: argparse.Namespace, known: Sequence[str], remedy: str) -> list[str]:
    """Return the values of `--by`.

    Raises:
        UsageError: one that is not known.
    """
    by = comma_separated(options.by)
    if unknown := [value for value in by if value not in known]:
        raise UsageError(f"--by {quoted(unknown[0])}, {remedy}")
    return by


def add_lossy(add: Add) -> None:
    add("--lossy", action="store_true", help="leave out what the format cannot hold (else it is listed and refused)")


# Verdicts


def add_verdicts(parser: argparse.ArgumentParser) -> None:
    """Add where verdicts are and which of them are accepted."""
    add = parser.add_argument_group("verdicts").add_argument
    add_review_file(add)
    add("--reviewer", action="append", default=[], metavar="NAME", help="accept those of NAME only; repeatable")
    add("--kind", action="append", default=[], metavar="LIST", help="accept gold,pred,both,neither,unclear only")
    same_text = parser.add_mutually_exclusive_group().add_argument
    same_text(
        "--only-this-document",
        action="store_true",
        default=True,
        help="of documents with one text, change the one that a verdict was given on (the default)",
    )
    same_text(
        "--every-document",
        dest="only_this_document",
        action="store_false",
        help="of documents with one text, change all",
    )


def add_review_file(add: Add) -> None:
    add("--review", metavar="FILE", help="the file that holds them (default: $NEREVAL_REVIEW_URL, else your own)")


def add_corrected_copy(parser: argparse.ArgumentParser) -> None:
    """Add where a layer made by verdicts is written."""
    parser.set_defaults(criteria=None)
    add = parser.add_argument_group("output").add_argument
    add("--out", required=True, metavar="OUT", help="file, or a new or empty folder; the log is OUT.changes.csv")
    add("--to", dest="target_format", metavar="FORMAT", help="see `nereval formats` (default: jsonl)")
    add_lossy(add)
