"""Agreement: how far do annotators agree, where do they not, and what stands in the text there?"""

import streamlit as st

from pages.shared import agreement
from pages.shared.frame import Here, page


@page("Agreement")
def draw(here: Here) -> None:
    names = agreement.chosen(here)
    if len(names) < 2:
        st.info("Choose two annotators or more.")
        return
    found = agreement.agreed(here, names)
    agreement.words(here, found)
    agreement.together(here, found)

    st.subheader("Each with each")
    pair = agreement.each(here, found)
    if pair is None:
        st.caption("Choose a cell to open what the two disagree on.")
    else:
        agreement.disagreements(here, found, pair)

    st.subheader(f"By type{agreement.of(found, pair)}")
    agreement.types(here, found, pair)
    st.subheader(f"By document{agreement.of(found, pair)}")
    agreement.documents(here, found, pair)
