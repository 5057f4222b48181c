"""The menu that shares a page: the link to its view, the report, and the switch that masks texts."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from pages.shared.components import report_button
from pages.shared.data import caches, masks, own_criteria
from pages.shared.data.page_context import PageContext
from pages.shared.server.access import only_this_machine
from pages.shared.server.ownership import visitor
from pages.shared.view import MASKED, keys, state
from pages.shared.view.codecs import is_key
from pages.shared.view.link import LIMIT

SERVE = "streamlit run app.py --server.address 0.0.0.0"


def draw_share_menu(page: PageContext, fits: bool) -> None:
    """Draw the menu; `fits`: the view fits a link."""
    with st.popover("Share", key=f"{keys.BAR}share_menu", on_change="rerun") as popover:
        if popover.open:
            _link(page, fits)
            report_button.offer_report(page)
            _masking(page)


def _link(page: PageContext, fits: bool) -> None:
    local, shared = only_this_machine(), caches.shelf().ownership
    st.markdown("**Copy link** (this machine only)" if local else "**Copy link**")
    read, view = page.loaded.key, state.view()
    own = not local and page.loaded.owner == visitor()
    if own:
        if not (key := shared.key(read)):
            st.caption("What you uploaded opens in this browser alone. A link lets others in who may use this server.")
            st.button("Make a link", key=f"{keys.BAR}share", on_click=_share, args=(read,))
            return
        view = replace(view, corpus=key)
    if fits:
        params = state.link(view)
        st.code(f"{st.context.url or ''}?{urlencode(params)}", language=None, wrap_lines=True)
        own_criteria.say_not_carried(state.view(), carried="rule" in params)
    else:
        st.caption(f"What is shown does not fit a link of {LIMIT:,} characters. Clear some of it.")
    if is_key(view.corpus) and own:
        st.caption("Whoever may use this server opens what you uploaded by this link, until you withdraw it.")
        st.button("Withdraw the link", key=f"{keys.BAR}withdraw", on_click=shared.withdraw, args=(read,))
    if local:
        st.caption("The server listens only on this machine, so the link opens here alone. To let others in:")
        st.code(SERVE, language=None, wrap_lines=True)
        st.caption("It prints an address with a token, which visitors need; name theirs with --server.allowedHosts.")


def _share(read: str) -> None:
    """Make the key under which others open what was read (a callback)."""
    caches.shelf().ownership.share(read)


def _masking(page: PageContext) -> None:
    """Offer to mask the texts; a server that masks everything says so."""
    if page.loaded.folder is not None:
        return
    st.toggle(
        "Mask the text",
        **state.mirror_field("mask", bool(page.view.mask), lambda on: MASKED if on else ""),
        disabled=masks.all_masked(),
        help="Letters and digits are replaced, everything else stays: for data that must not be seen. Scores and "
        "records are the same. " + ("This server masks everything." if masks.all_masked() else ""),
    )
