"""Files that pages offer on a server that several people use."""

from __future__ import annotations

import io

import pandas as pd

from tests.support.visitors import Visitor


def test_files_of_one_system_name_it_and_hold_the_intervals_that_the_page_shows(app: str) -> None:
    with Visitor(app) as visitor:
        visitor.open("Overview")
        visitor.open_menu("export")
        types, criteria = (pd.read_csv(io.BytesIO(visitor.download(name))) for name in ("csv_types", "csv_criteria"))
        visitor.open("Criteria")
        visitor.open_menu("export")
        every = pd.read_csv(io.BytesIO(visitor.download("csv_every")))
    for table in (types, criteria, every):
        assert table.columns[0] == "system" and table["system"].nunique() == 1
    assert (types["f1_low"] <= types["f1"]).any() and types["f1_high"].notna().any()


def test_a_file_outlasts_the_clicks_of_others_until_it_is_fetched(app: str) -> None:
    with Visitor(app) as one, Visitor(app) as other:
        one.open("Overview")
        one.open_menu("export")
        address = one.file_address("csv_types")
        for _ in range(3):
            other.open("Guide")
            other.rerun()
        assert one.ask(address).body.startswith("system,type,")
        # It does not stay for ever: not once its page has run again.
        for _ in range(3):
            one.open("Guide")
        assert one.ask(address).status == 404
