"""Lists of match records: a page of rows with their context, the one chosen shown in its text, links onward."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from nereval_core.criteria import CRITERIA
from nereval_core.glossary import DECISIONS, decision_label
from nereval_core.report.colours import LOOKS, channels
from nereval_core.report.highlight import Mark, document_html, within
from nereval_core.report.marks import marks
from nereval_core.scoring import Scores
from nereval_core.tables import RECORD_COLUMNS
from pages.shared import navigation
from pages.shared.downloads import csv_button
from pages.shared.keys import LIST
from pages.shared.plain import plain
from pages.shared.queries import Query, context, select, view_of, weight
from pages.shared.terms import explained
from pages.shared.url import View

if TYPE_CHECKING:
    from pages.shared.frame import Here

ROWS = 200
"""Records on one page of a list: no message to the browser grows beyond that."""
BESIDE = 32
"""Characters before and after a span in a row; the browser draws at most a quarter as many as a column has pixels."""
CONTEXT = 160
"""Characters before and after a record's spans in its card."""
EXCERPT = 2_000
"""Characters in a card; of longer spans only the beginning is shown."""


def table_key(name: str, *facts: object) -> str:
    """Return a widget key that changes with what a table holds: a selection must not outlive its data."""
    return f"{name}_{zlib.crc32(repr(facts).encode()):08x}"


def selected_cell(event: Any, rows: int, columns: Sequence[str]) -> tuple[int, str] | None:
    """Return the row number and column of the cell chosen, None where there is none in the table."""
    cells = event["selection"].get("cells", []) if event else []
    row, column = cells[0] if cells else (-1, "")
    return (int(row), str(column)) if 0 <= int(row) < rows and column in columns else None


def opened(here: Here, criterion: str, query: Query, title: str, *, name: str) -> None:
    """Show the records of a count: title, number, list, and the way to Errors. `title` is Markdown."""
    found = select(here.records(criterion), query)
    view = view_of(replace(here.view, criterion=criterion), query)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{title}: {counted(criterion, found)}**")
        navigation.link_to("Errors", ":primary[Open in Errors →]", view)
    record_table(here, criterion, found, name=name)


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def noun(criterion: str) -> str:
    """Return what a count under a criterion counts, as far as lists go: records, or the tokens in them."""
    by_token = criterion in CRITERIA and CRITERIA[criterion].unit == "token"
    return "token" if by_token else "record"


def counted(criterion: str, found: pd.DataFrame) -> str:
    """Return how many records there are, counted by token with the tokens in them: the value of the count opened."""
    records = count(len(found), "record")
    return records if noun(criterion) == "record" else f"{count(weight(found), 'token')} in {records}"


def record_table(here: Here, criterion: str, found: pd.DataFrame, *, name: str, height: int | None = None) -> None:
    """List records; choosing a cell shows its record in the text, with the link to the document."""
    if found.empty:
        st.caption("No records.")
        return
    first = first_row(len(found), name, here.view)
    part = found.iloc[first : first + ROWS]
    table = _table(part, here.loaded.corpus.documents.texts)
    if noun(criterion) == "token":
        table.insert(1, "tokens", part["weight"].to_numpy())
    event = st.dataframe(
        table.style.apply(tints, subset=["decision"]),
        key=table_key(LIST + name, here.view, criterion, first, tuple(part["record"])),
        on_select="rerun",
        selection_mode="single-cell",
        hide_index=True,
        height=height or min(35 * (len(table) + 1) + 3, 360),
        placeholder="",
        column_config=_config(),
    )
    cell = selected_cell(event, len(part), table.columns)
    with st.container(horizontal=True, vertical_alignment="center"):
        csv_button(found[list(RECORD_COLUMNS)], here.signature(criterion), name="records", key=f"records_{name}")
        if cell is None:
            st.caption("Choose a row to read it in its text.")
    if cell is not None:
        record_card(here, criterion, part.iloc[cell[0]])


