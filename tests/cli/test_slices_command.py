"""The verb `slices`, the library's and the combinations of two slices: what is written is what is counted."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import nereval_core as nereval
from nereval_core.analysis.slices import slice_report, slicings
from nereval_core.analysis.slices.slice_tests import worst_table
from nereval_core.analysis.slices.span_values import SlicedScores, SpanValues
from nereval_core.ledger import ledger
from nereval_core.problems import FormatError
from nereval_core.records.queries import Query
from nereval_core.report.signature import signature
from nereval_core.scoring import score_layers
from pages.shared.data.loading import DEMOS, load_demo
from tests.analysis.slices.test_slicings import GOLD, PRED
from tests.cli.test_json_schema import validator
from tests.support.commands import Cli
from tests.support.shared_corpora import SHARED, needs
from tests.support.spans import settings

INTERVALS = "intervals 95%, 2000 resamples of documents, seed 0"
FOLDER = DEMOS / "newspapers"
FILES = (str(FOLDER / "gold.jsonl"), str(FOLDER / "rules.jsonl"))


@pytest.fixture
def small(tmp_path: Path) -> tuple[str, str]:
    for name, lines in (("gold", GOLD), ("pred", PRED)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(tmp_path / "gold.jsonl"), str(tmp_path / "pred.jsonl")


@pytest.fixture
def run(command: Cli) -> Cli:
    return partial(command, "slices")


def test_what_is_written_is_what_is_counted(run: Cli, small: tuple[str, str]) -> None:
    status, out, err = run(*small, "--json", "-", "--criteria", "strict,type", "--quiet")
    assert (status, err) == (0, "")
    assert [*validator("slices").iter_errors(json.loads(out))] == []
    found = json.loads(out)["systems"][0]["criteria"]
    assert list(found) == ["strict", "type"]
    for name, one in found.items():
        counts = nereval.score(*small, criteria=[name]).counts(name)
        assert [part["by"] for part in one["slices"]][:2] == ["length", "tokens"]
        for part in one["slices"]:
            assert sum(row["POS"] for row in part["rows"]) == counts.pos
            assert sum(row["gold_COR"] for row in part["rows"]) == counts.cor
            assert sum(row["ACT"] for row in part["rows"]) == counts.act
        assert one["thresholds"][0]["f1"] == counts.f1
        trust = one["calibration"]
        assert (trust["predictions"], trust["unscored"], trust["notes"]) == (3, 1, [])
        assert [(part["bins"], len(part["rows"])) for part in trust["bins"]] == [("equal width", 2), ("equal mass", 3)]
        assert len(trust["errors"]) == 5 and trust["errors"][-1]["measure"] == "Brier score"
        assert trust["risk_coverage"]["points"][-1]["coverage"] == 1
        assert one["signature"] == signature(nereval.score(*small, criteria=[name]), name, intervals=INTERVALS)
    rows = list(csv.DictReader(io.StringIO(run(*small, "--csv", "-", "--quiet")[1])))
    assert {row["part"] for row in rows} == {"slice", "threshold", "calibration", "error"}
    assert [row["value"] != "" for row in rows if row["part"] == "error"] == [True] * 6
    assert all(row["signature"].startswith("nereval ") for row in rows)


def test_the_screen_says_how_far_scores_can_be_trusted(run: Cli, small: tuple[str, str], tmp_path: Path) -> None:
    status, out, _ = run(*small, "--by", "score", "--figure", str(tmp_path / "a.html"))
    assert status == 0 and out.count("precision in bins of equal ") == 2
    assert "3 predictions with a score; 1 without one are left out" in out
    for said in ("expected calibration error in bins of equal mass 0.", "Brier score 0.", "area under the risk-cov"):
        assert out.count(said) == (2 if said.startswith("Brier") else 1)
    assert (tmp_path / "a.html").read_bytes().count(b'id="nereval-slices-') == 4


def test_margins_are_written_without_errors(run: Cli, small: tuple[str, str]) -> None:
    place = Path(small[1])
    place.write_text(place.read_text("utf-8").replace("0.95", "-3.5"), "utf-8")
    status, out, _ = run(*small, "--by", "score", "--json", "-", "--quiet")
    trust = json.loads(out)["systems"][0]["criteria"]["strict"]["calibration"]
    assert status == 0 and validator("slices").is_valid(json.loads(out))
    assert trust["errors"] == [] and [part["bins"] for part in trust["bins"]] == ["equal mass"]
    assert trust["notes"][0].startswith("1 of 3 scores lies outside 0 to 1")


@needs("hipe2022")
def test_predictions_without_noise_levels_are_noted_in_every_form(run: Cli) -> None:
    given = (
        str(SHARED / "hipe2022/gold/HIPE-2022-v2.1-ajmc-test-en.tsv"),
        str(SHARED / "hipe2022/submissions/team1_bundle4_ajmc_en_1.tsv"),
        *("--by", "noise,length", "--resamples", "100", "--quiet"),
    )
    note = "predictions carry no value for noise (LED): there is recall only, no precision and no F1"
    assert run(*given)[1].count(note) == 1
    parts = json.loads(run(*given, "--json", "-")[1])["systems"][0]["criteria"]["strict"]["slices"]
    assert {part["by"]: part["notes"] for part in parts} == {"length": [], "noise": [note]}
    rows = list(csv.DictReader(io.StringIO(run(*given, "--csv", "-")[1])))
    assert {(row["by"], row["note"]) for row in rows} == {("Noise (LED)", note), ("Span length in characters", "")}
    assert not any(row["precision"] or row["f1"] for row in rows if row["note"])


def test_the_screen_shows_a_table_a_slicing(run: Cli) -> None:
    status, out, _ = run(*FILES, "--by", "period,meta source", "--by", "worst")
    assert status == 0
    titles = [line for line in out.splitlines() if line.startswith("rules: ")]
    assert titles == [
        "rules: strict by decade",
        "rules: strict by document's source",
        "rules: strict, where it is worst",
    ]
    assert out.count("| criterion strict |") == 1


@pytest.mark.parametrize("form", ["markdown", "latex", "html", "excel", "figure"])
def test_forms(run: Cli, tmp_path: Path, form: str) -> None:
    place = tmp_path / {"excel": "a.xlsx"}.get(form, "a.html")
    status, _, err = run(*FILES, "--by", "length,shape", f"--{form}", str(place), "--quiet")
    assert (status, err) == (0, "")
    raw = place.read_bytes()
    if form == "figure":
        assert raw.count(b'id="nereval-slices-') == 2 and raw.count(b"plotly.js v") == 1
    else:
        assert len(raw) > 500


def test_slices_and_systems_are_tested(run: Cli) -> None:
    given = (*FILES, str(FOLDER / "perceptron.jsonl"), "--by", "year 1850,shape", "--tests", "--resamples", "100")
    status, out, _ = run(*given, "--quiet")
    assert status == 0 and out.count("slices against the rest") == 2
    assert "strict, changes from system to system within slices" in out and "against rules" in out
    found = json.loads(run(*given, "--baseline", "perceptron", "--json", "-", "--quiet")[1])
    (changes,) = found["changes"].values()
    assert {(row["system"], row["baseline"]) for row in changes["rows"]} == {("rules", "perceptron")}
    apart = found["systems"][0]["criteria"]["strict"]["apart"]
    (year,) = (row for row in apart["rows"] if row["by"] == "year 1850")
    (slices,) = (part for part in found["systems"][0]["criteria"]["strict"]["slices"] if part["by"] == "year 1850")
    assert [row["slice"] for row in slices["rows"]] == ["before 1850", "1850 or later"]
    assert (year["value"], year["reference"]) == tuple(row["f1"] for row in slices["rows"])
    rows = list(csv.DictReader(io.StringIO(run(*given, "--csv", "-", "--quiet")[1])))
    assert {row["part"] for row in rows} == {"slice", "apart", "change"}
    assert {float(row["value"]) for row in rows if row["part"] == "apart"} >= {year["difference"]}
    assert {row["baseline"] for row in rows if row["part"] == "change"} == {"rules"}
    reports = {
        name: nereval.slices_of(FILES[0], FOLDER / f"{name}.jsonl", by="shape") for name in ("rules", "perceptron")
    }
    assert nereval.slice_changes(reports, baseline="perceptron").table["system"].unique().tolist() == ["rules"]
    assert nereval.slices_of(*FILES, by="shape", tests=True).apart is not None and reports["rules"].apart is None
    other = nereval.slices_of(*FILES, by="shape", criterion="type")
    for bad, said in (({}, "no report to compare"), (reports | {"x": other}, "under different criteria")):
        with pytest.raises(FormatError, match=said):
            nereval.slice_changes(bad)
    with pytest.raises(FormatError, match="no report is called 'x'"):
        nereval.slice_changes(reports, baseline="x")


def test_training_and_columns(run: Cli, small: tuple[str, str], tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text("document,hard\na,yes\nb,no\n", encoding="utf-8")
    more = ("--by", "seen,column hard", "--training", small[0], "--columns", str(own), "--json", "-")
    status, out, _ = run(*small, *more)
    assert status == 0
    seen, hard = json.loads(out)["systems"][0]["criteria"]["strict"]["slices"]
    assert (seen["title"], hard["title"]) == ("Seen in training", "Your column hard")
    assert [(row["slice"], row["POS"], row["ACT"]) for row in hard["rows"]] == [("no", 1, 1), ("yes", 4, 3)]
    found = nereval.slices_of(*small, by="column", columns=own)
    (table,) = found.tables.values()
    assert table["POS"].tolist() == [1, 4] and found.thresholds is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--by", "length,colour"), "--by: no slices by 'colour'"),
        (("--resamples", "3"), "--resamples: '3' is not possible; write a whole number from 100"),
        (("--seed", "-1"), "--seed: '-1' is not possible"),
        (("--by", "year"), "--by: 'year' names no year of four digits; write \"year 1850\""),
        (("--by", "year 18500"), "--by: 'year 18500' names no year"),
        (("--tests", "--baseline", "x"), "--baseline: no system is called 'x'; choose among 'pred'"),
        (("--baseline", "pred"), "--baseline: changes are from it in tests alone; add --tests"),
        (("--columns", "BAD"), "BAD:2: there is no document 'z'"),
        (("--columns", "BAD", "--training", "GONE"), "GONE"),
        (("--columns", "BAD", "--csv", "BAD"), "would overwrite an input"),
    ],
)
def test_bad_input_writes_nothing(
    run: Cli, small: tuple[str, str], tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("document,x\nz,1\n", encoding="utf-8")
    out = tmp_path / "out.json"
    places = {"BAD": str(bad), "GONE": str(tmp_path / "gone.jsonl")}
    given = [places.get(one, one) for one in arguments]
    status, _, err = run(*small, *given, "--json", str(out), "--quiet")
    assert status == 2 and not out.exists()
    for name, place in places.items():
        said = said.replace(name, place)
    assert said in err


def test_an_unknown_slicing_is_refused_by_the_library(small: tuple[str, str]) -> None:
    with pytest.raises(FormatError, match="colour"):
        nereval.slices_of(*small, by="colour")


def plain_p(inside: list[bool], credit: list[float], doc: list[int]) -> float:
    """Return the p value by the definition: document by document, with all spans' mean as the hypothesis."""
    mean, share = sum(credit) / len(credit), sum(inside) / len(inside)
    by_document: dict[int, float] = {}
    for here, value, number in zip(inside, credit, doc, strict=True):
        by_document[number] = by_document.get(number, 0) + (here - share) * (value - mean)
    score = sum(by_document.values()) / np.sqrt(sum(value**2 for value in by_document.values()))
    return float(norm.cdf(score))


