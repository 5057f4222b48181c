"""DocBin files of spaCy (`.spacy`): documents with their tokens, entities and span groups.

Entities are the layer `ents`, each span group is a layer of its own. Texts, tokens and sentences are spaCy's; plain
user data are metadata. Of spaCy only the table of strings is used: what is unpacked is checked and read here.
See spaCy's documentation, "DocBin", "Doc.ents", "SpanGroup".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Intervals, Place, document_problems, layer
from nereval_core.corpus.arrays import Int64, UInt64
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.docbin.message import (
    DECODING_ERRORS,
    REMEDY,
    Group,
    PackedDocuments,
    PackedFile,
    damaged,
    is_docbin,
    unpack_docbin,
)
from nereval_core.readers.docbin.texts import (
    PlacedTokens,
    TextIntervals,
    document_metadata,
    place_tokens,
    sentences,
    tokens,
)
from nereval_core.readers.input.source import unread_files_note

SUFFIX = ".spacy"
ENTS = "ents"
"""The layer of entities."""
UNKNOWN = "documents of which spaCy does not know where blanks stand, one taken after every token"
UNNAMED = "ids and links whose string is not stored, left out"


@dataclass(slots=True)
class _Content:
    """Documents and the spans of one layer, gathered file by file."""

    problems: ProblemList = field(default_factory=ProblemList)
    counts: Counter[str] = field(default_factory=Counter)
    places: list[Place] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    meta: list[dict[str, Any]] = field(default_factory=list)
    tokens: list[TextIntervals] = field(default_factory=list)
    sentences: list[TextIntervals] = field(default_factory=list)
    doc: list[Int64] = field(default_factory=list)
    start: list[Int64] = field(default_factory=list)
    end: list[Int64] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    ids: dict[int, str] = field(default_factory=dict)
    links: dict[int, tuple[str, ...]] = field(default_factory=dict)
    scores: dict[int, float] = field(default_factory=dict)


class DocBinReader(Reader):
    name = "docbin"
    description = "DocBin files of spaCy: entities, and a layer a span group"
    has_layers = True
    suffixes = (SUFFIX,)

    def recognise(self, source: Source) -> float:
        """Claim packed MessagePack that begins with the parts of a DocBin."""
        return 1.0 if is_docbin(source.head(SUFFIX).raw) else 0.0

    def layers(self, source: Source, options: ReadOptions) -> tuple[str, ...]:
        """Return `ents`, if there are entities or no span groups, and the keys of the span groups.

        Raises:
            FormatError: as `message.unpack_docbin`.
        """
        return tuple(_layers([unpack_docbin(file) for file in source.pick(SUFFIX)]))

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read the entities or one span group; the lines that problems name are documents, counted from 1.

        An entity has links, its `kb_id` before its `ent_id`; a span of a group an id, a link (`kb_id`) and a score (of
        the group's attribute `scores`). A document is named by what its user data has under `id`.

        Raises:
            FormatError: with every problem found; several layers, and none is named.
        """
        files = source.pick(SUFFIX)
        packed = [unpack_docbin(file) for file in files]
        key_of_layer = _layers(packed)
        # Where no entity was found the layer exists all the same.
        key_of_layer |= {ENTS: None} if options.layer == ENTS and ENTS not in key_of_layer else {}
        key = key_of_layer[select_layer(source, options.layer, tuple(key_of_layer))]
        content = _Content()
        while packed:
            # What was read of a file is not held any longer than its documents.
            used = 0
            for block in packed.pop(0).blocks():
                used += _add(block, key, used, content)
        notes = [
            *unread_files_note(source, files),
            *(f"{what}: {count}" for what, count in content.counts.items() if count),
        ]
        return _finished(content, options.name or source.label, notes)


READER = DocBinReader()


def _layers(packed: Sequence[PackedFile]) -> dict[str, str | None]:
    """Return the layers by name, each with the key of its span group, None for the entities."""
    keys = dict.fromkeys(key for file in packed for groups in file.groups for key in groups)
    layers: dict[str, str | None] = (
        {ENTS: None} if not keys or any(BEGINS in file.values("ENT_IOB") for file in packed) else {}
    )
    return layers | {f"{key} (spans)" if key in layers else key: key for key in keys}


