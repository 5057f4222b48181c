"""The verb `index`: the concept ids of documents against gold's, as tables, JSON and records."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from nereval_core import __version__
from nereval_core.analysis.linking.indexing import IndexScores, SetCounts, index_records, index_signature, score_index
from nereval_core.api.linking import TSV, load_index
from nereval_core.api.load import opened
from nereval_core.cli.files import beside_gold, gold_of, named_systems
from nereval_core.cli.linking import misused
from nereval_core.cli.output import listed, put_out, say
from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.readers import readers
from nereval_core.readers.concepts import Index, read_mapping
from nereval_core.report import TABLES
from nereval_core.report.export import RECORD_FORMS, frame_as, record_form
from nereval_core.report.score_tables import Cell, Sheet
from nereval_core.report.table_formats import as_screen, in_form
from nereval_core.scoring import Average

FORMS = (*TABLES, "records")
BY = ("document", "id")
COUNTED = ("right", "missing", "spurious", "gold", "predicted")
RATIOS = ("P", "R", "F1")
NAMED = 10
"""How many documents or ids a note names."""


class Scored(NamedTuple):
    """A system's codes with what came of them."""

    name: str
    codes: Index
    scores: IndexScores
    signature: str


def index(options: argparse.Namespace) -> str | None:
    """Read, score and write: nothing is written before all of it is known."""
    targets = {form: place for form in FORMS if (place := getattr(options, form)) is not None}
    by = listed(options.by)
    if not beside_gold(options.files):
        return "name a prediction after gold"
    wrong = misused(options, targets, by, BY)
    if wrong:
        return wrong
    for option, value in (("--gold-format", options.gold_format), ("--pred-format", options.pred_format)):
        if value not in (None, "auto", TSV, *readers()):
            return f"{option} {quoted(value)}, choose among {', '.join(('auto', TSV, *readers()))}"
    gold, systems = _loaded(options)
    contents = {form: _rendered(form, gold, systems, by, place) for form, place in targets.items()}
    put_out(targets, contents)
    if not set(targets) - {"records"}:
        print(as_screen(_sheets(systems, by)), end="")
    return None


def _loaded(options: argparse.Namespace) -> tuple[Index, list[Scored]]:
    """Return gold and the scores of all systems, or all that is wrong with the files at once."""
    problems: list[Problem] = []
    relaxed: dict[str, str] = {}
    found: dict[str, Index] = {}
    given = named_systems(options)
    texts = None
    try:
        relaxed = {} if options.relaxed is None else read_mapping(options.relaxed)
    except FormatError as error:
        problems += error.problems
    places = [(None, gold_of(options), options.gold_format), *((n, p, options.pred_format) for n, p in given.items())]
    for name, place, form in places:
        try:
            source = opened(place)
            codes, reading = load_index(source, format=form or options.format, links=options.links, texts=texts)
        except FormatError as error:
            problems += error.problems
            continue
        found["" if name is None else name] = codes
        texts = reading.documents if name is None and reading is not None else texts
        if not options.quiet:
            ids = sum(map(len, codes.documents.values()))
            kind = reading.format if reading else TSV
            counts = f"{counted(len(codes.documents), 'document')}, {counted(ids, 'id')}"
            say(f"{source.name}: {'; '.join((kind, counts, *codes.notes))}")
    if problems:
        raise FormatError(dict.fromkeys(problems))
    gold = found.pop("")
    return gold, [
        Scored(name, codes, score_index(gold, codes, relaxed=relaxed), index_signature(gold, codes, relaxed))
        for name, codes in found.items()
    ]


def _rendered(form: str, gold: Index, systems: Sequence[Scored], by: Sequence[str], place: str) -> bytes:
    if form == "records":
        return frame_as(record_form(place) or RECORD_FORMS[0], _records(systems))
    if form == "json":
        found = _results(gold, systems, by)
        return json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"
    return in_form(form, _sheets(systems, by), lambda: _long(systems, by))


