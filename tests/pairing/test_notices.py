"""Notices on a prediction beside its scores: content identical to gold's, and types that gold does not have."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import nereval_core as nereval
from nereval_core.pairing import IdenticalContentWarning, TypesNotInGoldWarning, is_identical, notices_of
from tests.support.commands import Cli

TEXT = "Ann met Bob in Rome ."
SPANS = [(0, 3, "PER"), (8, 11, "PER"), (15, 19, "LOC")]
IDENTICAL = "identical to gold in content: the same documents and spans"


def written(folder: Path, name: str, spans: list[tuple[int, int, str]], **more: Any) -> str:
    path = folder / f"{name}.jsonl"
    rows = [{"start": start, "end": end, "label": kind, **more} for start, end, kind in spans]
    path.write_text(json.dumps({"id": "d", "text": TEXT, "spans": rows}) + "\n")
    return str(path)


@pytest.fixture
def gold(tmp_path: Path) -> str:
    return written(tmp_path, "gold", SPANS)


@pytest.fixture
def copy(tmp_path: Path) -> str:
    # A tool may write the gold spans in another order, and scores with them.
    return written(tmp_path, "copy", SPANS[::-1], score=0.5)


@pytest.fixture
def other(tmp_path: Path) -> str:
    return written(tmp_path, "other", SPANS[:2])


def warned(*given: Any, **options: Any) -> dict[type[Warning], str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nereval.score(*given, **options)
    assert all(warning.filename == __file__ for warning in caught)
    return {warning.category: str(warning.message) for warning in caught}


def test_every_output_says_that_a_prediction_is_identical_to_gold(
    command: Cli, gold: str, copy: str, other: str
) -> None:
    status, _, err = command("score", gold, other, copy, "--json", "scores.json", "-q")
    assert status == 0 and err.startswith(f"copy: {IDENTICAL}") and "other" not in err
    systems = json.loads(Path("scores.json").read_text())["systems"]
    assert [(system["name"], system["identical"]) for system in systems] == [("other", False), ("copy", True)]
    assert systems[1]["notices"][0].startswith(IDENTICAL) and systems[0]["notices"] == []
    status, _, err = command("report", gold, copy, "--out", "report.html")
    assert status == 0 and f"copy: {IDENTICAL}" in err and f"copy: {IDENTICAL}" in Path("report.html").read_text()
    for verb in (["compare", "--resamples", "100"], ["errors"], ["sensitivity"], ["slices", "--resamples", "100"]):
        status, _, err = command(verb[0], gold, other, copy, *verb[1:], "--json", "more.json")
        assert status == 0 and f"copy: {IDENTICAL}" in err
        assert [one["identical"] for one in json.loads(Path("more.json").read_text())["systems"]] == [False, True]


def test_published_scorers_and_annotators_say_it_too(command: Cli, gold: str, copy: str, other: str) -> None:
    status, _, err = command("score", gold, gold, other, "--convention", "nervaluate-1.2.1", "--json", "s.json", "-q")
    assert status == 0 and err.startswith(f"gold: {IDENTICAL}")
    assert [system["identical"] for system in json.loads(Path("s.json").read_text())["systems"]] == [True, False]
    status, out, err = command("agreement", f"a={gold}", f"b={other}", f"c={copy}", "--resamples", "100")
    assert status == 0 and "a and c: identical in content" in out and "c: identical to a in content" in err
    assert "b: identical" not in err and "and b: identical" not in out


def test_check_fails_unless_it_is_allowed(command: Cli, gold: str, copy: str, other: str) -> None:
    bound = ("--min", "strict.f1=0.5", "-q")
    status, out, _ = command("check", gold, other, copy, *bound, "--junit", "checks.xml")
    assert status == 1 and out.startswith(f"copy: {IDENTICAL}") and out.endswith("or allow it: --allow-identical\n")
    assert 'message="copy: identical to gold' in Path("checks.xml").read_text()
    assert command("check", gold, other, copy, *bound, "--allow-identical")[:2] == (0, "")
    assert command("check", gold, other, *bound) == (0, "", "")


def test_shards_are_compared_as_a_whole(command: Cli, tmp_path: Path) -> None:
    rows = [{"id": f"d{n}", "text": TEXT, "spans": [{"start": 0, "end": 3, "label": "PER"}]} for n in range(3)]
    for side, last in (("gold", rows[2]), ("same", rows[2]), ("most", {**rows[2], "spans": []})):
        (tmp_path / side).mkdir()
        for number, row in enumerate([*rows[:2], last]):
            (tmp_path / side / f"{number}.jsonl").write_text(json.dumps(row) + "\n")
    gold, same, most = (str(tmp_path / side) for side in ("gold", "same", "most"))
    status, _, err = command("score", gold, same, most, "--engine", "local", "--json", "s.json", "-q")
    assert status == 0 and err.startswith(f"same: {IDENTICAL}") and "most" not in err
    assert [system["identical"] for system in json.loads(Path("s.json").read_text())["systems"]] == [True, False]


def test_the_library_warns_at_the_line_that_called_it(tmp_path: Path) -> None:
    spans = [[{"start": start, "end": end, "label": kind} for start, end, kind in SPANS]]
    linked = [written(tmp_path, side, SPANS, links=["Q1"]) for side in ("gold", "pred")]
    assert warned(spans, spans).keys() == {IdenticalContentWarning}
    assert warned([[["B-PER", "O"]][0]], [["B-PER", "O"]]).keys() == {IdenticalContentWarning}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nereval.compare(spans, {"a": spans}, resamples=100)
        nereval.reproduce(spans, spans, convention="nervaluate-1.2.1")
        nereval.link(*linked)
    assert [warning.filename for warning in caught] == [__file__] * 3
    assert {warning.category for warning in caught} == {IdenticalContentWarning}
    # Merged types do not make the content identical, nor do two sides without a span.
    merged = [[{**span, "label": "X"} for span in spans[0]]]
    assert warned(spans, merged, merge={"PER": "X", "LOC": "X"}) == {}
    assert warned([[], []], [[], []]) == {}


@pytest.mark.parametrize(
    ("kind", "nearest"),
    [("Location", "LOC"), ("PER ", "PER"), (" LOC", "LOC"), ("per", "PER"), ("B-LOC", "LOC")],
)
def test_types_that_gold_does_not_have_are_named(kind: str, nearest: str, command: Cli, tmp_path: Path) -> None:
    gold = written(tmp_path, "gold", SPANS)
    pred = written(tmp_path, "pred", [*SPANS[:2], (4, 7, kind), (15, 19, "LOC")])
    expected = f"pred: types that gold does not have: '{kind}' (nearest in gold: '{nearest}'); `nereval types"
    status, _, err = command("score", gold, pred, "--json", "s.json", "-q")
    assert status == 0 and err.startswith(expected) and err.count("\n") == 1
    (system,) = json.loads(Path("s.json").read_text())["systems"]
    assert (system["identical"], [f"pred: {notice}" for notice in system["notices"]]) == (False, [err.strip()])
    assert expected.partition(": ")[2] in warned(gold, pred)[TypesNotInGoldWarning]
    if kind == kind.strip():
        # Of what is merged or left out in scoring nothing need be said.
        assert command("score", gold, pred, "--merge", f"{kind}={nearest}", "-q")[2] == ""
        assert command("score", gold, pred, "--leave-out", kind, "-q")[2] == ""


def test_layers_that_differ_in_one_column_are_not_identical(tmp_path: Path) -> None:
    layers = [
        nereval.read(written(tmp_path, f"s{number}", spans)).layer
        for number, spans in enumerate(
            (
                SPANS,
                [(0, 3, "LOC"), *SPANS[1:]],
                [(0, 2, "PER"), *SPANS[1:]],
                [(1, 3, "PER"), *SPANS[1:]],
                [*SPANS, SPANS[0]],
                [],
            )
        )
    ]
    assert [is_identical(layers[0], layer) for layer in layers] == [True, *[False] * 5]
    assert not is_identical(layers[-1], layers[-1])
    assert [*notices_of(layers[0], layers[0], reference="Ann")] == [
        "identical to Ann in content: the same documents and spans; check that they are not copies of one file"
    ]


def test_a_table_of_spans_names_the_documents_without_a_row(command: Cli, tmp_path: Path) -> None:
    rows = [{"id": name, "text": TEXT, "spans": [{"start": 0, "end": 3, "label": "PER"}]} for name in "abcdefgh"]
    gold, table = tmp_path / "gold.jsonl", tmp_path / "run.csv"
    gold.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    # A row without a span is there for its document.
    table.write_text("document,start,end,type\na,0,3,PER\nb,,,\n")
    status, _, err = command("score", str(gold), str(table), "--json", "s.json")
    note = "6 of 8 documents without a row here, read as empty: 'c', 'd', 'e', 'f', 'g' and 1 more"
    assert status == 0 and note in err
    table.write_text("document,start,end,type\n" + "".join(f"{name},0,2,PER\n" for name in "abcdefgh"))
    assert "without a row" not in command("score", str(gold), str(table), "--json", "s.json")[2]


def test_types_with_blanks_at_their_edges_are_named_in_quotes(command: Cli, tmp_path: Path) -> None:
    gold = written(tmp_path, "gold", [(0, 3, "PER "), (8, 11, "PER")])
    status, _, err = command("score", gold, written(tmp_path, "pred", SPANS[:2]), "--json", "s.json")
    assert status == 0 and "types with blanks at their edges, read as they stand: 'PER '\n" in err
