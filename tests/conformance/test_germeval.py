"""nereval.perl of GermEval 2014: its printouts for drawn tags, what its records say, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nereval_core.conventions import Outcome, ScorerInput, apply, find_convention
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.support.germeval_corpora import COMMAND, SEEDS, Sentences, draw, write_sides
from tests.support.reconciliation import overall_rows, reconcile

CONVENTION = find_convention("germeval-2014")
FIXTURE = Path(__file__).resolve().parents[1] / "fixtures/germeval-2014.json"


def scored(folder: Path, sentences: Sentences) -> Outcome:
    gold, pred = map(Source.of_path, write_sides(folder, sentences))
    return apply(CONVENTION, ScorerInput(gold=gold, pred=pred, gold_format="conll", pred_format="conll"))


def test_drawn_tags(tmp_path: Path) -> None:
    fixture = json.loads(FIXTURE.read_text(encoding="utf-8"))
    assert fixture["command"] == COMMAND
    for seed, printed in zip(SEEDS, fixture["printed"], strict=True):
        outcome = scored(tmp_path, draw(seed))
        assert CONVENTION.forms["text-metrics"](outcome) == printed, seed
        reconcile(outcome)


def test_records_say_what_decided(tmp_path: Path) -> None:
    tags = (
        ("B-PER", "O", "B-PER", "O"),
        ("O", "O", "O", "O"),
        ("B-LOC", "B-ORG", "B-LOCderiv", "O"),
        ("B-ORG", "O", "B-ORG", "O"),
        ("I-ORG", "O", "O", "O"),
        ("B-OTH", "O", "B-OTH", "O"),
    )
    outcome = scored(tmp_path, [list(tags)])
    whys = {
        "right": "begins, ends and is typed alike on the other side",
        "nothing": "nothing begins and ends alike there",
        "type": "begins and ends alike, but some token has another type",
        "last": "reaches the last token of all, where no chunk is right",
    }
    outer = [row[1:] for row in overall_rows(outcome.records("outer"), "record", "decision", "why")]
    assert outer == [
        ("COR", whys["right"]),
        ("MIS", whys["type"]),
        ("MIS", whys["nothing"]),
        ("MIS", whys["last"]),
        ("SPU", whys["type"]),
        ("SPU", whys["nothing"]),
        ("SPU", whys["last"]),
    ]
    assert [outcome.scores[name]["correct"] for name in ("strict", "loose", "outer", "inner")] == [1, 2, 1, 0]


def test_what_the_program_cannot_take_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as raised:
        scored(tmp_path, [[("B-PER", "B-GPE", "S-LOC", "O")]])
    assert [problem.line for problem in raised.value.problems] == [1, 1]
    source = Source.of_path(tmp_path / "gold.tsv")
    given = ScorerInput(gold=source, pred=source, gold_format="conll", pred_format="conll", gold_column=2)
    with pytest.raises(FormatError, match="takes the last two columns"):
        apply(CONVENTION, given)
