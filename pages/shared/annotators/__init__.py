"""The Annotators page: the layers that are compared, and two of them as reference and system."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.shared.data import caches, own_criteria, reference_layer
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys, state
from pages.shared.view.text import plain

MOST = 8
"""Annotators that are looked at before any are chosen."""
NAMED = 60
"""Characters of the names of the annotators that are compared."""


def choose_annotators(page: PageContext) -> tuple[str, ...]:
    """Ask for the annotators in a menu; by default those that the corpus calls so, else all layers."""
    layers = tuple(reference_layer.layers(page.loaded))
    default = _annotators(page) or layers[:MOST]
    names = page.view.annotators or default

    def take(selection: list[str]) -> None:
        state.update(annotators=() if tuple(selection) == default else tuple(selection))

    if len(layers) > 2:
        label = plain(", ".join(name for name in layers if name in names), NAMED)
        with st.popover(label or "Annotators", key=f"{keys.WIDGET}annotators_menu", width="content"):
            st.multiselect(
                "Annotators",
                layers,
                **state.mirror("annotators", list(names), take),
                help="Any layer. F1 takes one of two as reference; which one matters under few criteria only.",
            )
    return tuple(name for name in layers if name in names)


def compared_systems(page: PageContext, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the layers that are held against the annotators: all others, but one that was read as gold."""
    gold = reference_layer.gold_name(page.loaded)
    return tuple(name for name in reference_layer.layers(page.loaded) if name not in names and name != gold)[:MOST]


def _annotators(page: PageContext) -> tuple[str, ...]:
    kinds = {row.name: row.kind for row in reference_layer.as_read(page.loaded).layers}
    names = tuple(name for name in reference_layer.layers(page.loaded) if kinds.get(name) == "annotator")
    return names if len(names) > 1 else ()


def pair_of_view(page: PageContext, names: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the reference and the system of the context bar, if both are compared."""
    reference, other = reference_layer.pair_of_view(page.view, page.loaded)
    other = other or page.system
    return (reference, other) if reference in names and other in names and reference != other else None


def with_pair(page: PageContext, reference: str, other: str) -> PageContext:
    """Return the page's corpus and view with one layer as the reference and another as the system."""
    view = reference_layer.view_of_pair(page.view, page.loaded, reference, other)
    loaded = reference_layer.with_reference(page.loaded, view.reference)
    return replace(page, loaded=loaded, view=view, settings=caches.settings_in(loaded, view, own_criteria.criteria()))
