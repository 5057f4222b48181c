"""Tests of slices on Overview: which differ from the rest, and what changes from system to system within them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from nereval_core.analysis.sentences import Sentence, record_count
from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.scores_by_slice import SLICE_PLAN, SliceTally, tally_slices
from nereval_core.analysis.slices.slice_tests import (
    SHORT,
    SIGNIFICANT,
    SliceTests,
    apart_tests,
    change_tests,
    difference_words,
)
from nereval_core.analysis.slices.tables import test_table
from nereval_core.ledger.attributes.comparisons import ONLY_OTHER, ONLY_THIS
from nereval_core.report.signature import signature
from nereval_core.scoring import Counts
from pages.shared.components import sentence
from pages.shared.components.tables import ChosenCell, open_records, show_table
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.slices import offered_slicings, sliced_of
from pages.shared.systems.tables import units_of
from pages.shared.view import keys
from pages.shared.view.formulas import formula
from pages.shared.view.queries import Query
from pages.shared.view.text import noun, plain

SHOWN = 3
"""Significant differences said in sentences above a table."""
METHOD = (
    "Intervals and p: jackknife over the units, Student's t at the effective units; p (Holm) and p (BH) are corrected "
    "over the family"
)


def draw_tests(page: PageContext) -> None:
    """Show on a click the tests of the chosen slicings; counts open their records, ratios their formulas."""
    with st.expander("Which slices differ from the rest?", key=f"{keys.LIST}differing", on_change="rerun") as opened:
        if not opened.open:
            return
        offered = offered_slicings(page)
        names = st.multiselect(
            "Slicings tested",
            offered,
            offered,
            format_func=slicings.slicing_title,
            key=f"{keys.WIDGET}tested",
            help="p values are corrected over the slices of all of these: choose them before you look at the results.",
        )
        if not names:
            return
        _draw(page, _apart(page, tuple(names)), tuple(names), "apart")
        if len(page.systems) > 1:
            st.markdown(f"**Changes from {plain(page.system)} to the other systems within each slice**")
            _draw(page, _changes(page, tuple(names)), tuple(names), "changes")


def _draw(page: PageContext, tests: SliceTests, names: tuple[str, ...], key: str) -> None:
    if noun(page.by) == "record":
        for place, row in enumerate(tests.significant.head(SHOWN).to_dict("records")):
            sentence.draw(page, in_words({str(column): value for column, value in row.items()}), f"{key}{place}")
    if tests.significant.empty:
        st.markdown(f"No difference is significant (p at most {SIGNIFICANT:g} after Holm).")
    table = replace(
        test_table("Slices against the rest" if key == "apart" else "Changes within slices", tests), name=key
    )
    cell = show_table(
        page,
        table,
        signature=_signed(page),
        data=tests.table,
        choose=("POS", "ACT", "value", "reference", "difference"),
        facts=(page.view, names),
        caption=f"Family: {tests.family}. {METHOD} ({units_of(page).description}). Choose a count to see its records, "
        "a ratio to see its formula.",
        height=500,
    )
    if cell is not None:
        _open(page, tests, names, cell, key)


def in_words(row: Mapping[str, object]) -> Sentence:
    """Return a difference in words, with the number of the slice's gold spans."""
    query = Query(having=((f"gold {row['by']}", str(row["slice"])),))
    return (f"{difference_words(row)}; it has ", record_count(int(str(row["POS"])), query), " gold spans.")


def _open(page: PageContext, tests: SliceTests, names: tuple[str, ...], cell: ChosenCell, key: str) -> None:
    row = tests.table.iloc[cell.row]
    other_page = page.of(str(row["system"])) if key == "changes" else page
    by, value = str(row["by"]), str(row["slice"])
    place = f"{plain(value)}, {plain(slicings.title_in_sentence(by))}, under {plain(page.by)}"
    having = {side: (f"{side} {by}", value) for side in ("gold", "pred")}
    if cell.column in ("POS", "ACT"):
        side, spans = ("gold", "Gold spans") if cell.column == "POS" else ("pred", "Predictions")
        open_records(other_page, page.by, Query(having=(having[side],)), f"{spans} of {place}", name=key)
    elif cell.column == "difference" and key == "changes" and noun(page.by) == "record":
        better, who = (ONLY_THIS, other_page.system) if row["difference"] > 0 else (ONLY_OTHER, page.system)
        query = Query(having=(having["gold"], (f"against {page.system}", better)))
        open_records(other_page, page.by, query, f"Gold spans that only {plain(who)} gets right: {place}", name=key)
    else:
        tallies = [_tallies(context, names)[by] for context in (other_page, page)]
        own, other = (counts_of_slice(tally, value) for tally in tallies)
        if key == "apart":
            other = counts_of_slice(tallies[1], value, rest=True)
        counts_of_cell = {"value": (own,), "difference": (own, other)}.get(cell.column, (other,))
        for counts in counts_of_cell:
            st.code(formula(SHORT[str(row["measure"])], counts).text, language=None, wrap_lines=True)


def counts_of_slice(tally: SliceTally, name: str, *, rest: bool = False) -> Counts:
    """Return the counts of a slice, or those of all others of its slicing."""
    inside = np.array([slice_name == name for slice_name in tally.names]) != rest
    gold, pred = (tuple(map(int, side[:-1][inside].sum(axis=0))) for side in (tally.gold, tally.pred))
    return Counts(gold, pred)


def _signed(page: PageContext) -> str:
    return signature(page.scores(), page.by, intervals=units_of(page).signature(SLICE_PLAN))


@memoized("Slicing …")
def _tallies(page: PageContext, names: tuple[str, ...]) -> Mapping[str, SliceTally]:
    sliced = sliced_of(page)
    values = {name: values_of_spans for name in names if (values_of_spans := slicings.find_values(sliced, name))}
    return {name: tally_slices(sliced, values_of_spans) for name, values_of_spans in values.items()}


@memoized("Testing the slices …")
def _apart(page: PageContext, names: tuple[str, ...]) -> SliceTests:
    return compute(page.loaded, "Testing slices", apart_tests, _tallies(page, names), units_of(page))


@memoized("Testing the changes …")
def _changes(page: PageContext, names: tuple[str, ...]) -> SliceTests:
    systems = (page.system, *(system for system in page.systems if system != page.system))
    tallies = {system: _tallies(page if system == page.system else page.of(system), names) for system in systems}
    return compute(page.loaded, "Testing changes", change_tests, tallies, page.system, units_of(page))
