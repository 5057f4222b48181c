"""Intervals, differences and tests of systems: against scipy, against what can be worked out, and by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import nereval_core as nereval
from nereval_core.analysis.bootstrap import F1, FEW_UNITS, RATIOS, leave_one_out, ratios, type_counts
from nereval_core.analysis.comparison import (
    compare_scores,
    few_units_warning,
    kendall_tau,
    significance,
)
from nereval_core.analysis.comparison.measures import (
    ComparisonGroup,
    SystemMeasure,
    SystemResamples,
    UnitCounts,
    count_units,
)
from nereval_core.analysis.comparison.significance import (
    ALL_OR_NONE,
    NEITHER_VARIES,
    NO_VARIANCE,
    best_shares,
    by_type_tables,
    difference_table,
    equivalence_p,
    interval_table,
    lead_table,
    power_table,
    ranks,
)
from nereval_core.analysis.comparison.tables import score_table
from nereval_core.analysis.intervals import acceleration, bca_intervals
from nereval_core.analysis.multiple_tests import benjamini_hochberg, holm_correction
from nereval_core.analysis.resampling_units import ResamplingPlan, document_units
from nereval_core.analysis.sentences import percent_of_resamples
from nereval_core.api.load import load_corpus
from nereval_core.api.load_options import LoadOptions
from nereval_core.corpus import Documents, layer
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA
from tests.support import ROOT
from tests.support.shared_corpora import SHARED, needs

DEMO = ROOT / "demo_data" / "biology"
SYSTEMS = ("rules", "perceptron", "annotator-2")
PLAN = ResamplingPlan(resamples=2_000, seed=1)
Rows = list[tuple[int, int, int, int]]


@pytest.fixture(scope="module")
def demo() -> Mapping[str, Scores]:
    loaded = load_corpus(DEMO / "gold.jsonl", {name: DEMO / f"{name}.jsonl" for name in SYSTEMS})
    settings = Settings(tuple(CRITERIA[name] for name in APPLICABLE))
    return {one.name: score_layers(loaded.corpus.gold, one, settings) for one in loaded.corpus.systems}


def drawn(documents: int, systems: int, seed: int) -> np.ndarray[Any, Any]:
    """Draw counts of one group, shape (1, systems, 4, documents); each system is a little better than the last."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 9, documents)
    found = np.zeros((1, systems, 4, documents), np.int32)
    for number in range(systems):
        predicted = rng.integers(1, 9, documents)
        right = rng.binomial(np.minimum(gold, predicted), 0.5 + 0.05 * number)
        found[0, number] = [2 * right, 2 * right, gold, predicted]
    return found


def resampled(counts: np.ndarray[Any, Any], plan: ResamplingPlan = PLAN) -> SystemResamples:
    groups, systems = counts.shape[:2]
    names = tuple(ComparisonGroup(f"c{number}") for number in range(groups))
    return SystemResamples(
        UnitCounts(names, tuple("abcdefgh"[:systems]), counts, document_units(counts.shape[-1])), plan
    )


def widened(without_each: list[float]) -> float:
    """Return the level at which the bootstrap alone is as wide as ours at 95% (Hesterberg 2015, Satterthwaite 1946)."""
    mean = sum(without_each) / len(without_each)
    squares = [(value - mean) ** 2 for value in without_each]
    units = min(len(squares), 3 * sum(squares) ** 2 / sum(square**2 for square in squares))
    return float(2 * stats.norm.cdf(stats.t.ppf(0.975, units - 1) * (units / (units - 1)) ** 0.5) - 1)


@pytest.mark.parametrize("seed", range(4))
def test_intervals_are_those_of_scipy(seed: int) -> None:
    """From the same resamples the same ends; from resamples of its own nearly the same."""
    counts = drawn(30, 1, seed)
    places = np.arange(30)

    def f1(sample: np.ndarray[Any, Any]) -> float:
        return float(ratios(counts[0, 0][:, sample].sum(axis=1)[:, None])[F1, 0])

    level = widened([f1(np.delete(places, place)) for place in places])
    theirs = stats.bootstrap(
        (places,), f1, n_resamples=2_000, method="BCa", vectorized=False, rng=seed, confidence_level=level
    )
    left_out = acceleration(ratios(leave_one_out(counts[0]))[:, F1])
    normal = np.array([stats.norm.ppf((1 + level) / 2)])
    same = bca_intervals(np.array([f1(places)]), theirs.bootstrap_distribution[None], left_out, normal)
    assert [same.low[0], same.high[0]] == pytest.approx(list(theirs.confidence_interval), abs=1e-12)
    ours = interval_table(resampled(counts, ResamplingPlan(resamples=10_000, seed=seed))).iloc[0]
    spread = float(theirs.standard_error)
    assert ours["f1_low"] == pytest.approx(theirs.confidence_interval.low, abs=0.25 * spread)
    assert ours["f1_high"] == pytest.approx(theirs.confidence_interval.high, abs=0.25 * spread)


