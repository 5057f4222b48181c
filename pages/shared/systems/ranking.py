"""The ranking of systems: one figure of all together, by type, slice, criterion or published scorer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.analysis.comparison import Comparison
from nereval_core.analysis.comparison.measures import refused_systems
from nereval_core.analysis.comparison.significance import measure_tables
from nereval_core.analysis.comparison.tables import ranking_table
from nereval_core.analysis.methods import Methods, methods, methods_by_slice
from nereval_core.analysis.multiple_tests import are_significant
from nereval_core.analysis.sentences import ranking_method
from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.scores_by_slice import SLICE_PLAN
from nereval_core.conventions import conventions
from nereval_core.problems import FormatError, name_text
from nereval_core.report.figures.comparison import leaderboard
from nereval_core.review.layer_words import figure_by_names
from pages.shared import systems
from pages.shared.components.downloads import count_figure
from pages.shared.data import caches, masks
from pages.shared.data.computations import compute
from pages.shared.data.convention_results import NO_F1
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.slices import slicing, systems_by_slice
from pages.shared.systems.tables import comparison_table, rough_words
from pages.shared.view import keys, state
from pages.shared.view.text import plain, show_problems

BY_SLICE = "slices-of-systems"
MOST_FACETS = 16
"""Types or slices that are drawn at first, those with most gold spans."""
SCORERS = tuple(name for name, convention in conventions().items() if convention.takes_layers)
"""Published scorers that score what was read already."""


@dataclass(frozen=True)
class Ranking:
    """The rows of the figure and the differences of all pairs of systems, in each value of a column.

    `facet` says what these values are: "type", "slice" (both in the column `type`), "criterion" or "scorer".
    """

    intervals: pd.DataFrame
    pairs: pd.DataFrame
    facet: str
    title: str
    resamples: int

    @property
    def column(self) -> str:
        """The column that has the facet of a row."""
        return "type" if self.facet == "slice" else self.facet


def draw_ranking(page: PageContext, comparison: Comparison, tab: str, other: str) -> Ranking | None:
    """Draw the ranking of a tab, and return it if there is one.

    A click on a system makes it B, and the system that was B before becomes A.
    """
    ranking = RANKINGS[tab](page, comparison)
    if ranking is None or ranking.intervals.empty:
        st.caption("There is nothing to rank here.")
        return None
    every, ranking = ranking, _bounded(ranking, tab)
    pair = (page.system, other) if other else ("", "")
    figure, facts = _figure(page, comparison, ranking, pair), (page.view, tab, len(ranking.intervals))
    count_figure(
        figure,
        "ranking",
        facts,
        file=tab or "ranking",
        names=page.systems,
        # Which systems are A and B is of the page alone.
        make_saved=partial(_figure, page, comparison, ranking, ("", "")),
        on_choose=choose_pair(*pair),
    )
    if other:
        st.caption("Click two systems to compare them below: the last two are A and B.")
    if ranking.facet == "slice":
        systems_by_slice.explain_marks(page, systems_by_slice.marked_names(ranking.intervals))
    if ranking.facet == "type":
        st.caption(rough_words(ranking.intervals, comparison.units))
    return every


def draw_numbers(page: PageContext, comparison: Comparison, ranking: Ranking, tab: str, *, is_open: bool) -> None:
    """Show the numbers of the ranking as tables where they are open; their files are offered in any case."""
    if ranking.facet not in ("slice", "scorer"):
        systems.draw_tables(page, comparison, tab, is_open=is_open)
        return
    heading = "published scorer" if ranking.facet == "scorer" else "slice"
    table = ranking_table(ranking.title, ranking.intervals, ranking.column, heading)
    comparison_table(
        page,
        comparison.scores,
        table,
        ranking.intervals,
        method=f"{_intervals_in_words(comparison, ranking)}.",
        resamples=ranking.resamples,
        shown=is_open,
    )


def shown_methods(page: PageContext, comparison: Comparison) -> Methods:
    """Return the methods of what the page shows: slices are resampled less often than the corpus as a whole."""
    if page.view.systems_tab != BY_SLICE:
        return methods(comparison)
    name = slicing.chosen_slicing(page, slicing.offered_slicings(page))
    contexts = [page if system == page.system else page.of(system) for system in comparison.scores]
    tables = [(context, slicing.slices_of(context, name)) for context in contexts]
    reports = [slicing.report_of_page(context, {name: table}) for context, table in tables if table is not None]
    return methods_by_slice(comparison, reports) if reports else methods(comparison)


def choose_pair(first: str, second: str) -> Callable[[list[Any]], None]:
    """Return the callback of a click: the system clicked becomes B, the system that was B becomes A."""

    def choose(data: list[Any]) -> None:
        if (system := str(data[0])) != second:
            state.update(system=second or system, beside=system if second else "")

    return choose


def method_and_tests(comparison: Comparison, ranking: Ranking) -> tuple[str, pd.DataFrame]:
    """Return how a ranking was made, in lines, and its significant differences."""
    plan, intervals = comparison.plan, _intervals_in_words(comparison, ranking)
    tests = ranking.pairs[ranking.pairs["p_holm"].notna()]
    method = ranking_method(intervals, plan.level, systems_by_slice.most_tests(tests), ranking.facet)
    return method, tests[are_significant(tests, plan.level)]


def _intervals_in_words(comparison: Comparison, ranking: Ranking) -> str:
    if ranking.facet == "slice":
        return systems_by_slice.slice_intervals(comparison.units)
    return comparison.units.intervals_in_words(comparison.plan.level, ranking.resamples)


def _figure(page: PageContext, comparison: Comparison, ranking: Ranking, pair: tuple[str, str]) -> Any:
    units = comparison.units
    method, apart = method_and_tests(comparison, ranking)
    intervals = ranking.intervals
    if ranking.facet == "slice":
        marks = {"type": systems_by_slice.marked_names(intervals)}
        intervals, apart = intervals.replace(marks), apart.replace(marks)
    figure = leaderboard(
        intervals,
        method,
        (units.singular, units.plural),
        apart=apart,
        facet=ranking.column,
        title=ranking.title,
        pair=pair,
        among=page.systems,
        resamples=ranking.resamples,
    )
    return figure_by_names(figure, page.words)


def _bounded(ranking: Ranking, tab: str) -> Ranking:
    """Keep the facets with most gold spans, unless the reader asks for all."""
    if not ranking.facet or "POS" not in ranking.intervals:
        return ranking
    spans = ranking.intervals.groupby(ranking.column, sort=False)["POS"].max()
    if len(spans) <= MOST_FACETS or st.toggle(f"All {len(spans)}", key=f"{keys.WIDGET}all_facets_{tab}"):
        return ranking
    largest = spans.sort_values(ascending=False, kind="stable").index[:MOST_FACETS]
    rows, pairs = (table[table[ranking.column].isin(largest)] for table in (ranking.intervals, ranking.pairs))
    return Ranking(rows, pairs, ranking.facet, ranking.title, ranking.resamples)


def whole(page: PageContext, comparison: Comparison) -> Ranking:
    """Return the ranking on all types together under the chosen criterion."""
    rows, pairs = (table[table["criterion"].eq(page.by)] for table in (comparison.intervals, comparison.all_pairs))
    return Ranking(rows, pairs, "", _title(rows, f"under {page.by}"), comparison.plan.resamples)


def _by_criterion(page: PageContext, comparison: Comparison) -> Ranking:
    rows = comparison.intervals
    return Ranking(rows, comparison.all_pairs, "criterion", _title(rows, "by criterion"), comparison.plan.resamples)


def _by_type(page: PageContext, comparison: Comparison) -> Ranking | None:
    return by_type(page, comparison) if systems.are_types_wanted(page) else None


def by_type(page: PageContext, comparison: Comparison) -> Ranking:
    """Return the ranking on each type, those with most gold spans first."""
    rows, pairs, _ = systems.type_tables(page, comparison)
    spans = rows.groupby("type")["POS"].transform("max")
    rows = rows.assign(spans=spans).sort_values("spans", ascending=False, kind="stable")
    return Ranking(rows, pairs, "type", _title(rows, f"by type under {page.by}"), comparison.plan.resamples)


def _by_slice(page: PageContext, comparison: Comparison) -> Ranking | None:
    name = systems_by_slice.choose_slicing(page)
    rows, pairs = systems_by_slice.slice_tables(page, tuple(comparison.scores), name)
    title = _title(rows, f"by {slicings.title_in_sentence(name)} under {page.by}")
    return Ranking(systems_by_slice.with_gaps(rows), pairs, "slice", title, SLICE_PLAN.resamples)


def _by_scorer(page: PageContext, comparison: Comparison) -> Ranking | None:
    formats = {row.name: row.format for row in page.loaded.layers}
    own = [name for name in SCORERS if formats.get("gold") in conventions()[name].formats]
    if page.convention is not None and page.convention.name in SCORERS:
        chosen = [page.convention.name]
    else:
        chosen = [name for name in own if not _refusal(page, comparison, name)]
    scorers = st.multiselect("Published scorers", SCORERS, chosen, key=f"{keys.WIDGET}ranking_scorers")
    refusals = {name: _refusal(page, comparison, name) for name in scorers}
    if refused := [line for lines in refusals.values() for line in lines]:
        show_problems(refused)
    applicable = [name for name in scorers if not refusals[name]]
    for line in (line for name in applicable for line in _gaps(page, comparison, name)):
        st.caption(plain(line, 400))
    scorer_tables = [_as_scorer(page, comparison), *(_ranked(page, comparison, name) for name in applicable)]
    rows, pairs = (pd.concat(tables, ignore_index=True) for tables in zip(*scorer_tables, strict=True))
    rows, pairs = (table.rename(columns={"criterion": "scorer"}).assign(criterion=page.by) for table in (rows, pairs))
    return Ranking(rows, pairs, "scorer", _title(rows, "by published scorer"), comparison.plan.resamples)


def scorer_like(criterion: str, name: str) -> str:
    """Return a scorer with its evaluation that means the same as a criterion, by its name alone where it has none."""
    if criterion == "strict":
        # Evaluations like it are what a scorer is ranked by anyway.
        return name
    part = next((part for part, twin in conventions()[name].twins.items() if part and twin == criterion), "")
    return f"{name}/{part}" if part else name


def _refusal(page: PageContext, comparison: Comparison, name: str) -> list[str]:
    """Return in lines why a scorer gives no system an F1, none where it gives one."""
    refused = _refused_systems(page, comparison, scorer_like(page.by, name))
    if len(refused) == len(comparison.scores):
        problems = dict.fromkeys(problem for error in refused.values() for problem in error.problems)
        return [f"{name}: {masks.mask_message(str(problem))}" for problem in problems]
    try:
        values, _ = _ranked(page, comparison, name)
        if values["f1"].notna().any():
            return []
        # Counted over layers, a scorer has no figures where its program stops; over the files it says why.
        caches.outcome(page.loaded, page.system, name)
    except FormatError as error:
        return [f"{name}: {masks.mask_message(str(problem))}" for problem in error.problems]
    return [f"{name}: it has no F1 of these systems; it needs {conventions()[name].needs}"]


def _gaps(page: PageContext, comparison: Comparison, name: str) -> list[str]:
    """Return in lines why a scorer gives some systems no F1 while it gives one to others."""
    reasons = {
        system: masks.mask_message(str(error.problems[0]))
        for system, error in _refused_systems(page, comparison, scorer_like(page.by, name)).items()
    }
    values, _ = _ranked(page, comparison, name)
    without = values.loc[values["f1"].isna(), "system"].tolist()
    reasons = dict.fromkeys(without, NO_F1) | reasons
    return [f"{name} has no F1 of {name_text(system)}: {reason}." for system, reason in reasons.items()]


def _ranked(page: PageContext, comparison: Comparison, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return F1 and differences of the systems that a scorer does not refuse."""
    refused = _refused_systems(page, comparison, scorer_like(page.by, name))
    return _scorer_tables(
        page,
        comparison,
        scorer_like(page.by, name),
        tuple(system for system in comparison.scores if system not in refused),
    )


