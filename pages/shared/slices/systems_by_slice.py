"""F1 of all systems by slice: the choice of the slicing, the tables and the figure, for Overview and Systems."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from nereval_core.analysis.multiple_tests import are_significant
from nereval_core.analysis.resampling_units import ResamplingUnits
from nereval_core.analysis.sentences import ranking_method
from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.scores_by_slice import (
    FEW_UNITS_OF_SLICE,
    SLICE_PLAN,
    SMALL_SLICE_SPANS,
    SliceTally,
    tally_slices,
)
from nereval_core.analysis.slices.system_slices import compare_slices
from nereval_core.records.queries import Query
from nereval_core.report.figures.comparison import leaderboard
from nereval_core.review.layer_words import figure_by_names
from pages.shared.components.downloads import count_figure
from pages.shared.components.tables import open_records
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.data.resampling import units_of
from pages.shared.slices import slicing
from pages.shared.view import state
from pages.shared.view.text import count, named, plain

GOLD_ERRORS = ("INC", "PAR", "MIS")
_DECADE = re.compile(r"(\d{4})s")


def choose_slicing(page: PageContext) -> str:
    """Ask for a slicing, which the link holds where it can; return its name."""
    names = slicing.offered_slicings(page)
    widget = state.mirror("slice_by", slicing.chosen_slicing(page, names), slicing.take_slicing)
    return str(
        st.selectbox(
            "Slice by",
            names,
            format_func=lambda name: page.words.by_names(slicings.slicing_title(name)),
            width=420,
            **widget,
        )
    )


def draw_systems(page: PageContext, systems: tuple[str, ...], name: str) -> None:
    """Draw F1 of the systems in each slice; a click lists the errors of a system on the gold spans of a slice."""
    intervals, pairs = slice_tables(page, systems, name)
    if intervals.empty:
        return
    units = units_of(page)
    tests = pairs[pairs["p_holm"].notna()]
    marks = marked_names(intervals)
    method = ranking_method(slice_intervals(units), SLICE_PLAN.level, most_tests(tests), "slice")
    apart = tests[are_significant(tests, SLICE_PLAN.level)]
    whose = f"F1 of {count(len(systems), 'system')}"
    figure = leaderboard(
        with_gaps(intervals).replace({"type": marks}),
        method,
        (units.singular, units.plural),
        apart=apart.replace({"type": marks}),
        facet="type",
        title=f"{whose} by {plain(slicings.title_in_sentence(name))} under {plain(page.by)}",
        among=page.systems,
        resamples=SLICE_PLAN.resamples,
    )
    figure = figure_by_names(figure, page.words)
    facts = (page.view, name, systems)
    chosen = count_figure(figure, "slice_systems", facts, file="systems-by-slice", names=page.systems)
    values = {mark: value for value, mark in marks.items()}
    explain_marks(page, marks)
    if len(chosen) == 2 and chosen[0] in systems and chosen[1] in values:
        system, value = str(chosen[0]), values[chosen[1]]
        context = page if system == page.system else page.of(system)
        query = Query(decision=GOLD_ERRORS, having=((f"gold {name}", value),))
        spans = page.words.by_names("Gold spans")
        title = f"{plain(spans)} of {plain(value)} that {named(system)} misses or gets wrong"
        open_records(context, page.by, query, title, name="slice_systems")


def most_tests(tests: pd.DataFrame) -> int:
    """Return in how many pairs systems were tested at once."""
    return int(tests["tests"].max()) if len(tests) else 0


def slice_intervals(units: ResamplingUnits) -> str:
    """Return how intervals of slices were made, and which slices have none."""
    words = units.intervals_in_words(SLICE_PLAN.level, SLICE_PLAN.resamples)
    return (
        f"{words}; slices in fewer than {FEW_UNITS_OF_SLICE} {units.plural} have no intervals of F1, "
        "and no brackets where their gold spans are in fewer"
    )


def marked_names(intervals: pd.DataFrame) -> dict[str, str]:
    """Return the name of each slice as figures have it, see `few_marked`."""
    return {value: few_marked(value, intervals) for value in intervals["type"].unique()}


def explain_marks(page: PageContext, marks: Mapping[str, str]) -> None:
    """Say what the mark of small slices means, where there are any."""
    if any(mark != value for value, mark in marks.items()):
        few = f"Few: under {SMALL_SLICE_SPANS} gold spans, so that F1 may be far off."
        st.caption(plain(page.words.by_names(few)))


def few_marked(value: str, intervals: pd.DataFrame) -> str:
    """Return the name of a slice, marked where it has too few gold spans for its F1 to say much."""
    few = intervals.loc[intervals["type"].eq(value), "POS"].max() < SMALL_SLICE_SPANS
    return f"{value}, few" if few else value


def with_gaps(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return rows of decades with a row for each run of decades without data; other slices as they are."""
    names = intervals["type"].unique().tolist()
    years = [int(match[1]) if (match := _DECADE.fullmatch(name)) else None for name in names]
    parts = []
    for place, name in enumerate(names):
        before, year = years[place - 1] if place else None, years[place]
        if before is not None and year is not None and year > before + 10:
            first, last = before + 10, year - 10
            gap = f"{first}s" if first == last else f"{first}s to {last}s"
            empty = intervals.iloc[:1].assign(type=f"{gap}: none", POS=0, ACT=0, units=0)
            parts.append(empty.assign(**dict.fromkeys(("f1", "f1_low", "f1_high"), float("nan"))))
        parts.append(intervals[intervals["type"].eq(name)])
    return pd.concat(parts, ignore_index=True) if parts else intervals


@memoized("Slicing all systems …")
def slice_tables(page: PageContext, names: tuple[str, ...], slicing_name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return F1 of the systems in each slice, and the differences of their pairs (see `compare_slices`)."""
    tallies = {}
    for name in names:
        sliced = slicing.sliced_of(page if name == page.system else page.of(name))
        if (values := slicings.find_values(sliced, slicing_name)) is not None:
            tallies[name] = tally_slices(sliced, values)
    return compute(page.loaded, "Slicing all systems", _compared, tallies, page.by, units_of(page))


def _compared(
    tallies: Mapping[str, SliceTally], criterion: str, units: ResamplingUnits
) -> tuple[pd.DataFrame, pd.DataFrame]:
    return compare_slices(tallies, criterion, units)
