"""Overview: every matching criterion's ratios and counts; each count opens its records, each ratio its formula."""

import streamlit as st

from nereval_core.scoring.criteria import SCHEMAS
from pages.shared import overview
from pages.shared.components import report_button, sentence
from pages.shared.components.terms import explained
from pages.shared.frame import Here, page
from pages.shared.overview import convention
from pages.shared.view.plain_text import plain


@page("Overview")
def draw(here: Here) -> None:
    if here.convention is not None:
        convention.section(here, here.convention)
    overview.systems_line(here)
    overview.badge(here)
    sentence.overview(here)
    report_button.offer(here)

    st.subheader("By matching criterion")
    everything = overview.all_criteria(here)
    few = dict.fromkeys((*SCHEMAS, here.by))
    names = tuple(name for name in here.criteria if everything or name in few)
    overview.criteria(here, names)
    overview.bars(here, names)

    st.subheader(f"By type, under {plain(here.by)}", help=explained("support"))
    overview.types(here)

    st.subheader("Averages", help=explained("micro", "macro over types", "macro over documents"))
    overview.averages(here)

    st.caption("Signature: what reproduces these numbers")
    st.code(here.signature(), language=None, wrap_lines=True)
