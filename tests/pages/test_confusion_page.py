"""Confusion: its pairs beside the map, the open cell in the link, folded types, and cells that fit the width."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.records.queries import Query
from pages.shared.data import caches
from pages.shared.view import View
from pages.shared.view.confusion_layout import confused_pairs, confusion_table, type_groups
from pages.shared.view.link import read_link, write_link
from tests.support.pages import address, headings, heat_map, opened
from tests.support.scripts import Run, run_scripts

BIOLOGY = caches.demo("biology")
VIEW = View(corpus=BIOLOGY.corpus.digest, system="rules")
FINE = [f"{head}.{part}" for head, part in product(("pers", "org", "loc", "time"), ("a", "b", "c", "d"))]


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest) -> Run:
    return run_scripts(request, "heat_map_layout", folder="confusion")


def pairs(app: AppTest) -> dict[str, object]:
    """Return the list of confused pairs."""
    sent = [json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.WhichOneof("data") == "json"]
    return next(data for data in sent if "pairs" in data)


def test_the_pair_confused_most_is_open_from_the_start() -> None:
    app = opened("Confusion", VIEW)
    listed, data = pairs(app), heat_map(app)
    assert listed["chosen"] == 0 and all(pair["example"][1] for pair in listed["pairs"])
    gold, pred = listed["pairs"][0]["key"]
    assert data["chosen"] == [data["keys"].index(gold), data["keys"].index(pred)]
    assert f"**gold {gold}, predicted {pred}: {listed['pairs'][0]['number'].split()[0]} record" in headings(app)
    assert data["texts"][0][0].endswith(" %"), "shares of the row by default"


def test_the_open_cell_stands_in_the_link() -> None:
    view = replace(VIEW, cell=("protein", ""))
    app = opened("Confusion", view)
    assert address(app)["cell"] == "protein,-" and heat_map(app)["chosen"] == [4, 5]
    assert r"**gold protein, predicted missed \(MIS\): " in headings(app)
    assert read_link(write_link(view))[0].cell == view.cell
    app = opened("Confusion", replace(VIEW, cell=("protein", "nothing")))
    assert "cell" not in address(app) and "cell" in app.warning[0].value


@pytest.mark.parametrize("text", ["protein", "a,b,c", "-,-", ",a", ""])
def test_what_is_no_cell_is_dropped_and_told(text: str) -> None:
    view, notices = read_link({"cell": text})
    assert view == View() and len(notices) == 1


def test_links_with_shares_of_rows_show_them() -> None:
    assert read_link({"share": "row"}) == (View(), ())


def test_types_with_a_common_beginning_fold() -> None:
    cells = {("pers.a", "pers.a"): 5, ("pers.a", "pers.b"): 2, ("pers.b", "org.a"): 3, ("org.c", ""): 4}
    groups = type_groups(FINE)
    table = confusion_table(cells, FINE, (), groups=groups)
    assert table.rows == ("pers", "org", "loc", "time", "")
    assert table.counts.to_numpy().sum() == sum(cells.values()) and table.mixed == {"pers": 2}
    assert table.counts.loc["pers", "pers"] == 7 and table.counts.loc["pers", "org"] == 3
    assert groups.query(("pers", "org")) == Query(gold=tuple(FINE[:4]), pred=tuple(FINE[4:8]))
    assert groups.query(("pers.b", "")) == Query(gold=("pers.b",), pred=("",))
    unfolded = confusion_table(cells, FINE, (), groups=type_groups(FINE, unfolded=("pers",)))
    assert unfolded.rows == (*FINE[:4], "org", "loc", "time", "")
    assert confused_pairs(cells) == [(("pers.b", "org.a"), 3), (("pers.a", "pers.b"), 2)]


def test_a_group_named_like_one_of_its_types_is_both() -> None:
    types = ["pers", *FINE]
    folded, unfolded = type_groups(types), type_groups(types, unfolded=("pers",))
    assert folded.types("pers") == ("pers", *FINE[:4]) and unfolded.types("pers") == ("pers",)


@pytest.mark.parametrize("types", [FINE[:8], [f"type{number}" for number in range(20)], []])
def test_few_types_and_types_without_levels_stay_apart(types: list[str]) -> None:
    assert type_groups(types).members == {}


@pytest.mark.parametrize("width", [340, 560, 700, 1100])
@pytest.mark.parametrize("columns", [2, 6, 13, 31, 61])
@pytest.mark.parametrize("longest", [3, 18, 60])
def test_no_map_is_wider_than_its_place(run: Run, width: int, columns: int, longest: int) -> None:
    layout = run(f"mapLayout({width}, {columns}, {longest}, 5)")
    fits = layout["label"] + columns * layout["cell"] + 10 <= width
    assert fits or (layout["cell"] == 4 and width < 400)
    assert layout["font"] >= 10 and layout["font"] <= layout["everyRow"] * layout["row"], "labels do not overlap"
    assert layout["font"] <= layout["everyColumn"] * layout["cell"] or not layout["isUpright"]
    assert not layout["hasTexts"] or layout["cell"] >= 5 * 7


def test_labels_are_cut_in_the_middle_and_told_apart(request: pytest.FixtureRequest) -> None:
    """As `heat_map.js` cuts them, by the width of their characters."""
    run = run_scripts(request, "../components/text_drawing", "heat_map_layout", folder="confusion")
    names = [f"organization{part}LongLabelOforg" for part in ("Company", "Government", "Media", "Other")]
    layout = run("mapLayout(340, 64, 40, 5)")
    room = layout["label"] - run("BESIDE_LABEL")
    fitted = run(f"{json.dumps(names)}.map((name, _, all) => cutLabel(name, {room}, (text) => 6 * text.length, all))")
    assert all("…" in label and len(label) * 6 <= room for label in fitted) and len(set(fitted)) == len(names)
    assert all(name.startswith(label.partition("…")[0]) for name, label in zip(names, fitted, strict=True))
