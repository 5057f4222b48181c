"""The page before the slides: the deck as thumbnails, its order, its file, and the playlists that records come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from nereval_core.report.slides import STYLE, from_word, to_word
from nereval_core.review.playlists import COMMENT_CHARACTERS, LINK_DIGITS, NAME_CHARACTERS, Item, Playlist, move_item
from pages.shared import present
from pages.shared.components import navigation
from pages.shared.data import caches, masks, playlists, verdict_store
from pages.shared.data.memo import key_of
from pages.shared.data.page_context import PageContext
from pages.shared.inspect import patterns
from pages.shared.present.deck import (
    FIGURE_NAMES,
    SUGGESTED_PATTERNS,
    Deck,
    deck_of,
    figures_of,
    finds_patterns_last,
    groups_by_key,
    sentence_of,
    waits_for_patterns,
)
from pages.shared.present.deck_file import Session, deck_file, deck_in_file, item_page
from pages.shared.present.drawing import HIDDEN, first_slide_html, record_slide_html
from pages.shared.view import (
    FIGURE_SLIDES,
    FIGURES_OF_SYSTEM,
    PATTERN_SLIDE,
    RECORD_SLIDES,
    View,
    is_pattern,
    keys,
    state,
)
from pages.shared.view.text import count, named, plain, show_problems

ROWS = 12
"""Records of a playlist on one page: each has fields and buttons of its own."""
WORDS, BESIDE = 80, 30
"""Characters of a span's words in a row, and of those before and after it."""
CAPTION = 90
"""Characters of the name of a slide under its thumbnail."""
TYPED = -1
"""In place of the version of a comment in view: what was typed over it was not kept."""
HOW = "Star records on Inspect (button, or key `s`) to put them on a playlist with comments."
THUMBNAILS = present.CHROME.with_name("thumbnails.css")


def draw_lobby(page: PageContext) -> None:
    playlist = playlists.playlist_of(page.view)
    show_playlist_problems()
    if verdict_store.problems():
        show_problems([str(problem) for problem in verdict_store.problems()])
    elif page.view.playlist and playlist is None:
        st.warning(
            "The playlist of this link is not in this server's store of verdicts. Ask whoever sent the link for the "
            "server that has it."
        )
    # Patterns of many spans take seconds: title, scores and confusions stand there before.
    is_found = st.session_state.get(keys.PATTERNS_FOUND) == key_of(page) or not finds_patterns_last(page)
    deck = deck_of(page, playlist, with_patterns=is_found)
    session = Session.of_deck(deck)
    st.markdown(_sentence(deck))
    search = st.empty()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _begin(deck, session)
    in_file = deck_in_file(deck)
    if in_file.n_slides < deck.n_slides:
        st.caption(f"*Download* has {count(in_file.n_slides, 'slide')}, with {in_file.records}.")
    st.html(THUMBNAILS)
    st.html(str(STYLE))
    with st.container(horizontal=True, gap="medium", key=f"{keys.PLAYLIST}deck"):
        for place, word in enumerate(deck.first_ids):
            _slide(deck, word, place)
        if deck.has_records and playlist is None:
            _listed_records(deck)
    if is_found:
        _add_slides(deck)
    if playlist is None:
        st.caption(HOW)
    else:
        _about(playlist)
        _items(deck, session)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choose_playlist(playlist)
        navigation.link_to("Inspect", ":primary[Star records on Inspect →]", page.view)
    if not is_found:
        with search:
            patterns.groups_of(page)
        st.session_state[keys.PATTERNS_FOUND] = key_of(page)
        st.rerun()


def _sentence(deck: Deck) -> str:
    """Return what the deck is, in a sentence."""
    page = deck.page
    kind = "Suggested: " if not page.view.deck and deck.playlist is None else ""
    are = "is" if deck.n_missing == 1 else "are"
    missing = (
        f" {count(deck.n_missing, 'pattern')} of this deck {are} not among the errors here." if deck.n_missing else ""
    )
    return f"{kind}**{count(deck.n_slides, 'slide')}** on {named(page.system)}: title, {deck.contents}.{missing}"


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
        comment = playlists.item_comment(item, is_masked=masks.is_masked())
        st.markdown(
            f"- {_quote(*playlists.item_words(item, is_masked=masks.is_masked()))}"
            + (f" — {plain(comment, COMMENT_CHARACTERS)}" if comment else "")
        )


