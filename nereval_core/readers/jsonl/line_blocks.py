"""Decode blocks of JSON lines that are plainly right, column by column.

Lines that are not plainly right are left to `jsonl._read_line`, which judges them exactly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, BinaryIO, NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET, Meta, Raw, UnsetType

from nereval_core.arrays import Bools, Int64
from nereval_core.corpus.builder import Builder
from nereval_core.corpus.texts import Bytes

BLOCK_BYTES = 1 << 20
"""Bytes read at once."""
MOST_OFFSET = 2**31 - 1
"""Greater offsets and, below, greater scores are left to exact reading."""
MOST_SCORE = 1e299

Offset = Annotated[int, Meta(ge=-MOST_OFFSET, le=MOST_OFFSET)]
Pair = tuple[Offset, Offset]

QUOTE, COLON, BACKSLASH, OPEN, CLOSE, CR, END, BLANK, TAB = b'":\\{}\r\n \t'

Extras = dict[str, list[tuple[int, Any]]]
"""Further values of spans, by the key of Builder.extras, as pairs of span and value."""

DECODING_ERRORS = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)
"""Errors on input that is wrong or may be."""

EXTRAS: dict[str, tuple[str, Any]] = {
    "id": ("ids", str),
    "links": ("links", tuple[str, ...]),
    "fragments": ("fragments", tuple[Pair, ...]),
    "core": ("cores", Pair),
    "alternatives": ("alternatives", tuple[Pair, ...]),
    "score": ("scores", Annotated[float, Meta(ge=-MOST_SCORE, le=MOST_SCORE)]),
    "meta": ("meta", Raw),
}
"""Further keys of a span: where their values are stored, and their type."""
REQUIRED_KEYS = 3
"""Keys that every document and every span has."""


class Spans(NamedTuple):
    """Spans of several documents: `counts` has shape (documents,), the others an entry a span."""

    counts: Int64
    starts: list[int]
    ends: list[int]
    codes: list[int]


@cache
def _decoder(keys: frozenset[str]) -> msgspec.json.Decoder[Any]:
    """Return a decoder of documents whose spans may have these keys of EXTRAS."""
    extras = [(key, EXTRAS[key][1] | UnsetType, UNSET) for key in EXTRAS if key in keys]
    span = msgspec.defstruct(
        "Span", [("start", Offset), ("end", Offset), ("label", str), *extras], forbid_unknown_fields=True, gc=False
    )
    document = msgspec.defstruct(
        "Document",
        [
            ("id", str),
            ("text", str),
            ("spans", list[span]),  # type: ignore[valid-type]
            ("tokens", list[Pair] | UnsetType, UNSET),
            ("sentences", list[Pair] | UnsetType, UNSET),
            ("meta", Raw | UnsetType, UNSET),
        ],
        forbid_unknown_fields=True,
        gc=False,
    )
    return msgspec.json.Decoder(document)


def blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines, each with its end, without a byte-order mark; the last line gets an end if it has none."""
    held: list[bytes] = []
    piece = stream.read(BLOCK_BYTES).removeprefix(b"\xef\xbb\xbf")
    while piece:
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield b"".join((*held, piece[:cut]))
            held = []
        held.append(piece[cut:])
        piece = stream.read(BLOCK_BYTES)
    if last := b"".join(held):
        yield last + b"\n"


