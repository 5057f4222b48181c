"""Columns of tables: settings for Streamlit, and cells that go to the browser as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from nereval_core.report.colours import LOOKS
from pages.shared.view.layer_words import GOLD_AND_PREDICTION, LayerWords
from pages.shared.view.queries import Line
from pages.shared.view.text import explained

LONGEST_CELL = 160
"""Characters of a span's text in a cell."""

BAR = "#0072b2"
"""The colour of bars in the cells of a table."""


def ratio_columns(
    codes: Iterable[str], width: int, *, places: int = 3, words: LayerWords = GOLD_AND_PREDICTION
) -> dict[str, Any]:
    """Describe columns of ratios, such as P, with their formulas as tooltips."""
    form = f"%.{places}f"
    return {
        code: st.column_config.NumberColumn(code, width=width, format=form, help=explained(code, words=words))
        for code in codes
    }


def count_columns(names: Iterable[str], width: int) -> dict[str, Any]:
    """Describe columns of counts, such as `COR` or `gold COR`, with the meanings of the codes as tooltips."""
    return {
        name: st.column_config.NumberColumn(
            name, width=width, format="localized", help=explained(name.rpartition(" ")[2])
        )
        for name in names
    }


def text_columns(widths: Mapping[str, int]) -> dict[str, Any]:
    """Describe columns of text by their widths in pixels."""
    return {name: st.column_config.TextColumn(name, width=width) for name, width in widths.items()}


def table_of(columns: Mapping[str, Any]) -> pa.Table:
    """Return columns of text and numbers as a table that goes to the browser as it is."""
    # Through pandas, and with a Styler for the colours, a list took half of the time of its page.
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


def labels(names: Iterable[str]) -> list[list[str]]:
    """Return a column of decisions for `decision_column`: one coloured label in each cell."""
    return [[name] for name in names]


def decision_column(width: int, looks: Mapping[str, str], help: str | None = None) -> Any:
    """Describe a column of `labels`, whose names have the decisions given with them; with none they are grey."""
    theme = int(st.context.theme.type == "dark")
    # On a fill the browser writes in black or white, whichever reads better; a hue itself is too dim for either.
    colours = [LOOKS[code].colour.fill[theme] if code else "gray" for code in looks.values()]
    return st.column_config.MultiselectColumn(
        "decision", width=width, help=help, options=list(looks), color=colours, disabled=True
    )


def in_context(lines: Sequence[Line], name: str = "span") -> dict[str, list[str]]:
    """Return three columns of a list: the words before, in and after the span of a row."""
    return {
        "before": [before for before, _, _ in lines],
        name: [short(text) for _, text, _ in lines],
        "after": [after for _, _, after in lines],
    }


def short(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + "…"
