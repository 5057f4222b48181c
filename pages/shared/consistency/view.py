"""The view of one layer's consistency on Annotators: a question, its findings, and their places in the texts."""

from __future__ import annotations

import streamlit as st

from pages.shared import consistency
from pages.shared.consistency import places
from pages.shared.data.page_context import PageContext


def draw_consistency(page: PageContext) -> None:
    """Draw what a careful reader would question within one layer; a finding opens its places."""
    found = consistency.inspect_layer(page)
    kind = consistency.choose_question(page, found)
    st.markdown(f"## {consistency.sentence(found, kind)}")
    chosen = consistency.list_findings(page, found, kind)
    if chosen is not None:
        places.list_places(page, found, kind, *chosen)
