"""The ranking on a slide: marks and intervals at their places, brackets in words, hostile names as text."""

from __future__ import annotations

import math
import re

import pytest

from nereval_core.report.figures.parts import SYMBOLS
from nereval_core.report.ranking_slide import SHAPES, RankedGroup, RankedSystem, ranking_html

HOSTILE = "</section><script>alert(1)</script>"
BEST = RankedSystem("best", "#7a5fd0", "circle", 0.6, 0.5, 0.7)
WORST = RankedSystem("worst", "#7a8526", "diamond", 0.4, 0.3, 0.45)
NO_F1 = RankedSystem("empty", "#c2405f", "square", math.nan, math.nan, math.nan)


def slide(*groups: RankedGroup) -> str:
    return str(ranking_html("Errors of best", "strict", "F1 of 2 systems", groups, "n = 3 gold spans"))


def test_marks_and_intervals_stand_where_the_axis_says() -> None:
    html = slide(RankedGroup("", [BEST, WORST], [(0, 1, 0)]))
    ticks = re.findall('<i style="left:([0-9.]+)%">(0[0-9.]+)</i>', html)
    scale = {float(number): float(left) for left, number in ticks}
    assert set(scale) >= {0.3, 0.4, 0.5, 0.6, 0.7} and min(scale.values()) == 0 and max(scale.values()) == 100
    marks = [float(left) for left in re.findall(r"clip-path:[^;]*;left:([0-9.]+)%", html)]
    assert marks == pytest.approx([scale[0.6], scale[0.4]], abs=0.01)
    line = re.search('class="nvs-line" style="left:([0-9.]+)%;width:([0-9.]+)%', html)
    assert line is not None
    assert float(line[1]) == pytest.approx(scale[0.5], abs=0.01)
    assert float(line[2]) == pytest.approx(scale[0.7] - scale[0.5], abs=0.02)
    assert "0.600" in html and "[0.500, 0.700]" in html and "n = 3 gold spans" in html


def test_a_bracket_says_who_is_better_and_spans_both() -> None:
    html = slide(RankedGroup("", [BEST, NO_F1, WORST], [(0, 2, 0)]))
    assert 'aria-label="best is significantly better than worst"' in html
    assert 'class="nvs-bracket" style="grid-row:1/span 3;grid-column:3"' in html


def test_by_type_a_legend_names_the_systems_and_each_type_its_rows() -> None:
    html = slide(RankedGroup("loc (n=181)", [BEST, WORST], []), RankedGroup("pers (n=9)", [WORST, BEST], [(0, 1, 0)]))
    assert html.index("nvs-legend") < html.index("loc (n=181)") < html.index("pers (n=9)")
    assert re.findall('nvs-facet" style="grid-row:([^;]*);', html) == ["1/span 2", "4/span 2"]
    assert 'nvs-bracket" style="grid-row:4/span 2' in html


@pytest.mark.parametrize("groups", [[], [RankedGroup("", [NO_F1], [])]], ids=["nothing", "no F1"])
def test_what_has_no_f1_has_no_mark_in_the_plot(groups: list[RankedGroup]) -> None:
    html = slide(*groups)
    assert "left:nan" not in html and "nvs-line" not in html and ("–" in html) == bool(groups)


def test_equal_scores_at_the_ends_of_the_scale_have_an_axis() -> None:
    for value in (0.0, 1.0):
        html = slide(RankedGroup("", [BEST._replace(f1=value, low=value, high=value)], []))
        assert all(0 <= float(left) <= 100 for left in re.findall("left:([0-9.]+)%", html))


def test_hostile_names_are_text() -> None:
    for name in ("", HOSTILE):
        html = str(ranking_html(HOSTILE, HOSTILE, HOSTILE, [RankedGroup(name, [BEST._replace(name=HOSTILE)], [])], ""))
        assert "<script" not in html and "&lt;script&gt;" in html


def test_every_symbol_of_figures_has_its_outline() -> None:
    assert set(SHAPES) == set(SYMBOLS)
