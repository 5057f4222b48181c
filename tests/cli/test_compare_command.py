"""The verb `compare` and the library's: the same numbers in every form, and what is wrong told before any work."""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from jsonschema import Draft202012Validator

import nereval_core as nereval
from nereval_core import __version__
from nereval_core.analysis.comparison.significance import DIFFERENCE_COLUMNS, INTERVAL_COLUMNS
from nereval_core.problems import FormatError
from nereval_core.tables import p_value_sentence, p_value_text, signed
from tests.support import ROOT
from tests.support.commands import Cli, corpus, written

DEMO = ROOT / "demo_data" / "biology"
SYSTEMS = ("rules", "perceptron", "annotator-2")
FILES = [str(DEMO / f"{name}.jsonl") for name in ("gold", *SYSTEMS)]
FEW = ("--resamples", "400", "-q")


@pytest.fixture
def run(command: Cli) -> Cli:
    return partial(command, "compare")


def done(run: Cli, *arguments: str) -> str:
    status, out, err = run(*arguments, *FEW)
    assert status == 0, err
    return out


def test_json_is_what_the_library_returns(run: Cli) -> None:
    found: dict[str, Any] = json.loads(
        done(run, *FILES, "--seed", "3", "--baseline", "perceptron", "--by", "type", "--json", "-")
    )
    ours = nereval.compare(
        FILES[0],
        dict(zip(SYSTEMS, FILES[1:], strict=True)),
        resamples=400,
        seed=3,
        baseline="perceptron",
        by_type=True,
    )
    assert list(found)[:6] == ["nereval", "schema", "gold", "systems", "baseline", "resamples"]
    assert (found["baseline"], found["resamples"], found["seed"], found["level"]) == ("perceptron", 400, 3, 0.95)
    for name, table in (
        ("scores", ours.intervals),
        ("differences", ours.differences),
        ("pairs", ours.pairs),
        ("taus", ours.taus),
    ):
        rows = [
            {key: None if pd.isna(value) else value for key, value in row.items()} for row in table.to_dict("records")
        ]
        assert found[name] == rows
    assert list(found["scores"][0]) == list(INTERVAL_COLUMNS)
    assert list(found["differences"][0]) == list(DIFFERENCE_COLUMNS)
    assert found["words"] == list(ours.words)
    assert set(found["signatures"]) == set(SYSTEMS)
    assert " | criterion type | " in found["signatures"]["rules"]["type"]
    # The scores are those of `score`.
    scores = nereval.score(FILES[0], FILES[1])
    assert found["scores"][0]["f1"] == scores.counts("strict").f1


def test_each_side_for_itself_is_compared_as_it_is_scored(run: Cli) -> None:
    found = json.loads(done(run, *FILES[:3], "--criteria", "type,lenient", "--counting", "each-side", "--json", "-"))
    for name, path in zip(SYSTEMS[:2], FILES[1:], strict=False):
        scores = nereval.score(FILES[0], path, criteria=("type", "lenient"), counting="each-side")
        for row in found["scores"]:
            if row["system"] == name:
                counts = scores.counts(row["criterion"])
                assert (row["precision"], row["recall"]) == (counts.precision, counts.recall)
                assert row["f1"] == pytest.approx(counts.f1, abs=1e-15)
                assert row["f1_low"] < row["f1"] < row["f1_high"]


def test_csv_has_scores_and_differences_in_one_table(run: Cli) -> None:
    rows = list(csv.DictReader(io.StringIO(done(run, *FILES, "--criteria", "strict,type", "--csv", "-"))))
    assert [(row["criterion"], row["system"]) for row in rows] == [
        (criterion, system) for criterion in ("strict", "type") for system in SYSTEMS
    ]
    for row in rows:
        assert (row["p"] == "") == (row["system"] == "rules")
        assert row["baseline"] == "rules" and row["signature"].startswith("nereval ")
        if row["p"]:
            base = next(one for one in rows if one["criterion"] == row["criterion"])
            assert float(row["difference"]) == float(row["f1"]) - float(base["f1"])
            assert 1 / 401 <= float(row["p"]) <= float(row["p_holm"]) <= 1


