"""Overview: every matching criterion's ratios and counts; each count opens its records, each ratio its formula."""

import streamlit as st

from nereval_core.scoring.criteria import SCHEMAS
from pages.shared.components import sentence
from pages.shared.frame import Here, page
from pages.shared.overview import convention, tables
from pages.shared.view.text import explained, plain


@page("Overview")
def draw(here: Here) -> None:
    if here.convention is not None:
        convention.draw_scorer(here, here.convention)
    tables.systems_line(here)
    tables.reconciliation(here)
    sentence.overview(here)

    st.header("By matching criterion")
    everything = tables.all_criteria(here)
    few = dict.fromkeys((*SCHEMAS, here.by))
    names = tuple(name for name in here.criteria if everything or name in few)
    tables.by_criterion(here, names)
    tables.decision_figure(here, names)

    st.header(f"By type, under {plain(here.by)}", help=explained("support"))
    tables.by_type(here)

    st.header("Averages", help=explained("micro", "macro over types", "macro over documents"))
    tables.averages(here)

    st.caption("Signature: what reproduces these numbers")
    st.code(here.signature(), language=None, wrap_lines=True)
