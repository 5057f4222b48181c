"""Links to the pages that exist, in groups."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.shared import state
from pages.shared.url import View

ROOT = Path(__file__).parents[2]
START = "app.py"

GROUPS = {
    "": ("Start",),
    "Read": ("Overview", "Confusion", "Errors", "Documents"),
    "Explain": ("Guide", "Criteria", "Slices"),
    "Compare": ("Compare", "Agreement", "Consistency"),
    "More": ("Linking", "Review", "Present"),
}


def pages() -> dict[str, str]:
    """Return the file of each page by its name; the numbers in file names only order them."""
    files = sorted((ROOT / "pages").glob("[0-9]*_*.py"))
    return {"Start": START} | {path.stem.partition("_")[2]: f"pages/{path.name}" for path in files}


def draw() -> None:
    """Draw the grouped links; each keeps what is shown."""
    found = pages()
    params = state.link(state.view())
    for group, names in GROUPS.items():
        present = [name for name in names if name in found]
        if group and present:
            st.caption(group)
        for name in present:
            st.page_link(found[name], label=name, query_params=params)


def link_to(name: str, label: str, view: View, *, help: str | None = None) -> None:
    """Draw a link to a page, showing a view there; nothing where the page does not exist."""
    found = pages()
    if name in found:
        st.page_link(found[name], label=label, query_params=state.link(view), help=help)
