"""The verb `show` of the library: a document or some records in their text, with their decisions, for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from nereval_core.alignment.codes import Decision
from nereval_core.corpus.arrays import Bools
from nereval_core.options import DISPLAYED
from nereval_core.problems import FormatError, counted, quoted
from nereval_core.records.match_records import Rows, rows
from nereval_core.records.tables import DECISIONS, frame
from nereval_core.report.excerpts import record_heading, record_html, record_text
from nereval_core.report.highlight import STYLE, document_html
from nereval_core.report.marks import Mark, marks
from nereval_core.report.notebook import card, in_notebook, legend, note
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import not_scored
from nereval_core.tables import Column, Table
from nereval_core.tables.terminal import as_screen

if TYPE_CHECKING:
    import pandas as pd

LIMIT = 10
"""Records that are shown by default."""
RECORD_LINES = (
    Column("decision", kind="decision"),
    Column("gold", kind="name"),
    Column("predicted", kind="name"),
    Column("document", kind="name"),
    Column("text", kind="text"),
)
"""The columns of records as text."""
Names = str | Sequence[str]


@dataclass(frozen=True, repr=False)
class DisplayedText:
    """A document or records: HTML without a script, which notebooks show, and the same as plain text."""

    html: str
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def show(
    scores: Scores,
    document: str | int | None = None,
    *,
    criterion: str | None = None,
    decision: Names = (),
    gold: Names = (),
    pred: Names = (),
    limit: int = LIMIT,
) -> DisplayedText:
    """Show a document or records in a notebook: gold above the text, the prediction below it, with the decisions.

    A `document` alone, by its id or its number from 0, is shown whole. Otherwise the first `limit` records are shown,
    in document order, with some text around them: those with a `decision` (COR, INC, PAR, MIS, SPU; by default all but
    COR), with a `gold` type and with a predicted type `pred`, each a name or several, in the document if one is named.
    `criterion` is the first one by default.

    Raises:
        FormatError: no such document, criterion, decision or type; a limit below 1; there are no texts.
    """
    names = [each.name for each in scores.criteria]
    name = names[0] if criterion is None else criterion
    if name not in names:
        raise not_scored(name, names)
    number = None if document is None else _document_number(scores, document)
    if scores.gold.documents.sizes is not None:
        raise FormatError.single("show", None, "no texts", "give them: score(…, texts=…)")
    if number is not None and not (decision or gold or pred):
        return _whole_document(scores, name, number)
    DISPLAYED.check(limit)
    matching = _matching(scores, name, number, _names(decision), _names(gold), _names(pred))
    return _records(scores, name, matching, limit)


def _document_number(scores: Scores, document: str | int) -> int:
    documents = scores.gold.documents
    number = document if isinstance(document, int) else documents.index.get(document, -1)
    if not 0 <= number < len(documents):
        raise FormatError.single("show", None, f"no document {quoted(str(document))}", "name an id, or a place from 0")
    return number


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _whole_document(scores: Scores, name: str, number: int) -> DisplayedText:
    documents = scores.gold.documents
    text = documents.texts[number]
    own_marks = marks(scores, name, number)
    sides = [sum(mark.side == side for mark in own_marks) for side in ("gold", "prediction")]
    facts = (counted(sides[0], "gold span"), counted(sides[1], "prediction"), f"under {name}")
    html = document_html(text, own_marks, types=scores.types, style=False)
    heading = f"document {documents.ids[number]}"
    return DisplayedText(in_notebook(STYLE, legend(_decisions_of(own_marks)), card(heading, facts, html)), text)


def _decisions_of(own_marks: Sequence[Mark]) -> list[str]:
    occurring = {mark.decision for mark in own_marks}
    return [code for code in DECISIONS if code in occurring]


def _matching(
    scores: Scores,
    name: str,
    number: int | None,
    decisions: tuple[str, ...],
    gold_types: tuple[str, ...],
    pred_types: tuple[str, ...],
) -> Rows:
    """Return the records of a document (None: of all) with one of these decisions and types (none: any)."""
    for code in decisions:
        if code not in DECISIONS:
            remedy = f"write {', '.join(DECISIONS[:-1])} or {DECISIONS[-1]}"
            raise FormatError.single("decision", None, f"there is no {quoted(str(code))}", remedy)
    all_rows = rows(scores, name)
    codes = [Decision[code] for code in decisions] or [code for code in Decision if code is not Decision.COR]
    matches: Bools = np.isin(all_rows.decision, codes)
    if number is not None:
        matches &= all_rows.doc == number
    for side, types, layer, spans in zip(
        ("gold", "pred"), (gold_types, pred_types), scores.layers(name), (all_rows.gold, all_rows.pred), strict=True
    ):
        if types:
            for kind in types:
                if kind not in scores.types:
                    remedy = f"types are {', '.join(map(quoted, scores.types[:LIMIT]))}"
                    raise FormatError.single(side, None, f"no span has the type {quoted(str(kind))}", remedy)
            type_codes = [code for code, kind in enumerate(layer.types) if kind in types]
            has_span = spans >= 0
            matches &= has_span
            matches[has_span] &= np.isin(layer.type[spans[has_span]], type_codes)
    return all_rows.take(np.flatnonzero(matches))


def _records(scores: Scores, name: str, matching: Rows, limit: int) -> DisplayedText:
    first_rows = matching.take(np.arange(min(limit, len(matching))))
    records = [record for _, record in frame(scores, name, first_rows).iterrows()]
    sentence = f"{counted(len(matching), 'record')} under {name}"
    if len(records) < len(matching):
        sentence = f"the first {len(records)} of {sentence}; limit={len(matching)} shows all"
    occurring = {str(record["decision"]) for record in records}
    cards = Markup("").join(
        card(
            record_heading(record),
            (str(record["reason"]), f"document {record['document']}", str(record["record"]), f"under {name}"),
            record_html(scores, name, record, scores.types),
        )
        for record in records
    )
    html = in_notebook(STYLE, legend(code for code in DECISIONS if code in occurring), note(sentence), cards)
    return DisplayedText(html, as_screen([_record_table(scores, name, records, sentence)]).rstrip("\n"))


def _record_table(scores: Scores, name: str, records: Sequence[pd.Series[Any]], title: str) -> Table:
    lines = tuple(
        (
            str(record["decision"]),
            *(str(record[f"{side}_type"]) if record[side] >= 0 else None for side in ("gold", "pred")),
            str(record["document"]),
            record_text(scores, name, record),
        )
        for record in records
    )
    return Table(title, RECORD_LINES, lines)
