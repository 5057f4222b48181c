"""The command line: every verb, output and exit status, on small real files."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nereval_core import __version__
from nereval_core.cli import main, output
from nereval_core.problems import FormatError
from nereval_core.readers import Source, select_layer
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA
from tests.support import PYTHON_PATH
from tests.support.commands import Cli

TEXT = "Ann saw Bob in Rome and Oslo."
GOLD = [(0, 3, "PER"), (8, 11, "PER"), (15, 19, "LOC"), (24, 28, "LOC")]
# Ann equal, Bob of another type, Rome too long, Oslo missed, "saw" spurious.
PRED = [(0, 3, "PER"), (4, 7, "PER"), (8, 11, "LOC"), (12, 19, "LOC")]
STRICT = {"COR": 1, "INC": 2, "PAR": 0, "MIS": 1, "SPU": 1, "POS": 4, "ACT": 4}


def document(name: str, text: str, spans: Sequence[tuple[int, int, str]]) -> dict[str, Any]:
    return {"id": name, "text": text, "spans": [{"start": a, "end": b, "label": label} for a, b, label in spans]}


def write(path: str, *documents: dict[str, Any]) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in documents), encoding="utf-8")
    return path


def gold(path: str = "gold.jsonl") -> str:
    return write(path, document("d1", TEXT, GOLD), document("d2", TEXT, GOLD[:1]), document("d3", TEXT, []))


def pred(path: str = "system.jsonl") -> str:
    return write(path, document("d1", TEXT, PRED), document("d2", TEXT, []), document("d3", TEXT, []))


def scored(command: Cli, *arguments: str) -> dict[str, Any]:
    """Score and return the JSON object."""
    status, out, err = command("score", *arguments, "--json", "-")
    assert status == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def first_scored(command: Cli, *arguments: str) -> dict[str, Any]:
    """Score and return the criteria of the first system."""
    criteria: dict[str, Any] = scored(command, *arguments)["systems"][0]["criteria"]
    return criteria


COUNTS = ["COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT"]
RATIOS = ["precision", "recall", "f1"]
OF_ALL = [*RATIOS, "ser"]
AVERAGE = {"value", "n", "undefined"}
SIDES = (("gold", ["COR", "INC", "PAR", "MIS"]), ("pred", ["COR", "INC", "PAR", "SPU"]))


def test_json_has_the_keys_of_the_design(command: Cli) -> None:
    found = scored(command, gold(), pred(), "--criteria", "strict")
    assert list(found) == ["nereval", "schema", "gold", "systems"]
    assert found["nereval"] == __version__
    assert list(found["gold"]) == ["sha256", "documents", "spans"]
    assert (found["gold"]["documents"], found["gold"]["spans"]) == (3, 5)
    (system,) = found["systems"]
    assert list(system) == ["name", "sha256", "spans", "identical", "notices", "criteria"]
    assert (system["identical"], system["notices"]) == (False, [])
    assert (system["name"], system["spans"]) == ("system", 4)
    assert re.fullmatch("[0-9a-f]{64}", system["sha256"]) and re.fullmatch("[0-9a-f]{64}", found["gold"]["sha256"])
    (row,) = system["criteria"].values()
    assert list(row) == ["signature", *COUNTS, *OF_ALL, "types", "macro_type", "macro_document"]
    assert f"pred sha256:{system['sha256'][:16]}" in row["signature"]
    assert list(row["types"]) == ["LOC", "PER"]
    for kind in row["types"].values():
        assert list(kind) == ["gold", "pred", *OF_ALL, "macro_document"]
        for side, keys in SIDES:
            assert list(kind[side]) == keys
        assert list(kind["macro_document"]) == RATIOS
    for macro in (row["macro_type"], row["macro_document"], row["types"]["LOC"]["macro_document"]):
        assert list(macro) == RATIOS
        assert all(set(average) == AVERAGE for average in macro.values())


def test_json_counts_what_was_decided(command: Cli) -> None:
    found = scored(command, gold(), pred())
    rows = found["systems"][0]["criteria"]
    assert list(rows) == ["strict", "exact", "partial", "type"]
    whole = {name: [row[key] for key in COUNTS] for name, row in rows.items()}
    assert whole == {
        "strict": [1, 2, 0, 2, 1, 5, 4],
        "exact": [2, 1, 0, 2, 1, 5, 4],
        "partial": [2, 0, 1, 2, 1, 5, 4],
        "type": [2, 1, 0, 2, 1, 5, 4],
    }
    strict = rows["strict"]
    assert (strict["precision"], strict["recall"]) == (0.25, 0.2)
    assert strict["types"]["PER"]["gold"] == {"COR": 1, "INC": 1, "PAR": 0, "MIS": 1}
    assert strict["types"]["PER"]["pred"] == {"COR": 1, "INC": 0, "PAR": 0, "SPU": 1}
    assert strict["types"]["PER"]["precision"] == 0.5
    # d2 has no prediction: its precision is undefined; d3 has no spans at all and is not a member.
    assert strict["macro_document"]["precision"] == {"value": 0.25, "n": 1, "undefined": 1}
    assert strict["macro_document"]["recall"] == {"value": 0.125, "n": 2, "undefined": 0}


def test_json_by_document_and_undefined_ratios(command: Cli) -> None:
    row = first_scored(command, gold(), pred(), "--by", "document")["strict"]
    assert list(row)[-1] == "documents"
    assert list(row["documents"]) == ["d1", "d2"]
    assert list(row["documents"]["d1"]) == [*COUNTS, *OF_ALL]
    assert {key: row["documents"]["d1"][key] for key in COUNTS} == STRICT
    assert row["documents"]["d2"]["precision"] is None
    assert row["documents"]["d2"]["f1"] == 0


def test_json_counting_each_side(command: Cli) -> None:
    row = first_scored(command, gold(), pred(), "--counting", "each-side", "--by", "document")["strict"]
    for part in (row, row["documents"]["d1"]):
        assert (part["COR"], part["INC"], part["PAR"]) == (None, None, None)
        for side, keys in SIDES:
            assert list(part[side]) == keys
    assert "counting each-side" in row["signature"]
    assert row["gold"] == {"COR": 1, "INC": 2, "PAR": 0, "MIS": 2}


def test_an_empty_prediction_has_undefined_precision(command: Cli) -> None:
    empty = write("empty.jsonl", *(document(name, TEXT, []) for name in ("d1", "d2", "d3")))
    row = first_scored(command, gold(), empty)["strict"]
    assert (row["precision"], row["recall"], row["f1"]) == (None, 0, 0)
    status, out, _ = command("score", gold(), empty)
    assert status == 0
    assert "–" in out


NAMES = (
    (["a/run.jsonl"], ["run"]),
    (["a/run.jsonl", "b/run.jsonl"], ["a/run", "b/run"]),
    (["a/run.jsonl", "b/other.jsonl"], ["run", "other"]),
    (["a/x/run.jsonl", "b/x/run.jsonl"], ["a/x/run.jsonl", "b/x/run.jsonl"]),
    (["a/run.jsonl", "a/run.json"], ["a/run.jsonl", "a/run.json"]),
    (["ours=a/run.jsonl", "b/run.jsonl"], ["ours", "run"]),
    (["run=a/run.jsonl", "b/run.jsonl"], ["run", "b/run"]),
    (["a=b.jsonl"], ["a=b"]),
    (["x=a=b.jsonl"], ["x"]),
)


@pytest.mark.parametrize(("given", "names"), NAMES, ids=[" ".join(given) for given, _ in NAMES])
def test_systems_are_called_by_the_shortest_name_that_tells_them_apart(
    command: Cli, given: list[str], names: list[str]
) -> None:
    for path in ("a/run.jsonl", "b/run.jsonl", "b/other.jsonl", "a/x/run.jsonl", "b/x/run.jsonl", "a/run.json"):
        pred(path)
    pred("a=b.jsonl")
    assert [system["name"] for system in scored(command, gold(), *given)["systems"]] == names


def labelled(start: int, end: int, quote: str) -> dict[str, Any]:
    value = {"start": start, "end": end, "text": quote, "labels": ["PER"]}
    return {"type": "labels", "from_name": "label", "to_name": "text", "value": value}


def export(path: str = "export.json") -> str:
    """Write tasks of Label Studio that two annotators and a model worked on."""
    ann, bob = labelled(0, 3, "Ann"), labelled(8, 11, "Bob")
    annotations = [{"completed_by": "ann", "result": [ann, bob]}, {"completed_by": "a=b#2", "result": [ann]}]
    predictions = [{"model_version": "model-1", "result": [bob]}]
    task = {"id": 1, "data": {"text": TEXT}, "annotations": annotations, "predictions": predictions}
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps([task]))
    return path


def test_one_layer_of_a_file_is_named_after_the_path(command: Cli) -> None:
    file = export("old/export.json")
    systems = [f"{file}#model-1", f"{file}#a=b#2", f"ours={file}#ann", f"{export('new/export.json')}#model-1"]
    found = scored(command, f"{file}#ann", *systems)["systems"]
    assert [system["name"] for system in found] == ["old/export#model-1", "a=b#2", "ours", "new/export#model-1"]
    counts = [[system["criteria"]["strict"][key] for key in COUNTS] for system in found]
    assert counts == [[1, 0, 0, 1, 0, 2, 1], [1, 0, 0, 1, 0, 2, 1], [2, 0, 0, 0, 0, 2, 2], [1, 0, 0, 1, 0, 2, 1]]


LAYERED = [
    ("export.json", "export.json: it holds 3 layers, 'ann', 'a=b#2', 'model-1', and one is read at a time; name it"),
    ("export.json#x", "export.json: no layer 'x'; choose among 'ann', 'a=b#2', 'model-1'"),
    ("gold.jsonl#x", "gold.jsonl: the layer 'x' is asked for, and the format 'jsonl' has one; leave it out"),
    ("none.json#x", "none.json#x: no such file or folder"),
]


@pytest.mark.parametrize(("path", "said"), LAYERED)
def test_a_layer_that_is_not_there_or_not_named_is_refused(command: Cli, path: str, said: str) -> None:
    export()
    gold()
    status, out, err = command("score", path, "export.json#ann")
    assert (status, out) == (2, "")
    assert err.startswith(said)


def test_many_layers_are_counted_and_those_of_standard_input_are_named_in_a_file() -> None:
    names = [f"u{number}" for number in range(1000)]
    [problem] = _problems(Source.of_uploads([("x.json", b"{}")]), None, names)
    assert "it holds 1000 layers, 'u0', 'u1', " in problem and "'u19', 980 more, and one is read" in problem
    [problem] = _problems(Source.of_uploads([("x.json", b"{}")]), "v", names)
    assert problem.endswith("'u19', 980 more")
    stdin = replace(Source.of_uploads([("stdin", b"{}")]), name="<stdin>")
    [problem] = _problems(stdin, None, ["a", "b"])
    assert "save it as a file and name it after the path, FILE#a, or" in problem


def _problems(source: Source, wanted: str | None, names: list[str]) -> list[str]:
    with pytest.raises(FormatError) as caught:
        select_layer(source, wanted, names)
    return [str(problem) for problem in caught.value.problems]


def test_columns_of_a_table_can_be_said(command: Cli) -> None:
    Path("x.csv").write_text("Akte,von,bis,Art,Satz\nd,0,3,PER,Ann met Bob.\n")
    columns = ("--span-columns", "document=Akte,start=von,end=3,type=Art,text=Satz")
    status, _, err = command("score", "x.csv", "s=x.csv")
    assert status == 2 and "the format cannot be recognised" in err and "--span-columns document=NAME" in err
    assert command("convert", "x.csv", "out.jsonl", "--to", "jsonl", *columns)[0] == 0
    assert first_scored(command, "out.jsonl", "x.csv", *columns)["strict"]["COR"] == 1
    status, out, _ = command("score", "x.csv", "s=x.csv", "--convention", "nervaluate-1.2.1", *columns)
    assert status == 0 and "strict" in out
    status, out, err = command("score", "x.csv", "s=x.csv", "--span-columns", "von=start")
    assert (status, out) == (2, "") and err.startswith("--span-columns: 'von=start' is not a column; write doc")


def test_labels_of_numbered_tags_can_be_said(command: Cli) -> None:
    Path("x.jsonl").write_text(json.dumps({"tokens": ["Ann", "met"], "ner_tags": [1, 0]}))
    Path("names").write_text("O\nB-PER\n")
    assert command("score", "x.jsonl", "s=x.jsonl")[0] == 2
    for labels in ("O,B-PER", "names"):
        given = ("--labels", labels)
        assert first_scored(command, "x.jsonl", "s=x.jsonl", *given)["strict"]["COR"] == 1
        assert command("convert", "x.jsonl", f"{labels}.jsonl", "--to", "jsonl", *given)[0] == 0
        assert command("score", "x.jsonl", "s=x.jsonl", "--convention", "nervaluate-1.2.1", *given)[0] == 0
    status, _, err = command("score", "x.jsonl", "s=x.jsonl", "--labels", "O,O")
    assert status == 2 and "--labels: the labels 0 and 1 are both 'O'; give the list" in err
    status, _, err = command("score", "names.jsonl", "s=names.jsonl", "--labels", "O,B-PER")
    assert status == 0 and "the labels given are for tags that are numbers, which this format has not" in err


def test_what_offsets_count_can_be_said(command: Cli) -> None:
    row = {"id": "d1", "text": "😀 Ann", "label": [[2, 5, "PER"]]}
    Path("all.jsonl").write_text(json.dumps(row, ensure_ascii=False))
    assert command("convert", "all.jsonl", "out.jsonl", "--to", "jsonl", "--offsets", "code-points")[0] == 0
    assert json.loads(Path("out.jsonl").read_text())["spans"] == [{"start": 2, "end": 5, "label": "PER"}]
    assert first_scored(command, "out.jsonl", "all.jsonl", "--offsets", "code-points")["strict"]["COR"]
    published = ["--convention", "nervaluate-1.2.1", "--json", "-"]
    for offsets, correct in (("code-points", 1), ("utf-16", 0)):
        status, out, err = command("score", "out.jsonl", "all.jsonl", *published, "--offsets", offsets)
        assert status == 0, err
        scores = json.loads(out)["systems"][0]["convention"]["scores"]
        assert scores["overall"]["strict"]["correct"] == correct
    status, _, err = command("score", "out.jsonl", "all.jsonl")
    assert status == 0
    assert "offsets taken as code points, end exclusive: 1 of 1 spans behind characters such as emoji" in err
    for arguments in (["score", "out.jsonl", "all.jsonl"], ["convert", "all.jsonl", "x", "--to", "jsonl"]):
        status, _, err = command(*arguments, "--offsets", "bytes")
        assert (status, err.partition(";")[0]) == (2, "--offsets: 'bytes' is not a way to count")


def test_a_folder_gives_its_name(command: Cli) -> None:
    for folder, spans in (("key", "T1\tPER 0 3\tAnn\n"), ("team.1", "T1\tPER 4 7\tsaw\n")):
        Path(folder).mkdir()
        Path(folder, "d1.txt").write_text(TEXT)
        Path(folder, "d1.ann").write_text(spans)
    assert [system["name"] for system in scored(command, "key", "team.1")["systems"]] == ["team.1"]


CONLL = "Ann B-PER B-PER\nsaw O B-PER\nBob B-PER O\n. O O\n\n"


def test_one_file_with_both_columns(command: Cli) -> None:
    Path("both.conll").write_text(CONLL)
    found = scored(command, "both.conll", "--gold-column", "2", "--pred-column", "3")
    row = found["systems"][0]["criteria"]["strict"]
    assert found["systems"][0]["name"] == "both"
    assert [row[key] for key in COUNTS] == [1, 0, 0, 1, 1, 2, 2]


def test_the_scheme_of_gold_goes_for_the_predictions(command: Cli) -> None:
    # Gold can only be IOBES; the prediction alone could be read in several schemes.
    Path("gold.conll").write_text("Ann S-PER\nsaw O\nNew B-LOC\nYork I-LOC\nCity E-LOC\n\n")
    Path("pred.conll").write_text("Ann S-PER\nsaw O\nNew O\nYork O\nCity S-LOC\n\n")
    status, _, err = command("score", "gold.conll", "pred.conll")
    assert status == 0
    assert [line.partition(": ")[2].partition(";")[0] for line in err.splitlines()] == ["conll, IOBES", "conll, IOBES"]


def test_all_criteria_and_those_skipped(command: Cli) -> None:
    status, out, err = command("score", gold(), pred(), "--criteria", "all", "--json", "-", "--quiet")
    assert status == 0
    assert tuple(json.loads(out)["systems"][0]["criteria"]) == APPLICABLE
    skipped = [line.split()[2] for line in err.splitlines()]
    assert skipped == [name for name, criterion in CRITERIA.items() if criterion.needs]
    assert all("skipped, it needs " in line for line in err.splitlines())


def brat(folder: str, ann: str) -> str:
    Path(folder).mkdir()
    Path(folder, "d.txt").write_text("the human p53 gene and a mouse gene")
    Path(folder, "d.ann").write_text(ann)
    return folder


GENES = "T1\tGene 4 18\thuman p53 gene\nT2\tGene 25 35\tmouse gene\n"


def test_core_type_of_brat(command: Cli) -> None:
    key = brat("key", GENES + "T3\tCore 10 13\tp53\n")
    run = brat("run", "T1\tGene 10 18\tp53 gene\nT2\tGene 25 30\tmouse\n")
    status, out, err = command("score", key, run, "--core-type", "Core", "--criteria", "core,strict", "--json", "-")
    assert status == 0
    found = json.loads(out)["systems"][0]["criteria"]
    assert [found["core"][key] for key in COUNTS] == [1, 1, 0, 0, 0, 2, 2]
    assert found["strict"]["POS"] == 2
    assert "gold spans without a core, each its own: 1 of 2" in found["core"]["signature"]
    assert "core: 1 of 2 gold spans have no core, each counts as its own" in err.splitlines()
    assert "spans of type or attribute 'Core', read as the cores of others: 1" in err
    status, out, err = command("score", key, run, "--core-type", "Core", "--criteria", "all", "--json", "-", "--quiet")
    assert status == 0 and "alternatives skipped" in err and "core skipped" not in err
    assert tuple(json.loads(out)["systems"][0]["criteria"]) == tuple(set_aside("alternatives"))
    # What is read with its cores keeps them.
    assert command("convert", key, "key.jsonl", "--to", "jsonl", "--core-type", "Core")[0] == 0
    assert '"core": [10, 13]' in Path("key.jsonl").read_text().replace("[10,13]", "[10, 13]").replace(
        '"core":[', '"core": ['
    )
    assert command("score", "key.jsonl", run, "--criteria", "core", "--json", "-", "--quiet")[0] == 0


def set_aside(*names: str) -> list[str]:
    return [name for name in CRITERIA if name not in names]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--criteria", "core"), "--criteria: criterion core needs core terms in gold"),
        (("--criteria", "all,core"), "--criteria: criterion core needs core terms in gold"),
        (("--criteria", "strict,alternatives"), "--criteria: criterion alternatives needs alternative boundaries"),
        (("--criterion", "mine: boundaries=core, types=any"), "--criteria: criterion mine needs core terms in gold"),
        (("--core-type", "Kern", "--criteria", "core"), "--criteria: criterion core needs core terms in gold"),
        (("--core-type", "a b"), "core type: 'a b' is not a name"),
    ],
)
def test_criteria_that_need_what_gold_lacks_are_refused(command: Cli, more: tuple[str, ...], said: str) -> None:
    status, out, err = command("score", brat("key", GENES), brat("run", GENES), *more, "--json", "s.json", "--quiet")
    assert (status, out, Path("s.json").exists()) == (2, "", False)
    assert err.startswith(said) and len(err.splitlines()) == 1


def test_a_core_type_of_a_format_without_any(command: Cli) -> None:
    status, _, err = command("score", gold(), pred(), "--core-type", "Core")
    assert status == 2 and "core type 'Core' is asked for, and the format 'jsonl' has no types of cores" in err
    # A prediction in another format than gold's passes it over.
    brat("key", GENES + "T3\tCore 10 13\tp53\n")
    row = {
        "id": "d",
        "text": "the human p53 gene and a mouse gene",
        "spans": [{"start": 10, "end": 18, "label": "Gene"}],
    }
    Path("run.jsonl").write_text(json.dumps(row) + "\n")
    assert command("score", "key", "run.jsonl", "--core-type", "Core", "--criteria", "core", "--quiet")[0] == 0


def test_records_by_token(command: Cli) -> None:
    status, out, _ = command(
        "score",
        gold(),
        pred(),
        "--criteria",
        "fragment",
        "--json",
        "-",
        "--records",
        "r.csv",
        "--csv",
        "s.csv",
        "--quiet",
    )
    assert status == 0
    found = json.loads(out)["systems"][0]["criteria"]["fragment"]
    sums: dict[str, int] = {}
    with Path("r.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            sums[row["decision"]] = sums.get(row["decision"], 0) + int(row["weight"])
    assert sums == {name: found[name] for name in ("COR", "MIS", "SPU") if found[name]}
    assert (found["INC"], found["PAR"]) == (0, 0) and found["POS"] == found["COR"] + found["MIS"]
    assert "tokens: " in found["signature"]


TOML = """
[criterion.near]
boundaries = "overlap"
types = "any"
otherwise = "PAR"
minimum = 0.75
share = "union"

