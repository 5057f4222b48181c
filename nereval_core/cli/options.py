"""Options that several verbs share: what is read and how, what is scored, and where results go.

Everything heavy is imported inside the functions that turn options into values, so that `--help` is answered at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, cast

from nereval_core.api.load_options import COLUMN, TYPES, LoadOptions
from nereval_core.options import Offer, Part, comma_separated, offers
from nereval_core.problems import Steps, quoted
from nereval_core.readers.read_settings import ReadSettings
from nereval_core.report import METHODS_FORMS, PAPER_COLUMNS, TABLES

if TYPE_CHECKING:
    from nereval_core.report.paper_tables import TableStyle

FAILED, BAD = 1, 2
"""Exit status for bad usage or bad input."""

STDOUT = "-"
"""The FILE that is standard output."""

SHARED = "shared"
"""The value of `--documents` for those that gold and all predictions have."""

SETTINGS_OF_ONE: Mapping[str, Offer] = {
    "column": COLUMN,
    **offers(ReadSettings),
    "documents": offers(LoadOptions)["documents"],
    "types": TYPES,
}
"""The settings of reading a single layer, by the name that `read` of the library has for them."""

MOST_DIGITS = 15
"""Decimal places that a float has at most."""

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
  # other_boundaries, other_type: what it gets that fails there, in place of otherwise; failing both, the lesser
  merge = {macromolecule = ["protein", "DNA", "RNA"]}
  leave_out = ["cell_line"]
"""

Options = TypeVar("Options")
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


def listed(values: Iterable[str]) -> list[str]:
    """Return the items of an option that is repeatable and takes several with commas between."""
    return [item for value in values for item in comma_separated(value)]


# Reading


def add_reading(
    parser: argparse.ArgumentParser,
    files_help: str = "GOLD first, then PRED or NAME=PRED",
    sides: tuple[str, str] = ("gold", "predictions"),
    least: Literal[0, 1] = 1,
) -> None:
    """Add gold, the predictions (`least` says how many files), and how they are read; help calls the two `sides`."""
    parser.add_argument("files", nargs="+" if least else "*", metavar="FILE", help=files_help)
    parser.add_argument("-q", "--quiet", action="store_true", help="do not say on standard error what was read")

    reading = parser.add_argument_group("reading").add_argument
    selecting = parser.add_argument_group("what of it is scored").add_argument
    flags: set[str] = set()
    defaults = {each.name: each.default for each in fields(LoadOptions)}
    for name, side in offers(LoadOptions).items():
        for offer in filter(None, (side.both, side)):
            if offer.flag is not None and offer.flag not in flags:
                _add_option(selecting if side.selects else reading, offer, offer.help, defaults[name], sides)
                flags.add(offer.flag)


def add_reading_of_one(parser: argparse.ArgumentParser) -> None:
    """Add how a single layer is read, for the verb `convert`."""
    add = parser.add_argument_group("reading").add_argument
    # Problems name the option as the other verbs have it.
    source = ("--from", "--format")
    add(*source, dest="source_format", default="auto", metavar="FORMAT", help="of IN (default: auto)")
    for offer in SETTINGS_OF_ONE.values():
        _add_option(add, offer, offer.help_of_one or offer.help, None)


def _add_option(add: Add, offer: Offer, help: str, default: object, sides: tuple[str, str] = ("", "")) -> None:
    """Add an option, which is None where it is not given: defaults are those of the options made of it."""
    assert offer.flag is not None
    first, others = sides
    text = help.format(first=first, others=others, default=offer.in_words(default))
    if default is False:
        add(offer.flag, action="store_true", help=text)
    elif offer.repeatable or offer.listed:
        add(offer.flag, action="append", default=[], metavar=offer.metavar, help=text)
    else:
        nargs = len(offer.metavar) if isinstance(offer.metavar, tuple) else None
        add(offer.flag, choices=offer.choices, metavar=offer.metavar, nargs=nargs, help=text)


def add_options(
    parser: argparse.ArgumentParser, options: type, *, within: tuple[str, Add] | None = None, part: Part | None = None
) -> Add:
    """Add an argument for each option of a dataclass and of its parts, and return what adds more of them.

    Options with a TITLE are a group of their own, others stand `within` the group, by its title, of what holds them.
    """
    title = getattr(options, "TITLE", within[0] if within else "")
    add = within[1] if within and title == within[0] else parser.add_argument_group(title).add_argument
    for each in fields(options):
        if inner := each.metadata.get("part"):
            add_options(parser, inner.options, within=(title, add), part=inner)
        elif (offer := each.metadata.get("offer")) and not (part and each.name in part.without):
            _add_option(add, offer, offer.help, part.defaults.get(each.name, each.default) if part else each.default)
    return add


def parsed(
    options: type[Options], arguments: argparse.Namespace, without: Collection[str] = (), **values: Any
) -> Options:
    """Return the options of a dataclass that the arguments give, with the values of those that are not arguments.

    Options `without` an argument keep their default.

    Raises:
        FormatError: with all values that they cannot have.
    """
    steps = Steps()
    for each in fields(cast(Any, options)):
        part, offer = each.metadata.get("part"), each.metadata.get("offer")
        with steps.collected():
            if part:
                values.setdefault(each.name, parsed(part.options, arguments, part.without, **part.defaults))
            elif (
                offer
                and each.name not in without
                and (words := vars(arguments).get(argument_name(offer))) not in (None, [])
            ):
                values[each.name] = offer.parsed(words)
    # A refused part or value has its default here, so that the problems of the others are told too.
    with steps.collected():
        checked = options(**values)
    steps.refuse()
    return checked


