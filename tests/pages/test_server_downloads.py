"""Files that pages offer on a server that several people use."""

from __future__ import annotations

from tests.support.visitors import Visitor


def test_a_file_outlasts_the_clicks_of_others_until_it_is_fetched(app: str) -> None:
    with Visitor(app) as one, Visitor(app) as other:
        one.open("Overview")
        one.unfold("export_menu")
        address = one.file_address("csv_types")
        for _ in range(3):
            other.open("Guide")
            other.rerun()
        assert one.ask(address).body.startswith("type,")
        # It does not stay for ever: not once its page has run again.
        for _ in range(3):
            one.open("Guide")
        assert one.ask(address).status == 404
