"""Verdicts moved from one store to another, as JSON lines.

A line is one verdict, in ASCII. The same verdicts give the same bytes, whatever the order in which a store received
them. An exported line has all keys of KEYS; a line written by hand has those of HAND_KEYS, and the rest of the verdict
comes from the document of a corpus that it names.

An import adds verdicts that are new. Each span has a history of verdicts, identified by their uids. A history that
continues another one extends it. Two histories that differ are a conflict: no verdict on such a span is imported, and
the first difference is reported.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from sys import intern
from types import MappingProxyType
from typing import Any, BinaryIO

from nereval_core.corpus import Documents
from nereval_core.problems import FormatError, Problem, ProblemList, quoted, quoted_apart
from nereval_core.readers import garbage_collection_off
from nereval_core.readers.shared.strict_json import RefusedError, json_type, loads
from nereval_core.review.store import ReviewStore, moment
from nereval_core.review.verdicts import (
    QUOTE_CHARACTERS,
    ConflictError,
    Key,
    Marked,
    Seen,
    StoredVerdict,
    Verdict,
    kind_in_words,
    minute_of,
    span_as_json,
    verdict_problems,
)
from nereval_core.review.verdicts_on_records import text_digests

LINE_BYTES = 4_000_000
"""Largest number of bytes of a line; no stored verdict needs as many."""
PROBLEMS_READ = 1_000
"""Problems after which the rest of a file is not read."""
KEYS: Mapping[str, str] = MappingProxyType(
    {
        "document": "the document's id, as whoever decided saw it",
        "side": "gold or pred: the side of the span; none: nobody had marked it",
        "span": 'the span, {"fragments": [[start, end], …], "type": …}; code points, end exclusive',
        "quote": "its characters, at most 200",
        "kind": "gold, pred, both, neither or unclear; withdrawn where none stands any more",
        "partner": "the span of the other side that it was held against, or null",
        "right": "the spans that should stand, where neither is right or nobody had marked it",
        "note": "a note, or an empty string",
        "who": "who decided",
        "at": "when: ISO 8601, UTC",
        "version": "the place of this verdict in the history of its span, from 1",
        "before": "the 40 characters before the span",
        "after": "the 40 characters after it",
        "text": "the SHA-256 of the document's text in UTF-8",
        "uid": "the name of this verdict, 32 digits from 0 to f",
        "batch": "the name that verdicts given at once share",
        "undoes": "the uid of the verdict that this one takes back, or an empty string",
    }
)
"""The keys of an exported line in their order, with their meanings."""
HAND_KEYS: Mapping[str, bool] = MappingProxyType(
    {
        "document": True,
        "side": False,
        "span": True,
        "quote": True,
        "kind": True,
        "partner": False,
        "right": False,
        "note": False,
        "who": False,
    }
)
"""The keys of a line written by hand, and whether they are required. `side` is gold by default."""

_TRIES = 10
"""Attempts at an import while others give verdicts."""
_NAME = re.compile("[0-9a-f]{32}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(\+00:00|Z)", re.ASCII)
_KINDS: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {"span": (dict,), "partner": (dict, type(None)), "right": (list,), "version": (int,)}
)


History = Sequence[StoredVerdict]


class _BadError(Exception):
    """A line that holds no verdict: finding, remedy."""


def export_lines(verdicts: Iterable[StoredVerdict]) -> Iterator[bytes]:
    """Yield the lines of verdicts, sorted by document and span, each history in its order."""

    def place(stored: StoredVerdict) -> tuple[object, ...]:
        return stored.verdict.key.record, stored.version

    histories = [
        list(history) for _, history in groupby(sorted(verdicts, key=place), lambda stored: stored.verdict.key.record)
    ]
    histories.sort(key=lambda history: (history[0].verdict.seen.document, *_order(history[0].verdict.key)))
    for history in histories:
        for stored in history:
            yield json.dumps(_row(stored), separators=(", ", ": ")).encode() + b"\n"


def _order(key: Key) -> tuple[object, ...]:
    return key.span.start, key.span, key.side, key.text


def _row(stored: StoredVerdict) -> dict[str, Any]:
    verdict = stored.verdict
    context = verdict.seen
    return {
        "document": context.document,
        "side": verdict.key.side,
        "span": span_as_json(verdict.key.span),
        "quote": context.quote,
        "kind": verdict.kind,
        "partner": None if verdict.partner is None else span_as_json(verdict.partner),
        "right": [span_as_json(span) for span in verdict.right],
        "note": verdict.note,
        "who": stored.who,
        "at": stored.at,
        "version": stored.version,
        "before": context.before,
        "after": context.after,
        "text": verdict.key.text,
        "uid": stored.uid,
        "batch": stored.batch,
        "undoes": stored.undoes,
    }


def read_lines(
    stream: BinaryIO, source: str, *, documents: Documents | None = None, who: str = ""
) -> tuple[tuple[int, StoredVerdict], ...]:
    """Read verdicts with the numbers of their lines; blank lines are skipped.

    Lines written by hand name `documents`; `who` is their reviewer where a line names none.

    Raises:
        FormatError: with all problems found, up to PROBLEMS_READ.
    """
    numbered: list[tuple[int, StoredVerdict]] = []
    wrong = ProblemList()
    with garbage_collection_off():
        for number, line in _lines(stream):
            try:
                row = _object_of(line, first=number == 1)
                if row is not None:
                    numbered.append((number, _given(row) if "uid" in row else _by_hand(row, documents, who)))
                    stored = numbered[-1][1]
                    wrong += verdict_problems(stored.verdict, stored.who, source, number)
            except _BadError as error:
                wrong.append(Problem(source, number, *error.args))
            if len(wrong) >= PROBLEMS_READ:
                break
    if wrong:
        raise FormatError(wrong)
    return tuple(numbered)


def is_export(path: Path) -> bool:
    """Return whether a file is empty or begins with an exported verdict, so that another export may replace it."""
    with path.open("rb") as stream:
        for number, line in _lines(stream):
            try:
                row = _object_of(line, first=number == 1)
                if row is not None:
                    return bool(_given(row).uid)
            except _BadError:
                return False
    return True


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines by number, None for one that is too long."""
    number = 0
    while line := stream.readline(LINE_BYTES + 1):
        number += 1
        whole = len(line) <= LINE_BYTES
        while not line.endswith(b"\n") and len(line) > LINE_BYTES and (line := stream.readline(LINE_BYTES + 1)):
            pass
        yield number, line if whole else None


