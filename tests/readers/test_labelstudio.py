"""JSON of Label Studio: a layer an annotator and model, offsets by the quotes, what is refused, writing reads back."""

from __future__ import annotations

import json
from copy import deepcopy
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
from tests.support.samples import LABELSTUDIO, LABELSTUDIO_MIN, LABELSTUDIO_TASKS, result
from tests.support.shared_corpora import defect


def source(tasks: Any) -> Source:
    text = tasks if isinstance(tasks, str) else json.dumps(tasks, ensure_ascii=False)
    return Source.of_uploads([("export.json", text.encode())])


def read_tasks(tasks: Any, layer: str | None = None) -> Reading:
    return read(source(tasks), format="labelstudio", options=ReadOptions(layer=layer))


def task(*results: dict[str, Any], text: str = "Ann met Bob.", **more: Any) -> dict[str, Any]:
    return {"data": {"text": text, **more}, "annotations": [{"result": list(results)}]}


def test_every_annotator_and_model_is_a_layer() -> None:
    assert layers_of(source(LABELSTUDIO)) == ("ann@example.org", "2", "model-1")
    ann = read_tasks(LABELSTUDIO, "ann@example.org")
    assert span_texts(ann.layer) == [("101", "Ann", "PER"), ("101", "Bob Lee", "PER"), ("102", "Rome", "LOC")]
    assert dict(ann.layer.ids) == {0: "a1", 1: "a2", 2: "c1"}
    assert ann.documents.meta == ({"date": "2024-01-02"}, {"date": "2024-01-03"})
    assert ann.notes == (
        "annotations that were cancelled, left out: 1",
        "results that are not spans of text, left out: 2",
        "offsets in UTF-16 units, end exclusive: 3 of 3 quotes match",
    )
    assert [place[1] for place in ann.places] == [2, 100]
    second = read_tasks(LABELSTUDIO, "2")
    assert span_texts(second.layer) == [("101", "in  Rome", "LOC")]
    assert second.notes[0] == "tasks that '2' has nothing for, left out: 1"
    model = read_tasks(LABELSTUDIO, "model-1")
    assert (span_texts(model.layer), dict(model.layer.scores)) == ([("101", "Ann", "PER")], {0: 0.75})


def test_one_of_several_layers_has_to_be_named() -> None:
    with pytest.raises(FormatError) as caught:
        read(source(LABELSTUDIO))
    assert str(caught.value) == (
        "export.json: it holds 3 layers, 'ann@example.org', '2', 'model-1', and one is read at a time; name it after "
        "the path, export.json#ann@example.org, or choose it beside the upload"
    )
    with pytest.raises(FormatError, match=r"no layer 'ann'; choose among 'ann@example\.org', '2', 'model-1'$"):
        read_tasks(LABELSTUDIO, "ann")


def test_json_min_is_read() -> None:
    reading = read_tasks(LABELSTUDIO_MIN)
    assert span_texts(reading.layer) == [("101", "Bob", "PER")]
    assert reading.documents.meta == ({"date": "2024-01-02"},)
    assert layers_of(source(LABELSTUDIO_MIN)) == ("1",)


def test_a_control_of_json_min_called_like_a_prediction_is_not_joined_to_others() -> None:
    spans = {key: [{"start": 0, "end": 3, "text": "Bob", "labels": ["PER"]}] for key in ("label", "prediction")}
    with pytest.raises(FormatError, match="2 keys hold annotations: 'label', 'prediction'"):
        read_tasks([{"id": 1, "text": "Bob left", "annotation_id": 1, "annotator": 1, **spans}])


def test_the_quotes_tell_code_points_from_utf16_units() -> None:
    """Later versions count code points: version 1.4 and before count as JavaScript does."""
    for start, end, unit in ((2, 5, "code points"), (3, 6, "UTF-16 units")):
        reading = read_tasks([task(result("1", start, end, "Bob", "PER"), text="😀 Bob Bob")])
        assert span_texts(reading.layer) == [("1", "Bob", "PER")]
        assert reading.notes == (f"offsets in {unit}, end exclusive: 1 of 1 quotes match",)


@pytest.mark.parametrize("quote", ["met\nBob", "met\\nBob", "met Bob"])
def test_white_space_in_quotes_is_as_the_browser_shows_it(quote: str) -> None:
    reading = read_tasks([task(result("1", 4, 12, quote, "X"), text="Ann met \nBob.")])
    assert span_texts(reading.layer) == [("1", "met \nBob", "X")]


