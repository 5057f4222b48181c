"""Links to the pages that exist, in groups, and the tabs and switches of a page that its link keeps."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from pages.shared.components import into_view, links
from pages.shared.data.page_context import PageContext
from pages.shared.view import View, keys, state

ROOT = Path(__file__).parents[3]
START = "app.py"
TITLE = "title_row"
"""The key of a page's title, see `frame/context_bar.js`."""

GROUPS = {
    "": ("Start",),
    "Read": ("Overview", "Confusion", "Linking", "Inspect"),
    "Compare": ("Systems", "Criteria", "Annotators"),
    "Finish": ("Review", "Present"),
    "\u00a0": ("Guide",),
}
"""The pages by their headings in the sidebar; a blank one keeps the Guide apart."""
ICONS = {
    "Start": "home",
    "Overview": "bar_chart",
    "Confusion": "grid_on",
    "Linking": "link",
    "Inspect": "search",
    "Systems": "compare_arrows",
    "Criteria": "rule",
    "Annotators": "group",
    "Review": "task_alt",
    "Present": "slideshow",
    "Guide": "help",
}
"""Names of Material Symbols."""


@cache
def pages() -> Mapping[str, str]:
    """Return the file of each page by its name; the numbers in file names only order them."""
    files = sorted((ROOT / "pages").glob("[0-9]*_*.py"))
    return MappingProxyType({"Start": START} | {path.stem.partition("_")[2]: f"pages/{path.name}" for path in files})


def draw_links(without: Collection[str] = ()) -> None:
    """Draw the links in their groups, without those of pages that do not apply; each keeps the view."""
    groups = []
    for group, names in GROUPS.items():
        existing = [name for name in names if name in pages() and name not in without]
        groups.append((group.strip(), [(name, ICONS[name], links.page_path(name)) for name in existing]))
    links.mount_navigation(groups)


def link_to(
    name: str, label: str, view: View, *, help: str | None = None, key: str = "", icon: str | None = None
) -> None:
    """Draw a link to a page, showing a view there; nothing where the page does not exist.

    With a key it leads somewhere from the page itself too: there the session is right, not the address.
    """
    files = pages()
    if key and name == st.session_state.get(keys.PAGE):
        st.button(label, key=f"{keys.LIST}link_{key}", type="tertiary", on_click=_go_on_here, args=(view,), help=help)
    elif name in files:
        _draw_link(files[name], label, state.link(view), icon=icon, help=help)


def _go_on_here(view: View) -> None:
    """Show a view on the page itself from its top, as another page would begin (a callback)."""
    state.put(view)
    into_view.bring_into_view(TITLE)


def _draw_link(
    file: str, label: str, params: Mapping[str, str], *, icon: str | None = None, help: str | None = None
) -> None:
    try:
        st.page_link(file, label=label, icon=icon, query_params=params, help=help)
    except StreamlitPageNotFoundError:
        # Where a page is run without the app, as by `AppTest.from_file`, there are no other pages.
        st.caption(label)


def toggle_layout(page: PageContext, word: str, label: str, help: str) -> bool:
    """Ask whether a switch of the layout is on; return the answer."""

    def take(on: bool) -> None:
        state.put(state.view().with_layout(word, on))

    return st.toggle(label, help=help, **state.mirror(word, word in page.view.layout, take))


def toggle_all_criteria(page: PageContext) -> bool:
    """Ask whether all criteria are shown or the four schemas; the answer is kept in the link."""
    return toggle_layout(page, "all-criteria", "All criteria", "Beside the four schemas of SemEval, all others.")


def choose_word(
    page: PageContext,
    field: str,
    label: str,
    choices: Mapping[str, str],
    *,
    visible: bool = False,
    help: str | None = None,
) -> str:
    """Ask for the word of a field of the view, among choices given with their labels; return it.

    The first choice is the default, for which the field is empty. It is returned too where the field has another word.
    """
    default = next(iter(choices))
    value = getattr(page.view, field)

    def take(word: str) -> None:
        values: dict[str, Any] = {field: "" if word == default else word}
        state.put(replace(state.view(), **values))

    return str(
        st.segmented_control(
            label,
            list(choices),
            format_func=choices.__getitem__,
            required=True,
            label_visibility="visible" if visible else "collapsed",
            help=help,
            width="content",
            # In a row Streamlit would hide those for which there is no room.
            wrap=True,
            **state.mirror(field, value if value in choices else default, take),
        )
    )
