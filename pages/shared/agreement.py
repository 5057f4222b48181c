"""The parts of the Agreement page: figures of all annotators and of each two, and the records of a disagreement."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from nereval_core.analysis.agreement import Agreement, agree
from nereval_core.analysis.agreement.figures import FIGURES, Group, Pair, symmetric
from nereval_core.analysis.agreement.tables import (
    EXPLAINED,
    LABELS,
    documents_table,
    figures_table,
    in_words,
    label_of,
    matrix,
    pair_reasons,
    reasons,
    signature,
    types_table,
    warnings,
)
from nereval_core.analysis.resampling import Plan
from nereval_core.analysis.resampling_units import ResamplingUnits
from nereval_core.records.queries import Query
from nereval_core.report.score_tables import Sheet
from nereval_core.report.table_formats import UNDEFINED
from nereval_core.scoring import Counts, Settings
from pages.shared.compare.tables import choose_units, made, plan_of, units_of, warn
from pages.shared.components import navigation
from pages.shared.components.downloads import export
from pages.shared.components.record_list import opened, selected_cell, table_key
from pages.shared.confusion import BAR
from pages.shared.data import caches, own_criteria, reference_layer
from pages.shared.overview import formula_box
from pages.shared.view import keys, state
from pages.shared.view.count_tables import free, headings
from pages.shared.view.plain_text import plain
from pages.shared.view.queries import ERRORS

if TYPE_CHECKING:
    from pages.shared.frame import Here

CHOICE = f"{keys.WIDGET}annotators"
FIGURE = f"{keys.WIDGET}agreement_figure"
WIDE = 140
"""Pixels of a column headed by a figure or an annotator."""
MOST = 8
"""Annotators that are looked at before any are chosen."""
WORDS = {figure: "" if figure == "f1" else f"as-{figure}" for figure in FIGURES}
"""The word of `sort` by which the matrix shows a figure."""


def chosen(here: Here) -> tuple[str, ...]:
    """Ask for the annotators; by default those that the corpus calls so, else all layers."""
    known = tuple(reference_layer.layers(here.loaded))
    default = _annotators(here) or known[:MOST]
    names = here.view.annotators or default
    st.session_state[CHOICE] = list(names)

    def took() -> None:
        now = tuple(st.session_state[CHOICE])
        state.update(annotators=() if now == default else now)

    st.multiselect(
        "Annotators",
        known,
        key=CHOICE,
        on_change=took,
        help="Any layers: annotators, systems, gold. F1 takes one of two as gold; which, matters under few criteria.",
    )
    return tuple(name for name in known if name in names)


def _annotators(here: Here) -> tuple[str, ...]:
    kinds = {row.name: row.kind for row in reference_layer.as_read(here.loaded).layers}
    names = tuple(name for name in reference_layer.layers(here.loaded) if kinds.get(name) == "annotator")
    return names if len(names) > 1 else ()


def agreed(here: Here, names: tuple[str, ...]) -> Agreement:
    """Return how far some layers agree under the chosen criterion."""
    settings = Settings((here.criterion,), here.settings.merge, here.settings.leave_out)
    read = reference_layer.as_read(here.loaded)
    units = units_of(here)
    return _agreed(read.number, names, repr((settings, units.by)), plan_of(here), here, settings, units)


# Few are kept, as each holds on to the scores of all pairs.
@st.cache_resource(max_entries=4, show_spinner="Counting what annotators agree on …")
def _agreed(
    number: int,
    names: tuple[str, ...],
    key: str,
    plan: Plan,
    _here: Here,
    _settings: Settings,
    _units: ResamplingUnits,
) -> Agreement:
    layers = reference_layer.layers(_here.loaded)
    return agree({name: layers[name] for name in names}, _settings, plan=plan, resampled=_units)


def words(here: Here, found: Agreement) -> None:
    """Say in sentences what the tables show."""
    lines = [f"{line[0].upper()}{line[1:]}." for line in in_words(found, here.by)]
    st.markdown(plain(" ".join(lines), 2_000))
    warn(warnings(found))
    choose_units(here)


def together(here: Here, found: Agreement) -> None:
    """Show each figure of all annotators with its interval."""
    group = found.everyone
    table = figures_table(found, group, [here.by])
    notes = [f"{row['figure']}: {row['note']}." for row in table.to_dict("records") if row["note"]]
    table = table.drop(columns="note")
    column = st.column_config.Column
    number = {name: st.column_config.NumberColumn(name, width=75, format="%.3f") for name in ("value", "low", "high")}
    st.dataframe(
        table,
        key=table_key(f"{keys.TABLE}agreement_all", here.view, found.annotators),
        hide_index=True,
        placeholder=UNDEFINED,
        width="content",
        column_config={"figure": column("figure", width=190, pinned=True), "over": column("over", width=110), **number},
    )
    title = f"Agreement of {_who(found, group)} under {here.by}"
    _files(here, found, table, "agreement", title, " ".join((*notes, f"{made(found.plan, found.resampled)}.")))


def each(here: Here, found: Agreement) -> Pair | None:
    """Show a figure of each two annotators; return the two of the cell chosen.

    Without one, they are a layer taken as gold in the sidebar and the system there; of a pair of annotators, the pair.
    """
    figures = {label_of(figure, (0, 1)): figure for figure in FIGURES}
    shown = next((figure for figure, word in WORDS.items() if word in here.view.sort), FIGURES[0])
    st.session_state[FIGURE] = LABELS[shown]

    def took() -> None:
        word = WORDS[figures[st.session_state[FIGURE]]]
        rest = tuple(one for one in here.view.sort if one not in WORDS.values())
        state.update(sort=(*rest, word) if word else rest)

    st.segmented_control(
        "Figure", list(figures), key=FIGURE, on_change=took, required=True, label_visibility="collapsed"
    )
    values = matrix(found, shown, here.by)
    columns = headings(found.annotators)
    table = values.set_axis(columns, axis=1).reset_index(names="")
    event = st.dataframe(
        table,
        key=table_key(f"{keys.TABLE}agreement_matrix", found.annotators, shown, here.by, here.settings.merge),
        on_select="rerun",
        selection_mode="single-cell",
        hide_index=True,
        placeholder=UNDEFINED,
        width="content",
        column_config={
            "": st.column_config.Column("", width=150, pinned=True),
            **{
                name: st.column_config.ProgressColumn(
                    name, width=WIDE, format="%.3f", min_value=0, max_value=1, color=BAR
                )
                for name in columns
            },
        },
    )
    title = f"{LABELS[shown]} of each two" + (f" under {here.by}" if shown == "f1" else "")
    lopsided = shown == "f1" and not symmetric(here.criterion)
    undefined = (f" {line}." for line in pair_reasons(found, shown, [here.by]))
    said = f"{LABELS[shown]}: {EXPLAINED[shown]}{', here that of the row' if lopsided else ''}.{''.join(undefined)}"
    named = table.rename(columns={"": free("annotator", columns)})
    _files(here, found, named, f"agreement-{shown}", title, said)
    cell = selected_cell(event, len(table), columns)
    if cell is not None and columns[cell[0]] != cell[1]:
        return cell[0], columns.index(cell[1])
    one, other = reference_layer.pair_of(here.view, here.loaded)
    if here.view.reference and one in found.annotators and other in found.annotators:
        return found.annotators.index(one), found.annotators.index(other)
    return (0, 1) if len(found.annotators) == 2 else None


def of(found: Agreement, pair: Pair | None) -> str:
    """Return whom a heading is about, as Markdown: two of several annotators, nobody in particular of two."""
    return "" if len(found.annotators) == 2 else f": {plain(_who(found, pair))}"


def _who(found: Agreement, group: Group) -> str:
    names = found.annotators
    return " and ".join(names[number] for number in group) if group else f"all {len(names)} annotators"


def disagreements(here: Here, found: Agreement, pair: Pair) -> None:
    """Show how F1 of two annotators is made, the records in which they part, and the ways on."""
    one, other = (found.annotators[number] for number in pair)
    there = held(here, one, other)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            said = "" if one == reference_layer.gold_name(here.loaded) else " taken as gold"
            st.markdown(f"**{plain(other)} held against {plain(one)}{said}**")
            for page in ("Documents", "Overview"):
                navigation.link_to(page, f":primary[{page} →]", there.view)
        if there.by != here.by:
            st.caption(f"{plain(here.by)} does not apply: {plain(one)} has not what it needs.")
            return
        formula_box(there, there.by, "F1", there.scores().counts(there.by), None)
        opened(
            there,
            there.by,
            Query(decision=ERRORS),
            f"What {plain(one)} and {plain(other)} disagree on",
            name="agreement",
        )


def held(here: Here, one: str, other: str) -> Here:
    """Return the page's corpus and view with one layer taken as gold and another as the system."""
    view = reference_layer.held(here.view, here.loaded, one, other)
    loaded = reference_layer.taken(here.loaded, view.reference)
    return replace(here, loaded=loaded, view=view, settings=caches.settings_in(loaded, view, own_criteria.criteria()))


