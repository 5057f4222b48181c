"""The question that takes other layers: where all of them say the same, and the layer something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from nereval_core.analysis.consistency.findings import Found, Occurrences, chosen, found_of, joined
from nereval_core.analysis.consistency.questioned_layer import Inspected
from nereval_core.analysis.running_words import form_of
from nereval_core.arrays import Bools, Int64
from nereval_core.corpus import Fragments, Layer

LEAST = 2
"""So many others are needed for their agreement to say something."""
NOTHING = "nothing"


def against_all(given: Inspected) -> Found:
    """Find where all other layers agree against the layer.

    That is: a span that none of them has, where each has exactly the same spans that share a character with it, or
    each has nothing; and spans that all of them have where the layer has nothing. Each is one to be settled.
    Of spans in fragments all between the first and the last character counts as theirs.
    """
    ours, *rest = _together((given.layer, *given.others))
    agreed = rest[0]
    for one in rest[1:]:
        agreed = agreed.take(agreed.among(one))
    # What has no word is a question of odd ends.
    silent = ~ours.among(agreed) & (given.forms.code[ours.span] >= 0)
    for one in rest:
        silent &= ~ours.among(one)
    shared = agreed.shared_with(ours)
    same = silent & (shared > 0)
    for one in rest:
        there = one.shared_with(ours)
        silent &= there == 0
        same &= there == shared
    parts, names = _otherwise(given, ours, agreed, silent, same)
    more, forms = _nothing_here(given, agreed, np.flatnonzero(ours.shared_with(agreed) == 0), names)
    known = len(given.forms.size)

    return found_of(
        joined(*parts, more),
        what=lambda form: (given.form(form) if form < known else forms[form - known], ""),
        named=names.__getitem__,
    )


def _otherwise(
    given: Inspected, ours: _Spans, agreed: _Spans, silent: Bools, same: Bools
) -> tuple[list[Occurrences], list[str]]:
    """Return the spans that no other has, of those in which they are silent or have others instead, with the names of
    their groups."""
    layer, kinds = given.layer, len(given.layer.types)
    names = [f"{kind} here, {NOTHING} in all others" for kind in layer.types]
    spans = np.flatnonzero(silent)
    parts = [(spans, layer.type[ours.span[spans]].astype(np.int64))]
    spans = np.flatnonzero(same)
    met = agreed.first_met(ours.start[spans])
    own, other = layer.type[ours.span[spans]], agreed.layer.type[agreed.span[met]]
    equal = (agreed.start[met] == ours.start[spans]) & (agreed.end[met] == ours.end[spans])
    names += [f"{one} here, {two} in all others" for one in layer.types for two in agreed.layer.types]
    parts.append((spans[equal], kinds + own[equal].astype(np.int64) * len(agreed.layer.types) + other[equal]))
    number: dict[str, int] = {}
    rest = np.flatnonzero(~equal)
    group = np.zeros(len(rest), np.int64)
    for place, at in enumerate(rest.tolist()):
        span = int(agreed.span[met[at]])
        instead = f"{agreed.layer.label(span)} “{form_of(agreed.layer.text(span))}”"
        said = f"{layer.types[int(own[at])]} here, {instead} in all others"
        group[place] = len(names) + number.setdefault(said, len(number))
    parts.append((spans[rest], group))
    return [(given.forms.code[ours.span[some]], ours.start[some], ours.end[some], group) for some, group in parts], [
        *names,
        *number,
    ]


def _nothing_here(given: Inspected, agreed: _Spans, spans: Int64, names: list[str]) -> tuple[Occurrences, list[str]]:
    """Return the spans that all others have and the layer has nothing of, and the forms that the layer never has.

    These are numbered after its own. The names of the groups are put behind `names`.
    """
    words, layer = given.places.words, agreed.layer
    start, end = agreed.start[spans], agreed.end[spans]
    low = np.searchsorted(words.start[: given.many], start)
    high = np.searchsorted(words.end[: given.many], end, side="right")
    # Only spans of whole words may have a form of the layer's.
    whole = (high > low) & np.array([span not in layer.fragments for span in agreed.span[spans].tolist()], bool)
    whole[whole] = (words.start[low[whole]] == start[whole]) & (words.end[high[whole] - 1] == end[whole])
    of = np.full(len(spans), -1, np.int64)
    of[whole] = given.forms.find(words, low[whole], high[whole])
    forms: dict[str, int] = {}
    for place in np.flatnonzero(of < 0).tolist():
        form = form_of(layer.text(int(agreed.span[spans[place]])))
        if form:
            of[place] = len(given.forms.size) + forms.setdefault(form, len(forms))
    group = len(names) + layer.type[agreed.span[spans]].astype(np.int64)
    names += [f"{NOTHING} here, {kind} in all others" for kind in layer.types]
    return chosen((of, start, end, group), of >= 0), list(forms)


@dataclass(frozen=True, eq=False)
class _Spans:
    """Spans of a layer, none of them twice, as though all texts stood in a row: sorted by start and end.

    `key` (spans,) is the same for equal spans of all layers, and sorted.
    """

    layer: Layer
    span: Int64
    start: Int64
    end: Int64
    key: Int64

    def take(self, some: Bools) -> _Spans:
        return _Spans(self.layer, self.span[some], self.start[some], self.end[some], self.key[some])

    def among(self, other: _Spans) -> Bools:
        """Tell which of these the other layer has too."""
        if not len(other.key):
            return np.zeros(len(self.key), bool)
        place = np.minimum(np.searchsorted(other.key, self.key), len(other.key) - 1)
        return np.equal(other.key[place], self.key)

    def shared_with(self, other: _Spans) -> Int64:
        """Return how many of these share a character with each of the other's, shape (other's,)."""
        begun = np.searchsorted(self.start, other.end, side="left")
        return (begun - np.searchsorted(self._ends, other.start, side="right")).astype(np.int64)

    def first_met(self, start: Int64) -> Int64:
        """Return the first of these that ends behind each start: where any shares a character, it is one that does."""
        return np.searchsorted(self._reached, start, side="right").astype(np.int64)

    @cached_property
    def _ends(self) -> Int64:
        return np.sort(self.end)

    @cached_property
    def _reached(self) -> Int64:
        found: Int64 = np.maximum.accumulate(self.end) if len(self.end) else self.end
        return found


def _together(layers: Sequence[Layer]) -> list[_Spans]:
    """Return the spans of layers over the same documents, with keys that compare."""
    types = {name: code for code, name in enumerate(sorted({name for layer in layers for name in layer.types}))}
    parts: dict[Fragments, int] = {}
    for layer in layers:
        for fragments in layer.fragments.values():
            parts.setdefault(fragments, len(parts) + 1)
    base = layers[0].documents.base
    sizes = [(layer.end - layer.start).astype(np.int64) for layer in layers]
    width = max((int(size.max(initial=0)) for size in sizes), default=0) + 1
    if prod((int(base[-1]) + 1, width, max(len(types), 1), len(parts) + 1)) > np.iinfo(np.int64).max:
        # Lengths as their places among all that there are.
        known = np.unique(np.concatenate(sizes))
        sizes, width = [np.searchsorted(known, size) for size in sizes], len(known)
    found = []
    for layer, size in zip(layers, sizes, strict=True):
        code = np.array([types[name] for name in layer.types], np.int64)[layer.type] if len(layer) else size
        broken = np.zeros(len(layer), np.int64)
        for span, value in layer.fragments.items():
            broken[span] = parts[value]
        start = base[layer.doc] + layer.start
        key = ((start * width + size) * max(len(types), 1) + code) * (len(parts) + 1) + broken
        key, span = np.unique(key, return_index=True)
        found.append(_Spans(layer, span, start[span], base[layer.doc[span]] + layer.end[span], key))
    return found


__all__: Sequence[str] = ("LEAST", "NOTHING", "against_all")
