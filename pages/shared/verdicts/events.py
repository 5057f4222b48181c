"""Events of the workbench: verdicts, undo, stars and choices, each applied once and in order, and what it is answered.

Verdicts may also come again: a browser sends those that were not kept once more to another session.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
import streamlit as st

from nereval_core.problems import FormatError
from nereval_core.records.queries import ORDERS
from nereval_core.review.verdicts import KINDS, NOTE_CHARACTERS, WITHDRAWN, ConflictError, Kind, Marked, StoredVerdict
from nereval_core.review.verdicts_on_records import attach_verdicts
from pages.shared.components import component_events
from pages.shared.components.component_events import Event, event_log
from pages.shared.data import masks, playlists, reviewer, verdict_store
from pages.shared.data.page_context import PageContext
from pages.shared.streamlit_internals import uncut
from pages.shared.verdicts.case import (
    NOT_KEPT,
    Case,
    Conflict,
    LastVerdict,
    case_of,
    case_of_entity,
    give_verdict,
    given_line,
    reason_unoffered,
    set_outcome,
    take_back,
    undo_verdict,
)
from pages.shared.verdicts.edited_spans import read_edited_spans, takes_blanks, types_to_choose
from pages.shared.view import keys, state
from pages.shared.view.queries import lasting, query_of, search_of

KEY = f"{keys.WIDGET}workbench"
"""The key of the workbench."""
MOVES = ("undo", "whole", "jump", "next")
"""Events after which the server says which record is open."""
MOST_WINDOWS = 20
"""Windows of a text that are sent in one answer."""
LISTED = 20
"""Verdicts of others that are listed where they came first."""
Origin = tuple[str, int]
"""The mount and number that an event was first sent with."""
_ANSWERED: deque[Origin] = deque(maxlen=10_000)
"""The last verdicts and undos of all sessions that were answered: a browser may send them again to another one."""


@dataclass
class Applied:
    """What the events of the workbench have made of a session, and the reader's place.

    `session` tells the component when it has to do with another session, which knows nothing of its events.
    `place` is document, record and number in the queue as the reader last had them. `windows` are those of a long text
    that the component asks for, with its document. `waiting` are the verdicts that were given before the reviewer's
    `name` was, each with its page, and `named` those of them given since, by subject and origin. `conflicts` are those
    that others came before, one for a record, until the reviewer says whose verdict counts. `cards` are the records
    whose cards were made, and the facts that these depend on.
    """

    session: str = field(default_factory=lambda: uuid4().hex)
    place: tuple[str, str, int] = ("", "", 0)
    windows: tuple[str, tuple[int, ...]] = ("", ())
    waiting: tuple[tuple[PageContext, Event], ...] = ()
    named: tuple[tuple[str, Origin], ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    name: str = ""
    cards: tuple[tuple[object, ...], set[tuple[str, str]]] = field(default_factory=lambda: ((), set()))

    def made_under(self, facts: tuple[object, ...]) -> set[tuple[str, str]]:
        """Return the records whose cards were made under the same facts, to be added to."""
        if self.cards[0] != facts:
            self.cards = (facts, set())
        return self.cards[1]

    def take_windows(self, doc: str) -> tuple[int, ...]:
        """Return the windows of a document that were asked for, once; the component asks again for what is missing."""
        (asked_doc, numbers), self.windows = self.windows, ("", ())
        return numbers if asked_doc == doc else ()


def applied() -> Applied:
    return state.lasting(keys.APPLIED, Applied)


def apply_events(page: PageContext) -> bool:
    """Apply what the workbench has sent and was not applied yet, and open the record that the reader has opened.

    Return whether there was anything to apply.
    """

    def apply(sent: Event, event: Event) -> None:
        if event["act"] == "undo":
            # What is taken back need not be about a record: then the reader stays.
            _open(page, *sent["at"])
        _apply(page, event)

    return component_events.apply_events(KEY, apply, partial(_follow, page))


def _follow(page: PageContext, sent: Mapping[str, Any]) -> None:
    """Open the record that the reader has opened, or go back to the one whose verdict was not kept."""
    event = sent["events"][-1]
    act = event["act"]
    if act not in MOVES:
        _open(page, *sent["at"])
    if act == "verdict" and [event["doc"], event["record"]] != list(sent["at"][:2]):
        _pass_decided(page, *sent["at"])
    failed: LastVerdict | None = st.session_state.get(keys.REVIEWED)
    if failed is not None and failed.place is not None:
        # Whoever moves on from there leaves it.
        _open(page, *failed.place, -1)
        st.session_state[keys.REVIEWED] = replace(failed, place=None)
    elif act == "open":
        st.session_state.pop(keys.REVIEWED, None)


def _open(page: PageContext, doc: str, record: str, number: int) -> None:
    """Open a record; without one, and not in a whole document, the view stays."""
    now, view = applied(), state.view()
    now.place = (doc, record, number)
    if (view.doc, view.record) == (doc, record) or not doc or (not record and view.doc != doc):
        return
    if view.doc and not view.record and not view.at:
        # A document alone is read as a whole, and stays so while its records are gone through.
        view = view.with_layout("whole-document")
        if page.ledger().is_in_memory:
            view = replace(view, q=search_of(lasting(query_of(view))))
    state.put(replace(view, doc=doc, record=record, at=""))


def _apply(page: PageContext, event: Event) -> None:
    act = event["act"]
    if act in ("verdict", "entity"):
        _judge(page, event)
    elif act == "name":
        _take_name(str(event["value"]))
    elif act == "undo":
        if waiting_events(page):
            _take_back_waiting(page)
        elif not reason_unoffered(page) and not _is_answered(event):
            undo_verdict(page, partial(take_back, page), lambda at: _open(page, *page.ledger().name(at), -1))
            _ANSWERED.append(_origin(event))
    elif act == "star":
        starred = playlists.star_of(page, event["doc"], event["record"])
        if starred is not None:
            playlists.put_on(starred, bool(event["value"]))
    elif act == "jump":
        _jump(page, int(event["value"]))
    elif act == "next":
        _open_next(page, event["doc"], event["record"], int(event["value"]))
    elif act == "beside":
        state.take_compared([name for name in event["value"] if name in page.systems and name != page.system])
    elif act == "system":
        if event["value"] in page.systems:
            state.exchange_system(event["value"], page.compared)
    elif act == "tokens":
        state.put(state.view().with_layout("tokens", bool(event["value"])))
    elif act == "whole":
        view = state.view().with_layout("whole-document", bool(event["value"]))
        state.put(replace(view, doc=event["doc"], record=event["record"], at=""))
    elif act == "windows":
        applied().windows = event["doc"], tuple(max(0, int(number)) for number in event["value"][:MOST_WINDOWS])
    elif act == "colour":
        st.session_state[keys.COLOUR_BY] = event["value"]
    elif act in ("over", "leave"):
        _answer(event)


def _jump(page: PageContext, number: int) -> None:
    """Open the record with a number in the queue."""
    ledger, query, order = page.ledger(), page.query(), page.view.order
    row = ledger.page(query, order if order in ledger.orders(query) else ORDERS[0], number, 1)
    if len(row):
        _open(page, str(row["document"].iat[0]), str(row["record"].iat[0]), number)


def _pass_decided(page: PageContext, doc: str, record: str, number: int) -> None:
    """Go on from a record that the browser has opened after a verdict, where others have decided on it meanwhile."""
    ledger = page.ledger()
    position = ledger.position(doc, record) if doc in page.loaded.corpus.documents.index else None
    if position is not None and attach_verdicts(ledger.about).decided[position]:
        _open_next(page, doc, record, max(0, number - 1), is_only_open=True)


def _open_next(page: PageContext, doc: str, record: str, number: int, *, is_only_open: bool = False) -> None:
    """Open the next record of the queue without a verdict, behind the last one the first.

    If none is open, it is the next one, or with `is_only_open` none. `number` is that of the record, and of the one
    behind it where the list no longer has the record itself.
    """
    ledger, query, order = page.ledger(), page.query(), page.view.order
    positions = ledger.positions(query, order if order in ledger.orders(query) else ORDERS[0])
    own = np.flatnonzero(positions == ledger.position(doc, record))
    following = int(own[0]) + 1 if len(own) else number
    is_open = ~attach_verdicts(ledger.about).decided[positions]
    numbers = page.loaded.corpus.documents.index
    names = [(event["doc"], event["record"]) for event in waiting_events(page) if "record" in event]
    waiting = [ledger.position(*name) for name in names if name[0] in numbers]
    is_open &= ~np.isin(positions, [position for position in waiting if position is not None])
    open_ones = np.flatnonzero(is_open)
    later = open_ones[open_ones >= following]
    otherwise = len(positions) if is_only_open else following
    place = next((int(places[0]) for places in (later, open_ones) if len(places)), otherwise)
    if place < len(positions):
        _open(page, *ledger.name(int(positions[place])), place)


def _case(page: PageContext, doc: str, record: str) -> Case | None:
    if doc not in page.loaded.corpus.documents.index:
        return None
    position = page.ledger().position(doc, record)
    return None if position is None else case_of(page, position)


def _judge(page: PageContext, event: Event) -> None:
    """Give a verdict that was sent, on a record or on an entity that nobody had marked; it may wait for a name."""
    if reason_unoffered(page) or _is_answered(event):
        return
    now = applied()
    if not reviewer.reviewer_name() and not reviewer.take_name(now.name):
        if _origin(event) not in [_origin(other) for _, other in now.waiting]:
            now.waiting = (*now.waiting, (page, {**_with_version(page, event), "origin": _origin(event)}))
        return
    sent = {**event, "origin": _origin(event), "of": subject_of(page)}
    if event["act"] == "entity":
        _mark_entity(page, sent)
    elif event["kind"] in KINDS:
        _verdict(page, sent, event["kind"])
    _end_unless_asked(sent)


def subject_of(page: PageContext) -> str:
    """Return what records and drafts in a browser's tab are of: corpus, reference and system."""
    return f"{page.loaded.digest} {page.words.reference} {page.system}"


