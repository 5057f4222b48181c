"""The formula of a ratio, each count in it a link to its records."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from nereval_core.records.queries import Query
from nereval_core.scoring import Counts
from pages.shared.components import navigation
from pages.shared.components.record_list import count, noun
from pages.shared.data.page_context import PageContext
from pages.shared.view import View
from pages.shared.view.count_tables import formula
from pages.shared.view.queries import view_of
from pages.shared.view.text import as_markdown, plain


def formula_box(
    page: PageContext, criterion: str, ratio: str, counts: Counts, kind: str | None, *, system: str = "", doc: str = ""
) -> None:
    """Show the formula of a ratio of a type, a system or a document; the counts in it are links to their records."""
    made = formula(ratio, counts, kind, as_markdown(page.words))
    of = "".join(f" of {plain(name)}" for name in (kind, system, doc) if name)
    st.markdown(f"**{as_markdown(page.words).label(ratio)}{of} under {plain(criterion)}**")
    st.code(made.text, language=None, wrap_lines=True)
    view = replace(page.view, criterion=criterion, system=system or page.system)
    with st.container(horizontal=True):
        for label, value, query in made.counts:
            count_link(view, label, value, replace(query, doc=doc))


def count_link(view: View, label: str, value: int, query: Query) -> None:
    navigation.link_to("Inspect", f":primary[{label}: {count(value, noun(view.criterion))} →]", view_of(view, query))
