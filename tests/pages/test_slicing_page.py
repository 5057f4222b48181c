"""The Slices page's own slices: counts open their records, thresholds and columns too, and links keep them."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import parse_qsl

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.calibration import BIN_COLUMNS, RISK_COLUMNS
from nereval_core.analysis.slices.scores_by_slice import SLICE_COLUMNS
from nereval_core.analysis.slices.thresholds import CURVE_COLUMNS
from nereval_core.report.figures.slices import GREY, reliability, risk_curve, slice_intervals, threshold_lines
from pages.shared.components.downloads import table_key
from pages.shared.data import caches
from pages.shared.data.loading import Loaded, load_demo
from pages.shared.slices import LABELS
from pages.shared.view import SLICED_BY, TABS, View, keys
from pages.shared.view.link import read_link
from pages.shared.view.text import count
from tests.analysis.slices.test_slicings import GOLD, PRED
from tests.pages.test_published_pages import loaded_of
from tests.support.pages import address, cell, headings, opened, sentence_links, sentences, sound, unmarked
from tests.support.workbench import listed

BIOLOGY = load_demo("biology")
VIEW = View(corpus=BIOLOGY.corpus.digest, system="rules")


@pytest.fixture(scope="module")
def small() -> Loaded:
    return loaded_of("\n".join(GOLD), "\n".join(PRED), "a.jsonl")


def scores_of(loaded: Loaded) -> View:
    return View(corpus=loaded.corpus.digest, system="system", slices_tab="scores")


def followed(app: AppTest) -> int:
    """Follow the link of the count that is open; return how many records Inspect lists."""
    link = next(link.proto for link in app.get("page_link") if "Open in Inspect" in link.label)
    there = opened("Inspect", read_link(dict(parse_qsl(link.query_string)))[0])
    return listed(there)


def test_the_page_says_which_slice_is_worst_and_its_numbers_are_links() -> None:
    app = opened("Slices", VIEW)
    assert list(app.dataframe[0].value["slice"]) == ["2-3", "4-6", "7-10", "11-15", "16-25", "26-50"]
    assert any("F1 is lowest for 16-25" in sentence for sentence in sentences(app))
    assert {"41", "38"} <= set(dict(sentence_links(app)))


def line(document: str, right: int, wrong: int, name: str) -> tuple[str, str]:
    """Return a document of 1820, 1830 or 1840 in gold and as a system has it, with spans it finds and misses."""
    text = "Ann " * (right + wrong)
    spans = [{"start": 4 * at, "end": 4 * at + 3, "label": "PER"} for at in range(right + wrong)]
    meta = {"id": document, "text": text, "meta": {"date": name}}
    kinds = ["PER"] * right + ["LOC"] * wrong
    pred = [span | {"label": kind} for span, kind in zip(spans, kinds, strict=True)]
    return json.dumps({**meta, "spans": spans}), json.dumps({**meta, "spans": pred})


def dated(*rows: tuple[str, str]) -> AppTest:
    loaded = loaded_of(*("\n".join(side) for side in zip(*rows, strict=True)), "a.jsonl")
    return opened("Slices", View(corpus=loaded.corpus.digest, system="system", slice_by="period"))


def test_the_lowest_slice_says_among_which_it_is_where_some_are_too_small() -> None:
    rows = line("a", 20, 10, "1820"), line("b", 28, 2, "1830"), line("c", 1, 4, "1840")
    words = "F1 is lowest for 1820s, 0.667 with"
    least = f"Of slices with at least 20 gold spans and as many predictions, {words}"
    assert any(sentence.startswith(least) for sentence in sentences(dated(*rows)))
    (sentence,) = (sentence for sentence in sentences(dated(*rows[:2])) if words in sentence)
    assert "Of slices" not in sentence


def test_a_table_says_why_f1_has_no_interval() -> None:
    app = dated(*(line(f"{year}-{at}", 10 + at, 3, year) for year in ("1820", "1830") for at in range(5)))
    assert app.dataframe[0].value["F1 95%"].isna().all() and app.dataframe[0].value["P 95%"].notna().all()
    why = "No interval for F1, as the slice is in fewer than 10 documents, or all right or all wrong: 1820s, 1830s"
    assert any(why in unmarked(caption.value) for caption in app.caption)
    assert any("Wilson's intervals for P and R, and none for F1" in unmarked(caption.value) for caption in app.caption)


@pytest.mark.parametrize(("row", "column"), [(1, "gold COR"), (4, "MIS"), (2, "ACT"), (3, "POS")])
@pytest.mark.parametrize("name", ["length", "shape", "meta language"])
def test_a_count_of_a_slice_opens_its_records(name: str, row: int, column: str) -> None:
    row = 0 if name.startswith("meta") else row
    view = VIEW if name.startswith("meta") else replace(VIEW, slice_by=name)
    state = {keys.SLICING: name} if name.startswith("meta") else {}
    app = opened("Slices", view, **state, table_slices=cell(row, column))
    value = int(app.dataframe[0].value[column].iat[row])
    assert f": {count(value, 'record')}**" in headings(app)
    assert followed(app) == value


def test_a_ratio_of_a_slice_opens_its_formula() -> None:
    for column in ("P", "R", "F1"):
        app = opened("Slices", VIEW, table_slices=cell(1, column))
        value = app.dataframe[0].value[column].iat[1]
        assert any(code.value.startswith(f"{column} = ") and code.value.endswith(f"{value:.3f}") for code in app.code)


def test_what_to_slice_by_is_kept() -> None:
    app = opened("Slices", VIEW)
    app = sound(app.selectbox(key="widget_slice_by").set_value("tokens").run())
    assert list(app.dataframe[0].value["slice"]) == ["1", "2", "3", "4", "5", "6+"]
    assert (address(app)["overview_tab"], address(app)["slice_by"]) == ("by-slice", "tokens")
    for word in ("scores", "worst-slices", "by-value"):
        app = sound(app.segmented_control(key="widget_slices_tab").set_value(word).run())
        assert (address(app)["slice_by"], address(app).get("slices_tab", "by-value")) == ("tokens", word)
    assert list(opened("Slices", read_link(address(app))[0]).dataframe[0].value["slice"]) == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "6+",
    ]
    app = sound(app.selectbox(key="widget_slice_by").set_value("meta language").run())
    assert "slice_by" not in address(app) and list(app.dataframe[0].value["slice"]) == ["en"]


def test_a_link_has_a_word_for_every_view_and_slicing() -> None:
    assert (*LABELS,) == ("by-value", *TABS["slices_tab"])
    with_argument = ("seen", "head", "year", "meta", "column")
    plain_names = [name for name, one in slicings.SLICINGS.items() if one.listed and name not in with_argument]
    assert tuple(plain_names) == SLICED_BY


def test_a_combination_opens_its_gold_spans() -> None:
    view = replace(VIEW, slices_tab="worst-slices")
    app = opened("Slices", view, table_worst=cell(1, "POS"))
    table = app.dataframe[0].value
    assert table["p"].is_monotonic_increasing and len(table) > 20
    assert f": {count(int(table['POS'].iat[1]), 'record')}**" in headings(app)
    assert followed(app) == table["POS"].iat[1]
    assert any("combinations" in sentence for sentence in sentences(app))


def more(app: AppTest, kind: str, *files: tuple[str, str]) -> AppTest:
    app.session_state["slices_more"] = True
    app = sound(app.run())
    known = keys.BESIDE_LOADS in app.session_state
    number = app.session_state[keys.BESIDE_LOADS] if known else 0
    raw = [(name, text.encode(), "text/plain") for name, text in files]
    return sound(
        app.file_uploader(key=f"slices_{kind}_{number}").set_value(raw if kind == "training" else raw[0]).run()
    )


def test_columns_of_ones_own_are_sliced_by_and_opened() -> None:
    rows = "".join(
        f"{one},{'odd' if number % 2 else 'even'}\n" for number, one in enumerate(BIOLOGY.corpus.documents.ids)
    )
    app = more(opened("Slices", VIEW), "columns", ("own.csv", "document,parity\n" + rows))
    name = app.session_state[keys.SLICING]
    assert slicings.slicing_title(name) == "Your column parity"
    assert list(app.dataframe[0].value["slice"]) == ["even", "odd"] and not app.error
    state = {key: app.session_state[key] for key in (keys.SLICING, keys.COLUMNS)}
    again = opened("Slices", VIEW, **state, table_slices=cell(1, "POS"))
    assert followed(again) == again.dataframe[0].value["POS"].iat[1]


def test_bad_columns_are_told_line_by_line() -> None:
    app = more(opened("Slices", VIEW), "columns", ("own.csv", "document,x\nnowhere,1\n"))
    assert [code.value.partition(";")[0] for code in app.code if code.value.startswith("own.csv")] == [
        "own.csv:2: there is no document 'nowhere'"
    ]
    assert app.dataframe and keys.COLUMNS not in app.session_state


def test_training_data_tells_seen_spans() -> None:
    training = (BIOLOGY.sources["annotator-1"].files[0].text(), "train.jsonl")
    app = more(opened("Slices", VIEW), "training", (training[1], training[0]))
    assert app.session_state[keys.SLICING].startswith("seen ")
    assert list(app.dataframe[0].value["slice"]) == ["with this type", "with another type", "unseen"]


def opened_tests(table: str = "", *at: object) -> AppTest:
    """Open the tests of slices with a cell chosen; the table of slices is the first, that of tests the second."""
    state = {f"table_{table}": cell(*at)} if table else {}
    return opened("Slices", VIEW, **{f"{keys.LIST}differing": True}, **state)


@pytest.mark.parametrize("column", ["POS", "ACT"])
def test_a_count_of_a_tested_slice_opens_its_records(column: str) -> None:
    app = opened_tests("apart", 2, column)
    value = int(app.dataframe[1].value[column].iat[2])
    assert f": {count(value, 'record')}**" in headings(app) and followed(app) == value
    app = opened_tests("changes", 1, column)
    value = int(app.dataframe[2].value[column].iat[1])
    assert f": {count(value, 'record')}**" in headings(app) and followed(app) == value


@pytest.mark.parametrize(
    ("table", "column", "lines"),
    [
        ("apart", "value", 1),
        ("apart", "the rest's", 1),
        ("apart", "difference", 2),
        ("changes", "value", 1),
        ("changes", "baseline's", 1),
    ],
)
def test_a_ratio_of_a_tested_slice_opens_its_formula(table: str, column: str, lines: int) -> None:
    app = opened_tests(table, 2, column)
    row = app.dataframe[1 if table == "apart" else 2].value.iloc[2]
    made = [code.value for code in app.code if code.value.startswith("F1 = ")]
    shown = ["value", "the rest's"] if column == "difference" else [column]
    assert [one.rpartition(" ")[2] for one in made] == [f"{row[name]:.3f}" for name in shown] and len(made) == lines


def test_a_change_opens_the_spans_that_one_system_alone_gets_right() -> None:
    app = opened_tests("changes", 2, "difference")
    row = app.dataframe[2].value.iloc[2]
    better = row["system"] if row["difference"] > 0 else "rules"
    assert f"Gold spans that only {better} gets right: " in headings(app).replace("\\", "") and followed(app) > 0


def test_the_page_says_which_slices_differ_from_the_rest() -> None:
    app = opened_tests()
    table = app.dataframe[1].value
    assert "Span length in characters" in set(table["by"]) and (table["difference"].notna()).all()
    said = "\n".join(sentences(app))
    assert "after Holm; it has " in said
    assert any(one.value.startswith("Family\\:") for one in app.caption)
    again = sound(app.multiselect(key=f"{keys.WIDGET}tested").set_value(["length"]).run())
    assert set(again.dataframe[1].value["by"]) == {"Span length in characters"}
    assert len(sound(app.multiselect(key=f"{keys.WIDGET}tested").set_value([]).run()).dataframe) == 1


def test_a_year_is_sliced_by() -> None:
    app = opened("Slices", View(corpus=load_demo("newspapers").corpus.digest, system="rules"))
    app.session_state["slices_more"] = True
    app = sound(app.run())
    app = sound(app.number_input(key="slices_year_input").set_value(1850).run())
    assert list(app.dataframe[0].value["slice"]) == ["before 1850", "1850 or later"]


@pytest.mark.parametrize("column", ["COR", "INC", "MIS", "SPU", "POS", "ACT"])
@pytest.mark.parametrize("row", [0, 2])
def test_a_count_at_a_threshold_opens_its_records(small: Loaded, row: int, column: str) -> None:
    view = scores_of(small)
    app = opened("Slices", view, table_thresholds=cell(row, column))
    value = int(app.dataframe[0].value[column].iat[row])
    assert list(app.dataframe[0].value["score at least"]) == ["0.3", "0.95", "1"]
    assert f": {count(value, 'record')}**" in headings(app)
    assert followed(app) == value


def test_a_point_of_the_curve_opens_the_predictions_that_stay(small: Loaded) -> None:
    view = scores_of(small)
    key = table_key("table_thresholds_figure", replace(view, overview_tab="by-slice"))
    app = opened("Slices", view, **{key: {"selection": {"points": [{"customdata": [1]}]}}})
    assert f"ACT with scores of at least 0\\.95, under strict: {count(3, 'record')}**" in headings(app)


def test_a_tenth_of_the_scores_opens_its_predictions(small: Loaded) -> None:
    view = scores_of(small)
    app = opened("Slices", view, table_calibration=cell(1, "ACT"))
    assert list(app.dataframe[1].value["score"]) == ["0.3-0.4", "0.9-1.0"]
    assert f": {count(2, 'record')}**" in headings(app) and followed(app) == 2


def test_the_scores_can_be_read_in_bins_of_equal_mass(small: Loaded) -> None:
    app = opened("Slices", scores_of(small))
    app = sound(app.segmented_control(key="calibration_bins").set_value("equal mass").run())
    assert list(app.dataframe[1].value["score"]) == ["0.3", "0.95", "1"]
    said = headings(app)
    assert "Expected calibration error in bins of equal mass 0\\.750" in said and "in bins of equal width" not in said
    assert "Area under the risk\\-coverage curve" in said and "against" in said
    again = opened("Slices", scores_of(small), calibration_bins="equal mass", table_calibration=cell(2, "ACT"))
    assert f": {count(1, 'record')}**" in headings(again) and followed(again) == 1


def test_log_probabilities_have_no_errors_on_the_page() -> None:
    loaded = loaded_of("\n".join(GOLD), "\n".join(PRED).replace("0.95", "-0.05"), "a.jsonl")
    app = opened("Slices", scores_of(loaded))
    assert any("outside 0 to 1" in info.value for info in app.info)
    assert list(app.dataframe[1].value["score"]) == ["-0.05", "0.3", "1"] and "Brier score 0" not in headings(app)


def test_by_token_only_documents_are_sliced() -> None:
    app = opened("Slices", View(corpus=VIEW.corpus, system="rules", criterion="fragment"))
    assert app.selectbox(key="widget_slice_by").options == [
        slicings.slicing_title(name) for name in ("document-length", "spans", "meta language")
    ]
    row = app.dataframe[0].value
    assert row["POS"].sum() == sum(
        counts.pos for counts in caches.scores(BIOLOGY, "rules", caches.as_read(BIOLOGY)).by_type("fragment").values()
    )


def table_of(columns: object, *rows: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([dict.fromkeys(columns, 0.5) | row for row in rows])  # type: ignore[call-overload]


def test_figures_hold_their_tables_and_grey_what_is_little() -> None:
    many = {"slice": "<b>a</b>", "POS": 40, "ACT": 40, "documents": 12, "f1": 0.75, "f1_low": 0.5, "f1_high": 1.0}
    table = table_of(SLICE_COLUMNS, many, many | {"slice": "b", "POS": 3}, many | {"slice": "c", "POS": 0})
    figure = slice_intervals(table, "<i>s</i>", "axis", 20, 30)
    traces = {(trace.name, trace.marker.color == GREY): trace for trace in figure.data}
    assert [place[0] for place in traces["F1", False].customdata] == ["<b>a</b>"]
    assert [place[0] for place in traces["R", True].customdata] == ["b"]
    assert [place[0] for place in traces["P", False].customdata] == ["<b>a</b>", "b", "c"]
    assert list(traces["F1", False].y) == [0.75] and list(traces["F1", False].error_y.array) == [0.25]
    assert figure.layout.xaxis.ticktext[0] == "&lt;b&gt;a&lt;/b&gt;<br>40 / 40"
    assert "&lt;i&gt;s&lt;/i&gt;" in figure.layout.title.text and "43 gold spans" in figure.layout.title.text
    curve = threshold_lines(table_of(CURVE_COLUMNS, {"threshold": 0.1, "ACT": 5, "POS": 4}), "s", 2)
    assert list(curve.data[0].x) == [0.1] and "4 gold spans, 5 predictions, 2 without" in curve.layout.title.text
    tenths = table_of(BIN_COLUMNS, {"slice": "0.1-0.2", "ACT": 30, "small": False, "precision_low": 0.25})
    drawn = reliability(tenths, "s", "error <0.1", 20, diagonal=True)
    assert (list(drawn.data[0].x), list(drawn.data[0].y)) == ([0, 1], [0, 1])
    assert list(drawn.data[1].error_y.arrayminus) == [0.25] and "error &lt;0.1" in drawn.layout.title.text
    # Scores that are no probabilities have no diagonal.
    assert len(reliability(tenths, "s", "", 20, diagonal=False).data) == 2
    risk = risk_curve(table_of(RISK_COLUMNS, {"ACT": 3, "risk": 0.25, "coverage": 1.0}), "s", 0.125, 0.25)
    assert list(risk.data[0].y) == [0.25] and "area 0.125, 0.250 at random; n = 3 pred" in risk.layout.title.text