def test_the_worst_combinations_are_tested_by_the_definition() -> None:
    corpus = load_demo("biology").corpus
    system = corpus.system("rules")
    scores = score_layers(corpus.gold, system, settings("partial"))
    sliced = SlicedScores(scores, "partial", (corpus.gold, system))
    values = {name: found for name in ("length", "tokens", "shape") if (found := slicings.find_values(sliced, name))}
    table = worst_table(sliced, values)
    credit = [(1.0, 0.0, 0.5, 0.0)[code] for code in scores.decisions("partial")[0].tolist()]
    doc = corpus.gold.doc.tolist()
    assert len(table) >= 3 and (table["POS"] >= 20).all() and (table["documents"] >= 5).all()
    assert (table["p_holm"] >= table["p"]).all() and table["p"].is_monotonic_increasing
    records = ledger(scores, "partial", (corpus.gold, system))
    for row in table.to_dict("records"):
        one, two = values[row["by"]], values[row["and_by"]]
        a, b = one.names.index(row["slice"]), two.names.index(row["and_slice"])
        inside = ((one.gold == a) & (two.gold == b)).tolist()
        right = [value for value, here in zip(credit, inside, strict=True) if here]
        assert row["POS"] == sum(inside) and row["recall"] == pytest.approx(sum(right) / len(right))
        assert row["p"] == pytest.approx(plain_p(inside, credit, doc), abs=1e-9)
        having = tuple((f"gold {row[key]}", row[value]) for key, value in (("by", "slice"), ("and_by", "and_slice")))
        assert records.total(Query(having=having)).records == row["POS"]


