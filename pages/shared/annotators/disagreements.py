"""Disagreements first: who differs from whom on what, each count the way to exactly these records on Inspect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import pandas as pd
import streamlit as st

from nereval_core.analysis.crosstab import ALL, DISAGREEMENTS, count_disagreements
from nereval_core.records.queries import SAME_TYPE, Query
from pages.shared.annotators import pair_of_view, with_pair
from pages.shared.components import navigation
from pages.shared.components.count_table import ChosenCell, count_table
from pages.shared.components.downloads import Export
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
class Counted:
    """Two annotators, the page about them, and the counts of their records by kind and type."""

    one: str
    other: str
    page: PageContext
    criterion: str
    counts: pd.DataFrame

    def label(self, kind: str) -> str:
        """Return a kind by the names of the two."""
        named = {"only one": f"only {self.one}", "only other": f"only {self.other}", ALL: "all disagreements"}
        return named.get(kind, kind)

    def view(self, kind: str, type_: str = "") -> View:
        """Return the view that lists the records of a count."""
        query = replace(QUERIES[kind], types=(type_,) if type_ else ())
        return view_of(replace(self.page.view, criterion=self.criterion), query)


def draw_disagreements(page: PageContext, names: tuple[str, ...]) -> None:
    """Draw the counts of two annotators, before them those of each pair where there are more."""
    one, other = pair_of_view(page, names) or names[:2]
    if len(names) > 2:
        _each_pair(page, names)
        st.header(plain(f"{one} and {other}"))
    found = counted_pair(page, one, other)
    _kinds(found)
    _by_type(found)


def counted_pair(page: PageContext, one: str, other: str) -> Counted:
    """Return the counts of two annotators under the chosen criterion, or strict for one that counts tokens."""
    there = with_pair(page, one, other)
    criterion = there.by if there.criterion.unit == "span" else STRICT
    return Counted(one, other, there, criterion, _counts(there, criterion))


@memoized("Counting what annotators disagree on …")
def _counts(page: PageContext, criterion: str) -> pd.DataFrame:
    scores = page.scores(names=[criterion])
    return compute(page.loaded, "Disagreements", count_disagreements, scores, criterion)


def _kinds(found: Counted) -> None:
    """Say how many records the two differ on, by kind; each count leads to its records."""
    row = found.counts.iloc[0]
    whole = int(row[ALL] + row["agree"])
    with st.container(horizontal=True, gap="small", key="disagreement_kinds"):
        for kind in (ALL, *DISAGREEMENTS[1:], "agree"):
            with st.container(border=True, gap=None, width=CARD):
                of = f" of {whole:,}" if kind == ALL else ""
                st.metric(plain(found.label(kind)), f"{row[kind]:,}{of}", help=_HELP[kind])
                label = "decide who is right" if kind == ALL else "read them"
                if row[kind]:
                    navigation.link_to("Inspect", f":primary[{label} →]", found.view(kind))
    if found.criterion != found.page.by:
        st.caption(f"Counted under {found.criterion}: {plain(found.page.by)} counts tokens.")


_HELP = {
    ALL: "Match records on which the two do not agree under the matching criterion, of all records.",
    "agree": "The criterion takes the two spans for the same.",
    "only one": "The span is aligned with none of the other annotator.",
    "only other": "The span is aligned with none of the reference.",
    "types differ": "The two spans are aligned and have different types, whatever their boundaries.",
    "boundaries differ": "The two spans are aligned and have one type, but other boundaries.",
}


def _by_type(found: Counted) -> None:
    """Show the counts by type; a cell leads to its records."""
    rows = found.counts.iloc[1:]
    rows = rows.sort_values(ALL, ascending=False, kind="stable")
    order = [ALL, *DISAGREEMENTS[1:], "agree"]
    st.header("By type")
    table = rows[order].reset_index()
    cell = count_table(
        table,
        "disagreement_types",
        (found.page.view, found.criterion),
        columns={"type": st.column_config.TextColumn("type", width=200, pinned=True)} | _columns(found),
        choose=order,
        export=_export(found, table, "disagreements-by-type"),
        caption="Choose a count to read its records on Inspect. Records whose types differ are in the rows of both.",
        height=560,
    )
    if cell is not None:
        state.go(navigation.pages()["Inspect"], found.view(cell[1], str(table["type"].iat[cell[0]])))


def _columns(found: Counted) -> dict[str, object]:
    number = st.column_config.NumberColumn
    return {
        kind: number(found.label(kind), width=145, format="localized", help=_HELP[kind])
        for kind in (*DISAGREEMENTS, ALL)
    }


def _each_pair(page: PageContext, names: tuple[str, ...]) -> None:
    """Show the counts of each two; a count leads to its records, the names choose the two."""
    pairs = list(combinations(names, 2))
    every = [counted_pair(page, *pair) for pair in pairs]
    order = [ALL, *DISAGREEMENTS[1:], "agree"]
    table = pd.DataFrame([one.counts.iloc[0][order] for one in every]).reset_index(drop=True)
    table.insert(0, "pair", [f"{one} / {other}" for one, other in pairs])
    labels = {"only one": "only the first", "only other": "only the second", ALL: "all disagreements"}

    def take(cell: ChosenCell) -> None:
        if cell.column == "pair":
            one, other = pairs[cell.row]
            state.put(with_pair(page, one, other).view)

    number = st.column_config.NumberColumn
    cell = count_table(
        table,
        "disagreement_pairs",
        (page.view, names),
        columns={"pair": st.column_config.TextColumn("pair", width=220, pinned=True)}
        | {kind: number(labels.get(kind, kind), width=130, format="localized", help=_HELP[kind]) for kind in order},
        choose=("pair", *order),
        on_choose=take,
        export=_export(every[0], table, "disagreements"),
        caption="Choose a count to read its records on Inspect, or a pair to see its types below.",
        height=320,
    )
    if cell is not None and cell.column != "pair":
        state.go(navigation.pages()["Inspect"], every[cell.row].view(cell.column))


def _export(found: Counted, table: pd.DataFrame, name: str) -> Export:
    return Export(table, found.page.signature(found.criterion), name, key=name.replace("-", "_"))
