"""The combinations of two slices where the system is worst: a view of the Slices page."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from nereval_core.analysis.sentences import Sentence, number_with_noun, record_count
from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.slice_tests import LEAST_DOCUMENTS, LEAST_SPANS, worst_family, worst_table
from nereval_core.analysis.slices.tables import combination_table
from pages.shared.components import sentence
from pages.shared.components.tables import ROWS, open_records, show_table
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.slices import offered_slicings, sliced_of, without_data_beside
from pages.shared.systems.tables import units_of
from pages.shared.view.queries import Query
from pages.shared.view.text import noun, plain

SIGNIFICANT = 0.05


def draw_worst(page: PageContext) -> None:
    """Show the combinations of lowest recall, most significant first; a number opens its gold spans."""
    if noun(page.by) == "token":
        st.info("Tokens are counted, of which no combinations are tested: choose another matching criterion.")
        return
    names = offered_slicings(page)
    table = _tested(page, names)
    if not len(table):
        st.info(
            f"No combination of two slices has {LEAST_SPANS} gold spans in {LEAST_DOCUMENTS} documents and more to say "
            "than one of the two alone."
        )
        return
    sentence.draw(page, in_words(table), "worst")
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


def in_words(table: pd.DataFrame) -> Sentence:
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
        f"{n_significant:,} of {combinations} {'has' if n_significant == 1 else 'have'} a recall significantly below "
        f"that of all other gold spans, {row['slice']} and {row['and_slice']} first: "
        f"{row['recall']:.3f} of ",
        record_count(int(row["POS"]), query_of(row)),
        ".",
    )


@memoized("Testing the combinations of two slices …")
def _tested(page: PageContext, names: tuple[str, ...]) -> pd.DataFrame:
    sliced, units = sliced_of(page), units_of(page)
    values = {name: values_of_spans for name in names if (values_of_spans := slicings.find_values(sliced, name))}
    return compute(page.loaded, "Combinations of slices", worst_table, without_data_beside(sliced), values, units)
