"""Figures: what they show is what the table holds, and names are no markup."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import pytest

from nereval_core.report.colours import LOOKS, NEUTRAL, PAGE, SYSTEM_HUES, contrast, system_hues
from nereval_core.report.figures.comparison import leaderboard
from nereval_core.report.figures.criteria import sensitivity_dots
from nereval_core.report.figures.parts import SYMBOLS, copied, on_two_lines, short_names, system_markers
from nereval_core.report.figures.scores import NAME_CHARACTERS, WRITTEN_COLUMNS, confusion_map, decision_bars
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables.glossary import DECISIONS, decision_label

TABLE = pd.DataFrame(
    {
        "criterion": ["strict", "<b>own</b>"],
        "COR": [3, 4],
        "INC": [2, 1],
        "PAR": [0, 0],
        "MIS": [1, 1],
        "SPU": [2, 2],
        "POS": [6, 6],
        "ACT": [7, 7],
    }
)


def test_bars_hold_every_decision_of_every_criterion() -> None:
    figure = decision_bars(TABLE, "<i>system</i>")
    assert [trace.name.partition(" ")[2] for trace in figure.data] == [decision_label(code) for code in DECISIONS]
    for trace, code in zip(figure.data, DECISIONS, strict=True):
        assert list(trace.x) == TABLE[code].tolist()
        assert [tuple(place) for place in trace.customdata] == [(name, code) for name in TABLE["criterion"]]
        assert list(trace.y) == ["strict", "&lt;b&gt;own&lt;/b&gt;"]
    title = figure.layout.title.text
    assert "&lt;i&gt;system&lt;/i&gt;" in title and "6 gold spans, 7 predictions" in title


def test_bars_of_nothing() -> None:
    assert "0 gold spans" in decision_bars(TABLE.iloc[:0], "system").layout.title.text


@pytest.mark.parametrize("size", [1, 3])
def test_the_map_carries_its_cells(size: int) -> None:
    names = [f"T{number}" for number in range(size - 1)] + ["missed (MIS)"]
    values = pd.DataFrame([[row * size + column for column in range(size)] for row in range(size)], names, names)
    texts = values.astype(TEXT_DTYPE)
    cells = [[(row, column) for column in range(size)] for row in range(size)]
    figure = confusion_map(values.astype("float64"), texts, cells, "Title", "counts", 9)
    squares = figure.data[1]
    for x, y, place, text in zip(squares.x, squares.y, squares.customdata, squares.text, strict=True):
        assert tuple(place) == (y, x)
        assert text == texts.iat[y, x]
    assert "counts; 9 in all" in figure.layout.title.text


def test_a_large_map_is_legible() -> None:
    names = [f"organisation.of.a.family.with.a.long.name.{number}" for number in range(WRITTEN_COLUMNS + 1)]
    values = pd.DataFrame(9.0, names, names)
    cells = [[() for _ in names] for _ in names]
    figure = confusion_map(values, values.astype(TEXT_DTYPE), cells, "Title", "counts", 9)
    squares, across = figure.data[1], figure.layout.xaxis
    assert set(squares.text) == {""}
    assert squares.hovertext[1] == f"gold {names[0]}, predicted {names[1]}: 9.0"
    assert across.tickangle == -90
    assert len(set(across.ticktext)) == len(names)
    assert max(map(len, across.ticktext)) == NAME_CHARACTERS
    assert figure.layout.height < 700


def dots_table(merges: list[str], countings: list[str]) -> pd.DataFrame:
    """Return two systems under two criteria; the second has no F1 under the second criterion."""
    rows = [
        (system, criterion, merge, counting, None if (system, criterion) == ("b", "x<y") else (place + 1) / 10, 1, 1)
        for place, (merge, counting, criterion, system) in enumerate(
            (merge, counting, criterion, system)
            for merge in merges
            for counting in countings
            for criterion in ("strict", "x<y")
            for system in ("<i>a", "b")
        )
    ]
    table = pd.DataFrame(rows, columns=["system", "criterion", "merge", "counting", "f1", "rank", "POS"])
    for column in ("system", "criterion", "merge", "counting"):
        table[column] = pd.Categorical(table[column], table[column].unique())
    return table


@pytest.mark.parametrize("countings", [["one-to-one"], ["one-to-one", "each-side"]])
def test_dots_are_the_rows_of_the_table(countings: list[str]) -> None:
    table = dots_table(["none", "m&n"], countings)
    figure = sensitivity_dots(table, 1, 2345)
    shown = {tuple(place): x for trace in figure.data for place, x in zip(trace.customdata, trace.x, strict=True)}
    keys = ["system", "criterion", "merge", "counting"]
    assert shown == table.dropna(subset="f1").set_index(keys)["f1"].to_dict()
    for trace in figure.data:
        rows = [round(y) for y in trace.y]
        assert rows == [["strict", "x<y"].index(name) for _, name, _, _ in trace.customdata]
        # A panel for each merge and counting.
        assert len({(merge, counting) for _, _, merge, counting in trace.customdata}) == 1
    looks = {(trace.name, trace.marker.symbol, trace.marker.color) for trace in figure.data}
    assert {name for name, _, _ in looks} == {"&lt;i&gt;a", "b"}
    assert len(looks) == len({symbol for _, symbol, _ in looks}) == len({colour for _, _, colour in looks}) == 2
    assert [trace.showlegend for trace in figure.data].count(True) == 2
    title = figure.layout.title.text
    assert "F1 of 2 systems under 2 matching criteria, by merged types" in title
    assert "n = 1 gold span in 2,345 documents" in title
    assert ("counting one-to-one" in title) == (len(countings) == 1)
    assert "n of" not in title
    table["POS"] += [1000 if name == "x<y" else 0 for name in table["criterion"]]
    assert "; n of x&lt;y: 1,001<" in sensitivity_dots(table, 1, 2345).layout.title.text
    table.loc[table.index[-1], "POS"] = 1002
    assert "; n of x&lt;y: 1,001 to 1,002<" in sensitivity_dots(table, 1, 2345).layout.title.text
    panels = [note.text for note in figure.layout.annotations]
    assert len(panels) == 2 * len(countings) and panels[-1].startswith("types merged: m&amp;n")
    assert list(figure.layout.yaxis.ticktext) == ["strict", "x&lt;y"]


def test_dots_of_one_criterion_and_of_many_panels() -> None:
    table = dots_table([f"m{number}" for number in range(5)], ["one-to-one"])
    figure = sensitivity_dots(
        table[table["criterion"] == "strict"].assign(
            criterion=lambda rows: rows["criterion"].cat.remove_unused_categories()
        ),
        0,
        1,
    )
    assert "under 1 matching criterion," in figure.layout.title.text
    assert "0 gold spans in 1 document;" in figure.layout.title.text
    assert len({trace.yaxis for trace in figure.data}) == 5
    assert len(set(SYMBOLS)) == len(SYMBOLS)


def test_a_system_has_one_hue_and_no_hue_of_a_decision() -> None:
    decisions = {look.colour.hue for look in LOOKS.values()}
    assert not decisions & {*SYSTEM_HUES, NEUTRAL} and len({*SYSTEM_HUES}) == len(SYSTEM_HUES)
    for hue in (*SYSTEM_HUES, NEUTRAL):
        # Graphics need 3 on the page of both themes (WCAG 2, 1.4.11).
        assert min(contrast(hue, PAGE[0][0]), contrast(hue, PAGE[1][0])) >= 3
    names = ["b", "a", "c"]
    assert system_hues(names) == system_hues(reversed(names)) == dict(zip("abc", SYSTEM_HUES, strict=False))
    assert [system_markers(names)[name]["color"] for name in "abc"] == list(SYSTEM_HUES[:3])


def test_long_names_are_cut_in_the_middle_and_never_read_alike() -> None:
    names = ["team10_bundle1_newspapers_en_1", "team10_bundle1_newspapers_en_2", "short"]
    assert short_names(names, 20) == ["team10_…spapers_en_1", "team10_…spapers_en_2", "short"]
    alike = ["team10_bundle1_a_newspapers_en", "team10_bundle2_b_newspapers_en"]
    assert short_names(alike, 20) == alike


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("team10_bundle1_en_1", "team10_bundle1_en_1"),
        ("biobert-large-cased-v1.1-squad-bc5cdr", "biobert-large-cased-<br>v1.1-squad-bc5cdr"),
        ("a-" + "x" * 29, f"a-{'x' * 14}<br>{'x' * 15}"),
        ("x" * 31, f"{'x' * 16}<br>{'x' * 15}"),
        # Names that would read alike stay whole, however long they are.
        ("x<yz" * 20, f"{'x&lt;yz' * 9}x&lt;<br>yz{'x&lt;yz' * 10}"),
    ],
)
def test_long_names_stand_on_two_lines(name: str, label: str) -> None:
    assert on_two_lines(name) == label


def test_names_of_a_ranking_are_whole() -> None:
    name = "biobert-large-cased-v1.1-squad-bc5cdr"
    table = pd.DataFrame({"system": [name, "b"], "f1": [0.8, 0.7], "f1_low": 0.6, "f1_high": 0.9})
    figure = leaderboard(table.assign(criterion="strict"), "95% intervals")
    assert "".join(figure.layout.yaxis.ticktext[0].split("<br>")) == name


def test_a_copy_of_a_figure_is_equal_and_shares_nothing_with_it() -> None:
    figure = go.Figure(go.Bar(x=[1, 2], y=["a", "b"]), {"title": {"text": "Title"}})
    copy = copied(figure).update_layout(title=None)
    assert copied(figure) == figure and figure.layout.title.text == "Title"
    copy.data[0].x = [3]
    assert list(figure.data[0].x) == [1, 2]
