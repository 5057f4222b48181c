"""The verb `report`: everything about some systems in one HTML file, which needs no network and no server."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

from nereval_core.api.report import page, scored
from nereval_core.cli.options import fitting, loaded_corpus, misplaced, settings_of
from nereval_core.cli.output import progress_bar, put_out, say, say_unused
from nereval_core.glossary import DECISIONS
from nereval_core.html_report.records import EACH, ERRORS, Chosen
from nereval_core.problems import FormatError, one_line, quoted
from nereval_core.records.queries import ABSENT, FIELDS, Query
from nereval_core.review.playlists import Playlist
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.store import ReviewStore
from nereval_core.review.store.databases import VARIABLE

LISTS = {"decision": "decision", "type": "types", "gold": "gold", "pred": "pred"}
"""Parameters of a link that hold several values with commas, and the fields of a query that they are."""
KNOWN = (*LISTS, "doc", "text", *FIELDS, "has")
EVERY = 10_000
"""Records of each class at most."""


def report(options: argparse.Namespace) -> str | None:
    """Read, score and write the report: nothing is written before all of it is known."""
    targets = {"out": options.out}
    if options.out is None:
        return "--out: say where the report is to go, --out FILE.html or --out - for standard output"
    wrong = misplaced(options, targets)
    if wrong:
        return wrong
    if options.playlist is not None and options.review is None and not os.environ.get(VARIABLE):
        return f"--playlist: name the file that it is in, --review FILE, or set {VARIABLE}"
    chosen = chosen_of(options.records)
    reviewed, playlist = _reviewed(options.review, options.playlist)
    chosen = replace(chosen, playlist=playlist)
    settings = settings_of(options)
    loaded = loaded_corpus(options)
    settings = replace(settings, criteria=fitting(settings.criteria, options, loaded.corpus.gold))
    say_unused(settings, loaded)
    found = scored(
        loaded.corpus,
        loaded.marks,
        settings,
        mask=options.mask,
        reviewed=reviewed,
        progress=lambda name: progress_bar(name, "scored"),
    )
    for system, scores in found.scores.items():
        if scores.greedy:
            greedy = ", ".join(scores.greedy)
            say(f"{system}: clusters too large to be aligned exactly were aligned greedily, in: {greedy}")
    made = page(found, title=one_line(options.title or ""), command=command(options), chosen=chosen)
    put_out(targets, {"out": made.encode()})
    return None


def chosen_of(records: str) -> Chosen:
    """Read which records are asked for: a number of each error class, or what a link would narrow lists down by.

    Raises:
        FormatError: neither, a parameter that is not known, or a decision that is none.
    """
    if records.isdecimal():
        if int(records) > EVERY:
            raise FormatError.single("--records", None, f"{records} of each class", f"ask for {EVERY:,} at most")
        return Chosen(each=int(records))
    found: dict[str, object] = {"decision": ERRORS}
    having = []
    pairs = parse_qsl(records, keep_blank_values=True)
    for name, value in pairs:
        if name not in KNOWN or not value:
            what = f"{quoted(name)}={quoted(value)}" if name in KNOWN else f"no parameter {quoted(name)}"
            remedy = f"give a number, or {', '.join(KNOWN[:-1])} or {KNOWN[-1]}: decision=MIS&gold=DNA"
            raise FormatError.single("--records", None, what, remedy)
        if name in LISTS:
            values = tuple(ABSENT if one == "-" and name != "decision" else one for one in value.split(","))
            strange = [one for one in values if name == "decision" and one not in DECISIONS]
            if strange:
                wrong = f"no decision {quoted(strange[0])}"
                raise FormatError.single("--records", None, wrong, f"choose among {', '.join(DECISIONS)}")
            found[LISTS[name]] = values
        elif name == "has":
            attribute, _, asked = value.partition("=")
            having.append((attribute, asked))
        else:
            found[name] = value
    if not pairs:
        remedy = f"give a number such as {EACH}, or what a link says: decision=MIS&gold=DNA"
        raise FormatError.single("--records", None, f"{quoted(records)} is neither", remedy)
    return Chosen(query=Query(**found, having=tuple(having)))  # type: ignore[arg-type]


def _reviewed(file: str | None, playlist: str | None) -> tuple[Reviewed | None, Playlist | None]:
    """Return the verdicts in a file, else at NEREVAL_REVIEW_URL, and a playlist there; None where none is named.

    The user's own file is not read unasked: a report is sent round, and notes in it would go along.

    Raises:
        FormatError: no such file, or none that can be read; no playlist of that name.
    """
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
    """Return the command that makes the report again; where it goes is no part of it."""
    return shlex.join(("python", "-m", "nereval_core", "report", *_given(options)))


def _given(options: argparse.Namespace) -> Iterator[str]:
    from nereval_core.cli import VERBS

    usual = VERBS["report"]()
    yield from options.files
    for name, value in vars(options).items():
        if name in ("files", "out", "quiet", "counting") or value == usual.get_default(name):
            continue
        option = f"--{name.replace('_', '-')}"
        if value is True:
            yield option
        else:
            for one in value if isinstance(value, list) else [value]:
                yield from (option, str(one))
    yield from ("--out", "report.html")
