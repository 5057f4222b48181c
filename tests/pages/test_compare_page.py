"""The Compare page: its numbers are those of the library, and each F1 opens what it is made of."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pandas as pd
import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from nereval_core.analysis import resampling_units
from nereval_core.analysis.comparison import against, compare_scores, headline, oriented, ranking_sentences
from nereval_core.analysis.comparison.measures import MEASURES
from nereval_core.analysis.comparison.tables import score_table
from nereval_core.analysis.methods import methods
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.api.load_options import LoadOptions
from nereval_core.ledger import ledger
from nereval_core.ledger.attributes.comparisons import BOTH_RIGHT, BOTH_WRONG, ONLY_OTHER, ONLY_THIS
from nereval_core.readers import Source
from nereval_core.report.colours import system_hues
from nereval_core.report.figures.comparison import brackets, difference_dots, leaderboard
from nereval_core.scoring import score_layers
from nereval_core.scoring.criteria import SCHEMAS
from nereval_core.tables import Table, columns_of
from pages.shared.components import downloads, navigation
from pages.shared.components.downloads import file_of
from pages.shared.components.tables import ROWS
from pages.shared.data import caches
from pages.shared.data.loading import load
from pages.shared.systems import ranking, tables
from pages.shared.systems.pair import difference_words
from pages.shared.view import View, keys, state
from pages.shared.view.link import read_link
from pages.shared.view.queries import query_of
from pages.shared.view.text import plain
from tests.pages.test_published_pages import FOUND, TAGS, loaded_of
from tests.support.pages import DEMO, VIEW, address, cell, opened, sentence_links, sentences, sound, unmarked, upload
from tests.support.workbench import listed

SYSTEMS = ("rules", *sorted({layer.name for layer in DEMO.corpus.systems} - {"rules"}))
RANKED = replace(VIEW, layout=("with-annotators",))
"""Annotators' layers are ranked too, which makes four."""
TABS = ("", "types-of-systems", "across-criteria", "all-pairs")
FULL = replace(RANKED, corpus=DEMO.corpus.digest)


def texts(app: AppTest) -> str:
    values = [element.value for kind in ("markdown", "caption", "code") for element in getattr(app, kind)]
    return "\n".join([*values, *sentences(app)])


def test_the_tables_are_those_of_the_library() -> None:
    apps = {tab: opened("Systems", replace(RANKED, systems_tab=tab)) for tab in TABS}
    app = apps[""]
    scores = {name: score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in sorted(SYSTEMS)}
    found = compare_scores(scores, plan=ResamplingPlan(), by_type=True)
    whole, against = found.intervals[found.intervals["type"].isna()], oriented(found.pairs, "rules")
    shown = {
        (tab, str(frame.key).removeprefix("table_compare_")): frame.value
        for tab, one in apps.items()
        for frame in one.dataframe
    }
    strict = whole[whole["criterion"] == "strict"].sort_values("f1", ascending=False)
    order = strict["system"].tolist()
    wide = score_table("F1", whole, against, found.leads, 0.95).to_frame().set_index("system").loc[order].reset_index()
    pd.testing.assert_frame_equal(shown["", "scores"], wide, check_dtype=False)
    differences = shown["", "differences"]
    assert differences["system"].tolist() == [name for name in order if name != "rules"]
    strict = against[against["criterion"] == "strict"].set_index("system")
    assert differences["difference"].tolist() == strict.loc[differences["system"], "difference"].tolist()
    kinds = found.intervals[found.intervals["type"].notna() & found.intervals["criterion"].eq("strict")]
    assert shown["types-of-systems", "types"].columns.tolist() == ["system", *kinds["type"].unique()]
    order_of_criteria, places = (frame.value for frame in apps["across-criteria"].dataframe[-2:])
    assert order_of_criteria["criterion"].tolist() == list(SCHEMAS)
    places = places.set_index("system")
    assert places["strict"].tolist() == [1, 2, 3, 4] and places.columns.tolist() == list(SCHEMAS)
    assert shown["all-pairs", "pairs"].columns.tolist() == ["system", *sorted(SYSTEMS)]
    opening = headline(found.intervals, ResamplingPlan(), found.units)
    assert opening is not None and found.words[0] == f"{opening.before}{opening.f1}{opening.after}"
    (sentence,) = (line for line in sentences(app) if f"{opening.f1}{opening.after}." in line)
    assert sentence[1:] == f"{opening.before}{opening.f1}{opening.after}."[1:]
    assert dict(sentence_links(app))[opening.f1].system == opening.system
    for line in ranking_sentences(found):
        assert plain(f"{line[0].upper()}{line[1:]}.", 1_000) in texts(app)


