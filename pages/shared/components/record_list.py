"""Lists of match records: a page of rows with their context, the one chosen shown in its text, links onward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st

from nereval_core.ledger import MemoryLedger
from nereval_core.records.queries import ORDERS
from nereval_core.records.tables import records
from nereval_core.report.highlight import document_html
from nereval_core.report.marks import Mark, marks, within
from nereval_core.review.verdicts_on_records import attach_verdicts
from nereval_core.review.words import verdict_labels
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components import navigation
from pages.shared.components.count_table import (
    ROWS,
    count_table,
    decision_column,
    first_row,
    in_context,
    labels,
    short,
    table_of,
)
from pages.shared.components.downloads import Export, layer_file_name, offer_layer
from pages.shared.data.page_context import PageContext
from pages.shared.view import View
from pages.shared.view.keys import LIST
from pages.shared.view.layer_words import GOLD_AND_PREDICTION, LayerWords
from pages.shared.view.queries import Query, Total, context, view_of
from pages.shared.view.text import explained, plain

AROUND = 32
"""Characters before and after a span in a row; the browser draws at most a quarter as many as a column has pixels."""
BESIDE = ("span", "predicted text", "why", "document")
"""The columns of a list that stands beside a figure."""
CONTEXT = 160
"""Characters before and after a record's spans in its card."""
EXCERPT = 2_000
"""Characters in a card; of longer spans only the beginning is shown."""


def open_records(
    page: PageContext, criterion: str, query: Query, title: str, *, name: str, columns: Sequence[str] | None = None
) -> None:
    """Show the records of a count: title, number, list of some or all columns, and the way to Inspect.

    `title` is Markdown.
    """
    view = view_of(replace(page.view, criterion=criterion), query)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{title}: {count_words(criterion, page.ledger(criterion).total(query))}**")
        navigation.link_to("Inspect", ":primary[Open in Inspect →]", view, key=name)
    record_table(page, criterion, query, name=name, columns=columns)


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def noun(criterion: str) -> str:
    """Return the unit of counts under a criterion: "record", or "token" where tokens are counted."""
    by_token = criterion in CRITERIA and CRITERIA[criterion].unit == "token"
    return "token" if by_token else "record"


def count_words(criterion: str, total: Total) -> str:
    """Return how many records there are, counted by token with the tokens in them: the value of the count opened."""
    records = count(total.records, "record")
    return records if noun(criterion) == "record" else f"{count(total.weight, 'token')} in {records}"


def record_table(
    page: PageContext,
    criterion: str,
    query: Query,
    *,
    name: str,
    order: str = ORDERS[0],
    height: int | None = None,
    columns: Sequence[str] | None = None,
    card: Callable[[PageContext, str, pd.Series], None] | None = None,
) -> None:
    """List records; choosing a cell shows its record in the text, with the link to Inspect, or by `card`."""
    ledger = page.ledger(criterion)
    total = ledger.total(query).records
    if not total:
        st.caption("No records.")
        return
    if order not in ledger.orders(query):
        st.caption(f"So many records are not sorted by {order}; they stand in document order. Narrow them down.")
        order = ORDERS[0]
    # The playlist changes nothing of the list.
    view = replace(page.view, playlist="")
    first = first_row(total, name, view)
    part = ledger.page(query, order, first, ROWS)
    table = rows_table(part, page.loaded.corpus.documents.texts, page.words)
    if noun(criterion) == "token":
        table = table.add_column(1, "tokens", pa.array(part["weight"].to_numpy()))
    if isinstance(ledger, MemoryLedger) and (verdicts := attach_verdicts(ledger.about)).given:
        table = table.add_column(
            1, "verdict", pa.array(verdict_labels(verdicts, part.index, page.words.verdict_words), pa.string())
        )
    if columns is not None:
        table = table.select(columns)
    cell = count_table(
        table,
        name,
        (view, criterion, first, tuple(part["record"])),
        columns=_config(page.words),
        export=records_export(page, criterion, query, order, name=name),
        hint="Choose a row to read it in its text.",
        prefix=LIST,
        height=height or 360,
        fixed=height is not None,
        placeholder="",
    )
    if cell is not None:
        (card or record_card)(page, criterion, part.iloc[cell[0]])


def records_export(page: PageContext, criterion: str, query: Query, order: str = ORDERS[0], *, name: str) -> Export:
    """Return the records of a query as files, and their spans as a layer."""
    ledger = page.ledger(criterion)
    return Export(
        partial(ledger.pieces, query, order),
        page.signature(criterion),
        "records",
        key=f"records_{name}",
        rows=ledger.total(query).records,
        below=partial(_annotations, page, criterion, query, name) if noun(criterion) == "record" else None,
    )


