"""Tables of spans: columns by their names, texts wherever they stand, what is refused, and writing reads back."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Documents, Layer
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers.recognition.preview import preview
from nereval_core.readers.shared import table_sides
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.table_columns import parse_column_options, parse_offset, parse_offsets
from nereval_core.readers.shared.table_sides import type_columns
from nereval_core.readers.shared.tag_cells import TagColumn
from nereval_core.writers import write
from tests.support.draws import draws
from tests.support.layer_strategies import content, layers
from tests.support.readings import span_texts
from tests.support.samples import CSV, TSV, lines


def read_files(
    files: dict[str, str],
    *,
    texts: Documents | None = None,
    offsets: Offsets | None = None,
    columns: str | None = None,
    format: str = "csv",
) -> Reading:
    source = Source.of_uploads((name, text.encode()) for name, text in files.items())
    chosen = None if columns is None else parse_column_options(columns)
    return read(source, format=format, options=ReadOptions(texts=texts, offsets=offsets, columns=chosen))


ANN = [("d1", "Ann", "PER"), ("d1", "Bob", "PER")]
TEXTS = "id\ttext\nd1\tAnn met Bob.\nd2\tNobody.\n"
TEXT = "Ann met Bob."


def test_texts_stand_in_a_column_once_for_each_document() -> None:
    reading = read_files({"spans.csv": CSV}, format="auto")
    assert (reading.format, span_texts(reading.layer)) == ("csv", ANN)
    assert reading.documents.texts == (TEXT, "Nobody.")
    assert reading.notes == ("offsets in code points, end exclusive: 2 of 2 quotes match",)
    assert reading.places == (("spans.csv", 2), ("spans.csv", 4))


TAKEN = [
    # (what, files)
    ("a second file", {"d.spans.tsv": TSV, "d.texts.tsv": TEXTS}),
    ("a second file of another kind", {"a.csv": TEXTS.replace("\t", ","), "b.tsv": TSV}),
    ("files named like documents", {"spans.tsv": TSV, "d1.txt": TEXT}),
    ("a column, repeated", {"x.csv": f"doc;start;end;label;text\nd1;0;3;PER;{TEXT}\nd1;8;11;PER;{TEXT}\n"}),
    (
        "end inclusive, first at 1",
        {"x.csv": f"doc,start,end,label,quote,text\nd1,1,3,PER,Ann,{TEXT}\nd1,9,11,PER,Bob,\n"},
    ),
    ("other names", {"x.csv": f"File Name|from|TO|Entity-Type|Text\r\nd1|0|3|PER|{TEXT}\r\nd1|8|11|PER|\r\n"}),
    ("fractions", {"x.csv": f"doc,start,end,label,text\nd1,0.0,3.0,PER,{TEXT}\nd1, 8 ,11.00,PER,\n"}),
    (
        "type and text as entity",
        {"x.csv": f"doc,start,end,label,entity,text\nd1,0,3,PER,Ann,{TEXT}\nd1,8,11,PER,Bob,\n"},
    ),
    ("rows in any order", {"x.csv": f"label,end,start,doc,text\nPER,11,8,d1,{TEXT}\nPER,3,0,d1,\n"}),
]


@pytest.mark.parametrize("files", [row[1] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_takes(files: dict[str, str]) -> None:
    reading = read_files(files, format="auto")
    assert (reading.format, span_texts(reading.layer)) == ("csv", ANN)
    assert reading.documents.texts[0] == TEXT


# Tables of gold and a prediction, the columns that are asked for, and the spans of each.
SIDES = [
    ("doc,start,end,label,predicted_label,text\nd1,0,3,PER,LOC,{0}\nd1,8,11,PER,,\n", "label", "predicted_label"),
    ("doc,start,end,label,prediction,text\nd1,0,3,PER,PER,{0}\nd1,8,11,PER,O,\n", "label", "prediction"),
    ("doc,start,end,gold,pred,label,text\nd1,0,3,x,PER,PER,{0}\nd1,8,11,x,,PER,\n", "pred", "label"),
    (
        "doc,gold_start,gold_end,gold_type,pred_start,pred_end,pred_type,text\nd1,0,3,PER,0,3,LOC,{0}\nd1,8,11,PER,,,,\n",
        "gold_type",
        "pred_type",
    ),
    (
        "doc;start;end;type;Pred Start;Pred End;Pred Type;text\nd1;0;3;PER;4;7;X;{0}\nd1;8;11;PER;;;;\n",
        "type",
        "Pred Type",
    ),
    ("doc,start,end,label,gpt4,text\nd1,0,3,PER,ORG,{0}\nd1,8,11,ORG,,\n", "label", "gpt4"),
]


@pytest.mark.parametrize(("table", "first", "second"), SIDES)
def test_gold_is_not_read_as_the_prediction(table: str, first: str, second: str) -> None:
    source = Source.of_uploads([("x.csv", table.format(TEXT).encode())])
    with pytest.raises(FormatError, match=rf"x\.csv:1: 2 columns hold tags: '{first}' \(.*\), '{second}' \("):
        read(source)
    assert [column.number for column in preview(source).tags] == [first, second]
    counts = {len(read(source, options=ReadOptions(column=name)).layer) for name in (first, second)}
    assert counts == {1, 2}


OTHERS = (("user", ("1", "2")), ("which", ("gold", "pred")), ("is_gold", ("True", "False")))
"""Columns that say whose span a row has, and their cells."""


def test_a_column_that_repeats_the_types_is_not_another_side() -> None:
    table = f"doc,start,end,label,entity_group,text\nd1,0,3,PER,PER,{TEXT}\nd1,8,11,LOC,LOC,\n"
    assert len(read_files({"x.csv": table}, format="auto").layer) == 2


def test_rows_of_several_annotators_or_systems_are_layers() -> None:
    rows = f"d1,0,3,PER,{{0}},{TEXT}\nd1,8,11,LOC,{{1}},\nd2,0,3,PER,{{0}},Jim\n"
    for name, values in (("annotator", ("ann", "bob")), ("Model", ("a", "b")), ("source", ("gold", "crf")), *OTHERS):
        table = f"doc,start,end,label,{name},text\n{rows.format(*values)}"
        source = Source.of_uploads([("x.csv", table.encode())])
        with pytest.raises(FormatError, match=f"it holds 2 layers, '{values[0]}', '{values[1]}'"):
            read(source)
        assert preview(source).layers == values
        layers_read = [read(source, options=ReadOptions(layer=value)) for value in values]
        assert [len(reading.layer) for reading in layers_read] == [2, 1]
        assert [reading.documents.ids for reading in layers_read] == [("d1", "d2")] * 2


@pytest.mark.parametrize("values", [("wiki", "news"), ("", "")])
def test_a_source_of_documents_is_no_layer(values: tuple[str, str]) -> None:
    table = f"doc,start,end,label,source,text\nd1,0,3,PER,{values[0]},{TEXT}\nd1,8,11,PER,{values[1]},\n"
    assert len(read_files({"x.csv": table}, format="auto").layer) == 2
    one_each = f"doc,start,end,label,annotator,text\nd1,0,3,PER,ann,{TEXT}\nd2,0,3,PER,bob,Jim\n"
    assert len(read_files({"x.csv": one_each}, format="auto").layer) == 2


GERMAN = f"Satz;Art;von;bis;Akte\n{TEXT};PER;0;3;d1\n;PER;8;11;d1\n"
BARE = f"d1,0,3,PER,{TEXT}\nd1,8,11,PER,\n"
KINDS = f"doc,start,end,label,kind,text\nd1,0,3,a,PER,{TEXT}\nd1,8,11,b,PER,\n"
WRONG = f"doc,start,end,label,quote,text\nd1,0,3,PER,?,{TEXT}\nd1,8,11,PER,!,\n"
APART = "n\tu\tv\tw\nd1\t0\t3\tPER\nd1\t8\t11\tPER\n"
PLACES = "document=1,start=2,end=3,type=4"
CHOSEN = [
    # (what, files, columns)
    ("by name", {"x.csv": GERMAN}, "document=Akte,start=von,end=bis,type=Art,text=Satz"),
    ("by name in other letters", {"x.csv": GERMAN}, "document=akte,start=VON,end=bis,type=art,text=SATZ"),
    ("by number below a header", {"x.csv": GERMAN}, "document=5,start=3,end=4,type=2,text=1"),
    ("by number and name", {"x.csv": GERMAN}, "document=5,start=von,end=4,type=Art,text=1"),
    ("the rest by their usual names", {"x.csv": GERMAN.replace("Satz", "text")}, "document=5,start=3,end=bis,type=2"),
    ("without a header", {"x.csv": BARE}, f"{PLACES},text=5"),
    ("without a header, a document first", {"x.csv": f"d1,,,,{TEXT}\n{BARE}"}, f"{PLACES},text=5"),
    ("without a header or an ending", {"x": BARE.replace(",", "\t")}, f"{PLACES},text=5"),
    ("another than the usual one", {"x.csv": KINDS}, "type=kind"),
    ("not the usual one", {"x.csv": WRONG}, "quote="),
    (
        "beside usual names of a text",
        {"x.csv": f"id,text,v,b,k\nd1,{TEXT},0,3,PER\nd1,,8,11,PER\n"},
        "start=v,end=4,type=k",
    ),
    ("texts beside, of as many columns", {"a.tsv": "id\ttext\tx\ty\nd1\tAnn met Bob.\ta\tb\n", "b.tsv": APART}, PLACES),
    ("with texts beside", {"a.tsv": TEXTS, "b.tsv": APART}, PLACES),
    ("where a reader of tags would claim it", {"x.tsv": BARE.replace(",", "\t")}, f"{PLACES},text=5"),
]


@pytest.mark.parametrize(("files", "columns"), [row[1:] for row in CHOSEN], ids=[row[0] for row in CHOSEN])
def test_columns_can_be_chosen(files: dict[str, str], columns: str) -> None:
    reading = read_files(files, columns=columns, format="auto")
    assert (reading.format, span_texts(reading.layer)) == ("csv", ANN)
    assert reading.documents.texts[0] == TEXT
    headless = "the first line is read as a row: columns are chosen by number"
    assert (headless in reading.notes) == ("\n" + next(iter(files.values()))).startswith("\nd1")
    # A source may say it by itself, as each upload does.
    source = Source.of_uploads((name, text.encode()) for name, text in files.items())
    assert read(replace(source, columns=parse_column_options(columns))).layer.digest == reading.layer.digest


NOT_CHOSEN = [
    # (columns, said)
    ("start=begin,end=bis", "x.csv:1: no such column for start; choose among 'Satz', 'Art', 'von', 'bis', 'Akte',"),
    ("start=3,end=9", "x.csv:1: no such column for end; choose among 'Satz', 'Art'"),
    ("start=von,end=bis", "x.csv:1: no column for type; call that of type one of label, type, entity_type"),
    ("document=5,start=3,end=4,type=2,score=p", "x.csv:1: no such column for score; choose among"),
    ("from=3", "--span-columns: 'from=3' is not a column; write document=NAME,start=NAME,… with names or numbers"),
    ("start", "--span-columns: 'start' is not a column"),
    ("start=0", "--span-columns: 'start=0' is not a column"),
    ("start=1,start=2", "--span-columns: two columns for start"),
]


@pytest.mark.parametrize(("columns", "said"), NOT_CHOSEN)
def test_columns_that_are_not_there_are_refused_with_those_that_are(columns: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_files({"x.csv": GERMAN}, columns=columns, format="auto")
    assert caught.value.lines()[0].startswith(said)
    assert len(caught.value.lines()) == 1


def test_without_a_header_columns_there_are_are_counted() -> None:
    with pytest.raises(
        FormatError, match=r"^x\.csv:1: no such column for text; choose among numbers to 5, or by number"
    ):
        read_files({"x.csv": BARE}, columns="document=1,start=2,end=3,type=4,text=6", format="auto")


def test_other_formats_have_no_use_for_columns_and_say_so() -> None:
    row = {"id": "d", "text": "a", "spans": []}
    reading = read_files({"x.jsonl": lines(row)}, columns="start=von", format="auto")
    assert (reading.format, *reading.notes) == (
        "jsonl",
        "the columns chosen are for tables of spans, which this is not",
    )


def test_a_problem_of_a_span_names_its_own_file() -> None:
    with pytest.raises(FormatError) as caught:
        read_files({"d.spans.tsv": TSV.replace("11", "99").replace("\ttext", "\tnote"), "d.texts.tsv": TEXTS})
    assert str(caught.value).startswith("d.spans.tsv:3: 8 to 99 is not a place in the text of 12 characters")


def test_texts_are_taken_from_gold() -> None:
    gold = read_files({"spans.csv": CSV}).documents
    reading = read_files({"spans.tsv": TSV}, texts=gold)
    assert (span_texts(reading.layer), reading.documents.ids) == (ANN, ("d1", "d2"))
    # Texts of its own are its own, whatever gold has.
    assert read_files({"spans.csv": CSV.replace("Nobody", "Nobody!")}, texts=gold).documents.texts[1] == "Nobody!."


def test_documents_without_a_column_are_told_apart_by_their_texts() -> None:
    reading = read_files({"x.csv": "start,end,label,text\n0,3,PER,Ann met\n0,3,PER,Bob met\n4,7,X,Bob met\n"})
    assert (reading.documents.ids, reading.documents.named) == (("1", "2"), False)
    assert span_texts(reading.layer) == [("1", "Ann", "PER"), ("2", "Bob", "PER"), ("2", "met", "X")]


def test_what_a_span_may_have_besides_is_read_and_other_columns_told() -> None:
    text = "document,id,start,end,label,links,score,text,colour\nd,T1,0,1,A,Q1|Q2;Q3,0.5,ab,red\nd,,1,2,A,,,,\n"
    reading = read_files({"x.csv": text})
    layer = reading.layer
    assert (dict(layer.ids), dict(layer.links), dict(layer.scores)) == ({0: "T1"}, {0: ("Q1|Q2", "Q3")}, {0: 0.5})
    assert reading.notes == (
        "columns not read: 'colour'",
        "offsets taken as code points, end exclusive: no quotes to test them by",
    )


def test_offsets_can_be_said_where_there_are_no_quotes() -> None:
    text = "doc,start,end,label,text\nd,3,4,A,😀 b\n"
    assert span_texts(read_files({"x.csv": text}, offsets=Offsets("UTF-16 units")).layer) == [("d", "b", "A")]


def test_a_cell_may_be_longer_than_the_module_allows_and_hold_line_ends() -> None:
    text = "a\r\n" + "b" * 200_000
    reading = read_files({"x.csv": f'doc,start,end,label,text\nd,0,1,A,"{text}"\nd,x,1,A,\n'.replace("d,x,1,A,\n", "")})
    assert reading.documents.texts == (text,)


HEADER = "doc,start,end,label,text\n"
GOOD = "d1,0,1,A,abc\n"
REFUSED = [
    # (files, said)
    ("doc,start,label,text\nd,0,A,b\n", "x.csv:1: no column for end; call that of end one of end, stop, end_offset"),
    ("a b c\n", "x.csv:1: no column for start, end, type; call that of start one of start, begin"),
    ("doc,start,end,label\nd,0,1,A\n", "x.csv:1: no texts; give them in a column text or a file beside it, or score"),
    ("start,end,label,quote\n0,1,A,a\n", "x.csv:1: no column for the document; call that of document one of document"),
    (HEADER + GOOD + "d1,0,1,A\n", "x.csv:3: 4 cells under 5 columns; write as many, those with delimiters in"),
    (HEADER + GOOD + "d1,0,1,A,,\n", "x.csv:3: 6 cells under 5 columns"),
    (HEADER + GOOD + "d1,x,1,A,\n", "x.csv:3: start is 'x'; write a number"),
    (HEADER + GOOD + "d1,0,,A,\n", "x.csv:3: end is ''; write a number"),
    (HEADER + GOOD + "d1,0,1.5,A,\n", "x.csv:3: end is '1.5'; write a number"),
    (HEADER + GOOD + "d1,0,1_0,A,\n", "x.csv:3: end is '1_0'; write a number"),
    (HEADER + GOOD + "d1,0,1,,\n", "x.csv:3: a span without a usable type"),
    (HEADER + GOOD + "d1,0,4,A,\n", "x.csv:3: 0 to 4 is not a place in the text of 3 characters; offsets are read as"),
    (HEADER + GOOD + "d1,1,1,A,\n", "x.csv:3: 1 to 1 is not a place in the text of 3 characters"),
    (
        HEADER + GOOD + "d1,0,1,A,abd\n",
        "x.csv:3: another text for the document 'd1' than at line 2; give each document",
    ),
    (HEADER + GOOD + ",0,1,A,abd\n", "x.csv:3: a document without an id"),
    (HEADER + GOOD + '"d1,0,1,A,\n', "x.csv:3: not a row of a table: unexpected end of data; write cells with quotes"),
    (HEADER + GOOD + '"d1"x,0,1,A,\n', "x.csv:3: not a row of a table: ',' expected after '\"'"),
    ("doc,start,end,label,text,score\nd,0,1,A,b,high\n", "x.csv:2: score is 'high'; write a number"),
    ("doc,start,end,label,text,score\nd,0,1,A,b,inf\n", "x.csv:2: score is 'inf'; write a number"),
    ("doc,start,end,label,text,quote\nd,0,1,A,b,c\n", "x.csv: the quotes fit no way to count offsets; best is code"),
]


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_refuses_with_the_line(text: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_files({"x.csv": text})
    assert caught.value.lines()[0].startswith(said)


def test_texts_beside_that_are_not_there_or_there_twice_are_refused() -> None:
    for texts, said in (
        ("id\ttext\nd2\tx\n", "d.spans.tsv:2: no text for the document 'd1'; give its text, or take its rows out"),
        (TEXTS + "d2\ty\n", "d.texts.tsv:4: a second text for the document 'd2'; give each document one text"),
        # The line is one of the spans' file.
        (
            "id\ttext\nd1\tAnn met Rob.\n",
            "d.spans.tsv: the quotes fit no way to count offsets; best is code points, end exclusive: 1 of 2 match; "
            "mend the offsets or the quotes, or check that the text is the one annotated\n"
            "d.spans.tsv:3: 'Bob' at 8 to 11, where the text has 'Rob'; mend the offsets or the quote",
        ),
    ):
        with pytest.raises(FormatError) as caught:
            read_files({"d.spans.tsv": TSV, "d.texts.tsv": texts})
        assert str(caught.value) == said
    with pytest.raises(FormatError, match=r"spans\.tsv:2: no text for the document 'd1'"):
        read_files({"spans.tsv": TSV, "d7.txt": TEXT})


def test_a_file_of_spans_brings_that_of_texts(tmp_path: Path) -> None:
    (tmp_path / "d.spans.tsv").write_text(TSV)
    (tmp_path / "d.texts.tsv").write_text(TEXTS)
    assert span_texts(read(tmp_path / "d.spans.tsv").layer) == ANN


@draws(13)
@given(layers(whole=True))
@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_writing_reads_back(ending: str, layer: Layer) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"out{ending}"
        notes = write(layer, path, format="csv", lossy=True)
        if not len(layer.documents):
            return
        reading = read(path)
    assert reading.format == "csv"
    expected, found = content(layer), content(reading.layer)
    kept = {"ids", "texts", "doc", "start", "end", "label", "order", "spans' scores", "spans' links"}
    assert {key: found[key] for key in kept} == {key: expected[key] for key in kept}
    assert found["spans' ids"] == {span: name for span, name in expected["spans' ids"].items() if name}
    lost = [key for key in ("cores", "alternatives", "meta") if expected[f"spans' {key}"]]
    lost += [key for key in ("tokens", "sentences") if expected[key] is not None]
    lost += ["meta"] if any(expected["meta of documents"] or ()) else []
    assert bool(lost) == any(note.startswith("csv has no place for them") for note in notes)


def test_what_is_written(tmp_path: Path) -> None:
    row = {
        "id": "d",
        "text": 'a "b"',
        "spans": [{"start": 2, "end": 5, "label": "A"}, {"start": 0, "end": 1, "label": "B"}],
    }
    layer = read(Source.of_uploads([("x.jsonl", lines(row, {"id": "e", "text": "", "spans": []}).encode())])).layer
    assert write(layer, tmp_path / "x.csv", format="csv") == ()
    assert (tmp_path / "x.csv").read_text().splitlines() == [
        '"document","start","end","label","quote","text","span_id","links","score"',
        '"d",2,5,"A","""b""","a ""b""","","",""',
        '"d",0,1,"B","a","","","",""',
        '"e","","","","","","","",""',
    ]


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "＝", "＠", "\t", "\r", "\n"])
@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
def test_cells_like_formulas_are_counted_and_escaped_on_request(tmp_path: Path, begin: str, name: str) -> None:
    row = {"id": "d", "text": f"{begin}a", "spans": [{"start": 0, "end": 2, "label": "-A"}]}
    layer = read(Source.of_uploads([("x.jsonl", lines(row).encode())])).layer
    what = "cells that a spreadsheet would run as formulas"
    assert write(layer, tmp_path / name, format="csv") == (f"{what}: 3; --escape-formulas puts an apostrophe in front",)
    assert content(read(tmp_path / name).layer) == content(layer)
    notes = write(layer, tmp_path / name, format="csv", escape_formulas=True)
    assert notes == (f"{what}, with an apostrophe in front, which is read as text: 3",)
    with (tmp_path / name).open(newline="") as file:
        cells = list(csv.reader(file, delimiter="\t" if name.endswith("tsv") else ","))[1]
    assert cells == ["d", "0", "2", "'-A", f"'{begin}a", f"'{begin}a", "", "", ""]
    with pytest.raises(FormatError, match="leave --escape-formulas out"):
        write(layer, tmp_path / "x.jsonl", format="jsonl", escape_formulas=True)


