"""JSON lines of Prodigy and spaCy: a layer an annotator, answers, tokens, what is refused, and writing reads back."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers import layers as layers_of
from nereval_core.writers import write
from tests.support.draws import draws
from tests.support.layer_strategies import content, layers
from tests.support.readings import span_texts
from tests.support.samples import PRODIGY, SPACY, lines
from tests.support.shared_corpora import defect


def source(text: str) -> Source:
    return Source.of_uploads([("ner.jsonl", text.encode())])


def read_text(text: str, layer: str | None = None) -> Reading:
    return read(source(text), format="prodigy", options=ReadOptions(layer=layer))


def test_every_annotator_is_a_layer_and_only_what_was_accepted_is_read() -> None:
    assert layers_of(source(PRODIGY)) == ("ner-alex", "ner-sam")
    alex = read_text(PRODIGY, "ner-alex")
    assert span_texts(alex.layer) == [("1842734674", "Apple", "ORG")]
    assert alex.documents.tokens is not None
    assert alex.documents.tokens.of_document(0) == [(0, 5), (6, 7), (8, 13)]
    untested = "offsets taken as code points, end exclusive: no quotes to test them by"
    assert alex.notes == ("tasks answered 'ignore', left out: 1", "tasks answered 'reject', left out: 1", untested)
    sam = read_text(PRODIGY, "ner-sam")
    assert (span_texts(sam.layer), sam.notes) == ([("1842734674", "Hello", "PER")], (untested,))
    assert sam.places == (("ner.jsonl", 4),)
    with pytest.raises(FormatError, match="it holds 2 layers, 'ner-alex', 'ner-sam', and one is read at a time"):
        read_text(PRODIGY)


def test_spacy_lines_have_one_layer_without_a_name() -> None:
    reading = read(source(SPACY))
    assert (reading.format, layers_of(source(SPACY))) == ("prodigy", ("annotations",))
    assert (span_texts(reading.layer), reading.documents.named) == ([("1", "Uber", "ORG")], False)


def test_what_a_span_may_have_besides_is_read() -> None:
    span = {"start": 0, "end": 1, "label": "A", "id": "T1", "kb_id": "Q42", "score": 0.5, "text": "a", "source": "x"}
    reading = read_text(lines({"text": "ab", "spans": [span, {**span, "kb_id": "", "id": None}], "answer": "accept"}))
    layer = reading.layer
    assert (dict(layer.ids), dict(layer.links), dict(layer.scores)) == ({0: "T1"}, {0: ("Q42",)}, {0: 0.5, 1: 0.5})
    assert "offsets in code points, end exclusive: 2 of 2 quotes match" in reading.notes


def test_ids_come_from_the_task_its_meta_or_the_hash_of_its_text() -> None:
    rows: list[dict[str, Any]] = [
        {"id": "x", "meta": {"id": 5}, "_input_hash": 7},
        {"meta": {"id": 5, "source": "wire"}, "_input_hash": 7},
        {"_input_hash": 7},
        {"_input_hash": 7, "_timestamp": 1},
    ]
    reading = read_text(lines(*({"text": "a", "spans": [], **row} for row in rows)))
    assert reading.documents.ids == ("x", "5", "7")
    assert "tasks that stand twice with the same answer, read once: 1" in reading.notes


@pytest.mark.parametrize("more", [{"text": "b"}, {"spans": [{"start": 0, "end": 1, "label": "A"}]}])
def test_two_answers_to_one_task_that_differ_are_refused(more: dict[str, Any]) -> None:
    one = {"text": "a", "spans": [], "_input_hash": 7, "_task_hash": 1}
    with pytest.raises(FormatError, match=r"^ner\.jsonl:2: two tasks of one text with .* ner\.jsonl:1; leave"):
        read_text(lines(one, one | more))


def question(start: int, end: int, label: str, answer: str, task: int) -> dict[str, Any]:
    """A task of ner.teach."""
    span_in_question = {"start": start, "end": end, "label": label}
    return {"text": "Ada in Bonn", "spans": [span_in_question], "answer": answer, "_input_hash": 7, "_task_hash": task}


def test_questions_about_single_spans_are_joined() -> None:
    rows = (
        question(0, 3, "PER", "accept", 1),
        question(7, 11, "PER", "reject", 2),
        question(7, 11, "LOC", "accept", 3),
    )
    reading = read_text(lines(*rows, rows[0]))
    assert [reading.layer.label(at) for at in range(len(reading.layer))] == ["PER", "LOC"]
    assert "tasks answered 'reject', left out: 1" in reading.notes


def test_a_span_that_is_accepted_and_rejected_is_refused() -> None:
    with pytest.raises(FormatError, match=r"^ner\.jsonl:2: two answers to \[0, 3\) PER: reject here, accept at ner"):
        read_text(lines(question(0, 3, "PER", "accept", 1), question(0, 3, "PER", "reject", 1)))


@pytest.mark.parametrize(("key", "value"), [("predictions", [[7, 11, "LOC"]]), ("spans", {"sc": [[7, 11, "LOC"]]})])
def test_a_second_list_of_a_training_tuple_is_a_choice(key: str, value: Any) -> None:
    tags = {"words": ["Ada", "in", "Bonn"], "tags": ["NNP", "IN", "NNP"], "cats": {"NEWS": 1.0}}
    content = json.dumps([["Ada in Bonn", {"entities": [[0, 3, "PER"]], **tags}]])
    assert [read_text(content).layer.label(0)] == ["PER"]
    with pytest.raises(FormatError, match=r"2 keys hold annotations: 'entities' .PER., '(predictions|sc)' .LOC."):
        read_text(json.dumps([["Ada in Bonn", {"entities": [[0, 3, "PER"]], key: value, **tags}]]))


def test_a_task_that_stands_twice_counts_once() -> None:
    reading = read(defect("prodigy_dup.jsonl"))
    assert reading.documents.ids == ("26094",)
    assert "tasks that stand twice with the same answer, read once: 1" in reading.notes


def test_tasks_without_ids_are_numbered() -> None:
    reading = read_text(lines({"text": "a", "spans": None}, {"text": "b", "tokens": []}))
    assert (reading.documents.ids, reading.documents.named) == (("1", "2"), False)


def row(**more: Any) -> str:
    tokens = [{"start": 0, "end": 1}, {"start": 2, "end": 3}]
    return json.dumps({"text": "a b", "tokens": tokens, "spans": [], "answer": "accept", **more})


def span(**more: Any) -> dict[str, Any]:
    return {"start": 2, "end": 3, "label": "A", **more}


REFUSED = [
    # (second line, said)
    ("[]", "a list where a task should be; write objects with text and spans"),
    ('{"spans": []}', "a task without a text; write objects with text and spans"),
    (row(text=1), "a task without a text"),
    (row(spans={}), "spans is an object; write a list"),
    (row(spans=[[0, 1, "A"]]), "spans[0] is a list; give start, end and label"),
    (row(spans=[span(), span(end=None)]), "spans[1].end is null"),
    (row(spans=[span(start="2")]), "spans[0].start is a string"),
    (row(spans=[span(label=None)]), "spans[0].label is null"),
    (row(spans=[span(label="")]), "a span without a usable type"),
    (row(spans=[span(end=4)]), "2 to 4 is not a place in the text of 3 characters; offsets are read as code points"),
    (row(spans=[span(start=3)]), "3 to 3 is not a place in the text of 3 characters"),
    (row(spans=[span(start=-1)]), "-1 to 3 is not a place in the text of 3 characters"),
    (
        row(spans=[span(token_start=0, token_end=1)]),
        "spans[0] is [2, 3), and its tokens are [0, 3); mend the offsets or the tokens: token_end is the last token of",
    ),
    (row(tokens=["a"]), "tokens[0] is a string; write objects with start and end, or leave tokens out"),
    (row(tokens=[{"start": 0}]), "tokens[0] has no end"),
    (row(tokens=[{"start": 0, "end": "1"}]), "tokens[0].end is a string"),
    (
        row(tokens=[{"start": 0, "end": 2}, {"start": 1, "end": 3}]),
        "token [1, 3) of document '2' (length 3) is outside",
    ),
    (row(tokens=[{"start": 0, "end": 9}]), "token [-1, -1) of document '2' (length 3) is outside"),
    (row()[:-1], "not JSON at position"),
]


@pytest.mark.parametrize(("line", "said"), REFUSED)
def test_refuses_with_the_line(line: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(row() + "\n" + line + "\n" + row())
    [problem] = caught.value.problems
    assert str(problem).startswith("ner.jsonl:2: ")
    assert said in str(problem)


def test_a_quote_that_is_not_there_is_refused() -> None:
    with pytest.raises(FormatError) as caught:
        read_text(row(spans=[span(text="c")]))
    assert caught.value.lines()[1] == (
        "ner.jsonl:1: 'c' at 2 to 3, where the text has 'b'; mend the offsets or the quote"
    )


def test_a_file_of_which_nothing_was_accepted_is_refused() -> None:
    with pytest.raises(FormatError, match=r"^ner\.jsonl: no task that 'annotations' accepted; give tasks whose answer"):
        read_text(row(answer="reject"))


@draws(13)
@given(layers(whole=True))
def test_writing_reads_back(layer: Layer) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "out.jsonl"
        notes = write(layer, path, format="prodigy", lossy=True)
        if not len(layer.documents):
            return
        reading = read(path)
    assert reading.format == "prodigy"
    expected, found = content(layer), content(reading.layer)
    kept = {"ids", "texts", "tokens", "meta of documents", "doc", "start", "end", "label", "order", "spans' scores"}
    assert {key: found[key] for key in kept} == {key: expected[key] for key in kept}
    assert found["spans' ids"] == {span: name for span, name in expected["spans' ids"].items() if name}
    assert found["spans' links"] == {span: links[:1] for span, links in expected["spans' links"].items()}
    lost = [key for key in ("cores", "alternatives", "meta") if expected[f"spans' {key}"]]
    lost += ["sentences"] if expected["sentences"] is not None else []
    lost += ["rankings"] if any(len(links) > 1 for links in layer.links.values()) else []
    assert bool(lost) == any(note.startswith("prodigy has no place for them") for note in notes)


def test_what_is_written_is_a_task_of_prodigy(tmp_path: Path) -> None:
    document = {"id": "d", "text": "a 😀c", "spans": [span(end=4, links=["Q1"])], "tokens": [[0, 1], [2, 4]]}
    layer = read(Source.of_uploads([("x.jsonl", lines(document).encode())])).layer
    assert write(layer, tmp_path / "x.jsonl", format="prodigy") == ()
    assert json.loads((tmp_path / "x.jsonl").read_text()) == {
        "id": "d",
        "text": "a 😀c",
        "spans": [{"start": 2, "end": 4, "label": "A", "token_start": 1, "token_end": 1, "kb_id": "Q1"}],
        "tokens": [
            {"text": "a", "start": 0, "end": 1, "id": 0, "ws": True},
            {"text": "😀c", "start": 2, "end": 4, "id": 1, "ws": False},
        ],
        "answer": "accept",
    }


TUPLES = [
    ["Uber blew through $1 million", {"entities": [[0, 4, "ORG"], [18, 28, "MONEY"]]}],
    ["nothing", {"entities": []}],
    ["Rome", {}],
]


@pytest.mark.parametrize(
    "raw",
    [json.dumps(TUPLES), json.dumps(TUPLES, indent=2), "".join(json.dumps(row) + "\n" for row in TUPLES)],
    ids=["list", "indented", "lines"],
)
def test_training_tuples_of_spacy(raw: str) -> None:
    found = read(Source.of_uploads([("train.json", raw.encode())]))
    assert (found.format, len(found.documents)) == ("prodigy", 3)
    assert [(found.layer.text(span), found.layer.label(span)) for span in range(len(found.layer))] == [
        ("Uber", "ORG"),
        ("$1 million", "MONEY"),
    ]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (["Rome", {"entities": [[0, 4]]}], "x.jsonl:2: entities[0] has no label; give start, end and label"),
        (["Rome", {"entities": [["0", 4, "LOC"]]}], "x.jsonl:2: entities[0].start is a string"),
        (["Rome", {"entities": {}}], "x.jsonl:2: entities is an object; write a list"),
        (["Rome", []], "x.jsonl:2: a list where a task should be"),
    ],
)
def test_training_tuples_that_are_refused(row: object, said: str) -> None:
    raw = "".join(json.dumps(one) + "\n" for one in (TUPLES[0], row))
    with pytest.raises(FormatError) as error:
        read(Source.of_uploads([("x.jsonl", raw.encode())]))
    assert str(error.value.problems[0]).startswith(said)
