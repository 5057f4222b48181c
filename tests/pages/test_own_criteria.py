"""One's own criteria in the app: loaded, chosen on every page, kept apart from others' of the same name, saved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.criteria.overlap_curve import overlap_curve
from nereval_core.readers import Source
from nereval_core.records.queries import Query
from nereval_core.records.tables import records
from nereval_core.report.score_tables import criterion_table, type_table
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores, score_layers
from nereval_core.scoring.criteria import APPLICABLE, SCHEMAS, Criterion
from nereval_core.scoring.criterion_syntax import criteria_from_toml
from pages.shared.components.navigation import pages
from pages.shared.components.tables import ROWS
from pages.shared.criteria.rules import curve_of
from pages.shared.data import caches, own_criteria
from pages.shared.data.loading import load, load_demo
from pages.shared.data.page_context import PageContext
from pages.shared.inspect.document import document_marks, find_record, record_card_data
from pages.shared.view import View, keys
from pages.shared.view.confusion_layout import confusion_table
from pages.shared.view.link import check_view, write_link
from pages.shared.view.queries import query_of
from pages.shared.view.text import count
from tests.support.pages import address, cell, headings, heat_map, menus, opened, sound
from tests.support.workbench import card, listed, workbench

TOML = """
[criterion.half]
boundaries = "overlap"
types = "any"
minimum = 0.5
share = "union"
otherwise = "PAR"
sentence = "Half of it [must](http://a.b) be *shared*."

[criterion.one-type]
boundaries = "equal"
merge = {macromolecule = ["protein", "DNA", "RNA"]}
leave_out = ["cell_line"]
"""
BOTH = criteria_from_toml(TOML, "own.toml")
HALF, ONE_TYPE = BOTH
STATE = {keys.OWN: own_criteria.OwnCriteria(BOTH)}
DEMO = load_demo("biology")
VIEW = View(corpus=DEMO.corpus.digest, system="rules")
PAGES = ("Overview", "Confusion", "Inspect")
BY_NAME = pytest.mark.parametrize("criterion", BOTH, ids=lambda criterion: criterion.name)


def under(criterion: Criterion) -> View:
    return replace(VIEW, criterion=criterion.name)


def scored(*criteria: Criterion) -> Scores:
    settings = caches.settings_of(DEMO.corpus.gold, VIEW, criteria)
    return score_layers(DEMO.corpus.gold, DEMO.corpus.system("rules"), settings)


@pytest.fixture(scope="module")
def scores() -> Iterator[Scores]:
    yield scored(*BOTH)


def uploaded(app: AppTest, *texts: str | bytes, number: int = 0) -> AppTest:
    files = [(f"f{place}.toml", raw if isinstance(raw, bytes) else raw.encode()) for place, raw in enumerate(texts)]
    box = app.file_uploader(key=f"own_upload_{number}")
    return sound(box.set_value([(name, raw, "application/toml") for name, raw in files]).run())


def names(app: AppTest) -> list[str]:
    """Return the criteria offered that are not the field's."""
    return [criterion.name for criterion in app.session_state[keys.OWN].criteria]


def test_criteria_are_loaded_chosen_and_linked_by_name() -> None:
    app = uploaded(opened("Overview", VIEW, menu="criteria"), TOML)
    assert names(app) == ["half", "one-type"] and not app.error
    app = sound(app.button(key="criterion-half").click().run())
    assert address(app)["criterion"] == "half"
    assert list(app.dataframe[0].value["criterion"]) == [*SCHEMAS, "half"]
    app = sound(app.segmented_control(key="widget_overview_tab").set_value("all-criteria").run())
    assert list(app.dataframe[1].value["criterion"]) == [*APPLICABLE, "half", "one-type"]
    for page in (*PAGES, "Start", "Overview"):
        app = sound(app.switch_page(pages()[page]).run())
        assert address(app)["criterion"] == "half" and not app.warning
        assert menus(app)[0] == "half"


