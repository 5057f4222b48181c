"""Systems against the human ceiling: the difference by definition, the test against all ways of changing places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import nereval_core as nereval
from nereval_core.analysis.agreement import measure_agreement
from nereval_core.analysis.agreement.human_ceiling import (
    CEILING_COLUMNS,
    NOT_SYMMETRIC,
    HumanCeiling,
    ceiling_sentences,
)
from nereval_core.analysis.multiple_tests import holm_correction
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.scoring.criterion_syntax import criterion_from_parts
from tests.support import ROOT

TEXT = "a b c d e f"
PLAN = ResamplingPlan(resamples=4_000, seed=1)
Marks = Mapping[str, str]
"""A letter by document for each of the tokens of TEXT, the type of a span over it; a dot for none."""

ONE: Marks = {"d0": "XX..Y.", "d1": "X.X...", "d2": "YYX...", "d3": "..X..X"}
TWO: Marks = {"d0": "XX..X.", "d1": "X.X..Y", "d2": "YY....", "d3": "..X..X"}
SYSTEM: Marks = {"d0": "X...Y.", "d1": "...X..", "d2": "Y.X.Y.", "d3": "..Y..X"}


def layer(marks: Marks) -> Layer:
    builder = Builder("made")
    for name, letters in marks.items():
        builder.document(name, TEXT)
        for at, kind in enumerate(letters):
            if kind != ".":
                builder.span(2 * at, 2 * at + 1, kind)
    return builder.finish("made")


def ceiling(annotators: Sequence[Marks], systems: Sequence[Marks], **options: object) -> HumanCeiling:
    found = nereval.agreement(
        {f"annotator-{number}": layer(one) for number, one in enumerate(annotators)},
        systems={f"system-{number}": layer(one) for number, one in enumerate(systems)},
        resamples=PLAN.resamples,
        seed=PLAN.seed,
        **options,  # type: ignore[arg-type]
    )
    assert found.ceiling is not None
    assert dict(found.ceiling.table.dtypes) == dict(CEILING_COLUMNS)
    return found.ceiling


def f1(one: Marks, other: Marks) -> float:
    """Return strict F1 on the documents that both have, of spans as document, place and type."""
    shared = one.keys() & other.keys()
    sides = [{(name, at, k) for name in shared for at, k in enumerate(side[name]) if k != "."} for side in (one, other)]
    whole = sum(map(len, sides))
    return 2 * len(sides[0] & sides[1]) / whole if whole else float("nan")


def difference(annotators: Sequence[Marks], system: Marks) -> float:
    mine = np.nanmean([f1(one, system) for one in annotators])
    return float(mine - np.nanmean([f1(*pair) for pair in combinations(annotators, 2)]))


def exact_p(annotators: Sequence[Marks], system: Marks) -> float:
    """Return the share of all ways of changing places in which the difference is at most the observed one."""
    seen = difference(annotators, system)
    names = list(system)
    small = []
    choices = [[None, *(number for number, one in enumerate(annotators) if name in one)] for name in names]
    for drawn in product(*choices):
        mixed, mine = [dict(one) for one in annotators], dict(system)
        for name, number in zip(names, drawn, strict=True):
            if number is not None:
                mixed[number][name], mine[name] = mine[name], mixed[number][name]
        small.append(difference(mixed, mine) <= seen + 1e-12)
    return float(np.mean(small))


@pytest.mark.parametrize("more", [[], [{"d0": "XX....", "d1": "X.X..Y", "d2": "YYX..X", "d3": ".....X"}]])
def test_difference_and_p_are_those_of_the_definition(more: list[Marks]) -> None:
    annotators = [ONE, TWO, *more]
    (row,) = ceiling(annotators, [SYSTEM]).table.to_dict("records")
    assert row["f1"] == pytest.approx(np.mean([f1(one, SYSTEM) for one in annotators]))
    assert row["difference"] == pytest.approx(difference(annotators, SYSTEM))
    assert row["p"] == pytest.approx(exact_p(annotators, SYSTEM), abs=0.03)
    assert row["low"] < row["difference"] < row["high"] and row["documents"] == 4


def test_documents_that_not_all_saw_count_for_those_who_saw_them() -> None:
    three: Marks = {"d1": "X.XY..", "d2": "YYX..X", "d4": "XXXXXX"}
    annotators = [ONE, {name: TWO[name] for name in ("d0", "d2", "d3")}, three]
    (row,) = ceiling(annotators, [SYSTEM], documents="pairwise").table.to_dict("records")
    # Nobody but one annotator saw d4.
    assert row["difference"] == pytest.approx(difference(annotators, SYSTEM)) and row["documents"] == 4
    assert row["p"] == pytest.approx(exact_p(annotators, SYSTEM), abs=0.03)
    # What one annotator alone saw is not compared with anything between annotators.
    wider = [{**ONE, "d5": "XXXXXX"}, *annotators[1:]]
    (more,) = ceiling(wider, [{**SYSTEM, "d5": "XXXXXX"}], documents="pairwise").table.to_dict("records")
    assert {**more, "why": ""} == {**row, "why": ""}


def test_pairwise_with_nothing_missing_is_the_same() -> None:
    found = [ceiling([ONE, TWO], [SYSTEM, TWO], documents=way).table for way in ("same", "shared", "pairwise")]
    pd.testing.assert_frame_equal(found[0], found[1])
    pd.testing.assert_frame_equal(found[0], found[2])
    assert found[0]["p_holm"].tolist() == holm_correction(found[0]["p"].to_numpy()).tolist()
    assert found[0]["tests"].tolist() == [2, 2] and found[0]["difference"].iloc[1] > 0


def test_a_system_that_annotates_as_annotators_do_is_seldom_taken_for_worse() -> None:
    rng = np.random.default_rng(5)
    few = ResamplingPlan(resamples=199)
    low = 0
    for _ in range(60):
        truth = rng.choice(list("..XY"), (12, 6))
        drawn = [np.where(rng.random(truth.shape) < 0.2, rng.choice(list(".XY"), truth.shape), truth) for _ in range(3)]
        every = [layer({f"d{doc}": "".join(row) for doc, row in enumerate(one)}) for one in drawn]
        layers = {str(number): replace(one, documents=every[0].documents) for number, one in enumerate(every)}
        found = measure_agreement(
            {name: layers[name] for name in "01"}, Settings((CRITERIA["strict"],)), plan=few, systems={"2": layers["2"]}
        )
        assert found.ceiling is not None
        low += bool(found.ceiling.table["p"].iloc[0] <= 0.1)
    assert low <= 12


def test_reasons_and_sentences() -> None:
    half = criterion_from_parts("half", {"boundaries": "overlap", "minimum": "0.5", "share": "gold"}, "test")
    found = ceiling([ONE, TWO], [SYSTEM], criteria=("strict", half))
    strict, lopsided = found.table.to_dict("records")
    assert np.isnan(lopsided["p"]) and lopsided["why"] == NOT_SYMMETRIC and lopsided["tests"] == 0
    (said,) = ceiling_sentences(found, "strict", PLAN)
    figures = f"F1 {strict['f1']:.3f} against {strict['annotators_f1']:.3f}, difference −"
    assert said.startswith("system-0 ") and figures in said and ", p " in said and "Holm" not in said
    assert ceiling_sentences(found, "half", PLAN)[0].endswith(NOT_SYMMETRIC)
    alone = [{"d0": one["d0"]} for one in (ONE, TWO, SYSTEM)]
    row = ceiling(alone[:2], alone[2:])
    assert row.table["why"].iloc[0] == "no interval and no test: an F1 rests on one document alone"
    empty: Marks = {"d0": "......"}
    (said,) = ceiling_sentences(ceiling([empty, empty], [empty]), "strict", PLAN)
    assert said == "agreement of system-0 with annotators cannot be compared with theirs: no spans"


def test_the_demo() -> None:
    """F1s are those of scoring each pair by itself."""
    names = ("annotator-1", "annotator-2", "rules")
    layers = {name: nereval.read(ROOT / "demo_data" / "biology" / f"{name}.jsonl") for name in names}
    found = nereval.agreement(
        {name: layers[name] for name in names[:2]}, systems={"rules": layers["rules"]}, resamples=200
    )
    assert found.ceiling is not None
    row = found.ceiling.table.iloc[0]
    each = [nereval.score(layers[one], layers["rules"], criteria="strict").counts("strict").f1 for one in names[:2]]
    assert row["f1"] == pytest.approx(np.mean([one for one in each if one is not None]))
    assert row["annotators_f1"] == found.rows((0, 1)).query("figure == 'f1' and type.isna()")["value"].iloc[0]
