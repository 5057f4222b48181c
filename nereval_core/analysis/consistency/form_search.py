"""Search for the surface forms of spans in all texts, by words without case and with white space as one blank.

Forms are the nodes of a tree of words, reached from their first word with one word in each step. All forms are searched
at once, step by step from every word of the texts, so that the time grows with the words and not with the forms.
Occurrences begin and end where words do (see `nereval_core.analysis.running_words`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from nereval_core.analysis.running_words import RunningWords, words_of
from nereval_core.corpus import Layer, frozen
from nereval_core.corpus.arrays import Bools, Int32, Int64

LONGEST_FORM_WORDS = 30
"""Longer forms are compared among the spans but not searched in the texts."""


@dataclass(frozen=True, eq=False)
class FormStep:
    """The forms of one length in words: the form of a key (the form one word shorter, the last word) has the number
    `first` plus the key's place in `keys`."""

    keys: pd.Index
    first: int


@dataclass(frozen=True, eq=False)
class FormTree:
    """The forms of spans: `code` (spans,) is the form of each, -1 for a span without any word.

    Each form, or beginning of one, has its `size` in words, tells whether a span `has` it, and whether it is `bare`
    (one letter or digit, or no letter at all).
    """

    code: Int32
    size: Int32
    has: Bools
    bare: Bools
    steps: tuple[FormStep, ...]

    def find(self, words: RunningWords, low: Int64, high: Int64) -> Int64:
        """Return the form of each stretch of words, -1 where no span has it or it is longer than LONGEST_FORM_WORDS."""
        width = 2 * len(words.names)
        node = np.full(len(low), -1, np.int64)
        open_rows, reached = np.flatnonzero(high > low), np.zeros(len(low), np.int64)
        for number, step in enumerate(self.steps):
            word = low[open_rows] + number
            keys = words.code[word].astype(np.int64) if number == 0 else reached[open_rows] * width + words.steps[word]
            place = step.keys.get_indexer(pd.Index(keys))
            open_rows, place = open_rows[place >= 0], place[place >= 0]
            reached[open_rows] = place + step.first
            done = open_rows[high[open_rows] - low[open_rows] == number + 1]
            node[done] = np.where(self.has[reached[done]], reached[done], -1)
            open_rows = open_rows[high[open_rows] - low[open_rows] > number + 1]
        return node


class FormHits(NamedTuple):
    """Occurrences of forms in texts: number of the first word, number of words, and form, each of shape (hits,)."""

    word: Int64
    size: Int32
    form: Int32


@dataclass(frozen=True, eq=False)
class SpanWords:
    """The spans of a layer among the words of its texts.

    `low` and `high` (spans,) are the words that a span shares characters with, the end exclusive; `whole` tells which
    spans are exactly these words. `own` are the words of a span's form: these words, or, for a span in fragments or
    with an edge inside a word, the words of its own text, which follow those of the documents in `words`.
    """

    words: RunningWords
    low: Int64
    high: Int64
    whole: Bools
    own: tuple[Int64, Int64]


def locate_spans(layer: Layer) -> SpanWords:
    """Find the spans of a layer among the words of its texts."""
    base = layer.documents.base
    start, end = base[layer.doc] + layer.start, base[layer.doc] + layer.end
    low, high = np.zeros((2, len(layer)), np.int64)
    whole = np.zeros(len(layer), bool)
    odd = np.zeros(0, np.int64)

    def texts_apart(word_start: Int64, word_end: Int64) -> list[str]:
        """Locate the spans, and return the texts of those that do not consist of whole words of their document."""
        nonlocal odd
        low[:] = np.searchsorted(word_end, start, side="right")
        high[:] = np.searchsorted(word_start, end, side="left")
        has_words = high > low
        # White space at an edge is not a word and does not change the form.
        whole[has_words] = (word_start[low[has_words]] >= start[has_words]) & (
            word_end[high[has_words] - 1] <= end[has_words]
        )
        whole[list(layer.fragments)] = False
        odd = np.flatnonzero(has_words & ~whole)
        return [layer.text(span) for span in odd.tolist()]

    words = words_of(layer.documents, texts_apart)
    own = (low.copy(), high.copy())
    n_documents = len(layer.documents)
    own[0][odd] = words.first[n_documents : n_documents + len(odd)]
    own[1][odd] = words.first[n_documents + 1 : n_documents + len(odd) + 1]
    return SpanWords(words, frozen(low), frozen(high), frozen(whole), (frozen(own[0]), frozen(own[1])))


