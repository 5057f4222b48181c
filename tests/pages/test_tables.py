"""The component of every table: the cell chosen, what it opens, captions, headings and files."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.records.queries import Query
from nereval_core.tables import Column, Kind, Table
from pages.shared.components import tables
from pages.shared.components.tables import (
    NARROW_CHARACTER_WIDTH,
    cut_to_fit,
    draw_rows,
    records_file_name,
    text_width,
)
from pages.shared.view.queries import ERRORS
from tests.pages.test_pages import cell


def page() -> None:
    from dataclasses import replace

    import streamlit as st

    from nereval_core.records.queries import Query
    from nereval_core.scoring import Counts
    from nereval_core.tables import Column, FormulaOf, RecordsOf, Table
    from pages.shared.components import export_menu, tables
    from pages.shared.data import caches
    from pages.shared.data.page_context import PageContext
    from tests.support.pages import DEMO, VIEW

    export_menu.begin()
    context = PageContext(DEMO, VIEW, caches.settings_of(DEMO.corpus.gold, VIEW))
    columns = (
        Column("type", kind="name"),
        Column("COR", "COR", "count", "COR", opens=lambda row: RecordsOf(Query(decision=("COR",)), str(row["type"]))),
        Column("f1", "F1", "ratio", "F1", opens=lambda row: FormulaOf("F1", lambda: Counts((1, 0, 0, 1, 0), (1,) * 5))),
        Column("note", kind="text"),
        Column("twin", "note", "text"),
    )
    table = Table("Types", columns, (("a", 1, 0.5, "x", "y"), ("b", 2, None, "x", "y")), ("Always",), name="types")
    st.session_state["found"] = tables.show_table(
        context,
        table,
        signature="signed",
        choose=("note",),
        facts=(st.session_state.get("fact", 0),),
        hint="Choose.",
        height=300,
    )
    tables.show_table(context, replace(table.selected("type", "note"), name="plain"), caption="")
    export_menu.draw(is_open=st.session_state.get("exports", False))


def drawn(**state: object) -> AppTest:
    app = AppTest.from_function(page)
    for key, value in state.items():
        app.session_state[key] = value
    app.run(timeout=30)
    assert not app.exception
    return app


def captions(app: AppTest) -> list[str]:
    return [element.value.replace("\\", "") for element in app.caption]


@pytest.mark.parametrize("place", [(0, "COR"), (1, "F1"), (0, "note")])
def test_a_cell_is_chosen_and_opened(place: tuple[int, str]) -> None:
    app = drawn(table_types=cell(*place))
    assert app.session_state["found"] == (place[0], place[1].replace("F1", "f1"))
    assert captions(app)[0] == "Always."
    texts = [element.value for element in (*app.markdown, *app.code)]
    assert any("**a: " in text for text in texts) == (place == (0, "COR"))
    assert any(text.startswith("F1 = ") for text in texts) == (place == (1, "F1"))


@pytest.mark.parametrize("place", [(2, "COR"), (-1, "COR"), (0, "type"), (0, "nothing"), (0, "note (2)")])
def test_other_cells_are_passed_over(place: tuple[int, str]) -> None:
    app = drawn(table_types=cell(*place))
    assert app.session_state["found"] is None and captions(app) == ["Always.", "Choose."]


def test_headings_of_one_name_are_numbered() -> None:
    assert list(drawn().dataframe[0].value.columns) == ["type", "COR", "F1", "note", "note (2)"]


def test_a_choice_goes_with_the_facts_it_was_made_under() -> None:
    app = drawn(table_types=cell(0, "note"))
    assert app.run().session_state["found"] == (0, "note")
    app.session_state["fact"] = 1
    assert app.run().session_state["found"] is None
    app.session_state["table_types"] = cell(1, "note")
    assert app.run().session_state["found"] == (1, "note")


def test_every_table_with_a_signature_offers_its_files() -> None:
    app = drawn(exports=True)
    assert [button.proto.label for button in app.get("download_button")] == [
        "CSV",
        "Parquet",
        "Excel",
        "Markdown",
        "LaTeX",
        "HTML",
    ]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        (Query(decision=ERRORS), "records-inspect-rules-strict"),
        (Query(), "records-inspect-rules-strict"),
        (Query(decision=("MIS", "SPU")), "records-inspect-rules-strict-MIS-SPU"),
        (Query(gold=("RNA",), pred=("",)), "records-inspect-rules-strict-gold-RNA-pred-none"),
        (
            Query(doc="../bio 07", having=(("class", "type only"),)),
            "records-inspect-rules-strict-bio-07-class-type-only",
        ),
        (Query(text="a" * 500), f"records-inspect-rules-strict-{'a' * 51}"),
    ],
)
def test_files_of_records_are_called_by_their_page_and_filter(query: Query, name: str) -> None:
    """Two lists saved one after the other are two files, neither of which a browser calls `records (1)`."""
    assert records_file_name("Inspect", "rules", "strict", query) == name


def test_capitals_and_wide_scripts_take_more_of_a_column() -> None:
    assert text_width("organisation") < text_width("ORGANISATION") < text_width("組織組織組織組織組織組織")


@pytest.mark.parametrize(
    ("text", "kind", "pixels", "fitting"),
    [
        ("no prediction overlaps it", "text", 160, "no prediction overlaps it"),
        ("type location-commercial instead of law", "text", 160, "type location-commercial…"),
        ("organisation-commercial", "name", 90, "organ…ommercial"),
        ("organisation-administrative", "name", 90, "organ…istrative"),
        ("the old minister of foreign affairs", "before", 105, "… foreign affairs"),
        ("the old minister of foreign affairs", "after", 99, "the old …"),
        ("一二三四五六七八九十一二三四五六七八九十", "before", 99, "… 五六七八九十"),
    ],
)
def test_what_a_list_has_no_room_for_is_cut_with_a_sign(text: str, kind: Kind, pixels: int, fitting: str) -> None:
    assert cut_to_fit(text, kind, pixels) == fitting
    assert text_width(fitting, NARROW_CHARACTER_WIDTH) <= pixels + NARROW_CHARACTER_WIDTH * 2


def test_lists_are_cut_and_other_tables_stand_whole() -> None:
    words = "type organisation-commercial instead of location-historical"
    listed = Table("", (Column("before", kind="before"), Column("why", kind="text")), ((words, words),))
    (row,) = _cells_of(listed)
    assert row[0].startswith("… ") and row[1].endswith("…")
    (whole,) = _cells_of(Table("", (Column("why", kind="text"),), ((words,),)))
    assert whole == [words]


@pytest.mark.parametrize(
    ("rows", "limits", "height"),
    [
        (25, {"height": 500}, "content"),
        (41, {"height": 500}, 500),
        (4, {"height": 177, "whole_rows": 4}, "content"),
        (14, {"height": 177, "whole_rows": 4}, 177),
    ],
)
def test_a_table_of_few_rows_has_no_scrolling_of_its_own(
    rows: int, limits: dict[str, int], height: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    call: dict[str, Any] = {}
    monkeypatch.setattr(tables.st, "dataframe", lambda *_, **options: call.update(options))
    draw_rows(Table("", (Column("period", kind="name"),), tuple((f"{year}s",) for year in range(rows))), **limits)
    assert call["height"] == height


def _cells_of(table: Table) -> list[list[Any]]:
    calls: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables.st, "dataframe", lambda data, **_: calls.append(data))
        draw_rows(table)
    return [list(row.values()) for row in calls[0].to_pylist()]
