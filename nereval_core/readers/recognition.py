"""Describe a source that no reader recognises: what its first lines hold, which format is nearest, and a remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from nereval_core.problems import quoted
from nereval_core.readers.conll.layout import MOST, is_tag, sampled
from nereval_core.readers.input.source import Source, converted
from nereval_core.readers.shared.table_columns import first_rows

EXAMPLES = 3
"""So many cells or keys are named."""
ROWS = 50
"""So many rows of a table are looked at."""
LONGEST_TYPE = 40
"""A cell of more characters is not taken for a type."""


COMMON = frozenset(("id", "text", "meta"))
"""Keys that tell no format from another."""


@dataclass(frozen=True)
class Shape:
    """The keys of the objects of a JSON format; `remedy` where objects of this shape cannot be read as they are."""

    keys: frozenset[str]
    remedy: str = ""


DOCCANO_OLD = "export it from doccano 1.5 or later, whose labels have names, as JSONL"
SHAPES: Mapping[str, tuple[Shape, ...]] = MappingProxyType(
    {
        "jsonl": (Shape(frozenset(("id", "text", "spans", "tokens", "sentences", "meta"))),),
        "doccano": (
            Shape(frozenset(("id", "text", "label", "Comments"))),
            Shape(frozenset(("id", "text", "entities", "relations", "Comments"))),
            Shape(frozenset(("id", "text", "annotations", "meta", "annotation_approver")), DOCCANO_OLD),
        ),
        "prodigy": (Shape(frozenset(("text", "spans", "tokens", "answer", "_input_hash", "_task_hash"))),),
        "labelstudio": (
            Shape(frozenset(("id", "data", "annotations", "predictions"))),
            Shape(frozenset(("id", "text", "label", "annotator", "annotation_id", "created_at", "lead_time"))),
        ),
        "datasets": (Shape(frozenset(("id", "tokens", "ner_tags"))),),
        "pipeline": (Shape(frozenset(("text", "entities"))), Shape(frozenset(("text", "ents")))),
        "bioc": (
            Shape(frozenset(("id", "infons", "passages", "annotations", "relations"))),
            Shape(frozenset(("source", "date", "key", "infons", "documents"))),
        ),
        "cas": (Shape(frozenset(("%TYPES", "%FEATURE_STRUCTURES", "%VIEWS"))),),
    }
)
"""The objects of the JSON formats, by format."""


def nearest_shape(keys: Collection[str]) -> tuple[str, Shape] | None:
    """Return the known format whose objects share most keys with these; None where none shares any.

    Keys that many formats have count only where no others are shared.
    """
    wanted = set(keys)

    def likeness(shape: Shape) -> tuple[int, float]:
        shared = wanted & shape.keys
        return len(shared - COMMON), len(shared) / len(wanted | shape.keys)

    known = [(format, shape) for format, shapes in SHAPES.items() for shape in shapes]
    format, shape = max(known, key=lambda one: likeness(one[1]))
    if wanted & shape.keys - COMMON:
        return format, shape
    return ("jsonl", SHAPES["jsonl"][0]) if wanted & COMMON else None


def unknown_object(keys: Collection[str]) -> tuple[str, str] | None:
    """Return what is said of an object of these keys, and the remedy; None where it is nearest to the native format."""
    nearest = nearest_shape(keys)
    named = _some(sorted(keys))
    if nearest is None:
        found = f"an object with {named} for keys, which no known format has" if keys else "an object without keys"
        return found, "write the native format, objects with id, text and spans, or name the format with --format"
    format, shape = nearest
    if format == "jsonl":
        return None
    has = ", ".join(sorted(shape.keys))
    found = f"an object with the keys {named}, which no format has so; the nearest is '{format}' with {has}"
    return found, shape.remedy or f"write it so, or read it all the same with --format {format}"


def seen(source: Source) -> tuple[str, str]:
    """Return what a source looks like, in a few words, and a remedy of its own; both may be empty."""
    file = source.files[0]
    head = file.load(1 << 12)
    if wide := _wide(head):
        return f"it looks like {wide} without a byte-order mark", f"save it as UTF-8{converted(wide, file.shown)}"
    if b"\0" in head:
        return "it is no text", ""
    lines = file.head()
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("<"):
        return f"XML that begins {quoted(first)}", ""
    if table := _table("\n".join(lines)):
        return table, "write one token and its tag a line, with a tab between and a blank line after each sentence"
    rows, width, split = sampled(lines)
    full = [row for row in rows if len(row) == width]
    if width < 2 or len(full) < MOST * len(rows) or len(full) < 2:
        return (f"it begins {quoted(first)}", "") if first else ("", "")
    by = "blanks" if split("a\tb") == split("a b") else "tabs"
    cells = Counter(row[-1] for row in full)
    found = f"{width} columns split by {by}, the last holds {_some(list(cells))}"
    if "O" not in cells or any(len(cell) > LONGEST_TYPE or " " in cell for cell in cells):
        return found, ""
    tags = [cell for cell in cells if cell != "O"]
    if any(map(is_tag, tags)):
        return found, "write O, or a letter, '-' and a type, in all rows, and read it with --format conll"
    return (
        f"{found}: tags without prefix?",
        "read them as types, runs of one type as one span: --format conll --scheme IO",
    )


def _wide(head: bytes) -> str:
    """Return UTF-16LE or UTF-16BE where every other byte of plain letters is zero, else ""."""
    pairs = len(head) // 2
    for first, encoding in ((1, "UTF-16LE"), (0, "UTF-16BE")):
        zeros, others = (head[start : 2 * pairs : 2].count(0) for start in (first, 1 - first))
        if pairs >= 4 and zeros >= MOST * pairs and not others:
            return encoding
    return ""


def _table(text: str) -> str:
    """Return what a table of tokens with a header looks like, "" for anything else."""
    for delimiter in (",", ";"):
        header, *rows = first_rows(text, ROWS, delimiter) or [[]]
        full = [row for row in rows if len(row) == len(header)]
        if len(header) < 2 or len(full) < 2:
            continue
        for column, name in enumerate(header):
            tags = [row[column] for row in full]
            if any(tag != "O" for tag in tags) and sum(map(is_tag, tags)) >= MOST * len(tags) and not is_tag(name):
                examples = _some([tag for tag in dict.fromkeys(tags) if tag != "O"])
                return f"a table of tokens, whose column {quoted(name)} holds {examples}"
    return ""


def _some(texts: Sequence[str] | Iterable[str]) -> str:
    known = list(texts)
    return ", ".join(map(quoted, known[:EXAMPLES])) + (", …" if len(known) > EXAMPLES else "")