def _object_of(line: bytes | None, *, first: bool) -> dict[str, Any] | None:
    """Return the JSON object of a line, None where it is blank."""
    if line is None:
        raise _BadError(f"a line of more than {LINE_BYTES:,} bytes", "write one verdict on a line")
    try:
        text = (line.removeprefix(codecs.BOM_UTF8) if first else line).decode()
        row = loads(text) if text.strip() else None
    except UnicodeDecodeError as error:
        raise _BadError("bytes that are not UTF-8", "write the file in UTF-8") from error
    except RefusedError as error:
        raise _BadError(*error.args) from error
    if row is not None and not isinstance(row, dict):
        raise _BadError(f"{json_type(row)} where a verdict should be", "write one JSON object")
    return row


def _given(row: Mapping[str, Any]) -> StoredVerdict:
    _check_keys(row, KEYS, KEYS, "see `nereval review import --help`")
    for name in ("uid", "batch", "undoes"):
        if not _NAME.fullmatch(row[name]) and not (name == "undoes" and not row[name]):
            raise _BadError(f"{name} is {quoted(row[name])}", "write 32 digits from 0 to f, as it was exported")
    if not _is_moment(row["at"]):
        raise _BadError(f"at is {quoted(row['at'])}", "write a moment as 2026-01-31T12:00:00+00:00")
    if row["version"] < 1 or row["version"] >= 2**31:
        raise _BadError("version is out of range", "write the place in the history of the span, from 1")
    # Many verdicts share these strings, and are held together.
    context = Seen(intern(row["document"]), row["quote"], row["before"], row["after"])
    verdict = _verdict(row, Key(intern(row["text"]), row["side"], _marked(row["span"], "span")), context)
    uid, batch = row["uid"], row["batch"]
    batch = uid if batch == uid else intern(batch)
    return StoredVerdict(verdict, intern(row["who"]), intern(row["at"]), row["version"], uid, batch, row["undoes"])


