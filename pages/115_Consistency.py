"""Consistency: places within one layer that a careful reader would question."""

import streamlit as st

from pages.shared import consistency
from pages.shared.consistency import places as consistency_places
from pages.shared.frame import Here, page


@page("Consistency")
def draw(here: Here) -> None:
    found = consistency.inspect_layer(here)
    kind = consistency.choose_question(here, found)
    st.markdown(f"## {consistency.sentence(found, kind)}")
    chosen = consistency.list_findings(here, found, kind)
    if chosen is not None:
        consistency_places.list_places(here, found, kind, *chosen)