def test_an_f1_opens_its_records() -> None:
    key = "table_compare_scores"
    app = opened("Systems", RANKED, **{key: cell(2, "partial")})
    system = SYSTEMS[2]
    counts = score_layers(DEMO.corpus.gold, DEMO.corpus.system(system)).counts("partial")
    assert f"**F1 of {plain(system)} under partial**" in texts(app)
    links = {link.label: dict(parse_qsl(link.proto.query_string)) for link in app.get("page_link")}
    said = [label for label in links if label.startswith(":primary[") and "record" in label]
    assert len(said) == 4
    for label, number in zip(said, (counts.cor, counts.par, counts.pos, counts.act), strict=True):
        assert f": {number:,} record" in label
        view, wrong = read_link(links[label])
        assert (view.system, view.criterion, wrong) == (system, "partial", ())
        scores = score_layers(DEMO.corpus.gold, DEMO.corpus.system(system))
        both = (DEMO.corpus.gold, DEMO.corpus.system(system))
        assert ledger(scores, "partial", both).total(query_of(view)).records == number
    assert any(label.startswith(":primary[Overview of") for label in links)


@pytest.mark.parametrize(
    ("tab", "table", "row", "column"),
    [("", "differences", 0, "p"), ("types-of-systems", "types", 0, None), ("all-pairs", "pairs", 0, "rules")],
)
def test_cells_say_interval_and_p(tab: str, table: str, row: int, column: str | None) -> None:
    app = opened("Systems", replace(RANKED, systems_tab=tab))
    frame = next(one for one in app.dataframe if str(one.key).startswith(f"table_compare_{table}"))
    name = column or str(frame.value.columns[1])
    again = opened("Systems", replace(RANKED, systems_tab=tab), **{str(frame.key): cell(row, name)})
    said = r"after Holm\\'s correction over \d+ tests"
    assert re.search(said, texts(again)) and not re.search(said, texts(app))


def test_all_criteria_are_compared_on_request() -> None:
    view = replace(RANKED, overview_tab="all-criteria", layout=("all-criteria", "with-annotators"), criterion="right")
    app = opened("Systems", view)
    assert table_with(app, "system", "fragment").columns[1] == "right"
    app = opened("Systems", replace(view, systems_tab="across-criteria"))
    assert len(app.dataframe[0].value) > len(SCHEMAS)


def table_with(app: AppTest, *columns: str, without: str = "") -> pd.DataFrame:
    """Return the first table that has these columns, and not the other."""
    tables = (table.value for table in app.dataframe)
    return next(table for table in tables if {*columns} <= {*table.columns} and without not in table.columns)


def test_tau_between_all_criteria_is_there_for_who_looks() -> None:
    app = opened("Systems", replace(RANKED, systems_tab="across-criteria"), list_taus=True)
    shown = table_with(app, "criterion", *SCHEMAS)
    assert shown["criterion"].tolist() == list(SCHEMAS) and shown.columns.tolist() == ["criterion", *SCHEMAS]
    assert shown["strict"].iat[0] == 1


def test_one_system_is_shown_alone_and_few_documents_are_warned_of() -> None:
    gold = '{"id": "d1", "text": "Aspirin eases.", "spans": [{"start": 0, "end": 7, "label": "system"}]}\n'
    app = upload(opened("Start"), gold, gold)
    view = View(corpus=address(app)["corpus"])
    app = opened("Systems", view)
    assert "one system only" in app.info[0].value
    assert "no interval and no test: F1 rests on one document alone" in texts(app)
    assert app.dataframe[0].value["strict"].tolist() == ["1.000"]
    # A type may be called as a column is.
    app = opened("Systems", replace(view, systems_tab="types-of-systems"))
    assert app.dataframe[0].value.columns.tolist() == ["(system)", "system"]


