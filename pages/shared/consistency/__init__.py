"""Consistency of one layer on Annotators: the question, the findings, and their places in the texts."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.analysis.consistency import Consistency, Inconsistency, annotations_at, places_in_layers, span_at
from nereval_core.analysis.consistency import consistency as find_inconsistencies
from nereval_core.analysis.consistency.indexed_layer import LetterCase
from nereval_core.analysis.consistency.kinds import KINDS
from nereval_core.analysis.consistency.tables import finding_table
from nereval_core.problems import counted, name_text
from nereval_core.records.match_records import record_ids
from nereval_core.records.queries import Query
from nereval_core.report.highlight import document_html
from nereval_core.report.marks import marks, within
from nereval_core.scoring.criteria import TypeRules
from nereval_core.scoring.type_merging import apply_rules
from nereval_core.tables import Column
from pages.shared.components import navigation
from pages.shared.components.downloads import table_key
from pages.shared.components.records import in_context, list_table
from pages.shared.components.tables import ROWS, first_row, show_table
from pages.shared.data import reference_layer
from pages.shared.data.computations import compute
from pages.shared.data.loading import Loaded
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.view import QUESTIONS, keys, state
from pages.shared.view.queries import around, view_of
from pages.shared.view.text import count, named, noun, plain

FIRST, *_REST = KINDS
assert tuple(_REST) == QUESTIONS
NAMED = 60
"""Characters of the name of the layer."""
CASES: tuple[LetterCase, ...] = get_args(LetterCase)
CASE_LABELS = {"differs": "Matter where annotated differently", "ignore": "Are one form", "keep": "Are two forms"}


def inspect_layer(page: PageContext) -> Consistency:
    """Return the findings about the layer in gold's place, compared with all systems, under the types as scored."""
    rules = page.settings.rules_for(page.criterion)
    case = st.session_state.get(keys.CONSISTENCY_CASE, CASES[0])
    return _consistency(page.loaded, repr(rules), case, rules)


@memoized("Looking for what a careful reader would question …")
def _consistency(loaded: Loaded, written_rules: str, case: LetterCase, _rules: TypeRules) -> Consistency:
    corpus = loaded.corpus
    gold, *systems = (apply_rules(layer, _rules) for layer in (corpus.gold, *corpus.systems))
    # Masked texts say so in the signature of themselves.
    original = loaded.original or loaded
    marks = tuple(f"{name}: {mark}" for name, marks in original.marks.items() for mark in marks)
    return replace(compute(loaded, "Consistency", find_inconsistencies, gold, systems, case=case), marks=marks)


def choose_layer(page: PageContext) -> None:
    """Ask for the layer that is questioned, and whether capitals matter."""
    layer = page.view.reference or reference_layer.gold_name(page.loaded)
    with st.popover(plain(f"Layer: {name_text(layer)}", NAMED), key=f"{keys.WIDGET}consistency_menu", width="content"):
        st.selectbox(
            "Layer",
            list(reference_layer.layers(page.loaded)),
            format_func=name_text,
            **reference_layer.mirror("consistency_layer", page.view, page.loaded),
            help="The layer that is questioned; the reference of the context bar. All others are compared with it.",
        )
        case = st.session_state.get(keys.CONSISTENCY_CASE, CASES[0])
        st.segmented_control(
            "Capitals and small letters",
            list(CASES),
            **state.mirror("consistency_case", case, state.keep(keys.CONSISTENCY_CASE)),
            format_func=CASE_LABELS.__getitem__,
            required=True,
            help="Whether `GAS` and `gas` are one form: two where annotated differently, always one, or always two.",
        )


def choose_question(page: PageContext, consistency: Consistency) -> str:
    """Ask for the question, at first one that found something; return the name of the kind."""
    # The link has no word for the first question: whoever chose it is not led on from it.
    is_answered = st.session_state.get(keys.CONSISTENCY_ASKED) == consistency.signature
    first_with_findings = next((name for name, rows in consistency.found.items() if len(rows)), FIRST)
    kind = page.view.question or (FIRST if is_answered else first_with_findings)

    def take(name: str) -> None:
        st.session_state[keys.CONSISTENCY_ASKED] = consistency.signature
        state.put(replace(state.view(), question="" if name == FIRST else name))

    # Pills stand in several rows where there is little room; nothing is out of sight.
    st.pills(
        "Question",
        list(consistency.found),
        format_func=lambda name: f"{KINDS[name].title} · {len(consistency.found[name]):,}",
        **state.mirror("consistency_kind", kind, take),
        required=True,
        label_visibility="collapsed",
    )
    return kind


