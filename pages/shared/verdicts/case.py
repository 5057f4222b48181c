"""A record under review, and the functions that give a verdict on it or take one back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import streamlit as st

from nereval_core.corpus.masking import original
from nereval_core.problems import FormatError, name_text, quoted
from nereval_core.review.layer_words import GOLD_AND_PREDICTION, LayerWords
from nereval_core.review.verdicts import (
    UNMARKED,
    WITHDRAWN,
    ConflictError,
    Draft,
    Key,
    Kind,
    Marked,
    Seen,
    Side,
    StoredVerdict,
    Verdict,
    given_in_words,
    is_alternative,
    minute_of,
    mirrored,
)
from nereval_core.review.verdicts_on_records import (
    attach_verdicts,
    places,
    read_verdict,
    records_of_layers,
    text_digests,
    verdict_subjects,
)
from nereval_core.review.words import decision_in_words
from pages.shared.data import masks, reviewer, verdict_store
from pages.shared.data.page_context import PageContext
from pages.shared.verdicts.edited_spans import format_without_alternatives
from pages.shared.view import keys
from pages.shared.view.text import count, noun

Choose = Callable[[int], None]
"""Chooses a record by its place in document order."""


@dataclass(frozen=True, eq=False)
class Case:
    """A record under review, by its place in document order, and the verdict that stands on it.

    `version` is the number of verdicts on it that the reviewer has seen. `words` name the two sides, `text` is
    that of the document as it is shown, "" where nothing of it is quoted. `narrow_format` is that of the finished file
    if it has no place for alternatives.
    """

    record: int
    key: Key
    partner: Marked | None
    subject: Seen
    version: int
    standing: StoredVerdict | None
    stale: bool
    words: LayerWords = GOLD_AND_PREDICTION
    text: str = ""
    narrow_format: str = ""

    @property
    def sides(self) -> dict[Side, Marked | None]:
        """The spans of gold and prediction in the record, as annotated."""
        own: Side = self.key.side
        other: Side = "pred" if own == "gold" else "gold"
        return {own: self.key.span, other: self.partner}

    def effect(self, kind: Kind) -> str:
        """Return in a sentence or two what a verdict does, also where the finished file cannot say it."""
        return f"{self.words.meaning(kind, self.key, self.partner)} {self.unheld(kind)}".rstrip()

    def unheld(self, kind: Kind) -> str:
        """Return in a sentence what the finished file cannot hold of a verdict, "" where it holds all."""
        span, other = self.key.span, self.partner
        is_narrow = self.narrow_format and kind == "both" and self.key.side == "gold"
        if not is_narrow or other is None or other == span or not is_alternative(span, other):
            return ""
        return (
            f"A file in {self.narrow_format} has no place for second boundaries: choose jsonl at Finish to keep them."
        )

    def widget(self, name: str) -> str:
        """Return the key of a widget that belongs to this record alone: a late click on it does not hit another."""
        return f"{keys.VERDICT}{name}_{self.key.record[:16]}"

    def replaced(self) -> StoredVerdict | None:
        """Return the verdict in force that another one on this record replaces, given in whichever order of layers."""
        own, standing = verdict_store.now().of(self.key), None if self.stale else self.standing
        return standing if standing is not None and (own is None or own.number < standing.number) else own

    @property
    def note(self) -> str:
        """The reviewer's own note that is kept with the standing verdict."""
        mine = self.standing
        again = mine is not None and mine.who == reviewer.reviewer_name() and not self.stale and not masks.is_masked()
        return mine.verdict.note if mine is not None and again else ""


NOT_KEPT = "Not kept. What you wrote is still here: try again."


@dataclass(frozen=True)
class LastVerdict:
    """The last verdict: the message about it, and in lines why what was asked for was not done.

    `record` is the `Key.record` that it was about. `place` is document and record id of a verdict that was not kept.
    `id` tells it from all others, those of other sessions too.
    """

    text: str
    problems: tuple[str, ...] = ()
    record: str = ""
    place: tuple[str, str] | None = None
    id: str = field(default_factory=lambda: uuid4().hex, compare=False)