[criterion.anyone]
boundaries = "equal"
merge = {name = ["PER", "LOC"]}
"""


def test_composed_criteria(command: Cli) -> None:
    Path("own.toml").write_text(TOML)
    inline = "half: boundaries=overlap, minimum=0.5, share=union, types=any, otherwise=PAR"
    rows = scored(command, gold(), pred(), "--criteria", "strict,own.toml", "--criterion", inline)["systems"][0][
        "criteria"
    ]
    # Rome is 4 of 7 characters: enough for half, not for 0.75; merged types forgive Bob.
    assert {name: [row[key] for key in COUNTS[:3]] for name, row in rows.items()} == {
        "strict": [1, 2, 0],
        "near": [2, 0, 1],
        "anyone": [2, 1, 0],
        "half": [3, 0, 0],
    }
    assert "at least 0.5 of the union is shared" in rows["half"]["signature"]
    assert "types merged: LOC,PER=name" in rows["anyone"]["signature"]
    placed = scored(command, gold(), pred(), "--criteria", "half,strict", "--criterion", inline)
    assert list(placed["systems"][0]["criteria"]) == ["half", "strict"]
    added = scored(command, gold(), pred(), "--criterion", inline)
    assert list(added["systems"][0]["criteria"]) == ["strict", "exact", "partial", "type", "half"]


def test_merged_types_and_types_left_out(command: Cli) -> None:
    merged = scored(command, gold(), pred(), "--merge", "PER,LOC=name", "--criteria", "strict")
    row = merged["systems"][0]["criteria"]["strict"]
    assert (row["COR"], list(row["types"])) == (2, ["name"])
    less = first_scored(command, gold(), pred(), "--leave-out", "LOC", "--criteria", "strict")["strict"]
    assert (less["POS"], less["ACT"]) == (3, 2)
    assert "left out: LOC" in less["signature"]
    _, _, err = command("score", gold(), pred(), "-q", "--leave-out", "LOK,PER", "--merge", "ORK=PER")
    assert err.splitlines() == ["--merge: no span has the type 'ORK'", "--leave-out: no span has the type 'LOK'"]


def test_a_missing_document_may_count_as_empty(command: Cli) -> None:
    short = write("short.jsonl", document("d1", TEXT, PRED))
    status, _, err = command("score", gold(), short)
    assert (status, len(err.splitlines())) == (2, 2)
    row = first_scored(command, gold(), short, "--missing", "empty")["strict"]
    assert row["MIS"] == 2
    assert row["signature"].endswith(" | missing counted empty: 2 documents")


def test_the_screen_shows_tables_and_signatures(command: Cli) -> None:
    status, out, _ = command("score", gold(), pred("one.jsonl"), pred("two.jsonl"), "--by", "type,document")
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "F1 of all systems"
    assert lines[1].split() == ["system", "strict", "exact", "partial", "type"]
    assert lines[2].split() == ["one", "0.2222", "0.4444", "0.5556", "0.4444"]
    start = lines.index("one")
    assert lines[start + 1].split() == ["criterion", "P", "R", "F1", *COUNTS]
    assert lines[start + 2].split() == ["strict", "0.2500", "0.2000", "0.2222", "1", "2", "0", "2", "1", "5", "4"]
    assert "one: strict by type" in lines and "two: type by document" in lines
    # A signature for each criterion under the system's table, and under each of its two break-downs.
    for name in ("strict", "exact", "partial", "type"):
        assert sum(f"| criterion {name} |" in line for line in lines) == 2 * 3


def test_the_screen_lines_up_wide_characters_and_escapes_control(command: Cli) -> None:
    spans = [(0, 3, "人名"), (4, 7, "é"), (8, 11, "a\x1b[31m")]
    text = write("gold.jsonl", document("d1", TEXT, spans))
    status, out, _ = command("score", text, write("p.jsonl", document("d1", TEXT, spans)), "--by", "type")
    assert status == 0
    assert "\x1b" not in out and "a\\x1b[31m" in out
    lines = out.splitlines()
    rows = lines[lines.index("p: strict by type") + 1 :][:4]
    ends = {len(row) + row.count("人") + row.count("名") for row in rows}
    assert len(ends) == 1


EVIL = "=1+1|<b>&_%"


def evil(path: str) -> str:
    text = "=cmd()\rx and @home -5 \u202eabc"
    spans = [(0, 8, EVIL), (13, 18, "@x"), (19, 21, "-5")]
    return write(path, document("+d1", text, spans))


class Cells(HTMLParser):
    """Collects tag names and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_html_stands_alone_and_is_escaped(command: Cli) -> None:
    status, _, _ = command(
        "score", evil("g.jsonl"), f"<script>={evil('p.jsonl')}", "--by", "type", "--html", "out.html"
    )
    assert status == 0
    page = Path("out.html").read_text(encoding="utf-8")
    parser = Cells()
    parser.feed(page)
    assert not parser.tags & {"script", "b", "link", "img", "iframe"}
    assert {EVIL, "<script>", "@x"} <= set(parser.text)
    assert sum("| criterion strict |" in text for text in parser.text) == 2
    assert "http" not in page


