"""The page before the slides: the choice of a playlist, its records in order, their comments, and the way on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nereval_core.report.slides import from_word, to_word
from nereval_core.review.playlists import COMMENT_CHARACTERS, LINK_DIGITS, NAME_CHARACTERS, Item, Playlist, move_item
from pages.shared import present
from pages.shared.components import navigation
from pages.shared.components.navigation import toggle_layout
from pages.shared.data import caches, masks, playlists, verdict_store
from pages.shared.data.page_context import PageContext
from pages.shared.view import View, keys, state
from pages.shared.view.text import count, plain, show_problems

ROWS = 25
"""Records of a playlist on one page: each has fields and buttons of its own."""
WORDS, BESIDE = 80, 30
"""Characters of a span's words in a row, and of those before and after it."""
TYPED = -1
"""In place of the version of a comment in view: what was typed over it was not kept."""
HOW = (
    "A playlist is a choice of records for a meeting. Star records on Inspect (button, or key `s`), then "
    "order them here, comment on them and show them in large type."
)


def draw_lobby(page: PageContext) -> None:
    own = playlists.playlist_of(page.view)
    playlist = own or playlists.target_playlist(page.view)
    show_playlist_problems()
    if verdict_store.problems():
        show_problems([str(problem) for problem in verdict_store.problems()])
    elif page.view.playlist and own is None:
        st.warning(
            "The playlist of this link is not in this server's store of verdicts. Ask whoever sent the link which "
            "store it is in (NEREVAL_REVIEW_URL, or --review FILE)."
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choose_playlist(playlist)
        _begin(page, playlist)
    if playlist is None:
        st.info(HOW)
        navigation.link_to("Inspect", ":primary[Star records on Inspect →]", page.view)
        return
    _about(page, playlist)
    _items(page, playlist)


def find_corpus() -> None:
    """Open a playlist in the corpus that its first record was starred in, where this server has it."""
    view = state.view()
    playlist = playlists.playlist_of(view)
    if playlist is None:
        return
    for item in playlist.items:
        loaded = caches.find(item.starred.shown.corpus)
        item_view = None if loaded is None else playlists.shown_in(loaded, item, view)
        if item_view is not None:
            state.put(replace(view, corpus=item_view.corpus, system=item_view.system, criterion=item_view.criterion))
            st.rerun()
    if not playlist.items:
        st.info(f"Nothing is on the playlist {plain(playlist.name)} yet. {HOW}")
        return
    st.warning(
        f"The playlist {plain(playlist.name)} has {count(len(playlist.items), 'record')}, none of a corpus that this "
        "server has. Upload one at Start: "
        + "; ".join(dict.fromkeys(item.starred.shown.corpus[:16] for item in playlist.items))
    )
    for item in playlist.items[:ROWS]:
        st.markdown(
            f"- {_quote(item)}"
            + (f" — {plain(comment, COMMENT_CHARACTERS)}" if (comment := playlists.item_comment(item)) else "")
        )


def _begin(page: PageContext, playlist: Playlist | None) -> None:
    """Offer to present the playlist, and the records that Inspect lists."""
    total = page.ledger().total(page.query()).records
    if playlist is not None:
        st.button(
            f"Present {count(len(playlist.items), 'record')}",
            key=f"{keys.PLAYLIST}begin",
            type="primary",
            disabled=not playlist.items,
            on_click=state.put,
            args=(present.first_slide(page, playlist),),
        )
    st.button(
        f"Present the {count(total, 'record')} that Inspect lists",
        key=f"{keys.PLAYLIST}begin_list",
        type="secondary" if playlist is not None else "primary",
        disabled=not total,
        on_click=state.put,
        args=(present.first_slide(page, None),),
    )
    toggle_layout(page, "records-only", "Records only", "Without the scores and the confusion table after the title.")


def _about(page: PageContext, playlist: Playlist) -> None:
    """Say whose the playlist is, and offer its link, another name, and to remove it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        by = f" · {plain(playlist.who)}" if playlist.who else ""
        st.markdown(f"**{plain(playlist.name)}** · {count(len(playlist.items), 'record')}{by}")
        with st.popover("Link", type="tertiary"):
            view = View(playlist=playlist.uid[:LINK_DIGITS], mask=page.view.mask, slide="record")
            st.code(f"{st.context.url or ''}?{urlencode(state.link(view))}", language=None, wrap_lines=True)
            st.caption("It opens the slides on any server that has this store of verdicts and the corpus.")
        with st.popover("Rename or remove", type="tertiary"):
            widget = state.mirror("name", playlist.name, partial(_rename, playlist), prefix=keys.PLAYLIST)
            st.text_input("Name", max_chars=NAME_CHARACTERS, **widget)
            st.button("Remove this playlist", key=f"{keys.PLAYLIST}remove", on_click=_remove, args=(playlist,))


def _items(page: PageContext, playlist: Playlist) -> None:
    if not playlist.items:
        st.info("Nothing is on it yet. " + HOW)
        return
    if masks.is_masked():
        st.caption(f"{present.HIDDEN} A playlist's name is shown.")
    pages = -(-len(playlist.items) // ROWS)
    number = 1
    if pages > 1:
        key = f"{keys.PLAYLIST}page_{playlist.uid[:LINK_DIGITS]}_{pages}"
        number = int(st.number_input(f"Page of {pages:,} ({ROWS} records each)", 1, pages, key=key, width=220))
    for place in range((number - 1) * ROWS, min(number * ROWS, len(playlist.items))):
        _row(page, playlist, place)


def _row(page: PageContext, playlist: Playlist, place: int) -> None:
    item = playlist.items[place]
    with st.container(border=True, key=f"{keys.PLAYLIST}row_{item.uid[:LINK_DIGITS]}"):
        words, comment, act = st.columns([5, 5, 3], vertical_alignment="center")
        starred = item.starred.shown
        words.markdown(f"{place + 1}\\. {_quote(item)}")
        words.caption(f"{plain(starred.system)} · {plain(starred.criterion)} · {plain(starred.document)}")
        if not masks.is_masked():
            _note(playlist, item, comment)
        with act.container(horizontal=True, gap="small", horizontal_alignment="right"):
            for sign, to, direction in (("↑", place - 1, "up"), ("↓", place + 1, "down")):
                st.button(
                    sign,
                    key=f"{keys.PLAYLIST}{direction}_{item.uid[:LINK_DIGITS]}",
                    disabled=not 0 <= to < len(playlist.items),
                    help=f"Move {direction}",
                    on_click=_move,
                    args=(playlist, place, to),
                )
            st.button(
                "▶",
                key=f"{keys.PLAYLIST}from_{item.uid[:LINK_DIGITS]}",
                help="Present from here",
                on_click=_from,
                args=(page, playlist, item.uid),
            )
            st.button(
                "×",
                key=f"{keys.PLAYLIST}out_{item.uid[:LINK_DIGITS]}",
                help="Take it out",
                on_click=_out,
                args=(playlist, item),
            )


def _note(playlist: Playlist, item: Item, place: DeltaGenerator) -> None:
    """Draw the field of an item's comment."""
    key = f"{keys.PLAYLIST}comment_{playlist.uid[:LINK_DIGITS]}_{item.uid[:LINK_DIGITS]}"
    if key not in st.session_state or st.session_state.get(f"{key}_seen") not in (item.version, TYPED):
        st.session_state[key] = item.comment
    st.session_state[f"{key}_seen"] = item.version
    place.text_area(
        "Comment",
        key=key,
        max_chars=COMMENT_CHARACTERS,
        height=68,
        placeholder="What to say about it",
        label_visibility="collapsed",
        on_change=_comment,
        args=(playlist, item, key),
    )


def _quote(item: Item) -> str:
    """Return the words of an item as they were, as Markdown."""
    before, quote, after = playlists.item_words(item)
    before, after = from_word(before, BESIDE), to_word(after, BESIDE)
    apart = [" " if piece[at : at + 1 or None].isspace() else "" for piece, at in ((before, -1), (after, 0))]
    return f"{plain(before)}{apart[0]}**{plain(quote, WORDS)}**{apart[1]}{plain(after)}"


def _from(page: PageContext, playlist: Playlist, item: str) -> None:
    state.put(present.first_slide(page, playlist, item))


def _move(playlist: Playlist, place: int, to: int) -> None:
    playlists.try_change(lambda: playlists.store().order(playlist.uid, move_item(playlist, place, to), playlists.who()))


def _comment(playlist: Playlist, item: Item, key: str) -> None:
    typed = str(st.session_state[key]).strip()
    if not playlists.try_change(lambda: playlists.store().comment(playlist.uid, item, typed, playlists.who())):
        # It stays in the field, to be kept over what somebody else wrote meanwhile, or not.
        st.session_state[f"{key}_seen"] = TYPED


def _out(playlist: Playlist, item: Item) -> None:
    playlists.try_change(lambda: playlists.store().unstar(playlist.uid, item, playlists.who()))


def _rename(playlist: Playlist, name: str) -> None:
    playlists.try_change(lambda: playlists.store().rename(playlist, name, playlists.who()))


def _remove(playlist: Playlist) -> None:
    def change() -> None:
        playlists.store().remove(playlist, playlists.who())
        state.put(replace(state.view(), playlist=""))

    playlists.try_change(change)


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
    playlists_here = playlists.now().standing
    if playlists_here:
        widget = state.mirror("choice", None if playlist is None else playlist.uid, _choose, prefix=keys.PLAYLIST)
        names = {choice.uid: f"{choice.name} · {count(len(choice.items), 'record')}" for choice in playlists_here}
        st.selectbox("Playlist", list(names), format_func=names.__getitem__, index=None, width=300, **widget)
    if verdict_store.is_read_only():
        return
    st.text_input(
        "New playlist", key=NEW, max_chars=NAME_CHARACTERS, placeholder="its name", on_change=_make, width=200
    )


def show_playlist_problems() -> None:
    """Show the problems of the last change, once."""
    problems = st.session_state.pop(keys.PLAYLIST_PROBLEMS, None)
    if problems:
        st.warning("  \n".join(plain(masks.mask_message(line), 400) for line in problems))


def _choose(uid: str | None) -> None:
    state.put(playlists.with_playlist(state.view(), playlists.now().find(uid or "")))


def _make() -> None:
    name = st.session_state[NEW]

    def change() -> None:
        state.put(playlists.with_playlist(state.view(), playlists.make_playlist(name)))

    if name.strip():
        playlists.try_change(change)
        st.session_state[NEW] = ""
