"""Core, alternatives and fragment on the pages: offered where they apply, and every count opens its records."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from nereval_core.readers import Source
from nereval_core.records.queries import overall_query
from nereval_core.records.tables import by_type
from nereval_core.report.score_tables import criterion_table
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA
from nereval_core.tables import SHARED_COUNTS
from pages.shared.data import caches
from pages.shared.data.loading import load
from pages.shared.view import View, keys
from pages.shared.view.text import count, plain
from tests.pages.test_own_criteria import uploaded
from tests.support.pages import VIEW as PLAIN
from tests.support.pages import cell, headings, menus, opened, sound

TEXT = "the human p53 gene and a mouse gene of New York"
GOLD = [
    {"start": 4, "end": 18, "label": "Gene", "core": [10, 13], "alternatives": [[10, 18]]},
    {"start": 25, "end": 35, "label": "Gene"},
    {"start": 39, "end": 47, "label": "Place"},
]
PREDICTION = [
    {"start": 10, "end": 18, "label": "Gene"},
    {"start": 19, "end": 30, "label": "Gene"},
    {"start": 43, "end": 47, "label": "Gene"},
]
NEW = ("core", "alternatives", "fragment")
MINE = '[criterion.mine]\nboundaries = "core"\ntypes = "any"\n'


def source(name: str, spans: list[dict[str, object]]) -> Source:
    row = {"id": "d1", "text": TEXT, "spans": spans}
    return Source.of_uploads([(f"{name}.jsonl", json.dumps(row).encode())])


@pytest.fixture
def view() -> View:
    loaded = load("more", source("gold", GOLD), {"run": source("run", PREDICTION)})
    return View(corpus=caches.shelf().put(loaded), system="run")


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("page", ["Overview", "Confusion", "Inspect"])
def test_every_page_shows_a_link_under_them(view: View, page: str, name: str) -> None:
    app = opened(page, replace(view, criterion=name, overview_tab="all-criteria", layout=("all-criteria",)))
    assert not app.warning and not app.error
    if page == "Overview":
        assert app.dataframe[1].value["criterion"].tolist() == list(CRITERIA)


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("column", [column.key for column in SHARED_COUNTS])
def test_every_count_of_overview_opens_its_records(view: View, name: str, column: str) -> None:
    loaded = caches.find(view.corpus)
    assert loaded is not None
    settings = caches.settings_of(loaded.corpus.gold, view)
    row = criterion_table("run", {"run": caches.scores(loaded, "run", settings)}, [name]).row(0)
    query = overall_query(column)
    assert query is not None
    found = caches.ledger(loaded, "run", settings, name).page(query, rows=10_000)
    shown = replace(view, criterion=name, overview_tab="all-criteria", layout=("all-criteria",))
    key = f"{keys.TABLE}all_criteria"
    app = opened("Overview", shown, **{key: cell(list(CRITERIA).index(name), column)})
    records = count(len(found), "record")
    said = (
        f"{count(int(row[column]), 'token')} in {records}" if name == "fragment" else count(int(row[column]), "record")
    )
    assert f"under {name}: {said}**" in headings(app)


def test_counts_by_token_are_those_of_tokens(view: View) -> None:
    loaded = caches.find(view.corpus)
    assert loaded is not None
    scores = caches.scores(loaded, "run", caches.settings_of(loaded.corpus.gold, view))
    # Gold: human p53 gene, mouse gene (Gene), New York (Place); predicted: p53 gene, and a mouse, York (Gene).
    counts = scores.counts("fragment")
    assert (counts.cor, counts.mis, counts.spu, counts.pos, counts.act) == (3, 4, 3, 7, 6)
    assert by_type(scores, "fragment").set_index("type").loc["Gene", ["POS", "ACT"]].tolist() == [5, 6]
    app = opened("Overview", replace(view, criterion="fragment"))
    said = [block.proto.popover.label for block in app.get("popover")]
    assert any("✓ gold 7 = COR 3 + INC 0 + PAR 0 + MIS 4" in label for label in said)


@pytest.mark.parametrize("name", ["core", "alternatives"])
def test_where_gold_has_none_the_reason_is_said(view: View, name: str) -> None:
    app = opened("Overview", PLAIN, menu="criteria")
    assert any(f"{name}: it needs {plain(CRITERIA[name].needs)}." in caption.value for caption in app.caption)
    assert not any(option.startswith(f"{name} ·") for option in app.selectbox(key="widget_criterion").options)
    here = opened("Overview", view, menu="criteria")
    assert not any(f"{name}: it needs" in caption.value for caption in here.caption)
    sound(here.selectbox(key="widget_criterion").set_value(name).run())
    lost = opened("Overview", replace(PLAIN, criterion=name, overview_tab="all-criteria", layout=("all-criteria",)))
    assert name in lost.warning[0].value
    assert lost.dataframe[1].value["criterion"].tolist() == list(APPLICABLE)


def test_spans_without_a_core_are_told(view: View) -> None:
    app = opened("Overview", replace(view, criterion="core"), menu="criteria")
    assert any("2 of 3 gold spans have no core: each is its own." in caption.value for caption in app.caption)
    assert any("gold spans without a core, each its own: 2 of 3" in code.value for code in app.code)


def test_an_own_criterion_that_needs_cores(view: View) -> None:
    app = uploaded(opened("Overview", PLAIN, menu="criteria"), MINE)
    assert app.button(key="criterion-mine").disabled
    assert any("mine does not apply: it needs core terms" in caption.value for caption in app.caption)
    app = uploaded(opened("Overview", view, menu="criteria"), MINE)
    app = sound(app.button(key="criterion-mine").click().run())
    assert menus(app)[0] == "mine"
