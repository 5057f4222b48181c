"""The native format: JSON lines, one document a line, lossless.

Here a line is read by itself and judged exactly; blocks of lines that are plainly right take a faster way first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.input.compression import share_read
from nereval_core.readers.input.source import SourceFile, left_out
from nereval_core.readers.jsonl.line_blocks import LIMIT, Blocks, blocks
from nereval_core.readers.shared.layer_builder import Gathered
from nereval_core.readers.shared.strict_json import Complain, RefusedError, first_keys, kind, loads

NAME = "jsonl"
DESCRIPTION = "JSON lines, one document a line: the native format, lossless"

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
"""Where what a span may have is kept, and how."""


def recognise(source: Source) -> float:
    """Be sure where the first object has our keys; half sure of any other object on a line."""
    for line in source.pick(".jsonl", ".ndjson")[0].head():
        if line.strip():
            if not OBJECT.match(line):
                return 0.0
            keys = first_keys(source, ".jsonl", ".ndjson")
            return 1.0 if {"id", "spans"} <= keys <= set(DOCUMENT_KEYS) else 0.5
    return 0.0


def read(source: Source, options: ReadOptions) -> Reading:
    """Read one document a line; blank lines are passed over.

    Raises:
        FormatError: with every problem found.
    """
    files = source.pick(".jsonl", ".ndjson")
    gathered = Gathered()
    problems: list[Problem] = []
    for file in files:
        _read_file(file, options, gathered, problems)
    layer = gathered.finish(options.name or source.label, problems=problems)
    return Reading(layer.documents, layer, NAME, tuple(left_out(source, files)), places=gathered.places)


def _read_file(
    file: SourceFile, options: ReadOptions, gathered: Gathered, problems: list[Problem], *, plainly: bool = True
) -> None:
    """Read a file, its lines in blocks where they are `plainly` right; all or nothing of it where it is unreadable."""
    size, told = gathered.size(), len(problems)

    def exact(line: bytes, number: int) -> None:
        text = line.decode().rstrip("\r")
        if text and not text.isspace():
            _read_line(text, number, file.shown, gathered, problems)

    taken = Blocks(file.shown, gathered, exact)
    number = 1
    try:
        with file.stream() as stream:
            for block in blocks(stream):
                if plainly:
                    number += taken.take(block, number)
                else:
                    for line in block.removesuffix(b"\n").split(b"\n"):
                        exact(line, number)
                        number += 1
                if options.progress is not None:
                    options.progress(number - 1, round((number - 1) / share_read(stream, file.origin)))
    except (FormatError, UnicodeDecodeError) as error:
        gathered.cut(size)
        del problems[told:]
        problems.extend(_unreadable(file, error).problems)


def _unreadable(file: SourceFile, error: FormatError | UnicodeDecodeError) -> FormatError:
    if isinstance(error, FormatError):
        return error
    try:
        file.text()
    except FormatError as said:
        return said
    return FormatError.single(file.shown, None, "the file has changed while it was read", "read it again")


def _read_line(line: str, number: int, shown: str, gathered: Gathered, problems: list[Problem]) -> None:
    before = len(problems)

    def complain(found: str, remedy: str) -> None:
        problems.append(Problem(shown, number, found, remedy))

    try:
        row = loads(line)
    except RefusedError as error:
        return complain(*error.args)
    if not isinstance(row, dict):
        return complain(f"{kind(row)} where a document should be", "write one JSON object with id, text and spans")

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
    if len(problems) == before:
        _add(row, number, shown, gathered)
    return None


def _add(row: Mapping[str, Any], number: int, shown: str, gathered: Gathered) -> None:
    """Add a document that is right as far as types go."""
    document, base = len(gathered.ids), gathered.spans
    spans = row["spans"]
    gathered.ids.append(row["id"])
    gathered.texts.append(row["text"].encode())
    gathered.shown.append(shown)
    gathered.lines.append(number)
    gathered.counts.append(len(spans))
    for key, rows in (("tokens", gathered.tokens), ("sentences", gathered.sentences)):
        if row.get(key):
            rows[document] = [(low, high) for low, high in row[key]]
    if row.get("meta"):
        gathered.meta[document] = row["meta"]
    for place, span in enumerate(spans, start=base):
        for key, (kept, made) in EXTRAS.items():
            # Lists and objects with nothing in them say no more than a key left out.
            if key in span and span[key] not in ([], {}):
                gathered.extras[kept][place] = made(span[key])
    gathered.add_spans(
        [span["start"] for span in spans],
        [span["end"] for span in spans],
        gathered.coded([span["label"] for span in spans]),
    )


def _check_span(span: Any, what: str, complain: Complain) -> None:
    if not isinstance(span, dict):
        return complain(f"{what} is {kind(span)}", "write each span as an object with start, end and label")
    _keys(span, SPAN_KEYS, SPAN_REQUIRED, what, complain)
    for key in ("start", "end"):
        if key in span and type(span[key]) is not int:
            complain(f"{what}.{key} is {kind(span[key])}", "write an integer: code points from the start of the text")
    _typed(span, "label", str, f"{what}.label", "a string", complain)
    _typed(span, "id", str, f"{what}.id", "a string", complain)
    _typed(span, "meta", dict, f"{what}.meta", "an object", complain)
    if "links" in span:
        links = span["links"]
        if not isinstance(links, list) or not all(isinstance(link, str) for link in links):
            complain(f"{what}.links is no list of strings", 'write it as ["Q42", …]')
    if "core" in span and not _is_pair(span["core"]):
        complain(f"{what}.core is no [start, end]", "write two integers: code points of the document, end exclusive")
    for key in ("fragments", "alternatives"):
        _pairs(span, key, f"{what}.{key}", complain)
    if "score" in span:
        score = span["score"]
        if type(score) not in (int, float):
            complain(f"{what}.score is {kind(score)}", "write a number")
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
        complain(f"{what} is {kind(row[key])}", f"write {wanted}")


def _pairs(row: Mapping[str, Any], key: str, what: str, complain: Complain) -> None:
    if key not in row:
        return
    pairs = row[key]
    if not isinstance(pairs, list):
        complain(f"{what} is {kind(pairs)}", "write a list of [start, end]")
        return
    bad = next((number for number, pair in enumerate(pairs) if not _is_pair(pair)), None)
    if bad is not None:
        complain(f"{what}[{bad}] is no [start, end]", "write two integers: code points of the document, end exclusive")


def _is_pair(pair: Any) -> bool:
    return (
        type(pair) is list
        and len(pair) == 2
        and type(pair[0]) is int
        and type(pair[1]) is int
        and abs(pair[0]) <= LIMIT
        and abs(pair[1]) <= LIMIT
    )
