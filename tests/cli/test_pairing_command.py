"""Pairing and aligning by the command line: what is refused names the option that mends it, what is done is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nereval_core.problems import SHOWN
from tests.support.commands import Cli

TEXT = "The “Big Apple”\nis café New York."
OTHER = 'The "Big Apple"\r\nis  cafe\u0301 New York.'
GOLD = [("Big Apple", "LOC"), ("café", "ORG"), ("New York", "LOC")]


def lines(place: Path, rows: list[tuple[str, str, list[tuple[int, int, str]]]]) -> str:
    documents = [
        {"id": name, "text": text, "spans": [{"start": low, "end": high, "label": label} for low, high, label in spans]}
        for name, text, spans in rows
    ]
    place.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in documents))
    return str(place)


def spans(text: str, words: list[tuple[str, str]]) -> list[tuple[int, int, str]]:
    return [(text.index(word), text.index(word) + len(word), label) for word, label in words]


@pytest.fixture
def gold(tmp_path: Path) -> str:
    return lines(tmp_path / "gold.jsonl", [("a", TEXT, spans(TEXT, GOLD)), ("b", "none", [])])


def strict(out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out)["systems"][0]["criteria"]["strict"]
    return found


def test_aligned_texts(command: Cli, tmp_path: Path, gold: str) -> None:
    words = [("Big Apple", "LOC"), ("cafe\u0301", "ORG"), ("New York", "LOC"), (" cafe", "X"), ("cafe", "X")]
    pred = lines(tmp_path / "pred.jsonl", [("a", OTHER, spans(OTHER, words)), ("b", "none", [])])
    status, _, err = command("score", gold, pred)
    assert (status, err) == (
        2,
        f"{pred}:1: document 'a' differs from {gold}:1, document 'a' at character 4, in line ends (CR LF here, LF "
        "there), Unicode normal forms (NFD here, NFC there), quotes or dashes and white space "
        "alone: '\"Big Apple\"\\r\\nis  caf' here, '“Big Apple”\\nis café ' there; carry its spans over to gold's "
        "text: --align-text\n",
    )
    status, out, err = command("score", gold, pred, "--align-text", "--json", "-")
    assert status == 0
    found = strict(out)
    assert [found[count] for count in ("COR", "MIS", "SPU", "ACT")] == [3, 0, 0, 3]
    assert found["signature"].endswith("| aligned texts: 1 document, 2 spans lost")
    assert "1 document aligned with gold's text: spans carried over, 2 spans lost" in err
    assert [line.split(" of document")[0] for line in err.splitlines() if "left out of the prediction" in line] == [
        f"{pred}:1: span [{low}, {high}) {OTHER[low:high]!r} (X)" for low, high, _ in spans(OTHER, words[3:4])
    ] + [f"{pred}:1: span [21, 25) 'cafe' (X)"]


def test_many_lost_spans_are_counted(command: Cli, tmp_path: Path) -> None:
    gold = lines(tmp_path / "gold.jsonl", [("a", "a b", [])])
    pred = lines(tmp_path / "pred.jsonl", [("a", "a  b", [(0, 2, f"T{number}") for number in range(SHOWN + 3)])])
    status, _, err = command("score", gold, pred, "--align-text")
    assert status == 0
    assert err.count("left out of the prediction") == SHOWN
    assert f"{pred}: {SHOWN + 3} spans lost in all; the first {SHOWN} are shown" in err


def test_ids_that_do_not_meet(command: Cli, tmp_path: Path, gold: str) -> None:
    own = spans(TEXT, GOLD)
    pred = lines(tmp_path / "pred.jsonl", [("2", "none", []), ("1", TEXT, own)])
    status, out, err = command("score", gold, pred, "--json", "-")
    assert status == 0
    assert "paired by text: 2 documents (no id is in gold)" in err
    assert strict(out)["COR"] == 3
    assert "| paired by text: 2 documents" in strict(out)["signature"]
    status, _, err = command("score", gold, pred, "--pair-by", "order")
    assert status == 2
    assert "document '2' differs from" in err
    for convention in ("nervaluate-1.2.1",):
        status, out, _ = command("score", gold, pred, "--convention", convention, "--json", "-")
        assert status == 0
        assert "| paired by text: 2 documents" in json.loads(out)["systems"][0]["convention"]["signature"]
    for verb in ("compare", "errors", "agreement", "slices", "sensitivity"):
        status, _, err = command(verb, gold, pred, "--pair-by", "text")
        assert status == 0, err


def test_other_tokens_of_one_text(command: Cli, tmp_path: Path) -> None:
    Path("gold.conll").write_text("I\tO\ndon't\tB-X\nknow\tO\n\nso\tO\nwhat\tB-X\n")
    Path("pred.conll").write_text("I\tO\ndo\tB-X\nn't\tI-X\nknow\tO\n\nso\tO\nwhat\tB-X\n")
    status, out, err = command("score", "gold.conll", "pred.conll", "--scheme", "IOB2", "--json", "-")
    assert status == 0
    assert "1 document with other white space and tokens than in gold: spans carried over by character" in err
    assert strict(out)["COR"] == 2
    status, _, err = command("score", "gold.conll", "pred.conll", "--convention", "seqeval")
    assert status == 2
    assert "token" in err
