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


def find_forms_with_several_types(given: IndexedLayer) -> RankedFindings:
    """Find the surface forms that are annotated with different types in different places.

    A spot with several types at once counts as a way of its own, such as `DNA + RNA`.
    """
    annotated = _annotated_occurrences(given)
    of, _, _, types = annotated
    width = len(given.spots.names)
    ways = np.bincount(
        count_distinct(of.astype(np.int64) * width + types)[0] // width, minlength=len(given.spellings.base)
    )
    return rank_findings(
        select_occurrences(annotated, ways[of] > 1),
        describe=_form_description(given),
        group_name=given.spots.names.__getitem__,
        votes=np.arange(width),
        skipped=_case_notes(given),
    )


def find_forms_not_annotated_everywhere(given: IndexedLayer) -> RankedFindings:
    """Find the surface forms that are annotated in some places and occur in others without any annotation.

    Occurrences inside a longer span are listed but do not vote. Occurrences that overlap a shorter span, or one across
    an edge, belong to the question of nesting. Forms of one letter or without letters, and forms annotated in a share
    below LEAST_SHARE, are skipped.
    """
    forms, hits, free = given.forms, given.hits, given.free
    annotated = _annotated_occurrences(given)
    spellings = given.spellings
    size, bare_forms = len(spellings.base), forms.bare[spellings.base]
    high = hits.word + hits.size
    of = spellings.number(hits.form, hits.word, high)
    known = of >= 0
    here = np.bincount(annotated[0], minlength=size)
    there = np.bincount(of[free], minlength=size)
    both = (here > 0) & (there > 0)
    rare = both & ~bare_forms & (here < LEAST_SHARE * (here + there))
    asked = both & ~bare_forms & ~rare
    inside = np.flatnonzero(asked[of] & known & ~free)
    inside = inside[_inside_longer_spots(given, hits.word[inside], high[inside])]
    names = (*given.spots.names, NOT_ANNOTATED, INSIDE)
    parts = [select_occurrences(annotated, asked[annotated[0]])]
    for some, name in ((np.flatnonzero(free & asked[of]), NOT_ANNOTATED), (inside, INSIDE)):
        group = np.full(len(some), names.index(name), np.int32)
        parts.append((of[some], *given.stretch(hits.word[some], high[some]), group))
    votes = np.array([*(0 for _ in given.spots.names), 1, -1])
    skipped = _case_notes(given)
    if bare := int((both & bare_forms).sum()):
        skipped.append(f"{_number_of_forms(bare)} of one letter or without any left out")
    if few := int(rare.sum()):
        skipped.append(f"{_number_of_forms(few)} annotated in under {LEAST_SHARE:.0%} of their places left out")
    return rank_findings(
        concatenate_occurrences(*parts),
        describe=_form_description(given),
        group_name=names.__getitem__,
        votes=votes,
        skipped=skipped,
    )


def _form_description(given: IndexedLayer) -> Callable[[int], tuple[str, str]]:
    texts, spellings = given.texts, given.spellings

    def describe(number: int) -> tuple[str, str]:
        words = spellings.example(number)
        return (texts.of_form(number) if words is None else texts.of_spelling(*words)), ""

    return describe


def _number_of_forms(number: int) -> str:
    return f"{number:,} form{'' if number == 1 else 's'}"


def _annotated_occurrences(given: IndexedLayer) -> Occurrences:
    """Return the spots that have a form, and their types."""
    spots = given.spots
    form = given.forms.code[spots.span]
    some = form >= 0
    own = (column[spots.span[some]] for column in given.places.own)
    return given.spellings.number(form[some], *own), *given.bounds(spots.span[some]), spots.types[some]


def _case_notes(given: IndexedLayer) -> list[str]:
    """Return a note on the number of forms told apart by case, unless the user decided on case."""
    apart = given.spellings.apart if given.case == "differs" else 0
    return (
        [f"{_number_of_forms(apart)} told apart by case, annotated otherwise in capitals or small letters"]
        if apart
        else []
    )


def _inside_longer_spots(given: IndexedLayer, low: Int64, high: Int64) -> NDArray[np.bool_]:
    """Tell which stretches of words are inside a longer spot and are not spots themselves."""
    spans, words = given.spots.span, given.places.words
    begin, stop, whole = (column[spans] for column in (given.places.low, given.places.high, given.places.whole))
    some = stop > begin
    start, end = given.bounds(spans[some])
    reach = np.zeros(given.document_words + 1, np.int64)
    # Words that a spot covers only in part are not inside it.
    first = begin[some] + (words.start[begin[some]] < start)
    np.maximum.at(reach, first, stop[some] - (words.end[stop[some] - 1] > end))
    reach = np.maximum.accumulate(reach)
    width = given.document_words + 1
    # Spots with white space at an edge are not in the order of their words; the last key is that of no stretch.
    own = np.sort(np.append((begin * width + stop)[whole], width * width), kind="stable")
    key = low * width + high
    return np.asarray((reach[low] >= high) & (own[np.searchsorted(own, key)] != key), bool)
