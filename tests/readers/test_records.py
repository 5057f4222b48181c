"""JSON records of other tools: each shape gives the spans of its text, and damage ends in problems with their place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nereval_core.corpus import Documents
from nereval_core.problems import FormatError, Problem
from nereval_core.readers import Reading, ReadOptions, Source, layers, read
from nereval_core.readers.records import READER
from nereval_core.readers.records.paths import leaf, walk
from nereval_core.readers.records.record_shape import parse_keys
from nereval_core.readers.records.shapes import SHAPES, shape_of_head
from tests.support.record_files import (
    ARGILLA_1,
    ARGILLA_COLUMNS,
    ARGILLA_FEEDBACK,
    AZURE_DOCUMENTS,
    BDOC,
    CLUENER,
    CMEEE,
    COMPREHEND,
    CORENLP,
    CORENLP_XML,
    DATASETS_SERVER,
    DATATURKS,
    DOCRED,
    GATE_JSON,
    GOLD,
    LABELBOX_1,
    LIGHTTAG,
    NIF_JSON,
    RECORDS,
    SPACY_2,
    SPERT,
    SPOTLIGHT,
    STANZA,
    TECOHOLIC,
    TEXT,
    WEB_ANNOTATIONS,
    WITHOUT_TEXT,
    Files,
    lines,
)

GOLD_TEXTS = Documents(("1", "2"), (TEXT, "Nobody came."))
ONE_DOCUMENT = (
    "Google",
    "Google's Healthcare",
    "Azure Text Analytics 2",
    "Watson",
    "Rosette",
    "TextRazor",
    "CLUENER's predictions",
)


def source(files: Files) -> Source:
    return Source.of_uploads([(name, content.encode()) for name, content in files.items()])


def read_text(content: str, name: str = "x.json", **options: Any) -> Reading:
    return read(source({name: content}), options=ReadOptions(**options))


def spans_of(reading: Reading, document: int = 0) -> dict[str, tuple[int, int]]:
    layer = reading.layer
    rows = zip(layer.doc.tolist(), layer.type.tolist(), layer.start.tolist(), layer.end.tolist(), strict=True)
    return {layer.types[kind]: (start, end) for doc, kind, start, end in rows if doc == document}


def problems(content: str, name: str = "x.json", **options: Any) -> list[Problem]:
    with pytest.raises(FormatError) as caught:
        read_text(content, name, **options)
    return list(caught.value.problems)


@pytest.mark.parametrize("name", RECORDS)
def test_a_shape_gives_the_spans_of_its_text(name: str) -> None:
    files, layer = RECORDS[name]
    reading = read(source(files), options=ReadOptions(layer=layer))
    assert reading.format == "records"
    spans = spans_of(reading)
    odd = spans.pop("ODD", None)
    assert spans == GOLD and reading.documents.texts[0].startswith(TEXT)
    assert (odd is not None) == (name == "brat's JSON")
    said = next(note for note in reading.notes if note.startswith("read as "))
    assert said.removeprefix("read as ") in {shape.name for shape in SHAPES}


@pytest.mark.parametrize("name", WITHOUT_TEXT)
def test_texts_that_a_service_does_not_return_are_golds(name: str) -> None:
    lacking = "no text in it; score it against gold that has the text, or write the text that was sent beside it"
    with pytest.raises(FormatError, match=lacking):
        read(source(WITHOUT_TEXT[name]))
    gold = GOLD_TEXTS if name not in ONE_DOCUMENT else Documents(("d1",), (TEXT,))
    reading = read(source(WITHOUT_TEXT[name]), options=ReadOptions(texts=gold))
    number = reading.documents.index[gold.ids[0]]
    assert (reading.format, spans_of(reading, number)) == ("records", GOLD)


def test_a_document_that_gold_has_not_and_a_count_that_is_not_golds_are_problems() -> None:
    strange = {**AZURE_DOCUMENTS, "documents": [{"id": "x9", "entities": []}]}
    [problem] = problems(json.dumps(strange), texts=GOLD_TEXTS)
    assert (problem.line, problem.found) == (1, "no text, and the document 'x9' is not among gold's")
    [problem] = problems(WITHOUT_TEXT["Google"]["x.jsonl"], texts=GOLD_TEXTS)
    assert problem.found == "1 record without text or id where gold has 2 documents"
    [problem] = problems(COMPREHEND.replace('"Line": 1', '"Line": 2'), "output", texts=GOLD_TEXTS)
    assert (problem.line, problem.found) == (2, "no text, and the document '2' is not among gold's")


def test_ids_of_which_gold_has_none_are_passed_over_where_quotes_show_the_order() -> None:
    ids = {**AZURE_DOCUMENTS, "documents": [{**row, "id": f"x{row['id']}"} for row in AZURE_DOCUMENTS["documents"]]}
    reading = read_text(json.dumps(ids), texts=GOLD_TEXTS)
    assert (reading.documents.ids, spans_of(reading)) == (("1", "2"), GOLD)
    assert "ids of which gold has none: records are taken in gold's order" in reading.notes
    ids["documents"].reverse()
    assert "the quotes fit no way to count offsets" in problems(json.dumps(ids), texts=GOLD_TEXTS)[0].found


def test_a_text_that_a_service_has_not_read_is_not_one_without_spans() -> None:
    failed = lines({"ErrorCode": "DOCUMENT_SIZE_EXCEEDED", "ErrorMessage": "Too long", "File": "x.txt", "Line": 1})
    [problem] = problems(COMPREHEND.splitlines(keepends=True)[0] + failed, "output", texts=GOLD_TEXTS)
    assert (problem.line, problem.found) == (2, "no answer: 'Too long'")


def test_spans_without_a_type_and_texts_that_nobody_looked_at_are_left_out() -> None:
    record = json.loads(DATATURKS.splitlines()[0])
    record["annotation"].append({"label": [], "points": [{"start": 4, "end": 4, "text": "😀"}]})
    reading = read_text(json.dumps(record))
    assert spans_of(reading) == GOLD
    assert "spans that were given no type, left out: 1" in reading.notes
    tecoholic = json.loads(TECOHOLIC)
    tecoholic["annotations"].insert(0, None)
    reading = read_text(json.dumps(tecoholic))
    assert (len(reading.documents), spans_of(reading)) == (2, GOLD)
    # Labelbox writes "Skip" for a label.
    skipped = json.loads(LABELBOX_1)
    skipped[1]["Label"] = "Skip"
    assert len(read_text(json.dumps(skipped)).documents) == 1


def test_what_annotators_of_argilla_discarded_is_not_a_layer_without_spans() -> None:
    assert layers(source({"x.jsonl": ARGILLA_FEEDBACK})) == ("u1",)
    assert layers(source({"x.jsonl": ARGILLA_COLUMNS})) == ("u1", "model-1")
    assert spans_of(read_text(ARGILLA_COLUMNS, layer="model-1")) == {"PER": (0, 3)}


def test_tokens_of_gate_are_not_spans_and_its_default_set_has_its_name() -> None:
    document = json.loads(BDOC)
    sets = document["annotation_sets"]
    sets["Key"]["annotations"] += [
        {"type": "Token", "start": 0, "end": 3, "features": {}, "id": 7},
        {"type": "Anchor", "start": 4, "end": 4, "features": {}, "id": 8},
    ]
    reading = read_text(json.dumps(document), "x.bdocjs")
    assert spans_of(reading) == GOLD
    assert "annotations of GATE's tools and empty ones, left out: 2" in reading.notes
    document["annotation_sets"] = {"": {**sets["Key"], "name": "detached-from:"}, "Other": sets["Key"]}
    assert layers(source({"x.bdocjs": json.dumps(document)})) == ("default", "Other")


def test_signs_of_the_penn_treebank_are_those_of_the_text() -> None:
    paragraph = json.loads(SPACY_2)[0]["paragraphs"][0]
    paragraph["raw"] = '("Ann") 😀 left Rome'
    tokens = paragraph["sentences"][0]["tokens"]
    signs = [{"orth": sign, "ner": "O"} for sign in ("-LRB-", "``", "''", "-RRB-")]
    paragraph["sentences"][0]["tokens"] = [*signs[:2], tokens[0], *signs[2:], *tokens[1:]]
    reading = read_text(json.dumps([{"id": 0, "paragraphs": [paragraph]}]))
    assert spans_of(reading) == {"PER": (2, 5), "LOC": (15, 19)}


def test_rows_of_the_datasets_server_may_have_tags_of_another_name() -> None:
    assert spans_of(read_text(DATASETS_SERVER.replace("ner_tags", "fine_ner_tags"))) == GOLD


def test_every_shape_has_a_file_and_no_other_fits_it_first() -> None:
    files = [*(files for files, _ in RECORDS.values()), *WITHOUT_TEXT.values()]
    files += [{"x.json": SPOTLIGHT}]
    first = {shape_of_head(source(content).head(*READER.suffixes)) for content in files}
    with_utf_16 = RECORDS["bdocjs"][0]["x.bdocjs"].replace('"p"', '"j"')
    first.add(shape_of_head(source({"x.json": with_utf_16}).head()))
    assert first == {*SHAPES}


def test_answers_of_spotlight_are_links_without_types() -> None:
    reading = read_text(SPOTLIGHT)
    assert (spans_of(reading), reading.layer.links) == (
        {"entity": (11, 15)},
        {0: ("http://dbpedia.org/resource/Rome",)},
    )
    [problem] = problems(SPOTLIGHT.replace('"11"', '"1x"'))
    assert problem.found == "Resources[0] has no place"


def test_damaged_linked_data_and_xml_say_where() -> None:
    broken = CORENLP_XML.replace("</tokens>", "", 1)
    [problem] = problems(broken, "x.xml")
    assert problem.line and problem.found.startswith("not XML: mismatched tag")
    [problem] = problems(CORENLP_XML.replace("<CharacterOffsetEnd>3<", "<CharacterOffsetEnd>x<"), "x.xml")
    assert problem.found == "sentences[0].tokens[0] has no place"
    [problem] = problems(CORENLP_XML.replace("<root>", '<!DOCTYPE root [<!ENTITY a "b">]><root>'), "x.xml")
    assert "document type" in problem.found
    assert "quotes" in problems(NIF_JSON.replace('"@value": "15"', '"@value": "17"'), "x.jsonld")[0].found
    [problem] = problems(WEB_ANNOTATIONS.replace('"start": 11', '"start": null'), texts=GOLD_TEXTS)
    assert problem.found == "spans[1] has no place"
    [problem] = problems(NIF_JSON[: len(NIF_JSON) // 2], "x.jsonld")
    assert "JSON" in problem.found


def test_annotators_and_models_are_layers() -> None:
    assert layers(source({"x.jsonl": ARGILLA_1})) == ("prediction", "annotation")
    reading = read_text(ARGILLA_1, layer="prediction")
    # The second record was not predicted, which is not the same as a prediction of nothing.
    assert (len(reading.documents), spans_of(reading), reading.layer.scores) == (1, {"PER": (0, 3)}, {0: 0.5})
    assert layers(source(RECORDS["Argilla 2"][0])) == ("u1", "model-1")
    assert layers(source({"x.json": LIGHTTAG})) == ("ann@example.org", "bob")
    reading = read_text(LIGHTTAG, layer="bob")
    assert (len(reading.documents), len(reading.layer)) == (1, 0)
    [problem] = problems(LIGHTTAG)
    assert "2 layers" in problem.found


def test_a_quote_decides_whether_an_end_is_inside() -> None:
    rows = json.loads(CMEEE)
    for span in rows[0]["entities"]:
        span["end_idx"] += 1
    assert spans_of(read_text(json.dumps(rows))) == GOLD
    # Without quotes the row of the shape does.
    for span in rows[0]["entities"]:
        del span["entity"]
        span["end_idx"] -= 1
    assert spans_of(read_text(json.dumps(rows))) == GOLD
    wrong = CLUENER.replace("[[11, 14]]", "[[4, 7]]")
    assert "the quotes fit no way to count offsets" in problems(wrong)[0].found


def test_javas_offsets_count_utf_16_units() -> None:
    assert spans_of(read_text(GATE_JSON)) == GOLD
    assert read_text(GATE_JSON).notes[-1].startswith("offsets taken as UTF-16 units")
    mentions = json.loads(CORENLP)
    mentions["sentences"][0]["tokens"][3].update(characterOffsetBegin=14, characterOffsetEnd=18)
    mentions["sentences"][0]["entitymentions"][1].update(characterOffsetBegin=14, characterOffsetEnd=18)
    reading = read_text(json.dumps(mentions))
    assert reading.documents.texts == ("Ann 😀 left   Rome",)
    assert spans_of(reading)["LOC"] == (13, 17)


DAMAGES = [
    # (content, what is replaced, by what, line, what the problem says)
    (SPERT, '"end": 4', '"end": 5', 1, "entities[1] is words 3 to 5 of 4 words"),
    (SPERT, '"end": 4', '"end": 3', 1, "entities[1] is words 3 to 3 of 4 words"),
    (SPERT, '"start": 3', '"start": "3"', 1, "entities[1] has no place"),
    (SPERT, '"type": "LOC"', '"type": 7', 1, "entities[1] has no type"),
    (SPERT, '"left"', '""', 1, "words that are not strings"),
    (DOCRED, '"sent_id": 1', '"sent_id": 2', 1, "vertexSet[1][0] is in no sentence"),
    (CLUENER, "[[0, 2]]", '"0"', 1, "label.PER.Ann is a string"),
    (CLUENER, "[[0, 2]]", "[[0]]", 1, "label.PER.Ann[0] has no place"),
    (SPACY_2, '"U-LOC"', "null", 1, "sentences[0].tokens[3] has no tag"),
    (SPACY_2, '"orth": "left"', '"orth": "right"', 1, "sentences[0].tokens[2], 'right', is not the next word"),
    (STANZA, '"end_char": 5', '"end_char": 3', 2, "has no place"),
    (STANZA, '"text": "left"', '"text": ""', 2, "has no text"),
    (DATASETS_SERVER, "3\n", "9\n", 1, "a tag without a label"),
    (DATASETS_SERVER, '"names"', '"nomen"', 1, "tags are numbers, and there is no list of labels"),
    (LIGHTTAG, '"start": 11', '"start": 13', None, "the quotes fit no way to count offsets"),
]


@pytest.mark.parametrize(("content", "old", "new", "line", "said"), DAMAGES)
def test_damage_is_told_with_its_place(content: str, old: str, new: str, line: int | None, said: str) -> None:
    assert old in content
    options = {"layer": "ann@example.org"} if content is LIGHTTAG else {}
    problem = problems(content.replace(old, new, 1), **options)[0]
    assert (problem.line, said in problem.found) == (line, True), problem


def test_annotations_under_other_keys_are_said() -> None:
    row = {**json.loads(CLUENER), "predictions": [{"start": 0, "end": 3, "label": "PER"}]}
    assert "annotations under other keys, not read: 'predictions'" in read_text(json.dumps(row)).notes


OWN = lines({"doc": "d1", "content": TEXT, "marks": [{"from": 0, "to": 3, "kind": "PER"}]})


def test_ids_of_brat_may_be_of_any_letters() -> None:
    """INCEpTION numbers them, and writes more behind the place."""
    row = {"text": TEXT, "entities": [["127", "PER", [[0, 3]], "x", "#8dd3c7", None]]}
    assert spans_of(read_text(json.dumps(row))) == {"PER": (0, 3)}


def test_keys_that_are_given_make_a_shape() -> None:
    keys = parse_keys("id=doc, text=content, spans=marks, start=from, end=to, label=kind")
    reading = read_text(OWN, keys=keys)
    assert (reading.documents.ids, spans_of(reading)) == (("d1",), {"PER": (0, 3)})
    # An end inside the span has a name of its own.
    keys = parse_keys("text=content,spans=marks,start=from,last=to,label=kind")
    assert spans_of(read_text(OWN, keys=keys)) == {"PER": (0, 4)}
    nested = json.dumps({"data": {"rows": [{"words": TEXT.split(), "ner": {"PER": [[0, 0]], "LOC": [[3, 3]]}}]}})
    keys = parse_keys("records=data.rows.*,words=words,spans=ner.{label}.*,start=0,last=1")
    assert spans_of(read_text(nested, keys=keys)) == GOLD
    plain = json.dumps({"data.text": TEXT, "marks": [[0, 3, "PER"]]})
    # Start, end and type are the order of most lists.
    for words in ("text=data.text,spans=marks,start=0,end=1,label=2", "text=data.text,spans=marks"):
        assert spans_of(read_text(plain, keys=parse_keys(words))) == {"PER": (0, 3)}


MARKS = [{"from": start, "to": end, "kind": kind, "words": TEXT[start:end]} for kind, (start, end) in GOLD.items()]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        # Lists are meant with all they hold.
        ({"pages": [{"content": TEXT, "marks": MARKS}]}, "records=pages,spans=marks,start=from,end=to,label=kind"),
        ({"content": TEXT, "by": {mark["kind"]: [mark] for mark in MARKS}}, "spans=by.{label},start=from,end=to"),
        ({"content": TEXT, "marks": MARKS}, "spans=marks,quote=words,label=kind"),
        ([{"doc": "1", "content": TEXT, **mark} for mark in MARKS], "id=doc,start=from,end=to,label=kind"),
    ],
)
def test_keys_fit_lists_by_type_words_without_places_and_spans_of_their_own(content: Any, words: str) -> None:
    reading = read_text(json.dumps(content), keys=parse_keys(f"text=content,{words}"))
    assert (reading.format, spans_of(reading), reading.documents.texts) == ("records", GOLD, (TEXT,))


def test_rows_of_spans_take_the_texts_of_gold() -> None:
    rows = [{"doc": "1", **mark} for mark in MARKS] + [{"doc": "2", "from": None, "to": None, "kind": None}]
    keys = parse_keys("id=doc,start=from,end=to,label=kind")
    reading = read_text(json.dumps(rows), keys=keys, texts=GOLD_TEXTS)
    assert (reading.documents.ids, spans_of(reading)) == (("1", "2"), GOLD)


def test_keys_that_a_file_does_not_have_are_named() -> None:
    [problem] = problems(OWN, keys=parse_keys("text=content,spans=marx,start=from,end=to,label=kind"))
    assert problem.found == "no key 'marx' in its first object, which has 'content', 'doc', 'marks'"
    [problem] = problems(json.dumps(MARKS), keys=parse_keys("start=from,end=to,label=kind"))
    assert (problem.found, problem.remedy) == (
        "no key for the list of spans",
        "add spans=KEY, or id=KEY where each object is a span",
    )


def test_keys_are_for_files_that_have_them() -> None:
    native = lines({"id": "d1", "text": TEXT, "spans": []})
    reading = read_text(native, keys={"text": "content", "spans": "marks"})
    assert reading.format == "jsonl"
    # Of the keys, those of a file that a reader would take otherwise count.
    own = lines({"text": TEXT, "spans": [{"start": 0, "end": 2, "label": "PER"}]})
    assert spans_of(read_text(own, keys={"spans": "spans", "last": "end"})) == {"PER": (0, 3)}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("text", "'text' does not say what a key holds"),
        ("colour=x", "'colour=x' does not say what a key holds"),
        ("text=", "'text=' does not say what a key holds"),
    ],
)
def test_words_that_name_no_keys_are_refused(words: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        parse_keys(words)


def test_a_key_that_lacks_is_called_by_the_first_of_its_names() -> None:
    row = {"text": TEXT, "marks": [{"label": "PER"}, {"start": 0, "end": 3}]}
    found = problems(json.dumps(row), keys={"spans": "marks"})
    assert [problem.remedy for problem in found] == ["write integers under start and end", "write a string under label"]


def test_two_ends_no_spans_and_unknown_names_are_refused() -> None:
    for keys, said in (
        ({"spans": "marks", "end": "to", "last": "to"}, "end and last are two ends"),
        ({"spans": "marks", "colour": "to"}, "'colour' is nothing that a key holds"),
    ):
        [problem] = problems(OWN, keys=keys)
        assert (problem.source, problem.found) == ("--keys", said)
    [problem] = problems(OWN, keys={"records": "marks", "text": "content"})
    assert problem.found == "no key for the list of spans"


def test_paths_pass_over_what_is_missing() -> None:
    value = {"a": [{"b": {"x": [1, 2], "y": [3]}, "by": "m"}, {"b": None}], "c.d": 4}
    assert [(visit.value, visit.place) for visit in walk(value, "a.*.b.x.1")] == [(2, "a[0].b.x[1]")]
    assert [visit.roles for visit in walk(value, "a.*(layer=by).b.{label=y}.*")] == [{"layer": "m", "label": "y"}]
    assert [visit.value for visit in walk(value, "c.d")] == [4]
    assert (leaf(value, "z|c.d"), leaf(value, "a.0.by"), leaf(value, "a.7")) == (4, "m", None)


def test_entities_of_w2ner_are_found_by_their_words() -> None:
    def read_entities(sentence: str, *entities: str) -> list[tuple[int, int, str]]:
        named = [{"text": entity.split("/")[0].split(), "type": entity.split("/")[1]} for entity in entities]
        reading = read_text(json.dumps([{"sentence": sentence.split(), "entity": named}]))
        return sorted((start, end, kind) for _, start, end, kind in content_of(reading))

    assert read_entities("aches in legs and arms", "aches arms/ADR") == [(0, 22, "ADR")]
    assert read_entities("a b a", "a/X", "a/X") == [(0, 1, "X"), (4, 5, "X")]
    assert read_entities("a b", "a/X", "a/Y") == [(0, 1, "X"), (0, 1, "Y")]
    for sentence, entities, finding in (
        ("a b a", ["a/X"], "'a' stands in several places"),
        ("a b a", ["a/X", "a/Y"], "'a' stands in several places"),
        ("a x a b", ["a b/X", "x b/X", "a x b/X", "a a/X"], ""),
        ("a x b y b", ["a b/X"], "'a b' stands in several places"),
        ("a b", ["c/X"], "'c' is not in its sentence"),
    ):
        if finding:
            with pytest.raises(FormatError, match=finding):
                read_entities(sentence, *entities)
        else:
            assert len(read_entities(sentence, *entities)) == len(entities)


def content_of(reading: Reading) -> list[tuple[int, int, int, str]]:
    layer = reading.layer
    columns = zip(layer.doc.tolist(), layer.start.tolist(), layer.end.tolist(), strict=True)
    return [(*places, layer.label(at)) for at, places in enumerate(columns)]
