"""Bars of decisions, one a criterion: each segment leads to its records, each F1 shows its formula."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from nereval_core.records.queries import overall_query
from nereval_core.report.colours import LOOKS
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components import navigation
from pages.shared.components.tables import formula_box
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys, state
from pages.shared.view.formulas import number
from pages.shared.view.queries import view_of

_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "nereval_schema_bars",
    css=(_HERE / "schema_bars.css").read_text(encoding="utf-8"),
    js=(_HERE / "schema_bars.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
CHOSEN = keys.TABLE + "bars"
"""The criterion and the decision (or F1) that were clicked, in the session."""


def draw_bars(page: PageContext, names: Sequence[str]) -> None:
    """Draw a bar for each criterion; a decision leads to its records on Inspect, an F1 shows its formula below."""
    key = f"{CHOSEN}_drawn"

    def choose() -> None:
        if clicked := st.session_state[key]["choose"]:
            st.session_state[CHOSEN] = (names[int(clicked[0])], str(clicked[1]))

    _mount(data=bars_data(page, names), key=key, on_choose_change=choose)
    criterion, code = st.session_state.get(CHOSEN, ("", ""))
    if criterion not in names:
        return
    if code == "F1":
        formula_box(page, criterion, "F1", page.scores(names=names).counts(criterion))
        return
    del st.session_state[CHOSEN]
    if (query := overall_query(code)) is not None:
        state.go(navigation.pages()["Inspect"], view_of(page.view.under(criterion), query))


def bars_data(page: PageContext, names: Sequence[str]) -> dict[str, Any]:
    """Return names, F1 and segments: decision, count, size (a share of the bar), words and colours."""
    scores = page.scores(names=names)
    rows = []
    for name in names:
        counts = scores.counts(name)
        decided = dict(zip(DECISIONS, (*counts.gold[:4], counts.spu), strict=True))
        parts = [
            {
                "code": code,
                "count": f"{value:,}",
                "size": value,
                "glyph": LOOKS[code].glyph,
                "title": f"{value:,} {page.words.label(code)} under {name}: read them",
                "fill": list(LOOKS[code].colour.fill),
                "ink": list(LOOKS[code].colour.ink),
            }
            for code, value in decided.items()
            if value
        ]
        rows.append({"name": name, "f1": number(counts.f1), "parts": parts, "chosen": name == page.by})
    return {"rows": rows, "legend": [page.words.with_glyph(code) for code in DECISIONS]}
