"""Tables of the Systems page: their files, the box that a cell opens, and the records in which two systems differ."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.analysis.bootstrap import FEW_UNITS
from nereval_core.analysis.resampling_units import (
    RUNS_PREFIX,
    WITHIN,
    ResamplingPlan,
    ResamplingUnits,
    resampling_choices,
    resampling_units,
)
from nereval_core.analysis.sentences import holm_in_words, name_list, significance_in_words
from nereval_core.ledger.attributes.comparisons import ONLY_OTHER, ONLY_THIS
from nereval_core.options import INTERVAL_METHOD
from nereval_core.problems import FormatError, capitalised, name_text
from nereval_core.records.queries import Query
from nereval_core.report.signature import signature
from nereval_core.scoring import Counts
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.scoring.protocols import CountedScores
from nereval_core.tables import DAGGER, UNDEFINED, Table, p_value_sentence, signed
from pages.shared.components import navigation
from pages.shared.components.tables import ChosenCell, formula_box, open_records, show_table, table_export
from pages.shared.data import caches, masks
from pages.shared.data.page_context import PageContext
from pages.shared.data.resampling import plan_of, units_of
from pages.shared.view import state
from pages.shared.view.queries import view_of
from pages.shared.view.text import count, named, plain, show_problems


def choose_units(page: PageContext) -> None:
    """Ask for the units of resampling, and show problems of the units that the link names."""
    documents = page.loaded.corpus.documents
    names = resampling_choices(documents)
    runs = [f"{RUNS_PREFIX}{length}" for length in (10, 20, 50) if 2 * length <= len(documents)]
    now = units_of(page)
    unit, _, stratum = now.by.partition(WITHIN)
    choices = list(dict.fromkeys((*names, *runs, unit)))
    plurals = {unit_name: resampling_units(documents, unit_name).plural for unit_name in choices}

    def take(unit: str, stratum: str) -> None:
        by = f"{unit}{WITHIN}{stratum}" if stratum else unit
        state.update(resample="" if by == names[0] else by)

    if len(choices) > 1:
        with st.container(horizontal=True):
            st.selectbox(
                "Resample",
                choices,
                format_func=plurals.__getitem__,
                **state.mirror("resample_by", unit, lambda unit: take(unit, stratum)),
                width=420,
                help="Intervals and tests take these for independent of one another.",
            )
            if names[1:]:
                st.selectbox(
                    "Within each",
                    ["", *names[1:]],
                    format_func=lambda key: key or "the whole corpus",
                    **state.mirror("resample_within", stratum, lambda stratum: take(unit, stratum)),
                    width=220,
                    help="Where the shares of its values are fixed, as those of genres: as many units as each value "
                    "has are drawn from it.",
                )
        st.caption(f"Drawn: {plain(now.description, 200)}.")
    if page.view.resample and page.view.resample != now.by:
        try:
            resampling_units(documents, page.view.resample)
        except FormatError as error:
            show_problems([masks.mask_message(str(problem)) for problem in error.problems])


def show_warnings(lines: Iterable[str], names: Iterable[str] = ()) -> None:
    """Show warnings about intervals; those that begin with one of the `names` begin with it as it is."""
    for line in lines:
        st.markdown(f":orange-badge[intervals] {plain(f'{capitalised(line, names)}.', 500)}")


def rough_words(intervals: pd.DataFrame, units: ResamplingUnits) -> str:
    """Return a sentence on the types or slices in which too few units have spans for a bootstrap, "" without any."""
    most = intervals.groupby("type", sort=False)["units"].max()
    rough = [str(name) for name in most.index[most < FEW_UNITS]]
    if not rough:
        return ""
    which = "all" if len(rough) == len(most) else name_list(rough)
    return plain(f"Rough intervals, over fewer than {FEW_UNITS} {units.plural}: {which}.", 400)


def interval_words(plan: ResamplingPlan, units: ResamplingUnits) -> str:
    """Return the method of the intervals in words."""
    return (
        f"{plan.level:.0%} intervals: {INTERVAL_METHOD} over {units.plural}, {plan.resamples:,} resamples, "
        f"seed {plan.seed}"
    )


def test_words(plan: ResamplingPlan, units: ResamplingUnits) -> str:
    """Return the meaning of a dagger in words."""
    return (
        f"{DAGGER} differs from the baseline: {significance_in_words(plan.level)} by approximate randomization "
        f"({plan.resamples:,} random swaps of {units.plural}), {holm_in_words('the pairs of systems')}"
    )


def comparison_table(
    page: PageContext,
    scores: Mapping[str, CountedScores],
    table: Table,
    data: pd.DataFrame,
    *,
    choose: Collection[str] = (),
    caption: str | None = None,
    method: str = "",
    resamples: int | None = None,
    shown: bool = True,
) -> ChosenCell | None:
    """Show a table of the comparison with its files; return the cell chosen, which the page opens.

    Programs get the `data`. `method` says how intervals and tests were made, where it is not as `interval_words` and
    `test_words` have it. `resamples` is how often was resampled, where not as often as `plan_of` has it. A table that
    is not `shown` is offered as files alone.
    """
    plan, units = plan_of(page), units_of(page)
    plan = plan if resamples is None else replace(plan, resamples=resamples)
    usual = (f"{interval_words(plan, units)}.", f"{test_words(plan, units)}; the baseline is {name_text(page.system)}.")
    signed_by = " / ".join(signature(scores[system], page.by, intervals=units.signature(plan)) for system in scores)
    table, notes = replace(table, name=f"compare-{table.name}"), (method,) if method else usual
    if not shown:
        table_export(table, signed_by, data=data, notes=notes).draw()
        return None
    return show_table(page, table, signature=signed_by, data=data, notes=notes, choose=choose, caption=caption)


def score_box(
    page: PageContext,
    criterion: str,
    system: str,
    counts: Counts,
    row: pd.Series[Any],
    difference: pd.Series[Any] | None,
    *,
    place: str,
) -> None:
    """Show the formula of an F1, of a type where the row has one, its interval, and its difference from the baseline.

    `row` has INTERVAL_COLUMNS, `difference` DIFFERENCE_COLUMNS; `place` is as in `say_difference`.
    """
    kind = None if pd.isna(row["type"]) else str(row["type"])
    with st.container(border=True):
        formula_box(page, criterion, "F1", counts, kind, system=system)
        ends = "; ".join(
            f"{name} {_number(row[long])}, interval {_number(row[f'{long}_low'])} to {_number(row[f'{long}_high'])}"
            for name, long in (("F1", "f1"), ("P", "precision"), ("R", "recall"))
        )
        st.caption(plain(f"{ends}. {units_of(page).in_words(row['units'])} with spans.", 400))
        if row["why"]:
            st.caption(plain(f"{capitalised(row['why'], page.systems)}.", 200))
        if row["undefined"]:
            st.caption(
                f"F1 is undefined in {row['undefined']:,} of {plan_of(page).resamples:,} resamples, which are left out."
            )
        if kind is None:
            view = replace(page.view, criterion=criterion, system=system)
            navigation.link_to("Overview", f":primary[Overview of {named(system)} under {plain(criterion)} →]", view)
        if difference is not None:
            say_difference(page, criterion, difference, kind, place=place)


def say_difference(
    page: PageContext, criterion: str, row: pd.Series[Any], kind: str | None = None, *, place: str
) -> None:
    """Say a row of DIFFERENCE_COLUMNS, and open the gold spans that only one of the two systems gets right.

    A page may do so at several places: `place` names the table or figure that was chosen from.
    """
    baseline, other = str(row["baseline"]), str(row["system"])
    p, holm = (p_value_sentence(row[name], plan_of(page).resamples, row["p"]) for name in ("p", "p_holm"))
    corrected = f" ({holm} after Holm's correction over {row['tests']} tests)" if row["tests"] > 1 else ""
    sentence = (
        f"F1 of {other} less {baseline}: {_signed(row['difference'])}, interval {_signed(row['low'])} to "
        f"{_signed(row['high'])}; {p}{corrected}."
    )
    st.markdown(plain(f"{sentence} {capitalised(row['why'], page.systems)}." if row["why"] else sentence, 600))
    if criterion in CRITERIA and CRITERIA[criterion].unit == "token":
        return
    ledger = caches.ledger(page.loaded, baseline, page.settings, criterion)
    view = replace(page.view, criterion=criterion, system=baseline)
    queries = {
        name: Query(gold=() if kind is None else (kind,), having=((f"against {other}", value),))
        for name, value in ((baseline, ONLY_THIS), (other, ONLY_OTHER))
    }
    with st.container(horizontal=True):
        for name, query in queries.items():
            number = count(ledger.total(query).records, "gold span")
            navigation.link_to("Inspect", f":primary[only {named(name)} right: {number} →]", view_of(view, query))
    if baseline == page.system:
        better = other if row["difference"] > 0 else baseline
        open_records(page, criterion, queries[better], f"only {named(better)} right", name=f"compare_apart_{place}")


def _number(value: float) -> str:
    return UNDEFINED if pd.isna(value) else f"{value:.3f}"


def _signed(value: float) -> str:
    return UNDEFINED if pd.isna(value) else signed(value)