def test_what_a_user_writes_is_no_markup() -> None:
    app = opened("Overview", under(HALF), menu="criteria", **STATE)
    for shown in (*(caption.value for caption in app.caption), *(button.help or "" for button in app.button)):
        assert "](http://a.b)" not in shown and "*shared*" not in shown


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("[criterion.x]\nminimum = 2\n", "f0.toml:1: criterion 'x': minimum is 2; give a number from 0 to 1"),
        ("[criterion.strict]\n", "f0.toml:1: criterion 'strict': this name is taken by a criterion of the field"),
        ("a = = 1", "f0.toml:1: not TOML"),
        ("", "f0.toml: no criteria found"),
        (b"\xff\xfe\x00", "f0.toml: the file is UTF-16"),
        (b"\xffa", "f0.toml:1: byte 0xFF"),
        ("#" * (own_criteria.SIZE + 1), f"f0.toml: {own_criteria.SIZE + 1:,} bytes"),
    ],
)
def test_a_bad_file_is_told_by_line_and_leaves_the_rest(raw: str | bytes, line: str) -> None:
    app = uploaded(
        opened("Overview", under(HALF), menu="criteria", **STATE), raw, '[criterion.new]\nboundaries = "start"\n'
    )
    assert [code.value.startswith(line) for code in app.code].count(True) == 1
    assert names(app) == ["half", "one-type", "new"]
    assert address(app)["criterion"] == "half" and app.dataframe
    app = uploaded(app, TOML, number=1)
    assert not app.error, "the problems go with the next load"


def test_a_session_has_so_many_criteria_and_no_more() -> None:
    text = "".join(f"[criterion.c{number}]\n" for number in range(own_criteria.MOST))
    found = own_criteria.add_files(own_criteria.OwnCriteria(BOTH), [("many.toml", text.encode())])
    assert [criterion.name for criterion in found.criteria] == [
        "half",
        "one-type",
        *(f"c{n}" for n in range(own_criteria.MOST - 2)),
    ]
    assert len(found.problems) == 1 and "2 criteria more than the 20" in found.problems[0]
    assert own_criteria.add_files(found, [("same.toml", TOML.encode())]).criteria == found.criteria


def test_a_criterion_is_replaced_by_one_of_its_name_and_removed() -> None:
    app = opened("Overview", under(HALF), menu="criteria", **STATE)
    before = app.dataframe[0].value.iloc[-1].tolist()
    app = uploaded(app, '[criterion.half]\nboundaries = "start"\n')
    assert app.dataframe[0].value.iloc[-1].tolist() != before
    assert names(app) == ["half", "one-type"]
    app = sound(app.button(key="own-remove-half").click().run())
    assert names(app) == ["one-type"] and "criterion" not in address(app) and not app.warning


def test_the_same_name_is_not_the_same_rule() -> None:
    """Caches are shared by all sessions: in each, numbers and records are those of its own rule."""
    rules = [replace(HALF, boundaries="equal", name="mine"), replace(HALF, minimum=HALF.minimum / 10, name="mine")]
    view = replace(VIEW, criterion="mine", decision=("COR",))
    found = []
    for rule in (*rules, rules[0]):
        app = opened("Inspect", view, **{keys.OWN: own_criteria.OwnCriteria((rule,))})
        expected = scored(rule).counts("mine").cor
        assert expected == listed(app)
        overview = opened("Overview", view, **{keys.OWN: own_criteria.OwnCriteria((rule,))})
        assert overview.dataframe[0].value["COR"].iloc[-1] == expected
        found.append(expected)
    assert found[0] == found[2] != found[1]


def test_a_link_to_a_criterion_not_here_says_how_to_load_it() -> None:
    app = opened("Overview", under(HALF))
    (warning,) = app.warning
    assert "half" in warning.value and "ask for its TOML file" in warning.value and warning.value.endswith("rule.")
    assert address(app) == write_link(VIEW)
    _, (told,) = check_view(
        View(criterion="core"), systems=(), criteria=["strict"], known_types=(), scored_types=(), documents=()
    )
    assert "does not" not in told and "applies here" in told


