"""What the front page says of files before they are taken, and asks: layers, columns, and archives that are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.corpus import Corpus
from nereval_core.readers import Source
from nereval_core.readers.recognition import preview
from nereval_core.readers.shared.offset_units import Offsets
from pages.shared.components.navigation import pages
from pages.shared.data import caches, masks
from pages.shared.start import recognition as start_recognition
from pages.shared.start.split_zips import LAYERS, PARTS, SPLIT
from tests.readers.test_csv import GERMAN
from tests.readers.test_readers import zipped
from tests.support.pages import (
    GOLD,
    PREDICTION,
    account,
    address,
    bar_list,
    component_data,
    drop,
    give_role,
    opened,
    problems,
    read,
    roles,
    settled,
    sound,
    title,
    unmarked,
    ways,
)
from tests.support.samples import CSV, LABELSTUDIO_TASKS, PRODIGY
from tests.support.workbooks import rows_xml, words, workbook

TASKS: list[dict[str, Any]] = json.loads(json.dumps(LABELSTUDIO_TASKS))
# Everybody has worked on everything.
TASKS[1]["annotations"][1]["was_cancelled"] = False
TASKS[1]["predictions"] = TASKS[0]["predictions"] and [{"model_version": "model-1", "result": []}]
EXPORT = json.dumps(TASKS).encode()
ANN, SECOND, MODEL = "ann@example.org", "2", "model-1"


def given(*uploads: tuple[str, str | bytes]) -> AppTest:
    """Drop files at Start."""
    return drop(opened("Start"), {name: raw.encode() if isinstance(raw, str) else raw for name, raw in uploads})


def labelled(elements: Any, label: str) -> Any:
    [found] = [element for element in elements if unmarked(element.label) == label]
    return found


def said(app: AppTest) -> list[str]:
    return plainly([*app.caption, *app.markdown])


def plainly(elements: Any) -> list[str]:
    return [unmarked(element.value) for element in elements]


def rows(app: AppTest) -> dict[str, str]:
    """Return from where each layer of what was read is."""
    table = account(app)
    return dict(zip(table["layer"], table["source"], strict=True))


def test_layers_of_one_upload_get_roles_of_their_own() -> None:
    app = given(("export.json", EXPORT))
    assert f"**export.json** · :green[✓] labelstudio · 1 file · 3 layers: {ANN}, {SECOND}, {MODEL}" in said(app)
    assert roles(app) == {ANN: "Annotator", SECOND: "Annotator", MODEL: "System"}
    app = read(app)
    assert not app.error
    # Nothing is gold: the annotator is the reference, by name.
    assert bar_list(app, "reference")[1] == ANN
    assert rows(app) == {
        ANN: f"export.json#{ANN}",
        SECOND: f"export.json#{SECOND}",
        MODEL: f"export.json#{MODEL}",
    }
    app = given(("export.json", EXPORT))
    app = give_role(give_role(give_role(app, SECOND, "Gold"), MODEL, "Ignore"), ANN, "System")
    labelled(app.text_input, f"Name of {ANN}").set_value("mine").run()
    app = read(app)
    assert list(rows(app)) == ["gold", "mine"]
    assert list(account(app)["spans"]) == [2, 3]


def test_of_many_layers_a_few_are_read_at_first_and_none_that_was_imported() -> None:
    names = ["CURATION_USER", "INITIAL_CAS", *(f"a{number:02}" for number in range(12))]
    text = "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Name|value\n\n\n#Text=Ann\n1-1\t0-3\tAnn\tPER\t\n"
    app = given(("project.zip", zipped(*((f"annotation/d.txt/{name}.tsv", text.encode()) for name in names))))
    assert roles(app) == {"CURATION_USER": "Gold"} | {f"a{number:02}": "Annotator" for number in range(7)}
    assert set(labelled(app.multiselect, "Layers").options) == set(names)


def test_a_file_of_gold_and_one_of_several_layers() -> None:
    gold = json.dumps([{**row, "annotations": row["annotations"][:1], "predictions": []} for row in TASKS])
    app = given(("gold.json", gold), ("export.json", EXPORT))
    assert roles(app) == {"gold.json": "Gold", ANN: "Annotator", SECOND: "Annotator", MODEL: "System"}
    assert list(rows(read(app))) == ["gold", ANN, SECOND, MODEL]


def test_annotators_who_saw_other_documents_are_scored_on_those_that_all_saw() -> None:
    app = read(given(("export.json", json.dumps(LABELSTUDIO_TASKS))))
    assert app.error
    (way,) = [button for words, button in ways(app).items() if "only the documents that all of them have" in words]
    app = settled(way.click().run())
    assert not app.error and list(rows(app)) == [ANN, SECOND, MODEL]
    table = next(one.value for one in app.dataframe if "layer" in one.value)
    assert list(table["documents"]) == [1, 1, 1]
    assert any("restricted to 1 of 2 documents" in line for line in said(app))


def test_large_files_are_asked_for_their_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "LAYERS_BYTES", 10)
    app = given(("ner.jsonl", PRODIGY))
    assert roles(app) == {"ner.jsonl": "Gold"}
    app = sound(labelled(app.button, "Look for its layers").click().run())
    assert roles(app) == {"ner-alex": "Annotator", "ner-sam": "Annotator"}


def test_columns_of_a_table_are_asked_for() -> None:
    app = given(("german.csv", GERMAN), ("usual.csv", CSV.replace("Nobody.", "").replace("\nd2,,,,,", "")))
    assert "**german.csv** · a table, by the look of it. Choose below which column holds start, end and type." in said(
        app
    )
    assert list(app.dataframe[0].value.columns) == ["1 · Satz", "2 · Art", "3 · von", "4 · bis", "5 · Akte"]
    # What was recognised is offered to be chosen too.
    boxes = [box for box in app.selectbox if box.label == "Start*"]
    assert [box.value for box in boxes] == [None, 2]
    for what, number in (("Document", 5), ("Start*", 3), ("End*", 4), ("Type*", 2), ("Text", 1)):
        app = sound(next(box for box in app.selectbox if box.label == what).set_value(number).run())
    assert len([line for line in said(app) if ":green[✓] csv" in line]) == 2
    app = read(give_role(app, "german.csv", "Gold"))
    assert not app.error and list(rows(app)) == ["gold", "usual"]
    assert list(account(app)["spans"]) == [2, 2]


def test_which_of_several_columns_with_tags_is_asked_for() -> None:
    text = "a\tB-X\tO\nb\tO\tB-Y\nc\tB-Y\tB-Y\n"
    app = given(("gold.tsv", text), ("system.tsv", text))
    boxes = [box for box in app.selectbox if box.label == "Tags are read from column"]
    assert [box.options for box in boxes] == [["2 · X, Y", "3 · Y", "all, as one nested layer"]] * 2
    assert any("2 columns hold tags: column 2 (2 spans, as 'B-X')" in line for line in problems(read(app)))
    for place, number in enumerate((2, 3)):
        boxes = [box for box in app.selectbox if box.label == "Tags are read from column"]
        app = sound(boxes[place].set_value(number).run())
    app = read(app)
    assert not app.error and list(account(app)["spans"]) == [2, 2]
    assert any("tags taken from column 3 of 3" in line for line in said(app))


@pytest.mark.parametrize(
    ("name", "text", "second"),
    [
        ("x.csv", "word,label,prediction\na,B-X,O\nb,O,B-Y\nc,O,B-X\n", "prediction"),
        ("x.jsonl", '{"tokens": ["a", "b"], "ner_tags": ["B-X", "O"], "pred_tags": ["B-X", "B-Y"]}', "pred_tags"),
        ("x.csv", "doc,start,end,label,pred_label,text\n1,0,1,X,X,a b\n1,2,3,,Y,\n", "pred_label"),
    ],
)
def test_gold_beside_a_prediction_is_asked_for_in_headed_tables(name: str, text: str, second: str) -> None:
    app = given((f"gold-{name}", text), (f"system-{name}", text))
    boxes = [box for box in app.selectbox if box.label == "Tags are read from column"]
    first = boxes[0].options[0].partition(" · ")[0]
    for place, column in enumerate((first, second)):
        boxes = [box for box in app.selectbox if box.label == "Tags are read from column"]
        app = sound(boxes[place].set_value(column).run())
    app = read(app)
    assert not app.error and list(account(app)["spans"]) == [1, 2]


def test_columns_not_read_are_said() -> None:
    app = given(("x.csv", CSV.replace("quote", "colour")))
    assert any("not read: 1 (column colour)" in line for line in said(app))


def test_what_offsets_count_can_be_said() -> None:
    text = '{"text": "😀 Ann is here", "label": [[3, 6, "PER"]]}'
    app = given(("gold.jsonl", text), ("system.jsonl", text))
    assert any("offsets taken as UTF-16 units" in line for line in said(read(app)))
    app = given(("gold.jsonl", text), ("system.jsonl", text))
    box = labelled(app.selectbox, "Offsets count")
    assert {"code points, end exclusive", "UTF-8 bytes, end inclusive, first at 1"} <= set(box.options)
    app = read(sound(box.set_value(Offsets("code points")).run()))
    assert any("offsets taken as code points" in line for line in said(app))


def test_cells_are_masked_where_texts_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masks, "all_masked", lambda: True)
    app = given(("german.csv", GERMAN))
    assert "Ann" not in str(app.dataframe[0].value) and "Xxx xxx Xxx." in str(app.dataframe[0].value)
    assert list(app.dataframe[0].value.columns) == ["1", "2", "3", "4", "5"]


def test_a_refused_archive_is_told_and_the_app_goes_on() -> None:
    bad = zipped(("../a.txt", b"x"), ("b.txt", b"x"))
    app = given(("gold.jsonl", GOLD), ("bad.zip", bad), ("good.jsonl", PREDICTION))
    [warning] = plainly(app.warning)
    assert warning == "bad.zip: the entry '../a.txt' leads outside; pack plain files only"
    assert roles(app)["bad.zip"] == "Ignore"
    app = read(give_role(app, "bad.zip", "System"))
    assert list(rows(app)) == ["gold", "good"]
    assert any(line.startswith("the entry '../a.txt' leads outside") for line in problems(app))
    app = sound(app.switch_page(pages()["Overview"]).run())
    assert any("axis" in data for data in component_data(app)), "the types are drawn"


def test_the_served_folder_is_looked_at_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gold.json").write_bytes(EXPORT)
    (tmp_path / "other.csv").write_text(GERMAN)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/export.json").write_bytes(EXPORT)
    monkeypatch.setattr(caches, "served_folder", lambda: tmp_path)
    app = opened("Start")
    assert any(line.startswith("**Gold** · :green[✓] labelstudio") for line in said(app))
    app = sound(labelled(app.selectbox, "Systems are in").set_value("runs").run())
    systems = next(box for box in app.multiselect if box.label == "Systems")
    app = sound(systems.set_value(["export.json"]).run())
    app = sound(labelled(app.multiselect, "Systems from the same file").set_value([]).run())
    app = sound(labelled(app.multiselect, "Layers").set_value([SECOND, MODEL]).run())
    app = settled(app.button(key="served_read").click().run())
    assert not app.error and list(rows(app)) == ["gold", SECOND, MODEL]
    assert rows(app)["gold"] == f"gold.json#{ANN}"


def test_lines_end_as_sentences_do() -> None:
    assert [start_recognition._listed(["start"]), start_recognition._listed(["start", "end"])] == [
        "start",
        "start and end",
    ]


def packed(files: dict[str, str]) -> bytes:
    return zipped(*((name, text.encode()) for name, text in files.items()))


@pytest.mark.parametrize("above", ["", "round one/"])
def test_folders_of_a_zip_with_the_same_documents_are_layers(above: str) -> None:
    files = {}
    for folder, end in (("anna", 3), ("ben", 7)):
        for document in ("d1", "d2"):
            files[f"{above}{folder}/{document}.txt"] = "Ann met Bob in Rome."
            files[f"{above}{folder}/{document}.ann"] = f"T1\tPER 0 {end}\t{'Ann met'[:end]}\n"
    app = given(("both.zip", packed(files)))
    assert any("2 folders, each a layer: anna, ben" in line for line in said(app))
    assert roles(app) == {"anna": "Annotator", "ben": "Annotator"}
    app = read(app)
    assert not app.error and address(app)["system"] == "ben"
    assert list(account(app)["documents"]) == [2, 2]
    ends = {layer.name: set(layer.end.tolist()) for layer in opened_corpus(app).systems}
    assert ends == {"ben": {7}} and set(opened_corpus(app).gold.end.tolist()) == {3}
    found = caches.find(address(app)["corpus"])
    assert found is not None and (found.first_annotator, found.corpus.name) == ("anna", "anna × ben")


def test_sheets_of_a_workbook_are_layers() -> None:
    header = words("document", "start", "end", "label", "text")
    ends = {"gold": 3, "system": 7}
    sheets = {name: rows_xml(header, words("d", "0", str(end), "PER", "Ann met Bob.")) for name, end in ends.items()}
    app = given(("both.xlsx", workbook(sheets)))
    assert any("2 sheets, each a layer: gold, system" in line for line in said(app))
    assert roles(app) == {"gold": "Gold", "system": "System"}
    app = read(app)
    assert not app.error and list(account(app)["spans"]) == [1, 1]
    assert {layer.name: set(layer.end.tolist()) for layer in opened_corpus(app).systems} == {"system": {7}}


def test_a_zip_of_gold_and_systems_is_taken_apart() -> None:
    files = {"gold.jsonl": GOLD, "run-1.jsonl": PREDICTION, "run-2.jsonl": PREDICTION}
    app = given(("all.zip", packed(files)))
    assert unmarked(files_are(app).label) == "The 3 files in all.zip are" and files_are(app).value == LAYERS
    assert roles(app) == {"gold.jsonl": "Gold", "run-1.jsonl": "System", "run-2.jsonl": "System"}
    # One click makes it one layer again.
    assert roles(sound(files_are(app).set_value(PARTS).run())) == {"all.zip": "Gold"}
    app = read(sound(files_are(app).set_value(LAYERS).run()))
    assert not app.error and list(rows(app)) == ["gold", "run-1", "run-2"]


def test_a_zip_whose_names_tell_nothing_is_taken_apart_by_one_click() -> None:
    app = given(("both.zip", packed({"a.jsonl": GOLD, "b.jsonl": PREDICTION})))
    assert app.button(key="upload_read").disabled
    hint = "Drop a system or an annotator too, to hold against gold. If both.zip has it, choose “a layer each” above."
    assert hint in said(app)
    app = sound(files_are(app).set_value(LAYERS).run())
    assert hint not in said(app)
    assert roles(app) == {"a.jsonl": None, "b.jsonl": None} and "Say above which is gold." in said(app)
    app = give_role(app, "a.jsonl", "Gold")
    assert roles(app) == {"a.jsonl": "Gold", "b.jsonl": "System"} and not app.button(key="upload_read").disabled


def test_a_zip_of_systems_and_one_more_file_is_taken_apart_and_that_one_is_gold() -> None:
    """The names of HIPE's files tell systems, and not gold."""
    files = {"HIPE-data-v1.3-test-en.jsonl": GOLD, "team10_bundle1_en_1.jsonl": PREDICTION}
    app = given(("hipe.zip", packed(files | {"team33_bundle2_en_1.jsonl": PREDICTION})))
    assert list(roles(app).values()) == ["Gold", "System", "System"] and not app.button(key="upload_read").disabled
    # Documents and a guess of a model on one of them may be anything.
    assert roles(given(("x.zip", packed({"d1.jsonl": GOLD, "d2.jsonl": GOLD, "run.jsonl": GOLD})))) == {"x.zip": "Gold"}


