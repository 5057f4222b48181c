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

from nereval_core.arrays import Int64, UInt64
from nereval_core.corpus import Documents, Intervals, Place, document_problems, layer
from nereval_core.problems import FormatError, Problem, quoted
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
UNKNOWN = "documents of which spaCy was not told where blanks stand, one taken after every token"
UNNAMED = "ids and links whose string is not stored, left out"


@dataclass(slots=True)
class _Content:
    """Documents and the spans of one layer, gathered file by file."""

    problems: list[Problem] = field(default_factory=list)
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
        known = _layers(packed)
        # Where no entity was found there is still the layer, for whoever asks for it.
        known |= {ENTS: None} if options.layer == ENTS and ENTS not in known else {}
        key = known[select_layer(source, options.layer, tuple(known))]
        content = _Content()
        while packed:
            # What was read of a file is not held any longer than its documents.
            used = 0
            for one in packed.pop(0).blocks():
                used += _add(one, key, used, content)
        notes = [
            *unread_files_note(source, files),
            *(f"{what}: {count}" for what, count in content.counts.items() if count),
        ]
        return _finished(content, options.name or source.label, notes)


READER = DocBinReader()


def _layers(packed: Sequence[PackedFile]) -> dict[str, str | None]:
    """Return the layers by name, each with the key of its span group, None for the entities."""
    keys = dict.fromkeys(key for one in packed for groups in one.groups for key in groups)
    found: dict[str, str | None] = (
        {ENTS: None} if not keys or any(BEGINS in one.values("ENT_IOB") for one in packed) else {}
    )
    return found | {f"{key} (spans)" if key in found else key: key for key in keys}


def _add(one: PackedDocuments, key: str | None, used: int, content: _Content) -> int:
    """Add documents, and of their spans the entities or those of a group; return how many characters they have.

    The texts of the file before them have `used` characters.
    """
    where = place_tokens(one, used, content.problems)
    characters = 0
    if where is not None:
        characters = sum(map(len, where.texts))
        if key is None:
            found = entity_spans(one, content.problems, content.counts)
        else:
            found = span_group(one, key, where, content.problems, content.counts)
        content.texts += where.texts
        for name, meta in document_metadata(one, content.problems, content.counts):
            content.names.append(name)
            content.meta.append(meta)
        content.tokens.append(tokens(one, where))
        content.sentences.append(sentences(one, where))
        content.counts[UNKNOWN] += int(one.unknown.sum())
        # Misplaced spans cannot be added; they are among the problems.
        if found is not None and not content.problems:
            _add_spans(one, where, found, content)
    content.places += [(one.shown, one.before + number) for number in range(1, len(one) + 1)]
    return characters


