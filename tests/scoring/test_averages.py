"""Ratios and averages of many at once equal those taken one by one, to the last bit."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.scoring import Counting, Scores, Settings, averages
from nereval_core.scoring.averages import Average, Sums, averages_by_document
from nereval_core.scoring.counts import RATIOS, Counts, DocumentCounts, ratio_columns
from nereval_core.scoring.criteria import CRITERIA, Decision
from tests.scoring.test_scoring import corpus, score
from tests.support.spans import CRITERIA_TESTED

FEW, MANY = st.integers(0, 6), st.integers(0, 2**40)
SIDE = st.one_of(st.lists(FEW, min_size=5, max_size=5), st.lists(MANY, min_size=5, max_size=5))


@given(rows=st.lists(st.tuples(SIDE, SIDE), max_size=30))
def test_ratios_of_columns_are_those_of_counts(rows: list[tuple[list[int], list[int]]]) -> None:
    # A shared row stands for counting one to one, where both sides have the same credit.
    rows = [*rows, *((one, [*one[:3], 0, one[4]]) for one, _ in rows)]
    sides = (np.array([row[side] for row in rows], np.int64).reshape(-1, 5) for side in (0, 1))
    columns = ratio_columns(*sides)
    for name, column in zip(RATIOS, columns, strict=True):
        expected = [getattr(Counts(tuple(one), tuple(other)), name) for one, other in rows]
        assert [None if math.isnan(value) else value for value in column.tolist()] == expected


@given(
    values=st.lists(
        st.tuples(st.integers(0, 2), st.one_of(st.floats(0, 1), st.just(math.nan), st.fractions(0, 1).map(float)))
    ),
    parts=st.integers(1, 4),
)
def test_sums_are_exact_however_they_are_split(values: list[tuple[int, float]], parts: int) -> None:
    sums = Sums(3)
    for part in range(parts):
        some = values[part::parts]
        sums.add(np.array([value for _, value in some]), np.array([group for group, _ in some], np.int64))
    for group in range(3):
        own = [None if math.isnan(value) else value for at, value in values if at == group]
        assert Average(sums.mean(group), int(sums.n[group]), int(sums.undefined[group])) == Average.of(own)


def one_by_one(scores: Scores, name: str) -> dict[str, dict[str, Average]]:
    """The averages by type over documents, from the decisions of single spans."""
    found: dict[str, dict[int, tuple[list[int], list[int]]]] = defaultdict(
        lambda: defaultdict(lambda: ([0] * 5, [0] * 5))
    )
    sides = zip(scores.layers(name), scores.decisions(name), scores.weights(name), strict=True)
    for side, (layer, decisions, weights) in enumerate(sides):
        for span, decision in enumerate(decisions.tolist()):
            found[layer.label(span)][int(layer.doc[span])][side][decision] += int(weights[span])
    return {
        kind: {
            ratio: Average.of(getattr(Counts(tuple(g), tuple(p)), ratio) for g, p in documents.values())
            for ratio in RATIOS
        }
        for kind, documents in found.items()
    }


@pytest.mark.parametrize(("block", "sparse", "field"), [(1 << 17, 4, 12), (7, 1000, 12), (7, 0, 2), (1 << 17, 0, 2)])
@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
def test_averages_by_type_over_documents(
    counting: Counting, block: int, sparse: int, field: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("BLOCK_SPANS", block), ("CELLS_PER_SPAN", sparse), ("FIELD_BITS", field)):
        monkeypatch.setattr(averages, name, value)
    scores = score(*corpus(2, 40, 6), Settings((*CRITERIA_TESTED, CRITERIA["fragment"]), counting=counting))
    for criterion in scores.criteria:
        assert scores.macro_documents_by_type(criterion.name) == one_by_one(scores, criterion.name)


def test_documents_as_columns_and_one_by_one() -> None:
    over, gold, pred = corpus(4, 30, 3)
    gold[3] = pred[3] = []
    scores = score(over, gold, pred, Settings(CRITERIA_TESTED))
    for name in (criterion.name for criterion in CRITERIA_TESTED):
        table = scores.by_document(name)
        assert "d3" not in table and len(table) == len(table.numbers) < len(over)
        assert list(table) == [over.ids[number] for number in table.numbers.tolist()]
        rows = list(zip(table.gold.tolist(), table.pred.tolist(), strict=True))
        assert [(list(counts.gold), list(counts.pred)) for counts in table.values()] == rows
        assert scores.macro_documents(name) == {
            ratio: Average.of(getattr(counts, ratio) for counts in table.values()) for ratio in RATIOS
        }
        whole = scores.counts(name)
        assert table.gold.sum(axis=0).tolist() == list(whole.gold) and whole.gold[Decision.SPU] == 0


def test_no_documents() -> None:
    empty = np.zeros((0, 5), np.int64)
    table = DocumentCounts.of((), empty, empty)
    assert table == {} and averages_by_document(table)["f1"] == Average(None, 0, 0)