def _end_unless_asked(event: Event) -> None:
    """Note that a verdict was answered, unless the reviewer is still asked whose counts."""
    if all(_origin(conflict.event) != _origin(event) for conflict in applied().conflicts):
        _ANSWERED.append(_origin(event))


def _origin(event: Event) -> Origin:
    mount, number = event.get("origin", (event_log(KEY).mount, event["seq"]))
    return str(mount), int(number)


def _is_answered(event: Event) -> bool:
    """Return whether an event that is sent again was answered before."""
    return "origin" in event and _origin(event) in _ANSWERED.copy()


def _with_version(page: PageContext, event: Event) -> Event:
    """Return a verdict on a record with the number of verdicts on it as it was given, not as it will be kept."""
    case = None if "version" in event or event["act"] == "entity" else _case(page, event["doc"], event["record"])
    return event if case is None else {**event, "version": case.version}


def _verdict(page: PageContext, event: Event, kind: Kind) -> None:
    case = _case(page, event["doc"], event["record"])
    if case is None:
        return
    note = str(event.get("note", ""))[:NOTE_CHARACTERS]
    # Whoever gives another verdict before the page has an answer to the first has not seen what others gave.
    unseen = next((each.case.version for each in applied().conflicts if each.case.key == case.key), case.version)
    seen_case = replace(case, version=int(event.get("version", unseen)))
    if not _give(page, seen_case, kind, event, note):
        st.session_state[keys.REVIEWED] = replace(
            st.session_state[keys.REVIEWED], place=(str(event["doc"]), str(event["record"]))
        )


