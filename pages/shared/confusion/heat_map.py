"""The confusion table as a heat map: a component whose cells are chosen with the mouse or the arrow keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from pages.shared.components.figures import table_key
from pages.shared.view import keys
from pages.shared.view.confusion_layout import Confusion
from pages.shared.view.layer_words import GOLD_AND_PREDICTION, LayerWords

_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "nereval_heat_map",
    css=(_HERE / "heat_map.css").read_text(encoding="utf-8"),
    js=(_HERE / "heat_map.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
CELL = keys.TABLE + "confusion"
"""The cell chosen, in the session: the key of the facts it was chosen under, its row and its column."""


def draw_heat_map(
    table: Confusion, facts: tuple[object, ...], label: str, *, percent: bool, words: LayerWords = GOLD_AND_PREDICTION
) -> tuple[int, int] | None:
    """Draw the table; return row and column of the cell chosen, None once any of the `facts` has changed."""
    now = table_key("", *facts)
    under, row, column = st.session_state.get(CELL, ("", -1, -1))
    fits = under == now and 0 <= row < len(table.rows) and 0 <= column < len(table.columns)
    key = f"{CELL}_map"

    def choose() -> None:
        clicked = st.session_state[key]["choose"]
        if clicked:
            st.session_state[CELL] = (now, int(clicked[0]), int(clicked[1]))

    data = heat_map_data(table, label, percent=percent, words=words) | {"chosen": [row, column] if fits else None}
    _mount(data=data, key=key, on_choose_change=choose)
    return (row, column) if fits else None


def heat_map_data(
    table: Confusion, label: str, *, percent: bool, words: LayerWords = GOLD_AND_PREDICTION
) -> dict[str, Any]:
    """Return names, texts and shades of the cells, row by row.

    A shade is 0 to 1, by the square root, so that small counts show; None for a pair of equal type, which has no part
    in the scale. Missed and spurious spans have a scale of their own.
    """
    values = table.values.to_numpy("float64")
    same = np.eye(len(table.rows), dtype=bool)
    apart = np.zeros_like(same)
    apart[-1, :] = apart[:, -1] = True
    shades = np.zeros_like(values)
    for part in (~apart & ~same, apart & ~same):
        part_values = np.where(part, np.nan_to_num(values), 0)
        shades += np.sqrt(part_values / (part_values.max(initial=0) or 1))
    end = " %" if percent else ""
    return {
        "label": label,
        "sides": [words.reference, words.other if words.annotators else "predicted"],
        "rows": [str(name) for name in table.counts.index],
        "columns": [str(name) for name in table.counts.columns],
        "texts": [["" if value != value else f"{value:,.0f}{end}" for value in row] for row in values.tolist()],
        "shades": [
            [None if equal else round(shade, 3) for shade, equal in zip(*pair, strict=True)]
            for pair in zip(shades.tolist(), same.tolist(), strict=True)
        ],
    }
