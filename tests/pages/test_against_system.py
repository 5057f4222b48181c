"""Errors held against another system: each value says how many records are listed once it is chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nereval_core.ledger.attributes.comparisons import ONLY_OTHER, ONLY_THIS
from nereval_core.records.queries import Query
from pages.shared.inspect.filters import value_counts, with_against
from pages.shared.view import View, keys
from pages.shared.view.link import read_link, write_link
from pages.shared.view.queries import query_of, view_of
from tests.support.other_formats import Demo
from tests.support.pages import VIEW, address, opened, sound
from tests.support.workbench import listed

BOX = f"{keys.WIDGET}filters"


@pytest.mark.parametrize(
    "query",
    [
        query_of(View()),
        Query(decision=("COR",)),
        Query(decision=("MIS", "SPU"), gold=("PROTEINAS",)),
        Query(decision=("COR", "INC"), text="a"),
        query_of(View(q='has:"against annotator-1=both wrong" has:"right-by=1"')),
    ],
)
def test_each_value_says_what_it_lists(query: Query) -> None:
    there = Demo("pharmacology", ("strict", "type"))
    ledger = there.ledger("rules", "strict")
    view = view_of(View(system="rules"), query)
    for other in ("perceptron", "annotator-1"):
        asked = replace(query, having=tuple(pair for pair in query.having if not pair[0].startswith("against")))
        for value, number in value_counts(ledger, asked, other).items():
            there_then, wrong = read_link(write_link(with_against(view, other, value)))
            assert not wrong and there_then.beside == other
            assert ledger.total(query_of(there_then)).records == number, value
            back = query_of(with_against(there_then, other, None))
            assert not [name for name, _ in back.having if name.startswith("against")]
            assert back.text == query.text and back.gold == query.gold


def test_the_control_lists_what_it_names() -> None:
    app = opened("Inspect", VIEW, **{BOX: True})
    assert not [pills for pills in opened("Inspect", VIEW).button_group if pills.key == "widget_against"]
    counts = value_counts(Demo("pharmacology", ("strict",)).ledger("rules", "strict"), query_of(VIEW), "annotator-1")
    for value, decision in ((ONLY_THIS, "COR"), (ONLY_OTHER, None)):
        (pills,) = (pills for pills in app.button_group if pills.key == "widget_against")
        pills.set_value(value)
        sound(app.run())
        assert listed(app) == counts[value]
        assert address(app)["q"].endswith(f'={value}"')
        assert address(app).get("decision") == decision


def test_nothing_is_offered_where_tokens_are_counted() -> None:
    app = opened("Inspect", replace(VIEW, criterion="fragment"), **{BOX: True})
    assert not [pills for pills in app.button_group if pills.key == "widget_against"]
    assert any("counts tokens" in caption.value for caption in app.caption)
