"""The methods of statistics of a page: what each does and from where it is, and the paragraph for a paper."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from nereval_core.analysis.methods import FORMS, Methods
from nereval_core.analysis.methods.statements import linked_citation
from nereval_core.report.method_terms import METHODS
from pages.shared.components import export_menu
from pages.shared.view import keys

PARAGRAPH = "methods-paragraph"
OFFERED = {"Markdown": ".md", "LaTeX": ".tex", "BibTeX": ".bib"}


def explain_methods(*names: str) -> None:
    """Show on a click what methods do, each with links to its sources."""
    with st.popover("Methods", type="tertiary", key=f"{keys.LIST}methods", on_change="rerun", help=_HELP) as popover:
        if popover.open:
            st.markdown(method_notes(*names))


def method_notes(*names: str) -> str:
    """Return a list of METHODS in Markdown: what each does, with its citations."""
    lines = []
    for term in (METHODS[name] for name in names):
        cited = f" ({'; '.join(map(linked_citation, term.sources))})" if term.sources else ""
        lines.append(f"- **{term.name[:1].upper()}{term.name[1:]}**: {term.sentence}{cited}")
    return "\n".join(lines)


def offer_methods(made: Callable[[], Methods]) -> None:
    """Offer the methods paragraph of what is on the page in its menu."""
    export_menu.register(PARAGRAPH, table=lambda: _draw(made()))


def _draw(found: Methods) -> None:
    st.code(found.paragraph, language=None, wrap_lines=True, height=160)
    with st.container(horizontal=True, gap="small"):
        for label, form in OFFERED.items():
            st.download_button(
                label,
                FORMS[form](found).encode(),
                file_name=f"nereval-methods{form}",
                mime="text/plain",
                key=f"methods_{label}",
                on_click="ignore",
            )


_HELP = "What the intervals, tests and coefficients of this page are, and the works that they are from."