def _add_spans(one: PackedDocuments, where: PlacedTokens, found: TokenSpans, content: _Content) -> None:
    number = len(content.labels)
    doc = one.document[found.first]
    labels = one.strings.of(found.labels)
    lost = np.array([label is None for label in labels], bool)
    content.problems += one.problems(doc[lost], "a type that is not among the strings")
    content.labels += [label or "" for label in labels]
    content.doc.append(doc + len(content.places))
    content.start.append(where.start[found.first])
    content.end.append(where.end[found.last - 1])
    content.scores |= {span: score for span, score in enumerate(found.scores, start=number) if score == score}
    ids, *links = (one.strings.of(values) for values in (found.ids, *found.links))
    content.counts[UNNAMED] += sum(values.count(None) for values in (ids, *links))
    content.ids |= {span: id for span, id in enumerate(ids, start=number) if id}
    for span, several in enumerate(zip(*links, strict=True), start=number):
        kept = tuple(dict.fromkeys(link for link in several if link))
        if kept:
            content.links[span] = kept


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
    made = layer(
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
    return Reading(documents, made, DocBinReader.name, tuple(notes), places=tuple(content.places))


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


def entity_spans(one: PackedDocuments, problems: list[Problem], counts: Counter[str]) -> TokenSpans | None:
    """Return the entities as `Doc.ents` does: a beginning without a type is outside, the types of what follows do not
    count. None where none are stored.
    """
    tags, types = one.column("ENT_IOB"), one.column("ENT_TYPE")
    if tags is None or types is None:
        remedy = "write it with ENT_IOB and ENT_TYPE among its attributes"
        problems.append(Problem(one.shown, None, "no entities are stored in it", remedy))
        return None
    problems += one.problems(one.document[tags > BEGINS], "an entity tag that is not one of 0 to 3")
    inside, begins = tags == CONTINUES, (tags == BEGINS) & (types != 0)
    opening = np.diff(one.document, prepend=-1) > 0
    before = np.append(False, inside | begins)[:-1]
    problems += one.problems(one.document[inside & (opening | ~before)], "an entity goes on that has not begun")
    first = np.flatnonzero(begins)
    stops = np.append(np.flatnonzero(~inside | opening), len(tags))
    counts[UNANNOTATED] += int((tags == 0).sum())
    links = [column[first] for name in ("ENT_KB_ID", "ENT_ID") if (column := one.column(name)) is not None]
    last = stops[np.searchsorted(stops, first, side="right")]
    return TokenSpans(first, last, types[first], np.zeros(len(first), np.uint64), links, [nan] * len(first))


def span_group(
    one: PackedDocuments, key: str, where: PlacedTokens, problems: list[Problem], counts: Counter[str]
) -> TokenSpans:
    """Return the spans of a group; those that are not where they say they are go to the problems."""
    parts: list[bytes] = []
    scores: list[float] = []
    absent = f"documents without the span group {quoted(key)}, taken as empty"
    for number, groups in enumerate(one.groups, start=one.before + 1):
        part, values = b"", list[float]()
        if key not in groups:
            counts[absent] += 1
        else:
            try:
                part, values = _packed_spans(groups[key], counts)
            except DECODING_ERRORS as error:
                problems += damaged(one.shown, error, number, f"span group {quoted(key)}").problems
        parts.append(part)
        scores += values
    spans = np.frombuffer(b"".join(parts), PACKED_SPAN)
    document = np.repeat(np.arange(len(one)), [len(part) // PACKED_SPAN.itemsize for part in parts])
    shift = one.first[document]
    first, last = spans["start"] + shift, spans["end"] + shift
    for at, found in _misplaced(spans, first, last, one.first[document + 1], where):
        said = f"the span group {quoted(key)} has {found}"
        problems.append(Problem(one.shown, one.before + int(document[at]) + 1, said, REMEDY))
    label, id, link = (spans[name].astype(np.uint64) for name in ("label", "id", "kb_id"))
    return TokenSpans(first, last, label, id, (link,), scores)


def _packed_spans(packed: bytes, counts: Counter[str]) -> tuple[bytes, list[float]]:
    """Return the spans of a group in a row, as they are packed, and the score of each, NaN where it has none.

    Raises:
        one of WRONG
    """
    found = msgspec.msgpack.decode(packed, type=Group)
    if {len(span) for span in found.spans} - {PACKED_SPAN.itemsize}:
        raise ValueError(f"a span that is not of {PACKED_SPAN.itemsize} bytes")
    given = found.attrs.get("scores")
    scores = None if given is None else _numbers(given)
    counts[ODD_SCORES] += given is not None and (scores is None or len(scores) != len(found.spans))
    if scores is None or len(scores) != len(found.spans):
        scores = [nan] * len(found.spans)
    return b"".join(found.spans), scores


def _numbers(given: Any) -> list[float] | None:
    """Return a list or an array as srsly packs it, None where it is not of numbers."""
    if isinstance(given, dict):
        kind, data = given.get(b"type"), given.get(b"data")
        if kind not in ("<f2", "<f4", "<f8") or not isinstance(data, bytes) or len(data) % int(kind[-1]):
            return None
        return list(map(float, np.frombuffer(data, kind)))
    fine = isinstance(given, list) and all(type(one) in (int, float) for one in given)
    return list(map(float, given)) if fine else None


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
        start, end, told, tells = (int(spans[name][at]) for name in ("start", "end", "low", "high"))
        said = f"tokens {start} to {end}, of {int(stop[at] - first[at]) + start}"
        if at in true:
            stand = "{} to {}".format(*true[at])
            said = f"tokens {start} to {end} at characters {told} to {tells}, which stand at {stand}"
        yield at, said
