"""Rows of Hugging Face datasets: numbers and their labels wherever these stand, what is refused, writing reads back."""

from __future__ import annotations

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nereval_core
from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers.recognition.preview import preview
from nereval_core.readers.shared.label_list import label_list
from nereval_core.writers import write
from tests.support import FIXTURES
from tests.support.draws import draws
from tests.support.layer_strategies import content, words
from tests.support.samples import CONLL_LABELS, DATASET, lines


def read_files(files: dict[str, str | bytes], **options: Any) -> Reading:
    raw = ((name, one if isinstance(one, bytes) else one.encode()) for name, one in files.items())
    return read(Source.of_uploads(raw), format="datasets", options=ReadOptions(**options))


def parquet(columns: dict[str, list[Any]], features: Any = None) -> bytes:
    """Return a Parquet file as the library writes it, its features in the schema's metadata."""
    table = pa.table(columns)
    if features is not None:
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def spans(reading: Reading) -> list[tuple[str, str, str]]:
    layer = reading.layer
    ids = layer.documents.ids
    return [(ids[int(layer.doc[span])], layer.text(span), layer.label(span)) for span in range(len(layer))]


FOUND = [("0", "EU", "ORG"), ("0", "German", "MISC"), ("1", "Peter Blackburn", "PER")]
ROWS = [json.loads(line) for line in DATASET.splitlines()]
COLUMNS = {key: [row[key] for row in ROWS] for key in ("id", "tokens", "ner_tags")}
CLASS = {"names": list(CONLL_LABELS), "_type": "ClassLabel"}
BESIDE = [
    ("labels.txt", "\n".join(CONLL_LABELS) + "\n"),
    ("dataset_info.json", json.dumps({"features": {"ner_tags": {"feature": CLASS, "_type": "Sequence"}}})),
    ("dataset_infos.json", json.dumps({"conll2003": {"features": {"ner_tags": {"feature": CLASS}}}})),
    ("config.json", json.dumps({"id2label": {str(code): name for code, name in enumerate(CONLL_LABELS)}})),
]


@pytest.mark.parametrize(("name", "text"), BESIDE, ids=[name for name, _ in BESIDE])
def test_labels_stand_in_a_file_beside(name: str, text: str) -> None:
    for file in ({"train.jsonl": DATASET}, {"train.json": json.dumps(ROWS)}, {"train.parquet": parquet(COLUMNS)}):
        reading = read_files({**file, name: text})
        assert spans(reading) == FOUND
        assert reading.documents.texts == ("EU rejects German call", "Peter Blackburn")
        assert (reading.scheme, reading.notes) == ("IOB2", ("tag scheme IOB2 (detected)",))


FEATURES: list[Any] = [
    {"ner_tags": {"feature": CLASS, "length": -1, "id": None, "_type": "Sequence"}},
    {"ner_tags": {"feature": CLASS, "_type": "List"}},
    {"ner_tags": [CLASS]},
    {
        "pos_tags": {"feature": {"names": ["X"]}},
        "ner_tags": {"feature": {"names": {"0": "O", **dict(zip("12345678", CONLL_LABELS[1:], strict=True))}}},
    },
]


@pytest.mark.parametrize("features", FEATURES)
def test_labels_stand_in_the_metadata_of_parquet(features: Any) -> None:
    source = Source.of_uploads([("train-00000-of-00001.parquet", parquet(COLUMNS, features))])
    reading = read(source)
    assert (reading.format, spans(reading)) == ("datasets", FOUND)
    assert reading.places == (("train-00000-of-00001.parquet", 1), ("train-00000-of-00001.parquet", 2))


def test_tags_may_be_strings_in_another_column_and_rows_without_ids() -> None:
    text = lines({"words": ["a", "b"], "tags": ["B-A", "I-A"], "fine": ["O", "B-B"]})
    reading = read_files({"x.jsonl": text})
    assert (spans(reading), reading.documents.named) == ([("1", "a b", "A")], False)
    assert spans(read_files({"x.jsonl": text}, column="fine")) == [("1", "b", "B")]
    assert reading.documents.tokens is not None
    assert reading.documents.tokens.of_document(0) == [(0, 1), (2, 3)]


