"""Adjudication: two annotators become one layer by agreement and verdicts; open records are listed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import streamlit as st

from nereval_core.records.queries import Query
from nereval_core.review.apply import select_verdicts
from nereval_core.review.apply.adjudication import Adjudicated, adjudicate
from nereval_core.review.tables import open_table
from pages.shared import review
from pages.shared.components import navigation
from pages.shared.components.tables import ROWS, first_row, show_table
from pages.shared.criteria.all_criteria import as_read
from pages.shared.data import reference_layer, verdict_store
from pages.shared.data.computations import compute
from pages.shared.data.loading import Loaded
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.review import verdicts
from pages.shared.view import state
from pages.shared.view.queries import ERRORS, view_of
from pages.shared.view.text import count, plain

STRICT = "strict"


def draw_adjudication(page: PageContext) -> None:
    st.caption(
        "Two annotators become one layer: what they agree on is taken, the rest as verdicts decide. The first is the "
        "reference, and verdicts are those on the records of the second against it."
    )
    choose_annotators(page)
    adjudicated = adjudication_of(page)
    parts = (
        ("Agreed", adjudicated.agreed, "Spans that both have, with equal boundaries and types."),
        ("Verdicts", adjudicated.applied.verdicts, "Verdicts applied, to spans that they differ on or that both have."),
        (
            "Still open",
            len(adjudicated.open),
            "Records on which nothing is decided; the layer has none of their spans.",
        ),
        ("In the layer", len(adjudicated.layer), "Spans of the adjudicated layer."),
    )
    with st.container(horizontal=True):
        for label, value, help in parts:
            st.metric(label, f"{value:,}", help=help, width=115)
    if adjudicated.open:
        list_open(page, adjudicated)
    st.header("The adjudicated layer")
    key = (page.loaded.id, page.system, review.verdicts_number(), review.accepted_choice())
    verdicts.offer_copy(adjudicated.layer, adjudicated.log, adjudicated.signature, "adjudicated", key)


def choose_annotators(page: PageContext) -> None:
    """Ask for the two annotators; the first takes gold's place on every page."""
    names = list(reference_layer.layers(page.loaded))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        first = reference_layer.mirror("adjudicate_first", page.view, page.loaded)
        st.selectbox("First annotator, the reference", names, width=260, **first)
        second = state.mirror("adjudicate_second", page.system, state.take_field("system"))
        st.selectbox("Second annotator", list(page.systems), width=260, **second)
        pair = annotators(page)
        if pair is not None and pair != (page.view.reference, page.system):
            label = f":primary[{plain(pair[0])} and {plain(pair[1])}]"
            st.button(label, key="adjudicate-annotators", type="tertiary", on_click=_both, args=(page, *pair))


def annotators(page: PageContext) -> tuple[str, str] | None:
    """Return the first two layers that the corpus declares as annotators', None if there are fewer."""
    rows = reference_layer.as_read(page.loaded).layers
    names = [row.name for row in rows if row.kind == "annotator"]
    return (names[0], names[1]) if len(names) > 1 else None


def _both(page: PageContext, first: str, second: str) -> None:
    view = reference_layer.take_as_gold(replace(state.view(), system=second), page.loaded, first)
    state.put(replace(view, system=second))


def adjudication_of(page: PageContext) -> Adjudicated:
    """Return the adjudication of the layer in gold's place and the chosen system."""
    name = page.view.reference or page.words.reference
    return _adjudicated(page.loaded, name, page.system, review.verdicts_number(), review.accepted_choice())


@memoized("Comparing the annotators …")
def _adjudicated(loaded: Loaded, reference: str, system: str, now: Hashable, choice: review.Accepted) -> Adjudicated:
    verdicts = select_verdicts(verdict_store.now(), who=choice.who, kinds=choice.kinds)
    first, second = loaded.corpus.gold.renamed(reference), loaded.corpus.system(system)
    only = not choice.every_document
    return compute(loaded, "Adjudication", adjudicate, first, second, verdicts, only_this_document=only)


def list_open(page: PageContext, adjudicated: Adjudicated) -> None:
    """List the records on which nothing is decided, each with the way to it."""
    # Two agree on types as they annotated them, whatever is merged elsewhere.
    page = as_read(page)
    st.header(count(len(adjudicated.open), "open record"))
    low = first_row(len(adjudicated.open), "open", page.view, "records")
    part = adjudicated.open[low : low + ROWS]
    table = open_table(part, page.loaded.corpus.documents)

    cell = show_table(
        page,
        table,
        signature=adjudicated.signature,
        data=open_table(adjudicated.open, page.loaded.corpus.documents).to_frame(),
        choose=table.keys,
        facts=(page.loaded.id, page.system, [(row.document, row.record) for row in part]),
        caption="Choose a row to read it in its text.",
        height=360,
    )
    query = Query(decision=ERRORS, having=(("verdict", "none"),))
    if rest := page.ledger(STRICT).total(query).records:
        label = f":primary[Decide on Inspect: {count(rest, 'record')} without a verdict →]"
        navigation.link_to("Inspect", label, view_of(replace(page.view, criterion=STRICT), query), key="open")
    if cell is not None:
        row = part[cell.row]
        review.show_record(page, STRICT, row.document, row.record)
