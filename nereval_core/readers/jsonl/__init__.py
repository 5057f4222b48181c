"""The native format: JSON lines, one document a line, lossless.

Blocks of lines that are plainly right are decoded together; other lines are read one by one and judged exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.compression import share_of_bytes_read
from nereval_core.readers.input.heads import Head
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.jsonl.line_blocks import MOST_OFFSET, LineBlocks, blocks
from nereval_core.readers.shared.strict_json import Complain, RefusedError, items, json_type, loads

JSON_LINES = (".jsonl", ".ndjson")
DOCUMENT_KEYS = ("id", "text", "spans", "tokens", "sentences", "meta")
SPAN_KEYS = ("start", "end", "label", "id", "links", "fragments", "core", "alternatives", "score", "meta")
DOCUMENT_REQUIRED = ("id", "text", "spans")
SPAN_REQUIRED = ("start", "end", "label")

OBJECT = re.compile(r'\s*\{\s*("|$|\})')


def _pairs_of(value: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((low, high) for low, high in value)


EXTRAS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "id": ("ids", str),
    "links": ("links", tuple),
    "fragments": ("fragments", _pairs_of),
    "core": ("cores", tuple),
    "alternatives": ("alternatives", _pairs_of),
    "score": ("scores", float),
    "meta": ("meta", dict),
}
"""Further keys of a span: where their values are stored, and as what."""


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
    return len(head.lines) > 1 and not _is_json(first) and not _is_json(head.lines[1])


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except RefusedError:
        return False
    return True


def _read_whole(file: SourceFile, builder: Builder) -> None:
    """Read a file that is a list of documents, or one document over several lines."""
    size, before = builder.size(), len(builder.problems)
    try:
        for line, row in items(file, builder.problems):
            _read_row(row, line, file.shown, builder)
    except FormatError as error:
        builder.cut(size)
        builder.problems[before:] = error.problems


def _read_file(file: SourceFile, options: ReadOptions, builder: Builder, *, plainly: bool = True) -> None:
    """Read a file, its lines in blocks where they are `plainly` right; all or nothing of it where it is unreadable."""
    size, told = builder.size(), len(builder.problems)

    def exact(line: bytes, number: int) -> None:
        text = line.decode().rstrip("\r")
        if text and not text.isspace():
            _read_line(text, number, file.shown, builder)

    taken = LineBlocks(file.shown, builder, exact)
    number = 1
    try:
        with file.stream() as stream:
            for block in blocks(stream):
                if plainly:
                    number += taken.read(block, number)
                else:
                    for line in block.removesuffix(b"\n").split(b"\n"):
                        exact(line, number)
                        number += 1
                if options.progress is not None:
                    options.progress(number - 1, round((number - 1) / share_of_bytes_read(stream, file.origin)))
    except (FormatError, UnicodeDecodeError) as error:
        builder.cut(size)
        builder.problems[told:] = _unreadable(file, error).problems


def _unreadable(file: SourceFile, error: FormatError | UnicodeDecodeError) -> FormatError:
    if isinstance(error, FormatError):
        return error
    try:
        file.text()
    except FormatError as said:
        return said
    return FormatError.single(file.shown, None, "the file has changed while it was read", "read it again")


def _read_line(line: str, number: int, shown: str, builder: Builder) -> None:
    try:
        row = loads(line)
    except RefusedError as error:
        builder.problem(number, *error.args, source=shown)
        return
    _read_row(row, number, shown, builder)


def _read_row(row: Any, number: int, shown: str, builder: Builder) -> None:
    before = len(builder.problems)

    def complain(found: str, remedy: str) -> None:
        builder.problem(number, found, remedy, source=shown)

    if not isinstance(row, dict):
        return complain(f"{json_type(row)} where a document should be", "write one JSON object with id, text and spans")

    _keys(row, DOCUMENT_KEYS, DOCUMENT_REQUIRED, "the document", complain)
    _typed(row, "id", str, "the document's id", "a string", complain)
    _typed(row, "text", str, "text", "a string", complain)
    _typed(row, "spans", list, "spans", "a list of objects", complain)
    _typed(row, "meta", dict, "the document's meta", "an object", complain)
    for key in ("tokens", "sentences"):
        _pairs(row, key, key, complain)
    spans = row["spans"] if isinstance(row.get("spans"), list) else []
    for index, span in enumerate(spans):
        _check_span(span, f"spans[{index}]", complain)
    if len(builder.problems) == before:
        _add(row, number, shown, builder)
    return None


def _add(row: Mapping[str, Any], number: int, shown: str, builder: Builder) -> None:
    """Add a document whose keys and types are right."""
    pairs = {key: [(low, high) for low, high in row.get(key, ())] for key in ("tokens", "sentences")}
    builder.document(row["id"], row["text"], line=number, source=shown, meta=row.get("meta"), **pairs)
    first = len(builder.starts)
    starts, ends, labels = ([span[key] for span in row["spans"]] for key in SPAN_REQUIRED)
    builder.spans(starts, ends, labels)
    for place, span in enumerate(row["spans"], start=first):
        for key, (kept, made) in EXTRAS.items():
            # Lists and objects with nothing in them say no more than a key left out.
            if key in span and span[key] not in ([], {}):
                builder.extras[kept][place] = made(span[key])


def _check_span(span: Any, what: str, complain: Complain) -> None:
    if not isinstance(span, dict):
        return complain(f"{what} is {json_type(span)}", "write each span as an object with start, end and label")
    _keys(span, SPAN_KEYS, SPAN_REQUIRED, what, complain)
    for key in ("start", "end"):
        if key in span and type(span[key]) is not int:
            complain(
                f"{what}.{key} is {json_type(span[key])}", "write an integer: code points from the start of the text"
            )
    _typed(span, "label", str, f"{what}.label", "a string", complain)
    _typed(span, "id", str, f"{what}.id", "a string", complain)
    _typed(span, "meta", dict, f"{what}.meta", "an object", complain)
    if "links" in span:
        links = span["links"]
        if not isinstance(links, list) or not all(isinstance(link, str) for link in links):
            complain(f"{what}.links is not a list of strings", 'write it as ["Q42", …]')
    if "core" in span and not _is_pair(span["core"]):
        complain(f"{what}.core is not [start, end]", "write two integers: code points of the document, end exclusive")
    for key in ("fragments", "alternatives"):
        _pairs(span, key, f"{what}.{key}", complain)
    if "score" in span:
        score = span["score"]
        if type(score) not in (int, float):
            complain(f"{what}.score is {json_type(score)}", "write a number")
        elif abs(score) > 1e300:
            complain(f"{what}.score is too large", "write a number of ordinary size")
    return None


def _keys(row: Mapping[str, Any], known: Iterable[str], required: Iterable[str], what: str, complain: Complain) -> None:
    unknown = [key for key in row if key not in known]
    if unknown:
        names = ", ".join(quoted(key) for key in unknown)
        complain(
            f"{what} has the unknown key{'s' if len(unknown) > 1 else ''} {names}", f"known are {', '.join(known)}"
        )
    missing = [key for key in required if key not in row]
    if missing:
        complain(f"{what} has no {' and no '.join(missing)}", f"give {', '.join(required)}")


def _typed(row: Mapping[str, Any], key: str, of: type, what: str, wanted: str, complain: Complain) -> None:
    if key in row and type(row[key]) is not of:
        complain(f"{what} is {json_type(row[key])}", f"write {wanted}")


def _pairs(row: Mapping[str, Any], key: str, what: str, complain: Complain) -> None:
    if key not in row:
        return
    pairs = row[key]
    if not isinstance(pairs, list):
        complain(f"{what} is {json_type(pairs)}", "write a list of [start, end]")
        return
    bad = next((number for number, pair in enumerate(pairs) if not _is_pair(pair)), None)
    if bad is not None:
        complain(f"{what}[{bad}] is not [start, end]", "write two integers: code points of the document, end exclusive")


def _is_pair(pair: Any) -> bool:
    return (
        type(pair) is list
        and len(pair) == 2
        and type(pair[0]) is int
        and type(pair[1]) is int
        and abs(pair[0]) <= MOST_OFFSET
        and abs(pair[1]) <= MOST_OFFSET
    )
