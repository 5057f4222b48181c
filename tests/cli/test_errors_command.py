"""The command `errors` and the verb `errors_of`: tables, files, and mended predictions that score as was said."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import nereval_core
from nereval_core.analysis.errors import ERROR_COLUMNS, costliest_class_sentence, negative_gains_note, parse_classes
from nereval_core.analysis.errors.boundary_patterns import pattern_table
from nereval_core.analysis.errors.error_classes import CLASS_COLUMNS, CLASSES, class_table
from nereval_core.analysis.sentences import sentence_text
from nereval_core.conventions.faireval.matching import FILLERS
from nereval_core.ledger import ledger
from nereval_core.problems import FormatError
from nereval_core.report.figures.scores import gain_bars
from nereval_core.scoring.examples import Example, decide
from tests.support import ROOT
from tests.support.commands import Cli
from tests.support.faireval_corpora import read_sentences, write_layers
from tests.support.shared_corpora import SHARED, needs

DEMO = ROOT / "demo_data"
BIOLOGY = DEMO / "biology"
GOLD, RULES, PERCEPTRON = (str(BIOLOGY / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))


def read(command: Cli, *arguments: str) -> dict[str, Any]:
    status, out, err = command(*arguments, "--json", "-", "--quiet")
    assert (status, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def check_mended(command: Cli, gold: str, pred: str, *options: str, most: int = len(CLASSES)) -> None:
    """Hold the F1 that mending a class reaches, of `most` classes, against the mended file's by the command line."""
    (system,) = read(command, "errors", gold, pred, *options)["systems"]
    ((criterion, rows),) = system["criteria"].items()
    present = [row for row in rows if row["records"]]
    assert len(present) > 4 and rows[-1]["cumulative_f1"] == 1
    checks = [(row["class"], row["f1"], (row["precision"], row["recall"])) for row in present]
    above = ",".join(row["class"] for row in present[:3])
    for classes, f1, ratios in (*checks[:most], (above, present[2]["cumulative_f1"], None)):
        status, *_ = command("errors", gold, pred, *options, "--mend", classes, "--out", "mended.jsonl", "--quiet")
        assert status == 0
        (scored,) = read(command, "score", gold, "mended.jsonl", *options)["systems"]
        found = scored["criteria"][criterion]
        assert found["f1"] == f1 and ratios in (None, (found["precision"], found["recall"]))


@pytest.mark.parametrize(
    ("name", "system", "options"),
    [
        ("pharmacology", "rules", ["--criteria", "type", "--merge", "NORMALIZABLES,NO_NORMALIZABLES=drug"]),
        ("newspapers", "perceptron", ["--criteria", "partial", "--leave-out", "time"]),
    ],
)
def test_mended_files_score_as_was_said(command: Cli, name: str, system: str, options: list[str]) -> None:
    check_mended(command, str(DEMO / name / "gold.jsonl"), str(DEMO / name / f"{system}.jsonl"), *options)


@needs("hipe2020")
def test_a_run_of_hipe_mended_scores_as_was_said(command: Cli) -> None:
    gold = SHARED / "hipe2020" / "gold" / "HIPE-data-v1.3-test-en.tsv"
    pred = SHARED / "hipe2020" / "submissions" / "team10_bundle1_en_1.tsv"
    reading = ("--repair", "conlleval", "--token-text", "gold")
    check_mended(command, str(gold), str(pred), *reading, "--criteria", "strict", most=3)


def test_the_tables_are_printed(command: Cli) -> None:
    status, out, err = command("errors", GOLD, RULES, PERCEPTRON, "--by", "type")
    assert status == 0 and "20 documents" in err
    assert out.index("rules: error classes, F1 under strict") < out.index("perceptron: error classes, F1 under strict")
    rows = dict(line.split(maxsplit=1) for line in out.splitlines() if line.startswith(("missed", "as it is")))
    assert rows["missed"].split()[0].isdecimal()
    assert out.count("alone would raise F1 under strict from") == 2
    assert "\n… Misses spans before “mRNA”" in out
    assert out.count("criterion strict | types merged: none") == 2
    for title in (
        "patterns of errors under strict",
        "ends of wrong boundaries",
        "omit or add",
        "error classes by type",
    ):
        assert out.count(title) == 2


