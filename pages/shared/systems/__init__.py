"""Parts of the Systems page: systems with intervals, differences from the chosen one, ranks, all pairs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.analysis.comparison import (
    Comparison,
    against,
    compare_counts,
    headline,
    oriented,
    ranking_sentences,
    significance,
)
from nereval_core.analysis.comparison.measures import SystemResamples, count_units
from nereval_core.analysis.comparison.significance import by_type_tables
from nereval_core.analysis.comparison.tables import (
    baseline_table,
    order_table,
    pair_table,
    power_table,
    rank_table,
    score_table,
    tau_table,
)
from nereval_core.analysis.resampling_units import ResamplingPlan, are_many
from nereval_core.problems import capitalised, name_text
from nereval_core.report.references import (
    FALSE_DISCOVERY,
    HOLM,
    INTERVAL,
    LEAST_DIFFERENCE,
    RANDOMIZATION,
    SEVERAL_RUNS,
)
from nereval_core.scoring import Counts, Scores
from nereval_core.scoring.criteria import SCHEMAS
from nereval_core.tables import cell_text
from pages.shared.components import links, navigation, sentence
from pages.shared.components.export_menu import explain_methods
from pages.shared.components.tables import formula_box
from pages.shared.data import reference_layer
from pages.shared.data.computations import compute, is_large, resample
from pages.shared.data.memo import key_of, memoized
from pages.shared.data.page_context import PageContext
from pages.shared.data.resampling import plan_of, units_of
from pages.shared.streamlit_internals import session_id
from pages.shared.systems import tables as parts
from pages.shared.systems.tables import interval_words, test_words
from pages.shared.view import keys
from pages.shared.view.text import plain, visible

MOST_AT_ONCE = 10
"""Systems that are named before their intervals are there."""


def shown_criteria(page: PageContext, everything: bool) -> tuple[str, ...]:
    """Return the criteria that are compared: the schemas and the chosen one, or all; the chosen one first."""
    few = dict.fromkeys((*SCHEMAS, page.by))
    names = [name for name in page.criteria if everything or name in few]
    return (page.by, *(name for name in names if name != page.by))


def ranked_systems(page: PageContext) -> tuple[str, ...]:
    """Return the systems that are ranked: annotators' layers are among them by choice, or where there are no others."""
    annotators = annotator_layers(page)
    chosen = {page.system, page.view.beside}
    if "with-annotators" in page.view.layout or chosen & annotators or annotators >= set(page.systems):
        return page.systems
    return tuple(name for name in page.systems if name not in annotators)


def annotator_layers(page: PageContext) -> set[str]:
    """Return the names of the layers that were read as annotators'."""
    return {row.name for row in reference_layer.as_read(page.loaded).layers if row.kind == "annotator"}


def choose_annotators(page: PageContext) -> None:
    """Ask whether annotators' layers are ranked too, where there are some beside systems."""
    annotators = annotator_layers(page) & set(page.systems)
    if annotators and not annotators >= set(page.systems) and not {page.system, page.view.beside} & annotators:
        navigation.toggle_layout(
            page, "with-annotators", "Annotators too", "Rank the layers of annotators among the systems."
        )


def comparison_of(page: PageContext, names: tuple[str, ...]) -> Comparison:
    """Compare all ranked systems with one another under some criteria; differences are from the one chosen."""
    ranked = ranked_systems(page)
    # Whichever system is chosen, the resamples are the same.
    start = replace(page, view=replace(page.view, system=ranked[0], beside=""))
    return against(_comparison(start, names, plan_of(page), ranked), page.system)


@key_of.register
def _(comparison: Comparison) -> Hashable:
    # It is an argument beside the page that it is of.
    return comparison.plan, tuple(comparison.scores)


def scores_of(comparison: Comparison) -> dict[str, Scores]:
    """Return the scores that were compared: on pages they are of layers in memory."""
    return {name: scores for name, scores in comparison.scores.items() if isinstance(scores, Scores)}


@memoized("Resampling …")
def _comparison(page: PageContext, names: tuple[str, ...], plan: ResamplingPlan, ranked: tuple[str, ...]) -> Comparison:
    scored = {name: page.scores(name, names) for name in ranked}
    with _order_meanwhile(page, scored):
        resampled = SystemResamples(count_units(scored, names, units_of(page)), plan)
        return replace(resample(resampled, "Resampling", compare_counts, ranked[0]), scores=scored)


