"""The frame of every page: configuration, navigation, context bar, state and chips; problems are shown kindly."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nereval_core import __version__
from nereval_core.problems import FormatError
from pages.shared.components import export_menu, navigation, reading_progress
from pages.shared.data import masks, scored_folders, verdict_store
from pages.shared.data.page_context import PageContext, page_context
from pages.shared.frame import chips, context_bar, login
from pages.shared.server.access import only_this_machine
from pages.shared.verdicts.events import end_events
from pages.shared.view import View, keys, state
from pages.shared.view.codecs import PREFIX
from pages.shared.view.text import plain, show_problems

STYLE = Path(__file__).parent / "frame.css"
_LOG = logging.getLogger("nereval")
SIDEBAR = 200
"""Pixels of the sidebar, which holds the links to the pages."""


def page(
    title: str,
    *,
    needs_corpus: bool = True,
    demo: Callable[[View], bool] | None = None,
    bare: Callable[[View], bool] = lambda view: False,
    filters: Callable[[View], bool] = lambda view: False,
) -> Callable[[Callable[[PageContext], None]], None]:
    """Run a page: `@frame.page("Overview")` over the function that draws it, once there is a corpus to draw.

    Without a corpus a page shows the demo, where `demo` says yes to the view; by default if it needs one. With
    `needs_corpus=False` the function takes `PageContext | None` and is called in any case. Where `bare` says yes to the
    view, what the function draws has the window to itself; where `filters` does, the page shows records narrowed down
    by the filters of the view, and these as chips.
    """

    def run(body: Callable[..., None]) -> None:
        st.set_page_config(page_title=f"{title} · nereval", layout="wide", initial_sidebar_state=SIDEBAR)
        # First, or what is drawn before it would jump.
        st.html(STYLE)
        end_events()
        notices = list(state.read_address(title))
        verdict_store.refresh()
        if login.draw_login():
            return
        with guarded():
            page, dropped = page_context(demo=needs_corpus if demo is None else demo(state.view()))
            fits = state.write_address()
            alone = page is not None and bare(page.view)
            export_menu.begin()
            exports = None if alone else _draw_frame(title, page, fits)
            # One element whatever is in it: were the body's places to change, its tabs would go back to the first.
            with st.container():
                _tell([*notices, *dropped], passing=alone)
                if page is not None and not alone:
                    # Inspect says itself which record is open; a chip would push its text down.
                    chips.draw_chips(page, filters=filters(page.view), place=title != "Inspect")
                elif page is None and state.view().corpus:
                    _guide(state.view())
            if page is not None and not page.loaded.shows(title):
                scored_folders.say_elsewhere(title)
            elif page is not None or not needs_corpus:
                body(page)
            if exports is not None:
                export_menu.draw(exports)
        _count_run()

    return run


def _draw_frame(title: str, page: PageContext | None, fits: bool) -> DeltaGenerator:
    """Draw navigation, context bar, the reading that goes on, the line that names a demo, and the title.

    Return the place of the menu that exports what the page draws below.
    """
    with st.sidebar:
        navigation.draw_links(("Linking",) if page is None else _inapplicable(page))
        login.draw_logout()
    if page is not None:
        context_bar.draw_context_bar(page, fits)
    with st.container(key="notices"):
        reading_progress.draw_waiting()
        if title == "Start":
            st.session_state.pop(keys.READING_REFUSED, None)
        elif keys.READING_REFUSED in st.session_state:
            navigation.link_to("Start", ":red[The files were not read: see why at Start →]", state.view())
        if page is not None and page.is_demo and title != "Start":
            name = plain(page.loaded.corpus.name)
            navigation.link_to("Start", f"Demo: {name} · :primary[open your own →]", page.view)
    with st.container(horizontal=True, vertical_alignment="center", key="title_row"):
        st.title(title if title != "Start" else "nereval")
        return st.container(width="content")


def _inapplicable(page: PageContext) -> tuple[str, ...]:
    """Return the pages about what a corpus lacks: links of spans, or systems where all layers are annotators'."""
    linking = () if page.has_links else ("Linking",)
    return (*linking, "Systems") if page.words.annotators else linking


class PageError(Exception):
    """A fault of the program, as visitors see it: without the words of the exception behind it."""


@contextmanager
def guarded() -> Iterator[None]:
    """Show what is wrong with input line by line; log anything else and show an id to find it by.

    A fault is shown as an exception of the page, so that whoever tests the page sees that it failed.
    """
    try:
        yield
    except FormatError as error:
        show_problems([masks.mask_message(line) for line in error.lines()])
    except Exception:
        number = secrets.token_hex(4)
        _LOG.exception("error %s", number)
        st.exception(
            PageError(f"This is a fault of nereval, not of your files. The server's log has it under {number}.")
        )


def _tell(notices: list[str], *, passing: bool = False) -> None:
    """Show the notices about dropped parts of the link; `passing`: for a while, over the page."""
    if notices:
        message = "Left out, as it does not fit: " + "; ".join(plain(notice, 300) for notice in notices) + "."
        (st.toast if passing else st.warning)(message)


def _guide(view: View) -> None:
    """Tell the reader how to get the corpus of a link that is not here."""
    st.info(
        f"The link asks for the corpus {view.corpus[:PREFIX]}, which this server does not have. "
        "Upload its gold and system files at Start: what is in them, not their names, decides."
        if only_this_machine()
        else "The link does not open here: its corpus is gone, belongs to another browser, or is no longer shared. Ask "
        "its owner for a link (Share), or upload the gold and system files at Start."
    )
    navigation.link_to("Start", ":primary[Upload your own files at Start →]", view)


def _count_run() -> None:
    runs = st.session_state.get(keys.RUNS, 0) + 1
    st.session_state[keys.RUNS] = runs
    with st.container(key=f"run-{runs}"):
        st.caption(f"nereval {__version__}")
