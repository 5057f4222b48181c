"""Tables of `score`: confusions in every form are those of the library, and tables as papers print them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import nereval_core as nereval
from nereval_core.problems import one_line
from nereval_core.records.tables import confusion
from nereval_core.scoring import Scores
from tests.support import ROOT
from tests.support.commands import Cli

BIOLOGY = ROOT / "demo_data" / "biology"
GOLD, RULES, PERCEPTRON = (str(BIOLOGY / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))
Cell = tuple[str, str, int]


def library_cells(scores: Scores, name: str) -> list[Cell]:
    """Return the confusions of the library, the largest counts first."""
    cells = [(str(row.gold_type), str(row.pred_type), int(row.count)) for row in confusion(scores, name).itertuples()]
    return sorted(cells, key=lambda cell: (-cell[2], cell[0], cell[1]))


def of_rows(rows: Iterable[list[str]]) -> list[Cell]:
    return [(gold, pred, int(count)) for gold, pred, count in rows]


@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
def test_confusions_are_those_of_the_library_in_every_form(command: Cli, counting: str) -> None:
    forms = ("json", "csv", "markdown", "latex", "html", "excel")
    targets = [item for form in forms for item in (f"--{form}", f"out.{form}")]
    criteria = ("strict", "partial", "fragment") if counting == "one-to-one" else ("strict", "partial")
    options = ("--criteria", ",".join(criteria), "--counting", counting, "--by", "confusion", "-q")
    assert command("score", GOLD, RULES, PERCEPTRON, *options, *targets)[0] == 0
    _, screen, _ = command("score", GOLD, RULES, PERCEPTRON, *options)
    made = {form: Path(f"out.{form}").read_text(encoding="utf-8") for form in forms[:-1]}
    written = {system["name"]: system["criteria"] for system in json.loads(made["json"])["systems"]}
    rows = list(csv.DictReader(io.StringIO(made["csv"])))
    for system, path in (("rules", RULES), ("perceptron", PERCEPTRON)):
        scores = nereval.score(GOLD, path, criteria=criteria, counting=counting)
        for name in criteria:
            cells = library_cells(scores, name)
            assert [tuple(cell.values()) for cell in written[system][name]["confusion"]] == cells
            own = [row for row in rows if (row["system"], row["criterion"], row["part"]) == (system, name, "confusion")]
            assert of_rows([row["gold_type"], row["pred_type"], row["count"]] for row in own) == cells
            assert nereval.to_dict(scores, confusion=True)["systems"][0]["criteria"][name] == written[system][name]
            confused = [cell for cell in cells if cell[0] != cell[1]]
            same = sum(cell[2] for cell in cells) - sum(cell[2] for cell in confused)
            title = f"{system}: {name} by confusion"
            block = screen.partition(f"{title}\n")[2].partition("\n\n")[0].splitlines()
            assert of_rows(line.split() for line in block[1 : len(confused) + 1]) == confused
            assert block[len(confused) + 1].startswith(f"same type on both sides: {same}; ")
            table = made["markdown"].partition(f"## {title}\n".replace("_", r"\_"))[2].partition("\n## ")[0]
            lines = [line.replace("\\", "").strip("| ").split(" | ") for line in re.findall(r"^\|.*", table, re.M)]
            assert of_rows(lines[2:]) == confused
            table = made["latex"].partition(f"% {title}\n")[2].partition(r"\bottomrule")[0].partition("\\midrule\n")[2]
            latex = [line.replace("\\", "").strip().split(" & ") for line in table.splitlines()]
            assert of_rows(latex) == confused
            html = made["html"].partition(f"<h2>{title}</h2>")[2].partition("</table>")[0]
            cells_of_html = re.findall(r"<td>(.*?)</td>", html)
            assert of_rows(cells_of_html[at : at + 3] for at in range(0, len(cells_of_html), 3)) == confused


def test_a_type_called_missed_is_not_a_missed_span(command: Cli) -> None:
    spans = [{"start": 0, "end": 1, "label": "missed"}, {"start": 2, "end": 3, "label": "X"}]
    Path("gold.jsonl").write_text(json.dumps({"id": "d", "text": "a b", "spans": spans}) + "\n")
    spans = [{"start": 2, "end": 3, "label": "missed"}]
    Path("run.jsonl").write_text(json.dumps({"id": "d", "text": "a b", "spans": spans}) + "\n")
    _, out, _ = command("score", "gold.jsonl", "run.jsonl", "--criteria", "strict", "--by", "confusion", "-q")
    block = out.partition("by confusion\n")[2].splitlines()
    assert [line.split() for line in block[1:3]] == [["X", "missed", "1"], ["missed", "(missed)", "1"]]


def test_confusions_of_shards_and_published_scorers_are_refused(command: Cli) -> None:
    for option in (("--engine", "local"), ("--convention", "conlleval")):
        status, out, err = command("score", GOLD, RULES, *option, "--by", "type,confusion")
        assert (status, out) == (2, "")
        assert f"--by confusion needs the pairs of criteria, leave it out with {option[0]}" in one_line(err)


def test_the_help_leads_to_confusions(command: Cli) -> None:
    _, out, _ = command("score", "--help")
    assert "--by type,document,confusion" in out and "missed and spurious" in " ".join(out.split())
