"""The choice of the playlist that starred records are put on."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from nereval_core.review.playlists import NAME_CHARACTERS, Playlist
from pages.shared.components import navigation
from pages.shared.components.record_list import count
from pages.shared.data import masks, playlists, verdict_store
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys, state
from pages.shared.view.text import plain

NEW = f"{keys.PLAYLIST}new"


def draw_playlist(page: PageContext) -> None:
    """Draw the choice of the playlist that records are put on."""
    if verdict_store.problems():
        return
    playlist = playlists.target_playlist(page.view)
    choose_playlist(playlist)
    view = replace(playlists.with_playlist(page.view, playlist), slide="")
    navigation.link_to("Present", ":primary[Order, comment and present →]", view)


def choose_playlist(playlist: Playlist | None) -> None:
    """Offer the playlists, and to make another one."""
    every = playlists.now().standing
    if every:
        widget = state.mirror("choice", None if playlist is None else playlist.uid, _choose, prefix=keys.PLAYLIST)
        names = {one.uid: f"{one.name} · {count(len(one.items), 'record')}" for one in every}
        st.selectbox("Playlist", list(names), format_func=names.__getitem__, index=None, width=300, **widget)
    if verdict_store.is_read_only():
        return
    st.text_input(
        "New playlist", key=NEW, max_chars=NAME_CHARACTERS, placeholder="its name", on_change=_make, width=200
    )


def show_playlist_problems() -> None:
    """Show the problems of the last change, once."""
    found = st.session_state.pop(keys.PLAYLIST_PROBLEMS, None)
    if found:
        st.warning("  \n".join(plain(masks.mask_message(line), 400) for line in found))


def _choose(uid: str | None) -> None:
    state.put(playlists.with_playlist(state.view(), playlists.now().find(uid or "")))


def _make() -> None:
    name = st.session_state[NEW]

    def change() -> None:
        state.put(playlists.with_playlist(state.view(), playlists.make_playlist(name)))

    if name.strip():
        playlists.try_change(change)
        st.session_state[NEW] = ""
