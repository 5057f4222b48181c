"""The surface forms of spans, and where else they stand in the texts: words without case, white space as one blank.

Forms are numbered as the nodes of a tree of words: a form is reached from its first word, one word a step. All forms
are looked for at once, step by step from every word of the texts, so that the time grows with the words and not with
the forms. What is found begins and ends where words do; see `nereval_core.analysis.running_words` for these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from nereval_core.analysis.running_words import Words, form_of, words_of
from nereval_core.analysis.slices import span_texts
from nereval_core.arrays import Bools, Int32, Int64
from nereval_core.corpus import Layer, frozen
from nereval_core.corpus.masking import masked_text

LONGEST = 30
"""Words of the longest forms that are looked for; longer ones are compared among the spans only."""


@dataclass(frozen=True, eq=False)
class Step:
    """The forms of one length in words: that which `keys` says (the form before it, the word) has the number `first`
    plus its place there."""

    keys: pd.Index
    first: int


@dataclass(frozen=True, eq=False)
class Forms:
    """The forms of spans: `code` (spans,) is the form of each, -1 for a span without any word.

    By form (or beginning of one): `size` in words, whether a span `has` it, whether it is `bare` of words (one letter
    or digit, or no letter at all).
    """

    code: Int32
    size: Int32
    has: Bools
    bare: Bools
    steps: tuple[Step, ...]

    def find(self, words: Words, low: Int64, high: Int64) -> Int64:
        """Return the form of each stretch of words, -1 where no span has it; of those beyond LONGEST words too."""
        width = 2 * len(words.names)
        found = np.full(len(low), -1, np.int64)
        left, reached = np.flatnonzero(high > low), np.zeros(len(low), np.int64)
        for number, step in enumerate(self.steps):
            word = low[left] + number
            keys = words.code[word].astype(np.int64) if number == 0 else reached[left] * width + words.steps[word]
            place = step.keys.get_indexer(pd.Index(keys))
            left, place = left[place >= 0], place[place >= 0]
            reached[left] = place + step.first
            done = left[high[left] - low[left] == number + 1]
            found[done] = np.where(self.has[reached[done]], reached[done], -1)
            left = left[high[left] - low[left] > number + 1]
        return found


def named_forms(layer: Layer) -> tuple[Int32, Mapping[str, int]]:
    """Return the surface form of each span as a number, and the numbers of the forms by their words.

    These are the strings that `forms_of` tells apart, found from the texts of the spans alone: of masked layers from
    the original, to count by.
    """
    spelt = span_texts.forms_of(layer)
    number: dict[str, int] = {}
    folded = [number.setdefault(form_of(text), len(number)) for text in spelt.forms]
    return frozen(np.array(folded, np.int32)[spelt.codes] if folded else spelt.codes), number


def masked_forms(forms: Iterable[str]) -> dict[str, str]:
    """Return what forms are called where texts are masked: their masks, with a number from the second of a mask on."""
    taken: dict[str, int] = {}
    found = {}
    for form in forms:
        mask = masked_text(form)
        taken[mask] = taken.get(mask, 0) + 1
        found[form] = mask if taken[mask] == 1 else f"{mask} ({taken[mask]})"
    return found


class Hits(NamedTuple):
    """Where forms stand in texts: number of the first word, words, and form, each of shape (hits,)."""

    word: Int64
    size: Int32
    form: Int32


@dataclass(frozen=True, eq=False)
class Places:
    """Where the spans of a layer are among the words of its texts.

    `low` and `high` (spans,) are the words that a span shares characters with, the end exclusive; `whole` tells
    which spans are exactly these words. `own` are the words that a span's form is made of: those in the texts, or,
    of a span in fragments or with an edge inside a word, those of its own text, which `words` holds after the texts.
    """

    words: Words
    low: Int64
    high: Int64
    whole: Bools
    own: tuple[Int64, Int64]


def places_of(layer: Layer) -> Places:
    """Find the spans of a layer among the words of its texts."""
    base = layer.documents.base
    start, end = base[layer.doc] + layer.start, base[layer.doc] + layer.end
    low, high = np.zeros((2, len(layer)), np.int64)
    whole = np.zeros(len(layer), bool)
    odd = np.zeros(0, np.int64)

    def texts_apart(word_start: Int64, word_end: Int64) -> list[str]:
        """Place the spans, and return the texts of those that are not made of whole words of their document."""
        nonlocal odd
        low[:] = np.searchsorted(word_end, start, side="right")
        high[:] = np.searchsorted(word_start, end, side="left")
        some = high > low
        # White space at an edge is no word: it makes no other form.
        whole[some] = (word_start[low[some]] >= start[some]) & (word_end[high[some] - 1] <= end[some])
        whole[list(layer.fragments)] = False
        odd = np.flatnonzero(some & ~whole)
        return [layer.text(span) for span in odd.tolist()]

    words = words_of(layer.documents, texts_apart)
    own = (low.copy(), high.copy())
    many = len(layer.documents)
    own[0][odd] = words.first[many : many + len(odd)]
    own[1][odd] = words.first[many + 1 : many + len(odd) + 1]
    return Places(words, frozen(low), frozen(high), frozen(whole), (frozen(own[0]), frozen(own[1])))


def forms_of(words: Words, low: Int64, high: Int64) -> Forms:
    """Number the forms of spans that are the words `low` to `high`, the end exclusive."""
    size = high - low
    code = np.full(len(low), -1, np.int32)
    steps: list[Step] = []
    sizes, bare = [np.zeros(0, np.int32)], [np.zeros(0, bool)]
    known = 0
    reached = np.zeros(len(low), np.int64)
    left = np.flatnonzero((size > 0) & (size <= LONGEST))
    width = 2 * len(words.names)
    for step in range(LONGEST):
        if not len(left):
            break
        word = low[left] + step
        # What stands before the first word is no part of a form.
        keys = words.code[word].astype(np.int64) if step == 0 else reached[left] * width + words.steps[word]
        found, distinct = pd.factorize(keys)
        steps.append(Step(pd.Index(distinct), known))
        sizes.append(np.full(len(distinct), step + 1, np.int32))
        if step == 0:
            bare.append(words.bare[distinct])
        else:
            bare.append(~(words.lettered[distinct % width // 2] | _lettered(steps, bare, words, distinct // width)))
        reached[left] = found + known
        known += len(distinct)
        done = size[left] == step + 1
        code[left[done]] = reached[left[done]]
        left = left[~done]
    more: dict[bytes, int] = {}
    for span in np.flatnonzero(size > LONGEST).tolist():
        path = words.steps[low[span] : high[span]].copy()
        path[0] &= ~1
        code[span] = known + more.setdefault(path.tobytes(), len(more))
    sizes.append(np.full(len(more), LONGEST + 1, np.int32))
    bare.append(np.zeros(len(more), bool))
    has = np.zeros(known + len(more), bool)
    has[code[code >= 0]] = True
    return Forms(frozen(code), frozen(np.concatenate(sizes)), frozen(has), frozen(np.concatenate(bare)), tuple(steps))


def _lettered(steps: Sequence[Step], bare: Sequence[Bools], words: Words, before: Int64) -> Bools:
    """Tell which forms of the step before the last hold a letter."""
    if len(steps) == 2:
        first: Bools = words.lettered[steps[0].keys.to_numpy()][before]
        return first
    return np.logical_not(bare[-1][before - steps[-2].first])


def hits_of(words: Words, forms: Forms, texts: int) -> Hits:
    """Find all places where forms stand in the first so many texts."""
    many = int(words.first[texts])
    word, size, form = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    if not forms.steps:
        return Hits(word[0], size[0], form[0])
    longer = np.zeros(len(forms.size), bool)
    width = 2 * len(words.names)
    for step in forms.steps[1:]:
        longer[step.keys.to_numpy() // width] = True
    at = np.arange(many)
    first = np.full(len(words.names), -1, np.int32)
    first[forms.steps[0].keys.to_numpy()] = np.arange(len(forms.steps[0].keys), dtype=np.int32)
    node = first[words.code[:many]]
    for number, step in enumerate(forms.steps):
        if number:
            some = longer[node]
            at, node = at[some], node[some]
            inside = at + number < many
            inside[inside] = ~words.opens[at[inside] + number]
            at, node = at[inside], node[inside]
            found = step.keys.get_indexer(pd.Index(node.astype(np.int64) * width + words.steps[at + number]))
            node = (found + step.first).astype(np.int32)
            known = found >= 0
        else:
            known = node >= 0
        at, node = at[known], node[known]
        here = forms.has[node]
        word.append(at[here])
        form.append(node[here])
        size.append(np.full(len(word[-1]), number + 1, np.int32))
    return Hits(np.concatenate(word), np.concatenate(size), np.concatenate(form))