def test_what_is_saved_can_be_loaded() -> None:
    assert own_criteria.read_files([("saved.toml", own_criteria.write_toml(BOTH).encode())]) == (BOTH, ())
    template, problems = own_criteria.read_files([("template.toml", own_criteria.TEMPLATE.encode())])
    assert len(template) == 2 and not problems
    app = opened("Overview", VIEW, menu="criteria", **STATE)
    assert {button.label for button in app.get("download_button")} >= {"Template", "Save as TOML"}
    none_of_own = opened("Overview", VIEW, menu="criteria")
    assert "Save as TOML" not in {button.label for button in none_of_own.get("download_button")}


@BY_NAME
@pytest.mark.parametrize("column", ["COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT"])
def test_a_count_of_overview_opens_its_records(scores: Scores, criterion: Criterion, column: str) -> None:
    view = under(criterion)
    app = opened("Overview", view, **STATE, **{"table_criteria": cell(4, column)})
    value = int(app.dataframe[0].value.at[4, column])
    assert value == criterion_table("run", {"run": scores}, [criterion.name]).row(0)[column]
    assert f": {count(value, 'record')}" in headings(app)
    assert len(app.dataframe[1].value) == min(value, ROWS) if value else True


@BY_NAME
def test_counts_by_type_open_their_records(scores: Scores, criterion: Criterion) -> None:
    view, table = under(criterion), type_table("run", {"run": scores}, criterion.name).to_frame()
    assert ("macromolecule" in set(table["type"])) == (criterion is ONE_TYPE)
    for key, heading in (("POS", "POS"), ("gold_COR", "gold COR"), ("SPU", "SPU")):
        for row in range(len(table)):
            app = opened("Overview", view, **STATE, **{"table_types": cell(row, heading)})
            assert f": {count(int(table[key].iat[row]), 'record')}" in headings(app)


@BY_NAME
def test_a_cell_of_confusion_opens_its_records(scores: Scores, criterion: Criterion) -> None:
    view = under(criterion)
    records = caches.ledger(DEMO, "rules", scores.settings, criterion.name)
    types = heat_map(opened("Confusion", view, **STATE))["rows"][:-1]
    assert types == sorted({kind for layer in scores.layers(criterion.name) for kind in layer.types})
    assert ("macromolecule" in types, "cell_line" in types) == (criterion is ONE_TYPE, criterion is HALF)
    table = confusion_table(records.confusion(), types, ())
    assert int(table.counts.to_numpy().sum()) == records.total(Query()).records
    for row in range(len(table.rows)):
        for column, value in enumerate(table.counts.iloc[row]):
            if (row, column) == (len(types), len(types)):
                continue
            cell_view = replace(view, cell=(table.rows[row], table.columns[column]))
            app = opened("Confusion", cell_view, **STATE)
            assert f": {count(int(value), 'record')}" in headings(app)