def test_a_broken_file_of_a_zip_leaves_the_rest_to_be_read() -> None:
    app = given(("all.zip", packed({"gold.jsonl": GOLD, "run-1.jsonl": PREDICTION, "run-2.jsonl": '{"id": 1'})))
    app = read(app)
    assert app.error and len(problems(app)) == 1 and address(app)["system"] == "run-1"
    app = sound(app.button(key="read_rest").click().run())
    assert title(app) == "Overview"


def test_files_dropped_together_are_layers_by_name_and_share_texts() -> None:
    files: dict[str, str] = {}
    for folder, end in (("gold", 3), ("run1", 7)):
        files[f"{folder}.csv"] = f"document,start,end,type\nd1,0,{end},PER\n"
    app = given(("d1.txt", "Ann met Bob."), *files.items(), ("notes.md", "# Notes"))
    assert roles(app) == {"d1.txt": "Texts", "gold.csv": "Gold", "run1.csv": "System", "notes.md": "Ignore"}
    app = read(app)
    assert not app.error and list(account(app)["spans"]) == [1, 1]
    assert opened_corpus(app).documents.texts[0] == "Ann met Bob."


def test_loose_pairs_of_text_and_annotations_are_one_layer() -> None:
    text, ann = "Ann met Bob in Rome.", "T1\tPER 0 3\tAnn\n"
    loose = [(f"d{number}.{ending}", raw) for number in (1, 2) for ending, raw in (("txt", text), ("ann", ann))]
    system = packed({f"d{number}.{ending}": raw for number in (1, 2) for ending, raw in (("txt", text), ("ann", ann))})
    app = given(*loose, ("run.zip", system))
    assert roles(app) == {"d1.txt": "Gold", "run.zip": "System"}
    assert sum(line.endswith(":green[✓] brat · 2 documents in 4 files") for line in said(app)) == 2
    assert list(account(read(app))["documents"]) == [2, 2]


