"""Workbooks: a sheet is read as CSV, problems stand at its rows, one of several is named, bombs are refused."""

from __future__ import annotations

import io
import random
from datetime import date
from pathlib import Path

import pytest
import xlsxwriter

from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source, layers, read
from nereval_core.readers.recognition.preview import preview
from tests.support.readings import span_texts
from tests.support.workbooks import rows_xml, words, workbook

HEADER = words("document", "start", "end", "label", "text")


def source(raw: bytes, name: str = "x.xlsx") -> Source:
    return Source.of_uploads([(name, raw)])


def sheet_text(raw: bytes) -> str:
    """Return the CSV of the only sheet."""
    [file] = source(raw).files
    return file.text()


def refused(raw: bytes, options: ReadOptions | None = None) -> str:
    with pytest.raises(FormatError) as caught:
        read(source(raw), options=options)
    return str(caught.value)


def written(**sheets: list[list[object]]) -> bytes:
    """Return a workbook as a program writes it, with shared strings."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        day = book.add_format({"num_format": "dd.mm.yyyy"})
        for name, rows in sheets.items():
            page = book.add_worksheet(name)
            for at, row in enumerate(rows):
                for column, cell in enumerate(row):
                    page.write(at, column, cell, *([day] if isinstance(cell, date) else []))
    return buffer.getvalue()


ROWS: list[list[object]] = [
    ["document", "start", "end", "label", "text", "when"],
    ["d1", 0, 3, "PER", "Ann\nleft  Rome", date(2024, 2, 29)],
    ["d1", 10, 14, "LOC", "Ann\nleft  Rome", None],
    ["d2", 0, 4, "LOC", "Rome", None],
]


def test_a_sheet_is_read_as_a_table_of_spans() -> None:
    reading = read(source(written(spans=ROWS, empty=[])))
    assert span_texts(reading.layer) == [("d1", "Ann", "PER"), ("d1", "Rome", "LOC"), ("d2", "Rome", "LOC")]
    assert reading.format == "csv" and reading.documents.texts[0] == "Ann\nleft  Rome"
    # The text of two lines takes one row.
    assert list(reading.places) == [("x.xlsx", 2), ("x.xlsx", 4)]
    assert reading.notes[-1] == "read from a workbook: the sheet 'spans'"
    assert sheet_text(written(spans=ROWS)).splitlines()[1:3] == ['d1,0,3,PER,"Ann', 'left  Rome",2024-02-29']


def test_cells_merged_over_rows_count_in_each_that_holds_something() -> None:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        page = book.add_worksheet()
        for at, row in enumerate([ROWS[0], *ROWS[1:3], ROWS[3]]):
            page.write_row(at, 0, row[:5])
        page.merge_range("A2:A3", "d1")
        page.merge_range("E2:E3", "Ann\nleft  Rome")
        page.merge_range("A5:B9", "as agreed")
        page.write("C7", 7)
    rows = sheet_text(buffer.getvalue()).splitlines()
    assert rows[1:5] == ['d1,0,3,PER,"Ann', 'left  Rome"', 'd1,10,14,LOC,"Ann', 'left  Rome"']
    assert rows[5:] == ["d2,0,4,LOC,Rome", "as agreed,,,,", "", "as agreed,,7,,"]
    # More than it may hold, by one long text over many rows, and what is no place.
    row, long = '<row r="1"><c r="A1" t="inlineStr"><is><t>{}</t></is></c></row>', "x" * 1_000_000
    merged = '<mergeCells><mergeCell ref="A1:A1048576"/><mergeCell ref="A1"/><mergeCell ref="1:2"/></mergeCells>'
    below = [f'<row r="{number}"><c r="B{number}"><v>1</v></c></row>' for number in range(2, 102)]
    assert "the sheet 's' expands from " in refused(workbook({"s": rows_xml(row.format(long), *below, more=merged)}))
    # One short text, merged over all rows any number of times.
    often = "<mergeCells>" + '<mergeCell ref="A1:A1048576"/>' * 80_000 + "</mergeCells>"
    assert "the sheet 's' expands from " in refused(workbook({"s": rows_xml(row.format("a"), *below, more=often)}))
    assert sheet_text(workbook({"s": rows_xml(row.format("a"), "<c><v>1</v></c>", more=merged)})) == "a\n1\n"


def test_problems_stand_at_the_rows_of_the_sheet() -> None:
    rows = [*ROWS, [], ["d3", "x", 4, "LOC", "Rome"], ["d3", 0, 5, "LOC", "Rome"]]
    assert refused(written(spans=rows)).startswith("x.xlsx:6: start is 'x'; write a number")
    del rows[5]
    assert refused(written(spans=rows)).startswith("x.xlsx:6: 0 to 5 is not a place in the text of 4 characters")


def test_tables_of_tokens_and_lists_in_cells_are_read() -> None:
    tokens = [["Sentence #", "Word", "Tag"], ["1", "Ann", "B-PER"], ["", "left", "O"], ["2", "Rome", "B-LOC"]]
    reading = read(source(written(tokens=[list(row) for row in tokens])))
    assert (reading.format, span_texts(reading.layer)) == ("tokentable", [("1", "Ann", "PER"), ("2", "Rome", "LOC")])
    reading = read(source(written(rows=[["text", "entities"], ["Ann left", '[(0, 3, "PER")]']])))
    assert (reading.format, span_texts(reading.layer)) == ("pipeline", [("1", "Ann", "PER")])


def test_of_several_sheets_one_is_named(tmp_path: Path) -> None:
    raw = written(gold=ROWS, system=ROWS[:2], notes=[["see", "below"]])
    said = (
        "it holds 3 sheets, 'gold', 'notes', 'system', and one is read at a time; name it after the path, x.xlsx#gold"
    )
    assert said in refused(raw)
    assert "no sheet 'x'; choose among 'gold', 'notes', 'system'" in refused(raw, ReadOptions(layer="x"))
    assert len(read(source(raw), options=ReadOptions(layer="system")).layer) == 1
    path = tmp_path / "book.xlsx"
    path.write_bytes(raw)
    assert len(read(f"{path}#gold").layer) == 3
    assert layers(Source.of_path(path)) == ("gold", "notes", "system")
    # The app offers them as layers of the file.
    shown = preview(source(raw))
    assert (shown.layers, shown.folders, shown.format) == (("gold", "notes", "system"), True, "csv")
    assert len(read(source(raw).in_folder("system")).layer) == 1


def test_layers_within_a_sheet_are_named_after_it() -> None:
    annotated = [[*row, who] for row, who in zip(ROWS, ["annotator", "ann", "bob", "ann"], strict=True)]
    assert layers(source(written(one=annotated))) == ("ann", "bob")
    assert len(read(source(written(one=annotated)), options=ReadOptions(layer="ann")).layer) == 2
    both = source(written(one=annotated, two=ROWS))
    assert layers(both, options=ReadOptions(layer="one")) == ("ann", "bob")
    assert len(read(both, options=ReadOptions(layer="one/bob")).layer) == 1


def test_a_folder_of_workbooks_and_hidden_sheets(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.xlsx").write_bytes(written(spans=[ROWS[0], [f"d{number}", 0, 3, "PER", "Ann"]]))
    assert span_texts(read(tmp_path).layer) == [("d1", "Ann", "PER"), ("d2", "Ann", "PER")]
    table = rows_xml(HEADER, words("d", "0", "3", "PER", "Ann"))
    assert len(read(source(workbook({"old": table, "new": table}, hidden=("old",)))).layer) == 1


STYLES = (
    '<numFmts><numFmt numFmtId="164" formatCode="[Red]&quot;day&quot; 0"/><numFmt numFmtId="165" '
    'formatCode="yyyy\\-mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>'
)
STRINGS = (
    '<si><t xml:space="preserve"> a</t></si><si><r><t>Rom</t></r><r><rPr/><t>a_x000D_</t></r></si>'
    "<si><t>東京</t><rPh><t>とうきょう</t></rPh></si>"
)
CELLS = [
    # (a cell, what is read)
    ("<c><v>5</v></c>", "5"),
    ('<c t="n"><v>1E3</v></c>', "1000"),
    ("<c><v>0.1</v></c>", "0.1"),
    ('<c t="s"><v>0</v></c>', " a"),
    ('<c t="s"><v>1</v></c>', '"Roma\r"'),
    ('<c t="s"><v>2</v></c>', "東京"),
    ('<c t="inlineStr"><is><r><t>x</t></r><r><t>y</t></r></is></c>', "xy"),
    ('<c t="str"><f>A1</f><v>z</v></c>', "z"),
    ('<c t="str"><f>A1</f><v></v></c><c><v>1</v></c>', ",1"),
    ('<c t="b"><v>1</v></c>', "TRUE"),
    ('<c t="e"><v>#N/A</v></c>', "#N/A"),
    ('<c t="d"><v>2024-01-02</v></c>', "2024-01-02"),
    ('<c s="1"><v>45351</v></c>', "2024-02-29"),
    ('<c s="1"><v>1</v></c>', "1900-01-01"),
    ('<c s="3"><v>45351.5</v></c>', "2024-02-29T12:00:00"),
    ('<c s="3"><v>0.25</v></c>', "06:00:00"),
    ('<c s="2"><v>45351</v></c>', "45351"),
    ('<c s="1"><v>1E300</v></c>', "1E300"),
    ('<c s="99"><v>7</v></c>', "7"),
    ('<c r="C1" t="inlineStr"><is><t>third</t></is></c>', ",,third"),
]


@pytest.mark.parametrize(("cell", "expected"), CELLS, ids=[cell for cell, _ in CELLS])
def test_cells_are_read_as_they_are_shown(cell: str, expected: str) -> None:
    assert sheet_text(workbook({"s": rows_xml(cell)}, strings=STRINGS, styles=STYLES)) == f"{expected}\n"


def test_days_count_from_1904_where_the_workbook_says_so() -> None:
    properties = '<workbookPr date1904="1"/>'
    raw = workbook(
        {"s": rows_xml('<c s="1"><v>0</v></c><c s="1"><v>43889</v></c>')}, styles=STYLES, properties=properties
    )
    assert sheet_text(raw) == "00:00:00,2024-02-29\n"


def test_prefixed_elements_and_rows_that_are_left_out() -> None:
    text = rows_xml('<row r="2"><c r="B2"><v>1</v></c></row>', '<row r="4"><c r="A4"><v>2</v></c></row>')
    prefixed = text.replace("<", "<x:").replace("<x:/", "</x:").replace("xmlns=", "xmlns:x=")
    for sheet in (text, prefixed):
        assert sheet_text(workbook({"s": sheet})) == "\n,1\n\n2,\n"


REFUSED = [
    # (the rows of a sheet, what is said)
    ('<row r="3"><c r="B3"><f>A1+1</f></c></row>', "x.xlsx:3: the formula in B3 has no stored result; open the"),
    ('<row r="3"><c r="B3"><f>A1+1</f><v></v></c></row>', "x.xlsx:3: the formula in B3 has no stored result"),
    (
        '<row r="3"><c r="AB3" t="s"><v>9</v></c></row>',
        "x.xlsx:3: AB3 refers to the text '9', which the workbook",
    ),
    ('<row r="9999999"><c><v>1</v></c></row>', "x.xlsx: the sheet 's' expands from "),
    ("<row><c><v>1</v></row>", "x.xlsx/xl/worksheets/sheet1.xml:1: not XML: mismatched tag at column"),
]


@pytest.mark.parametrize(("row", "said"), REFUSED)
def test_refuses_with_the_row(row: str, said: str) -> None:
    assert refused(workbook({"s": rows_xml(row)})).startswith(said)


def test_what_is_not_a_workbook_is_refused() -> None:
    assert refused(workbook({"s": rows_xml()})).startswith("x.xlsx: no sheet that holds anything; give one with rows")
    assert "not a readable zip" in refused(workbook({"s": rows_xml(HEADER)})[:-30])
    entity = '<!DOCTYPE x [<!ENTITY a "b">]>' + rows_xml("<c><v>&a;</v></c>")
    assert "a document type declaration, which no export has" in refused(workbook({"s": entity}))
    outside = workbook({"s": rows_xml(HEADER)}, others={"../x": "y"})
    assert "the entry '../x' leads outside" in refused(outside)
    # Text under that ending is text.
    assert len(read(source(b"document,start,end,label,text\nd,0,1,A,abc\n")).layer) == 1


def test_bombs_are_refused() -> None:
    long = "x" * 1_000_000
    repeated = workbook({"s": rows_xml('<c t="s"><v>0</v></c>' * 100)}, strings=f"<si><t>{long}</t></si>")
    assert "the sheet 's' expands from " in refused(repeated) and len(repeated) < 100_000
    far = '<c r="XFD{0}"><v>1</v></c>'
    wide = workbook({"s": rows_xml(*(f'<row r="{row}">{far.format(row)}</row>' for row in range(1, 5_000)))})
    assert "the sheet 's' expands from " in refused(wide)
    packed = workbook({"s": rows_xml(HEADER, more=" " * (70 << 20))})
    assert "expands from " in refused(packed)


def test_damage_ends_in_a_reading_or_in_a_problem_of_the_file() -> None:
    whole = written(s=ROWS)
    drawn = random.Random(0)
    ends = 0
    for _ in range(300):
        at = drawn.randrange(len(whole))
        damaged = whole[:at] + bytes([drawn.randrange(256)]) + whole[at + 1 :]
        try:
            ends += len(read(source(damaged)).layer)
        except FormatError as error:
            assert all(problem.source.startswith("x.xlsx") for problem in error.problems)
    assert ends
    sheet = rows_xml(HEADER, words("d", "0", "3", "PER", "Ann"))
    for _ in range(300):
        at = drawn.randrange(len(sheet))
        try:
            read(source(workbook({"s": sheet[:at] + drawn.choice(["", "<", "&", '"', "9"]) + sheet[at + 1 :]})))
        except FormatError as error:
            assert all(problem.source.startswith("x.xlsx") for problem in error.problems)
