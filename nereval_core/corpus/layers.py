"""Layers: the spans of one side over documents, in frozen columns.

Offsets are code points, 0-based, end exclusive. Spans are sorted by document, start, end, type and fragments; `order`
holds the order in which they were read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus.arrays import Array, Bools, Int32, Int64, frozen
from nereval_core.corpus.digest import Hashes, combined, span_hashes
from nereval_core.corpus.documents import Documents
from nereval_core.corpus.intervals import Integers

Fragments = tuple[tuple[int, int], ...]


SPAN_KEYS = ("fragments", "ids", "links", "cores", "alternatives", "scores", "meta")


@dataclass(frozen=True, eq=False)
class Layer:
    """The spans of one annotator or system, sorted by document, start, end, type and fragments.

    `doc`, `start`, `end` (int32) and `type` (int16, index into the sorted `types`) have shape (spans,). The mappings
    hold, by span, properties that only some spans have. `order` is the position at which each span was read (with gaps
    where spans were removed), None if that is its index. A caller that knows the `digest` can spare computing it;
    copies made by `replace` have their own.
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
    stored_digest: InitVar[str | None] = None

    def __post_init__(self, stored_digest: str | None) -> None:
        if stored_digest is not None:
            object.__setattr__(self, "digest", stored_digest)

    def __len__(self) -> int:
        return len(self.doc)

    def __repr__(self) -> str:
        return f"<layer {self.name!r}: {len(self):,} spans of {len(self.types):,} types in {self.documents!r}>"

    @cached_property
    def first(self) -> Int64:
        """Index of each document's first span, shape (documents + 1,)."""
        return np.searchsorted(self.doc, np.arange(len(self.documents) + 1)).astype(np.int64)

    @cached_property
    def unplaced(self) -> Bools:
        """Spans whose words stand nowhere in the text: they are empty and stand at its end, shape (spans,)."""
        return np.equal(self.start, self.end)

    def text(self, span: int) -> str:
        """Return the covered text, fragments joined by one space; of a span without a place its words."""
        if self.unplaced[span]:
            return str(self.meta[span]["mention"])
        text = self.documents.texts[self.doc[span]]
        return " ".join(text[start:end] for start, end in self.parts(span))

    def parts(self, span: int) -> Fragments:
        """Return the fragments of a span, which is one where it is continuous."""
        return self.fragments.get(span) or ((int(self.start[span]), int(self.end[span])),)

    def label(self, span: int) -> str:
        """Return the type of a span by name."""
        return self.types[int(self.type[span])]

    def type_codes(self, types: tuple[str, ...]) -> NDArray[Any]:
        """Return the types of spans as indices into `types`, which are sorted and hold those of the layer."""
        if self.types == types:
            return self.type
        place = {kind: code for code, kind in enumerate(types)}
        # Both sides together may have more types than int16 can number.
        kind_of = np.int16 if len(types) <= np.iinfo(np.int16).max else np.int32
        return np.array([place[kind] for kind in self.types], kind_of)[self.type]

    @cached_property
    def duplicates(self) -> Int64:
        """Spans that repeat the one before them: same document, boundaries, fragments and type."""
        if len(self) < 2:
            return np.zeros(0, np.int64)
        same = np.ones(len(self) - 1, bool)
        for column in (self.doc, self.start, self.end, self.type):
            same &= column[1:] == column[:-1]
        repeated = np.flatnonzero(same) + 1
        if self.fragments:
            get = self.fragments.get
            repeated = repeated[[get(i) == get(i - 1) for i in repeated.tolist()]]
        return repeated

    @cached_property
    def hashes(self) -> Hashes:
        """SHA-256 of each document with its spans, shape (documents, 32): see `digest.span_hashes`."""
        extras = [getattr(self, key) for key in ("fragments", "links", "cores", "alternatives", "scores")]
        more = {span: [extra.get(span) for extra in extras] for extra in extras for span in extra}
        return span_hashes(self.documents.hashes, self.first, self.start, self.end, self.type, self.types, more)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the texts and the sorted spans, independent of file names and of reading order."""
        return combined("layer", self.hashes)

    def renamed(self, name: str) -> Layer:
        return replace(self, name=name)

    def retyped(self, code: NDArray[np.int16], types: tuple[str, ...]) -> Layer:
        """Return the layer with other types: `code` by span, an index into the sorted `types`, or -1.

        Spans of equal boundaries are sorted by their new types.
        """
        order = span_order(self.doc, self.start, self.end, code, self.fragments)
        layer = replace(self, type=frozen(code), types=types)
        return layer if order is None else layer._reordered(order)

    def renumbered(self, doc: Integers) -> Layer:
        """Return the layer with these document numbers, sorted by them; spans of one document keep their order."""
        layer = replace(self, doc=frozen(doc.astype(np.int32)))
        return layer if bool(np.all(doc[1:] >= doc[:-1])) else layer._reordered(np.argsort(doc, kind="stable"))

    def _reordered(self, order: Int64) -> Layer:
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        extras: dict[str, Any] = {
            key: {int(number[i]): value for i, value in getattr(self, key).items()} for key in SPAN_KEYS
        }
        columns = {key: frozen(getattr(self, key)[order]) for key in ("doc", "start", "end", "type")}
        read = order if self.order is None else self.order[order]
        return replace(self, **columns, **extras, order=frozen(read.astype(np.int32)))

    def take(self, spans: Integers) -> Layer:
        """Return a layer of these spans alone (increasing indices)."""
        order = np.arange(len(self), dtype=np.int32) if self.order is None else self.order
        number = {int(old): new for new, old in enumerate(spans.tolist())}
        extras: dict[str, Any] = {
            key: {number[i]: value for i, value in getattr(self, key).items() if i in number} for key in SPAN_KEYS
        }
        columns = {key: frozen(getattr(self, key)[spans]) for key in ("doc", "start", "end", "type")}
        return replace(self, **columns, **extras, order=frozen(order[spans]))


@dataclass(frozen=True, eq=False)
class Labels(Sequence[str]):
    """The types of spans, coded: span i has the type `names[codes[i]]`; names are distinct, in any order."""

    codes: Integers
    names: tuple[str, ...]

    @classmethod
    def of(cls, label: Sequence[str]) -> Labels:
        """Return labels that are coded already, or are given as one string per span."""
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

    def sorted(self) -> tuple[Integers, tuple[str, ...]]:
        """Return the codes into the sorted names that spans have, and these names."""
        used = np.flatnonzero(np.bincount(self.codes, minlength=len(self.names))).tolist()
        order = sorted(used, key=self.names.__getitem__)
        number = np.zeros(len(self.names), np.int64)
        number[order] = np.arange(len(order))
        return number[self.codes], tuple(self.names[code] for code in order)


def span_order(
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