@BY_NAME
def test_errors_lists_and_reads_its_records(scores: Scores, criterion: Criterion) -> None:
    view = under(criterion)
    shown = caches.ledger(DEMO, "rules", scores.settings, criterion.name).page(query_of(view), rows=10_000)
    for row in (0, len(shown) // 2, len(shown) - 1):
        record = shown.iloc[row]
        app = opened("Inspect", replace(view, doc=str(record["document"]), record=str(record["record"])), **STATE)
        assert listed(app) == len(shown) and workbench(app)["at"] == row
        assert card(app)["reason"] == record["reason"]


@BY_NAME
def test_documents_marks_each_span_with_its_decision(scores: Scores, criterion: Criterion) -> None:
    name = criterion.name
    gold, pred = scores.layers(name)
    decisions = scores.decisions(name)
    marked = 0
    for document, doc in enumerate(gold.documents.ids):
        one = caches.reading(DEMO, "rules", scores.settings, name, doc)
        rows = records(one, name)
        for mark in document_marks(one, name, rows):
            place = ("gold", "prediction").index(mark.side)
            layer = (gold, pred)[place]
            span = mark.index + int(layer.first[document])
            assert mark.type == layer.label(span) and mark.start == layer.start[span]
            record = find_record(rows, one, name, mark.record)
            assert record is not None and record[("gold", "pred")[place]] == mark.index
            assert record["decision"] == mark.decision
            assert int(decisions[place][span]) == ["COR", "INC", "PAR", "MIS", "SPU"].index(mark.decision)
            marked += 1
    assert marked == len(gold) + len(pred)


def test_the_card_of_a_span_holds_for_criteria_that_change_types(scores: Scores) -> None:
    """The same span is looked up in each criterion's own layers, where it may have another number, type, or be gone."""
    cards = 0
    for name in ("strict", "half", "one-type"):
        for _, record in records(scores, name).iterrows():
            rows = {row["criterion"]: row for row in record_card_data(scores, name, record)["rows"]}
            assert list(rows) == [*APPLICABLE, "half", "one-type"]
            side, place = ("gold", 0) if record["record"].startswith("g:") else ("pred", 1)
            left_out = record[f"{side}_type"] == "cell_line"
            assert (rows["one-type"]["text"] == "left out") == left_out
            for other in ("strict", "half", "one-type"):
                if rows[other]["text"] == "left out":
                    continue
                layer = scores.layers(other)[place]
                here = [
                    number
                    for number in range(int(layer.first[record["doc"]]), int(layer.first[record["doc"] + 1]))
                    if (layer.start[number], layer.end[number]) == (record[f"{side}_start"], record[f"{side}_end"])
                ]
                codes = {["COR", "INC", "PAR", "MIS", "SPU"][scores.decisions(other)[place][n]] for n in here}
                assert any(f"({code})" in rows[other]["text"] for code in codes)
            cards += 1
    assert cards > 100


def test_a_partner_whose_type_is_merged_is_not_told_as_another_one() -> None:
    def layer(text: str) -> Source:
        return Source.of_uploads([("a.jsonl", text.encode())])

    row = '{{"id": "d", "text": "p53 gene", "spans": [{{"start": 0, "end": {}, "label": "{}"}}]}}\n'
    loaded = load("one", layer(row.format(8, "DNA")), {"s": layer(row.format(3, "protein"))})
    settings = caches.settings_of(loaded.corpus.gold, View(), BOTH)
    found = score_layers(loaded.corpus.gold, loaded.corpus.systems[0], settings)
    record = records(found, "strict").iloc[0]
    assert {row["partner"] for row in record_card_data(found, "strict", record)["rows"]} == {""}


@BY_NAME
@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_a_link_under_an_own_criterion(criterion: Criterion, page: str) -> None:
    merged = ("macromolecule",) if criterion is ONE_TYPE else ("protein",)
    view = replace(under(criterion), type=merged, overview_tab="all-criteria", layout=("all-criteria",))
    app = opened(page, view, **STATE)
    assert not app.warning and address(app)["type"] == merged[0]
    lost = opened(page, replace(view, type=("cell_line",)), **STATE)
    assert bool(lost.warning) == (criterion is ONE_TYPE)


def test_the_views_rules_come_before_the_criterions() -> None:
    view = replace(under(ONE_TYPE), merge=(("cell_type", "cells"),), leaveout=("RNA",), type=("cells", "macromolecule"))
    app = opened("Inspect", view, **STATE)
    assert not app.warning
    settings = caches.settings_of(DEMO.corpus.gold, view, BOTH)
    ledger = caches.ledger(DEMO, "rules", settings, "one-type")
    assert listed(app) == ledger.total(query_of(view)).records
    types = set(ledger.facet_counts(Query(), "gold"))
    assert {"cells", "macromolecule"} <= types and not {"RNA", "cell_type"} & types


@BY_NAME
def test_the_signature_holds_the_rule(scores: Scores, criterion: Criterion) -> None:
    app = opened("Overview", under(criterion), **STATE)
    said = signature(scores, criterion.name)
    assert said in [code.value for code in app.code]
    assert criterion.rule() in said and ("DNA,RNA,protein=macromolecule" in said) == (criterion is ONE_TYPE)


@pytest.mark.parametrize("name", ["strict", ONE_TYPE.name])
def test_the_overlap_curve_is_kept_by_the_types_of_the_criterion(name: str) -> None:
    here = PageContext(DEMO, replace(VIEW, criterion=name), caches.settings_of(DEMO.corpus.gold, VIEW, BOTH))
    table = curve_of(here, "union", same_type=True)
    assert table.equals(overlap_curve(*here.scores().layers(name), "union", same_type=True))
