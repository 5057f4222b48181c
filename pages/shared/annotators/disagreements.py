"""Disagreements first: who differs from whom on what, each count the way to exactly these records on Inspect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import pandas as pd
import streamlit as st

from nereval_core.analysis.agreement.tables import DISAGREEMENT_MEANINGS, disagreement_table
from nereval_core.analysis.crosstab import ALL, DISAGREEMENTS, count_disagreements
from nereval_core.records.queries import SAME_TYPE, Query
from pages.shared.annotators import pair_of_view, with_pair
from pages.shared.components import navigation
from pages.shared.components.tables import ChosenCell, show_table
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.view import View, state
from pages.shared.view.queries import ERRORS, view_of
from pages.shared.view.text import plain

STRICT = "strict"
CARD = 168
"""Pixels of a count with its way to the records."""
QUERIES: Mapping[str, Query] = {
    "agree": Query(decision=("COR",)),
    "only one": Query(decision=("MIS",)),
    "only other": Query(decision=("SPU",)),
    "types differ": Query(decision=ERRORS, having=(("types", SAME_TYPE[1]),)),
    "boundaries differ": Query(decision=ERRORS, having=(("types", SAME_TYPE[0]),)),
    ALL: Query(decision=ERRORS),
}
"""The records of each count; those of a type have it on either side."""
assert tuple(QUERIES) == (*DISAGREEMENTS, ALL)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Two annotators, the page about them, and the counts of their records by kind and type."""

    reference: str
    other: str
    page: PageContext
    criterion: str
    counts: pd.DataFrame

    def label(self, kind: str) -> str:
        """Return a kind by the names of the two."""
        named = {"only one": f"only {self.reference}", "only other": f"only {self.other}", ALL: "all disagreements"}
        return named.get(kind, kind)

    def view(self, kind: str, type_: str = "") -> View:
        """Return the view that lists the records of a count."""
        query = replace(QUERIES[kind], types=(type_,) if type_ else ())
        return view_of(replace(self.page.view, criterion=self.criterion), query)


def draw_disagreements(page: PageContext, names: tuple[str, ...]) -> None:
    """Draw the counts of two annotators, before them those of each pair where there are more."""
    reference, other = pair_of_view(page, names) or names[:2]
    if len(names) > 2:
        _each_pair(page, names)
        st.header(plain(f"{reference} and {other}"))
    pair = counted_pair(page, reference, other)
    _kinds(pair)
    _by_type(pair)


def counted_pair(page: PageContext, reference: str, other: str) -> PairCounts:
    """Return the counts of two annotators under the chosen criterion, or strict for one that counts tokens."""
    context = with_pair(page, reference, other)
    criterion = context.by if context.criterion.unit == "span" else STRICT
    return PairCounts(reference, other, context, criterion, _counts(context, criterion))


@memoized("Counting what annotators disagree on …")
def _counts(page: PageContext, criterion: str) -> pd.DataFrame:
    scores = page.scores(names=[criterion])
    return compute(page.loaded, "Disagreements", count_disagreements, scores, criterion)


def _kinds(pair: PairCounts) -> None:
    """Say how many records the two differ on, by kind; each count leads to its records."""
    row = pair.counts.iloc[0]
    whole = int(row[ALL] + row["agree"])
    with st.container(horizontal=True, gap="small", key="disagreement_kinds"):
        for kind, meaning in DISAGREEMENT_MEANINGS.items():
            with st.container(border=True, gap=None, width=CARD):
                of = f" of {whole:,}" if kind == ALL else ""
                st.metric(plain(pair.label(kind)), f"{row[kind]:,}{of}", help=f"{meaning[0].upper()}{meaning[1:]}.")
                label = "decide who is right" if kind == ALL else "read them"
                if row[kind]:
                    navigation.link_to("Inspect", f":primary[{label} →]", pair.view(kind))
    if pair.criterion != pair.page.by:
        st.caption(f"Counted under {pair.criterion}: {plain(pair.page.by)} counts tokens.")


def _by_type(pair: PairCounts) -> None:
    """Show the counts by type; a cell leads to its records."""
    rows = pair.counts.iloc[1:].sort_values(ALL, ascending=False, kind="stable").reset_index()
    title = f"What {pair.reference} and {pair.other} disagree on by type"
    st.header("By type")
    cell = show_table(
        pair.page,
        disagreement_table(title, rows, pair.reference, pair.other, name="disagreement-types"),
        signature=pair.page.signature(pair.criterion),
        file="disagreements-by-type",
        choose=tuple(QUERIES),
        facts=(pair.page.view, pair.criterion),
        caption="Choose a count to read its records on Inspect. Records whose types differ are in the rows of both.",
    )
    if cell is not None:
        state.go(navigation.pages()["Inspect"], pair.view(cell.column, str(rows["type"].iat[cell.row])))


def _each_pair(page: PageContext, names: tuple[str, ...]) -> None:
    """Show the counts of each two; a count leads to its records, the names choose the two."""
    pairs = [counted_pair(page, *pair) for pair in combinations(names, 2)]
    rows = pd.DataFrame([pair.counts.iloc[0] for pair in pairs]).reset_index(drop=True)
    rows.insert(0, "pair", [f"{pair.reference} / {pair.other}" for pair in pairs])

    def take(cell: ChosenCell) -> None:
        if cell.column == "pair":
            state.put(pairs[cell.row].page.view)

    cell = show_table(
        page,
        disagreement_table("What each two annotators disagree on", rows, name="disagreement-pairs"),
        signature=pairs[0].page.signature(pairs[0].criterion),
        file="disagreements",
        choose=("pair", *QUERIES),
        on_choose=take,
        facts=(page.view, names),
        caption="Choose a count to read its records on Inspect, or a pair to see its types below.",
        height=320,
    )
    if cell is not None and cell.column != "pair":
        state.go(navigation.pages()["Inspect"], pairs[cell.row].view(cell.column))