def _begin(deck: Deck, session: Session) -> None:
    """Offer to present the deck, its file, its link, and the records that Inspect lists."""
    page = deck.page
    st.button(
        f"Present {count(deck.n_slides, 'slide')}",
        key=f"{keys.PLAYLIST}begin",
        type="primary",
        icon=":material/slideshow:",
        on_click=state.put,
        args=(present.first_slide(page, deck.playlist),),
    )
    st.download_button(
        "Download",
        partial(deck_file, deck, session),
        file_name="nereval-deck.html",
        mime="text/html",
        key="deck",
        on_click="ignore",
        icon=":material/download:",
        help="One HTML file, which opens in any browser without this server: keys, speaker's notes, dark and light. "
        "Its key p prints it, or saves it as PDF.",
    )
    with st.popover("Link", type="tertiary"):
        view = replace(deck.view(), doc="", record="", slide="record")
        params = urlencode(state.link(view))
        st.code(f"{st.context.url or ''}?{params}", language=None, wrap_lines=True)
        needs = "the corpus" if deck.playlist is None else "the corpus and this store of verdicts"
        st.caption(f"It opens this deck on any server that has {needs}.")
    total = page.ledger().total(page.query()).records
    if not deck.has_records or deck.playlist is not None:
        listed = replace(deck, playlist=None, slides=FIGURES_OF_SYSTEM, has_records=True)
        st.button(
            f"Present the {count(total, 'record')} that Inspect lists",
            key=f"{keys.PLAYLIST}begin_list",
            type="tertiary",
            disabled=not total,
            on_click=state.put,
            args=(replace(present.first_slide(page, None), deck=listed.view().deck),),
        )
    if page.view.deck:
        st.button(
            "Back to the suggested deck",
            key=f"{keys.PLAYLIST}suggest",
            type="tertiary",
            on_click=state.put,
            args=(replace(page.view, deck=()),),
        )


def _slide(deck: Deck, word: str, place: int) -> None:
    """Draw the thumbnail of a slide before the records, with the buttons that move it and take it out."""
    slides = list(deck.slides)
    is_slide, at = bool(word), place - 1
    name = _name(deck, word)
    with _thumbnail(str(place), name, first_slide_html(deck, word, ""), partial(_present_from, deck, word)):
        st.caption(f"{place + 1}. {named(name, CAPTION)}")
        if is_slide:
            with st.container(horizontal=True, gap="small"):
                for direction, to in (("earlier", at - 1), ("later", at + 1)):
                    is_last = not 0 <= to < len(slides)
                    _icon_button(direction, str(place), name, is_last, _put_slides, deck, _moved(slides, at, to))
                others = [other for other in slides if other != word]
                _icon_button("drop", str(place), name, False, _put_slides, deck, others)


def _name(deck: Deck, word: str) -> str:
    if not word:
        return "Title"
    return FIGURE_NAMES.get(word) or sentence_of(deck.page, groups_by_key(deck.page)[word])


def _thumbnail(key: str, name: str, html: Markup, start: Callable[[], None]) -> DeltaGenerator:
    """Draw a slide small, below the button that presents from it; return the container for what stands below."""
    container = st.container(key=f"{keys.PLAYLIST}thumb_{key}", width=290)
    with container:
        # To a screen reader the button says which slide it is.
        st.html(Markup('<div class="nvt" aria-hidden="true">{}</div>').format(html))
        st.button(f"Present from: {named(name, CAPTION)}", key=f"{keys.PLAYLIST}from_{key}", on_click=start)
    return container


ACTIONS = {
    "earlier": ("Move earlier", ":material/arrow_back:"),
    "later": ("Move later", ":material/arrow_forward:"),
    "drop": ("Take out", ":material/close:"),
}
ACTIONS |= {"up": ACTIONS["earlier"], "down": ACTIONS["later"], "out": ACTIONS["drop"]}
"""The buttons below a thumbnail: slides are moved in the view, records on their playlist."""


def _icon_button(
    action: str, key: str, name: str, is_disabled: bool, act: Callable[..., None], *arguments: object
) -> None:
    """Draw a button whose words are for screen readers: which slide it is about."""
    words, icon = ACTIONS[action]
    st.button(
        f"{words}: {named(name, CAPTION)}",
        key=f"{keys.PLAYLIST}{action}_{key}",
        icon=icon,
        help=words,
        disabled=is_disabled,
        on_click=act,
        args=arguments,
    )


def _listed_records(deck: Deck) -> None:
    """Draw the first of the records that Inspect lists, which stands for all."""
    page = deck.page
    first = page.ledger().first(replace(page.query(), doc="") if page.view.record else page.query())
    if first is None:
        return
    start = replace(deck.view(), doc=first[0], record=first[1], slide="record")
    html = record_slide_html(replace(page, view=start), deck.heading, f"1 of {deck.n_records:,}")
    name = f"{count(deck.n_records, 'record')} that Inspect lists"
    with _thumbnail("list", name, html, partial(state.put, start)):
        st.caption(f"{len(deck.first_ids) + 1}. {name}")
        if deck.slides:
            _icon_button("drop", "list", name, False, _put_slides, deck, list(deck.slides), False)


def _add_slides(deck: Deck) -> None:
    """Offer the slides that are not in the deck: figures, further patterns, and the records."""
    page = deck.page
    groups = groups_by_key(page)
    names = {word: FIGURE_NAMES[word] for word in figures_of(page) if word not in deck.slides}
    names |= {
        word: f"{sentence_of(page, group)} ({count(group.records, 'record')})"
        for word, group in groups.items()
        if word not in deck.slides
    }
    if not deck.has_records:
        whose = "that Inspect lists" if deck.playlist is None else f"of {deck.playlist.name}"
        names[RECORD_SLIDES] = f"The records {whose}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if names:
            st.selectbox(
                "Add a slide",
                list(names),
                format_func=names.__getitem__,
                index=None,
                width=420,
                **state.mirror("add", None, partial(_add, deck), prefix=keys.PLAYLIST),
            )
        if not groups and waits_for_patterns(page):
            st.button("Look for patterns", key=f"{keys.PLAYLIST}patterns", on_click=_look_for_patterns, args=(deck,))


