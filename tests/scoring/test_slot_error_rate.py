"""The slot error rate: its definition, and where it is given: JSON, tables on request, comparisons and pages."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

import nereval_core as nereval
from nereval_core.analysis.comparison import compare_scores
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.records.tables import records
from nereval_core.scoring import Counts
from nereval_core.scoring.examples import Example, decide
from pages.shared.view import View, keys
from pages.shared.view.formulas import formula
from tests.support import ROOT
from tests.support.commands import Cli
from tests.support.pages import opened

BIOLOGY = ROOT / "demo_data/biology"
GOLD, RULES, PERCEPTRON = (str(BIOLOGY / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))
DEMO = ROOT / "demo_data/newspapers"


def test_the_definition() -> None:
    scores = decide(Example("", "[a b|X] c [d|X] e [f|Y] [g|X]", "[a|X] b c [d|X] [e|X] [f|X] g"))
    # Of four gold spans one is right; one has wrong boundaries, one another type, one is missed; one is spurious.
    assert scores.counts("strict").ser == (2 + 1 + 1) / 4
    assert scores.counts("exact").ser == (1 + 1 + 1) / 4
    assert scores.counts("partial").ser == (0.5 + 1 + 1) / 4
    assert scores.counts("type").ser == (1 + 1 + 1) / 4
    assert decide(Example("", "[a|X] b c", "a [b|X] [c|X]")).counts("strict").ser == 3
    assert decide(Example("", "a", "[a|X]")).counts("strict").ser is None
    assert Counts().ser is None


def test_it_is_made_of_the_records_and_adds_up_over_types() -> None:
    scores = nereval.score(DEMO / "gold.jsonl", DEMO / "rules.jsonl", criteria="all")
    for criterion in scores.criteria:
        counts = scores.counts(criterion.name)
        by_type = scores.by_type(criterion.name).values()
        assert counts.ser == pytest.approx(
            sum((row.ser or 0) * row.pos for row in by_type) / counts.pos
            + sum(row.spu for row in by_type if not row.pos) / counts.pos
        )
        if criterion.unit == "span":
            cost = records(scores, criterion.name)["decision"].map({"COR": 0, "INC": 1, "PAR": 0.5, "MIS": 1, "SPU": 1})
            assert counts.ser == cost.astype(float).sum() / counts.pos


def test_formula() -> None:
    counts = Counts((5, 2, 3, 4, 0), (5, 2, 3, 0, 6))
    assert formula("SER", counts).text == (
        "SER = (INC + 0.5 × PAR + MIS + SPU) / POS = (2 + 0.5 × 3 + 4 + 6) / 14 = 0.964"
    )


def test_tables_have_it_on_request_and_json_always(cli: Cli) -> None:
    asked = (GOLD, RULES, PERCEPTRON, "--criteria", "strict,muc", "--by", "type,document,confusion", "-q")
    _, out, _ = cli(*asked, "--json", "-")
    found = {system["name"]: system["criteria"] for system in json.loads(out)["systems"]}
    scores = nereval.score(GOLD, RULES, criteria=["strict", "muc"])
    assert found["rules"]["muc"]["ser"] == scores.counts("muc").ser
    assert found["rules"]["strict"]["types"]["protein"]["ser"] == scores.by_type("strict")["protein"].ser
    _, plain, _ = cli(*asked)
    _, out, _ = cli(*asked, "--ser")
    assert "SER" not in plain and f"{scores.counts('muc').ser:.4f}" in out
    assert out.count("P       R      F1     SER") > 3
    assert "SER" not in cli(*asked, "--markdown", "-")[1]
    rows = list(csv.DictReader(io.StringIO(cli(*asked, "--ser", "--csv", "-")[1])))
    plain_rows = list(csv.DictReader(io.StringIO(cli(*asked, "--csv", "-")[1])))
    assert [{key: value for key, value in row.items() if key != "ser"} for row in rows] == plain_rows
    whole = {(row["system"], row["criterion"]): row["ser"] for row in rows if row["part"] == "all"}
    assert float(whole["rules", "muc"]) == scores.counts("muc").ser
    assert {row["ser"] for row in rows if row["part"] in ("confusion", "macro over types")} == {""}
    _, out, _ = cli(GOLD, RULES, "--criteria", "muc", "--columns", "F1,SER", "--markdown", "-", "-q")
    assert f"{scores.counts('muc').ser:.4f}" in out


def test_a_published_scorer_has_none(cli: Cli) -> None:
    status, _, err = cli(GOLD, RULES, "--convention", "spacy-ents", "--ser")
    assert status == 2 and "--ser is for our criteria" in err


def test_systems_are_compared_by_it() -> None:
    scored = {
        name: nereval.score(GOLD, path, criteria=["strict", "muc"]) for name, path in (("a", RULES), ("b", PERCEPTRON))
    }
    plan = ResamplingPlan(resamples=300)
    found = compare_scores(scored, names=["strict", "muc"], plan=plan, measures=["ser", "f1"], by_type=True)
    rows = found.measures[found.measures["measure"] == "ser"]
    for row in rows.to_dict("records"):
        scores = scored[row["system"]]
        whole = isinstance(row["type"], str)
        counts = scores.by_type(row["criterion"])[row["type"]] if whole else scores.counts(row["criterion"])
        assert row["value"] == pytest.approx(counts.ser)
        assert np.isnan(row["low"]) or row["low"] <= row["value"] <= row["high"]
    assert len(rows) == 2 * 2 * (1 + len(scored["a"].by_type("strict")))
    apart = found.measure_differences
    (test,) = apart[(apart["measure"] == "ser") & apart["type"].isna() & (apart["criterion"] == "muc")].to_dict(
        "records"
    )
    assert test["difference"] == pytest.approx(scored["b"].counts("muc").ser - scored["a"].counts("muc").ser)
    assert 0 < test["p"] <= 1


def test_its_formula_opens_on_all_criteria() -> None:
    view = View(corpus="demo:biology", system="rules", overview_tab="all-criteria")
    key = f"{keys.TABLE}all_criteria"
    app = opened("Overview", replace(view, criterion="muc"), **{key: {"selection": {"cells": [(0, "SER")]}}})
    assert any(code.value.startswith("SER = (INC + 0.5 × PAR + MIS + SPU) / POS = (") for code in app.code)