def test_latex_is_escaped(command: Cli) -> None:
    status, out, _ = command("score", evil("g.jsonl"), evil("p.jsonl"), "--by", "type", "--latex", "-")
    assert status == 0
    body = [line for line in out.splitlines() if not line.startswith("%")]
    assert "\\toprule" in body
    assert any(line.startswith(r"=1+1\textbar{}\textless{}b\textgreater{}\&\_\% & 1.0000 & ") for line in body)
    assert sum(line.startswith("% nereval ") for line in out.splitlines()) == 4


@pytest.mark.parametrize("kind", ["[2ex]", "*x", "[x"])
def test_a_latex_row_begins_with_no_option(command: Cli, kind: str) -> None:
    place = write("g.jsonl", document("d", "abc", [(0, 1, kind)]))
    _, out, _ = command("score", place, place, "--criteria", "strict", "--by", "type", "--latex", "-")
    assert any(line.startswith("{}" + kind) for line in out.splitlines())
    assert not re.search(r"\\\\\s*[\[*]", out)


def test_markdown_is_escaped(command: Cli) -> None:
    status, out, _ = command("score", evil("g.jsonl"), evil("p.jsonl"), "--by", "type", "--markdown", "-")
    assert status == 0
    assert "| =1+1\\|&lt;b>&amp;\\_% | 1.0000 | 1.0000 |" in out
    tables = re.findall(r"^\|.*\|$", out, re.MULTILINE)
    # An escaped bar parts no cells.
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in tables} == {12, 15}