def _add(block: PackedDocuments, key: str | None, used: int, content: _Content) -> int:
    """Add documents, and of their spans the entities or those of a group; return how many characters they have.

    The texts of the file before them have `used` characters.
    """
    where = place_tokens(block, used, content.problems)
    characters = 0
    if where is not None:
        characters = sum(map(len, where.texts))
        if key is None:
            spans = entity_spans(block, content.problems, content.counts)
        else:
            spans = span_group(block, key, where, content.problems, content.counts)
        content.texts += where.texts
        for name, meta in document_metadata(block, content.problems, content.counts):
            content.names.append(name)
            content.meta.append(meta)
        content.tokens.append(tokens(block, where))
        content.sentences.append(sentences(block, where))
        content.counts[UNKNOWN] += int(block.unknown.sum())
        # Misplaced spans cannot be added; they are among the problems.
        if spans is not None and not content.problems:
            _add_spans(block, where, spans, content)
    content.places += [(block.source, block.before + number) for number in range(1, len(block) + 1)]
    return characters


def _add_spans(block: PackedDocuments, where: PlacedTokens, spans: TokenSpans, content: _Content) -> None:
    number = len(content.labels)
    doc = block.document[spans.first]
    labels = block.strings.of(spans.labels)
    lost = np.array([label is None for label in labels], bool)
    content.problems += block.problems(doc[lost], "a type that is not among the strings")
    content.labels += [label or "" for label in labels]
    content.doc.append(doc + len(content.places))
    content.start.append(where.start[spans.first])
    content.end.append(where.end[spans.last - 1])
    content.scores |= {span: score for span, score in enumerate(spans.scores, start=number) if score == score}
    ids, *links = (block.strings.of(values) for values in (spans.ids, *spans.links))
    content.counts[UNNAMED] += sum(values.count(None) for values in (ids, *links))
    content.ids |= {span: id for span, id in enumerate(ids, start=number) if id}
    for span, several in enumerate(zip(*links, strict=True), start=number):
        links_of_span = tuple(dict.fromkeys(link for link in several if link))
        if links_of_span:
            content.links[span] = links_of_span


def _finished(content: _Content, name: str, notes: Sequence[str]) -> Reading:
    """Check everything and return what was read.

    Raises:
        FormatError: with every problem found.
    """
    if content.problems:
        raise FormatError(content.problems)
    named = not content.names or any(id is not None for id in content.names)
    documents = Documents(
        tuple(str(at) if id is None else id for at, id in enumerate(content.names, start=1)),
        tuple(content.texts),
        _intervals(content.tokens),
        _intervals(content.sentences),
        tuple(content.meta) if any(content.meta) else None,
        named,
    )
    problems = list(document_problems(documents, content.places.__getitem__))
    nothing = np.zeros(0, np.int64)
    doc, start, end = (np.concatenate([nothing, *side]) for side in (content.doc, content.start, content.end))
    checked = layer(
        name,
        documents,
        doc,
        start,
        end,
        content.labels,
        extras={"ids": content.ids, "links": content.links, "scores": content.scores},
        where=lambda span: content.places[doc[span]],
        problems=problems,
    )
    return Reading(documents, checked, DocBinReader.name, tuple(notes), places=tuple(content.places))


def _intervals(pieces: Sequence[TextIntervals]) -> Intervals | None:
    """Return the pieces of all files, None where there are none."""
    counts, starts, ends = (np.concatenate(column) for column in zip(*pieces, strict=True))
    if not len(starts):
        return None
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return Intervals(first, starts, ends)


BEGINS, CONTINUES = 3, 1
"""Values of ENT_IOB; the others are in no entity."""
UNANNOTATED = "tokens without entity annotation, taken as outside of any"
ODD_SCORES = "span groups whose scores are not one number a span, left out"
PACKED_SPAN = np.dtype(
    [(name, ">u8") for name in ("id", "kb_id", "label")] + [(name, ">i4") for name in ("start", "end", "low", "high")]
)
"""A packed span: tokens `start` to `end`, characters `low` to `high`, ends exclusive."""


class TokenSpans(NamedTuple):
    """Spans: first token and last token + 1, counted through the whole file, and the hashes of their strings."""

    first: Int64
    last: Int64
    labels: UInt64
    ids: UInt64
    links: Sequence[UInt64]
    scores: Sequence[float]


def entity_spans(block: PackedDocuments, problems: list[Problem], counts: Counter[str]) -> TokenSpans | None:
    """Return the entities as `Doc.ents` does: a beginning without a type is outside, the types of what follows do not
    count. None where none are stored.
    """
    tags, types = block.column("ENT_IOB"), block.column("ENT_TYPE")
    if tags is None or types is None:
        remedy = "write it with ENT_IOB and ENT_TYPE among its attributes"
        problems.append(Problem(block.source, None, "no entities are stored in it", remedy))
        return None
    problems += block.problems(block.document[tags > BEGINS], "an entity tag that is not one of 0 to 3")
    inside, begins = tags == CONTINUES, (tags == BEGINS) & (types != 0)
    opening = np.diff(block.document, prepend=-1) > 0
    before = np.append(False, inside | begins)[:-1]
    problems += block.problems(block.document[inside & (opening | ~before)], "an entity goes on that has not begun")
    first = np.flatnonzero(begins)
    stops = np.append(np.flatnonzero(~inside | opening), len(tags))
    counts[UNANNOTATED] += int((tags == 0).sum())
    links = [column[first] for name in ("ENT_KB_ID", "ENT_ID") if (column := block.column(name)) is not None]
    last = stops[np.searchsorted(stops, first, side="right")]
    return TokenSpans(first, last, types[first], np.zeros(len(first), np.uint64), links, [nan] * len(first))


