"""The Compare page: its numbers are those of the library, and each F1 opens what it is made of."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import parse_qsl

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.comparison import compare_scores, headline
from nereval_core.analysis.comparison.measures import MEASURES
from nereval_core.analysis.comparison.tables import score_table
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.ledger import ledger
from nereval_core.report.figures.comparison import leaderboard
from nereval_core.scoring import score_layers
from nereval_core.scoring.criteria import SCHEMAS
from nereval_core.tables import Table, columns_of
from pages.shared.components.downloads import file_of
from pages.shared.components.tables import ROWS
from pages.shared.systems import tables as compare_tables
from pages.shared.systems.pair import difference_words
from pages.shared.view import View
from pages.shared.view.link import read_link
from pages.shared.view.queries import query_of
from pages.shared.view.text import plain
from tests.support.pages import DEMO, VIEW, address, cell, opened, sound, upload
from tests.support.workbench import listed

SYSTEMS = ("rules", *sorted({layer.name for layer in DEMO.corpus.systems} - {"rules"}))
TABS = ("", "types-of-systems", "across-criteria", "all-pairs")
FULL = replace(VIEW, corpus=DEMO.corpus.digest)


def texts(app: object) -> str:
    return "\n".join(element.value for kind in ("markdown", "caption", "code") for element in getattr(app, kind))


def test_the_tables_are_those_of_the_library() -> None:
    apps = {tab: opened("Systems", replace(VIEW, systems_tab=tab)) for tab in TABS}
    app = apps[""]
    scores = {name: score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in SYSTEMS}
    found = compare_scores(scores, plan=ResamplingPlan(), by_type=True)
    whole, against = (table[table["type"].isna()] for table in (found.intervals, found.differences))
    shown = [frame.value for one in apps.values() for frame in one.dataframe]
    strict = whole[whole["criterion"] == "strict"].sort_values("f1", ascending=False)
    order = strict["system"].tolist()
    wide = score_table("F1", whole, against, found.leads, 0.95).to_frame().set_index("system").loc[order].reset_index()
    pd.testing.assert_frame_equal(shown[0], wide, check_dtype=False)
    assert shown[1]["system"].tolist() == [name for name in order if name != "rules"]
    strict = against[against["criterion"] == "strict"].set_index("system")
    assert shown[1]["difference"].tolist() == strict.loc[shown[1]["system"], "difference"].tolist()
    kinds = found.intervals[found.intervals["type"].notna() & found.intervals["criterion"].eq("strict")]
    assert shown[2].columns.tolist() == ["system", *kinds["type"].unique()]
    assert shown[3]["criterion"].tolist() == list(SCHEMAS)
    places = shown[4].set_index("system")
    assert places["strict"].tolist() == [1, 2, 3, 4] and places.columns.tolist() == list(SCHEMAS)
    assert shown[5].columns.tolist() == ["system", *sorted(SYSTEMS)]
    opening = headline(found.intervals, ResamplingPlan(), found.units)
    assert opening is not None and found.words[0] == f"{opening.before}{opening.f1}{opening.after}"
    assert plain(f"{opening.after}.", 1_000) in texts(app)
    assert any(link.label == f":primary[{opening.f1}]" for link in app.get("page_link"))
    for line in found.words[1:]:
        assert plain(f"{line[0].upper()}{line[1:]}.", 1_000) in texts(app)


def test_an_f1_opens_its_records() -> None:
    key = "table_compare_scores"
    app = opened("Systems", VIEW, **{key: cell(2, "partial")})
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
    app = opened("Systems", replace(VIEW, systems_tab=tab))
    frame = next(one for one in app.dataframe if str(one.key).startswith(f"table_compare_{table}"))
    name = column or str(frame.value.columns[1])
    again = opened("Systems", replace(VIEW, systems_tab=tab), **{str(frame.key): cell(row, name)})
    said = r"after Holm\\'s correction over \d+ tests"
    assert re.search(said, texts(again)) and not re.search(said, texts(app))


def test_all_criteria_are_compared_on_request() -> None:
    view = replace(VIEW, overview_tab="all-criteria", layout=("all-criteria",), criterion="right")
    app = opened("Systems", view)
    assert app.dataframe[0].value.columns[1] == "right" and "fragment" in app.dataframe[0].value.columns
    app = opened("Systems", replace(view, systems_tab="across-criteria"))
    assert len(app.dataframe[0].value) > len(SCHEMAS)


def table_with(app: AppTest, *columns: str, without: str = "") -> pd.DataFrame:
    """Return the first table that has these columns, and not the other."""
    tables = (table.value for table in app.dataframe)
    return next(table for table in tables if {*columns} <= {*table.columns} and without not in table.columns)


def test_tau_between_all_criteria_is_there_for_who_looks() -> None:
    app = opened("Systems", replace(VIEW, systems_tab="across-criteria"), list_taus=True)
    shown = table_with(app, "criterion", *SCHEMAS)
    assert shown["criterion"].tolist() == list(SCHEMAS) and shown.columns.tolist() == ["criterion", *SCHEMAS]
    assert shown["strict"].iat[0] == 1


def test_one_system_is_shown_alone_and_few_documents_are_warned_of() -> None:
    gold = '{"id": "d1", "text": "Aspirin eases.", "spans": [{"start": 0, "end": 7, "label": "system"}]}\n'
    app = upload(opened("Start"), gold, gold)
    view = View(corpus=address(app)["corpus"])
    app = opened("Systems", view)
    assert "one system only" in app.info[0].value
    assert plain("no interval and no test: F1 rests on one document alone") in texts(app)
    assert app.dataframe[0].value["strict"].tolist() == ["1.000"]
    # A type may be called as a column is.
    app = opened("Systems", replace(view, systems_tab="types-of-systems"))
    assert app.dataframe[0].value.columns.tolist() == ["(system)", "system"]


@pytest.mark.parametrize("kind", [None, "NORMALIZABLES"])
def test_a_p_opens_the_gold_spans_that_only_one_gets_right(kind: str | None) -> None:
    """From the p value to the list is one click, to the text a second, to the document a third."""
    tab, name = ("", "differences") if kind is None else ("types-of-systems", "types")
    app = opened("Systems", replace(VIEW, systems_tab=tab))
    frame = next(one for one in app.dataframe if str(one.key).startswith(f"table_compare_{name}"))
    row = frame.value["system"].tolist().index("perceptron")
    chosen = {str(frame.key): cell(row, "p" if kind is None else kind)}
    again = opened("Systems", replace(VIEW, systems_tab=tab), **chosen)
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
    app = opened("Systems", VIEW)
    chosen = {}
    for name, column in (("scores", "strict"), ("differences", "p")):
        frame = next(one for one in app.dataframe if str(one.key).startswith(f"table_compare_{name}"))
        chosen[str(frame.key)] = cell(frame.value[frame.value.columns[0]].tolist().index("perceptron"), column)
    lists = [
        one for one in opened("Systems", VIEW, **chosen).dataframe if str(one.key).startswith("list_compare_apart")
    ]
    assert len(lists) == 2 and lists[0].value.equals(lists[1].value)


def test_of_many_documents_fewer_resamples_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_tables, "MANY", 19)
    app = opened("Systems", VIEW)
    assert "2,000 resamples" in texts(app) and "10,000 resamples" not in texts(app)
    app = opened("Systems", replace(VIEW, systems_tab="types-of-systems"))
    assert not any(str(one.key).startswith("table_compare_types") for one in app.dataframe)
    app = sound(next(one for one in app.toggle if one.label == "Compare by type").set_value(True).run())
    assert any(str(one.key).startswith("table_compare_types") for one in app.dataframe)


def test_the_leaderboard_has_the_best_on_top() -> None:
    scores = {name: score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in SYSTEMS}
    table = compare_scores(scores, plan=ResamplingPlan(resamples=200)).intervals
    rows = table[table["criterion"] == "strict"]
    undefined = rows.iloc[[0]].assign(system="<b>none", f1=float("nan"), rank=None)
    figure = leaderboard(pd.concat([undefined, rows], ignore_index=True), "rules", "how")
    assert figure.layout.title.text.startswith(
        "F1 of 5 systems under strict<br><sub>F1, at best 1; n = 157 gold spans in"
    )
    best = rows.sort_values("f1", ascending=False)
    assert figure.layout.yaxis.ticktext == (*best["system"], "&lt;b&gt;none")
    marks = {
        system[0]: (x, place, high, low)
        for trace in figure.data
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
    app = opened("Systems", VIEW, export_menu=True)
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
    found = {
        re.sub(r":primary.*", "", link.label): (
            int(re.sub(r"[^\d]", "", link.label.rpartition(":primary")[2])),
            dict(parse_qsl(link.proto.query_string)),
        )
        for link in app.get("page_link")
        if "right: " in link.label
    }
    assert list(found) == ["only rules right: ", "only perceptron right: ", "both right: ", "neither right: "]
    assert sum(number for number, _ in found.values()) == len(DEMO.corpus.gold)
    for number, parameters in found.values():
        view, wrong = read_link(parameters)
        assert not wrong and listed(opened("Inspect", view)) == number


def test_the_difference_is_said_with_its_sign_and_is_no_better_than_its_test() -> None:
    systems = ("rules", "perceptron", "annotator-1")
    scores = {name: score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in systems}
    found = compare_scores(scores, names=["strict"], baseline="rules")
    rows = found.differences.set_index("system", drop=False)
    said = {name: difference_words(rows.loc[name], "rules", found.plan) for name in ("perceptron", "annotator-1")}
    f1 = {name: scores[name].counts("strict").f1 for name in systems}
    assert said["perceptron"].startswith(f"+{f1['rules'] - f1['perceptron']:.3f} F1 [−")
    assert said["perceptron"].endswith("no significant difference.")
    assert said["annotator-1"].startswith(f"−{f1['annotator-1'] - f1['rules']:.3f} F1 [−")
    assert said["annotator-1"].endswith("annotator-1 is significantly better.")


def test_the_difference_has_the_p_that_decides() -> None:
    row = pd.Series({"system": "b", "difference": -0.03, "low": -0.06, "high": -0.001, "p": 0.033, "p_holm": 0.066})
    expected = "+0.030 F1 [+0.001, +0.060], p = .033, p = .066 after Holm's correction: no significant difference."
    assert difference_words(row, "a", ResamplingPlan()) == expected


def test_the_difference_opens_the_formulas_of_both() -> None:
    app = opened("Systems", VIEW, list_difference=True)
    made = [code.value for code in app.code if "F1" in code.value]
    pair = [score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in ("rules", "annotator-1")]
    assert [one.rpartition("= ")[2] for one in made] == [f"{one.counts('strict').f1:.3f}" for one in pair]


def test_measures_and_power_are_those_of_the_library() -> None:
    app = opened("Systems", VIEW, list_measures=True, list_power=True)
    scores = {name: score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in SYSTEMS}
    found = compare_scores(scores, names=[VIEW.criterion or "strict"], measures=MEASURES)
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
    app = opened("Systems", VIEW, list_measures=True, widget_scorers=["n2c2-2018", "spacy-ents"])
    shown = table_with(app, "measure")
    assert set(shown["criterion"]) == {VIEW.criterion or "strict", "n2c2-2018/strict"}
    assert "which no Span of spaCy is" in texts(app)


def test_runs_of_a_system_are_suggested_and_chosen() -> None:
    app = opened("Systems", VIEW, list_runs=True)
    scores = {name: score_layers(DEMO.corpus.gold, DEMO.corpus.system(name)) for name in SYSTEMS}
    chosen = app.multiselect[0]
    assert chosen.value == [name for name in SYSTEMS if name.startswith("annotator-")] and "annotator" not in SYSTEMS

    for runs, name in ((chosen.value, "annotator"), (["rules", "perceptron"], "rules + perceptron")):
        app = sound(app.multiselect[0].set_value(runs).run())
        found = compare_scores(scores, names=[VIEW.criterion or "strict"], runs={name: runs}).runs
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
