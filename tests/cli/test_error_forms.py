"""`errors --forms`: the most frequent forms of each class are those of the records, with an example in its text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import nereval_core as nereval
from nereval_core.analysis.errors import FORM_COLUMNS
from nereval_core.problems import FormatError
from nereval_core.writers import escape_formula
from tests.support import ROOT
from tests.support.commands import Cli

DEMO = ROOT / "demo_data"
Key = tuple[Any, ...]


def counts_of_records(gold: str, pred: str) -> tuple[Counter[Key], dict[Key, tuple[str, str]]]:
    """Return how many error records each class, form and types have, and the first record of each, read one by one."""
    counts: Counter[Key] = Counter()
    firsts: dict[Key, tuple[str, str]] = {}
    for row in nereval.errors_of(gold, pred).records().astype(object).to_dict("records"):
        values = {name: None if value is None or value != value else value for name, value in row.items()}
        gold_form, pred_form = (
            None if values[name] is None else " ".join(values[name].split()) for name in ("gold_text", "pred_text")
        )
        other = pred_form if None not in (gold_form, pred_form) and gold_form != pred_form else None
        key = (values["class"], gold_form or pred_form, other, values["gold_type"], values["pred_type"])
        counts[key] += 1
        firsts.setdefault(key, (values["document"], values["record"]))
    return counts, firsts


@pytest.mark.parametrize("corpus", ["biology", "newspapers", "pharmacology"])
@pytest.mark.parametrize("limit", [1, 4, 10_000])
def test_forms_are_those_of_the_records(command: Cli, corpus: str, limit: int) -> None:
    gold, rules, perceptron = (str(DEMO / corpus / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))
    forms = ("json", "csv", "markdown", "latex", "html")
    targets = [item for form in forms for item in (f"--{form}", f"out.{form}")]
    options = (gold, rules, perceptron, "--forms", str(limit), "-q")
    assert command("errors", *options, *targets)[0] == 0
    _, screen, _ = command("errors", *options)
    made = {form: Path(f"out.{form}").read_text(encoding="utf-8") for form in forms}
    rows = list(csv.DictReader(io.StringIO(made["csv"], newline="")))
    texts = {row["id"]: row["text"] for row in map(json.loads, Path(gold).read_text(encoding="utf-8").splitlines())}
    for system, path in zip(json.loads(made["json"])["systems"], (rules, perceptron), strict=True):
        counts, firsts = counts_of_records(gold, path)
        assert [list(form) for form in system["forms"]] == [list(FORM_COLUMNS)] * len(system["forms"])
        keys = [tuple(form.values())[:5] for form in system["forms"]]
        assert len(set(keys)) == len(keys)
        for form, key in zip(system["forms"], keys, strict=True):
            assert form["records"] == counts[key]
            assert (form["document"], form["record"]) == firsts[key]
            # The example stands in its document, and the brackets hold the form.
            assert " ".join(re.findall(r"\[(.*?)\]", form["example"])) == form["form"]
            pieces = re.sub(r"[\[\]]", "", form["example"]).split("…")
            assert all(piece.strip() in " ".join(texts[form["document"]].split()) for piece in pieces)
        # The classes with most records first; of each the most frequent, none more frequent is left out.
        sizes = Counter[str]()
        for key, number in counts.items():
            sizes[key[0]] += number
        classes = list(dict.fromkeys(key[0] for key in keys))
        assert set(classes) == set(sizes) and [sizes[name] for name in classes] == sorted(sizes.values(), reverse=True)
        for name in classes:
            printed = [counts[key] for key in keys if key[0] == name]
            assert printed == sorted((counts[key] for key in counts if key[0] == name), reverse=True)[:limit]
        # The other forms of output have the same rows.
        name = system["name"]
        own = [row for row in rows if (row["system"], row["part"]) == (name, "form")]
        columns = ("class", "name", "predicted_form", "gold_type", "pred_type", "records", "document", "record")
        assert [[row[column] or None for column in columns] for row in own] == [
            [None if value is None else escape_formula(str(value)) for value in list(form.values())[:8]]
            for form in system["forms"]
        ]
        title = f"{name}: most frequent forms of each class"
        shown = [[*list(form.values())[:7], form["example"]] for form in system["forms"]]
        cells = [["–" if value is None else str(value) for value in row] for row in shown]
        block = screen.partition(f"{title}\n")[2].partition("\n\n")[0].splitlines()
        assert [re.split(r" {2,}", line) for line in block[1 : len(cells) + 1]] == cells
        table = made["markdown"].partition(f"## {title}\n")[2].partition("\n## ")[0]
        lines = re.findall(r"^\| (.*) \|$", table, re.MULTILINE)[2:]
        unescaped = [re.sub(r"\\(.)", r"\1", line).replace("&amp;", "&").replace("&lt;", "<") for line in lines]
        assert [line.split(" | ") for line in unescaped] == cells
        for form in ("latex", "html"):
            assert made[form].partition(title)[2].count("boundary only") >= sum(
                row[0] == "boundary only" for row in cells
            )


def write(name: str, text: str, *spans: dict[str, Any]) -> str:
    Path(name).write_text(json.dumps({"id": "d", "text": text, "spans": list(spans)}) + "\n", encoding="utf-8")
    return name


def test_white_space_fragments_and_long_texts(command: Cli) -> None:
    text = f"{'x ' * 100}Ann\n Lee and Ann  Lee or Bo {'y ' * 100}"
    low = text.index("Ann")
    spans = [
        {"start": low, "end": low + 8, "label": "P"},
        {"start": text.index("Ann  "), "end": text.index(" or"), "label": "P"},
    ]
    ends = [[low, low + 3], [text.index("Bo"), text.index("Bo") + 2]]
    spans.append({"start": low, "end": ends[1][1], "fragments": ends, "label": "Q"})
    status, out, err = command(
        "errors", write("g.jsonl", text, *spans), write("p.jsonl", text), "--forms", "--json", "-", "-q"
    )
    assert (status, err) == (0, "")
    by_form = {form["form"]: form for form in json.loads(out)["systems"][0]["forms"]}
    assert by_form["Ann Lee"]["records"] == 2
    assert "x x [Ann Lee] and Ann Lee or Bo y" in by_form["Ann Lee"]["example"]
    assert "[Ann] Lee and Ann Lee or [Bo]" in by_form["Ann Bo"]["example"]
    assert all(len(form["example"]) < 100 for form in by_form.values())


def test_a_mention_that_stands_nowhere_has_its_words_and_no_example(command: Cli) -> None:
    gold = write("g.jsonl", "Ann saw Bob.", {"start": 0, "end": 3, "label": "P"})
    row = {
        "id": "d",
        "text": "Ann saw Bob.",
        "entities": [{"text": "Ann", "label": "P"}, {"text": "Zed", "label": "P"}],
    }
    Path("m.jsonl").write_text(json.dumps(row) + "\n")
    _, out, _ = command("errors", gold, "m.jsonl", "--pred-format", "mentions", "--forms", "--json", "-", "-q")
    (form,) = json.loads(out)["systems"][0]["forms"]
    assert (form["class"], form["form"], form["records"], form["example"]) == ("spurious", "Zed", 1, None)


def test_no_errors_have_no_forms(command: Cli) -> None:
    place = write("g.jsonl", "Ann", {"start": 0, "end": 3, "label": "P"})
    status, out, _ = command("errors", place, place, "--forms", "-q")
    assert status == 0 and "most frequent forms of each class" in out
    assert nereval.errors_of(place, place).forms().to_dict("records") == []


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5"])
def test_a_number_that_is_not_one_is_refused(command: Cli, number: str) -> None:
    gold, rules = (str(DEMO / "biology" / f"{name}.jsonl") for name in ("gold", "rules"))
    status, out, err = command("errors", gold, rules, f"--forms={number}")
    assert (status, out) == (2, "") and f"--forms: '{number}' is not a number from 1 on" in err


def test_a_file_after_the_option_is_refused_with_what_works(command: Cli) -> None:
    gold, rules = (str(DEMO / "biology" / f"{name}.jsonl") for name in ("gold", "rules"))
    status, _, err = command("errors", "--forms", gold, rules)
    assert status == 2 and "before files write --forms=10" in err
    assert command("errors", "--forms=10", gold, rules, "-q")[0] == 0


def test_spans_without_texts_have_no_forms() -> None:
    spans = [[{"start": 0, "end": 3, "label": "P"}]]
    report = nereval.errors_of(spans, [[]])
    with pytest.raises(FormatError, match="spans without texts have no forms"):
        report.forms()


def test_the_help_leads_to_the_forms(command: Cli) -> None:
    _, out, _ = command("--help")
    assert "confusions" in out and "spurious forms" in out
    _, out, _ = command("errors", "--help")
    assert "--forms [N]" in out and "--by confusion" in out


@pytest.mark.parametrize("text", ["=1", " =1", "\u00a0@a", "＝1", "a=1"])
def test_what_a_spreadsheet_takes_for_a_formula_is_escaped(text: str) -> None:
    assert escape_formula(text) == (text if text == "a=1" else f"'{text}")