def test_two_systems_with_equal_predictions_name_the_criterion_once(run: Cli) -> None:
    out = done(run, FILES[0], f"one={FILES[1]}", f"other={FILES[1]}", "--criteria", "strict,type")
    signed = [line for line in out.splitlines() if line.startswith("nereval ")]
    assert len(signed) == 1 and " | criterion strict,type | " in signed[0]


def test_screen(run: Cli) -> None:
    out = done(run, *FILES, "--criteria", "strict,left")
    first, against, power, places, order, *pairs, taus = out.split("\n\n")
    assert first.splitlines()[0] == "F1 with 95% intervals"
    assert re.search(r"^rules +0\.682 \[0\.\d{3}, 0\.\d{3}\] ", first, re.MULTILINE)
    assert "under strict rules has the highest F1" in first and "best under other criteria: annotator-2" in first
    assert "400 resamples, seed 0" in first
    assert against.splitlines()[0] == "F1 less that of rules"
    assert re.search(
        r"^left +annotator-2 +0\.\d{4} +\+0\.03\d\d +−0\.\d{4} +\+0\.\d{4}( +0\.\d+){4} +\d+\.\d%$",
        against,
        re.MULTILINE,
    )
    assert "family: 4 tests: 2 systems against rules, 2 criteria" in against
    assert "documents for 1 point" in power and "p as good as" not in power
    assert places.splitlines()[0] == "Place by F1 under each criterion"
    assert re.search("^annotator-2 +2 +1$", places, re.MULTILINE)
    assert re.search(r"^left +annotator-2 +\d+\.\d% +0\.3333$", order, re.MULTILINE)
    assert [table.splitlines()[0] for table in pairs] == [
        f"F1 of the row's system less the column's under {name}" for name in ("strict", "left")
    ]
    assert taus.count(f"nereval {__version__} | criterion strict,left | ") == 3


def test_two_systems_and_one(run: Cli) -> None:
    two = done(run, *FILES[:3])
    assert "Place by F1" in two and "less the column's" not in two and "Kendall" not in two
    one = done(run, *FILES[:2])
    assert "Place by F1" not in one and "less that of" not in one
    assert re.search("under strict rules has an F1 of 0.682, 95% interval", one)
    assert one.rstrip().splitlines()[-1].startswith("nereval ")


@pytest.mark.parametrize(
    ("form", "best", "other"),
    [
        ("latex", r"rules & \\textbf\{0\.682 \[", r"perceptron & 0\.491 \[[^&]*\]\$\^\\dagger\$ &"),
        ("markdown", r"\| rules \| \*\*0\.682 \\\[", r"\| perceptron \| 0\.491 \\\[[^|]*\]† \|"),
        ("html", r"<td>rules</td><td><strong>0\.682 \[", r"<td>perceptron</td><td>0\.491 \[[^<]*\]†</td>"),
    ],
)
def test_the_best_is_bold_and_what_differs_has_a_dagger(run: Cli, form: str, best: str, other: str) -> None:
    out = done(run, *FILES, "--by", "type", f"--{form}", "-")
    assert re.search(best, out) and re.search(other, out)
    assert re.search("bold: the highest F1, where it is significantly higher .*none under DNA, RNA,", out)
    table = re.sub("(?m)^%.*$", "", out)
    assert form != "latex" or (r"\toprule" in out and not set("†≤−") & set(table))


def test_the_figure(run: Cli) -> None:
    hostile = f"</script><b>x={FILES[1]}"
    for name in ("one.html", "two.html"):
        out = done(run, FILES[0], hostile, FILES[2], "--figure", name)
        assert out.startswith("F1 with 95% intervals\n")
    text = Path("one.html").read_text(encoding="utf-8")
    assert Path("two.html").read_text(encoding="utf-8") == text
    assert text.count('id="nereval-comparison"') == 1 and "<script src" not in text
    assert "<b>x" not in text and "&lt;/script&gt;&lt;b&gt;x" in text


