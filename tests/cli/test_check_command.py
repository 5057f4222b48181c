"""The verb `check`: bounds hold or fail by the figures of `score --json`; bad bounds and bad files are refused."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pages.shared.data.loading import DEMOS
from tests.support.commands import Cli

GOLD, RULES, PERCEPTRON = (str(DEMOS / "biology" / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))
ONE = '{"id": "d", "text": "Ann met Bob.", "spans": [%s]}\n'
SPAN = '{"start": %d, "end": %d, "label": "%s"}'


@pytest.fixture
def run(command: Cli) -> Cli:
    return partial(command, "check")


@pytest.fixture
def last(command: Cli, tmp_path: Path) -> str:
    """Scores of both systems, under the schemas."""
    place = str(tmp_path / "last.json")
    assert command("score", GOLD, RULES, PERCEPTRON, "--json", place)[0] == 0
    return place


def written(folder: Path, name: str, *spans: tuple[int, int, str]) -> str:
    place = folder / f"{name}.jsonl"
    place.write_text(ONE % ", ".join(SPAN % span for span in spans))
    return str(place)


@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
def test_a_bound_holds_at_the_figure_of_score_and_fails_above(
    command: Cli, run: Cli, tmp_path: Path, counting: str
) -> None:
    place = str(tmp_path / "scores.json")
    assert command("score", GOLD, RULES, "--counting", counting, "--json", place)[0] == 0
    criteria = json.loads(Path(place).read_text())["systems"][0]["criteria"]
    for criterion, scores in criteria.items():
        for measure in ("precision", "recall", "f1"):
            for kind, row in ((None, scores), *scores["types"].items()):
                figure = f"{criterion}.{measure}" + ("" if kind is None else f"@{kind}")
                given = (GOLD, RULES, "--counting", counting, "--quiet", "--min")
                if row[measure] is not None:
                    assert run(*given, f"{figure}={row[measure]!r}") == (0, "", ""), figure
                    status, out, err = run(*given, f"{figure}={row[measure] + 0.00002!r}")
                    assert (status, err) == (1, "") or row[measure] == 1.0
                    assert out.startswith(f"rules: {figure} is ") or row[measure] == 1.0


def test_each_failure_is_a_line_and_a_failed_test_case(run: Cli, tmp_path: Path) -> None:
    place = str(tmp_path / "checks.xml")
    bounds = ("--min", "strict.f1=0.99", "--min", "type.recall@protein=0.99", "--min", "partial.precision=0.01")
    status, out, err = run(GOLD, RULES, PERCEPTRON, *bounds, "--junit", place, "--quiet")
    assert (status, err) == (1, "")
    lines = out.splitlines()
    assert [line.partition(" is ")[0] for line in lines] == [
        f"{name}: {figure}" for name in ("rules", "perceptron") for figure in ("strict.f1", "type.recall@protein")
    ]
    root = ElementTree.parse(place).getroot()
    assert (root.get("tests"), root.get("failures")) == ("6", "4")
    assert [suite.get("name") for suite in root] == ["rules", "perceptron"]
    assert [case.get("message") for case in root.iter("failure")] == lines


def test_names_that_xml_cannot_hold_are_replaced(run: Cli, tmp_path: Path) -> None:
    gold = written(tmp_path, "gold", (0, 3, "A<&\\u0001"))
    status, out, err = run(
        gold, gold, "--min", "strict.f1@A<&\x01=1", "--allow-identical", "--junit", "checks.xml", "--quiet"
    )
    assert (status, out) == (0, "") and err.startswith("gold: identical to gold in content")
    (case,) = ElementTree.parse("checks.xml").getroot().iter("testcase")
    assert case.get("name") == "strict.f1@A<&\ufffd >= 1"


def test_an_undefined_ratio_is_said(run: Cli, tmp_path: Path) -> None:
    gold, empty = written(tmp_path, "gold", (0, 3, "PER")), written(tmp_path, "empty")
    status, out, _ = run(gold, empty, "--min", "strict.precision=0", "--min", "strict.recall=0.5", "--quiet")
    assert status == 1
    assert out.splitlines() == [
        "empty: strict.precision is undefined (0/0), at least 0 is asked",
        "empty: strict.recall is 0.0000, at least 0.5 is asked",
    ]


def test_a_drop_is_measured_from_the_system_of_the_same_name(run: Cli, last: str) -> None:
    same = (GOLD, RULES, PERCEPTRON, "--against", last, "--quiet")
    assert run(*same, "--max-drop", "0") == (0, "", "")
    swapped = (GOLD, f"rules={PERCEPTRON}", f"perceptron={RULES}", "--against", last, "--quiet")
    then = {one["name"]: one["criteria"]["strict"]["recall"] for one in json.loads(Path(last).read_text())["systems"]}
    worse = min(then, key=lambda name: then[name])
    better = next(name for name in then if name != worse)
    drop = then[better] - then[worse]
    assert drop > 0.001
    assert run(*swapped, "--max-drop", f"strict.recall={drop!r}") == (0, "", "")
    status, out, _ = run(*swapped, "--max-drop", f"strict.recall={drop - 0.0001!r}")
    assert status == 1
    assert out.startswith(f"{better}: strict.recall fell by {drop:.4f} from {then[better]:.4f} to {then[worse]:.4f}, ")
    status, out, _ = run(*swapped, "--max-drop", "0")
    names = {line.partition(" fell")[0].partition(": ")[2] for line in out.splitlines()}
    assert status == 1 and names <= {"strict.f1", "exact.f1", "partial.f1", "type.f1"} and names


def test_a_lone_system_may_have_another_name_and_a_vanished_type_falls(command: Cli, run: Cli, tmp_path: Path) -> None:
    gold = written(tmp_path, "gold", (0, 3, "PER"))
    first, later = written(tmp_path, "first", (0, 3, "PER"), (8, 11, "ORG")), written(tmp_path, "later")
    assert command("score", gold, first, "--json", "last.json")[0] == 0
    status, out, err = run(gold, later, "--against", "last.json", "--max-drop", "strict.precision@ORG=0.5", "--quiet")
    assert (status, err) == (1, "") and out == "later: strict.precision@ORG is undefined (0/0), it was 0.0000\n"
    other = written(tmp_path, "other-gold", (0, 3, "PER"), (8, 11, "PER"))
    status, out, err = run(other, first, "--against", "last.json", "--max-drop", "1", "--quiet")
    assert (status, out) == (0, "") and err.endswith(
        "\nlast.json: scores of other gold annotation; a drop may be gold's\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), ["nereval check: name a bound: "]),
        (("--against", "last.json"), ["nereval check: --against and --max-drop go together"]),
        (("--max-drop", "0.1"), ["nereval check: --against and --max-drop go together"]),
        (
            ("--min", "strict.f1=x", "--min", "f1=1"),
            ["--min: 'strict.f1=x' is not a bound", "--min: 'f1=1' is not a bound"],
        ),
        (("--min", "0.8"), ["--min: '0.8' is not a bound"]),
        (("--min", "strict.f1=nan"), ["--min: 'strict.f1=nan' is not a bound"]),
        (("--min", "strict.f1@=0.5"), ["--min: 'strict.f1@=0.5' is not a bound"]),
        (("--min", "strict.f1=80"), ["--min: 'strict.f1=80' asks for 80; give a number from 0 to 1"]),
        (("--min", "strict.rec=1"), ["--min: 'strict.rec=1': no measure 'rec'; choose among precision, recall, f1"]),
        (("--min", "strikt.f1=1"), ["--criteria: no criterion 'strikt'; choose among strict, "]),
        (
            ("--min", "left.f1=1", "--criteria", "strict"),
            ["--min: the criterion 'left' is not scored; name it in --criteria, or choose among strict"],
        ),
        (
            ("--min", "strict.f1@PER=1", "--min", "type.f1@LOC=1"),
            ["--min: strict.f1@PER: no span has the type 'PER'", "--min: type.f1@LOC: no span has the type 'LOC'"],
        ),
        (("--against", "last.json", "--max-drop", "strict.f1@PER=0"), ["--max-drop: strict.f1@PER: no span has "]),
        (("--against", "last.json", "--max-drop", "left.f1=0"), ["last.json: no scores of 'rules' under 'left'"]),
        (
            ("--against", "last.json", "--max-drop", "0", "--leave-out", "DNA"),
            ["last.json: strict, exact, partial, type of 'r"],
        ),
        (("--against", "list.json", "--max-drop", "0"), ["list.json: no scores of systems under criteria; give the "]),
        (("--against", "cut.json", "--max-drop", "0"), ["cut.json:2: not JSON: "]),
        (("--against", "none.json", "--max-drop", "0"), ["none.json: "]),
        (("--against", "last.json", "--max-drop", "0", "--junit", "last.json"), ["nereval check: --junit 'last.json'"]),
    ],
)
def test_bad_usage_and_bad_files_are_refused(
    run: Cli, last: str, tmp_path: Path, arguments: tuple[str, ...], said: list[str]
) -> None:
    (tmp_path / "list.json").write_text('{"gold": {"sha256": ""}, "systems": [{"criteria": []}]}')
    (tmp_path / "cut.json").write_text('{"gold":\n')
    status, out, err = run(GOLD, RULES, *arguments, "--quiet")
    assert (status, out) == (2, "")
    lines = err.splitlines()
    assert len(lines) == len(said) and all(map(str.startswith, lines, said)), err


def test_a_system_that_the_earlier_run_lacks_is_named(run: Cli, last: str) -> None:
    status, out, err = run(GOLD, f"new={RULES}", "--against", last, "--max-drop", "0", "--quiet")
    assert (status, out) == (2, "")
    assert err == f"{last}: no scores of 'new'; call it as it was called, NAME=PATH: rules, perceptron\n"
