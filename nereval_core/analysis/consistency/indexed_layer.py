"""A layer indexed by the words of its texts, for questions about its consistency.

A spot is an annotated place: spans of equal boundaries and fragments are one spot, with the types of all of them.

Spellings of a surface form are told apart by letter case where they differ, as `GAS`, a gene, and `gas`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.consistency.form_search import (
    FormHits,
    FormTree,
    SpanWords,
    build_form_tree,
    find_forms,
    locate_spans,
)
from nereval_core.analysis.running_words import RunningWords, form_of, spelling_of
from nereval_core.corpus import Layer, frozen
from nereval_core.corpus.arrays import Bools, Int32, Int64

LetterCase = Literal["differs", "ignore", "keep"]
"""The forms whose case matters: those with spellings that are annotated differently, none, or all."""
LEAST_PLACES = 2
"""Places that a spelling must have for its annotation to be compared with another spelling's."""
Codes = NDArray[np.integer[Any]]
_BASE = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Spellings:
    """The numbers of forms and spellings: form i has the number i, or its spellings have numbers from `forms` on.

    `split` (forms,) tells which forms are told apart by case. `base` (numbers,) is the form of each number.
    """

    words: RunningWords
    forms: int
    base: Int64
    keys: pd.Index
    split: NDArray[np.bool_]
    low: Int64
    high: Int64

    @property
    def apart(self) -> int:
        """The number of forms told apart."""
        return int(self.split.sum())

    def number(self, form: Codes, low: Codes, high: Codes) -> Int64:
        """Return the number of each occurrence of a form, the words `low` to `high`; -1 for an unknown spelling."""
        numbers = form.astype(np.int64)
        split_forms = np.flatnonzero(self.split[numbers]) if self.apart else np.zeros(0, np.int64)
        if len(split_forms):
            at = self.keys.get_indexer(
                pd.Index(_spelling_hashes(self.words, form[split_forms], low[split_forms], high[split_forms]))
            )
            numbers[split_forms] = np.where(at >= 0, at + self.forms, -1)
        return numbers

    def example(self, number: int) -> tuple[int, int] | None:
        """Return the words of a spelling, the end exclusive; None for a form that is not told apart."""
        at = number - self.forms
        return None if at < 0 else (int(self.low[at]), int(self.high[at]))