def _annotations(page: PageContext, criterion: str, query: Query, name: str) -> None:
    """Offer the spans of the records listed as a layer, to be looked at or annotated anew in another tool."""
    ledger = page.ledger(criterion)
    if not isinstance(ledger, MemoryLedger):
        return
    st.markdown("**Their spans, as annotations**")
    first = page.words.reference
    sides: dict[str, Literal["gold", "pred"]] = {first: "gold", page.view.system: "pred"}
    side = st.segmented_control(
        "Spans of", list(sides), default=first, required=True, key=f"{LIST}side_{name}", label_visibility="collapsed"
    )
    layer = ledger.spans(query, sides[side or first])
    key = (page.loaded.id, page.view.system, side, criterion, query, repr(page.settings))
    offer_layer(lambda: layer, len(layer), f"{layer_file_name(side or first)}-{name}", key)


def rows_table(part: pd.DataFrame, texts: Sequence[str], words: LayerWords = GOLD_AND_PREDICTION) -> pa.Table:
    """Return the rows of a list as they are shown, from records with the columns of RECORD_COLUMNS."""
    types = [_words(part[f"{side}_type"]) for side in ("gold", "pred")]
    reasons = zip(_words(part["reason"]), *types, strict=True)
    columns = {
        "decision": labels(words.with_glyph(str(code)) for code in _words(part["decision"])),
        **in_context(context(part, texts, AROUND)),
        "gold type": types[0],
        "predicted type": types[1],
        "predicted text": [short(text) if isinstance(text, str) else None for text in part["pred_text"].tolist()],
        "why": [reason and words.reason(reason, *pair) for reason, *pair in reasons],
        "document": _words(part["document"]),
    }
    return table_of(columns)


def _words(column: pd.Series) -> list[str | None]:
    """Return the values of a categorical column, looking at no other of its categories, which may be very many."""
    codes, place = np.unique(column.cat.codes.to_numpy(), return_inverse=True)
    names: list[str | None] = [None] * int((codes < 0).sum())
    names += column.cat.categories.take(codes[codes >= 0]).tolist()
    return [names[number] for number in place.tolist()]


def _config(words: LayerWords) -> dict[str, Any]:
    column = st.column_config.TextColumn
    return {
        "decision": decision_column(
            140, {words.with_glyph(code): code for code in DECISIONS}, explained(*DECISIONS, words=words)
        ),
        "verdict": column("verdict", width=130, help="What a reviewer decided; stale: text or span changed since."),
        "tokens": st.column_config.NumberColumn("tokens", width=60, help="What the record counts for."),
        "before": column("before", width=115, alignment="right"),
        "span": column(
            "span", width=140, help=f"That of {words.reference}; where there is none, that of {words.other}."
        ),
        "after": column("after", width=115),
        "gold type": column(words.of_side("type", "gold"), width=105),
        "predicted type": column(words.of_side("type", "pred"), width=115),
        "predicted text": column(
            words.of_side("text", "pred"), width=120, help=f"Empty where there is no {words.of_side('span', 'pred')}."
        ),
        "why": column("why", width=125),
        "document": column("document", width=75),
    }


def record_card(page: PageContext, criterion: str, record: pd.Series) -> None:
    """Show one record in its text, gold above and prediction below, and the link to its document."""
    reading = page.reading(str(record["document"]), criterion)
    rows = records(reading, criterion)
    (place,) = np.flatnonzero((rows["record"] == record["record"]).to_numpy())
    record_box(page, reading, replace(page.view, criterion=criterion), rows.iloc[place])


def record_box(page: PageContext, scores: Scores, view: View, record: pd.Series) -> None:
    """Show a record of these scores; `view` is where the link leads, but for the record."""
    with st.container(border=True):
        st.html(excerpt(scores, view.criterion, record, page.annotated_types))
        words, types = page.words, (record["gold_type"], record["pred_type"])
        parts = [plain(words.with_glyph(str(record["decision"])))]
        for side, kind in zip(("gold", "pred"), types, strict=True):
            named = plain(words.side(side)) if words.annotators else {"gold": "gold", "pred": "predicted"}[side]
            parts += [f"{named} {plain(str(kind))}"] if record[side] >= 0 else []
        parts.append(plain(words.reason(str(record["reason"]), *types)))
        st.caption(" · ".join(parts))
        view = replace(view, doc=str(record["document"]), record=str(record["record"]))
        navigation.link_to("Inspect", f":primary[Inspect in {plain(view.doc)} →]", view)


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
