"""Tests of slices: which differ from the rest, what changes within them, and the worst combinations of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.analysis.sentences import Sentence, has_or_have, number_with_noun, record_count
from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.scores_by_slice import SLICE_PLAN, SliceTally, tally_slices
from nereval_core.analysis.slices.slice_tests import (
    LEAST_DOCUMENTS,
    LEAST_SPANS,
    SHORT,
    SIGNIFICANT,
    SliceTests,
    apart_tests,
    change_tests,
    difference_words,
    worst_family,
    worst_table,
)
from nereval_core.analysis.slices.tables import combination_table, test_table
from nereval_core.ledger.attributes.comparisons import ONLY_OTHER, ONLY_THIS
from nereval_core.records.queries import Query
from nereval_core.report.signature import signature
from nereval_core.scoring import Counts
from pages.shared.components import sentence
from pages.shared.components.tables import ROWS, ChosenCell, open_records, show_table
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.data.resampling import units_of
from pages.shared.slices.slicing import offered_slicings, sliced_of, without_data_beside
from pages.shared.view import keys
from pages.shared.view.formulas import formula
from pages.shared.view.text import named, noun, plain

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
            st.markdown(f"**Changes from {named(page.system)} to the other systems within each slice**")
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
        open_records(other_page, page.by, query, f"Gold spans that only {named(who)} gets right: {place}", name=key)
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


def draw_worst(page: PageContext) -> None:
    """Show the combinations of lowest recall, most significant first; a number opens its gold spans."""
    if noun(page.by) == "token":
        st.info("Tokens are counted, of which no combinations are tested: choose another matching criterion.")
        return
    names = offered_slicings(page)
    table = _tested_combinations(page, names)
    if not len(table):
        message = (
            f"No combination of two slices has {LEAST_SPANS} gold spans in {LEAST_DOCUMENTS} documents and more to say "
            "than one of the two alone."
        )
        st.info(plain(page.words.by_names(message)))
        return
    sentence.draw(page, combinations_in_words(table), "worst")
    more = f" The first {ROWS} of {len(table):,} are shown." if len(table) > ROWS else ""
    cell = show_table(
        page,
        combination_table(f"{page.system}: {page.by}, where it is worst", table, ROWS),
        signature=page.signature(),
        data=table,
        choose=("POS",),
        caption="p takes the spans of a document for dependent; p after Holm and p (BH) are corrected over "
        f"{worst_family(table)}. Choose a number of gold spans to see them.{more}",
        height=500,
    )
    if cell is not None:
        row = table.iloc[cell[0]]
        title = f"Gold spans of {plain(str(row['slice']))} and {plain(str(row['and_slice']))}, under {plain(page.by)}"
        open_records(page, page.by, query_of(row), title, name="worst")


def query_of(row: pd.Series) -> Query:
    """Return the query behind the number of gold spans of a row of `worst_table`."""
    pairs = (("by", "slice"), ("and_by", "and_slice"))
    return Query(having=tuple((f"gold {row[by]}", str(row[value])) for by, value in pairs))


def combinations_in_words(table: pd.DataFrame) -> Sentence:
    """Say how many combinations are significant, and the first of them."""
    n_significant = int((table["p_holm"] < SIGNIFICANT).sum())
    if not n_significant:
        return (
            f"None of {number_with_noun('combination', len(table))} has a recall significantly below "
            "that of all other gold spans.",
        )
    row = table.iloc[0]
    combinations = number_with_noun("combination", len(table))
    return (
        f"{n_significant:,} of {combinations} {has_or_have(n_significant)} a recall significantly below "
        f"that of all other gold spans, {row['slice']} and {row['and_slice']} first: "
        f"{row['recall']:.3f} of ",
        record_count(int(row["POS"]), query_of(row)),
        ".",
    )


@memoized("Testing the combinations of two slices …")
def _tested_combinations(page: PageContext, names: tuple[str, ...]) -> pd.DataFrame:
    sliced, units = sliced_of(page), units_of(page)
    values = {name: values_of_spans for name in names if (values_of_spans := slicings.find_values(sliced, name))}
    return compute(page.loaded, "Combinations of slices", worst_table, without_data_beside(sliced), values, units)
