"""Documents and records in their text, as notebooks show them."""

from __future__ import annotations

import re
from typing import Any

import pytest

import nereval_core as nereval
from nereval_core.problems import FormatError
from nereval_core.report.highlight import plain_text
from nereval_core.report.scored_system import ScoredSystem
from tests.support import ROOT

DEMO = ROOT / "demo_data" / "biology"
GOLD, RULES = (str(DEMO / f"{name}.jsonl") for name in ("gold", "rules"))
CARD = '<div class="nvn-card">'


@pytest.fixture(scope="module")
def scores() -> ScoredSystem:
    return nereval.score(GOLD, RULES)


def test_a_document_is_shown_whole(scores: ScoredSystem) -> None:
    shown = nereval.show(scores, "bio-01", criterion="type")
    text = scores.gold.documents.texts[scores.gold.documents.index["bio-01"]]
    html = shown._repr_html_()
    assert repr(shown) == text and html.count(CARD) == 1 and "<script" not in html
    assert text in plain_text(html)
    assert "document bio-01" in html and "under type" in html
    assert nereval.show(scores, 0)._repr_html_() != nereval.show(scores, 1)._repr_html_()


def test_records_have_a_legend_their_document_and_their_criterion(scores: ScoredSystem) -> None:
    shown = nereval.show(scores, decision="INC", limit=5)
    html = shown._repr_html_()
    assert html.count(CARD) == 5
    assert "the first 5 of 38 records under strict; limit=38 shows all" in html
    assert html.count('class="nvn-chip"') == 1 and "≠ incorrect (INC)" in html
    assert html.count("document bio-") == 5 and html.count("· under strict") == 5
    title, headings, *lines = repr(shown).splitlines()
    assert title.startswith("the first 5 of 38") and headings.split() == [
        *("decision", "gold", "predicted", "document", "text")
    ]
    assert len(lines) == 5 and all(line.startswith("INC") and "[" in line for line in lines)


@pytest.mark.parametrize(
    ("options", "records"),
    [
        ({}, 75),
        ({"decision": ("MIS", "SPU")}, 37),
        ({"decision": "COR", "gold": "DNA"}, 15),
        ({"gold": "RNA", "pred": "DNA"}, 2),
        ({"pred": ["RNA", "DNA"], "decision": "SPU"}, 2),
        ({"document": "bio-02", "decision": "INC"}, 2),
        ({"criterion": "type"}, 44),
    ],
    ids=str,
)
def test_records_are_those_asked_for(scores: ScoredSystem, options: dict[str, Any], records: int) -> None:
    html = nereval.show(scores, limit=1_000, **options)._repr_html_()
    assert html.count(CARD) == records
    assert f"{records} records under " in html


def test_no_records_are_said(scores: ScoredSystem) -> None:
    shown = nereval.show(scores, gold="RNA", pred="protein")
    assert "0 records under strict" in shown._repr_html_() and "0 records under strict" in repr(shown)


@pytest.mark.parametrize(
    ("document", "options", "message"),
    [
        ("nowhere", {}, "no document 'nowhere'"),
        (99, {}, "no document '99'"),
        (0, {"criterion": "left"}, "not scored under 'left'"),
        (None, {"decision": "WRONG"}, "there is no 'WRONG'; write COR, INC, PAR, MIS or SPU"),
        (None, {"gold": "Protein"}, "gold: no span has the type 'Protein'; types are 'DNA'"),
        (None, {"limit": 0}, "limit: '0' is not possible; write a whole number from 1"),
        (None, {"limit": -1}, "limit: '-1' is not possible"),
    ],
)
def test_what_cannot_be_shown(
    scores: ScoredSystem, document: str | int | None, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        nereval.show(scores, document, **options)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scores_without_texts_show_nothing() -> None:
    with pytest.raises(FormatError, match="no texts"):
        nereval.show(nereval.score([[(0, 8, "A")]], [[(0, 8, "A")]]))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_hostile_words_are_escaped_everywhere() -> None:
    text = "<script>alert(1)</script>"
    gold = nereval.read_objects([[(0, 8, "<b>\u202e")]], texts=[text])
    scores = nereval.score(gold, [[(0, 9, "<i onload=x>")]])
    results = (scores, scores.report(), scores.confusion(), nereval.show(scores, 0), nereval.show(scores))
    for result in results:
        html = re.sub("<style>.*?</style>", "", result._repr_html_())
        assert not re.search("<(script|b|i)\\b", html) and "\u202e" not in html
        assert "\u202e" not in repr(result)
    assert "\\u202e" in scores.report()._repr_html_()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("number", [0, 1])
def test_types_that_differ_are_whole(number: int) -> None:
    types = ["organisation.ent.pressagency", "organisation.adm"]
    scores = nereval.score([[(0, 2, types[number])]], [[(0, 2, types[1 - number])]], texts=["Le Monde"])
    labels = re.findall('data-label="≠ (.*?)"', nereval.show(scores)._repr_html_())
    assert sorted(labels) == sorted(types)