def test_a_link_with_a_semicolon_is_not_written(tmp_path: Path) -> None:
    row = {"id": "d", "text": "a", "spans": [{"start": 0, "end": 1, "label": "A", "links": ["Q1;Q2"]}]}
    layer = read(Source.of_uploads([("x.jsonl", lines(row).encode())])).layer
    with pytest.raises(FormatError, match=r"the link 'Q1;Q2' has a semicolon; rename it, or write jsonl"):
        write(layer, tmp_path / "x.csv", format="csv")


@given(st.lists(st.text("0123456789-. ٣", max_size=14) | st.integers(0, 10**13).map(str), max_size=6))
def test_a_column_of_offsets_is_read_as_cell_by_cell(cells: list[str]) -> None:
    assert parse_offsets(cells) == [parse_offset(cell) for cell in cells]


def test_names_of_files_are_those_of_their_documents() -> None:
    rows = "filename\tlabel\toff0\toff1\tspan\nd1.txt\tPER\t0\t3\tAnn\n"
    reading = read_files({"tsv/x.tsv": rows, "text_files/d1.txt": TEXT, "text_files/d2.txt": "Nobody."})
    assert (reading.documents.ids, span_texts(reading.layer)) == (("d1", "d2"), ANN[:1])
    assert "texts without a row, documents without spans: 1" in reading.notes


