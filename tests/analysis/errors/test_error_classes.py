"""Error classes: each record has one, as their definitions say, and mending them does what it says."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis.errors.error_classes import (
    CLASS_COLUMNS,
    CLASSES,
    END_COLUMNS,
    ENDS,
    TYPE_COLUMNS,
    class_ends,
    class_table,
    class_types,
    classify_errors,
    mend_classes,
    rescore,
)
from nereval_core.corpus import Layer
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, Decision
from nereval_core.scoring.examples import CLASS_EXAMPLES, Example, decide
from nereval_core.tables.glossary import GLOSSARY
from tests.support.oracle import RULES as ORACLE
from tests.support.oracle import Span, best
from tests.support.spans import documents, make, random_spans, settings

CASES = [
    ("[a b|X] c", "[a b|X] c", {}),
    ("[a b|X] c", "a b c", {"missed": 1}),
    ("a b c", "[a b|X] c", {"spurious": 1}),
    ("[a b|X] c", "[a b|Y] c", {"type only": 1}),
    ("[a b|X] c", "[a|X] b c", {"boundary only": 1}),
    ("[a b|X] c", "[a|Y] b c", {"type and boundary": 1}),
    ("[a b|X] c", "[[a b|X]|X] c", {"duplicate": 1}),
    ("a b c", "[[a b|X]|X] c", {"spurious": 1, "duplicate": 1}),
    ("[a b|X] c", "[[a|X]|X] b c", {"boundary only": 1, "duplicate": 1}),
    ("[a b|X] c", "[a|X] [b|X] c", {"split": 2}),
    ("[a b|X] c", "[[a b|Y]|Z] c", {"split": 2}),
    ("[a|X] [b|X] c", "[a b|X] c", {"merged": 2}),
    ("[a|X] [b|X] [c|X]", "[a b c|Y]", {"merged": 3}),
    # One of two predictions is right: the other has nothing to do with the gold span.
    ("[a b|X] c", "[[a|X] b|X] c", {"spurious": 1}),
    ("[[a|X] b|X] c", "[a b|X] c", {"missed": 1}),
    # A pair in which both sides have one too many: split comes first.
    ("[a [b|X]|X]", "[[a|Y] b|Y]", {"split": 2, "merged": 1}),
    ("[a b|X] [c d|X]", "[a|X] [b|X] [c|Y] d", {"split": 2, "type and boundary": 1}),
    # Two pairs that also touch one another crosswise are two pairs.
    ("[a b c|X] [d e|X]", "[a b|X] [c d e|X]", {"boundary only": 2}),
]


def counted(scores: Scores) -> dict[str, int]:
    return {
        name: count for name, count in zip(CLASSES, classify_errors(scores).counts().tolist(), strict=True) if count
    }


@pytest.mark.parametrize(("gold", "prediction", "expected"), CASES)
def test_cases_by_hand(gold: str, prediction: str, expected: dict[str, int]) -> None:
    assert counted(decide(Example("", gold, prediction))) == expected


@pytest.mark.parametrize("name", CLASSES)
def test_examples_of_the_guide_show_their_class_alone(name: str) -> None:
    assert set(counted(decide(CLASS_EXAMPLES[name]))) == {name}
    assert set(CLASS_EXAMPLES) == set(CLASSES) <= set(GLOSSARY)


SHIFTED = [
    ("the [big cat|X] sat", "the [big cat|X] sat", None),
    ("the [big cat|X] sat", "the big [cat|X] sat", "left short"),
    ("the [big cat|X] sat", "[the big cat|X] sat", "left long"),
    ("the [big cat|X] sat", "the [big|X] cat sat", "right short"),
    ("the [big cat|X] sat", "the [big cat sat|X]", "right long"),
    ("the [big cat|X] sat", "[the big|X] cat sat", "both ends"),
    ("the [big cat|X] sat", "[the big cat sat|Y]", "both ends"),
    ("the [big cat|X] sat", "the big [cat|Y] sat", "left short"),
]


@pytest.mark.parametrize(("gold", "prediction", "expected"), SHIFTED)
def test_ends_by_hand(gold: str, prediction: str, expected: str | None) -> None:
    found = classify_errors(decide(Example("", gold, prediction)))
    (code,) = found.gold_ends.tolist()
    assert (None if code < 0 else ENDS[code]) == expected
    assert found.pred_ends.tolist() == [code]


def test_other_fragments_of_one_hull() -> None:
    over_one = documents(1)
    gold = make("gold", over_one, [(0, Span(((0, 2), (4, 6)), "X"))])
    pred = make("pred", over_one, [(0, Span(((0, 6),), "X"))])
    scores = score_layers(gold, pred)
    assert counted(scores) == {"boundary only": 1}
    assert ENDS[classify_errors(scores).gold_ends[0]] == "fragments"
    whole = mend_classes(scores, ["boundary only"])
    assert dict(whole.fragments) == {0: ((0, 2), (4, 6))}
    assert rescore(scores, whole, "strict").f1 == 1


def classes_of(gold: list[Span], pred: list[Span]) -> tuple[list[str | None], list[str | None]]:
    """Return the class of every span, read off the definitions one by one."""
    pairs = best(gold, pred, ORACLE["strict"])
    of_gold, of_pred = dict(pairs), {j: i for i, j in pairs}

    def same(one: Span, other: Span) -> bool:
        return one.fragments == other.fragments and one.kind == other.kind

    def wrong(i: int, j: int) -> bool:
        return not same(gold[i], pred[j])

    lone = [j for j in range(len(pred)) if j not in of_pred]
    duplicates = {
        j for j in lone if any(same(pred[j], pred[k]) and (k in of_pred or k < j) for k in range(len(pred)) if k != j)
    }
    extra = [j for j in lone if j not in duplicates]
    unfound = [i for i in range(len(gold)) if i not in of_gold]
    golds: list[str | None] = [None] * len(gold)
    preds: list[str | None] = [None] * len(pred)
    for j in lone:
        into = any(wrong(i, k) and pred[j].characters & gold[i].characters for i, k in pairs)
        preds[j] = "duplicate" if j in duplicates else "split" if into else "spurious"
    for i in unfound:
        under = any(wrong(k, j) and gold[i].characters & pred[j].characters for k, j in pairs)
        golds[i] = "merged" if under else "missed"
    for i, j in pairs:
        if not wrong(i, j):
            continue
        if any(gold[i].characters & pred[k].characters for k in extra):
            name = "split"
        elif any(pred[j].characters & gold[k].characters for k in unfound):
            name = "merged"
        elif gold[i].fragments == pred[j].fragments:
            name = "type only"
        else:
            name = "boundary only" if gold[i].kind == pred[j].kind else "type and boundary"
        golds[i] = preds[j] = name
    return golds, preds


def drawn(seed: int, *, docs: int, most: int, room: int = 14, broken: float = 0.15) -> tuple[Layer, Layer]:
    rng = random.Random(seed)
    over_all = documents(docs, 8)
    sides = []
    for name in ("gold", "pred"):
        spans = [
            (doc, span) for doc in range(docs) for span in random_spans(rng, most, room=room, kinds="AB", broken=broken)
        ]
        rng.shuffle(spans)
        sides.append(make(name, over_all, spans))
    return sides[0], sides[1]


def spans_of(layer: Layer, doc: int) -> list[Span]:
    low, high = layer.first[doc : doc + 2].tolist()
    return [
        Span(
            layer.fragments.get(span) or ((int(layer.start[span]), int(layer.end[span])),),
            layer.label(span),
            layer.cores.get(span),
            layer.alternatives.get(span, ()),
        )
        for span in range(low, high)
    ]


@pytest.mark.parametrize("seed", range(16))
def test_classes_are_those_of_the_definitions(seed: int) -> None:
    gold, pred = drawn(seed, docs=5, most=4, broken=(0, 0.15, 0.6)[seed % 3])
    found = classify_errors(score_layers(gold, pred, settings("strict")))
    for doc in range(5):
        sides = spans_of(gold, doc), spans_of(pred, doc)
        by_hand = classes_of(*sides)
        for layer, codes, spans, expected in zip((gold, pred), (found.gold, found.pred), sides, by_hand, strict=True):
            low, high = layer.first[doc : doc + 2].tolist()
            names = [None if code < 0 else CLASSES[code] for code in codes[low:high].tolist()]
            # Which of several equal spans is aligned says nothing.
            pairs = (Counter(zip((span.key for span in spans), one, strict=True)) for one in (names, expected))
            assert next(pairs) == next(pairs)


@pytest.mark.parametrize("seed", range(12))
def test_classes_partition_the_errors_and_do_not_depend_on_the_order_of_spans(seed: int) -> None:
    gold, pred = drawn(100 + seed, docs=8, most=12)
    scores = score_layers(gold, pred, settings("strict"))
    counts = scores.counts("strict")
    found = classify_errors(scores)
    # Every record that is not correct, and no other, has a class.
    assert found.counts().sum() == counts.inc + counts.mis + counts.spu
    assert (found.gold >= 0).sum() == counts.pos - counts.cor and (found.pred >= 0).sum() == counts.act - counts.cor
    paired = found.partner >= 0
    assert np.array_equal(found.gold[paired], found.pred[found.partner[paired]])
    assert class_types(scores)["records"].sum() == found.counts().sum()
    rng = random.Random(seed)
    again = []
    for layer in (gold, pred):
        spans = [(doc, span) for doc in range(8) for span in spans_of(layer, doc)]
        rng.shuffle(spans)
        again.append(make(layer.name, gold.documents, spans))
    assert counted(score_layers(again[0], again[1], settings("strict"))) == counted(scores)
    ends = class_ends(scores).groupby("class", observed=True)["records"].sum()
    assert all(ends[name] == found.counts()[CLASSES.index(name)] for name in ends.index)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    """Draw a span in a short text, now and then a discontinuous one."""
    edges = sorted(draw(st.lists(st.integers(0, 14), min_size=2, max_size=4, unique=True)))
    edges = edges if len(edges) != 3 else edges[:2]
    return Span(tuple(zip(edges[::2], edges[1::2], strict=True)), draw(st.sampled_from("AB")))


SIDE = st.lists(st.tuples(st.integers(0, 1), spans()), max_size=8)


@given(SIDE, SIDE, st.sets(st.sampled_from(CLASSES)))
def test_every_error_has_one_class_and_all_mended_is_gold(
    gold: list[tuple[int, Span]], pred: list[tuple[int, Span]], classes: set[str]
) -> None:
    over_two = documents(2, 2)
    sides = make("gold", over_two, gold), make("pred", over_two, pred)
    scores = score_layers(*sides, settings("strict"))
    now, found = scores.counts("strict"), classify_errors(scores)
    assert found.counts().sum() == now.inc + now.mis + now.spu
    right = [scores.decisions("strict")[side] == Decision.COR for side in (0, 1)]
    assert np.array_equal(found.gold < 0, right[0]) and np.array_equal(found.pred < 0, right[1])
    some = mend_classes(scores, classes)
    after = score_layers(sides[0], some, settings("strict"))
    # What is mended is right, and nothing else is any better or worse.
    kept = found.counts() * ~np.isin(CLASSES, list(classes))
    assert classify_errors(after).counts().sum() == kept.sum()
    assert mend_classes(after, CLASSES).digest == mend_classes(scores, CLASSES).digest == sides[0].digest


@pytest.mark.parametrize("seed", range(9))
def test_mending_does_what_it_says(seed: int) -> None:
    """Under strict, a class that is mended makes its pairs and missed spans correct, and takes the spurious out."""
    gold, pred = drawn(200 + seed, docs=8, most=9, broken=(0, 0.3)[seed % 2])
    rules = Settings((CRITERIA["strict"], CRITERIA["type"]), merge=(("B", "A"),) if seed % 3 == 0 else ())
    scores = score_layers(gold, pred, rules)
    found, now = classify_errors(scores), scores.counts("strict")
    several = random.Random(seed).sample(list(combinations(CLASSES, 3)), 4)
    for classes in [*combinations(CLASSES, 1), *several, CLASSES]:
        chosen = np.append(np.isin(CLASSES, classes), False)
        right = int(chosen[found.gold].sum())
        gone = int((chosen[found.pred] & found.alone).sum())
        added = int((chosen[found.gold] & (found.partner < 0)).sum())
        after = rescore(scores, mend_classes(scores, classes), "strict")
        assert (after.cor, after.pos, after.act) == (now.cor + right, now.pos, now.act - gone + added)
    assert mend_classes(scores, ()).digest == pred.digest
    assert after.f1 == 1 or not len(gold)
    if not rules.merge:
        bare = {"cores": {}, "alternatives": {}, "name": "pred"}
        assert replace(mend_classes(scores, CLASSES), **bare).digest == replace(gold, **bare).digest


def test_what_is_mended_keeps_all_else() -> None:
    gold = decide(Example("", "[a b|X] [c|X] d [e|X] f", "a b c d e f")).gold
    over_one = gold.documents
    spans = [Span(((9, 10),), "Z"), Span(((0, 1),), "X"), Span(((4, 5),), "Y"), Span(((6, 7),), "X")]
    pred = make("mine", over_one, [(0, span) for span in spans])
    pred = replace(
        pred,
        ids={0: "T1", 1: "T2", 2: "T3", 3: "T4"},
        links={0: ("Q1",), 1: ("Q2",)},
        scores={0: 0.5, 3: 0.25},
        cores={0: (0, 1), 1: (4, 5)},
    )
    rules = Settings((CRITERIA["strict"],), leave_out=("Z",))
    scores = score_layers(gold, pred, rules)
    assert counted(scores) == {"type only": 1, "boundary only": 1, "missed": 1, "spurious": 1}
    found = mend_classes(scores, ["boundary only", "type only", "missed"])
    rows = [(int(found.start[i]), int(found.end[i]), found.label(i), found.ids.get(i)) for i in range(len(found))]
    # The span of a type left out is still there, and the one that is added comes last in reading order.
    assert rows == [(0, 3, "X", "T1"), (4, 5, "X", "T2"), (6, 7, "X", "T3"), (8, 9, "X", None), (9, 10, "Z", "T4")]
    assert found.order is not None and np.argsort(found.order).tolist() == [4, 0, 1, 2, 3]
    assert dict(found.links) == {0: ("Q1",), 1: ("Q2",)} and dict(found.scores) == {0: 0.5, 4: 0.25}
    # The first span moved, so that its core is no longer that of anything.
    assert dict(found.cores) == {1: (4, 5)} and found.name == "mine"


def test_types_that_are_merged_keep_their_names() -> None:
    scores = decide(Example("", "[a b|DNA] [c|RNA]", "[a|RNA] b [c|cell]"))
    gold, pred = scores.read
    merged = score_layers(gold, pred, Settings((CRITERIA["strict"],), merge=(("DNA", "acid"), ("RNA", "acid"))))
    assert counted(merged) == {"boundary only": 1, "type only": 1}
    found = mend_classes(merged, CLASSES)
    assert [found.label(i) for i in range(len(found))] == ["RNA", "RNA"]
    assert rescore(merged, found, "strict").f1 == 1


@pytest.mark.parametrize("criterion", ["strict", "type", "fragment"])
def test_the_table_is_what_rescoring_says(criterion: str) -> None:
    gold, pred = drawn(7, docs=12, most=6)
    scores = score_layers(gold, pred, settings("strict", "type", "fragment"))
    done: list[tuple[int, int]] = []
    table = class_table(scores, criterion, progress=lambda *step: done.append(step))
    assert dict(table.dtypes) == dict(CLASS_COLUMNS)
    assert done == [(i + 1, len(done)) for i in range(len(done))]
    assert sorted(table["class"]) == sorted(CLASSES)
    assert table["share"].sum() == pytest.approx(1)
    assert table["gain"].is_monotonic_decreasing
    now = scores.counts(criterion).f1
    assert now is not None
    above: list[str] = []
    for row in table.itertuples():
        above.append(row[1])
        alone = rescore(scores, mend_classes(scores, [row[1]]), criterion)
        assert (row.precision, row.recall, row.f1) == (alone.precision, alone.recall, alone.f1)
        assert row.gain == row.f1 - now
        assert row.cumulative_f1 == rescore(scores, mend_classes(scores, above), criterion).f1
    assert table["cumulative_f1"].iloc[-1] == 1
    assert dict(class_types(scores).dtypes) == dict(TYPE_COLUMNS)
    assert dict(class_ends(scores).dtypes) == dict(END_COLUMNS)


EMPTY = [("a b", "a b"), ("[a|X] b", "a b"), ("a b", "[a|X] b"), ("[a|X] b", "[a|X] b")]


@pytest.mark.parametrize(("gold", "prediction"), EMPTY)
def test_with_nothing_there_is_nothing_to_mend(gold: str, prediction: str) -> None:
    scores = decide(Example("", gold, prediction))
    table = class_table(scores)
    counts = scores.counts("strict")
    assert table["records"].sum() == counts.mis + counts.spu
    assert table["cumulative_f1"].isna().all() == (not counts.pos and (not counts.act or counts.spu == counts.act)) or (
        table["cumulative_f1"].iloc[-1] == 1
    )
    assert mend_classes(scores, CLASSES).digest == scores.read[0].digest


def test_each_side_for_itself_has_no_classes() -> None:
    gold, pred = drawn(1, docs=2, most=3)
    for rules in (settings("strict", counting="each-side"), settings("type")):
        with pytest.raises(ValueError, match="strict"):
            classify_errors(score_layers(gold, pred, rules))