@dataclass(frozen=True, eq=False)
class Conflict:
    """A verdict that is not kept, as others gave theirs on its record first: the reviewer is asked whose counts.

    `event` is what the browser sent: after a reload the browser sends it again.
    """

    case: Case
    kind: Kind
    right: tuple[Marked, ...]
    note: str
    theirs: tuple[StoredVerdict, ...]
    event: Mapping[str, Any]

    @property
    def case_seen(self) -> Case:
        """The case with the verdicts of others that the question lists."""
        # Those given in the other order of the layers are on a record of their own.
        versions = [other.version for other in self.theirs if other.verdict.key == self.case.key]
        return replace(self.case, version=max(self.case.version, *versions, 0))

    def question(self) -> str:
        case = self.case
        place = f"{_name(case)} in {name_text(case.subject.document)}"
        return f"Somebody was first on {place}. Yours is not kept yet: {_decision(case, self.kind, self.right)}."

    def lines(self) -> tuple[str, ...]:
        return tuple(given_in_words(other, self.case.words.verdicts) for other in self.theirs)


def reason_unoffered(page: PageContext) -> str:
    """Say why verdicts are not given here, "" where they are."""
    if verdict_store.is_read_only():
        return "This server takes no verdicts."
    if not page.ledger().is_in_memory:
        return "Verdicts are not given on a scored folder: read one of its shards as a corpus at Start to give some."
    if noun(page.by) == "token":
        return f"Verdicts are about spans, and {page.by} counts tokens: choose another matching criterion to give some."
    return ""


def cases_of(page: PageContext, records: Sequence[int]) -> list[Case]:
    """Return the cases of some records; those whose verdict names what is right have the text of their document."""
    # Taken first: what is shown may be newer than what is said to be seen, never the other way round.
    stands = verdict_store.now()
    about = page.ledger().about
    verdicts = attach_verdicts(about)
    narrow_format = format_without_alternatives(page)
    cases = [
        Case(
            *(record, key, partner, subject, stands.version(key), verdicts.of(record), is_stale),
            words=page.words,
            narrow_format=narrow_format,
        )
        for is_stale, record, (key, partner, subject) in zip(
            verdicts.stale[list(records)].tolist(), records, verdict_subjects(about, records), strict=True
        )
    ]
    return [_with_text(page, case) if case.standing and case.standing.verdict.right else case for case in cases]


def case_of(page: PageContext, record: int) -> Case:
    """Return the case of a record, with the text of its document."""
    (case,) = cases_of(page, [record])
    return _with_text(page, case)


def _with_text(page: PageContext, case: Case) -> Case:
    documents = page.loaded.corpus.documents
    return replace(case, text=documents.texts[documents.index[case.subject.document]])


def given_verdicts(page: PageContext, case: Case) -> list[StoredVerdict]:
    """Return every verdict ever given on a record, oldest first, as it reads in this order of the two layers."""
    about, courses = page.ledger().about, verdict_store.now().courses
    own, other = (
        courses[key.record].history if key.record in courses else ()
        for key in (case.key, mirrored(case.key, case.partner))
    )
    as_read = [(stored, read_verdict(about, stored)) for stored in other]
    turned = [verdict for stored, verdict in as_read if verdict is not stored]
    return sorted((*own, *turned), key=lambda stored: stored.number)


def case_of_entity(page: PageContext, doc: str, span: Marked) -> Case:
    """Return the case of an entity that nobody had marked, by its span as it was first drawn in a document."""
    documents = original(page.loaded.corpus.documents)
    number = documents.index[doc]
    key = Key(text_digests(documents)[number], UNMARKED, span)
    stands = verdict_store.now()
    subject = Seen.of(doc, documents.texts[number], span)
    return Case(-1, key, None, subject, stands.version(key), stands.of(key), False, page.words)


def set_outcome(outcome: LastVerdict) -> None:
    st.session_state[keys.REVIEWED] = outcome


