"""The shapes of spans: capitalisation, digits and other characters of their texts."""

from __future__ import annotations

import sys
from functools import cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Layer, frozen
from nereval_core.records.text_search import span_texts

SHAPES = (
    "capitalised",
    "first word capitalised",
    "all capitals",
    "lower case",
    "mixed case",
    "letters and digits",
    "digits",
    "letters without case",
    "neither letter nor digit",
)
"""Shapes of spans by their letters and digits; from the bottom up, a span has the first that applies.

A word ends at white space, a dash or a slash: `Anglo-Saxon` is capitalised, `National assembly` in its first word only.
"""
DASHES = "-/\u2010\u2011\u2012\u2013\u2014\u2015"
SPANS_AT_ONCE = 50_000
"""Spans whose texts are held in memory together."""
_BLANK, _OTHER, _DIGIT, _UNCASED, _LOWER, _UPPER = range(6)


def shapes_of(layer: Layer) -> NDArray[np.int8]:
    """Return the shape of each span as an index into SHAPES, shape (spans,)."""
    found = np.empty(len(layer), np.int8)
    texts = span_texts(layer)
    for low in range(0, len(layer), SPANS_AT_ONCE):
        some = list(islice(texts, SPANS_AT_ONCE))
        found[low : low + len(some)] = _shapes_of_texts(some)
    return found


def _shapes_of_texts(texts: list[str]) -> NDArray[np.int8]:
    # A blank after each text keeps it from being empty and separates its words from those of the next.
    code = np.frombuffer((" ".join(texts) + " ").encode("utf-32-le"), np.uint32)
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    kind = _character_kinds(int(code.max(initial=0)).bit_length())[code]
    starts = np.concatenate((np.zeros(1, np.int64), ends[:-1]))

    def number(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.add.reduceat(mask, starts, dtype=np.int64)

    upper, lower, uncased, digits = (number(kind == one) for one in (_UPPER, _LOWER, _UNCASED, _DIGIT))
    letters = np.flatnonzero(kind >= _UNCASED)
    before = np.cumsum(kind == _BLANK)[letters]
    begins = np.ones(len(letters), bool)
    begins[1:] = before[1:] != before[:-1]
    of_word = np.zeros(len(code), bool)
    of_word[letters[begins]] = True
    # The blank after each text is counted in `before`: the first letter of a text always begins a word.
    words, raised = number(of_word), number(of_word & (kind == _UPPER))
    first = np.zeros(len(texts), bool)
    there = np.flatnonzero(words)
    if len(there):
        at = np.searchsorted(letters, starts[there])
        first[there] = kind[letters[at]] == _UPPER
    found = np.full(len(texts), SHAPES.index("mixed case"), np.int8)
    for name, holds in (
        ("first word capitalised", first & (upper == 1)),
        ("capitalised", (raised == words) & (upper == raised)),
        ("lower case", upper == 0),
        ("all capitals", lower == 0),
        ("letters without case", upper + lower == 0),
        ("letters and digits", digits > 0),
        ("digits", upper + lower + uncased == 0),
        ("neither letter nor digit", upper + lower + uncased + digits == 0),
    ):
        found[holds] = SHAPES.index(name)
    return found


@cache
def _character_kinds(bits: int) -> NDArray[np.uint8]:
    """Return the kind of every character with a code below 2 to the power of `bits`."""
    kinds = np.empty(min(1 << bits, sys.maxunicode + 1), np.uint8)
    for code in range(len(kinds)):
        char = chr(code)
        if char.isspace() or char in DASHES:
            kinds[code] = _BLANK
        elif char.isupper() or char.istitle():
            kinds[code] = _UPPER
        elif char.islower():
            kinds[code] = _LOWER
        elif char.isalpha():
            kinds[code] = _UNCASED
        else:
            kinds[code] = _DIGIT if char.isnumeric() else _OTHER
    return frozen(kinds)
