"""The verbs `review export`, `review import` and `review list`: verdicts out of a store, into it, and to be read."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from nereval_core import __version__
from nereval_core.api.load import read
from nereval_core.cli.files import files_of
from nereval_core.cli.output import STDOUT, listed, put_out, say
from nereval_core.corpus import Layer
from nereval_core.problems import quoted
from nereval_core.report import TABLES
from nereval_core.report.score_tables import Cell, Sheet
from nereval_core.report.table_formats import as_screen, in_form
from nereval_core.review.exchange import import_verdicts
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdict_lines import lines_read, written
from nereval_core.review.verdict_list import staleness, verdict_sheet
from nereval_core.review.verdicts import KINDS

FORMS = TABLES
WIDE = 60
"""Characters that are shown of a cell on the screen; files have all."""


def export(options: argparse.Namespace) -> str | None:
    """Write every verdict ever given as JSON lines."""
    with closing(ReviewStore.of_environment(options.review)) as store:
        if wrong := _over(options.output, [store.database.file]):
            return wrong
        every = store.every()
        put_out({"export": options.output}, {"export": b"".join(written(every))})
        say(f"{store.name}: {_so_many(len(every), 'verdict')} exported")
    return None


def take(options: argparse.Namespace) -> str | None:
    """Take the verdicts of a file that are new, and print what was decided apart."""
    layers = _layers([options.files] if options.files else [], options.format)
    source = "standard input" if options.input == STDOUT else options.input
    with closing(ReviewStore.of_environment(options.review)) as store, ExitStack() as stack:
        stream: BinaryIO = sys.stdin.buffer
        if options.input != STDOUT:
            stream = stack.enter_context(Path(options.input).open("rb"))
        documents = layers[0].documents if layers else None
        lines = lines_read(stream, source, documents=documents, who=options.reviewer or "")
        found = import_verdicts(store, lines, source)
    for one in found.parted:
        print(f"conflict: {one}")
    conflicts = _so_many(len(found.parted), "span") + " decided apart, nothing of which was taken"
    told = f"{_so_many(len(found.taken), 'verdict')} taken, {found.known:,} known before"
    say(f"{store.name}: {told}{', ' + conflicts if found.parted else ''}")
    return None


def show(options: argparse.Namespace) -> str | None:
    """List the verdicts that stand: those of some reviewers, of some kinds, or that are stale."""
    targets = {form: place for form in FORMS if (place := getattr(options, form)) is not None}
    kinds = listed(options.kind)
    if unknown := next((kind for kind in kinds if kind not in KINDS), None):
        return f"--kind {quoted(unknown)}, choose among {', '.join(KINDS)}"
    if options.stale and not options.files:
        return "--stale asks for a corpus: review list GOLD [PRED ...] --stale"
    if len(set(targets.values())) < len(targets):
        return "two outputs go to one place, give each its own FILE"
    with closing(ReviewStore.of_environment(options.review)) as store:
        for place in targets.values():
            if wrong := _over(place, [store.database.file, *files_of(options.files)]):
                return wrong
        layers = _layers(options.files, options.format)
        is_stale = staleness(layers)
        given = [
            one
            for one in store.reviewed().standing
            if (not options.reviewer or one.who in options.reviewer)
            and (not kinds or one.verdict.kind in kinds)
            and (not options.stale or is_stale(one))
        ]
    sheet = verdict_sheet(given, layers)
    put_out(targets, {form: _as(form, sheet, store) for form in targets})
    if not targets:
        print(as_screen([_short(sheet)], names=len(sheet.columns)), end="")
        say(f"{store.name}: {_so_many(len(given), 'verdict')}")
    return None


def _over(place: str, taken: Iterable[str | Path | None]) -> str | None:
    """Return what is wrong where an output would take the place of the verdicts themselves, or of an input."""
    real = {os.path.realpath(path) for path in taken if path is not None}
    if place == STDOUT or os.path.realpath(place) not in real:
        return None
    return f"{quoted(place)} would be overwritten, name another FILE"


def _as(form: str, sheet: Sheet, store: ReviewStore) -> bytes:
    if form == "json":
        rows = [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows]
        found = {"nereval": __version__, "store": store.name, "verdicts": rows}
        return json.dumps(found, ensure_ascii=False, indent=2).encode(errors="backslashreplace") + b"\n"
    return in_form(form, [sheet], lambda: sheet)


def _short(sheet: Sheet) -> Sheet:
    """Return the table with cells that fit a screen: a note may be long."""

    def cut(cell: Cell) -> Cell:
        return f"{cell[: WIDE - 1]}…" if isinstance(cell, str) and len(cell) > WIDE else cell

    return replace(sheet, rows=tuple(tuple(map(cut, row)) for row in sheet.rows))


def _layers(paths: Sequence[str], form: str) -> list[Layer]:
    return [read(path, format=form).layer for path in paths]


def _so_many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
