"""A layer indexed by the words of its texts, for questions about its consistency.

A spot is an annotated place: spans of equal boundaries and fragments are one spot, with the types of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.consistency.form_search import (
    FormHits,
    FormTree,
    SpanWords,
    build_form_tree,
    find_forms,
    locate_spans,
)
from nereval_core.analysis.consistency.letter_case import LetterCase, Spellings, distinguish_spellings
from nereval_core.analysis.running_words import form_of, spelling_of
from nereval_core.arrays import Bools, Int32, Int64
from nereval_core.corpus import Layer, frozen

Codes = NDArray[np.integer[Any]]


class AnnotatedSpots(NamedTuple):
    """The spots of a layer: the first span of each, and its types as an index into `names`."""

    span: Int64
    types: Int32
    names: tuple[str, ...]


class Coverage(NamedTuple):
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
        found = np.full(len(self.forms.size), -1, np.int64)
        code = self.forms.code
        some = np.flatnonzero(code >= 0)[::-1]
        found[code[some]] = some
        return frozen(found)


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
        some = form >= 0
        low, high = (column[spots.span[some]] for column in self.places.own)
        free = np.flatnonzero(self.free)
        word = hits.word[free]
        way = np.concatenate((spots.types[some], np.full(len(free), -1, np.int32)))
        return distinguish_spellings(
            self.places.words,
            len(self.forms.size),
            self.case,
            np.concatenate((form[some], hits.form[free])),
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
        kept = np.ones(len(self.layer), bool)
        kept[self.layer.duplicates] = False
        return frozen(kept)

    @cached_property
    def cover(self) -> Coverage:
        spans = self.spots.span
        low, high = self.places.low[spans], self.places.high[spans]
        some = high > low
        size = self.document_words + 1
        begun = np.cumsum(np.bincount(low[some] + 1, minlength=size))
        ended = np.cumsum(np.bincount(high[some], minlength=size))
        # A word is in a spot if more spots have begun up to it than have ended before it.
        inside = np.asarray(begun[1:] > ended[:-1], np.int64)
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(inside)))
        return Coverage(frozen(before), frozen(begun), frozen(ended))

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
