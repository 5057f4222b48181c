"""The documents of a DocBin: texts put together from words and blanks, tokens, sentences, and plain user data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from math import isfinite
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus.arrays import Int32, Int64
from nereval_core.problems import FormatError, Problem
from nereval_core.readers.docbin.message import DECODING_ERRORS, REMEDY, PackedDocuments, damaged
from nereval_core.readers.shared.strict_json import id_string

ID = "id"
"""The key of the user data that names a document."""
EXTENSION = "._."
"""The first part of the keys of extension attributes; name and, of a span or token, its place follow."""
ODD_USER_DATA = "values of user data that are not plain, or not of a document, left out"


class TextIntervals(NamedTuple):
    """Tokens or sentences: how many each document has, and their places in its text, end exclusive."""

    counts: Int64
    starts: Int32
    ends: Int32

    @classmethod
    def of(cls, counts: Int64, starts: Int64, ends: Int64) -> TextIntervals:
        return cls(counts, starts.astype(np.int32), ends.astype(np.int32))


class PlacedTokens(NamedTuple):
    """The texts, and where each token stands in its own; `words` are the tokens that are not white space."""

    texts: list[str]
    start: Int64
    end: Int64
    words: NDArray[np.bool_]


def place_tokens(block: PackedDocuments, used: int, problems: list[Problem]) -> PlacedTokens | None:
    """Return the texts and the places of tokens in them, None where words are missing.

    `used` is the number of characters in the texts of the file before these.

    Raises:
        FormatError: with all problems so far where the texts are too long.
    """
    orth = block.column("ORTH")
    assert orth is not None
    hashes, code = np.unique(orth, return_inverse=True)
    strings = list(map(block.strings.get, hashes.tolist()))
    unknown = np.array([string is None for string in strings], bool)
    if unknown.any():
        problems += block.problems(block.document[unknown[code]], "a word that is not among the strings")
        return None
    words = [string or "" for string in strings]
    lengths = np.fromiter(map(len, words), np.int64, len(words))[code]
    # Where spaCy does not know, it has a blank after every token.
    blank = block.spaces | block.unknown[block.document]
    reach = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths + blank)))
    if used + reach[-1] > block.most:
        # A long word can be repeated at the price of its hash.
        finding = f"texts of more than {block.most} characters in all"
        raise FormatError([*problems, Problem(block.source, None, finding, REMEDY)])
    pieces = words + [f"{word} " for word in words]
    codes = code + len(words) * blank
    texts = ["".join(map(pieces.__getitem__, codes[low:high].tolist())) for low, high in pairwise(block.first.tolist())]
    start = reach[:-1] - reach[block.first][block.document]
    solid = np.array([bool(word) and not word.isspace() for word in words], bool)
    return PlacedTokens(texts, start, start + lengths, solid[code])


def tokens(block: PackedDocuments, where: PlacedTokens) -> TextIntervals:
    """Return the tokens but those of white space, which spaCy has only to keep the text."""
    counts = np.bincount(block.document[where.words], minlength=len(block))
    return TextIntervals.of(counts, where.start[where.words], where.end[where.words])


def sentences(block: PackedDocuments, where: PlacedTokens) -> TextIntervals:
    """Return the sentences, from word to word, of documents of which more is known than that the first token opens one.

    A document of one token says nothing: it is a sentence where others are known.
    """
    sentence_starts = block.column("SENT_START")
    if sentence_starts is None or not len(sentence_starts):
        nothing = np.zeros(0, np.int64)
        return TextIntervals.of(np.zeros(len(block), np.int64), nothing, nothing)
    opening = np.diff(block.document, prepend=-1) > 0
    is_known = np.bincount(block.document[(sentence_starts != 0) & ~opening], minlength=len(block)) > 0
    is_known |= (np.diff(block.first) == 1) & block.sentences_known
    number = np.cumsum(opening | (sentence_starts == 1))
    words = np.flatnonzero(where.words & is_known[block.document])
    begins = np.flatnonzero(np.diff(number[words], prepend=-1))
    first = words[begins]
    last = words[np.append(begins[1:], len(words))[: len(begins)] - 1]
    counts = np.bincount(block.document[first], minlength=len(block))
    return TextIntervals.of(counts, where.start[first], where.end[last])


def document_metadata(
    block: PackedDocuments, problems: list[Problem], counts: Counter[str]
) -> list[tuple[str | None, dict[str, Any]]]:
    """Return id and metadata of each document from its user data and extension attributes (`doc._.date`)."""
    names_and_metadata = []
    for number, packed in enumerate(block.user_data, start=block.before + 1):
        user_data: Any = {}
        try:
            user_data = {} if packed is None else msgspec.msgpack.decode(packed)
            if not isinstance(user_data, Mapping):
                raise TypeError("not a map")
        except DECODING_ERRORS as error:
            problems += damaged(block.source, error, number, "user data").problems
            user_data = {}
        meta: dict[str, Any] = {}
        for key, value in user_data.items():
            own = isinstance(key, tuple) and len(key) == 4 and key[0] == EXTENSION and key[2] is key[3] is None
            name = key[1] if own else key
            if isinstance(name, str) and name not in meta and _plain(value):
                meta[name] = value
            else:
                counts[ODD_USER_DATA] += 1
        id = id_string(meta.get(ID))
        names_and_metadata.append((id, {key: value for key, value in meta.items() if id is None or key != ID}))
    return names_and_metadata


def _plain(value: Any) -> bool:
    """Return whether JSON could hold a value."""
    if isinstance(value, list):
        return all(map(_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(map(_plain, value.values()))
    return value is None or isinstance(value, (str, bool, int)) or (isinstance(value, float) and isfinite(value))