def test_later_work_of_one_annotator_on_a_task_replaces_the_earlier() -> None:
    twice = task(result("1", 0, 3, "Ann", "PER"))
    twice["annotations"].append({"result": [result("2", 8, 11, "Bob", "PER")]})
    reading = read_tasks([twice])
    assert span_texts(reading.layer) == [("1", "Bob", "PER")]
    assert "earlier work of one annotator or model on one task, left out: 1" in reading.notes


def test_several_labels_are_several_spans_and_a_model_may_be_called_like_an_annotator() -> None:
    both = task(result("1", 0, 3, "Ann", "PER", "ORG"))
    both["annotations"][0]["completed_by"] = 1
    both["predictions"] = [{"model_version": "1", "result": []}, {"result": []}]
    assert layers_of(source([both])) == ("1", "1 (model)", "predictions")
    assert span_texts(read_tasks([both], "1").layer) == [("1", "Ann", "ORG"), ("1", "Ann", "PER")]
    assert not len(read_tasks([both], "1 (model)").layer)


def test_ids_in_the_data_name_the_documents_where_every_task_has_its_own() -> None:
    tasks = [task(id="x", text="Ann") | {"id": 5}, task(id="y", text="Bob") | {"id": 6}]
    assert read_tasks(tasks).documents.ids == ("x", "y")
    del tasks[1]["data"]["id"]
    reading = read_tasks(tasks)
    assert reading.documents.ids == ("5", "6")
    assert "documents are called by the numbers of tasks, as 1 task had no id in its data" in reading.notes


def test_a_task_that_stands_twice_with_the_same_answer_counts_once() -> None:
    path = defect("labelstudio_dup.json")
    reading = read(path)
    assert reading.documents.ids == ("26094", "354896")
    assert "tasks that stand twice with the same answer, read once: 1" in reading.notes
    one = json.loads(path.read_text())
    one[1]["annotations"][0]["result"].pop()
    with pytest.raises(FormatError, match=r"document id '26094' stands at export\.json:1 already"):
        read_tasks(one)


def test_the_text_is_the_one_string_of_the_data_whatever_it_is_called() -> None:
    made = {"data": {"body": "Ann", "n": 1}, "annotations": [{"result": [result("1", 0, 3, "Ann", "PER")]}]}
    assert read_tasks([made]).documents.meta == ({"n": 1},)


def test_hypertext_counts_from_the_start_of_the_document() -> None:
    value = {"start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]", "startOffset": 0, "endOffset": 3}
    value |= {"globalOffsets": {"start": 8, "end": 11}, "text": "Bob", "hypertextlabels": ["PER"]}
    assert span_texts(read_tasks([task({"id": "1", "type": "hypertextlabels", "value": value})]).layer) == [
        ("1", "Bob", "PER")
    ]


def paragraph(start: object, start_offset: int, end: object, end_offset: int, text: str | None) -> dict[str, Any]:
    value = {"start": start, "end": end, "startOffset": start_offset, "endOffset": end_offset, "text": text}
    return {"id": "1", "type": "paragraphlabels", "value": value | {"paragraphlabels": ["PER"]}}


def dialogue(*results: dict[str, Any]) -> list[dict[str, Any]]:
    data = {"dialogue": [{"author": "A", "text": "Hi 😀 Ann"}, {"author": "B", "text": ""}, {"text": "I am Bob Lee"}]}
    return [{"data": data, "annotations": [{"result": list(results)}]}]


def test_a_dialogue_is_one_text_whose_results_count_within_paragraphs() -> None:
    reading = read_tasks(dialogue(paragraph("2", 5, "2", 12, "Bob Lee"), paragraph(0, 6, 0, 9, "Ann")))
    assert reading.documents.texts == ("Hi 😀 Ann\n\nI am Bob Lee",)
    assert span_texts(reading.layer) == [("1", "Ann", "PER"), ("1", "Bob Lee", "PER")]
    assert reading.notes == ("offsets in UTF-16 units, end exclusive: 2 of 2 quotes match",)
    over = read_tasks(dialogue(paragraph("0", 6, "2", 1, "A: Ann B: I")))
    assert span_texts(over.layer) == [("1", "Ann\n\nI", "PER")]
    source = dialogue()[0]["data"] | {"annotator": 1, "annotation_id": 1, "id": 1}
    value = paragraph("2", 5, "2", 8, "Bob")["value"]
    assert span_texts(read_tasks([source | {"label": [value]}]).layer) == [("1", "Bob", "PER")]