def test_schemes_and_repairs_are_as_with_columns_of_tags() -> None:
    text = lines({"tokens": ["a", "b", "c"], "ner_tags": ["B-A", "O", "I-A"]})
    with pytest.raises(
        FormatError, match=r"^x\.jsonl:1: 'I-A' after 'O' is not legal in IOB2; mend it, or read it with"
    ):
        read_files({"x.jsonl": text}, scheme="IOB2")
    reading = read_files({"x.jsonl": text}, scheme="IOB2", repair="conlleval")
    assert (len(reading.layer), reading.mended) == (2, "1 malformed chunk cut as conlleval does")


def row(tokens: Any = ("a", "b"), tags: Any = ("O", "O"), **more: Any) -> str:
    return json.dumps({"tokens": tokens, "ner_tags": tags, **more})


def test_types_without_letters() -> None:
    reading = read_files({"x.jsonl": row(("a", "b", "c"), ("PER", "PER", "O"))})
    assert ([reading.layer.text(0)], reading.scheme) == (["a b"], "IO")


REFUSED = [
    # (second line, said)
    ("[]", "a list in a row; write objects with tokens and ner_tags"),
    ('{"tokens": []}', "no ner_tags or ner or tags or labels or ner_tags_fine in a row"),
    ('{"ner_tags": []}', "no tokens in a row"),
    (row("ab"), "tokens are not a list of strings with something in them; write one string a token"),
    (row(["a", ""]), "tokens are not a list of strings with something in them"),
    (row(["a", 1]), "tokens are not a list of strings with something in them"),
    (row(tags=["O"]), "1 tag for 2 tokens; write one tag a token"),
    (row(tags="OO"), "no list of tags for 2 tokens"),
    (row(tags=["O", 0]), "tags that are neither all strings nor all integers; write one kind"),
    (row(tags=[True, False]), "tags that are neither all strings nor all integers"),
    (
        row(tags=[0, 1]),
        "tags are numbers, and there is no list of labels; give it, --labels O,B-PER,I-PER,… or a file, ",
    ),
    (row(tags=["B-PER", "PER"]), "'PER' is not a tag; write O, or a letter, '-' and a type"),
    (row()[:-1], "not JSON at position"),
]


