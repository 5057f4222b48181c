"""Transitions: gold spans and predictions by their decision under a baseline and under another system.

Both systems share the gold spans. Two predictions are the same if document, fragments and type are equal. A system may
predict several copies of one; the copies of both systems are paired in the order of their decisions, so that as many as
possible are unchanged, and the rest count as predicted by one system only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.sentences import Sentence, number_with_noun, record_count, sentence_text
from nereval_core.analysis.span_relations import span_keys
from nereval_core.arrays import Int64
from nereval_core.corpus import Layer, frozen
from nereval_core.records.queries import Query
from nereval_core.report.score_tables import Cell, Sheet
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision

NOT_PREDICTED = "not predicted"
GOLD_STATES = ("COR", "INC", "PAR", "MIS")
"""The decisions on gold spans, in the order of Decision."""
PRED_STATES = ("COR", "INC", "PAR", "SPU", NOT_PREDICTED)
"""The decisions on predictions, and the state of a prediction that only the other system makes."""
STATES: Mapping[str, tuple[str, ...]] = {"gold": GOLD_STATES, "pred": PRED_STATES}
TITLES: Mapping[str, str] = {"gold": "Gold spans", "pred": "Predictions"}
ALL_STATES = "all"
FROM_HEAD = "from \\ to"
RIGHT_HEADS = ("right by", "gold spans")
Rows = tuple[tuple[Cell, ...], ...]
TRANSITION_COLUMNS = {"side": "category", "one": "category", "other": "category", "count": "int64"}
RIGHT_COLUMNS = {"right_by": "category", "gold_spans": "int64"}
_STATE = np.array([0, 1, 2, -1, 3], np.int8)
"""The index into PRED_STATES of each decision's code."""


@dataclass(frozen=True, eq=False)
class Transitions:
    """Transition counts: gold spans and predictions by their state under a system (rows) and another (columns).

    `gold` has shape (4, 4), by GOLD_STATES; its sums over either axis are the systems' counts of gold spans. `pred`
    has shape (5, 5), by PRED_STATES; its sums, without NOT_PREDICTED, are the systems' counts of predictions.
    """

    gold: Int64
    pred: Int64

    def frame(self) -> pd.DataFrame:
        """Return one row a cell that is not empty: `side` (gold, pred), `one`, `other` (states), `count`."""
        rows = [
            (side, states[one], states[other], int(counts[one, other]))
            for side, states, counts in (("gold", GOLD_STATES, self.gold), ("pred", PRED_STATES, self.pred))
            for one, other in np.argwhere(counts).tolist()
        ]
        states = pd.CategoricalDtype([*GOLD_STATES, *PRED_STATES[3:]])
        sides = pd.CategoricalDtype(["gold", "pred"])
        made = pd.DataFrame(rows, columns=list(TRANSITION_COLUMNS))
        return made.astype({"side": sides, "one": states, "other": states, "count": "int64"})


def are_comparable(one: Scores, other: Scores, name: str) -> bool:
    """Tell whether two systems can be compared span by span: the criterion decides over the same gold spans in both.

    Criteria that count tokens do not: the predictions of each system cut the runs of tokens.
    """
    for scores in (one, other):
        if name not in {criterion.name for criterion in scores.criteria} or scores.criterion(name).unit != "span":
            return False
    return _same_spans(one.layers(name)[0], other.layers(name)[0])


def _same_spans(mine: Layer, theirs: Layer) -> bool:
    """Tell whether two layers have the same documents and spans, even if they were read from different places."""
    if mine is theirs:
        return True
    documents = mine.documents, theirs.documents
    if documents[0] is not documents[1] and (
        documents[0].ids != documents[1].ids or documents[0].digest != documents[1].digest
    ):
        return False
    if len(mine) != len(theirs) or mine.fragments != theirs.fragments:
        return False
    kinds = [np.array(layer.types, object)[layer.type] for layer in (mine, theirs)]
    columns = ((getattr(mine, key), getattr(theirs, key)) for key in ("doc", "start", "end"))
    return all(np.array_equal(*pair) for pair in (*columns, kinds))


def count_transitions(one: Scores, other: Scores, name: str) -> Transitions:
    """Count gold spans and predictions by their state under two systems.

    Raises:
        ValueError: the criterion is not scored in both, or counts tokens.
    """
    if not are_comparable(one, other, name):
        raise ValueError(f"under {name} the two systems cannot be compared span by span")
    gold = _state_table(one.decisions(name)[0], other.decisions(name)[0], len(GOLD_STATES))
    mine, theirs = (_STATE[scores.decisions(name)[1]] for scores in (one, other))
    same = same_predictions(one, other, name)
    absent = len(PRED_STATES) - 1
    there = np.append(theirs, np.int8(absent))[same]
    alone = np.ones(len(theirs), bool)
    alone[same[same >= 0]] = False
    lone = theirs[alone]
    pred = _state_table(
        np.concatenate((mine, np.full(len(lone), absent))), np.concatenate((there, lone)), len(PRED_STATES)
    )
    return Transitions(gold, pred)


def _state_table(rows: NDArray[np.integer], columns: NDArray[np.integer], size: int) -> Int64:
    cells = np.bincount(rows.astype(np.int64) * size + columns, minlength=size * size)
    return frozen(cells.astype(np.int64).reshape(size, size))


