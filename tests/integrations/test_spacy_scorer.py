"""The scorer in spaCy itself: registered, printed by `spacy evaluate`, and spaCy's own figures under `strict`."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.evaluate import evaluate
from spacy.scorer import get_ner_prf
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from nereval_core.integrations.spacy_scorer import score_examples

SCORER = {"scorer": {"@scorers": "nereval.ner_scorer.v1"}}
SCHEMAS = ("strict", "exact", "partial", "type")
NLP = spacy.blank("en")


def document(*ents: tuple[int, int, str], words: tuple[str, ...] = ("Ann", "Lee", "met", "Bob", "in", "Rome")) -> Doc:
    doc = Doc(NLP.vocab, words=list(words))
    doc.set_ents([Span(doc, *ent) for ent in ents])
    return doc


def examples(seed: int) -> list[Example]:
    chance = random.Random(seed)
    made = []
    for _ in range(30):
        sides = []
        for _ in range(2):
            edges = sorted(chance.sample(range(7), 4))
            pairs = zip(edges[::2], edges[1::2], strict=True)
            sides.append(document(*((*pair, chance.choice("AB")) for pair in pairs if chance.random() < 0.8)))
        made.append(Example(*sides))
    return made


@pytest.mark.parametrize("seed", range(5))
def test_strict_is_what_spacy_says(seed: int) -> None:
    drawn = examples(seed)
    found, theirs = score_examples(drawn), get_ner_prf(drawn)
    for letter in "prf":
        assert found[f"nereval_strict_{letter}"] == pytest.approx(theirs[f"ents_{letter}"], abs=1e-12)
        assert found[f"ents_{letter}"] == theirs[f"ents_{letter}"]
        assert found[f"nereval_partial_{letter}"] >= found[f"nereval_strict_{letter}"]
    assert {kind: row for kind, row in found["ents_per_type"].items() if kind[0] != "("} == theirs["ents_per_type"]


def test_the_schemas_tell_boundaries_from_types() -> None:
    gold = document((0, 2, "PER"), (3, 4, "PER"), (5, 6, "LOC"))
    pred = document((0, 1, "PER"), (3, 4, "ORG"), (5, 6, "LOC"))
    found = score_examples([Example(pred, gold)])
    assert [found[f"nereval_{name}_f"] for name in SCHEMAS] == pytest.approx([1 / 3, 2 / 3, 2.5 / 3, 2 / 3])


def test_other_tokens_and_missing_annotation_are_treated_as_spacy_does() -> None:
    gold = document((0, 2, "PER"))
    other = document((0, 1, "PER"), words=("Ann Lee", "met", "Bob", "in", "Rome"))
    assert score_examples([Example(other, gold)])["nereval_strict_f"] == 1.0
    unknown = Doc(NLP.vocab, words=[token.text for token in gold])
    found = score_examples([Example(document((0, 2, "PER")), unknown)])
    assert {found[f"nereval_{name}_{letter}"] for name in SCHEMAS for letter in "prf"} == {None}
    partly = Doc(NLP.vocab, words=[token.text for token in gold])
    partly.set_ents([Span(partly, 0, 2, "PER")], missing=[partly[3:6]])
    found = score_examples([Example(document((0, 2, "PER"), (3, 4, "PER")), partly)])
    assert found["nereval_strict_p"] == found["ents_p"] == 1.0
    assert score_examples([])["nereval_type_r"] is None


def test_spacy_evaluate_prints_the_schemas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nlp: Any = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler", config=SCORER)
    ruler.add_patterns([{"label": "PER", "pattern": "Ann"}, {"label": "LOC", "pattern": "Rome"}])
    nlp.to_disk(tmp_path / "model")
    DocBin(docs=[document((0, 2, "PER"), (5, 6, "LOC"))]).to_disk(tmp_path / "dev.spacy")
    evaluate(str(tmp_path / "model"), tmp_path / "dev.spacy", tmp_path / "scores.json", silent=False)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    for name, figure in zip(SCHEMAS, ("50.00", "50.00", "75.00", "100.00"), strict=True):
        assert [f"({name})", figure, figure, figure] in rows
    assert json.loads((tmp_path / "scores.json").read_text())["ents_per_type"]["(partial)"]["f"] == 0.75


def test_the_entity_recognizer_takes_it() -> None:
    nlp = spacy.blank("en")
    recognizer: Any = nlp.add_pipe("ner", config=SCORER)
    recognizer.add_label("PER")
    nlp.initialize()
    found = nlp.evaluate([Example.from_dict(nlp.make_doc("Ann met Bob"), {"entities": [(0, 3, "PER")]})])
    assert recognizer.scorer is score_examples and 0 <= found["nereval_type_r"] <= 1
