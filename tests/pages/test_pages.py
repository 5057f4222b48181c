"""The pages in a running app: with nothing, with the demo, after a bad upload; what is clicked is what is listed."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pandas as pd
import pytest
import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.comparison import compare_scores
from nereval_core.analysis.errors import error_report
from nereval_core.ledger import ledger
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.records.queries import ABSENT, ORDERS, Query
from nereval_core.report.score_tables import type_table
from nereval_core.scoring import score_layers
from nereval_core.scoring.criteria import APPLICABLE, SCHEMAS
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components.downloads import csv_of
from pages.shared.components.navigation import pages
from pages.shared.components.tables import ROWS
from pages.shared.data import caches
from pages.shared.data.loading import load, served_entries, served_folders, served_sources
from pages.shared.inspect.queue import CHUNK
from pages.shared.start import plainest_error
from pages.shared.view import View, keys
from pages.shared.view.confusion_layout import confusion_table
from pages.shared.view.link import read_link, write_link
from pages.shared.view.queries import query_of
from pages.shared.view.text import count, plain
from tests.support.pages import (
    DEMO,
    GOLD,
    PREDICTION,
    VIEW,
    account,
    address,
    at_start,
    cell,
    choose,
    component_data,
    drop,
    headings,
    heat_map,
    menus,
    opened,
    problems,
    read,
    sentence_links,
    sentences,
    sound,
    title,
    unmarked,
    upload,
)
from tests.support.workbench import act, choose_facet, facets, listed, span_words, workbench

OURS = ("Overview", "Confusion", "Inspect", "Criteria")
EVERY = (*OURS, "Systems", "Annotators")
BAD = (
    '{"id": "d1", "text": "Aspirin helps.", "spans": [{"start": 0, "end": 70, "label": "Drug"}]}\n'
    '{"id": "d2", "text": "No.", "spans": [{"start": 2, "end": 2, "label": "Drug"}]}\n'
)


def shows_records(app: AppTest) -> bool:
    """Tell whether a page shows a table, or, as Inspect does, the queue."""
    return bool(app.dataframe or app.get("bidi_component"))


def parameters(app: AppTest) -> dict[str, str]:
    """Return the parameters in the address bar without the tab of Inspect, which tests choose."""
    return {name: value for name, value in address(app).items() if name != "inspect_tab"}


@pytest.mark.parametrize("page", EVERY)
def test_with_nothing_a_page_shows_the_demo(page: str) -> None:
    app = opened(page)
    assert title(app) == page and shows_records(app) and not app.error
    # Pharmacology has no confusion of types.
    demo = caches.demo("biology") if page == "Confusion" else DEMO
    assert parameters(app) == write_link(View(corpus=demo.corpus.digest, system=demo.start))
    assert any(link.proto.label.startswith(f"Demo: {demo.corpus.name}") for link in app.get("page_link"))


@pytest.mark.parametrize("page", EVERY)
def test_a_link_to_a_corpus_not_here_names_it(page: str) -> None:
    app = opened(page, replace(VIEW, corpus="0123456789abcdef"))
    assert "0123456789abcdef" in app.info[0].value
    assert "Upload" in app.info[0].value


@pytest.mark.parametrize("page", OURS)
def test_with_the_demo_a_page_shows_a_table(page: str) -> None:
    app = opened(page, VIEW)
    assert title(app) == page
    assert shows_records(app) and not app.warning and not app.info


@pytest.mark.parametrize("page", EVERY)
def test_what_a_link_holds_in_vain_is_told(page: str) -> None:
    app = opened(page, replace(VIEW, type=("NOTHING",), criterion="fuzzy"))
    assert "NOTHING" in app.warning[0].value and "fuzzy" in app.warning[0].value
    assert parameters(app) == write_link(VIEW)


def test_start_opens_the_demo() -> None:
    app = opened("Start")
    assert "66%" in "".join(link.label for link in app.get("page_link") if "rule-based" in link.label)
    app = sound(app.button(key="demo-pharmacology").click().run())
    assert address(app)["corpus"] == VIEW.corpus[:16]
    assert title(app) == "Overview", "what was opened is shown at once"
    assert len(account(at_start(app))) == 1 + len(DEMO.corpus.systems)


def test_the_headline_is_the_recall_of_the_demo() -> None:
    counts = score_layers(DEMO.corpus.gold, DEMO.corpus.system("rules")).counts("strict")
    assert counts.recall is not None
    app = opened("Start")
    labels = [link.label for link in app.get("page_link")]
    assert any(f"**{counts.recall:.0%}** of the gold spans exactly" in label for label in labels)


def test_the_example_of_the_headline_is_seen_at_once() -> None:
    rows = [
        ("equal", "troponin level", "PROTEINAS", "troponin level", "DRUGS"),
        ("end differs", "troponin I", "PROTEINAS", "troponin", "PROTEINAS"),
        ("end differs", "cyclic peptide one", "PROTEINAS", "cyclic peptide", "PROTEINAS"),
    ]
    errors = pd.DataFrame(rows, columns=["boundary", "gold_text", "gold_type", "pred_text", "pred_type"])
    assert [plainest_error(errors[:number]) for number in (1, 2, 3)] == [0, 1, 2], "its labels are no longer than spans"


def test_notes_on_the_reading_are_folded_on_overview() -> None:
    text = '{"text": "😀 Ann", "label": [[2, 5, "PER"]]}\n'
    app = upload(opened("Start"), text, text)
    view, _ = read_link(address(app))
    [line] = [one for one in opened("Overview", view).expander if "how the files were read" in one.label]
    assert line.label.startswith("3 notes") and "UTF" in line.caption[0].value and not line.proto.expanded
    assert not [one for one in opened("Overview", VIEW).expander if "how the files were read" in one.label]


def test_an_upload_is_scored_and_linked_by_its_digest() -> None:
    app = upload(opened("Start"), GOLD, PREDICTION, GOLD)
    assert not app.error
    assert list(account(app)["layer"]) == ["gold", "system0", "system1"]
    # What was read says where to go on from there.
    assert any("See the scores" in link.label for link in app.get("page_link"))
    digest = address(app)["corpus"]
    again = opened("Overview", View(corpus=digest, system="system0"))
    assert list(again.dataframe[0].value["INC"]) == [1, 1, 0, 0]


def test_a_link_keeps_its_filters_until_its_corpus_is_uploaded() -> None:
    loaded = load(
        "corpus",
        Source.of_uploads([("gold.jsonl", GOLD.replace("helps", "eases").encode())]),
        {"system0": Source.of_uploads([("p.jsonl", PREDICTION.replace("helps", "eases").encode())])},
    )
    app = opened("Start", View(corpus=loaded.corpus.digest, system="system0", criterion="type", decision=("COR",)))
    assert loaded.corpus.digest[:16] in app.info[0].value
    app = upload(app, GOLD.replace("helps", "eases"), PREDICTION.replace("helps", "eases"))
    assert address(app)["criterion"] == "type" and address(app)["decision"] == "COR"


@pytest.mark.parametrize("page", ["Start", *OURS])
def test_a_bad_upload_is_told_line_by_line_and_leaves_the_page(page: str) -> None:
    app = upload(opened("Start", VIEW), GOLD, BAD)
    assert [re.search(r"line ([0-9]+)", line)[1] for line in problems(app)] == ["1", "2"]
    if page != "Start":
        app = sound(app.switch_page(pages()[page]).run())
        assert shows_records(app), "the corpus at hand is still shown"
    else:
        assert list(account(upload(app, GOLD, PREDICTION))["layer"]) == ["gold", "system0"], "mended files are read"


def test_a_good_system_is_scored_beside_a_bad_one() -> None:
    app = upload(opened("Start"), GOLD, BAD, PREDICTION)
    assert list(account(app)["layer"]) == ["gold", "system1"]
    assert "2 problems" in app.error[0].value


TAGS = "Aspirin\tB-Drug\nhelps\tO\n\n"


def test_a_malformed_tag_is_told_and_repaired_on_request() -> None:
    app = opened("Start")
    drop(app, {"gold.tsv": TAGS.encode(), "system.tsv": TAGS.replace("O", "I-Brand").encode()})
    app = read(app)
    (line,) = problems(app)
    assert line == "'I-Brand' after 'B-Drug' is not legal in IOB2, line 2."
    app.selectbox(key="upload_repair").set_value("conlleval").run()
    app = read(app)
    assert not app.error and list(account(app)["spans"]) == [1, 2]
    assert any("malformed" in caption.value for caption in app.caption)


def test_labels_of_numbered_tags_are_asked_for_and_taken() -> None:
    app = opened("Start")
    raw = b'{"tokens": ["Ann", "met"], "ner_tags": [1, 0]}\n'
    drop(app, {"gold.jsonl": raw, "system.jsonl": raw})
    app = read(app)
    assert any("tags are numbers, and there is no list of labels" in line for line in problems(app))
    app.text_input(key="upload_labels").set_value("O, B-PER, O").run()
    app = read(app)
    assert any(line.startswith("labels: the labels 0 and 2 are both 'O'") for line in problems(app))
    app.text_input(key="upload_labels").set_value("O, B-PER").run()
    app = read(app)
    assert not app.error and list(account(app)["spans"]) == [1, 1]


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe\x00", b"PK\x03\x04broken", b"{", b"[]", b"\0" * 100])
def test_bytes_that_are_no_annotations(raw: bytes) -> None:
    app = upload(opened("Start"), raw, PREDICTION)
    assert "in 1 file" in app.error[0].value and problems(app)


@pytest.mark.parametrize("column", ["COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT"])
def test_a_count_of_overview_opens_its_records(column: str) -> None:
    for row, criterion in enumerate(SCHEMAS):
        view = replace(VIEW, decision=("SPU",))
        app = opened("Overview", view, **{"table_criteria": cell(row, column)})
        value = int(app.dataframe[0].value.at[row, column])
        assert f": {value} record" in headings(app), (criterion, column)
        assert len(app.dataframe[1].value) == value if 0 < value <= ROWS else True


@pytest.mark.parametrize("column", ["P", "R", "F1"])
def test_a_ratio_of_overview_opens_its_formula(column: str) -> None:
    app = opened("Overview", VIEW, **{"table_criteria": cell(2, column)})
    value = app.dataframe[0].value.at[2, column]
    assert "under partial**" in headings(app)
    assert any(code.value.startswith(f"{column} = ") and code.value.endswith(f"= {value:.3f}") for code in app.code)


def test_counts_by_type_open_their_records() -> None:
    corpus = DEMO.corpus
    table = type_table("rules", {"rules": score_layers(corpus.gold, corpus.system("rules"))}, "strict").to_frame()
    for key, heading in (("POS", "POS"), ("MIS", "MIS"), ("pred_INC", "pred INC")):
        for row in range(len(table)):
            app = opened("Overview", VIEW, **{"table_types": cell(row, heading)})
            assert f": {table[key].iat[row]} record" in headings(app)


def test_a_cell_of_confusion_opens_its_records() -> None:
    corpus = DEMO.corpus
    scores = score_layers(corpus.gold, corpus.system("rules"))
    table = confusion_table(
        ledger(scores, "strict", (corpus.gold, corpus.system("rules"))).confusion(), scores.types, ()
    )
    for row in range(len(table.rows)):
        for column, value in enumerate(table.counts.iloc[row]):
            if (row, column) == (len(table.rows) - 1,) * 2:
                continue
            app = opened("Confusion", replace(VIEW, cell=(table.rows[row], table.columns[column])))
            assert f": {value} record" in headings(app)
            assert len(app.dataframe) == (1 if value else 0)
            assert heat_map(app)["chosen"] == [row, column]


def test_what_was_chosen_in_a_table_goes_with_what_it_held() -> None:
    app = opened("Overview", VIEW, table_types=cell(0, "MIS"))
    assert len(app.dataframe) == 3
    assert len(app.run().dataframe) == 3
    app.session_state["view"] = replace(VIEW, criterion="lenient")
    assert len(app.run().dataframe) == 2
    assert app.session_state["table_types"]["selection"]["cells"] == []
    app.session_state["table_types"] = cell(0, "MIS")
    assert len(app.run().dataframe) == 3


def test_the_bars_lead_to_as_many_records_as_they_say() -> None:
    bars = next(data for data in component_data(opened("Overview", VIEW)) if "rows" in data)
    table = opened("Overview", VIEW).dataframe[0].value
    for place, row in enumerate(bars["rows"]):
        assert row["f1"] == f"{table.at[place, 'F1']:.3f}"
        for part in row["parts"]:
            app = opened("Overview", VIEW, table_bars=(row["name"], part["code"]))
            assert title(app) == "Inspect" and address(app).get("criterion", "strict") == row["name"]
            assert listed(app) == int(part["count"])
            assert int(part["count"]) == table.at[place, part["code"]]
    app = opened("Overview", VIEW, table_bars=("partial", "F1"))
    assert "under partial**" in headings(app) and any(code.value.startswith("F1 = ") for code in app.code)


def test_the_headline_has_the_intervals_of_the_comparison() -> None:
    app = opened("Overview", VIEW)
    cards = next(data["cards"] for data in component_data(app) if "cards" in data)
    shown = {card["label"]: card["value"] for card in cards}
    table = app.dataframe[0].value
    assert [shown[name] for name in ("F1", "Precision (P)", "Recall (R)")] == [
        f"{table.at[0, name]:.3f}" for name in ("F1", "P", "R")
    ]
    errors = opened("Inspect", VIEW)
    assert listed(errors) == int(shown["Errors"])
    scores = score_layers(DEMO.corpus.gold, DEMO.corpus.system("rules"))
    row = compare_scores({"rules": scores}, names=["strict"]).intervals.iloc[0]
    assert cards[0]["button"] == f"95% interval {row['f1_low']:.3f} to {row['f1_high']:.3f}"


def test_a_headline_that_is_all_wrong_has_no_interval_of_0_to_0() -> None:
    gold, wrong = ("".join(text.replace("d1", f"d{n}") for n in range(12)) for text in (GOLD, PREDICTION))
    app = opened("Overview", View(corpus=address(upload(opened("Start"), gold, wrong))["corpus"]))
    cards = next(data["cards"] for data in component_data(app) if "cards" in data)
    buttons = {card["label"]: card["button"] for card in cards if "button" in card}
    assert buttons.pop("F1") == "formula"
    assert set(buttons.values()) == {"95% interval 0.000 to 0.242"}


def test_a_number_of_the_headline_opens_and_closes_its_formula() -> None:
    app = opened("Overview", VIEW, list_formula="R")
    cards = next(data["cards"] for data in component_data(app) if "cards" in data)
    assert [card["label"] for card in cards if card.get("open")] == ["Recall (R)"]
    assert app.code[0].value.startswith("R = ") and "Bootstrap interval" in headings(app)
    app.session_state["list_formula"] = ""
    assert not sound(app.run()).code[0].value.startswith("R = ")


def test_the_largest_losses_are_those_of_the_error_classes() -> None:
    app = opened("Overview", VIEW)
    classes = error_report(score_layers(DEMO.corpus.gold, DEMO.corpus.system("rules"))).classes["strict"]
    labels = dict(sentence_links(app))
    (sentence,) = (line for line in sentences(app) if line.startswith("Where it loses"))
    for name, records, gain in classes[["class", "records", "gain"]].head(3).itertuples(index=False):
        assert re.search(rf"{name} {records} \(([^)]*; )?\+{gain:.3f} F1\)", sentence)
        assert listed(opened("Inspect", labels[f"{name} {records}"])) == records


@pytest.mark.parametrize(("page", "acts"), [("Overview", False), ("Inspect", True)])
def test_filters_stand_only_where_they_act(page: str, acts: bool) -> None:
    app = opened(page, replace(VIEW, type=("PROTEINAS",), leaveout=("NORMALIZABLES",)))
    chips = [button.label for button in app.button if str(button.key).startswith(keys.CHIP)]
    assert chips == ["left out: NORMALIZABLES ×", "type: PROTEINAS ×" if acts else "lists hide 1 of 2 types ×"]


@pytest.mark.parametrize("page", ["Overview", "Confusion"])
def test_types_that_lists_hide_are_said_with_the_way_back(page: str) -> None:
    app = opened(page, replace(VIEW, type=("PROTEINAS",)))
    assert "Types: 1 in lists" in menus(app)
    chip = app.button(key=f"{keys.CHIP}types")
    assert "Lists have only PROTEINAS. The numbers here are of all types." in chip.help
    app = sound(chip.click().run())
    assert "type" not in address(app) and "lists hide" not in chips(app) and "Types" in menus(app)


@pytest.mark.parametrize("page", ["Overview", "Confusion", "Systems"])
def test_filters_of_inspect_are_said_elsewhere_with_the_way_back(page: str) -> None:
    view = replace(VIEW, type=("PROTEINAS",), decision=("MIS",), gold=("PROTEINAS",), q="mg")
    app = opened(page, view)
    chip = app.button(key=f"{keys.CHIP}elsewhere")
    assert unmarked(chip.label) == "Inspect lists only decision: missed (MIS); gold: PROTEINAS; 1 more ×"
    app = sound(chip.click().run())
    assert "Inspect lists only" not in chips(app)
    left = address(app)
    assert not {"decision", "gold", "q"} & left.keys() and left["type"] == "PROTEINAS"


def test_an_open_record_is_no_filter() -> None:
    app = opened("Overview", replace(VIEW, doc="en-01", record="g:133-143:PROTEINAS"))
    assert "Inspect lists only" not in chips(app)


def test_the_name_of_a_merged_type_stands_above_the_list_that_would_cover_it() -> None:
    app = opened("Overview", VIEW, menu="types")
    labels = [element.label for element in app.main if getattr(element, "type", "") in ("text_input", "multiselect")]
    assert labels.index("Merged type") < labels.index("takes the place of")


@pytest.mark.parametrize("order", ORDERS)
def test_the_order_stands_in_the_link(order: str) -> None:
    app = opened("Inspect", VIEW)
    app = sound(app.selectbox(key="widget_order").set_value(order).run())
    assert address(app).get("order", "document") == order


def test_all_criteria_expand() -> None:
    app = opened("Overview", VIEW)
    app = sound(app.segmented_control(key="widget_overview_tab").set_value("all-criteria").run())
    assert list(app.dataframe[1].value["criterion"]) == list(APPLICABLE)
    assert address(app)["overview_tab"] == "all-criteria"


@pytest.mark.parametrize("unit", ["counts", "column"])
def test_confusion_is_laid_out_as_asked_and_the_link_says_so(unit: str) -> None:
    app = opened("Confusion", VIEW)
    app = sound(app.segmented_control(key="widget_share").set_value(unit).run())
    app = sound(app.toggle(key="widget_off-diagonal").set_value(True).run())
    assert (address(app)["share"], address(app)["layout"]) == (unit, "off-diagonal")
    shown = heat_map(app)["texts"]
    assert not any(row[place] for place, row in enumerate(shown)) and any(map(any, shown))
    assert all(text.endswith(" %") == (unit == "column") for row in shown for text in row if text)
    app = sound(app.segmented_control(key="widget_share").set_value("").run())
    assert "share" not in address(app) and address(app)["layout"] == "off-diagonal"


@pytest.mark.parametrize("place", [cell(99, "COR"), cell(0, "nothing"), cell(-1, "COR")])
def test_a_selection_outside_the_table_is_passed_over(place: dict[str, object]) -> None:
    opened("Overview", VIEW, **{"table_criteria": place})


def test_errors_leaves_out_the_correct_ones_until_asked() -> None:
    sides = (DEMO.corpus.gold, DEMO.corpus.system("rules"))
    every = ledger(score_layers(*sides), "strict", sides)
    app = opened("Inspect", VIEW)
    assert workbench(app)["count"] == f"{every.total(query_of(VIEW)).records} records"
    label = app.pills[0].options[0]
    app = sound(app.pills[0].set_value("COR").run())
    correct = every.total(Query(decision=("COR",))).records
    assert label == f"✓ {correct}" and listed(app) == correct
    assert address(app)["decision"] == "COR"


@pytest.mark.parametrize("label", ["Gold type", "Predicted type", "Boundaries", "Words", "Period", "Document"])
def test_a_facet_lists_as_many_records_as_it_says(label: str) -> None:
    app = opened("Inspect", VIEW)
    for value, _, number in facets(app)[label]["values"][:4]:
        app = choose_facet(app, label, value)
        assert listed(app) == number and facets(app)[label]["on"] == value
        app = choose_facet(app, label, None)
        assert listed(app) == 60


def test_search_and_clear() -> None:
    app = opened("Inspect", VIEW)
    app = sound(app.text_input(key="widget_q").set_value("boundary:equal").run())
    assert address(app)["q"] == "boundary:equal"
    assert facets(app)["Boundaries"]["on"] == "equal"
    app = sound(app.text_input(key="widget_q").set_value('boundary:"end differs" period:2010s').run())
    assert address(app)["q"] == 'boundary:"end differs" period:2010s'
    app = sound(app.text_input(key="widget_q").set_value("no such words").run())
    assert address(app)["q"] == 'no such words boundary:"end differs" period:2010s'
    assert listed(app) == 0
    app = sound(app.button(key="clear").click().run())
    assert "q" not in app.query_params


SEARCHES = [
    ("boundary:foo", "boundary: 'foo' is not known; choose among equal, start differs"),
    ("words:99", "words: '99' is not known"),
    ("has:foo=1", "has: 'foo' is not known"),
    ("has:class=foo", "has: 'class' is never 'foo'; choose among duplicate"),
]


@pytest.mark.parametrize(("search", "line"), SEARCHES)
def test_what_a_search_cannot_find_is_said_beside_the_box(search: str, line: str) -> None:
    for app in (
        opened("Inspect", replace(VIEW, q=search)),
        sound(opened("Inspect", VIEW).text_input(key="widget_q").set_value(search).run()),
    ):
        assert any(line in unmarked(caption.value) for caption in app.caption)
        assert address(app)["q"] == search and listed(app) == 0


def test_what_is_no_regular_expression_is_said_and_the_list_stays() -> None:
    line = "/(a/ is not a regular expression: missing )"
    # Of a link nothing is left that narrows the list.
    app = opened("Inspect", replace(VIEW, q='/(a/ boundary:"end differs"'))
    assert line.replace("/(a/", "'/(a/'") in unmarked(app.warning[0].value) and "q" in address(app)
    assert listed(app) == listed(opened("Inspect", replace(VIEW, q='boundary:"end differs"'))) > 0
    app = act(opened("Inspect", replace(VIEW, q="peptide")), "j")
    before = address(app), workbench(app)["open"], listed(app)
    app = sound(app.text_input(key="widget_q").set_value("/(a/").run())
    assert any(line in unmarked(caption.value) for caption in app.caption)
    assert app.text_input(key="widget_q").value == "/(a/"
    assert (address(app), workbench(app)["open"], listed(app)) == before
    # Another search opens its first record, with its text.
    app = sound(app.text_input(key="widget_q").set_value("/^[Tt]roponin/").run())
    sent = workbench(app)
    assert sent["open"] == sent["entries"][0][:2] and sent["text"] in sent["texts"] and not sent["whole"]
    assert not any("regular expression" in caption.value for caption in app.caption)


def test_a_list_of_no_records_does_not_turn_into_a_whole_document() -> None:
    app = sound(opened("Inspect", VIEW).text_input(key="widget_q").set_value("no such words").run())
    # The document that it shows has windows, which the workbench asks for.
    app = act(app, "windows", value=[0])
    assert "doc" not in address(app) and not workbench(app)["whole"]
    app = sound(app.text_input(key="widget_q").set_value("troponin").run())
    assert workbench(app)["open"] == workbench(app)["entries"][0][:2]


def test_a_search_finds_words_around_spans_and_regular_expressions() -> None:
    sent = workbench(opened("Inspect", replace(VIEW, q="cyclic peptide")))
    assert any("citrullinated" in span_words(entry) for entry in sent["entries"])
    around = workbench(opened("Inspect", replace(VIEW, q="against")))["entries"]
    assert any(entry[4].startswith("near “") and "against" in entry[4] for entry in around)
    regex = workbench(opened("Inspect", replace(VIEW, q="/^[Tt]roponin/")))["entries"]
    assert regex and all(span_words(entry).casefold().startswith("troponin") for entry in regex)


def test_a_rule_without_its_criterion_is_noticed() -> None:
    app = opened("Inspect", replace(VIEW, rule="half:boundaries=overlap"))
    assert any("the link does not choose its criterion" in warning.value for warning in app.warning)


def test_a_chip_takes_away_what_it_names() -> None:
    app = opened("Inspect", replace(VIEW, type=("PROTEINAS",), criterion="left"))
    chip = next(button for button in app.button if button.label.startswith("type"))
    app = sound(chip.click().run())
    assert parameters(app) == write_link(replace(VIEW, criterion="left"))


def test_scoring_changes_numbers_and_show_does_not() -> None:
    table = opened("Overview", VIEW).dataframe[0].value
    assert opened("Overview", replace(VIEW, type=("PROTEINAS",), decision=("MIS",))).dataframe[0].value.equals(table)
    assert not opened("Overview", replace(VIEW, leaveout=("PROTEINAS",))).dataframe[0].value.equals(table)


def test_all_criteria_are_in_one_list_and_those_that_do_not_apply_say_why() -> None:
    app = opened("Overview", VIEW)
    assert menus(app)[0] == "more"
    app = choose(app, "criterion", "partial")
    assert address(app)["criterion"] == "partial"
    assert not [box for box in app.selectbox if box.key == "widget_criterion"], "nothing is drawn that is not open"
    app = opened("Overview", VIEW, menu="criteria")
    box = app.selectbox(key="widget_criterion")
    names = [option.partition(" · ")[0] for option in box.options]
    assert "left" in names and "core" not in names and "nervaluate-1.2.1" in names
    assert any("core: it needs core terms" in caption.value for caption in app.caption)
    app = sound(box.set_value("left").run())
    assert address(app)["criterion"] == "left" and menus(app)[0] == "left"


@pytest.mark.parametrize("act", ["criterion", "system", "reference"])
def test_a_choice_that_the_bar_does_not_offer_changes_nothing(act: str) -> None:
    app = opened("Overview", VIEW)
    before = address(app)
    assert address(choose(app, act, "no such")) == before


def test_types_are_merged_and_parted_again() -> None:
    app = opened("Overview", VIEW, menu="types")
    app.multiselect(key="merge_members").set_value(["NORMALIZABLES", "NO_NORMALIZABLES"])
    app.text_input(key="merge_name").set_value("drug, any")
    app = sound(app.button(key="merge_add").click().run())
    assert address(app)["merge"] == "NORMALIZABLES,NO_NORMALIZABLES=drug%2C any"
    assert "drug, any" in set(app.dataframe[1].value["type"])
    app = sound(app.button(key="bar_unmerge-drug, any").click().run())
    assert "merge" not in app.query_params


def test_a_choice_of_types_runs_the_page_and_not_first_the_menus(monkeypatch: pytest.MonkeyPatch) -> None:
    fragments: dict[str, str | None] = {}
    draw = st.multiselect

    def note_fragment(*arguments: Any, **options: Any) -> Any:
        fragments[options["key"]] = ThreadState.get().fragment_id
        return draw(*arguments, **options)

    monkeypatch.setattr(st, "multiselect", note_fragment)
    opened("Overview", VIEW, menu="types")
    assert fragments["widget_type"] is None and fragments["widget_leaveout"] is None
    assert fragments["merge_members"], "what is typed before a merge concerns the menu alone"


def test_a_page_switch_keeps_the_view() -> None:
    app = opened("Inspect", replace(VIEW, type=("PROTEINAS",)))
    app = sound(app.switch_page(pages()["Overview"]).run())
    assert address(app)["type"] == "PROTEINAS"


def test_a_record_that_is_open_is_no_chip_on_other_pages() -> None:
    app = opened("Inspect", VIEW)
    doc, record = workbench(app)["entries"][2][:2]
    app = opened("Inspect", replace(VIEW, doc=doc, record=record))
    for name in ("Confusion", "Overview", "Present", "Inspect"):
        app = sound(app.switch_page(pages()[name]).run())
        assert (address(app)["record"], "record" in chips(app)) == (record, False), name


def chips(app: AppTest) -> str:
    return " ".join(button.label for button in app.button if str(button.key).startswith(keys.CHIP))


def test_a_view_too_long_for_a_link_is_kept_and_told() -> None:
    app = opened("Inspect", VIEW, menu="share")
    app = sound(app.text_input(key="widget_q").set_value("x" * 2_100).run())
    assert not app.query_params
    assert any("does not fit a link" in caption.value for caption in app.caption)


HOSTILE = ("<b>x</b>", "**bold** :smile: :red[y]", "=1+1", "a,b;c=d%", "-", "missed (MIS)", "$x$ `y` [z](http://a.b)")


@pytest.fixture(scope="module")
def hostile() -> Iterator[View]:
    """A corpus whose types, texts and document ids try to be markup, formulas and separators."""
    rows = {
        name: "".join(
            json.dumps(
                {
                    "id": f"{kind}{number}",
                    "text": f"{kind} and more",
                    "spans": [{"start": 0, "end": max(1, len(kind) - shift), "label": kind}],
                }
            )
            + "\n"
            for number, kind in enumerate(HOSTILE)
        )
        for name, shift in (("gold", 0), ("=system", 1))
    }
    sources = {name: Source.of_uploads([("a.jsonl", text.encode())]) for name, text in rows.items()}
    loaded = load("<i>name</i>", sources["gold"], {"=system": sources["=system"]})
    caches.shelf().put(loaded)
    yield View(corpus=loaded.corpus.digest, system="=system")


def check_plain(app: AppTest) -> None:
    """Check that no hostile name is shown as the markup that it tries to be."""
    assert not app.warning
    for element in (*app.markdown, *app.caption):
        assert "<b>" not in element.value and ":red[" not in element.value and "**bold**" not in element.value


@pytest.mark.parametrize("page", ["Start", *EVERY])
def test_hostile_names_are_shown_as_they_are(hostile: View, page: str) -> None:
    check_plain(opened(page, replace(hostile, type=HOSTILE, gold=(*HOSTILE, ABSENT))))


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_name_is_chosen_and_searched_for(hostile: View, kind: str) -> None:
    app = opened(
        "Inspect", replace(hostile, type=(kind,), decision=DECISIONS, q=kind, doc=f"{kind}{HOSTILE.index(kind)}")
    )
    check_plain(app)
    assert listed(app) == 1


def test_of_a_long_queue_a_part_is_sent() -> None:
    rows = "".join(
        json.dumps(
            {
                "id": f"d{number}",
                "text": "a b c d e",
                "spans": [{"start": place, "end": place + 1, "label": "T"} for place in (0, 2, 4, 6, 8)],
            }
        )
        + "\n"
        for number in range(300)
    )
    empty = "".join(json.dumps({"id": f"d{number}", "text": "a b c d e", "spans": []}) + "\n" for number in range(300))
    sources = [Source.of_uploads([("a.jsonl", text.encode())]) for text in (rows, empty)]
    loaded = load("many", sources[0], {"none": sources[1]})
    caches.shelf().put(loaded)
    app = opened("Inspect", View(corpus=loaded.corpus.digest))
    assert workbench(app)["count"] == "1,500 records" and len(workbench(app)["entries"]) == 3 * CHUNK
    sent = workbench(act(app, "jump", value=1_234))
    assert sent["at"] == 1_234 and sent["entries"][1_234 - sent["first"]][:2] == sent["open"]
    overview = opened("Overview", View(corpus=loaded.corpus.digest))
    assert overview.dataframe[0].value["P"].isna().all()


def test_the_served_folder_offers_nothing_outside_it(tmp_path: Path) -> None:
    inside, outside = tmp_path / "served", tmp_path / "secret"
    for folder in (inside / "one", outside):
        folder.mkdir(parents=True)
        (folder / "gold.jsonl").write_text(GOLD)
        (folder / "p.jsonl").write_text(PREDICTION)
    (inside / "link").symlink_to(outside)
    (inside / "one" / "sly.jsonl").symlink_to(outside / "p.jsonl")
    (inside / ".hidden").mkdir()
    assert served_folders(inside) == (".", "one")
    assert served_entries(inside, "one") == ("gold.jsonl", "p.jsonl")
    assert served_entries(inside, "../secret") == served_entries(inside, "link") == ()

    def names(folder: str, system: str) -> list[str]:
        return [one.name for one in load(*served_sources(inside, folder, "gold.jsonl", [system])).corpus.systems]

    assert names("one", "p.jsonl") == ["p"]
    (inside / "two").mkdir()
    (inside / "two" / "q.jsonl").write_text(PREDICTION)
    assert [
        one.name for one in load(*served_sources(inside, "one", "gold.jsonl", ["../two/q.jsonl"])).corpus.systems
    ] == ["q"]
    for folder, name in (("one", "sly.jsonl"), ("one", "../../secret/p.jsonl"), ("link", "p.jsonl")):
        with pytest.raises(FormatError, match="outside"):
            names(folder, name)


def test_a_span_as_long_as_its_document_is_cut_short_in_lists() -> None:
    text = "word " * 100_000
    rows = [
        json.dumps({"id": "d", "text": text, "spans": [{"start": 0, "end": end, "label": "T"}]}).encode()
        for end in (400_000, 300_000)
    ]
    sources = [Source.of_uploads([("a.jsonl", row)]) for row in rows]
    loaded = load("long", sources[0], {"system": sources[1]})
    caches.shelf().put(loaded)
    view = View(corpus=loaded.corpus.digest, system="system")
    sent = workbench(opened("Inspect", view))
    (pieces,) = (entry[3] for entry in sent["entries"])
    assert len(pieces) == 2 and all(len(text) < 70 for text, _ in pieces)
    assert len(json.dumps(sent["cards"])) < 20_000 and len(json.dumps(sent["texts"])) < 50_000


@pytest.mark.parametrize(("row", "column"), [(0, "F1"), (1, "P"), (2, "R")])
def test_an_average_opens_its_formula(row: int, column: str) -> None:
    app = opened("Overview", replace(VIEW, overview_tab="averages"), **{"table_averages": cell(row, column)})
    value = app.dataframe[1].value.at[row, column]
    found = [code.value for code in app.code if code.value.startswith(f"{column} = ")]
    assert any(f"= {value:.3f}" in code for code in found)


@pytest.mark.parametrize("column", ["COR", "MIS", "SPU", "ACT", "F1"])
def test_the_documents_of_an_average_open_their_records(column: str) -> None:
    presets = {"table_averages": cell(2, "F1"), "table_documents": cell(4, column)}
    app = opened("Overview", replace(VIEW, overview_tab="averages"), **presets)
    table = next(frame.value for frame in app.dataframe if "document" in frame.value and "COR" in frame.value)
    doc, value = table["document"].iat[4], table[column].iat[4]
    if column == "F1":
        assert any(code.value.endswith(f"= {value:.3f}") for code in app.code) and f"of {plain(doc)} under" in headings(
            app
        )
    else:
        assert f"in {plain(doc)} under strict: {count(int(value), 'record')}" in headings(app)


def links(app: AppTest) -> list[tuple[str, View]]:
    """Return label and view of every link in a page with a number of records in it."""
    found = [link.proto for link in app.get("page_link")]
    return [(one.label, read_link(dict(parse_qsl(one.query_string)))[0]) for one in found if " record" in one.label]


def test_every_number_in_a_link_is_the_number_of_records_listed_there() -> None:
    view, sums = replace(VIEW, type=("PROTEINAS",)), {"list_sum-gold": True, "list_sum-pred": True}
    found = links(opened("Overview", view, list_formula="F1", **sums))
    for ratio in ("P", "R"):
        found += links(opened("Overview", view, list_formula=ratio))
    assert len(found) > 15, "the formula of each ratio and the sums of each side"
    for label, view in found:
        said = int(re.search(r"([\d,]+) record", label)[1].replace(",", ""))
        sides = (DEMO.corpus.gold, DEMO.corpus.system(view.system))
        assert len(ledger(score_layers(*sides), view.criterion, sides).positions(query_of(view))) == said, label


def test_csv_holds_the_signature_and_no_formula() -> None:
    table = pd.DataFrame({"=type": ["=1+1", "@x", "plain"], "P": [0.5, float("nan"), 1.0]})
    rows = list(csv.reader(io.StringIO(csv_of(table, "nereval | strict").decode())))
    assert rows == [
        ["'=type", "P", "signature"],
        ["'=1+1", "0.5", "nereval | strict"],
        ["'@x", "", "nereval | strict"],
        ["plain", "1.0", "nereval | strict"],
    ]