def _add(deck: Deck, word: str | None) -> None:
    if word == RECORD_SLIDES:
        _put_slides(deck, list(deck.slides), True)
    elif word is not None:
        _put_slides(deck, [*deck.slides, word])


def _look_for_patterns(deck: Deck) -> None:
    words = [str(group.key) for group in patterns.groups_of(deck.page)[:SUGGESTED_PATTERNS]]
    _put_slides(deck, [*deck.slides, *words])


def _put_slides(deck: Deck, slides: list[str], has_records: bool | None = None) -> None:
    """Give the deck other slides (a callback)."""
    state.put(replace(state.view(), deck=deck.words(slides, has_records=has_records)))


def _moved(slides: list[str], at: int, to: int) -> list[str]:
    others = [word for place, word in enumerate(slides) if place != at]
    return [*others[: max(to, 0)], *slides[at : at + 1], *others[max(to, 0) :]]


def _present_from(deck: Deck, word: str) -> None:
    """Show the slides from one on (a callback)."""
    view = replace(present.first_slide(deck.page, deck.playlist), deck=deck.view().deck)
    if is_pattern(word):
        view = replace(view, slide=PATTERN_SLIDE, pattern=word)
    state.put(replace(view, slide=word) if word in FIGURE_SLIDES else view)


def _about(playlist: Playlist) -> None:
    """Say whose the playlist is, and offer another name, and to remove it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        by = f" · {plain(playlist.who)}" if playlist.who else ""
        st.markdown(f"**{plain(playlist.name)}** · {count(len(playlist.items), 'record')}{by}")
        with st.popover("Rename or remove", type="tertiary"):
            widget = state.mirror("name", playlist.name, partial(_rename, playlist), prefix=keys.PLAYLIST)
            st.text_input("Name", max_chars=NAME_CHARACTERS, **widget)
            st.button("Remove this playlist", key=f"{keys.PLAYLIST}remove", on_click=_remove, args=(playlist,))


def _items(deck: Deck, session: Session) -> None:
    playlist = deck.playlist
    assert playlist is not None, "only a playlist has items"
    if not playlist.items:
        st.info("Nothing is on this playlist yet. " + HOW)
        return
    if masks.is_masked():
        st.caption(f"{HIDDEN} A playlist's name is shown.")
    pages = -(-len(playlist.items) // ROWS)
    number = 1
    if pages > 1:
        key = f"{keys.PLAYLIST}page_{playlist.uid[:LINK_DIGITS]}_{pages}"
        number = int(st.number_input(f"Page of {pages:,} ({ROWS} records each)", 1, pages, key=key, width=220))
    with st.container(horizontal=True, gap="medium", key=f"{keys.PLAYLIST}items"):
        for place in range((number - 1) * ROWS, min(number * ROWS, len(playlist.items))):
            _item(deck, playlist, place, session)


def _item(deck: Deck, playlist: Playlist, place: int, session: Session) -> None:
    item = playlist.items[place]
    key = item.uid[:LINK_DIGITS]
    page = item_page(deck, item, session)
    position = f"{place + 1:,} of {len(playlist.items):,}"
    html = record_slide_html(page, playlist.name, position, item, find=session.corpora.get)
    before, quote, after = playlists.item_words(item, is_masked=masks.is_masked())
    name = f"record {position}, {quote}"
    with _thumbnail(key, name, html, partial(_from, deck.page, playlist, item.uid)):
        starred = item.starred.shown
        st.caption(f"{len(deck.first_ids) + place + 1}. {_quote(before, quote, after)}")
        st.caption(f"{named(starred.system)} · {plain(starred.criterion)} · {named(starred.document)}")
        with st.container(horizontal=True, gap="small"):
            for direction, to in (("up", place - 1), ("down", place + 1)):
                is_last = not 0 <= to < len(playlist.items)
                _icon_button(direction, key, name, is_last, _move, playlist, place, to)
            _icon_button("out", key, name, False, _out, playlist, item)
        if not masks.is_masked():
            _note(playlist, item, st.container())


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


def _quote(before: str, quote: str, after: str) -> str:
    """Return the words of an item as they were, as Markdown."""
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


def draw_playlist(page: PageContext) -> View | None:
    """Draw the choice of the playlist that records are put on; return the view in which Present orders its records."""
    if verdict_store.problems():
        return None
    playlist = playlists.target_playlist(page.view)
    choose_playlist(playlist)
    return replace(playlists.with_playlist(page.view, playlist), slide="")


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
    state.put(playlists.with_playlist(replace(state.view(), deck=()), playlists.now().find(uid or "")))


def _make() -> None:
    name = st.session_state[NEW]

    def change() -> None:
        state.put(playlists.with_playlist(state.view(), playlists.make_playlist(name)))

    if name.strip():
        playlists.try_change(change)
        st.session_state[NEW] = ""