def types(here: Here, found: Agreement, pair: Pair | None) -> None:
    """Show all figures by type; of two annotators a row opens the records of its type."""
    group = pair or found.everyone
    table = types_table(found, group, here.by)
    if table.empty:
        st.caption("There are no spans.")
        return
    event = st.dataframe(
        table,
        key=table_key(f"{keys.TABLE}agreement_types", here.view, found.annotators, group),
        on_select="rerun",
        selection_mode="single-cell",
        hide_index=True,
        height=min(35 * (len(table) + 1) + 3, 560),
        column_config={"type": st.column_config.Column("type", width=150, pinned=True)}
        | {"spans": st.column_config.NumberColumn("spans", width=65, format="localized")}
        | {name: st.column_config.Column(name, width=150) for name in table.columns[2:]},
    )
    said = " ".join(f"{line[0].upper()}{line[1:]}." for line in reasons(found, group, here.by))
    _files(
        here, found, table, "agreement-types", f"Agreement of {_who(found, group)} by type, F1 under {here.by}", said
    )
    cell = selected_cell(event, len(table), [str(name) for name in table.columns])
    if cell is None:
        return
    if pair is None:
        st.caption("Choose two annotators above to open their records of a type.")
        return
    kind = str(table["type"].iat[cell[0]])
    there = held(here, *(found.annotators[number] for number in pair))
    if there.by == here.by:
        with st.container(border=True):
            formula_box(there, there.by, "F1", there.scores().by_type(there.by).get(kind, Counts()), kind)
            opened(
                there,
                there.by,
                Query(decision=ERRORS, types=(kind,)),
                f"Disagreements with {plain(kind)}",
                name="agreement_type",
            )


