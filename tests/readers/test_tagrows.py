"""Rows of tags: sentences in two cells, lists in cells, and tags alone for gold's tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

import nereval_core as nereval
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from tests.support.commands import Cli
from tests.support.readings import span_texts

SPANS = [("Ann", "PER"), ("New York", "LOC"), ("Bob", "PER")]
GOLD = "Ann\tB-PER\nin\tO\nNew\tB-LOC\nYork\tI-LOC\n\nBob\tB-PER\nstayed\tO\n"


def read_text(text: str, name: str = "x.csv", format: str = "auto", **options: object) -> Reading:
    return read(Source.of_uploads([(name, text.encode())]), format=format, options=ReadOptions(**options))  # type: ignore[arg-type]


ROWS = {
    "two cells": "Ann in New York\tB-PER O B-LOC I-LOC\nBob stayed\tB-PER O\n",
    "tags first": "B-PER O B-LOC I-LOC\tAnn in New York\nB-PER O\tBob stayed\n",
    "an id before": "7\tAnn in New York\tB-PER O B-LOC I-LOC\n8\tBob stayed\tB-PER O\n",
    "a header": "sentence,labels\nAnn in New York,B-PER O B-LOC I-LOC\nBob stayed,B-PER O\n",
    "semicolons": "tokens;tags\nAnn in New York;B-PER O B-LOC I-LOC\nBob stayed;B-PER O\n",
    "commas between tags": 'text,word_labels\nAnn in New York,"B-PER,O,B-LOC,I-LOC"\nBob stayed,"B-PER,O"\n',
    "Python's lists": "tokens,ner_tags\n\"['Ann', 'in', 'New', 'York']\",\"['B-PER', 'O', 'B-LOC', 'I-LOC']\"\n"
    "\"['Bob', 'stayed']\",\"['B-PER', 'O']\"\n",
    "JSON's lists": 'tokens\tner_tags\n["Ann", "in", "New", "York"]\t["B-PER", "O", "B-LOC", "I-LOC"]\n'
    '["Bob", "stayed"]\t["B-PER", "O"]\n',
    "numpy's lists": "id,tokens,ner_tags\n7,['Ann' 'in' 'New' 'York'],['B-PER' 'O' 'B-LOC'\n 'I-LOC']\n".replace(
        "['B-PER' 'O' 'B-LOC'\n 'I-LOC']", "\"['B-PER' 'O' 'B-LOC'\n 'I-LOC']\""
    )
    + "8,['Bob' 'stayed'],['B-PER' 'O']\n",
    "other columns": "index,tokens,pos_tags,ner_tags\n0,\"['Ann', 'in', 'New', 'York']\","
    "\"['NNP', 'IN', 'NNP', 'NNP']\",\"['B-PER', 'O', 'B-LOC', 'I-LOC']\"\n"
    "1,\"['Bob', 'stayed']\",\"['NNP', 'VBD']\",\"['B-PER', 'O']\"\n",
}


@pytest.mark.parametrize("text", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.txt"])
def test_words_and_tags_in_cells(text: str, name: str) -> None:
    reading = read_text(text, name)
    assert (reading.format, reading.scheme) == ("tagrows", "IOB2")
    assert [(one[1], one[2]) if len(one) > 2 else one for one in span_texts(reading.layer)] == SPANS
    assert list(reading.documents.texts) == ["Ann in New York", "Bob stayed"]
    assert reading.documents.ids == (("7", "8") if text.startswith("id,") else ("1", "2"))


def test_words_of_lists_hold_quotes_and_brackets() -> None:
    text = "tokens,tags\n\"[\"\"'s\"\", '[', '\\'', 'a b']\",\"['O', 'O', 'O', 'B-X']\"\n"
    assert list(read_text(text).documents.texts) == ["'s [ ' a b"]


def test_numbers_in_lists_are_places_in_labels() -> None:
    from nereval_core.readers.shared.label_list import label_list

    text = "tokens,ner_tags\n\"['Ann', 'left']\",\"[1, 0]\"\n"
    assert span_texts(read_text(text, labels=label_list("O,B-PER")).layer) == span_texts(
        read_text("Ann left\tB-PER O\n").layer
    )
    with pytest.raises(FormatError, match="numbers of labels; give the labels in order, --labels"):
        read_text(text)


ALONE = {
    "blanks": "B-PER O B-LOC I-LOC\nO O\n",
    "lists": "['B-PER', 'O', 'B-LOC', 'I-LOC']\n['O', 'O']\n",
    "commas": "B-PER,O,B-LOC,I-LOC\nO,O\n",
    "blank lines": "\nB-PER O B-LOC I-LOC\n\nO O\n\n",
    "ids in a table": "sentence_id,prediction\n1,B-PER O B-LOC I-LOC\n2,O O\n",
}


@pytest.mark.parametrize("text", ALONE.values(), ids=ALONE)
@pytest.mark.parametrize("marks", ["", "-DOCSTART-\tO\n\n"])
def test_tags_alone_are_those_of_golds_tokens(command: Cli, text: str, marks: str) -> None:
    Path("gold.conll").write_text(marks + GOLD)
    Path("predictions.txt").write_text(text)
    scores = nereval.score("gold.conll", "predictions.txt").counts("strict")
    assert (scores.cor, scores.mis, scores.spu) == (2, 1, 0)
    status, out, err = command("score", "gold.conll", "predictions.txt", "--criteria", "strict")
    assert status == 0 and "tags without words: gold's tokens have them" in err
    # A published scorer takes them as the layer that they are.
    status, out, _ = command("score", "gold.conll", "predictions.txt", "--convention", "conlleval", "--as-reference")
    assert (status, out.splitlines()[0]) == (0, "processed 6 tokens with 3 phrases; found: 2 phrases; correct: 2.")


REFUSED = [
    (
        "B-PER O B-LOC\nO O O\n",
        [
            "pred.txt:1: 3 tags for 4 tokens of gold's sentence 1, 'Ann in New York'; give one tag for each",
            "pred.txt:2: 3 tags for 2 tokens of gold's sentence 2, 'Bob stayed'; give one tag for each",
        ],
    ),
    ("B-PER O B-LOC I-LOC\n", ["pred.txt:1: 1 row of tags for 2 sentences of gold; give one row for each"]),
    (
        "B-PER O B-LOC I-LOC\nO O\nO O\n",
        ["pred.txt:3: 3 rows of tags for 2 sentences of gold; give one row for each"],
    ),
    (
        "Ann in New York\tB-PER O B-LOC\nBob stayed\tB-PER O\n" * 5,
        ["pred.txt:1: 3 tags for 4 words (and 4 more like it, to line 9); give one tag"],
    ),
    ("B-PER I-LOC B-LOC I-LOC\nB-PER O\n", ["pred.txt:1: 'I-LOC' after 'B-PER' is not legal in IOB2"]),
    (
        "words,tags,predictions\nAnn in,B-PER O,O B-PER\n",
        ["pred.txt:1: 2 columns hold tags: 'tags' (PER), 'predictions' (PER); name one: --column tags"],
    ),
]


@pytest.mark.parametrize(("text", "findings"), REFUSED)
def test_complaints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, findings: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gold.conll").write_text(GOLD)
    Path("pred.txt").write_text(text)
    with pytest.raises(FormatError) as error:
        nereval.score("gold.conll", "pred.txt")
    assert [line.startswith(finding) for line, finding in zip(error.value.lines(), findings, strict=False)] == [
        True
    ] * len(findings), error.value.lines()


def test_a_column_is_chosen_by_name_or_number() -> None:
    text = "words,tags,predictions\nAnn in,B-PER O,O B-PER\n"
    for column in ("predictions", 3):
        assert [span[-2] for span in span_texts(read_text(text, column=column).layer)] == ["in"]
    with pytest.raises(FormatError, match=r"column 'words' does not hold rows of tags; name one of 'tags', 'predict"):
        read_text(text, column="words")


def test_tags_alone_are_no_gold(tmp_path: Path) -> None:
    (tmp_path / "gold.tags").write_text(ALONE["blanks"])
    with pytest.raises(FormatError, match="tags without words; put the words before the tags"):
        nereval.score(tmp_path / "gold.tags", tmp_path / "gold.tags")


OTHERS = [
    ("conll", "Ann\tB-PER\nO\tO\n"),
    ("conll", "B B-PER\nO O\n\nO O\nI B-PER\n"),
    ("conll", "1 Ann B-PER\n2 O O\n"),
    ("tokentable", "word,tag\nAnn,B-PER\nleft,O\n"),
    ("slashtags", "Ann/PER left/O ./O\n"),
]


@pytest.mark.parametrize(("format", "text"), OTHERS)
def test_rows_of_single_tokens_are_other_formats(format: str, text: str) -> None:
    assert read_text(text, "x.tsv" if "," not in text else "x.csv").format == format


TRUNCATED = {
    "sentences are documents": ("", "B-PER O\nB-PER\n"),
    "documents of sentences": ("-DOCSTART-\tO\n\n", "B-PER O\nB-PER\n"),
    "lists": ("", "['B-PER', 'O']\n['B-PER']\n"),
}


@pytest.mark.parametrize(("marks", "tags"), TRUNCATED.values(), ids=TRUNCATED)
def test_tags_alone_that_are_cut_off(marks: str, tags: str, tmp_path: Path) -> None:
    gold, pred = tmp_path / "gold.conll", tmp_path / "predictions.txt"
    gold.write_text(marks + GOLD)
    pred.write_text(tags)
    with pytest.raises(FormatError, match=r"sentences are missing \(2 sentences and 3 tokens\), .*--truncated outside"):
        nereval.score(gold, pred)
    counts = nereval.score(gold, pred, truncated="outside").counts("strict")
    assert (counts.cor, counts.pos, counts.act) == (2, 3, 2)


NUMBERS = {
    "labels": "LABEL_1 LABEL_0 LABEL_2 LABEL_3\nLABEL_1 LABEL_0\n",
    "numbers": "1 0 2 3\n1 0\n",
    "a list of lists": "[[1, 0, 2, 3],\n [1, 0]]\n",
    "strings": '[["B-PER", "O", "B-LOC", "I-LOC"], ["B-PER", "O"]]',
    "strings, pretty": '[\n [\n  "B-PER",\n  "O",\n  "B-LOC",\n  "I-LOC"\n ],\n [\n  "B-PER",\n  "O"\n ]\n]\n',
}


@pytest.mark.parametrize("tags", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("name", ["p.txt", "p.json"])
def test_tags_alone_as_numbers_and_in_a_list(tags: str, name: str, tmp_path: Path) -> None:
    from nereval_core.readers.shared.label_list import label_list

    gold = read_text(GOLD, "gold.conll")
    labels = label_list("O,B-PER,B-LOC,I-LOC")
    reading = read_text(tags, name, labels=labels, texts=gold.documents)
    assert (reading.format, span_texts(reading.layer)) == ("tagrows", span_texts(gold.layer))
    if "B-PER" not in tags:
        with pytest.raises(FormatError, match="numbers of labels; give the labels in order, --labels"):
            read_text(tags, name, texts=gold.documents)


def test_a_list_of_lists_that_breaks_off_is_refused() -> None:
    with pytest.raises(FormatError, match="something else than lists of tags in a list"):
        read_text('[["B-PER", "O"], ["B-PER', texts=read_text(GOLD, "gold.conll").documents)


def test_few_tokens_outside_are_not_rows_of_types() -> None:
    assert read_text("Anna O\nBob O\n", "x.txt").format == "conll"