@pytest.mark.parametrize(
    "place",
    [("3", 0, "3", 1), ("0", 10, "0", 11), ("0", 0, "1", 1), ("0", -1, "0", 1), ("x", 0, "0", 1), (None, 0, "0", 1)],
)
def test_places_outside_of_a_paragraph_are_refused(place: tuple[Any, int, Any, int]) -> None:
    with pytest.raises(FormatError, match=r"^export\.json:1: a result without start, end and labels"):
        read_tasks(dialogue(paragraph(*place, None)))


def test_offsets_may_be_strings_of_digits() -> None:
    assert span_texts(read_tasks(changed(start="0", end="3")).layer) == [("1", "Ann", "PER")]


def changed(**values: Any) -> list[dict[str, Any]]:
    """Return a task whose one result has other values; None leaves a key out."""
    bad = deepcopy(task(result("1", 0, 3, "Ann", "PER")))
    value = bad["annotations"][0]["result"][0]["value"]
    value |= values
    bad["annotations"][0]["result"][0]["value"] = {key: one for key, one in value.items() if one is not None}
    return [bad]


REFUSED = [
    # (tasks, said)
    ([1], ":1: an integer where a task should be; export it as JSON"),
    ([{"data": "text", "annotations": []}], ":1: data is a string"),
    (
        [{"data": {"a": "x", "b": "y"}, "annotations": []}],
        ":1: no text in the task's data: the strings in it are 'a', 'b'; name the one with the text, --column a or "
        "--column b",
    ),
    ([{"data": {"text": "x"}, "annotations": {}}], ":1: annotations is an object; write a list"),
    ([{"data": {"text": "x"}, "annotations": [{}]}], ":1: annotations[0] has no result; export it as JSON"),
    ([{"data": {"text": "x"}, "predictions": [7]}], ":1: predictions[0] is an integer; export it"),
    ([task(7)], ":1: annotations[0].result[0] is an integer; export it"),  # type: ignore[arg-type]
    ([{"data": {"text": "x"}, "annotations": []}], ": no annotations or predictions in it; export tasks that somebody"),
    (changed(start=None), ":1: a result without start, end and labels"),
    (changed(end="3x"), ":1: a result without start, end and labels"),
    (changed(labels=[]), ":1: a result without start, end and labels"),
    (changed(labels=[1]), ":1: a result without start, end and labels"),
    (changed(labels=[""]), ":1: a span without a usable type"),
    (changed(text="Bob"), ": the quotes fit no way to count offsets; best is"),
    (changed(end=99), ": the quotes fit no way to count offsets; best is"),
    (changed(end=99, text=None), ":1: 0 to 99 is not a place in the text of 12 characters"),
    ([task(), task()], None),
    (
        [task(id=1) | {"id": 1}, task(id=1, text="Ann") | {"id": 1}],
        ":1: document id '1' stands at export.json:1 already",
    ),
    ('[\n{"data": {"text": "x"}, "annotations": []},\n{"data": }]', ":3: not JSON at position 10 of the line"),
    ('{"data": {"text": "x"}, "annotations": []}\n{"data": {"text": 1}}\n', ":2: no text in the task's data"),
]


@pytest.mark.parametrize(("tasks", "said"), REFUSED)
def test_refuses_with_the_line(tasks: Any, said: str | None) -> None:
    if said is None:
        assert read_tasks(tasks).documents.ids == ("1", "2")
        return
    with pytest.raises(FormatError) as caught:
        read_tasks(tasks)
    assert caught.value.lines()[0].startswith(f"export.json{said}")


@draws(13)
@given(layers(whole=True))
def test_writing_reads_back(layer: Layer) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "out.json"
        notes = write(layer, path, format="labelstudio", lossy=True)
        if not len(layer.documents):
            return
        assert layers_of(Source.of_path(path)) == ("drawn" if layer.scores else "annotations",)
        reading = read(path)
    expected, found = content(layer), content(reading.layer)
    kept = {"ids", "texts", "doc", "start", "end", "label", "order", "spans' scores", "spans' meta"}
    assert {key: found[key] for key in kept} == {key: expected[key] for key in kept}
    assert all(found["spans' ids"][span] == name for span, name in expected["spans' ids"].items() if name)
    lost = [key for key in ("links", "cores", "alternatives") if expected[f"spans' {key}"]]
    lost += [key for key in ("tokens", "sentences") if expected[key] is not None]
    assert bool(lost) == any(note.startswith("labelstudio has no place for them") for note in notes)
    assert reading.documents.meta == layer.documents.meta