def cells_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_holds_all_numbers_and_no_formula(command: Cli) -> None:
    status, _, _ = command("score", evil("g.jsonl"), f"=sum={evil('p.jsonl')}", "--csv", "x.csv")
    assert status == 2
    status, out, _ = command("score", evil("g.jsonl"), f"@a={evil('p.jsonl')}", "--by", "type,document", "--csv", "-")
    assert status == 0
    rows = cells_of(out)
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    strict = [row for row in rows if row["criterion"] == "strict"]
    assert [(row["part"], row["name"]) for row in strict] == [
        ("all", ""),
        ("type", "'-5"),
        ("type", f"'{EVIL}"),
        ("type", "'@x"),
        ("macro over types", ""),
        ("document", "'+d1"),
        ("macro over documents", ""),
    ]
    assert {row["system"] for row in rows} == {"'@a"}
    assert all(row["signature"].startswith("nereval ") for row in rows)
    assert (strict[0]["COR"], strict[0]["f1"], strict[1]["gold_COR"], strict[1]["COR"]) == ("3", "1.0", "1", "")


def test_csv_ratios_are_in_full(command: Cli) -> None:
    _, out, _ = command("score", gold(), pred(), "--csv", "-")
    assert float(cells_of(out)[0]["f1"]) == 2 / 9


