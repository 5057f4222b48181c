"""Attributes of `nereval_core.ledger.attributes` that compare criteria on a record's spans.

`gap NAME` is the cause of the part that a gold span has in the gap of F1 from NAME to the records' criterion, and
`credit NAME` whether it earns more or less credit under the latter; `flips NAME` whether the decision is another one.
`recovered A,B,C` is the first of these criteria, A aside, that credits a gold span which A does not. `merging
DNA,RNA>nucleic` is the decision once types are merged; `fold 10 0` is the fold of the document, by number and seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.criteria.gap import CAUSES, CHAIN, GAIN, ordered_gap, recover_spans
from nereval_core.analysis.criteria.sensitivity import document_folds, merge_types
from nereval_core.analysis.crosstab import check_comparable
from nereval_core.analysis.span_relations import corresponding_spans
from nereval_core.problems import FormatError
from nereval_core.records.tables import DECISIONS
from nereval_core.review.attribute import Attribute, Records
from nereval_core.scoring import Scores

FLIPS = ("yes", "no")


def gap(records: Records, argument: str) -> Attribute | None:
    """Return the cause of each gold span's part in the gap from a criterion to that of the records; CAUSES."""
    scores = _comparable(records, [argument])
    if scores is None:
        return None
    return Attribute(_of_gold(records, ordered_gap(scores, argument, records.criterion).cause), CAUSES)


def credit(records: Records, argument: str) -> Attribute | None:
    """Return whether each gold span earns more credit under the records' criterion than under another; GAIN."""
    scores = _comparable(records, [argument])
    if scores is None:
        return None
    return Attribute(_of_gold(records, ordered_gap(scores, argument, records.criterion).gain()), GAIN)


def flips(records: Records, argument: str) -> Attribute | None:
    """Return whether another criterion decides otherwise about each record's gold span, else its prediction; FLIPS."""
    scores = _comparable(records, [argument])
    if scores is None:
        return None
    sides = zip(scores.decisions(records.criterion), scores.decisions(argument), strict=True)
    gold, pred = ((one == other).astype(np.int8) for one, other in sides)
    return Attribute(records.rows.of_spans(gold, pred), FLIPS)


def first_credited(records: Records, argument: str) -> Attribute | None:
    """Return the first criterion of a chain that credits each gold span which the first of all does not."""
    chain = tuple(argument.split(",")) if argument else CHAIN
    scores = _comparable(records, chain)
    if scores is None:
        return None
    found = recover_spans(scores, chain)
    return Attribute(_of_gold(records, found.codes), found.names)


def merging(records: Records, argument: str) -> Attribute | None:
    """Return the decision of each record's gold span, else of its prediction, once types are merged; DECISIONS."""
    merge = merge_of(argument)
    if merge is None:
        return None
    after = merge_types(records.scores, merge, [records.criterion])
    sides = []
    layers = zip(records.scores.layers(records.criterion), after.layers(records.criterion), strict=True)
    for (before, later), decisions in zip(layers, after.decisions(records.criterion), strict=True):
        places = corresponding_spans(before, later)
        sides.append(np.where(places < 0, -1, np.append(decisions, 0).astype(np.int8)[places]).astype(np.int8))
    return Attribute(records.rows.of_spans(sides[0], sides[1]), DECISIONS)


def fold(records: Records, argument: str) -> Attribute | None:
    """Return the fold of each record's document, from 1; the argument is how many and the seed."""
    numbers = argument.split()
    if len(numbers) != 2 or not all(number.isdecimal() and len(number) < 10 for number in numbers):
        return None
    try:
        found = document_folds(records.scores.documents, *map(int, numbers))
    except FormatError:
        return None
    return Attribute(found[records.rows.doc], tuple(str(number + 1) for number in range(int(numbers[0]))))


def merge_words(merge: Mapping[str, str]) -> str:
    """Write merges as an attribute's argument: `DNA,RNA>nucleic;x>y`."""
    groups: dict[str, list[str]] = {}
    for member, name in sorted(merge.items()):
        groups.setdefault(name, []).append(member)
    parts = (f"{','.join(map(_escaped, members))}>{_escaped(name)}" for name, members in sorted(groups.items()))
    return ";".join(parts)


def merge_of(words: str) -> dict[str, str] | None:
    """Read what `merge_words` writes, None where it is not a merge."""
    merge: dict[str, str] = {}
    for part in words.split(";"):
        members, arrow, name = part.partition(">")
        kinds = [unquote(kind) for kind in members.split(",")]
        if not arrow or not name or not all(kinds) or any(kind in merge for kind in kinds):
            return None
        merge.update(dict.fromkeys(kinds, unquote(name)))
    return merge


def _escaped(name: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in "%,;>=" else char for char in name)


def _comparable(records: Records, names: Iterable[str]) -> Scores | None:
    """Return scores under the records' criterion and others, None where these do not decide over the same spans."""
    every = list(dict.fromkeys([records.criterion, *names]))
    scores = records.scores
    if records.others is not None:
        scores = records.others.scores(names=every)
    try:
        check_comparable(scores, *every)
    except FormatError:
        return None
    return scores


def _of_gold(records: Records, codes: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the code of each record's gold span, -1 where it has none."""
    return np.append(codes, np.int8(-1))[records.rows.gold]
