"""Signs of formats in a file's first bytes, and the description of a source that no reader recognises."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from nereval_core.problems import quoted
from nereval_core.readers.input.encodings import iconv_command
from nereval_core.readers.input.heads import Head
from nereval_core.readers.input.origins import ZIP
from nereval_core.readers.input.source import Source, SourceFile

EXAMPLES = 3
"""The number of cells or keys that a message names."""
ROWS = 50
"""The rows of a table that are looked at."""
SHARE = 0.8
"""The share of rows, or of bytes, that must be alike."""
LONGEST_TYPE = 40
"""The most characters of a cell that may be a type."""
WIDE_BYTES = 1 << 12
"""The bytes by which UTF-16 is recognised."""

Sign = Callable[[SourceFile, Head], bool]


def first_line(pattern: str) -> Sign:
    """Return the sign that the first line which is not blank begins so."""
    compiled = re.compile(pattern)
    return lambda file, head: compiled.match(head.first_line) is not None


def keys(*names: str, without: str | None = None) -> Sign:
    """Return the sign that the first JSON object has one of these keys, and not the one `without`."""
    return lambda file, head: not head.keys.isdisjoint(names) and without not in head.keys


def within(*texts: str) -> Sign:
    """Return the sign that one of these texts stands in a line of the head."""
    return lambda file, head: any(text in line for line in head.lines for text in texts)


def suffix(ending: str) -> Sign:
    """Return the sign that the file is called so."""
    return lambda file, head: file.suffix == ending


NO_OBJECT = first_line(r"(?!\{)")
SIGNS: Mapping[str, tuple[Sign, ...]] = MappingProxyType(
    {
        "bc2gm": (first_line(r"[^|\s{][^|\s]*\|"),),
        "bioc": (within("<collection"), keys("documents", "PubTator3", "passages")),
        "brat": (suffix(".ann"),),
        "cas": (within("XMI", '"%'),),
        "conll": (NO_OBJECT,),
        "conllu": (NO_OBJECT,),
        "csv": (NO_OBJECT,),
        "datasets": (first_line("PAR1"), keys("ner_tags", "ner", "tags", "labels", "ner_tags_fine", "predicted_ner")),
        "docbin": (first_line("x"),),
        "doccano": (keys("label", "labels", "entities"),),
        "hipe": (within("TOKEN"),),
        "inline": (within("</"),),
        "jsonl": (first_line(r"\s*\{"),),
        "labelstudio": (keys("data", "annotation_id"),),
        "mentions": (
            keys("entities", "mentions", "named_entities"),
            keys("choices", "custom_id", "completion", "generated_text"),
        ),
        "parquet": (first_line("PAR1"),),
        "pipeline": (keys("entities", "ents", "predictions", "Entities", "results"),),
        "prodigy": (
            first_line(r"\s*\["),
            keys("spans", "tokens", without="id"),
            keys("answer", "_input_hash", "_task_hash", "_annotator_id", "_session_id"),
        ),
        "pubannotation": (keys("denotations", "sourcedb"),),
        "pubtator": (first_line(r"[^|\t]+\|t\|"),),
        "slashtags": (first_line(r"[^{\[<]*/"),),
        "tokentable": (first_line(r"(?i)(?!\{).*\b(?:word|token)s?\b"),),
        "webanno": (first_line(r"\s*#"),),
    }
)
"""Signs of each format in a single file, of which one is enough: a reader is imported and asked only where one stands.

A row is optional: it spares the import of a reader that would say 0. Wherever the reader's `recognise` says more than 0
of a single file, one of its signs must be there.
"""


def may_be(format: str, source: Source) -> bool:
    """Return whether a source may be of a format; several files, zips and blank files may be of any."""
    file = source.files[0]
    if format not in SIGNS or len(source.files) > 1 or file.suffix == ZIP:
        return True
    head = source.head_of(file)
    return not head.first_line or any(sign(file, head) for sign in SIGNS[format])


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
        "pubannotation": (
            Shape(frozenset(("text", "denotations", "attributes", "relations", "sourcedb", "sourceid"))),
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


def describe_object(keys: Collection[str]) -> tuple[str, str] | None:
    """Return the finding and the remedy for an object of these keys; None where it is nearest to the native format."""
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


def describe_source(source: Source) -> tuple[str, str]:
    """Describe a source in a few words, and return a remedy for it; both may be empty."""
    from nereval_core.readers.conll.layout import is_tag, sample_rows

    file = source.files[0]
    head = source.head_of(file)
    if wide := _wide(head.raw[:WIDE_BYTES]):
        return f"it looks like {wide} without a byte-order mark", f"save it as UTF-8{iconv_command(wide, file.shown)}"
    if b"\0" in head.raw[:WIDE_BYTES]:
        return "it is no text", ""
    lines, first = head.lines, head.first_line
    if first.startswith("<"):
        return f"XML that begins {quoted(first)}", ""
    if table := _table("\n".join(lines)):
        return table, "write one token and its tag a line, with a tab between and a blank line after each sentence"
    rows, width, split = sample_rows(lines)
    full = [row for row in rows if len(row) == width]
    if width < 2 or len(full) < SHARE * len(rows) or len(full) < 2:
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
        if pairs >= 4 and zeros >= SHARE * pairs and not others:
            return encoding
    return ""


def _table(text: str) -> str:
    """Describe a table of tokens with a header; return "" for anything else."""
    from nereval_core.readers.conll.layout import is_tag
    from nereval_core.readers.shared.table_columns import first_rows

    for delimiter in (",", ";"):
        header, *rows = first_rows(text, ROWS, delimiter) or [[]]
        full = [row for row in rows if len(row) == len(header)]
        if len(header) < 2 or len(full) < 2:
            continue
        for column, name in enumerate(header):
            tags = [row[column] for row in full]
            if any(tag != "O" for tag in tags) and sum(map(is_tag, tags)) >= SHARE * len(tags) and not is_tag(name):
                examples = _some([tag for tag in dict.fromkeys(tags) if tag != "O"])
                return f"a table of tokens, whose column {quoted(name)} holds {examples}"
    return ""


def _some(texts: Sequence[str] | Iterable[str]) -> str:
    known = list(texts)
    return ", ".join(map(quoted, known[:EXAMPLES])) + (", …" if len(known) > EXAMPLES else "")
