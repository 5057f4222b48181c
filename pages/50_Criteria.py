"""Criteria: the scores of one prediction from the strictest criterion to the most lenient, and what each forgives."""

import streamlit as st

from pages.shared import criteria, frame
from pages.shared.components import sentence
from pages.shared.criteria import all_criteria, ladder, published
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys


@frame.page("Criteria", filters=lambda view: view.criteria_tab == "ladder")
def draw(page: PageContext) -> None:
    view = criteria.choose_view(page)
    if view is not None:
        view(page)
        return
    if page.view.merge or page.view.leaveout:
        st.caption("All types as annotated: here none are merged or left out.")
    page = ladder.follow_event(all_criteria.as_read(page))
    sentence.draw_notices(page, [page.system])
    ladder.draw_sentence(page)
    ours = all_criteria.rows_of(page, by_token=all_criteria.are_few(page))
    scorers = published.draw_choice(page, ours)
    ladder.draw_ladder(page, (*ours, *scorers.rows))
    with st.expander("All numbers as a table", key=f"{keys.LIST}numbers", on_change="rerun") as numbers:
        if numbers.open:
            all_criteria.show_numbers(page, ours, scorers.rows)
        else:
            # The figure can be saved whether or not the table is open.
            all_criteria.numbers_export(page, ours, scorers.rows).draw()
    published.list_reasons(scorers)
    published.score_next(page, scorers)
