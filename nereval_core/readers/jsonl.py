"""The native format: JSON lines, one document a line, lossless.

A line is decoded as `Document`. One that does not fit, or may have a key twice, is judged by itself (`_read_row`), span
by span: of a file with 100,000 spans `read()` would take 0.75 s of CPU if all were judged so, in place of 0.35 s. The
file may also be a list of documents, or one document over several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, BinaryIO, Generic, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType

from nereval_core.corpus.builder import Builder
from nereval_core.corpus.texts import Bytes
from nereval_core.problems import FormatError
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.compression import share_of_bytes_read
from nereval_core.readers.input.file_text import Head
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.strict_json import RefusedError, is_json, items, json_type, loads, typed

JSON_LINES = (".jsonl", ".ndjson")
BLOCK_BYTES = 1 << 20
"""Bytes read at once."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MOST_OFFSET = 2**31 - 1
MOST_SCORE = 1e300

Offset = Annotated[int, Meta(ge=-MOST_OFFSET, le=MOST_OFFSET)]
Pair = tuple[Offset, Offset]
"""Start and end, code points of the document, end exclusive."""


class PlainSpan(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A span without further keys; they take half as long to decode. Boundaries are code points, end exclusive."""

    start: int
    end: int
    label: str


class Span(PlainSpan, forbid_unknown_fields=True, gc=False):
    """A span that may have further keys."""

    id: str | UnsetType = UNSET
    links: tuple[str, ...] | UnsetType = UNSET
    fragments: tuple[Pair, ...] | UnsetType = UNSET
    core: Pair | UnsetType = UNSET
    alternatives: tuple[Pair, ...] | UnsetType = UNSET
    score: Annotated[float, Meta(ge=-MOST_SCORE, le=MOST_SCORE)] | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = UNSET


AnySpan = TypeVar("AnySpan", bound=PlainSpan)


class Document(msgspec.Struct, Generic[AnySpan], forbid_unknown_fields=True, gc=False):
    """A document with its spans."""

    id: str
    text: str
    spans: list[AnySpan]
    tokens: list[Pair] | UnsetType = UNSET
    sentences: list[Pair] | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = UNSET


DOCUMENT_KEYS = Document.__struct_fields__
DOCUMENT_REQUIRED = ("id", "text", "spans")
SPAN_KEYS = Span.__struct_fields__
SPAN_REQUIRED = ("start", "end", "label")
EXTRAS = {
    "id": "ids",
    "links": "links",
    "fragments": "fragments",
    "core": "cores",
    "alternatives": "alternatives",
    "score": "scores",
    "meta": "meta",
}
"""Further keys of a span, and what a layer calls them."""
DOCUMENT_EXTRAS = ("tokens", "sentences", "meta")

Values = dict[str, list[tuple[int, Any]]]
"""Values by key, each with the place of its document or span among those of a block."""

OBJECT = re.compile(r'\s*\{\s*("|$|\})')
DECODERS = ((msgspec.json.Decoder(Document[PlainSpan]), ()), (msgspec.json.Decoder(Document[Span]), tuple(EXTRAS)))
"""Decoders of lines, each with the further keys of spans that it knows."""
DECODING_ERRORS = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)
"""Errors on input that is wrong or may be."""
BLANK_BEFORE_COLON = re.compile(rb'"[ \t\r]+:')
QUOTE, COLON, OPEN, CLOSE, CR, END = b'":{}\r\n'
BLANKS = np.zeros(256, np.bool_)
BLANKS[[*b" \t\r"]] = True


class JsonlReader(Reader):
    name = "jsonl"
    description = "JSON lines, one document a line: the native format, lossless"

    def recognise(self, source: Source) -> float:
        """Claim a source where the first object has our keys; half sure of any other object on a line."""
        head = source.head(*JSON_LINES)
        if {"id", "spans"} <= head.keys <= set(DOCUMENT_KEYS):
            return 1.0
        return 0.5 if OBJECT.match(head.first_line) else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read one document a line; blank lines are passed over.

        Raises:
            FormatError: with every problem found.
        """
        files = source.pick(*JSON_LINES)
        builder = Builder(source.name)
        for file in files:
            if _is_over_lines(source.head_of(file)):
                _read_whole(file, builder)
            else:
                _read_file(file, options, builder)
        layer = builder.finish(options.name or source.label)
        return Reading(
            layer.documents, layer, self.name, tuple(unread_files_note(source, files)), places=builder.places
        )


READER = JsonlReader()


def _is_over_lines(head: Head) -> bool:
    """Return whether the file is a list of documents, or a document over several lines."""
    first = head.first_line
    if first.lstrip().startswith("["):
        return True
    # A first line longer than the head is one document.
    return len(head.lines) > 1 and not is_json(first) and not is_json(head.lines[1])


def _read_whole(file: SourceFile, builder: Builder) -> None:
    """Read a file that is a list of documents, or one document over several lines."""
    size, before = builder.size(), len(builder.problems)
    try:
        for line, row in items(file, builder.problems):
            _read_row(row, line, file.shown, builder)
    except FormatError as error:
        builder.cut(size)
        builder.problems[before:] = error.problems


def _read_file(file: SourceFile, options: ReadOptions, builder: Builder) -> None:
    """Read a file line by line; all or nothing of it where it is unreadable."""
    size, n_problems = builder.size(), len(builder.problems)
    number = 0
    try:
        with file.stream() as stream:
            for block in _blocks(stream):
                number += _read_lines(block, number + 1, file.shown, builder)
                if options.progress is not None:
                    options.progress(number, round(number / share_of_bytes_read(stream, file.origin)))
    except (FormatError, UnicodeDecodeError) as error:
        builder.cut(size)
        builder.problems[n_problems:] = _unreadable(file, error).problems


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines without a byte-order mark and the end of the last one."""
    begin = stream.read(len(BYTE_ORDER_MARK))
    buffered = [] if begin == BYTE_ORDER_MARK else [begin]
    while piece := stream.read(BLOCK_BYTES):
        cut = piece.rfind(b"\n")
        if cut >= 0:
            yield b"".join((*buffered, piece[:cut]))
            buffered = []
        buffered.append(piece[cut + 1 :])
    if last := b"".join(buffered):
        yield last


def _unreadable(file: SourceFile, error: FormatError | UnicodeDecodeError) -> FormatError:
    if isinstance(error, FormatError):
        return error
    try:
        file.text()
    except FormatError as unreadable:
        return unreadable
    return FormatError.single(file.shown, None, "the file has changed while it was read", "read it again")


def _read_lines(block: bytes, first: int, source: str, builder: Builder) -> int:
    """Add the documents of lines, the first of which has this number, and return the number of lines.

    Raises:
        UnicodeDecodeError: a line is not UTF-8.
    """
    if n_lines := _add_decoded(block, first, source, builder):
        return n_lines
    lines = block.split(b"\n")
    for number, line in enumerate(lines, start=first):
        if len(lines) > 1 and _add_decoded(line, number, source, builder):
            continue
        text = line.decode().rstrip("\r")
        if not text or text.isspace():
            continue
        try:
            row = loads(text)
        except RefusedError as error:
            builder.problem(number, *error.args, source=source)
        else:
            _read_row(row, number, source, builder)
    return len(lines)


def _add_decoded(block: bytes, first: int, source: str, builder: Builder) -> int:
    """Add the documents of lines if all fit the types and none has a key twice, and return the number of lines, or 0.

    Keys are counted by the colons behind them. A string may look like a key; then the numbers differ too.
    """
    data = np.frombuffer(block, np.uint8)
    n_lines = _n_objects(data)
    for decoder, keys in DECODERS if n_lines else ():
        try:
            documents = decoder.decode_lines(block)
        except DECODING_ERRORS:
            continue
        spans = list(chain.from_iterable(document.spans for document in documents))
        extras, beside = _values(spans, keys), _values(documents, DOCUMENT_EXTRAS)
        n_keys = len(DOCUMENT_REQUIRED) * len(documents) + len(SPAN_REQUIRED) * len(spans)
        n_keys += _n_keys(extras) + _n_keys(beside)
        if len(documents) != n_lines or _n_written_keys(data, block) != n_keys:
            return 0
        _add(documents, spans, beside, extras, range(first, first + n_lines), source, builder)
        return n_lines
    return 0


def _n_objects(data: Bytes) -> int:
    """Return the number of lines where each begins and ends as an object does, else 0.

    No line of an object over several lines ends so before one that begins so.
    """
    ends = np.flatnonzero(data == END)
    last, after = data[ends - 1], data.take(ends + 1, mode="clip")
    returned = last == CR
    last[returned] = data[ends[returned] - 2]
    whole = len(data) and data[0] == OPEN and (last == CLOSE).all() and (after == OPEN).all()
    return len(ends) + 1 if whole else 0


def _n_written_keys(data: Bytes, block: bytes) -> int:
    """Return the number of quotation marks with a colon behind them, -1 where there are blanks between any."""
    before = data[np.flatnonzero(data == COLON) - 1]
    if BLANKS[before].any() and BLANK_BEFORE_COLON.search(block):
        return -1
    return int(np.count_nonzero(before == QUOTE))


def _values(rows: Sequence[Document[Any]] | Sequence[PlainSpan], keys: Iterable[str]) -> Values:
    """Return the values of documents or spans under further keys."""
    columns = {key: enumerate(map(attrgetter(key), rows)) for key in keys}
    return {key: [(place, value) for place, value in column if value is not UNSET] for key, column in columns.items()}


def _n_keys(values: Values) -> int:
    """Return the number of keys that have values, those within metadata included."""
    return sum(map(len, values.values())) + sum(_n_inner_keys(meta) for _, meta in values.get("meta", ()))


def _n_inner_keys(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_n_inner_keys, value.values()))
    return sum(map(_n_inner_keys, value)) if isinstance(value, list) else 0


def _add(
    documents: Sequence[Document[Any]],
    spans: Sequence[PlainSpan],
    beside: Values,
    extras: Values,
    numbers: Sequence[int],
    source: str,
    builder: Builder,
) -> None:
    """Add documents, which stand at the lines of these numbers, and their spans."""
    first = len(builder.ids)
    builder.ids += [document.id for document in documents]
    builder.texts += [document.text.encode() for document in documents]
    builder.document_places += [(source, number) for number in numbers]
    builder.counts += [len(document.spans) for document in documents]
    codes = builder.type_codes([span.label for span in spans])
    base = builder.add_spans([span.start for span in spans], [span.end for span in spans], codes).start
    # Lists and objects with nothing in them say no more than a key left out.
    for key, values in beside.items():
        getattr(builder, key).update((first + place, value) for place, value in values if value)
    for key, values in extras.items():
        builder.extras[EXTRAS[key]].update((base + place, value) for place, value in values if value not in ((), {}))


def _read_row(row: Any, number: int, source: str, builder: Builder) -> None:
    """Judge a document, and add it where nothing is wrong with it: a problem for it, and one for each wrong span."""

    def complain(finding: str, remedy: str) -> None:
        builder.problem(number, finding, remedy, source=source)

    if not isinstance(row, dict):
        return complain(f"{json_type(row)} where a document should be", "write one JSON object with id, text and spans")
    before = len(builder.problems)
    document = typed(row, Document[Any], "", complain)
    listed = row.get("spans")
    for index, span in enumerate(listed if isinstance(listed, list) else ()):
        typed(span, Span, f"spans[{index}]", complain)
    if document is not None and len(builder.problems) == before:
        document = msgspec.convert(row, Document[Span])
        spans = document.spans
        extras, beside = _values(spans, EXTRAS), _values([document], DOCUMENT_EXTRAS)
        _add([document], spans, beside, extras, [number], source, builder)
    return None