@pytest.mark.parametrize("form", ["parquet", "jsonl", "csv"])
def test_records_are_as_many_as_the_counts_say(command: Cli, form: str) -> None:
    path = f"records.{form}"
    status, out, _ = command(
        "score", gold(), pred("one.jsonl"), gold("two.jsonl"), "--criteria", "all", "--records", path, "--json", "-"
    )
    assert status == 0
    frame = {"parquet": pd.read_parquet, "csv": pd.read_csv, "jsonl": lambda p: pd.read_json(p, lines=True)}[form](path)
    for system in json.loads(out)["systems"]:
        for name, row in system["criteria"].items():
            some = frame[(frame["system"] == system["name"]) & (frame["criterion"] == name)]
            for decision in ("COR", "INC", "PAR", "MIS", "SPU"):
                assert some["weight"][some["decision"] == decision].sum() == row[decision]
            assert set(some["signature"]) == {row["signature"]}
    missed = frame[(frame["system"] == "one") & (frame["criterion"] == "strict") & (frame["decision"] == "MIS")]
    assert missed["gold_text"].tolist() == ["Oslo", "Ann"]
    assert missed["pred_start"].isna().all()


def test_records_in_csv_hold_no_formula(command: Cli) -> None:
    spans = [(0, 8, EVIL), (13, 18, f"'{EVIL}")]
    text = "=cmd()\rx and @home -5"
    path = write("g.jsonl", document("+d1", text, spans))
    assert command("score", path, path, "--criteria", "strict", "--records", "r.csv", "-q")[0] == 0
    rows = cells_of(Path("r.csv").read_bytes().decode())
    assert [row["gold_text"] for row in rows] == ["'=cmd()\rx", "'@home"]
    assert {row["document"] for row in rows} == {"'+d1"}
    # Two types stay two types.
    assert len({row["gold_type"] for row in rows}) == 2
    assert [row["gold_start"] for row in rows] == ["0", "13"]


def test_several_outputs_at_once(command: Cli) -> None:
    places = ("s.json", "s.csv", "s.md", "s.tex", "s.html", "r.jsonl")
    flags = ("--json", "--csv", "--markdown", "--latex", "--html", "--records")
    status, out, _ = command(
        "score", gold(), pred(), *(word for pair in zip(flags, places, strict=True) for word in pair)
    )
    assert (status, out) == (0, "")
    signed = json.loads(Path("s.json").read_text())["systems"][0]["criteria"]["strict"]["signature"]
    for place in ("s.csv", "s.tex", "s.html", "r.jsonl"):
        assert signed in Path(place).read_text(encoding="utf-8")
    assert signed.replace("|", "\\|") in Path("s.md").read_text(encoding="utf-8")


