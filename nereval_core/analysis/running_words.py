"""The running words of texts as numbers, by which surface forms are compared and searched.

A word is a run of letters, digits and `_` with their combining marks. Every other character except white space is a
word of its own, and so is every letter of a script that puts no blanks between words (Chinese, Japanese, Thai, Lao,
Burmese, Khmer, but not Korean, whose particles are part of the word). Direction marks and zero-width blanks separate
words like white space. Words are equal if they are equal without case, in Unicode's composed form.
"""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.corpus import Documents, frozen
from nereval_core.corpus.arrays import Bools, Int32, Int64
from nereval_core.corpus.texts import Texts

Codes = NDArray[np.integer[Any]]
More = Callable[[Int64, Int64], Sequence[str]]

_BLANK, _WORD, _SINGLE, _OTHER, _JOINED = range(5)
_PIECE = 1 << 19
"""Characters processed together."""
_LONG = 200
"""Longer words are hashed by a digest, as very long words with equal sums of powers could be constructed."""
_BASE = 0x9E3779B97F4A7C15
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "MYANMAR", "KHMER", "BOPOMOFO", "YI ", "TANGUT", "NUSHU")
"""Beginnings of the Unicode names of letters in scripts that put no blanks between words."""
_JOINERS = "\u00ad\u200c\u200d\u2060"
"""Zero-width characters that belong to words."""


@dataclass(frozen=True, eq=False)
class RunningWords:
    """The words of all texts in order: those of text d have the numbers `first[d]` to `first[d + 1]`.

    `start` and `end` are code points from the beginning of all texts. `code` (words,) are indices into `names`, the
    distinct words without case; `spelt` (words,) are the same for equal words with case; `glued` tells which words
    follow no blank, `opens` which are the first of their text.
    """

    first: Int64
    start: Int64
    end: Int64
    code: Int32
    spelt: Int32
    names: tuple[str, ...]
    glued: Bools
    opens: Bools

    def __len__(self) -> int:
        return len(self.code)

    @cached_property
    def steps(self) -> Int64:
        """The key of a word after another: twice its code, plus one where it is glued, shape (words,)."""
        return frozen(self.code.astype(np.int64) * 2 + self.glued)

    @cached_property
    def lettered(self) -> Bools:
        """The `names` that contain a letter."""
        return frozen(np.fromiter((any(map(str.isalpha, name)) for name in self.names), bool, len(self.names)))

    @cached_property
    def bare(self) -> Bools:
        """The `names` without a letter, or of one letter or digit of a script that puts blanks between words."""
        return frozen(
            np.fromiter(
                (len(name) == 1 and _character_kind(name) != _SINGLE for name in self.names), bool, len(self.names)
            )
            | ~self.lettered
        )

    @cached_property
    def punctuation(self) -> Bools:
        """The `names` that are punctuation."""
        marks = (unicodedata.category(name[0]).startswith("P") and name[0] != "_" for name in self.names)
        return frozen(np.fromiter(marks, bool, len(self.names)))


def form_of(text: str) -> str:
    """Return the surface form of a text: without case, in composed form, with one blank for each run of white space.

    Two texts have the same form if and only if their words are equal and are glued together in the same places.
    """
    return fold(" ".join(_blank_separators(text).split()))


def spelling_of(text: str) -> str:
    """Return the surface form of a text with case."""
    return composed(" ".join(_blank_separators(text).split()))


def _blank_separators(text: str) -> str:
    return text if text.isascii() else "".join(" " if _character_kind(char) == _BLANK else char for char in text)


def fold(text: str) -> str:
    """Return a text without case, in Unicode's composed form."""
    return composed(text.casefold())


