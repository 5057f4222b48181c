"""FairEval: its runs on drawn corpora, the results of its paper, and what records say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nereval_core.conventions import Outcome, ScorerInput, apply, find_convention
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.support.faireval_corpora import (
    COMMAND,
    SEEDS,
    Sentence,
    draw_options,
    draw_sentences,
    read_sentences,
    write_layers,
    written_figures,
)
from tests.support.reconciliation import check_texts, overall_rows, reconcile
from tests.support.shared_corpora import SHARED, needs

CONVENTION = find_convention("faireval")
FIXTURE = Path(__file__).resolve().parents[1] / "fixtures/faireval.json"
PUBLISHED = SHARED / "faireval"


@pytest.fixture(scope="module")
def fixture() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(FIXTURE.read_text(encoding="utf-8"))
    assert (content["program"], content["command"]) == ("FairEval.py", COMMAND)
    return content


def scored(folder: Path, sentences: list[Sentence], **options: str) -> Outcome:
    gold, pred = map(Source.of_path, write_layers(folder, sentences))
    return apply(CONVENTION, ScorerInput(gold=gold, pred=pred), options)


def printed(outcome: Outcome) -> list[str]:
    return [line for line in CONVENTION.forms["csv"](outcome).splitlines() if line]


@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_corpora(seed: int, fixture: Mapping[str, Any], tmp_path: Path) -> None:
    outcome = scored(tmp_path, draw_sentences(seed), **draw_options(seed))
    assert printed(outcome) == fixture["results"][seed]
    reconcile(outcome)
    if not seed % 2:
        check_texts(outcome)


@needs("faireval")
@pytest.mark.parametrize("name", ["ner", "topofield"])
def test_published_results(name: str, tmp_path: Path) -> None:
    sentences = read_sentences(*(PUBLISHED / f"data/{side}/{name}_spans.csv" for side in ("target", "system")))
    outcome = scored(tmp_path, sentences)
    (published,) = (PUBLISHED / "eval").glob(f"eval_{name}*.csv")
    assert printed(outcome) == written_figures(published.read_text(encoding="utf-8"))


def test_a_span_without_a_token_left_is_missed_though_it_overlaps(tmp_path: Path) -> None:
    gold = [("A", (1, 2, 3)), ("A", (2,)), ("B", (5, 6)), ("A", (8,)), ("C", (9, 10))]
    pred = [("A", (1, 2)), ("B", (6, 7)), ("B", (8,)), ("A", (10, 11)), ("A", (12,))]
    outcome = scored(tmp_path, [(gold, pred), ([("EMPTY", (999,))], [])])
    assert overall_rows(outcome.records("fair"), "record", "pred_type", "decision", "why") == [
        ("g:14-15:A", "B", "INC", "equal tokens, another label"),
        # Pairs that overlap nothing else come first.
        ("g:8-11:B", "B", "PAR", "the same label, overlaps the gold span"),
        ("g:16-19:C", "A", "INC", "another label, overlaps the gold span"),
        # The shortest gold span takes the prediction first; the larger one keeps a token of it.
        ("g:2-3:A", "A", "PAR", "the same label, larger than the gold span"),
        ("g:0-5:A", "A", "PAR", "the same label, smaller than the gold span"),
        ("p:22-23:A", "A", "SPU", "no gold span is left for it"),
        ("g:0-1:EMPTY", None, "IGN", "fills a sentence of the program's files: left out"),
    ]
    assert outcome.scores["fair"]["overall"]["BE"] == 3
    assert outcome.scores["traditional"]["overall"]["FN"] == 5


@pytest.mark.parametrize("weights", ["LE 0.5 FP", "XE = 0.5 FP", ""])
def test_weights_that_are_no_formulas(weights: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is not a class of errors with its weights"):
        scored(tmp_path, draw_sentences(0), weights=weights)


def test_spans_that_do_not_fit_tokens_are_refused(tmp_path: Path) -> None:
    for name in ("gold", "pred"):
        rows = {"id": "d", "text": "xx xx", "spans": [{"start": 0, "end": 4, "label": "A"}], "tokens": [[0, 2], [3, 5]]}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(rows) + "\n", encoding="utf-8")
    given = ScorerInput(gold=Source.of_path(tmp_path / "gold.jsonl"), pred=Source.of_path(tmp_path / "pred.jsonl"))
    with pytest.raises(FormatError, match=r"the span 0-4 'A' does not begin and end with tokens"):
        apply(CONVENTION, given)