def same_predictions(one: Scores, other: Scores, name: str) -> Int64:
    """Return for each prediction of one system the index of the same prediction of another, -1 where there is none.

    Copies are paired by their decisions, best first, and copies of equal decision by their order in the layer.
    """
    keys = span_keys([scores.layers(name)[1] for scores in (one, other)])
    ranked = []
    for scores, own in zip((one, other), keys, strict=True):
        # Layers are nearly in the order of their keys, which makes a stable sort fast.
        ranked.append(np.argsort(own * len(Decision) + scores.decisions(name)[1], kind="stable"))
    mine, theirs = (own[order] for own, order in zip(keys, ranked, strict=True))
    copy = np.arange(len(mine)) - np.searchsorted(mine, mine, side="left")
    place = np.searchsorted(theirs, mine, side="left") + copy
    found = np.full(len(mine), -1, np.int64)
    there = place < np.searchsorted(theirs, mine, side="right")
    found[ranked[0][there]] = ranked[1][place[there]]
    return frozen(found)


def right_count_names(systems: int) -> tuple[str, ...]:
    """Return the labels of the number of systems that are right: none, 1, 2, ... all."""
    return ("none", *map(str, range(1, systems)), "all") if systems else ("none",)


def right_system_counts(systems: Sequence[Scores], name: str) -> Int64:
    """Count for each gold span the systems that get it right (COR) under a criterion, shape (gold spans,).

    Raises:
        ValueError: the criterion is not scored in all of them, or counts tokens.
    """
    if not all(are_comparable(systems[0], other, name) for other in systems):
        raise ValueError(f"under {name} the systems cannot be compared span by span")
    found = np.zeros(len(systems[0].layers(name)[0]), np.int64)
    for scores in systems:
        found += scores.decisions(name)[0] == Decision.COR
    return frozen(found)


def right_count_table(systems: Sequence[Scores], name: str) -> pd.DataFrame:
    """Return the number of gold spans that no, one, ... all systems get right: RIGHT_COLUMNS, a row each."""
    names = right_count_names(len(systems))
    counts = np.bincount(right_system_counts(systems, name), minlength=len(names))
    return pd.DataFrame({"right_by": pd.Categorical(names, categories=names), "gold_spans": counts.astype(np.int64)})


def transition_matrix(counts: Int64, states: Sequence[str]) -> pd.DataFrame:
    """Return a transition matrix with margins: a row and a column for each state (int64), ALL_STATES last.

    The column FROM_HEAD names the rows.
    """
    table = pd.DataFrame(counts, columns=list(states))
    table[ALL_STATES] = table.sum(axis=1)
    table.loc[len(table)] = table.sum(axis=0)
    table.insert(0, FROM_HEAD, [*states, ALL_STATES])
    return table


def transition_sheets(systems: Mapping[str, Scores], names: Iterable[str], baseline: str) -> Iterator[Sheet]:
    """Yield the transition matrices from the baseline to each other system, under each criterion that counts spans.

    After those of a criterion comes the table of gold spans by the number of systems that get them right.
    """
    for name in _comparable_criteria(systems, names, baseline):
        for other, counts in _from_baseline(systems, name, baseline):
            said = sentence_text(transition_sentence(counts, baseline, other))
            for side, states in STATES.items():
                table = transition_matrix(getattr(counts, side), states)
                rows: Rows = tuple(
                    (str(row[0]), *map(int, row[1:])) for row in table.itertuples(index=False, name=None)
                )
                title = f"{TITLES[side]} under {name}: {baseline} down, {other} across"
                yield Sheet(title, tuple(table.columns), rows, (said,) if side == "gold" and said else ())
        right = right_count_table(list(systems.values()), name)
        found: Rows = tuple((str(label), int(count)) for label, count in right.itertuples(index=False, name=None))
        yield Sheet(f"Gold spans by how many of {len(systems)} systems get them right under {name}", RIGHT_HEADS, found)


def transition_records(
    systems: Mapping[str, Scores], names: Iterable[str], baseline: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the cells that are not empty with criterion and systems, and gold spans by the number of right systems."""
    cells: list[dict[str, Any]] = []
    right: list[dict[str, Any]] = []
    for name in _comparable_criteria(systems, names, baseline):
        for other, counts in _from_baseline(systems, name, baseline):
            head = {"criterion": name, "baseline": baseline, "system": other}
            for side, one, then, count in counts.frame().itertuples(index=False):
                cells.append({**head, "side": side, "from": one, "to": then, "count": count})
        for label, count in right_count_table(list(systems.values()), name).itertuples(index=False, name=None):
            right.append({"criterion": name, "right_by": label, "gold_spans": count})
    return cells, right


def _from_baseline(systems: Mapping[str, Scores], name: str, baseline: str) -> Iterator[tuple[str, Transitions]]:
    for other, scores in systems.items():
        if other != baseline:
            yield other, count_transitions(systems[baseline], scores, name)


def _comparable_criteria(systems: Mapping[str, Scores], names: Iterable[str], baseline: str) -> list[str]:
    return [name for name in names if all(are_comparable(systems[baseline], other, name) for other in systems.values())]


def transition_sentence(counts: Transitions, one: str, other: str) -> Sentence:
    """Return the sentence on the gold spans that only one of two systems gets right (COR), that both do, or neither."""
    gold = counts.gold
    fixed, broken = int(gold[1:, 0].sum()), int(gold[0, 1:].sum())
    right, wrong = int(gold[0, 0]), int(gold[1:, 1:].sum())
    every = int(gold.sum())
    if not every:
        return ()

    def against(value: str) -> Query:
        return Query(having=((f"against {other}", value),))

    return (
        f"Of {number_with_noun('gold span', every)}, {other} gets right ",
        record_count(fixed, against("only the other right")),
        f" that {one} has wrong, and wrong ",
        record_count(broken, against("only this right")),
        f" that {one} has right; ",
        record_count(right, against("both right"), every),
        " are right in both, ",
        record_count(wrong, against("both wrong"), every),
        " in neither.",
    )
