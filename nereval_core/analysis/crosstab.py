"""Crosstabs: spans by the decision of A (rows) and of B (columns).

A and B are two systems (transitions), two criteria, types before and after merging, or two annotators.

Two systems share the gold spans. Two predictions are the same if document, fragments and type are equal. A system may
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
from nereval_core.analysis.span_relations import corresponding_spans, have_same_type, span_keys
from nereval_core.corpus import Layer, frozen
from nereval_core.corpus.arrays import Int64
from nereval_core.problems import FormatError, quoted
from nereval_core.records.queries import Query
from nereval_core.records.tables import DECISIONS
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table
from nereval_core.scoring.criteria import Decision
from nereval_core.tables import Cell, Column, Table, columns_of, frame_table

NOT_PREDICTED = "not predicted"
GOLD_STATES = ("COR", "INC", "PAR", "MIS")
"""The decisions on gold spans, in the order of Decision."""
PRED_STATES = ("COR", "INC", "PAR", "SPU", NOT_PREDICTED)
"""The decisions on predictions, and the state of a prediction that only the other system makes."""
STATES: Mapping[str, tuple[str, ...]] = {"gold": GOLD_STATES, "pred": PRED_STATES}
TITLES: Mapping[str, str] = {"gold": "Gold spans", "pred": "Predictions"}
ALL = "all"
"""The row and the column of sums; of disagreements, their sum."""
FROM_HEAD = "from \\ to"
RIGHT_HEADS = ("right by", "gold spans")
Rows = tuple[tuple[Cell, ...], ...]
RIGHT_COLUMNS = {"right_by": "category", "gold_spans": "int64"}
_STATE = np.array([0, 1, 2, -1, 3], np.int8)
"""The index into PRED_STATES of each decision's code."""
DISAGREEMENTS = ("agree", "only one", "only other", "types differ", "boundaries differ")
"""A record is agreed on, or its span has no partner, or that is of another type, or else has other boundaries."""
VANISHED_COLUMNS: Columns = {"gold_type": TEXT_DTYPE, "pred_type": TEXT_DTYPE, "pairs": "int64", "correct": "int64"}
"""Columns of `vanished_confusions` and their dtypes: aligned pairs of two types that are merged into one, and the gold
spans among them that are correct after merging."""


def crosstab(rows: NDArray[np.integer], columns: NDArray[np.integer], shape: tuple[int, int]) -> Int64:
    """Count by two codes, one of A and one of B, in an array of so many rows and columns."""
    cells = rows.astype(np.int64) * shape[1] + columns
    return frozen(np.bincount(cells, minlength=shape[0] * shape[1]).astype(np.int64).reshape(shape))


@dataclass(frozen=True, eq=False)
class Transitions:
    """Transition counts: gold spans and predictions by their state under a system (rows) and another (columns).

    `gold` has shape (4, 4), by GOLD_STATES; its sums over either axis are the systems' counts of gold spans. `pred`
    has shape (5, 5), by PRED_STATES; its sums, without NOT_PREDICTED, are the systems' counts of predictions.
    """

    gold: Int64
    pred: Int64

    def cells(self) -> Iterator[tuple[str, str, str, int]]:
        """Yield the cells that are not empty: side (gold, pred), both states, count."""
        for side, states in STATES.items():
            counts = getattr(self, side)
            for row, column in np.argwhere(counts).tolist():
                yield side, states[row], states[column], int(counts[row, column])


def are_comparable(baseline: Scores, other: Scores, name: str) -> bool:
    """Tell whether two systems can be compared span by span: the criterion decides over the same gold spans in both.

    Criteria that count tokens do not: the predictions of each system cut the runs of tokens.
    """
    for scores in (baseline, other):
        if name not in {criterion.name for criterion in scores.criteria} or scores.criterion(name).unit != "span":
            return False
    return _same_spans(baseline.layers(name)[0], other.layers(name)[0])