@pytest.mark.parametrize("kind", [None, "NORMALIZABLES"])
def test_a_p_opens_the_gold_spans_that_only_one_gets_right(kind: str | None) -> None:
    """From the p value to the list is one click, to the text a second, to the document a third."""
    tab, name = ("", "differences") if kind is None else ("types-of-systems", "types")
    app = opened("Systems", replace(RANKED, systems_tab=tab))
    frame = next(one for one in app.dataframe if str(one.key).startswith(f"table_compare_{name}"))
    row = frame.value["system"].tolist().index("perceptron")
    chosen = {str(frame.key): cell(row, "p" if kind is None else kind)}
    again = opened("Systems", replace(RANKED, systems_tab=tab), **chosen)
    one, other = (score_layers(DEMO.corpus.gold, DEMO.corpus.system(each)) for each in ("rules", "perceptron"))
    right = [scores.decisions("strict")[0] == 0 for scores in (one, other)]
    gold = DEMO.corpus.gold
    of_kind = gold.type >= 0 if kind is None else gold.type == gold.types.index(kind)
    only = [int((right[0] & ~right[1] & of_kind).sum()), int((right[1] & ~right[0] & of_kind).sum())]
    links = {link.label: dict(parse_qsl(link.proto.query_string)) for link in again.get("page_link")}
    labels = [label for label in links if label.startswith(":primary[only ")]
    assert [label.partition(": ")[2].partition(" gold span")[0] for label in labels] == list(map(str, only))
    for label, number in zip(labels, only, strict=True):
        errors = opened("Inspect", read_link(links[label])[0])
        assert listed(errors) == number
    apart = again.dataframe[[str(each.key).startswith("list_compare_apart") for each in again.dataframe].index(True)]
    assert len(apart.value) == min(only[0], ROWS), "rules is better: what it alone gets right is listed"


def test_one_difference_is_opened_from_two_tables_at_once() -> None:
    app = opened("Systems", RANKED)
    chosen = {}
    for name, column in (("scores", "strict"), ("differences", "p")):
        frame = next(one for one in app.dataframe if str(one.key).startswith(f"table_compare_{name}"))
        chosen[str(frame.key)] = cell(frame.value[frame.value.columns[0]].tolist().index("perceptron"), column)
    lists = [
        one for one in opened("Systems", RANKED, **chosen).dataframe if str(one.key).startswith("list_compare_apart")
    ]
    assert len(lists) == 2 and lists[0].value.equals(lists[1].value)


def test_of_many_documents_fewer_resamples_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling_units, "MANY_DOCUMENTS", 19)
    app = opened("Systems", RANKED)
    assert "2,000 resamples" in texts(app) and "10,000 resamples" not in texts(app)
    app = opened("Systems", replace(RANKED, systems_tab="types-of-systems"))
    assert not any(str(one.key).startswith("table_compare_types") for one in app.dataframe)
    app = sound(next(one for one in app.toggle if one.label == "Compare by type").set_value(True).run())
    assert any(str(one.key).startswith("table_compare_types") for one in app.dataframe)


def test_brackets_between_neighbours_of_a_facet_are_long_enough_to_be_seen() -> None:
    """With four systems a type they were eight pixels long, between rows of ten."""
    types, f1s = [f"type {number}" for number in range(5)], (0.8, 0.6, 0.4, 0.2)
    rows = pd.DataFrame([(name, kind, f1) for kind in types for name, f1 in zip(SYSTEMS, f1s, strict=True)])
    rows = rows.set_axis(["system", "type", "f1"], axis=1).assign(criterion="strict", POS=40, units=20)
    rows = rows.assign(f1_low=rows["f1"] - 0.05, f1_high=rows["f1"] + 0.05)
    best, second = list(SYSTEMS)[:2]
    apart = pd.DataFrame([(best, second, 0.2, 0.01, kind) for kind in types])
    apart = apart.set_axis(["system", "baseline", "difference", "p_holm", "type"], axis=1)
    figure = leaderboard(rows, "how", apart=apart, facet="type")
    bracket = figure.data[-1]
    low, high = sorted(figure.layout.yaxis.range)
    plot = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    assert abs(bracket.y[2] - bracket.y[1]) * plot / (high - low) >= 12


