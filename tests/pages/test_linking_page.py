"""The Linking page: each count is what it lists, each ratio its formula; what is chosen, where ids open, no links."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.linking import LINK_DECISIONS, judge_links, link_confusion, link_records
from nereval_core.analysis.linking.mentions import align_links
from nereval_core.analysis.linking.tables import confused_ids, rule_table
from nereval_core.report.colours import LINK_LOOKS
from nereval_core.tables import RATIO_KEYS
from pages.shared.data.loading import load_demo
from pages.shared.linking import FORMULA, QUERY
from pages.shared.linking.link_records import (
    LinkQuery,
    Rule,
    cell_query,
    decision_counts,
    formula,
    linked_text,
    rule_of,
    rules,
    select_records,
    with_rule,
)
from pages.shared.view import View
from pages.shared.view.link import read_link, write_link
from pages.shared.view.text import plain
from tests.support.pages import DEMO, GOLD, VIEW, address, choose, opened, sound, upload
from tests.support.visitors import Visitor

MENTIONS = ("end-to-end", "gold")
GIVEN = replace(VIEW, mentions="given")


def scored(mentions: str) -> dict[Rule, Any]:
    gold, pred = DEMO.corpus.gold, DEMO.corpus.system("rules")
    return {
        rule: judge_links(align_links(gold, pred, boundaries=rule.boundaries, mentions=mentions), n=rule.n)  # type: ignore[arg-type]
        for rule in rules(mentions)  # type: ignore[arg-type]
    }


@pytest.mark.parametrize("mentions", MENTIONS)
def test_every_count_is_the_number_of_its_records(mentions: Any) -> None:
    every = scored(mentions)
    table = rule_table("links", list(every.values()))
    counts = 0
    for number, scores in enumerate(every.values()):
        row = table.row(number)
        records = link_records(scores)
        for column, value in row.items():
            query = cell_query(str(column))
            if query is not None:
                assert len(select_records(records, query)) == value, (row["linking"], column)
                counts += 1
        ratios = RATIO_KEYS if mentions == "end-to-end" else {"accuracy": "accuracy"}
        for ratio, key in ratios.items():
            text, terms = formula(ratio, scores.counts)
            assert text.endswith(f"{row[key]:.3f}")
            for _, value, query in terms:
                assert len(select_records(records, query)) == value
    assert counts == (6 * 8 if mentions == "end-to-end" else 3 * 6)


@pytest.mark.parametrize("mentions", MENTIONS)
def test_confused_ids_lead_to_their_records(mentions: Any) -> None:
    for scores in scored(mentions).values():
        records = link_records(scores)
        table = confused_ids(records, 1_000)
        assert table["count"].sum() == (records["decision"] != "right").sum()
        for row in table.to_dict("records"):
            found = select_records(records, LinkQuery(gold_id=row["gold_id"], pred_id=row["pred_id"]))
            assert len(found) == row["count"]
            for side in ("gold", "pred"):
                assert row[f"{side}_text"] in set(found[f"{side}_text"].fillna(""))
        both = ((table["gold_id"] != "") & (table["pred_id"] != "")).tolist()
        assert both == sorted(both, reverse=True), "ids that both sides name come first"
        assert len(link_confusion(records)) >= len(table)


def test_pills_count_what_they_would_list() -> None:
    records = link_records(scored("end-to-end")[Rule("overlapping", 1)])
    for query in (LinkQuery(), LinkQuery(gold_id="NIL"), LinkQuery(("right",))):
        for name, value in decision_counts(records, query).items():
            assert len(select_records(records, replace(query, decisions=(name,)))) == value > 0


def test_an_undefined_ratio_is_a_dash() -> None:
    empty = DEMO.corpus.gold.take(pd.Series([], dtype="int64").to_numpy())
    scores = judge_links(align_links(empty, empty))
    assert rule_table("empty", [scores]).rows[0][1:4] == (None, None, None)
    for ratio in (*RATIO_KEYS, "accuracy"):
        assert formula(ratio, scores.counts)[0].endswith("= –")
    assert confused_ids(link_records(scores), 10).empty


def test_rules_are_kept_in_the_link() -> None:
    for rule in rules("end-to-end"):
        view = with_rule(replace(VIEW, rank="5", layout=("overlapping",), order="longest"), rule)
        assert rule_of(view) == rule
        assert view.order == "longest"
        again, notices = read_link(write_link(view))
        assert (rule_of(again), notices) == (rule, ())
    assert rule_of(replace(GIVEN, layout=("overlapping",))).boundaries == "strict"


def test_looks_are_told_apart() -> None:
    assert tuple(LINK_LOOKS) == LINK_DECISIONS
    assert len({look.glyph for look in LINK_LOOKS.values()}) == len(LINK_LOOKS)


def test_the_text_is_the_document_and_each_mention_a_chip() -> None:
    scores = scored("end-to-end")[Rule("overlapping", 1)]
    records = link_records(scores)
    shown = select_records(records, LinkQuery())
    gold = scores.alignment.gold
    for document in range(len(gold.documents)):
        data = linked_text(scores.alignment, records, shown, document, "")
        assert "".join(text for part in data["paragraphs"] for text in part["texts"]) == gold.documents.texts[document]
        rows = records[records["doc"] == document]
        assert len(data["marks"]) == (rows["gold"] >= 0).sum() + (rows["pred"] >= 0).sum()
    number = gold.documents.index["en-04"]
    data = linked_text(scores.alignment, records, shown, number, "g:204-221:NORMALIZABLES")
    (wrong,) = (mark for mark in data["marks"] if mark["side"] == "prediction" and mark["word"] == "wrong link")
    assert wrong["type"] == "DEMO:0081 | DEMO:0082"
    assert wrong["title"] == "predicted mention magnesium sulfate, linked to DEMO:0081, DEMO:0082, wrong link"
    assert data["selected"] == "g:204-221:NORMALIZABLES"
    assert data["queue"][int(data["at"])] == ["en-04", "g:204-221:NORMALIZABLES"]


def facts(app: AppTest, view: View) -> tuple[str, ...]:
    """Return what the page keeps a choice by: that of a choice it made itself."""
    app.pills(key="widget_link-decision").set_value("missing").run()
    found: tuple[str, ...] = app.session_state[QUERY][0]
    return found


def strong(app: AppTest) -> str:
    return next(m.value for m in app.markdown if re.search(r": [\d,]+ records?\*\*$", m.value))


def test_the_page_says_the_number_first() -> None:
    app = opened("Linking", VIEW)
    counts = scored("end-to-end")[Rule()].counts
    assert f"## {counts.right} of {counts.gold} gold mentions link to the right id" in [m.value for m in app.markdown]
    assert list(app.dataframe[0].value["linking"])[:2] == ["strict, n = 1", "strict, n = 3"]
    assert strong(app) == f"**All that is not right, strict, n = 1: {sum(counts.decisions[1:])} records**"


def test_decisions_narrow_the_list_down() -> None:
    app = opened("Linking", VIEW)
    counts = dict(zip(LINK_DECISIONS, scored("end-to-end")[Rule()].counts.decisions, strict=True))
    for name in ("missing", "wrong link", "right"):
        app = sound(app.pills(key="widget_link-decision").set_value(name).run())
        assert strong(app) == f"**{name}, strict, n = 1: {counts[name]} records**"
        assert len(app.dataframe[1].value) == counts[name]
    app = sound(app.button(key="links-all").click().run())
    assert "All that is not right" in strong(app)


def test_a_choice_goes_with_what_it_was_made_under() -> None:
    app = opened("Linking", VIEW)
    assert facts(app, VIEW)
    assert "missing" in strong(app)
    app = choose(app, "system", "perceptron")
    assert "All that is not right" in strong(app)


def test_a_ratio_opens_its_formula_and_its_counts_their_records() -> None:
    app = opened("Linking", VIEW)
    app.session_state[FORMULA] = (facts(app, VIEW), Rule("overlapping", 3), "F1")
    app = sound(app.run())
    scores = scored("end-to-end")[Rule("overlapping", 3)].counts
    assert any(code.value.startswith("overlapping, n = 3: F1 = 2 × right") for code in app.code)
    app = sound(app.button(key="links-right").click().run())
    assert strong(app) == f"**right, overlapping, n = 3: {scores.right} records**"
    assert (address(app)["layout"], address(app)["rank"]) == ("overlapping", "3")


def test_given_mentions_have_an_accuracy() -> None:
    app = opened("Linking", GIVEN)
    table = app.dataframe[0].value
    assert list(table.columns[:2]) == ["linking", "accuracy"]
    assert len(table) == 3
    assert any("Not judged, as boundaries differ" in caption.value for caption in app.caption)
    app = sound(app.segmented_control(key="widget_mentions").set_value("").run())
    assert len(app.dataframe[0].value) == 6


def test_the_ids_most_confused_are_kept_in_the_link() -> None:
    app = sound(opened("Linking", VIEW).segmented_control(key="widget_linking_tab").set_value("ids").run())
    assert list(app.dataframe[1].value.columns) == ["gold id", "gold text", "predicted id", "predicted text", "count"]
    assert address(app)["linking_tab"] == "ids"


def test_a_row_of_confused_ids_lists_its_records(app: str) -> None:
    ((gold, _, pred, _, number),) = confused_ids(link_records(scored("end-to-end")[rule_of(VIEW)]), 1).to_numpy()
    with Visitor(app) as visitor:
        visitor.open("Linking", urlencode(write_link(replace(VIEW, linking_tab="ids"))))
        visitor.select("table_confused", rows=[], columns=[], cells=[[0, "count"]])
        assert visitor.shown.faults() == [] and not visitor.shown.has("table_confused")
        (title,) = (text for text in visitor.shown.texts() if text.startswith("**") and " record" in text)
    assert f"gold {plain(gold)}, predicted {plain(pred)}, " in title and f": {number} record" in title


def test_a_mapping_relaxes_and_a_bad_one_is_told() -> None:
    app = opened("Linking", VIEW)
    right = app.dataframe[0].value["right"].iloc[0]
    for raw in (b"a\tb\tc\n", b"DEMO:0081\tDEMO:0082\n"):
        app.file_uploader(key="widget_mapping").set_value([("map.tsv", raw, "text/plain")]).run()
        app = sound(app.button(key="use-mapping").click().run())
        if raw.startswith(b"a"):
            assert any(code.value.startswith("map.tsv:1: 3 cells") for code in app.code)
    assert app.dataframe[0].value["right"].iloc[0] == right + 1
    app = sound(app.button(key="no-mapping").click().run())
    assert app.dataframe[0].value["right"].iloc[0] == right


RECORD = replace(VIEW, doc="en-04", record="g:204-221:NORMALIZABLES")


def html(app: AppTest) -> str:
    return "".join(str(element.proto.body) for element in app.get("html"))


def test_ids_open_where_the_reader_says() -> None:
    app = opened("Linking", RECORD)
    assert any("**wrong link** · the right link is number 2" in element.value for element in app.markdown)
    assert 'class="nvh-link">DEMO:0081</span>' in html(app)
    app = sound(app.text_input(key="widget_template").set_value("javascript:alert('{id}')").run())
    assert "This address is not used" in app.error[0].value
    assert "<a" not in html(app)
    app = sound(app.text_input(key="widget_template").set_value("https://example.org/{id}?x=1").run())
    assert not app.error
    assert 'href="https://example.org/DEMO%3A0081?x=1" target="_blank" rel="noopener noreferrer"' in html(app)


@pytest.mark.parametrize("corpus", ["biology", "newspapers"])
def test_without_links_the_page_says_where_they_come_from(corpus: str) -> None:
    app = opened("Linking", View(corpus=load_demo(corpus).corpus.digest))
    assert "No gold span of this corpus has a link" in app.info[0].value
    assert not app.dataframe


def test_with_bad_links() -> None:
    app = opened("Linking", replace(VIEW, doc="en-04", record="g:0-1:NORMALIZABLES"))
    assert app.dataframe
    app = opened("Linking", replace(VIEW, leaveout=("NORMALIZABLES", "NO_NORMALIZABLES", "PROTEINAS")))
    assert any("0 of 0 gold mentions" in element.value for element in app.markdown)


def test_a_system_without_links_is_said_to_have_none() -> None:
    gold = GOLD.replace('"label": "Drug"', '"label": "Drug", "links": ["Q18216"]')
    app = upload(opened("Start"), gold, GOLD, gold)
    view = View(corpus=address(app)["corpus"], system="system0")
    app = opened("Linking", view)
    assert "every gold mention is missing" in app.info[0].value
    assert "With links: system1" in app.info[0].value
    assert list(app.dataframe[0].value["missing"]) == [1] * 6
    assert not opened("Linking", replace(view, system="system1")).info