def _same_spans(layer: Layer, other: Layer) -> bool:
    """Tell whether two layers have the same documents and spans, even if they were read from different places."""
    if layer is other:
        return True
    documents = layer.documents, other.documents
    if documents[0] is not documents[1] and (
        documents[0].ids != documents[1].ids or documents[0].digest != documents[1].digest
    ):
        return False
    if len(layer) != len(other) or layer.fragments != other.fragments:
        return False
    types = [np.array(each.types, object)[each.type] for each in (layer, other)]
    columns = ((getattr(layer, key), getattr(other, key)) for key in ("doc", "start", "end"))
    return all(np.array_equal(*pair) for pair in (*columns, types))


def count_transitions(baseline: Scores, other: Scores, name: str) -> Transitions:
    """Count gold spans and predictions by their state under two systems.

    Raises:
        ValueError: the criterion is not scored in both, or counts tokens.
    """
    if not are_comparable(baseline, other, name):
        raise ValueError(f"under {name} the two systems cannot be compared span by span")
    gold = crosstab(baseline.decisions(name)[0], other.decisions(name)[0], (len(GOLD_STATES), len(GOLD_STATES)))
    states, other_states = (_STATE[scores.decisions(name)[1]] for scores in (baseline, other))
    same = same_predictions(baseline, other, name)
    absent = PRED_STATES.index(NOT_PREDICTED)
    is_lone = np.ones(len(other_states), bool)
    is_lone[same[same >= 0]] = False
    lone_states = other_states[is_lone]
    rows = np.concatenate((states, np.full(len(lone_states), absent)))
    columns = np.concatenate((np.append(other_states, np.int8(absent))[same], lone_states))
    return Transitions(gold, crosstab(rows, columns, (len(PRED_STATES), len(PRED_STATES))))


def same_predictions(baseline: Scores, other: Scores, name: str) -> Int64:
    """Return for each prediction of one system the index of the same prediction of another, -1 where there is none.

    Copies are paired by their decisions, best first, and copies of equal decision by their order in the layer.
    """
    layer_keys = span_keys([scores.layers(name)[1] for scores in (baseline, other)])
    orders = []
    for scores, keys in zip((baseline, other), layer_keys, strict=True):
        # Layers are nearly in the order of their keys, which makes a stable sort fast.
        orders.append(np.argsort(keys * len(Decision) + scores.decisions(name)[1], kind="stable"))
    keys, other_keys = (keys[order] for keys, order in zip(layer_keys, orders, strict=True))
    copy = np.arange(len(keys)) - np.searchsorted(keys, keys, side="left")
    position = np.searchsorted(other_keys, keys, side="left") + copy
    same = np.full(len(keys), -1, np.int64)
    has_same = position < np.searchsorted(other_keys, keys, side="right")
    same[orders[0][has_same]] = orders[1][position[has_same]]
    return frozen(same)


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
    n_right = np.zeros(len(systems[0].layers(name)[0]), np.int64)
    for scores in systems:
        n_right += scores.decisions(name)[0] == Decision.COR
    return frozen(n_right)


def right_count_table(systems: Sequence[Scores], name: str) -> pd.DataFrame:
    """Return the number of gold spans that no, one, ... all systems get right: RIGHT_COLUMNS, a row each."""
    names = right_count_names(len(systems))
    counts = np.bincount(right_system_counts(systems, name), minlength=len(names))
    return pd.DataFrame({"right_by": pd.Categorical(names, categories=names), "gold_spans": counts.astype(np.int64)})


def decision_matrix(scores: Scores, criterion: str, other: str) -> pd.DataFrame:
    """Return the number of spans by their DECISIONS under a criterion (index) and under another (columns).

    Spans are those of match records under the first: every gold span, and the spurious predictions (row SPU). So rows
    add up to its counts, and columns COR to MIS without row SPU to those of the other.

    Raises:
        FormatError: as `check_comparable`.
    """
    check_comparable(scores, criterion, other)
    is_lone = scores.partners(criterion)[1] < 0
    rows, columns = (
        np.concatenate((gold, pred[is_lone])) for gold, pred in (scores.decisions(name) for name in (criterion, other))
    )
    counts = crosstab(rows, columns, (len(DECISIONS), len(DECISIONS)))
    return pd.DataFrame(counts, index=list(DECISIONS), columns=list(DECISIONS))