def give_verdict(
    case: Case, kind: Kind, right: tuple[Marked, ...] = (), note: str = "", over: Sequence[StoredVerdict] = ()
) -> bool:
    """Keep a verdict under the reviewer's name and return True; where that cannot be, say why and return False.

    Raises:
        ConflictError: others have decided on the record, and theirs are not among the verdicts to be replaced (`over`).
    """
    who = reviewer.reviewer_name()
    verdict = Verdict(case.key, kind, case.subject, case.partner, right, note.strip())
    replaced = case.replaced()
    _refuse_to_replace(replaced, who, over)
    try:
        verdict_store.store_to_write().give([Draft(verdict, case.version)], who)
    except ConflictError as error:
        verdict_store.refresh()
        if any(other.who != who and other.stands for other in error.theirs):
            raise
        # One's own verdict given twice, faster than the page: the last one counts, and the same one is kept once. Or
        # what others had decided was taken back meanwhile: nobody has to be asked.
        replaced = None
        if not all(other.verdict == verdict for other in error.theirs):
            replaced = verdict_store.now().of(case.key)
            _refuse_to_replace(replaced, who, over)
            verdict_store.store_to_write().give([Draft(verdict, verdict_store.now().version(case.key))], who)
    except FormatError as error:
        set_outcome(LastVerdict(NOT_KEPT, tuple(error.lines()), record=case.key.record))
        return False
    verdict_store.refresh()
    if replaced is not None and (replaced.who, replaced.verdict) == (who, verdict):
        replaced = None
    undo = "u takes it back."
    if replaced is not None:
        undo = f"It replaces: {given_line(replaced, case.words)}; u brings that back."
    unheld = f"{note} " if (note := case.unheld(kind)) else ""
    set_outcome(LastVerdict(f"Kept as {who}: {_decision(case, kind, right)}. {unheld}{undo}"))
    return True


def _refuse_to_replace(replaced: StoredVerdict | None, who: str, over: Sequence[StoredVerdict]) -> None:
    """Raise a ConflictError for somebody else's verdict that the reviewer was not asked about."""
    if replaced is not None and replaced.who != who and replaced.uid not in {other.uid for other in over}:
        raise ConflictError([replaced])


def _name(case: Case) -> str:
    return quoted(case.key.span.quote_apart(case.text) if case.text else case.subject.quote)


def _decision(case: Case, kind: Kind, right: tuple[Marked, ...]) -> str:
    """Return a verdict on a case in words."""
    if case.key.side == UNMARKED:
        return (
            f"{_name(case)} is no entity" if kind == WITHDRAWN else f"{_name(case)}, an entity that nobody had marked"
        )
    return f"{decision_in_words(kind, right, case.text or None, case.words.verdicts)}, of {_name(case)}"


def take_back(page: PageContext, who: str) -> Sequence[StoredVerdict]:
    """Take back a reviewer's last verdict or batch on the two layers that are read; return what was stored to do so.

    Those on other layers or texts are out of the reader's sight.
    """
    store = verdict_store.store_to_write()
    return store.undo(who, records_of_layers(page.ledger().about.read, store.reviewed()))


def undo_verdict(page: PageContext, take_back: Callable[[str], Sequence[StoredVerdict]], choose: Choose) -> None:
    """Take back the reviewer's last verdict or batch, and choose the record that it was about."""
    who = reviewer.reviewer_name()
    if not who:
        set_outcome(LastVerdict("There is no verdict of yours to take back: no name was given yet."))
        return
    try:
        taken_back = take_back(who)
    except ConflictError as error:
        about = page.ledger().about
        theirs = tuple(given_in_words(read_verdict(about, other), page.words.verdicts) for other in error.theirs)
        set_outcome(LastVerdict("Not taken back: somebody was first.", theirs))
        return
    except FormatError as error:
        set_outcome(LastVerdict("Not taken back.", tuple(error.lines())))
        return
    verdict_store.refresh()
    if not taken_back:
        set_outcome(LastVerdict(f"There is no verdict of {who} to take back here."))
        return
    only = taken_back[0].verdict if len(taken_back) == 1 else None
    what = quoted(only.seen.quote) if only is not None else f"{count(len(taken_back), 'record')} at once"
    about, position = page.ledger().about, None
    stands = None if only is None else verdict_store.now().of(only.key)
    if only is not None:
        (position,) = places(about, [(only.key, only.seen.document)])
    if position is not None:
        choose(position)
        # It may have been given in the other order of the layers.
        stands = stands or attach_verdicts(about).of(position)
    again = "" if stands is None else f" Again stands: {given_line(read_verdict(about, stands), page.words)}."
    set_outcome(LastVerdict(f"Taken back: the last verdict of {who}, of {what}.{again}"))


def given_line(standing: StoredVerdict, words: LayerWords, *, text: str | None = None, note: bool = True) -> str:
    """Return a verdict in a line, with its note; `text` is that of its document, of which it quotes what is right."""
    noted = masks.mask_words(standing.verdict.note) if note and standing.verdict.note else ""
    what = decision_in_words(standing.verdict.kind, standing.verdict.right, text, words.verdicts)
    return f"{what}, {standing.who} on {minute_of(standing.at)}{f' — {noted}' if noted else ''}"
