"""The documents of a corpus: ids and texts with their tokens, sentences and metadata, and the checks of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from nereval_core.corpus.arrays import Int64, edges_of, frozen
from nereval_core.corpus.digest import Hashes, combined, document_hashes
from nereval_core.corpus.intervals import Intervals
from nereval_core.corpus.texts import Texts
from nereval_core.problems import Problem, quoted

Unit = Literal["document", "sentence"]
"""The kind of text that each document is: a sentence where the source marks no documents."""
Place = tuple[str, int | None]
"""A source and a line in it, None for the whole source."""


@dataclass(frozen=True, eq=False)
class Documents:
    """Texts with their ids and, where known, tokens, sentences and metadata.

    `texts`, and the `ids` of a scored folder, are strings or `Texts`, which holds many as bytes. `named` is False where
    the source had no ids and the reader numbered the documents. `sizes` is None, except for spans that were read
    without texts: then all texts are empty, `sizes` holds the length that each document is assumed to have, and nothing
    that looks at words can be computed. A caller that knows the `hashes` can spare computing them; copies made by
    `replace` have their own.
    """

    ids: Sequence[str]
    texts: Sequence[str]
    tokens: Intervals | None = None
    sentences: Intervals | None = None
    meta: Sequence[Mapping[str, Any]] | None = None
    named: bool = True
    sizes: Int64 | None = None
    unit: Unit = "document"
    stored_hashes: InitVar[Hashes | None] = None

    def __post_init__(self, stored_hashes: Hashes | None) -> None:
        if stored_hashes is not None:
            object.__setattr__(self, "hashes", stored_hashes)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<{len(self):,} documents, {int(self.lengths.sum()):,} characters>"

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
        """Start of each document in the concatenation of all texts, and the end, shape (documents + 1,)."""
        return frozen(edges_of(self.lengths))

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Number of each document by its id."""
        return MappingProxyType({name: number for number, name in enumerate(self.ids)})

    @cached_property
    def hashes(self) -> Hashes:
        """SHA-256 of each document's id and text, shape (documents, 32): see `digest.document_hashes`."""
        return document_hashes(self.ids, self.texts)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of ids and texts, independent of the order of the documents."""
        return combined("documents", self.hashes)


def document_problems(documents: Documents, where: Callable[[int], Place]) -> Iterable[Problem]:
    """Yield the problems of ids, texts, tokens and sentences; `where` gives the place of a document by its number."""
    yield from _name_problems(documents, where)
    for what, intervals in (("token", documents.tokens), ("sentence", documents.sentences)):
        if intervals is None or intervals.tile_texts(documents.lengths):
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
                "outside the text, empty or out of order",
                f"give [start, end) in code points, 0 <= start < end <= {length}, one after the other",
            )


def _name_problems(documents: Documents, where: Callable[[int], Place]) -> Iterable[Problem]:
    """Yield missing and repeated ids, and ids and texts that UTF-8 cannot encode."""
    decoded = isinstance(documents.texts, Texts)
    texts = () if decoded else documents.texts
    distinct = len(set(documents.ids)) == len(documents.ids) and all(documents.ids)
    if distinct and encodable("".join(documents.ids)) and all(map(encodable, texts)):
        return
    first_by_name: dict[str, int] = {}
    for number, name in enumerate(documents.ids):
        if name in first_by_name:
            source, line = where(first_by_name[name])
            first = f"{source}:{line}" if line else source
            yield Problem(
                *where(number), f"document id {quoted(name)} stands at {first} already", "give each document its own id"
            )
        first_by_name.setdefault(name, number)
        if not name:
            yield Problem(*where(number), "a document without an id", "give each document an id")
        if not encodable(name) or not (decoded or encodable(texts[number])):
            yield Problem(
                *where(number), f"document {quoted(name)} holds half a surrogate pair", "write the text as valid UTF-8"
            )


def encodable(text: str) -> bool:
    """Tell whether UTF-8 can encode a text: it holds no half of a surrogate pair."""
    # isascii is a flag of the string: the encoder runs only where it must.
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
