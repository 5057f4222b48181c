"""Predictions as taggers give them: Hugging Face pieces and groups, GLiNER, spaCy; what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Documents
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from tests.support.draws import draws
from tests.support.samples import GLINER, GROUPS, PIECES, SPACY_DOC, lines


def read_text(text: str) -> Reading:
    return read(Source.of_uploads([("out.jsonl", text.encode())]), format="pipeline")


def spans(reading: Reading) -> list[tuple[str, str, str, float | None]]:
    layer = reading.layer
    ids = layer.documents.ids
    return [
        (ids[int(layer.doc[span])], layer.text(span), layer.label(span), layer.scores.get(span))
        for span in range(len(layer))
    ]


def test_pieces_are_joined_by_their_offsets_with_their_mean_score() -> None:
    reading = read_text(PIECES)
    assert spans(reading) == [("h1", "Hugging Face", "ORG", 0.5), ("h1", "New York", "LOC", 0.75)]
    assert reading.notes == ("pieces of words joined to those before them: 3",)


def test_groups_gliner_and_spacy_are_read_as_they_are() -> None:
    reading = read_text(GROUPS)
    assert spans(reading) == [("1", "Clara", "PER", 0.9965)]
    assert (reading.documents.texts[1], reading.documents.named, reading.notes) == ("none", False, ())
    reading = read_text(GLINER)
    assert spans(reading) == [("1", "Cristiano Ronaldo", "person", 0.98)]
    assert reading.notes == ("offsets in code points, end exclusive: 1 of 1 quotes match",)
    assert spans(read_text(SPACY_DOC)) == [("1", "Uber", "ORG", None)]


def test_what_spacy_itself_writes_is_read() -> None:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    doc = spacy.blank("en")("Ann 😀 met Bob Lee.")
    doc.ents = [doc.char_span(0, 3, label="PERSON"), doc.char_span(10, 17, label="PERSON")]
    raw = lines(doc.to_json())
    reading = read(Source.of_uploads([("out.jsonl", raw.encode())]))
    found = [("1", "Ann", "PERSON", None), ("1", "Bob Lee", "PERSON", None)]
    assert (reading.format, spans(reading)) == ("pipeline", found)


def test_gliner_may_say_how_sure_it_is_of_each_type() -> None:
    """GLiNER's predict_entities with return_class_probs."""
    entity = {"start": 0, "end": 3, "text": "Ann", "label": "person", "score": 0.5, "class_probs": {"person": 0.5}}
    reading = read(Source.of_uploads([("out.jsonl", lines({"text": "Ann met Bob", "entities": [entity]}).encode())]))
    assert (reading.format, spans(reading)) == ("pipeline", [("1", "Ann", "person", 0.5)])


@pytest.mark.parametrize("key", ["entity", "entity_group"])
def test_tokens_in_no_entity_are_left_out(key: str) -> None:
    """A pipeline with ignore_labels=[] gives them too."""
    given = [(0, 3, "PER"), (4, 7, "O"), (8, 11, "PER")]
    rows = [{key: tag, "score": 0.5, "word": "x", "start": start, "end": end} for start, end, tag in given]
    reading = read_text(lines({"text": "Ann met Bob", "entities": rows}))
    assert spans(reading) == [("1", "Ann", "PER", 0.5), ("1", "Bob", "PER", 0.5)]
    assert reading.notes == ("tokens tagged O, left out: 1",)
    # Other taggers write no tags, and O means the same.
    other = {"start": 0, "end": 3, "label": "O"}
    assert spans(read_text(lines({"text": "Ann", "entities": [other]}))) == []


def pieces(*tags: tuple[int, str]) -> str:
    """Return a text of words of one letter, with a piece for each number and tag."""
    entities = [{"entity": tag, "index": at, "word": "a", "start": 2 * at, "end": 2 * at + 1} for at, tag in tags]
    return lines({"text": "a " * 9, "entities": entities})


