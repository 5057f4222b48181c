"""What `sensitivity` answers on the command line in place of its tables: the numbers of the core, for every system."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from nereval_core.analysis.criteria.gap import gap, recover_spans
from nereval_core.analysis.criteria.ladder import LADDER_COLUMNS
from nereval_core.analysis.criteria.overlap_curve import CURVE_COLUMNS, overlap_curve
from nereval_core.analysis.criteria.sensitivity import (
    FEW_FOLDS_NOTE,
    PROXY_COLUMNS,
    fold_scores,
    merge_types,
    proxy_table,
)
from nereval_core.analysis.crosstab import decision_matrix, vanished_confusions
from nereval_core.api.score import score
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA
from tests.analysis.criteria.test_sensitivity import FILES, MACRO, Run, object_of, run

__all__ = ["run"]

NAMES = ("rules", "perceptron")
TWO = FILES[:3]
MERGE = dict.fromkeys(("protein", "DNA", "RNA"), "macromolecule")


def scored(name: str, **more: Any) -> Scores:
    return score(FILES[0], FILES[1 + NAMES.index(name)], criteria=APPLICABLE, **more)


def tables(run: Run, *arguments: str) -> dict[tuple[str, str | None], dict[str, Any]]:
    found = object_of(run, "sensitivity", *TWO, "-q", *arguments)
    return {(one["experiment"], one["system"]): one for one in found["tables"]}


def test_the_gap(run: Run) -> None:
    found = tables(run, "--gap", "lenient,strict", "--merge", MACRO)
    for name in NAMES:
        scores = scored(name, merge=MERGE)
        expected = gap(scores, "lenient", "strict")
        assert found["gap", name]["rows"] == expected.table().to_dict("records")
        assert f"{float(expected.total or 0):+.4f}" in found["gap", name]["notes"][0]
        assert found["gap", name]["notes"][1:] == [signature(scores, one) for one in ("strict", "lenient")]
        rows = [list(row.values())[1:] for row in found["decisions", name]["rows"]]
        assert rows == decision_matrix(scores, "lenient", "strict").to_numpy().tolist()


def test_the_curve_the_recovered_and_what_is_gone(run: Run) -> None:
    found = tables(run, "--curve", "gold", "--any-type", "--recovered", "--gone", "right", "--merge", MACRO)
    for name in NAMES:
        scores = scored(name)
        curve = overlap_curve(*scores.layers("strict"), "gold", same_type=False)
        assert found["curve", name]["rows"] == curve.to_dict("records") and list(curve) == list(CURVE_COLUMNS)
        classes = recover_spans(scores).table()
        assert [row["spans"] for row in found["recovered", name]["rows"]] == classes["spans"].tolist()
        assert found["recovered", name]["rows"][-1]["recall"] is None
        gone = vanished_confusions(scores, merge_types(scores, MERGE), "right")
        assert found["gone", name]["rows"] == gone.to_dict("records")
        assert {row["criterion"] for row in found["merging", name]["rows"]} == set(APPLICABLE)


def test_stand_ins(run: Run) -> None:
    found = tables(run, "--stand-in", "type", "--folds", "4", "--seed", "3", "--criteria", "strict,right")
    one = found["stand_in", None]
    systems = {name: scored(name) for name in NAMES}
    expected = proxy_table(fold_scores(systems, 4, 3), "type").set_index("criterion")
    assert [row["criterion"] for row in one["rows"]] == ["strict", "right"]
    for row in one["rows"]:
        assert {key: row[key] for key in list(PROXY_COLUMNS)[1:]} == expected.loc[row["criterion"]].to_dict()
    assert one["notes"][:2] == ["4 folds of documents x 2 systems, seed 3", FEW_FOLDS_NOTE]


def test_the_ladder(run: Run) -> None:
    found = tables(run, "--ladder", "bio-04", "g:0-23:protein")
    for name in NAMES:
        rows = found["ladder", name]["rows"]
        assert list(rows[0]) == [key for key in LADDER_COLUMNS if key not in ("pair", "gold", "pred")]
        spans = [rule for rule in APPLICABLE if CRITERIA[rule].unit == "span"]
        assert [row["criterion"] for row in rows[: len(spans)]] == spans
        assert {row["gold_record"] for row in rows} == {"g:0-23:protein"} and {row["aligned"] for row in rows} <= {
            "yes",
            "no",
        }


@pytest.mark.parametrize("form", ["screen", "markdown", "latex", "html", "csv"])
def test_every_form(run: Run, form: str) -> None:
    arguments = () if form == "screen" else (f"--{form}", "-")
    status, out, err = run("sensitivity", *TWO, "-q", "--gap", "strict,type", *arguments)
    assert status == 0, err
    assert "left boundary" in out and "perceptron" in out and "criterion strict" in out
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [row["system"] for row in rows] == sorted((row["system"] for row in rows), key=NAMES.index)
        total = sum(float(row["f1"]) for row in rows if row["system"] == "rules")
        assert total == pytest.approx(float(gap(scored("rules"), "strict", "type").total or 0), abs=1e-12)


BAD = (
    (("--gap", "strict"), "name two criteria, separated by a comma"),
    (("--gap", "strict,loose"), "no criterion 'loose'"),
    (("--gap", "strict,fragment"), "fragment counts tokens"),
    (
        ("--gap", "strict,type", "--recovered", "--csv", "f.csv"),
        "--csv holds one table, ask for one of --gap, --recovered",
    ),
    (
        ("--recovered", "--figure", "f.html"),
        "--figure draws the scores under all criteria, or --curve alone: leave out --recovered",
    ),
    (("--recovered", "--counting", "both"), "counting one to one only"),
    (("--gone", "right"), "name the merged types"),
    (("--gone", "loose", "--merge", MACRO), "no criterion 'loose'"),
    (("--gone", "right", "--merge", "DNA"), "'DNA' is not a merge"),
    (("--stand-in", "strict", "--folds", "99"), "99 folds of 20 documents"),
    (("--stand-in", "strict", "--folds", "1"), "--folds: '1' is not possible; write a whole number from 2"),
    (("--stand-in", "strict", "--seed", "-1"), "--seed: '-1' is not possible; write a whole number from 0"),
    (("--stand-in", "strict", "--seed", "x"), "--seed: 'x' is not possible; write a whole number from 0"),
    (("--stand-in", "loose"), "no criterion 'loose'"),
    (("--curve", "both"), "invalid choice"),
    (("--curve", "gold", "--criteria", "fragment"), "no criterion counts spans"),
    (("--ladder", "bio-99", "g:0-1:x"), "no document 'bio-99'"),
    (("--ladder", "bio-04", "g:0-1:x"), "has no record 'g:0-1:x'"),
    (("--gap", "strict,type", "--json", "no/f.json", "--markdown", "f.md"), "no/f.json: cannot be written"),
)


@pytest.mark.parametrize(("arguments", "said"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_use(run: Run, arguments: tuple[str, ...], said: str) -> None:
    status, out, err = run("sensitivity", *TWO, "-q", *arguments)
    assert (status, out) == (2, "") and said in err, err
    assert not list(Path().iterdir()) and "Traceback" not in err