@memoized("Scoring as the published scorer does …")
def _refused_systems(page: PageContext, comparison: Comparison, name: str) -> dict[str, FormatError]:
    """Return the systems that a scorer refuses, each with its problems."""
    try:
        _scorer_tables(page, comparison, name, tuple(comparison.scores))
    except FormatError:
        return compute(
            page.loaded,
            "Published scorers",
            refused_systems,
            systems.scores_of(comparison),
            name,
            comparison.units,
        )
    return {}


def _as_scorer(page: PageContext, comparison: Comparison) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return our own numbers under the chosen criterion, which the scorers stand below."""
    ranking = whole(page, comparison)
    return ranking.intervals[["criterion", "system", "f1", "f1_low", "f1_high"]], ranking.pairs


@memoized("Resampling published scorers …")
def _scorer_tables(
    page: PageContext, comparison: Comparison, name: str, names: tuple[str, ...]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    scores = systems.scores_of(comparison)
    values, pairs = compute(
        page.loaded,
        "Resampling published scorers",
        measure_tables,
        {system: scores[system] for system in names},
        [],
        [],
        None,
        comparison.plan,
        comparison.units,
        scorers=(name,),
    )
    columns = {"value": "f1", "low": "f1_low", "high": "f1_high"}
    return values.rename(columns=columns)[["criterion", "system", *columns.values()]], pairs


def _title(rows: pd.DataFrame, words: str) -> str:
    return f"F1 of {rows['system'].nunique()} systems {plain(words)}"


RANKINGS: Mapping[str, Callable[[PageContext, Comparison], Ranking | None]] = {
    "": whole,
    "types-of-systems": _by_type,
    BY_SLICE: _by_slice,
    "across-criteria": _by_criterion,
    "published-rankings": _by_scorer,
}
"""The rankings by the word of their tab in a link."""
