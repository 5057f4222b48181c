"""The views of the Criteria page: what each shows is what the core makes, and every count opens its records."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.criteria.gap import CHAIN, gap, recover_spans
from nereval_core.analysis.criteria.overlap_curve import overlap_curve, step_at
from nereval_core.analysis.criteria.sensitivity import fold_scores, merge_types, proxy_table
from nereval_core.analysis.criteria.tables import proxy_criterion_table, recovered_table, vanished_table
from nereval_core.analysis.crosstab import decision_matrix, vanished_confusions
from nereval_core.records.tables import records
from nereval_core.report.figures.criteria import gap_bars, overlap_lines
from nereval_core.scoring.criteria import CRITERIA, same_rule
from nereval_core.tables.glossary import DECISIONS, decision_label
from pages.shared.components.downloads import table_key
from pages.shared.criteria import PARTS
from pages.shared.data import caches
from pages.shared.data.loading import load_demo
from pages.shared.view import TABS, View, keys
from pages.shared.view.link import read_rule
from pages.shared.view.text import count
from tests.support.pages import address, assert_shows, cell, headings, opened, point, sound
from tests.support.workbench import workbench

DEMO = load_demo("biology")
VIEW = View(corpus=DEMO.corpus.digest, system="rules")
SETTINGS = caches.spans_only(caches.as_read(DEMO), ["strict"])
SCORES = caches.scores(DEMO, "rules", SETTINGS)
MERGE = dict.fromkeys(("DNA", "RNA", "protein"), "DNA+RNA+protein")


def shown(view: str, base: View = VIEW, **state: object) -> AppTest:
    return opened("Criteria", replace(base, criteria_tab=view), **state)


def frame(app: AppTest, column: str) -> pd.DataFrame:
    """Return the first table with a column."""
    return next(found.value for found in app.dataframe if column in found.value.columns)


def listed(app: AppTest, number: int) -> None:
    """Check that a list of so many records is open: its title says so, and so does what it shows."""
    assert f": {count(number, 'record')}**" in headings(app)
    rows = [found.value for found in app.dataframe if "why" in found.value.columns]
    assert (len(rows[-1]) if rows else 0) == min(number, 100)


def test_every_view_is_drawn_alone_and_linked() -> None:
    app = opened("Criteria", VIEW)
    for parts in (list(parts) for name, parts in PARTS.items() if name != "All"):
        app = sound(app.segmented_control(key=f"{keys.WIDGET}criteria_view").set_value(parts[0]).run())
        for part in (*parts[1:], parts[0]):
            assert not any("All types as annotated" in caption.value for caption in app.caption)
            app = sound(app.segmented_control(key=f"{keys.WIDGET}criteria_part").set_value(part).run())
            assert address(app)["criteria_tab"] == part and not app.warning[1:]
    app = sound(app.segmented_control(key=f"{keys.WIDGET}criteria_view").set_value("all").run())
    assert "criteria_tab" not in address(app)
    assert {part for parts in PARTS.values() for part in parts} == {"all", *TABS["criteria_tab"]}


@pytest.mark.parametrize(("one", "other"), [("strict", "lenient"), ("type", "left")])
def test_the_gap_and_its_counts(one: str, other: str) -> None:
    view = replace(VIEW, criterion=one, versus=other)
    app = shown("two-criteria", view)
    found = gap(SCORES, one, other)
    table = found.table()
    assert found.total is not None and f"{float(found.total):+.4f}" in headings(app)
    pd.testing.assert_series_equal(frame(app, "cause")["part of F1"], table["f1"], check_names=False)
    for row in range(len(table)):
        columns = (("spans that gain", "more"), ("spans that lose", "less"), ("credit", ""))
        for column, expected in columns if not row else columns[:1]:
            app = shown("two-criteria", view, table_gap=cell(row, column))
            values = table.iloc[row]
            listed(app, int(values[expected] if expected else values["more"] + values["less"]))


def test_the_decisions_and_their_counts() -> None:
    view = replace(VIEW, versus="lenient")
    table = decision_matrix(SCORES, "strict", "lenient")
    codes = [code for code in DECISIONS if table.loc[code].sum() or code == "COR"]
    for row, code in enumerate(codes):
        for other in DECISIONS:
            if table.loc[code, other]:
                app = shown("two-criteria", view, table_decisions=cell(row, other))
                decisions = frame(app, "strict \\ lenient").set_index("strict \\ lenient")
                assert decisions.at[decision_label(code), other] == table.loc[code, other]
                listed(app, int(table.loc[code, other]))
    flipped = int(table.to_numpy().sum() - sum(table.loc[code, code] for code in DECISIONS))
    listed(shown("two-criteria", view, widget_flipped=True), flipped)


def test_a_criterion_that_counts_tokens_is_not_compared() -> None:
    for name in ("two-criteria", "curve", "ladder"):
        app = shown(name, replace(VIEW, criterion="fragment"))
        assert any("counts" in caption.value and "span" in caption.value for caption in app.caption)
        assert not app.dataframe


@pytest.mark.parametrize(("criterion", "chain"), [("strict", CHAIN), ("left", ("left", "either", "type", "lenient"))])
def test_rescued_errors_are_those_of_the_criterion_of_the_bar(criterion: str, chain: tuple[str, ...]) -> None:
    scores = caches.scores(DEMO, "rules", caches.spans_only(caches.as_read(DEMO), chain))
    recovered = recover_spans(scores, chain)
    for row, spans in enumerate(recovered.table()["spans"].tolist()):
        app = shown("recovered", replace(VIEW, criterion=criterion), table_recovered=cell(row, "gold spans"))
        listed(app, spans)
    assert_shows(frame(app, "first credited by"), recovered_table(recovered, ""))
    assert address(app).get("criterion", "strict") == criterion


@pytest.mark.parametrize("criterion", ["lenient", "fragment"])
def test_no_criterion_is_looser(criterion: str) -> None:
    app = shown("recovered", replace(VIEW, criterion=criterion))
    assert f"No criterion is looser than {criterion}" in " ".join(caption.value for caption in app.caption)
    assert not app.dataframe


@pytest.mark.parametrize(("share", "least", "same"), [("union", 0.5, True), ("gold", 0.83, False)])
def test_a_step_of_the_curve_opens_its_records(share: str, least: float, same: bool) -> None:
    table = overlap_curve(*SCORES.layers("strict"), share, same_type=same)  # type: ignore[arg-type]
    state = {"curve_share": share, "curve_least": least, "curve_types": same}
    app = shown("curve", **state)
    row = frame(app, "POS")
    assert row["COR"].iloc[0] == table["COR"].iloc[step_at(table, least)]
    for code in ("COR", "MIS", "ACT"):
        listed(shown("curve", **state, table_step=cell(0, code)), int(row[code].iloc[0]))
    assert app.button(key="curve_keep")
    kept = sound(app.button(key="curve_keep").click().run())
    found = read_rule(address(kept)["rule"])
    assert (found.share, float(found.minimum), found.same_type) == (share, least, same)
    point_of = shown("curve", **state, **{table_key("table_curve", share, same, least): point(2)})
    assert frame(point_of, "POS")["COR"].iloc[0] == table["COR"].iloc[2]
    again = opened("Inspect", replace(VIEW, criterion=found.name, rule=address(kept)["rule"], decision=("COR",)))
    assert workbench(again)["total"] == int(row["COR"].iloc[0])


def test_figures_show_what_the_tables_hold() -> None:
    found = gap(SCORES, "strict", "lenient")
    bars = gap_bars(found.table(), "strict", "lenient", float(found.total or 0), found.spans, "<b>x")
    assert list(bars.data[0].x) == found.table()["f1"].tolist()
    assert "&lt;b&gt;x" in bars.layout.title.text and f"{found.spans:,}" in bars.layout.title.text
    table = overlap_curve(*SCORES.layers("strict"))
    marks = [(name, 0.5) for name in "abc"] + [("d", 0.501), ("e", 1.0), ("f", 0.0)]
    lines = overlap_lines(table, marks, "share", "x", (1, 2), at=0.5)
    assert list(lines.data[2].x) == [*table["minimum"], 0] and list(lines.data[2].y)[:-1] == table["f1"].tolist()
    # A point of any line holds the number of the row that it draws, the last one too, at an overlap of 0.
    for line, name in zip(lines.data, ("precision", "recall", "f1"), strict=True):
        assert [table[name].iloc[row] for (row,) in line.customdata] == list(line.y)
    said = [note.text for note in lines.layout.annotations]
    assert said == ["f 0.000", "a 0.500", "b 0.500", "c 0.500", "d 0.501", "e 1.000"]
    heights = [note.y for note in lines.layout.annotations]
    assert all(high - low >= 0.044 for low, high in pairwise(heights)) and heights[-1] <= 1
    # On a telephone the axis has 275 pixels, of which a character of a label takes six.
    every_name = overlap_lines(
        table, [(name, 0.5) for name in ("type", "either", "approx", "lenient")], "share", "x", (1, 2)
    )
    axis_end = every_name.layout.xaxis.range[1]
    for note in every_name.layout.annotations:
        assert 6 * len(note.text) <= 275 * (axis_end - note.x) / axis_end
    many = pd.concat([table] * 1_500, ignore_index=True)
    many["minimum"] = [1 - number / len(many) for number in range(len(many))]
    thinned = overlap_lines(many, [], "share", "x", (1, 2))
    assert len(thinned.data[0].x) <= 1_001 and "steps drawn" in thinned.layout.title.text


def test_the_ladder_of_a_record_of_a_link() -> None:
    rows = records(SCORES, "strict")
    wrong = rows[(rows["decision"] == "INC").to_numpy()].iloc[0]
    view = replace(VIEW, doc=str(wrong["document"]), record=str(wrong["record"]))
    app = shown("ladder", view)
    wide = frame(app, "strict")
    assert wide["strict"].iloc[0].endswith("INC") and wide["strict"].iloc[0][0] != "("
    steps = frame(app, "aligned with")
    assert steps["criterion"].tolist() == [rule.name for rule in SETTINGS.criteria]
    assert (steps.iloc[:, 2].str.len() > 0).all()
    missed = rows[(rows["reason"] == "no prediction overlaps it").to_numpy()].iloc[0]
    alone = shown("ladder", replace(VIEW, doc=str(missed["document"]), record=str(missed["record"])))
    assert any("No prediction overlaps" in caption.value for caption in alone.caption)
    place = int((rows[(rows["decision"] != "COR").to_numpy()]["record"] == wrong["record"]).to_numpy().argmax())
    assert frame(shown("ladder", list_ladder=cell(place, "span")), "aligned with").equals(steps)


def test_merging_types_opens_what_it_counts() -> None:
    state = {"merge_try_0": list(MERGE)}
    view = replace(VIEW, criterion="right")
    after = merge_types(SCORES, MERGE)
    app = shown("merging", view, **state)
    table = frame(app, "COR merged")
    for row, name in enumerate(table["criterion"]):
        assert (table["COR"].iloc[row], table["COR merged"].iloc[row]) == (
            SCORES.counts(name).cor,
            after.counts(name).cor,
        )
    for column in ("COR", "COR merged"):
        place = table["criterion"].tolist().index("right")
        listed(shown("merging", view, **state, table_merging=cell(place, column)), int(table[column].iloc[place]))
    gone = vanished_confusions(SCORES, after, "right")
    assert_shows(frame(app, "aligned pairs"), vanished_table(gone, ""))
    assert len(gone)
    for row in range(len(gone)):
        counts = (("aligned pairs", "pairs"), ("correct once merged", "correct"))
        for heading, column in counts if not row else counts[1:]:
            app = shown("merging", view, **state, table_gone=cell(row, heading))
            listed(app, int(gone[column].iloc[row]))
    nothing = shown("merging", view)
    assert not nothing.dataframe and any("Choose two types" in caption.value for caption in nothing.caption)


def test_stand_ins_open_their_folds() -> None:
    systems = {layer.name: caches.scores(DEMO, layer.name, SETTINGS) for layer in DEMO.corpus.systems}
    values = fold_scores(dict(sorted(systems.items())), 5, 3)
    state = {"stand_in_reference": "type", "stand_in_folds": 5, "stand_in_seed": 3}
    app = shown("stand-in", **state, table_stand_in=cell(1, "r"))
    expected = proxy_table(values, "type")
    assert_shows(frame(app, "undefined"), proxy_criterion_table(expected, "type"))
    assert "Read p with care" in app.warning[0].value
    folds = frame(app, "fold")
    name = expected["criterion"].iloc[1]
    mine = values[values["system"].eq("rules") & values["criterion"].eq(name)]
    assert folds[f"F1 under {name}"].tolist() == mine["f1"].tolist()
    for row in (0, 4):
        app = shown("stand-in", **state, table_stand_in=cell(1, "r"), table_folds=cell(row, f"records under {name}"))
        listed(app, int(folds[f"records under {name}"].iloc[row]))


def test_a_criterion_is_composed_added_and_chosen() -> None:
    both = {"compose_other_boundaries": "PAR", "compose_other_type": "PAR"}
    state = {"compose_name": "half", "compose_rule": "overlap", "compose_least": 0.5, **both}
    app = shown("compose", **state)
    assert any("F1 0." in line.value for line in app.markdown)
    app = sound(app.button(key="compose_add").click().run())
    assert address(app)["criterion"] == "half"
    (found,) = app.session_state[keys.OWN].criteria
    assert same_rule(found, read_rule("half:boundaries=overlap;minimum=1/2;share=union;otherwise=PAR"))
    muc = shown("compose", compose_rule="equal", compose_other_boundaries="PAR")
    muc = sound(muc.button(key="compose_add").click().run())
    assert same_rule(muc.session_state[keys.OWN].criteria[0], CRITERIA["muc"])
    assert address(muc)["rule"] == "mine:boundaries=equal;other_boundaries=PAR"
    loose = shown("compose", compose_rule="overlap", compose_types="any")
    assert not any(str(control.key).startswith("compose_other") for control in loose.segmented_control)
    for name, said in (("strict", "taken"), ("a b", "cannot be used")):
        bad = shown("compose", **{**state, "compose_name": name})
        assert any(said in code.value for code in bad.code) and not any(one.key == "compose_add" for one in bad.button)
    core = shown("compose", **{**state, "compose_rule": "core"})
    assert any("does not apply" in caption.value for caption in core.caption)