def test_every_form_is_written_whole(command: Cli) -> None:
    forms = ("json", "csv", "excel", "markdown", "latex", "html")
    targets = [item for form in forms for item in (f"--{form}", f"errors.{form}")]
    more = ["--figure", "figure.html", "--records", "records.csv", "--criteria", "strict,fragment"]
    status, out, _ = command("errors", GOLD, RULES, PERCEPTRON, *targets, *more)
    assert (status, out) == (0, "")
    made = json.loads(Path("errors.json").read_text(encoding="utf-8"))
    rows = list(csv.DictReader(io.StringIO(Path("errors.csv").read_text(encoding="utf-8"))))
    records = pd.read_csv("records.csv")
    assert list(records.columns) == ["system", *ERROR_COLUMNS, "signature"]
    for system in made["systems"]:
        mine = [row for row in rows if row["system"] == system["name"]]
        own = records[records["system"] == system["name"]]
        assert set(system["criteria"]) == {"strict", "fragment"} == set(system["signatures"])
        for criterion, table in system["criteria"].items():
            assert [set(row) for row in table] == [set(CLASS_COLUMNS)] * len(CLASSES)
            written = [row for row in mine if row["part"] == "class" and row["criterion"] == criterion]
            assert [float(row["f1"]) for row in written] == [row["f1"] for row in table]
            assert {row["class"]: row["records"] for row in table if row["records"]} == own[
                "class"
            ].value_counts().to_dict()
        for part in ("types", "ends", "patterns"):
            assert sum(row["part"] == (part if part == "ends" else part[:-1]) for row in mine) == len(system[part])
        assert set(system["groups"]) == {"strict", "fragment"} and system["groups"]["fragment"] == []
        groups = [(row["name"], int(row["records"])) for row in mine if row["part"] == "group"]
        assert groups == [(group["group"], group["records"]) for group in system["groups"]["strict"]] != []
        for row in system["patterns"]:
            assert (own[f"pattern_{row['end']}"] == row["pattern"]).sum() == row["records"]
    page = Path("figure.html").read_text(encoding="utf-8")
    assert page.count("<script") >= 1 and "http-equiv" not in page and "error classes" in page


@needs("faireval")
def test_errors_that_are_counted_once_are_those_of_faireval(command: Cli, tmp_path: Path) -> None:
    published = {
        "ner": (5159, 252, 71, 106, 3, 155, 462, 253),
        "topofield": (60168, 301, 780, 1059, 15, 680, 1142, 1898),
    }
    for name, expected in published.items():
        folder = SHARED / "faireval/data"
        sentences = read_sentences(*(folder / side / f"{name}_spans.csv" for side in ("target", "system")))
        own_spans = [[[span for span in side if span[0] not in FILLERS] for side in sides] for sides in sentences]
        paths = [str(path) for path in write_layers(tmp_path, [(gold, pred) for gold, pred in own_spans])]
        (system,) = read(command, "errors", *paths, "--fair")["systems"]
        assert tuple(row["records"] for row in system["fair"]["classes"]) == expected
        own = {row["class"]: row["records"] for row in system["criteria"]["strict"]}
        assert (own["missed"], own["spurious"]) == {"ner": (462, 253), "topofield": (824, 1677)}[name]


