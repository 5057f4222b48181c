"""Match records, and that every count is a query over them."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core import __version__
from nereval_core.corpus import Documents, Layer, layer
from nereval_core.corpus.builder import Builder
from nereval_core.records import reasons, tables
from nereval_core.records.match_records import record_ids
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.scoring.criteria import CRITERIA, Decision
from tests.support import ROOT
from tests.support.layer_strategies import layers
from tests.support.oracle import Span
from tests.support.spans import CRITERIA_TESTED, documents, make, random_spans, settings


def example() -> Scores:
    builder = Builder("example")
    builder.document(
        "d1",
        "Aspirin tablet helped Ms Smith in Rome and Bonn today",
        tokens=[(0, 7), (8, 14), (15, 21), (22, 24), (25, 30), (31, 33), (34, 38), (39, 42), (43, 47), (48, 53)],
    )
    for start, end, kind in ((0, 7, "Drug"), (25, 30, "PER"), (34, 38, "LOC"), (43, 47, "LOC")):
        builder.span(start, end, kind)
    gold = builder.finish("gold")
    kinds = ["Drug", "PER", "ORG", "TIME"]
    pred = layer("sys", gold.documents, [0] * 4, [0, 22, 34, 48], [14, 30, 38, 53], kinds)
    return score_layers(gold, pred, settings("strict", "exact", "partial", "type"))


def test_records_say_what_happened_and_why() -> None:
    frame = tables.records(example(), "partial")
    assert list(frame.columns) == list(tables.RECORD_COLUMNS)
    assert dict(frame.dtypes) == dict(tables.RECORD_COLUMNS)
    rows = frame[["record", "decision", "boundary", "reason"]].astype(str).values.tolist()
    assert rows == [
        ["g:0-7:Drug", "PAR", "end differs", "ends 1 token later"],
        ["g:25-30:PER", "PAR", "start differs", "starts 1 token earlier"],
        ["g:34-38:LOC", "COR", "equal", "type ORG instead of LOC"],
        ["g:43-47:LOC", "MIS", "unaligned", "no prediction overlaps it"],
        ["p:48-53:TIME", "SPU", "unaligned", "no gold span overlaps it"],
    ]
    assert frame["gold_text"].fillna("").tolist() == ["Aspirin", "Smith", "Rome", "Bonn", ""]
    assert frame["pred_text"].fillna("").tolist() == ["Aspirin tablet", "Ms Smith", "Rome", "", "today"]


def test_reasons_count_characters_where_there_are_no_tokens() -> None:
    over = Documents(("d",), ("Aspirin tablet",))
    gold = layer("gold", over, [0], [0], [7], ["Drug"])
    pred = layer("sys", over, [0, 0], [1, 2], [9, 3], ["Drug", "Drug"])
    reasons = tables.records(score_layers(gold, pred, settings("strict")), "strict")["reason"].tolist()
    assert reasons == [
        "starts 1 character later; ends 2 characters later",
        "every gold span that overlaps it is aligned elsewhere",
    ]


def test_reasons_of_discontinuous_spans_look_at_their_fragments() -> None:
    over = documents(1)
    gold = make("gold", over, [(0, Span(((0, 2), (8, 10)), "A")), (0, Span(((20, 30),), "A"))])
    pred = make("sys", over, [(0, Span(((3, 5),), "A")), (0, Span(((21, 22), (24, 25)), "A"))])
    frame = tables.records(score_layers(gold, pred, settings("strict")), "strict")
    assert frame["reason"].tolist() == [
        "no prediction overlaps it",
        "no gold span overlaps it",
        "starts 1 character later; ends 5 characters earlier",
    ]


def drawn(seed: int, counting: str = "one-to-one") -> Scores:
    rng = random.Random(seed)
    over = documents(25)
    sides = [[(doc, span) for doc in range(25) for span in random_spans(rng, 7, room=24)] for _ in range(2)]
    how = Settings(CRITERIA_TESTED, counting=counting)  # type: ignore[arg-type]
    return score_layers(make("gold", over, sides[0]), make("sys", over, sides[1]), how)


@pytest.mark.parametrize("seed", range(4))
def test_every_count_is_a_query_over_records(seed: int) -> None:
    scores = drawn(seed)
    for criterion in CRITERIA_TESTED:
        name = criterion.name
        frame, counts = tables.records(scores, name), scores.counts(name)
        sizes = frame["decision"].value_counts()
        assert [sizes[d.name] for d in Decision] == [counts.cor, counts.inc, counts.par, counts.mis, counts.spu]
        for row in tables.by_type(scores, name).to_dict("records"):
            for side, absent in (("gold", "SPU"), ("pred", "MIS")):
                mine = frame[frame[f"{side}_type"] == row["type"]]
                for decision in tables.DECISIONS:
                    if decision != absent:
                        assert row[f"{side}_{decision}"] == (mine["decision"] == decision).sum()
        for row in tables.by_document(scores, name).to_dict("records"):
            mine = frame[frame["document"] == row["document"]]
            assert [row[d] for d in tables.DECISIONS] == [(mine["decision"] == d).sum() for d in tables.DECISIONS]
        total = 0
        for row in tables.confusion(scores, name).to_dict("records"):
            there = {side: frame[f"{side}_type"].astype(TEXT_DTYPE) for side in ("gold", "pred")}
            gold = frame["gold"] < 0 if row["gold_type"] == tables.SPURIOUS else there["gold"] == row["gold_type"]
            pred = frame["pred"] < 0 if row["pred_type"] == tables.MISSED else there["pred"] == row["pred_type"]
            assert row["count"] == (gold & pred).sum()
            total += row["count"]
        assert total == len(frame)


def test_records_are_in_document_order_and_their_ids_unique() -> None:
    scores = drawn(7)
    for name in ("strict", "lenient"):
        frame = tables.records(scores, name)
        assert not frame.duplicated(["document", "record"]).any()
        anchor = frame["gold_start"].fillna(frame["pred_start"]).astype(int)
        place = list(zip(frame["doc"], anchor, strict=True))
        assert place == sorted(place)


def test_record_ids_of_duplicates_and_fragments() -> None:
    over = documents(1)
    one, broken = Span(((1, 5),), "A"), Span(((1, 3), (4, 5)), "A")
    made = make("gold", over, [(0, one), (0, one), (0, one), (0, broken), (0, broken)])
    assert record_ids(made, "g") == ["g:1-5:A", "g:1-5:A~2", "g:1-5:A~3", "g:1-3,4-5:A", "g:1-3,4-5:A~2"]


def test_record_ids_are_unique_whatever_types_are_called() -> None:
    types = ["A", "A", "A~2", "A~2", "A~2~1", "~2", "A~", "A~x"]
    made = make("gold", documents(1), [(0, Span(((0, 3),), kind)) for kind in types])
    ids = record_ids(made, "g")
    assert len(set(ids)) == len(ids)
    assert {"g:0-3:A", "g:0-3:A~2", "g:0-3:A~2~1", "g:0-3:A~2~2", "g:0-3:A~x"} < set(ids)


def test_confusion_tells_types_from_spurious_and_missed() -> None:
    over = documents(1)
    spans = [(0, 3, "spurious"), (4, 6, "missed"), (8, 9, "X"), (12, 13, "X")]
    gold = make("gold", over, [(0, Span(((start, end),), kind)) for start, end, kind in spans])
    pred = layer("sys", over, [0] * 3, [0, 8, 20], [3, 9, 21], ["X", "missed", "X"])
    frame = tables.confusion(score_layers(gold, pred, settings("strict")), "strict")
    assert sorted(map(tuple, frame.values.tolist())) == [
        ("(spurious)", "X", 1),
        ("X", "(missed)", 1),
        ("X", "missed", 1),
        ("missed", "(missed)", 1),
        ("spurious", "X", 1),
    ]


def test_a_change_of_criterion_keeps_the_anchor() -> None:
    scores = drawn(9)
    anchors = [{r for r in tables.records(scores, c.name)["record"] if r.startswith("g:")} for c in CRITERIA_TESTED]
    assert all(anchor == anchors[0] for anchor in anchors)


def test_each_side_has_a_record_for_every_span() -> None:
    scores = drawn(3, "each-side")
    for name in ("strict", "type", "half-union"):
        frame, counts = tables.records(scores, name), scores.counts(name)
        for side, expected in (("gold", counts.gold), ("pred", counts.pred)):
            sizes = frame[frame["side"] == side]["decision"].value_counts()
            assert tuple(sizes[d.name] for d in Decision) == expected


def test_wide_view_has_every_decision() -> None:
    scores = drawn(2)
    frame = tables.wide(scores)
    assert len(frame) == len(scores.gold) + len(scores.pred)
    kinds = [layer.label(i) for layer in (scores.gold, scores.pred) for i in range(len(layer))]
    assert frame["span_type"].tolist() == kinds
    for criterion in CRITERIA_TESTED:
        for side, found in zip(("gold", "pred"), scores.decisions(criterion.name), strict=True):
            shown = frame[frame["side"] == side][criterion.name].astype(str).tolist()
            assert shown == [Decision(code).name for code in found.tolist()]


def test_wide_view_of_criteria_with_type_rules_of_their_own() -> None:
    from dataclasses import replace

    over = documents(1)
    gold = make("gold", over, [(0, Span(((0, 3),), "A")), (0, Span(((4, 6),), "B"))])
    narrow = replace(CRITERIA["strict"], name="narrow", leave_out=("A",))
    frame = tables.wide(score_layers(gold, gold, Settings((CRITERIA["strict"], narrow))))
    assert frame["strict"].tolist() == ["COR"] * 4
    assert frame["narrow"].astype(object).fillna("left out").tolist() == ["left out", "COR"] * 2
    turned = tables.wide(score_layers(gold, gold, Settings((narrow, CRITERIA["strict"]))))
    assert (turned["narrow"].tolist(), turned["strict"].tolist()) == (["COR"] * 2, ["COR"] * 2)


def test_overall_leaves_undefined_ratios_undefined() -> None:
    empty = make("x", documents(1), [])
    row = score_layers(empty, empty, settings("strict")).to_frame().iloc[0]
    assert row["COR"] == 0 and np.isnan(row["precision"]) and np.isnan(row["f1"])


def test_empty_tables_keep_their_columns() -> None:
    empty = make("x", documents(1), [])
    scores = score_layers(empty, empty, settings("strict"))
    for frame in (
        tables.records(scores, "strict"),
        tables.by_type(scores, "strict"),
        tables.confusion(scores, "strict"),
    ):
        assert isinstance(frame, pd.DataFrame) and not len(frame) and len(frame.columns)


def test_signature_names_what_a_score_depends_on() -> None:
    scores = example()
    line = signature(scores, "partial")
    assert line == (
        f"nereval {__version__} | criterion partial | types merged: none | left out: none | counting one-to-one | "
        f"gold sha256:{scores.gold.digest[:16]} | pred sha256:{scores.pred.digest[:16]} | documents 1"
    )
    how = Settings((CRITERIA["strict"],), merge=(("PER", "name"), ("LOC", "name")), leave_out=("Drug",))
    changed = score_layers(scores.gold, scores.pred, how, marks=("token text from gold: 3 tokens",))
    line = signature(changed, "strict")
    assert "types merged: LOC,PER=name | left out: Drug" in line
    assert line.endswith("documents 1 | token text from gold: 3 tokens")
    assert f"gold sha256:{scores.gold.digest[:16]}" in line


WIDE = st.one_of(st.integers(-3, 3), st.integers(-(2**31), 2**31))


@given(rows=st.lists(st.tuples(st.booleans(), WIDE, WIDE, st.integers(0, 40)), min_size=1, max_size=30))
def test_different_rows_of_columns(rows: list[tuple[bool, int, int, int]]) -> None:
    """Columns too wide to be packed into one number together are distinguished too."""
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    first, which = reasons._distinct(columns)
    assert [rows[first[place]] for place in which.tolist()] == rows
    assert len(first) == len(set(rows))


@given(layer=layers())
def test_texts_of_spans_in_any_order(layer: Layer) -> None:
    spans = np.array([*range(len(layer)), -1, *reversed(range(len(layer)))])
    assert tables._texts(layer, spans) == [layer.text(span) if span >= 0 else None for span in spans.tolist()]


def test_no_dtype_is_called_str() -> None:
    """Pandas before 3 makes None the word "None" under that name; TEXT_DTYPE has one meaning in all versions."""
    names = {
        path.relative_to(ROOT): node.lineno
        for folder in ("nereval_core", "pages")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value == "str"
    }
    others = {"pipeline.py", "shared/strict_json.py", "input/workbook.py"}
    assert set(names) == {Path("nereval_core/readers") / name for name in others}, "a type of Python, JSON or a cell"
