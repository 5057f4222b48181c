"""i2b2 2014 and MEDDOCAN: what their scripts print of drawn documents, and what records say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nereval_core.conventions import Outcome, ScorerInput, apply, find_convention
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.support.deidentification_corpora import (
    COMMAND,
    SEEDS,
    VERSIONS,
    Document,
    draw_documents,
    sentences_of,
    write_layers,
)
from tests.support.reconciliation import check_texts, overall_rows, reconcile

FIXTURE = Path(__file__).resolve().parents[1] / "fixtures/deidentification.json"


@pytest.fixture(scope="module")
def fixture() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(FIXTURE.read_text(encoding="utf-8"))
    assert (content["program"], content["command"]) == ("evaluate.py", COMMAND)
    assert all(f"{name}: {version}, sha256:" in content["version"] for name, version in VERSIONS.items())
    return content


def scored(name: str, folder: Path, documents: list[Document], **options: int) -> Outcome:
    gold, pred = map(Source.of_path, write_layers(folder, documents))
    return apply(find_convention(name), ScorerInput(gold=gold, pred=pred), options)


def printed(outcome: Outcome) -> list[str]:
    return [line for line in find_convention(outcome.convention).forms["text"](outcome).splitlines() if line]


@pytest.mark.parametrize("seed", SEEDS)
def test_i2b2(seed: int, fixture: Mapping[str, Any], tmp_path: Path) -> None:
    outcome = scored("i2b2-2014", tmp_path, draw_documents(seed))
    assert printed(outcome) == fixture["i2b2-2014"][seed]
    reconcile(outcome)
    check_texts(outcome)


@pytest.mark.parametrize("seed", SEEDS)
def test_meddocan(seed: int, fixture: Mapping[str, Any], tmp_path: Path) -> None:
    documents = draw_documents(seed)
    outcome = scored("meddocan", tmp_path, documents, sentences=sentences_of(documents))
    assert printed(outcome) == fixture["meddocan"][seed]
    reconcile(outcome)
    check_texts(outcome)


def test_the_end_of_a_relaxed_span(tmp_path: Path) -> None:
    gold = [("PATIENT", 0, 4), ("PATIENT", 0, 5), ("CITY", 6, 9), ("IDNUM", 10, 12)]
    pred = [("NAME:PATIENT", 0, 6), ("LOCATION/City", 6, 12)]
    outcome = scored("i2b2-2014", tmp_path, [("110-01", "abcdefghijklm", gold, pred)])
    assert overall_rows(outcome.records("Relaxed"), "record", "decision", "why") == [
        ("g:0-5:PATIENT", "IGN", "given twice, or equal to what counts already: left out"),
        ("g:0-4:PATIENT", "COR", "equal on the other side"),
        ("g:6-9:CITY", "MIS", "nothing equal on the other side"),
        ("g:10-12:IDNUM", "MIS", "nothing equal on the other side"),
        ("p:6-12:LOCATION/City", "SPU", "nothing equal on the other side"),
    ]
    # The script looks for "IDNUM " with a blank behind it, and for TYPEs with their case.
    assert outcome.scores["HIPAA Strict"]["fn"] == 3 and outcome.scores["HIPAA Strict"]["fp"] == 1
    assert outcome.scores["Strict"]["fn"] == 4


def test_neighbours_are_merged(tmp_path: Path) -> None:
    gold, pred = [("A", 0, 3), ("A", 5, 8), ("A", 9, 12)], [("B", 0, 12), ("B", 9, 12)]
    outcome = scored("meddocan", tmp_path, [("d", "Ana, Eva Gil", gold, pred)])
    assert overall_rows(outcome.records("Subtask2Merged"), "record", "decision", "why") == [
        # The three of gold are one once merged, and so are the two of the prediction.
        ("g:0-12:A", "COR", "equal on the other side"),
        ("g:9-12:A", "COR", "equal on the other side"),
        ("g:0-3:A", "IGN", "lies in a right span: left out"),
        ("g:5-8:A", "IGN", "lies in a right span: left out"),
        ("p:0-12:B", "IGN", "lies in a right span: left out"),
    ]
    assert outcome.scores["Subtask2Strict"]["fp"] == 1 and outcome.scores["Subtask2Merged"]["F1"] == 1


def test_a_leak_score_takes_sentences(tmp_path: Path) -> None:
    documents: list[Document] = [("d", "Ana. Eva.", [("A", 0, 3), ("A", 5, 8)], [])]
    outcome = scored("meddocan", tmp_path, documents)
    assert outcome.scores["Subtask1"]["Leak"] is None
    assert outcome.notes == ("the documents have no sentences, so that there is no leak score: give --sentences",)
    assert printed(outcome)[0] == "Subtask1_Leak : NA "
    assert scored("meddocan", tmp_path, documents, sentences=4).scores["Subtask1"]["Leak"] == 0.5


@pytest.mark.parametrize("name", ["i2b2-2014", "meddocan"])
def test_discontinuous_spans_are_refused(name: str, tmp_path: Path) -> None:
    row = {"id": "d", "text": "a b c", "spans": [{"start": 0, "end": 5, "label": "A", "fragments": [[0, 1], [4, 5]]}]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    source = Source.of_path(tmp_path / "gold.jsonl")
    with pytest.raises(FormatError, match="is discontinuous"):
        apply(find_convention(name), ScorerInput(gold=source, pred=source))
