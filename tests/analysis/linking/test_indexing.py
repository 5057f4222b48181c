"""Concept indexing: sets of ids by document, and the reference's numbers where its rules are ours."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis.linking.indexing import (
    INDEX_RECORD_COLUMNS,
    IndexScores,
    SetCounts,
    index_layer,
    index_records,
    score_index,
)
from nereval_core.readers.shared.concepts import Index, read_index
from tests.analysis.linking.test_linking import mentions
from tests.support.shared_corpora import SHARED, needs


def index(**documents: str) -> Index:
    return Index("made", {name: frozenset(ids.split()) for name, ids in documents.items()})


def scored() -> IndexScores:
    gold = index(d1="A B", d2="C", d3="", d5="A")
    pred = index(d1="A C", d2="C", d3="X", d4="A Y")
    return score_index(gold, pred)


def test_counts() -> None:
    scores = scored()
    assert scores.counts == SetCounts(right=2, missing=2, spurious=4)
    assert scores.by_document == {
        "d1": SetCounts(1, 1, 1),
        "d2": SetCounts(1, 0, 0),
        "d3": SetCounts(0, 0, 1),
        "d5": SetCounts(0, 1, 0),
        "d4": SetCounts(0, 0, 2),
    }
    assert scores.by_id == {
        "A": SetCounts(1, 1, 1),
        "C": SetCounts(1, 0, 1),
        "B": SetCounts(0, 1, 0),
        "X": SetCounts(0, 0, 1),
        "Y": SetCounts(0, 0, 1),
    }
    assert list(scores.by_id) == ["A", "C", "B", "X", "Y"]
    assert scores.only_gold == ("d5",)
    assert scores.only_pred == ("d4",)
    assert scores.ids_without_gold == ("X", "Y")
    assert scores.wrong_documents == ("d1", "d3", "d5", "d4")


def test_ratios_and_averages() -> None:
    scores = scored()
    assert (scores.counts.precision, scores.counts.recall) == pytest.approx((2 / 6, 2 / 4))
    assert scores.counts.f1 == pytest.approx(4 / 10)
    assert (SetCounts().precision, SetCounts().recall, SetCounts().f1) == (None, None, None)
    macro = scores.macro_documents()
    # d5 has no prediction and so no precision; d3 and d4 have no gold and so no recall.
    assert (macro["precision"].value, macro["precision"].undefined) == (pytest.approx((0.5 + 1 + 0 + 0) / 4), 1)
    assert (macro["recall"].value, macro["recall"].undefined) == (pytest.approx((0.5 + 1 + 0) / 3), 2)
    assert (macro["f1"].value, macro["f1"].n) == (pytest.approx((0.5 + 1) / 5), 5)
    assert scores.macro_ids()["recall"].value == pytest.approx((0.5 + 1 + 0) / 3)


def test_records_say_what_is_wrong() -> None:
    frame = index_records(scored())
    assert frame.dtypes.to_dict() == INDEX_RECORD_COLUMNS
    assert frame.astype(str).to_numpy().tolist() == [
        ["d1", "A", "right", ""],
        ["d1", "B", "missing", ""],
        ["d1", "C", "spurious", ""],
        ["d2", "C", "right", ""],
        ["d3", "X", "spurious", "gold has the id in no document"],
        ["d5", "A", "missing", "the document is missing from the prediction"],
        ["d4", "A", "spurious", "the document is not in gold"],
        ["d4", "Y", "spurious", "the document is not in gold"],
    ]


def test_a_mapping_makes_ids_equal() -> None:
    scores = score_index(index(d1="A B"), index(d1="C D"), relaxed={"C": "A", "B": "A"})
    assert scores.counts == SetCounts(right=1, missing=0, spurious=1)


def test_without_documents() -> None:
    scores = score_index(index(), index())
    assert scores.counts == SetCounts()
    assert list(index_records(scores).columns) == list(INDEX_RECORD_COLUMNS)
    assert scores.macro_documents()["f1"].value is None


def test_ids_of_a_layer() -> None:
    layer = mentions("gold", (0, 4, "Q1|Q2"), (9, 13, "NIL"), (17, 22, "Q1"), (30, 33, ""), (34, 36, "Q3 Q4"))
    first, every = index_layer(layer), index_layer(layer, links="any")
    assert first.documents == {"d0": {"Q1", "Q3"}, "d1": frozenset()}
    assert every.documents["d0"] == {"Q1", "Q2", "Q3", "Q4"}
    assert first.notes == ("mentions linked to NIL, no id of their document: 1",)


SETS = st.dictionaries(st.sampled_from("pqrs"), st.frozensets(st.sampled_from("ABCDE")))


@given(SETS, SETS, st.dictionaries(st.sampled_from("ABCDE"), st.sampled_from("ABCDE"), max_size=2))
def test_counts_add_up(one: dict[str, frozenset[str]], two: dict[str, frozenset[str]], mapping: dict[str, str]) -> None:
    scores = score_index(Index("gold", one), Index("pred", two), relaxed=mapping)
    assert sum(scores.by_document.values(), SetCounts()) == scores.counts
    assert sum(scores.by_id.values(), SetCounts()) == scores.counts
    records = index_records(scores)
    for decision in ("right", "missing", "spurious"):
        assert (records["decision"] == decision).sum() == getattr(scores.counts, decision)
    swapped = score_index(Index("gold", two), Index("pred", one), relaxed=mapping).counts
    assert (swapped.right, swapped.missing) == (scores.counts.right, scores.counts.spurious)


NOTE = re.compile(r"T(\d+)\t(\S+) [^\n]*\n#\d+\tAnnotatorNotes T\1\t(.*)")


def clear_gold(folder: Path) -> Index:
    """Return the codes without those that stand in notes of UNCLEAR mentions only, which the reference leaves out."""
    documents = {}
    for name, ids in read_index(folder / "subtask2").documents.items():
        lines = (folder / "subtask1" / f"{name}.ann").read_text(encoding="utf-8")
        kinds: dict[str, set[str]] = {}
        for _, kind, code in NOTE.findall(lines):
            kinds.setdefault(code, set()).add(kind)
        documents[name] = frozenset(one for one in ids if kinds.get(one) != {"UNCLEAR"})
    return Index("gold", documents)


@needs("pharmaconer")
@pytest.mark.parametrize(("run", "absent"), [("subtask2", 0), ("subtask2_changed", 7)])
def test_pharmaconer(run: str, absent: int) -> None:
    """Counts are those of evaluate.py of sub-track 2 (commit b354eab) by document.

    It leaves out documents without a response, whose ids ours count as missing.
    """
    expected = json.loads((SHARED / f"expected/pharmaconer/{run}.json").read_text(encoding="utf-8"))["results"]
    gold = clear_gold(SHARED / "pharmaconer/subtask2/ref")
    scores = score_index(gold, read_index(SHARED / f"pharmaconer/{run}/res/subtask2"))
    rows = {name: [c.right, c.spurious, c.missing] for name, c in scores.by_document.items()}
    assert {name: row for name, row in rows.items() if name not in scores.only_gold} == expected["per_document"]
    assert len(scores.only_gold) == absent
    lost = sum(len(gold.documents[name]) for name in scores.only_gold)
    totals = (scores.counts.right, scores.counts.spurious, scores.counts.missing - lost)
    assert totals == tuple(expected[name] for name in ("TP", "FP", "FN"))
