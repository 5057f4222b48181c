"""The fast way through JSON lines: blocks of lines that are plainly right, column by column.

Whatever is not plainly right is left to whoever reads a line at a time, exactly: nothing is judged here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, BinaryIO

import msgspec
import numpy as np
from msgspec import UNSET, Meta, Raw, UnsetType

from nereval_core.arrays import Bools, Int64
from nereval_core.corpus.texts import Bytes
from nereval_core.readers.jsonl.span_lists import Spans, plain_spans
from nereval_core.readers.shared.byte_fields import Types
from nereval_core.readers.shared.layer_builder import Gathered

BLOCK = 1 << 20
"""Bytes read at once."""
LIMIT = 2**31 - 1
"""Offsets beyond it, and scores beyond the other, are for whoever reads exactly."""
SCORE = 1e299

Offset = Annotated[int, Meta(ge=-LIMIT, le=LIMIT)]
Pair = tuple[Offset, Offset]

QUOTE, COLON, BACKSLASH, OPEN, CLOSE, CR, END, BLANK, TAB = b'":\\{}\r\n \t'

Extras = dict[str, list[tuple[int, Any]]]
"""What spans have beside boundaries and type, by where it is kept, as pairs of span and value."""

UNSURE = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)
"""What is raised on input that is wrong or may be."""

EXTRAS: dict[str, tuple[str, Any]] = {
    "id": ("ids", str),
    "links": ("links", tuple[str, ...]),
    "fragments": ("fragments", tuple[Pair, ...]),
    "core": ("cores", Pair),
    "alternatives": ("alternatives", tuple[Pair, ...]),
    "score": ("scores", Annotated[float, Meta(ge=-SCORE, le=SCORE)]),
    "meta": ("meta", Raw),
}
"""What a span may have beside start, end and label: where it is kept, and its type."""
EMPTY = frozenset({"links", "fragments", "alternatives", "meta"})
"""Where nothing in it says no more than the key left out."""


class Plain(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A document of no more than it must have."""

    id: str
    text: str
    spans: Raw