def _give(page: PageContext, case: Case, kind: Kind, event: Event, note: str) -> bool:
    """Give a verdict with the right spans that were sent with it, or ask whose counts; return False on a problem."""
    try:
        right = _spans(page, case.subject.document, event.get("right", ()) if kind == "neither" else ())
    except FormatError as error:
        set_outcome(LastVerdict(NOT_KEPT, tuple(error.lines()), record=case.key.record))
        return False
    return _give_or_ask(event, case, kind, right, note)


def _give_or_ask(
    event: Event,
    case: Case,
    kind: Kind,
    right: tuple[Marked, ...] = (),
    note: str = "",
    over: Sequence[StoredVerdict] = (),
) -> bool:
    """Give a verdict, or ask whose counts where others came first; return False where it can be neither.

    About verdicts that it is to go `over` the reviewer was asked.
    """
    now = applied()
    others = tuple(conflict for conflict in now.conflicts if conflict.case.key != case.key)
    try:
        is_kept = give_verdict(case, kind, right, note, over)
    except ConflictError as error:
        seen_event = {**event, "version": case.version}
        now.conflicts = (*others, Conflict(case, kind, right, note, error.theirs, seen_event))
        return True
    if is_kept:
        now.conflicts = others
    return is_kept


def _mark_entity(page: PageContext, event: Event) -> None:
    """Keep the spans of an entity that nobody had marked, or say that there is none where none are sent."""
    doc = str(event["doc"])
    if doc not in page.loaded.corpus.documents.index:
        return
    try:
        # It may no longer have the type that it was first drawn with.
        (first,) = _spans(page, doc, [event["span"] | {"isNew": True}])
        right = _spans(page, doc, event["right"])
    except FormatError as error:
        set_outcome(LastVerdict(NOT_KEPT, tuple(error.lines())))
        return
    case = case_of_entity(page, doc, first)
    case = replace(case, version=int(event.get("version", case.version)))
    if right:
        _give_or_ask(event, case, "neither", right)
    elif case.standing is not None:
        _give_or_ask(event, case, WITHDRAWN)


