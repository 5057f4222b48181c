"""A slide show: the title, figures, then one record after the other, of a playlist or of the list of Inspect."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from nereval_core.records.queries import Query
from nereval_core.report.slides import STYLE
from nereval_core.review.playlists import LINK_DIGITS, Playlist
from pages.shared.data import caches, playlists
from pages.shared.data.page_context import PageContext
from pages.shared.present.deck import Deck, deck_of, example_of
from pages.shared.present.drawing import first_slide_html, record_slide_html
from pages.shared.server.component_files import component
from pages.shared.view import (
    FIGURE_SLIDES,
    FIGURES_OF_SYSTEM,
    PATTERN_SLIDE,
    RECORD_SLIDES,
    TITLE_SLIDE,
    View,
    is_pattern,
    keys,
    state,
)
from pages.shared.view.queries import lasting, query_of, view_of

KEYS = "→ or space: next · ←: back · Home, End · b: blank · Escape: leave"


@dataclass(frozen=True)
class Show:
    """Position in a slide show: the ids of the slides around, the present one's place among them, the first and last.

    The title's id is "", that of a figure its word. `number` counts the present record among the `total`, from 1; it is
    0 where it is not among them: the title, a figure, or what a list has no more.
    """

    ids: list[str]
    at: float
    ends: tuple[str, str]
    number: int
    total: int

    @property
    def present(self) -> str | None:
        """The id of the present slide, None for a record that has left the list."""
        return self.ids[int(self.at)] if self.at == int(self.at) else None

    @property
    def place(self) -> str:
        return f"{self.number:,} of {self.total:,}" if self.number else f"not among the {self.total:,}"


def shows_slides(view: View) -> bool:
    """Tell whether a view shows slides: not those of a playlist that there is none of."""
    return bool(view.slide) and (not view.playlist or playlists.playlist_of(view) is not None)


def first_slide(page: PageContext, playlist: Playlist | None, item: str = "") -> View:
    """Return the view of the first slide, or of an item's; a list keeps to the document that it is narrowed down to."""
    view = page.view
    if playlist is not None:
        place = playlist.find(item)
        if place is not None:
            return playlists.view_of_item(view, playlist, playlist.items[place], page.loaded, caches.find)
        return playlists.with_playlist(replace(view, doc="", record="", slide="record"), playlist)
    query = query_of(view)
    if query.doc and page.ledger().is_in_memory:
        view = view_of(view, lasting(query))
    return replace(view, playlist="", record="", doc="" if view.record else view.doc, slide="record")


def draw_slides(page: PageContext) -> None:
    """Draw the slide of the view, and take the keys."""
    st.html(CHROME)
    playlist = playlists.playlist_of(page.view)
    if playlist is not None and not page.view.record and (place := playlist.find(_item(page.view))) is not None:
        # A link may name the item alone.
        view = playlists.view_of_item(page.view, playlist, playlist.items[place], page.loaded, caches.find)
        if view.record:
            state.put(view)
            st.rerun()
    deck = deck_of(page, playlist)
    show = _of_list(deck) if playlist is None else _of_playlist(deck)
    # Before the slide: a key that is pressed as soon as it is seen is to be taken.
    take_keys(show.ids, show.at, show.ends, key=f"{keys.PLAYLIST}slides", on_step=_step, on_leave=_leave)
    if show.present in deck.first_ids:
        html = first_slide_html(deck, show.present, KEYS)
    else:
        item = deck.items[show.number - 1] if deck.items else None
        html = record_slide_html(page, deck.heading, show.place, item, find=caches.find)
    st.html(str(STYLE + html))
    _prepare(deck, show)


def _of_playlist(deck: Deck) -> Show:
    first = deck.first_ids
    ids = [*first, *(item.uid[:LINK_DIGITS] for item in deck.items)]
    place = _place(deck)
    at = _among(first, deck.page.view) if place is None else len(first) + place
    return Show(ids, at, ("", ids[-1]), 0 if place is None else place + 1, len(deck.items))


def _place(deck: Deck) -> int | None:
    """Return the index of the playlist's item that is shown, None for another slide."""
    if deck.playlist is None or not deck.has_records:
        return None
    return deck.playlist.find(_item(deck.page.view))


