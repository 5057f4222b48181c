"""spaCy's Scorer: its figures for drawn corpora, live and from the fixture, for real data, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.cli import main
from nereval_core.conventions import Outcome, ScorerInput, apply, apply_to_layers, find_convention
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.support.draws import draws
from tests.support.reconciliation import check_texts, overall_rows, reconcile
from tests.support.shared_corpora import SHARED, needs
from tests.support.spacy_corpora import COMMAND, SEEDS, TokenDocument, draw, spacy_scores

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "tests/fixtures/spacy-3.8.18.json"
CONVENTIONS = {"ents": find_convention("spacy-ents"), "spans_sc": find_convention("spacy-spans")}
each = pytest.mark.parametrize("evaluation", list(CONVENTIONS))


def given_rows(gold: Sequence[Mapping[str, Any]], pred: Sequence[Mapping[str, Any]]) -> ScorerInput:
    """Return both sides as JSON lines; documents are numbered."""
    sides = [
        Source.of_uploads(
            [
                (
                    f"{name}.jsonl",
                    "".join(json.dumps({"id": str(at)} | row) + "\n" for at, row in enumerate(rows)).encode(),
                )
            ],
            name=name,
        )
        for name, rows in (("gold", gold), ("pred", pred))
    ]
    return ScorerInput(gold=sides[0], pred=sides[1], gold_format="jsonl", pred_format="jsonl")


def scored(documents: Iterable[TokenDocument], evaluation: str) -> Outcome:
    rows = [[document.row(side) for document in documents] for side in ("gold", "pred")]
    return apply(CONVENTIONS[evaluation], given_rows(*rows))


def check(outcome: Outcome, results: Mapping[str, Any]) -> None:
    """Assert that all figures are those of the reference, to the last bit, and the sums of the records."""
    assert outcome.scores == results
    assert json.loads(CONVENTIONS[outcome.evaluations[0]].forms["json"](outcome)) == results
    reconcile(outcome)
    check_texts(outcome)
    records = outcome.records()
    assert ((records["decision"] == "IGN") == (records[["tp", "fp", "fn"]].sum(axis=1) == 0)).all()


@each
def test_drawn_corpora(evaluation: str) -> None:
    fixture = json.loads(FIXTURE.read_text(encoding="utf-8"))
    assert (fixture["program"], fixture["version"], fixture["command"]) == ("spaCy", "3.8.18", COMMAND)
    nothing = 0
    for seed, results in zip(SEEDS, fixture["results"][evaluation], strict=True):
        check(scored(draw(seed, overlaps=evaluation == "spans_sc"), evaluation), results)
        nothing += results[f"{evaluation}_f"] is None
    assert nothing


@each
@draws(13)
@given(seed=st.integers(1000, 10**6))
def test_any_corpus_gets_the_figures_of_the_installed_scorer(evaluation: str, seed: int) -> None:
    pytest.importorskip("spacy")
    overlaps = evaluation == "spans_sc"
    documents = draw(seed, overlaps=overlaps)
    check(scored(documents, evaluation), spacy_scores(documents, overlaps=overlaps))


def cut(gold: Layer, pred: Layer) -> list[TokenDocument]:
    """Return documents whose words end wherever a span of either side begins or ends."""
    found = []
    for doc, text in enumerate(gold.documents.texts):
        sides = []
        for layer in (gold, pred):
            own = np.flatnonzero(layer.doc == doc).tolist()
            sides.append([(int(layer.start[span]), int(layer.end[span]), layer.label(span)) for span in own])
        edges = sorted({0, len(text), *(edge for side in sides for span in side for edge in span[:2])})
        place = {edge: number for number, edge in enumerate(edges)}
        words = tuple(text[low:high] for low, high in pairwise(edges))
        one, two = ([(place[low], place[high], label) for low, high, label in side] for side in sides)
        found.append(TokenDocument(words, one, two))
    return found


@pytest.mark.parametrize("corpus", ["biology", "newspapers", "pharmacology"])
@pytest.mark.parametrize("system", ["annotator-2", "perceptron", "rules"])
def test_demo_data(corpus: str, system: str) -> None:
    pytest.importorskip("spacy")
    paths = [ROOT / "demo_data" / corpus / f"{name}.jsonl" for name in ("gold", system)]
    sides = ScorerInput(gold=Source.of_path(paths[0]), pred=Source.of_path(paths[1])).read()
    documents = cut(sides.gold, sides.pred)
    if sides.gold.fragments or sides.pred.fragments:
        with pytest.raises(FormatError, match="is discontinuous"):
            apply_to_layers(CONVENTIONS["spans_sc"], sides)
        return
    check(apply_to_layers(CONVENTIONS["spans_sc"], sides), spacy_scores(documents, overlaps=True))
    try:
        results = spacy_scores(documents, overlaps=False)
    except ValueError as error:
        assert "[E1010]" in str(error)
        with pytest.raises(FormatError, match="overlaps the one before it"):
            apply_to_layers(CONVENTIONS["ents"], sides)
    else:
        check(apply_to_layers(CONVENTIONS["ents"], sides), results)


@needs("wnut17")
@pytest.mark.parametrize("name", ["arcada", "drexel_cci", "uh_ritual"])
def test_submissions_to_wnut17(name: str) -> None:
    pytest.importorskip("spacy")
    places = [SHARED / "wnut17/emerging.test.annotated", SHARED / "wnut17/submissions" / name]
    sides = ScorerInput(gold=Source.of_path(places[0]), pred=Source.of_path(places[1])).read()
    assert len(sides.gold) == 1079
    outcomes = {key: apply_to_layers(convention, sides) for key, convention in CONVENTIONS.items()}
    documents = cut(sides.gold, sides.pred)
    for key, outcome in outcomes.items():
        check(outcome, spacy_scores(documents, overlaps=key == "spans_sc"))


def test_records_say_what_decided() -> None:
    words = ("a", "b", "c", "d")
    documents = [TokenDocument(words, [(0, 1, "A"), (0, 1, "A"), (0, 2, "A")], [(3, 4, "B"), (0, 1, "A"), (0, 2, "B")])]
    outcome = scored(documents, "spans_sc")
    assert overall_rows(outcome.records(), "record", "decision", "why") == [
        ("g:0-1:A", "COR", "the same label, first and last token on the other side"),
        ("g:0-1:A~2", "IGN", "the same label, first and last token once more: counted once"),
        ("g:0-3:A", "MIS", "no span of the same label, first and last token on the other side"),
        ("p:6-7:B", "SPU", "no span of the same label, first and last token on the other side"),
        ("p:0-3:B", "SPU", "no span of the same label, first and last token on the other side"),
    ]


def span(start: int, end: int, label: str = "A") -> dict[str, Any]:
    return {"start": start, "end": end, "label": label}


def test_spans_that_no_doc_holds_are_refused_together() -> None:
    row = {"text": "Ada met Bob", "tokens": [[0, 3], [4, 7], [8, 11]]}
    gold = {**row, "spans": [span(0, 3), span(0, 7, "B"), span(8, 11)]}
    pred = {**row, "spans": [span(0, 2), span(4, 7), span(4, 7)]}
    with pytest.raises(FormatError) as raised:
        apply(CONVENTIONS["ents"], given_rows([gold], [pred]))
    said = [problem.found for problem in raised.value.problems]
    assert [" ".join(found.split()[2:5]) for found in said] == ["the span 0-7", "the span 0-2", "the span 4-7"]
    assert ["overlaps" in found for found in said] == [True, False, True]
    with pytest.raises(FormatError, match=r"0-2 'A' does not fit the tokens.*begin and end with tokens"):
        apply(CONVENTIONS["spans_sc"], given_rows([gold], [pred]))


def test_documents_without_tokens_take_any_span() -> None:
    row = {"text": "Ada met Bob"}
    gold, pred = ({**row, "spans": [span(start, 5)]} for start in (1, 2))
    whole = {**row, "tokens": [[0, 3], [4, 7], [8, 11]], "spans": [span(8, 11)]}
    for name, convention in CONVENTIONS.items():
        outcome = apply(convention, given_rows([gold, whole], [pred, whole]))
        assert [outcome.scores[f"{name}_{ratio}"] for ratio in "prf"] == [0.5, 0.5, 0.5]


def test_the_prediction_that_differs_from_strict_is_the_repeated_one(tmp_path: Path) -> None:
    row = {"id": "a", "text": "Ada met Bob"}
    for name, spans in (("gold", [span(0, 3)]), ("pred", [span(0, 3), span(0, 3)])):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({**row, "spans": spans}) + "\n", encoding="utf-8")
    paths = [str(tmp_path / f"{name}.jsonl") for name in ("gold", "pred")]
    target = tmp_path / "differences.csv"
    assert main(["score", *paths, "--convention", "spacy-spans", "-q", "--differences", str(target)]) == 0
    rows = target.read_text(encoding="utf-8")
    assert "counted once" in rows
    assert "the same label, first and last token on the other side" not in rows