def check_comparable(scores: Scores, *names: str) -> None:
    """Check that criteria decide over the same spans, one to one.

    Raises:
        FormatError: they do not, or one is not scored.
    """
    if scores.settings.counting != "one-to-one":
        raise FormatError.single("counting", None, "each side counts for itself", "compare criteria one to one")
    for name in names:
        criterion = next((criterion for criterion in scores.criteria if criterion.name == name), None)
        if criterion is None:
            scored = ", ".join(criterion.name for criterion in scores.criteria)
            raise FormatError.single("criteria", None, f"no criterion {quoted(name)}", f"choose among {scored}")
        if criterion.unit == "token":
            raise FormatError.single("criteria", None, f"{name} counts tokens, not spans", "choose another criterion")
    rules = [scores.settings.rules_for(scores.criterion(name)) for name in names]
    if any(rule != rules[0] for rule in rules):
        finding = f"{' and '.join(names)} merge or leave out other types"
        raise FormatError.single("criteria", None, finding, "compare criteria of the same types")


def vanished_confusions(before: Scores, after: Scores, name: str) -> pd.DataFrame:
    """Return the confusions under a criterion that merging removes, most frequent first: VANISHED_COLUMNS."""
    gold, pred = before.layers(name)
    partner = before.partners(name)[0]
    g = np.flatnonzero(partner >= 0)
    p = partner[g].astype(np.int64)
    merged = after.layers(name)
    merged_g, merged_p = corresponding_spans(gold, merged[0])[g], corresponding_spans(pred, merged[1])[p]
    is_vanished = (merged_g >= 0) & (merged_p >= 0)
    is_vanished[is_vanished] = have_same_type(*merged, merged_g[is_vanished], merged_p[is_vanished])
    is_vanished &= ~have_same_type(gold, pred, g, p)
    g, p, merged_g = g[is_vanished], p[is_vanished], merged_g[is_vanished]
    is_correct = (after.decisions(name)[0][merged_g] == Decision.COR).astype(np.int64)
    # Only the confusions that occur are counted: all pairs of thousands of types would not fit.
    cells, row = np.unique(gold.type[g].astype(np.int64) * len(pred.types) + pred.type[p], return_inverse=True)
    counts = crosstab(row, is_correct, (len(cells), 2))
    rows = [
        (gold.types[cell // len(pred.types)], pred.types[cell % len(pred.types)], wrong + correct, correct)
        for cell, (wrong, correct) in zip(cells.tolist(), counts.tolist(), strict=True)
    ]
    rows.sort(key=lambda row: (-row[2], row[:2]))
    return typed_table(rows, VANISHED_COLUMNS)


def count_disagreements(scores: Scores, name: str) -> pd.DataFrame:
    """Return the numbers of records by kind (DISAGREEMENTS and ALL), the reference being `one`.

    The index has None for all records, then each type, sorted: records with the type on either side, so that those
    whose types differ stand in two rows.
    """
    layers, partners = scores.layers(name), scores.partners(name)
    types = sorted({*layers[0].types, *layers[1].types})
    codes = [np.array([types.index(kind) for kind in layer.types], np.int64)[layer.type] for layer in layers]
    paired = np.flatnonzero(partners[0] >= 0)
    lone = [own_codes[own_partners < 0] for own_codes, own_partners in zip(codes, partners, strict=True)]
    left, right = codes[0][paired], codes[1][partners[0][paired]]
    kinds = np.where(left == right, DISAGREEMENTS.index("boundaries differ"), DISAGREEMENTS.index("types differ"))
    kinds[scores.decisions(name)[0][paired] == Decision.COR] = DISAGREEMENTS.index("agree")
    kinds = np.concatenate((kinds, *(np.full(len(own), code) for code, own in enumerate(lone, start=1))))
    left, right = np.concatenate((left, *lone)), np.concatenate((right, *lone))
    differs, shape = left != right, (len(types), len(DISAGREEMENTS))
    by_type = crosstab(left, kinds, shape) + crosstab(right[differs], kinds[differs], shape)
    counts = np.concatenate((crosstab(np.zeros_like(kinds), kinds, (1, len(DISAGREEMENTS))), by_type))
    table = pd.DataFrame(counts, index=pd.Index([None, *types], dtype=object, name="type"), columns=DISAGREEMENTS)
    table[ALL] = table[list(DISAGREEMENTS[1:])].sum(axis=1)
    return table[np.append(True, by_type.any(axis=1))]


def transition_matrix(counts: Int64, states: Sequence[str]) -> pd.DataFrame:
    """Return a transition matrix with margins: a row and a column for each state (int64), ALL last.

    The column FROM_HEAD names the rows.
    """
    table = pd.DataFrame(counts, columns=list(states))
    table[ALL] = table.sum(axis=1)
    table.loc[len(table)] = table.sum(axis=0)
    table.insert(0, FROM_HEAD, [*states, ALL])
    return table


def transition_table(title: str, counts: Int64, states: Sequence[str], notes: tuple[str, ...] = ()) -> Table:
    """Return a transition matrix with margins as a table."""
    across = (Column(state, state, "count", state if state in DECISIONS else "") for state in (*states, ALL))
    columns = (Column(FROM_HEAD, FROM_HEAD, "name"), *across)
    return frame_table(title, transition_matrix(counts, states), columns, notes, name="transitions")


def transition_tables(systems: Mapping[str, Scores], names: Iterable[str], baseline: str) -> Iterator[Table]:
    """Yield the transition matrices from the baseline to each other system, under each criterion that counts spans.

    After those of a criterion comes the table of gold spans by the number of systems that get them right.
    """
    for name in _comparable_criteria(systems, names, baseline):
        for other, counts in _from_baseline(systems, name, baseline):
            sentence = sentence_text(transition_sentence(counts, baseline, other))
            for side, states in STATES.items():
                title = f"{TITLES[side]} under {name}: {baseline} down, {other} across"
                notes = (sentence,) if side == "gold" and sentence else ()
                yield transition_table(title, getattr(counts, side), states, notes)
        right = right_count_table(list(systems.values()), name)
        right_rows: Rows = tuple((str(label), int(count)) for label, count in right.itertuples(index=False, name=None))
        yield Table(
            f"Gold spans by how many of {len(systems)} systems get them right under {name}",
            columns_of(*RIGHT_HEADS),
            right_rows,
        )


def transition_records(
    systems: Mapping[str, Scores], names: Iterable[str], baseline: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the cells that are not empty with criterion and systems, and gold spans by the number of right systems."""
    cells: list[dict[str, Any]] = []
    right: list[dict[str, Any]] = []
    for name in _comparable_criteria(systems, names, baseline):
        for other, counts in _from_baseline(systems, name, baseline):
            head = {"criterion": name, "baseline": baseline, "system": other}
            for side, state, then, count in counts.cells():
                cells.append({**head, "side": side, "from": state, "to": then, "count": count})
        for label, count in right_count_table(list(systems.values()), name).itertuples(index=False, name=None):
            right.append({"criterion": name, "right_by": label, "gold_spans": count})
    return cells, right


def _from_baseline(systems: Mapping[str, Scores], name: str, baseline: str) -> Iterator[tuple[str, Transitions]]:
    for other, scores in systems.items():
        if other != baseline:
            yield other, count_transitions(systems[baseline], scores, name)


def _comparable_criteria(systems: Mapping[str, Scores], names: Iterable[str], baseline: str) -> list[str]:
    return [name for name in names if all(are_comparable(systems[baseline], other, name) for other in systems.values())]


def transition_sentence(counts: Transitions, baseline: str, other: str) -> Sentence:
    """Return the sentence on the gold spans that only one of two systems gets right (COR), that both do, or neither."""
    gold = counts.gold
    fixed, broken = int(gold[1:, 0].sum()), int(gold[0, 1:].sum())
    right, wrong = int(gold[0, 0]), int(gold[1:, 1:].sum())
    spans = int(gold.sum())
    if not spans:
        return ()

    def against(value: str) -> Query:
        return Query(having=((f"against {other}", value),))

    return (
        f"Of {number_with_noun('gold span', spans)}, {other} gets right ",
        record_count(fixed, against("only the other right")),
        f" that {baseline} has wrong, and wrong ",
        record_count(broken, against("only this right")),
        f" that {baseline} has right; ",
        record_count(right, against("both right"), spans),
        " are right in both, ",
        record_count(wrong, against("both wrong"), spans),
        " in neither.",
    )
