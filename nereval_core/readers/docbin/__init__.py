"""DocBin files of spaCy (`.spacy`): documents with their tokens, entities and span groups.

Entities are the layer `ents`, each span group is a layer of its own. Texts, tokens and sentences are spaCy's; plain
user data are metadata. Of spaCy only the table of strings is used: what is unpacked is checked and read here.
See spaCy's documentation, "DocBin", "Doc.ents", "SpanGroup".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.corpus import Documents, Intervals, Place, document_problems, layer
from nereval_core.problems import FormatError, Problem
from nereval_core.readers import Reading, ReadOptions, Source, one_layer
from nereval_core.readers.docbin.message import Packed, is_packed, unpacked
from nereval_core.readers.docbin.spans import Found, entities, group, has_entities
from nereval_core.readers.docbin.texts import Pieces, Placed, described, placed, sentences, tokens
from nereval_core.readers.input.source import HEAD_BYTES, left_out

NAME = "docbin"
DESCRIPTION = "DocBin files of spaCy: entities, and a layer a span group"

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
    tokens: list[Pieces] = field(default_factory=list)
    sentences: list[Pieces] = field(default_factory=list)
    doc: list[Int64] = field(default_factory=list)
    start: list[Int64] = field(default_factory=list)
    end: list[Int64] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    ids: dict[int, str] = field(default_factory=dict)
    links: dict[int, tuple[str, ...]] = field(default_factory=dict)
    scores: dict[int, float] = field(default_factory=dict)


def recognise(source: Source) -> float:
    """Be sure of packed MessagePack that begins with the parts of a DocBin."""
    return 1.0 if is_packed(source.pick(SUFFIX)[0].load(HEAD_BYTES)) else 0.0


def layers(source: Source, options: ReadOptions) -> tuple[str, ...]:
    """Return `ents`, if there are entities or no span groups, and the keys of the span groups.

    Raises:
        FormatError: as `docbin_packed.unpacked`.
    """
    return tuple(_layers([unpacked(file) for file in source.pick(SUFFIX)]))


def read(source: Source, options: ReadOptions) -> Reading:
    """Read the entities or one span group; the lines that problems name are documents, counted from 1.

    An entity has links, its `kb_id` before its `ent_id`; a span of a group an id, a link (`kb_id`) and a score (of the
    group's attribute `scores`). A document is named by what its user data has under `id`.

    Raises:
        FormatError: with every problem found; several layers, and none is named.
    """
    files = source.pick(SUFFIX)
    packed = [unpacked(file) for file in files]
    known = _layers(packed)
    # Where no entity was found there is still the layer, for whoever asks for it.
    known |= {ENTS: None} if options.layer == ENTS and ENTS not in known else {}
    key = known[one_layer(source, options.layer, tuple(known))]
    content = _Content()
    for one in packed:
        _add(one, key, content)
    notes = [*left_out(source, files), *(f"{what}: {count}" for what, count in content.counts.items() if count)]
    return _finished(content, options.name or source.label, notes)


def _layers(packed: Sequence[Packed]) -> dict[str, str | None]:
    """Return the layers by name, each with the key of its span group, None for the entities."""
    keys = dict.fromkeys(key for one in packed for groups in one.groups for key in groups)
    found: dict[str, str | None] = {ENTS: None} if not keys or any(map(has_entities, packed)) else {}
    return found | {f"{key} (spans)" if key in found else key: key for key in keys}


def _add(one: Packed, key: str | None, content: _Content) -> None:
    """Add the documents of a file, and of their spans the entities or those of a group."""
    where = placed(one, content.problems)
    if where is not None:
        if key is None:
            found = entities(one, content.problems, content.counts)
        else:
            found = group(one, key, where, content.problems, content.counts)
        content.texts += where.texts
        for name, meta in described(one, content.problems, content.counts):
            content.names.append(name)
            content.meta.append(meta)
        content.tokens.append(tokens(one, where))
        content.sentences.append(sentences(one, where))
        content.counts[UNKNOWN] += int(one.unknown.sum())
        # What is misplaced cannot be added: that it is stands among the problems.
        if found is not None and not content.problems:
            _add_spans(one, where, found, content)
    content.places += [(one.shown, number) for number in range(1, len(one) + 1)]


def _add_spans(one: Packed, where: Placed, found: Found, content: _Content) -> None:
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
    return Reading(documents, made, NAME, tuple(notes), places=tuple(content.places))


def _intervals(pieces: Sequence[Pieces]) -> Intervals | None:
    """Return the pieces of all files, None where there are none."""
    counts, starts, ends = (np.concatenate(column) for column in zip(*pieces, strict=True))
    if not len(starts):
        return None
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return Intervals(first, starts.astype(np.int32), ends.astype(np.int32))