def documents(here: Here, found: Agreement, pair: Pair | None) -> None:
    """Show all figures by document; a row opens the document with one annotator taken as gold."""
    group = pair or found.everyone
    table = _by_document(_key(here, found), group, here.by, found)
    event = st.dataframe(
        table,
        key=table_key(f"{keys.TABLE}agreement_documents", here.view, found.annotators, group),
        on_select="rerun",
        selection_mode="single-cell",
        hide_index=True,
        placeholder=UNDEFINED,
        height=min(35 * (len(table) + 1) + 3, 390),
        column_config={"document": st.column_config.Column("document", width=150, pinned=True)}
        | {name: st.column_config.NumberColumn(name, width=70, format="localized") for name in ("spans", "tokens")}
        | {label_of(one, group): st.column_config.NumberColumn(width=WIDE, format="%.3f") for one in FIGURES},
    )
    title = f"Agreement of {_who(found, group)} by document, F1 under {here.by}"
    _files(here, found, table, "agreement-documents", title, "Choose a row to read its document.")
    cell = selected_cell(event, len(table), [str(name) for name in table.columns])
    if cell is not None:
        doc = str(table["document"].iat[cell[0]])
        one, other = (found.annotators[number] for number in group or (0, 1))
        view = replace(held(here, one, other).view, doc=doc)
        label = f":primary[Read {plain(doc)} with {plain(one)} taken as gold, beside {plain(other)} →]"
        navigation.link_to("Documents", label, view)


@st.cache_resource(max_entries=16, show_spinner=False)
def _by_document(key: str, group: Group, criterion: str, _found: Agreement) -> pd.DataFrame:
    table = documents_table(_found, group, criterion)
    return table if table["note"].ne("").any() else table.drop(columns="note")


def _files(here: Here, found: Agreement, table: pd.DataFrame, name: str, title: str, said: str = "") -> None:
    """Offer a table as files, a word on reading it beside."""
    signed = _signature(_key(here, found), found, _marks(here, found))

    def printed() -> tuple[Sheet]:
        rows = tuple(tuple(None if pd.isna(cell) else cell for cell in row) for row in table.itertuples(index=False))
        notes = (f"{made(found.plan, found.resampled)}.", signed)
        return (Sheet(title, tuple(map(str, table.columns)), rows, notes),)

    with st.container(horizontal=True, vertical_alignment="center"):
        export(table, signed, name=name, key=name.replace("-", "_"), printed=printed)
        if said:
            st.caption(plain(said, 600))


def _key(here: Here, found: Agreement) -> str:
    number = reference_layer.as_read(here.loaded).number
    return repr((number, found.annotators, found.settings, found.plan, found.resampled.by))


# Where documents have tokens of their own, a digest of all of them stands in it.
@st.cache_resource(max_entries=16, show_spinner=False)
def _signature(key: str, _found: Agreement, _marks: tuple[str, ...]) -> str:
    return signature(_found, _marks)


def _marks(here: Here, found: Agreement) -> tuple[str, ...]:
    marks = reference_layer.as_read(here.loaded).marks
    return tuple(f"{name}: {mark}" for name in found.annotators for mark in marks.get(name, ()))
