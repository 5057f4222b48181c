"""Errors by class: what table, figure and sentence count is what they list, and ratios show their formula."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from nereval_core.analysis.errors import ErrorReport, error_report
from nereval_core.analysis.errors.error_classes import CLASSES
from nereval_core.conventions.faireval.matching import CLASSES as CLASSES_OF_FAIREVAL
from nereval_core.scoring import score_layers
from pages.shared.data.loading import load_demo
from pages.shared.data.memo import MEMO
from pages.shared.view import View
from tests.pages.test_scored_pages import root, served  # noqa: F401
from tests.support.pages import (
    GOLD,
    VIEW,
    address,
    cell,
    headings,
    opened,
    point,
    sentence_links,
    sentences,
    settled,
    sound,
    upload,
)
from tests.support.workbench import workbench

BIOLOGY = load_demo("biology").corpus
SHOWN = View(corpus=BIOLOGY.digest, system="perceptron", inspect_tab="by-class")
FOUND = error_report(score_layers(BIOLOGY.gold, BIOLOGY.system("perceptron")), ("strict", "type"))


def listed(text: str) -> list[int]:
    """Return the numbers of records that the lists of a page say they have."""
    return [int(number.replace(",", "")) for number in re.findall(r": ([\d,]+) records?\*\*", text)]


def test_the_view_is_chosen_and_stands_in_the_link() -> None:
    app = opened("Inspect", replace(SHOWN, inspect_tab="records"))
    assert app.text_input(key="widget_q") and not app.dataframe
    app = sound(app.segmented_control(key="widget_inspect_tab").set_value("by-class").run())
    assert address(app)["inspect_tab"] == "by-class"
    assert sorted(app.dataframe[0].value["error class"]) == sorted(("as it is", *CLASSES))
    app = sound(app.segmented_control(key="widget_inspect_tab").set_value("records").run())
    assert address(app)["inspect_tab"] == "records" and app.text_input(key="widget_q")


def test_counts_of_classes_open_their_records() -> None:
    table = FOUND.classes["strict"]
    for row, column in ((0, "records"), (1, "share"), (3, "records"), (7, "records")):
        app = opened("Inspect", SHOWN, table_error_classes=cell(row + 1, column))
        assert listed(headings(app)) == [table["records"].iat[row]]
        assert app.dataframe[0].value["records"].tolist() == [table["records"].sum(), *table["records"]]


def test_gains_below_zero_are_explained() -> None:
    view = replace(SHOWN, corpus=load_demo("newspapers").corpus.digest, system="rules")
    said = {
        name: [one.value for one in opened("Inspect", replace(view, criterion=name)).caption]
        for name in ("strict", "lenient")
    }
    falls = [any("F1 falls if spurious alone is mended" in line for line in lines) for lines in said.values()]
    assert falls == [False, True]


@pytest.mark.parametrize(("column", "name"), [("F1", "f1"), ("P", "precision"), ("F1 so far", "cumulative_f1")])
def test_ratios_open_the_formula_of_the_mended_predictions(column: str, name: str) -> None:
    app = opened("Inspect", replace(SHOWN, criterion="type"), table_error_classes=cell(3, column))
    value = FOUND.classes["type"][name].iat[2]
    made, now = (code.value for code in app.code if " = " in code.value)
    assert made.endswith(f"= {value:.3f}") and now.startswith(made[:2])
    assert "mended, under type" in headings(app)


def parts(found: ErrorReport) -> list[tuple[str, int, str, int]]:
    """Return a part, a row, a column and the number there, of each table that breaks the classes down."""
    order = found.classes["strict"]["class"].tolist()
    (kind, name, number), *_ = found.types.sort_values("records", ascending=False).itertuples(index=False, name=None)
    (of, ends, wrong), *_ = found.ends.sort_values("records", ascending=False).itertuples(index=False, name=None)
    return [
        ("type", order.index(kind), name, number),
        ("ends", found.ends["ends"].unique().tolist().index(ends), of, wrong),
        ("words", 0, "records", int(found.patterns["records"].iat[0])),
    ]


@pytest.mark.parametrize(("part", "row", "column", "number"), parts(FOUND))
def test_what_is_broken_down_opens_its_records(part: str, row: int, column: str, number: int) -> None:
    key = {"type": "table_class_types", "ends": "table_class_ends", "words": "table_error_patterns"}[part]
    view = replace(SHOWN, classes_by="" if part == "type" else part)
    app = opened("Inspect", view, **{key: cell(row, column)})
    assert listed(headings(app)) == [number]
    button = next(button for button in app.button if "Open in Inspect" in button.label)
    app = sound(button.click().run())
    # On the page itself the list takes the place of the classes.
    assert "inspect_tab" not in address(app) and "has:" in address(app)["q"]
    assert workbench(app)["total"] == number


FAIR = FOUND.fair()


@pytest.mark.parametrize("name", ["TP", "BES", "LBE", "FP"])
def test_counts_of_faireval_open_their_records(name: str) -> None:
    row = CLASSES_OF_FAIREVAL.index(name)
    for column in ("number", "which is"):
        app = opened("Inspect", replace(SHOWN, classes_by="faireval"), table_fair_classes=cell(row, column))
        assert listed(headings(app)) == [FAIR.classes["records"].iat[row]] == [FAIR.records[name]]
    (button,) = (button for button in app.button if "Open in Inspect" in button.label)
    app = sound(button.click().run())
    assert address(app)["q"] == f'has:"fair {name}=yes"'
    assert workbench(app)["total"] == FAIR.records[name]


def test_ratios_of_faireval_open_their_formulas() -> None:
    for row, (evaluation, column, formula) in enumerate(
        (("traditional", "P", "TP / (TP + FP)"), ("fair", "R", "TP / (TP + FN + (LE + BE + LBE) × 0.5)"))
    ):
        app = opened("Inspect", replace(SHOWN, classes_by="faireval"), table_fair_scores=cell(row, column))
        value = FAIR.ratios.iloc[row][{"P": "precision", "R": "recall"}[column]]
        (code,) = (code.value for code in app.code if formula in code.value)
        assert code.endswith(f" = {value:.4f}") and FAIR.ratios["evaluation"].iat[row] == evaluation
    (link,) = (link for link in app.get("page_link") if "figures by type" in link.label)
    assert "criterion=faireval" in str(link.proto)


def test_nothing_is_counted_as_faireval_does_until_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("paired unasked")

    MEMO.clear()
    monkeypatch.setattr(ErrorReport, "fair", refuse)
    assert opened("Inspect", SHOWN).dataframe


def test_spans_that_do_not_fit_tokens_are_refused_kindly() -> None:
    rows = [
        {"id": "d", "text": "xx xx", "tokens": [[0, 2], [3, 5]], "spans": [{"start": start, "end": 5, "label": "*b*"}]}
        for start in (3, 4)
    ]
    app = upload(opened("Start"), *(json.dumps(row) + "\n" for row in rows))
    view = View(corpus=address(app)["corpus"], inspect_tab="by-class", classes_by="faireval")
    (line,) = (info.value for info in opened("Inspect", view).info)
    assert line.startswith("FairEval cannot count these spans") and "does not begin and end with tokens" in line
    view = replace(view, inspect_tab="records", classes_by="", q='has:"fair FN=yes"')
    assert workbench(opened("Inspect", view))["total"] == 0


def test_what_classes_are_broken_down_by_is_in_the_link() -> None:
    app = sound(opened("Inspect", SHOWN).segmented_control(key="widget_classes_by").set_value("words").run())
    assert address(app)["classes_by"] == "words"
    again = opened("Inspect", replace(SHOWN, classes_by="words"))
    assert again.segmented_control(key="widget_classes_by").value == "words"


def test_it_is_said_why_missed_and_spurious_are_counted_twice() -> None:
    counts = FOUND.scores.counts("strict")
    classes = dict(zip(FOUND.classes["strict"]["class"], FOUND.classes["strict"]["records"], strict=True))
    line = " ".join(caption.value for caption in opened("Inspect", SHOWN).caption)
    assert counts.mis > classes["missed"] and counts.spu > classes["spurious"]
    assert (
        f"{counts.mis} missed gold spans" in line and f"{classes['missed']} have that class, the others merged" in line
    )


def test_the_figure_opens_the_records_of_a_class() -> None:
    table = FOUND.classes["strict"]
    app = opened("Inspect", SHOWN, table_gains=point("merged"))
    assert listed(headings(app)) == [table["records"][(table["class"] == "merged").to_numpy()].iat[0]]
    for wrong in (point("nothing"), point(), {"selection": {"points": []}}):
        assert listed(headings(opened("Inspect", SHOWN, table_gains=wrong))) == []


def test_the_numbers_of_the_sentence_open_their_records() -> None:
    numbers = [part for part in FOUND.sentence() if not isinstance(part, str)]
    assert len(numbers) == 3
    views = dict(sentence_links(opened("Inspect", SHOWN)))
    for part in numbers:
        app = opened("Inspect", views[part.text])
        assert workbench(app)["total"] == part.number and address(app).get("inspect_tab") in (None, "records")


def test_merged_types_and_types_left_out_count() -> None:
    view = replace(SHOWN, merge=(("DNA", "acid"), ("RNA", "acid")), leaveout=("protein",))
    app = opened("Inspect", view, table_error_classes=cell(1, "records"))
    assert listed(headings(app)) == [app.dataframe[0].value["records"].iat[1]]
    assert list(app.dataframe[-2].value.columns) != [] and "protein" not in app.dataframe[-2].value.columns


def test_types_may_be_called_like_our_columns() -> None:
    kinds = ("class", "_index", "ends", "*")
    text = "abcd efgh"
    rows = {
        "gold": [{"start": i, "end": i + 1, "label": kind} for i, kind in enumerate(kinds)],
        "system": [{"start": i + 5, "end": i + 6, "label": kind} for i, kind in enumerate(kinds)],
    }
    gold, system = (json.dumps({"id": "d", "text": text, "spans": spans}) + "\n" for spans in rows.values())
    app = upload(opened("Start"), gold, system)
    view = View(corpus=address(app)["corpus"], inspect_tab="by-class")
    app = opened("Inspect", view, table_class_types=cell(0, "class"))
    assert set(app.dataframe[1].value.columns[1:]) == {"class", "(_index)", "ends", "*"}
    assert listed(headings(app)) == [1]


def test_without_errors_there_is_nothing_to_mend() -> None:
    app = settled(upload(opened("Start"), GOLD, GOLD))
    app = opened("Inspect", View(corpus=address(app)["corpus"], inspect_tab="by-class"))
    assert any(sentence.startswith("There are no errors") for sentence in sentences(app))
    app = opened("Inspect", View(corpus=address(app)["corpus"], inspect_tab="by-class", classes_by="words"))
    assert any("No record has class boundary only" in caption.value for caption in app.caption)


@pytest.mark.usefixtures("served")
def test_a_scored_folder_says_where_to_go() -> None:
    from pages.shared.data import caches, scored_folders

    folder = caches.served_folder()
    assert folder is not None
    loaded = scored_folders.open_folder(folder / "scored", folder)
    app = opened("Inspect", View(corpus=loaded.corpus.digest, inspect_tab="by-class"))
    assert "looks at all spans at once" in app.info[0].value and not app.dataframe


def test_a_link_from_elsewhere_lists_records() -> None:
    app = opened("Overview", replace(VIEW, inspect_tab="by-class"), table_criteria=cell(0, "INC"))
    (link,) = (link for link in app.get("page_link") if "Open in Inspect" in link.label)
    assert "by-class" not in str(link.proto)
