"""Annotators: figures of agreement between annotators, and their disagreements in the text."""

import streamlit as st

from pages.shared import agreement
from pages.shared.frame import Here, page


@page("Annotators")
def draw(here: Here) -> None:
    names = agreement.choose_annotators(here)
    if len(names) < 2:
        st.info("Choose two annotators or more.")
        return
    found = agreement.agreement_of(here, names)
    agreement.say_agreement(here, found)
    agreement.all_annotators(here, found)

    st.header("Each pair")
    pair = agreement.annotator_matrix(here, found)
    if pair is None:
        st.caption("Choose a cell to open what the two disagree on.")
    else:
        agreement.list_disagreements(here, found, pair)

    st.header(f"By type{agreement.of_whom(found, pair)}")
    agreement.by_type(here, found, pair)
    st.header(f"By document{agreement.of_whom(found, pair)}")
    agreement.by_document(here, found, pair)
