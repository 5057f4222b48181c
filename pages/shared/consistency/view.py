"""The view of one layer's consistency on Annotators: a question, its findings, and their places in the texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.shared import consistency
from pages.shared.consistency import places

if TYPE_CHECKING:
    from pages.shared.frame import Here


def draw_consistency(here: Here) -> None:
    """Draw what a careful reader would question within one layer; a finding opens its places."""
    found = consistency.inspect_layer(here)
    kind = consistency.choose_question(here, found)
    st.markdown(f"## {consistency.sentence(found, kind)}")
    chosen = consistency.list_findings(here, found, kind)
    if chosen is not None:
        places.list_places(here, found, kind, *chosen)
