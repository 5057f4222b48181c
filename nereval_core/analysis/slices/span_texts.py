"""What the texts of spans tell of them: how they are capitalised, and how often and how gold has the same words.

Two spans have the same surface form if their words are the same, whatever white space stands between them; case counts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from itertools import islice
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Layer, frozen
from nereval_core.corpus.masking import unmasked
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
"""What a span may look like, by its letters and digits; the first that applies from the bottom up.

A word ends at white space, a dash or a slash: `Anglo-Saxon` is capitalised, `National assembly` in its first word only.
"""
CONSISTENCIES = ("only once", "always one type", "one type in 80% or more", "one type in under 80%", "not in gold")
"""How the gold spans of a span's surface form are typed: NEARLY of them, or fewer, have the most frequent type."""
NEARLY = 0.8
SEEN = ("with this type", "with another type", "unseen")
"""Whether a training layer has a span's surface form."""
DASHES = "-/\u2010\u2011\u2012\u2013\u2014\u2015"
PIECE = 50_000
"""Spans whose texts are looked at together."""
MOST_KEPT = 200_000
"""The forms of a layer with more of them are not kept."""
_SOME = 5_000
_UNEVEN = re.compile(r"[^\S ]|  | \0|\0 |\A |\s\Z")
"""White space that is not one blank between words, in texts with NUL between them."""
_BLANK, _OTHER, _DIGIT, _UNCASED, _LOWER, _UPPER = range(6)


def shapes_of(layer: Layer) -> NDArray[np.int8]:
    """Return the shape of each span as an index into SHAPES, shape (spans,)."""
    found = np.empty(len(layer), np.int8)
    texts = span_texts(layer)
    for low in range(0, len(layer), PIECE):
        some = list(islice(texts, PIECE))
        found[low : low + len(some)] = _shapes(some)
    return found


def _shapes(texts: list[str]) -> NDArray[np.int8]:
    # An end mark of one blank keeps every text from being empty and parts its words from the next one's.
    code = np.frombuffer((" ".join(texts) + " ").encode("utf-32-le"), np.uint32)
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    kind = _kinds(int(code.max(initial=0)).bit_length())[code]
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
def _kinds(bits: int) -> NDArray[np.uint8]:
    """Return what every character with a code below 2 to the power of `bits` is."""
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


class Forms(NamedTuple):
    """The surface forms of some spans: `codes` (spans,) are numbers of `forms`, which maps words to these."""

    codes: NDArray[np.int32]
    forms: Mapping[str, int]


_FORMS: WeakKeyDictionary[Layer, Forms] = WeakKeyDictionary()


def forms_of(layer: Layer) -> Forms:
    """Number the surface forms of a layer in the order in which they first occur."""
    if layer in _FORMS:
        return _FORMS[layer]
    number: dict[str, int] = {}
    codes = np.empty(len(layer), np.int32)
    texts = span_texts(layer)
    for low in range(0, len(layer), _SOME):
        some = list(islice(texts, _SOME))
        if _UNEVEN.search("\0".join(some)):
            some = [" ".join(text.split()) for text in some]
        for text in dict.fromkeys(some):
            number.setdefault(text, len(number))
        codes[low : low + len(some)] = np.fromiter(map(number.__getitem__, some), np.int32, len(some))
    found = Forms(frozen(codes), number)
    if len(number) <= MOST_KEPT:
        _FORMS[layer] = found
    return found


class FormFacts(NamedTuple):
    """What gold tells of the surface forms of gold spans and of predictions, each a pair of arrays (spans,).

    `frequency` is the number of gold spans with that form, `consistency` an index into CONSISTENCIES.
    """

    frequency: tuple[NDArray[Any], NDArray[Any]]
    consistency: tuple[NDArray[Any], NDArray[Any]]


def form_facts(gold: Layer, pred: Layer) -> FormFacts:
    """Count how often gold has each span's surface form, and how it is typed there."""
    ours, theirs = forms_of(unmasked(gold)), forms_of(unmasked(pred))
    size = len(ours.forms)
    frequency = np.bincount(ours.codes, minlength=size)
    most = _most_frequent(ours.codes, gold.type, size)
    nearly = CONSISTENCIES.index("one type in under 80%")
    consistency = np.select([frequency == 1, most == frequency, most >= NEARLY * frequency], [0, 1, 2], nearly)
    # Forms that gold does not have stand last.
    frequency, consistency = np.append(frequency, 0), np.append(consistency, CONSISTENCIES.index("not in gold"))
    there = _among(ours.forms, theirs)
    return FormFacts((frequency[ours.codes], frequency[there]), (consistency[ours.codes], consistency[there]))


def _most_frequent(codes: NDArray[Any], types: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return for each form how many of its spans have its most frequent type, shape (forms,)."""
    width = int(types.max(initial=0)) + 1
    cells, counts = np.unique(codes.astype(np.int64) * width + types, return_counts=True)
    most = np.zeros(size, np.int64)
    np.maximum.at(most, cells // width, counts)
    return most


def seen_in(training: Layer, layer: Layer) -> NDArray[np.int8]:
    """Return of each span whether a training layer has its surface form, as an index into SEEN, shape (spans,)."""
    known, own = forms_of(unmasked(training)), forms_of(unmasked(layer))
    there = _among(known.forms, own)
    place = {kind: code for code, kind in enumerate(training.types)}
    # Types that training does not have stand last, and no form there has them.
    types = np.array([place.get(kind, len(place)) for kind in layer.types], np.int64)[layer.type]
    width = len(place) + 1
    cells = np.unique(known.codes.astype(np.int64) * width + training.type)
    same = np.isin(there * width + types, cells)
    return np.where(there == len(known.forms), 2, np.where(same, 0, 1)).astype(np.int8)


def _among(forms: Mapping[str, int], other: Forms) -> NDArray[np.int64]:
    """Return the numbers that other spans' forms have among `forms`, their number for one that is not there."""
    size = len(forms)
    place = np.fromiter((forms.get(form, size) for form in other.forms), np.int64, len(other.forms))
    return place[other.codes] if len(place) else np.zeros(len(other.codes), np.int64)
