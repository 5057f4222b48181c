"""Documents and layers: columnar, frozen, and checked once, on construction.

All offsets are code points, 0-based, end exclusive. A layer keeps its spans sorted by document, start, end, type and
fragments; `order` leads back to the order in which they were read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import isfinite
from types import MappingProxyType
from typing import Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Int32, Int64
from nereval_core.corpus.digest import Hashes, combined, document_hashes, span_hashes
from nereval_core.corpus.texts import Texts
from nereval_core.problems import FormatError, Problem, counted, quoted, quoted_apart

Unit = Literal["document", "sentence"]
"""What each of the documents is: a sentence where the source marks no documents."""
Place = tuple[str, int | None]
Fragments = tuple[tuple[int, int], ...]

Array = TypeVar("Array", bound=NDArray[Any])

PIECE = 1 << 16
"""So many tokens are placed at once: what stays in the processor's cache."""

SPAN_KEYS = ("fragments", "ids", "links", "cores", "alternatives", "scores", "meta")


@dataclass(frozen=True, eq=False)
class Intervals:
    """Half-open intervals by document: those of document d are `starts[first[d]:first[d + 1]]`, `ends[...]`."""

    first: Int64
    starts: Int32
    ends: Int32

    @classmethod
    def of(cls, by_document: Sequence[Sequence[tuple[int, int]]]) -> Intervals:
        sizes = np.fromiter((len(row) for row in by_document), np.int64, len(by_document))
        first = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        try:
            flat = np.array([pair for row in by_document for pair in row], np.int32).reshape(-1, 2)
        except OverflowError:
            # Numbers beyond int32 are clipped: they lie outside any text and are refused as such.
            edges = _offsets([edge for row in by_document for pair in row for edge in pair])
            flat = np.clip(edges, -1, np.iinfo(np.int32).max).astype(np.int32).reshape(-1, 2)
        return cls(frozen(first), frozen(flat[:, 0].copy()), frozen(flat[:, 1].copy()))

    @classmethod
    def spaced(
        cls, first: Int64, sizes: NDArray[np.integer[Any]], gaps: NDArray[np.integer[Any]] | None = None
    ) -> Intervals:
        """Return intervals that follow one another in each document, from 0 on.

        `sizes` count what stands after each too: one character, or as many as `gaps` says. What stands after the last
        of a document is no part of it. Starts and ends are made when they are asked for: many corpora are scored
        without.
        """
        return _Spaced(first, sizes, gaps)

    def fill(self, lengths: Int64) -> bool:
        """Tell at a glance whether these are sound in texts of such lengths; False where one has to look at each."""
        return False

    def same(self, other: Intervals) -> bool:
        """Tell whether both hold the same intervals."""
        return all(np.array_equal(getattr(self, key), getattr(other, key)) for key in ("first", "starts", "ends"))

    def of_document(self, document: int) -> list[tuple[int, int]]:
        low, high = self.first[document], self.first[document + 1]
        return list(zip(self.starts[low:high].tolist(), self.ends[low:high].tolist(), strict=True))


class _Spaced(Intervals):
    """Intervals held as their sizes until their places are asked for."""

    def __init__(
        self, first: Int64, sizes: NDArray[np.integer[Any]], gaps: NDArray[np.integer[Any]] | None = None
    ) -> None:
        object.__setattr__(self, "first", frozen(first))
        object.__setattr__(self, "sizes", frozen(sizes))
        object.__setattr__(self, "gaps", gaps if gaps is None else frozen(gaps))

    def fill(self, lengths: Int64) -> bool:
        # A text is as long as its tokens with what stands between them.
        first, sizes, gaps = self.first, self.__dict__["sizes"], self.__dict__["gaps"]
        filled = np.diff(first) > 0
        if not len(sizes):
            return True
        reached = np.add.reduceat(sizes, first[:-1][filled], dtype=np.int64)
        last = 1 if gaps is None else gaps[first[1:][filled] - 1]
        least = sizes.min() > 1 if gaps is None else (sizes > gaps).all()
        return bool(least) and np.array_equal(reached - last, lengths[filled])

    def same(self, other: Intervals) -> bool:
        if not isinstance(other, _Spaced):
            return super().same(other)
        return all(np.array_equal(self.__dict__[key], other.__dict__[key]) for key in ("first", "sizes"))

    def __getattr__(self, name: str) -> Int32:
        if name not in ("starts", "ends"):
            raise AttributeError(name)
        first, sizes, gaps = self.first, self.__dict__["sizes"], self.__dict__["gaps"]
        starts, ends = np.empty(len(sizes), np.int32), np.empty(len(sizes), np.int32)
        base = np.zeros(len(first) - 1, np.int64)
        done = 0
        for low in range(0, len(sizes), PIECE):
            reached = np.cumsum(sizes[low : low + PIECE], dtype=np.int64) + done
            before = reached - sizes[low : low + PIECE]
            done = int(reached[-1])
            high = low + len(reached)
            # The documents that begin here, and those that reach into this piece.
            begun = slice(*np.searchsorted(first[:-1], (low, high)).tolist())
            base[begun] = before[first[:-1][begun] - low]
            within = slice(int(np.searchsorted(first[1:], low, side="right")), begun.stop)
            shift = np.repeat(base[within], np.diff(first[within.start : within.stop + 1].clip(low, high)))
            starts[low:high] = before - shift
            ends[low:high] = reached - (1 if gaps is None else gaps[low:high]) - shift
        object.__setattr__(self, "starts", frozen(starts))
        object.__setattr__(self, "ends", frozen(ends))
        return starts if name == "starts" else ends


