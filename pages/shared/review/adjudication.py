"""Adjudication: two annotators become one layer by agreement and verdicts; open records are listed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from nereval_core.corpus import Layer
from nereval_core.records.queries import Query
from nereval_core.review.apply import select_verdicts
from nereval_core.review.apply.adjudication import Adjudicated, adjudicate
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.tables import open_table
from pages.shared import review
from pages.shared.components import navigation
from pages.shared.components.columns import text_columns
from pages.shared.components.count_table import ROWS, ChosenCell, count_table, first_row
from pages.shared.components.downloads import Export
from pages.shared.components.record_list import count
from pages.shared.criteria import as_read
from pages.shared.data import reference_layer, verdict_store
from pages.shared.data.computations import compute
from pages.shared.data.loading import Loaded
from pages.shared.review import copies as review_copies
from pages.shared.view import state
from pages.shared.view.queries import ERRORS, view_of
from pages.shared.view.text import plain

if TYPE_CHECKING:
    from pages.shared.frame import Here

STRICT = "strict"


def draw_adjudication(here: Here) -> None:
    st.caption(
        "Two annotators become one layer: what they agree on is taken, the rest as verdicts decide. The first is the "
        "reference, and verdicts are those on the records of the second against it."
    )
    choose_annotators(here)
    found = adjudication_of(here)
    parts = (
        ("Agreed", found.agreed, "Spans that both have, with equal boundaries and types."),
        ("Verdicts", found.applied.verdicts, "Verdicts applied, to spans that they differ on or that both have."),
        ("Still open", len(found.open), "Records on which nothing is decided; the layer has none of their spans."),
        ("In the layer", len(found.layer), "Spans of the adjudicated layer."),
    )
    with st.container(horizontal=True):
        for label, value, help in parts:
            st.metric(label, f"{value:,}", help=help, width=115)
    if found.open:
        list_open(here, found)
    st.header("The adjudicated layer")
    key = (here.loaded.number, here.system, review.verdicts_number(), review.accepted_choice())
    review_copies.offer_copy(found.layer, found.log, found.signature, "adjudicated", key)


def choose_annotators(here: Here) -> None:
    """Ask for the two annotators; the first takes gold's place on every page."""
    names = list(reference_layer.layers(here.loaded))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        first = reference_layer.mirror("adjudicate_first", here.view, here.loaded)
        st.selectbox("First annotator, the reference", names, width=260, **first)
        second = state.mirror("adjudicate_second", here.system, state.take_field("system"))
        st.selectbox("Second annotator", list(here.systems), width=260, **second)
        pair = annotators(here)
        if pair is not None and pair != (here.view.reference, here.system):
            label = f":primary[{plain(pair[0])} and {plain(pair[1])}]"
            st.button(label, key="adjudicate-annotators", type="tertiary", on_click=_both, args=(here, *pair))


def annotators(here: Here) -> tuple[str, str] | None:
    """Return the first two layers that the corpus declares as annotators', None if there are fewer."""
    rows = reference_layer.as_read(here.loaded).layers
    names = [row.name for row in rows if row.kind == "annotator"]
    return (names[0], names[1]) if len(names) > 1 else None


def _both(here: Here, first: str, second: str) -> None:
    view = reference_layer.take_as_gold(replace(state.view(), system=second), here.loaded, first)
    state.put(replace(view, system=second))


def adjudication_of(here: Here) -> Adjudicated:
    """Return the adjudication of the layer in gold's place and the chosen system."""
    corpus, chosen = here.loaded.corpus, review.accepted_choice()
    some = select_verdicts(verdict_store.now(), who=chosen.who, kinds=chosen.kinds)
    name = here.view.reference or here.words.reference
    key = (here.loaded.number, here.system, review.verdicts_number(), chosen)
    only = not chosen.every_document
    return _adjudicated(key, here.loaded, corpus.gold.renamed(name), corpus.system(here.system), some, only)


@st.cache_resource(max_entries=8, show_spinner="Comparing the annotators …")
def _adjudicated(
    key: Hashable, _loaded: Loaded, _first: Layer, _second: Layer, _reviewed: Reviewed, _only: bool
) -> Adjudicated:
    return compute(_loaded, "Adjudication", adjudicate, _first, _second, _reviewed, only_this_document=_only)


def list_open(here: Here, found: Adjudicated) -> None:
    """List the records on which nothing is decided, each with the way to it."""
    # Two agree on types as they annotated them, whatever is merged elsewhere.
    here = as_read(here)
    st.header(count(len(found.open), "open record"))
    low = first_row(len(found.open), "open", here.view, "records")
    part = found.open[low : low + ROWS]
    table = open_table(part, here.loaded.corpus.documents)

    def decide(_: ChosenCell | None) -> None:
        query = Query(decision=ERRORS, having=(("verdict", "none"),))
        if rest := here.ledger(STRICT).total(query).records:
            label = f":primary[Decide on Inspect: {count(rest, 'record')} without a verdict →]"
            navigation.link_to("Inspect", label, view_of(replace(here.view, criterion=STRICT), query), key="open")

    cell = count_table(
        table,
        "open",
        (here.loaded.number, here.system, [(row.document, row.record) for row in part]),
        columns=text_columns(dict(zip(table.columns, (85, 220, 130, 220, 130, 190), strict=True))),
        export=Export(open_table(found.open, here.loaded.corpus.documents), found.signature, "open"),
        caption="Choose a row to read it in its text.",
        beside=decide,
        height=360,
        placeholder="",
    )
    if cell is not None:
        row = part[cell[0]]
        review.show_record(here, STRICT, row.document, row.record)
