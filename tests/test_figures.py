"""Figures: what they show is what the table holds, and names are no markup."""

from __future__ import annotations

import pandas as pd
import pytest

from nereval_core.glossary import DECISIONS, decision_label
from nereval_core.report.figures import confusion_map, decision_bars

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
    texts = values.astype("str")
    cells = [[(row, column) for column in range(size)] for row in range(size)]
    figure = confusion_map(values.astype("float64"), texts, cells, "Title", "counts", 9)
    squares = figure.data[1]
    for x, y, place, text in zip(squares.x, squares.y, squares.customdata, squares.text, strict=True):
        assert tuple(place) == (y, x)
        assert text == texts.iat[y, x]
    assert "counts; 9 in all" in figure.layout.title.text
