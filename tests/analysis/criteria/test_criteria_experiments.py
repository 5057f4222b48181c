"""What could be recovered, merging types, and which criterion stands in for another: worked by hand, and held to plain
definitions."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nereval_core.analysis.criteria.gap import (
    CHAIN,
    OVERLAPPED,
    RECOVERED_COLUMNS,
    WHOLLY,
    looser_criteria,
    recover_spans,
)
from nereval_core.analysis.criteria.sensitivity import (
    FOLD_COLUMNS,
    MERGING_COLUMNS,
    PROXY_COLUMNS,
    document_folds,
    fold_scores,
    merge_types,
    merging_table,
    proxy_table,
)
from nereval_core.analysis.crosstab import VANISHED_COLUMNS, vanished_confusions
from nereval_core.problems import FormatError
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, Decision
from pages.shared.data.loading import load_demo
from tests.support.draws import draws
from tests.support.oracle import Span
from tests.support.spans import documents, make, random_spans, settings

DEMO = load_demo("biology").corpus


def span(low: int, high: int, kind: str = "A") -> Span:
    return Span(((low, high),), kind)


def scored(gold: list[Span], pred: list[Span], *names: str) -> Scores:
    over = documents(1)
    sides = [make(name, over, [(0, one) for one in side]) for name, side in (("gold", gold), ("p", pred))]
    return score_layers(sides[0], sides[1], settings(*names))


def test_what_could_be_recovered_by_hand() -> None:
    gold = [span(10 * i, 10 * i + 5) for i in range(9)]
    pred = [
        *(span(0, 5), span(10, 14), span(21, 25), span(31, 34), span(42, 48)),
        *(span(50, 55, "B"), span(61, 65, "B"), span(86, 88)),
    ]
    found = recover_spans(scored([*gold, span(85, 87)], pred, *CHAIN))
    names = ["", "left", "right", "approximate", "type", "exact", "lenient", WHOLLY, WHOLLY, "type"]
    assert [found.names[code] if code >= 0 else "" for code in found.codes] == names
    table = found.table()
    assert dict(table.dtypes) == dict(RECOVERED_COLUMNS)
    assert table["spans"].sum() == 9 and table["share"].sum() == pytest.approx(1)
    # Strict, then left, credit one more each of ten.
    assert table["recall"].iloc[0] == 0.2 and math.isnan(table["recall"].iloc[-1])
    both = recover_spans(scored([span(0, 5), span(2, 5)], [span(0, 5)], *CHAIN))
    assert [both.names[code] if code >= 0 else "" for code in both.codes] == ["", OVERLAPPED]


@draws(8)
@given(st.integers(0, 10**6))
def test_each_missed_span_has_one_class(seed: int) -> None:
    rng = random.Random(seed)
    over = documents(3)
    gold, pred = (make(name, over, [(doc, one) for doc in range(3) for one in random_spans(rng, 6)]) for name in "gp")
    scores = score_layers(gold, pred, settings(*CHAIN))
    found = recover_spans(scores)
    for g, code in enumerate(found.codes.tolist()):
        first = next((name for name in CHAIN if scores.decisions(name)[0][g] == Decision.COR), None)
        near = [p for p in range(len(pred)) if pred.doc[p] == gold.doc[g] and _share(gold, g) & _share(pred, p)]
        expected = first or (OVERLAPPED if near else WHOLLY)
        assert (found.names[code] if code >= 0 else "strict") == expected
    assert found.table()["spans"].sum() == len(gold) - (scores.counts("strict").cor or 0)


def _share(layer: object, number: int) -> set[int]:
    get = vars(layer)
    parts = get["fragments"].get(number) or ((int(get["start"][number]), int(get["end"][number])),)
    return {place for low, high in parts for place in range(low, high)}


def test_the_merges_of_tsai_by_hand() -> None:
    gold = [span(0, 5, "DNA"), span(10, 15, "protein"), span(20, 25, "RNA"), span(30, 35, "cell")]
    pred = [span(0, 5, "protein"), span(11, 15, "DNA"), span(20, 24, "protein"), span(30, 35, "DNA")]
    before = scored(gold, pred, "right", "exact")
    after = merge_types(before, dict.fromkeys(("DNA", "RNA", "protein"), "macromolecule"))
    table = merging_table(before, after).set_index("criterion")
    assert dict(table.reset_index().dtypes) == dict(MERGING_COLUMNS)
    assert table.loc["right", ["COR", "COR_after"]].tolist() == [0, 2]
    assert table.loc["exact", ["COR", "COR_after"]].tolist() == [2, 2]
    gone = vanished_confusions(before, after, "right")
    assert dict(gone.dtypes) == dict(VANISHED_COLUMNS)
    assert gone.to_numpy().tolist() == [["DNA", "protein", 1, 1], ["RNA", "protein", 1, 0], ["protein", "DNA", 1, 1]]


def test_merging_is_scoring_with_the_merge() -> None:
    """On top of one that is in force, and with the spans in another order."""
    first, then = {"DNA": "nucleic", "RNA": "nucleic"}, {"nucleic": "macro", "protein": "macro"}
    rules = tuple(CRITERIA[name] for name in ("strict", "right", "fragment"))
    before = score_layers(DEMO.gold, DEMO.system("rules"), Settings(rules, tuple(sorted(first.items()))))
    after = merge_types(before, then)
    whole = tuple(sorted(dict.fromkeys(("DNA", "RNA", "protein"), "macro").items()))
    plain = score_layers(DEMO.gold, DEMO.system("rules"), Settings(rules, whole))
    for rule in rules:
        assert after.counts(rule.name) == plain.counts(rule.name)
    gone = vanished_confusions(before, after, "right")
    assert set(gone["gold_type"]) | set(gone["pred_type"]) <= {"nucleic", "protein"} and len(gone)


def test_folds_are_disjoint_and_level() -> None:
    fold = document_folds(23, 5, 1)
    assert sorted(np.bincount(fold)) == [4, 4, 5, 5, 5]
    assert (fold == document_folds(23, 5, 1)).all() and (fold != document_folds(23, 5, 2)).any()
    for documents_, folds in ((3, 4), (9, 1), (0, 2)):
        with pytest.raises(FormatError, match=r"folds? of|not possible"):
            document_folds(documents_, folds)


def test_fold_scores_are_those_of_the_folds_documents() -> None:
    rules = tuple(CRITERIA[name] for name in ("strict", "right", "fragment"))
    systems = {name: score_layers(DEMO.gold, DEMO.system(name), Settings(rules)) for name in ("rules", "perceptron")}
    values = fold_scores(systems, 4, 7)
    assert dict(values.dtypes) == dict(FOLD_COLUMNS) and len(values) == 2 * 3 * 4
    fold = document_folds(len(DEMO.documents), 4, 7)
    for row in values.itertuples():
        layers = [
            layer.take(np.flatnonzero(fold[layer.doc] == row.fold - 1))
            for layer in (DEMO.gold, DEMO.system(row.system))
        ]
        assert score_layers(layers[0], layers[1], Settings(rules)).counts(row.criterion).f1 == row.f1
        assert row.documents == (fold == row.fold - 1).sum()
    table = proxy_table(values, "strict")
    assert dict(table.dtypes) == dict(PROXY_COLUMNS)
    wide = values.pivot(index=["system", "fold"], columns="criterion", values="f1")
    for row in table.itertuples():
        test = stats.ttest_rel(wide[row.criterion], wide["strict"])
        assert (row.n, row.undefined) == (8, 0)
        assert row.difference == pytest.approx(wide[row.criterion].mean() - wide["strict"].mean())
        assert (row.t, row.p) == (pytest.approx(test.statistic), pytest.approx(test.pvalue))
        assert row.r == pytest.approx(stats.pearsonr(wide[row.criterion], wide["strict"]).statistic)
    with pytest.raises(FormatError, match="no criterion 'loose'"):
        proxy_table(values, "loose")


def test_what_has_no_spread_has_no_test() -> None:
    over = documents(4)
    gold = make("gold", over, [(doc, span(0, 4)) for doc in range(3)])
    pred = make("p", over, [(doc, span(0, 5)) for doc in range(2)])
    values = fold_scores({"p": score_layers(gold, pred, settings("strict", "left", "type"))}, 4, 0)
    table = proxy_table(values, "left").set_index("criterion")
    assert table["n"].tolist() == [3, 3] and table["undefined"].tolist() == [1, 1]
    assert math.isnan(table.loc["type", "t"]) and table.loc["type", "r"] == pytest.approx(1)
    assert math.isnan(table.loc["strict", "r"]) and table.loc["strict", "difference"] == pytest.approx(-2 / 3)


@pytest.mark.parametrize(
    ("criterion", "names"),
    [
        ("strict", CHAIN),
        ("muc", ("muc", *CHAIN[1:])),
        ("left", ("left", "either", "type", "lenient")),
        ("exact", ("exact", "lenient")),
        ("lenient", ("lenient",)),
    ],
)
def test_a_looser_criterion_credits_every_pair_that_the_stricter_one_does(
    criterion: str, names: tuple[str, ...]
) -> None:
    assert looser_criteria(CRITERIA[criterion], [CRITERIA[name] for name in CHAIN]) == names