def test_errors_that_are_counted_once_are_written_on_request(command: Cli) -> None:
    (plain,) = read(command, "errors", GOLD, RULES)["systems"]
    (system,) = read(command, "errors", GOLD, RULES, "--fair")["systems"]
    fair = system.pop("fair")
    assert system == plain
    _, published, _ = command("score", GOLD, RULES, "--convention", "faireval", "--json", "-", "-q")
    (scored,) = json.loads(published)["systems"]
    for row in fair["ratios"]:
        own = scored["convention"]["scores"][row["evaluation"]]["overall"]
        assert [row["precision"], row["recall"], row["f1"]] == [own[name] for name in ("Prec", "Rec", "F1")]
    _, out, _ = command("errors", GOLD, RULES, "--fair", "--csv", "-", "-q")
    rows = [row for row in csv.DictReader(io.StringIO(out)) if row["part"].startswith("fair ")]
    assert [row["records"] for row in rows[:8]] == [str(row["records"]) for row in fair["classes"]]
    assert [row["name"] for row in rows[8:]] == ["traditional", "fair", "weighted"]
    _, out, _ = command("errors", GOLD, RULES, "--fair", "-q")
    assert "rules: errors as FairEval counts them, each once" in out and "boundary only, smaller than gold" in out


BAD = [
    (("--mend", "boundary"), "--mend CLASS and --out FILE go together"),
    (("--out", "mended.jsonl"), "--mend CLASS and --out FILE go together"),
    (("--mend", "typo", "--out", "mended.jsonl"), "there is no error class 'typo'; choose among duplicate, split"),
    (("--records", "records.txt"), "end the name in one of"),
    (("--by", "document"), "the only value is type"),
    (("--out", GOLD, "--mend", "all"), "would overwrite an input"),
    (("--criteria", "strikt"), "no criterion 'strikt'"),
    (("--figure", "figure.docx"), "end the name in .html"),
]


@pytest.mark.parametrize(("options", "said"), BAD)
def test_what_is_wrong_is_told_and_nothing_written(command: Cli, options: tuple[str, ...], said: str) -> None:
    status, out, err = command("errors", GOLD, RULES, *options, "--json", "errors.json")
    assert (status, out) == (2, "") and said in err
    assert not list(Path().iterdir())


def test_one_prediction_is_mended_at_a_time(command: Cli) -> None:
    status, _, err = command("errors", GOLD, RULES, PERCEPTRON, "--mend", "all", "--out", "mended.jsonl")
    assert status == 2 and "one prediction" in err


def test_bad_input_is_told_with_its_line(command: Cli) -> None:
    Path("bad.jsonl").write_text('{"id": "d", "text": "a", "spans": [{"start": 0, "end": 9, "label": "X"}]}\n')
    status, _, err = command("errors", GOLD, "bad.jsonl", "--json", "errors.json")
    assert status == 2 and err.splitlines()[-1].startswith("bad.jsonl:1: ")
    assert not Path("errors.json").exists()


def test_mended_predictions_are_packed_as_they_are_named(command: Cli) -> None:
    assert command("errors", GOLD, RULES, "--mend", "missed, spurious", "--out", "mended.jsonl.gz", "-q")[0] == 0
    assert Path("mended.jsonl.gz").read_bytes()[:2] == b"\x1f\x8b"
    status, out, _ = command("errors", GOLD, RULES, "--mend", "all", "--out", "-", "-q")
    assert status == 0 and len(out.splitlines()) == 20 and json.loads(out.splitlines()[0])["spans"]


NAMES = [
    (["boundary"], ("boundary only",)),
    (["type-and-boundary", "type only"], ("type only", "type and boundary")),
    (["spurious", "duplicate", "spurious"], ("duplicate", "spurious")),
    (["all"], CLASSES),
]


@pytest.mark.parametrize(("given", "expected"), NAMES)
def test_classes_by_name(given: list[str], expected: tuple[str, ...]) -> None:
    assert parse_classes(given) == expected


@pytest.mark.parametrize("given", [["typ"], [], ["Missed"]])
def test_a_class_that_is_none_is_refused(given: list[str]) -> None:
    with pytest.raises(FormatError, match="choose among duplicate, split"):
        parse_classes(given)


