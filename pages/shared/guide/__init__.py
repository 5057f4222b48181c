"""The Guide's editor, the table of verdicts, and the tooltips of its tables."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.glossary import GLOSSARY, tooltip
from nereval_core.review.verdicts import KINDS
from nereval_core.review.words import MEANING
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.scoring.examples import DECISION_EXAMPLES, SIX_CASES, Example
from pages.shared.view import keys

EXAMPLES = {example.title: example for example in (DECISION_EXAMPLES["PAR"], *DECISION_EXAMPLES.values(), SIX_CASES)}
EXAMPLE = f"{keys.LIST}example"
"""The example being edited: its widgets lose it on a page switch, this keeps it."""
CHOICE, GOLD, PREDICTION = (f"{keys.WIDGET}example_{part}" for part in ("choice", "gold", "prediction"))
LONGEST = 5_000
"""Characters of an example; longer texts belong in a corpus."""


def editor() -> Example:
    """Draw the two marked texts and return them as an example."""
    kept: Example = st.session_state.setdefault(EXAMPLE, next(iter(EXAMPLES.values())))
    st.session_state[GOLD], st.session_state[PREDICTION] = kept.gold, kept.prediction
    st.selectbox("Start from", list(EXAMPLES), key=CHOICE, on_change=_start)
    gold, prediction = st.columns(2)
    gold.text_area("Text with gold spans", key=GOLD, on_change=_edit, max_chars=LONGEST)
    prediction.text_area("Text with predicted spans", key=PREDICTION, on_change=_edit, max_chars=LONGEST)
    return kept


def _start() -> None:
    st.session_state[EXAMPLE] = EXAMPLES[st.session_state[CHOICE]]


def _edit() -> None:
    st.session_state[EXAMPLE] = Example("", st.session_state[GOLD], st.session_state[PREDICTION])


def columns(table: pd.DataFrame) -> dict[str, Any]:
    """Return Streamlit's column settings: a tooltip for each abbreviation and criterion, ratios with three places."""
    found = {}
    for name in table.columns:
        if name in CRITERIA:
            found[name] = st.column_config.TextColumn(help=CRITERIA[name].sentence)
        elif name in ("P", "R", "F1"):
            found[name] = st.column_config.NumberColumn(help=tooltip(name), format="%.3f")
        elif name in GLOSSARY:
            found[name] = st.column_config.NumberColumn(help=tooltip(name))
    return found


def verdict_table() -> pd.DataFrame:
    """Return the five verdicts by their keys, and what each does to gold."""
    sides = {"on a gold span": MEANING["gold"], "on a prediction without gold": MEANING["pred"]}
    rows = [{"verdict": words, **{name: said[kind] for name, said in sides.items()}} for kind, words in KINDS.items()]
    return pd.DataFrame(rows, index=pd.Index(range(1, len(rows) + 1), name="key"))