USAGE = (
    (["score"], "the following arguments are required: FILE"),
    (
        ["score", "gold.jsonl"],
        "name a prediction after gold, two layers of one file: FILE#ONE FILE#OTHER, or both of its",
    ),
    (["score", "gold.jsonl", "system.jsonl", "--by", "kind"], "--by 'kind', choose among type, document"),
    (["score", "gold.jsonl", "system.jsonl", "--json", "-", "--csv", "-"], "two outputs have the place '-'"),
    (["score", "gold.jsonl", "system.jsonl", "--json", "x", "--csv", "./x"], "two outputs have the place"),
    (["score", "gold.jsonl", "system.jsonl", "--json", "gold.jsonl"], "would overwrite an input"),
    (["score", "gold.jsonl", "a=system.jsonl", "--json", "system.jsonl"], "would overwrite an input"),
    (["score", "gold.jsonl", "system.jsonl", "--criteria", "strict,o.toml", "--json", "o.toml"], "overwrite an input"),
    (["score", ".", "system.jsonl", "--json", "gold.jsonl"], "would overwrite an input"),
    (["score", "gold.jsonl#a", "b=gold.jsonl#b", "--json", "./gold.jsonl"], "would overwrite an input"),
    (["convert", "gold.jsonl", "gold.jsonl", "--to", "jsonl"], "'gold.jsonl' would overwrite an input, name another"),
    (["convert", "gold.jsonl#a", "gold.jsonl", "--to", "doccano"], "'gold.jsonl' would overwrite an input"),
    (["convert", "gold.spans.csv", "gold.texts.csv", "--to", "csv"], "would overwrite an input"),
    (["convert", "gold.jsonl", "-", "--to", "jsonl"], "convert writes a file, not standard output"),
    (["convert", "gold.jsonl", "gold.jsonl#a", "system.jsonl", "--to", "jsonl"], "'system.jsonl' would be overwritten"),
    (["convert", ".", "gold.jsonl", "--to", "jsonl"], "would overwrite an input"),
    (["score", "gold.jsonl", "system.jsonl", "--records", "x.xlsx"], "end the name in one of .parquet, .jsonl, .csv"),
    (["score", "gold.jsonl", "system.jsonl", "--counting", "twice"], "invalid choice: 'twice'"),
    (["score", "gold.jsonl", "system.jsonl", "--js", "-"], "unrecognized arguments"),
    (["convert", "gold.jsonl", "x"], "the following arguments are required: --to"),
    (["formats", "x"], "unrecognized arguments: x"),
    (["conventions", "x"], "unrecognized arguments: x"),
    (["metrics"], "there is no verb 'metrics'; see"),
    (["scor"], "there is no verb 'scor'; did you mean `score`?"),
    (["review"], "say what to do: review adjudicate, "),
    (["review", "lst"], "there is no verb 'review lst'; did you mean `review list`?"),
    (["reviews", "list"], "there is no verb 'reviews'; did you mean `review list`?"),
    (["--", "score"], "VERB"),
    ([], "VERB"),
)


