"""Questions about surface forms: forms with several types, and forms annotated in some places but not in others."""

from __future__ import annotations

from collections.abc import Callable

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
from nereval_core.arrays import Int64

LEAST_SHARE = 0.05
"""A form annotated in a smaller share of its places is probably another word, and is not a finding."""
NOT_ANNOTATED, INSIDE = "not annotated", "inside another span"


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
        skipped.append(f"{_number_of_forms(bare)} of one letter or without any left out")
    if few := int(rare.sum()):
        skipped.append(f"{_number_of_forms(few)} annotated in under {LEAST_SHARE:.0%} of their places left out")
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


def _number_of_forms(number: int) -> str:
    return f"{number:,} form{'' if number == 1 else 's'}"


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
        [f"{_number_of_forms(apart)} told apart by case, annotated otherwise in capitals or small letters"]
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
