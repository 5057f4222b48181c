"""Overview: how good is the system? Each count leads to its records, each ratio shows its formula."""

import streamlit as st

from nereval_core.scoring.criteria import SCHEMAS
from nereval_core.tables import RATIOS, SER
from pages.shared import frame, slices
from pages.shared.components import sentence
from pages.shared.components.navigation import choose_word
from pages.shared.data.page_context import PageContext
from pages.shared.overview import headline, published_scorer, tables
from pages.shared.start import account
from pages.shared.view import keys
from pages.shared.view.text import plain

TABS = {"": "By type", "by-slice": "By slice", "all-criteria": "All criteria", "averages": "Averages"}


@frame.page("Overview")
def draw(page: PageContext) -> None:
    sentence.draw_identical(page, page.system)
    account.draw_type_names(page)
    if not page.is_demo:
        account.draw_notes(page)
    if page.convention is not None:
        published_scorer.draw_scorer(page, page.convention)
    headline.draw_headline(page)
    names = tuple(name for name in dict.fromkeys((*SCHEMAS, page.by)) if name in page.criteria)
    headline.draw_bars(page, names)
    with st.expander("The same as a table", key=f"{keys.LIST}numbers", on_change="rerun") as numbers:
        if numbers.open:
            tables.by_criterion(page, names)
            tables.reconciliation(page)
        else:
            # The bars can be saved whether or not the table is open.
            tables.criteria_export(page, names).draw()

    st.header(f"In detail, under {plain(page.by)}")
    tab = choose_word(page, "overview_tab", "Part", TABS)
    if tab == "by-slice":
        slices.draw_views(page)
    elif tab == "all-criteria":
        tables.by_criterion(page, page.criteria, name="all_criteria", ratios=(*RATIOS, SER))
    elif tab == "averages":
        tables.averages(page)
    else:
        tables.by_type(page)
    st.caption("Signature: what reproduces these numbers")
    st.code(page.signature(), language=None, wrap_lines=True)
