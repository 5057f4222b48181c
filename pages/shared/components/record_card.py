"""A record in its text: gold above and prediction below, its decision in words, and the link to its document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.records.tables import records
from nereval_core.report.highlight import document_html
from nereval_core.report.marks import Mark, marks, within
from nereval_core.scoring import Scores
from pages.shared.components import navigation
from pages.shared.data.page_context import PageContext
from pages.shared.view import View
from pages.shared.view.text import plain

CONTEXT = 160
"""Characters before and after a record's spans in its card."""
EXCERPT = 2_000
"""Characters in a card; of longer spans only the beginning is shown."""


def record_card(page: PageContext, criterion: str, record: pd.Series) -> None:
    """Show one record in its text, gold above and prediction below, and the link to its document."""
    one = page.reading(str(record["document"]), criterion)
    rows = records(one, criterion)
    (place,) = np.flatnonzero((rows["record"] == record["record"]).to_numpy())
    record_box(page, one, replace(page.view, criterion=criterion), rows.iloc[place])


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