def draw_consistency(page: PageContext) -> None:
    """Draw what a careful reader would question within one layer; a finding opens its places."""
    consistency = inspect_layer(page)
    kind = choose_question(page, consistency)
    st.markdown(f"## {plain(consistency.sentence(kind), 400)}")
    cell = list_findings(page, consistency, kind)
    if cell is not None:
        list_places(page, consistency, kind, *cell)


def list_findings(page: PageContext, consistency: Consistency, kind: str) -> tuple[int, str] | None:
    """Show the table of findings; return the number of the chosen one and the column of the cell, None without one."""
    n_findings = len(consistency.found[kind])
    skipped = "".join(f" {line}." for line in (*consistency.found[kind].skipped, *consistency.skipped()))
    question = f"{KINDS[kind].question} {KINDS[kind].counted}{skipped}"
    if not n_findings:
        st.caption(plain(question, 600))
        return None
    first = first_row(n_findings, f"consistency_{kind}", page.view, "findings")
    table = finding_table(consistency, kind, consistency.table(kind, first + ROWS)[first:])
    cell = show_table(
        page,
        table,
        signature=consistency.signature,
        data=lambda: [consistency.table(kind)],
        rows=n_findings,
        choose=table.keys,
        facts=(page.view, first, consistency.signature),
        caption=f"{question} Choose a row to see all its places in their texts.",
        height=390,
    )
    return None if cell is None else (first + cell.row, cell.column)


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
        where = f", {named(finding.where)}" if finding.where else ""
        st.markdown(f"**{plain(finding.what)}{where}: {count(finding.places, 'place')}**")
        _records(page, finding)
    ways = {ALL_PLACES: finding.places} | ({SETTLE: finding.settles} if finding.settles < finding.places else {})
    ways |= {name: number for name, number in finding.counts.items() if len(finding.counts) > 1}
    default_way = SETTLE if column == "settles" and SETTLE in ways else ALL_PLACES
    way = ALL_PLACES
    key = table_key(f"{keys.LIST}ways", consistency.signature, kind, number, default_way)

    def way_name(name: str) -> str:
        return f"{WAY_NAMES.get(name, name_text(name))[:LONGEST_NAME]} · {ways[name]:,}"

    if len(ways) > MOST_PILLS:
        way = st.selectbox("Places", list(ways), list(ways).index(default_way), format_func=way_name, key=key)
    elif len(ways) > 1:
        way = (
            st.pills(
                "Places",
                list(ways),
                default=default_way,
                format_func=lambda name: plain(way_name(name)),
                key=key,
                label_visibility="collapsed",
                required=True,
            )
            or default_way
        )
    _listed(page, consistency, _of_way(consistency.places(kind, number), way), f"{kind}_{number}_{way}")


def _records(page: PageContext, finding: Inconsistency) -> None:
    """Lead to the records whose gold span, or else prediction, has the form."""
    query = Query(having=(("form", finding.form),))
    view = view_of(page.view, query)
    # A view that does not fit a link would lead to other records.
    if not finding.form or state.params_of(view) is None:
        return
    number = page.ledger().total(query).records
    label = f":primary[{count(number, 'record')} of this form in Inspect →]"
    navigation.link_to("Inspect", label, view, help=f"Under {page.by}, of {named(page.system)}.")


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
        *(Column(f"in {layer.name}", name_text(layer.name), "text", meaning=_ANNOTATIONS) for layer in layers),
        Column("document", kind="name"),
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
        navigation.link_to("Inspect", f":primary[Read in document {named(name)} →]", view)


def _record(consistency: Consistency, doc: int, start: int, end: int) -> str:
    """Return the record of the layer's span of just these boundaries, empty without one."""
    layer = consistency.layer
    span = span_at(layer, doc, start, end)
    if span is None or (int(layer.start[span]), int(layer.end[span])) != (start, end):
        return ""
    return record_ids(layer, "g", np.array([span]))[0]
