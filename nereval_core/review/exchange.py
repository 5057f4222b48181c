"""Import of verdicts from another store: new ones are added, and contradictions between two stores are listed.

Each span has a history of verdicts, identified by their uids. A history that continues another one extends it. Two
histories that differ are a conflict: no verdict on such a span is imported, and the first difference is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import KINDS, ConflictError, Given, minute_of

_TRIES = 10
"""Attempts at an import while others give verdicts."""

History = Sequence[Given]


@dataclass(frozen=True)
class HistoryConflict:
    """A span with different histories in two stores: the first verdicts, here and there, that differ."""

    ours: Given
    theirs: Given

    def __str__(self) -> str:
        verdict = self.ours.verdict
        quote, document = quoted(verdict.seen.quote), quoted(verdict.seen.document)
        return f"{quote} in {document}, {verdict.key.side}: here {_said(self.ours)}; there {_said(self.theirs)}"


@dataclass(frozen=True)
class Imported:
    """The result of an import: verdicts `taken`, the number `known` before, and the conflicts (`parted`)."""

    taken: tuple[Given, ...]
    known: int
    parted: tuple[HistoryConflict, ...]


def import_verdicts(store: ReviewStore, lines: Iterable[tuple[int, Given]], source: str) -> Imported:
    """Add the verdicts of lines (number, verdict) to a store, where they are new and contradict nothing there.

    Raises:
        FormatError: lines that are not whole histories, of which nothing is imported; or the database refuses them.
    """
    histories = _histories(lines, source)
    for _ in range(_TRIES):
        found = _compared(histories, store.every())
        try:
            store.take(_in_time(found.taken))
        except ConflictError:
            continue
        return found
    raise FormatError.single(store.name, None, "others give verdicts all the while", "try again")


def _histories(lines: Iterable[tuple[int, Given]], source: str) -> Mapping[str, History]:
    """Return the history of each record.

    Raises:
        FormatError: a history with a gap or with two verdicts of one version.
    """
    wrong: list[Problem] = []
    found: dict[str, list[tuple[int, Given]]] = {}
    where: dict[str, str] = {}
    for line, one in sorted(lines, key=lambda item: item[1].version):
        record = one.verdict.key.record
        history = found.setdefault(record, [])
        known = next((old for _, old in history if old.uid == one.uid), None)
        if known is not None and (known.version, known.who, known.verdict) == (one.version, one.who, one.verdict):
            # Two exports, one behind the other.
            continue
        if one.uid in where:
            wrong.append(Problem(source, line, f"a second verdict of the uid {one.uid}", "export it anew"))
        elif one.version == len(history):
            found_too = f"a second verdict of version {one.version} on one span"
            wrong.append(Problem(source, line, found_too, "import one file after the other"))
        elif one.version != len(history) + 1:
            lacking = f"version {one.version} of a history, and no version {len(history) + 1}"
            wrong.append(Problem(source, line, lacking, "give each history whole, as it was exported"))
        elif one.undoes and one.undoes not in {old.uid for _, old in history}:
            remedy = "give each history whole, as it was exported"
            wrong.append(Problem(source, line, f"undoes {one.undoes}, which is not in the history", remedy))
        else:
            where[one.uid] = record
            history.append((line, one))
    if wrong:
        raise FormatError(sorted(wrong, key=lambda problem: problem.line or 0))
    return {record: [one for _, one in history] for record, history in found.items()}


def _compared(histories: Mapping[str, History], every: Iterable[Given]) -> Imported:
    own: dict[str, list[Given]] = {}
    uids: dict[str, Given] = {}
    for one in every:
        own.setdefault(one.verdict.key.record, []).append(one)
        uids[one.uid] = one
    taken: list[Given] = []
    parted: list[HistoryConflict] = []
    known = 0
    for record, theirs in histories.items():
        ours = own.get(record, [])
        apart = next((pair for pair in zip(ours, theirs, strict=False) if not _same(*pair)), None)
        news = theirs[len(ours) :]
        # The uid of a verdict on another span: a file that was changed by hand.
        apart = apart or next(((uids[one.uid], one) for one in news if one.uid in uids), None)
        if apart:
            parted.append(HistoryConflict(*apart))
        else:
            taken += news
            known += len(theirs) - len(news)
    return Imported(tuple(taken), known, tuple(parted))


def _same(ours: Given, theirs: Given) -> bool:
    # What was written by hand has no moment of its own.
    return (ours.uid, ours.who, ours.verdict) == (theirs.uid, theirs.who, theirs.verdict)


def _in_time(taken: Iterable[Given]) -> list[Given]:
    """Return verdicts sorted by time, but never before an earlier version of their record: clocks differ."""
    latest: dict[str, str] = {}
    order: list[tuple[str, str, int, Given]] = []
    for one in taken:
        record = one.verdict.key.record
        latest[record] = max(latest.get(record, ""), one.at)
        order.append((latest[record], record, one.version, one))
    return [one for *_, one in sorted(order, key=lambda item: item[:3])]


def _said(one: Given) -> str:
    note = f" ({quoted(one.verdict.note)})" if one.verdict.note else ""
    return f"{one.who} on {minute_of(one.at)}: {KINDS.get(one.verdict.kind, 'no verdict any more')}{note}"
