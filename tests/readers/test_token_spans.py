"""Rows of tokens with spans over them: GLiNER's training data, SciERC and DyGIE."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read

GLINER = {"tokenized_text": ["Ann", "Lee", "left", "Rome"], "ner": [[0, 1, "PER"], [1, 1, "LAST"], [3, 3, "LOC"]]}
DYGIE = {
    "doc_key": "d1",
    "sentences": [["Ann", "left"], ["To", "New", "York"]],
    "ner": [[[0, 0, "PER"]], [[3, 4, "LOC"]]],
    "predicted_ner": [[], [[4, 4, "LOC", 7.1, 0.75]]],
}


def rows(*given: Any, **options: Any) -> Reading:
    raw = "".join(json.dumps(row) + "\n" for row in given).encode()
    return read(Source.of_uploads([("x.jsonl", raw)]), options=ReadOptions(**options))


def words(found: Reading) -> list[tuple[str, str]]:
    return [(found.layer.text(span), found.layer.label(span)) for span in range(len(found.layer))]


def test_training_data_of_gliner() -> None:
    found = rows(GLINER, GLINER)
    assert (found.format, found.documents.ids, found.documents.named) == ("datasets", ("1", "2"), False)
    assert words(found)[:3] == [("Ann Lee", "PER"), ("Lee", "LAST"), ("Rome", "LOC")]
    assert found.documents.tokens is not None and len(found.documents.tokens.starts) == 8


@pytest.mark.parametrize("key", ["relations", "events", "clusters"])
def test_lists_of_dygie_that_are_empty_in_every_sentence_are_not_asked_about(key: str) -> None:
    row = {name: value for name, value in DYGIE.items() if name != "predicted_ner"}
    assert words(rows(row | {key: [[], []]})) == [("Ann", "PER"), ("New York", "LOC")]


def test_dygie_and_its_predictions() -> None:
    with pytest.raises(
        FormatError, match=r"2 keys hold spans: 'ner' .*, 'predicted_ner' .*--pred-column predicted_ner"
    ):
        rows(DYGIE)
    with pytest.raises(FormatError, match=r"2 keys hold spans: 'ner' .*, 'predicted_ner' "):
        rows({**DYGIE, "predicted_ner": [[], []]})
    found = rows(DYGIE, column="ner")
    assert list(found.documents.texts) == ["Ann left\nTo New York"]
    assert (found.documents.ids, words(found)) == (("d1",), [("Ann", "PER"), ("New York", "LOC")])
    assert found.documents.sentences is not None
    assert list(zip(found.documents.sentences.starts, found.documents.sentences.ends, strict=True)) == [(0, 8), (9, 20)]
    predicted = rows(DYGIE, column="predicted_ner")
    assert (words(predicted), predicted.layer.scores[0]) == ([("York", "LOC")], 0.75)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            {"tokenized_text": ["a"], "ner": [[0, 1, "X"]]},
            "ner[0] is [0, 1], and there is 1 token; count tokens from 0",
        ),
        ({"tokenized_text": ["a"], "ner": [[0, "X"]]}, "ner[0] is not a span"),
        ({"tokenized_text": ["a"], "ner": [[0, 0, 3]]}, "ner[0] has no type"),
        ({"tokenized_text": ["a", ""], "ner": []}, "no list of words under tokenized_text or sentences"),
        ({"tokenized_text": "a", "ner": []}, "no list of words"),
        ({"sentences": [["a"]], "ner": 3}, "no list of spans under ner"),
        ({"sentences": [["a"]], "ner": [[[1, 0, "X"]]]}, "ner[0] is [1, 0], and there is 1 token"),
        ([], "no list of words"),
    ],
)
def test_problems_have_lines(row: Any, said: str) -> None:
    with pytest.raises(FormatError) as error:
        rows(GLINER, row)
    assert [str(problem)[: len(said) + 11] for problem in error.value.problems] == [
        f"x.jsonl:2: {said}"[: len(said) + 11]
    ]