@pytest.mark.parametrize(("line", "said"), REFUSED)
def test_refuses_with_the_line(line: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_files({"x.jsonl": row() + "\n" + line + "\n" + row()})
    [problem] = caught.value.problems
    assert str(problem).startswith("x.jsonl:2: ")
    assert said in str(problem)


def test_numbers_beyond_the_labels_and_damaged_files_are_refused() -> None:
    for tag in (9, -1):
        with pytest.raises(FormatError, match=rf"^x\.jsonl:1: the tag {tag} is not one of the 9 of labels\.txt; give"):
            read_files({"x.jsonl": row(tags=[0, tag]), "labels.txt": "\n".join(CONLL_LABELS)})
    raw = parquet(COLUMNS, FEATURES[0])
    for damaged in (raw[:-20], raw[:50] + b"\0" * 80 + raw[130:], b"PAR1"):
        with pytest.raises(FormatError, match=r"^x\.parquet: "):
            read_files({"x.parquet": damaged})


MADE = FIXTURES / "datasets"
"""Files that the library wrote: see make.py there."""
NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
IN_MADE = [("a", "Ann Lee", "PER"), ("a", "Rome", "LOC")]


@pytest.mark.parametrize("name", ["list", "large-list", "sequence"])
def test_files_of_the_library_say_their_labels(name: str) -> None:
    """datasets 5.2.0 and, what has a Sequence, 3.6.0."""
    reading = read(MADE / f"{name}.parquet")
    assert (reading.format, spans(reading), reading.documents.ids) == ("datasets", IN_MADE, ("a", "b", "c"))
    assert reading.documents.texts == ("Ann Lee left Rome", "Nobody came", "")


UNLABELLED = ["unlabelled.parquet", "rows.jsonl", "rows.json"]


@pytest.mark.parametrize("name", UNLABELLED)
def test_files_of_the_library_without_labels_take_those_given_or_beside(name: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=rf"{name}:1: tags are numbers, and there is no list of labels"):
        read(MADE / name)
    (tmp_path / "names.txt").write_text("\n".join(NAMES))
    (tmp_path / "names.json").write_text(json.dumps(NAMES))
    (tmp_path / "config.json").write_text(json.dumps({"id2label": dict(enumerate(NAMES))}))
    info = MADE / "dataset_info.json"
    for labels in (NAMES, ",".join(NAMES), *map(str, tmp_path.iterdir()), info):
        assert spans(nereval_core.read(MADE / name, labels=labels)) == IN_MADE
    both = Source.of_uploads([(name, (MADE / name).read_bytes()), (info.name, info.read_bytes())])
    assert spans(read(both)) == IN_MADE


def test_labels_given_come_before_those_of_the_file_and_that_is_said() -> None:
    other = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    reading = nereval_core.read(MADE / "list.parquet", labels=other)
    assert spans(reading) == [("a", "Ann Lee", "X"), ("a", "Rome", "Y")]
    assert reading.notes[1:] == (f"{MADE / 'list.parquet'} has a list of 5 labels, and the one given is taken",)
    assert nereval_core.read(MADE / "list.parquet", labels=NAMES).notes == ("tag scheme IOB2 (detected)",)
    strings = read_files({"x.jsonl": row(tags=["O", "B-A"])}, labels=label_list(NAMES))
    assert strings.notes[1:] == ("the labels given are not used: tags are strings",)


WRONG_LABELS: list[tuple[dict[str, str | bytes], Any, list[str]]] = [
    # (files beside x.jsonl, labels given, said)
    (
        {"labels.txt": "O\nB-A\n\nB-A\n"},
        None,
        ["labels.txt:4: the labels 1 and 2 are both 'B-A'; give the list"],
    ),
    (
        {"labels.txt": "O\nA\n"},
        None,
        ["labels.txt:2: label 1, 'A', is not a tag; write O, or a letter, '-' and a type"],
    ),
    (
        {"labels.txt": "O\n"},
        None,
        ["x.jsonl:1: the tag 1 is not one of the 1 of labels.txt;", "x.jsonl:2: the tag 1"],
    ),
    (
        {"labels.txt": "\n"},
        None,
        ["x.jsonl:1: the tag 0 is not one of the 0 of labels.txt;", "x.jsonl:2: the tag 1"],
    ),
    (
        {"config.json": '{"id2label": {"0": "LABEL_0", "1": "O"}}'},
        None,
        ["config.json: label 0, 'LABEL_0', is not a tag"],
    ),
    ({}, ["O", "B-A", "O"], ["labels: the labels 0 and 2 are both 'O'"]),
    ({}, "O,PER", ["--labels: label 1, 'PER', is not a tag"]),
    ({}, "O,", ["x.jsonl:1: the tag 1 is not one of the 1 of --labels", "x.jsonl:2: the tag 1"]),
    ({"labels.txt": "O\nO"}, "O,B-A,O", ["--labels: the labels 0 and 2 are both 'O'"]),
]


@pytest.mark.parametrize(("beside", "given", "said"), WRONG_LABELS)
def test_wrong_lists_get_their_lines(beside: dict[str, str | bytes], given: Any, said: list[str]) -> None:
    rows = row(tags=[0, 1]) + "\n" + row(tags=[1, 0])
    with pytest.raises(FormatError) as caught:
        read_files({"x.jsonl": rows, **beside}, labels=None if given is None else label_list(given))
    found = [str(problem) for problem in caught.value.problems]
    assert len(found) == len(said) and all(one.startswith(start) for one, start in zip(found, said, strict=True)), found


def test_labels_that_no_tag_uses_may_be_none() -> None:
    names = ["[PAD]", "O", "B-A", "X"]
    assert spans(read_files({"x.jsonl": row(tags=[1, 2])}, labels=label_list(names))) == [("1", "b", "A")]


def test_what_is_no_list_of_labels_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"features": {"pos": {"names": ["A"]}}}')
    (tmp_path / "y.json").write_text("{")
    (tmp_path / "z.txt").write_bytes(b"\xff")
    for labels, said in (
        ("none", "--labels: 'none' is neither a file nor a list with commas; write O,B-PER,I-PER,… or name a file"),
        ("O" * 5000, "--labels: 'OOO"),
        (tmp_path / "x.json", f"{tmp_path / 'x.json'}: no list of labels for ner_tags or ner or tags or labels or"),
        (tmp_path / "y.json", f"{tmp_path / 'y.json'}: not JSON"),
        (tmp_path / "z.txt", f"{tmp_path / 'z.txt'}:1: byte 0xFF at position 1"),
    ):
        with pytest.raises(FormatError) as caught:
            label_list(labels)
        assert str(caught.value).startswith(said)


