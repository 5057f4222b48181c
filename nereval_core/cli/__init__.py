"""The command line: `python -m nereval_core VERB`; VERBS below lists them.

Only the parsers live here, so that help and usage errors are answered before anything heavy is imported.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

from nereval_core import __version__
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.report import TABLES

BAD, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
"""Exit status for bad usage or input; the others are 128 and the number of the signal, as a shell says it."""

FILES = """\
{} are files, folders or zips; files may be packed by gzip or Zstandard (.gz, .zst), and one may be "-",
which is standard input. A layer is called NAME=PATH, else by its file or folder, with the parent
folder where two would be the same (a path that exists is never cut at its "="). Files given by one NAME are the parts
of one layer, in whatever formats: {} {}. One CoNLL file with both columns needs no {}:
{} FILE --gold-column 2 --pred-column 3.
"""
SCORE = FILES.format("GOLD and PRED", "score", "gold=A gold=B run=C run=D", "PRED", "score")
CRITERIA = """\
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
SETTINGS = """\
Every system is scored without a merge, with each --merge alone, and with all types merged into one. Several merges in
one setting have a semicolon between: --merge "DNA,RNA=nucleic;cell_line,cell_type=cell".
"""
COMPARE = """\
Intervals are bias-corrected bootstrap intervals over documents (or what --resample-by names), differences to the
baseline are over the same resamples, and p is by approximate randomization with Holm's correction over the systems.
What rests on one document alone has neither interval nor test.
"""
AGREEMENT = """\
A, B, C are the layers of annotators or systems over the same documents; none is gold. A is read by options for gold,
and the others by those for predictions. F1 is of each two under --criteria, kappa and
alpha are on tokens (a token's category is the set of types that cover it), unitizing alpha is on characters; of more
than two annotators F1 and observed agreement are means over their pairs and kappa is Fleiss'. Intervals are
bias-corrected bootstrap intervals over documents, or what --resample-by names. Where an annotator has not read a
document, --documents shared leaves it out; --documents pairwise compares each two on what the two have;
--missing empty would count it as read and found empty.
"""
ERRORS = """\
Each record that is not correct under strict has one class, the first that applies: duplicate, split (one gold span,
several predictions), merged (several gold spans, one prediction), type only, boundary only, type and boundary, missed,
spurious. What a class costs is found by mending it in the predictions and scoring these anew.
"""
SLICES = """\
--by takes length, tokens, shape, frequency, consistency, seen, position, document-length, spans, period, noise, meta
(or "meta KEY"), column (or "column NAME"), score (thresholds and calibration), worst (combinations of two). By default
all that apply but worst. --columns has a line of names: document, for single spans span (a gold span's id, or a
record's as g:12-19:Drug), and columns of your own.
"""
LINK = """\
A mention is a span with links: NEL columns of HIPE, N lines of brat and notes that are codes, "links" in JSONL. The
links of a prediction are its ranking, best first; "|" inside a link parts several. NIL is an id like any other.
"""
INDEX = """\
Each document has a set of ids. GOLD and PRED are TSV files (document<tab>code, or document<tab>type<tab>code), folders
of them, or annotations, whose links are the ids of their document. What stands on one side only is counted and said.
"""
APPLY = """\
Gold is never written over. Name the predictions that were reviewed too: a verdict on one that no system has any more
is stale, and stale verdicts are not applied. Without any, predictions are taken to be there still.
"""
ADJUDICATE = """\
Verdicts are those given on the records of B with A taken as gold. What is still open is listed, and is not in OUT.
"""
EXCHANGE = """\
An export has one verdict a line, the whole history of each span. Importing twice changes nothing; spans that were
decided apart are listed, and nothing of theirs is taken. CORPUS has the documents that lines written by hand name.
"""
CONSISTENCY = """\
LAYER is questioned: gold, or any other. The OTHERs over the same documents are held against it and shown beside it.
Surface forms are compared without case, white space as one blank, and looked for at word boundaries. Findings are
ranked by the places that would change if what is done most often were done always.
"""
TYPES = """\
Each type that gold has not is suggested to be the type of gold that its spans overlap most, else the one with a name
alike; what is not sure is left out by a #. Nothing is applied: check the lines, and score with --pred-types FILE.
"""
REPORT = """\
One HTML file with scores, confusions, kinds of errors and records in their text. It needs no network, prints well, and
is the same on every run. The first criterion is the main one.
--records takes how many of each error class are shown (10), or which ones, much as a link says it:
--records "decision=MIS,SPU&gold=DNA". There are decision, type, gold, pred ("-": no span), doc, text, boundary, words,
period, noise, and has=NAME=VALUE for what else is known of records, as "has=class=split".
"""
STATUS = "exit status: 0 done; 2 bad usage or bad input, one line each on standard error, nothing written\n"


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as for bad input."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb and return the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # Closed by whoever started us: nobody listens.
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a character shows its code instead of failing.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            # argparse mixes options and file names only where there are no sub-parsers: the verb is taken off by hand.
            # A verb has one word or two.
            for words in (2, 1):
                if (name := " ".join(arguments[:words])) in VERBS:
                    return _verb(name, arguments[words:])
            top = _top()
            top.parse_args(arguments)
            top.error("begin with a VERB")
        finally:
            sys.stdout.flush()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else BAD
    except FormatError as error:
        _complain(str(error))
        return BAD
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if error.filename is not None:
            place = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else str(error.filename)
            _complain(str(Problem(place, None, f"cannot be used: {error.strerror}", "check the path")))
            return BAD
        # Files report for themselves: this is standard output. What is left in its buffer has nowhere to go, and the
        # interpreter must not try again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return BROKEN_PIPE
        _complain(f"standard output: cannot be written: {error.strerror}; write to a file instead")
        return BAD


