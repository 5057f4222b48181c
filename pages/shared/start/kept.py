"""Corpora that the server keeps: each opens again with a click, and is removed with two."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from nereval_core.store import Entry, EntryAccount, Store
from pages.shared.components import demo_cards
from pages.shared.data import caches
from pages.shared.data.http_policy import only_this_machine
from pages.shared.view import keys
from pages.shared.view.text import plain

SHOWN = 6
"""Corpora that are offered, those opened last."""
LAYERS = 4
"""Layers of a corpus that are named."""


def offer_kept(chosen: str | None) -> None:
    """Offer the corpora opened last; `chosen` is the digest of the corpus at hand.

    A server that others reach names nobody's corpora: there a link opens them.
    """
    keeper = caches.shelf().keeper
    if keeper.store is None:
        return
    entries = {entry.digest: entry for entry in reversed(keeper.store.entries())}
    if only_this_machine():
        last = sorted(entries.values(), key=lambda entry: -entry.used)[:SHOWN]
        found = [(entry, account) for entry in last if (account := keeper.store.account(entry)) is not None]
        if found:
            st.header(
                "Continue", help="What was read is kept in a folder of the server, so that it opens again at once."
            )
        for entry, account in found:
            _row(keeper.store, entry, account, chosen)
    if entries:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"Stored corpora: {len(entries):,}, {_size(sum(one.bytes for one in entries.values()))}")
            st.button("Clear the store", key="stored_clear", type="tertiary", on_click=keeper.store.clear)
    if keeper.trouble:
        st.caption(f"The corpus read last could not be stored: {plain(keeper.trouble, 200)}.")


def _row(store: Store, entry: Entry, account: EntryAccount, chosen: str | None) -> None:
    name, here = plain(account.name, 60), entry.digest == chosen
    layers = ", ".join(plain(layer, 30) for layer in account.layers[:LAYERS])
    more = f" and {len(account.layers) - LAYERS} more" if len(account.layers) > LAYERS else ""
    used = datetime.fromtimestamp(entry.used).strftime("%Y-%m-%d %H:%M")
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f"**{name}** · {layers}{more}")
        st.caption(f"{used} · {_size(entry.bytes)}", width="content")
        key = entry.digest[:16]
        label = "Chosen" if here else "Open"
        st.button(label, key=f"kept-{key}", disabled=here, on_click=_open, args=(entry.digest,))
        with st.popover("Remove", type="tertiary", key=f"{keys.LIST}remove-{key}", on_change="rerun") as popover:
            if popover.open:
                st.markdown(f"Remove the stored copy of **{name}**? Its verdicts stay.")
                st.button("Remove it", key=f"kept-remove-{key}", on_click=store.remove, args=(entry.digest,))


def _open(digest: str) -> None:
    loaded = caches.find(digest)
    if loaded is None:
        st.session_state[keys.UPLOAD_PROBLEMS] = ["stored corpus: it is damaged or gone; read its files again"]
    else:
        demo_cards.open_corpus(loaded)


def _size(size: int) -> str:
    units = (("GB", 1e9), ("MB", 1e6))
    return next((f"{size / one:,.1f} {unit}" for unit, one in units if size >= one), f"{size / 1e3:,.0f} kB")