def composed(text: str) -> str:
    """Return a text in Unicode's composed form."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def words_of(documents: Documents, more: More | None = None) -> RunningWords:
    """Return the words of all documents.

    `more` gets their starts and ends and returns further texts, whose words follow those of the documents.
    """
    texts = documents.texts
    lengths = documents.lengths
    rows = _word_rows(texts, lengths, documents.base)
    extra: Sequence[str] = ()
    if more is not None:
        extra = more(np.concatenate([row[0] for row in rows]), np.concatenate([row[1] for row in rows]))
    lengths = np.concatenate((lengths, np.fromiter(map(len, extra), np.int64, len(extra))))
    base = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    n_documents = len(documents)
    rows += _word_rows(extra, lengths[n_documents:], base[n_documents:])
    start, end, hashed, glued = (np.concatenate(column) for column in zip(*rows, strict=True))
    first = np.searchsorted(start, base).astype(np.int64)
    opens = np.zeros(len(start), bool)
    opens[first[:-1][np.diff(first) > 0]] = True
    # With hashes of 64 bits, the probability that any two of ten million distinct words collide is 1 in 300,000.
    raw, distinct = pd.factorize(hashed)
    first_word = np.empty(len(distinct), np.int64)
    first_word[raw[::-1]] = np.arange(len(raw))[::-1]
    number: dict[str, int] = {}
    spellings: dict[str, int] = {}
    folded, spelt = np.empty((2, len(distinct)), np.int32)
    text, last = "", -1
    document = np.searchsorted(first, first_word, side="right") - 1
    columns = (document, start[first_word] - base[document], end[first_word] - base[document])
    for place, (doc, low, high) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        if doc != last:
            last, text = doc, texts[doc] if doc < n_documents else extra[doc - n_documents]
        folded[place] = number.setdefault(fold(text[low:high]), len(number))
        spelt[place] = spellings.setdefault(composed(text[low:high]), len(spellings))
    return RunningWords(
        frozen(first),
        frozen(start),
        frozen(end),
        frozen(folded[raw]),
        frozen(spelt[raw]),
        tuple(number),
        frozen(glued),
        frozen(opens),
    )


Row = tuple[Int64, Int64, NDArray[np.uint64], Bools]
"""Start, end and hash of words, and the mask of those glued to the word before."""


def _word_rows(texts: Sequence[str], lengths: Int64, base: Int64) -> list[Row]:
    nothing = np.zeros(0, np.int64)
    rows: list[Row] = [(nothing, nothing, nothing.astype(np.uint64), nothing.astype(bool))]
    return rows + [
        _words_in(code, begin, int(base[at])) for at, begin, code in _consecutive_texts(texts, lengths) if len(code)
    ]


def _consecutive_texts(texts: Sequence[str], lengths: Int64) -> Iterator[tuple[int, Int64, Codes]]:
    """Yield consecutive texts: the number of the first, the beginning of each, and all their characters as codes."""
    reached = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    at = 0
    while at < len(lengths):
        stop = max(at + 1, int(np.searchsorted(reached, reached[at] + _PIECE, side="right")) - 1)
        begin = reached[at:stop] - reached[at]
        size = int(reached[stop] - reached[at])
        if isinstance(texts, Texts) and int(texts.offsets[stop] - texts.offsets[at]) == size:
            yield at, begin, texts.data[int(texts.offsets[at]) : int(texts.offsets[stop])]
        else:
            joined = "".join(texts[number] for number in range(at, stop))
            yield at, begin, np.frombuffer(joined.encode("utf-32-le"), np.uint32)
        at = stop


def _words_in(code: Codes, begin: Int64, base: int) -> Row:
    """Return the words in characters that are consecutive texts, which begin at `begin`."""
    kind = _character_kinds(max(int(code.max()).bit_length(), 8))[code]
    begins = np.zeros(len(code) + 1, bool)
    begins[begin[begin < len(code)]] = True
    joined = kind == _JOINED
    if joined.any():
        kind = _carry_marks(kind, joined, begins[:-1])
    blank = kind == _BLANK
    goes_on = np.zeros(len(code) + 1, bool)
    goes_on[1:-1] = (kind[1:] == _WORD) & (kind[:-1] == _WORD) | joined[1:] & ~blank[:-1]
    goes_on &= ~begins
    start = np.flatnonzero(~blank & ~goes_on[:-1])
    end = np.flatnonzero(~blank & ~goes_on[1:]) + 1
    glued = ~begins[start]
    glued[glued] = ~blank[start[glued] - 1]
    return start + base, end + base, _word_hashes(code, start, end), glued


def _carry_marks(kind: NDArray[np.uint8], joined: Bools, begins: Bools) -> NDArray[np.uint8]:
    """Return the kinds of characters, where marks have that of their base character, or of a letter without one."""
    base = np.where(joined & ~begins, 0, np.arange(len(kind)))
    kind = kind[np.maximum.accumulate(base)]
    return np.where(joined & ((kind == _BLANK) | (kind == _JOINED)), np.uint8(_WORD), kind)


def _word_hashes(code: Codes, start: Int64, end: Int64) -> NDArray[np.uint64]:
    """Return a hash of each word: the sum of its characters times powers of a base, counted from the word's start."""
    up, down = _powers_of_base()
    hashes = np.empty(len(start), np.uint64)
    # A single text may be longer than a piece.
    for low in range(0, len(code), _PIECE):
        in_piece = slice(*np.searchsorted(start, (low, low + _PIECE)).tolist())
        piece = code[low : low + len(up)]
        sums = np.zeros(len(piece) + 1, np.uint64)
        np.cumsum((piece.astype(np.uint64) + np.uint64(1)) * up[: len(piece)], out=sums[1:])
        begin = start[in_piece] - low
        hashes[in_piece] = (sums[np.minimum(end[in_piece] - low, len(piece))] - sums[begin]) * down[begin]
    hashes ^= hashes >> np.uint64(32)
    for word in np.flatnonzero(end - start > _LONG).tolist():
        letters = code[start[word] : end[word]].astype(np.uint32).tobytes()
        hashes[word] = int.from_bytes(hashlib.blake2b(letters, digest_size=8).digest(), "little")
    return hashes


@cache
def _powers_of_base() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the powers of the base modulo 2 to the power of 64, and their inverses."""
    tables = []
    for base in (_BASE, pow(_BASE, -1, 1 << 64)):
        table = np.full(_PIECE + _LONG, base, np.uint64)
        table[0] = 1
        tables.append(frozen(np.cumprod(table)))
    return tables[0], tables[1]


@cache
def _character_kinds(bits: int) -> NDArray[np.uint8]:
    """Return the kind of every character with a code below 2 to the power of `bits`."""
    size = min(1 << bits, sys.maxunicode + 1)
    return frozen(np.fromiter((_character_kind(chr(code)) for code in range(size)), np.uint8, size))


def _character_kind(char: str) -> int:
    if char.isspace():
        return _BLANK
    if char in _JOINERS:
        return _JOINED
    category = unicodedata.category(char)
    if category == "Cf":
        return _BLANK
    if category[0] == "M" or "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7ff":
        return _JOINED
    if not (char.isalnum() or char == "_"):
        return _OTHER
    if char < "\u0e00" or not category.startswith("L"):
        return _WORD
    return _SINGLE if unicodedata.name(char, "").startswith(_UNSPACED) else _WORD