@pytest.mark.parametrize(("arguments", "said"), USAGE, ids=[" ".join(arguments) for arguments, _ in USAGE])
def test_bad_usage_is_one_line_and_status_2(command: Cli, arguments: list[str], said: str) -> None:
    gold(), pred()
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    status, out, err = command(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert err.rstrip().endswith("--help")
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


BAD = (
    (
        ["--criteria", "strikt"],
        ["--criteria: no criterion 'strikt'; choose among strict, exact, partial, type, muc, left"],
    ),
    (["--criteria", "core"], ["--criteria: criterion core needs core terms in gold"]),
    (["--criteria", ","], ["--criteria: no criterion chosen"]),
    (["--criteria", "no.toml"], ["no.toml: no such file or folder"]),
    (["--criterion", "half"], ["--criterion: 'half' is not a criterion; write "]),
    (["--criterion", "half: merge=x"], ["--criterion: 'half: merge=x' is not a criterion; write "]),
    (["--criterion", "half: minimum=2"], ["--criterion: criterion 'half': minimum is 2; "]),
    (["--criterion", "strict: types=any"], ["this name is taken by a criterion of the field"]),
    (["--criterion", "a: types=any", "--criterion", "a: types=equal"], ["two criteria are called 'a'"]),
    (["--merge", "PER"], ["--merge: 'PER' is not a merge; "]),
    (["--merge", "PER", "--criteria", "strikt,x"], ["'strikt'", "'x'", "--merge: "]),
    (["--format", "docx"], ["gold.jsonl: no reader for the format 'docx'; ", "system.jsonl: no reader for"]),
    (["--json", "no/such/folder/x"], ["no/such/folder/x: cannot be written: No such file or directory; "]),
    (["system.jsonl"], ["system.jsonl: a second system is called 'system'; name each differently: NAME=PATH"]),
    (["=system.jsonl"], ["=system.jsonl: a system without a name or a path; write NAME=PATH"]),
    (["nowhere.jsonl"], ["nowhere.jsonl: no such file or folder; check the path"]),
    ([""], [": no such file or folder; check the path"]),
    (["--merge", "PER=ORG", "--merge", "ORG=LOC"], ["--merge: types are merged into 'ORG', which is itself merged"]),
    (["--gold-column", "2"], ["gold.jsonl: column 2 is asked for, and the format 'jsonl' has no columns; "]),
)


@pytest.mark.parametrize(("arguments", "said"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input_is_a_line_a_problem_and_status_2(command: Cli, arguments: list[str], said: list[str]) -> None:
    gold(), pred()
    status, out, err = command("score", "-q", "gold.jsonl", "system.jsonl", *arguments)
    assert (status, out) == (2, "")
    found = sorted(err.splitlines())
    assert len(found) == len(said)
    for line in said:
        assert any(line in other for other in found)


def test_problems_of_all_files_are_told_together_and_nothing_is_written(command: Cli) -> None:
    lines = [json.dumps(document("d1", TEXT, GOLD)), '{"id": "d2"', json.dumps(document("d3", TEXT, [(0, 999, "X")]))]
    Path("gold.jsonl").write_text("\n".join(lines))
    write("one.jsonl", document("d1", TEXT, [(5, 5, "PER")]))
    pred("two.jsonl")
    Path("out.json").write_text("kept")
    status, out, err = command("score", "gold.jsonl", "one.jsonl", "two.jsonl", "gone.jsonl", "--json", "out.json")
    assert (status, out) == (2, "")
    places = [line.partition(": ")[0] for line in err.splitlines()]
    assert places == ["gold.jsonl:2", "gold.jsonl:3", "one.jsonl:1", "gone.jsonl"]
    assert all("; " in line for line in err.splitlines())
    assert Path("out.json").read_text() == "kept"
    assert {path.name for path in Path().iterdir()} == {"gold.jsonl", "one.jsonl", "two.jsonl", "out.json"}


def test_without_gold_a_prediction_is_not_blamed_for_lacking_its_texts(command: Cli) -> None:
    Path("key").mkdir()
    Path("key/d1.txt").write_text(TEXT)
    Path("key/d1.ann").write_text("T1\tPER 0 99\tAnn\n")
    Path("run").mkdir()
    Path("run/d1.ann").write_text("T1\tPER 0 3\tAnn\n")
    status, _, err = command("score", "key", "run")
    assert status == 2
    assert [line.partition(": ")[0] for line in err.splitlines()] == ["key/d1.ann:1"]


def test_problems_of_one_kind_in_one_file_share_a_line(command: Cli) -> None:
    write("gold.jsonl", *(document(f"d{i}", TEXT, [(0, 999, "X")]) for i in range(15)))
    write("p.jsonl", *(document(f"d{i}", TEXT, [(0, 999, "X")]) for i in range(15)))
    status, _, err = command("score", "gold.jsonl", "p.jsonl")
    lines = err.splitlines()
    assert (status, len(lines)) == (2, 3) and all("and 14 more like it, to line 15" in line for line in lines[:2])
    assert lines[-1] == "30 problems in all"


def test_what_lets_one_system_pass_hides_nothing_of_another(command: Cli) -> None:
    Path("gold.conll").write_text("Ann B-PER\nmet O\nBob B-PER\n")
    Path("a.conll").write_text("Ann B-PER\nmet O\nBop B-PER\n")
    Path("b.conll").write_text("Ann I-PER\nmet O\nBop B-PER\n")
    status, _, err = command("score", "gold.conll", "a.conll", "b.conll")
    # The tags of b are read first; behind them it spells a word as a does.
    assert status == 2 and len(re.findall("differently from gold", err)) == 2


def test_nothing_is_written_where_one_of_several_outputs_cannot_be(command: Cli) -> None:
    Path("folder").mkdir()
    status, out, err = command("score", "-q", gold(), pred(), "--json", "a.json", "--csv", "-", "--html", "folder")
    assert (status, out) == (2, "")
    assert err == "folder: a folder stands there; name a file\n"
    assert not Path("a.json").exists()


def test_options_and_files_may_be_mixed(command: Cli) -> None:
    status, out, _ = command(
        "score", "--criteria", "strict", gold(), "--json", "-", pred(), "--quiet", gold("other.jsonl")
    )
    assert status == 0
    assert [system["name"] for system in json.loads(out)["systems"]] == ["system", "other"]


def test_quiet_and_what_is_said_otherwise(command: Cli) -> None:
    _, _, err = command("score", gold(), pred())
    assert err.splitlines() == [
        "gold.jsonl: jsonl; 3 documents, 5 spans, 2 types",
        "system.jsonl: jsonl; 3 documents, 4 spans, 2 types",
    ]
    assert command("score", gold(), pred(), "--quiet")[2] == ""


def test_a_document_aligned_greedily_is_named(command: Cli) -> None:
    # 201 x 201 spans that all overlap, none of them identical, are more pairs than the exact solver takes on.
    text = "x" * 700
    small = document("small", text, [(0, 1, "A")])
    gold, pred = (
        write(name, small, document("big", text, [(i, 300 + i + late, "A") for i in range(201)]))
        for name, late in (("gold.jsonl", 0), ("pred.jsonl", 1))
    )
    status, out, err = command("score", "-q", gold, pred, "--criteria", "strict")
    assert status == 0
    assert err == "pred: clusters too large to be aligned exactly were aligned greedily, in: big\n"
    assert " | aligned greedily: 1 document (big)" in out


def test_convert(command: Cli) -> None:
    gold()
    assert command("convert", "gold.jsonl", "folder", "--to", "brat")[0] == 0
    assert Path("folder/d1.ann").read_text().splitlines()[0] == "T1\tPER 0 3\tAnn"
    # As problems name it, and as its own.
    for option in ("--format", "--from"):
        status, out, err = command("convert", "folder", "back.jsonl", option, "brat", "--to", "jsonl")
    assert (status, out) == (0, "")
    assert err.startswith("folder: brat; 3 documents, 5 spans")
    assert [row["id"] for row in map(json.loads, Path("back.jsonl").read_text().splitlines())] == ["d1", "d2", "d3"]
    same = scored(command, "gold.jsonl", "back.jsonl")
    assert same["gold"]["sha256"] == same["systems"][0]["sha256"]
    status, _, err = command("convert", "gold.jsonl", "folder", "--to", "brat")
    assert (status, err) == (2, "folder: the folder is not empty; name a new or empty folder\n")


def test_lists(command: Cli) -> None:
    status, out, _ = command("formats")
    assert status == 0
    assert {line.split()[0] for line in out.splitlines()} >= {"brat", "conll", "hipe", "jsonl"}
    status, out, _ = command("criteria")
    assert status == 0
    assert [name for name in CRITERIA if re.search(rf"^  {name} ", out, re.MULTILINE)] == list(CRITERIA)


@pytest.mark.parametrize("arguments", [["--help"], ["score", "--help"], ["convert", "-h"], ["--version"]])
def test_help(command: Cli, arguments: list[str]) -> None:
    status, out, err = command(*arguments)
    assert (status, err) == (0, "")
    assert out.startswith((f"nereval {__version__}\n", "usage: nereval "))


# True processes: what depends on signals, pipes and terminals.


def started(*arguments: str, **more: Any) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "nereval_core", *arguments]
    environment = os.environ | {"PYTHONPATH": PYTHON_PATH}
    return subprocess.Popen(line, text=True, env=environment, stderr=subprocess.PIPE, **more)


def test_a_reader_that_leaves_is_no_error(command: Cli) -> None:
    gold()
    pred()
    reader, writer = os.pipe()
    os.close(reader)
    process = started("score", "-q", "gold.jsonl", "system.jsonl", stdout=writer)
    os.close(writer)
    assert process.communicate()[1] == ""
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_said(command: Cli) -> None:
    gold()
    pred()
    with Path("/dev/full").open("w") as full:
        process = started("score", "-q", "gold.jsonl", "system.jsonl", "--json", "-", stdout=full)
        _, err = process.communicate()
    assert err == "standard output: cannot be written: No space left on device; write to a file instead\n"
    assert process.returncode == 2


@pytest.mark.parametrize("closed", ["1", "2"])
def test_a_closed_stream_is_no_error(command: Cli, closed: str) -> None:
    gold()
    shell = f'"$@" {closed}>&-'
    line = [sys.executable, "-m", "nereval_core", "score", "gold.jsonl", "gold.jsonl", "--json", "out.json"]
    done = subprocess.run(
        ["sh", "-c", shell, "sh", *line],
        env=os.environ | {"PYTHONPATH": PYTHON_PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert "Traceback" not in done.stderr
    assert json.loads(Path("out.json").read_text())["gold"]["spans"] == 5


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize(("system", "status"), [("gold.jsonl", 0), ("gone.jsonl", 2)])
def test_standard_error_on_a_full_disk_stops_nothing(command: Cli, system: str, status: int) -> None:
    gold()
    with Path("/dev/full").open("w") as full:
        line = [sys.executable, "-m", "nereval_core", "score", "gold.jsonl", system]
        environment = os.environ | {"PYTHONPATH": PYTHON_PATH}
        done = subprocess.run(line, env=environment, stdout=subprocess.PIPE, stderr=full, text=True, check=False)
    assert (done.returncode, "strict" in done.stdout) == (status, status == 0)


def test_an_interrupt_ends_it_cleanly(command: Cli) -> None:
    gold()
    # Nobody reads from the pipe: the process waits there until it is interrupted.
    os.mkfifo("pipe")
    process = started("score", "gold.jsonl", "gold.jsonl", "--json", "pipe")
    assert process.stderr is not None
    assert process.stderr.readline().startswith("gold.jsonl: jsonl")
    for _ in range(5):
        # A signal just before a call that waits is noticed after it only: one presses the keys once more.
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
            break
    assert "Traceback" not in process.stderr.read()
    # While a module is imported Python ends by the signal itself: a shell calls both 130.
    assert process.wait() in (130, -signal.SIGINT)


def test_a_pipe_is_written_into(command: Cli) -> None:
    gold()
    pred()
    os.mkfifo("pipe")
    process = started("score", "-q", "gold.jsonl", "system.jsonl", "--json", "pipe")
    assert json.loads(Path("pipe").read_text())["gold"]["spans"] == 5
    assert process.communicate()[1] == ""
    assert process.returncode == 0


def test_progress_is_drawn_on_a_terminal_only(command: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    # JSON lines are read a mebibyte at a time.
    big = write("big.jsonl", *(document(f"d{i}", TEXT + "x" * 500_000, GOLD[:1]) for i in range(10)))
    assert "[####" not in command("score", big, big, "--json", "quiet.json")[2]
    leader, follower = pty.openpty()
    with open(follower, "w") as terminal:  # noqa: PTH123
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(output, "PROGRESS_DELAY_SECONDS", 0)
        assert main(["score", "-q", str(big), f"system={big}", "--json", "loud.json"]) == 0
        drawn = os.read(leader, 100_000).decode()
    os.close(leader)
    assert re.search(r"big\.jsonl: \[#+ +\]  [1-9]\d% read", drawn)
    assert "big.jsonl: [####################] 100% read" in drawn
    assert "system: [####################] 100% scored" in drawn
    assert drawn.endswith("\r\x1b[K")


@pytest.mark.parametrize("verb", ["score", "compare", "link", "index", "sensitivity"])
def test_a_name_too_long_for_a_file_is_what_is_said_to_be_wrong(command: Cli, verb: str) -> None:
    name = "x" * 300
    for files in ((gold(), name), (name, gold())):
        status, out, err = command(verb, *files)
        assert (status, out) == (2, "")
        assert f"{name}: cannot be " in err
        assert "File name too long; check the path" in err
        assert "standard output" not in err
    status, out, err = command("score", gold(), gold(), "--json", name)
    assert (status, out) == (2, "")
    assert f"{name}" in err
    assert "standard output" not in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "--merge", "PER,LOC=\udcff", "--json", "-"),
        ("score", "--leave-out", "\udcff", "--json", "-"),
        ("score", "--convention", "nervaluate-1.2.1", "--tags=\udcff"),
        ("sensitivity", "--merge", "PER,LOC=\udcff"),
        ("compare", "--baseline", "\udcff"),
        ("link", "--leave-out", "\udcff"),
    ],
)
def test_an_option_that_is_no_utf8_is_refused(command: Cli, arguments: tuple[str, ...]) -> None:
    verb, *rest = arguments
    status, out, err = command(verb, gold(), gold(), *rest)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "is not UTF-8, write it as text" in err


def test_tables_and_lists_that_are_read_are_not_written_over(command: Cli) -> None:
    for name in ("map.tsv", "tags.txt"):
        Path(name).write_text("PER\tLOC\n", encoding="utf-8")
    for arguments in (
        ("link", gold(), gold(), "--relaxed", "map.tsv", "--json", "map.tsv"),
        ("score", gold(), gold(), "--convention", "hipe-2022", "--tagset", "tags.txt", "--csv", "tags.txt"),
    ):
        status, out, err = command(*arguments)
        assert (status, out) == (2, "")
        assert "would overwrite an input" in err
        assert Path(arguments[-1]).read_text(encoding="utf-8") == "PER\tLOC\n"


@pytest.mark.parametrize(("variable", "expected"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")])
def test_linear_algebra_has_one_thread_unless_the_environment_says_more(
    variable: dict[str, str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads of OpenBLAS spin where the processors are shared: seven times the CPU for the same intervals."""
    monkeypatch.chdir(tmp_path)
    program = (
        "import sys; from nereval_core.cli import main; main(sys.argv[1:]); import os, threadpoolctl; "
        "print(os.environ['OPENBLAS_NUM_THREADS'], *{row['num_threads'] for row in threadpoolctl.threadpool_info()})"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"} | variable
    verb = ("score", "--quiet", gold(), pred())
    line = [sys.executable, "-c", program, *verb]
    done = subprocess.run(
        line, env=environment | {"PYTHONPATH": PYTHON_PATH}, capture_output=True, text=True, check=True
    )
    threads = done.stdout.splitlines()[-1].split()
    assert threads[0] == expected and set(threads[1:]) <= {*map(str, range(1, int(expected) + 1))}, done.stdout