class Full(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A document of all it may have."""

    id: str
    text: str
    spans: Raw
    tokens: list[Pair] | UnsetType = UNSET
    sentences: list[Pair] | UnsetType = UNSET
    meta: Raw | UnsetType = UNSET


@cache
def _span_decoder(keys: frozenset[str]) -> msgspec.json.Decoder[list[list[Any]]]:
    """Return what reads lists of lists of spans that may have these keys of EXTRAS."""
    extras = [(key, EXTRAS[key][1] | UnsetType, UNSET) for key in EXTRAS if key in keys]
    required = [("start", Offset), ("end", Offset), ("label", str)]
    span = msgspec.defstruct("Span", [*required, *extras], forbid_unknown_fields=True, gc=False)
    return msgspec.json.Decoder(list[list[span]])  # type: ignore[valid-type]


PLAIN: msgspec.json.Decoder[Plain] = msgspec.json.Decoder(Plain)
FULL: msgspec.json.Decoder[Full] = msgspec.json.Decoder(Full)
LONGEST = 10
"""After blocks with spans that are not plain so many in a row, plain ones are looked for in every 2^10th."""


def blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines, each with its end, without a byte-order mark; the last line gets an end if it has none."""
    held: list[bytes] = []
    piece = stream.read(BLOCK).removeprefix(b"\xef\xbb\xbf")
    while piece:
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield b"".join((*held, piece[:cut]))
            held = []
        held.append(piece[cut:])
        piece = stream.read(BLOCK)
    if last := b"".join(held):
        yield last + b"\n"


class Blocks:
    """Takes the lines of one file, `shown` in problems, into `gathered`; `exact(line, number)` is given the others."""

    def __init__(self, shown: str, gathered: Gathered, exact: Callable[[bytes, int], None]) -> None:
        self._shown = shown
        self._gathered = gathered
        self._exact = exact
        self._types = Types(gathered.code)
        self._misses = self._waiting = 0
        self._full = False
        self._keys: frozenset[str] = frozenset()

    def take(self, raw: bytes, number: int) -> int:
        """Take whole lines, the first of them of this number; return how many they are."""
        ends = _ends(raw)
        self._parts(raw, _not_objects(np.frombuffer(raw, np.uint8), ends), ends, number)
        return len(ends)

    def _parts(self, raw: bytes, odd: Int64, ends: Int64, number: int) -> None:
        """Take lines: the odd ones by themselves, those between them together."""
        low = 0
        for line in [*odd.tolist(), len(ends)]:
            if low < line:
                start = _start(ends, low)
                self._run(raw[start : ends[line - 1] + 1], ends[low:line] - start, number + low)
            if line < len(ends):
                self._exact(raw[_start(ends, line) : ends[line]], number + line)
            low = line + 1

    def _run(self, raw: bytes, ends: Int64, number: int) -> None:
        """Take lines that look like objects, in halves where one of them is not plainly right."""
        odd = self._taken(raw, ends, number)
        if odd is None and len(ends) > 1:
            half = len(ends) // 2
            cut = int(ends[half - 1]) + 1
            self._run(raw[:cut], ends[:half], number)
            self._run(raw[cut:], ends[half:] - cut, number + half)
            return
        odd = np.zeros(1, np.int64) if odd is None else odd
        if len(odd):
            self._parts(raw, odd, ends, number)

    def _taken(self, raw: bytes, ends: Int64, number: int) -> Int64 | None:
        """Take lines, if all of them are plainly right; return those that are not, None where that is not known."""
        try:
            documents = self._documents(raw)
            if len(documents) != len(ends):
                return None
            lists = [document.spans for document in documents]
            meta: dict[int, dict[str, Any]] = {}
            expected = np.full(len(ends), len(Plain.__struct_fields__))
            if self._full:
                for place, document in enumerate(documents):
                    expected[place] += (document.tokens is not UNSET) + (document.sentences is not UNSET)
                    if document.meta is not UNSET:
                        meta[place], count = _meta(document.meta)
                        expected[place] += 1 + count
            spans, extras = self._spans(lists, expected)
        except UNSURE:
            return None
        texts = [document.text.encode() for document in documents]
        ids = [document.id for document in documents]
        if self._full or not spans.plain or not _slim(ends, ids, texts, lists):
            odd, keys = _keys(np.frombuffer(raw, np.uint8), ends)
            odd |= keys != expected
            if odd.any():
                return np.flatnonzero(odd)
        gathered = self._gathered
        first, base = len(gathered.ids), gathered.spans
        gathered.ids += ids
        gathered.texts += texts
        gathered.shown += [self._shown] * len(documents)
        gathered.lines += range(number, number + len(documents))
        gathered.counts += spans.counts.tolist()
        for key, values in extras.items():
            gathered.extras[key].update((base + span, value) for span, value in values)
        if self._full:
            for name, rows in (("tokens", gathered.tokens), ("sentences", gathered.sentences)):
                pairs = ((first + place, getattr(document, name)) for place, document in enumerate(documents))
                rows.update((place, value) for place, value in pairs if value)
            gathered.meta.update((first + place, value) for place, value in meta.items() if value)
        gathered.add_spans(spans.starts, spans.ends, spans.codes)
        return np.zeros(0, np.int64)

    def _documents(self, raw: bytes) -> Sequence[Any]:
        if not self._full:
            try:
                return PLAIN.decode_lines(raw)
            except msgspec.ValidationError:
                documents = FULL.decode_lines(raw)
                self._full = True
                return documents
        return FULL.decode_lines(raw)

    def _spans(self, lists: Sequence[Raw], expected: Int64) -> tuple[Spans, Extras]:
        """Return the spans of documents, and what they have beside boundaries and types.

        The number of their keys is added to what is expected of each document.
        """
        if self._waiting:
            self._waiting -= 1
        else:
            spans = plain_spans(lists, self._types)
            if spans is not None:
                self._misses = 0
                expected += 3 * spans.counts
                return spans, {}
            self._misses = min(self._misses + 1, LONGEST)
            self._waiting = 2**self._misses
        return self._decoded(b"[" + b",".join(lists) + b"]", expected)

    def _decoded(self, raw: bytes, expected: Int64) -> tuple[Spans, Extras]:
        """Do as `_spans`, with an object for each span."""
        try:
            rows = _span_decoder(self._keys).decode(raw)
            known = self._keys
        except msgspec.ValidationError:
            rows = _span_decoder(frozenset(EXTRAS)).decode(raw)
            known = frozenset(EXTRAS)
        spans = list(chain.from_iterable(rows))
        counts = np.fromiter(map(len, rows), np.int64, len(rows))
        if len(counts) != len(expected):
            raise ValueError("not as many lists as documents")
        expected += 3 * counts
        first = np.cumsum(counts)
        extras: Extras = {}
        for key in known:
            kept, _ = EXTRAS[key]
            column = list(map(attrgetter(key), spans))
            values = [(place, value) for place, value in enumerate(column) if value is not UNSET]
            if not values:
                continue
            self._keys |= {key}
            places = np.fromiter((place for place, _ in values), np.int64, len(values))
            document = np.searchsorted(first, places, side="right")
            expected += np.bincount(document, minlength=len(counts))
            if key == "meta":
                parsed = [(place, *_meta(value)) for place, value in values]
                np.add.at(expected, document, [count for _, _, count in parsed])
                values = [(place, value) for place, value, _ in parsed]
            if key in EMPTY:
                values = [(place, value) for place, value in values if value]
            extras[kept] = values
        starts = np.fromiter([span.start for span in spans], np.int32, len(spans))
        ends = np.fromiter([span.end for span in spans], np.int32, len(spans))
        return Spans(counts, starts, ends, self._gathered.coded([span.label for span in spans]), plain=False), extras


def _start(ends: Int64, line: int) -> int:
    return int(ends[line - 1]) + 1 if line else 0


def _ends(raw: bytes) -> Int64:
    """Return where the lines end."""
    found = []
    at = raw.find(b"\n")
    while at >= 0:
        found.append(at)
        at = raw.find(b"\n", at + 1)
    return np.array(found, np.int64)


def _not_objects(data: Bytes, ends: Int64) -> Int64:
    """Return the lines that do not begin and end as an object does: blank ones, and such as hold a part of one."""
    closed = data[ends - 1] == CLOSE
    returned = np.flatnonzero(data[ends - 1] == CR)
    closed[returned] = data[ends[returned] - 2] == CLOSE
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    return np.flatnonzero(~closed | (data[starts] != OPEN))


def _slim(ends: Int64, ids: Sequence[str], texts: Sequence[bytes], lists: Sequence[Raw]) -> bool:
    """Tell whether no line of plain documents has room for a key that stands twice: the least is `"id":"",`."""
    number = len(ids)
    room = np.diff(ends, prepend=-1) - 1 - len('{"id":"","text":"","spans":}')
    for parts in (ids, texts, lists):
        room -= np.fromiter(map(len, parts), np.int64, number)
    return bool(np.all(room < len('"id":"",')))


def _keys(data: Bytes, ends: Int64) -> tuple[Bools, Int64]:
    """Return which lines hide how many keys they have, and the number of keys by line.

    A colon right after a quotation mark ends a key, unless that mark is escaped and so part of a string. A string that
    begins with a colon is counted too: then the number is not the one expected.
    """
    odd = np.zeros(len(ends), np.bool_)
    marks = np.flatnonzero(data == COLON) - 1
    previous = data[marks]
    white = marks[_white(previous)]
    marks = marks[previous == QUOTE]
    escaped = data[marks - 1] == BACKSLASH
    if escaped.any():
        # Of two backslashes the first escapes the second: that mark may end a key.
        odd[np.searchsorted(ends, marks[escaped & (data[marks - 2] == BACKSLASH)])] = True
        marks = marks[~escaped]
    # Blanks between a key and its colon are rare, and a text may hold what looks like it.
    for _ in range(8):
        if not len(white):
            break
        white -= 1
        previous = data[white]
        odd[np.searchsorted(ends, white[previous == QUOTE])] = True
        white = white[_white(previous)]
    odd[np.searchsorted(ends, white)] = True
    return odd, np.diff(np.searchsorted(marks, ends), prepend=0)


def _white(data: Bytes) -> Bools:
    found: Bools = (data == BLANK) | (data == TAB) | (data == CR)
    return found


def _meta(raw: Raw) -> tuple[dict[str, Any], int]:
    """Return an object of any content, and the number of keys in it.

    Raises:
        ValueError: it is none, or one that has to be looked at exactly.
    """
    count = 0

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal count
        count += len(pairs)
        row = dict(pairs)
        if len(row) != len(pairs):
            raise ValueError("a key stands twice")
        return row

    text = bytes(raw).decode()
    value = json.loads(text, object_pairs_hook=made, parse_float=_finite)
    if type(value) is not dict:
        raise ValueError("no object")
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()
    return value, count


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number too large")
    return value