def build_form_tree(words: RunningWords, low: Int64, high: Int64) -> FormTree:
    """Number the forms of spans that are the words `low` to `high`, the end exclusive."""
    size = high - low
    code = np.full(len(low), -1, np.int32)
    steps: list[FormStep] = []
    sizes, bare = [np.zeros(0, np.int32)], [np.zeros(0, bool)]
    n_nodes = 0
    reached = np.zeros(len(low), np.int64)
    open_forms = np.flatnonzero((size > 0) & (size <= LONGEST_FORM_WORDS))
    width = 2 * len(words.names)
    for step in range(LONGEST_FORM_WORDS):
        if not len(open_forms):
            break
        word = low[open_forms] + step
        # The character before the first word is not part of a form.
        keys = words.code[word].astype(np.int64) if step == 0 else reached[open_forms] * width + words.steps[word]
        codes, distinct = pd.factorize(keys)
        steps.append(FormStep(pd.Index(distinct), n_nodes))
        sizes.append(np.full(len(distinct), step + 1, np.int32))
        if step == 0:
            bare.append(words.bare[distinct])
        else:
            bare.append(~(words.lettered[distinct % width // 2] | _lettered(steps, bare, words, distinct // width)))
        reached[open_forms] = codes + n_nodes
        n_nodes += len(distinct)
        done = size[open_forms] == step + 1
        code[open_forms[done]] = reached[open_forms[done]]
        open_forms = open_forms[~done]
    more: dict[bytes, int] = {}
    for span in np.flatnonzero(size > LONGEST_FORM_WORDS).tolist():
        path = words.steps[low[span] : high[span]].copy()
        path[0] &= ~1
        code[span] = n_nodes + more.setdefault(path.tobytes(), len(more))
    sizes.append(np.full(len(more), LONGEST_FORM_WORDS + 1, np.int32))
    bare.append(np.zeros(len(more), bool))
    has = np.zeros(n_nodes + len(more), bool)
    has[code[code >= 0]] = True
    return FormTree(
        frozen(code), frozen(np.concatenate(sizes)), frozen(has), frozen(np.concatenate(bare)), tuple(steps)
    )


def _lettered(steps: Sequence[FormStep], bare: Sequence[Bools], words: RunningWords, before: Int64) -> Bools:
    """Tell which forms of the last step but one hold a letter."""
    if len(steps) == 2:
        first: Bools = words.lettered[steps[0].keys.to_numpy()][before]
        return first
    return np.logical_not(bare[-1][before - steps[-2].first])


def find_forms(words: RunningWords, forms: FormTree, texts: int) -> FormHits:
    """Find all occurrences of forms in the first `texts` texts."""
    n_words = int(words.first[texts])
    word, size, form = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    if not forms.steps:
        return FormHits(word[0], size[0], form[0])
    longer = np.zeros(len(forms.size), bool)
    width = 2 * len(words.names)
    for step in forms.steps[1:]:
        longer[step.keys.to_numpy() // width] = True
    at = np.arange(n_words)
    first = np.full(len(words.names), -1, np.int32)
    first[forms.steps[0].keys.to_numpy()] = np.arange(len(forms.steps[0].keys), dtype=np.int32)
    node = first[words.code[:n_words]]
    for number, step in enumerate(forms.steps):
        if number:
            longer_rows = longer[node]
            at, node = at[longer_rows], node[longer_rows]
            inside = at + number < n_words
            inside[inside] = ~words.opens[at[inside] + number]
            at, node = at[inside], node[inside]
            next_node = step.keys.get_indexer(pd.Index(node.astype(np.int64) * width + words.steps[at + number]))
            node = (next_node + step.first).astype(np.int32)
            has_node = next_node >= 0
        else:
            has_node = node >= 0
        at, node = at[has_node], node[has_node]
        here = forms.has[node]
        word.append(at[here])
        form.append(node[here])
        size.append(np.full(len(word[-1]), number + 1, np.int32))
    return FormHits(np.concatenate(word), np.concatenate(size), np.concatenate(form))
