"""The context bar, first on every page: which corpus, which system against which reference, under which criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from nereval_core.scoring.criteria import SCHEMAS
from pages.shared.components import navigation
from pages.shared.data import reference_layer
from pages.shared.frame import criterion_menu, share_menu, type_menu
from pages.shared.view import keys, state
from pages.shared.view.text import plain

if TYPE_CHECKING:
    from pages.shared.frame import Here

NAME = 140
"""Pixels of a list of systems or layers."""


def draw_context_bar(here: Here, fits: bool) -> None:
    """Draw the bar; `fits`: the view fits a link."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="context_bar"):
        name = plain(here.loaded.corpus.name, 40)
        navigation.link_to(
            "Start", name, here.view, icon=":material/folder_open:", help="The corpus; another one is opened at Start."
        )
        _pair(here)
        _criterion(here)
        type_menu.draw_type_menu(here)
        share_menu.draw_share_menu(here, fits)


def _pair(here: Here) -> None:
    """Offer the systems, and the layers that may be their reference where there are several."""
    st.selectbox(
        "System",
        here.systems,
        label_visibility="collapsed",
        width=NAME,
        **state.mirror_field("system", here.system),
    )
    names = [] if here.loaded.folder is not None else list(reference_layer.layers(here.loaded))
    if len(names) < 3:
        st.caption(f"vs {plain(reference_layer.gold_name(here.loaded), 40)}", width="content")
        return
    st.caption("vs", width="content")
    st.selectbox(
        "Reference",
        names,
        label_visibility="collapsed",
        width=NAME,
        **reference_layer.mirror("reference", here.view, here.loaded),
    )


def _criterion(here: Here) -> None:
    """Offer the schemas side by side, and all other criteria and the published scorers in a menu beside them."""
    schemas = [name for name in SCHEMAS if name in here.criteria]
    chosen = here.view.criterion
    st.segmented_control(
        "Matching criterion",
        schemas,
        label_visibility="collapsed",
        **state.mirror("schema", chosen if chosen in schemas else None, _take_schema),
    )
    criterion_menu.draw_criterion_menu(here, schemas, key=keys.WIDGET + "criteria")


def _take_schema(name: str | None) -> None:
    # A click on the chosen one would take the choice back: there is always a criterion.
    if name is not None:
        state.update(criterion=name)