@pytest.mark.parametrize("seed", range(3))
def test_intervals_of_differences_are_those_of_scipy(seed: int) -> None:
    counts = drawn(25, 2, seed)
    places = np.arange(25)

    def difference(sample: np.ndarray[Any, Any]) -> float:
        one, other = (ratios(counts[0, place][:, sample].sum(axis=1)[:, None])[F1, 0] for place in (1, 0))
        return float(one - other)

    level = widened([difference(np.delete(places, place)) for place in places])
    theirs = stats.bootstrap(
        (places,), difference, n_resamples=2_000, method="BCa", vectorized=False, rng=seed, confidence_level=level
    )
    row = difference_table(resampled(counts, ResamplingPlan(resamples=10_000)), "a").iloc[0]
    assert (row["system"], row["baseline"]) == ("b", "a")
    assert row["difference"] == difference(places)
    for end, expected in zip(("low", "high"), theirs.confidence_interval, strict=True):
        assert row[end] == pytest.approx(expected, abs=0.25 * float(theirs.standard_error))


@pytest.mark.parametrize("seed", range(4))
def test_randomization_is_exact_for_few_documents(seed: int) -> None:
    """Of 2 to the power of 8 ways to swap, scipy tries each."""
    counts = drawn(8, 2, seed)
    one, other = np.arange(8), np.arange(8, 16)
    both = np.concatenate([counts[0, 0], counts[0, 1]], axis=1)

    def statistic(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
        f1 = [ratios(both[:, side].sum(axis=1)[:, None])[F1, 0] for side in (x, y)]
        return abs(float(f1[0] - f1[1]))

    theirs = stats.permutation_test(
        (one, other), statistic, permutation_type="samples", vectorized=False, alternative="greater", n_resamples=1e6
    )
    row = difference_table(resampled(counts, ResamplingPlan(resamples=20_000)), "a").iloc[0]
    assert row["p"] == pytest.approx(theirs.pvalue, abs=4 * (0.25 / 20_000) ** 0.5)


def test_a_binomial_agrees_with_the_exact_interval() -> None:
    """One gold span a document, found or not: recall in resamples is binomial, and the ends can be looked up."""
    n, right = 400, 300
    hit = np.repeat([1, 0], [right, n - right])
    counts = np.array([[[2 * hit, 2 * hit, np.ones(n, int), hit]]], np.int32)
    drawn = resampled(counts, ResamplingPlan(resamples=20_000))
    (value, low, high, _) = (column[0] for column in drawn.estimate_ratios(0))
    row = {f"{name}_{end}": ends[at] for end, ends in (("low", low), ("high", high)) for at, name in enumerate(RATIOS)}
    assert value[:2].tolist() == [1, 0.75]
    share = right / n
    binomial = stats.binom(n, share)
    bias = stats.norm.ppf(binomial.cdf(right - 1) + binomial.pmf(right) / 2)
    # The third moment of leaving one out: see Efron 1987, the parametric value is (1 - 2p) / (6 sqrt(n p q)).
    skew = (1 - 2 * share) / (6 * (n * share * (1 - share)) ** 0.5)
    for end, tail in (("recall_low", 0.025), ("recall_high", 0.975)):
        z = bias + stats.norm.ppf(tail)
        level = stats.norm.cdf(bias + z / (1 - skew * z))
        assert row[end] == pytest.approx(binomial.ppf(level) / n, abs=1.01 / n)
    exact = stats.binomtest(right, n).proportion_ci(0.95, "exact")
    assert row["recall_low"] == pytest.approx(exact.low, abs=2 / n)
    assert row["recall_high"] == pytest.approx(exact.high, abs=2 / n)
    # All predictions are right in all resamples, which does not make P certain; F1 varies with recall.
    assert (row["precision_low"], row["precision_high"]) == (1, 1)
    told = interval_table(drawn).iloc[0]
    assert told["f1_low"] < told["f1"] < told["f1_high"] and not told["why"]
    wilson = stats.binomtest(right, right).proportion_ci(0.95, "wilson")
    assert (told["precision_low"], told["precision_high"]) == (pytest.approx(wilson.low), pytest.approx(1))
    assert (told["recall_low"], told["recall_high"]) == (row["recall_low"], row["recall_high"])


def test_figures_that_do_not_vary_and_their_differences_have_no_interval() -> None:
    """Two systems that are all wrong, one that is all right: an interval of [0, 0] would be certainty."""
    text = "one two"
    gold = [[(0, 3, "A")] for _ in range(20)]
    outputs = {"wrong": [[(0, 3, "B")]] * 20, "as wrong": [[(4, 7, "A")]] * 20, "right": gold}
    scores = {name: nereval.score(gold, pred, texts=[text] * 20, criteria=["strict"]) for name, pred in outputs.items()}
    comparison = compare_scores(scores, plan=PLAN, measures=["recall", "macro-f1"])
    for table in (comparison.differences, comparison.pairs, comparison.measure_differences):
        assert table["difference"].isin([0, 1]).all() and table["p"].notna().all()
        assert table[["low", "high"]].isna().all(axis=None) and table["why"].eq(NEITHER_VARIES).all()
    assert (
        comparison.measures[["low", "high"]].isna().all(axis=None) and comparison.measures["why"].eq(NO_VARIANCE).all()
    )


def test_a_type_that_is_all_wrong_has_no_interval_as_its_slice_has_none() -> None:
    """F1 of 19 products, all wrong, was printed as 0.000 [0.000, 0.000], as if that were certain."""
    text = "one two"
    gold = [[(0, 3, "prod"), (4, 7, "loc")] for _ in range(20)]
    pred = [[(0, 3, "loc"), *([(4, 7, "loc")] if number % 2 else [])] for number in range(20)]
    scores = {"a": nereval.score(gold, pred, texts=[text] * 20, criteria=["strict"])}
    rows, _, leads = by_type_tables(scores, "strict", PLAN, "a", document_units(20))
    wrong, other = (rows[rows["type"].eq(kind)].iloc[0] for kind in ("prod", "loc"))
    assert (wrong["f1"], wrong["recall_low"]) == (0, 0) and 0.1 < wrong["recall_high"] < 0.2
    assert np.isnan(wrong["f1_low"]) and wrong["why"] == ALL_OR_NONE
    assert other["f1_low"] < other["f1"] < other["f1_high"] and not other["why"]
    table = score_table("types", rows, rows.iloc[:0].assign(p_holm=0.0), leads, 0.95, "type")
    assert "0.000" in table.rows[0] and not any("[0.000" in str(cell) for cell in table.rows[0])


def test_equal_systems_do_not_differ() -> None:
    counts = drawn(30, 1, 0).repeat(3, axis=1)
    table = difference_table(resampled(counts))
    assert len(table) == 3
    for name, value in (("difference", 0), ("low", 0), ("high", 0), ("p", 1), ("p_holm", 1), ("tests", 3)):
        assert table[name].tolist() == [value] * 3
    found = interval_table(resampled(counts))
    assert found["rank"].tolist() == [1, 1, 1] and found["best"].tolist() == [1, 1, 1]


def test_what_is_undefined_is_said() -> None:
    """All spans in the first of four documents: a resample is without any in (3/4)^4 of all cases."""
    spans = np.array([[2, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]], np.int32)
    none = np.zeros((4, 4), np.int32)
    found = resampled(np.stack([np.stack([spans, none]), np.stack([none, none])]), ResamplingPlan(resamples=10_000))
    table = interval_table(found)
    assert table["units"].tolist() == [1, 0, 0, 0]
    assert table["undefined"].iat[0] / 10_000 == pytest.approx((3 / 4) ** 4, abs=0.02)
    assert table["undefined"].tolist()[1:] == [10_000] * 3
    # Resamples of the one document that F1 rests on tell nothing.
    assert table["f1"].iat[0] == 2 / 3 and table["f1"].iloc[1:].isna().all()
    assert table[["f1_low", "f1_high", "precision_low", "recall_high"]].isna().all(axis=None)
    assert table["why"].tolist() == ["no interval and no test: F1 rests on one document alone", "", "", ""]
    assert table["rank"].tolist()[:1] == [1] and table["rank"].iloc[1:].isna().all()
    assert table["best"].iat[0] != 1 and table["best"].iloc[2:].isna().all()
    differences = difference_table(found, "a")
    assert differences[["difference", "low", "high", "p", "p_holm"]].isna().all(axis=None)
    assert differences["tests"].tolist() == [0, 0]


def test_swaps_without_an_f1_count_as_far_apart() -> None:
    """No gold spans, and two predictions each in documents of their own: swaps that give all to one leave no F1."""
    nothing = [0, 0, 0, 0]
    counts = np.array([[[nothing, nothing, nothing, acts] for acts in ([1, 1, 0, 0], [0, 0, 1, 1])]], np.int32)
    table = difference_table(resampled(counts))
    assert (table["difference"].iat[0], table["p"].iat[0], table["tests"].iat[0]) == (0, 1, 1)


def test_there_may_be_no_documents() -> None:
    over = Documents((), ())
    gold = layer("gold", over, [], [], [], [])
    found = compare_scores({name: score_layers(gold, gold.renamed(name)) for name in "ab"}, plan=PLAN, by_type=True)
    assert found.intervals["f1"].isna().all() and found.differences["p"].isna().all()
    assert found.words == ("no system has an F1 under strict: there are no spans of gold or of a system",)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], []),
        ([0.03], [0.03]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.04, 0.01], [0.04, 0.02]),
        ([0.5, 0.9, 0.6], [1, 1, 1]),
        ([0.02, float("nan"), 0.02], [0.04, float("nan"), 0.04]),
    ],
)
def test_holm(given: list[float], expected: list[float]) -> None:
    assert holm_correction(np.array(given)).tolist() == pytest.approx(expected, nan_ok=True)


