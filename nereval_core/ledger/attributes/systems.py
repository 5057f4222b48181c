"""Attributes of `nereval_core.ledger.attributes` that compare systems on a record's spans.

`by SYSTEM` is the other system's decision over the gold span, `predicted-by SYSTEM` its decision over the same
prediction or "not predicted", `against SYSTEM` who of the two is right, `right-by` how many of all systems are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.crosstab import (
    GOLD_STATES,
    NOT_PREDICTED,
    PRED_STATES,
    are_comparable,
    right_count_names,
    right_system_counts,
    same_predictions,
)
from nereval_core.review.attribute import Attribute, Records
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision

BOTH_RIGHT, ONLY_THIS, ONLY_OTHER, BOTH_WRONG = "both right", "only this right", "only the other right", "both wrong"
SPURIOUS_BOTH, SPURIOUS_HERE = "spurious in both", "spurious here only"
AGAINST = (BOTH_RIGHT, ONLY_THIS, ONLY_OTHER, BOTH_WRONG, SPURIOUS_BOTH, SPURIOUS_HERE)
"""Comparison of a record with another system: the first four are about gold spans, where right is COR."""


def by(records: Records, argument: str) -> Attribute | None:
    """Return what another system decides over each record's gold span; spurious predictions have nothing."""
    other = _other(records, argument)
    return None if other is None else Attribute(_of_gold(records, other.decisions(records.criterion)[0]), GOLD_STATES)


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
    return Attribute(_of_pred(records, np.append(states, np.int8(PRED_STATES.index(NOT_PREDICTED)))[same]), PRED_STATES)


def against(records: Records, argument: str) -> Attribute | None:
    """Return which of two systems is right about each record's gold span, and for spurious predictions, whether
    the other one makes the same; AGAINST."""
    other = _other(records, argument)
    if other is None:
        return None
    name = records.criterion
    mine, theirs = ((scores.decisions(name)[0] != Decision.COR).astype(np.int8) for scores in (records.scores, other))
    found = _of_gold(records, 2 * mine + theirs)
    same = same_predictions(records.scores, other, name)
    spurious = records.scores.decisions(name)[1] == Decision.SPU
    shared = np.append(other.decisions(name)[1] == Decision.SPU, False)[same]
    codes = np.where(shared, AGAINST.index(SPURIOUS_BOTH), AGAINST.index(SPURIOUS_HERE)).astype(np.int8)
    of_pred = _of_pred(records, np.where(spurious, codes, np.int8(-1)))
    return Attribute(np.where(found >= 0, found, of_pred), AGAINST)


def right(records: Records, argument: str) -> Attribute | None:
    """Return the number of systems that get each record's gold span right: none, 1, ... all."""
    if argument or records.others is None:
        return None
    name = records.criterion
    every = [records.others.scores(system, [name]) for system in records.others.systems]
    if not all(are_comparable(records.scores, other, name) for other in every):
        return None
    return Attribute(_of_gold(records, right_system_counts(every, name)), right_count_names(len(every)))


def _other(records: Records, system: str) -> Scores | None:
    if records.others is None or system not in records.others.systems:
        return None
    other = records.others.scores(system, [records.criterion])
    return other if are_comparable(records.scores, other, records.criterion) else None


def _of_gold(records: Records, values: NDArray[Any]) -> NDArray[np.int16]:
    """Return the value of each record's gold span where the span names the record, else -1."""
    return _chosen(values, np.where(records.rows.anchored, records.rows.gold, -1))


def _of_pred(records: Records, values: NDArray[Any]) -> NDArray[np.int16]:
    """Return the value of each record's prediction; counting each side for itself, only where it names the record."""
    rows = records.rows
    own = ~rows.anchored if records.scores.settings.counting == "each-side" else rows.pred >= 0
    return _chosen(values, np.where(own, rows.pred, -1))


def _chosen(values: NDArray[Any], spans: NDArray[Any]) -> NDArray[np.int16]:
    found: NDArray[np.int16] = np.append(values.astype(np.int16), np.int16(-1))[spans]
    return found


__all__: Sequence[str] = (
    "AGAINST",
    "BOTH_RIGHT",
    "BOTH_WRONG",
    "ONLY_OTHER",
    "ONLY_THIS",
    "SPURIOUS_BOTH",
    "SPURIOUS_HERE",
    "against",
    "by",
    "predicted_by",
    "right",
)
