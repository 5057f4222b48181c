"""The playlists that all sessions of a server share, and the one that this session puts records on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from urllib.parse import parse_qsl, urlencode

import numpy as np
import streamlit as st

from nereval_core.corpus import Documents
from nereval_core.corpus.masking import masked_text, original
from nereval_core.problems import FormatError
from nereval_core.records.match_records import record_ids, rows
from nereval_core.review.attribute import Records
from nereval_core.review.playlists import (
    LINK_DIGITS,
    ChangedError,
    Item,
    Playlist,
    Playlists,
    Shown,
    Starred,
    free_name,
)
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.verdicts import text_digest
from nereval_core.review.verdicts_on_records import text_digests, verdict_subject
from pages.shared.data import caches, reviewer, verdict_store
from pages.shared.data.loading import Loaded
from pages.shared.data.page_context import PageContext
from pages.shared.data.reference_layer import as_read
from pages.shared.server.access import only_this_machine
from pages.shared.view import View, keys, state
from pages.shared.view.link import read_link

FIRST = "Starred"
"""The name of the playlist that is made where somebody stars a record and there is none."""


@cache
def _kept() -> PlaylistStore:
    return PlaylistStore(verdict_store.store())


def store() -> PlaylistStore:
    """Return the store to write to.

    Raises:
        FormatError: the server takes no playlists, or the address that it was given is wrong.
    """
    verdict_store.store_to_write()
    return _kept()


def now() -> Playlists:
    """Return the playlists that stand; none where they cannot be read, which `verdicts.problems` says.

    On a server that others reach they have only records of corpora that the visitor may open.
    """
    if verdict_store.problems():
        return Playlists()
    try:
        lists = _kept().playlists()
    except FormatError:
        return Playlists()
    return lists if only_this_machine() else lists.of_items(may_see)


def may_see(item: Item) -> bool:
    """Return whether the words of an item are in the present corpus, or in one that the visitor may open."""
    present = caches.find(state.view().corpus)
    if present is not None and item.starred.key.text in text_digests(present.corpus.documents):
        return True
    return caches.find(item.starred.shown.corpus) is not None


def playlist_of(view: View) -> Playlist | None:
    """Return the playlist of a view, None where it names none or one that this server does not have."""
    return now().find(view.playlist.partition("/")[0])


def with_playlist(view: View, playlist: Playlist | None, item: str = "") -> View:
    """Return the view with a playlist chosen, and an item of it."""
    if playlist is None:
        return replace(view, playlist="")
    return replace(view, playlist=playlist.uid[:LINK_DIGITS] + (f"/{item[:LINK_DIGITS]}" if item else ""))


def target_playlist(view: View) -> Playlist | None:
    """Return the playlist that a record is put on: the one chosen, else the only one, else the one called FIRST."""
    standing = now().standing
    playlist = playlist_of(view)
    if playlist is None and len(standing) == 1:
        return standing[0]
    return playlist or next((other for other in standing if other.name == FIRST), None)


def star_of(page: PageContext, doc: str, record: str) -> Starred | None:
    """Return a record as it is put on a playlist; None where records are no spans, or there is none of this id."""
    if page.criterion.unit == "token":
        return None
    # Known by what it is, shown masked or not.
    scores = (replace(page, loaded=page.loaded.original) if page.loaded.original else page).reading(doc)
    records, gold = rows(scores, page.by), record.startswith("g:")
    ids = record_ids(scores.layers(page.by)[0 if gold else 1], record[0])
    if record not in ids:
        return None
    spans = records.gold if gold else records.pred
    places = np.flatnonzero((spans == ids.index(record)) & (records.anchored == gold))
    if not len(places):
        return None
    about = Records(scores, page.by, records, scores.read)
    key, _, subject = verdict_subject(about, int(places[0]))
    return Starred(key, subject, Shown(page.loaded.digest, page.system, page.by, doc, record, _settings(page.view)))


def _settings(view: View) -> str:
    """Return the other settings that a record is scored under, as parameters of a link."""
    rules = View(criterion=view.criterion, merge=view.merge, leaveout=view.leaveout, rule=view.rule)
    params = state.params_of(replace(rules, reference=view.reference)) or {}
    return urlencode({name: value for name, value in params.items() if name != "criterion"})


def put_on(starred: Starred, on: bool) -> None:
    """Put a record on the playlist, or take it out (a callback)."""
    view = state.view()

    def change() -> None:
        playlist = target_playlist(view) or make_playlist(FIRST)
        place = playlist.find(starred.uid)
        if on and place is None:
            store().star(playlist.uid, [starred], who())
        elif not on and place is not None:
            store().unstar(playlist.uid, playlist.items[place], who())
        state.put(with_playlist(state.view(), playlist))

    try_change(change)


def make_playlist(name: str) -> Playlist:
    """Make a playlist, with a number after its name where that is taken."""
    uid = store().make(free_name(now().standing, name.strip()), who())
    playlist = now().find(uid)
    assert playlist is not None, "what was made is there"
    return playlist


def who() -> str:
    """Return the name that is stored with a change, "" where none is known: nobody is asked for it."""
    return reviewer.reviewer_name()


def try_change(change: Callable[[], object]) -> bool:
    """Make a change in a callback; return whether it succeeded. The next run shows the problems."""
    try:
        change()
        st.session_state.pop(keys.PLAYLIST_PROBLEMS, None)
        return True
    except FormatError as error:
        st.session_state[keys.PLAYLIST_PROBLEMS] = error.lines()
    except ChangedError as error:
        st.session_state[keys.PLAYLIST_PROBLEMS] = [f"Nothing was changed, as somebody was faster. {error}."]
    return False


def place_of(loaded: Loaded, item: Item) -> str | None:
    """Return the document of a corpus that has the text of an item, None where none has it."""
    documents = original(loaded.corpus.documents)
    text = item.starred.key.text
    for name in dict.fromkeys((item.starred.shown.document, item.starred.seen.document)):
        number = documents.index.get(name)
        if number is not None and text_digest(documents.texts[number]) == text:
            return name
    # To look through the texts of a scored folder would be to read all of it.
    if not isinstance(documents, Documents):
        return None
    digests = text_digests(documents)
    return documents.ids[digests.index(text)] if text in digests else None


def shown_in(loaded: Loaded, item: Item, view: View) -> View | None:
    """Return the view that shows an item in a corpus, None where its text or its system is not in it."""
    original_view = item.starred.shown
    settings, _ = read_link(dict(parse_qsl(original_view.settings)))
    names = {layer.name for layer in as_read(loaded).corpus.systems}
    document = place_of(loaded, item)
    if document is None or (not settings.reference and original_view.system not in names):
        return None
    return replace(
        view,
        corpus=loaded.digest,
        system=original_view.system,
        criterion=original_view.criterion,
        merge=settings.merge,
        leaveout=settings.leaveout,
        rule=settings.rule,
        reference=settings.reference,
        doc=document,
        record=original_view.record,
    )


def view_of_item(
    view: View, playlist: Playlist, item: Item, page: Loaded | None, find: Callable[[str], Loaded | None]
) -> View:
    """Return the view of an item's slide: in the present corpus where that has it, else in the one it was starred in.

    Where neither is to be had the view names the item alone, no record.
    """
    corpora = (page, find(item.starred.shown.corpus))
    item_view = next(
        (own for loaded in corpora if loaded is not None and (own := shown_in(loaded, item, view)) is not None), None
    )
    if item_view is None:
        item_view = replace(view, doc="", record="")
    return with_playlist(replace(item_view, slide="record"), playlist, item.uid)


def has_text_of(loaded: Loaded, item: Item) -> bool:
    """Tell whether a corpus has the text of an item."""
    return place_of(loaded, item) is not None


def item_words(item: Item, *, is_masked: bool) -> tuple[str, str, str]:
    """Return the words before, in and after an item as they were when it was starred."""
    subject = item.starred.seen
    before, quote, after = (
        masked_text(text) if is_masked else text for text in (subject.before, subject.quote, subject.after)
    )
    return before, quote, after


def item_comment(item: Item, *, is_masked: bool) -> str:
    """Return the comment on an item: people's own words are not shown where texts are masked."""
    return "" if is_masked else item.comment
