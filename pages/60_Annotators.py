"""Annotators: how far do they agree and where not, and what would a careful reader question within one layer?"""

import streamlit as st

from pages.shared import agreement
from pages.shared.components.sort_controls import choose_word
from pages.shared.consistency.view import draw_consistency
from pages.shared.frame import Here, page
from pages.shared.view import CONSISTENCY, CONSISTENCY_VIEWS

PARTS = {"": "Agreement", CONSISTENCY: "Consistency"}


@page("Annotators")
def draw(here: Here) -> None:
    asked = here.view.choice(CONSISTENCY_VIEWS) and not here.view.choice((CONSISTENCY,))
    if choose_word(here, "part", "Part", PARTS, chosen=CONSISTENCY if asked else None) == CONSISTENCY:
        draw_consistency(here)
        return
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
