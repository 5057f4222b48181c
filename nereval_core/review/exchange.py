"""Verdicts moved from one store to another.

An import adds verdicts that are new. Each span has a history of verdicts, identified by their uids. A history that
continues another one extends it. Two histories that differ are a conflict: no verdict on such a span is imported, and
the first difference is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers import garbage_collection_off
from nereval_core.review.packed_verdicts import PackedVerdicts
from nereval_core.review.store import ReviewStore
from nereval_core.review.store.rows import VerdictRow
from nereval_core.review.verdicts import ConflictError, StoredVerdict, kind_in_words, minute_of

_TRIES = 10
"""Attempts at an import while others give verdicts."""


@dataclass(frozen=True)
class HistoryConflict:
    """A span with different histories in two stores: the first verdicts, here and there, that differ."""

    ours: StoredVerdict
    theirs: StoredVerdict

    def __str__(self) -> str:
        verdict = self.ours.verdict
        quote, document = quoted(verdict.seen.quote), quoted(verdict.seen.document)
        return f"{quote} in {document}, {verdict.key.side}: here {_said(self.ours)}; there {_said(self.theirs)}"


@dataclass(frozen=True)
class Imported:
    """The result of an import: the numbers of verdicts added and known before, and the `conflicts`."""

    n_added: int
    n_known: int
    conflicts: tuple[HistoryConflict, ...]


def import_verdicts(store: ReviewStore, verdicts: PackedVerdicts, source: str) -> Imported:
    """Add the verdicts of a file to a store, where they are new and contradict nothing there.

    Raises:
        FormatError: lines that are not whole histories, of which nothing is imported; or the database refuses them.
    """
    with garbage_collection_off():
        histories = _histories(verdicts, source)
        for _ in range(_TRIES):
            comparison = _compared(histories, verdicts, store)
            try:
                store.take(verdicts.rows(_in_time(verdicts, comparison.added)), comparison.n_stored)
            except ConflictError:
                continue
            return Imported(len(comparison.added), comparison.n_known, comparison.conflicts)
    raise FormatError.single(store.name, None, "others give verdicts all the while", "try again")


@dataclass(frozen=True)
class _Histories:
    """The numbers of the verdicts of each record by version, and the number of each uid."""

    of_record: Mapping[str, Sequence[int]]
    of_uid: Mapping[str, int]


def _histories(verdicts: PackedVerdicts, source: str) -> _Histories:
    """Return the history of each record.

    Raises:
        FormatError: a history with a gap or with two verdicts of one version.
    """
    wrong = ProblemList()
    histories: dict[str, tuple[int, ...]] = {}
    numbers: dict[str, int] = {}
    for number in sorted(range(len(verdicts)), key=verdicts.versions.__getitem__):
        line, version, record = verdicts.lines[number], verdicts.versions[number], verdicts.records[number]
        uid, undoes = verdicts.uids[number], verdicts.undoes[number]
        history = histories.get(record, ())
        earlier = numbers.get(uid)
        if earlier in history and _is_twice(verdicts.row(earlier), verdicts.row(number)):
            # Two exports, one behind the other.
            continue
        if earlier is not None:
            wrong.append(Problem(source, line, f"a second verdict of the uid {uid}", "export it anew"))
        elif version == len(history):
            finding = f"a second verdict of version {version} on one span"
            wrong.append(Problem(source, line, finding, "import one file after the other"))
        elif version != len(history) + 1:
            lacking = f"version {version} of a history, and no version {len(history) + 1}"
            wrong.append(Problem(source, line, lacking, "give each history whole, as it was exported"))
        elif undoes and undoes not in {verdicts.uids[old] for old in history}:
            remedy = "give each history whole, as it was exported"
            wrong.append(Problem(source, line, f"undoes {undoes}, which is not in the history", remedy))
        else:
            numbers[uid] = number
            histories[record] = (*history, number)
    if wrong:
        raise FormatError(sorted(wrong, key=lambda problem: problem.line or 0))
    return _Histories(histories, numbers)


def _is_twice(first: VerdictRow, second: VerdictRow) -> bool:
    return first.version == second.version and _content(first) == _content(second)


def _content(row: VerdictRow) -> tuple[str, ...]:
    """Return what two verdicts share that are the same; what was written by hand has no moment of its own."""
    return row.uid, row.who, row.kind, row.note, row.body


@dataclass(frozen=True)
class _Comparison:
    """The numbers of new verdicts, the number of those known, and the numbers of stored verdicts of new records."""

    added: Sequence[int]
    n_known: int
    conflicts: tuple[HistoryConflict, ...]
    n_stored: Mapping[str, int]


def _compared(histories: _Histories, verdicts: PackedVerdicts, store: ReviewStore) -> _Comparison:
    """Compare histories with the verdicts of a store, which are not held: each is looked at once, in its order."""
    # Counted by the first verdict of each history here: the records that a database gives are strings of their own.
    n_own: dict[int, int] = {}
    apart: dict[str, HistoryConflict] = {}
    foreign: dict[str, StoredVerdict] = {}
    for ours in store.each_row():
        record = ours.record
        if (history := histories.of_record.get(record)) is not None:
            place = n_own.get(history[0], 0)
            n_own[history[0]] = place + 1
            if place < len(history) and record not in apart:
                theirs = verdicts.row(history[place])
                # An earlier version may have written the same content in another way.
                if _content(ours) != _content(theirs) and (conflict := _conflict(store, ours, theirs)):
                    apart[record] = conflict
        number = histories.of_uid.get(ours.uid)
        if number is not None and verdicts.records[number] != record:
            foreign[ours.uid] = store.verdict_in(ours)
    added: list[int] = []
    conflicts: list[HistoryConflict] = []
    n_known = 0
    n_stored: dict[str, int] = {}
    for record, history in histories.of_record.items():
        n_old = n_own.get(history[0], 0)
        news = history[n_old:]
        parted = apart.get(record)
        if parted is None and foreign:
            # The uid of a verdict on another span: a file that was changed by hand.
            number = next((number for number in news if verdicts.uids[number] in foreign), None)
            if number is not None:
                parted = HistoryConflict(foreign[verdicts.uids[number]], store.verdict_in(verdicts.row(number)))
        if parted:
            conflicts.append(parted)
        else:
            n_known += len(history) - len(news)
            if news:
                added += news
                n_stored[record] = n_old
    return _Comparison(added, n_known, tuple(conflicts), n_stored)


def _conflict(store: ReviewStore, ours: VerdictRow, theirs: VerdictRow) -> HistoryConflict | None:
    conflict = HistoryConflict(store.verdict_in(ours), store.verdict_in(theirs))
    left, right = conflict.ours, conflict.theirs
    is_same = (left.uid, left.who, left.verdict) == (right.uid, right.who, right.verdict)
    return None if is_same else conflict


def _in_time(verdicts: PackedVerdicts, numbers: Iterable[int]) -> list[int]:
    """Return verdicts sorted by time, but never before an earlier version of their record: clocks differ.

    `numbers` are those of one record after another, by version.
    """
    order: list[tuple[str, str, int, int]] = []
    record = latest = ""
    for number in numbers:
        latest = max(latest, verdicts.times[number]) if verdicts.records[number] == record else verdicts.times[number]
        record = verdicts.records[number]
        order.append((latest, record, verdicts.versions[number], number))
    order.sort()
    return [number for *_, number in order]


def _said(stored: StoredVerdict) -> str:
    note = f" ({quoted(stored.verdict.note)})" if stored.verdict.note else ""
    return f"{stored.who} on {minute_of(stored.at)}: {kind_in_words(stored.verdict) or 'no verdict any more'}{note}"
