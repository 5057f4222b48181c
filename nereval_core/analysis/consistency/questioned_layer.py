"""A layer made ready to be questioned: its spans among the words of its texts.

A spot is a place that is annotated: spans of equal boundaries and fragments are one, with the types of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.consistency.letter_case import Case, Cases, cases
from nereval_core.analysis.running_words import form_of, spelling_of
from nereval_core.analysis.surface_forms import Forms, Hits, Places, forms_of, hits_of, places_of
from nereval_core.arrays import Bools, Int32, Int64
from nereval_core.corpus import Layer, frozen

Codes = NDArray[np.integer[Any]]


class Spots(NamedTuple):
    """Where a layer is annotated: the first span of each spot, and its types as an index into `names`."""

    span: Int64
    types: Int32
    names: tuple[str, ...]


class Cover(NamedTuple):
    """What is annotated of the words of the texts, by the number of a word.

    `before` is how many of the words before it are in some spot; `begun` and `ended` how many spots begin at an
    earlier word, and end before it. Shapes (words + 1,).
    """

    before: Int64
    begun: Int64
    ended: Int64

    def free(self, low: Codes, high: Codes) -> Bools:
        """Tell whether no spot has any of the words `low` to `high`."""
        return np.asarray(self.before[high] == self.before[low], bool)

    def whole(self, low: Codes, high: Codes) -> Bools:
        """Tell whether no spot stands across either end of the words `low` to `high`."""
        inside = self.begun == self.ended
        return np.asarray(inside[low] & inside[high], bool)


@dataclass(frozen=True, eq=False)
class Inspected:
    """A layer, and the others over the same documents that it is held against."""

    layer: Layer
    others: tuple[Layer, ...] = ()
    case: Case = "differs"

    @cached_property
    def places(self) -> Places:
        return places_of(self.layer)

    @cached_property
    def forms(self) -> Forms:
        return forms_of(self.places.words, *self.places.own)

    @cached_property
    def hits(self) -> Hits:
        return hits_of(self.places.words, self.forms, len(self.layer.documents))

    @cached_property
    def free(self) -> Bools:
        """Which of the hits have no word in any spot."""
        return frozen(self.cover.free(self.hits.word, self.hits.word + self.hits.size))

    @cached_property
    def cases(self) -> Cases:
        """The spellings of forms that are told apart by case, by how their places are annotated."""
        spots, hits = self.spots, self.hits
        form = self.forms.code[spots.span]
        some = form >= 0
        low, high = (column[spots.span[some]] for column in self.places.own)
        free = np.flatnonzero(self.free)
        word = hits.word[free]
        way = np.concatenate((spots.types[some], np.full(len(free), -1, np.int32)))
        return cases(
            self.places.words,
            len(self.forms.size),
            self.case,
            np.concatenate((form[some], hits.form[free])),
            np.concatenate((low, word)),
            np.concatenate((high, word + hits.size[free])),
            way,
        )

    @cached_property
    def spots(self) -> Spots:
        return spots_of(self.layer)

    @cached_property
    def kept(self) -> Bools:
        """Which spans do not repeat another, types included."""
        kept = np.ones(len(self.layer), bool)
        kept[self.layer.duplicates] = False
        return frozen(kept)

    @cached_property
    def cover(self) -> Cover:
        spans = self.spots.span
        low, high = self.places.low[spans], self.places.high[spans]
        some = high > low
        size = self.many + 1
        begun = np.cumsum(np.bincount(low[some] + 1, minlength=size))
        ended = np.cumsum(np.bincount(high[some], minlength=size))
        # A word is in a spot if more have begun with it than have ended before it.
        inside = np.asarray(begun[1:] > ended[:-1], np.int64)
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(inside)))
        return Cover(frozen(before), frozen(begun), frozen(ended))

    def forget(self) -> None:
        """Give up what only questions take, not the names of what they found."""
        for name in ("hits", "free", "cover"):
            self.__dict__.pop(name, None)

    @cached_property
    def many(self) -> int:
        """How many words the documents have."""
        return int(self.places.words.first[len(self.layer.documents)])

    def stretch(self, low: Codes, high: Codes) -> tuple[Int64, Int64]:
        """Return where the words `low` to `high` start and end, the end exclusive, if all texts stood in a row."""
        words = self.places.words
        return words.start[low], words.end[high - 1]

    def bounds(self, spans: Codes) -> tuple[Int64, Int64]:
        """Return where spans start and end if all texts stood in a row."""
        layer = self.layer
        base = layer.documents.base[layer.doc[spans]]
        return base + layer.start[spans], base + layer.end[spans]

    def form(self, number: int) -> str:
        """Return the words of a form, those of the first span that has it, or of a spelling that is told apart."""
        spelling = None if number < len(self.forms.size) else self.cases.example(number)
        if spelling is not None:
            return spelling_of(self._spelt(*spelling))
        return form_of(self.layer.text(int(self._examples[number])))

    @cached_property
    def _examples(self) -> Int64:
        found = np.full(len(self.forms.size), -1, np.int64)
        code = self.forms.code
        some = np.flatnonzero(code >= 0)[::-1]
        found[code[some]] = some
        return frozen(found)

    def _spelt(self, low: int, high: int) -> str:
        """Return the text of some words, which may stand behind all texts as those of an odd span."""
        words, layer = self.places.words, self.layer
        start, end = int(words.start[low]), int(words.end[high - 1])
        base = layer.documents.base
        if low < self.many:
            document = int(np.searchsorted(base, start, side="right")) - 1
            return self.text(document, start - int(base[document]), end - int(base[document]))
        own = self.places.own
        return layer.text(int(np.flatnonzero((own[0] == low) & (own[1] == high))[0]))

    def text(self, doc: int, start: int, end: int) -> str:
        return self.layer.documents.texts[doc][start:end]


def spots_of(layer: Layer) -> Spots:
    """Return where a layer is annotated, with the types of each spot."""
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
    return Spots(frozen(first), frozen(types), names)


__all__: Sequence[str] = ("Bools", "Codes", "Cover", "Inspected", "Spots", "spots_of")