def _complain(text: str) -> None:
    # Where standard error is full too, the exit status says it.
    with suppress(OSError):
        print(text, file=sys.stderr)


def _verb(name: str, arguments: Sequence[str]) -> int:
    parser = VERBS[name]()
    if name == "score" and (convention := _convention(arguments)):
        from nereval_core.cli.score_conventions import add_options

        add_options(parser, convention)
    options = parser.parse_intermixed_args(arguments)
    garbled = next((value for value in _texts(options) if not _is_text(value) and not Path(value).exists()), None)
    if garbled is not None:
        parser.error(f"{quoted(garbled)} is not UTF-8, write it as text")
    module, _, function = MODULES.get(name, "nereval_core.cli.score").partition(":")
    function = function or name.split()[-1].replace("-", "_")
    wrong: str | None = getattr(import_module(module), function)(options)
    if wrong:
        parser.error(wrong)
    return 0


PLACES = frozenset(
    {*TABLES, "files", "input", "output", "training", "columns", "records", "differences", "figure", "work", "out"}
    | {"review", "types", "gold_types", "pred_types"}
)
"""Options that are paths, which may hold any bytes."""


def _texts(options: argparse.Namespace) -> Iterator[str]:
    """Yield what was given as the value of an option and is no path."""
    for key, value in vars(options).items():
        if key not in PLACES:
            yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str))


def _is_text(value: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in value)


def _convention(arguments: Sequence[str]) -> str | None:
    """Return the published scorer asked for, whose own options are then known too."""
    finder = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    finder.add_argument("--convention")
    with suppress(argparse.ArgumentError):
        found: str | None = finder.parse_known_args(arguments)[0].convention
        return found
    return None


