"""Sentences about what criteria decide, to be read out; each number opens its records."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nereval_core.analysis.criteria.gap import CAUSES, ELSEWHERE, Gap
from nereval_core.analysis.criteria.rescued_errors import WHOLLY, Recovered
from nereval_core.analysis.sentences import Count, Sentence, count, joined, number_of
from nereval_core.records.queries import Query

WORDS: Mapping[str, str] = {
    "left boundary": "differ at the left boundary",
    "right boundary": "differ at the right boundary",
    "both boundaries": "differ at both boundaries",
    "fragments": "differ in their fragments",
    "type": "differ in type",
    "boundary and type": "differ in boundary and type",
    ELSEWHERE: "are aligned otherwise",
}
"""What the spans of each cause do, of CAUSES."""


def gap_sentence(found: Gap) -> Sentence:
    """Say how many gold spans earn more and less credit under the looser criterion, and what most of the former are.

    The records are those under the looser criterion.
    """
    spans = len(found.change)
    more, less = int((found.change > 0).sum()), int((found.change < 0).sum())
    if not spans:
        return ()
    credit = f"credit {found.strict}"
    parts: list[str | Count] = [
        f"Of {number_of('gold span', spans)} ",
        count(more, Query(having=((credit, "more"),)), spans),
        f" earn more credit under {found.loose} than under {found.strict}",
    ]
    if less:
        parts += [" and ", count(less, Query(having=((credit, "less"),))), " less"]
    if more:
        sums = np.bincount(found.cause[found.change > 0], minlength=len(CAUSES))
        cause = CAUSES[int(sums.argmax())]
        query = Query(having=((f"gap {found.strict}", cause), (credit, "more")))
        parts += ["; ", count(int(sums.max()), query, more), f" of these {WORDS[cause]}"]
    return joined([*parts, "."])


def recovered_sentence(found: Recovered, first: str, argument: str = "") -> Sentence:
    """Say how many gold spans the first criterion of a chain does not find, and what becomes of most of them.

    The records are those under that criterion; `argument` is the chain where it is not the usual one.
    """
    counts = np.bincount(found.codes[found.codes >= 0], minlength=len(found.names))
    missed, spans = int(counts.sum()), len(found.codes)
    if not spans:
        return ()
    word = f"recovered {argument}".strip()
    parts: list[str | Count] = [
        f"Of {number_of('gold span', spans)} ",
        count(missed, Query(decision=("INC", "PAR", "MIS")), spans),
        f" are not found under {first}",
    ]
    near = counts[:-2]
    if near.any():
        name = found.names[int(near.argmax())]
        most = count(int(near.max()), Query(having=((word, name),)), missed)
        parts += ["; ", most, f" of these are first credited by {name}"]
    if missed:
        wholly = count(int(counts[-1]), Query(having=((word, WHOLLY),)), missed)
        parts += [", and " if near.any() else "; ", wholly, " no prediction overlaps"]
    return joined([*parts, "."])
