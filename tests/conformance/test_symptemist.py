"""SympTEMIST: what its library makes of drawn mentions, and what records say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nereval_core.conventions import Outcome, ScorerInput, apply, find_convention
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.support.reconciliation import check_texts, overall_rows, reconcile
from tests.support.symptemist_corpora import COMMAND, SEEDS, Document, draw_documents, write_layers

CONVENTION = find_convention("symptemist")
FIXTURE = Path(__file__).resolve().parents[1] / "fixtures/symptemist.json"


@pytest.fixture(scope="module")
def fixture() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(FIXTURE.read_text(encoding="utf-8"))
    assert content["command"] == COMMAND
    return content


def scored(folder: Path, documents: list[Document]) -> Outcome:
    gold, pred = map(Source.of_path, write_layers(folder, documents))
    return apply(CONVENTION, ScorerInput(gold=gold, pred=pred))


@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_mentions(seed: int, fixture: dict[str, Any], tmp_path: Path) -> None:
    outcome = scored(tmp_path, draw_documents(seed))
    assert CONVENTION.forms["text"](outcome).splitlines() == fixture["results"][seed]
    reconcile(outcome)
    check_texts(outcome)


def test_places_are_text(tmp_path: Path) -> None:
    documents: list[Document] = [
        ("d", [("A", 8, 12), ("A", 20, 30)], [("A", 9, 12), ("A", 100, 101), ("A", 100, 101)]),
        ("e", [], [("A", 1, 2)]),
    ]
    rows = overall_rows(scored(tmp_path, documents).records("overlap"), "record", "decision", "why")
    assert rows == [
        ("p:100-101:A~2", "IGN", "given twice: left out"),
        # As text, neither start lies between 8 and 12, nor between 9 and 12.
        ("g:8-12:A", "MIS", "nothing is left that it meets"),
        ("g:20-30:A", "MIS", "nothing is left that it meets"),
        ("p:9-12:A", "SPU", "nothing is left that it meets"),
        ("p:100-101:A", "SPU", "nothing is left that it meets"),
        ("p:1-2:A", "IGN", "gold has nothing in this document: left out"),
    ]


def test_discontinuous_spans_are_refused(tmp_path: Path) -> None:
    row = {"id": "d", "text": "a b c", "spans": [{"start": 0, "end": 5, "label": "A", "fragments": [[0, 1], [4, 5]]}]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    source = Source.of_path(tmp_path / "gold.jsonl")
    with pytest.raises(FormatError, match="is discontinuous"):
        apply(CONVENTION, ScorerInput(gold=source, pred=source))
