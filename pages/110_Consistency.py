"""Consistency: what would a careful reader question within one layer?"""

import streamlit as st

from pages.shared import consistency
from pages.shared.consistency import places as consistency_places
from pages.shared.frame import Here, page


@page("Consistency")
def draw(here: Here) -> None:
    found = consistency.asked(here)
    kind = consistency.choices(here, found)
    st.markdown(f"#### {consistency.sentence(found, kind)}")
    chosen = consistency.findings(here, found, kind)
    if chosen is not None:
        consistency_places.draw(here, found, kind, *chosen)