def _of_list(deck: Deck) -> Show:
    page, first_ids = deck.page, deck.first_ids
    view = page.view
    if not deck.has_records:
        return Show(first_ids, _among(first_ids, view), ("", first_ids[-1]), 0, 0)
    ledger, query = page.ledger(), _listed(page)
    total = ledger.total(query).records
    first = ledger.first(query)
    last = _last(page, query, total) or first_ids[-1]
    if not view.record:
        # Fast keys go on from the title before the answer to the first of them is there.
        queue = ledger.near(query, *first).queue if first else []
        at = _among(first_ids, view)
        return Show([*first_ids, *(_id(*name) for name in queue)], at, ("", last), 0, total)
    near = ledger.near(query, view.doc, view.record, _start(view.record))
    ids = [_id(*name) for name in near.queue]
    place = near.at
    if first is None or ids[:1] == [_id(*first)]:
        ids, place = [*first_ids, *ids], place + len(first_ids)
    # A record that has left the list, by a verdict say, is shown all the same, between its neighbours.
    return Show(ids, place, ("", last), near.number, total)


def _among(first_ids: list[str], view: View) -> int:
    word = view.pattern if view.slide == PATTERN_SLIDE else view.slide
    return first_ids.index(word) if word in first_ids else 0


def _listed(page: PageContext) -> Query:
    return replace(page.query(), doc="") if page.view.record else page.query()


def _last(page: PageContext, query: Query, total: int) -> str:
    """Return the id of the last record, the title's where there is none."""
    if not total:
        return ""
    last = page.ledger().page(query, first=total - 1, rows=1).iloc[0]
    return _id(str(last["document"]), str(last["record"]))


def _id(doc: str, record: str) -> str:
    return json.dumps([doc, record])


def _item(view: View) -> str:
    return view.playlist.partition("/")[2]


def _start(record: str) -> int:
    return int(record.split(":")[1].split("-")[0])


def _step(slide: str) -> None:
    """Go to a slide (a callback)."""
    view = state.view()
    playlist = playlists.playlist_of(view)
    if view.record and not view.deck and playlist is None:
        # A link to one record is to a list: its title is that of the list too.
        figures = () if "records-only" in view.layout else FIGURES_OF_SYSTEM
        view = replace(view, deck=(TITLE_SLIDE, *figures, RECORD_SLIDES))
    place = None if playlist is None else playlist.find(slide)
    if playlist is not None and place is not None:
        loaded = caches.find(view.corpus)
        view = playlists.view_of_item(view, playlist, playlist.items[place], loaded, caches.find)
    elif not slide or slide in FIGURE_SLIDES:
        view = playlists.with_playlist(replace(view, doc="", record="", slide=slide or "record"), playlist)
    elif is_pattern(slide):
        view = replace(view, doc="", record="", slide=PATTERN_SLIDE, pattern=slide)
        view = playlists.with_playlist(view, playlist)
    else:
        doc, record = json.loads(slide)
        view = replace(view, doc=doc, record=record, slide="record")
    state.put(view)


def _leave() -> None:
    state.put(replace(state.view(), slide=""))


def _prepare(deck: Deck, show: Show) -> None:
    """Score the next document already, so that the next key need not wait for it."""
    page, place = deck.page, int(show.at) + 1
    if place >= len(show.ids) or show.ids[place] in FIGURE_SLIDES:
        return
    if is_pattern(show.ids[place]):
        page.reading(example_of(page, show.ids[place])[0])
    elif deck.playlist is None:
        page.reading(json.loads(show.ids[place])[0])
    else:
        item = deck.items[place - len(deck.first_ids)]
        view = playlists.shown_in(page.loaded, item, page.view)
        if view is not None and view.criterion in page.criteria and view.reference == page.view.reference:
            replace(page, view=view).reading(view.doc)


_HERE = Path(__file__).parent
CHROME = _HERE / "chrome.css"
"""Styles that hide the app around a slide."""
_mount = component(
    "nereval_slides",
    css=(_HERE / "slides.css").read_text(encoding="utf-8"),
    js=(_HERE / "slides.js").read_text(encoding="utf-8"),
)


def take_keys(
    ids: Sequence[str],
    at: float,
    ends: tuple[str, str],
    *,
    key: str,
    on_step: Callable[[str], None],
    on_leave: Callable[[], None],
) -> None:
    """Take the keys: `ids` are those of the slides around the present one, at place `at`, `ends` the first and last.

    Ids are absolute, so that fast keys lose no step. `at` is halfway between two where the present one is not there.
    """

    def take_step() -> None:
        step = st.session_state[key]["step"]
        if step is not None:
            on_step(str(step["id"]))

    def leave() -> None:
        if st.session_state[key]["leave"]:
            on_leave()

    _mount(
        data={"ids": list(ids), "at": at, "ends": list(ends)}, key=key, on_step_change=take_step, on_leave_change=leave
    )