def test_the_leaderboard_has_the_best_on_top() -> None:
    scores = {name: score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in SYSTEMS}
    table = compare_scores(scores, plan=ResamplingPlan(resamples=200)).intervals
    rows = table[table["criterion"] == "strict"]
    undefined = rows.iloc[[0]].assign(system="<b>none", f1=float("nan"), rank=None)
    apart = pd.DataFrame({"system": ["annotator-1"], "baseline": ["rules"], "difference": [0.2], "p_holm": [0.01]})
    rows_and_none = pd.concat([undefined, rows], ignore_index=True)
    figure = leaderboard(rows_and_none, "how\nand <why>", apart=apart, pair=("rules", ""))
    assert figure.layout.title.text.endswith("; how<br>and &lt;why&gt;</sub>")
    assert figure.layout.title.text.startswith(
        "F1 of 5 systems under strict<br><sub>F1, at best 1; n = 157 gold spans in"
    )
    best = rows.sort_values("f1", ascending=False)
    labels = [f"<b>A</b> {name}" if name == "rules" else name for name in best["system"]]
    assert figure.layout.yaxis.ticktext == (*labels, "&lt;b&gt;none")
    *marked, bracket = figure.data
    assert bracket.hovertext[0].startswith("annotator-1 is significantly better than rules: +0.2000 F1")
    assert [round(y) for y in bracket.y[:4]] == [0, 0, 1, 1]
    marks = {
        system[0]: (x, place, high, low)
        for trace in marked
        for system, x, place, high, low in zip(
            trace.customdata, trace.x, trace.y, trace.error_x.array, trace.error_x.arrayminus, strict=True
        )
    }
    assert marks == {
        row["system"]: (row["f1"], place, row["f1_high"] - row["f1"], row["f1"] - row["f1_low"])
        for place, row in enumerate(best.to_dict("records"))
    }


def test_what_is_printed_has_the_best_in_bold() -> None:
    """Spreadsheets get the long table, papers the one that is shown."""
    app = opened("Systems", RANKED, menu="export")
    assert {"csv_compare_scores", "latex_compare_scores"} <= {str(button.key) for button in app.get("download_button")}
    sheet = Table(
        "F1", columns_of("system", "strict"), (("a", "0.5†"), ("b", "0.6")), ("signature",), frozenset({(1, 1)})
    )
    long = pd.DataFrame({"system": ["a"], "p": [0.5]})
    made = {
        form: file_of(form, lambda: (long,), "s", "n", lambda: (sheet,)).decode() for form in ("csv", "latex", "html")
    }
    assert made["csv"].splitlines()[0] == "system,p,signature"
    assert r"a & 0.5$^\dagger$ \\" in made["latex"] and r"b & \textbf{0.6} \\" in made["latex"]
    assert "<td><strong>0.6</strong></td>" in made["html"]


def test_each_gold_span_stands_in_one_of_four_counts() -> None:
    app = opened("Systems", replace(VIEW, beside="perceptron"))
    choice = next(control for control in app.segmented_control if control.label.startswith("Gold spans by which"))
    counts = [int(option.rpartition(": ")[2].replace(",", "")) for option in choice.options]
    names = [option.rpartition(": ")[0] for option in choice.options]
    assert names == ["only rules right", "only perceptron right", "both right", "neither right"]
    assert sum(counts) == len(DEMO.corpus.gold)
    assert f"**Gold spans, only rules right: {counts[0]} records**" in texts(app), "rules is the better one"
    for value, number in zip((ONLY_THIS, ONLY_OTHER, BOTH_RIGHT, BOTH_WRONG), counts, strict=True):
        app = sound(choice.set_value(value).run())
        assert f": {number} record" in next(text for text in texts(app).split("\n") if "**Gold spans, " in text)
        links = {link.proto.query_string for link in app.get("page_link") if "Open in Inspect" in link.label}
        view, wrong = read_link(dict(parse_qsl(links.pop())))
        assert not wrong and not links and listed(opened("Inspect", view)) == number


