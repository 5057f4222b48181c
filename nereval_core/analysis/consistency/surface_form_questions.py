"""Questions about surface forms: which have several types, which are annotated here and not there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.consistency.findings import Found, Occurrences, chosen, counted, found_of, joined
from nereval_core.analysis.consistency.questioned_layer import Inspected
from nereval_core.arrays import Int64

LEAST_SHARE = 0.05
"""A form annotated in a smaller share of its places is taken for another word, and is no finding."""
NOT, INSIDE = "not annotated", "inside another span"


def several_types(given: Inspected) -> Found:
    """Find the surface forms that are annotated now with one type, now with another.

    A spot with several types at once counts as one way of its own, such as `DNA + RNA`.
    """
    annotated = _annotated(given)
    of, _, _, types = annotated
    width = len(given.spots.names)
    ways = np.bincount(counted(of.astype(np.int64) * width + types)[0] // width, minlength=len(given.cases.base))
    return found_of(
        chosen(annotated, ways[of] > 1),
        what=lambda form: (given.form(form), ""),
        named=given.spots.names.__getitem__,
        votes=np.arange(width),
        skipped=_told_apart(given),
    )


def not_everywhere(given: Inspected) -> Found:
    """Find the surface forms that are annotated at some places and stand at others without any annotation.

    A form inside a longer span counts for neither; such places are listed beside. Those that a shorter span or one
    across an edge shares a character with are left to the question of nesting. Left out are forms of one letter or
    without any, and those annotated in a share below LEAST_SHARE.
    """
    forms, hits, free = given.forms, given.hits, given.free
    annotated = _annotated(given)
    cases = given.cases
    size, bare_forms = len(cases.base), forms.bare[cases.base]
    high = hits.word + hits.size
    of = cases.number(hits.form, hits.word, high)
    known = of >= 0
    here = np.bincount(annotated[0], minlength=size)
    there = np.bincount(of[free], minlength=size)
    both = (here > 0) & (there > 0)
    rare = both & ~bare_forms & (here < LEAST_SHARE * (here + there))
    asked = both & ~bare_forms & ~rare
    inside = np.flatnonzero(asked[of] & known & ~free)
    inside = inside[_within(given, hits.word[inside], high[inside])]
    names = (*given.spots.names, NOT, INSIDE)
    parts = [chosen(annotated, asked[annotated[0]])]
    for some, name in ((np.flatnonzero(free & asked[of]), NOT), (inside, INSIDE)):
        group = np.full(len(some), names.index(name), np.int32)
        parts.append((of[some], *given.stretch(hits.word[some], high[some]), group))
    votes = np.array([*(0 for _ in given.spots.names), 1, -1])
    skipped = _told_apart(given)
    if bare := int((both & bare_forms).sum()):
        skipped.append(f"{_forms(bare)} of one letter or without any left out")
    if few := int(rare.sum()):
        skipped.append(f"{_forms(few)} annotated in under {LEAST_SHARE:.0%} of their places left out")
    return found_of(
        joined(*parts),
        what=lambda form: (given.form(form), ""),
        named=names.__getitem__,
        votes=votes,
        skipped=skipped,
    )


def _forms(number: int) -> str:
    return f"{number:,} form{'' if number == 1 else 's'}"


def _annotated(given: Inspected) -> Occurrences:
    """Return the spots that have a form, and their types."""
    spots = given.spots
    form = given.forms.code[spots.span]
    some = form >= 0
    own = (column[spots.span[some]] for column in given.places.own)
    return given.cases.number(form[some], *own), *given.bounds(spots.span[some]), spots.types[some]


def _told_apart(given: Inspected) -> list[str]:
    """Say how many forms are told apart by case, where that is not asked for."""
    apart = given.cases.apart if given.case == "differs" else 0
    return [f"{_forms(apart)} told apart by case, annotated otherwise in capitals or small letters"] if apart else []


def _within(given: Inspected, low: Int64, high: Int64) -> NDArray[np.bool_]:
    """Tell which stretches of words are within a longer spot and no spot of their own."""
    spans, words = given.spots.span, given.places.words
    begin, stop, whole = (column[spans] for column in (given.places.low, given.places.high, given.places.whole))
    some = stop > begin
    start, end = given.bounds(spans[some])
    reach = np.zeros(given.many + 1, np.int64)
    # Of the words that a spot shares characters with, only those it has all of are within it.
    first = begin[some] + (words.start[begin[some]] < start)
    np.maximum.at(reach, first, stop[some] - (words.end[stop[some] - 1] > end))
    reach = np.maximum.accumulate(reach)
    width = given.many + 1
    # With white space at an edge spots do not stand in the order of their words; the last key is none of any stretch.
    own = np.sort(np.append((begin * width + stop)[whole], width * width), kind="stable")
    key = low * width + high
    return np.asarray((reach[low] >= high) & (own[np.searchsorted(own, key)] != key), bool)


__all__: Sequence[str] = ("INSIDE", "LEAST_SHARE", "NOT", "not_everywhere", "several_types")
