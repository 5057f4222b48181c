"""The verdicts that stand at one moment, by record, by text and by document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, NamedTuple, Protocol, TypeVar

from nereval_core.review.verdicts import Key, StoredVerdict


class Versioned(Protocol):
    """What decides which verdict of a record is in force."""

    @property
    def uid(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def undoes(self) -> str: ...


Given = TypeVar("Given", bound=Versioned)


@dataclass(frozen=True, slots=True)
class RecordHistory(Generic[Given]):
    """Every verdict on a record; `force[n]` is the index of the one in force after the first n + 1, -1 for none.

    Where a verdict is taken back, the one that was in force before it is in force again, with its reviewer and time.
    """

    history: tuple[Given, ...] = ()
    force: tuple[int, ...] = ()

    @property
    def last(self) -> Given:
        return self.history[-1]

    @property
    def in_force(self) -> Given | None:
        """The verdict that another would replace; it may say that there is none."""
        return self.history[self.force[-1]] if self.force and self.force[-1] >= 0 else None

    def before(self, stored: Given) -> Given | None:
        """Return the verdict in force before one of these, None where there was none."""
        return RecordHistory(self.history[: stored.version - 1], self.force[: stored.version - 1]).in_force

    def then(self, stored: Given) -> RecordHistory[Given]:
        """Return the history with one more verdict."""
        at = len(self.history)
        if stored.undoes:
            undone = next((number for number, old in enumerate(self.history) if old.uid == stored.undoes), None)
            if undone is not None:
                at = self.force[undone - 1] if undone else -1
        return RecordHistory((*self.history, stored), (*self.force, at))


_NEW: RecordHistory[StoredVerdict] = RecordHistory()


class Moment(NamedTuple):
    """The number of the last verdict at some moment, in a store that was read from its `start` on."""

    start: object
    number: int


@dataclass(frozen=True, eq=False)
class Reviewed:
    """The verdict in force on each record, by `Key.record`, including those that withdraw another.

    `number` and `uid` are those of the last verdict in the store. `courses` holds the history of each record. `on`
    holds the verdict in force by `Key.record` and the id of the document that it was given on: documents of one text
    share their records, so that a later verdict on one of them hides that of another in `last`. Where it is None,
    `last` has all verdicts.

    With `by_text_alone` a verdict belongs to documents of its text only: where one store serves people whose texts are
    their own, one on another text under the same id may quote somebody else's.
    """

    last: Mapping[str, StoredVerdict] = field(default_factory=dict)
    number: int = 0
    uid: str = ""
    courses: Mapping[str, RecordHistory[StoredVerdict]] = field(default_factory=dict)
    on: Mapping[tuple[str, str], StoredVerdict] | None = None
    by_text_alone: bool = False
    start: object = field(default_factory=object, repr=False)

    @property
    def moment(self) -> Moment:
        return Moment(self.start, self.number)

    def __len__(self) -> int:
        return len(self.standing)

    def after(self, news: Iterable[StoredVerdict]) -> Reviewed:
        """Return the standing verdicts after more verdicts, in the order of the store; itself where there are none."""
        verdicts = list(news)
        if not verdicts:
            return self
        courses, last, on = dict(self.courses), dict(self.last), dict(self._on)
        for stored in verdicts:
            record = stored.verdict.key.record
            courses[record] = course = courses.get(record, _NEW).then(stored)
            last[record] = course.in_force or stored
            document = stored.verdict.seen.document
            own = course
            if len(course.history) > 1:
                own = _NEW
                for old in course.history:
                    own = own.then(old) if old.verdict.seen.document == document else own
            on[record, document] = own.in_force or stored
        return replace(self, last=last, number=verdicts[-1].number, uid=verdicts[-1].uid, courses=courses, on=on)

    def only(self, keep: Callable[[StoredVerdict], bool]) -> Reviewed:
        """Return the verdicts in force for which `keep` holds, without their history."""
        last = {record: stored for record, stored in self.last.items() if keep(stored)}
        on = {place: stored for place, stored in self._on.items() if keep(stored)}
        return Reviewed(last, self.number, on=on, by_text_alone=self.by_text_alone)

    def by(self, who: Collection[str]) -> Reviewed:
        """Return the verdicts of some reviewers without their history: on each record the last that they left standing.

        It counts whoever has decided on the record since; without history, those that are in force alone are there.
        """
        if not self.courses:
            return self.only(lambda stored: stored.who in who)
        own = [stored for course in self.courses.values() for stored in course.history if stored.who in who]
        verdicts = replace(self, last={}, courses={}, on={}).after(sorted(own, key=lambda stored: stored.number))
        # Whoever takes back a first verdict may bring back somebody else's.
        return replace(verdicts, number=self.number).only(lambda stored: not stored.undoes)

    def turned(self, turn: Callable[[StoredVerdict], StoredVerdict]) -> Reviewed:
        """Return the verdicts that stand as a function turns them, without their history; itself where none differs.

        Of several that are then on one record the last is in force.
        """
        pairs = [(stored, turn(stored)) for stored in self._on.values() if stored.stands]
        if all(stored is as_turned for stored, as_turned in pairs):
            return self
        turned_verdicts = sorted((as_turned for _, as_turned in pairs), key=lambda stored: stored.number)
        last = {stored.verdict.key.record: stored for stored in turned_verdicts}
        on = {(stored.verdict.key.record, stored.verdict.seen.document): stored for stored in turned_verdicts}
        return Reviewed(last, self.number, on=on, by_text_alone=self.by_text_alone)

    @property
    def _on(self) -> Mapping[tuple[str, str], StoredVerdict]:
        if self.on is not None:
            return self.on
        return {(record, stored.verdict.seen.document): stored for record, stored in self.last.items()}

    def of(self, key: Key) -> StoredVerdict | None:
        """Return the verdict that stands on a record, as it was given; None where there is none."""
        stored = self.last.get(key.record)
        return stored if stored is not None and stored.stands else None

    def version(self, key: Key) -> int:
        """Return the number of verdicts ever given on a record: the version that a reviewer sees now."""
        course = self.courses.get(key.record)
        return 0 if course is None else len(course.history)

    def since(self, before: Moment) -> tuple[StoredVerdict, ...] | None:
        """Return all verdicts, old and new, on the records decided on since an earlier moment; None if that is unknown.

        It is known of moments of one store, which was read on and on.
        """
        if before.start is not self.start or before.number > self.number:
            return None
        return tuple(
            stored
            for course in self.courses.values()
            if course.last.number > before.number
            for stored in course.history
        )

    def among(self, texts: Collection[str], documents: Collection[str]) -> Reviewed:
        """Return the verdicts given on some texts, by their digests, or on documents of some ids, without history."""
        return self.only(lambda stored: stored.verdict.key.text in texts or stored.verdict.seen.document in documents)

    @cached_property
    def standing(self) -> tuple[StoredVerdict, ...]:
        """The verdicts that stand, in the order in which they were given."""
        return tuple(
            sorted((stored for stored in self.last.values() if stored.stands), key=lambda stored: stored.number)
        )

    @cached_property
    def by_text(self) -> Mapping[str, tuple[StoredVerdict, ...]]:
        """The verdicts that stand by the digest of their text."""
        verdicts_of_text: dict[str, list[StoredVerdict]] = {}
        for stored in self.standing:
            verdicts_of_text.setdefault(stored.verdict.key.text, []).append(stored)
        return {text: tuple(verdicts) for text, verdicts in verdicts_of_text.items()}

    @cached_property
    def by_document(self) -> Mapping[tuple[str, str], tuple[StoredVerdict, ...]]:
        """The verdicts that stand by the digest of their text and the id of the document that they were given on."""
        verdicts_of_document: dict[tuple[str, str], list[StoredVerdict]] = {}
        for stored in sorted(
            (stored for stored in self._on.values() if stored.stands), key=lambda stored: stored.number
        ):
            verdicts_of_document.setdefault((stored.verdict.key.text, stored.verdict.seen.document), []).append(stored)
        return {place: tuple(verdicts) for place, verdicts in verdicts_of_document.items()}

    @cached_property
    def reviewers(self) -> tuple[str, ...]:
        """The names of those whose verdicts stand, sorted."""
        return tuple(sorted({stored.who for stored in self.standing}))