def test_damage_anywhere_in_a_parquet_file_ends_in_a_reading_or_a_problem() -> None:
    whole = parquet(COLUMNS, FEATURES[0])
    read_well = 0
    for at in range(0, len(whole), 7):
        raw = bytearray(whole)
        raw[at] ^= 0x55
        try:
            read_files({"x.parquet": bytes(raw)})
            read_well += 1
        except FormatError as error:
            assert error.lines()
    assert read_well


@st.composite
def tokenized(draw: st.DrawFn) -> Layer:
    """Draw documents of tokens with a blank between, and spans of them that do not overlap."""
    builder = Builder("drawn")
    token = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4).filter(str.split)
    for name in draw(st.lists(words(), min_size=1, max_size=3, unique=True)):
        tokens = draw(st.lists(token, max_size=6))
        edges = [sum(map(len, tokens[:at])) + at for at in range(len(tokens) + 1)]
        builder.document(
            name, " ".join(tokens), tokens=[(edges[at], edges[at] + len(one)) for at, one in enumerate(tokens)]
        )
        at = 0
        while at < len(tokens):
            last = draw(st.integers(at, len(tokens) - 1))
            if draw(st.booleans()):
                builder.span(edges[at], edges[last] + len(tokens[last]), draw(words()))
            at = last + 1
    return builder.finish("drawn")


@draws(13)
@given(tokenized())
@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_writing_reads_back(ending: str, layer: Layer) -> None:
    assume(layer.documents.tokens is not None)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"out{ending}"
        assert write(layer, path, format="datasets") == ()
        reading = read(path, options=ReadOptions(scheme="IOB2"))
    assert reading.format == "datasets"
    assert content(reading.layer) == content(layer)


def test_what_rows_cannot_hold_is_refused_or_told(tmp_path: Path) -> None:
    def built(*given: tuple[int, int, str], text: str = "ab  cd") -> Layer:
        spans = [{"start": start, "end": end, "label": label} for start, end, label in given]
        return read(Source.of_uploads([("x.jsonl", lines({"id": "d", "text": text, "spans": spans}).encode())])).layer

    assert write(built((4, 6, "A")), tmp_path / "x.jsonl", format="datasets") == (
        "texts of which only the tokens are kept, not what stands between: 1",
    )
    assert json.loads((tmp_path / "x.jsonl").read_text()) == {
        "id": "d",
        "tokens": ["ab", "cd"],
        "ner_tags": ["O", "B-A"],
    }
    for placed, said in (
        (
            [(0, 1, "A")],
            r"document 'd': span \[0, 1\) 'a' \(A\) does not begin and end with a token; leave out what it cannot",
        ),
        ([(0, 2, "A"), (0, 6, "B")], r"span \[0, 2\) 'ab' \(A\) overlaps another span"),
    ):
        with pytest.raises(FormatError, match=said):
            write(built(*placed), tmp_path / "y.jsonl", format="datasets")
    assert not (tmp_path / "y.jsonl").exists()


# Rows with gold and a prediction, and the columns that are asked for.
AMBIGUOUS = [
    ({"ner_tags": ["B-PER", "O"], "predictions": ["O", "O"]}, ("ner_tags", "predictions")),
    ({"ner_tags": ["B-PER", "O"], "predicted_tags": ["b-per", "o"]}, ("ner_tags", "predicted_tags")),
    ({"predictions": ["PER", "O"], "ner_tags": ["B-PER", "O"]}, ("predictions", "ner_tags")),
    ({"tags": [1, 0], "pred_ner": [0, 0]}, ("tags", "pred_ner")),
    ({"ner_tags": ["B-PER", "O"], "model output": ["LABEL_1", "LABEL_0"]}, ("ner_tags", "model output")),
    ({"ner_tags": ["B-PER", "O"], "gold": ["B-PER/0.9", "O/1.0"]}, ("ner_tags", "gold")),
]


@pytest.mark.parametrize(("columns", "names"), AMBIGUOUS)
def test_gold_is_not_read_as_the_prediction(columns: dict[str, Any], names: tuple[str, str]) -> None:
    row = {"tokens": ["Ann", "left"], **columns}
    for file in ({"x.jsonl": json.dumps(row)}, {"x.parquet": parquet({key: [value] for key, value in row.items()})}):
        with pytest.raises(FormatError, match="2 columns hold tags: ") as error:
            read_files(file)
        assert all(f"'{name}' (" in str(error.value) for name in names)
        source = Source.of_uploads((name, raw.encode() if isinstance(raw, str) else raw) for name, raw in file.items())
        assert tuple(column.number for column in preview(source).tags) == names
        labels = label_list("O,B-PER")
        assert all(read_files(file, column=name, labels=labels).format == "datasets" for name in names)


