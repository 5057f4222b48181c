"""Counts by document, the sums of their resamples and swaps, and ratios of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis import bootstrap
from nereval_core.analysis.bootstrap import (
    bootstrap_sums,
    document_counts,
    ratios,
    replacement_sums,
    swap_sums,
    type_counts,
)
from nereval_core.analysis.intervals import effective_units
from nereval_core.analysis.resampling_units import ResamplingPlan, document_units
from nereval_core.scoring import Scores
from nereval_core.scoring.counts import Counts
from nereval_core.scoring.criteria import APPLICABLE
from tests.analysis.comparison.test_significance import demo, drawn

__all__ = ["demo"]


@pytest.mark.parametrize("name", APPLICABLE)
def test_counts_of_documents_and_types_add_up(demo: Mapping[str, Scores], name: str) -> None:
    for scores in demo.values():
        whole, kinds = scores.counts(name), scores.by_type(name)
        parts = document_counts(scores, name)
        assert parts.shape == (4, 20)
        assert parts.sum(axis=1).tolist() == four(whole)
        found = type_counts(scores, name, tuple(kinds))
        assert {kind: found[row].sum(axis=1).tolist() for row, kind in enumerate(kinds)} == {
            kind: four(counts) for kind, counts in kinds.items()
        }
        # By document too.
        assert (found[:, 2:].sum(axis=0) == parts[2:]).all()


def four(counts: Counts) -> list[int]:
    return [*(2 * side[0] + side[2] for side in (counts.gold, counts.pred)), counts.pos, counts.act]


SIDE = st.lists(st.integers(0, 30), min_size=5, max_size=5).map(tuple)


@given(st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=6))
def test_ratios_are_those_of_counts(rows: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    every = [Counts(gold, pred) for gold, pred in rows]
    found = ratios(np.array([four(counts) for counts in every]).T)
    for place, counts in enumerate(every):
        expected = [counts.precision, counts.recall, counts.f1]
        assert [None if np.isnan(value) else value for value in found[:, place]] == expected


@pytest.mark.parametrize(
    ("block", "drawn_documents", "columns"),
    [(1 << 22, 1 << 15, 1 << 25), (1 << 22, 100, 1 << 25), (40, 1 << 15, 1 << 25), (7, 30, 30), (1, 1, 1)],
)
def test_resamples_are_sums_over_drawn_documents(
    monkeypatch: pytest.MonkeyPatch, block: int, drawn_documents: int, columns: int
) -> None:
    """Whatever is multiplied at once, the documents drawn are the same."""
    monkeypatch.setattr(bootstrap, "WEIGHTS_AT_ONCE", block)
    monkeypatch.setattr(bootstrap, "DRAWN_AT_ONCE", drawn_documents)
    monkeypatch.setattr(bootstrap, "COUNTS_AT_ONCE", columns)
    counts = drawn(13, 3, 0)
    plan = ResamplingPlan(resamples=100, seed=4)
    rng = np.random.default_rng((4, 0))
    draws = [rng.integers(0, 13, 13, np.int32) for _ in range(100)]
    expected = np.stack([counts[..., draw].sum(axis=-1) for draw in draws], axis=-1)
    assert (bootstrap_sums(counts, plan) == expected).all()
    rng = np.random.default_rng((4, 1))
    words = [int(rng.integers(0, 1 << 32, 1, np.uint32)[0]) for _ in range(100)]
    # The first bit of the first byte is the first document's.
    signs = np.array([[1 - 2 * (word >> (8 * (bit // 8) + 7 - bit % 8) & 1) for bit in range(13)] for word in words])
    assert (swap_sums(counts, plan) == np.einsum("...d,rd->...r", counts, signs)).all()


def test_sums_beyond_float32_are_exact() -> None:
    counts = np.array([[[[(1 << 24) + 1, 3]] * 4]], np.int32)
    found = bootstrap_sums(counts, ResamplingPlan(resamples=100))
    assert set(found.reshape(-1).tolist()) == {6, (1 << 24) + 4, (1 << 25) + 2}


def test_blocks_are_drawn_alike() -> None:
    blocks = [np.arange(12).reshape(2, 6), np.arange(6)[None]]
    resampled = bootstrap.Bootstrap(ResamplingPlan(resamples=100), document_units(6))
    apart = [next(resampled.resample([block])) for block in blocks]
    for one, other in zip(resampled.resample(blocks), apart, strict=True):
        for stage, same in zip(one.stages, other.stages, strict=True):
            np.testing.assert_array_equal(stage, same)


def test_without_units_all_sums_are_zero() -> None:
    (values,) = bootstrap.Bootstrap(ResamplingPlan(), document_units(0)).resample([np.zeros((4, 0), np.int64)])
    assert values.left_out.shape == (4, 0) and not values.observed.any() and not values.resampled.any()


def test_one_candidate_or_none_is_drawn_in_each_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates = np.array([[True, True, False], [True, False, False], [True, True, False]])
    plan = ResamplingPlan(resamples=6_000)
    each = np.array([replacement_sums(np.eye(3, dtype=np.int32), candidates, chosen, plan) for chosen in range(3)])
    assert set(np.unique(each)) == {0, 1} and each.sum(axis=0).max() == 1
    wanted = candidates / (candidates.sum(axis=0) + 1)
    np.testing.assert_allclose(each.mean(axis=-1), wanted, atol=0.03)
    monkeypatch.setattr(bootstrap, "WEIGHTS_AT_ONCE", 50)
    assert np.array_equal(replacement_sums(np.eye(3, dtype=np.int32), candidates, 1, plan), each[1])


def sparse_blocks(n_units: int) -> list[np.ndarray]:
    """Return blocks of which most rows are 0 in nearly all units, two with a row in common, and one that is full."""
    rng = np.random.default_rng(5)
    common = rng.integers(1, 4, n_units)
    blocks = []
    for number in range(4):
        block = np.zeros((4, n_units), np.int64)
        block[:3, rng.choice(n_units, 9, replace=False)] = rng.integers(1, 5, (3, 9))
        block[3] = common * (number > 1)
        blocks.append(block)
    return [*blocks[:2], rng.integers(0, 9, (2, n_units)), *blocks[2:], np.zeros((1, n_units), np.int64)]


@pytest.mark.parametrize("strata", [None, np.arange(100) % 2])
def test_counts_in_few_units_are_resampled_alike(monkeypatch: pytest.MonkeyPatch, strata: np.ndarray | None) -> None:
    """Whether a block is multiplied by all weights or by those of few units, sums and intervals are the same."""
    resampled = bootstrap.Bootstrap(ResamplingPlan(resamples=200), replace(document_units(100), strata=strata))
    monkeypatch.setattr(bootstrap, "COMMON_ROWS", 1)
    few = list(resampled.resample(sparse_blocks(100)))
    grouped = list(resampled.resample(map(bootstrap.Alone, sparse_blocks(100))))
    assert [block.left_out.shape[1] < 100 for block in grouped] == [strata is None] * 2 + [False] + [strata is None] * 3
    monkeypatch.setattr(bootstrap, "WEIGHTS_KEPT", 0)
    for mine, together, block in zip(few, grouped, resampled.resample(sparse_blocks(100)), strict=True):
        for stage, other, expected in zip(mine.stages, together.stages, block.stages, strict=True):
            np.testing.assert_array_equal(stage, expected)
            if stage is not mine.left_out:
                np.testing.assert_array_equal(other, expected)
        if together.times is not None:
            columns = np.repeat(together.left_out, together.times, axis=1).T.tolist()
            assert sorted(columns) == sorted(block.left_out.T.tolist())
        for estimate, expected in zip(*map(resampled.estimate, (together, block)), strict=True):
            np.testing.assert_allclose(estimate, expected, atol=1e-12)


def test_units_are_drawn_once_for_blocks_of_few_units_and_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    n_drawn = 0
    draw = bootstrap._draw_with_replacement

    def counted(rng: np.random.Generator, weights: np.ndarray) -> None:
        nonlocal n_drawn
        n_drawn += len(weights)
        draw(rng, weights)

    monkeypatch.setattr(bootstrap, "_draw_with_replacement", counted)
    monkeypatch.setattr(bootstrap, "COUNTS_AT_ONCE", 100)
    plan = ResamplingPlan(resamples=200)
    blocks = sparse_blocks(100)
    resampled = [values.resampled for values in bootstrap.Bootstrap(plan, document_units(100)).resample(blocks)]
    assert n_drawn == plan.resamples
    for values, block in zip(resampled, blocks, strict=True):
        np.testing.assert_array_equal(values, bootstrap_sums(block, plan))


def test_rounding_makes_no_unit_effective() -> None:
    """A figure that differs without two units alone has two effective units, though the mean of all is rounded."""
    values = np.full((1, 800), 0.9)
    values[0, :2] += (-0.013, 0.013)
    assert values.mean() != 0.9
    assert effective_units(values)[0] == pytest.approx(2)
