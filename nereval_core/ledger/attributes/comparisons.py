"""Attributes that compare criteria, or systems, on a record's spans.

`gap NAME` is the cause of the part that a gold span has in the gap of F1 from NAME to the records' criterion, and
`forgiven NAME` that cause by its kind; `credit NAME` whether it earns more or less credit under the latter, `changed
NAME` whether it earns another one. `NAME>OTHER` names both criteria, whichever the records are listed under.
`flips NAME` is whether the decision is another one.
`recovered A,B,C` is the first of these criteria, A aside, that credits a gold span which A does not. `merging
DNA,RNA>nucleic` is the decision once types are merged; `fold 10 0` is the fold of the document, by number and seed.

`by SYSTEM` is the other system's decision over the gold span, `predicted-by SYSTEM` its decision over the same
prediction or "not predicted", `against SYSTEM` who of the two is right, `right-by` how many of all systems are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import unquote

import numpy as np

from nereval_core.analysis.criteria.gap import CAUSES, CHAIN, GAIN, KINDS, Gap, ordered_gap, recover_spans
from nereval_core.analysis.criteria.sensitivity import document_folds, merge_types
from nereval_core.analysis.crosstab import (
    GOLD_STATES,
    NOT_PREDICTED,
    PRED_STATES,
    are_comparable,
    check_comparable,
    right_count_names,
    right_system_counts,
    same_predictions,
)
from nereval_core.analysis.span_relations import corresponding_spans
from nereval_core.corpus.arrays import Array
from nereval_core.problems import FormatError
from nereval_core.records.queries import BETWEEN
from nereval_core.records.tables import DECISIONS
from nereval_core.review.attribute import Attribute, Records
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision

FLIPS = ("yes", "no")
BOTH_RIGHT, ONLY_THIS, ONLY_OTHER, BOTH_WRONG = "both right", "only this right", "only the other right", "both wrong"
SPURIOUS_BOTH, SPURIOUS_HERE = "spurious in both", "spurious here only"
AGAINST = (BOTH_RIGHT, ONLY_THIS, ONLY_OTHER, BOTH_WRONG, SPURIOUS_BOTH, SPURIOUS_HERE)
"""Comparison of a record with another system: the first four are about gold spans, where right is COR."""


def gap(records: Records, argument: str) -> Attribute | None:
    """Return the cause of each gold span's part in the gap from a criterion to that of the records; CAUSES."""
    gap = _gap(records, argument)
    return None if gap is None else Attribute(_of_gold(records, gap.cause), CAUSES)


def forgiven(records: Records, argument: str) -> Attribute | None:
    """Return the kind of the cause of each gold span's part in the gap from a criterion; KINDS."""
    gap = _gap(records, argument)
    return None if gap is None else Attribute(_of_gold(records, gap.kinds()), tuple(KINDS))


def credit(records: Records, argument: str) -> Attribute | None:
    """Return whether each gold span earns more credit under the records' criterion than under another; GAIN."""
    gap = _gap(records, argument)
    return None if gap is None else Attribute(_of_gold(records, gap.gain()), GAIN)


def changed(records: Records, argument: str) -> Attribute | None:
    """Return whether each gold span earns another credit under the records' criterion than under another; FLIPS."""
    gap = _gap(records, argument)
    return None if gap is None else Attribute(_of_gold(records, (gap.change == 0).astype(np.int8)), FLIPS)


def _gap(records: Records, argument: str) -> Gap | None:
    strict, _, loose = argument.partition(BETWEEN)
    scores = _comparable(records, [strict, *([loose] if loose else [])])
    return None if scores is None else ordered_gap(scores, strict, loose or records.criterion)


def flips(records: Records, argument: str) -> Attribute | None:
    """Return whether another criterion decides otherwise about each record's gold span, else its prediction; FLIPS."""
    scores = _comparable(records, [argument])
    if scores is None:
        return None
    sides = zip(scores.decisions(records.criterion), scores.decisions(argument), strict=True)
    gold, pred = ((own == other).astype(np.int8) for own, other in sides)
    return Attribute(records.rows.of_spans(gold, pred), FLIPS)


