"""Tables as files: Excel read back cell by cell, long tables in pieces, and the control that offers them."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from nereval_core.report import export
from nereval_core.report.export import frame_as
from nereval_core.report.figures.comparison import right_bars
from nereval_core.report.figures.files import why_no_pictures
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables import Table, columns_of, excel
from nereval_core.tables.excel import CELL_CHARACTERS, as_excel, excel_of
from nereval_core.tables.rendering import RENDERED, as_csv, as_parquet, in_form
from pages.shared.components import downloads
from pages.shared.components.downloads import FORMS, file_of
from pages.shared.data.loading import load_demo
from pages.shared.frame import context_bar
from pages.shared.view import View
from pages.shared.view.keys import LIST
from tests.support.commands import Cli
from tests.support.pages import opened, sound

SPACE = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
HOSTILE = ["=1+1", "+1", "-1", "@x", "http://a.example", "00012", "\ttab", "1e5", " blank ", "línea\nother", "<b>&amp;"]


def read(raw: bytes) -> dict[str, list[list[object]]]:
    """Read the sheets of an Excel file: text as str, numbers as float, empty cells None."""
    with zipfile.ZipFile(io.BytesIO(raw)) as book:
        names = [sheet.get("name", "") for sheet in _xml(book, "xl/workbook.xml").iterfind(".//m:sheet", SPACE)]
        shared: list[str] = []
        if "xl/sharedStrings.xml" in book.namelist():
            items = _xml(book, "xl/sharedStrings.xml").iterfind("m:si", SPACE)
            shared = ["".join(text.text or "" for text in item.iterfind(".//m:t", SPACE)) for item in items]
        pages = [_xml(book, f"xl/worksheets/sheet{number}.xml") for number in range(1, len(names) + 1)]
    found = {}
    for name, page in zip(names, pages, strict=True):
        assert page.find(".//m:f", SPACE) is None and page.find(".//m:hyperlink", SPACE) is None
        found[name] = [list(_cells(row, shared)) for row in page.iterfind(".//m:row", SPACE)]
    return found


def _xml(book: zipfile.ZipFile, name: str) -> ElementTree.Element:
    return ElementTree.fromstring(book.read(name))


def _cells(row: ElementTree.Element, shared: list[str]) -> Iterator[object]:
    place = 0
    for cell in row.iterfind("m:c", SPACE):
        letters = re.sub(r"\d", "", cell.get("r", ""))
        column = sum((ord(char) - 64) * 26**power for power, char in enumerate(reversed(letters)))
        while place + 1 < column:
            place += 1
            yield None
        place = column
        kind = cell.get("t")
        if kind == "inlineStr":
            yield "".join(text.text or "" for text in cell.iterfind(".//m:t", SPACE))
        else:
            value = cell.findtext("m:v", "", SPACE)
            yield shared[int(value)] if kind == "s" else float(value)


def test_every_cell_is_what_it_was() -> None:
    rows = tuple((text, number, number / 7, None) for number, text in enumerate(HOSTILE))
    raw = as_excel([Table("scores", columns_of("=name", "n", "F1", "none"), rows, ("nereval | strict",))])
    found = read(raw)
    assert list(found) == ["scores", "notes"]
    assert found["scores"][0] == ["=name", "n", "F1", "none"]
    for row, (text, number, ratio, _) in zip(found["scores"][1:], rows, strict=True):
        assert row == [text, number, pytest.approx(ratio, abs=1e-15)]
    assert found["notes"] == [["table", "note"], ["scores", "nereval | strict"]]
    assert raw == as_excel([Table("scores", columns_of("=name", "n", "F1", "none"), rows, ("nereval | strict",))])


def test_columns_are_as_wide_as_what_they_hold() -> None:
    """In characters, with a margin of two, and never narrower or wider than can be read."""
    rows = (("a" * 20, 1, 0.5, None), ("b", 123_456_789_012, None, None))
    raw = as_excel(
        [
            Table("t", columns_of("text", "n", "F1", "none"), rows),
            Table("u", columns_of("text", "zero"), (("c" * 200, 0),)),
        ]
    )
    widths = []
    with zipfile.ZipFile(io.BytesIO(raw)) as book:
        for number in (1, 2):
            found = _xml(book, f"xl/worksheets/sheet{number}.xml").iterfind(".//m:col", SPACE)
            spread = [(int(one.get("min", "")), int(one.get("max", "")), float(one.get("width", ""))) for one in found]
            widths.append([int(width) for low, high, width in spread for _ in range(low, high + 1)])
    assert widths == [[22, 14, 8, 8], [60, 8]]


@pytest.mark.parametrize("text", ["x" * (CELL_CHARACTERS + 1), "𝄞" * CELL_CHARACTERS])
def test_a_text_too_long_for_a_cell_is_cut_and_says_so(text: str) -> None:
    (shown,) = read(excel_of([("t", columns_of("text"), [(text,)])]))["t"][1]
    assert isinstance(shown, str) and shown.endswith("…") and text.startswith(shown[:-1])
    assert CELL_CHARACTERS - 2 <= len(shown.encode("utf-16-le")) // 2 <= CELL_CHARACTERS
    assert read(excel_of([("t", columns_of("text"), [("x" * CELL_CHARACTERS,)])]))["t"][1] == ["x" * CELL_CHARACTERS]


def test_sheets_have_names_that_excel_takes() -> None:
    titles = ["a/b: [1]?*", "a b", "A B", "x" * 40, "x" * 41, "", "'", "History", "notes"]
    names = list(read(excel_of([(title, columns_of("c"), []) for title in titles], [("a", "b")])))
    assert len({name.casefold() for name in names}) == len(titles) + 1
    assert all(0 < len(name) <= 31 and not set(name) & set("[]:*?/\\") and name.strip("'") == name for name in names)
    assert "history" not in {name.casefold() for name in names}


@pytest.mark.parametrize("rows", [0, 1, 149, 150, 151, 450])
def test_a_long_table_goes_on_in_another_sheet(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "SHEET_ROWS", 150)
    found = read(excel_of([("t", columns_of("n"), ((number,) for number in range(rows)))]))
    assert len(found) == max(1, -(-rows // 150))
    assert all(page[0] == ["n"] for page in found.values())
    assert [row for page in found.values() for row in page[1:]] == [[number] for number in range(rows)]


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "text": pd.Series([*HOSTILE[:3], None], dtype=TEXT_DTYPE),
            "kind": pd.Categorical(["a", "b", None, "a"]),
            "n": pd.array([1, None, 3, 4], dtype="Int32"),
            "P": np.array([0.5, np.nan, 1, 0]),
        }
    )


@pytest.mark.parametrize("form", FORMS)
def test_pieces_make_the_file_of_the_whole(form: str) -> None:
    whole = frame()
    made = file_of(form, lambda: (whole[:1], whole[1:]), "nereval | strict", "t")
    assert made == file_of(form, lambda: (whole,), "nereval | strict", "t")
    if form == "excel":
        rows = read(made)["t"][1:]
        assert rows == [["=1+1", "a", 1.0, 0.5], ["+1", "b"], ["-1", None, 3.0, 1.0], [None, "a", 4.0, 0.0]]
    elif form == "csv":
        rows = list(csv.reader(io.StringIO(made.decode(), newline="")))[1:]
        assert rows[1] == ["'+1", "b", "", "", "nereval | strict"]
    elif form == "parquet":
        rows = pd.read_parquet(io.BytesIO(made))
        assert rows["n"].isna().tolist() == [False, True, False, False] and rows["n"].sum() == 8
        assert rows["text"].tolist()[:3] == HOSTILE[:3] and set(rows["signature"]) == {"nereval | strict"}
    else:
        assert b"nereval" in made and b"0.5000" in made


@pytest.mark.parametrize("page", ["Overview", "Inspect"])
def test_files_are_offered_once_asked_for(page: str) -> None:
    view = View(corpus=load_demo("pharmacology").corpus.digest, system="rules")
    app = opened(page, view)
    assert not app.get("download_button")
    app.session_state[context_bar.END] = {"open": "export"}
    shown = [button.label for button in sound(app.run()).get("download_button")]
    layer = ["gold-errors.jsonl · 53 spans"] if page == "Inspect" else []
    forms = [label for label, _, _ in FORMS.values()]
    papers = [] if why_no_pictures() else ["PDF for papers", "SVG for papers"]
    # Overview draws its two tables as figures too.
    tables = ["Figure as HTML", *papers, *forms] * 2 if page == "Overview" else forms
    assert shown == [*tables, *layer]


def test_a_table_too_long_to_be_read_is_offered_to_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "PRINTED", 3)
    view = View(corpus=load_demo("pharmacology").corpus.digest, system="rules")
    app = opened("Inspect", view, menu="export")
    assert [button.label for button in app.get("download_button")][:-1] == ["CSV", "Parquet", "Excel"]
    monkeypatch.setattr(downloads, "CALCULATED", 4)
    assert [button.label for button in sound(app.run()).get("download_button")][:-1] == ["CSV", "Parquet"]


def test_a_parquet_table_has_one_type_a_column() -> None:
    rows = ((1, 1, "=1", 2**70), (None, 0.5, 3, 1), (2, None, None, None))
    found = parquet.read_table(io.BytesIO(as_parquet(Table("t", columns_of("n", "P", "mixed", "large"), rows))))
    assert list(map(str, found.schema.types)) == ["int64", "double", "string", "string"]
    assert found.to_pydict() == {
        "n": [1, None, 2],
        "P": [1.0, 0.5, None],
        "mixed": ["=1", "3", None],
        "large": [str(2**70), "1", None],
    }
    assert parquet.read_table(io.BytesIO(as_parquet(Table("t", columns_of("a"), ())))).to_pydict() == {"a": []}
    mixed = pd.DataFrame({"a": pd.Series([1, "x", None], dtype=object), "b": [1, 2, 3]})
    assert parquet.read_table(io.BytesIO(frame_as(".parquet", mixed)))["a"].to_pylist() == ["1", "x", None]


def test_json_lines_are_the_same_however_many_rows_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"a": pd.Categorical(["x/é", None, "=1", "x/é", "y"]), "b": [0.1, 2.0, None, 1e-9, 5.0], "c": range(5)}
    whole = frame_as(".jsonl", pd.DataFrame(rows))
    monkeypatch.setattr(export, "ROWS_AT_ONCE", 2)
    assert frame_as(".jsonl", pd.DataFrame(rows)) == whole and whole.count(b"\n") == 5
    assert frame_as(".jsonl", pd.DataFrame(rows).iloc[:0]) in (b"", b"\n")


def test_each_form_is_written_as_itself() -> None:
    """CSV and Parquet hold the long table, all others each sheet; what is made otherwise goes before them."""
    sheets = [Table("a", columns_of("x"), ((1,),)), Table("b", columns_of("y"), ((2.5,),))]
    whole = Table("all", columns_of("sheet", "value"), (("a", 1), ("b", 2.5)))
    written = {form: in_form(form, sheets, lambda: whole) for form in ("csv", "parquet", "excel", *RENDERED)}
    assert written["csv"].decode() == as_csv(whole) and written["parquet"] == as_parquet(whole)
    assert read(written["excel"]) == {"a": [["x"], [1.0]], "b": [["y"], [2.5]]}
    assert {form: written[form].decode() for form in RENDERED} == {
        form: make(sheets) for form, make in RENDERED.items()
    }
    assert in_form("csv", sheets, lambda: whole, {"csv": lambda: b"own"}) == b"own"


def test_the_command_line_writes_parquet(cli: Cli) -> None:
    with open("gold.jsonl", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write('{"id": "d1", "text": "Aspirin helps.", "spans": [{"start": 0, "end": 7, "label": "Drug"}]}\n')
    assert cli("gold.jsonl", "x=gold.jsonl", "--csv", "out.csv", "--parquet", "out.parquet")[0] == 0
    found, said = pd.read_parquet("out.parquet"), pd.read_csv("out.csv")
    assert found.columns.tolist() == said.columns.tolist() and len(found) == len(said)
    assert found["COR"].tolist() == said["COR"].tolist()


def test_the_command_line_writes_excel(cli: Cli) -> None:
    text = '{"id": "d1", "text": "Aspirin helps.", "spans": [{"start": 0, "end": 7, "label": "Drug"}]}\n'
    for name in ("gold.jsonl", "=run.jsonl"):
        with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(text)
    status, _, _ = cli("gold.jsonl", "x==run.jsonl", "--criteria", "strict", "--excel", "out.xlsx")
    assert status == 0
    with open("out.xlsx", "rb") as file:  # noqa: PTH123
        found = read(file.read())
    assert found["x"][1] == ["strict", 1, 1, 1, 1, 0, 0, 0, 0, 1, 1]
    assert "criterion strict" in str(found["notes"][1][1])


@pytest.mark.parametrize(("page", "name"), [("Overview", "criteria"), ("Confusion", "confusion")])
def test_a_figure_is_offered_as_a_page_and_as_a_picture(page: str, name: str) -> None:
    view = View(corpus=load_demo("pharmacology").corpus.digest, system="rules")
    app = opened(page, view, menu="export")
    assert f"figure_{name}" in [button.key for button in app.get("download_button")]
    figures, parts = len(app.get("plotly_chart")), len(app.get("bidi_component"))
    # What only a table could be drawn as is drawn here first, as the browser makes the picture of what it shows.
    app = sound(app.toggle(key=f"{LIST}picture_{name}").set_value(True).run())
    assert (len(app.get("plotly_chart")), len(app.get("bidi_component"))) == (figures + 1, parts + 1)


def test_where_no_picture_can_be_drawn_the_menu_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", "/nowhere/chromium")
    view = View(corpus=load_demo("pharmacology").corpus.digest, system="rules")
    app = opened("Confusion", view, menu="export")
    assert "PDF for papers" not in [button.proto.label for button in app.get("download_button")]
    assert any("no figures for papers" in said.value and "no Chromium" in said.value for said in app.caption)


def test_figures_have_no_buttons_of_their_own() -> None:
    view = View(corpus=load_demo("pharmacology").corpus.digest, system="rules")
    app = opened("Slices", view, menu="export")
    figures = app.get("plotly_chart")
    assert figures
    assert all(json.loads(figure.proto.config) == {"displayModeBar": False} for figure in figures)
    assert "figure_slices" in [button.key for button in app.get("download_button")]
    files = [json.loads(component.proto.json).get("file") for component in app.get("bidi_component")]
    assert {"nereval-systems-by-slice", "nereval-slices"} <= set(files)


def test_the_page_of_a_figure_holds_its_signature_and_fetches_nothing() -> None:
    table = pd.DataFrame({"right_by": ["none", "all"], "gold_spans": [1, 2]})
    made = downloads.page_of(lambda: right_bars(table, "strict", 1, 3), "nereval | <strict>", "right-by").decode()
    assert "nereval | &lt;strict&gt;" in made and "3 gold spans in 3 documents" in made
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=", made)