@contextmanager
def _order_meanwhile(page: PageContext, scored: Mapping[str, Scores]) -> Iterator[None]:
    """Say F1 of the systems in their order while the block computes intervals and tests, where that takes long."""
    if session_id() is None or not is_large(page.loaded) or page.criterion.unit == "token":
        yield
        return
    values = {system: scores.counts(page.by).f1 for system, scores in scored.items()}
    ordered = sorted(values, key=lambda system: values[system] or 0, reverse=True)
    words: list[str | links.Link] = [f"F1 under {visible(page.by)}: "]
    for number, system in enumerate(ordered[:MOST_AT_ONCE]):
        view = replace(page.view, system=system)
        words.append(f"{', ' if number else ''}{visible(name_text(system))} ")
        words.append(links.Link(cell_text(values[system], places=3), "Overview", view))
    others = f", and {len(ordered) - MOST_AT_ONCE} more" if len(ordered) > MOST_AT_ONCE else ""
    words.append(f"{others}. Intervals and tests follow.")
    place = st.empty()
    with place.container():
        links.mount_sentence(words, "sentence-order")
    yield
    place.empty()


def type_tables(page: PageContext, comparison: Comparison) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return intervals, differences of all pairs and leads of each type, under the chosen criterion."""
    start = replace(page, view=replace(page.view, system=next(iter(comparison.scores)), beside=""))
    return _type_tables(start, comparison)


@memoized("Resampling, by type …")
def _type_tables(page: PageContext, comparison: Comparison) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    scores = scores_of(comparison)
    return compute(
        page.loaded, "Resampling, by type", by_type_tables, scores, page.by, comparison.plan, None, comparison.units
    )


@memoized("Computing what this corpus can show …")
def _power(page: PageContext, comparison: Comparison) -> pd.DataFrame:
    return significance.power_table(comparison.resamples([page.by]), comparison.baseline)


def say_comparison(page: PageContext, comparison: Comparison) -> None:
    """Say in sentences which system is best, what it is surely better than, and whether other criteria agree."""
    if len(comparison.scores) == 1:
        st.info("There is one system only: upload another prediction of the same gold at Start to compare the two.")
    opening = headline(comparison.intervals, comparison.plan, comparison.units)
    lines = comparison.words[:1] if opening is None else ranking_sentences(comparison)
    if opening is not None:
        view = replace(page.view, system=opening.system)
        before = visible(capitalised(opening.before, page.systems), sentence.LONGEST)
        after = visible(f"{opening.after}.", sentence.LONGEST)
        links.mount_sentence([before, links.Link(opening.f1, "Overview", view), after], "sentence-best")
    for line in lines:
        st.markdown(plain(f"{capitalised(line, page.systems)}.", 1_000))
    parts.show_warnings(comparison.warnings, page.systems)


def choose_method(page: PageContext, comparison: Comparison) -> None:
    """Ask what is resampled, and explain the methods on a click."""
    parts.choose_units(page)
    several = len(comparison.scores) > 1
    explain_methods(
        INTERVAL, *((RANDOMIZATION, HOLM, FALSE_DISCOVERY, LEAST_DIFFERENCE, SEVERAL_RUNS) if several else ())
    )


def draw_tables(page: PageContext, comparison: Comparison, tab: str, *, is_open: bool) -> None:
    """Show the numbers of the ranking as tables where they are open; their files are offered in any case."""
    if tab == "types-of-systems":
        by_type(page, comparison, shown=is_open)
        return
    scores_by_criterion(page, comparison, shown=is_open)
    if len(comparison.scores) > 1:
        baseline_differences(page, comparison, shown=is_open)
    if is_open and tab == "across-criteria":
        order_of_systems(page, comparison)


def scores_by_criterion(page: PageContext, comparison: Comparison, *, shown: bool) -> None:
    """Show F1 of each system under each criterion; a cell opens its formula, interval and difference."""
    level = comparison.plan.level
    ordered = rows_by_place(comparison.intervals, comparison, page.by)
    plan, units = comparison.plan, comparison.units
    table = score_table("F1 by matching criterion", ordered, comparison.differences, comparison.leads, level)
    cell = parts.comparison_table(
        page,
        comparison.scores,
        table,
        comparison.intervals,
        choose=table.keys[1:],
        caption=f"{interval_words(plan, units)}. {test_words(plan, units)}; the baseline is {name_text(page.system)}, "
        "the system of the context bar.",
        shown=shown,
    )
    if cell is not None:
        _open_score(page, comparison, cell.column, str(table.rows[cell.row][0]), "scores")


def _open_score(page: PageContext, comparison: Comparison, criterion: str, system: str, place: str) -> None:
    row, difference = (
        _row(table, criterion=criterion, system=system) for table in (comparison.intervals, comparison.differences)
    )
    assert row is not None, "every system has a score under every criterion"
    parts.score_box(page, criterion, system, comparison.scores[system].counts(criterion), row, difference, place=place)


def baseline_differences(page: PageContext, comparison: Comparison, *, shown: bool) -> None:
    """Show each system's difference to the baseline under the chosen criterion with interval and p."""
    rows = rows_by_place(comparison.differences[comparison.differences["criterion"] == page.by], comparison, page.by)
    table = baseline_table(comparison, rows, comparison.family, page.by, over=f"the {comparison.corrected_over}")
    cell = parts.comparison_table(page, comparison.scores, table, rows, choose=table.keys, shown=shown)
    if cell is not None:
        _open_score(page, comparison, page.by, str(table.rows[cell.row][0]), "differences")


