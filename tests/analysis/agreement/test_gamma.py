"""Gamma: disorders of best alignments as pygamma-agreement has them, what random annotators are, and its rows."""

from __future__ import annotations

import json
from itertools import combinations, permutations
from math import comb, factorial
from typing import Any

import numpy as np
import pytest

import nereval_core as nereval
from nereval_core.analysis.agreement import Agreement, gamma
from nereval_core.analysis.agreement.gamma import Continuum, best_disorder, dissimilarities, measure_gamma
from tests.support import ROOT

REFERENCE = json.loads((ROOT / "tests" / "fixtures" / "gamma.json").read_text())
"""Continua drawn by us, with what the program of this name and version found for them by this command."""
FOLDER = ROOT / "demo_data" / "pharmacology"
FILES = {name: str(FOLDER / f"{name}.jsonl") for name in ("annotator-1", "annotator-2", "gold")}


def continuum(case: dict[str, Any], *, hull: bool = False) -> Continuum:
    """Return the continuum of a case; `hull`: from its first unit to its last, as the program has it."""
    every = [unit for units in case["annotators"] for unit in units]
    low = min(start for start, _, _ in every) if hull else 0
    length = max(end for _, end, _ in every) - low if hull else case["length"]
    rows = ([(start - low, end - low, ord(kind)) for start, end, kind in units] for units in case["annotators"])
    return Continuum(tuple(np.array(row, np.int64) for row in rows), length)


def least_disorder(text: Continuum) -> float:
    """Return the disorder of the best alignment by trying all alignments: the first unit left goes with all others."""
    units = [(number, row) for number, rows in enumerate(text.annotators) for row in range(len(rows))]
    pairs = comb(len(text.annotators), 2)

    def cost(chosen: tuple[tuple[int, int], ...]) -> float:
        known = [
            float(dissimilarities(text.annotators[a][[row]], text.annotators[b][[other]])[0, 0])
            for (a, row), (b, other) in combinations(chosen, 2)
        ]
        return (sum(known) + pairs - len(known)) / pairs

    def best(rest: tuple[tuple[int, int], ...]) -> float:
        if not rest:
            return 0.0
        first, *others = rest
        alignments = [
            (first, *chosen)
            for size in range(len(text.annotators))
            for chosen in combinations(others, size)
            if len({number for number, _ in (first, *chosen)}) == size + 1
        ]
        return min(cost(units) + best(tuple(unit for unit in others if unit not in units)) for units in alignments)

    return best(tuple(units))


FEW_ORDERS = 6
"""Orders of annotators that are all tried; of more, one in seven but at night."""


@pytest.mark.parametrize("case", REFERENCE["cases"])
def test_the_disorder_of_the_best_alignment_is_that_of_the_program(case: dict[str, Any]) -> None:
    text = continuum(case)
    mean = text.size / len(text.annotators)
    assert best_disorder(text) / mean == pytest.approx(case["disorder"], abs=2e-5)
    if text.size <= 9:
        assert best_disorder(text) == pytest.approx(least_disorder(text))
    orders = list(permutations(text.annotators))
    orders = orders if len(orders) <= FEW_ORDERS else orders[::7]
    disorders = [best_disorder(Continuum(order, text.length)) for order in orders]
    assert disorders == pytest.approx([best_disorder(text)] * len(orders))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "case", [case for case in REFERENCE["cases"] if factorial(len(case["annotators"])) > FEW_ORDERS]
)
def test_the_disorder_is_the_same_in_all_orders_of_many_annotators(case: dict[str, Any]) -> None:
    text = continuum(case)
    disorders = [best_disorder(Continuum(order, text.length)) for order in permutations(text.annotators)]
    assert disorders == pytest.approx([best_disorder(text)] * len(disorders))


@pytest.mark.parametrize(
    "case", [case for case in REFERENCE["cases"] if "expected" in case and len(case["annotators"]) > 2]
)
def test_random_annotators_are_as_far_apart_as_those_of_the_program(case: dict[str, Any]) -> None:
    found = measure_gamma([continuum(case, hull=True)], precision=0.02)
    assert found.expected == pytest.approx(case["expected"], rel=0.05)
    assert found.value == pytest.approx(case["gamma"], abs=0.05)


def test_samples_are_as_many_as_the_precision_takes_and_seeded() -> None:
    texts = [continuum(REFERENCE["cases"][0])]
    exact, rough = (measure_gamma(texts, precision=precision) for precision in (0.02, 0.2))
    assert exact.samples > rough.samples >= gamma.FIRST_SAMPLES
    assert measure_gamma(texts, precision=0.2) == rough != measure_gamma(texts, precision=0.2, seed=1)


def test_random_annotators_keep_lengths_and_types_within_the_text() -> None:
    text = continuum(REFERENCE["cases"][5])
    drawn = gamma._random_annotators(text, np.random.default_rng(0))
    kinds = [sorted((units[:, 1] - units[:, 0]).tolist()) for units in text.annotators]
    for units in drawn.annotators:
        assert sorted((units[:, 1] - units[:, 0]).tolist()) in kinds
        assert ((units[:, 0] >= 0) & (units[:, 0] < text.length)).all()


def test_too_many_alignments_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gamma, "MOST_ALIGNMENTS", 3)
    found = nereval.agreement(FILES, gamma=True, resamples=100).table
    rows = found[found["figure"].eq("gamma")]
    assert rows["why"].iat[0] == "refused, over 3 ways to align the units of a document"
    assert rows["value"].isna().tolist() == [True, False, False, False]


@pytest.fixture(scope="module")
def found() -> Agreement:
    return nereval.agreement(FILES, gamma=True, resamples=100)


def test_rows_of_all_annotators_and_of_each_pair(found: Agreement) -> None:
    rows = found.table[found.table["figure"].eq("gamma")]
    assert len(rows) == 4 and rows["type"].isna().all() and rows["low"].isna().all()
    assert rows["value"].between(0.7, 0.97).all() and rows["why"].eq("30 samples: no interval").all()
    assert rows["n"].iat[0] == sum(len(layer) for layer in found.layers)
    alike = nereval.agreement({"a": FILES["gold"], "b": FILES["gold"]}, gamma=True, resamples=100).table
    assert alike[alike["figure"].eq("gamma")]["value"].tolist() == [1.0]
    without = nereval.agreement(FILES, resamples=100).table
    assert without.equals(found.table[found.table["figure"].ne("gamma")].reset_index(drop=True))


def test_each_two_on_their_documents_and_annotators_without_units(found: Agreement) -> None:
    each = nereval.agreement(FILES, gamma=True, resamples=100, documents="pairwise").table
    same, pairs = (table[table["figure"].eq("gamma")] for table in (found.table, each))
    assert pairs["value"].tolist() == same["value"].iloc[1:].tolist(), "all annotators have none"
    nothing = nereval.agreement({"a": [[], []], "b": [[], []]}, gamma=True, resamples=100).table
    assert nothing[nothing["figure"].eq("gamma")]["why"].tolist() == ["no units"]