@dataclass(frozen=True, eq=False)
class Documents:
    """Texts with their ids, and where known tokens, sentences and metadata.

    `texts` are strings, or `Texts`, which holds many as bytes. `named` is False where the source had no ids and the
    reader numbered the documents. `sizes` is None, or where there are no texts the length that each document is taken
    to have: all texts are empty then, and nothing can be asked that looks at words. `unit` is what each one is: a
    sentence where the source marks no documents.
    """

    ids: tuple[str, ...]
    texts: Sequence[str]
    tokens: Intervals | None = None
    sentences: Intervals | None = None
    meta: Sequence[Mapping[str, Any]] | None = None
    named: bool = True
    sizes: Int64 | None = None
    unit: Unit = "document"

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def lengths(self) -> Int64:
        """Length of each text in code points, shape (documents,)."""
        if self.sizes is not None:
            return self.sizes
        if isinstance(self.texts, Texts):
            return self.texts.lengths
        return frozen(np.fromiter(map(len, self.texts), np.int64, len(self.texts)))

    @cached_property
    def base(self) -> Int64:
        """Where each document starts if all texts stood in a row, shape (documents + 1,)."""
        return frozen(np.concatenate((np.zeros(1, np.int64), np.cumsum(self.lengths))))

    @cached_property
    def index(self) -> Mapping[str, int]:
        return MappingProxyType({name: number for number, name in enumerate(self.ids)})

    @cached_property
    def hashes(self) -> Hashes:
        """SHA-256 of each document's id and text, shape (documents, 32): see `digest.document_hashes`."""
        return document_hashes(self.ids, self.texts)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of ids and texts, whatever order the documents stand in."""
        return combined("documents", self.hashes)


@dataclass(frozen=True, eq=False)
class Layer:
    """The spans of one annotator or system, sorted by document, start, end, type and fragments.

    `doc`, `start`, `end` (int32) and `type` (int16, index into the sorted `types`) have shape (spans,). The mappings
    hold, by span, what only some spans have. `order` is the position each span was read at (gaps where
    spans were taken out), None if that is its index.
    """

    name: str
    documents: Documents
    doc: Int32
    start: Int32
    end: Int32
    type: NDArray[np.int16]
    types: tuple[str, ...]
    order: Int32 | None = None
    fragments: Mapping[int, Fragments] = field(default_factory=dict)
    ids: Mapping[int, str] = field(default_factory=dict)
    links: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    cores: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    alternatives: Mapping[int, Fragments] = field(default_factory=dict)
    scores: Mapping[int, float] = field(default_factory=dict)
    meta: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.doc)

    @cached_property
    def first(self) -> Int64:
        """Index of each document's first span, shape (documents + 1,)."""
        return np.searchsorted(self.doc, np.arange(len(self.documents) + 1)).astype(np.int64)

    def text(self, span: int) -> str:
        """Return the covered text; the fragments of a discontinuous span are joined by one space."""
        text = self.documents.texts[self.doc[span]]
        parts = self.fragments.get(span) or ((int(self.start[span]), int(self.end[span])),)
        return " ".join(text[start:end] for start, end in parts)

    def label(self, span: int) -> str:
        return self.types[int(self.type[span])]

    @cached_property
    def duplicates(self) -> Int64:
        """Spans that repeat the one before them: same document, boundaries, fragments and type."""
        if len(self) < 2:
            return np.zeros(0, np.int64)
        same = np.ones(len(self) - 1, bool)
        for column in (self.doc, self.start, self.end, self.type):
            same &= column[1:] == column[:-1]
        found = np.flatnonzero(same) + 1
        if self.fragments:
            get = self.fragments.get
            found = found[[get(i) == get(i - 1) for i in found.tolist()]]
        return found

    @cached_property
    def hashes(self) -> Hashes:
        """SHA-256 of each document with its spans, shape (documents, 32): see `digest.span_hashes`."""
        extras = [getattr(self, key) for key in ("fragments", "links", "cores", "alternatives", "scores")]
        more = {span: [extra.get(span) for extra in extras] for extra in extras for span in extra}
        return span_hashes(self.documents.hashes, self.first, self.start, self.end, self.type, self.types, more)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the texts and the canonical spans: free of file names and of reading order."""
        return combined("layer", self.hashes)

    def renamed(self, name: str) -> Layer:
        return replace(self, name=name)

    def retyped(self, code: NDArray[np.int16], types: tuple[str, ...]) -> Layer:
        """Return the layer with other types: `code` by span, an index into the sorted `types`, or -1.

        Spans of equal boundaries are put in the order of their new types.
        """
        order = _sorted(self.doc, self.start, self.end, code, self.fragments)
        plain = replace(self, type=frozen(code), types=types)
        return plain if order is None else plain._reordered(order)

    def _reordered(self, order: Int64) -> Layer:
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        extras: dict[str, Any] = {
            key: {int(number[i]): value for i, value in getattr(self, key).items()} for key in SPAN_KEYS
        }
        columns = {key: frozen(getattr(self, key)[order]) for key in ("doc", "start", "end", "type")}
        read = order if self.order is None else self.order[order]
        return replace(self, **columns, **extras, order=frozen(read.astype(np.int32)))

    def take(self, spans: NDArray[np.integer[Any]]) -> Layer:
        """Return a layer of these spans only (increasing indices)."""
        order = np.arange(len(self), dtype=np.int32) if self.order is None else self.order
        number = {int(old): new for new, old in enumerate(spans.tolist())}
        extras: dict[str, Any] = {
            key: {number[i]: value for i, value in getattr(self, key).items() if i in number} for key in SPAN_KEYS
        }
        columns = {key: frozen(getattr(self, key)[spans]) for key in ("doc", "start", "end", "type")}
        return replace(self, **columns, **extras, order=frozen(order[spans]))


@dataclass(frozen=True, eq=False)
class Labels(Sequence[str]):
    """The types of spans, coded: span i has the type `names[codes[i]]`; no name stands twice, in whatever order."""

    codes: NDArray[np.integer[Any]]
    names: tuple[str, ...]

    @classmethod
    def of(cls, label: Sequence[str]) -> Labels:
        """Return labels, coded already or one string a span."""
        if isinstance(label, Labels):
            return label
        number = {value: code for code, value in enumerate(dict.fromkeys(label))}
        return cls(np.fromiter(map(number.__getitem__, label), np.int64, len(label)), tuple(number))

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Labels: ...
    def __getitem__(self, at: int | slice) -> str | Labels:
        if isinstance(at, slice):
            return Labels(self.codes[at], self.names)
        return self.names[int(self.codes[at])]

    def sorted(self) -> tuple[NDArray[np.integer[Any]], tuple[str, ...]]:
        """Return the codes over the names that are used, sorted, and these."""
        used = np.flatnonzero(np.bincount(self.codes, minlength=len(self.names))).tolist()
        order = sorted(used, key=self.names.__getitem__)
        number = np.zeros(len(self.names), np.int64)
        number[order] = np.arange(len(order))
        return number[self.codes], tuple(self.names[code] for code in order)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents, their gold layer and the layers of one or more systems, all over the same documents."""

    name: str
    documents: Documents
    gold: Layer
    systems: tuple[Layer, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of texts and layers with their names: what a link names a corpus by."""
        sha = hashlib.sha256(b"corpus\n" + self.gold.digest.encode())
        for layer in sorted(self.systems, key=lambda layer: layer.name):
            sha.update(json.dumps([layer.name, layer.digest]).encode())
        return sha.hexdigest()

    def system(self, name: str) -> Layer:
        for layer in self.systems:
            if layer.name == name:
                return layer
        raise KeyError(name)


@dataclass(slots=True)
class Builder:
    """Collects what a reader finds and hands it to the validator: `document`, `span`, ..., then `finish`.

    `span` belongs to the document added last. `problem` takes what the reader itself found wrong, so that all problems
    of a file are told at once.
    """

    source: str
    named: bool = True
    problems: list[Problem] = field(default_factory=list)
    _ids: list[str] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _tokens: list[Sequence[tuple[int, int]]] = field(default_factory=list)
    _sentences: list[Sequence[tuple[int, int]]] = field(default_factory=list)
    _meta: list[Mapping[str, Any]] = field(default_factory=list)
    _places: list[Place] = field(default_factory=list)
    _doc: list[int] = field(default_factory=list)
    _start: list[int] = field(default_factory=list)
    _end: list[int] = field(default_factory=list)
    _label: list[str] = field(default_factory=list)
    _span_places: list[Place] = field(default_factory=list)
    _quotes: dict[int, str] = field(default_factory=dict)
    _extras: dict[str, dict[int, Any]] = field(default_factory=lambda: {key: {} for key in SPAN_KEYS})

    def problem(self, line: int | None, found: str, remedy: str, *, source: str | None = None) -> None:
        self.problems.append(Problem(source or self.source, line, found, remedy))

    def document(
        self,
        name: str,
        text: str,
        *,
        line: int | None = None,
        source: str | None = None,
        tokens: Sequence[tuple[int, int]] = (),
        sentences: Sequence[tuple[int, int]] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a document; `tokens` and `sentences` are its (start, end) pairs in code points."""
        self._ids.append(name)
        self._texts.append(text)
        self._tokens.append(tokens)
        self._sentences.append(sentences)
        self._meta.append(meta or {})
        self._places.append((source or self.source, line))

    def span(
        self,
        start: int,
        end: int,
        label: str,
        *,
        line: int | None = None,
        source: str | None = None,
        quote: str | None = None,
        fragments: Fragments = (),
        id: str | None = None,
        links: tuple[str, ...] = (),
        core: tuple[int, int] | None = None,
        alternatives: Fragments = (),
        score: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a span of the last document; `quote` is the text the source says it covers.

        The quote of a discontinuous span joins its fragments by one space.
        """
        number = len(self._doc)
        self._doc.append(len(self._ids) - 1)
        self._start.append(start)
        self._end.append(end)
        self._label.append(label)
        self._span_places.append((source or self.source, line))
        if quote is not None:
            self._quotes[number] = quote
        values = (fragments, id, links, core, alternatives, score, meta)
        for key, value in zip(SPAN_KEYS, values, strict=True):
            if value is not None and value != () and value != {}:
                self._extras[key][number] = value

    @property
    def places(self) -> tuple[Place, ...]:
        """Source and line at which each document begins."""
        return tuple(self._places)

    def finish(self, name: str) -> Layer:
        """Check everything and return the layer (its `documents` with it).

        Raises:
            FormatError: with every problem found, the reader's own included.
        """
        documents = Documents(
            tuple(self._ids),
            tuple(self._texts),
            Intervals.of(self._tokens) if any(self._tokens) else None,
            Intervals.of(self._sentences) if any(self._sentences) else None,
            tuple(self._meta) if any(self._meta) else None,
            self.named,
        )
        problems = [*self.problems, *document_problems(documents, self._places.__getitem__)]
        return layer(
            name,
            documents,
            self._doc,
            self._start,
            self._end,
            self._label,
            quotes=self._quotes,
            extras=self._extras,
            where=self._span_places.__getitem__,
            problems=problems,
        )


def document_problems(documents: Documents, where: Callable[[int], Place]) -> Iterable[Problem]:
    """Yield what is wrong with ids, texts, tokens and sentences."""
    yield from _name_problems(documents, where)
    for what, intervals in (("token", documents.tokens), ("sentence", documents.sentences)):
        if intervals is None or intervals.fill(documents.lengths):
            continue
        doc = np.repeat(np.arange(len(documents)), np.diff(intervals.first))
        starts, ends = intervals.starts.astype(np.int64), intervals.ends.astype(np.int64)
        bad = (starts < 0) | (starts >= ends) | (ends > documents.lengths[doc])
        bad[1:] |= (doc[1:] == doc[:-1]) & (starts[1:] < ends[:-1])
        for i in np.flatnonzero(bad).tolist():
            length = documents.lengths[doc[i]]
            yield Problem(
                *where(int(doc[i])),
                f"{what} [{starts[i]}, {ends[i]}) of document {quoted(documents.ids[doc[i]])} (length {length}) is "
                "outside the text, empty or not after the one before it",
                f"give each {what} as [start, end) in code points, in order, 0 <= start < end <= {length}",
            )


def _name_problems(documents: Documents, where: Callable[[int], Place]) -> Iterable[Problem]:
    """Yield what is wrong with ids, and with texts that are no text."""
    decoded = isinstance(documents.texts, Texts)
    texts = () if decoded else documents.texts
    if len(set(documents.ids)) == len(documents.ids) and all(documents.ids):
        sound = _encodable("".join(documents.ids)) and all(map(_encodable, texts))
        if sound:
            return
    seen: dict[str, int] = {}
    for number, name in enumerate(documents.ids):
        if name in seen:
            source, line = where(seen[name])
            first = f"{source}:{line}" if line else source
            yield Problem(
                *where(number), f"document id {quoted(name)} stands at {first} already", "give each document its own id"
            )
        seen.setdefault(name, number)
        if not name:
            yield Problem(*where(number), "a document without an id", "give each document an id")
        if not _encodable(name) or not (decoded or _encodable(texts[number])):
            yield Problem(
                *where(number), f"document {quoted(name)} holds half a surrogate pair", "write the text as valid UTF-8"
            )


def layer(
    name: str,
    documents: Documents,
    doc: Sequence[int] | NDArray[np.integer[Any]],
    start: Sequence[int] | NDArray[np.integer[Any]],
    end: Sequence[int] | NDArray[np.integer[Any]],
    label: Sequence[str],
    *,
    quotes: Mapping[int, str] | None = None,
    extras: Mapping[str, Mapping[int, Any]] | None = None,
    where: Callable[[int], Place] | None = None,
    problems: Iterable[Problem] = (),
) -> Layer:
    """Check the spans and return them as a sorted layer: the one way in for every reader.

    Offsets are code points, end exclusive; `extras` maps each of SPAN_KEYS to values by span; `where` says at which
    line a span stands. `label` may be Labels, which spares a reader of columns the strings.

    Raises:
        FormatError: offsets outside the text, start >= end, fragments not sorted and disjoint or not spanning the
            span, a quote that differs from the text, a core outside its span, an empty type, a bad number or link.
    """
    found = list(problems)
    where = where or (lambda span: (name, None))
    more = {key: dict((extras or {}).get(key, {})) for key in SPAN_KEYS}
    texts, ids = documents.texts, documents.ids
    docs = np.asarray(doc, np.int64).reshape(-1)
    lengths = documents.lengths[docs] if len(docs) else np.zeros(0, np.int64)
    starts, ends = _offsets(start), _offsets(end)

    bad = (starts < 0) | (starts >= ends) | (ends > lengths)
    found.extend(
        Problem(
            *where(i),
            f"span [{start[i]}, {end[i]}) of document {quoted(ids[docs[i]])} is not inside its text of "
            f"{counted(lengths[i], 'character')}",
            f"use code points with 0 <= start < end <= {lengths[i]}",
        )
        for i in np.flatnonzero(bad).tolist()
    )
    labels = Labels.of(label)
    unusable = [code for code, value in enumerate(labels.names) if not value or not _encodable(value)]
    found.extend(
        Problem(*where(i), "a span without a usable type", "give it a type name")
        for i in (np.flatnonzero(np.isin(labels.codes, unusable)).tolist() if unusable else ())
    )

    def text_of(span: int) -> str:
        parts = more["fragments"].get(span) or ((starts[span], ends[span]),)
        return " ".join(texts[docs[span]][a:b] for a, b in parts)

    for i, parts in more["fragments"].items():
        if not bad[i]:
            found.extend(_fragment_problems(parts, int(starts[i]), int(ends[i]), where(i)))
    # One fragment over the whole span says nothing more than the span.
    more["fragments"] = {i: tuple(map(tuple, parts)) for i, parts in more["fragments"].items() if len(parts) > 1}
    for i, quote in (quotes or {}).items():
        if not bad[i] and text_of(i) != quote:
            here, there = quoted_apart(quote, text_of(i))
            found.append(
                Problem(
                    *where(i),
                    f"the quoted text {here} is not the text at [{starts[i]}, {ends[i]}), {there}",
                    "check offsets (code points, end exclusive), line ends and text version",
                )
            )
    for i, core in more["cores"].items():
        if not bad[i] and not starts[i] <= core[0] < core[1] <= ends[i]:
            found.append(
                Problem(
                    *where(i),
                    f"core {list(core)} is not inside its span [{starts[i]}, {ends[i]})",
                    "give the core as [start, end) in the document",
                )
            )
    for i, others in more["alternatives"].items():
        for low, high in others:
            if not 0 <= low < high <= lengths[i]:
                found.append(
                    Problem(
                        *where(i),
                        f"alternative [{low}, {high}) is not inside the text of {counted(lengths[i], 'character')}",
                        "give alternatives as [start, end) in the document",
                    )
                )
    for i, value in more["scores"].items():
        if not isfinite(value):
            found.append(Problem(*where(i), f"score {value} is not a finite number", "give a number or leave it out"))
    # Few links are wrong, and many are alike.
    wrong_links = {one for one in set(more["links"].values()) if not (all(one) and all(map(_encodable, one)))}
    for i, links in more["links"].items() if wrong_links else ():
        if links in wrong_links:
            found.append(
                Problem(*where(i), "an empty or unreadable concept id", "leave the link out or name a concept")
            )
    if found:
        raise FormatError(found)

    coded, types = labels.sorted()
    if len(types) > np.iinfo(np.int16).max:
        raise FormatError.single(name, None, f"{len(types)} types", "at most 32,767 types can be told apart")
    codes = coded.astype(np.int16)
    order = _sorted(docs, starts, ends, codes, more["fragments"])
    if order is not None:
        docs, starts, ends, codes = docs[order], starts[order], ends[order], codes[order]
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        more = {key: {int(place[i]): value for i, value in extra.items()} for key, extra in more.items()}
    return Layer(
        name,
        documents,
        frozen(docs.astype(np.int32)),
        frozen(starts.astype(np.int32)),
        frozen(ends.astype(np.int32)),
        frozen(codes),
        types,
        None if order is None else frozen(order.astype(np.int32)),
        **{key: MappingProxyType(extra) for key, extra in more.items()},
    )


def _offsets(values: Sequence[int] | NDArray[np.integer[Any]]) -> Int64:
    """Return offsets as int64, numbers beyond any text clipped so that they are refused as outside."""
    limit = 2**40
    try:
        return np.asarray(values, np.int64).reshape(-1)
    except OverflowError:
        return np.array([max(-limit, min(limit, int(value))) for value in values], np.int64)


def _fragment_problems(parts: Sequence[Sequence[int]], start: int, end: int, place: Place) -> Iterable[Problem]:
    flat = [edge for part in parts for edge in part]
    # Fragments that touch are kept: they are how some tools write a line break inside a span.
    fine = all(a < b for a, b in parts) and all(one[1] <= two[0] for one, two in pairwise(parts))
    if not fine or (flat and (flat[0] != start or flat[-1] != end)):
        yield Problem(
            *place,
            f"fragments {[list(part) for part in parts]} of span [{start}, {end})",
            "give them sorted, disjoint and together reaching from the span's start to its end",
        )


def _sorted(
    docs: Array, starts: Array, ends: Array, codes: NDArray[np.int16], parts: Mapping[int, Any]
) -> Int64 | None:
    """Return the stable order by document, start, end, type and fragments, or None where it is the present one."""
    if len(docs) < 2:
        return None
    up = np.zeros(len(docs) - 1, bool)
    tie = np.ones(len(docs) - 1, bool)
    for column in (docs, starts, ends, codes):
        up |= tie & (column[:-1] < column[1:])
        tie &= column[:-1] == column[1:]
    if not parts and bool(np.all(up | tie)):
        return None
    keys: list[NDArray[Any]] = [codes, ends, starts, docs]
    if parts:
        # A continuous span sorts before a discontinuous one of the same hull.
        distinct = {value: rank for rank, value in enumerate(sorted(set(parts.values())), start=1)}
        ranks = np.zeros(len(docs), np.int64)
        for span, value in parts.items():
            ranks[span] = distinct[value]
        keys.insert(0, ranks)
    order = np.lexsort(keys).astype(np.int64)
    return None if bool(np.all(order == np.arange(len(order)))) else order


def _encodable(text: str) -> bool:
    # isascii is a flag of the string: the encoder runs only where it must.
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def frozen(array: Array) -> Array:
    """Return the array, which can no longer be written into."""
    array.setflags(write=False)
    return array
