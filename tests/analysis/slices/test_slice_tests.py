"""Tests of slices: by hand, against direct loops and scipy, and what cannot be tested."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nereval_core.analysis.intervals import jackknife
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits, document_units
from nereval_core.analysis.slices import scores_by_slice, tables
from nereval_core.analysis.slices.scores_by_slice import SliceTally
from nereval_core.analysis.slices.slice_tests import (
    APART_COLUMNS,
    CHANGE_COLUMNS,
    apart_tests,
    change_tests,
    difference_words,
)
from tests.support.draws import draws

Cells = np.ndarray[tuple[int, ...], np.dtype[np.int32]]


def tally(cells: Cells, names: tuple[str, ...] | None = None) -> SliceTally:
    """Return a tally from counts by document, shape (slices, 4, documents); no span is without a value."""
    whole = np.concatenate([cells, np.zeros_like(cells[:1])]).astype(np.int32)
    gold, pred = (np.zeros((len(whole), 5), np.int64) for _ in range(2))
    gold[:, 0], gold[:, 3] = whole[:, 0].sum(1) // 2, whole[:, 2].sum(1) - whole[:, 0].sum(1) // 2
    pred[:, 0], pred[:, 4] = whole[:, 1].sum(1) // 2, whole[:, 3].sum(1) - whole[:, 1].sum(1) // 2
    return SliceTally(names or tuple("abcdefgh"[: len(cells)]), gold, pred, whole)


def drawn(seed: int, slices: int = 3, documents: int = 20, right: float = 0.6) -> Cells:
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 9, (slices, documents))
    correct = rng.binomial(gold, right)
    predicted = correct + rng.integers(0, 4, gold.shape)
    return np.stack([2 * correct, 2 * correct, gold, predicted], axis=1).astype(np.int32)


def f1(parts: Cells) -> float:
    """Return F1 of the PARTS of some documents, shape (4, documents), where both sides have the same credit."""
    credit, _, gold, predicted = parts.sum(axis=1).tolist()
    return credit / (gold + predicted)


def direct(one: Cells, other: Cells) -> tuple[float, float, float]:
    """Return a difference of F1, its jackknife error and p, document by document (Efron and Tibshirani 1993)."""
    places = range(one.shape[1])
    without = [f1(np.delete(one, k, axis=1)) - f1(np.delete(other, k, axis=1)) for k in places]
    mean = sum(without) / len(without)
    squares = [(value - mean) ** 2 for value in without]
    error = ((len(without) - 1) / len(without) * sum(squares)) ** 0.5
    units = min(len(squares), 3 * sum(squares) ** 2 / sum(square**2 for square in squares))
    difference = f1(one) - f1(other)
    return difference, error, float(2 * stats.t.sf(abs(difference) / error, units - 1))


@given(st.integers(0, 10_000))
@draws(10)
def test_slices_against_the_rest_are_those_of_a_direct_loop(seed: int) -> None:
    cells = drawn(seed)
    table = apart_tests({"length": tally(cells)}, document_units(20)).table
    assert list(table) == list(APART_COLUMNS) and table["slice"].tolist() == ["a", "b", "c"]
    for place, row in enumerate(table.to_dict("records")):
        rest = np.delete(cells, place, axis=0).sum(axis=0)
        difference, error, p = direct(cells[place], rest)
        assert row["difference"] == pytest.approx(difference) == pytest.approx(row["value"] - row["reference"])
        assert row["p"] == pytest.approx(p) and row["units"] == 20 and row["why"] == ""
        assert row["low"] < difference < row["high"] and (row["high"] - row["low"]) / 2 > 1.96 * error
        assert (row["low"] > 0 or row["high"] < 0) == (p < 0.05)
        assert (row["POS"], row["ACT"]) == tuple(cells[place, 2:].sum(axis=1))


@given(st.integers(0, 10_000))
@draws(10)
def test_changes_are_those_of_a_direct_loop(seed: int) -> None:
    base, new = drawn(seed, 2), drawn(seed + 1, 2)
    new[:, 2] = base[:, 2] = np.maximum(base[:, 2], new[:, 2])
    found = change_tests({"old": {"length": tally(base)}, "new": {"length": tally(new)}}, "old", document_units(20))
    assert (
        list(found.table) == list(CHANGE_COLUMNS)
        and found.family == "2 tests: 1 system, slices of 1 slicing against old"
    )
    for place, row in enumerate(found.table.to_dict("records")):
        difference, _, p = direct(new[place], base[place])
        assert (row["system"], row["difference"], row["p"]) == ("new", pytest.approx(difference), pytest.approx(p))


def test_a_mean_has_the_error_of_its_formula() -> None:
    """The jackknife of a mean is s / sqrt(n), and its test that of scipy, up to the degrees of freedom."""
    values = np.random.default_rng(3).normal(0.3, 1, 40)
    left_out = (values.sum() - values)[None] / 39
    found = jackknife(np.array([values.mean()]), left_out)
    assert found.error[0] == pytest.approx(stats.sem(values))
    freedom = min(40, 3 * (squares := (values - values.mean()) ** 2).sum() ** 2 / (squares**2).sum()) - 1
    assert found.freedom[0] == pytest.approx(freedom)
    interval = stats.t.interval(0.95, freedom, values.mean(), stats.sem(values))
    assert [float(end[0]) for end in found.interval(0.95)] == pytest.approx(list(interval))
    assert found.p_values()[0] == pytest.approx(2 * stats.t.sf(abs(values.mean()) / stats.sem(values), freedom))


def test_strata_have_errors_of_their_own() -> None:
    values = np.array([1.0, 2, 3, 11, 12, 16])
    strata = np.array([0, 0, 0, 1, 1, 1])
    left_out = (values.sum() - values)[None]
    error = jackknife(np.array([1.0]), left_out, strata).error[0]
    assert error**2 == pytest.approx(
        2 / 3 * sum(((half - half.mean()) ** 2).sum() for half in (values[:3], values[3:]))
    )


def test_by_hand() -> None:
    """Ten documents, inside one of one right in eight of them, outside one of two right in each but one."""
    inside = np.array([[2 * (k < 8), 2 * (k < 8), 1, 1] for k in range(10)]).T
    outside = np.array([[2 * (k > 0), 2 * (k > 0), 2, 2] for k in range(10)]).T
    found = apart_tests({"seen x": tally(np.stack([inside, outside]).astype(np.int32))}, document_units(10))
    (row,) = found.table.to_dict("records")
    assert (row["slice"], row["measure"], row["POS"], row["units"]) == ("a", "f1", 10, 10)
    assert (row["value"], row["reference"], row["difference"]) == pytest.approx((0.8, 0.45, 0.35))
    # Without document 0: 7/9 - 9/18; without 1 to 7: 7/9 - 8/18; without 8 or 9: 8/9 - 8/18.
    without = np.array([7 / 9 - 9 / 18, *[7 / 9 - 8 / 18] * 7, *[8 / 9 - 8 / 18] * 2])
    error = (9 / 10 * ((without - without.mean()) ** 2).sum()) ** 0.5
    squares = (without - without.mean()) ** 2
    units = min(10, 3 * squares.sum() ** 2 / (squares**2).sum())
    assert row["p"] == pytest.approx(2 * stats.t.sf(0.35 / error, units - 1))
    assert found.family == "1 test: slices of 1 slicing against the rest"


def test_two_slices_make_one_test_and_one_slice_none() -> None:
    cells = drawn(1, 2)
    units = document_units(20)
    assert apart_tests({"length": tally(cells)}, units).table["slice"].tolist() == ["a"]
    empty = np.zeros_like(cells[:1])
    assert apart_tests({"length": tally(np.concatenate([empty, cells]))}, units).table["slice"].tolist() == ["b"]
    nothing = apart_tests({"length": tally(cells[:1]), "shape": tally(empty)}, units)
    assert nothing.table.empty and list(nothing.table) == list(APART_COLUMNS)
    assert nothing.family == "0 tests: slices of 0 slicings against the rest"
    assert apart_tests({}, document_units(0)).table.empty


def test_one_document_and_no_documents_make_no_tests() -> None:
    table = apart_tests({"length": tally(drawn(2, 3, 1))}, document_units(1)).table
    assert table["p"].isna().all() and table["low"].isna().all() and table["difference"].notna().all()
    assert set(table["why"]) == {"spans in 1 document only on one side, a test takes 5"}
    none = np.zeros((3, 4, 0), np.int32)
    assert apart_tests({"length": tally(none)}, document_units(0)).table.empty


def test_what_seems_certain_is_not_tested() -> None:
    cells = drawn(4)
    cells[0] = [[2], [2], [1], [1]]
    (first, *others) = apart_tests({"length": tally(cells)}, document_units(20)).table.to_dict("records")
    assert first["value"] == 1 and np.isnan(first["p"])
    assert first["why"] == "F1 is the same on one side, whichever document is left out"
    assert not any(row["why"] for row in others)
    # A change that every document shows alike has no error either, but no change is no change.
    wrong = cells[:1] * np.array([0, 0, 1, 1])[None, :, None]
    tallies = {"a": {"length": tally(cells[:1])}, "b": {"length": tally(wrong)}, "c": {"length": tally(cells[:1])}}
    (worse, same) = change_tests(tallies, "a", document_units(20)).table.to_dict("records")
    assert worse["difference"] == -1 and np.isnan(worse["p"]) and worse["why"] == first["why"]
    assert (same["difference"], same["p"], same["p_holm"], same["why"]) == (0, 1, 1, "")


def test_a_system_without_a_slice() -> None:
    cells = drawn(5, 2)
    silent = cells * np.array([0, 0, 1, 0])[None, :, None]
    found = change_tests({"a": {"x": tally(cells)}, "b": {"x": tally(silent, ("b", "z"))}}, "a", document_units(20))
    (row,) = found.table.to_dict("records")
    assert (row["slice"], row["value"], row["ACT"]) == ("b", 0, 0) and row["p"] < 0.05
    nowhere = np.zeros_like(cells)
    found = change_tests({"a": {"x": tally(cells)}, "b": {"x": tally(nowhere)}}, "a", document_units(20))
    assert set(found.table["why"]) == {"no F1 on one side, for want of spans"}
    assert change_tests({"a": {"x": tally(cells)}, "b": {}}, "a", document_units(20)).table.empty


def test_recall_is_tested_where_predictions_have_no_values() -> None:
    """Predictions then stand in the last row, that of the spans without a value."""
    cells = drawn(6, 2)
    whole = tally(cells)
    by_document = whole.by_document.copy()
    by_document[-1, [1, 3]] = by_document[:-1, [1, 3]].sum(axis=0)
    by_document[:-1, [1, 3]] = 0
    pred = np.stack([*np.zeros((2, 5), np.int64), whole.pred.sum(axis=0)])
    noise = replace(whole, by_document=by_document, pred=pred)
    (row,) = apart_tests({"noise": noise}, document_units(20)).table.to_dict("records")
    assert row["measure"] == "recall" and row["value"] == pytest.approx(cells[0, 0].sum() / cells[0, 2].sum() / 2)
    # One system has values on both sides, the other has them on gold's alone: recall is what both have.
    tallies = {"a": {"noise": whole}, "b": {"noise": noise}}
    assert set(change_tests(tallies, "a", document_units(20)).table["measure"]) == {"recall"}


def test_names_and_order_change_nothing() -> None:
    cells, order = drawn(7), np.random.default_rng(0).permutation(20)
    units = document_units(20)
    before = apart_tests({"length": tally(cells), "shape": tally(drawn(8))}, units).table
    after = apart_tests(
        {"shape": tally(drawn(8)), "length": tally(cells[::-1][..., order], ("x", "y", "z"))}, units
    ).table
    columns = ["difference", "p", "p_holm", "p_bh"]
    expected = before.iloc[[3, 4, 5, 2, 1, 0]][columns].to_numpy()
    assert after[columns].to_numpy() == pytest.approx(expected)


def test_documents_of_a_unit_are_left_out_together() -> None:
    cells, units = drawn(9), document_units(20)
    paired = replace(units, by="author", count=10, numbers=np.arange(20) // 2)
    summed = cells.reshape(3, 4, 10, 2).sum(axis=-1).astype(np.int32)
    one = apart_tests({"length": tally(cells)}, paired).table
    pd.testing.assert_frame_equal(one, apart_tests({"length": tally(summed)}, document_units(10)).table)
    strata = replace(units, by="document within period", strata=np.arange(20) % 2)
    assert apart_tests({"length": tally(cells)}, strata).table["p"].notna().all()


def test_few_units_bound_the_freedom() -> None:
    """Six documents have spans of the slice: t has five degrees of freedom, whatever the rest adds."""
    cells = drawn(10, 3, 200)
    cells[0, :, 6:] = 0
    row = apart_tests({"length": tally(cells)}, document_units(200)).table.iloc[0]
    half = (row["high"] - row["low"]) / 2
    assert row["units"] == 6
    assert row["p"] >= 2 * stats.t.sf(abs(row["difference"]) * stats.t.ppf(0.975, 5) / half, 5) - 1e-9


def test_many_units_are_left_out_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    cells, units = drawn(11, 3, 400), document_units(400)
    whole = apart_tests({"length": tally(cells)}, units).table
    monkeypatch.setattr(scores_by_slice, "MOST_RESAMPLED_UNITS", 100)
    grouped = apart_tests({"length": tally(cells)}, units, ResamplingPlan(seed=3)).table
    assert grouped["difference"].tolist() == whole["difference"].tolist() and (grouped["units"] == 400).all()
    widths = [(table["high"] - table["low"]).to_numpy() for table in (grouped, whole)]
    assert widths[0] == pytest.approx(widths[1], rel=0.25) and (widths[0] != widths[1]).all()


def test_the_family_and_the_words() -> None:
    cells = drawn(12, 3, 40)
    cells[0] = drawn(13, 1, 40, 0.95)[0]
    few = drawn(14, 3, 40)
    few[0, :, 3:] = 0
    found = apart_tests({"length": tally(cells), "shape": tally(few)}, document_units(40))
    assert found.family == "5 tests: slices of 2 slicings against the rest; 1 slice could not be tested"
    p = found.table["p"].dropna()
    assert found.table["p_holm"].min() == pytest.approx(5 * p.min())
    assert found.table["p_bh"].min() == pytest.approx(min(5 * p.sort_values().to_numpy() / np.arange(1, 6)))
    best = found.significant.iloc[0].to_dict()
    said = difference_words(best)
    assert said.startswith(f"a (span length in characters): F1 {best['difference']:.3f} higher than the rest, p = ")
    assert said.endswith(" after Holm")
    table = tables.test_table("tests", found)
    assert table.headings[:6] == ("by", "slice", "of", "POS", "ACT", "value") and "the rest's" in table.headings
    assert table.row(3)["p"] == "–" and str(table.row(3)["why"]).startswith("spans in 3 documents")
    changed = change_tests(
        {"x": {"length": tally(cells)}, "y": {"length": tally(drawn(15, 3, 40))}}, "x", document_units(40)
    )
    row = changed.table.iloc[0].to_dict()
    assert (
        "lower under y than under x, p = " in difference_words(row)
        and "baseline's" in tables.test_table("changes", changed).headings
    )


def test_strata_of_one_unit_each_leave_no_error() -> None:
    units = ResamplingUnits("document within n", "document", "documents", 6, strata=np.arange(6))
    table = apart_tests({"length": tally(drawn(16, 3, 6))}, units).table
    assert table["p"].isna().all() and set(table["why"]) == {
        "F1 is the same on one side, whichever document is left out"
    }
