"""The verb `report`: scores, errors and records of systems in one HTML file that needs no network and no server."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nereval_core.cli.options import GOLD_AND_PREDICTIONS, Parser, UsageError, add_reading, add_scoring

if TYPE_CHECKING:
    from nereval_core.html_report.records import RecordSelection
    from nereval_core.review.playlists import Playlist
    from nereval_core.review.standing_verdicts import Reviewed

HELP = "write scores, errors and records in their text as one HTML file"
USAGE = "GOLD PRED [PRED ...] --out FILE.html [options]"
EXAMPLE = 'gold.jsonl a.jsonl b.jsonl --out report.html --records "decision=MIS,SPU&gold=DNA"'
NOTES = f"""\
One HTML file has scores, confusions, error classes, calibration of scores and records in their text. It needs no
network, prints well, and is the same on every run. The first criterion is the main one: sentences, confusions and
scores by type are under it; errors are classed by strict records. Plotly must be installed (pip install plotly).
Tables and figures have the 16 types with most spans, heat maps the first 8 systems. The file is under 6 MB and 2 kB a
record; 4.8 MB of it is Plotly.

--records takes the number of records shown of each error class (10), or a query, as links of the app have it:
--records "decision=MIS,SPU&gold=DNA". Its parameters are decision, type, gold, pred ("-": no span), doc, text,
boundary, words, period, noise, and has=NAME=VALUE for any other attribute of records, such as "has=class=split". Of a
query at most 200 records a system are shown. --review adds to a record who decided, the verdict, and the first 600
characters of the note.

{GOLD_AND_PREDICTIONS}"""
CRITERIA = "strict,exact,partial,type"
QUERY_LISTS = {"decision": "decision", "type": "types", "gold": "gold", "pred": "pred"}
"""Parameters of a link with comma-separated values, and the fields of a query that they set."""


def add_arguments(parser: Parser) -> None:
    add = parser.add_argument_group("the report").add_argument
    add("--out", metavar="FILE", help="the file to write; - is standard output")
    add("--title", metavar="TEXT", help="the title of the report")
    add("--records", default="10", metavar="N|QUERY", help="records in their text: N of each error class, or a query")
    add("--review", metavar="FILE", help="show the verdicts in FILE (default: $NEREVAL_REVIEW_URL, else none)")
    add("--playlist", metavar="NAME", help="show the records of a playlist there, with its comments")
    add("--mask", action="store_true", help="replace letters and digits of the texts, for data that must not be shown")
    add_scoring(parser, CRITERIA)
    add_reading(parser)


def run(options: argparse.Namespace) -> None:
    from dataclasses import replace

    from nereval_core.api.report import page, scored
    from nereval_core.cli.files import check_places
    from nereval_core.cli.output import progress_bar, write_files
    from nereval_core.cli.runner import load_for_scoring, say_greedy
    from nereval_core.problems import one_line
    from nereval_core.review.store.databases import VARIABLE

    if options.out is None:
        raise UsageError("--out: name the file of the report, --out FILE.html, or --out - for standard output")
    places = {"out": options.out}
    check_places(options, places)
    if options.playlist is not None and options.review is None and not os.environ.get(VARIABLE):
        raise UsageError(f"--playlist: name its file, --review FILE, or set {VARIABLE}")
    selection = record_selection(options.records)
    reviewed, playlist = verdicts_and_playlist(options.review, options.playlist)
    loaded, settings = load_for_scoring(options)
    found = scored(
        loaded.corpus,
        loaded.marks,
        settings,
        mask=options.mask,
        reviewed=reviewed,
        progress=lambda name: progress_bar(name, "scored"),
    )
    for system, scores in found.scores.items():
        say_greedy(system, scores.greedy)
    selection = replace(selection, playlist=playlist)
    made = page(found, title=one_line(options.title or ""), command=command(options), selection=selection)
    write_files(places, {"out": made.encode()})


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

    known = (*QUERY_LISTS, "doc", "text", *FIELDS, "has")
    if records.isdecimal():
        return RecordSelection(each=int(records))
    found: dict[str, object] = {"decision": ERRORS}
    having = []
    pairs = parse_qsl(records, keep_blank_values=True)
    for name, value in pairs:
        if name not in known or not value:
            what = f"{quoted(name)}={quoted(value)}" if name in known else f"no parameter {quoted(name)}"
            remedy = f"give a number, or {', '.join(known[:-1])} or {known[-1]}: decision=MIS&gold=DNA"
            raise FormatError.single("--records", None, what, remedy)
        if name in QUERY_LISTS:
            values = tuple(ABSENT if one == "-" and name != "decision" else one for one in value.split(","))
            strange = [one for one in values if name == "decision" and one not in DECISIONS]
            if strange:
                wrong = f"no decision {quoted(strange[0])}"
                raise FormatError.single("--records", None, wrong, f"choose among {', '.join(DECISIONS)}")
            found[QUERY_LISTS[name]] = values
        elif name == "has":
            attribute, _, asked = value.partition("=")
            having.append((attribute, asked))
        else:
            found[name] = value
    if not pairs:
        remedy = f"give a number such as {EACH}, or a query: decision=MIS&gold=DNA"
        raise FormatError.single("--records", None, f"{quoted(records)} is neither", remedy)
    return RecordSelection(query=Query(**found, having=tuple(having)))  # type: ignore[arg-type]


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
        every = PlaylistStore(store).playlists().standing if playlist is not None else ()
    found = next((one for one in every if one.name == playlist), None)
    if playlist is not None and found is None:
        known = ", ".join(quoted(one.name) for one in every) or "none"
        raise FormatError.single(
            store.name, None, f"no playlist {quoted(playlist)}", f"choose among those there are: {known}"
        )
    return reviewed, found


def command(options: argparse.Namespace) -> str:
    """Return the command that makes the report again, whatever its file was called."""
    return shlex.join(("nereval", "report", *_arguments(options)))


def _arguments(options: argparse.Namespace) -> Iterator[str]:
    """Yield the files, then the options that differ from their defaults: of reading, of scoring, of the report."""
    shared, usual = Parser(), Parser()
    add_reading(shared)
    add_scoring(shared, CRITERIA)
    add_arguments(usual)
    order = {name: place for place, name in enumerate(vars(shared.parse_args(["-"])))}
    yield from options.files
    for name, value in sorted(vars(options).items(), key=lambda item: order.get(item[0], len(order))):
        if name in ("files", "out", "quiet", "counting") or value == usual.get_default(name):
            continue
        option = f"--{name.replace('_', '-')}"
        if value is True:
            yield option
        else:
            for one in value if isinstance(value, list) else [value]:
                yield from (option, str(one))
    yield from ("--out", "report.html")
