"""A shape of JSON records: where a text stands, where its spans do, and what their numbers count; and one by keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nereval_core.problems import FormatError, quoted
from nereval_core.readers.recognition.unread_shapes import KnownShape
from nereval_core.readers.shared.offset_units import Offsets

CODE_POINTS = Offsets()
NAMES = (
    "records",
    "id",
    "text",
    "words",
    "layers",
    "spans",
    "start",
    "end",
    "last",
    "length",
    "label",
    "quote",
    "score",
)
"""What a shape of one's own can name."""


@dataclass(frozen=True)
class RecordShape(KnownShape):
    """A shape of records: all but `offsets` are paths (`paths`), "" for what the shape does not have.

    `records` leads from a value of the file to its records. A record has a `text`; or `words`, with a blank between; or
    `pieces`, each with its text, start and end under the three `piece_keys`, which make the text. Without any of them
    it is the text of gold's document of the same `id`, or in the same place. `sentences` of pieces is the way before
    them.

    `layers` lead from the record to what one annotator or model wrote, each called by what the way says of `layer`;
    spans stand below. `seen` names the annotators of a record, `whose` those of a span.

    `spans` lead to spans, whose values stand under `start` and `end` (exclusive), `last` (inclusive) or `length`, or
    else with the length of their quotes; or as pairs under `parts`, or as numbers of words under `members`. What the
    way to them says of `label` and `quote` counts first. Where the text is of words, all of these count words, from the
    first word of sentence `sentence` if there is one. `tags` are tags in place of spans: a list beside the words, or a
    key of each piece; `features` describe them.

    `by` is who made all spans of a record. Where `id` names a file (`of_files`), its text may lie beside; `number` is
    that of a line of this file, and so of gold's document. What stands under `failure` says why there are no spans.
    `prepare` makes a record of what the file has, null for nothing. Where each record is a span, `document` names its
    document, and those of one document make a record with `spans`. `is_protobuf`: a start of 0 may be missing.
    Spans of `tool_types`, and empty ones beside them, are left out. Without a `start`, words are looked for.
    """

    records: str = ""
    id: str = "id"
    text: str = ""
    words: str = ""
    pieces: str = ""
    piece_keys: tuple[str, str, str] = ("", "", "")
    sentences: str = ""
    layers: tuple[str, ...] = ()
    seen: str = ""
    whose: str = ""
    spans: str = ""
    start: str = "start"
    end: str = "end"
    last: str = ""
    length: str = ""
    parts: str = ""
    members: str = ""
    label: str = "label"
    quote: str = ""
    score: str = ""
    span_id: str = ""
    link: str = ""
    sentence: str = ""
    tags: str = ""
    features: str = ""
    by: str = ""
    of_files: bool = False
    number: str = ""
    failure: str = ""
    prepare: Callable[[Any], Any] | None = None
    document: str = ""
    is_protobuf: bool = False
    tool_types: frozenset[str] = frozenset()
    offsets: Offsets = CODE_POINTS

    def own_keys(self) -> frozenset[str]:
        """Return the keys of a record that the shape reads."""
        paths = (self.id, self.text, self.words, self.pieces, self.sentences, self.seen, self.spans, self.tags)
        first = [choice.partition(".")[0] for path in (*paths, *self.layers) for choice in path.split("|")]
        return frozenset(name for step in first for name in step.strip("{}").rpartition("=")[2].split(","))

    @property
    def counting(self) -> Offsets:
        """What offsets count, as the shape has it."""
        return self.offsets._replace(inclusive=bool(self.last) and not self.words)


def parse_keys(words: str) -> Mapping[str, str]:
    """Read what `--keys` says: `text=content,spans=marks,start=from,end=to,label=kind`.

    Raises:
        FormatError: it says something else.
    """
    keys: dict[str, str] = {}
    for part in filter(str.strip, words.split(",")):
        name, equals, path = (word.strip() for word in part.partition("="))
        if not equals or name not in NAMES or not path:
            finding = f"{quoted(part.strip())} does not say what a key holds"
            remedy = f"write text=KEY,spans=KEY,start=KEY,end=KEY,label=KEY; known are {', '.join(NAMES)}"
            raise FormatError.single("--keys", None, finding, remedy)
        keys[name] = path
    return keys


def shape_of_keys(keys: Mapping[str, str]) -> RecordShape:
    """Return the shape that a user describes by keys.

    Raises:
        FormatError: no spans are named, or two ends.
    """
    if unknown := sorted(keys.keys() - set(NAMES)):
        finding = f"{quoted(unknown[0])} is nothing that a key holds"
        raise FormatError.single("--keys", None, finding, f"known are {', '.join(NAMES)}")
    ends = [name for name in ("end", "last", "length") if name in keys]
    is_rows = "id" in keys and "spans" not in keys and not keys.keys().isdisjoint(("start", *ends))
    if ("spans" not in keys and not is_rows) or len(ends) > 1:
        finding = f"{' and '.join(ends)} are two ends" if ends[1:] else "no key for the list of spans"
        remedy = "add spans=KEY, or id=KEY where each object is a span"
        remedy = "name one: end is behind the span, last inside" if ends[1:] else remedy
        raise FormatError.single("--keys", None, finding, remedy)
    named: dict[str, Any] = dict(keys)
    layers = tuple(filter(None, (named.pop("layers", ""),)))
    if is_rows:
        named |= {"document": named["id"], "id": "id", "spans": "spans"}
    for name in ("records", "spans"):
        # A list is meant with all it holds, and an object of lists by type.
        if named.get(name, "*")[-1] != "*" and not named[name].endswith("{quote}"):
            named[name] += ".*"
    # A span may be a list: start, end, type. Without a place its words are looked for.
    is_placed = "quote" not in keys or "start" in keys or bool(ends)
    plain = {"text": "" if ends and "words" in named else "text", "label": "label|2"}
    plain |= {"start": "start|0" if is_placed else "", "end": "end|1" if is_placed and not ends else ""}
    return RecordShape("the keys given", **{**plain, **named}, layers=layers)