def _spans(page: PageContext, doc: str, sent: Any) -> tuple[Marked, ...]:
    """Return spans of a document that were drawn in its text.

    Raises:
        FormatError: as `read_edited_spans`.
    """
    documents = page.loaded.corpus.documents
    length, types = int(documents.lengths[documents.index[doc]]), types_to_choose(page)
    return read_edited_spans(sent, length, types, takes_blanks=takes_blanks(page))


def give_waiting() -> bool:
    """Give the verdicts that waited for a name, once there is one; return whether there were any."""
    now = applied()
    with uncut():
        if not now.waiting or not reviewer.reviewer_name():
            return False
        for page, event in now.waiting:
            _judge(page, event)
            now.named = (*now.named, (subject_of(page), _origin(event)))
        now.waiting = ()
    return True


def _take_name(name: str) -> None:
    """Take the reviewer's name, and give the verdicts that waited for it; say why it is none."""
    if reviewer.take_name(name):
        applied().name = name
        give_waiting()
    else:
        set_outcome(LastVerdict("Nothing is kept yet: try again.", (reviewer.name_problem(name),)))


def _take_back_waiting(page: PageContext) -> None:
    """Take back the last verdict on the page's records that waits for a name, and open its record."""
    last = waiting_events(page)[-1]
    applied().waiting = tuple(waiting for waiting in applied().waiting if waiting[1] is not last)
    set_outcome(LastVerdict("Taken back: the last verdict, which waited for a name."))
    if "record" in last:
        _open(page, last["doc"], last["record"], -1)


def waiting_events(page: PageContext) -> list[Event]:
    """Return the verdicts on the records of a page that wait for a name."""
    return [event for subject, event in applied().waiting if subject_of(subject) == subject_of(page)]


def answered_origins(page: PageContext) -> list[Origin]:
    """Return by their origins the verdicts on the records of a page that waited for a name and were answered since."""
    return [origin for subject, origin in applied().named if subject == subject_of(page) and origin in _ANSWERED.copy()]