def power(page: PageContext, comparison: Comparison) -> None:
    """Show on a click what differences this corpus can show, and how many units one point of F1 needs."""
    with st.expander("What can this corpus show?", key=f"{keys.LIST}power", on_change="rerun") as opened:
        if opened.open:
            rows = rows_by_place(_power(page, comparison), comparison, page.by)
            parts.comparison_table(page, comparison.scores, power_table(comparison, rows, page.by), rows)


def are_types_wanted(page: PageContext) -> bool:
    """Ask whether types are compared, where that takes long."""
    key, is_slow = f"{keys.WIDGET}compare_types", are_many(len(page.loaded.corpus.documents))
    return not is_slow or st.toggle("Compare by type", key=key, help="Of so many documents it takes a while.")


def by_type(page: PageContext, comparison: Comparison, *, shown: bool) -> None:
    """Show F1 by type of each system under the chosen criterion as a table."""
    name = page.by
    intervals, pairs, leads = type_tables(page, comparison)
    against_chosen = oriented(pairs, page.system)
    if intervals.empty:
        st.caption("There are no spans.")
        return
    intervals = rows_by_place(intervals, comparison, name)
    table = score_table(f"F1 by type under {name}", intervals, against_chosen, leads, comparison.plan.level, "type")
    caption = "Holm's correction is over the pairs of systems, within each type. Choose a cell to see how it is made."
    cell = parts.comparison_table(
        page, comparison.scores, table, intervals, choose=table.keys[1:], caption=caption, shown=shown
    )
    if cell is None:
        return
    system, kind = str(table.rows[cell.row][0]), cell.column
    row, difference = (_row(each, type=kind, system=system) for each in (intervals, against_chosen))
    assert row is not None, "every system has a row for every type"
    counts = comparison.scores[system].by_type(name).get(kind, Counts())
    parts.score_box(page, name, system, counts, row, difference, place="types")


def order_of_systems(page: PageContext, comparison: Comparison) -> None:
    """Show the place of each system under each criterion, and how surely the best is the best."""
    table = order_table(comparison, page.by)
    parts.comparison_table(page, comparison.scores, table, table.to_frame())
    places = rank_table(rows_by_place(comparison.intervals, comparison, page.by))
    parts.comparison_table(page, comparison.scores, places, places.to_frame())
    if len(comparison.taus) > 1 and len(comparison.scores) > 2:
        with st.expander("Kendall's tau between all criteria", key=f"{keys.LIST}taus", on_change="rerun") as opened:
            if opened.open:
                parts.comparison_table(page, comparison.scores, tau_table(comparison.taus), comparison.taus)


def pairwise_differences(page: PageContext, comparison: Comparison) -> None:
    """Show the difference of each two systems; a cell says its interval and p."""
    rows = comparison.all_pairs[comparison.all_pairs["criterion"].eq(page.by)]
    table = pair_table(rows, list(comparison.scores), comparison.plan.level, page.by)
    caption = f"F1 of the row's system less that of the column's. {table.notes[0]}."
    cell = parts.comparison_table(page, comparison.scores, table, rows, choose=table.keys[1:], caption=caption)
    if cell is None:
        return
    row_system, column_system = str(table.rows[cell.row][0]), cell.column
    from_column = oriented(rows, column_system)
    both = from_column[from_column["system"].eq(row_system)]
    if both.empty:
        return
    with st.container(border=True):
        parts.say_difference(page, page.by, both.iloc[0], place="pairs")
        for system in (row_system, column_system):
            formula_box(page, page.by, "F1", comparison.scores[system].counts(page.by), None, system=system)


def rows_by_place(table: pd.DataFrame, comparison: Comparison, criterion: str) -> pd.DataFrame:
    """Return rows with the best system under a criterion first; within a system they stay in their order."""
    rows = comparison.intervals[comparison.intervals["criterion"] == criterion]
    order = rows.sort_values("f1", ascending=False, kind="stable", na_position="last")["system"].tolist()
    return table.sort_values("system", key=lambda names: names.map(order.index), kind="stable")


def _row(table: pd.DataFrame, **values: str) -> pd.Series[Any] | None:
    """Return the first row with these values, None where there is none."""
    for name, value in values.items():
        table = table[(table[name] == value).to_numpy()]
    return table.iloc[0] if len(table) else None
