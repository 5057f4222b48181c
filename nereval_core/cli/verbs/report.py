"""The verb `report`: scores, errors and records of systems in one HTML file that needs no network and no server."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nereval_core.api.load_options import ScoringOptions
from nereval_core.api.verb_options import ReportOptions
from nereval_core.cli.options import GOLD_AND_PREDICTIONS, Parser, UsageError, add_options, add_reading, parsed

if TYPE_CHECKING:
    from nereval_core.html_report.records import RecordSelection
    from nereval_core.review.playlists import Playlist
    from nereval_core.review.standing_verdicts import Reviewed

HELP = "write scores, errors and records in their text as one HTML file"
USAGE = "GOLD PRED [PRED ...] --out FILE.html [options]"
EXAMPLE = 'gold.jsonl a.jsonl b.jsonl --out report.html --records "decision=MIS,SPU&gold=DNA"'
NOTES = f"""\
One HTML file has scores, a ranking with intervals and tests, confusions, error classes, calibration of scores and
records in their text. It needs no network, prints well, and is the same on every run. The first criterion is the main
one: sentences, ranking, confusions and scores by type are under it; errors are classed by strict records. Plotly must
be installed (pip install plotly).
Tables and figures have the 16 types with most spans, heat maps the first 8 systems. The file is under 6 MB and 2 kB a
record; 4.8 MB of it is Plotly.

--records takes the number of records shown of each error class (10), or a query, as links of the app have it:
--records "decision=MIS,SPU&gold=DNA". Its parameters are decision, type, gold, pred ("-": no span), doc, text,
boundary, words, period, noise, and has=NAME=VALUE for any other attribute of records, such as "has=class=split". Of a
query at most 200 records a system are shown. --review adds to a record who decided, the verdict, and the first 600
characters of the note.

