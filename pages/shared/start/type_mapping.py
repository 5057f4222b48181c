"""Types that do not meet: which type of gold each may be, to be checked, edited, and read again with."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from nereval_core.pairing import have_no_common_type
from nereval_core.pairing.type_names import mapping_line, parse_types
from nereval_core.pairing.type_suggestions import Suggestion, suggest_types
from nereval_core.problems import FormatError
from pages.shared.components import reading_progress
from pages.shared.components.downloads import Export
from pages.shared.data import caches
from pages.shared.data.computations import compute
from pages.shared.data.loading import Loaded
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.data.reading_orders import Again
from pages.shared.view import keys
from pages.shared.view.text import plain, show_problems

SHOWN = 4
"""So many types of each side are named."""
NOTE = (
    "A system may call the same thing by another name. Each type that gold does not have is set beside the type of "
    "gold that its spans overlap most, or else the one with a name alike. Nothing was applied."
)


def offer_mapping(page: PageContext) -> None:
    """Offer a mapping where systems have types that gold does not have."""
    loaded = page.loaded
    gold, systems = loaded.corpus.gold, loaded.corpus.systems
    if not loaded.types_can_be_mapped or all(set(layer.types) <= set(gold.types) for layer in systems):
        return
    apart = [layer for layer in systems if have_no_common_type(gold, layer)]
    found = _suggested(loaded)
    for layer in apart:
        here_named, there = (", ".join(map(plain, one.types[:SHOWN])) for one in (layer, gold))
        st.warning(f"No type of {plain(layer.name)} is one of gold's: {here_named} there, {there} in gold.")
    with st.expander(f"Types that gold does not have: {len(found)}", expanded=bool(apart)):
        st.caption(NOTE)
        table = _table(found)
        st.dataframe(table, hide_index=True, column_config={"why": st.column_config.TextColumn(width="large")})
        Export(table, _signed(loaded), "types", key="types_suggested").draw()
        _form(loaded, found)


@memoized("Counting what spans overlap …")
def _suggested(loaded: Loaded) -> tuple[Suggestion, ...]:
    return compute(loaded, "Suggesting types", suggest_types, loaded.corpus.gold, loaded.corpus.systems)


def _table(found: tuple[Suggestion, ...]) -> pd.DataFrame:
    rows = [(one.name, one.spans, one.to, "yes" if one.sure else "no", one.reason) for one in found]
    return pd.DataFrame(rows, columns=["type", "spans", "type of gold", "sure", "why"])


def _signed(loaded: Loaded) -> str:
    return f"corpus sha256:{loaded.digest[:16]}"


def _form(loaded: Loaded, found: tuple[Suggestion, ...]) -> None:
    key = f"types_lines_{loaded.digest[:16]}"
    lines = [("" if one.sure else "# ") + mapping_line(one.name, one.to or "?") for one in found]
    st.session_state.setdefault(key, "\n".join(lines))
    st.text_area("Name read = type of gold, one a line", key=key, height=min(300, 60 + 26 * len(lines)))
    st.button(
        "Read again with this mapping",
        type="primary",
        key="types_read",
        disabled=reading_progress.is_waiting(),
        on_click=_read_again,
        args=(loaded, key),
    )
    if wrong := st.session_state.pop(keys.MAPPING_PROBLEMS, []):
        show_problems(wrong)


def _read_again(loaded: Loaded, key: str) -> None:
    try:
        names = parse_types(st.session_state[key], source="mapping")
    except FormatError as error:
        st.session_state[keys.MAPPING_PROBLEMS] = error.lines()
        return
    before = loaded.options.pred_types
    options = replace(loaded.options, pred_types=names if before is None else before.then(names))
    reading_progress.begin_reading(
        Again(
            loaded.corpus.name,
            loaded.key,
            caches.shelf().keeper.store,
            loaded.sources,
            options,
            loaded.first_annotator,
        )
    )