def test_combinations_that_say_nothing_more_are_left_out() -> None:
    corpus = load_demo("biology").corpus
    system = corpus.system("rules")
    sliced = SlicedScores(score_layers(corpus.gold, system, settings("strict")), "strict", (corpus.gold, system))
    length = slicings.find_values(sliced, "length")
    assert length is not None
    alike = SpanValues(("all",), *(np.zeros(len(layer), np.int8) for layer in sliced.layers))
    assert not len(worst_table(sliced, {"length": length, "all": alike}))
    assert not len(worst_table(sliced, {"length": length, "again": length}))


def test_where_chance_decides_few_combinations_are_significant() -> None:
    """Right or wrong by the toss of a coin, whose bias each document has for itself: no slice is worse."""
    corpus = load_demo("newspapers").corpus
    gold = corpus.gold
    rng = np.random.default_rng(11)
    low = 0
    for _ in range(40):
        bias = rng.beta(2, 2, len(corpus.documents))
        right = np.flatnonzero(rng.random(len(gold)) < bias[gold.doc])
        pred = replace(gold.take(right), name="pred")
        scores = score_layers(gold, pred, settings("strict"))
        found = slice_report(scores, "strict", by=["worst"]).worst
        assert found is not None
        low += bool((found["p_holm"] < 0.05).any())
    assert low <= 6
