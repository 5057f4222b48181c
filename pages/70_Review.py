"""Review: how far it is and what it changes, the verdicts themselves, and the finished layer."""

import streamlit as st

from pages.shared import frame
from pages.shared.components.navigation import choose_word
from pages.shared.data.page_context import PageContext
from pages.shared.review import finish, verdicts, what_if_scores
from pages.shared.verdicts import list as verdicts_list
from pages.shared.view import TABS

PARTS = {
    "what-if": ("Progress", what_if_scores.draw_what_if),
    "given-verdicts": ("Verdicts", verdicts.draw_verdicts),
    "finish": ("Finish", finish.draw_finish),
}
assert tuple(PARTS)[1:] == TABS["review_tab"]


@frame.page("Review")
def draw(page: PageContext) -> None:
    verdicts_list.show_verdict_problems()
    word = choose_word(page, "review_tab", "Show", {name: label for name, (label, _) in PARTS.items()})
    with st.container():
        PARTS[word][1](page)