class LineBlocks:
    """Adds the lines of one file, named `shown` in problems, to `builder`; `exact(line, number)` reads the others."""

    def __init__(self, shown: str, builder: Builder, exact: Callable[[bytes, int], None]) -> None:
        self._shown = shown
        self._builder = builder
        self._exact = exact
        self._keys: frozenset[str] = frozenset()

    def read(self, raw: bytes, number: int) -> int:
        """Read whole lines, the first of which has this number, and return their count."""
        ends = _ends(raw)
        self._parts(raw, _not_objects(np.frombuffer(raw, np.uint8), ends), ends, number)
        return len(ends)

    def _parts(self, raw: bytes, odd: Int64, ends: Int64, number: int) -> None:
        """Read odd lines one by one, and the lines between them together."""
        low = 0
        for line in [*odd.tolist(), len(ends)]:
            if low < line:
                start = _start(ends, low)
                self._run(raw[start : ends[line - 1] + 1], ends[low:line] - start, number + low)
            if line < len(ends):
                self._exact(raw[_start(ends, line) : ends[line]], number + line)
            low = line + 1

    def _run(self, raw: bytes, ends: Int64, number: int) -> None:
        """Read lines that look like objects, in halves where one of them is not plainly right."""
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
        """Read lines if all are plainly right; else return those that are not, None where these are not known."""
        try:
            documents = self._documents(raw)
            if len(documents) != len(ends):
                return None
            expected = np.full(len(documents), REQUIRED_KEYS)
            every = np.arange(len(documents))
            beside = {key: _values(documents, key, every, expected) for key in ("tokens", "sentences", "meta")}
            spans, extras = self._spans([document.spans for document in documents], expected)
            texts = [document.text.encode() for document in documents]
        except DECODING_ERRORS:
            return None
        odd, keys = _keys(np.frombuffer(raw, np.uint8), ends)
        odd |= keys != expected
        if odd.any():
            return np.flatnonzero(odd)
        builder = self._builder
        first = len(builder.ids)
        builder.ids += [document.id for document in documents]
        builder.texts += texts
        builder.document_places += [(self._shown, line) for line in range(number, number + len(documents))]
        builder.counts += spans.counts.tolist()
        for key, values in beside.items():
            getattr(builder, key).update((first + place, value) for place, value in values if value)
        base = builder.add_spans(spans.starts, spans.ends, spans.codes).start
        for key, values in extras.items():
            builder.extras[key].update((base + span, value) for span, value in values)
        return np.zeros(0, np.int64)

    def _documents(self, raw: bytes) -> list[Any]:
        """Return the documents of lines, decoded with the keys of spans met so far, else with all."""
        try:
            return _decoder(self._keys).decode_lines(raw)
        except msgspec.ValidationError:
            documents = _decoder(frozenset(EXTRAS)).decode_lines(raw)
            self._keys = frozenset(EXTRAS)
            return documents

    def _spans(self, rows: Sequence[Sequence[Any]], expected: Int64) -> tuple[Spans, Extras]:
        """Return the spans of documents, and what they have beside boundaries and types.

        The number of their keys is added to what is expected of each document.
        """
        spans = list(chain.from_iterable(rows))
        counts = np.fromiter(map(len, rows), np.int64, len(rows))
        expected += REQUIRED_KEYS * counts
        document = np.repeat(np.arange(len(counts)), counts)
        extras: Extras = {}
        for key in self._keys:
            values = _values(spans, key, document, expected)
            # Lists and objects with nothing in them say no more than a key left out.
            extras[EXTRAS[key][0]] = [(place, value) for place, value in values if value not in ((), {})]
        starts, ends = [span.start for span in spans], [span.end for span in spans]
        return Spans(counts, starts, ends, self._builder.type_codes([span.label for span in spans])), extras


def _start(ends: Int64, line: int) -> int:
    return int(ends[line - 1]) + 1 if line else 0


def _ends(raw: bytes) -> Int64:
    """Return the places of line ends."""
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


def _keys(data: Bytes, ends: Int64) -> tuple[Bools, Int64]:
    """Return the lines whose keys cannot be counted, and the number of keys by line.

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


def _values(rows: Sequence[Any], key: str, document: Int64, expected: Int64) -> list[tuple[int, Any]]:
    """Return the values that documents or spans have under a key, by place; `document` is that of each row.

    The number of their keys is added to what is expected of each document.
    """
    values = [(place, value) for place, value in enumerate(map(attrgetter(key), rows)) if value is not UNSET]
    owners = document[[place for place, _ in values]]
    np.add.at(expected, owners, 1)
    if key == "meta":
        parsed = [(place, *_meta(value)) for place, value in values]
        np.add.at(expected, owners, [count for _, _, count in parsed])
        values = [(place, value) for place, value, _ in parsed]
    return values


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