BAD: tuple[tuple[tuple[str, ...], str], ...] = (
    (("gold.jsonl",), "name a prediction after gold"),
    (("gold.jsonl", "missing.jsonl"), "missing.jsonl"),
    (("gold.jsonl", "rules.jsonl", "--criteria", "loose"), "no criterion 'loose'"),
    (
        ("gold.jsonl", "rules.jsonl", "--baseline", "other"),
        "--baseline: no system is called 'other'; choose among",
    ),
    (
        ("gold.jsonl", "rules.jsonl", "--resamples", "99"),
        "--resamples: '99' is not possible; write a whole number from 100 to 1,000,000",
    ),
    (("gold.jsonl", "rules.jsonl", "--seed", "-1"), "--seed: '-1' is not possible; write a whole number from 0"),
    (("gold.jsonl", "rules.jsonl", "--by", "document"), "--by 'document', there are type and span"),
    (("gold.jsonl", "rules.jsonl", "--figure", "f.gif"), "end the name in .html, .htm, .svg, .png or .pdf"),
    (("gold.jsonl", "x=rules.jsonl", "--json", "rules.jsonl"), "--json 'rules.jsonl' would overwrite an input"),
    (("gold.jsonl", "rules.jsonl", "bad.jsonl"), "bad.jsonl:1: "),
)