def test_annotators_are_ranked_by_choice() -> None:
    bare, chosen = (opened("Systems", view) for view in (VIEW, RANKED))
    assert "annotator" not in texts(bare) and "perceptron" in texts(bare)
    assert "annotator-1 has the highest F1" in texts(chosen)
    toggle = next(one for one in bare.toggle if one.label == "Annotators too")
    assert not toggle.value and address(sound(toggle.set_value(True).run()))["layout"] == "with-annotators"
    # Who chooses an annotator as the system sees all.
    assert "annotator" in texts(opened("Systems", replace(VIEW, system="annotator-1")))


def test_a_system_has_the_same_hue_on_every_page_whoever_is_ranked() -> None:
    figures = [
        json.loads(chart.proto.spec)
        for app in (
            opened("Systems", VIEW),
            opened("Systems", RANKED),
            opened("Systems", replace(VIEW, systems_tab="types-of-systems")),
            opened("Slices", VIEW),
        )
        for chart in app.get("plotly_chart")
        if any(name in chart.proto.id for name in ("table_ranking", "table_slice_systems"))
    ]
    assert len(figures) == 4
    hues = {
        trace["marker"]["color"]
        for figure in figures
        for trace in figure["data"]
        if re.sub(r"<b>[AB]</b> ", "", trace["name"]) == "rules"
    }
    assert hues == {system_hues(SYSTEMS)["rules"]}


def test_a_pair_has_one_sign_and_one_p_on_a_page() -> None:
    """The sentence, the table and the figure are all the other system less the chosen one."""
    app = opened("Systems", replace(RANKED, beside="annotator-2"))
    scores = {name: score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in sorted(SYSTEMS)}
    found = compare_scores(scores)
    rows = oriented(found.pairs, "rules")
    row = rows[rows["system"].eq("annotator-2") & rows["criterion"].eq("strict")].iloc[0]
    assert plain(difference_words(row, found.plan), 600) in texts(app)
    table = table_with(app, "p after Holm").set_index("system")
    assert table.loc["annotator-2", "difference"] == row["difference"] < 0
    assert row["tests"] == 6 and "over 6 pairs" in difference_words(row, found.plan)
    figure = difference_dots(rows[rows["system"].eq("annotator-2")], "rules", "annotator-2")
    assert figure.data[0].x[0] == row["difference"]
    assert figure.layout.xaxis.title.text == "← rules better · annotator-2 better →"


def test_another_baseline_takes_no_new_resamples() -> None:
    scores = {name: score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in sorted(SYSTEMS)}
    plan = ResamplingPlan(resamples=500)
    found, anew = compare_scores(scores, plan=plan), compare_scores(scores, plan=plan, baseline="rules")
    turned = against(found, "rules")
    columns = ["criterion", "system", "baseline", "difference", "low", "high", "p"]
    order = ["criterion", "system"]
    pd.testing.assert_frame_equal(
        turned.differences[columns].sort_values(order, ignore_index=True),
        anew.differences[columns].sort_values(order, ignore_index=True),
    )
    assert turned.baseline == "rules" and set(turned.differences["tests"]) == {6}
    assert (found.corrected_over, turned.corrected_over) == ("systems", "pairs of systems")
    assert "corrected over the 6 pairs of systems under each criterion" in methods(turned).paragraph
    assert "Each two systems" in methods(found).paragraph and "Each two systems" not in methods(turned).paragraph
    with pytest.raises(ValueError, match="not a system of this comparison"):
        against(found, "gold")


