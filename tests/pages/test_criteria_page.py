"""The Criteria page: every criterion and published scorer in a table and as dots, each row opening what parts it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.criteria.convention_differences import (
    TABLE_COLUMNS,
    comparable_neighbours,
    convention_rows,
    criteria_rows,
    criteria_table,
    order_rows,
)
from nereval_core.conventions import conventions
from nereval_core.report.figures.criteria import score_dots
from nereval_core.scoring.criteria import CRITERIA
from pages.shared.components.downloads import table_key
from pages.shared.criteria.all_criteria import _unfit
from pages.shared.data import caches
from tests.pages.test_published_pages import FOUND, TAGS, loaded_of, outcomes
from tests.support.pages import DEMO, VIEW, address, cell, headings, opened, point, sound

SETTINGS = caches.as_read(DEMO)
FOUND_ROWS, REFUSED = caches.every_row(DEMO, "rules", SETTINGS)
ROWS = tuple(row for row in FOUND_ROWS if row not in _unfit(FOUND_ROWS))
"""The rows that are shown: a scorer of given types finds none of them here."""
KEY = "table_every"
EVERY = replace(VIEW, layout=("published",))
"""The view with published scorers below the criteria that mean the same."""


def test_every_criterion_and_scorer_has_a_row_or_a_reason() -> None:
    names = {row.name for row in FOUND_ROWS}
    assert names >= {criterion.name for criterion in SETTINGS.criteria}
    assert names | set(REFUSED) == {criterion.name for criterion in SETTINGS.criteria} | set(conventions())
    assert not names & set(REFUSED)


def test_ratios_are_those_of_the_scorer_on_a_scale_to_one() -> None:
    loaded = loaded_of(TAGS, FOUND.replace("I-Drug", "O").replace("cure\tI-Pain", "cure\tB-Pain"))
    seen = 0
    for name, outcome in outcomes(loaded):
        convention = conventions()[name]
        figures = outcome.figures.set_index(["evaluation", "scope", "figure"])["value"]
        for row in convention_rows(convention, outcome):
            for code, value in zip(("P", "R", "F1"), row.ratios, strict=True):
                theirs = figures[row.evaluation, "overall", convention.ratios.names[code]]
                if value is None:
                    assert np.isnan(theirs)
                    continue
                assert value == theirs / (100 if convention.ratios.percent else 1) and 0 <= value <= 1
                seen += 1
            # The F1 is that of P and R, so the names are the right way round.
            p, r, f1 = row.ratios
            if p is None or r is None or f1 is None:
                continue
            assert f1 == pytest.approx(2 * p * r / (p + r) if p + r else 0)
    assert seen > 30


def test_a_scorer_stands_below_the_criterion_that_means_the_same() -> None:
    above = ""
    for row in ROWS:
        above = row.name if not row.evaluation else above
        assert row.criterion == above
    found = criteria_table(ROWS)
    assert dict(found.dtypes) == dict(TABLE_COLUMNS)
    assert order_rows(criteria_rows(caches.scores(DEMO, "rules", SETTINGS)), ()) == tuple(
        row for row in ROWS if not row.evaluation
    )


def test_what_is_counted_by_token_is_compared_with_nothing() -> None:
    for row, pair in zip(ROWS[1:], comparable_neighbours(ROWS)[1:], strict=True):
        by_token = row.name in CRITERIA and CRITERIA[row.name].unit == "token"
        assert (pair is None) == by_token
        assert pair is None or pair[0] is row


@pytest.mark.parametrize("place", range(1, len(ROWS), 4))
def test_a_row_opens_the_spans_that_differ_from_the_row_above(place: int) -> None:
    app = opened("Criteria", EVERY, **{KEY: cell(place, "differs from above")})
    said = app.dataframe[0].value["differs from above"].iat[place]
    pair = comparable_neighbours(ROWS)[place]
    if pair is None:
        assert any("no row of spans" in caption.value for caption in app.caption)
    elif said > 0:
        assert f"Where they part: {int(said)} span" in headings(app)
        groups = next(frame.value for frame in app.dataframe if "spans" in frame.value)
        assert groups["spans"].sum() == said == len(caches.step(DEMO, "rules", SETTINGS, *pair))
    else:
        assert any("decide every span alike" in box.value for box in app.success)


def counted(app: AppTest) -> int:
    """Return what the records on this page of a scorer's list count for."""
    records = next(frame.value for frame in app.dataframe if "decision" in frame.value)
    return int(records.iloc[:, 1].sum())