def argument_name(offer: Offer) -> str:
    """Return the name of an option among the parsed arguments."""
    return str(offer.flag).removeprefix("--").replace("-", "_")


def load_options(options: argparse.Namespace) -> LoadOptions:
    """Return the options of reading and pairing gold and predictions.

    Raises:
        FormatError: an option has a value it cannot have.
    """
    shared = options.documents == SHARED and not Path(SHARED).is_file()
    arguments = argparse.Namespace(**{**vars(options), "documents": None}) if shared else options
    values = {field: _value(arguments, offer) for field, offer in offers(LoadOptions).items() if offer.flag is not None}
    return LoadOptions(common=shared, **{field: value for field, value in values.items() if value is not None})


def settings_of_one(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings given of reading a single layer, by the name that `read` of the library has for them.

    Raises:
        FormatError: an option has a value it cannot have.
    """
    values = {name: _value(options, offer) for name, offer in SETTINGS_OF_ONE.items()}
    return {name: value for name, value in values.items() if value is not None}


def _value(options: argparse.Namespace, offer: Offer) -> Any:
    """Return the value of a setting, None where neither its option nor the one for both sides is given."""
    words = getattr(options, argument_name(offer))
    if not words and offer.both is not None:
        return _value(options, replace(offer.both, parse=offer.parse))
    return offer.parsed(words)


# Scoring shard by shard


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
    methods: bool = False,
) -> Add:
    """Add where results go, and return what adds to the group.

    `tables` is what the tables hold; `by` is the metavar and the help of `--by`.
    """
    add = parser.add_argument_group("output (FILE - is standard output)").add_argument
    if by is not None:
        add("--by", action="append", default=[], metavar=by[0], help=by[1])
    for form in TABLES:
        add(f"--{form}", metavar="FILE", help=f"{tables} as one JSON object" if form == "json" else f"tables as {form}")
    if figure:
        add("--figure", metavar="FILE", help=f"{figure}, as .html; alone as .svg or .png, and for a paper as .pdf")
        add("--figure-width", metavar="WIDTH", help="for a paper: column (84 mm), text (174 mm) or millimetres")
    if records:
        add("--records", metavar="FILE", help=records)
    if methods:
        forms = ", ".join(METHODS_FORMS[:-1])
        paragraph = f"what was done as a paragraph for a paper, as {forms}; the works it cites as {METHODS_FORMS[-1]}"
        add("--methods", metavar="FILE", help=paragraph)
    return add


def add_table_style(parser: argparse.ArgumentParser) -> None:
    """Add how LaTeX and Markdown tables of scores look."""
    add = parser.add_argument_group("tables of --latex and --markdown").add_argument
    columns = f"columns, systems side by side, among {','.join(PAPER_COLUMNS)} (--latex --by type: P,R,F1,support)"
    add("--columns", dest="table_columns", metavar="LIST", help=columns)
    add("--digits", type=int, metavar="N", help="decimal places of P, R and F1 (4, in percent 2)")
    add("--percent", action="store_true", help="P, R and F1 in percent")


def table_style(options: argparse.Namespace) -> TableStyle | None:
    """Return how LaTeX and Markdown tables look, None if no option says so.

    Raises:
        UsageError: a column or a number of places that cannot be, or a style without a table that has it.
    """
    if options.table_columns is None and options.digits is None and not options.percent:
        return None
    from nereval_core.report.paper_tables import TableStyle

    columns = comma_separated(options.table_columns or "")
    names = {name.casefold(): name for name in PAPER_COLUMNS}
    if options.latex is None and options.markdown is None:
        raise UsageError("--columns, --digits and --percent are for tables: give --latex FILE or --markdown FILE")
    if options.table_columns is not None and (not columns or not {name.casefold() for name in columns} <= {*names}):
        wrong = next((name for name in columns if name.casefold() not in names), options.table_columns)
        raise UsageError(f"--columns {quoted(wrong)}, choose among {', '.join(PAPER_COLUMNS)}")
    if options.digits is not None and not 0 <= options.digits <= MOST_DIGITS:
        raise UsageError(f"--digits {options.digits}, give 0 to {MOST_DIGITS}")
    requested = tuple(dict.fromkeys(names[name.casefold()] for name in columns))
    return TableStyle(requested, options.digits, options.percent)


def check_by(options: argparse.Namespace, choices: Sequence[str], remedy: str) -> list[str]:
    """Return the values of `--by`.

    Raises:
        UsageError: one that is not known.
    """
    by = listed(options.by)
    if unknown := [value for value in by if value not in choices]:
        raise UsageError(f"--by {quoted(unknown[0])}, {remedy}")
    return by


def add_lossy(add: Add) -> None:
    add("--lossy", action="store_true", help="leave out what the format cannot hold (else it is listed and refused)")


# Verdicts


def add_verdicts(parser: argparse.ArgumentParser) -> None:
    """Add where verdicts are and which of them are accepted."""
    from nereval_core.api.verb_options import VerdictOptions

    add_review_file(add_options(parser, VerdictOptions))
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
    add("--to", dest="target_format", default="jsonl", metavar="FORMAT", help="see `nereval formats` (default: jsonl)")
    add_lossy(add)