def test_what_is_written_is_what_label_studio_imports(tmp_path: Path) -> None:
    line = json.dumps({"id": "d", "text": "a😀c", "spans": [{"start": 2, "end": 3, "label": "A"}], "meta": {"n": 1}})
    layer = read(Source.of_uploads([("gold.jsonl", line.encode())])).layer
    assert write(layer, tmp_path / "x.json", format="labelstudio") == ()
    assert json.loads((tmp_path / "x.json").read_text()) == [
        {"data": {"id": "d", "text": "a😀c", "n": 1}, "annotations": [{"result": [result("1", 3, 4, "c", "A")]}]}
    ]


def test_the_sample_is_told_apart_over_lines_too() -> None:
    text = "".join(json.dumps(one) + "\n" for one in LABELSTUDIO_TASKS)
    assert read_tasks(text, "2").places == (("export.json", 1),)


def of_data(data: dict[str, str], value: dict[str, Any]) -> dict[str, Any]:
    return {"id": 1, "data": data, "annotations": [{"result": [{"type": "labels", "value": value}]}]}


ANN = {"start": 0, "end": 3, "labels": ["PER"]}


def test_the_text_is_the_string_that_all_quotes_fit() -> None:
    reading = read_tasks([of_data({"source": "Bob", "body": "Ann left"}, ANN | {"text": "Ann"})])
    assert reading.documents.texts == ("Ann left",) and "texts taken from 'body'" in reading.notes


def test_the_key_of_the_text_can_be_named() -> None:
    tasks = [of_data({"source": "Bob", "body": "Ann left"}, ANN)]
    with pytest.raises(FormatError, match="--column source or --column body"):
        read_tasks(tasks)
    reading = read(source(tasks), options=ReadOptions(column="body"))
    assert reading.documents.texts == ("Ann left",)


@pytest.mark.parametrize(
    "text", ["/data/upload/3/ann.txt", "https://host/a?b=c", "s3://bucket/key", "/data/local-files/?d=a/b", "note.txt"]
)
def test_a_text_that_is_the_name_of_a_file_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="is the name of a file"):
        read_tasks([of_data({"text": text}, ANN)])


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", ["rectanglelabels", "brushlabels", "timeserieslabels"])
def test_regions_of_an_image_are_refused_by_the_key_of_its_name(whole: bool, kind: str) -> None:
    region = {"x": 1.5, "y": 2, "width": 10, kind: ["Cat"]}
    data = {"image": "/data/upload/1/cat.jpg"}
    task = (
        {"id": 1, "data": data, "annotations": [{"result": [{"type": kind, "value": region}]}]}
        if whole
        else {**data, "id": 1, "label": [region], "annotator": 1, "annotation_id": 1}
    )
    with pytest.raises(FormatError, match="'image' is the name of a file, and regions are labelled in it, not spans"):
        read_tasks([task])
    # A text beside its image is read.
    (task["data"] if whole else task)["text"] = "A cat"
    assert read_tasks([task]).documents.texts == ("A cat",)


def test_an_address_that_is_annotated_is_a_text() -> None:
    reading = read_tasks([of_data({"text": "https://ann.example"}, ANN | {"start": 8, "end": 11, "text": "ann"})])
    assert span_texts(reading.layer) == [("1", "ann", "PER")]


def test_rows_of_other_annotators_in_a_table_are_not_tasks_that_one_left_out() -> None:
    row = '{who},{task},"[{{""start"": 0, ""end"": 3, ""text"": ""Ann"", ""labels"": [""PER""]}}]",Ann {task} came\n'
    header = "annotation_id,annotator,id,label,text\n"
    rows = [("1", "1"), ("2", "1"), ("1", "2"), ("2", "3")]
    table = header + "".join(f"{at}," + row.format(who=who, task=task) for at, (who, task) in enumerate(rows))
    reading = read(Source.of_uploads([("p.csv", table.encode())]), options=ReadOptions(layer="1"))
    assert len(reading.documents) == 2
    assert "tasks that '1' has nothing for, left out: 1" in reading.notes
