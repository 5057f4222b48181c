"""Means over runs: against the analysis of variance of balanced data, by hand, and what one run cannot tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from nereval_core.analysis.comparison import compare_scores
from nereval_core.analysis.comparison.measures import ComparisonGroup, SystemResamples, UnitCounts
from nereval_core.analysis.comparison.runs import (
    RunComparison,
    compare_runs,
    group_runs,
    name_runs,
    suggest_runs,
)
from nereval_core.analysis.intervals import effective_units
from nereval_core.analysis.multiple_tests import holm_correction
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.problems import FormatError
from nereval_core.scoring import Scores, score_layers
from nereval_core.scoring.criteria import SCHEMAS
from tests.support.pages import DEMO

PLAN = ResamplingPlan(resamples=100)
SPANS = 100


def resampled(f1: np.ndarray, strata: np.ndarray | None = None) -> SystemResamples:
    """Return runs whose F1 is, by unit, a count of SPANS, shape (runs, units): F1 of all units is their mean."""
    counts = np.stack([2 * f1, 2 * f1, np.full_like(f1, SPANS), np.full_like(f1, SPANS)], axis=1).astype(np.int32)
    units = replace(ResamplingUnits("document", "document", "documents", f1.shape[1]), strata=strata)
    names = tuple(f"{number}" for number in range(len(f1)))
    return SystemResamples(UnitCounts((ComparisonGroup("strict"),), names, counts[None], units), PLAN)


def drawn(runs: int, units: int, seed: int, between: float = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    apart = rng.normal(0, 8, units) + rng.normal(0, between, (runs, 1)) + rng.normal(0, 4, (runs, units))
    return np.clip(60 + apart, 0, SPANS).round().astype(np.int64)


def compared(f1: np.ndarray, *sizes: int, strata: np.ndarray | None = None) -> RunComparison:
    ends = np.cumsum((0, *sizes))
    systems = {
        name: [str(run) for run in range(low, high)] for name, low, high in zip("abc", ends, ends[1:], strict=False)
    }
    return compare_runs(resampled(f1, strata), systems, "a")


@pytest.mark.parametrize("runs", [2, 3, 7])
def test_the_variance_is_that_of_the_two_way_analysis_of_variance(runs: int) -> None:
    """Of means, the jackknife is the textbook variance, so that components are those of mean squares."""
    units = 30
    f1 = drawn(runs, units, seed=runs)
    share = f1 / SPANS
    by_unit, by_run, mean = share.mean(axis=0), share.mean(axis=1), share.mean()
    left = share - by_unit - by_run[:, None] + mean
    of_units = runs * by_unit.var(ddof=1)
    of_runs = units * by_run.var(ddof=1)
    of_both = (left**2).sum() / ((runs - 1) * (units - 1))
    row = compared(f1, runs).means.iloc[0]
    assert of_runs > of_both
    assert row["error"] ** 2 == pytest.approx((of_units + of_runs - of_both) / (runs * units))
    assert row["f1"] == pytest.approx(mean) and row["f1_sd"] == pytest.approx(by_run.std(ddof=1))
    assert (row["f1_best"], row["f1_worst"]) == pytest.approx((by_run.max(), by_run.min()))
    assert row["precision"] == pytest.approx(mean) and row["recall_sd"] == pytest.approx(by_run.std(ddof=1))
    reach = stats.t.ppf(0.975, row["freedom"]) * row["error"]
    assert (row["f1_low"], row["f1_high"]) == pytest.approx((max(mean - reach, 0), min(mean + reach, 1)))


@pytest.mark.parametrize("sizes", [(2, 4), (3, 3), (1, 3)])
def test_the_difference_adds_what_runs_of_each_system_add(sizes: tuple[int, int]) -> None:
    units, f1 = 25, drawn(sum(sizes), 25, seed=sum(sizes), between=6)
    share = f1 / SPANS
    sides = share[: sizes[0]], share[sizes[0] :]
    row = compared(f1, *sizes).differences.iloc[0]
    of_units = (sides[1].mean(axis=0) - sides[0].mean(axis=0)).var(ddof=1) / units
    left_out = (share.sum(axis=1, keepdims=True) - share) / (units - 1)
    freedom = min(units, effective_units(left_out[sizes[0] :].mean(axis=0) - left_out[: sizes[0]].mean(axis=0))) - 1
    total, below = of_units, of_units**2 / freedom
    for side in sides:
        if len(side) > 1:
            spread = side.mean(axis=1).var(ddof=1)
            own = (side - side.mean(axis=0)).var(axis=1, ddof=1).sum() / units / (len(side) - 1)
            assert spread > own
            total += (spread - own) / len(side)
            below += (spread / len(side)) ** 2 / (len(side) - 1)
    assert row["error"] ** 2 == pytest.approx(total) and row["freedom"] == pytest.approx(total**2 / below)
    assert row["difference"] == pytest.approx(sides[1].mean() - sides[0].mean())
    assert row["p"] == pytest.approx(2 * stats.t.sf(abs(row["difference"]) / row["error"], row["freedom"]))
    assert (row["p"] <= 0.05) == (row["low"] > 0 or row["high"] < 0)


def test_runs_that_differ_no_more_than_documents_explain_add_nothing() -> None:
    f1 = np.array([[60, 80, 40, 70], [80, 60, 70, 40]])
    row = compared(f1, 2).means.iloc[0]
    of_units = (f1 / SPANS).mean(axis=0).var(ddof=1) / 4
    assert row["error"] ** 2 == pytest.approx(of_units) and row["f1_sd"] == 0


def test_single_runs_are_compared_over_documents_alone_as_the_power_table_has_it() -> None:
    f1 = drawn(2, 30, seed=5)
    found = compared(f1, 1, 1)
    seen, error, freedom = resampled(f1).jackknife(1, 0)
    row = found.differences.iloc[0]
    assert row[["difference", "error", "freedom"]].tolist() == pytest.approx([seen[0], error[0], freedom[0]])
    assert found.means["f1_sd"].isna().all()
    assert found.notes[0].startswith(
        "of a and b there is a single run each: nothing is known of the variation between runs"
    )
    assert compared(drawn(3, 30, seed=5), 3).notes == ()


def test_strata_take_out_what_lies_between_them() -> None:
    f1 = drawn(2, 40, seed=6)
    strata = np.repeat([0, 1], 20)
    f1[:, :20] //= 2
    apart, together = (compared(f1, 2, strata=each).means["error"].iat[0] for each in (strata, None))
    assert apart < together


def test_holm_is_over_the_systems_and_the_family_over_all() -> None:
    found = compared(drawn(9, 30, seed=7, between=6), 3, 3, 3).differences
    assert found["p_holm"].tolist() == holm_correction(found["p"].to_numpy()).tolist() == found["p_family"].tolist()
    assert found["tests"].tolist() == [2, 2]


def test_what_does_not_vary_has_no_test_unless_it_is_equal() -> None:
    same = np.full((3, 10), 50)
    equal = compared(same, 2, 1).differences.iloc[0]
    assert (equal["difference"], equal["p"], equal["why"]) == (0, 1, "")
    same[2] = 70
    apart = compared(same, 2, 1).differences.iloc[0]
    assert np.isnan(apart["p"]) and apart["why"].startswith("no test: the difference is the same whichever document")
    lone = compared(same[:, :1], 2, 1)
    assert np.isnan(lone.differences["p"].iat[0]) and lone.means["f1"].notna().all()
    assert set(lone.means["why"]) == {"no interval and no test: F1 rests on one document alone"}


@pytest.fixture(scope="module")
def demo() -> Mapping[str, Scores]:
    return {layer.name: score_layers(DEMO.corpus.gold, layer) for layer in DEMO.corpus.systems}


def test_runs_of_a_comparison(demo: Mapping[str, Scores]) -> None:
    names = list(demo)
    found = compare_scores(demo, plan=PLAN, runs={"team": names[1:3]}, baseline="team")
    assert found.runs is not None and found.runs.baseline == "team" and found.baseline == names[1]
    assert dict(found.runs.systems) == {names[0]: (names[0],), "team": tuple(names[1:3]), names[3]: (names[3],)}
    assert found.system_differences is found.runs.differences
    means = found.runs.means.set_index(["criterion", "system"])
    for criterion in SCHEMAS:
        f1 = [demo[name].counts(criterion).f1 for name in names[1:3]]
        assert means.loc[(criterion, "team"), "f1"] == pytest.approx(np.mean(f1))
    assert "mean F1" in found.words[0] and "from team: " in found.words[1] and found.words[-1] in found.runs.notes
    assert "2 systems against team" in found.run_family
    # The tables of single runs are those without `runs`.
    alone = compare_scores(demo, plan=PLAN, baseline=names[1])
    assert found.intervals.equals(alone.intervals) and found.differences.equals(alone.differences)
    assert alone.runs is None and alone.run_family == ""


@pytest.mark.parametrize(
    ("runs", "problem"),
    [
        ({"a": ["a-1", "a-3"]}, "'a-3': not among the systems"),
        ({"a": ["a-1"], "b": ["a-1", "a-2"]}, "'a-1': a run twice"),
        ({"a": []}, "'a': no run"),
        ({"c": ["a-1", "a-2"]}, "'c': also the name of another system"),
    ],
)
def test_runs_that_are_none_are_refused(runs: Mapping[str, Sequence[str]], problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        group_runs(["a-1", "a-2", "c"], runs)


@pytest.mark.parametrize(
    ("names", "suggested", "called"),
    [
        (["bert-1", "crf", "bert_2", "bert-seed42"], [("bert-1", "bert_2", "bert-seed42")], "bert"),
        (["crf", "bert run 1", "bert run 2", "bert"], [("bert run 1", "bert run 2")], "(bert)"),
        (["2022/1", "2022/2"], [("2022/1", "2022/2")], "2022"),
        (["1", "2", "crf-1"], [], ""),
    ],
)
def test_names_that_differ_in_a_number_are_suggested(
    names: list[str], suggested: list[tuple[str, ...]], called: str
) -> None:
    assert suggest_runs(names) == suggested
    assert [name_runs(runs, names) for runs in suggested] == [called] * len(suggested)


def test_runs_whose_names_share_nothing_are_called_by_all_of_them() -> None:
    assert name_runs(["crf", "bert-1"], []) == "crf + bert-1"


def test_group_runs_keeps_the_order() -> None:
    assert group_runs(["b-1", "a", "b-2"], {"b": ["b-1", "b-2"]}) == {"b": ("b-1", "b-2"), "a": ("a",)}
