"""The workbench: queue, annotated text and verdicts in one component that owns the keys.

The component is sent the texts and cards of records ahead, so that it shows the next one at once; what the reader does
comes back as numbered events, see `pages.shared.verdicts.events`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from nereval_core.ledger import Ledger
from nereval_core.report.colours import type_colours
from nereval_core.review.verdicts import KINDS, span_as_json
from nereval_core.review.verdicts_on_records import AttachedVerdicts, attach_verdicts, text_digests
from nereval_core.review.words import verdict_labels
from nereval_core.scoring.criteria import SCHEMAS
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components.component_events import EVENTS, acknowledged
from pages.shared.components.highlighted_text import DRAWING, STYLE, look, painted, text_data
from pages.shared.data import playlists, reviewer, verdict_store
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.inspect.document import ReadDocument, read_document, start_of
from pages.shared.inspect.queue import entries, queue_part
from pages.shared.server.component_files import component
from pages.shared.verdicts import list as verdicts_list
from pages.shared.verdicts.case import Case, cases_of, reason_unoffered
from pages.shared.verdicts.edited_spans import types_to_choose
from pages.shared.verdicts.events import (
    KEY,
    answered_origins,
    applied,
    apply_events,
    conflicts_data,
    outcome_data,
    standing_line,
    subject_of,
    waiting_elsewhere,
    waiting_events,
    waiting_kinds,
    waiting_spans,
)
from pages.shared.view import keys
from pages.shared.view.link import MOST_TRACKS
from pages.shared.view.text import count_words

_HERE = Path(__file__).parent
AHEAD, BEHIND = 10, 3
"""Records after and before the open one whose texts are sent along."""
NEW = 3
"""Records whose texts are made in one run at most, beside the open one: a filter is not to wait for ten."""
QUOTED = 1_000
"""Characters of a span that a card quotes."""
CHARACTERS = 60_000
"""Characters of texts up to which more of them are sent along."""
SCRIPTS = (
    *("difference", "key_sheet", "span_editor", "drafts", "unkept", "workbench_state", "tracks_layout"),
    *("workbench_drawing", "workbench_text", "tracks_drawing", "span_editor_drawing", "workbench"),
)
"""The parts of the component's script: the editor of spans, what it shows, its drawing, and its wiring to the page."""
STYLES = ("difference", "key_sheet", "workbench", "tracks")
Drawing = tuple[tuple[str, ...], bool]
"""How a text is drawn: with the systems that are compared, and with its tokens or not."""
Name = tuple[str, str]
"""The ids of a document and of one of its records."""
_mount = component(
    "nereval_workbench",
    css=STYLE + "".join((_HERE / f"{name}.css").read_text(encoding="utf-8") for name in STYLES),
    js=DRAWING + EVENTS + "".join((_HERE / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS),
)


class Open:
    """The record, document or place that is open, and the part of the queue around it."""

    def __init__(self, page: PageContext, order: str) -> None:
        view, query, ledger = page.view, page.query(), page.ledger()
        self.whole = "whole-document" in view.layout or bool(view.doc and not view.record)
        self.unknown = ""
        self.doc, self.record = (view.doc, view.record) if view.doc else verdicts_list.where_to_begin(page)
        start = view.place[0] if view.place else -1
        self.read = read(page, self.doc) if self.doc else None
        if self.read is not None and self.record:
            row, other = self.read.find(self.record)
            if row is not None:
                self.record = str(row["record"])
            elif other is not None:
                start = start_of(other)
            else:
                self.unknown, self.record = self.record, ""
        place = applied().place
        number = place[2] if place[:2] == (self.doc, view.record) else -1
        listed = self.record if self.read is None or self.read.find(self.record)[0] else ""
        self.queue = queue_part(ledger, query, order, self.doc, listed, start=start, number=number)
        if not self.doc and self.queue.total:
            self.doc, self.record = self.queue.names[0]
        elif not self.doc:
            self.doc = next(iter(page.loaded.corpus.documents.ids), "")
        self.read = self.read or read(page, self.doc)
        length = len(self.read.text)
        self.outside = view.at if view.place and view.place[1] > length else ""
        """The place of the view where it is not in the text."""

    @property
    def position(self) -> tuple[str, str]:
        return self.doc, self.record


def read(page: PageContext, doc: str) -> ReadDocument:
    """Read a document with the predictions of the systems that are compared with."""
    return _read(page, page.compared, doc)


@memoized()
def _read(page: PageContext, compared: tuple[str, ...], doc: str) -> ReadDocument:
    others = {system: page.of(system).reading for system in compared}
    return read_document(page.reading, page.by, doc, others, page.words)


@memoized()
def _text(
    page: PageContext, drawing: Drawing, doc: str, part: int, first: str, place: tuple[int, int] | None
) -> dict[str, Any]:
    """Return a window of a document as it is drawn; the lanes nearest to the text hold the record `first`."""
    document = read(page, doc)
    low, high = document.windows[part]
    compared, has_tokens = drawing
    tokens, sentences = document.borders(part) if compared or has_tokens else ([], [])
    data = text_data(
        document.text[low:high],
        document.marks_in(part),
        doc=doc,
        selected=first,
        types=page.annotated_types,
        missed=document.missing_systems if compared else None,
        tokens=tokens if has_tokens else (),
        sentences=sentences,
        place=document.place_in(part, place),
        words=page.words,
    )
    fields = ("paragraphs", "marks", "tokens", "sentences", "place")
    # Lanes have names of their own.
    notes = data["notes"][1:] if compared else data["notes"]
    return {name: data[name] for name in fields} | {
        "notes": [*notes, *document.notes()],
        "doc": doc,
        "part": part,
        "parts": len(document.windows),
        "window": [low, high, len(document.text)],
    }


@memoized()
def _card(page: PageContext, compared: tuple[str, ...], doc: str, record: str) -> tuple[dict[str, Any], int] | None:
    """Return the card of a record, and the window that it lies in."""
    document = read(page, doc)
    row, other = document.find(record)
    own_row = row or other
    card = document.card(row, other)
    if card is None or own_row is None:
        return None
    facts = [[term, quote[:QUOTED], detail] for term, quote, detail in card["facts"]]
    return card | {"facts": facts}, document.part_of(start_of(own_row))


def _take_events(page: PageContext) -> None:
    apply_events(page)


def draw_workbench(page: PageContext, order: str) -> Open:
    """Show the workbench and return what is open in it."""
    opened = Open(page, order)
    at = opened.queue.at
    applied().place = (*opened.position, int(at) if at % 1 == 0 else -1)
    _mount(
        data=workbench_data(page, opened, order),
        key=KEY,
        on_out_change=partial(_take_events, page),
    )
    return opened


def workbench_data(page: PageContext, opened: Open, order: str) -> dict[str, Any]:
    """Return all that the component is sent."""
    texts, whole_cards = _texts_and_cards(page, opened)
    cards, rows = _with_row_numbers(whole_cards)
    now = applied()
    colours = type_colours(page.annotated_types, page.types)
    ledger = page.ledger()
    return {
        "facts": _facts(page, order),
        "draftsOf": subject_of(page),
        "session": now.session,
        **acknowledged(KEY),
        "count": count_words(page.by, ledger.total(page.query())),
        "total": opened.queue.total,
        "none": "" if opened.queue.total else verdicts_list.why_empty(page),
        "first": opened.queue.first,
        "at": opened.queue.at,
        "entries": _entries(page, opened),
        "open": list(opened.position),
        "text": _key(opened.doc, _part(page, opened)),
        "whole": opened.whole,
        "map": opened.read.error_places() if opened.whole and opened.read else [],
        "texts": texts,
        "cards": cards,
        "rows": rows,
        "looks": {code: look(code, page.words) for code in DECISIONS},
        "types": {name: painted(colour) for name, colour in colours.items()},
        "colour": st.session_state.get(keys.COLOUR_BY, "decision"),
        "correct": "spans agreed on" if page.words.by_name else "correct spans",
        "systems": list(page.systems),
        "system": page.system,
        "compared": list(page.compared),
        "most": MOST_TRACKS + 1,
        "reference": page.words.reference,
        "borders": _borders(page),
        "schemas": [name for name in SCHEMAS if name in page.criteria],
        "starred": _starred(page, opened),
        "reviewed": _reviewed(page, {text["doc"] for text in texts.values()}) | _waiting_labels(page),
        "corrected": _corrected(page, {text["doc"] for text in texts.values()}) | waiting_spans(page),
        "entities": _entities(page, {text["doc"] for text in texts.values()}),
        "verdicts": _verdicts(page),
        "waiting": waiting_events(page),
        "answered": answered_origins(page),
    }


def _with_row_numbers(cards: Mapping[str, dict[str, Any]]) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Return cards with the numbers of their rows, and these rows: cards share most of them, which are sent once."""
    rows: dict[Hashable, dict[str, Any]] = {}
    numbers: dict[Hashable, int] = {}
    numbered = {}
    for name, card in cards.items():
        keys_of_rows = [tuple(value for value in row.values() if isinstance(value, str | bool)) for row in card["rows"]]
        rows.update(zip(keys_of_rows, card["rows"], strict=True))
        numbered[name] = card | {"rows": [numbers.setdefault(key, len(numbers)) for key in keys_of_rows]}
    return numbered, list(rows.values())


def _entries(page: PageContext, opened: Open) -> list[list[Any]]:
    """Return the entries of the queue, with the verdicts that wait for a name."""
    texts, waiting = page.loaded.corpus.documents.texts, _waiting_labels(page)
    listed = entries(page.ledger(), opened.queue, texts, page.words, page.query().text)
    for entry in listed if waiting else ():
        entry[6] = waiting.get(f"{entry[0]}\n{entry[1]}", entry[6])
    return listed


def _waiting_labels(page: PageContext) -> dict[str, str]:
    """Return the verdicts that wait for a name in a word, by record."""
    return {name: page.words.verdict_words[kind] for name, kind in waiting_kinds(page).items()}


def _drawing(page: PageContext) -> Drawing:
    return page.compared, "tokens" in page.view.layout


def _borders(page: PageContext) -> dict[str, Any]:
    """Return what is offered to be marked in texts, and whether it is; "" where the corpus has neither."""
    documents = page.loaded.corpus.documents
    # A scored folder reads a document as it is shown.
    named = {"tokens": documents.tokens, "sentences": documents.sentences} if page.loaded.has_layers else {}
    label = " and ".join(name for name, intervals in named.items() if intervals is not None)
    return {"label": label, "drawn": "tokens" in page.view.layout}


def _starred(page: PageContext, opened: Open) -> list[str]:
    """Return the records in this part of the queue that are on the playlist."""
    playlist = None if verdict_store.problems() else playlists.target_playlist(page.view)
    places = [] if playlist is None else [item.starred.shown for item in playlist.items]
    names = {
        (place.document, place.record)
        for place in places
        if (place.corpus, place.system, place.criterion) == (page.loaded.digest, page.system, page.by)
    }
    return ["\n".join(name) for name in opened.queue.names if name in names]


def _reviewed(page: PageContext, documents: Iterable[str]) -> dict[str, str]:
    """Return the verdicts that stand on the records of some documents, whether the queue lists these or not."""
    ledger = page.ledger()
    if (verdicts := ledger.verdicts) is None:
        return {}
    decided = _decided(ledger, verdicts, documents)
    labels = verdict_labels(verdicts, decided, page.words.verdict_words)
    names = zip(ledger.names(decided), labels, strict=True)
    return {"\n".join(name): label for name, label in names if label is not None}


def _corrected(page: PageContext, documents: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the spans that reviewers say are right where neither side is, by record of some documents."""
    ledger = page.ledger()
    if (verdicts := ledger.verdicts) is None:
        return {}
    decided = _decided(ledger, verdicts, documents)
    right = {
        name: stored.verdict.right
        for name, position in zip(ledger.names(decided), decided.tolist(), strict=True)
        if (stored := verdicts.of(position)) is not None and not verdicts.stale[position]
    }
    return {"\n".join(name): [span_as_json(span) for span in spans] for name, spans in right.items() if spans}


def _entities(page: PageContext, documents: Iterable[str]) -> list[dict[str, Any]]:
    """Return the entities of some documents that reviewers have marked and nobody had: as first drawn, and as now."""
    about = page.ledger().about if page.ledger().is_in_memory else None
    if about is None or about.others is None or not (unmarked := attach_verdicts(about).unmarked):
        return []
    numbers, digests = page.loaded.corpus.documents.index, text_digests(page.loaded.corpus.documents)
    names: dict[str, list[str]] = {}
    for doc in documents:
        names.setdefault(digests[numbers[doc]], []).append(doc)
    return [
        {
            "doc": doc,
            "span": span_as_json(stored.verdict.key.span),
            "right": [span_as_json(span) for span in stored.verdict.right],
            "version": about.others.reviewed.version(stored.verdict.key),
            "who": stored.who,
        }
        for stored in unmarked
        for doc in names.get(stored.verdict.key.text, ())
        if stored.verdict.seen.document == doc or digests.count(stored.verdict.key.text) == 1
    ]


def _decided(ledger: Ledger, verdicts: AttachedVerdicts, documents: Iterable[str]) -> NDArray[Any]:
    """Return the positions of the records of some documents on which a verdict stands, shape (records,)."""
    positions = np.concatenate([ledger.positions_in(doc) for doc in documents])
    return np.asarray(positions[verdicts.at[positions] >= 0])


def _facts(page: PageContext, order: str) -> str:
    """Return what texts, cards and queue depend on: with other facts, those kept in the browser are dropped."""
    return repr((_card_facts(page), page.query(), order))


def _card_facts(page: PageContext) -> tuple[object, ...]:
    """Return what texts and cards depend on."""
    loaded, settings = page.loaded, page.settings
    corpus = (loaded.id, page.system, _drawing(page), page.by, page.view.mask)
    return (*corpus, settings.merge, settings.leave_out)


def _key(doc: str, part: int) -> str:
    return f"{part}|{doc}"


def _part(page: PageContext, opened: Open) -> int:
    """Return the window of the open record or place."""
    card = _card(page, page.compared, *opened.position) if opened.record else None
    if card is not None:
        return card[1]
    return opened.read.part_of(page.view.place[0]) if page.view.place and opened.read else 0


def _texts_and_cards(page: PageContext, opened: Open) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the texts by window and the cards by record, of the open one first, then of those around it."""
    if not opened.doc:
        return {}, {}
    drawing, part = _drawing(page), _part(page, opened)
    texts = {_key(opened.doc, part): _text(page, drawing, opened.doc, part, opened.record, page.view.place)}
    cards: dict[Name, dict[str, Any]] = {}
    size = n_new = 0
    prepared = applied().made_under(_card_facts(page))
    for number in applied().take_windows(opened.doc):
        if opened.read is not None and number < len(opened.read.windows):
            texts.setdefault(_key(opened.doc, number), _text(page, drawing, opened.doc, number, "", page.view.place))
    open_names = [opened.position] if opened.record else []
    for doc, record in [*open_names, *opened.queue.near(BEHIND, AHEAD)]:
        if (doc, record) not in prepared:
            if n_new > NEW:
                continue
            n_new += 1
            prepared.add((doc, record))
        card_and_part = _card(page, page.compared, doc, record)
        if card_and_part is None:
            continue
        key = _key(doc, card_and_part[1])
        if key not in texts:
            if size > CHARACTERS:
                break
            texts[key] = _text(page, drawing, doc, card_and_part[1], "", None)
            size += sum(len(piece) for block in texts[key]["paragraphs"] for piece in block["texts"])
        cards[doc, record] = card_and_part[0] | {"key": key}
    # Ids of documents and types may hold line breaks themselves: the names are put together, and never taken apart.
    return texts, {"\n".join(name): card for name, card in _with_reviews(page, cards).items()}


def _with_reviews(page: PageContext, cards: Mapping[Name, dict[str, Any]]) -> dict[Name, dict[str, Any]]:
    """Return cards with what reviewers have decided of the records, and whether they are starred."""
    reviewed = {name: dict(card) for name, card in cards.items()}
    playlist = None if verdict_store.problems() else playlists.target_playlist(page.view)
    if playlist is not None and playlist.items:
        for name, card in reviewed.items():
            star = playlists.star_of(page, *name)
            card["starred"] = star is not None and playlist.find(star.uid) is not None
    if reason_unoffered(page) or not cards:
        return reviewed
    ledger = page.ledger()
    positions = {name: place for name in reviewed if (place := ledger.position(*name)) is not None}
    for name, case in zip(positions, cases_of(page, list(positions.values())), strict=True):
        reviewed[name] |= _review(case)
    return reviewed


def _review(case: Case) -> dict[str, Any]:
    standing = case.standing
    return {
        "kind": standing.verdict.kind if standing is not None and not case.stale else "",
        "stands": standing_line(case),
        "version": case.version,
        "note": case.note,
        "meanings": [case.effect(kind) for kind in KINDS],
        "side": case.key.record,
        # Code points of the document: the script counts these too, see `span_editor.js`.
        "sides": {side: None if span is None else span_as_json(span) for side, span in case.sides.items()},
    }


def _verdicts(page: PageContext) -> dict[str, Any]:
    """Return what the bar of verdicts shows."""
    playlist = playlists.target_playlist(page.view)
    stars = {
        "stars": page.criterion.unit != "token" and not (verdict_store.problems() or verdict_store.is_read_only()),
        "playlist": playlists.FIRST if playlist is None else playlist.name,
    }
    if reason := reason_unoffered(page):
        return stars | {"reason": reason}
    return stars | {
        "reason": "",
        "kinds": list(KINDS),
        "words": list(page.words.verdicts.values()),
        "labels": list(page.words.verdict_words.values()),
        "types": types_to_choose(page),
        "advance": bool(st.session_state.get(keys.GO_ON, True)),
        "who": reviewer.reviewer_name(),
        "waiting": len(applied().waiting),
        "elsewhere": waiting_elsewhere(page),
        "said": outcome_data(),
        "conflicts": conflicts_data(page),
    }
