"""A slide show: the title, figures, then one record after the other, of a playlist or of the list of Inspect."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st
from markupsafe import Markup

from nereval_core.corpus import Layer
from nereval_core.records.queries import Query, in_documents
from nereval_core.records.tables import records
from nereval_core.report.marks import Mark
from nereval_core.report.slides import Slide, Text, bars_html, gone_html, map_html, slide_html, title_html
from nereval_core.review.playlists import LINK_DIGITS, Item, Playlist
from nereval_core.review.verdicts import StoredVerdict
from nereval_core.review.words import decision_in_words
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import SCHEMAS
from nereval_core.tables.glossary import DECISIONS
from pages.shared.confusion import heat_map_data, matrix_title
from pages.shared.data import caches, masks, playlists
from pages.shared.data.page_context import PageContext
from pages.shared.inspect.document import document_marks, find_record
from pages.shared.view import FIGURE_SLIDES, View, keys, state
from pages.shared.view.confusion_layout import confusion_table
from pages.shared.view.formulas import number
from pages.shared.view.queries import query_of, view_of
from pages.shared.view.text import count

KEYS = "→ or space: next · ←: back · Home, End · b: blank · Escape: leave"
HIDDEN = "Texts are masked, so comments and notes, which are people's own words, are not shown."
MOST = 4
"""Systems and criteria of a playlist whose F1 stands on its title."""


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
        narrowed = replace(query, doc="", having=(*query.having, in_documents([query.doc])))
        view = view_of(view, narrowed)
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
    show = _of_list(page) if playlist is None else _of_playlist(page, playlist)
    # Before the slide: a key that is pressed as soon as it is seen is to be taken.
    take_keys(show.ids, show.at, show.ends, key=f"{keys.PLAYLIST}slides", on_step=_step, on_leave=_leave)
    if show.present == "":
        st.html(_title(page, playlist, show))
    elif show.present in FIGURE_SLIDES:
        st.html(figure_html(page, show.present, _heading(page, playlist), " · ".join(_under(page))))
    else:
        st.html(_slide(page, playlist, show))
    _prepare(page, playlist, show)


def _of_playlist(page: PageContext, playlist: Playlist) -> Show:
    first = _first(page.view)
    ids = [*first, *(item.uid[:LINK_DIGITS] for item in playlist.items)]
    place = playlist.find(_item(page.view))
    at = _among(first, page.view) if place is None else len(first) + place
    return Show(ids, at, ("", ids[-1]), 0 if place is None else place + 1, len(playlist.items))


def _of_list(page: PageContext) -> Show:
    ledger, query = page.ledger(), _listed(page)
    total = ledger.total(query).records
    view = page.view
    first = ledger.first(query)
    before = _first(view)
    if not view.record:
        # Fast keys go on from the title before the answer to the first of them is there.
        queue = ledger.near(query, *first).queue if first else []
        at = _among(before, view)
        return Show([*before, *(_id(*name) for name in queue)], at, ("", _last(page, query, total)), 0, total)
    near = ledger.near(query, view.doc, view.record, _start(view.record))
    ids = [_id(*name) for name in near.queue]
    place = near.at
    if first is None or ids[:1] == [_id(*first)]:
        ids, place = [*before, *ids], place + len(before)
    # A record that has left the list, by a verdict say, is shown all the same, between its neighbours.
    return Show(ids, place, ("", _last(page, query, total)), near.number, total)


def _first(view: View) -> list[str]:
    """Return the ids of the slides before the records: the title and the figures."""
    return ["", *figure_slides(view)]


def _among(first: list[str], view: View) -> int:
    return first.index(view.slide) if view.slide in first else 0


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
    view = replace(state.view(), slide=slide if slide in FIGURE_SLIDES else "record")
    playlist = playlists.playlist_of(view)
    place = None if playlist is None else playlist.find(slide)
    if playlist is not None and place is not None:
        loaded = caches.find(view.corpus)
        view = playlists.view_of_item(view, playlist, playlist.items[place], loaded, caches.find)
    elif not slide or slide in FIGURE_SLIDES:
        view = playlists.with_playlist(replace(view, doc="", record=""), playlist)
    else:
        doc, record = json.loads(slide)
        view = replace(view, doc=doc, record=record)
    state.put(view)


def _leave() -> None:
    state.put(replace(state.view(), slide=""))


def _title(page: PageContext, playlist: Playlist | None, show: Show) -> str:
    pairs_on_playlist = dict.fromkeys(
        (item.starred.shown.system, item.starred.shown.criterion) for item in _items(playlist)
    )
    pairs_here = [
        (system, name) for system, name in pairs_on_playlist if system in page.systems and name in page.criteria
    ]
    pairs = pairs_here[:MOST] or [(page.system, page.by)]
    facts = [("corpus", page.loaded.corpus.name)]
    for system, name in pairs:
        context = replace(page, view=replace(page.view, system=system))
        f1 = context.scores(names=[name]).counts(name).f1
        facts.append((f"{system}, {name}", f"F1 {number(f1)}"))
    facts.append(("slides", count(show.total, "record")))
    if masks.is_masked():
        facts.append(("masked", HIDDEN))
    return str(title_html(_heading(page, playlist), facts, KEYS))


def _heading(page: PageContext, playlist: Playlist | None) -> str:
    return f"Records of {page.system}" if playlist is None else playlist.name


def _items(playlist: Playlist | None) -> tuple[Item, ...]:
    return () if playlist is None else playlist.items


def _slide(page: PageContext, playlist: Playlist | None, show: Show) -> str:
    view = page.view
    item = None if playlist is None else playlist.items[show.number - 1]
    heading = _heading(page, playlist)
    comment = "" if item is None else playlists.item_comment(item)
    scores = page.reading(view.doc) if view.doc and view.record else None
    rows = None if scores is None else records(scores, page.by)
    record = None if scores is None or rows is None else find_record(rows, scores, page.by, view.record)
    if scores is None or rows is None or record is None:
        return str(gone_html(heading, show.place, *_gone(page, item), comment))
    marks = _marks(scores, page.by, rows, record)
    documents = scores.gold.documents
    verdict = _verdict(page, view.doc, str(record["record"]))
    return str(
        slide_html(
            Slide(
                heading,
                show.place,
                " · ".join(_under(page)),
                Text(
                    documents.texts[0],
                    marks,
                    documents.sentences.of_document(0) if documents.sentences is not None else (),
                    page.annotated_types,
                ),
                str(record["decision"]),
                str(record["reason"]),
                _side(scores.layers(page.by)[0], int(record["gold"])),
                _side(scores.layers(page.by)[1], int(record["pred"])),
                "" if verdict is None else f"Verdict of {verdict.who}: {_decided(verdict, documents.texts[0])}",
                "" if verdict is None or masks.is_masked() else verdict.verdict.note,
                comment,
            )
        )
    )


def _under(page: PageContext) -> Iterator[str]:
    """Yield the facts under a slide: system, criterion and document, and the layer taken as gold."""
    yield page.system
    if page.view.reference:
        yield f"against {page.view.reference}"
    yield page.by
    if page.view.doc:
        yield page.view.doc


def _marks(scores: Scores, name: str, rows: Any, record: dict[str, Any]) -> list[Mark]:
    sides = {("gold", int(record["gold"])), ("prediction", int(record["pred"]))}
    return [mark for mark in document_marks(scores, name, rows) if (mark.side, mark.index) in sides]


def _side(layer: Layer, span: int) -> tuple[str, str] | None:
    return None if span < 0 else (layer.text(span), layer.label(span))


def _verdict(page: PageContext, doc: str, record: str) -> StoredVerdict | None:
    """Return the verdict that stands on a record, None where none does or its text or span has changed since."""
    ledger = page.ledger()
    verdicts = ledger.verdicts
    if verdicts is None:
        return None
    positions = ledger.positions(Query(doc=doc))
    ids = ledger.frame(positions)["record"].tolist()
    if record not in ids:
        return None
    at = int(positions[ids.index(record)])
    return None if verdicts.stale[at] else verdicts.of(at)


def _decided(verdict: StoredVerdict, text: str) -> str:
    return decision_in_words(verdict.verdict.kind, verdict.verdict.right, text)


def _gone(page: PageContext, item: Item | None) -> tuple[str, str, tuple[str, str, str]]:
    """Return the reason why a record cannot be shown, the remedy, and its words as they were."""
    if item is None:
        return (
            "This record is not there any more",
            "Under these settings nothing has its id. Go on, or leave with Escape.",
            ("", "", ""),
        )
    starred, was = item.starred.shown, playlists.item_words(item)
    if caches.find(starred.corpus) is None and not playlists.has_text_of(page.loaded, item):
        return (
            "Its corpus is not on this server",
            f"Upload gold and system {starred.system} of the corpus {starred.corpus[:16]} at Start: what is in the "
            "files, not their names, decides.",
            was,
        )
    if page.view.record:
        why = f"{starred.system} does not predict this span any more, or its settings leave it out."
        return "This record is not there any more", why, was
    return "This record is not there any more", f"There is no system {starred.system} in this corpus.", was


def _prepare(page: PageContext, playlist: Playlist | None, show: Show) -> None:
    """Score the next document already, so that the next key need not wait for it."""
    place = int(show.at) + 1
    if place >= len(show.ids) or not show.ids[place] or show.ids[place] in FIGURE_SLIDES:
        return
    if playlist is None:
        page.reading(json.loads(show.ids[place])[0])
        return
    item = playlist.items[place - len(_first(page.view))]
    view = playlists.shown_in(page.loaded, item, page.view)
    if view is not None and view.criterion in page.criteria and view.reference == page.view.reference:
        replace(page, view=view).reading(view.doc)


TYPES = 10
"""Types of a confusion table that are legible from the last row."""
SCORES, CONFUSION = FIGURE_SLIDES


def figure_slides(view: View) -> tuple[str, ...]:
    """Return the words of the figures that a show has."""
    return () if "records-only" in view.layout else FIGURE_SLIDES


def figure_html(page: PageContext, word: str, heading: str, under: str) -> Markup:
    """Return the HTML of the slide with a figure."""
    return _scores(page, heading, under) if word == SCORES else _confusion(page, heading, under)


def _scores(page: PageContext, heading: str, under: str) -> Markup:
    names = [name for name in dict.fromkeys((*SCHEMAS, page.by)) if name in page.criteria]
    scores = page.scores(names=names)
    bars = []
    for name in names:
        counts = scores.counts(name)
        bars.append((name, number(counts.f1), dict(zip(DECISIONS, (*counts.gold[:4], counts.spu), strict=True))))
    return bars_html(heading, under, f"Decisions and F1 of {page.system} by criterion", bars)


def _confusion(page: PageContext, heading: str, under: str) -> Markup:
    """Draw the types most often confused; pairs of equal type are left out, as the question is what is mistaken."""
    cells = page.ledger().confusion()
    layout = ("by-confusion", "off-diagonal")
    order = confusion_table(cells, page.types, layout, page.words).rows[:-1]
    table = confusion_table(cells, order[:TYPES], layout, page.words)
    n_hidden = len(order) - TYPES
    note = f"The {TYPES} types most often mistaken; {n_hidden} more are left out." if n_hidden > 0 else ""
    cells_data = heat_map_data(table, "", percent=False, words=page.words)
    return map_html(heading, under, matrix_title(page), cells_data, note)


_HERE = Path(__file__).parent
CHROME = _HERE / "chrome.css"
"""Styles that hide the app around a slide."""
_mount = st.components.v2.component(
    "nereval_slides",
    css=(_HERE / "slides.css").read_text(encoding="utf-8"),
    js=(_HERE / "slides.js").read_text(encoding="utf-8"),
    isolate_styles=False,
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