def distinguish_spellings(
    words: RunningWords, forms: int, case: LetterCase, form: Codes, low: Codes, high: Codes, way: Codes
) -> Spellings:
    """Tell forms apart by case, given their occurrences, which are annotated in some `way` or not at all.

    Under `differs` a form is told apart if two of its spellings have LEAST_PLACES each and are mostly annotated in
    different ways.
    """
    split = np.zeros(forms, bool)
    nothing = np.zeros(0, np.int64)
    if case == "ignore" or not len(form):
        return Spellings(words, forms, np.arange(forms), pd.Index(nothing), split, nothing, nothing)
    key, distinct = pd.factorize(_spelling_hashes(words, form, low, high))
    of = np.zeros(len(distinct), np.int64)
    of[key] = form
    several = np.bincount(of, minlength=forms) > 1
    if case == "keep":
        split = several
    else:
        is_asked = several[form]
        table = (
            pd.DataFrame({"key": key[is_asked], "way": way[is_asked]})
            .value_counts(sort=False)
            .reset_index(name="number")
        )
        table["total"] = table.groupby("key")["number"].transform("sum")
        most = table[(2 * table["number"] > table["total"]) & (table["total"] >= LEAST_PLACES)]
        ways = most.assign(form=of[most["key"].to_numpy()]).groupby("form")["way"].nunique()
        split[ways.index[ways > 1].to_numpy(np.int64)] = True
    distinguished = np.flatnonzero(split[of])
    first = np.zeros(len(distinct), np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    return Spellings(
        words,
        forms,
        np.concatenate((np.arange(forms), of[distinguished])),
        pd.Index(np.asarray(distinct)[distinguished]),
        split,
        np.asarray(low, np.int64)[first[distinguished]],
        np.asarray(high, np.int64)[first[distinguished]],
    )


def _spelling_hashes(words: RunningWords, form: Codes, low: Codes, high: Codes) -> NDArray[np.uint64]:
    """Return a hash of 64 bits for each form with its spelling."""
    hashes = form.astype(np.uint64)
    size = np.asarray(high - low)
    for place in range(int(size.max(initial=0))):
        longer = np.flatnonzero(size > place)
        hashes[longer] = hashes[longer] * _BASE + words.spelt[low[longer] + place].astype(np.uint64) + np.uint64(1)
    return hashes


class AnnotatedSpots(NamedTuple):
    """The spots of a layer: the first span of each, and its types as an index into `names`."""

    span: Int64
    types: Int32
    names: tuple[str, ...]


class SpotCover(NamedTuple):
    """The words of the texts that spots cover, as sums up to the number of a word, shapes (words + 1,).

    `before` is the number of earlier words that are in a spot; `begun` and `ended` are the numbers of spots that begin
    at an earlier word, and that end before this one.
    """

    before: Int64
    begun: Int64
    ended: Int64

    def free(self, low: Codes, high: Codes) -> Bools:
        """Tell whether no spot contains any of the words `low` to `high`."""
        return np.asarray(self.before[high] == self.before[low], bool)

    def whole(self, low: Codes, high: Codes) -> Bools:
        """Tell whether no spot crosses either end of the words `low` to `high`."""
        inside = self.begun == self.ended
        return np.asarray(inside[low] & inside[high], bool)


@dataclass(frozen=True, eq=False)
class FormTexts:
    """The texts of surface forms, which findings need after the rest of an IndexedLayer is gone."""

    layer: Layer
    places: SpanWords
    forms: FormTree

    def of_form(self, number: int) -> str:
        """Return the words of a form as in the first span that has it."""
        return form_of(self.layer.text(int(self._examples[number])))

    def of_spelling(self, low: int, high: int) -> str:
        """Return the text of the words `low` to `high`, which may be those of a span's own text."""
        words, layer = self.places.words, self.layer
        start, end = int(words.start[low]), int(words.end[high - 1])
        base = layer.documents.base
        if low < words.first[len(layer.documents)]:
            document = int(np.searchsorted(base, start, side="right")) - 1
            text = layer.documents.texts[document]
            return spelling_of(text[start - int(base[document]) : end - int(base[document])])
        own = self.places.own
        return spelling_of(layer.text(int(np.flatnonzero((own[0] == low) & (own[1] == high))[0])))

    @cached_property
    def _examples(self) -> Int64:
        examples = np.full(len(self.forms.size), -1, np.int64)
        code = self.forms.code
        spans = np.flatnonzero(code >= 0)[::-1]
        examples[code[spans]] = spans
        return frozen(examples)


@dataclass(frozen=True, eq=False)
class IndexedLayer:
    """A layer with its spans, forms and their occurrences among the words, and other layers to compare it with.

    Parts are computed when a question needs them. Findings keep `layer`, `places` and `texts` alone.
    """

    layer: Layer
    others: tuple[Layer, ...] = ()
    case: LetterCase = "differs"

    @cached_property
    def places(self) -> SpanWords:
        return locate_spans(self.layer)

    @cached_property
    def forms(self) -> FormTree:
        return build_form_tree(self.places.words, *self.places.own)

    @cached_property
    def hits(self) -> FormHits:
        return find_forms(self.places.words, self.forms, len(self.layer.documents))

    @cached_property
    def free(self) -> Bools:
        """The hits that have no word in any spot."""
        return frozen(self.cover.free(self.hits.word, self.hits.word + self.hits.size))

    @cached_property
    def texts(self) -> FormTexts:
        return FormTexts(self.layer, self.places, self.forms)

    @cached_property
    def spellings(self) -> Spellings:
        """The spellings that are told apart by case, by the annotation of their places."""
        spots, hits = self.spots, self.hits
        form = self.forms.code[spots.span]
        has_form = form >= 0
        low, high = (column[spots.span[has_form]] for column in self.places.own)
        free = np.flatnonzero(self.free)
        word = hits.word[free]
        way = np.concatenate((spots.types[has_form], np.full(len(free), -1, np.int32)))
        return distinguish_spellings(
            self.places.words,
            len(self.forms.size),
            self.case,
            np.concatenate((form[has_form], hits.form[free])),
            np.concatenate((low, word)),
            np.concatenate((high, word + hits.size[free])),
            way,
        )

    @cached_property
    def spots(self) -> AnnotatedSpots:
        return annotated_spots(self.layer)

    @cached_property
    def kept(self) -> Bools:
        """The spans that do not repeat another one of the same type."""
        is_kept = np.ones(len(self.layer), bool)
        is_kept[self.layer.duplicates] = False
        return frozen(is_kept)

    @cached_property
    def cover(self) -> SpotCover:
        spans = self.spots.span
        low, high = self.places.low[spans], self.places.high[spans]
        has_words = high > low
        size = self.document_words + 1
        begun = np.cumsum(np.bincount(low[has_words] + 1, minlength=size))
        ended = np.cumsum(np.bincount(high[has_words], minlength=size))
        # A word is in a spot if more spots have begun up to it than have ended before it.
        inside = np.asarray(begun[1:] > ended[:-1], np.int64)
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(inside)))
        return SpotCover(frozen(before), frozen(begun), frozen(ended))

    @cached_property
    def document_words(self) -> int:
        """The number of words in the documents."""
        return int(self.places.words.first[len(self.layer.documents)])

    def stretch(self, low: Codes, high: Codes) -> tuple[Int64, Int64]:
        """Return start and end of the words `low` to `high`, counted from the beginning of all texts."""
        words = self.places.words
        return words.start[low], words.end[high - 1]

    def bounds(self, spans: Codes) -> tuple[Int64, Int64]:
        """Return start and end of spans, counted from the beginning of all texts."""
        layer = self.layer
        base = layer.documents.base[layer.doc[spans]]
        return base + layer.start[spans], base + layer.end[spans]


def annotated_spots(layer: Layer) -> AnnotatedSpots:
    """Return the spots of a layer with their types."""
    opens = np.ones(len(layer), bool)
    if len(layer) > 1:
        opens[1:] = False
        for column in (layer.doc, layer.start, layer.end):
            opens[1:] |= column[1:] != column[:-1]
        for span in layer.fragments:
            for later in (span, span + 1):
                if 0 < later < len(layer):
                    opens[later] |= layer.fragments.get(later) != layer.fragments.get(later - 1)
    first = np.flatnonzero(opens)
    types = layer.type[first].astype(np.int32)
    number = {(code,): code for code in range(len(layer.types))}
    sizes = np.diff(first, append=len(layer))
    for spot in np.flatnonzero(sizes > 1).tolist():
        several = tuple(sorted(set(layer.type[first[spot] : first[spot] + sizes[spot]].tolist())))
        types[spot] = number.setdefault(several, len(number))
    names = tuple(" + ".join(layer.types[code] for code in codes) for codes in number)
    return AnnotatedSpots(frozen(first), frozen(types), names)
