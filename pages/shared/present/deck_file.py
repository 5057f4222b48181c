"""A deck as one HTML file, made outside of the session that asked for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode, urlsplit

import streamlit as st

from nereval_core.html_report.deck import DeckSlide, deck_html
from nereval_core.review.playlists import Item
from nereval_core.scoring.criteria import Criterion
from pages.shared.data import caches, masks, own_criteria, playlists, reference_layer
from pages.shared.data.loading import Loaded
from pages.shared.data.page_context import PageContext
from pages.shared.present.deck import FIGURE_NAMES, Deck, example_of, groups_by_key, sentence_of
from pages.shared.present.drawing import first_slide_html, record_slide_html
from pages.shared.server.access import LOOPBACK
from pages.shared.view import View, is_pattern
from pages.shared.view.link import write_link
from pages.shared.view.queries import lasting, query_of
from pages.shared.view.text import count

MOST_RECORDS = 200
"""Records that a file holds."""
HINT = "→ next slide · n notes · ? all keys"


@dataclass(frozen=True, eq=False)
class Session:
    """What a deck needs of the session: the app's address, the corpora of its records by digest, own criteria."""

    address: str
    corpora: Mapping[str, Loaded]
    own_criteria: tuple[Criterion, ...] = ()

    @classmethod
    def of_deck(cls, deck: Deck) -> Session:
        """Return what a deck needs of the present session."""
        digests = {deck.page.loaded.digest, *(item.starred.shown.corpus for item in deck.items)}
        corpora = {digest: loaded for digest in digests if (loaded := caches.find(digest)) is not None}
        address = (st.context.url or "").partition("?")[0].rpartition("/")[0]
        return cls(address, corpora, own_criteria.criteria())


def deck_in_file(deck: Deck) -> Deck:
    """Return what a file holds of a deck."""
    return replace(deck, most_records=MOST_RECORDS)


def deck_file(deck: Deck, session: Session) -> bytes:
    """Return a deck as HTML."""
    return deck_html(deck.heading, list(_slides(deck_in_file(deck), session))).encode()


def _slides(deck: Deck, session: Session) -> Iterator[DeckSlide]:
    page = deck.page
    for word in deck.first_ids:
        name = deck.heading if not word else FIGURE_NAMES.get(word, "")
        opens, notes = ("Present", page.view), []
        if is_pattern(word):
            group = groups_by_key(page)[word]
            document, record = example_of(page, word)
            name = sentence_of(page, group)
            opens = ("Inspect", replace(page.view, doc=document, record=record, slide="", inspect_tab="records"))
            notes = [("pattern", count(group.records, "record"))]
        yield DeckSlide(name, first_slide_html(deck, word, HINT), (*notes, *_notes(page, session.address, *opens)))
    for number, (context, item) in enumerate(_records(deck, session), start=1):
        place = f"{number:,} of {deck.n_records:,}"
        html = record_slide_html(context, deck.heading, place, item, find=session.corpora.get)
        view = replace(context.view, slide="", inspect_tab="records")
        yield DeckSlide(f"Record {place}", html, _notes(context, session.address, "Inspect", view))


def _records(deck: Deck, session: Session) -> Iterator[tuple[PageContext, Item | None]]:
    """Yield the pages of the records of a deck, each with its item of the playlist."""
    page = deck.page
    if deck.playlist is not None:
        for item in deck.items:
            yield item_page(deck, item, session), item
    elif deck.has_records:
        query = query_of(page.view)
        if page.ledger().is_in_memory:
            query = lasting(query)
        table = page.ledger().page(query, first=0, rows=deck.n_record_slides)
        for document, record in zip(table["document"].astype(str), table["record"].astype(str), strict=True):
            yield replace(page, view=replace(page.view, doc=document, record=record)), None


def item_page(deck: Deck, item: Item, session: Session) -> PageContext:
    """Return the page of an item's record, which may be of another corpus; without a record where it has none."""
    page = deck.page
    assert deck.playlist is not None, "an item is on a playlist"
    present = session.corpora.get(page.loaded.digest, page.loaded)
    view = playlists.view_of_item(page.view, deck.playlist, item, present, session.corpora.get)
    loaded, view, _ = reference_layer.follow_view(session.corpora.get(view.corpus, present), view)
    loaded, view = masks.follow_view(loaded, view)
    of_item = PageContext(loaded, view, caches.settings_in(loaded, view, session.own_criteria))
    if view.record and (of_item.system not in of_item.systems or view.criterion not in of_item.criteria):
        return replace(page, view=replace(page.view, doc="", record=""))
    return of_item if view.record else replace(page, view=view)


def _notes(page: PageContext, address: str, name: str, view: View) -> tuple[tuple[str, str], ...]:
    """Return the notes on a slide: criterion, signature of its numbers, and the address of a view in the app."""
    is_loopback = urlsplit(address).hostname in LOOPBACK
    term = "opens on its author's computer alone" if is_loopback else "opens in the app"
    opens = ((term, f"{address}/{name}?{urlencode(write_link(view))}"),) if address else ()
    return (("criterion", f"{page.by}: {page.criterion.sentence}"), ("signature", page.signature()), *opens)
