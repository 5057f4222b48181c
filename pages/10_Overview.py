"""Overview: how good is the system? Each count leads to its records, each ratio shows its formula."""

import streamlit as st

from nereval_core.scoring.criteria import SCHEMAS
from pages.shared.components import notices, sentence
from pages.shared.components.sort_controls import choose_word
from pages.shared.frame import Here, page
from pages.shared.overview import convention, headline, losses, schema_bars, tables
from pages.shared.slices import views as slices
from pages.shared.view import SLICED_BY, SLICES_VIEWS, keys
from pages.shared.view.text import plain

TABS = {"": "By type", "by-slice": "By slice", "all-criteria": "All criteria", "averages": "Averages"}


@page("Overview")
def draw(here: Here) -> None:
    notices.draw_notices(here, [here.system])
    if here.convention is not None:
        convention.draw_scorer(here, here.convention)
    headline.draw_headline(here)
    names = tuple(name for name in dict.fromkeys((*SCHEMAS, here.by)) if name in here.criteria)
    schema_bars.draw_bars(here, names)
    with st.expander("The same in words and as a table", key=f"{keys.LIST}numbers", on_change="rerun") as numbers:
        if numbers.open:
            sentence.overview(here)
            tables.by_criterion(here, names)
            tables.reconciliation(here)
        else:
            # The bars can be saved whether or not the table is open.
            tables.criteria_export(here, names).draw()
    losses.draw_losses(here)

    st.header(f"In detail, under {plain(here.by)}")
    sliced = here.view.choice((*SLICES_VIEWS, *SLICED_BY)) and not here.view.choice(tuple(TABS))
    tab = choose_word(here, "tab", "Part", TABS, chosen="by-slice" if sliced else None)
    if tab == "by-slice":
        slices.draw_views(here)
    elif tab == "all-criteria":
        tables.by_criterion(here, here.criteria, name="all_criteria")
    elif tab == "averages":
        tables.averages(here)
    else:
        tables.by_type(here)
    st.caption("Signature: what reproduces these numbers")
    st.code(here.signature(), language=None, wrap_lines=True)