@pytest.mark.parametrize("comma", [",", ", "])
def test_lines_of_files_are_documents_in_tables_of_comprehend(comma: str) -> None:
    header = comma.join(("File", "Line", "Begin Offset", "End Offset", "Type"))
    rows = [header, *(comma.join(("d.txt", *row)) for row in (("1", "0", "3", "PER"), ("3", "0", "4", "LOC")))]
    table = "\n".join(rows)
    reading = read_files({"annotations.csv": table, "docs/d.txt": "Nobody.\nAnn left\n\nRome 😀\n"})
    # Lines without spans count, empty ones are none.
    assert reading.documents.ids == ("d.txt:0", "d.txt:1", "d.txt:3")
    assert span_texts(reading.layer) == [("d.txt:1", "Ann", "PER"), ("d.txt:3", "Rome", "LOC")]
    assert reading.notes == ("offsets taken as code points, end exclusive: no quotes to test them by",)
    assert list(reading.places) == [("docs/d.txt", 1), ("docs/d.txt", 2), ("docs/d.txt", 4)]
    # A prediction takes gold's texts.
    assert span_texts(read_files({"x.csv": table}, texts=reading.documents).layer) == span_texts(reading.layer)
    with pytest.raises(FormatError, match=r"x.csv:1: no texts; give them"):
        read_files({"x.csv": table})
    with pytest.raises(FormatError, match=r"x.csv:2: no text for the document 'd.txt:9'"):
        read_files({"x.csv": table.replace(f"d.txt{comma}1", f"d.txt{comma}9"), "d.txt": "Ann\n"})


def test_a_name_of_many_words_is_looked_at_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first line may be a whole document: twice as many words are to take twice as long, not four times."""
    looks: list[str] = []
    monkeypatch.setattr(table_sides, "is_gold_word", lambda word: bool(looks.append(word)))
    assert type_columns(["word " * 500, "type"], []) == (TagColumn("type", ()),)
    assert 500 < len(looks) < 10 * 500


def test_columns_called_as_in_spacy_are_known() -> None:
    rows = "doc_id,ent_text,ent_label,start_char,end_char\n1,Ann,PER,0,3\n"
    options = ReadOptions(texts=Documents(("1",), ("Ann left",)))
    reading = read(Source.of_uploads([("x.csv", rows.encode())]), options=options)
    layer = reading.layer
    assert (reading.format, layer.types, layer.start.tolist(), layer.end.tolist()) == ("csv", ("PER",), [0], [3])
