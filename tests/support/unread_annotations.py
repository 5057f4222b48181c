"""The fuzzers' question of every input that is read: does some column or key look like annotations, unread and unsaid?

It looks at the bytes on its own, as JSON, as a table with a header and as columns, and uses nothing of the readers. A
column or key is read where the layer has its types; it is said where a note, or the name of a layer, names it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TAG = re.compile(r"[BIESLUMW][-_](\w[\w-]{0,30})")
"""A tag with a letter; its type."""
TYPE_KEYS = ("label", "type", "entity_group", "entity", "category", "entity_type", "labels")
EDGE_KEYS = re.compile(r"(?i)(start|begin|from|end|stop|to|offset)(_?(char|offset|pos|idx|index))?")
LEAST_SHARE = 0.8
"""The share of cells that must be tags in a column of tags."""
LEAST_ROWS = 2
MOST_BYTES = 1 << 16
"""Larger files are not looked at."""


@dataclass(frozen=True)
class Candidate:
    """A column or key that looks like annotations, and the types that it holds."""

    name: str
    types: frozenset[str]


def unsaid_annotations(raw: bytes, types: Collection[str], said: Sequence[str]) -> list[Candidate]:
    """Return what looks like annotations in a file, has a type that was not read, and is named nowhere in `said`."""
    words = " ".join(said)
    if "left out" in words or "read once" in words:
        # Whole records are, and the notes count them.
        return []
    return [
        candidate
        for candidate in candidates(raw)
        if not candidate.types <= {*types, *map(_without_letter, types), "O"} and not _is_named(candidate.name, words)
    ]


def _without_letter(kind: str) -> str:
    return match[1] if (match := TAG.fullmatch(kind)) else kind


def _is_named(name: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words) is not None


def candidates(raw: bytes) -> list[Candidate]:
    """Return the columns and keys of a file that look like annotations."""
    if len(raw) > MOST_BYTES:
        return []
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return []
    held: dict[str, set[str]] = {}
    for name, types in (*_keys(text), *_columns(text)):
        held.setdefault(name, set()).update(types)
    return [Candidate(name, frozenset(types)) for name, types in held.items() if types]


def _keys(text: str) -> Iterator[tuple[str, set[str]]]:
    for row in _objects(text):
        words = [value for key, value in row.items() if key in ("tokens", "words") and isinstance(value, list)]
        for key, value in row.items():
            if key not in ("meta", "tokens") and not key.startswith("_"):
                yield key, _types_of(value, {len(tokens) for tokens in words}, row.get("text"))


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a file of JSON: the whole, those of a list, or those of lines."""
    try:
        contents = [json.loads(text)]
    except (ValueError, RecursionError):
        contents = []
        for line in filter(str.strip, text.split("\n")):
            try:
                contents.append(json.loads(line))
            except (ValueError, RecursionError):
                return
    for content in contents:
        yield from (row for row in (content if isinstance(content, list) else [content]) if isinstance(row, dict))


def _types_of(value: Any, lengths: set[int], text: Any) -> set[str]:
    """Return the types of a value that looks like annotations, nothing for any other."""
    if isinstance(value, dict):
        mentions = {key: held for key, held in value.items() if isinstance(held, list) and held}
        quoted = isinstance(text, str) and all(
            isinstance(word, str) and word and word in text for held in mentions.values() for word in held
        )
        return set(mentions) if quoted and mentions and len(mentions) == len(value) else set()
    if not isinstance(value, list) or not value:
        return set()
    if all(isinstance(cell, str) for cell in value):
        tags = [match[1] for cell in value if (match := TAG.fullmatch(cell))]
        return set(tags) if len(value) in lengths and _are_tags(value) else set()
    types = [_type_of_span(span) for span in value]
    return {kind for kind in types if kind} if all(types) else set()


def _type_of_span(span: Any) -> str | None:
    """Return the type of a span, an object or a list of start, end and type; None for anything else."""
    if isinstance(span, list) and len(span) == 3:
        start, end, kind = span
        return kind if type(start) is type(end) is int and start < end and isinstance(kind, str) else None
    if not isinstance(span, dict):
        return None
    edges = [value for key, value in span.items() if EDGE_KEYS.fullmatch(key) and type(value) is int]
    kind = next((span[key] for key in TYPE_KEYS if key in span), None)
    if isinstance(kind, list) and len(kind) == 1:
        kind = kind[0]
    if len(edges) < 2 or not isinstance(kind, str) or not kind:
        return None
    return match[1] if (match := TAG.fullmatch(kind)) else kind


def _are_tags(cells: Sequence[str]) -> bool:
    tags = sum(TAG.fullmatch(cell) is not None for cell in cells)
    return tags > 0 and tags + Counter(cells)["O"] >= LEAST_SHARE * len(cells)


def _columns(text: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the columns of tags, by the name in the first line or by number, of a text that is a table."""
    if text.lstrip().startswith(("{", "[", "<", "#FORMAT")) or '{"' in text:
        return
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if line.strip() and not line.startswith("#")]
    for split in (_by_tabs, _by_commas, str.split):
        rows = [split(line) for line in lines]
        width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
        full = [row for row in rows if len(row) == width]
        if width < 2 or len(full) < LEAST_SHARE * len(rows) or len(full) < LEAST_ROWS:
            continue
        first = full[0]
        has_header = not any(cell == "O" or TAG.fullmatch(cell) for cell in first)
        body = full[1:] if has_header and split is not str.split else full
        for column in range(width):
            cells = [row[column] for row in body]
            if _are_tags(cells):
                name = first[column].strip() if body is not full else str(column + 1)
                yield name, {match[1] for cell in cells if (match := TAG.fullmatch(cell))}
        return


def _by_tabs(line: str) -> list[str]:
    return line.split("\t")


def _by_commas(line: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(line)), [])
    except csv.Error:
        return []