def waiting_elsewhere(page: PageContext) -> dict[str, Any]:
    """Return how many verdicts that wait for a name are on records of other pages, and of what these are."""
    pages = [other for other, _ in applied().waiting if subject_of(other) != subject_of(page)]
    names = dict.fromkeys(f"{other.system} in {other.loaded.corpus.name}" for other in pages)
    return {"number": len(pages), "names": list(names)}


def waiting_kinds(page: PageContext) -> dict[str, Kind]:
    """Return the kinds of the verdicts that wait for a name, by document and record in two lines."""
    verdicts = [event for event in waiting_events(page) if event["act"] == "verdict"]
    return {f"{event['doc']}\n{event['record']}": event["kind"] for event in verdicts}


def waiting_spans(page: PageContext) -> dict[str, Any]:
    """Return the right spans of those that say that neither side is right, as they were sent."""
    verdicts = [event for event in waiting_events(page) if event["act"] == "verdict" and event.get("right")]
    return {f"{event['doc']}\n{event['record']}": event["right"] for event in verdicts}


def _answer(event: Event) -> None:
    """Give a verdict over those of others that came first, or leave theirs; it need not be about the open record."""
    now = applied()
    for conflict in now.conflicts:
        if _question_id(conflict) != event["value"]:
            continue
        if event["act"] == "over":
            verdict = conflict.kind, conflict.right, conflict.note
            _give_or_ask(conflict.event, conflict.case_seen, *verdict, conflict.theirs)
        else:
            now.conflicts = tuple(other for other in now.conflicts if other is not conflict)
        _end_unless_asked(conflict.event)


def _question_id(conflict: Conflict) -> str:
    """Return what identifies a question: with other verdicts on the same record it is another one."""
    return " ".join([conflict.kind, *(other.uid for other in conflict.theirs)])


def conflicts_data(page: PageContext) -> list[dict[str, Any]]:
    """Return what the component asks where others came first, in the order of the reviewer's verdicts.

    Verdicts on the records of this page come along as they were sent: the browser's tab stores them until then.
    """
    return [
        {
            "id": _question_id(conflict),
            "text": masks.mask_message(conflict.question()),
            "lines": [masks.mask_message(line) for line in conflict.lines()],
            "event": conflict.event if conflict.event["of"] == subject_of(page) else None,
        }
        for conflict in applied().conflicts
    ]


def outcome_data() -> dict[str, Any] | None:
    """Return what the component says of the last verdict, None where there is nothing to say.

    It is sent until there is another outcome, as nobody knows which run reaches the browser; by its `id` the browser
    says it once.
    """
    outcome: LastVerdict | None = st.session_state.get(keys.REVIEWED)
    if outcome is None:
        return None
    lines = [masks.mask_message(line) for line in outcome.problems[:LISTED]]
    if len(outcome.problems) > LISTED:
        lines.append(f"and {len(outcome.problems) - LISTED:,} more")
    text = masks.mask_message(outcome.text)
    wrong = bool(outcome.problems)
    return {"id": outcome.id, "text": text, "lines": lines, "wrong": wrong, "record": outcome.record}


def standing_line(case: Case, note: bool = True) -> str:
    """Return the verdict that stands in a line, with its old quote if it is stale; "" where none stands."""
    standing = case.standing
    if standing is None:
        return ""
    line = given_line(standing, case.words, text=None if case.stale else case.text or None, note=note)
    if case.stale:
        old = masks.mask_message(f"“{standing.verdict.seen.quote}”, {standing.verdict.key.span.type}")
        return f"Stale, as text or span changed since. It was of {old}: {line}"
    stored = verdict_store.now().of(case.key)
    if stored is not None and stored.uid == standing.uid and stored.verdict.kind != standing.verdict.kind:
        line += f". Given beside another prediction: {case.words.verdicts[stored.verdict.kind]}"
    return f"Stands: {line}"
