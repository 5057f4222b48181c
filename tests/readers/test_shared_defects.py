"""The small files that people brought and that were read wrongly: what each is read as, or why it is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

import nereval_core as nereval
from nereval_core.pairing import TypesNotInGoldWarning
from nereval_core.problems import FormatError
from tests.support.shared_corpora import defect

# Gold, prediction, options of reading it, and the counts COR, INC, MIS and SPU under `strict`.
SCORED: list[tuple[str, str, dict[str, Any], tuple[int, int, int, int]]] = [
    ("gold-as-pred-conll-prob/gold.conll", "gold-as-pred-conll-prob/pred.txt", {"column": 3}, (1, 1, 2, 0)),
    (
        "gold-as-pred-conll-labelid/gold.conll",
        "gold-as-pred-conll-labelid/pred.txt",
        {"column": 3, "labels": "O,B-PER,I-PER,B-LOC"},
        (1, 1, 2, 0),
    ),
    ("gold-as-pred-csv/gold.conll", "gold-as-pred-csv/pred.csv", {"column": "prediction"}, (0, 1, 3, 0)),
    ("tags-without-type/gold.tsv", "tags-without-type/pred.tsv", {}, (0, 1, 0, 0)),
    ("tags-bmewo/full.conll", "tags-bmewo/full.conll", {}, (2, 0, 0, 0)),
    ("tags-bmewo/single.conll", "tags-bmewo/single.conll", {}, (2, 0, 0, 0)),
    ("type-O-as-span/gold.json", "type-O-as-span/pred.json", {}, (0, 1, 0, 0)),
    ("outside-tag/blank.conll", "outside-tag/blank.conll", {}, (2, 0, 0, 0)),
    ("outside-tag/mixed.conll", "outside-tag/mixed.conll", {}, (2, 0, 0, 0)),
    ("tags-sentence-a-line/seq.tsv", "tags-sentence-a-line/seq.tsv", {}, (3, 0, 0, 0)),
    ("simpletransformers-csv/eval.csv", "simpletransformers-csv/eval.csv", {}, (3, 0, 0, 0)),
    ("scheme-by-side/gold.conll", "scheme-by-side/pred_bioes.conll", {}, (3, 0, 0, 0)),
    ("outside-tag/dash.conll", "outside-tag/dash.conll", {}, (2, 0, 0, 0)),
    ("outside-tag/lower.conll", "outside-tag/lower.conll", {}, (2, 0, 0, 0)),
    ("answers-think/gold.jsonl", "answers-think/answers.jsonl", {}, (3, 0, 0, 0)),
    ("answers-think/gold.jsonl", "answers-think/answers_batch.jsonl", {}, (3, 0, 0, 0)),
    ("answers-reversed/gold.jsonl", "answers-reversed/answers.jsonl", {}, (3, 0, 0, 0)),
    ("answers-reversed/gold.jsonl", "answers-reversed/answers_map.jsonl", {}, (3, 0, 0, 0)),
    ("answers-not-recognised/gold.jsonl", "answers-not-recognised/answers.jsonl", {}, (3, 0, 0, 0)),
    (
        "answers-not-recognised/gold.jsonl",
        "answers-not-recognised/answers_list.jsonl",
        {},
        (3, 0, 0, 0),
    ),
    ("offset-keys-ignored/gold.jsonl", "offset-keys-ignored/char_start.jsonl", {}, (1, 0, 0, 0)),
    ("offset-keys-ignored/gold.jsonl", "offset-keys-ignored/charOffset.jsonl", {}, (1, 0, 0, 0)),
    ("gold-as-pred-spans/gold.jsonl", "gold-as-pred-spans/pred.jsonl", {"column": "predictions"}, (0, 0, 2, 1)),
    ("spacy-span-groups/gold.jsonl", "spacy-span-groups/pred.jsonl", {}, (2, 0, 0, 0)),
]


@pytest.mark.parametrize(("gold", "pred", "options", "counts"), SCORED)
def test_scores(gold: str, pred: str, options: dict[str, Any], counts: tuple[int, int, int, int]) -> None:
    layer = nereval.read(defect(gold))
    strict = nereval.score(layer, nereval.read(defect(pred), texts=layer, **options)).counts("strict")
    assert (*strict.gold[:2], strict.mis, strict.spu) == counts


def test_indices_from_0_are_not_words() -> None:
    reading = nereval.read(defect("token-index-from-0/wikineural.conllu"))
    assert reading.documents.texts == ("Her visit to Tuvalu was cut short", "In 1975 Warren Beatty sang")
    assert [reading.layer.text(span) for span in range(len(reading.layer))] == ["Tuvalu", "Warren Beatty"]


# Files as gold and prediction, and what the refusal says.
REFUSED = [
    (
        "gold-as-pred-conll-prob/gold.conll",
        "gold-as-pred-conll-prob/pred.txt",
        "2 columns hold tags: column 2 .*column 3",
    ),
    ("gold-as-pred-conll-labelid/gold.conll", "gold-as-pred-conll-labelid/pred.txt", "2 columns hold tags: .*column 3"),
    ("gold-as-pred-csv/gold.conll", "gold-as-pred-csv/pred.csv", "2 columns hold tags: 'label' .*'prediction'"),
    (
        "gold-as-pred-spans/gold.jsonl",
        "gold-as-pred-spans/pred.jsonl",
        "2 keys hold annotations: 'entities' .*'predictions' .*--pred-column predictions",
    ),
]


@pytest.mark.parametrize(("gold", "pred", "finding"), REFUSED)
def test_refusals(gold: str, pred: str, finding: str) -> None:
    with pytest.raises(FormatError) as error:
        nereval.score(defect(gold), defect(pred))
    assert re.search(finding, str(error.value))


# A file, and its spans in words and by type.
READ = [
    ("brat-utf16/brat", [("Anna", "PER"), ("Rome", "LOC")], ["😀 Anna left Rome"]),
    ("markup-containers/i2b2_2006.xml", [("Doe", "PATIENT"), ("GH", "HOSPITAL")], ["Patient Doe seen at GH."]),
    ("markup-containers/tei.xml", [("Anna Smith", "persName"), ("Rome", "placeName")], ["Anna Smith left Rome."]),
    ("ls-text-key/export.json", [("Anna", "PER")], ["Anna left Rome"]),
    ("native-as-list/list.json", [("Anna", "PER")], ["Anna left Rome"]),
    ("native-as-list/pretty.json", [("Anna", "PER")], ["Anna left Rome"]),
    ("prodigy-teach/teach.jsonl", [("Anna", "PER"), ("Rome", "LOC")], ["Anna left Rome"]),
    ("markup-containers/tei_lines.xml", [("Anna", "persName"), ("Rome", "placeName")], ["Anna left Rome today."]),
]


@pytest.mark.parametrize(("file", "spans", "texts"), READ)
def test_texts_and_spans(file: str, spans: list[tuple[str, str]], texts: list[str]) -> None:
    reading = nereval.read(defect(file))
    assert [(reading.layer.text(span), reading.layer.label(span)) for span in range(len(reading.layer))] == spans
    assert [" ".join(text.split()) for text in reading.documents.texts] == texts


@pytest.mark.parametrize(("file", "kind", "nearest"), [("pred", "Location", "LOC"), ("pred_blank", "PER ", "PER")])
def test_types_that_gold_does_not_have(file: str, kind: str, nearest: str) -> None:
    with pytest.warns(TypesNotInGoldWarning, match=f"'{kind}' .nearest in gold: '{nearest}'"):
        nereval.score(defect("type-not-in-gold/gold.jsonl"), defect(f"type-not-in-gold/{file}.jsonl"))


def test_missing_ends_of_sentences_are_outside_on_request() -> None:
    sides = defect("truncated-prediction/gold.txt"), defect("truncated-prediction/pred.txt")
    with pytest.raises(FormatError, match="take these as outside: --truncated outside"):
        nereval.score(*sides)
    scores = nereval.score(*sides, truncated="outside")
    strict = scores.counts("strict")
    assert (strict.cor, strict.inc, strict.mis, strict.spu) == (4, 0, 1, 0)
    assert scores.marks == ("cut off, counted outside: 1 sentence, 3 tokens",)


def test_tags_alone_are_read_beside_gold() -> None:
    folder = "tags-sentence-a-line"
    strict = nereval.score(defect(f"{folder}/gold.conll"), defect(f"{folder}/expected.tsv")).counts("strict")
    assert (strict.cor, strict.inc, strict.mis, strict.spu) == (4, 0, 0, 0)
    with pytest.raises(FormatError, match=r"predictions.txt:1: 4 tags for 3 tokens of gold's sentence 1"):
        nereval.score(defect(f"{folder}/gold.conll"), defect(f"{folder}/predictions.txt"))


def test_a_text_that_is_the_name_of_a_file_is_refused() -> None:
    with pytest.raises(FormatError, match="is the name of a file"):
        nereval.read(defect("ls-text-is-url/export.json"))