def test_a_role_that_lacks_is_told_before_anything_is_read() -> None:
    app = given(("gold.jsonl", GOLD), ("run.jsonl", PREDICTION))
    assert not app.button(key="upload_read").disabled
    app = give_role(app, "gold.jsonl", "System")
    assert app.button(key="upload_read").disabled
    assert "One of them has to be Gold, or two of them Annotators." in said(app)
    # A role that the reader gave stays when more files come.
    files = {"gold.jsonl": GOLD.encode(), "run.jsonl": PREDICTION.encode(), "key.jsonl": GOLD.encode()}
    assert roles(drop(app, files))["key.jsonl"] == "Gold"


def test_folders_of_other_documents_are_one_layer() -> None:
    files = {f"{folder}/{folder}.txt": "Ann" for folder in "ab"} | {f"{folder}/{folder}.ann": "" for folder in "ab"}
    source = Source.of_uploads([("one.zip", packed(files))])
    assert source.folders() == () and not preview.preview(source).folders
    assert Source.of_uploads([("x.zip", packed({"a/d.txt": "A", "d.txt": "A"}))]).folders() == ()


def files_are(app: AppTest) -> Any:
    """Return the choice of what the files of a zip are."""
    return next(one for one in app.segmented_control if str(one.key).startswith(SPLIT))


def opened_corpus(app: AppTest) -> Corpus:
    found = caches.find(address(app)["corpus"])
    assert found is not None
    return found.corpus


def test_annotations_that_nothing_scores_are_said_in_one_line() -> None:
    span, others = "T1\tPER 0 3\tAnn\n", "R1\tX Arg1:T1 Arg2:T1\n" * 2 + "#1\tAnnotatorNotes T1\tsure?\n"
    files = {name: packed({"d1.txt": "Ann met Bob.", "d1.ann": span + others}) for name in ("anna", "ben")}
    app = given(("gold.zip", files["anna"]), ("run-ben.zip", files["ben"]))
    app = sound(settled(app.button(key="upload_read").click().run()))
    (line,) = [unmarked(caption.value) for caption in app.caption if "not scored" in caption.value]
    assert line == (
        "Read and not scored: 2 relations and 1 annotator's note of gold; "
        "2 relations and 1 annotator's note of run-ben."
    )