# Rows in which no column of tags has a usual name.
UNUSUAL = [
    {"pred_tags": ["B-PER", "O"]},
    {"predicted_labels": ["B-PER", "O"], "pred_score": [0.5, 0.1]},
    {"true_tags": ["O", "O"], "pred_tags": ["B-PER", "O"]},
    {"y_true": ["O", "O"], "y_pred": ["B-PER", "O"]},
]


@pytest.mark.parametrize("columns", UNUSUAL, ids=" ".join)
@pytest.mark.parametrize("shape", ["lines", "list", "parquet"])
def test_rows_are_recognised_by_their_tags(columns: dict[str, Any], shape: str) -> None:
    row = {"id": "r", "words": ["Ann", "left"], **columns}
    file: dict[str, str | bytes] = {"x.jsonl": json.dumps(row)}
    if shape == "list":
        file = {"x.json": json.dumps([row], indent=2)}
    elif shape == "parquet":
        file = {"x.parquet": parquet({key: [value] for key, value in row.items()})}
    name = next(key for key in columns if "pred" in key)
    assert spans(read_files(file, column=name)) == [("r", "Ann", "PER")]
    if sum("score" not in key for key in columns) == 1:
        assert spans(read_files(file)) == [("r", "Ann", "PER")]
    else:
        with pytest.raises(FormatError, match="2 columns hold tags: "):
            read_files(file)


@pytest.mark.parametrize(
    "prediction",
    [
        "B-PER O",
        '["B-PER", "O"]',
        {"tags": ["B-PER", "O"]},
        [{"tag": "B-PER", "score": 0.9}, {"tag": "O", "score": 0.8}],
        [{"start": 0, "end": 3, "label": "PER"}],
    ],
)
@pytest.mark.parametrize("first_rows", [0, 60])
def test_predictions_in_other_forms_and_in_later_rows_are_a_choice(prediction: Any, first_rows: int) -> None:
    row = {"tokens": ["Ann", "left"], "ner_tags": ["B-PER", "O"]}
    rows = [*[row] * first_rows, row | {"predictions": prediction}]
    file = {"x.jsonl": "".join(json.dumps(one) + "\n" for one in rows)}
    with pytest.raises(FormatError, match=r"2 columns hold tags: 'ner_tags' .PER., 'predictions'"):
        read_files(file)
    assert len(read_files(file, column="ner_tags").layer) == len(rows)


def test_a_text_beside_tokens_and_tags_is_not_read() -> None:
    row = {"id": "r", "text": "Ann  left", "tokens": ["Ann", "left"], "ner_tags": ["B-PER", "O"]}
    reading = read_files({"x.jsonl": lines(row)})
    assert (reading.documents.texts, spans(reading)) == (("Ann left",), [("r", "Ann", "PER")])
    assert "the key text is not read: the text is the tokens with a blank between" in reading.notes
    with pytest.raises(FormatError, match="2 columns hold tags: "):
        read_files({"x.jsonl": lines(row | {"pred_tags": ["O", "O"]})})


# Columns beside the tags that are no other annotation, and a note on them.
BESIDE_TAGS = [
    ({"pos_tags": [1, 2], "chunk_tags": ["B-NP", "O"], "langs": ["en", "en"], "lengths": [3, 4]}, ""),
    ({"fine_ner_tags": ["B-actor", "O"], "labels": [1, 0]}, ""),
    ({"predictions": "Ann", "pred_score": [0.5, 0.1]}, "'predictions', 'pred_score'"),
]


@pytest.mark.parametrize(("columns", "note"), BESIDE_TAGS)
def test_other_columns_are_not_asked_for(columns: dict[str, Any], note: str) -> None:
    found = read_files({"x.jsonl": json.dumps({"tokens": ["Ann", "left"], "ner_tags": ["B-PER", "O"], **columns})})
    assert spans(found) == [("1", "Ann", "PER")]
    assert found.notes[1:] == ((f"not read, though called like predictions: {note}",) if note else ())
