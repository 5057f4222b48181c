"""Verdicts as JSON lines.

A line is one verdict, in ASCII. The same verdicts give the same bytes, whatever the order in which a store received
them. An exported line has all keys of KEYS; a line written by hand has those of HAND_KEYS, and the rest of the verdict
comes from the document of a corpus that it names.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import msgspec

from nereval_core.problems import FormatError, Problem, ProblemList, quoted, quoted_apart
from nereval_core.readers import garbage_collection_off
from nereval_core.readers.shared.strict_json import RefusedError, json_type, loads
from nereval_core.review.packed_verdicts import PackedVerdicts
from nereval_core.review.store import moment
from nereval_core.review.store.rows import VerdictRow, row_of
from nereval_core.review.verdicts import (
    CONTEXT_CHARACTERS,
    NOTE_CHARACTERS,
    OFFSET_LIMIT,
    QUOTE_CHARACTERS,
    UNMARKED,
    WORD_CHARACTERS,
    Key,
    Kind,
    Marked,
    Seen,
    Side,
    StoredVerdict,
    Verdict,
    ascii_json,
    body_text,
    name_problems,
    record_of,
    span_text,
    verdict_problems,
)

if TYPE_CHECKING:
    from nereval_core.corpus import Documents

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

_NAME = re.compile("[0-9a-f]{32}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(\+00:00|Z)", re.ASCII)
_KINDS: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {"span": (dict,), "partner": (dict, type(None)), "right": (list,), "version": (int,)}
)


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
            yield _line(_as_written(stored)).encode() + b"\n"


def _order(key: Key) -> tuple[object, ...]:
    return key.span.start, key.span, key.side, key.text


_Offset = Annotated[int, msgspec.Meta(ge=0, lt=OFFSET_LIMIT)]
_Word = Annotated[str, msgspec.Meta(max_length=WORD_CHARACTERS)]
_Context = Annotated[str, msgspec.Meta(max_length=CONTEXT_CHARACTERS)]
_Uid = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]


class _Span(msgspec.Struct, forbid_unknown_fields=True):
    fragments: Annotated[tuple[tuple[_Offset, _Offset], ...], msgspec.Meta(min_length=1)]
    type: Annotated[_Word, msgspec.Meta(min_length=1)]


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """An exported line; what cannot be said of a single value is checked in `_exported_row`."""

    document: _Word
    side: Side
    span: _Span
    quote: Annotated[str, msgspec.Meta(max_length=QUOTE_CHARACTERS)]
    kind: Kind
    partner: _Span | None
    right: Annotated[list[_Span], msgspec.Meta(max_length=6)]
    note: Annotated[str, msgspec.Meta(max_length=NOTE_CHARACTERS)]
    who: str
    at: str
    version: Annotated[int, msgspec.Meta(ge=1, lt=2**31)]
    before: _Context
    after: _Context
    text: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
    uid: _Uid
    batch: _Uid
    undoes: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{32})?\Z")]


_LINE = msgspec.json.Decoder(_Line)


def _as_written(stored: StoredVerdict) -> _Line:
    verdict = stored.verdict
    context = verdict.seen
    return _Line(
        document=context.document,
        side=verdict.key.side,
        span=_Span(*verdict.key.span),
        quote=context.quote,
        kind=verdict.kind,
        partner=None if verdict.partner is None else _Span(*verdict.partner),
        right=[_Span(*span) for span in verdict.right],
        note=verdict.note,
        who=stored.who,
        at=stored.at,
        version=stored.version,
        before=context.before,
        after=context.after,
        text=verdict.key.text,
        uid=stored.uid,
        batch=stored.batch,
        undoes=stored.undoes,
    )


def _line(row: _Line) -> str:
    """Return an exported line without its end, as `json.dumps` would write it."""
    partner = "null" if row.partner is None else _span(row.partner)
    right = ", ".join([_span(span) for span in row.right])
    return (
        f'{{"document": {ascii_json(row.document)}, "side": {ascii_json(row.side)}, "span": {_span(row.span)}, '
        f'"quote": {ascii_json(row.quote)}, "kind": {ascii_json(row.kind)}, "partner": {partner}, '
        f'"right": [{right}], "note": {ascii_json(row.note)}, "who": {ascii_json(row.who)}, '
        f'"at": {ascii_json(row.at)}, "version": {row.version}, "before": {ascii_json(row.before)}, '
        f'"after": {ascii_json(row.after)}, "text": {ascii_json(row.text)}, "uid": {ascii_json(row.uid)}, '
        f'"batch": {ascii_json(row.batch)}, "undoes": {ascii_json(row.undoes)}}}'
    )


def _span(span: _Span) -> str:
    fragments = ", ".join([f"[{low}, {high}]" for low, high in span.fragments])
    return f'{{"fragments": [{fragments}], "type": {ascii_json(span.type)}}}'


def _exported_row(line: bytes | None) -> VerdictRow | None:
    """Return the row of a valid line that is as `export_lines` writes it, None for any other.

    Most lines are such. They are read as one declared type, and no object is made of their verdicts.
    """
    if line is None:
        return None
    try:
        row = _LINE.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    spans = (row.span, *((row.partner,) if row.partner else ()), *row.right)
    if (
        # Keys that stand twice, and offsets with a fraction of 0, are not as they are written.
        line.rstrip(b"\r\n") != _line(row).encode()
        or any(len(span.fragments) > 1 or span.fragments[0][0] >= span.fragments[0][1] for span in spans)
        or row.side == UNMARKED
        or (row.right and row.kind != "neither")
        or "\0" in row.note
        or not _is_moment(row.at)
        or not _is_reviewer(row.who)
    ):
        return None
    body = body_text(
        ascii_json(row.text),
        ascii_json(row.side),
        span_text(row.span.fragments, row.span.type),
        "null" if row.partner is None else span_text(row.partner.fragments, row.partner.type),
        ",".join([span_text(span.fragments, span.type) for span in row.right]),
        ascii_json(row.document),
        ascii_json(row.quote),
        ascii_json(row.before),
        ascii_json(row.after),
    )
    record = record_of(row.text, row.side, row.span.fragments, row.span.type)
    return VerdictRow(0, row.uid, record, row.version, row.kind, body, row.note, row.who, row.at, row.batch, row.undoes)


@lru_cache(100)
def _is_reviewer(who: str) -> bool:
    return not name_problems(who, "")


def read_lines(stream: BinaryIO, source: str, *, documents: Documents | None = None, who: str = "") -> PackedVerdicts:
    """Read verdicts; blank lines are skipped.

    Lines written by hand name `documents`; `who` is their reviewer where a line names none.

    Raises:
        FormatError: with all problems found, up to PROBLEMS_READ.
    """
    wrong = ProblemList()
    verdicts = PackedVerdicts()
    with garbage_collection_off(), ExitStack() as stack:
        stack.enter_context(verdicts)
        for number, line in _lines(stream):
            row = _exported_row(line)
            try:
                if row is None and (content := _object_of(line, first=number == 1)) is not None:
                    stored = _given(content) if "uid" in content else _by_hand(content, documents, who)
                    problems = verdict_problems(stored.verdict, stored.who, source, number)
                    wrong += problems
                    row = None if problems else row_of(stored)
            except _BadError as error:
                wrong.append(Problem(source, number, *error.args))
            if row is not None:
                verdicts.add(number, row)
            if len(wrong) >= PROBLEMS_READ:
                break
        if wrong:
            raise FormatError(wrong)
        stack.pop_all()
    return verdicts


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
    context = Seen(row["document"], row["quote"], row["before"], row["after"])
    verdict = _verdict(row, Key(row["text"], row["side"], _marked(row["span"], "span")), context)
    return StoredVerdict(verdict, *(row[name] for name in ("who", "at", "version", "uid", "batch", "undoes")))


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
    # Whoever writes verdicts by hand has read a corpus, which imports much; others have not.
    from nereval_core.review.verdicts_on_records import text_digests

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
    return Marked(tuple([(low, high) for low, high in parts]), span["type"])


@lru_cache(100)
def _is_moment(text: str) -> bool:
    if not _MOMENT.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