def _by_hand(row: Mapping[str, Any], documents: Documents | None, who: str) -> StoredVerdict:
    """Return the first verdict on a span; its uid is a digest of its content, so that it is imported once."""
    _check_keys(
        row, HAND_KEYS, [name for name, needed in HAND_KEYS.items() if needed], "see `nereval review import --help`"
    )
    if documents is None:
        remedy = "name the corpus after FILE: review import FILE CORPUS, or give the whole line as it was exported"
        raise _BadError("a verdict without uid", remedy)
    number = documents.index.get(row["document"])
    if number is None:
        raise _BadError(f"there is no document {quoted(row['document'])} in the corpus", "name one that is")
    text, digest = documents.texts[number], text_digests(documents)[number]
    span = _marked(row["span"], "span")
    if span.start < 0 or span.end > len(text):
        raise _BadError("a span beyond the text", f"give offsets from 0 to {len(text):,}")
    context = Seen.of(row["document"], text, span)
    if context.quote != row["quote"][:QUOTE_CHARACTERS]:
        expected, actual = quoted_apart(context.quote, row["quote"])
        raise _BadError(f"the text there is {expected}, not {actual}", "mend the offsets, or the quote")
    full = {"partner": None, "right": [], "note": "", "side": "gold", "who": who, **row}
    verdict = _verdict(full, Key(digest, full["side"], span), context)
    named = {**full, "text": digest}
    uid = hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()[:32]
    return StoredVerdict(verdict, full["who"], moment(), 1, uid, uid)


def _check_keys(row: Mapping[str, Any], allowed: Iterable[str], needed: Iterable[str], remedy: str) -> None:
    names = list(allowed)
    if odd := next((name for name in row if name not in names), None):
        raise _BadError(f"an unknown key {quoted(odd)}", f"the keys are {', '.join(names)}")
    if lacking := next((name for name in needed if name not in row), None):
        raise _BadError(f"no {lacking}", remedy)
    for name, value in row.items():
        types = _KINDS.get(name, (str,))
        if type(value) not in types:
            raise _BadError(f"{name} is {json_type(value)}", f"write {_ARTICLES[types[0]]}")


_ARTICLES = {str: "a string", dict: "an object with fragments and type", list: "a list", int: "an integer"}


def _verdict(row: Mapping[str, Any], key: Key, context: Seen) -> Verdict:
    partner = None if row["partner"] is None else _marked(row["partner"], "partner")
    right = tuple(_marked(span, "right") for span in row["right"])
    return Verdict(key, row["kind"], context, partner, right, row["note"])


def _marked(span: Any, what: str) -> Marked:
    remedy = 'write {"fragments": [[start, end], …], "type": …}'
    if not isinstance(span, dict) or set(span) != {"fragments", "type"} or not isinstance(span["type"], str):
        raise _BadError(f"{what} is not a span", remedy)
    parts: Sequence[Any] = span["fragments"] if isinstance(span["fragments"], list) else []
    if not parts or not all(isinstance(part, list) and [type(at) for at in part] == [int, int] for part in parts):
        raise _BadError(f"{what} has no fragments of two integers each", remedy)
    return Marked(tuple([(low, high) for low, high in parts]), intern(span["type"]))


def _is_moment(text: str) -> bool:
    if not _MOMENT.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


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
    """The result of an import: verdicts `added`, the number known before (`n_known`), and the `conflicts`."""

    added: tuple[StoredVerdict, ...]
    n_known: int
    conflicts: tuple[HistoryConflict, ...]


def import_verdicts(store: ReviewStore, lines: Iterable[tuple[int, StoredVerdict]], source: str) -> Imported:
    """Add the verdicts of lines (number, verdict) to a store, where they are new and contradict nothing there.

    Raises:
        FormatError: lines that are not whole histories, of which nothing is imported; or the database refuses them.
    """
    with garbage_collection_off():
        histories = _histories(lines, source)
        for _ in range(_TRIES):
            imported = _compared(histories, store.each())
            try:
                store.take(_in_time(imported.added))
            except ConflictError:
                continue
            return imported
    raise FormatError.single(store.name, None, "others give verdicts all the while", "try again")


