"""Records as rows of a list with their context, and one of them in its text with the link to its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.ledger import Ledger
from nereval_core.records.tables import records
from nereval_core.report.highlight import document_html
from nereval_core.report.marks import Mark, marks, within
from nereval_core.review.layer_words import GOLD_AND_PREDICTION, LayerWords
from nereval_core.review.words import verdict_labels
from nereval_core.scoring import Scores
from nereval_core.tables import Cell, Column, Table
from pages.shared.components import navigation
from pages.shared.data.page_context import PageContext
from pages.shared.view import View
from pages.shared.view.queries import Line, context
from pages.shared.view.text import named, noun, plain

AROUND = 32
"""Characters before and after a span in a row; the browser draws at most a quarter as many as a column has pixels."""
LONGEST_CELL = 160
"""Characters of a span's text in a cell."""
CONTEXT = 160
"""Characters before and after a record's spans in its card."""
EXCERPT = 2_000
"""Characters in a card; of longer spans only the beginning is shown."""
CONTEXT_COLUMNS = (
    Column("before", kind="before"),
    Column("span", kind="text", meaning="That of the reference; where it has none, that of the other layer"),
    Column("after", kind="after"),
)
RECORD_COLUMNS = (
    Column("decision", kind="decision"),
    Column("verdict", kind="text", meaning="What a reviewer decided; stale: given on another text or span"),
    Column("tokens", kind="count", meaning="What the record counts for"),
    *CONTEXT_COLUMNS,
    Column("gold_type", kind="name"),
    Column("pred_type", "predicted type", "name"),
    Column("pred_text", "predicted text", "text", meaning="Empty where there is no span"),
    Column("why", kind="text"),
    Column("document", kind="name"),
)


def record_rows(
    ledger: Ledger,
    part: pd.DataFrame,
    texts: Sequence[str],
    words: LayerWords = GOLD_AND_PREDICTION,
    *,
    name: str = "records",
) -> Table:
    """Return the rows of a list as they are shown, from records of a ledger with their documents' texts."""
    types = [category_texts(part[f"{side}_type"]) for side in ("gold", "pred")]
    reasons = zip(category_texts(part["reason"]), *types, strict=True)
    values: dict[str, Sequence[Cell]] = {
        "decision": category_texts(part["decision"]),
        **in_context(context(part, texts, AROUND)),
        "gold_type": types[0],
        "pred_type": types[1],
        "pred_text": [short(text) if isinstance(text, str) else None for text in part["pred_text"].tolist()],
        "why": [reason and words.reason(reason, *pair) for reason, *pair in reasons],
        "document": category_texts(part["document"]),
    }
    if noun(ledger.criterion) == "token":
        values["tokens"] = part["weight"].tolist()
    if (verdicts := ledger.verdicts) is not None:
        values["verdict"] = verdict_labels(verdicts, part.index, words.verdict_words)
    return list_table(name, RECORD_COLUMNS, values)


def list_table(name: str, columns: Sequence[Column], values: Mapping[str, Sequence[Cell]]) -> Table:
    """Return the columns that have values, by their keys, as a table without title."""
    columns = tuple(column for column in columns if column.key in values)
    rows = tuple(zip(*(values[column.key] for column in columns), strict=True))
    return Table("", columns, rows, name=name)


def category_texts(column: pd.Series) -> list[str | None]:
    """Return the values of a categorical column, None where there is none."""
    # Not by way of another column: that looks at all categories, which may be very many.
    return [value if isinstance(value, str) else None for value in column.tolist()]


def in_context(lines: Sequence[Line], name: str = "span") -> dict[str, list[str]]:
    """Return three columns of a list: the words before, in and after the span of a row."""
    return {
        "before": [before for before, _, _ in lines],
        name: [short(text) for _, text, _ in lines],
        "after": [after for _, _, after in lines],
    }


def short(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + "…"


def record_card(page: PageContext, criterion: str, record: pd.Series) -> None:
    """Show one record in its text, gold above and prediction below, and the link to its document."""
    scores = page.reading(str(record["document"]), criterion)
    rows = records(scores, criterion)
    (place,) = np.flatnonzero((rows["record"] == record["record"]).to_numpy())
    record_box(page, scores, replace(page.view, criterion=criterion), rows.iloc[place])


def record_box(page: PageContext, scores: Scores, view: View, record: pd.Series) -> None:
    """Show a record of these scores; `view` is where the link leads, but for the record."""
    with st.container(border=True):
        st.html(excerpt(scores, view.criterion, record, page.annotated_types))
        words, types = page.words, (record["gold_type"], record["pred_type"])
        parts = [plain(words.with_glyph(str(record["decision"])))]
        for side, kind in zip(("gold", "pred"), types, strict=True):
            side_name = plain(words.side(side)) if words.by_name else {"gold": "gold", "pred": "predicted"}[side]
            parts += [f"{side_name} {named(str(kind))}"] if record[side] >= 0 else []
        parts.append(plain(words.reason(str(record["reason"]), *types)))
        st.caption(" · ".join(parts))
        view = replace(view, doc=str(record["document"]), record=str(record["record"]))
        navigation.link_to("Inspect", f":primary[Inspect in {named(view.doc)} →]", view)


def excerpt(scores: Scores, criterion: str, record: pd.Series, types: Sequence[str], *, around: int = CONTEXT) -> str:
    """Return the HTML of a record's spans with so many characters around them."""
    number = int(record["doc"])
    text = scores.gold.documents.texts[number]
    sides = {("gold", int(record["gold"])), ("prediction", int(record["pred"]))}
    own_marks = [mark for mark in marks(scores, criterion, number) if (mark.side, mark.index) in sides]
    low = max(0, min(mark.start for mark in own_marks) - around)
    high = min(len(text), max(mark.end for mark in own_marks) + around, low + EXCERPT)
    low, high = _at_words(text, low, high, own_marks)
    return str(document_html(text[low:high], within(own_marks, low, high), types=types))


def _at_words(text: str, low: int, high: int, own_marks: Sequence[Mark]) -> tuple[int, int]:
    """Move the ends of an excerpt inwards to white space, but not into a span."""
    first, last = min(mark.start for mark in own_marks), max(mark.end for mark in own_marks)
    last = min(last, high)
    while 0 < low < first and not text[low - 1].isspace():
        low += 1
    while last < high < len(text) and not text[high].isspace():
        high -= 1
    return low, high
