"""The component of every table: the cell chosen, captions and files."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.test_pages import cell


def page() -> None:
    import pandas as pd
    import streamlit as st

    from pages.shared.components import export_menu
    from pages.shared.components.count_table import count_table
    from pages.shared.components.downloads import Export

    place = st.container()
    export_menu.begin()
    table = pd.DataFrame({"type": ["a", "b"], "COR": [1, 2], "F1": [0.5, None]})

    found = count_table(
        table,
        "types",
        (st.session_state.get("fact", 0),),
        choose=("COR", "F1"),
        export=Export(table, "signed", "types"),
        caption="Always.",
        hint="Choose.",
        beside=lambda chosen: st.session_state.update(beside=chosen),
        selected=st.session_state.get("wanted"),
        height=300,
    )
    count_table(table, "plain", (), choose=())
    export_menu.draw(place)
    st.session_state["found"] = found


def drawn(**state: object) -> AppTest:
    app = AppTest.from_function(page)
    for key, value in state.items():
        app.session_state[key] = value
    app.run()
    assert not app.exception
    return app


def captions(app: AppTest) -> list[str]:
    return [element.value for element in app.caption]


@pytest.mark.parametrize("place", [(0, "COR"), (1, "F1")])
def test_a_cell_is_chosen(place: tuple[int, str]) -> None:
    app = drawn(table_types=cell(*place))
    assert app.session_state["found"] == app.session_state["beside"] == place
    assert captions(app) == ["Always."]


@pytest.mark.parametrize("place", [(2, "COR"), (-1, "COR"), (0, "type"), (0, "nothing")])
def test_other_cells_are_passed_over(place: tuple[int, str]) -> None:
    app = drawn(table_types=cell(*place))
    assert app.session_state["found"] is None and captions(app) == ["Always.", "Choose."]


def test_a_choice_goes_with_the_facts_it_was_made_under() -> None:
    app = drawn(table_types=cell(0, "COR"))
    assert app.run().session_state["found"] == (0, "COR")
    app.session_state["fact"] = 1
    assert app.run().session_state["found"] is None
    app.session_state["table_types"] = cell(1, "COR")
    assert app.run().session_state["found"] == (1, "COR")


def test_a_cell_can_be_shown_as_chosen() -> None:
    app = drawn(wanted=(1, "COR"))
    assert app.session_state["found"] == (1, "COR")
    assert app.session_state["table_types"]["selection"]["cells"] == [(1, "COR")]


def test_every_table_offers_its_files() -> None:
    app = drawn(export_menu=True)
    assert [button.proto.label for button in app.get("download_button")] == [
        "CSV",
        "Parquet",
        "Excel",
        "Markdown",
        "LaTeX",
        "HTML",
    ]
