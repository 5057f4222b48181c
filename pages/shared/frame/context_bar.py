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
    """Offer the systems, and the layers that may be their reference where there are several.

    Annotators stand in the order of tables, the reference first, with a button that swaps the two.
    """
    names = [] if here.loaded.folder is not None else list(reference_layer.layers(here.loaded))
    if here.words.annotators:
        _reference(here, names)
        swapped = reference_layer.swapped_view(here.view, here.loaded, here.system)
        said = f"Swap the two: {plain(here.system)} as reference. A verdict belongs to the order it was given in."
        st.button("⇄", key=f"{keys.BAR}swap", type="tertiary", help=said, on_click=state.put, args=(swapped,))
        _system(here)
        return
    _system(here)
    if len(names) < 3:
        st.caption("vs gold", width="content")
        return
    st.caption("vs", width="content")
    _reference(here, names)


def _system(here: Here) -> None:
    # There is nothing to choose between two annotators.
    if here.words.annotators and len(here.systems) == 1:
        st.markdown(f"**{plain(here.system, 40)}**", width="content")
        return
    st.selectbox(
        "Annotator" if here.words.annotators else "System",
        here.systems,
        label_visibility="collapsed",
        width=NAME,
        **state.mirror_field("system", here.system),
    )


def _reference(here: Here, names: list[str]) -> None:
    if len(names) < 3:
        st.markdown(f"**{plain(here.words.reference, 40)}**", width="content")
        return
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
    criterion_menu.draw_criterion_menu(here, schemas, key=f"{keys.BAR}criteria")


def _take_schema(name: str | None) -> None:
    # A click on the chosen one would take the choice back: there is always a criterion.
    if name is not None:
        state.update(criterion=name)