def _histories(lines: Iterable[tuple[int, StoredVerdict]], source: str) -> Mapping[str, History]:
    """Return the history of each record.

    Raises:
        FormatError: a history with a gap or with two verdicts of one version.
    """
    wrong = ProblemList()
    histories: dict[str, list[StoredVerdict]] = {}
    uids: set[str] = set()
    for line, stored in sorted(lines, key=lambda item: item[1].version):
        history = histories.setdefault(stored.verdict.key.record, [])
        earlier = next((old for old in history if old.uid == stored.uid), None)
        if earlier is not None and (earlier.version, earlier.who, earlier.verdict) == (
            stored.version,
            stored.who,
            stored.verdict,
        ):
            # Two exports, one behind the other.
            continue
        if stored.uid in uids:
            wrong.append(Problem(source, line, f"a second verdict of the uid {stored.uid}", "export it anew"))
        elif stored.version == len(history):
            found_too = f"a second verdict of version {stored.version} on one span"
            wrong.append(Problem(source, line, found_too, "import one file after the other"))
        elif stored.version != len(history) + 1:
            lacking = f"version {stored.version} of a history, and no version {len(history) + 1}"
            wrong.append(Problem(source, line, lacking, "give each history whole, as it was exported"))
        elif stored.undoes and stored.undoes not in {old.uid for old in history}:
            remedy = "give each history whole, as it was exported"
            wrong.append(Problem(source, line, f"undoes {stored.undoes}, which is not in the history", remedy))
        else:
            uids.add(stored.uid)
            history.append(stored)
    if wrong:
        raise FormatError(sorted(wrong, key=lambda problem: problem.line or 0))
    return histories


def _compared(histories: Mapping[str, History], stored_verdicts: Iterable[StoredVerdict]) -> Imported:
    """Compare histories with the verdicts of a store, which are not held: each is looked at once, in its order."""
    record_of_uid = {stored.uid: record for record, history in histories.items() for stored in history}
    n_own: dict[str, int] = {}
    apart: dict[str, HistoryConflict] = {}
    foreign: dict[str, StoredVerdict] = {}
    for ours in stored_verdicts:
        record = ours.verdict.key.record
        if (theirs := histories.get(record)) is not None:
            number = n_own.get(record, 0)
            n_own[record] = number + 1
            if number < len(theirs) and record not in apart and not _same(ours, theirs[number]):
                apart[record] = HistoryConflict(ours, theirs[number])
        if record_of_uid.get(ours.uid, record) != record:
            foreign[ours.uid] = ours
    added: list[StoredVerdict] = []
    parted: list[HistoryConflict] = []
    n_known = 0
    for record, theirs in histories.items():
        news = theirs[n_own.get(record, 0) :]
        conflict = apart.get(record)
        if conflict is None and foreign:
            # The uid of a verdict on another span: a file that was changed by hand.
            conflict = next((HistoryConflict(foreign[new.uid], new) for new in news if new.uid in foreign), None)
        if conflict:
            parted.append(conflict)
        else:
            added += news
            n_known += len(theirs) - len(news)
    return Imported(tuple(added), n_known, tuple(parted))


def _same(ours: StoredVerdict, theirs: StoredVerdict) -> bool:
    # What was written by hand has no moment of its own.
    return (ours.uid, ours.who, ours.verdict) == (theirs.uid, theirs.who, theirs.verdict)


def _in_time(verdicts: Iterable[StoredVerdict]) -> list[StoredVerdict]:
    """Return verdicts sorted by time, but never before an earlier version of their record: clocks differ."""
    latest: dict[str, str] = {}
    order: list[tuple[str, str, int, StoredVerdict]] = []
    for stored in verdicts:
        record = stored.verdict.key.record
        latest[record] = max(latest.get(record, ""), stored.at)
        order.append((latest[record], record, stored.version, stored))
    return [stored for *_, stored in sorted(order, key=lambda item: item[:3])]


def _said(stored: StoredVerdict) -> str:
    note = f" ({quoted(stored.verdict.note)})" if stored.verdict.note else ""
    return f"{stored.who} on {minute_of(stored.at)}: {kind_in_words(stored.verdict) or 'no verdict any more'}{note}"
