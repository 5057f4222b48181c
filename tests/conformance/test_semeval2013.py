"""The evaluation program of SemEval-2013 task 9.1: its runs on drawn corpora and on demo data, and what records say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nereval_core.conventions import Outcome, ScorerInput, apply, find_convention
from nereval_core.readers import Source
from tests.support.reconciliation import check_texts, overall_rows, reconcile
from tests.support.semeval_corpora import (
    COMMAND,
    SEEDS,
    SYSTEMS,
    Sentence,
    demo_sentences,
    draw_sentences,
    write_layers,
)

CONVENTION = find_convention("semeval-2013-9.1")
FIXTURE = Path(__file__).resolve().parents[1] / "fixtures/semeval-2013-9.1.json"


@pytest.fixture(scope="module")
def fixture() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(FIXTURE.read_text(encoding="utf-8"))
    assert (content["program"], content["command"]) == ("evaluateNER.jar", COMMAND)
    return content


def scored(folder: Path, sentences: list[Sentence]) -> Outcome:
    gold, pred = map(Source.of_path, write_layers(folder, sentences))
    return apply(CONVENTION, ScorerInput(gold=gold, pred=pred))


def printed(outcome: Outcome) -> list[str]:
    return [line for line in CONVENTION.forms["figures"](outcome).splitlines() if line]


@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_corpora(seed: int, fixture: Mapping[str, Any], tmp_path: Path) -> None:
    outcome = scored(tmp_path, draw_sentences(seed))
    assert printed(outcome) == fixture["results"][seed]
    reconcile(outcome)
    if not seed % 2:
        check_texts(outcome)


def test_drawn_corpora_have_what_sets_the_program_apart(fixture: Mapping[str, Any]) -> None:
    counts = [list(map(int, lines[2].split("\t")[:6])) for lines in fixture["results"]]
    assert any(mis < 0 for *_, mis, _, _ in counts)
    assert any(parts[1:] for seed in SEEDS for _, gold, _ in draw_sentences(seed) for _, parts in gold)
    assert any(pred and not gold for seed in SEEDS for _, gold, pred in draw_sentences(seed))


@pytest.mark.parametrize("system", SYSTEMS)
def test_demo_data(system: str, fixture: Mapping[str, Any], tmp_path: Path) -> None:
    outcome = scored(tmp_path, demo_sentences(system))
    assert printed(outcome) == fixture["demo_data"][system]
    reconcile(outcome)


def test_records_say_what_decided(tmp_path: Path) -> None:
    gold = [("group", ((0, 20),)), ("drug", ((21, 26),)), ("drug", ((27, 30),))]
    pred = [("drug", ((17, 26),)), ("drug", ((21, 26),)), ("drug", ((22, 23),)), ("drug", ((31, 32),))]
    text = "abcdefghijklmnopqrstuvwxyzabcdefghijklmn"
    outcome = scored(tmp_path, [(text, gold, pred), (text, [], pred[:1])])
    rows = overall_rows(outcome.records("type"), "record", "decision", "mis", "why")
    # The first gold span that is overlapped decides, though another has the type.
    assert rows == [
        ("g:0-20:group", "INC", 0, "meets this gold span, the first that it overlaps"),
        ("g:21-26:drug", "COR", 0, "meets this gold span, and is what the schema asks for"),
        ("g:21-26:drug", "COR", -1, "meets this gold span, and is what the schema asks for"),
        ("p:31-32:drug", "SPU", 0, "overlaps no gold span of its sentence"),
        ("p:17-26:drug", "IGN", 0, "gold has nothing to meet in this sentence: left out"),
        ("g:27-30:drug", "MIS", 1, "no prediction meets it"),
    ]
    assert outcome.scores["type"] == pytest.approx(
        {"cor": 2, "inc": 1, "par": 0, "mis": 0, "spu": 1, "total": 3, "prec": 0.5, "recall": 2 / 3, "F1": 4 / 7}
    )
    assert outcome.notes == ("1 prediction in sentences without gold: left out",)


def test_other_types_are_counted_and_named(tmp_path: Path) -> None:
    text = "abcdefghij"
    outcome = scored(tmp_path, [(text, [("Drug", ((0, 3),)), ("PER", ((4, 6),))], [("drug", ((0, 3),))])])
    assert outcome.scores["strict"]["cor"] == 1
    assert outcome.scores["exact per type"]["types"]["per"]["mis"] == 1
    assert outcome.notes == ("the program refuses types other than its four: counted here, but not in macro: 'per'",)
    reconcile(outcome)
