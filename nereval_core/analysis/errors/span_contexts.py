"""The context of every span as numbers: its words, the words around it, their kinds, its type, length and shape.

Words are those of `nereval_core.analysis.running_words`, without case; a span that begins or ends inside a word has the
whole word as its first or last one. Kinds of words are those of boundary patterns. In masked texts only kinds and
shapes are known, found from the original.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.errors.boundary_patterns import word_kind
from nereval_core.analysis.running_words import RunningWords, words_of
from nereval_core.analysis.slices.span_values import SHAPES, bin_names, bins, shapes_of
from nereval_core.corpus import Documents, Layer, frozen
from nereval_core.corpus.arrays import Bools, Int32, Int64
from nereval_core.corpus.masking import is_masked, original, unmasked

TEXT_START, TEXT_END, SENTENCE_START = "start of the text", "end of the text", "start of a sentence"
WORDS_STARTS = (1, 2, 4)
"""The first numbers of words of the classes of length; a span without words has none."""
MOST_WORDS_OF_FORM = 4
"""Words of a span up to which its form is looked at."""


@dataclass(frozen=True, eq=False)
class SpanContexts:
    """The values of each span of a layer by feature: `codes[feature]` are indices into `names[feature]`, -1 for none.

    `first` and `last` are the numbers of each span's first and last word in `words`, -1 where it has none.
    """

    codes: Mapping[str, Int32]
    names: Mapping[str, tuple[str, ...]]
    words: RunningWords | None
    first: Int64
    last: Int64


_WORDS: WeakKeyDictionary[Documents, RunningWords] = WeakKeyDictionary()
_CONTEXTS: WeakKeyDictionary[Layer, SpanContexts] = WeakKeyDictionary()


def span_contexts(layer: Layer) -> SpanContexts:
    """Return the contexts of a layer's spans, made once; without texts only their types are known."""
    if layer not in _CONTEXTS:
        _CONTEXTS[layer] = _span_contexts(layer)
    return _CONTEXTS[layer]


def _words(documents: Documents) -> RunningWords:
    documents = original(documents)
    if documents not in _WORDS:
        _WORDS[documents] = words_of(documents)
    return _WORDS[documents]


def _span_contexts(layer: Layer) -> SpanContexts:
    codes: dict[str, NDArray[Any]] = {"type": layer.type.astype(np.int32)}
    names: dict[str, tuple[str, ...]] = {"type": layer.types}
    none = np.full(len(layer), -1, np.int64)
    if layer.documents.sizes is not None:
        return _frozen_contexts(codes, names, None, none, none)
    words = _words(layer.documents)
    base = layer.documents.base[layer.doc]
    starts, ends = base + layer.start, base + layer.end
    first = np.searchsorted(words.end, starts, side="right")
    last = np.searchsorted(words.start, ends, side="left") - 1
    is_empty = (last < first) | (starts == ends)
    n_words = np.where(is_empty, 0, last - first + 1)
    low, high = words.first[layer.doc], words.first[layer.doc.astype(np.int64) + 1]
    before, after = first - 1, np.where(is_empty, first, last + 1)
    before, after = np.where(before >= low, before, -1), np.where(after < high, after, -1)
    first, last = np.where(is_empty, -1, first), np.where(is_empty, -1, last)
    names["words"], codes["words"] = bin_names(WORDS_STARTS), bins(n_words, WORDS_STARTS)
    names["shape"], codes["shape"] = SHAPES, shapes_of(unmasked(layer))
    kinds, kind_of_word = _kinds(words)
    for feature, numbers in (("before", before), ("after", after), ("first", first), ("last", last)):
        of_span = np.where(numbers >= 0, words.code[numbers], -1) if len(words) else none
        if not is_masked(layer.documents):
            names[feature], codes[feature] = words.names, of_span
        names[f"{feature}-kind"] = kinds
        codes[f"{feature}-kind"] = np.where(of_span >= 0, kind_of_word[of_span], -1) if len(words) else none
    names["place"], codes["place"] = (TEXT_START, TEXT_END, SENTENCE_START), _places(layer, words, before, after)
    if not is_masked(layer.documents):
        names["form"], codes["form"] = _forms(words, first, n_words)
    return _frozen_contexts(codes, names, words, first, last)


def _frozen_contexts(
    codes: Mapping[str, NDArray[Any]],
    names: Mapping[str, tuple[str, ...]],
    words: RunningWords | None,
    first: Int64,
    last: Int64,
) -> SpanContexts:
    columns = {feature: frozen(column.astype(np.int32)) for feature, column in codes.items()}
    return SpanContexts(MappingProxyType(columns), MappingProxyType(dict(names)), words, frozen(first), frozen(last))


_KINDS: WeakKeyDictionary[RunningWords, tuple[tuple[str, ...], Int32]] = WeakKeyDictionary()


def _kinds(words: RunningWords) -> tuple[tuple[str, ...], Int32]:
    """Return the kinds of words, and the index of the kind of each distinct word, -1 for none."""
    if words not in _KINDS:
        number: dict[str, int] = {}
        codes = [
            -1 if (kind := word_kind(name)) is None else number.setdefault(kind, len(number)) for name in words.names
        ]
        _KINDS[words] = tuple(number), frozen(np.array(codes, np.int32))
    return _KINDS[words]


def _places(layer: Layer, words: RunningWords, before: Int64, after: Int64) -> NDArray[np.int8]:
    """Return which spans begin or end their text, or begin a later sentence of it."""
    places = np.full(len(layer), -1, np.int8)
    sentences = layer.documents.sentences
    if sentences is not None and len(words):
        base = layer.documents.base
        starts = base[np.repeat(np.arange(len(layer.documents)), np.diff(sentences.first))] + sentences.starts
        begins = base[layer.doc] + layer.start
        # A sentence begins between the word before and the span.
        number = np.searchsorted(starts, begins, side="right") - 1
        is_first: Bools = (number >= 0) & (before >= 0) & (starts[number] >= words.end[before])
        places[is_first] = 2
    places[after < 0] = 1
    places[before < 0] = 0
    return places


def _forms(words: RunningWords, first: Int64, n_words: NDArray[Any]) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Return the forms of up to MOST_WORDS_OF_FORM words, and the index of each span's form, -1 for a longer one."""
    size = len(words.names) + 1
    keys = np.zeros(len(first), np.int64)
    has_form = (n_words > 0) & (n_words <= MOST_WORDS_OF_FORM)
    for place in range(MOST_WORDS_OF_FORM):
        has_word = has_form & (n_words > place)
        word = np.zeros(len(first), np.int64)
        word[has_word] = words.code[first[has_word] + place].astype(np.int64) + 1
        # Numbers up to here are few: they are packed anew before each word.
        keys = pd.factorize(keys * size + word)[0].astype(np.int64)
    _, firsts, codes = np.unique(keys, return_index=True, return_inverse=True)
    names = []
    for span in firsts.tolist():
        if not has_form[span]:
            names.append("")
            continue
        low = int(first[span])
        parts = [
            f"{'' if place == low or words.glued[place] else ' '}{words.names[int(words.code[place])]}"
            for place in range(low, low + int(n_words[span]))
        ]
        names.append("".join(parts))
    return tuple(names), np.where(has_form, codes, -1)
