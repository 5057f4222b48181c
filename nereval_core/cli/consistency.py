"""The verb `consistency`: what a careful reader would question within one layer, as tables and lists of places."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from nereval_core import __version__
from nereval_core.analysis.consistency import FINDING_COLUMNS, Consistency, in_layers
from nereval_core.analysis.consistency import consistency as questioned
from nereval_core.analysis.consistency.kinds import KINDS, check_kinds
from nereval_core.cli.files import gold_name
from nereval_core.cli.options import loaded_corpus, misplaced
from nereval_core.cli.output import STDOUT, listed, put_out, say
from nereval_core.pairing import chosen
from nereval_core.problems import quoted
from nereval_core.report import TABLES
from nereval_core.report.export import RECORD_FORMS, frame_as, record_form
from nereval_core.report.json_results import side
from nereval_core.report.score_tables import Sheet
from nereval_core.report.table_cells import cells
from nereval_core.report.table_formats import as_screen, in_form

FORMS = (*TABLES, "records")
ABOUT = ("kind", "rank", "what", "where")
PLACES = ("document", "start", "end", "how", "settle", "text")
"""Columns of the list of places, before those of the layers."""
SHOWN = 20
"""Findings of a kind that tables for reading have unless told otherwise."""


def consistency(options: argparse.Namespace) -> str | None:
    """Read, question and write: nothing is written before all of it is known."""
    targets = {form: place for form in FORMS if (place := getattr(options, form)) is not None}
    wrong = _misused(options, targets) or misplaced(options, targets)
    if wrong:
        return wrong
    kinds = listed(options.kinds)
    check_kinds(kinds)
    loaded = loaded_corpus(options)
    corpus = loaded.corpus
    layer = corpus.gold.renamed(gold_name(options))
    # A layer by itself is paired with nothing: what was chosen of it is known all the same.
    marks = [f"{name}: {mark}" for name, some in loaded.marks.items() for mark in some] or chosen(loaded.gold)
    found = replace(questioned(layer, corpus.systems, kinds, options.case), marks=tuple(marks))
    for line in found.skipped() if not options.quiet else ():
        say(line)
    tables = list(sheets(found, options.top))
    make: dict[str, Callable[[], bytes]] = {
        "json": lambda: _json(found, options.top).encode(),
        "records": lambda: frame_as(record_form(targets["records"]) or RECORD_FORMS[0], _places(found, options.top)),
    }
    put_out(
        targets,
        {form: in_form(form, tables, lambda: long_sheet(found, options.top), make) for form in targets},
    )
    if not set(targets) - {"records"} and STDOUT not in targets.values():
        print(as_screen(tables), end="")
    return None


def _misused(options: argparse.Namespace, targets: dict[str, str]) -> str | None:
    if options.top is not None and options.top < 1:
        return f"--top {options.top}, ask for 1 or more"
    place = targets.get("records")
    if place is not None and record_form(place) is None:
        return f"--records {quoted(place)}, end the name in one of {', '.join(RECORD_FORMS)}"
    return None


def sheets(found: Consistency, top: int | None = None) -> Iterator[Sheet]:
    """Yield a table for each kind, those that settle most first; the last has the signature."""
    most = SHOWN if top is None else top
    last = list(found.found)[-1:]
    for kind, one in found.found.items():
        table = found.table(kind, most).drop(columns=["kind", "rank"])
        empty = [name for name in ("where", "share") if not table[name].replace("", None).notna().any()]
        table = table.drop(columns=empty)
        hidden = len(one) - len(table)
        more = (f"{hidden} more: --top, --csv and --json have them",) if hidden > 0 else ()
        signed = (found.signature,) if [kind] == last else ()
        notes = (found.sentence(kind), *one.skipped, *more, *signed)
        columns = tuple(map(str, table.columns))
        yield Sheet(f"{found.layer.name}: {KINDS[kind].title.lower()}", columns, cells(table), notes)


def long_sheet(found: Consistency, top: int | None = None) -> Sheet:
    """Return the findings of all kinds as one table: FINDING_COLUMNS, layer and signature."""
    rows = [row for kind in found.found for row in cells(found.table(kind, top))]
    signed = tuple((found.layer.name, *row, found.signature) for row in rows)
    return Sheet("consistency", ("layer", *FINDING_COLUMNS, "signature"), signed)


def _json(found: Consistency, top: int | None) -> str:
    layer = found.layer
    made: dict[str, Any] = {
        "nereval": __version__,
        "layer": {**side(layer), "documents": len(layer.documents)},
        "others": [side(one) for one in found.others],
        "signature": found.signature,
        "kinds": {
            kind: {
                "question": KINDS[kind].question,
                "sentence": found.sentence(kind),
                "total": len(one),
                "settles": found.settled(kind),
                "skipped": list(one.skipped),
                "findings": [found.finding(kind, number)._asdict() for number in range(len(one))[:top]],
            }
            for kind, one in found.found.items()
        },
        "skipped": list(found.skipped()),
    }
    return json.dumps(made, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _places(found: Consistency, top: int | None) -> pd.DataFrame:
    """Return all places of the findings, with what each layer has there."""
    parts = [pd.DataFrame(columns=[*ABOUT, *PLACES])]
    for kind in found.found:
        for number, places in found.every_place(kind, top):
            one = found.finding(kind, number)
            about = pd.DataFrame([(kind, number + 1, one.what, one.where)] * len(places), columns=list(ABOUT))
            parts.append(pd.concat((about, in_layers(found, places)), axis=1))
    return pd.concat(parts[1:] or parts, ignore_index=True).assign(signature=found.signature)
