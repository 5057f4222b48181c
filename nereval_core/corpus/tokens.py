"""The tokens of documents: their own, or words and single other characters where they have none."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Intervals, frozen
from nereval_core.corpus.arrays import Int64, edges_of
from nereval_core.corpus.digest import Hashes, combined, span_hashes
from nereval_core.problems import FormatError

WORD = re.compile(r"(\w+)|[^\w\s]")
"""A token of a document without tokens of its own: a run of word characters, or another character but white space."""

_BLANK, _WORD, _OTHER = 0, 1, 2
_BLOCK_CHARACTERS = 1 << 20
"""Characters whose tokens are found at once."""
_TOKENS: WeakKeyDictionary[Documents, Intervals] = WeakKeyDictionary()


def tokens_of(documents: Documents) -> Intervals:
    """Return the tokens of each document: its own, or those that WORD finds in its text.

    Raises:
        FormatError: there are neither tokens nor texts.
    """
    if documents not in _TOKENS:
        _TOKENS[documents] = _tokens_of(documents)
    return _TOKENS[documents]


def check_tokens(documents: Documents) -> None:
    """Refuse documents that have neither tokens nor texts.

    Raises:
        FormatError: there are neither tokens nor texts.
    """
    if documents.sizes is not None and documents.sizes[_without_tokens(documents)].any():
        raise FormatError.single("tokens", None, "there are no texts to find them in", "give the texts, or no tokens")


def remember_tokens(documents: Documents, tokens: Intervals) -> None:
    """Store the tokens that `tokens_of` returns, if they were found before and kept."""
    _TOKENS[documents] = tokens


def _tokens_of(documents: Documents) -> Intervals:
    check_tokens(documents)
    own, bare = documents.tokens, _without_tokens(documents)
    if own is not None and not len(bare):
        return own
    columns = _find_tokens(documents, bare)
    if own is not None:
        doc = np.repeat(np.arange(len(documents)), np.diff(own.first))
        own_columns = (doc, own.starts.astype(np.int64), own.ends.astype(np.int64))
        columns = tuple(np.concatenate(pair) for pair in zip(own_columns, columns, strict=True))
        columns = tuple(column[np.lexsort((columns[1], columns[0]))] for column in columns)
    doc, starts, ends = columns
    first = edges_of(np.bincount(doc, minlength=len(documents)))
    return Intervals(frozen(first), frozen(starts.astype(np.int32)), frozen(ends.astype(np.int32)))


def _without_tokens(documents: Documents) -> Int64:
    """Return the documents without tokens of their own."""
    return (
        np.arange(len(documents)) if documents.tokens is None else np.flatnonzero(np.diff(documents.tokens.first) == 0)
    )


def _find_tokens(documents: Documents, numbers: Int64) -> tuple[Int64, ...]:
    """Return document, start and end of the tokens that WORD finds in some documents' texts."""
    parts = [(np.zeros(0, np.int64),) * 3]
    lengths = np.cumsum(documents.lengths[numbers])
    at = 0
    while at < len(numbers):
        done = int(lengths[at - 1]) if at else 0
        stop = max(at + 1, int(np.searchsorted(lengths, done + _BLOCK_CHARACTERS, side="right")))
        block = numbers[at:stop]
        begin = np.concatenate((np.zeros(1, np.int64), lengths[at:stop] - done))
        text = "".join(documents.texts[number] for number in block.tolist())
        code = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        kind = _kinds(int(code.max(initial=0)).bit_length())[code]
        # A word ends at the end of its document.
        joined = np.zeros(len(code) + 1, bool)
        joined[1:-1] = (kind[1:] == _WORD) & (kind[:-1] == _WORD)
        joined[begin] = False
        start = np.flatnonzero((kind != _BLANK) & ~joined[:-1])
        end = np.flatnonzero((kind != _BLANK) & ~joined[1:]) + 1
        row = np.searchsorted(begin, start, side="right") - 1
        parts.append((block[row], start - begin[row], end - begin[row]))
        at = stop
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


@cache
def _kinds(bits: int) -> NDArray[np.uint8]:
    """Return for each character below code 2 ** `bits` whether WORD finds it blank, in a word, or another character."""
    # No text has half a surrogate pair, and no search finds one.
    codes = range(min(1 << bits, sys.maxunicode + 1))
    text = "".join(" " if 0xD800 <= code <= 0xDFFF else chr(code) for code in codes)
    kinds = np.zeros(len(text), np.uint8)
    for match in WORD.finditer(text):
        kinds[match.start() : match.end()] = _WORD if match[1] else _OTHER
    return kinds


def tokens_in_words(documents: Documents) -> str:
    """Return the origin of the tokens in words, with a digest of the documents' own tokens."""
    tokenized = int(np.count_nonzero(own_tokens(documents)))
    return token_origin(len(documents), tokenized, lambda: combined("tokens", token_hashes(documents)))


def token_origin(documents: int, tokenized: int, digest: Callable[[], str]) -> str:
    """Return the origin of tokens in words; `tokenized` documents have their own, with this digest."""
    if not tokenized:
        return "tokens: words and single other characters"
    origin = f"tokens: the documents' own sha256:{digest()[:16]}"
    rest = documents - tokenized
    return f"{origin}, in {rest} without any words and single other characters" if rest else origin


def own_tokens(documents: Documents) -> NDArray[np.bool_]:
    """Tell which documents have tokens of their own."""
    own = documents.tokens
    has_tokens: NDArray[np.bool_] = np.zeros(len(documents), bool) if own is None else np.diff(own.first) > 0
    return has_tokens


def token_hashes(documents: Documents) -> Hashes:
    """Return a SHA-256 of each document with its own tokens, shape (documents, 32)."""
    own = documents.tokens
    if own is None:
        nothing = np.zeros(0, np.int32)
        own = Intervals(np.zeros(len(documents) + 1, np.int64), nothing, nothing)
    alike = np.zeros(len(own.starts), np.int8)
    return span_hashes(documents.hashes, own.first, own.starts, own.ends, alike, ("token",), {})
