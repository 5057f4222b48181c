"""The texts of a layer's spans as one row of bytes: how many words each has, and which of them hold a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Layer, frozen
from nereval_core.corpus.arrays import Int64, edges_of
from nereval_core.corpus.texts import Texts
from nereval_core.records.queries import MANY_WORDS

_PIECE = 50_000
"""Spans whose texts are looked at together."""
_BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_WORDS: WeakKeyDictionary[Layer, NDArray[np.uint8]] = WeakKeyDictionary()
_SOUGHT: WeakKeyDictionary[Layer | Documents, Sought] = WeakKeyDictionary()


def span_texts(layer: Layer) -> Iterator[str]:
    """Yield the text of each span in order, fragments joined by one space; each document's text is fetched once."""
    texts, fragments = layer.documents.texts, layer.fragments
    first = layer.first
    starts, ends = layer.start.tolist(), layer.end.tolist()
    for document in np.flatnonzero(np.diff(first)).tolist():
        text = texts[document]
        low, high = int(first[document]), int(first[document + 1])
        if not fragments:
            yield from map(text.__getitem__, map(slice, starts[low:high], ends[low:high]))
            continue
        for span in range(low, high):
            parts = fragments.get(span)
            if parts is None:
                yield text[starts[span] : ends[span]]
            else:
                yield " ".join(text[low:high] for low, high in parts)


def words_of(layer: Layer) -> NDArray[np.uint8]:
    """Return how many words each span has, at least 1 and at most MANY_WORDS: runs of anything but white space."""
    if layer not in _WORDS:
        _WORDS[layer] = frozen(_words_of(layer))
    return _WORDS[layer]


def _words_of(layer: Layer) -> NDArray[np.uint8]:
    counts = np.ones(len(layer), np.uint8)
    codes = _bytes_of(layer) if _by_bytes(layer) else _codes_of(layer)
    for low, ends, code in codes:
        blank = _blank()[code if code.dtype == np.uint8 else np.minimum(code, np.uint32(0x3001))]
        opens = ~blank
        opens[1:] &= blank[:-1]
        # Where one text ends with a letter and the next begins with one, a word begins all the same.
        edges = ends[:-1][ends[:-1] < len(code)]
        opens[edges] = ~blank[edges]
        before = edges_of(opens)
        number = np.diff(before[np.concatenate((np.zeros(1, np.int64), ends))])
        counts[low : low + len(ends)] = np.clip(number, 1, MANY_WORDS)
    return counts


Piece = tuple[int, Int64, NDArray[Any]]
"""The first of some spans, where the text of each of them ends, and their characters in a row."""


def _codes_of(layer: Layer) -> Iterator[Piece]:
    texts = span_texts(layer)
    for low in range(0, len(layer), _PIECE):
        piece = list(islice(texts, _PIECE))
        ends = np.cumsum(np.fromiter(map(len, piece), np.int64, len(piece)))
        yield low, ends, np.frombuffer("".join(piece).encode("utf-32-le"), np.uint32)


def _by_bytes(layer: Layer) -> bool:
    """Tell whether a layer's spans can be cut out of the bytes of their texts: every character is one byte."""
    texts = layer.documents.texts
    return isinstance(texts, Texts) and not layer.fragments and int(texts.lengths.sum()) == len(texts.data)


def _bytes_of(layer: Layer) -> Iterator[Piece]:
    texts = layer.documents.texts
    assert isinstance(texts, Texts)
    for low in range(0, len(layer), _PIECE):
        piece = slice(low, low + _PIECE)
        size = (layer.end[piece] - layer.start[piece]).astype(np.int64)
        ends = np.cumsum(size)
        start = texts.offsets[layer.doc[piece]] + layer.start[piece]
        yield low, ends, texts.data[np.repeat(start - (ends - size), size) + np.arange(int(ends[-1]))]


@cache
def _blank() -> NDArray[np.bool_]:
    table = np.zeros(0x3002, bool)
    table[[ord(char) for char in _BLANKS]] = True
    return frozen(table)


@dataclass(frozen=True, eq=False)
class Sought:
    """Texts without their case, as UTF-8 in a row: text i is `data[offsets[i]:offsets[i + 1]]`."""

    data: NDArray[np.uint8]
    offsets: Int64

    @classmethod
    def of(cls, texts: Iterable[str]) -> Sought:
        pieces: list[bytes] = []
        sizes: list[NDArray[np.int64]] = []
        source = iter(texts)
        while piece := [text.casefold().encode() for text in islice(source, _PIECE)]:
            pieces.append(b"".join(piece))
            sizes.append(np.fromiter(map(len, piece), np.int64, len(piece)))
        offsets = edges_of(np.concatenate(sizes or [np.zeros(0, np.int64)]))
        return cls(np.frombuffer(b"".join(pieces), np.uint8), frozen(offsets))

    def holding(self, word: str) -> NDArray[np.bool_]:
        """Tell which texts hold a word (not empty), whatever its case."""
        needle = word.casefold().encode()
        has_word = np.zeros(len(self.offsets) - 1, bool)
        if len(self.data) < len(needle):
            return has_word
        # No character's bytes lie inside those of another: a match begins and ends between characters.
        at = np.flatnonzero(self.data[: len(self.data) - len(needle) + 1] == needle[0])
        for place, byte in enumerate(needle[1:], start=1):
            at = at[self.data[at + place] == byte]
        text = np.searchsorted(self.offsets, at, side="right") - 1
        has_word[text[at + len(needle) <= self.offsets[text + 1]]] = True
        return has_word

    def ranks(self) -> Int64:
        """Return the place of each text among the distinct ones, sorted by code points."""
        raw, edges = self.data.tobytes(), self.offsets.tolist()
        texts = [raw[low:high] for low, high in pairwise(edges)]
        # In UTF-8 the order of bytes is that of code points.
        rank = {text: number for number, text in enumerate(sorted(set(texts)))}
        return np.fromiter((rank[text] for text in texts), np.int64, len(texts))


def sought_in(layer: Layer) -> Sought:
    """Return the texts of a layer's spans to search in, made once."""
    if layer not in _SOUGHT:
        _SOUGHT[layer] = Sought.of(span_texts(layer))
    return _SOUGHT[layer]


def sought_in_ids(documents: Documents) -> Sought:
    """Return the ids of documents to search in, made once."""
    if documents not in _SOUGHT:
        _SOUGHT[documents] = Sought.of(documents.ids)
    return _SOUGHT[documents]
