"""Annotators: the layers that are compared, and their disagreements, each count the way to its records on Inspect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.analysis.agreement.tables import DISAGREEMENT_MEANINGS, disagreement_table
from nereval_core.analysis.crosstab import ALL, DISAGREEMENTS, count_disagreements
from nereval_core.problems import name_text
from nereval_core.records.queries import SAME_TYPE, Query
from pages.shared.components import navigation
from pages.shared.components.tables import ChosenCell, show_table
from pages.shared.confusion import mount_heat_map
from pages.shared.data import caches, own_criteria, reference_layer
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.view import View, keys, state
from pages.shared.view.queries import ERRORS, view_of
from pages.shared.view.text import named, plain

MOST = 8
"""Annotators that are looked at before any are chosen."""
NAMED = 60
"""Characters of the names of the annotators that are compared."""


def choose_annotators(page: PageContext) -> tuple[str, ...]:
    """Ask for the annotators in a menu; by default those that the corpus calls so, else all layers."""
    layers = tuple(reference_layer.layers(page.loaded))
    default = _annotators(page) or layers[:MOST]
    names = page.view.annotators or default

    def take(selection: list[str]) -> None:
        state.update(annotators=() if tuple(selection) == default else tuple(selection))

    if len(layers) > 2:
        label = plain(", ".join(name_text(name) for name in layers if name in names), NAMED)
        with st.popover(label or "Annotators", key=f"{keys.WIDGET}annotators_menu", width="content"):
            st.multiselect(
                "Annotators",
                layers,
                format_func=name_text,
                **state.mirror("annotators", list(names), take),
                help="Any layer. F1 takes one of two as reference; which one matters under few criteria only.",
            )
    return tuple(name for name in layers if name in names)


def compared_systems(page: PageContext, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the layers that are held against the annotators: all others, but one that was read as gold."""
    gold = reference_layer.gold_name(page.loaded)
    return tuple(name for name in reference_layer.layers(page.loaded) if name not in names and name != gold)[:MOST]


def _annotators(page: PageContext) -> tuple[str, ...]:
    kinds = {row.name: row.kind for row in reference_layer.as_read(page.loaded).layers}
    names = tuple(name for name in reference_layer.layers(page.loaded) if kinds.get(name) == "annotator")
    return names if len(names) > 1 else ()


def pair_of_view(page: PageContext, names: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the reference and the system of the context bar, if both are compared."""
    reference, other = reference_layer.pair_of_view(page.view, page.loaded)
    other = other or page.system
    return (reference, other) if reference in names and other in names and reference != other else None


def with_pair(page: PageContext, reference: str, other: str) -> PageContext:
    """Return the page's corpus and view with one layer as the reference and another as the system."""
    view = reference_layer.view_of_pair(page.view, page.loaded, reference, other)
    loaded = reference_layer.with_reference(page.loaded, view.reference)
    return replace(page, loaded=loaded, view=view, settings=caches.settings_in(loaded, view, own_criteria.criteria()))


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
        st.header(f"{named(reference)} and {named(other)}")
    pair = counted_pair(page, reference, other)
    _kinds(pair)
    _by_type(pair)


def counted_pair(page: PageContext, reference: str, other: str) -> PairCounts:
    """Return the counts of two annotators under the chosen criterion, or strict for one that counts tokens."""
    context = with_pair(page, reference, other)
    criterion = context.by if context.criterion.unit == "span" else STRICT
    return PairCounts(name_text(reference), name_text(other), context, criterion, _counts(context, criterion))


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
    """Show the counts by type, as a heat map and folded as a table; a cell leads to its records."""
    rows = pair.counts.iloc[1:].sort_values(ALL, ascending=False, kind="stable").reset_index()
    title = f"What {pair.reference} and {pair.other} disagree on by type"
    st.header("By type")
    _map_of_types(pair, rows)
    with st.expander("The same as a table"):
        _table_of_types(pair, rows, title)


KINDS = tuple(kind for kind in DISAGREEMENTS if kind != "agree")


def _map_of_types(pair: PairCounts, rows: pd.DataFrame) -> None:
    """Draw types by kinds of disagreement, the darker the larger the share of the type's records."""
    key = f"{keys.TABLE}disagreement_map"
    data = disagreement_map(pair, rows)
    cell = mount_heat_map(data, key, lambda: None)
    st.caption(
        "Choose a count, by a click or Enter, to read its records. The arrow keys move. "
        "A record whose types differ is in the rows of both."
    )
    if cell:
        type_name, kind = map(str, cell)
        state.go(navigation.pages()["Inspect"], pair.view(kind, type_name))


def disagreement_map(pair: PairCounts, rows: pd.DataFrame) -> dict[str, Any]:
    """Return the data of the heat map: a row a type and one of all types, a column a kind and one of agreement."""
    columns = (*KINDS, "agree")
    counts = [*rows.to_dict("records"), {**pair.counts.iloc[0].to_dict(), "type": ""}]
    names = [name_text(str(row["type"])) if row["type"] else "all types" for row in counts]
    wholes = [int(row[ALL] + row["agree"]) for row in counts]
    shares = [[row[kind] / (whole or 1) for kind in columns] for row, whole in zip(counts, wholes, strict=True)]
    most = max((share for line in shares for share in line[:-1]), default=0) or 1
    return {
        "label": f"What {pair.reference} and {pair.other} disagree on by type",
        "sides": ["type", "kind"],
        "keys": [str(row["type"]) for row in counts],
        "columnKeys": list(columns),
        "folded": [0] * len(counts),
        "rows": names,
        "columns": [pair.label(kind) for kind in columns],
        "texts": [[f"{row[kind]:,}" if row[kind] else "" for kind in columns] for row in counts],
        "titles": [
            [f"{row[kind]:,} of {whole:,} records" for kind in columns]
            for row, whole in zip(counts, wholes, strict=True)
        ],
        "scales": [{"label": "share of a row's records:", "most": f"{most:.0%}"}],
        "same": "agreement",
        "shades": [[*(round((share / most) ** 0.5, 3) for share in line[:-1]), None] for line in shares],
        "chosen": None,
    }


def _table_of_types(pair: PairCounts, rows: pd.DataFrame, title: str) -> None:
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
