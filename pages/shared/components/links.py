"""Links to pages as one component: the navigation, and sentences whose numbers lead to their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from nereval_core import __version__
from pages.shared.server.component_files import component
from pages.shared.streamlit_internals import url_path
from pages.shared.view import View, keys, state

_HERE = Path(__file__).parent
SCRIPT, STYLE = ((_HERE / name).read_text(encoding="utf-8") for name in ("links.js", "links.css"))
"""The functions that draw and follow links, and their style; components put them before their own."""
Group = tuple[str, Sequence[tuple[str, str, str]]]
"""A heading, and the name, the icon and the path of each of its pages."""


class Link(NamedTuple):
    """A text that leads to a page by its name, the view to show there, and what is said where the pointer rests."""

    text: str
    page: str
    view: View
    help: str = ""


def _component(*names: str) -> Any:
    return component(
        f"nereval_{names[-1]}",
        css=STYLE,
        js=SCRIPT + "".join((_HERE / f"{name}.js").read_text(encoding="utf-8") for name in names),
    )


_mount_navigation, _mount_sentence = _component("history", "navigation"), _component("sentence")


def page_path(name: str) -> str:
    """Return the path of a page on this server, by its name."""
    return url_path("/" if name == "Start" else name)


def mount_navigation(groups: Sequence[Group]) -> None:
    """Draw the links to pages, each of which keeps the view of the address, and below them the version."""
    current = st.session_state.get(keys.PAGE)
    data = {"groups": groups, "current": current, "version": f"nereval {__version__}"}
    _mount_navigation(data=data, key="navigation")


def mount_sentence(parts: Sequence[str | Link], key: str, width: Literal["stretch", "content"] = "stretch") -> None:
    """Draw a sentence; a link to the page that it stands on changes the view of the session."""
    _mount_sentence(data=sentence_data(parts), key=key, width=width, on_show_change=partial(choose_part, parts, key))


def sentence_data(parts: Sequence[str | Link]) -> dict[str, Any]:
    """Return what the component is sent: texts, and links with their addresses."""
    return {"parts": [part if isinstance(part, str) else link_data(part) for part in parts]}


def link_data(link: Link) -> Mapping[str, Any]:
    """Return what a component is sent of a link: text, address, help, and whether it leads to the page it stands on."""
    href = f"{page_path(link.page)}?{urlencode(state.link(link.view))}"
    stays = link.page == st.session_state.get(keys.PAGE)
    return {"text": link.text, "href": href, "help": link.help, "stays": stays}


def choose_part(parts: Sequence[str | Link], key: str) -> None:
    """Show the view of a link on the page that it stands on (a callback)."""
    place = st.session_state[key]["show"]
    part = parts[int(place)] if place is not None else ""
    if isinstance(part, Link):
        state.put(part.view)