@pytest.mark.parametrize(("arguments", "said"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input(run: Cli, arguments: tuple[str, ...], said: str) -> None:
    for name in ("gold", "rules"):
        Path(f"{name}.jsonl").write_bytes((DEMO / f"{name}.jsonl").read_bytes())
    Path("bad.jsonl").write_text('{"id": 1, "text": "", "spans": []}\n')
    status, out, err = run(*arguments, "-q")
    assert (status, out) == (2, "") and said in err
    assert sorted(path.name for path in Path().iterdir()) == ["bad.jsonl", "gold.jsonl", "rules.jsonl"]
    assert Path("rules.jsonl").read_bytes() == (DEMO / "rules.jsonl").read_bytes()


def test_the_library_compares_python_objects() -> None:
    gold = [[(0, 7, "Drug")], [], [(0, 3, "Dose")]]
    found = nereval.compare(gold, {"a": gold, "b": [[(0, 7, "Drug")], [(3, 9, "Dose")], []]}, resamples=200)
    assert found.baseline == "a"
    assert found.intervals["f1"].tolist()[:2] == [1, 0.5]
    # F1 of a, which is all right, has no interval.
    assert "only 3 documents have spans" in found.warnings[0]


def test_the_library_tells_all_that_is_wrong() -> None:
    with pytest.raises(FormatError) as error:
        nereval.compare(FILES[0], {"a": "none.jsonl", "b": "nothing.jsonl"})
    assert len(error.value.problems) == 2
    for systems, baseline in (({}, None), ({"a": FILES[1]}, "b")):
        with pytest.raises(FormatError):
            nereval.compare(FILES[0], systems, baseline=baseline)


@pytest.mark.parametrize(
    ("value", "said"), [(0.1, "+0.100"), (-0.25, "−0.250"), (0, "0.000"), (-0.0001, "0.000"), (0.0006, "+0.001")]
)
def test_differences_are_said_with_their_sign(value: float, said: str) -> None:
    assert signed(value) == said


@pytest.mark.parametrize(
    ("p", "said"),
    [(1 / 10_001, "≤ 0.0001"), (2 / 10_001, "0.0002"), (0.0456, "0.046"), (0.5, "0.50"), (1, "1.00"), (None, "–")],
)
def test_p_is_said_as_exactly_as_it_is_known(p: float | None, said: str) -> None:
    assert p_value_text(float("nan") if p is None else p, 10_000) == said


@pytest.mark.parametrize(
    ("p", "uncorrected", "said"),
    [(10 / 10_001, 1 / 10_001, "p ≤ .001"), (10 / 10_001, 5 / 10_001, "p = .001"), (1.0, 1 / 10_001, "p = 1.00")],
)
def test_a_bound_stays_a_bound_when_it_is_corrected(p: float, uncorrected: float, said: str) -> None:
    """p ≤ .0001 became p = .001 after Holm's correction over ten pairs."""
    assert p_value_sentence(p, 10_000, uncorrected) == said


@pytest.mark.parametrize("engine", [("--engine", "local"), ("--engine", "dask", "--workers", "2")], ids=" ".join)
def test_shards_are_compared_as_if_read_in_one_piece(run: Cli, tmp_path: Path, engine: tuple[str, ...]) -> None:
    places = written(tmp_path, corpus(40))
    asked = (*places, "--seed", "5", "--criteria", "strict,partial,fragment", "--json", "-")
    assert done(run, *asked, *engine) == done(run, *asked)


def test_what_shards_cannot_tell_is_refused(run: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    for wrong, said in (
        (("--engine", "local", "--by", "type"), "--by type needs all spans at once"),
        (("--engine", "local", "--format", "jsonl"), "--format has no use with --engine"),
        (("--workers", "2"), "--workers is for scoring shard by shard"),
    ):
        status, out, err = run(*places, *wrong)
        assert (status, out) == (2, "") and said in err


@pytest.mark.parametrize("verb", ["score", "compare", "slices_of", "errors_of"])
def test_the_library_warns_where_no_type_name_is_shared(verb: str) -> None:
    gold, pred = [[(0, 2, "X")], [(0, 3, "X")]], [[(0, 2, "Y")], []]
    function = getattr(nereval, verb)
    given: Any = {"a": pred} if verb == "compare" else pred
    with pytest.warns(UserWarning, match="no type is one of gold's: 'Y' here, 'X' in gold"):
        function(gold, given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(gold, given, merge={"X": "Z", "Y": "Z"})


def test_what_is_undefined_is_said_in_words() -> None:
    """Nothing right is not a highest F1, and what has no spans has none."""
    gold = [[(0, 2, "X")], [(0, 3, "X")]]
    wrong = [[(3, 4, "X")], [(4, 5, "X")]]
    nothing: list[list[Any]] = [[], []]
    found = nereval.compare(gold, {"a": wrong, "b": nothing}, resamples=100)
    assert found.words[0].startswith("under strict no span of any system is correct: a and b have an F1 of 0.000")
    assert not any("highest" in line or "best" in line for line in found.words)
    found = nereval.compare(nothing, {"a": wrong, "b": nothing}, resamples=100)
    assert "a has an F1 of 0.000" in found.words[0] and "b has none, as there are no spans" in found.words[0]
    assert found.words[1] == "not tested against a: b"
    found = nereval.compare(nothing, {"a": nothing, "b": nothing}, resamples=100)
    assert found.words == ("no system has an F1 under strict: there are no spans of gold or of a system",)
    assert not found.warnings


def test_a_margin_tests_whether_systems_are_equally_good(run: Cli) -> None:
    assert "p as good as: two one-sided tests that F1 lies within 0.3 of that of rules" in done(
        run, *FILES, "--margin", "0.3"
    )
    rows = json.loads(done(run, *FILES, "--margin", "0.3", "--criteria", "type", "--json", "-"))["power"]
    assert [row["p_equivalent"] < 0.05 for row in rows] == [True, True] and {row["margin"] for row in rows} == {0.3}
    assert run("compare", *FILES, "--margin", "2")[0] == 2


def test_measures_are_compared_as_a_family(run: Cli) -> None:
    out = done(run, *FILES, "--criteria", "strict", "--measures", "recall,macro-f1")
    assert "Measures with 95% intervals" in out and "differences are to rules; family: " in out
    assert "family: 4 tests: 2 systems against rules, 1 criterion, 2 measures" in out
    # A scorer has no macro average: 3 tests of each system, not 2 criteria times 3 measures.
    out = done(run, *FILES, "--criteria", "strict", "--measures", "f1,macro-f1", "--scorers", "nervaluate-1.2.1/strict")
    assert "family: 6 tests: 2 systems against rules, 3 measures of 2 criteria and scorers" in out
    rows = json.loads(done(run, *FILES, "--measures", "macro-recall", "--json", "-"))["measure_differences"]
    assert {row["measure"] for row in rows} == {"macro-recall"}
    status, _, err = run("compare", *FILES, "--measures", "accuracy,f1")
    assert (status, "no measure 'accuracy'; choose among f1, precision" in err) == (2, True)


def test_published_scorers_are_compared_too(run: Cli) -> None:
    out = done(run, *FILES, "--criteria", "strict", "--scorers", "nervaluate-1.2.1/partial", "--by", "type")
    assert "family: " in out and "nervaluate-1.2.1/partial" in out
    rows = json.loads(done(run, *FILES, "--scorers", "n2c2-2018", "--json", "-"))["measures"]
    assert {(row["criterion"], row["type"], row["measure"]) for row in rows} == {("n2c2-2018/strict", None, "f1")}
    assert run("compare", *FILES, "--scorers", "conll")[0] == 2


def test_several_runs_of_a_system_are_those_of_the_library(run: Cli) -> None:
    team = f"team={FILES[1]},{FILES[3]}"
    found = json.loads(done(run, FILES[0], FILES[2], team, "--baseline", "team", "--json", "-"))
    ours = nereval.compare(
        FILES[0],
        {"perceptron": FILES[2], "team-1": FILES[1], "team-2": FILES[3]},
        resamples=400,
        runs={"team": ["team-1", "team-2"]},
        baseline="team",
    )
    assert ours.runs is not None
    assert found["runs"]["systems"] == {"perceptron": ["perceptron"], "team": ["team-1", "team-2"]}
    assert (found["runs"]["baseline"], found["baseline"]) == ("team", "team-1")
    for name, table in (("means", ours.runs.means), ("differences", ours.runs.differences)):
        rows = json.loads(table.to_json(orient="records", double_precision=15))
        assert found["runs"][name] == [pytest.approx(row, abs=1e-12) for row in rows]
    assert found["words"] == list(ours.words)
    assert json.loads(done(run, *FILES[:3], "--json", "-"))["runs"] is None


def test_several_runs_on_the_screen_and_as_csv(run: Cli) -> None:
    files = (FILES[0], f"team={FILES[1]},{FILES[3]}", FILES[2], "--criteria", "strict,type", "--measures", "recall")
    means, differences, each, measures = done(run, *files, "--by", "type").split("\n\n")[:4]
    assert means.splitlines()[0] == "Mean F1 over runs"
    assert re.search(r"^strict +team +2 +0\.\d{4} +0\.1127 +0\.6817 +0\.5223 ", means, re.MULTILINE)
    assert "of perceptron there is a single run: nothing is known of the variation between runs" in means
    assert differences.splitlines()[0] == "Mean F1 less that of team"
    assert "family: 2 tests: 1 system against team, 2 criteria" in differences
    assert each.splitlines()[0] == "F1 of each run with 95% intervals" and "team-2" in each and "†" not in each
    assert measures.startswith("Measures with")
    rows = list(csv.DictReader(io.StringIO(done(run, *files, "--csv", "-"))))
    assert [(row["criterion"], row["system"], row["runs"]) for row in rows][:2] == [
        ("strict", "team", "2"),
        ("strict", "perceptron", "1"),
    ]
    assert rows[0]["p"] == "" and float(rows[1]["difference"]) == pytest.approx(
        float(rows[1]["f1"]) - float(rows[0]["f1"])
    )
    assert rows[0]["signature"].count("nereval ") == 2
    only = done(run, *files[:2])
    assert "has a mean F1 of" in only and "less that of" not in only


def test_a_file_with_a_comma_in_its_name_is_one_file(run: Cli) -> None:
    Path("one,two.jsonl").write_bytes(Path(FILES[1]).read_bytes())
    assert "team-1" not in done(run, FILES[0], "team=one,two.jsonl")


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ([f"{FILES[1]},{FILES[2]}"], "several runs without the name of their system; name each system once"),
        ([f"a={FILES[1]},{FILES[1]}"], "a run twice"),
        ([f"a={FILES[1]},{FILES[2]}", f"a-1={FILES[3]}"], "another file has the name of the system or of a run"),
        ([f"a={FILES[1]},{FILES[2]}", f"a={FILES[3]}"], "another file has the name of the system or of a run"),
        ([f"a={FILES[1]},missing"], "missing: no such file or folder"),
        (["a=" + ",".join(f"run-{number}.jsonl" for number in range(30))], "run-0.jsonl: no such file or folder"),
        ([f"a={FILES[1]},{FILES[2]}", "--baseline", "a-1"], "--baseline: no system is called 'a-1'; choose among 'a'"),
        ([f"a={FILES[1]},{FILES[2]}", "--margin", "0.1"], "--margin: 0.1 is not tested over several runs"),
    ],
)
def test_runs_that_cannot_be_told_are_refused(run: Cli, files: list[str], problem: str) -> None:
    status, out, err = run(FILES[0], *files)
    assert (status, out) == (2, "") and problem in err


@pytest.fixture
def results(command: Cli) -> list[str]:
    """Write the comparisons of two corpora, one of them of two runs, and return their files."""
    for name in ("biology", "newspapers"):
        gold, rules, perceptron, other = (
            str(ROOT / "demo_data" / name / f"{file}.jsonl") for file in ("gold", "rules", "perceptron", "annotator-2")
        )
        runs = f"perceptron={perceptron},{other}" if name == "newspapers" else f"perceptron={perceptron}"
        words = ("compare", gold, f"rules={rules}", runs, "--criteria", "strict,type", *FEW, "--json", f"{name}.json")
        assert command(*words)[0] == 0
    return ["biology.json", "newspapers.json"]


def test_corpora_that_show_a_difference(run: Cli, results: list[str]) -> None:
    out = run("--other-corpora", *results)[1]
    assert out.splitlines()[0] == "F1 less that of rules in 2 corpora"
    told = {name: json.loads(Path(name).read_text()) for name in results}
    assert run("--other-corpora", results[0], f"news={results[1]}", "--json", "all.json")[0] == 0
    found = json.loads(Path("all.json").read_text())
    schema = json.loads((ROOT / "docs" / "results.schema.json").read_text())
    Draft202012Validator({**schema, "$ref": "#/$defs/compare --other-corpora"}).validate(found)
    golds = [one["gold"]["sha256"] for one in told.values()]
    assert found["corpora"] == [{"name": "biology", "gold": golds[0]}, {"name": "news", "gold": golds[1]}]
    bio = nereval.compare(FILES[0], {"rules": FILES[1], "perceptron": FILES[2]}, resamples=400)
    folder = ROOT / "demo_data" / "newspapers"
    runs = {
        f"perceptron-{number}": folder / f"{name}.jsonl" for number, name in ((1, "perceptron"), (2, "annotator-2"))
    }
    news = nereval.compare(
        folder / "gold.jsonl",
        {"rules": folder / "rules.jsonl", **runs},
        runs={"perceptron": list(runs)},
        resamples=400,
    )
    ours = nereval.replicability({"biology": bio, "news": news})
    kept = ours[ours["criterion"].isin(["strict", "type"])]
    assert found["replicability"] == kept.to_dict("records")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["biology.json"], "give the results of two corpora or more"),
        (["biology.json", "x=biology.json"], "x: gold is that of biology; give each corpus once"),
        (["a=biology.json", "a=newspapers.json"], "two corpora are called 'a', name each differently"),
        (["biology.json", FILES[0]], "not JSON: "),
        (["biology.json", "other.json"], "other.json: not a result of `nereval compare`; give the file that"),
        (["biology.json", "newspapers.json", "--by", "type"], "leave out --by"),
        (["biology.json", "newspapers.json", "--figure", "a.html"], "leave out --figure"),
        (["biology.json", "newspapers.json", "--json", "biology.json"], "would overwrite an input"),
    ],
)
def test_corpora_that_cannot_be_counted_are_refused(
    run: Cli, results: list[str], words: list[str], problem: str
) -> None:
    Path("other.json").write_text('{"runs": 3}')
    status, out, err = run("--other-corpora", *words)
    assert (status, out) == (2, "") and problem in err


def test_neither_files_nor_results_are_refused(run: Cli, results: list[str]) -> None:
    assert "the following arguments are required: FILE" in run()[2]
    assert "leave out other files" in run(*FILES, "--other-corpora", *results)[2]
