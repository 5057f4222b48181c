"""The evaluation script of n2c2 2018, track 2: its runs on drawn corpora and on demo data, and what its records say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nereval_core.conventions import Outcome, ScorerInput, apply, find_convention
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.support.n2c2_corpora import COMMAND, DEMO, MODES, SEEDS, SYSTEMS, write_corpus
from tests.support.reconciliation import check_texts, overall_rows, reconcile

CONVENTION = find_convention("n2c2-2018")
FIXTURE = Path(__file__).resolve().parents[1] / "fixtures/n2c2-2018.json"
COUNTS = ("tp", "fp", "fn")


@pytest.fixture(scope="module")
def fixture() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(FIXTURE.read_text(encoding="utf-8"))
    assert (content["program"], content["command"]) == ("Track2-evaluate-ver4.py", COMMAND)
    return content


def scored(gold: Path, pred: Path) -> Outcome:
    return apply(CONVENTION, ScorerInput(gold=Source.of_path(gold), pred=Source.of_path(pred)))


def check(outcome: Outcome, results: Mapping[str, Any]) -> None:
    """Assert the printout, all counts, and the ratios; the script adds up macro in no fixed order of documents."""
    assert CONVENTION.forms["text-tags"](outcome) == results["printed"]
    for mode in MODES:
        ours, theirs = outcome.scores[mode], results[mode]
        assert {name: ours[name] for name in COUNTS} == {name: theirs[name] for name in COUNTS}
        assert ours["micro"] == pytest.approx(theirs["micro"], rel=1e-15)
        assert ours["macro"] == pytest.approx(theirs["macro"], rel=1e-14)
        for kind, row in theirs["types"].items():
            assert {name: ours["types"][kind][name] for name in COUNTS} == {name: row[name] for name in COUNTS}
            assert {name: ours["types"][kind][name] for name in row["micro"]} == pytest.approx(row["micro"], rel=1e-15)
    reconcile(outcome)


@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_corpora(seed: int, fixture: Mapping[str, Any], tmp_path: Path) -> None:
    gold, pred = write_corpus(tmp_path, seed)
    outcome = apply(
        CONVENTION,
        ScorerInput(gold=Source.of_path(gold), pred=Source.of_path(pred), gold_format="brat", pred_format="brat"),
    )
    check(outcome, fixture["results"][seed])
    if not seed % 2:
        check_texts(outcome)
    records = outcome.records()
    assert ((records["decision"] == "IGN") == (records[list(COUNTS)].sum(axis=1) == 0)).all()


@pytest.mark.parametrize("system", SYSTEMS)
def test_demo_data(system: str, fixture: Mapping[str, Any]) -> None:
    check(scored(DEMO / "gold.jsonl", DEMO / f"{system}.jsonl"), fixture["demo_data"][system])


def written(folder: Path, gold: str, pred: str) -> tuple[Path, Path]:
    """Write spans such as `0-3 Drug, 4-5 ADE` over one text."""
    places = folder / "gold.jsonl", folder / "pred.jsonl"
    for place, side in zip(places, (gold, pred), strict=True):
        spans = []
        for part in side.split(", "):
            where, label = part.split(" ")
            start, end = map(int, where.split("-"))
            spans.append({"start": start, "end": end, "label": label})
        place.write_text(json.dumps({"id": "a", "text": "abcdefghijklmno", "spans": spans}) + "\n", encoding="utf-8")
    return places


def test_records_say_what_decided(tmp_path: Path) -> None:
    gold = "0-4 Drug, 5-6 Drug, 7-8 Drug, 9-11 ADE, 12-13 ADE"
    pred = "0-6 Drug, 5-8 Drug, 9-10 Drug, 9-10 ADE, 10-11 ADE"
    outcome = scored(*written(tmp_path, gold, pred))
    assert overall_rows(outcome.records("lenient"), "record", "decision", "why") == [
        ("g:0-4:Drug", "COR", "equals this gold span"),
        ("g:5-6:Drug", "MIS", "its prediction is right for another gold span already"),
        ("g:7-8:Drug", "MIS", "only predictions that are left out equal it"),
        ("g:9-11:ADE", "COR", "equals this gold span"),
        ("g:12-13:ADE", "MIS", "no span of the other side equals it"),
        ("p:5-8:Drug", "IGN", "equals a gold span that an earlier prediction equals: left out"),
        ("p:9-10:Drug", "SPU", "no span of the other side equals it"),
        ("p:10-11:ADE", "IGN", "equals a gold span that an earlier prediction equals: left out"),
    ]


def test_a_span_of_four_fragments_is_refused(tmp_path: Path) -> None:
    for name, parts in (("gold", "0 1;2 3;4 5"), ("pred", "0 1;2 3;4 5;6 7")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("abcdefgh", encoding="utf-8")
        words = " ".join("abcdefgh"[int(part[0])] for part in parts.split(";"))
        (tmp_path / name / "a.ann").write_text(f"T1\tDrug {parts}\t{words}\n", encoding="utf-8")
    with pytest.raises(FormatError, match="has 4 fragments, of which the script takes 3 at most"):
        scored(tmp_path / "gold", tmp_path / "pred")
    assert scored(tmp_path / "gold", tmp_path / "gold").scores["strict"]["tp"] == 1
