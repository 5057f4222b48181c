"""Places of a finding of the Consistency page in their texts, with the annotations of each layer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.analysis.consistency import Consistency, Finding, annotations_at, places_in_layers, span_at
from nereval_core.problems import counted
from nereval_core.records.queries import Query
from nereval_core.records.tables import record_ids
from nereval_core.report.highlight import document_html
from nereval_core.report.marks import marks, within
from nereval_core.tables import Column
from pages.shared.components import navigation
from pages.shared.components.figures import table_key
from pages.shared.components.tables import ROWS, first_row, in_context, list_table, show_table
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys, state
from pages.shared.view.queries import around, view_of
from pages.shared.view.text import count, noun, plain

ALL_PLACES, SETTLE = "\0every", "\0settle"
"""Choices beside the ways of annotating a form; no way has such a name."""
WAY_NAMES = {ALL_PLACES: "every place", SETTLE: "those to settle"}
LONGEST_NAME = 100
MOST_PILLS = 12
"""Ways beyond which they are offered in a list."""
SYSTEMS = 4
"""Systems that have a column; the export has all."""
BESIDE = 32
"""Characters before and after a place in a row."""
AROUND = 200
"""Characters before and after a place in its card."""
LONGEST = 2_000


def list_places(page: PageContext, consistency: Consistency, kind: str, number: int, column: str) -> None:
    """List the places of a finding, or those of one way; choosing one shows it in its text."""
    finding = consistency.finding(kind, number)
    with st.container(horizontal=True, vertical_alignment="center"):
        where = f", {plain(finding.where)}" if finding.where else ""
        st.markdown(f"**{plain(finding.what)}{where}: {count(finding.places, 'place')}**")
        _records(page, finding)
    ways = {ALL_PLACES: finding.places} | ({SETTLE: finding.settles} if finding.settles < finding.places else {})
    ways |= {name: number for name, number in finding.counts.items() if len(finding.counts) > 1}
    default_way = SETTLE if column == "settles" and SETTLE in ways else ALL_PLACES
    way = ALL_PLACES
    key = table_key(f"{keys.LIST}ways", consistency.signature, kind, number, default_way)

    def named(name: str) -> str:
        return f"{WAY_NAMES.get(name, name)[:LONGEST_NAME]} · {ways[name]:,}"

    if len(ways) > MOST_PILLS:
        way = st.selectbox("Places", list(ways), list(ways).index(default_way), format_func=named, key=key)
    elif len(ways) > 1:
        way = (
            st.pills(
                "Places",
                list(ways),
                default=default_way,
                format_func=lambda name: plain(named(name)),
                key=key,
                label_visibility="collapsed",
                required=True,
            )
            or default_way
        )
    _listed(page, consistency, _of_way(consistency.places(kind, number), way), f"{kind}_{number}_{way}")


def _records(page: PageContext, finding: Finding) -> None:
    """Lead to the records whose gold span, or else prediction, has the form."""
    query = Query(having=(("form", finding.form),))
    view = view_of(page.view, query)
    # A view that does not fit a link would lead to other records.
    if not finding.form or state.params_of(view) is None:
        return
    number = page.ledger().total(query).records
    label = f":primary[{count(number, 'record')} of this form in Inspect →]"
    navigation.link_to("Inspect", label, view, help=f"Under {page.by}, of {plain(page.system)}.")


def _of_way(places: pd.DataFrame, way: str) -> pd.DataFrame:
    """Return the places of one way; ALL_PLACES and SETTLE are not names of ways."""
    if way == ALL_PLACES:
        return places
    is_of_way = places["settle"] if way == SETTLE else places["how"] == way
    return places[is_of_way.to_numpy()].reset_index(drop=True)


def _listed(page: PageContext, consistency: Consistency, places: pd.DataFrame, name: str) -> None:
    first = first_row(len(places), f"places_{name}", page.view, "places")
    part = places[first : first + ROWS].reset_index(drop=True)
    texts = consistency.layer.documents.texts
    lines = around(texts, part["doc"].tolist(), part["start"].tolist(), part["end"].tolist(), BESIDE)
    others = sorted(consistency.others, key=lambda layer: (layer.name not in (page.system, page.beside), layer.name))
    layers = (consistency.layer, *others[:SYSTEMS])
    # A layer may be called as a column of the list is.
    annotations = {f"in {layer.name}": [words or None for words in annotations_at(layer, part)] for layer in layers}
    columns = (
        Column("before", kind="before"),
        Column("span", "text", "text"),
        Column("after", kind="after"),
        *(Column(f"in {layer.name}", layer.name, "text", meaning=_ANNOTATIONS) for layer in layers),
        Column("document", kind="text"),
    )
    values = in_context(lines) | annotations | {"document": part["document"].tolist()}
    hidden = len(others) - SYSTEMS
    more = f" The export has {counted(hidden, 'more layer')}." if hidden > 0 else ""
    cell = show_table(
        page,
        list_table("places", columns, values),
        signature=consistency.signature,
        data=lambda: [places_in_layers(consistency, places)],
        rows=len(places),
        choose=tuple(values),
        facts=(page.view, consistency.signature, name, first),
        caption=f"Choose a row to read it in its text.{more}",
        height=390,
    )
    if cell is not None:
        _card(page, consistency, part.iloc[cell.row])


_ANNOTATIONS = (
    "The type of a span of just these boundaries; others that share a character with the place stand with their text"
)


def _card(page: PageContext, consistency: Consistency, place: pd.Series) -> None:
    """Show a place in its text, gold above and the chosen system below, and the way to its document."""
    doc, start, end = (int(place[name]) for name in ("doc", "start", "end"))
    name = str(place["document"])
    criterion = page.by if noun(page.by) == "record" else "strict"
    text = consistency.layer.documents.texts[doc]
    low, high = max(0, start - AROUND), min(len(text), end + AROUND, start + LONGEST)
    with st.container(border=True):
        marks_inside = within(marks(page.reading(name), criterion, 0), low, high)
        st.html(str(document_html(text[low:high], marks_inside, types=page.annotated_types)))
        st.caption(f"{plain(str(place['how']))} · characters {start:,}–{end:,}")
        view = replace(page.view, doc=name, record=_record(consistency, doc, start, end), at="")
        if not view.record or criterion != page.by:
            view = replace(view, record="", at=f"{start}-{end}")
        navigation.link_to("Inspect", f":primary[Read in document {plain(name)} →]", view)


def _record(consistency: Consistency, doc: int, start: int, end: int) -> str:
    """Return the record of the layer's span of just these boundaries, empty without one."""
    layer = consistency.layer
    span = span_at(layer, doc, start, end)
    if span is None or (int(layer.start[span]), int(layer.end[span])) != (start, end):
        return ""
    return record_ids(layer, "g", np.array([span]))[0]