def span_group(
    block: PackedDocuments, key: str, where: PlacedTokens, problems: list[Problem], counts: Counter[str]
) -> TokenSpans:
    """Return the spans of a group; those that are not where they say they are go to the problems."""
    parts: list[bytes] = []
    scores: list[float] = []
    absent = f"documents without the span group {quoted(key)}, taken as empty"
    for number, groups in enumerate(block.groups, start=block.before + 1):
        part, values = b"", list[float]()
        if key not in groups:
            counts[absent] += 1
        else:
            try:
                part, values = _packed_spans(groups[key], counts)
            except DECODING_ERRORS as error:
                problems += damaged(block.source, error, number, f"span group {quoted(key)}").problems
        parts.append(part)
        scores += values
    spans = np.frombuffer(b"".join(parts), PACKED_SPAN)
    document = np.repeat(np.arange(len(block)), [len(part) // PACKED_SPAN.itemsize for part in parts])
    shift = block.first[document]
    first, last = spans["start"] + shift, spans["end"] + shift
    for at, words in _misplaced(spans, first, last, block.first[document + 1], where):
        finding = f"the span group {quoted(key)} has {words}"
        problems.append(Problem(block.source, block.before + int(document[at]) + 1, finding, REMEDY))
    label, id, link = (spans[name].astype(np.uint64) for name in ("label", "id", "kb_id"))
    return TokenSpans(first, last, label, id, (link,), scores)


def _packed_spans(packed: bytes, counts: Counter[str]) -> tuple[bytes, list[float]]:
    """Return the spans of a group in a row, as they are packed, and the score of each, NaN where it has none.

    Raises:
        One of DECODING_ERRORS.
    """
    group = msgspec.msgpack.decode(packed, type=Group)
    if {len(span) for span in group.spans} - {PACKED_SPAN.itemsize}:
        raise ValueError(f"a span that is not of {PACKED_SPAN.itemsize} bytes")
    stored_scores = group.attrs.get("scores")
    scores = None if stored_scores is None else _numbers(stored_scores)
    counts[ODD_SCORES] += stored_scores is not None and (scores is None or len(scores) != len(group.spans))
    if scores is None or len(scores) != len(group.spans):
        scores = [nan] * len(group.spans)
    return b"".join(group.spans), scores


def _numbers(value: Any) -> list[float] | None:
    """Return a list or an array as srsly packs it, None where it is not of numbers."""
    if isinstance(value, dict):
        kind, data = value.get(b"type"), value.get(b"data")
        if kind not in ("<f2", "<f4", "<f8") or not isinstance(data, bytes) or len(data) % int(kind[-1]):
            return None
        return list(map(float, np.frombuffer(data, kind)))
    fine = isinstance(value, list) and all(type(entry) in (int, float) for entry in value)
    return list(map(float, value)) if fine else None


def _misplaced(
    spans: NDArray[np.void], first: Int64, last: Int64, stop: Int64, where: PlacedTokens
) -> Iterator[tuple[int, str]]:
    """Yield the spans, in words, that are at no tokens of their documents, or at other characters than their tokens.

    `first`, `last` and `stop`, where each document ends, are tokens counted through the whole file.
    """
    wrong = (spans["start"] < 0) | (first >= last) | (last > stop)
    fine = np.flatnonzero(~wrong)
    low, high = where.start[first[fine]], where.end[last[fine] - 1]
    off = (low != spans["low"][fine]) | (high != spans["high"][fine])
    true = dict(zip(fine[off].tolist(), zip(low[off].tolist(), high[off].tolist(), strict=True), strict=True))
    for at in sorted((*np.flatnonzero(wrong).tolist(), *true)):
        start, end, stated_low, stated_high = (int(spans[name][at]) for name in ("start", "end", "low", "high"))
        words = f"tokens {start} to {end}, of {int(stop[at] - first[at]) + start}"
        if at in true:
            stand = "{} to {}".format(*true[at])
            words = f"tokens {start} to {end} at characters {stated_low} to {stated_high}, which stand at {stand}"
        yield at, words