def _top() -> argparse.ArgumentParser:
    parser = _Parser(prog="nereval", description="Score named entity annotations.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"nereval {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    for name, make in VERBS.items():
        verbs.add_parser(name, help=make().description, add_help=False)
    return parser


def _parser(verb: str, usage: str, description: str, epilog: str = "") -> argparse.ArgumentParser:
    return _Parser(
        prog=f"nereval {verb}",
        usage=f"nereval {verb} {usage}",
        description=description,
        epilog=epilog + STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _score() -> argparse.ArgumentParser:
    parser = _parser(
        "score", "GOLD PRED [PRED ...] [options]", "score predictions against gold", f"{SCORE}\n{CRITERIA}\n"
    )
    _add_reading(parser)

    _add_scoring(parser)

    add = parser.add_argument_group("published scorers").add_argument
    add("--convention", metavar="NAME", help="score as a published scorer does; see `nereval conventions`")
    add(
        "--as-reference",
        nargs="?",
        const="",
        metavar="FORM",
        help="print what that scorer prints (FORM where it has several)",
    )
    add(
        "--differences",
        metavar="FILE",
        help="spans it decides otherwise than ours, as .parquet, .jsonl or .csv; - counts them by cause",
    )

    add = parser.add_argument_group("output (FILE - is standard output)").add_argument
    add("--by", action="append", default=[], metavar="type,document", help="break the numbers down")
    _add_tables(add, "scores")
    add("--records", metavar="FILE", help="match records, as .parquet, .jsonl or .csv; with --engine a folder")

    add = parser.add_argument_group("shard by shard (GOLD and PRED are folders of files paired by name)").add_argument
    _add_engine(add)
    add("--out", metavar="DIR", help="leave the scored folder: counts, signatures, and where the shards are")
    return parser


def _add_scoring(parser: argparse.ArgumentParser, criteria: str | None = None) -> None:
    """Add what is scored under; criteria other than the schemas by default score one to one alone."""
    add = parser.add_argument_group("scoring").add_argument
    said = f"names and .toml files with commas between, or all (default: {criteria or 'the schemas'})"
    add("--criteria", default=criteria, metavar="LIST", help=said)
    add(
        "--criterion",
        action="append",
        default=[],
        metavar="RULE",
        help="a criterion of your own: `nereval score --help`",
    )
    add("--merge", action="append", default=[], metavar="A,B=NAME", help="score types A and B as NAME; repeatable")
    add("--leave-out", action="append", default=[], metavar="TYPE", help="leave types out, with commas; repeatable")
    if criteria is None:
        add("--counting", choices=("one-to-one", "each-side"), default="one-to-one", help="each-side: no alignment")
    else:
        parser.set_defaults(counting="one-to-one")


def _add_tables(add: Callable[..., object], what: str) -> None:
    for form in TABLES:
        add(f"--{form}", metavar="FILE", help=f"{what} as one JSON object" if form == "json" else f"tables as {form}")


def _add_figure(add: Callable[..., object], what: str) -> None:
    add("--figure", metavar="FILE", help=f"{what}, as .html; alone as .svg or .png")


def _add_engine(add: Callable[..., object]) -> None:
    add("--engine", choices=("dask", "local"), help="dask: on worker processes; local: one shard after the other")
    add("--workers", type=int, metavar="N", help="dask: so many processes on this machine (default: one a processor)")
    add("--scheduler", metavar="ADDRESS", help="dask: the workers of a cluster, tcp://HOST:PORT")
    add("--work", metavar="DIR", help="keep the counts of shards in DIR, so that a stopped job goes on where it was")


def _sensitivity() -> argparse.ArgumentParser:
    parser = _parser(
        "sensitivity",
        "GOLD PRED [PRED ...] [options]",
        "score under all criteria, without and with merged types",
        f"{SCORE}\n{SETTINGS}\n",
    )
    _add_reading(parser)

    add = parser.add_argument_group("scoring").add_argument
    add("--criteria", default="all", metavar="LIST", help="names and .toml files with commas between (default: all)")
    add("--criterion", action="append", default=[], metavar="RULE", help="a criterion of your own, as for score")
    add("--merge", action="append", default=[], metavar="A,B=NAME", help="a setting with types merged; repeatable")
    add("--leave-out", action="append", default=[], metavar="TYPE", help="leave types out, with commas; repeatable")
    add("--counting", choices=("one-to-one", "each-side", "both"), default="one-to-one", help="each-side: no alignment")

    add = parser.add_argument_group("in place of the tables of all criteria, any of these").add_argument
    add("--gap", metavar="A,B", help="what parts F1 under two criteria, by cause, and the decisions under both")
    add("--curve", choices=("gold", "prediction", "union"), help="scores against the least overlap, as a share of this")
    add("--any-type", action="store_true", help="with --curve: types need not be equal")
    add(
        "--recovered", action="store_true", help="gold spans missed under strict, by the first criterion to credit them"
    )
    add("--gone", metavar="CRITERION", help="the confusions under it that each --merge undoes")
    add("--stand-in", metavar="CRITERION", help="how far the others agree with it, over folds of documents")
    add("--folds", type=int, default=10, metavar="K", help="with --stand-in: how many folds (default: 10)")
    add(
        "--seed",
        type=_seed,
        default=0,
        metavar="N",
        help="with --stand-in: what documents are shuffled by (default: 0)",
    )
    add(
        "--ladder",
        nargs=2,
        metavar=("DOC", "RECORD"),
        help="a record's pairs under each criterion, and what flips them",
    )

    add = parser.add_argument_group("output (FILE - is standard output)").add_argument
    _add_tables(add, "everything")
    _add_figure(add, "a dot plot of F1 with the tables")
    return parser


def _compare() -> argparse.ArgumentParser:
    parser = _parser(
        "compare",
        "GOLD A B [C ...] [options]",
        "tell which system is better, with intervals and tests",
        f"{SCORE}\n{COMPARE}\n",
    )
    _add_reading(parser)

    _add_scoring(parser)

    add = parser.add_argument_group("comparing").add_argument
    add("--baseline", metavar="NAME", help="the system the others are compared with (default: the first)")
    add("--resamples", type=int, default=10_000, metavar="N", help="how often units are resampled (10000)")
    _add_units(add)
    add("--seed", type=int, default=0, metavar="N", help="what is drawn depends on it alone (0)")

    add = parser.add_argument_group("output (FILE - is standard output)").add_argument
    add("--by", action="append", default=[], metavar="type,span", help="type by type too; what becomes of each span")
    _add_tables(add, "everything")
    _add_figure(add, "F1 with intervals under the first criterion and the tables")

    _add_engine(
        parser.add_argument_group("shard by shard (GOLD and PRED are folders of files paired by name)").add_argument
    )
    parser.set_defaults(out=None, records=None, convention=None, differences=None)
    return parser


def _errors() -> argparse.ArgumentParser:
    parser = _parser(
        "errors",
        "GOLD PRED [PRED ...] [options]",
        "sort errors into classes and reckon what each costs",
        f"{SCORE}\n{ERRORS}\n",
    )
    _add_reading(parser)
    _add_scoring(parser, "strict")

    add = parser.add_argument_group("mending").add_argument
    add("--mend", action="append", default=[], metavar="CLASS", help="classes with commas between, or all")
    add("--out", metavar="FILE", help="write the prediction with these mended, as JSON lines")

    add = parser.add_argument_group("output (FILE - is standard output)").add_argument
    add("--by", action="append", default=[], metavar="type", help="count the classes by type too")
    _add_tables(add, "everything")
    _add_figure(add, "what mending each class would gain and the tables")
    add("--records", metavar="FILE", help="the errors with their classes, as .parquet, .jsonl or .csv")
    return parser


def _agreement() -> argparse.ArgumentParser:
    given = FILES.format("A, B, C", "agreement", "ann=A1 ann=A2 bob=B1 bob=B2", "B", "agreement")
    parser = _parser(
        "agreement", "A B [C ...] [options]", "tell how far annotators agree, with intervals", f"{given}\n{AGREEMENT}\n"
    )
    _add_reading(parser, "A first, then B or NAME=B, …", ("A", "the others"))
    _add_scoring(parser, "strict")

    add = parser.add_argument_group("agreement").add_argument
    add("--resamples", type=int, default=10_000, metavar="N", help="how often units are resampled (10000)")
    _add_units(add)
    add("--seed", type=int, default=0, metavar="N", help="what is drawn depends on it alone (0)")

    add = parser.add_argument_group("output (FILE - is standard output)").add_argument
    add("--by", action="append", default=[], metavar="type,document", help="break the figures down")
    _add_tables(add, "everything")
    return parser


def _report() -> argparse.ArgumentParser:
    parser = _parser(
        "report",
        "GOLD PRED [PRED ...] --out FILE.html [options]",
        "write scores, errors and records in their text as one HTML file",
        f"{SCORE}\n{REPORT}\n",
    )
    _add_reading(parser)
    _add_scoring(parser, "strict,exact,partial,type")

    add = parser.add_argument_group("the report").add_argument
    add("--out", metavar="FILE", help="where it goes; - is standard output")
    add("--title", metavar="TEXT", help="its title")
    add("--records", default="10", metavar="N|QUERY", help="records in their text: N of each error class, or a query")
    add(
        "--review",
        metavar="FILE",
        help="tell the verdicts in FILE (default: $NEREVAL_REVIEW_URL, else none)",
    )
    add("--playlist", metavar="NAME", help="show the records on a playlist there, with its comments")
    add("--mask", action="store_true", help="replace letters and digits of the texts, for data that must not be seen")
    return parser


def _slices() -> argparse.ArgumentParser:
    parser = _parser(
        "slices",
        "GOLD PRED [PRED ...] [options]",
        "score by what spans and documents are, with intervals",
        f"{SCORE}\n{SLICES}\n",
    )
    _add_reading(parser)
    _add_scoring(parser, "strict")

    add = parser.add_argument_group("slicing").add_argument
    add("--by", action="append", default=[], metavar="LIST", help="what to slice by, with commas; see below")
    add("--training", metavar="FILE", help="training data: slice by whether a span was seen there")
    add("--training-format", default="auto", metavar="FORMAT", help="of the training data")
    add("--columns", metavar="FILE.csv", help="columns of your own, by document or by span")
    add("--resamples", type=int, default=2_000, metavar="N", help="resamples of the bootstrap (2000)")
    _add_units(add)
    add("--seed", type=int, default=0, metavar="N", help="what they are drawn from (0)")

    add = parser.add_argument_group("output (FILE - is standard output)").add_argument
    _add_tables(add, "everything")
    _add_figure(add, "a figure for each slicing and the tables")
    return parser


def _consistency() -> argparse.ArgumentParser:
    parser = _parser(
        "consistency",
        "LAYER [OTHER ...] [options]",
        "find what a careful reader would question within one layer",
        f"{CONSISTENCY}\n",
    )
    _add_reading(parser, "LAYER first, then the OTHERs or NAME=OTHER", ("LAYER", "the OTHERs"))
    parser.set_defaults(alone=True, criteria=None)

    add = parser.add_argument_group("asking").add_argument
    kinds = "types, not-everywhere, edges, nesting, odd-ends, against-all (default: all)"
    add("--kinds", action="append", default=[], metavar="LIST", help=kinds)
    case = "tell spellings of a form apart where they are annotated differently (default), never, or always"
    add("--case", choices=("differs", "ignore", "keep"), default="differs", help=case)
    add("--top", type=int, metavar="N", help="so many findings of each kind (default: 20 to read, all in JSON and CSV)")

    add = parser.add_argument_group("output (FILE - is standard output)").add_argument
    _add_tables(add, "everything")
    add("--records", metavar="FILE", help="all places of the findings, as .parquet, .jsonl or .csv")
    return parser


def _link() -> argparse.ArgumentParser:
    parser = _parser(
        "link", "GOLD PRED [PRED ...] [options]", "score the concept ids that mentions link to", f"{LINK}\n"
    )
    _add_reading(parser)

    add = parser.add_argument_group("scoring").add_argument
    add("--n", default="1,3,5", metavar="1,3,5", help="how many of a prediction's ranked links are looked at")
    add("--boundaries", default="strict,overlapping", metavar="RULES", help="strict, overlapping (default: both)")
    add("--mentions", choices=("end-to-end", "gold"), default="end-to-end", help="gold: judge equal boundaries only")
    add("--gold-links", choices=("first", "any"), default="first", help="which of gold's links are the truth")
    add("--leave-out", action="append", default=[], metavar="TYPE", help="leave types out, with commas; repeatable")
    _add_links(parser, "document,confusion", "link records")
    return parser


def _index() -> argparse.ArgumentParser:
    parser = _parser("index", "GOLD PRED [PRED ...] [options]", "score the concept ids of documents", f"{INDEX}\n")
    parser.add_argument("files", nargs="+", metavar="FILE", help="GOLD first, then PRED or NAME=PRED")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not say on standard error what was read")
    add = parser.add_argument_group("reading").add_argument
    add("--format", default="auto", help="tsv, or a format with links: see `nereval formats` (default: by content)")
    add("--gold-format", metavar="FORMAT", help="of gold only")
    add("--pred-format", metavar="FORMAT", help="of predictions only")
    add("--links", choices=("first", "any"), default="first", help="which links of a mention count for its document")
    _add_links(parser, "document,id", "a record for each document and id")
    return parser


def _add_links(parser: argparse.ArgumentParser, by: str, records: str) -> None:
    """Add the mapping and the output of `link` and `index`."""
    parser.set_defaults(criteria=None)
    parser.add_argument("--relaxed", metavar="FILE", help="a mapping, id<tab>id: the first counts as the second")
    add = parser.add_argument_group("output (FILE - is standard output)").add_argument
    add("--by", action="append", default=[], metavar=by, help="break the numbers down")
    _add_tables(add, "scores")
    add("--records", metavar="FILE", help=f"{records}, as .parquet, .jsonl or .csv")


def _add_reading(
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
    _add_core_type(add)
    _add_offsets(add)
    _add_columns(add)
    _add_labels(add)
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


def _add_documents(add: Callable[..., object], more: str = "") -> None:
    what = f"these documents only: a file with an id a line, or ids with commas{more}"
    add("--documents", metavar="FILE|IDS", help=what)


def _add_units(add: Callable[..., object]) -> None:
    what = "what is resampled: document, sentence, a metadata key, or runs of N as they stand (default: as read)"
    add("--resample-by", default="", metavar="document|sentence|KEY|runs:N", help=what)


def _add_offsets(add: Callable[..., object]) -> None:
    units = "code-points, utf-16 or utf-8, perhaps with ,inclusive ,from-1"
    add("--offsets", metavar="UNIT", help=f"what offsets count, where a format leaves it open: {units}")


def _add_lossy(add: Callable[..., object]) -> None:
    add("--lossy", action="store_true", help="leave out what the format cannot hold (else it is listed and refused)")


def _add_columns(add: Callable[..., object]) -> None:
    what = "CSV: what columns hold, by name or number from 1: document=doc,start=3,end=4,type=kind,text=6"
    add("--span-columns", metavar="WHAT=COLUMN,…", help=what)


def _add_labels(add: Callable[..., object]) -> None:
    what = "datasets: the labels in which tags that are numbers are places, O,B-PER,I-PER,… or a file of them"
    add("--labels", metavar="LIST|FILE", help=what)


def _add_core_type(add: Callable[..., object]) -> None:
    add("--core-type", metavar="NAME", help="brat: the type or attribute of spans that are the cores of others")


def _convert() -> argparse.ArgumentParser:
    parser = _parser("convert", "IN [IN ...] OUT --to FORMAT [options]", "convert annotations to another format")
    parser.add_argument(
        "input",
        nargs="+",
        metavar="IN",
        help="file, folder or zip; several are parts of one layer",
    )
    parser.add_argument("output", metavar="OUT", help="file, or a new or empty folder")
    # Problems name the option as the other verbs have it.
    source = ("--from", "--format")
    parser.add_argument(*source, dest="source_format", default="auto", metavar="FORMAT", help="of IN (default: auto)")
    parser.add_argument("--to", dest="target_format", required=True, metavar="FORMAT", help="see `nereval formats`")
    parser.add_argument("--shards", type=int, metavar="N", help="write OUT as a folder of N files (parquet, jsonl)")
    parser.add_argument("--column", type=_column, metavar="N", help="the column with the tags, by number or name")
    parser.add_argument("--scheme", help="tag scheme (default: the one that fits)")
    parser.add_argument("--repair", choices=("conlleval", "discard"), help="mend malformed tag sequences")
    _add_core_type(parser.add_argument)
    _add_offsets(parser.add_argument)
    _add_columns(parser.add_argument)
    _add_labels(parser.add_argument)
    _add_documents(parser.add_argument)
    parser.add_argument("--types", metavar="FILE", help="call types by other names; FILE has lines PER = person")
    _add_lossy(parser.add_argument)
    escape = "CSV: put an apostrophe before cells that a spreadsheet would run as formulas; it is read as text"
    parser.add_argument("--escape-formulas", action="store_true", help=escape)
    parser.add_argument("-q", "--quiet", action="store_true", help="do not say what was read or left out")
    return parser


def _types() -> argparse.ArgumentParser:
    parser = _parser(
        "types",
        "GOLD PRED [PRED ...] [options]",
        "suggest which types of predictions are which of gold's",
        f"{SCORE}\n{TYPES}\n",
    )
    _add_reading(parser)
    parser.set_defaults(criteria=None)
    return parser


def _formats() -> argparse.ArgumentParser:
    return _parser("formats", "", "list the formats that can be read and written")


def _criteria() -> argparse.ArgumentParser:
    return _parser("criteria", "", "list the matching criteria", f"{CRITERIA}\n")


def _conventions() -> argparse.ArgumentParser:
    return _parser("conventions", "", "list the published scorers that are reproduced")


def _seed(value: str) -> int:
    if not value.isdecimal() or len(value) > 18:
        raise argparse.ArgumentTypeError(f"{quoted(value)} is no number from 0")
    return int(value)


def _column(value: str) -> int | str:
    return int(value) if value.isdecimal() else value


def _review_apply() -> argparse.ArgumentParser:
    parser = _parser(
        "review apply",
        "GOLD [PRED ...] --out OUT [options]",
        "write a copy of gold with verdicts applied, and the log of its changes",
        f"{APPLY}\n",
    )
    _add_reading(parser)
    _add_verdicts(parser)
    _add_copy(parser)
    return parser


def _review_what_if() -> argparse.ArgumentParser:
    parser = _parser(
        "review what-if",
        "GOLD PRED [PRED ...] [options]",
        "say what every score would be with verdicts applied to gold",
        f"{SCORE}\n{APPLY}\n",
    )
    _add_reading(parser)
    _add_scoring(parser)
    _add_verdicts(parser)
    add = parser.add_argument_group("output (FILE - is standard output)").add_argument
    add("--hangs", action="store_true", help="of each two systems, the verdicts that their order hangs on")
    _add_tables(add, "everything")
    return parser


def _review_adjudicate() -> argparse.ArgumentParser:
    parser = _parser(
        "review adjudicate",
        "A B --out OUT [options]",
        "make one layer of two annotators: what they agree on, the rest by verdict",
        f"{ADJUDICATE}\n",
    )
    _add_reading(parser)
    _add_verdicts(parser)
    _add_copy(parser)
    return parser


def _add_verdicts(parser: argparse.ArgumentParser) -> None:
    """Add where verdicts are and which of them are accepted."""
    add = parser.add_argument_group("verdicts").add_argument
    _add_store(add)
    add("--reviewer", action="append", default=[], metavar="NAME", help="accept those of NAME only; repeatable")
    add("--kind", action="append", default=[], metavar="LIST", help="accept gold,pred,both,neither,unclear only")
    what = parser.add_mutually_exclusive_group().add_argument
    what(
        "--only-this-document",
        action="store_true",
        default=True,
        help="of documents with one text, change the one that a verdict was given on (the default)",
    )
    what(
        "--every-document",
        dest="only_this_document",
        action="store_false",
        help="of documents with one text, change all",
    )


def _add_store(add: Callable[..., object]) -> None:
    add("--review", metavar="FILE", help="the file that holds them (default: $NEREVAL_REVIEW_URL, else your own)")


def _add_copy(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(criteria=None)
    add = parser.add_argument_group("output").add_argument
    add("--out", required=True, metavar="OUT", help="file, or a new or empty folder; the log is OUT.changes.csv")
    add("--to", dest="target_format", metavar="FORMAT", help="see `nereval formats` (default: jsonl)")
    _add_lossy(add)


def _store() -> argparse.ArgumentParser:
    parser = _parser("store", "[--clear]", "say what the app has stored of corpora it read, or clear it")
    parser.add_argument("--clear", action="store_true", help="remove all that is stored")
    return parser


def _review_export() -> argparse.ArgumentParser:
    parser = _parser(
        "review export", "[FILE] [options]", "write every verdict ever given as JSON lines", f"{EXCHANGE}\n"
    )
    parser.add_argument("output", nargs="?", default="-", metavar="FILE", help="default: standard output")
    _add_store(parser.add_argument)
    return parser


def _review_import() -> argparse.ArgumentParser:
    parser = _parser("review import", "FILE [CORPUS] [options]", "take verdicts from JSON lines", f"{EXCHANGE}\n")
    parser.add_argument("input", metavar="FILE", help="verdicts; - is standard input")
    parser.add_argument("files", nargs="?", metavar="CORPUS", help="a corpus that lines written by hand name")
    parser.add_argument("--format", default="auto", help="of the corpus; see `nereval formats` (default: auto)")
    parser.add_argument("--reviewer", metavar="NAME", help="who wrote the lines that do not say it")
    _add_store(parser.add_argument)
    return parser


def _review_list() -> argparse.ArgumentParser:
    parser = _parser("review list", "[GOLD [PRED ...]] [options]", "list the verdicts that stand")
    parser.add_argument("files", nargs="*", metavar="FILE", help="a corpus, to say which verdicts are stale")
    parser.add_argument("--format", default="auto", help="of the corpus; see `nereval formats` (default: auto)")
    _add_verdicts(parser)
    parser.add_argument("--stale", action="store_true", help="those whose text or span the corpus has no more")
    add = parser.add_argument_group("output (FILE - is standard output)").add_argument
    _add_tables(add, "the list")
    return parser


VERBS: MappingProxyType[str, Callable[[], argparse.ArgumentParser]] = MappingProxyType(
    {
        "score": _score,
        "compare": _compare,
        "agreement": _agreement,
        "sensitivity": _sensitivity,
        "errors": _errors,
        "report": _report,
        "slices": _slices,
        "consistency": _consistency,
        "link": _link,
        "index": _index,
        "types": _types,
        "convert": _convert,
        "formats": _formats,
        "criteria": _criteria,
        "conventions": _conventions,
        "store": _store,
        "review export": _review_export,
        "review import": _review_import,
        "review list": _review_list,
        "review apply": _review_apply,
        "review what-if": _review_what_if,
        "review adjudicate": _review_adjudicate,
    }
)
MODULES: MappingProxyType[str, str] = MappingProxyType(
    {
        "agreement": "nereval_core.cli.agreement",
        "compare": "nereval_core.cli.compare",
        "sensitivity": "nereval_core.cli.sensitivity",
        "errors": "nereval_core.cli.errors",
        "report": "nereval_core.cli.report",
        "slices": "nereval_core.cli.slices",
        "consistency": "nereval_core.cli.consistency",
        "link": "nereval_core.cli.linking",
        "index": "nereval_core.cli.indexing",
        "types": "nereval_core.cli.types",
        "conventions": "nereval_core.cli.score_conventions",
        "store": "nereval_core.cli.store",
        "review export": "nereval_core.cli.review:export",
        "review import": "nereval_core.cli.review:take",
        "review list": "nereval_core.cli.review:show",
        **dict.fromkeys(("review apply", "review what-if", "review adjudicate"), "nereval_core.cli.review_apply"),
    }
)
"""Where the work of a verb is done, if not in commands.py: a function of its name, or the one after the colon."""
