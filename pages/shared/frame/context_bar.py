"""The context bar, first on every page: which corpus, which system against which reference, under which criterion."""

from __future__ import annotations

import streamlit as st

from nereval_core.scoring.criteria import SCHEMAS
from pages.shared.components import navigation
from pages.shared.data import reference_layer
from pages.shared.data.page_context import PageContext
from pages.shared.frame import criterion_menu, share_menu, type_menu
from pages.shared.view import keys, state
from pages.shared.view.text import plain

NAME = 140
"""Pixels of a list of systems or layers."""


def draw_context_bar(page: PageContext, fits: bool) -> None:
    """Draw the bar; `fits`: the view fits a link."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="context_bar"):
        name = plain(page.loaded.corpus.name, 40)
        navigation.link_to(
            "Start", name, page.view, icon=":material/folder_open:", help="The corpus; another one is opened at Start."
        )
        _pair(page)
        _criterion(page)
        type_menu.draw_type_menu(page)
        share_menu.draw_share_menu(page, fits)


def _pair(page: PageContext) -> None:
    """Offer the systems, and the layers that may be their reference where there are several.

    Annotators stand in the order of tables, the reference first, with a button that swaps the two.
    """
    names = [] if page.loaded.folder is not None else list(reference_layer.layers(page.loaded))
    if page.words.annotators:
        _reference(page, names)
        swapped = reference_layer.swapped_view(page.view, page.loaded, page.system)
        said = f"Swap the two: {plain(page.system)} as reference. A verdict belongs to the order it was given in."
        st.button("⇄", key=f"{keys.BAR}swap", type="tertiary", help=said, on_click=state.put, args=(swapped,))
        _system(page)
        return
    _system(page)
    if len(names) < 3:
        st.caption("vs gold", width="content")
        return
    st.caption("vs", width="content")
    _reference(page, names)


def _system(page: PageContext) -> None:
    # There is nothing to choose between two annotators.
    if page.words.annotators and len(page.systems) == 1:
        st.markdown(f"**{plain(page.system, 40)}**", width="content")
        return
    st.selectbox(
        "Annotator" if page.words.annotators else "System",
        page.systems,
        label_visibility="collapsed",
        width=NAME,
        **state.mirror_field("system", page.system),
    )


def _reference(page: PageContext, names: list[str]) -> None:
    if len(names) < 3:
        st.markdown(f"**{plain(page.words.reference, 40)}**", width="content")
        return
    st.selectbox(
        "Reference",
        names,
        label_visibility="collapsed",
        width=NAME,
        **reference_layer.mirror("reference", page.view, page.loaded),
    )


def _criterion(page: PageContext) -> None:
    """Offer the schemas side by side, and all other criteria and the published scorers in a menu beside them."""
    schemas = [name for name in SCHEMAS if name in page.criteria]
    chosen = page.view.criterion
    st.segmented_control(
        "Matching criterion",
        schemas,
        label_visibility="collapsed",
        **state.mirror("schema", chosen if chosen in schemas else None, _take_schema),
    )
    criterion_menu.draw_criterion_menu(page, schemas, key=f"{keys.BAR}criteria")


def _take_schema(name: str | None) -> None:
    # A click on the chosen one would take the choice back: there is always a criterion.
    if name is not None:
        state.update(criterion=name)
