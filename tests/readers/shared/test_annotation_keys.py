"""Keys of JSON records that hold annotations: several are refused until one is named, others are named in a note."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers.recognition.preview import preview
from nereval_core.readers.shared.annotation_keys import types_of_value

PER, LOC = {"start": 0, "end": 4, "label": "PER"}, {"start": 10, "end": 14, "label": "LOC"}
TEXT = {"text": "Anna left Rome"}

LOOKS = [
    ([PER, LOC], ("PER", "LOC")),
    ([{"entity_group": "PER", "word": "Anna", "score": 0.9}], ("PER",)),
    ([[0, 4, "PER"], [10, 14, "LOC"]], ("PER", "LOC")),
    ([["PER", 0, 4, "Anna"]], ("PER",)),
    (["B-PER", "O", "B-LOC"], ("PER", "LOC")),
    ({"PER": ["Anna"], "LOC": [[10, 14]]}, ("PER", "LOC")),
    ([[PER], [], [LOC]], ("PER", "LOC")),
    ([["B-PER", "O"], ["O", "B-LOC"]], ("PER", "LOC")),
    # Relations, tokens, categories, words and embeddings are not annotations.
    ([{"head": 0, "child": 1, "label": "nsubj"}], None),
    (["Anna", "left", "Rome"], None),
    ({"POSITIVE": 0.9, "NEGATIVE": 0.1}, None),
    ([[0, 4], [5, 9]], None),
    ([0.1, 0.2], None),
    ({"date": "1798-01-20", "authors": ["A", "B"], "pages": 3}, None),
    ([], None),
    ("PER", None),
]


@pytest.mark.parametrize(("value", "types"), LOOKS, ids=map(json.dumps, (value for value, _ in LOOKS)))
def test_annotations_are_told_from_other_values(value: Any, types: tuple[str, ...] | None) -> None:
    assert types_of_value(value) == types


def written(folder: Path, *records: Any) -> Source:
    path = folder / "pred.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return Source.of_path(path)


def labels(reading: Reading) -> list[str]:
    return [reading.layer.label(span) for span in range(len(reading.layer))]


# Records with gold under one key and a prediction under another: format, keys, and a list for each key.
RIVALS = [
    ("pipeline", "entities", "predictions", [PER, LOC], [LOC]),
    ("pipeline", "entities", "pred_entities", [PER, LOC], [[10, 14, "LOC"]]),
    ("pipeline", "ents", "predictions", [PER, LOC], [{"entity_group": "LOC", "word": "Rome", "start": 10, "end": 14}]),
    ("prodigy", "spans", "pred_spans", [PER, LOC], [LOC]),
    ("prodigy", "spans", "predictions", [PER, LOC], [LOC]),
    ("doccano", "label", "prediction", [[0, 4, "PER"], [10, 14, "LOC"]], [[10, 14, "LOC"]]),
    (
        "pubannotation",
        "denotations",
        "predictions",
        [{"span": {"begin": 0, "end": 4}, "obj": "PER"}, {"span": {"begin": 10, "end": 14}, "obj": "LOC"}],
        [{"span": {"begin": 10, "end": 14}, "obj": "LOC"}],
    ),
    ("doccano", "label", "entities", [[0, 4, "PER"], [10, 14, "LOC"]], [[10, 14, "LOC"]]),
]


@pytest.mark.parametrize(("format", "gold", "pred", "of_gold", "of_pred"), RIVALS)
def test_one_of_several_keys_is_named(
    tmp_path: Path, format: str, gold: str, pred: str, of_gold: list[Any], of_pred: list[Any]
) -> None:
    source = written(tmp_path, TEXT | {gold: of_gold, pred: of_pred})
    with pytest.raises(FormatError) as refusal:
        read(source)
    (problem,) = refusal.value.problems
    assert (problem.line, problem.found.startswith("2 keys hold annotations: ")) == (1, True)
    assert f"--gold-column {gold} --pred-column {pred}" in problem.remedy
    assert labels(read(source, options=ReadOptions(column=gold))) == ["PER", "LOC"]
    assert labels(read(source, options=ReadOptions(column=pred))) == ["LOC"]
    assert [column.number for column in preview(source).tags] == [gold, pred]


def test_a_prediction_without_spans_is_a_choice_too(tmp_path: Path) -> None:
    source = written(tmp_path, TEXT | {"entities": [PER], "predictions": []})
    with pytest.raises(FormatError, match=r"'predictions' .nothing"):
        read(source)
    assert labels(read(source, options=ReadOptions(column="predictions"))) == []


@pytest.mark.parametrize(("empty", "filled"), [("entities", "predictions"), ("ents", "entities"), ("label", "labels")])
def test_a_key_that_is_empty_throughout_hides_no_other(tmp_path: Path, empty: str, filled: str) -> None:
    triples = empty == "label"
    source = written(tmp_path, TEXT | {empty: [], filled: [[0, 4, "PER"]] if triples else [PER]}, TEXT | {empty: []})
    assert labels(read(source)) == ["PER"]


@pytest.mark.parametrize(("gold", "of_gold"), [("entities", [PER]), ("label", [[0, 4, "PER"]]), ("spans", [PER])])
def test_annotations_in_a_string_of_json_are_a_choice(tmp_path: Path, gold: str, of_gold: list[Any]) -> None:
    of_pred = [[10, 14, "LOC"]] if gold == "label" else [LOC]
    source = written(tmp_path, TEXT | {gold: of_gold, "predictions": json.dumps(of_pred)})
    with pytest.raises(FormatError, match=f"2 keys hold annotations: '{gold}' .*'predictions' .LOC"):
        read(source)
    assert labels(read(source, options=ReadOptions(column="predictions"))) == ["LOC"]


@pytest.mark.parametrize(
    "names", [("gold", "pred"), ("y_true", "y_pred"), ("reference", "hypothesis"), ("spans", "gliner")]
)
def test_keys_of_any_name_are_a_choice(tmp_path: Path, names: tuple[str, str]) -> None:
    gold, pred = names
    source = written(tmp_path, {"id": "d"} | TEXT | {gold: [PER], pred: [LOC]})
    with pytest.raises(FormatError, match=f"2 keys hold annotations: '{gold}' .PER., '{pred}' .LOC"):
        read(source)
    assert labels(read(source, options=ReadOptions(column=pred))) == ["LOC"]
    assert [column.number for column in preview(source).tags] == [gold, pred]


@pytest.mark.parametrize("key", ["ner", "output", "predicted_entities"])
def test_one_key_of_any_name_is_read_and_named(tmp_path: Path, key: str) -> None:
    reading = read(written(tmp_path, {"id": "d"} | TEXT | {key: [PER]}))
    assert (reading.format, labels(reading)) == ("pipeline", ["PER"])
    assert f"entities taken from '{key}'" in reading.notes


def test_a_second_key_in_a_later_record_is_met(tmp_path: Path) -> None:
    source = written(tmp_path, TEXT | {"entities": [PER]}, TEXT | {"entities": [PER], "predictions": [LOC]})
    with pytest.raises(FormatError) as refusal:
        read(source)
    assert refusal.value.problems[0].line == 2


def test_keys_that_are_never_in_one_record_are_read_alike(tmp_path: Path) -> None:
    source = written(tmp_path, TEXT | {"label": [[0, 4, "PER"]]}, TEXT | {"label": [[10, 14, "LOC"]]})
    both = written(tmp_path, TEXT | {"label": [[0, 4, "PER"]]}, TEXT | {"labels": [[10, 14, "LOC"]]})
    assert labels(read(source)) == labels(read(both)) == ["PER", "LOC"]


def test_words_called_like_a_prediction_are_named(tmp_path: Path) -> None:
    reading = read(written(tmp_path, TEXT | {"entities": [PER], "model_output": "Anna is a person", "relations": []}))
    assert "not read, though called like predictions: 'model_output'" in reading.notes


@pytest.mark.parametrize(("key", "text"), [("entities", "no list"), ("label", "[0, 4, PER]")])
def test_words_under_a_usual_key_are_refused(tmp_path: Path, key: str, text: str) -> None:
    with pytest.raises(FormatError, match=f"{key} is a string; write a list"):
        read(written(tmp_path, TEXT | {key: text, "predictions": text}))


@pytest.mark.parametrize(("key", "name"), [("entities", "pred_label"), ("spans", "label_pred"), ("ents", "model_type")])
def test_two_types_of_one_span_are_refused(tmp_path: Path, key: str, name: str) -> None:
    source = written(tmp_path, TEXT | {key: [PER]}, TEXT | {key: [LOC | {name: "PER"}]})
    with pytest.raises(FormatError, match=f"hold two types, 'label' and '{name}'") as refusal:
        read(source)
    assert refusal.value.problems[0].line == 2


def test_chunks_beside_entities_are_not_asked_about(tmp_path: Path) -> None:
    assert labels(read(written(tmp_path, TEXT | {"entities": [PER], "noun_chunks": [LOC | {"label": "NP"}]}))) == [
        "PER"
    ]


def test_a_key_that_no_record_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no record has annotations under the key 'guess'; choose among 'entities'"):
        read(written(tmp_path, TEXT | {"entities": [PER]}), options=ReadOptions(column="guess"))


@pytest.mark.parametrize(("ents", "groups", "types"), [([], {"sc": [LOC]}, ["LOC"]), ([PER], {"sc": []}, ["PER"])])
def test_the_span_group_or_the_entities_of_spacy_are_read(
    tmp_path: Path, ents: list[Any], groups: dict[str, list[Any]], types: list[str]
) -> None:
    tokens = [{"id": 0, "start": 0, "end": 4, "tag": "NNP", "head": 1}]
    assert labels(read(written(tmp_path, TEXT | {"ents": ents, "spans": groups, "tokens": tokens}))) == types


def test_several_span_groups_of_spacy_are_a_choice(tmp_path: Path) -> None:
    source = written(tmp_path, TEXT | {"ents": [PER], "spans": {"sc": [LOC], "drugs": [PER, LOC]}})
    with pytest.raises(FormatError, match=r"3 keys hold annotations: 'ents' .*'sc' .*'drugs'"):
        read(source)
    assert labels(read(source, options=ReadOptions(column="drugs"))) == ["PER", "LOC"]