def test_ranks_and_who_is_best_how_often() -> None:
    nan = float("nan")
    assert ranks(np.array([0.5, 0.7, nan, 0.7, 0.1])) == [3, 1, None, 1, 4]
    rows = np.array([[[1.0, 0.5, nan, nan], [0.5, 0.5, 0.2, nan]], [[nan] * 4, [nan] * 4]])
    found = best_shares(rows)
    assert found[0].tolist() == [2 / 3, 2 / 3]
    assert np.isnan(found[1]).all()


VALUES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8)


@given(VALUES)
def test_kendall_is_that_of_scipy(rows: list[tuple[int, int]]) -> None:
    one, other = (np.array([row[side] for row in rows], float) for side in (0, 1))
    expected = stats.kendalltau(one, other).statistic if len(rows) > 1 else float("nan")
    assert kendall_tau(one, other) == pytest.approx(expected, nan_ok=True)
    assert kendall_tau(np.append(one, np.nan), np.append(other, 1)) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("most", [1, 3 * 4 * PLAN.resamples * 2])
def test_types_resampled_in_parts_are_those_resampled_at_once(
    demo: Mapping[str, Scores], monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """One type at a time, as where not even one fits in memory, and two at a time."""
    units = document_units(next(iter(demo.values())).documents)
    once = by_type_tables(demo, "strict", PLAN, "rules", units)
    monkeypatch.setattr(significance, "COUNTS_AT_ONCE", most)
    for part, whole in zip(by_type_tables(demo, "strict", PLAN, "rules", units), once, strict=True):
        pd.testing.assert_frame_equal(part, whole)


def test_the_tables_of_the_demo(demo: Mapping[str, Scores]) -> None:
    found = compare_scores(demo, plan=PLAN, by_type=True)
    assert found.baseline == "rules"
    for row in found.intervals.to_dict("records"):
        scores = demo[row["system"]]
        whole = pd.isna(row["type"])
        counts = scores.counts(row["criterion"]) if whole else scores.by_type(row["criterion"])[row["type"]]
        assert (row["POS"], row["ACT"]) == (counts.pos, counts.act)
        for name in ("precision", "recall", "f1"):
            value = getattr(counts, name)
            assert row[name] == pytest.approx(float("nan") if value is None else value, abs=1e-15, nan_ok=True)
            if name == "f1" and row["why"]:
                assert row["why"] == ALL_OR_NONE and np.isnan(row["f1_low"])
            elif value is not None:
                assert 0 <= row[f"{name}_low"] <= row[f"{name}_high"] <= 1
    kinds = {kind for scores in demo.values() for kind in scores.by_type("strict")}
    assert len(found.intervals) == len(APPLICABLE) * 3 * (1 + len(kinds))
    assert len(found.differences) == len(APPLICABLE) * 2 * (1 + len(kinds))
    assert len(found.pairs) == len(APPLICABLE) * 3
    assert len(found.taus) == len(APPLICABLE) ** 2
    # The same again: nothing depends on how much is resampled at once, or on what else is.
    few = {name: scores for name, scores in demo.items() if name != "annotator-2"}
    fewer = compare_scores(few, plan=PLAN)
    both = fewer.intervals["system"].unique()
    ours = found.intervals[found.intervals["type"].isna() & found.intervals["system"].isin(both)]
    columns = ["criterion", "system", "f1_low", "f1_high", "undefined"]
    assert fewer.intervals[columns].equals(ours[columns].reset_index(drop=True))
    assert fewer.pairs.empty


def test_a_lead_has_the_p_of_the_best_against_the_next_best(demo: Mapping[str, Scores]) -> None:
    found = compare_scores(demo, plan=PLAN, by_type=True)
    whole = found.leads[found.leads["type"].isna()]
    assert whole["criterion"].tolist() == list(APPLICABLE)
    for lead in whole.to_dict("records"):
        rows = found.intervals[found.intervals["type"].isna() & found.intervals["criterion"].eq(lead["criterion"])]
        first, second = rows.sort_values("f1", ascending=False, kind="stable")["system"][:2]
        if rows["rank"].eq(1).sum() > 1:
            assert np.isnan(lead["p_holm"])
            continue
        pairs = found.pairs[found.pairs["criterion"] == lead["criterion"]]
        (p,) = pairs.loc[pairs["system"].isin([first, second]) & pairs["baseline"].isin([first, second]), "p_holm"]
        assert (lead["system"], lead["p_holm"]) == (first, p)


# Documents in which a, b and c get so many of ten spans right, and the system that is bold.
LEADS = (
    ({"a": [9] * 30, "b": [5] * 30}, "a"),
    ({"a": [5] * 30, "b": [9] * 30, "c": [1] * 30}, "b"),
    ({"a": [9, 5] * 15, "b": [5, 9] * 14 + [5, 8], "c": [1] * 30}, None),
    ({"a": [9] * 30, "b": [9] * 30, "c": [1] * 30}, None),
    # Both of the next best have to be worse.
    ({"a": [6] * 30, "b": [5] * 30, "c": [10, 0] * 15}, None),
    # A difference that rests on one document has no test.
    ({"a": [9], "b": [5]}, None),
)


@pytest.mark.parametrize(("right", "bold"), LEADS)
def test_the_best_is_bold_where_it_is_significantly_best(right: dict[str, list[int]], bold: str | None) -> None:
    documents = len(right["a"])
    spans = [10] * documents
    credit = [[2 * number for number in row] for row in right.values()]
    counts = np.array([[[row, row, spans, spans] for row in credit]], np.int32)
    group = (ComparisonGroup("strict"),)
    made = SystemResamples(UnitCounts(group, tuple(right), counts, document_units(documents)), PLAN)
    intervals, leads = interval_table(made), lead_table(made)
    table = score_table("F1", intervals, difference_table(made, "a"), leads, 0.95)
    assert [table.rows[row][0] for row, _ in table.strong] == ([] if bold is None else [bold])
    (note,) = table.strong_notes
    assert ("none under strict, where it is not" in note) == (bold is None)


def test_a_single_system_leads_nobody(demo: Mapping[str, Scores]) -> None:
    found = compare_scores({"rules": demo["rules"]}, plan=PLAN, by_type=True)
    table = score_table("F1", found.intervals, found.differences, found.leads, 0.95)
    assert found.leads.empty and table.strong_notes == () and table.strong == frozenset()


def test_another_baseline_turns_the_difference_round(demo: Mapping[str, Scores]) -> None:
    found = SystemResamples(count_units(demo, ["strict"], document_units(20)), PLAN)
    one, other = (difference_table(found, name).set_index("system") for name in ("rules", "perceptron"))
    there, back = one.loc["perceptron"], other.loc["rules"]
    assert there["difference"] == -back["difference"]
    assert there["p"] == back["p"]
    assert there["low"] == pytest.approx(-back["high"], abs=1e-12)


def test_in_words(demo: Mapping[str, Scores]) -> None:
    found = compare_scores(demo, plan=PLAN, baseline="perceptron")
    best = found.intervals.iloc[0]
    assert found.words == (
        f"under strict rules has the highest F1, 0.682, 95% interval {best['f1_low']:.3f} to {best['f1_high']:.3f}; "
        "it stays the best in 100% of 2,000 resamples of the documents",
        "significantly better than perceptron: rules (p ≤ .001); no significant difference from perceptron: "
        "annotator-2 (p = .42); p after Holm's correction over 2 systems",
        "best under other criteria: annotator-2 under left",
    )


@pytest.mark.parametrize(
    ("share", "said"), [(0, "0%"), (0.004, "under 1%"), (0.5, "50%"), (0.996, "over 99%"), (1, "100%")]
)
def test_no_share_is_rounded_to_none_or_all(share: float, said: str) -> None:
    assert percent_of_resamples(share) == said


def test_few_documents_are_warned_of() -> None:
    for documents, warned in ((FEW_UNITS - 1, True), (FEW_UNITS, False)):
        found = resampled(drawn(documents, 2, 0))
        words = few_units_warning(interval_table(found), document_units(documents))
        assert any(f"only {documents} documents have spans" in line for line in words) == warned


@needs("hipe2020")
def test_the_ranking_of_hipe_2020_is_the_published_one() -> None:
    """The thirteen English runs by strict F1 under our own criterion: over positions, types whatever their case."""
    path = SHARED / "expected/hipe2020/official_ranking_en_coarse_strict.tsv"
    official = pd.read_csv(path, sep="\t")
    official = official[official["Evaluation"].eq("NE-COARSE-LIT-micro-strict") & official["Label"].eq("ALL")]
    folder = SHARED / "hipe2020"
    column = "NE-COARSE-LIT"
    loaded = load_corpus(
        folder / "gold/HIPE-data-v1.3-test-en.tsv",
        {name: folder / f"submissions/{name}.tsv" for name in official["System"]},
        options=LoadOptions(repair="conlleval", token_text="gold", gold_column=column, pred_column=column),
    )
    merge = tuple((kind.upper(), kind) for kind in loaded.corpus.gold.types)
    settings = Settings((CRITERIA["strict"], CRITERIA["type"]), merge)
    scores = {one.name: score_layers(loaded.corpus.gold, one, settings) for one in loaded.corpus.systems}
    found = compare_scores(scores, plan=ResamplingPlan(resamples=500))
    strict = found.intervals[found.intervals["criterion"] == "strict"]
    ours = strict.sort_values("f1", ascending=False, kind="stable")
    # Published to three places; none of the thirteen share an F1 there, and none here.
    assert official["F1"].is_monotonic_decreasing and official["F1"].is_unique
    assert ours["system"].tolist() == official["System"].tolist()
    assert ours["rank"].tolist() == list(range(1, 14))
    assert ours["f1"].round(3).tolist() == official["F1"].tolist()
    assert len(found.pairs) == 2 * 13 * 12 / 2
    assert "team10_bundle1_en_1 has the highest F1, 0.632" in found.words[0]


def test_corrections_are_those_of_scipy_and_by_hand() -> None:
    """Benjamini-Hochberg as scipy has it; Holm worked out by hand: 5 × .01, 4 × .02, then never less."""
    p = np.array([0.01, np.nan, 0.04, 0.03, 0.02, 0.05])
    known = ~np.isnan(p)
    assert benjamini_hochberg(p)[known] == pytest.approx(stats.false_discovery_control(p[known]))
    assert holm_correction(p)[known] == pytest.approx([0.05, 0.09, 0.09, 0.08, 0.09])
    assert np.isnan(benjamini_hochberg(p)[1]) and np.isnan(holm_correction(p)[1])


def test_the_family_is_all_tests_of_the_table(demo: Mapping[str, Scores]) -> None:
    found = compare_scores(demo, names=["strict", "type"], plan=PLAN, by_type=True)
    p = found.differences["p"].to_numpy()
    assert found.differences["p_family"].to_numpy() == pytest.approx(holm_correction(p), nan_ok=True)
    assert found.differences["p_bh"].to_numpy() == pytest.approx(benjamini_hochberg(p), nan_ok=True)
    assert found.family.startswith(f"{(~np.isnan(p)).sum()} tests: 2 systems against rules, 2 criteria, ")


def test_the_error_of_a_mean_is_the_textbooks() -> None:
    """One gold span and one prediction a document: F1 is the share of hits, its jackknife error s / the root of n."""
    rng = np.random.default_rng(2)
    hits = rng.integers(0, 2, (2, 40))
    ones = np.ones(40, int)
    counts = np.array([[[2 * hit, 2 * hit, ones, ones] for hit in hits]], np.int32)
    row = power_table(resampled(counts), "a", 0.2).iloc[0]
    apart = hits[1] - hits[0]
    error = apart.std(ddof=1) / 40**0.5
    assert (row["difference"], row["error"]) == (apart.mean(), pytest.approx(error))
    deviations = (apart - apart.mean()) ** 2
    freedom = min((apart != apart.mean()).sum(), 3 * deviations.sum() ** 2 / (deviations**2).sum()) - 1
    reach = stats.t.ppf([0.975, 0.8], freedom).sum() * error
    assert row["detectable"] == pytest.approx(reach)
    assert row["needed"] == np.ceil(40 * (reach / 0.01) ** 2)
    # The two one-sided tests of scipy.
    sides = [stats.t.sf((apart.mean() + 0.2) / error, freedom), stats.t.cdf((apart.mean() - 0.2) / error, freedom)]
    assert row["p_equivalent"] == pytest.approx(max(sides))


def test_systems_that_do_not_vary_are_equally_good_or_not() -> None:
    assert equivalence_p(0.0, 0.0, 5.0, 0.01) == 0 and equivalence_p(0.02, 0.0, 5.0, 0.01) == 1
    assert np.isnan(equivalence_p(0.0, np.nan, 5.0, 0.01))


def test_micro_measures_are_those_of_the_comparison(demo: Mapping[str, Scores]) -> None:
    found = compare_scores(demo, names=["strict"], plan=PLAN, measures=["f1", "recall"])
    rows = found.measures.set_index(["measure", "system"])
    for row in found.intervals.to_dict("records"):
        for name in ("f1", "recall"):
            assert rows.loc[(name, row["system"]), ["value", "low", "high"]].tolist() == pytest.approx(
                [row[name], row[f"{name}_low"], row[f"{name}_high"]]
            )
    apart = found.measure_differences.query("measure == 'f1'")
    for name in ("system", "difference", "low", "high", "p", "p_holm"):
        assert apart[name].tolist() == found.differences[name].tolist()
    assert found.measure_family == "4 tests: 2 systems against rules, 1 criterion, 2 measures"


def test_a_macro_average_is_that_of_scores_and_its_interval_that_of_scipy(demo: Mapping[str, Scores]) -> None:
    found = compare_scores(demo, names=["strict"], plan=ResamplingPlan(seed=4), measures=["macro-f1"])
    for row in found.measures.to_dict("records"):
        assert row["value"] == pytest.approx(demo[row["system"]].macro_types("strict")["f1"].value)
    scores = demo["rules"]
    kinds = tuple(scores.by_type("strict"))
    counts = type_counts(scores, "strict", kinds)
    places = np.arange(counts.shape[-1])

    def macro(sample: np.ndarray[Any, Any]) -> float:
        return float(np.nanmean(ratios(counts[:, :, sample].sum(axis=-1)[..., None])[:, F1, 0]))

    level = widened([macro(np.delete(places, place)) for place in places])
    theirs = stats.bootstrap(
        (places,), macro, n_resamples=2_000, method="BCa", vectorized=False, rng=4, confidence_level=level
    )
    row = found.measures.set_index("system").loc["rules"]
    for end, expected in zip(("low", "high"), theirs.confidence_interval, strict=True):
        assert row[end] == pytest.approx(expected, abs=0.25 * float(theirs.standard_error))


def test_a_test_of_macro_averages_is_exact_for_few_documents() -> None:
    counts = np.stack([drawn(8, 2, seed)[0] for seed in (1, 2)])
    measured = SystemMeasure(resampled(counts, ResamplingPlan(resamples=20_000)), F1)
    both = np.concatenate([counts[:, 0], counts[:, 1]], axis=-1)

    def statistic(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
        means = [ratios(both[:, :, side].sum(axis=-1)[..., None])[:, F1, 0].mean() for side in (x, y)]
        return abs(float(means[0] - means[1]))

    theirs = stats.permutation_test(
        (np.arange(8), np.arange(8, 16)),
        statistic,
        permutation_type="samples",
        vectorized=False,
        alternative="greater",
        n_resamples=1e6,
    )
    assert measured.p_value(1, 0) == pytest.approx(theirs.pvalue, abs=4 * (0.25 / 20_000) ** 0.5)