def test_a_click_on_two_systems_picks_the_pair() -> None:
    view = replace(RANKED, beside="perceptron")
    opened("Systems", view)
    # AppTest cannot click: the callback is what a click runs.
    choose = ranking.choose_pair("rules", "perceptron")
    state.put(view)
    choose(["annotator-1", ""])
    assert (state.view().system, state.view().beside) == ("perceptron", "annotator-1")
    ranking.choose_pair("perceptron", "annotator-1")(["annotator-2", ""])
    assert (state.view().system, state.view().beside) == ("annotator-1", "annotator-2")
    ranking.choose_pair("annotator-1", "annotator-2")(["annotator-2", ""])
    assert (state.view().system, state.view().beside) == ("annotator-1", "annotator-2")


@pytest.mark.parametrize("tab", ["slices-of-systems", "published-rankings"])
def test_slices_and_published_scorers_are_facets_of_the_figure(tab: str) -> None:
    app = opened("Systems", replace(RANKED, systems_tab=tab))
    (chart,) = (chart for chart in app.get("plotly_chart") if "table_ranking" in chart.proto.id)
    figure = json.loads(chart.proto.spec)
    names = [trace["name"] for trace in figure["data"] if trace["mode"] == "markers"]
    assert [re.sub(r"<b>[AB]</b> ", "", name) for name in names] == sorted(SYSTEMS)
    facets = {point[1] for trace in figure["data"] for point in trace.get("customdata", ())}
    assert len(facets) > 1 if tab == "slices-of-systems" else facets == {"strict"}
    table = next(frame.value for frame in app.dataframe if set(SYSTEMS) <= set(frame.value.columns))
    numbers = dict(zip(table.iloc[:, 0], table["rules"], strict=True))
    drawn = next(trace for trace in figure["data"] if trace["mode"] == "markers" and trace["name"].endswith("rules"))
    pairs = zip(drawn["customdata"], drawn["x"], strict=True)
    assert {facet.removesuffix(", few"): f"{value:.3f}" for (_, facet), value in pairs} == {
        name: text.split(" ")[0] for name, text in numbers.items() if text != "–"
    }
    # Small slices are marked as on Overview.
    labels = [label for label in figure["layout"]["yaxis"]["ticktext"] if "(n=" in label]
    assert all((", few" in label) == (int(label.split("n=")[1].rstrip(")")) < 20) for label in labels)


