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
from pages.shared.components import navigation
from pages.shared.components.count_table import ROWS, count_table, first_row, in_context, table_key, table_of
from pages.shared.components.downloads import Export
from pages.shared.components.record_list import count, noun
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys, state
from pages.shared.view.queries import around, view_of
from pages.shared.view.text import plain

EVERY, SETTLE = "\0every", "\0settle"
"""Choices beside the ways of annotating a form; no way has such a name."""
CALLED = {EVERY: "every place", SETTLE: "those to settle"}
LONGEST_NAME = 100
MANY = 12
"""Ways beyond which they are offered in a list."""
SYSTEMS = 4
"""Systems that have a column; the export has all."""
BESIDE = 32
"""Characters before and after a place in a row."""
AROUND = 200
"""Characters before and after a place in its card."""
LONGEST = 2_000


def list_places(page: PageContext, found: Consistency, kind: str, number: int, column: str) -> None:
    """List the places of a finding, or those of one way; choosing one shows it in its text."""
    finding = found.finding(kind, number)
    with st.container(horizontal=True, vertical_alignment="center"):
        where = f", {plain(finding.where)}" if finding.where else ""
        st.markdown(f"**{plain(finding.what)}{where}: {count(finding.places, 'place')}**")
        _records(page, finding)
    ways = {EVERY: finding.places} | ({SETTLE: finding.settles} if finding.settles < finding.places else {})
    ways |= {name: number for name, number in finding.counts.items() if len(finding.counts) > 1}
    wanted = SETTLE if column == "settles" and SETTLE in ways else EVERY
    way = EVERY
    key = table_key(f"{keys.LIST}ways", found.signature, kind, number, wanted)

    def named(name: str) -> str:
        return f"{CALLED.get(name, name)[:LONGEST_NAME]} · {ways[name]:,}"

    if len(ways) > MANY:
        way = st.selectbox("Places", list(ways), list(ways).index(wanted), format_func=named, key=key)
    elif len(ways) > 1:
        chosen = st.pills(
            "Places",
            list(ways),
            default=wanted,
            format_func=lambda name: plain(named(name)),
            key=key,
            label_visibility="collapsed",
            required=True,
        )
        way = chosen or wanted
    _listed(page, found, _of_way(found.places(kind, number), way), f"{kind}_{number}_{way}")


def _records(page: PageContext, finding: Finding) -> None:
    """Lead to the records whose gold span, or else prediction, has the form."""
    query = Query(having=(("form", finding.form),))
    view = view_of(page.view, query)
    # A view that does not fit a link would lead to other records.
    if not finding.form or state.params_of(view) is None:
        return
    number = page.ledger().total(query).records
    said = f":primary[{count(number, 'record')} of this form in Inspect →]"
    navigation.link_to("Inspect", said, view, help=f"Under {page.by}, of {plain(page.system)}.")


def _of_way(places: pd.DataFrame, way: str) -> pd.DataFrame:
    """Return the places of one way; EVERY and SETTLE are not names of ways."""
    if way == EVERY:
        return places
    chosen = places["settle"] if way == SETTLE else places["how"] == way
    return places[chosen.to_numpy()].reset_index(drop=True)


def _listed(page: PageContext, found: Consistency, places: pd.DataFrame, name: str) -> None:
    first = first_row(len(places), f"places_{name}", page.view, "places")
    part = places[first : first + ROWS].reset_index(drop=True)
    texts = found.layer.documents.texts
    lines = around(texts, part["doc"].tolist(), part["start"].tolist(), part["end"].tolist(), BESIDE)
    others = sorted(found.others, key=lambda layer: (layer.name not in (page.system, page.beside), layer.name))
    layers = {_column(layer.name): layer for layer in (found.layer, *others[:SYSTEMS])}
    said = {column: [words or None for words in annotations_at(layer, part)] for column, layer in layers.items()}
    table = table_of(in_context(lines, "text") | said | {"document": part["document"].tolist()})
    text = st.column_config.TextColumn
    hidden = len(others) - SYSTEMS
    more = f" The export has {counted(hidden, 'more layer')}." if hidden > 0 else ""
    cell = count_table(
        table,
        "places",
        (page.view, found.signature, name, first),
        columns={
            "before": text("before", width=125, alignment="right"),
            "text": text("text", width=140),
            "after": text("after", width=125),
            **{column: text(column, width=125, help=_HELP) for column in said},
            "document": text("document", width=75),
        },
        export=Export(
            lambda: [places_in_layers(found, places)], found.signature, "places", key=f"places_{name}", rows=len(places)
        ),
        caption=f"Choose a row to read it in its text.{more}",
        height=390,
    )
    if cell is not None:
        _card(page, found, part.iloc[cell[0]])


_HELP = (
    "The type of a span of just these boundaries; others that share a character with the place stand with their text."
)


def _column(name: str) -> str:
    """Return the name of a layer's column, which no other column has."""
    return f"{name} " if name in ("before", "text", "after", "document") else name


def _whole(found: Consistency, places: pd.DataFrame) -> list[pd.DataFrame]:
    return [places_in_layers(found, places)]


def _card(page: PageContext, found: Consistency, place: pd.Series) -> None:
    """Show a place in its text, gold above and the chosen system below, and the way to its document."""
    doc, start, end = (int(place[name]) for name in ("doc", "start", "end"))
    name = str(place["document"])
    criterion = page.by if noun(page.by) == "record" else "strict"
    text = found.layer.documents.texts[doc]
    low, high = max(0, start - AROUND), min(len(text), end + AROUND, start + LONGEST)
    with st.container(border=True):
        shown = within(marks(page.reading(name), criterion, 0), low, high)
        st.html(str(document_html(text[low:high], shown, types=page.annotated_types)))
        st.caption(f"{plain(str(place['how']))} · characters {start:,}–{end:,}")
        view = replace(page.view, doc=name, record=_record(found, doc, start, end), at="")
        if not view.record or criterion != page.by:
            view = replace(view, record="", at=f"{start}-{end}")
        navigation.link_to("Inspect", f":primary[Read in document {plain(name)} →]", view)


def _record(found: Consistency, doc: int, start: int, end: int) -> str:
    """Return the record of the layer's span of just these boundaries, empty without one."""
    layer = found.layer
    span = span_at(layer, doc, start, end)
    if span is None or (int(layer.start[span]), int(layer.end[span])) != (start, end):
        return ""
    return record_ids(layer, "g", np.array([span]))[0]