@pytest.mark.parametrize("column", ["COR", "POS", "ACT"])
@pytest.mark.parametrize("place", [0, 1, 3, 8])
def test_a_count_opens_its_records(place: int, column: str) -> None:
    app = opened("Criteria", EVERY, **{KEY: cell(place, column)})
    shown = app.dataframe[0].value[column].iat[place]
    if pd.isna(shown):
        # A scorer that does not count it.
        assert column not in conventions()[ROWS[place].name].ratios.names and not any(
            "record" in one for one in headings(app)
        )
        return
    value = int(shown)
    if ROWS[place].evaluation:
        pages = next((box for box in app.number_input if box.label.startswith("Page of")), None)
        first = counted(app)
        # What the first page leaves is on the second, and there is no third.
        assert pages is None or pages.max == 2
        assert first + (0 if pages is None else counted(sound(pages.set_value(2).run()))) == value
    else:
        assert f": {value} record" in headings(app)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_ratio_opens_its_formula(place: int) -> None:
    app = opened("Criteria", EVERY, **{KEY: cell(place, "F1")})
    value = app.dataframe[0].value["F1"].iat[place]
    assert any(code.value.endswith((f"= {value:.3f}", f"= {value:.4f}")) for code in app.code)


def test_the_dots_are_the_table_and_open_the_same() -> None:
    found = criteria_table(ROWS)
    figure = score_dots(found, "<b>x</b>", 157, 133, 20)
    shown = {place[0]: x for trace in figure.data for place, x in zip(trace.customdata, trace.x, strict=True)}
    assert shown == dict(enumerate(found["F1"]))
    title = figure.layout.title.text
    assert "&lt;b&gt;" in title and "157 gold spans, 133 predictions, 20 documents" in title
    assert figure.layout.xaxis.title.text == "F1" and figure.layout.xaxis.side == "top", "rows may not fit a screen"
    assert list(figure.layout.yaxis.ticktext) == list(found["row"])
    app = opened("Criteria", EVERY, **{table_key("table_dots", EVERY): point(1)})
    assert "Where they part" in headings(app)
    for wrong in (point(99), point(0), {"selection": {"points": []}}):
        opened("Criteria", EVERY, **{table_key("table_dots", EVERY): wrong})


def test_published_scorers_unfold() -> None:
    app = opened("Criteria", VIEW)
    ours = [row.label for row in ROWS if not row.evaluation]
    assert app.dataframe[0].value["criterion or scorer"].tolist() == ours
    (switch,) = (one for one in app.toggle if one.label == "Published scorers")
    app = sound(switch.set_value(True).run())
    assert address(app)["layout"] == "published"
    assert app.dataframe[0].value["criterion or scorer"].tolist() == [row.label for row in ROWS]


def test_a_scorer_that_finds_nothing_is_listed_and_not_drawn() -> None:
    row = next(row for row in ROWS if row.evaluation)
    nothing = replace(row, ratios=(0.0, 0.0, 0.0))
    assert _unfit((*ROWS, nothing)) == (nothing,)
    # Where the criterion that means the same finds nothing either, 0 is a result.
    ours = [replace(one, ratios=(0.0, 0.0, 0.0)) for one in ROWS if one.name == row.criterion]
    assert _unfit((*ours, nothing)) == ()


def test_one_scorer_at_nought_does_not_stretch_the_axis() -> None:
    values = [0.70, 0.71, 0.72, 0.74, 0.75, 0.0]
    rows = [(f"r{place}", "criterion", value, value, value) for place, value in enumerate(values)]
    figure = score_dots(pd.DataFrame(rows, columns=["row", "kind", "P", "R", "F1"]), "x", 1, 1, 1)
    low, high = figure.layout.xaxis.range
    assert 0.6 < low < 0.7 and 0.75 < high < 0.8
    (trace,) = (one for one in figure.data if len(one.x))
    assert trace.x[-1] == 0.70 and trace.text[-1] == "◂ 0.000" and set(trace.text[:-1]) == {""}
    assert list(trace.x[:-1]) == values[:-1]
