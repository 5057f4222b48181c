"""Errors held against another system: each value says how many records are listed once it is chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nereval_core.ledger.attributes.comparisons import ONLY_OTHER, ONLY_THIS
from nereval_core.records.queries import Query
from pages.shared.inspect.facets import value_counts, with_against
from pages.shared.view import View
from pages.shared.view.link import read_link, write_link
from pages.shared.view.queries import query_of, view_of
from tests.support.other_formats import Demo
from tests.support.pages import VIEW, address, opened
from tests.support.workbench import choose_facet, facets, listed


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
    app = opened("Inspect", VIEW)
    (label,) = (name for name in facets(app) if name.startswith("rules and "))
    # It looks at all records of both systems: they are counted once that is asked for.
    assert not facets(app)[label]["values"]
    app = choose_facet(app, label, "annotator-1", act="compare")
    counts = value_counts(Demo("pharmacology", ("strict",)).ledger("rules", "strict"), query_of(VIEW), "annotator-1")
    label = "rules and annotator-1"
    assert {row[0]: row[2] for row in facets(app)[label]["values"]} == counts
    for value, decision in ((ONLY_THIS, "COR"), (ONLY_OTHER, None)):
        app = choose_facet(app, label, value)
        assert listed(app) == counts[value]
        assert address(app)["q"].endswith(f'={value}"')
        assert address(app).get("decision") == decision
        app = choose_facet(app, label, None)


def test_nothing_is_offered_where_tokens_are_counted() -> None:
    compared = next(
        facet for facet in facets(opened("Inspect", replace(VIEW, criterion="fragment"))).values() if "note" in facet
    )
    assert "counts tokens" in compared["note"] and not compared["values"]