@pytest.mark.parametrize(("tab", "resamples"), [("slices-of-systems", 2_000), ("published-rankings", 10_000)])
def test_the_signature_of_a_ranking_is_that_of_its_intervals(
    tab: str, resamples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of slices said 2,000 resamples above and 10000 in the signature."""
    exported: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(tables, "show_table", lambda page, table, **files: exported.append((table.name, files)))
    opened("Systems", replace(RANKED, systems_tab=tab))
    files = dict(exported)["compare-ranking"]
    assert f"{resamples:,} resamples of documents" in files["notes"][0]
    assert set(re.findall(r"(\d+) resamples", files["signature"])) == {str(resamples)}


def test_a_scorer_that_refuses_the_corpus_is_not_preselected_and_says_why_where_it_is_chosen() -> None:
    # The program of October 2004 wants a blank line at the end.
    loaded = loaded_of(TAGS, FOUND.rstrip("\n") + "\n", options=LoadOptions(repair="conlleval"))
    app = opened("Systems", View(corpus=loaded.corpus.digest, system="system", systems_tab="published-rankings"))
    box = app.multiselect(key="widget_ranking_scorers")
    assert "jnlpba-2004-10" not in box.value and {"conlleval", "jnlpba-2004-04"} <= set(box.value)
    assert not app.error
    app = sound(box.set_value(["jnlpba-2004-10", "conlleval"]).run())
    assert re.search(r"^jnlpba-2004-10: \S+: no blank line ends the last sentence", texts(app), re.MULTILINE)
    rows = next(list(frame.value.iloc[:, 0]) for frame in app.dataframe if "published scorer" in frame.value.columns)
    assert "conlleval/phrase" in rows and "jnlpba-2004-10/full" not in rows


@pytest.mark.parametrize(
    ("criterion", "name", "expected"),
    [
        ("type", "hipe-2020", "hipe-2020/ent_type"),
        ("type", "conlleval", "conlleval"),
        ("strict", "hipe-2020", "hipe-2020"),
    ],
)
def test_a_scorer_is_ranked_by_what_means_the_same_as_the_criterion(criterion: str, name: str, expected: str) -> None:
    """Under type stood the strict figures of HIPE."""
    assert ranking.scorer_like(criterion, name) == expected


def test_a_scorer_that_refuses_one_system_ranks_the_others_and_says_why() -> None:
    # alt_eval stops where no mention is right, and of a system without spans none is.
    sides = [TAGS, FOUND, re.sub(r"\t\S+$", "\tO", FOUND, flags=re.MULTILINE)]
    gold, some, none = (Source.of_uploads([("a.tsv", text.encode())]) for text in sides)
    loaded = load("tags", gold, {"some": some, "none": none}, LoadOptions(repair="conlleval"))
    caches.shelf().put(loaded)
    view = View(corpus=loaded.corpus.digest, system="some", systems_tab="published-rankings", criterion="biocreative")
    app = opened("Systems", view)
    (line,) = (caption.value for caption in app.caption if "has no F1 of none" in caption.value)
    assert line.startswith("biocreative has no F1 of none") and "no mention is right" in unmarked(line)
    assert "biocreative" in unmarked(texts(app)) and not app.error
    (chart,) = (chart for chart in app.get("plotly_chart") if "table_ranking" in chart.proto.id)
    drawn = [trace for trace in json.loads(chart.proto.spec)["data"] if trace["mode"] == "markers"]
    points = {trace["name"]: len([x for x in trace["x"] if x is not None]) for trace in drawn}
    assert sorted(points.values()) == [1, 2], "ours has both, biocreative one"


def test_the_difference_is_said_with_its_sign_and_is_no_better_than_its_test() -> None:
    systems = ("rules", "perceptron", "annotator-1")
    scores = {name: score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in systems}
    found = compare_scores(scores, names=["strict"], baseline="rules")
    rows = found.differences.set_index("system", drop=False)
    said = {name: difference_words(rows.loc[name], found.plan) for name in ("perceptron", "annotator-1")}
    f1 = {name: scores[name].counts("strict").f1 for name in systems}
    expected = f"F1 of perceptron less F1 of rules: −{f1['rules'] - f1['perceptron']:.3f} [−"
    assert said["perceptron"].startswith(expected)
    assert said["perceptron"].endswith("no significant difference.")
    expected = f"F1 of annotator-1 less F1 of rules: +{f1['annotator-1'] - f1['rules']:.3f} [+"
    assert said["annotator-1"].startswith(expected)
    assert said["annotator-1"].endswith("annotator-1 is significantly better.")


def test_the_difference_has_the_p_that_decides() -> None:
    row = pd.Series(
        {
            **{"system": "b", "baseline": "a", "difference": -0.03, "low": -0.06, "high": -0.001},
            **{"p": 0.033, "p_holm": 0.066, "tests": 2},
        }
    )
    expected = (
        "F1 of b less F1 of a: −0.030 [−0.060, −0.001], p = .033, p = .066 after Holm's correction over 2 pairs: "
        "no significant difference."
    )
    assert difference_words(row, ResamplingPlan()) == expected


def test_the_difference_opens_the_formulas_of_both() -> None:
    app = opened("Systems", RANKED, list_difference=True)
    made = [code.value for code in app.code if "F1" in code.value]
    pair = [score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in ("rules", "annotator-1")]
    assert [one.rpartition("= ")[2] for one in made] == [f"{one.counts('strict').f1:.3f}" for one in pair]


def test_measures_and_power_are_those_of_the_library() -> None:
    app = opened("Systems", RANKED, list_measures=True, list_power=True)
    scores = {name: score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in SYSTEMS}
    found = compare_scores(scores, names=[RANKED.criterion or "strict"], measures=MEASURES)
    power = table_with(app, "least difference shown")
    expected = found.power.set_index("system")
    least = expected.loc[power["system"], "detectable"].tolist()
    assert power["least difference shown"].tolist() == pytest.approx(least, rel=1e-12)
    shown = table_with(app, "measure")
    assert len(shown) == len(MEASURES) * len(SYSTEMS)
    apart = found.measure_differences.set_index(["system", "measure"])["difference"]
    for row in shown[shown["system"] != "rules"].to_dict("records"):
        assert row["difference"] == apart[(row["system"], row["measure"])]
    assert plain(f"family: {len(found.measure_differences)} tests") in texts(app)


def test_published_scorers_stand_beside_the_measures_or_say_why_not() -> None:
    app = opened("Systems", RANKED, list_measures=True, widget_scorers=["n2c2-2018", "spacy-ents"])
    shown = table_with(app, "measure")
    assert set(shown["criterion"]) == {RANKED.criterion or "strict", "n2c2-2018/strict"}
    assert "which no Span of spaCy is" in texts(app)


def test_runs_of_a_system_are_suggested_and_chosen() -> None:
    app = opened("Systems", RANKED, list_runs=True)
    scores = {name: score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in SYSTEMS}
    chosen = app.multiselect[0]
    assert chosen.value == [name for name in SYSTEMS if name.startswith("annotator-")] and "annotator" not in SYSTEMS

    for runs, name in ((chosen.value, "annotator"), (["rules", "perceptron"], "rules + perceptron")):
        app = sound(app.multiselect[0].set_value(runs).run())
        found = compare_scores(scores, names=[RANKED.criterion or "strict"], runs={name: runs}).runs
        assert found is not None
        means = found.means.set_index("system")
        table = table_with(app, "mean F1")
        assert set(table["system"]) == set(means.index) and name in means.index
        assert table["best"].tolist() == means.loc[table["system"], "f1_best"].tolist()
        tests = table_with(app, "difference", "p after Holm", without="F1")
        assert tests["difference"].tolist() == found.differences["difference"].tolist()
        assert "single run" in texts(app)
    app = sound(app.multiselect[0].set_value([]).run())
    assert "Choose two systems or more that are runs of one" in texts(app)


@pytest.mark.parametrize(
    ("better", "expected"),
    [
        ({("a", "b"), ("b", "c")}, [(0, 1, 0), (1, 2, 0)]),
        ({("a", "c"), ("b", "c")}, [(0, 2, 0), (1, 2, 1)]),
        ({("a", "b"), ("a", "c"), ("b", "d")}, [(0, 1, 0), (1, 3, 0)]),
        (set(), []),
    ],
)
def test_a_bracket_joins_a_system_with_the_next_that_is_worse(
    better: set[tuple[str, str]], expected: list[tuple[int, int, int]]
) -> None:
    assert brackets("abcd", better) == expected


def test_a_saved_ranking_says_nothing_of_a_and_b(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which systems the page calls A and B means nothing in a paper."""
    saved: dict[str, Any] = {}
    register = downloads.export_menu.register

    def look(file: str, **parts: Any) -> None:
        if parts.get("figure"):
            saved[file] = parts["figure"]()
        register(file, **parts)

    monkeypatch.setattr(downloads.export_menu, "register", look)
    app = opened("Systems", RANKED)
    drawn = next(chart.proto.spec for chart in app.get("plotly_chart") if "ranking" in chart.proto.id)
    assert "<b>A</b>" in drawn.encode().decode("unicode_escape")
    assert "<b>" not in str(saved["ranking"].layout.yaxis.ticktext)


def test_a_ranking_that_nobody_saves_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    draw, pairs = ranking.leaderboard, list[tuple[str, str]]()
    monkeypatch.setattr(ranking, "leaderboard", lambda *a, **named: pairs.append(named["pair"]) or draw(*a, **named))
    opened("Systems", RANKED)
    assert [all(pair) for pair in pairs] == [True]


def test_a_link_to_the_page_itself_begins_at_its_top() -> None:
    navigation._go_on_here(View(system="rules"))
    assert state.view().system == "rules" and streamlit.session_state[keys.INTO_VIEW]["key"] == navigation.TITLE
    state.put(View())
    del streamlit.session_state[keys.INTO_VIEW]
