"""Mentions that stand nowhere in the text, as Inspect lists and shows them; masked ones show no letter."""

from __future__ import annotations

import json

import nereval_core as nereval
from nereval_core.corpus import Corpus
from nereval_core.corpus.masking import masked
from nereval_core.readers import ReadOptions, Source, read
from nereval_core.records.tables import records
from nereval_core.scoring import Scores
from pages.shared.inspect.document import read_document
from pages.shared.view.queries import context

GOLD = {"id": "a", "text": "Aspirin helps.", "spans": [{"start": 0, "end": 7, "label": "Drug"}]}
ANSWER = {"id": "a", "entities": [{"text": "Ibuprofen", "type": "Drug"}, {"text": "Aspirin", "type": "Drug"}]}


def corpus() -> Corpus:
    gold, system = (Source.of_uploads([("x.jsonl", json.dumps(row).encode())]) for row in (GOLD, ANSWER))
    known = read(gold)
    pred = read(system, options=ReadOptions(texts=known.documents, name="llm")).layer
    return Corpus("c", known.documents, known.layer, (pred.renamed("llm"),))


def scored(corpus: Corpus) -> Scores:
    return nereval.score(corpus.gold, corpus.systems[0])


def test_their_words_stand_in_the_queue_and_beside_the_text() -> None:
    found = scored(corpus())
    table = records(found, "strict")
    assert [words for _, words, _ in context(table, found.gold.documents.texts, 0)] == ["Aspirin", "Ibuprofen"]
    assert read_document(lambda name: found, "strict", "a").notes() == ["nowhere in it: Ibuprofen (Drug)"]


def test_masked_words_show_no_letter() -> None:
    found = scored(masked(corpus()))
    (note,) = read_document(lambda name: found, "strict", "a").notes()
    assert note.endswith("(Drug)") and "Ibuprofen" not in note
    table = records(found, "strict")
    assert not table["pred_text"].dropna().str.contains("Ibu").any()
    assert (
        nereval.errors_of(found.gold, found.pred).words[-1].startswith("Of 2 predictions without offsets, 1 is made up")
    )