def test_the_verb_of_the_library() -> None:
    found = nereval_core.errors_of(GOLD, RULES, criteria=["type", "strict"])
    assert list(found.classes) == ["type", "strict"] and len(found.words) == 2
    records = found.records()
    assert dict(records.dtypes) == dict(ERROR_COLUMNS)
    assert len(records) == found.classes["strict"]["records"].sum() and not (records["decision"] == "COR").any()
    gold = nereval_core.read(GOLD)
    for one in (found.mended("all"), found.mended(CLASSES)):
        assert nereval_core.score(gold, one).counts("strict").f1 == 1
    alone = nereval_core.errors_of(GOLD, RULES, criteria="type")
    assert list(alone.classes) == ["type"]


SAID = [
    ("[a|X] b", "[a|X] b", "There are no errors: every span is correct."),
    (
        "[a|X] b",
        "[a b|X]",
        "Of 1 error, 1 (100%) is boundary only; mending it alone would raise F1 under strict from 0.0000 to 1.0000.",
    ),
    (
        "[a|X] [b|X] [c|X]. The [d|X]. The [e|X].",
        "[a|X] [b|Y] c. [The d|X]. [The e|X].",
        "Of 4 errors, 2 (50%) are boundary only, most often because the prediction takes in determiner at its left end "
        "(2); mending these alone would raise F1 under strict from 0.2222 to 0.6667.",
    ),
    ("a", "[a|X]", "Of 1 error, 1 (100%) is spurious."),
]


@pytest.mark.parametrize(("gold", "prediction", "said"), SAID)
def test_the_sentence_and_its_numbers(gold: str, prediction: str, said: str) -> None:
    scores = decide(Example("", gold, prediction))
    found = costliest_class_sentence(class_table(scores), pattern_table(scores), scores.counts("strict").f1)
    assert sentence_text(found) == said
    records = ledger(scores, "strict", scores.read)
    for part in found:
        assert isinstance(part, str) or records.total(part.query).records == part.number


def test_the_figure_says_what_it_shows() -> None:
    found = nereval_core.errors_of(GOLD, RULES)
    table = found.classes["strict"]
    figure = gain_bars({"a<b": table}, "strict", 184, [171])
    (bars,) = figure.data
    assert list(bars.x) == table["gain"][table["records"] > 0].tolist()
    assert [data[0] for data in bars.customdata] == table["class"][table["records"] > 0].tolist()
    # On a telephone the axis has 195 pixels, of which a character of a label takes six and a half.
    room = 195 * (1 - max(bars.x) / figure.layout.xaxis.range[1])
    assert all(6.5 * len(label) <= room for label in bars.text)
    title = figure.layout.title.text
    assert "a&lt;b" in title and "n = 75 errors, 184 gold spans, 171 predictions" in title
    two = gain_bars({"one": table, "two": table.iloc[::-1]}, "strict", 184, [171, 180])
    assert "2 systems" in two.layout.title.text and "171 to 180 predictions" in two.layout.title.text
    assert list(two.layout.yaxis.categoryarray) == [data[0] for data in bars.customdata]
    empty = gain_bars({"none": table[table["records"] < 0]}, "strict", 0, [0])
    assert not len(empty.data[0].x) and "n = 0 errors" in empty.layout.title.text


def test_gains_below_zero_are_explained(command: Cli) -> None:
    newspapers = [str(DEMO / "newspapers" / f"{name}.jsonl") for name in ("gold", "rules")]
    _, out, _ = command("errors", *newspapers, "--criteria", "strict,lenient", "--quiet")
    strict, lenient = out.split("rules: error classes, F1 under lenient")
    falls = "F1 falls if spurious alone is mended: what is mended was credited already"
    assert falls in lenient.split("rules: ")[0] and falls not in strict
    table = pd.DataFrame({"class": ["missed", "type only", "spurious"], "gain": [0.1, 0.0, -0.01]})
    assert negative_gains_note(table).startswith("F1 falls if spurious alone is mended: ")
    assert negative_gains_note(table[:2]) == ""