def first_credited(records: Records, argument: str) -> Attribute | None:
    """Return the first criterion of a chain that credits each gold span which the first of all does not."""
    chain = tuple(argument.split(",")) if argument else CHAIN
    scores = _comparable(records, chain)
    if scores is None:
        return None
    recovered = recover_spans(scores, chain)
    return Attribute(_of_gold(records, recovered.codes), recovered.names)


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
        folds = document_folds(records.scores.documents, *map(int, numbers))
    except FormatError:
        return None
    return Attribute(folds[records.rows.doc], tuple(str(number + 1) for number in range(int(numbers[0]))))


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
    criteria = list(dict.fromkeys([records.criterion, *names]))
    scores = records.scores
    if records.others is not None:
        scores = records.others.scores(names=criteria)
    try:
        check_comparable(scores, *criteria)
    except FormatError:
        return None
    return scores


def _of_gold(records: Records, codes: Array) -> Array:
    """Return the code of each record's gold span, -1 where it has none."""
    return np.append(codes, np.int8(-1))[records.rows.gold]


def by(records: Records, argument: str) -> Attribute | None:
    """Return what another system decides over each record's gold span; spurious predictions have nothing."""
    other = _other(records, argument)
    return (
        None
        if other is None
        else Attribute(_of_named_gold(records, other.decisions(records.criterion)[0]), GOLD_STATES)
    )


def predicted_by(records: Records, argument: str) -> Attribute | None:
    """Return what another system decides over the same prediction, "not predicted" where it has none; PRED_STATES.

    The same is the same document, fragments and type. Missed gold spans have nothing.
    """
    other = _other(records, argument)
    if other is None:
        return None
    decided = other.decisions(records.criterion)[1].astype(np.int8)
    states = np.where(decided == Decision.SPU, PRED_STATES.index("SPU"), decided).astype(np.int8)
    same = same_predictions(records.scores, other, records.criterion)
    return Attribute(
        _of_named_pred(records, np.append(states, np.int8(PRED_STATES.index(NOT_PREDICTED)))[same]), PRED_STATES
    )


def against(records: Records, argument: str) -> Attribute | None:
    """Return which of two systems is right about each record's gold span, and for spurious predictions, whether
    the other one makes the same; AGAINST."""
    other = _other(records, argument)
    if other is None:
        return None
    name = records.criterion
    own, others = ((scores.decisions(name)[0] != Decision.COR).astype(np.int8) for scores in (records.scores, other))
    of_gold = _of_named_gold(records, 2 * own + others)
    same = same_predictions(records.scores, other, name)
    spurious = records.scores.decisions(name)[1] == Decision.SPU
    shared = np.append(other.decisions(name)[1] == Decision.SPU, False)[same]
    codes = np.where(shared, AGAINST.index(SPURIOUS_BOTH), AGAINST.index(SPURIOUS_HERE)).astype(np.int8)
    of_pred = _of_named_pred(records, np.where(spurious, codes, np.int8(-1)))
    return Attribute(np.where(of_gold >= 0, of_gold, of_pred), AGAINST)


def right(records: Records, argument: str) -> Attribute | None:
    """Return the number of systems that get each record's gold span right: none, 1, ... all."""
    if argument or records.others is None:
        return None
    name = records.criterion
    scores = [records.others.scores(system, [name]) for system in records.others.systems]
    if not all(are_comparable(records.scores, other, name) for other in scores):
        return None
    return Attribute(_of_named_gold(records, right_system_counts(scores, name)), right_count_names(len(scores)))


def _other(records: Records, system: str) -> Scores | None:
    if records.others is None or system not in records.others.systems:
        return None
    other = records.others.scores(system, [records.criterion])
    return other if are_comparable(records.scores, other, records.criterion) else None


def _of_named_gold(records: Records, values: Array) -> Array:
    """Return the value of each record's gold span where the span names the record, else -1."""
    return _values_of(values, np.where(records.rows.anchored, records.rows.gold, -1))


def _of_named_pred(records: Records, values: Array) -> Array:
    """Return the value of each record's prediction; counting each side for itself, only where it names the record."""
    rows = records.rows
    is_named = ~rows.anchored if records.scores.settings.counting == "each-side" else rows.pred >= 0
    return _values_of(values, np.where(is_named, rows.pred, -1))


def _values_of(values: Array, spans: Array) -> Array:
    return np.asarray(np.append(values.astype(np.int16), np.int16(-1))[spans])
