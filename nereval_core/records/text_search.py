"""The texts of a layer's spans as one row of bytes: how many words each has, and which of them hold what is sought.

A search has terms: words, whatever their case, or one regular expression between slashes, in the syntax of RE2, which
takes time that grows with the text alone (https://github.com/google/re2/wiki/Syntax). One with an anchor, such as `^`,
is about the spans: it is not searched for in the text around them, whose cuts are ours.
"""

from __future__ import annotations

import re
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
from nereval_core.problems import one_line
from nereval_core.records.queries import MANY_WORDS

_PIECE = 50_000
"""Spans whose texts are looked at together."""
_BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_WORDS: WeakKeyDictionary[Layer, NDArray[np.uint8]] = WeakKeyDictionary()
_SOUGHT: WeakKeyDictionary[Layer | Documents, dict[tuple[bool, bool], Sought]] = WeakKeyDictionary()
_ANCHOR = re.compile(r"(?<![\[\\])\^|(?<!\\)\$|\\[Az]")
AROUND = 60
"""Characters on either side of a span that a search looks at."""
MOST_AROUND = 300_000
"""Spans of a layer up to which the text around them is searched."""


def search_terms(text: str) -> tuple[str, ...]:
    """Return the terms of a search: its words without case, or the regular expression that it is as a whole."""
    return (text.strip(),) if is_regex(text.strip()) else tuple(text.casefold().split())


def is_regex(term: str) -> bool:
    """Tell whether a term is a regular expression: it stands between slashes."""
    return len(term) > 2 and term[0] == term[-1] == "/"


def is_anchored(term: str) -> bool:
    """Tell whether a term is a regular expression that asks for the beginning or the end of a text."""
    return is_regex(term) and _ANCHOR.search(term[1:-1]) is not None


def regex_problem(text: str) -> str:
    """Return why the regular expression of a search is not one, "" where it is or where there is none."""
    if not is_regex(text.strip()):
        return ""
    # It takes longer to import than most searches take.
    import pyarrow as pa
    from pyarrow.compute import match_substring_regex

    try:
        match_substring_regex(pa.array([""]), text.strip()[1:-1])
    except pa.ArrowInvalid as error:
        return one_line(str(error).removeprefix("Invalid regular expression: "))
    return ""


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
    """Texts, mostly without their case, as UTF-8 in a row: text i is `data[offsets[i]:offsets[i + 1]]`."""

    data: NDArray[np.uint8]
    offsets: Int64

    @classmethod
    def of(cls, texts: Iterable[str], *, cased: bool = False) -> Sought:
        """Return texts without their case, or `cased` as they are."""
        pieces: list[bytes] = []
        sizes: list[NDArray[np.int64]] = []
        source = iter(texts)
        while piece := [(text if cased else text.casefold()).encode() for text in islice(source, _PIECE)]:
            pieces.append(b"".join(piece))
            sizes.append(np.fromiter(map(len, piece), np.int64, len(piece)))
        offsets = edges_of(np.concatenate(sizes or [np.zeros(0, np.int64)]))
        return cls(np.frombuffer(b"".join(pieces), np.uint8), frozen(offsets))

    def matching(self, regex: str) -> NDArray[np.bool_]:
        """Tell in which texts a regular expression is found; in none where it is not valid."""
        import pyarrow as pa
        from pyarrow.compute import match_substring_regex

        offsets, data = map(pa.py_buffer, (np.ascontiguousarray(self.offsets), np.ascontiguousarray(self.data)))
        texts = pa.LargeStringArray.from_buffers(len(self.offsets) - 1, offsets, data)
        try:
            return np.asarray(match_substring_regex(texts, regex).to_numpy(zero_copy_only=False), bool)
        except pa.ArrowInvalid:
            return np.zeros(len(self.offsets) - 1, bool)

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


def having_term(layer: Layer, term: str) -> NDArray[np.bool_]:
    """Tell which spans of a layer have a term in their texts or, in layers up to MOST_AROUND, around them."""
    has_term = _having(layer, term, around=False)
    if len(layer) <= MOST_AROUND and layer.documents.sizes is None and not is_anchored(term):
        has_term |= _having(layer, term, around=True)
    return has_term


def _having(layer: Layer, term: str, *, around: bool) -> NDArray[np.bool_]:
    if is_regex(term):
        return sought_in(layer, around=around, cased=True).matching(term[1:-1])
    return sought_in(layer, around=around).holding(term)


def sought_in(layer: Layer, *, around: bool = False, cased: bool = False) -> Sought:
    """Return the texts of a layer's spans, or those around them, to search in, made once."""
    cached = _SOUGHT.setdefault(layer, {})
    if (around, cased) not in cached:
        cached[around, cased] = Sought.of(texts_around(layer) if around else span_texts(layer), cased=cased)
    return cached[around, cased]


def texts_around(layer: Layer) -> Iterator[str]:
    """Yield each span with AROUND characters of text on either side, in order; each text is fetched once."""
    texts, first = layer.documents.texts, layer.first
    starts, ends = layer.start.tolist(), layer.end.tolist()
    for document in np.flatnonzero(np.diff(first)).tolist():
        text = texts[document]
        for span in range(int(first[document]), int(first[document + 1])):
            yield text[max(0, starts[span] - AROUND) : ends[span] + AROUND]


def ids_having_term(documents: Documents, term: str) -> NDArray[np.bool_]:
    """Tell which documents have a term in their ids."""
    if is_regex(term):
        return Sought.of(documents.ids, cased=True).matching(term[1:-1])
    return sought_in_ids(documents).holding(term)


def sought_in_ids(documents: Documents) -> Sought:
    """Return the ids of documents to search in, made once."""
    cached = _SOUGHT.setdefault(documents, {})
    if (False, False) not in cached:
        cached[False, False] = Sought.of(documents.ids)
    return cached[False, False]