JOINED = [
    # (pieces by number and tag, spans by first and last number)
    ([(1, "B-A"), (2, "I-A"), (3, "I-A")], [(1, 3, "A")]),
    ([(1, "B-A"), (2, "B-A")], [(1, 1, "A"), (2, 2, "A")]),
    ([(1, "I-A"), (3, "I-A")], [(1, 1, "A"), (3, 3, "A")]),
    ([(1, "B-A"), (2, "I-B")], [(1, 1, "A"), (2, 2, "B")]),
    ([(1, "A"), (2, "A"), (3, "B")], [(1, 2, "A"), (3, 3, "B")]),
    ([(1, "I-A-B"), (2, "I-A-B")], [(1, 2, "A-B")]),
    ([(1, "B-")], [(1, 1, "B-")]),
]


@pytest.mark.parametrize(("given", "expected"), JOINED)
def test_which_pieces_are_joined(given: list[tuple[int, str]], expected: list[tuple[int, int, str]]) -> None:
    layer = read_text(pieces(*given)).layer
    found = zip(layer.start.tolist(), layer.end.tolist(), strict=True)
    assert [(start // 2, end // 2, layer.label(at)) for at, (start, end) in enumerate(found)] == expected


def test_groups_keep_their_names_and_stand_alone() -> None:
    entity = {"entity_group": "I-A", "start": 0, "end": 1, "index": 1}
    reading = read_text(lines({"text": "a b", "entities": [entity, entity | {"start": 2, "end": 3}]}))
    assert spans(reading) == [("1", "a", "I-A", None), ("1", "b", "I-A", None)]


def row(*entities: Any, **more: Any) -> str:
    return json.dumps({"text": "abc", "entities": list(entities), **more})


GOOD = {"start": 0, "end": 1, "label": "A"}
REFUSED = [
    # (second line, said)
    ("[[]]", "a list where a text should be; write an object with text and entities on each line"),
    ('{"entities": []}', "no text; write an object with text and entities on each line"),
    (
        '{"text": "abc"}',
        "no list of entities; write one under entities, ents, predictions, Entities, results, empty where there are "
        "none",
    ),
    ('{"text": "abc", "entities": {}}', "entities is an object; write a list"),
    (row(GOOD, 7), "entities[1] is not an entity; give start, end and one of entity_group, label, entity"),
    (row({"start": 0, "end": 1}), "entities[0] is not an entity"),
    (row(GOOD | {"start": "0"}), "entities[0] is not an entity"),
    (row(GOOD | {"label": None}), "entities[0] is not an entity"),
    (row(GOOD | {"start": None, "end": None}), "entities[0] has no offsets; run the pipeline with a fast tokenizer"),
    (row(GOOD | {"label": ""}), "a span without a usable type"),
    (row(GOOD | {"end": 4}), "0 to 4 is not a place in the text of 3 characters; offsets are read as code points"),
    (row(GOOD | {"start": 1}), "1 to 1 is not a place in the text of 3 characters"),
    (row(GOOD)[:-1], "not JSON at position"),
]


@pytest.mark.parametrize(("line", "said"), REFUSED)
def test_refuses_with_the_line(line: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(row(GOOD) + "\n" + line + "\n" + row(GOOD))
    [problem] = caught.value.problems
    assert str(problem).startswith("out.jsonl:2: ")
    assert said in str(problem)


@draws(20)
@given(st.lists(st.sampled_from(["B-A", "I-A", "B-B", "I-B", "A"]), min_size=1, max_size=8), st.data())
def test_every_piece_is_in_one_span_of_its_type(tags: list[str], data: st.DataObject) -> None:
    numbers = sorted(data.draw(st.sets(st.integers(0, 8), min_size=len(tags), max_size=len(tags))))
    layer = read_text(pieces(*zip(numbers, tags, strict=True))).layer
    covered = [
        (number, layer.label(span))
        for span in range(len(layer))
        for number in range(int(layer.start[span]) // 2, int(layer.end[span]) // 2 + 1)
    ]
    assert covered == [(number, tag[-1]) for number, tag in zip(numbers, tags, strict=True)]


OF_SERVICES = {
    "Stanza": {"entities": [{"text": "Ann", "type": "PER", "start_char": 0, "end_char": 3}]},
    "Comprehend": {"Entities": [{"BeginOffset": 0, "EndOffset": 3, "Score": 0.5, "Text": "Ann", "Type": "PER"}]},
    "Azure": {"entities": [{"text": "Ann", "category": "PER", "offset": 0, "length": 3, "confidenceScore": 0.5}]},
    "Presidio": {"results": [{"entity_type": "PER", "start": 0, "end": 3, "score": 0.5}]},
    "Google": {
        "entities": [{"name": "Ann", "type": "PER", "mentions": [{"text": {"content": "Ann", "beginOffset": 0}}]}]
    },
}


@pytest.mark.parametrize("name", OF_SERVICES)
def test_entities_of_other_services(name: str) -> None:
    raw = json.dumps({"text": "Ann left", **OF_SERVICES[name]}).encode()
    found = read(Source.of_uploads([("x.jsonl", raw)]))
    assert found.format == "pipeline"
    assert [(found.layer.text(span), found.layer.label(span)) for span in range(len(found.layer))] == [("Ann", "PER")]
    assert found.layer.scores.get(0, 0.5) == 0.5


def test_an_entity_of_google_without_a_place_is_refused() -> None:
    row = {"text": "Ann", "entities": [{"name": "Ann", "type": "PER", "mentions": [{"text": {"content": "Ann"}}]}]}
    with pytest.raises(FormatError, match=r"x\.jsonl:1: entities\[0\] is not an entity"):
        read(Source.of_uploads([("x.jsonl", json.dumps(row).encode())]), format="pipeline")


@pytest.mark.parametrize("entity", [[0, 3, "PER"], ["PER", 0, 3], ["PER", 0, 3, 0.9], [0, 3, "PER", 0.9]])
def test_entities_may_be_lists_in_any_order(entity: list[Any]) -> None:
    line = json.dumps({"text": "Ann left", "prediction": [entity]})
    layer = read(Source.of_uploads([("x.jsonl", f"{line}\n".encode())])).layer
    assert [(layer.text(span), layer.label(span)) for span in range(len(layer))] == [("Ann", "PER")]


def test_span_groups_alone_and_entities_of_stanza_alone_are_read() -> None:
    groups = {"text": "Ann left", "spans": {"sc": [{"start": 0, "end": 3, "label": "PER", "kb_id": ""}]}, "tokens": []}
    reading = read(Source.of_uploads([("x.jsonl", json.dumps(groups).encode())]))
    assert (reading.format, reading.layer.start.tolist(), reading.layer.end.tolist()) == ("pipeline", [0], [3])
    entities = [{"text": "Ann", "type": "PER", "start_char": 0, "end_char": 3}]
    gold = ReadOptions(texts=Documents(("d1",), ("Ann left",)))
    reading = read(Source.of_uploads([("x.json", json.dumps(entities).encode())]), options=gold)
    assert (reading.format, reading.layer.start.tolist(), reading.layer.end.tolist()) == ("pipeline", [0], [3])


@pytest.mark.parametrize("key", ["entities", "spans"])
def test_spans_may_be_a_list_for_each_of_their_keys_or_a_literal_in_a_string(key: str) -> None:
    """Data sets of Hugging Face write a `Sequence` of spans so, and many of the Hub hold Python's literals."""
    spans = {"start": [0, 9], "end": [3, 13], "label": ["PER", "LOC"]}
    literal = "[{'start': 0, 'end': 3, 'label': 'PER'}, {'start': 9, 'end': 13, 'label': 'LOC'}]"
    for value in (spans, literal):
        content = json.dumps({"text": "Ann left Rome", key: value}).encode()
        reading = read(Source.of_uploads([("x.jsonl", content)]))
        assert (reading.layer.start.tolist(), reading.layer.end.tolist()) == ([0, 9], [3, 13])