def _results(gold: Index, systems: Sequence[Scored], by: Sequence[str]) -> dict[str, Any]:
    def side(one: Index) -> dict[str, Any]:
        return {"sha256": one.digest, "documents": len(one.documents), "ids": sum(map(len, one.documents.values()))}

    return {
        "nereval": __version__,
        "gold": side(gold),
        "systems": [
            {
                "name": one.name,
                **side(one.codes),
                "index": {
                    "signature": one.signature,
                    **_counts(one.scores.counts),
                    "macro_document": _averages(one.scores.macro_documents()),
                    "macro_id": _averages(one.scores.macro_ids()),
                    "documents_only_in_gold": list(one.scores.only_gold),
                    "documents_without_gold": list(one.scores.only_pred),
                    "ids_without_gold": list(one.scores.ids_without_gold),
                    **{key: {k: _counts(c) for k, c in rows.items()} for key, rows in _parts(one.scores, by, "s")},
                },
            }
            for one in systems
        ],
    }


def _counts(counts: SetCounts) -> dict[str, Any]:
    numbers = {name: getattr(counts, name) for name in COUNTED}
    return numbers | {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}


def _averages(averages: Mapping[str, Average]) -> dict[str, Any]:
    return {name: {"value": one.value, "n": one.n, "undefined": one.undefined} for name, one in averages.items()}


def _parts(scores: IndexScores, by: Sequence[str], plural: str = "") -> Iterator[tuple[str, Mapping[str, SetCounts]]]:
    if "document" in by:
        yield f"document{plural}", scores.by_document
    if "id" in by:
        yield f"id{plural}", scores.by_id


def _sheets(systems: Sequence[Scored], by: Sequence[str]) -> list[Sheet]:
    sheets = []
    for one in systems:
        rows = [("micro", *_cells(one.scores.counts))]
        for name, means in (("documents", one.scores.macro_documents()), ("ids", one.scores.macro_ids())):
            values = tuple(means[ratio].value for ratio in ("precision", "recall", "f1"))
            rows.append((f"macro over {name}", *(None,) * len(COUNTED), *values))
        sheets.append(Sheet(one.name, ("average", *COUNTED, *RATIOS), tuple(rows), (*_said(one), one.signature)))
        for part, members in _parts(one.scores, by):
            cells = tuple((name, *_cells(counts)) for name, counts in members.items())
            sheets.append(Sheet(f"{one.name} by {part}", (part, *COUNTED, *RATIOS), cells))
    return sheets


def _said(one: Scored) -> Iterator[str]:
    """Yield what stands on one side only, and which means leave something out."""
    scores = one.scores
    for what, names in (
        ("documents missing from the prediction, their ids counted as missing", scores.only_gold),
        ("documents without gold, their ids counted as spurious", scores.only_pred),
        ("predicted ids that gold has in no document", scores.ids_without_gold),
    ):
        if names:
            shown = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
            yield f"{what}: {len(names)} ({shown})"
    wrong = len(scores.wrong_documents)
    yield f"documents with a missing or spurious id: {wrong} of {len(scores.by_document)}"
    for unit, means in (("documents", scores.macro_documents()), ("ids", scores.macro_ids())):
        left = [
            f"{means[ratio].undefined} of {short}"
            for ratio, short in zip(means, RATIOS, strict=True)
            if means[ratio].undefined
        ]
        if left:
            yield f"macro over {unit}: undefined and left out: {', '.join(left)}"


def _cells(counts: SetCounts) -> tuple[Cell, ...]:
    numbers = tuple(getattr(counts, name) for name in COUNTED)
    return (*numbers, counts.precision, counts.recall, counts.f1)


def _long(systems: Sequence[Scored], by: Sequence[str]) -> Sheet:
    """Return all numbers as one table for programs and spreadsheets; `part` is all, document, id or a macro average."""
    rows: list[tuple[Cell, ...]] = []
    for one in systems:
        rows.append((one.name, "all", None, *_cells(one.scores.counts), one.signature))
        for name, means in (("documents", one.scores.macro_documents()), ("ids", one.scores.macro_ids())):
            values = tuple(means[ratio].value for ratio in ("precision", "recall", "f1"))
            rows.append((one.name, f"macro over {name}", None, *(None,) * len(COUNTED), *values, one.signature))
        for part, members in _parts(one.scores, by):
            rows += [(one.name, part, name, *_cells(counts), one.signature) for name, counts in members.items()]
    return Sheet("index", ("system", "part", "name", *COUNTED, "precision", "recall", "f1", "signature"), tuple(rows))


def _records(systems: Sequence[Scored]) -> pd.DataFrame:
    """Return the records of all systems: `system` and the columns of INDEX_RECORD_COLUMNS."""
    frames = []
    for one in systems:
        frame = index_records(one.scores).astype("str")
        frame.insert(0, "system", pd.Series(one.name, index=frame.index, dtype="str"))
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)
