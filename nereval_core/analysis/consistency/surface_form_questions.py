"""Questions about surface forms: several types, annotated in some places only, annotated as in no other layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.consistency.findings import (
    Occurrences,
    RankedFindings,
    concatenate_occurrences,
    count_distinct,
    rank_findings,
    select_occurrences,
)
from nereval_core.analysis.consistency.indexed_layer import IndexedLayer
from nereval_core.analysis.running_words import form_of
from nereval_core.analysis.sentences import number_with_noun
from nereval_core.analysis.span_relations import span_keys
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Bools, Int64

LEAST_SHARE = 0.05
"""A form annotated in a smaller share of its places is probably another word, and is not a finding."""
NOT_ANNOTATED, INSIDE = "not annotated", "inside another span"
LEAST_OTHERS = 2
"""Other layers that must agree for their agreement to count."""
NOTHING = "nothing"


def find_forms_with_several_types(indexed: IndexedLayer) -> RankedFindings:
    """Find the surface forms that are annotated with different types in different places.

    A spot with several types at once counts as a way of its own, such as `DNA + RNA`.
    """
    annotated = _annotated_occurrences(indexed)
    of, _, _, types = annotated
    width = len(indexed.spots.names)
    ways = np.bincount(
        count_distinct(of.astype(np.int64) * width + types)[0] // width, minlength=len(indexed.spellings.base)
    )
    return rank_findings(
        select_occurrences(annotated, ways[of] > 1),
        describe=_form_description(indexed),
        group_name=indexed.spots.names.__getitem__,
        votes=np.arange(width),
        skipped=_case_notes(indexed),
    )


def find_forms_not_annotated_everywhere(indexed: IndexedLayer) -> RankedFindings:
    """Find the surface forms that are annotated in some places and occur in others without any annotation.

    Occurrences inside a longer span are listed but do not vote. Occurrences that overlap a shorter span, or one across
    an edge, belong to the question of nesting. Forms of one letter or without letters, and forms annotated in a share
    below LEAST_SHARE, are skipped.
    """
    forms, hits, free = indexed.forms, indexed.hits, indexed.free
    annotated = _annotated_occurrences(indexed)
    spellings = indexed.spellings
    size, bare_forms = len(spellings.base), forms.bare[spellings.base]
    high = hits.word + hits.size
    of = spellings.number(hits.form, hits.word, high)
    has_form = of >= 0
    here = np.bincount(annotated[0], minlength=size)
    n_free = np.bincount(of[free], minlength=size)
    both = (here > 0) & (n_free > 0)
    rare = both & ~bare_forms & (here < LEAST_SHARE * (here + n_free))
    is_asked = both & ~bare_forms & ~rare
    inside = np.flatnonzero(is_asked[of] & has_form & ~free)
    inside = inside[_inside_longer_spots(indexed, hits.word[inside], high[inside])]
    names = (*indexed.spots.names, NOT_ANNOTATED, INSIDE)
    parts = [select_occurrences(annotated, is_asked[annotated[0]])]
    for occurrences, name in ((np.flatnonzero(free & is_asked[of]), NOT_ANNOTATED), (inside, INSIDE)):
        group = np.full(len(occurrences), names.index(name), np.int32)
        parts.append((of[occurrences], *indexed.stretch(hits.word[occurrences], high[occurrences]), group))
    votes = np.array([*(0 for _ in indexed.spots.names), 1, -1])
    skipped = _case_notes(indexed)
    if bare := int((both & bare_forms).sum()):
        skipped.append(f"{number_with_noun('form', bare)} of one letter or without any left out")
    if few := int(rare.sum()):
        skipped.append(f"{number_with_noun('form', few)} annotated in under {LEAST_SHARE:.0%} of their places left out")
    return rank_findings(
        concatenate_occurrences(*parts),
        describe=_form_description(indexed),
        group_name=names.__getitem__,
        votes=votes,
        skipped=skipped,
    )


def _form_description(indexed: IndexedLayer) -> Callable[[int], tuple[str, str]]:
    texts, spellings = indexed.texts, indexed.spellings

    def describe(number: int) -> tuple[str, str]:
        words = spellings.example(number)
        return (texts.of_form(number) if words is None else texts.of_spelling(*words)), ""

    return describe


def _annotated_occurrences(indexed: IndexedLayer) -> Occurrences:
    """Return the spots that have a form, and their types."""
    spots = indexed.spots
    form = indexed.forms.code[spots.span]
    has_form = form >= 0
    own = (column[spots.span[has_form]] for column in indexed.places.own)
    return indexed.spellings.number(form[has_form], *own), *indexed.bounds(spots.span[has_form]), spots.types[has_form]


def _case_notes(indexed: IndexedLayer) -> list[str]:
    """Return a note on the number of forms told apart by case, unless the user decided on case."""
    apart = indexed.spellings.apart if indexed.case == "differs" else 0
    return (
        [f"{number_with_noun('form', apart)} told apart by case, annotated otherwise in capitals or small letters"]
        if apart
        else []
    )


def _inside_longer_spots(indexed: IndexedLayer, low: Int64, high: Int64) -> NDArray[np.bool_]:
    """Tell which stretches of words are inside a longer spot and are not spots themselves."""
    spans, words = indexed.spots.span, indexed.places.words
    begin, stop, whole = (column[spans] for column in (indexed.places.low, indexed.places.high, indexed.places.whole))
    has_words = stop > begin
    start, end = indexed.bounds(spans[has_words])
    reach = np.zeros(indexed.document_words + 1, np.int64)
    # Words that a spot covers only in part are not inside it.
    first = begin[has_words] + (words.start[begin[has_words]] < start)
    np.maximum.at(reach, first, stop[has_words] - (words.end[stop[has_words] - 1] > end))
    reach = np.maximum.accumulate(reach)
    width = indexed.document_words + 1
    # Spots with white space at an edge are not in the order of their words; the last key is that of no stretch.
    own = np.sort(np.append((begin * width + stop)[whole], width * width), kind="stable")
    key = low * width + high
    return np.asarray((reach[low] >= high) & (own[np.searchsorted(own, key)] != key), bool)


def find_lone_disagreements(indexed: IndexedLayer) -> RankedFindings:
    """Find the spans on which all other layers agree against the layer.

    These are spans that no other layer has, where the others have exactly the same overlapping spans, or none; and
    spans that all others have where the layer has none. Each needs settling. Spans in fragments count as their hulls.
    """
    ours, *rest = _distinct_spans((indexed.layer, *indexed.others))
    agreed = rest[0]
    for other in rest[1:]:
        agreed = agreed.take(agreed.among(other))
    # Spans without a word are found as odd ends.
    silent = ~ours.among(agreed) & (indexed.forms.code[ours.span] >= 0)
    for other in rest:
        silent &= ~ours.among(other)
    shared = agreed.shared_with(ours)
    same = silent & (shared > 0)
    for other in rest:
        is_shared = other.shared_with(ours)
        silent &= is_shared == 0
        same &= is_shared == shared
    parts, names = _lone_spans(indexed, ours, agreed, silent, same)
    more, forms = _missing_spans(indexed, agreed, np.flatnonzero(ours.shared_with(agreed) == 0), names)
    n_forms, texts = len(indexed.forms.size), indexed.texts
    return rank_findings(
        concatenate_occurrences(*parts, more),
        describe=lambda form: (texts.of_form(form) if form < n_forms else forms[form - n_forms], ""),
        group_name=names.__getitem__,
    )


def _lone_spans(
    indexed: IndexedLayer, ours: _Spans, agreed: _Spans, silent: Bools, same: Bools
) -> tuple[list[Occurrences], list[str]]:
    """Return the spans that no other layer has, where these are `silent` or have the `same` spans instead.

    The names of their groups come second.
    """
    layer, kinds = indexed.layer, len(indexed.layer.types)
    names = [f"{kind} here, {NOTHING} in all others" for kind in layer.types]
    spans = np.flatnonzero(silent)
    parts = [(spans, layer.type[ours.span[spans]].astype(np.int64))]
    spans = np.flatnonzero(same)
    met = agreed.first_met(ours.start[spans])
    own, other = layer.type[ours.span[spans]], agreed.layer.type[agreed.span[met]]
    equal = (agreed.start[met] == ours.start[spans]) & (agreed.end[met] == ours.end[spans])
    names += [f"{kind} here, {other_kind} in all others" for kind in layer.types for other_kind in agreed.layer.types]
    parts.append((spans[equal], kinds + own[equal].astype(np.int64) * len(agreed.layer.types) + other[equal]))
    number: dict[str, int] = {}
    rest = np.flatnonzero(~equal)
    group = np.zeros(len(rest), np.int64)
    for place, at in enumerate(rest.tolist()):
        span = int(agreed.span[met[at]])
        instead = f"{agreed.layer.label(span)} “{form_of(agreed.layer.text(span))}”"
        description = f"{layer.types[int(own[at])]} here, {instead} in all others"
        group[place] = len(names) + number.setdefault(description, len(number))
    parts.append((spans[rest], group))
    return [
        (indexed.forms.code[ours.span[spans]], ours.start[spans], ours.end[spans], group) for spans, group in parts
    ], [
        *names,
        *number,
    ]


def _missing_spans(
    indexed: IndexedLayer, agreed: _Spans, spans: Int64, names: list[str]
) -> tuple[Occurrences, list[str]]:
    """Return the spans that all others have where the layer has none, and the forms that the layer never has.

    These forms are numbered after the layer's own. The names of the groups are appended to `names`.
    """
    words, layer = indexed.places.words, agreed.layer
    start, end = agreed.start[spans], agreed.end[spans]
    low = np.searchsorted(words.start[: indexed.document_words], start)
    high = np.searchsorted(words.end[: indexed.document_words], end, side="right")
    # Only spans of whole words can have a form of the layer.
    whole = (high > low) & np.array([span not in layer.fragments for span in agreed.span[spans].tolist()], bool)
    whole[whole] = (words.start[low[whole]] == start[whole]) & (words.end[high[whole] - 1] == end[whole])
    of = np.full(len(spans), -1, np.int64)
    of[whole] = indexed.forms.find(words, low[whole], high[whole])
    forms: dict[str, int] = {}
    for place in np.flatnonzero(of < 0).tolist():
        form = form_of(layer.text(int(agreed.span[spans[place]])))
        if form:
            of[place] = len(indexed.forms.size) + forms.setdefault(form, len(forms))
    group = len(names) + layer.type[agreed.span[spans]].astype(np.int64)
    names += [f"{NOTHING} here, {kind} in all others" for kind in layer.types]
    return select_occurrences((of, start, end, group), of >= 0), list(forms)


@dataclass(frozen=True, eq=False)
class _Spans:
    """The distinct spans of a layer, sorted by start and end, which count from the beginning of all texts.

    `key` (spans,) is sorted, and the same for equal spans of all layers.
    """

    layer: Layer
    span: Int64
    start: Int64
    end: Int64
    key: Int64

    def take(self, is_taken: Bools) -> _Spans:
        return _Spans(self.layer, self.span[is_taken], self.start[is_taken], self.end[is_taken], self.key[is_taken])

    def among(self, other: _Spans) -> Bools:
        """Tell which of these spans the other layer has too."""
        if not len(other.key):
            return np.zeros(len(self.key), bool)
        place = np.minimum(np.searchsorted(other.key, self.key), len(other.key) - 1)
        return np.equal(other.key[place], self.key)

    def shared_with(self, other: _Spans) -> Int64:
        """Return the number of these spans that share a character with each of the other's, shape (other's,)."""
        begun = np.searchsorted(self.start, other.end, side="left")
        return (begun - np.searchsorted(self._ends, other.start, side="right")).astype(np.int64)

    def first_met(self, start: Int64) -> Int64:
        """Return the first of these spans that ends after each start; it overlaps whenever any does."""
        return np.searchsorted(self._reached, start, side="right").astype(np.int64)

    @cached_property
    def _ends(self) -> Int64:
        return np.sort(self.end)

    @cached_property
    def _reached(self) -> Int64:
        ends: Int64 = np.maximum.accumulate(self.end) if len(self.end) else self.end
        return ends


def _distinct_spans(layers: Sequence[Layer]) -> list[_Spans]:
    """Return the distinct spans of layers over the same documents, with keys that compare."""
    columns = []
    for layer, keys in zip(layers, span_keys(layers), strict=True):
        key, span = np.unique(keys, return_index=True)
        base = layer.documents.base[layer.doc[span]]
        columns.append(_Spans(layer, span, base + layer.start[span], base + layer.end[span], key))
    return columns
