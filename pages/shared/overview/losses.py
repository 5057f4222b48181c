"""The kinds of errors that cost most: how many records, how much F1 they would give back, and the way to them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from nereval_core.analysis.errors import errors_query
from pages.shared.components import navigation
from pages.shared.data.page_context import PageContext
from pages.shared.inspect.error_classes import errors_of
from pages.shared.view.queries import view_of
from pages.shared.view.text import plain

SHOWN = 3
"""Kinds of errors that are named."""
MOST_SPANS = 50_000
"""Gold spans up to which they are computed with the page: the scores with each kind mended are computed for them."""


def draw_losses(page: PageContext) -> None:
    """Name the classes of errors that cost most F1 under the chosen criterion, each a link to its records."""
    if page.loaded.folder is not None or page.settings.counting != "one-to-one":
        return
    every = replace(page.view.cleared(), inspect_tab="by-class")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="losses"):
        title = "Where they differ most" if page.words.annotators else "Where it loses most"
        st.markdown(f"**{title}**", width="content")
        if len(page.loaded.corpus.gold) <= MOST_SPANS:
            classes = errors_of(page).classes[page.by]
            largest = classes[classes["gain"] > 0].head(SHOWN)
            for name, records, gain in largest[["class", "records", "gain"]].itertuples(index=False):
                label = f":primary[{plain(page.words.error_class(name))} {records:,}] (+{gain:.3f} F1)"
                view = view_of(page.view, errors_query(("class", name)))
                navigation.link_to("Inspect", label, view, help="F1 gained if these alone were right")
        label = "all classes of differences" if page.words.annotators else "all classes of errors"
        navigation.link_to("Inspect", f":primary[{label} →]", every)
