"""Corpora that the server keeps: each opens again with a click, at the records it was left at; renamed, removed.

On a server that others reach these are one's own uploads, which expire.
"""

from __future__ import annotations

from datetime import datetime
from urllib.parse import parse_qsl

import streamlit as st

from nereval_core.store import Entry, EntryAccount
from pages.shared.components import navigation, opening
from pages.shared.data import caches, expiry
from pages.shared.server.access import only_this_machine
from pages.shared.server.ownership import visitor
from pages.shared.view import keys
from pages.shared.view.link import read_link
from pages.shared.view.text import plain

SHOWN = 6
"""Corpora that are offered, those opened last."""
LAYERS = 4
"""Layers of a corpus that are named."""


def offer_kept(digest: str | None) -> None:
    """Offer the visitor's own corpora that were opened last; `chosen` is the digest of the corpus at hand."""
    keeper = caches.shelf().keeper
    if keeper.store is None:
        return
    alone, owned = only_this_machine(), caches.shelf().ownership
    mine = [entry for entry in keeper.store.entries() if alone or owned.owner(entry) == visitor()]
    entries = {entry.digest: entry for entry in reversed(mine)}
    last = sorted(entries.values(), key=lambda entry: -entry.used)[:SHOWN]
    accounts = [(entry, account) for entry in last if (account := keeper.store.account(entry)) is not None]
    if accounts:
        days = expiry.days_kept()
        until = "" if days is None else f" It goes when nobody has opened it for {days} days."
        st.header(
            "Continue" if alone else "Your uploads",
            help=f"What was read is kept in a folder of the server, so that it opens again at once.{until}",
        )
    for entry, account in accounts:
        _row(entry, account, digest)
    if entries and alone:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"Stored corpora: {len(entries):,}, {_size(sum(stored.bytes for stored in entries.values()))}")
            st.button("Clear the store", key="stored_clear", type="tertiary", on_click=keeper.store.clear)
    if keeper.trouble:
        st.caption(f"The corpus read last could not be stored: {plain(keeper.trouble, 200)}.")


def _row(entry: Entry, account: EntryAccount, digest: str | None) -> None:
    name, page = plain(account.name, 60), entry.digest == digest
    layers = ", ".join(plain(layer, 30) for layer in account.layers[:LAYERS])
    more = f" and {len(account.layers) - LAYERS} more" if len(account.layers) > LAYERS else ""
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f"**{name}** · {layers}{more}")
        if account.records and account.link:
            view, _ = read_link(dict(parse_qsl(account.link)))
            label = f":primary[{account.decided:,} of {account.records:,} decided →]"
            navigation.link_to("Inspect", label, view, help="Go on with the list that was reviewed last.")
        st.caption(f"{_when(datetime.fromtimestamp(entry.used))} · {_size(entry.bytes)}", width="content")
        key = entry.digest[:16]
        label = "Chosen" if page else "Open"
        st.button(label, key=f"kept-{key}", disabled=page, on_click=_open, args=(entry.digest,))
        popover = st.popover("Rename or remove", type="tertiary", key=f"{keys.LIST}remove-{key}", on_change="rerun")
        with popover:
            if popover.open:
                field = f"kept-name-{key}"
                st.text_input("Name", value=account.name, max_chars=80, key=field)
                st.button("Rename", key=f"kept-rename-{key}", on_click=_rename, args=(entry.key, field))
                st.markdown(f"Remove the stored copy of **{name}**? Its verdicts stay.")
                st.button("Remove it", key=f"kept-remove-{key}", on_click=_remove, args=(entry.digest,))


def _remove(digest: str) -> None:
    """Remove the visitor's corpus; what others have uploaded stays theirs."""
    caches.shelf().remove(digest, None if only_this_machine() else visitor())


def _rename(key: str, field: str) -> None:
    if name := st.session_state[field].strip():
        try:
            caches.shelf().rename(key, name)
        except OSError as error:
            st.session_state[keys.UPLOAD_PROBLEMS] = [f"stored corpus: the name could not be kept: {error.strerror}"]


def _when(time: datetime) -> str:
    days = (datetime.now().date() - time.date()).days
    return {0: f"today, {time:%H:%M}", 1: "yesterday"}.get(days, f"{time:%Y-%m-%d}")


def _open(digest: str) -> None:
    loaded = caches.find(digest)
    if loaded is None:
        st.session_state[keys.UPLOAD_PROBLEMS] = ["stored corpus: it is damaged or gone; read its files again"]
    else:
        opening.open_corpus(loaded)


def _size(size: int) -> str:
    units = (("GB", 1e9), ("MB", 1e6))
    return next((f"{size / factor:,.1f} {unit}" for unit, factor in units if size >= factor), f"{size / 1e3:,.0f} kB")
