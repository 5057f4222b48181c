"""Axes that outliers do not stretch."""

from __future__ import annotations

import pytest

from nereval_core.report.figures.parts import AxisLimits, limit_axis

NEAR = [0.70, 0.71, 0.72, 0.74, 0.75, 0.78, 0.80]


@pytest.mark.parametrize(
    ("values", "limits"),
    [
        ([], (0.0, 1.0)),
        ([float("nan")], (0.0, 1.0)),
        ([0.5], (0.5, 0.5)),
        (NEAR, (0.70, 0.80)),
        ([0.0, *NEAR], (0.70, 0.80)),
        ([0.0, *NEAR, 9.0, float("nan")], (0.70, 0.80)),
        # Far out, but it hardly stretches the axis.
        ([0.1, 0.5, 0.5, 0.5, 0.9], (0.1, 0.9)),
        # Spread evenly, no value is far out.
        ([0.0, 0.25, 0.5, 0.75, 1.0], (0.0, 1.0)),
    ],
)
def test_values_far_out_do_not_stretch_the_axis(values: list[float], limits: tuple[float, float]) -> None:
    assert limit_axis(values) == AxisLimits(*limits)


def test_an_outlier_stands_at_the_edge_with_its_value() -> None:
    marks = limit_axis([0.0, *NEAR]).marks([0.0, 0.75, 0.99])
    assert marks["x"] == [0.70, 0.75, 0.80]
    assert marks["text"] == ["◂ 0.000", "", "0.990 ▸"]
    low, high = AxisLimits(0.7, 0.8).axis()["range"]
    assert low < 0.7 and high > 0.8