{GOLD_AND_PREDICTIONS}"""
QUERY_LISTS = {"decision": "decision", "type": "types", "gold": "gold", "pred": "pred"}
"""Parameters of a link with comma-separated values, and the fields of a query that they set."""


def add_arguments(parser: Parser) -> None:
    add = add_options(parser, ReportOptions)
    add("--out", metavar="FILE", help="the file to write; - is standard output")
    add("--records", default="10", metavar="N|QUERY", help="records in their text: N of each error class, or a query")
    add("--review", metavar="FILE", help="show the verdicts in FILE (default: $NEREVAL_REVIEW_URL, else none)")
    add("--playlist", metavar="NAME", help="show the records of a playlist there, with its comments")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    from dataclasses import replace

    from nereval_core.api import report
    from nereval_core.cli.files import check_places, load_layers
    from nereval_core.cli.output import Console, write_files
    from nereval_core.review.store.databases import VARIABLE

    if arguments.out is None:
        raise UsageError("--out: name the file of the report, --out FILE.html, or --out - for standard output")
    places = {"out": arguments.out}
    check_places(arguments, places)
    if arguments.playlist is not None and arguments.review is None and not os.environ.get(VARIABLE):
        raise UsageError(f"--playlist: name its file, --review FILE, or set {VARIABLE}")
    options = parsed(ReportOptions, arguments)
    selection = record_selection(arguments.records)
    reviewed, playlist = verdicts_and_playlist(arguments.review, arguments.playlist)
    console = Console(arguments.quiet)
    html = report.run(
        options,
        load_layers(arguments, console),
        console,
        selection=replace(selection, playlist=playlist),
        reviewed=reviewed,
        command=command(arguments),
    )
    write_files(places, {"out": html.encode()})


def record_selection(records: str) -> RecordSelection:
    """Return the records to show: a number of each error class, or those that a query selects.

    Raises:
        FormatError: neither a number nor a query, an unknown parameter or decision.
    """
    from urllib.parse import parse_qsl

    from nereval_core.html_report.records import EACH, ERRORS, RecordSelection
    from nereval_core.problems import FormatError, quoted
    from nereval_core.records.queries import ABSENT, FIELDS, Query
    from nereval_core.tables.glossary import DECISIONS

    parameters = (*QUERY_LISTS, "doc", "text", *FIELDS, "has")
    if records.isdecimal():
        return RecordSelection(each=int(records))
    conditions: dict[str, object] = {"decision": ERRORS}
    having = []
    pairs = parse_qsl(records, keep_blank_values=True)
    for name, value in pairs:
        if name not in parameters or not value:
            what = f"{quoted(name)}={quoted(value)}" if name in parameters else f"no parameter {quoted(name)}"
            remedy = f"give a number, or {', '.join(parameters[:-1])} or {parameters[-1]}: decision=MIS&gold=DNA"
            raise FormatError.single("--records", None, what, remedy)
        if name in QUERY_LISTS:
            values = tuple(ABSENT if item == "-" and name != "decision" else item for item in value.split(","))
            strange = [item for item in values if name == "decision" and item not in DECISIONS]
            if strange:
                wrong = f"no decision {quoted(strange[0])}"
                raise FormatError.single("--records", None, wrong, f"choose among {', '.join(DECISIONS)}")
            conditions[QUERY_LISTS[name]] = values
        elif name == "has":
            attribute, _, attribute_value = value.partition("=")
            having.append((attribute, attribute_value))
        else:
            conditions[name] = value
    if not pairs:
        remedy = f"give a number such as {EACH}, or a query: decision=MIS&gold=DNA"
        raise FormatError.single("--records", None, f"{quoted(records)} is neither", remedy)
    return RecordSelection(query=Query(**conditions, having=tuple(having)))  # type: ignore[arg-type]


def verdicts_and_playlist(file: str | None, playlist: str | None) -> tuple[Reviewed | None, Playlist | None]:
    """Return the verdicts in a file, or else at NEREVAL_REVIEW_URL, and a playlist there; None where none is named.

    The user's default file is not read without being named: reports are passed on, and its notes would be in them.

    Raises:
        FormatError: a file that does not exist or cannot be read; no playlist of that name.
    """
    from contextlib import closing
    from pathlib import Path

    from nereval_core.problems import FormatError, quoted
    from nereval_core.review.playlists.store import PlaylistStore
    from nereval_core.review.store import ReviewStore
    from nereval_core.review.store.databases import VARIABLE

    if file is None and not os.environ.get(VARIABLE):
        return None, None
    if file is not None and not Path(file).exists():
        raise FormatError.single(file, None, "there is no such file", "name the file that holds the verdicts")
    with closing(ReviewStore.of_environment(file)) as store:
        reviewed = store.reviewed()
        playlists = PlaylistStore(store).playlists().standing if playlist is not None else ()
    match = next((each for each in playlists if each.name == playlist), None)
    if playlist is not None and match is None:
        names = ", ".join(quoted(each.name) for each in playlists) or "none"
        raise FormatError.single(
            store.name, None, f"no playlist {quoted(playlist)}", f"choose among those there are: {names}"
        )
    return reviewed, match


def command(arguments: argparse.Namespace) -> str:
    """Return the command that makes the report again, whatever its file was called."""
    return shlex.join(("nereval", "report", *_words(arguments)))


def _words(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the files, then the options that differ from their defaults: of reading, of scoring, of the report."""
    shared, usual = Parser(), Parser()
    add_reading(shared)
    add_options(shared, ScoringOptions)
    add_arguments(usual)
    order = {name: place for place, name in enumerate(vars(shared.parse_args(["-"])))}
    yield from arguments.files
    for name, value in sorted(vars(arguments).items(), key=lambda item: order.get(item[0], len(order))):
        if name in ("files", "out", "quiet") or value == usual.get_default(name):
            continue
        option = f"--{name.replace('_', '-')}"
        if value is True:
            yield option
        else:
            for word in value if isinstance(value, list) else [value]:
                yield from (option, str(word))
    yield from ("--out", "report.html")
