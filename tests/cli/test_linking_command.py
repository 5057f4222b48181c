"""The verbs `link` and `index` on the command line and in the library."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import nereval_core as nereval
from nereval_core.analysis.linking.indexing import SetCounts
from nereval_core.problems import FormatError
from tests.support import ROOT
from tests.support.commands import Cli

TEXT = "Anna met Paul in Paris."
GOLD = [(0, 4, ["Q1"]), (9, 13, ["NIL"]), (17, 22, ["Q3"])]
RUN = [(0, 4, ["Q9|Q1"]), (9, 13, ["Q5"]), (16, 22, ["Q3"])]


def document(rows: list[tuple[int, int, list[str]]], name: str = "d1") -> str:
    spans = [{"start": a, "end": b, "label": "X", **({"links": links} if links else {})} for a, b, links in rows]
    return json.dumps({"id": name, "text": TEXT, "spans": spans}) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (
        ("gold.jsonl", document(GOLD)),
        ("run.jsonl", document(RUN)),
        ("bare.jsonl", document([(0, 4, [])])),
        ("map.tsv", "Q5\tNIL\n"),
        ("gold.tsv", "d1\tA\nd1\tB\nd2\tC\n"),
        ("run.tsv", "d1\tA\nd1\tX\nd3\tC\n"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line: str, command: Cli, status: int = 0) -> tuple[str, str]:
    found, out, err = command(*line.split())
    assert found == status, err
    return out, err


def results(line: str, command: Cli) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(f"{line} --json - -q", command)[0])
    return found


def test_link_as_json(folder: Path, command: Cli) -> None:
    found = results("link gold.jsonl run.jsonl --by document,confusion", command)
    assert {key: found["gold"][key] for key in ("documents", "spans", "mentions")} == {
        "documents": 1,
        "spans": 3,
        "mentions": 3,
    }
    (system,) = found["systems"]
    assert system["name"] == "run"
    assert {rule: list(by_n) for rule, by_n in system["links"].items()} == {
        "strict": ["1", "3", "5"],
        "overlapping": ["1", "3", "5"],
    }
    first, third = system["links"]["strict"]["1"], system["links"]["overlapping"]["3"]
    counts = {"right": 0, "wrong": 1, "nil_for_link": 0, "link_for_nil": 1, "missing": 1, "spurious": 1}
    assert {key: first[key] for key in counts} == counts
    assert (first["gold"], first["predicted"], first["precision"], first["f1"]) == (3, 3, 0, 0)
    assert (third["right"], third["recall"]) == (2, pytest.approx(2 / 3))
    assert first["documents"]["d1"]["wrong"] == 1
    assert third["confusion"] == [
        {"gold_id": "NIL", "pred_id": "Q5", "count": 1},
        {"gold_id": "Q1", "pred_id": "Q1", "count": 1},
        {"gold_id": "Q3", "pred_id": "Q3", "count": 1},
    ]
    assert "linking strict | first 1 of the ranking | mentions end-to-end" in first["signature"]


def test_link_options(folder: Path, command: Cli) -> None:
    relaxed = results("link gold.jsonl run.jsonl --relaxed map.tsv --n 1 --boundaries strict", command)
    rules = relaxed["systems"][0]["links"]
    assert list(rules) == ["strict"]
    assert list(rules["strict"]) == ["1"]
    assert rules["strict"]["1"]["right"] == 1
    assert "relaxed by 1 id sha256:" in rules["strict"]["1"]["signature"]
    given = results("link gold.jsonl run.jsonl --mentions gold --n 2", command)["systems"][0]["links"]["given"]["2"]
    assert (given["right"], given["judged"], given["accuracy"]) == (1, 2, 0.5)
    assert given["not_judged"] == {"gold": 1, "pred": 1}
    left = results("link gold.jsonl run.jsonl --leave-out X --n 1", command)["systems"][0]["links"]["strict"]["1"]
    assert (left["gold"], left["precision"], left["recall"], left["f1"]) == (0, None, None, None)
    assert "left out: X" in left["signature"]


def test_link_on_screen_and_as_files(folder: Path, command: Cli) -> None:
    out, err = run("link gold.jsonl run.jsonl again=run.jsonl bare.jsonl --by confusion --n 1", command)
    assert out.splitlines()[:3] == [
        "run",
        "linking                  P       R      F1  right  wrong link  NIL for link  link for NIL  missing  spurious"
        "  gold  predicted",
        "strict, n = 1       0.0000  0.0000  0.0000      0           1             0             1        1         1"
        "     3          3",
    ]
    assert "bare: no span has a link, so every gold mention counts as missing" in err
    assert "–" in out
    run(
        "link gold.jsonl run.jsonl --csv a.csv --records r.parquet --markdown a.md --html a.html --latex a.tex", command
    )
    with (folder / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["n"] for row in rows] == ["1", "3", "5"] * 2
    records = pd.read_parquet(folder / "r.parquet")
    assert len(records) == 3 * 4 + 3 * 3
    assert list(records.columns[:4]) == ["system", "boundaries", "n", "document"]
    given = run("link gold.jsonl run.jsonl --mentions gold -q --n 1", command)[0].splitlines()
    assert given[1].split()[:2] + given[1].split()[-3:] == ["linking", "accuracy", "judged", "not", "judged"]
    assert given[2].split()[-2:] == ["2", "2"] and " 0.0000 " in given[2]


BAD = [
    ("link gold.jsonl run.jsonl --n 0", "--n: '0' is not possible; write a whole number from 1"),
    ("link gold.jsonl run.jsonl --n 1,x", "--n: 'x' is not possible; write a whole number from 1"),
    (
        "link gold.jsonl run.jsonl --boundaries exact",
        "--boundaries: there is no 'exact'; choose among",
    ),
    ("link gold.jsonl run.jsonl --mentions gold --boundaries overlapping", "judges equal boundaries only"),
    ("link gold.jsonl run.jsonl --by type", "--by 'type', choose among document, confusion"),
    ("link gold.jsonl run.jsonl --records r.txt", "end the name in one of"),
    ("link gold.jsonl run.jsonl --relaxed map.tsv --json map.tsv", "would overwrite an input"),
    ("link gold.jsonl", "name a prediction after gold"),
    ("link bare.jsonl run.jsonl", "bare.jsonl: no span has a link; give gold with links"),
    ("link gold.jsonl run.jsonl --relaxed gold.jsonl", "gold.jsonl:1: 1 cell; write id<tab>id"),
    ("link gold.jsonl a=run.jsonl a=gold.jsonl", "in another part of the same layer"),
    ("index gold.tsv", "name a prediction after gold"),
    ("index gold.tsv run.tsv --by type", "--by 'type', choose among document, id"),
    ("index gold.tsv run.tsv --json gold.tsv", "would overwrite an input"),
    ("index gold.tsv run.tsv --gold-format nonsense", "--gold-format 'nonsense', choose among auto, tsv"),
    ("index gold.tsv run.tsv --format nonsense", "no reader for the format 'nonsense'"),
    ("index gold.tsv map.tsv=x none.tsv", "none.tsv: no such file"),
    ("index gold.tsv a=run.tsv a=gold.tsv", "stands in run.tsv already; give each document once"),
]


@pytest.mark.parametrize(("line", "said"), BAD, ids=[line for line, _ in BAD])
def test_bad_usage_and_input(folder: Path, line: str, said: str, command: Cli) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    out, err = run(line, command, status=2)
    assert said in err
    assert not out
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_all_problems_of_all_files_are_told(folder: Path, command: Cli) -> None:
    (folder / "gold.tsv").write_text("d1\n", encoding="utf-8")
    (folder / "run.tsv").write_text("d1\t\nd2\tA\tB\tC\n", encoding="utf-8")
    (folder / "map.tsv").write_text("a\tb\tc\n", encoding="utf-8")
    _, err = run("index gold.tsv run.tsv --relaxed map.tsv", command, status=2)
    assert [line.partition(": ")[0] for line in err.splitlines()] == [
        "map.tsv:1",
        "gold.tsv:1",
        "run.tsv:1",
        "run.tsv:2",
    ]


def test_index_as_json(folder: Path, command: Cli) -> None:
    found = results("index gold.tsv run.tsv --by document,id", command)
    assert {key: found["gold"][key] for key in ("documents", "ids")} == {"documents": 2, "ids": 3}
    index = found["systems"][0]["index"]
    counts = {"right": 1, "missing": 2, "spurious": 2, "gold": 3, "predicted": 3}
    assert {key: index[key] for key in counts} == counts
    assert index["f1"] == pytest.approx(1 / 3)
    assert index["documents_only_in_gold"] == ["d2"]
    assert index["documents_without_gold"] == ["d3"]
    assert index["ids_without_gold"] == ["X"]
    assert index["macro_document"]["precision"] == {"value": 0.25, "n": 2, "undefined": 1}
    assert set(index["documents"]) == {"d1", "d2", "d3"}
    assert index["ids"]["C"] == {
        **{"right": 0, "missing": 1, "spurious": 1, "gold": 1, "predicted": 1},
        **{"precision": 0, "recall": 0, "f1": 0},
    }


def test_index_on_screen_and_as_records(folder: Path, command: Cli) -> None:
    out, err = run("index gold.tsv run.tsv --by id --records r.csv", command)
    assert "documents missing from the prediction, their ids counted as missing: 1 (d2)" in out
    assert "documents without gold, their ids counted as spurious: 1 (d3)" in out
    assert "predicted ids that gold has in no document: 1 (X)" in out
    assert "gold.tsv: tsv; 2 documents, 3 ids" in err
    with (folder / "r.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["document"], row["id"], row["decision"]) for row in rows] == [
        ("d1", "A", "right"),
        ("d1", "B", "missing"),
        ("d1", "X", "spurious"),
        ("d2", "C", "missing"),
        ("d3", "C", "spurious"),
    ]
    run("index gold.tsv run.tsv --csv a.csv --markdown a.md --html a.html --latex a.tex -q", command)
    assert (folder / "a.csv").read_text(encoding="utf-8").startswith("system,part,name,right")


def test_index_takes_links_of_annotations(folder: Path, command: Cli) -> None:
    first = results("index gold.jsonl run.jsonl", command)["systems"][0]["index"]
    # Of gold's three links one is NIL.
    assert (first["right"], first["missing"], first["spurious"]) == (1, 1, 2)
    every = results("index gold.jsonl run.jsonl --links any", command)["systems"][0]["index"]
    assert (every["right"], every["missing"], every["spurious"]) == (2, 0, 2)
    (folder / "codes.tsv").write_text("d1\tQ1\n", encoding="utf-8")
    mixed = results("index gold.jsonl codes.tsv", command)["systems"][0]["index"]
    assert (mixed["right"], mixed["missing"]) == (1, 1)


def test_library_verbs(folder: Path) -> None:
    assert nereval.link("gold.jsonl", "run.jsonl", n=3, boundaries="overlapping").counts.right == 2
    assert nereval.link(nereval.read("gold.jsonl"), "run.jsonl", relaxed="map.tsv").counts.right == 1
    assert nereval.link("gold.jsonl", "run.jsonl", relaxed={"Q9": "Q1"}).counts.right == 1
    assert nereval.index("gold.tsv", "run.tsv").counts == SetCounts(1, 2, 2)
    assert nereval.index(nereval.read("gold.jsonl").layer, "run.jsonl").counts == SetCounts(1, 1, 2)
    for wrong in ({"boundaries": "exact"}, {"mentions": "gold", "boundaries": "overlapping"}, {"n": 0}, {"truth": "x"}):
        with pytest.raises(FormatError):
            nereval.link("gold.jsonl", "run.jsonl", **wrong)
    with pytest.raises(FormatError, match="use first or any"):
        nereval.index("gold.jsonl", "run.jsonl", links="all")


def test_averages_of_ids_say_which_ratios_are_undefined(command: Cli) -> None:
    gold, rules = (ROOT / "demo_data/pharmacology" / f"{name}.jsonl" for name in ("gold", "rules"))
    out, _ = run(f"index {gold} {rules} -q", command)
    assert "macro over ids: undefined and left out: 33 of P, 3 of R" in out
