"""Objects of pandas, spaCy, Hugging Face and GLiNER are scored as the same spans given plainly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import nereval_core as nereval
from nereval_core.problems import FormatError
from nereval_core.readers.python_objects import read_objects

TEXTS = ["Ann saw Bob in Rome", "nobody", "Rome"]
GOLD = [[(0, 3, "PER"), (8, 11, "PER"), (15, 19, "LOC")], [], [(0, 4, "LOC")]]
PRED = [[(0, 3, "PER"), (15, 19, "PER")], [(0, 6, "PER")], []]
SCORES = [[0.9, 0.25], [0.5], []]
FEATURES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


class DataSet:
    """A data set with the parts of `datasets.Dataset` that are read: columns by name, and their features."""

    def __init__(self, columns: dict[str, list[Any]], labels: dict[str, list[str]]) -> None:
        self.columns = columns
        self.column_names = list(columns)
        feature = {
            name: type("Sequence", (), {"feature": type("ClassLabel", (), {"names": labels[name]})}) for name in labels
        }
        self.features = {name: feature.get(name) for name in columns}

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]


def figures(gold: Any, pred: Any, **options: Any) -> list[tuple[int, ...]]:
    scores = nereval.score(gold, pred, **options)
    found = [scores.counts(name) for name in ("strict", "exact", "partial", "type")]
    return [(one.cor, one.inc, one.par, one.mis, one.spu) for one in found]


EXPECTED = [(1, 1, 0, 2, 1), (2, 0, 0, 2, 1), (2, 0, 0, 2, 1), (1, 1, 0, 2, 1)]


def frame(documents: list[list[tuple[int, int, str]]], **renamed: str) -> pd.DataFrame:
    rows = [(f"d{number}", *span) for number, spans in enumerate(documents) for span in spans or [(None, None, None)]]
    return pd.DataFrame(rows, columns=["document", "start", "end", "label"]).rename(columns=renamed)


def test_the_figures_are_those_of_tuples() -> None:
    assert figures(GOLD, PRED) == EXPECTED


def test_frames() -> None:
    assert figures(frame(GOLD), frame(PRED)) == EXPECTED
    # A prediction may leave out documents and give them in any order.
    assert figures(frame(GOLD), frame(PRED).dropna().sample(frac=1, random_state=0)) == EXPECTED
    odd = {"document": "which", "start": "a", "end": "b", "label": "kind"}
    named = {"document": "which", "start": "a", "end": "b", "type": "kind"}
    gold = read_objects(frame(GOLD, **odd), columns=named)
    assert gold.documents.ids == ("d0", "d1", "d2")
    assert figures(gold, frame(PRED)) == EXPECTED
    texts = frame(GOLD).assign(text=[TEXTS[0]] * 3 + TEXTS[1:])
    assert list(read_objects(texts).documents.texts) == TEXTS
    assert figures(texts, frame(PRED)) == EXPECTED


def test_frames_keep_scores() -> None:
    scored = frame(PRED).assign(score=[0.9, 0.25, 0.5, None])
    reading = read_objects(scored, name="pred")
    assert [reading.layer.scores.get(span) for span in range(3)] == [0.9, 0.25, 0.5]


@pytest.mark.parametrize(
    ("bad", "columns", "said"),
    [
        (frame(GOLD, label="what"), None, "gold: no column for type among "),
        (frame(GOLD), {"start": "nix"}, "gold: no column for start among "),
        (frame(GOLD), {"beginning": "start"}, "gold: a column is named for beginning; name those for document"),
        (frame([[(3, 0, "PER")]]), None, "gold[0][0]: span [3, 0)"),
        (frame([[(0, 3, 7)]]), None, "gold[0][0]: type is an integer"),  # type: ignore[list-item]
    ],
)
def test_frames_that_are_refused(bad: pd.DataFrame, columns: dict[str, str] | None, said: str) -> None:
    with pytest.raises(FormatError) as error:
        read_objects(bad, columns=columns)
    assert error.value.lines()[0].startswith(said)


def test_a_document_that_gold_lacks_is_named() -> None:
    with pytest.raises(FormatError) as error:
        nereval.score(frame(GOLD).dropna(), frame(PRED))
    assert error.value.lines() == [
        "pred, row 2: the document 'd1' is not in gold; give gold a row with this id, without start and end where it "
        "has no span"
    ]


def test_docs_spans_and_examples() -> None:
    spacy = pytest.importorskip("spacy")
    from spacy.training import Example

    blank = spacy.blank("en")

    def docs(documents: list[list[tuple[int, int, str]]]) -> list[Any]:
        made = [blank(text) for text in TEXTS]
        for doc, spans in zip(made, documents, strict=True):
            doc.ents = [doc.char_span(*span[:2], label=span[2]) for span in spans]
        return made

    gold, pred = docs(GOLD), docs(PRED)
    assert figures(gold, pred) == EXPECTED
    assert figures(GOLD, [list(doc.ents) for doc in pred]) == EXPECTED
    examples = [Example(theirs, ours) for theirs, ours in zip(pred, gold, strict=True)]
    assert figures(examples, examples) == EXPECTED
    reading = read_objects(gold)
    assert list(reading.documents.texts) == TEXTS
    assert reading.documents.tokens is not None and len(reading.documents.tokens.starts) == 5 + 1 + 1
    # Texts of a prediction are held against gold's.
    with pytest.raises(FormatError):
        nereval.score(gold, [blank("another"), *pred[1:]])


def test_entities_of_pipelines_and_of_gliner() -> None:
    grouped = [
        [
            {"entity_group": kind, "score": np.float32(score), "word": "x", "start": start, "end": end}
            for (start, end, kind), score in zip(spans, scores, strict=True)
        ]
        for spans, scores in zip(PRED, SCORES, strict=True)
    ]
    gliner = [
        [
            {"start": start, "end": end, "text": TEXTS[number][start:end], "label": kind, "score": score}
            for (start, end, kind), score in zip(spans, scores, strict=True)
        ]
        for number, (spans, scores) in enumerate(zip(PRED, SCORES, strict=True))
    ]
    for given in (grouped, gliner):
        assert figures(GOLD, given) == EXPECTED
        assert figures(GOLD, given, texts=TEXTS) == EXPECTED
        layer = read_objects(given, name="pred").layer
        assert [layer.scores[span] for span in range(3)] == pytest.approx([0.9, 0.25, 0.5])
    pieces = [[{"entity": "B-PER", "score": 1.0, "index": 1, "word": "An", "start": 0, "end": 2}]]
    pieces[0].append({"entity": "I-PER", "score": 0.5, "index": 2, "word": "##n", "start": 2, "end": 3})
    layer = read_objects(pieces).layer
    assert (layer.start.tolist(), layer.end.tolist(), layer.scores[0]) == ([0], [3], 0.75)
    with pytest.raises(FormatError, match="fast tokenizer"):
        read_objects([[{"entity": "B-PER", "score": 1.0, "word": "An", "start": None, "end": None}]])


def test_data_sets() -> None:
    words = [text.split() for text in TEXTS]
    tags = [["B-PER", "O", "B-PER", "O", "B-LOC"], ["O"], ["B-LOC"]]
    numbers = [[FEATURES.index(tag) for tag in row] for row in tags]
    given = DataSet({"id": ["a", "b", "c"], "tokens": words, "ner_tags": numbers}, {"ner_tags": FEATURES})
    reading = read_objects(given)
    assert reading.documents.ids == ("a", "b", "c")
    assert list(reading.documents.texts) == TEXTS
    assert figures(given, PRED) == EXPECTED
    assert figures(read_objects(numbers, labels=FEATURES), read_objects(tags)) == [(4, 0, 0, 0, 0)] * 4
    entities = [
        {"start": [s[0] for s in row], "end": [s[1] for s in row], "label": [s[2] for s in row]} for row in PRED
    ]
    assert figures(GOLD, DataSet({"text": TEXTS, "entities": entities}, {}), texts=TEXTS) == EXPECTED
    with pytest.raises(FormatError, match=r"gold\[0\]\[1\]: 9 is not a place in a list of 5 labels"):
        read_objects([[0, 9]], labels=FEATURES)
    for column, values in (("predictions", numbers), ("silver", tags), ("pred_entities", [[], entities, []])):
        rows = {"tokens": words, "ner_tags": numbers, column: values}
        with pytest.raises(FormatError, match=f"2 columns hold annotations, 'ner_tags' and '{column}'"):
            read_objects(DataSet(rows, {"ner_tags": FEATURES}))
    with pytest.raises(FormatError, match="a data set with the columns 'words_', 'x'"):
        read_objects(DataSet({"words_": [], "x": []}, {}))