def first_row(rows: int, name: str, view: View) -> int:
    if rows <= ROWS:
        return 0
    pages = -(-rows // ROWS)
    number = st.number_input(
        f"Page of {pages:,} ({ROWS} records each)", 1, pages, key=table_key(f"{LIST}page_{name}", view, rows), width=220
    )
    return (int(number) - 1) * ROWS


def _table(part: pd.DataFrame, texts: Sequence[str]) -> pd.DataFrame:
    around = context(part, texts, BESIDE)
    return pd.DataFrame(
        {
            "decision": [f"{LOOKS[code].glyph} {decision_label(code)}" for code in part["decision"]],
            "before": around["before"].to_numpy(),
            "span": around["span"].map(short).to_numpy(),
            "after": around["after"].to_numpy(),
            "gold type": part["gold_type"].astype("object").to_numpy(),
            "predicted type": part["pred_type"].astype("object").to_numpy(),
            "predicted text": part["pred_text"].astype("object").map(short, na_action="ignore").to_numpy(),
            "why": part["reason"].astype("object").to_numpy(),
            "document": part["document"].astype("object").to_numpy(),
        }
    )


def short(text: str) -> str:
    return text if len(text) <= CONTEXT else text[:CONTEXT] + "…"


def tints(column: pd.Series) -> list[str]:
    codes = {f"{look.glyph} {look.label}": code for code, look in LOOKS.items()}
    return [tint(codes[value]) if value in codes else "" for value in column]


def tint(code: str) -> str:
    """Return a fill in a decision's hue, clear enough for either theme's text to read on it."""
    return "background-color: rgba({}, {}, {}, 0.25)".format(*channels(LOOKS[code].colour.hue))


def _config() -> dict[str, Any]:
    column = st.column_config.TextColumn
    return {
        "decision": column("decision", width=130, help=explained(*DECISIONS)),
        "tokens": st.column_config.NumberColumn("tokens", width=60, help="What the record counts for."),
        "before": column("before", width=115, alignment="right"),
        "span": column("span", width=140, help="The gold span; where there is none, the prediction."),
        "after": column("after", width=115),
        "gold type": column("gold type", width=105),
        "predicted type": column("predicted type", width=115),
        "predicted text": column("predicted text", width=120, help="Empty where the gold span was missed."),
        "why": column("why", width=125),
        "document": column("document", width=75),
    }


def record_card(here: Here, criterion: str, record: pd.Series) -> None:
    """Show one record in its text, gold above and prediction below, and the link to its document."""
    record_box(here, here.scores(), replace(here.view, criterion=criterion), record)


def record_box(here: Here, scores: Scores, view: View, record: pd.Series) -> None:
    """Show a record of these scores; `view` is where the link leads, but for the record."""
    with st.container(border=True):
        st.html(excerpt(scores, view.criterion, record, here.annotated_types))
        parts = [f"{LOOKS[record['decision']].glyph} {decision_label(record['decision'])}"]
        parts += [f"gold {plain(str(record['gold_type']))}"] if record["gold"] >= 0 else []
        parts += [f"predicted {plain(str(record['pred_type']))}"] if record["pred"] >= 0 else []
        parts.append(plain(str(record["reason"])))
        st.caption(" · ".join(parts))
        view = replace(view, doc=str(record["document"]), record=str(record["record"]))
        navigation.link_to("Documents", f":primary[Read in document {plain(view.doc)} →]", view)


def excerpt(scores: Scores, criterion: str, record: pd.Series, types: Sequence[str], *, around: int = CONTEXT) -> str:
    """Return the HTML of a record's spans with so many characters around them."""
    number = int(record["doc"])
    text = scores.gold.documents.texts[number]
    wanted = {("gold", int(record["gold"])), ("prediction", int(record["pred"]))}
    chosen = [mark for mark in marks(scores, criterion, number) if (mark.side, mark.index) in wanted]
    low = max(0, min(mark.start for mark in chosen) - around)
    high = min(len(text), max(mark.end for mark in chosen) + around, low + EXCERPT)
    low, high = _at_words(text, low, high, chosen)
    return str(document_html(text[low:high], within(chosen, low, high), types=types))


def _at_words(text: str, low: int, high: int, chosen: Sequence[Mark]) -> tuple[int, int]:
    """Move the ends of an excerpt inwards to white space, but not into a span."""
    first, last = min(mark.start for mark in chosen), max(mark.end for mark in chosen)
    last = min(last, high)
    while 0 < low < first and not text[low - 1].isspace():
        low += 1
    while last < high < len(text) and not text[high].isspace():
        high -= 1
    return low, high
