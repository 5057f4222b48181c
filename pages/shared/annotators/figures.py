"""Figures of agreement: kappa, alpha and F1 of all annotators and of each two, by type and by document."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from nereval_core.analysis.agreement import Agreement, measure_agreement
from nereval_core.analysis.agreement.coefficients import FIGURES, Group, Pair, is_symmetric
from nereval_core.analysis.agreement.human_ceiling import (
    CEILING_F1S,
    CEILING_TEST,
    ceiling_sentences,
    ceiling_table,
)
from nereval_core.analysis.agreement.summary import (
    LABELS,
    agreement_sentences,
    agreement_signature,
    documents_table,
    figure_label,
    figures_table,
    identity_warnings,
    interval_warnings,
    pair_matrix,
    pair_reasons,
    types_table,
    undefined_reasons,
)
from nereval_core.analysis.methods import methods
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.records.queries import Query
from nereval_core.report.method_terms import HOLM, INTERVAL, METHODS, RANDOMIZATION
from nereval_core.scoring import Counts, Settings
from nereval_core.scoring.count_tables import free_name
from nereval_core.tables import Table, columns_of
from pages.shared.annotators import compared_systems, with_pair
from pages.shared.components import navigation
from pages.shared.components.count_table import BAR, count_table
from pages.shared.components.declared_table import formula_box
from pages.shared.components.downloads import Export
from pages.shared.components.export_menu import explain_methods, offer_methods
from pages.shared.components.navigation import choose_word, toggle_layout
from pages.shared.components.record_list import open_records
from pages.shared.data import reference_layer
from pages.shared.data.computations import compute
from pages.shared.data.loading import Loaded
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.systems.tables import choose_units, interval_words, plan_of, show_warnings, units_of
from pages.shared.view.count_tables import headings
from pages.shared.view.queries import ERRORS
from pages.shared.view.text import plain

WIDE = 140
"""Pixels of a column headed by a figure or an annotator."""


def draw_figures(page: PageContext, names: tuple[str, ...]) -> None:
    """Draw the figures of all annotators, of each pair, by type and by document."""
    found = agreement_of(page, names)
    say_agreement(page, found)
    all_annotators(page, found)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choose_units(page)
        toggle_layout(
            page, "gamma", "Gamma", "By the best alignment of all units, with random annotators: it takes long."
        )
    terms = (*FIGURES, *(("gamma",) if "gamma" in page.view.layout else ()))
    explain_methods(*terms, INTERVAL, *((RANDOMIZATION, HOLM) if found.ceiling else ()))
    offer_methods(lambda: methods(found, marks=_marks(page, found)))
    systems_against_annotators(page, found)

    st.header("Each pair")
    pair = annotator_matrix(page, found)
    if pair is None:
        st.caption("Choose a cell to open what the two disagree on.")
    else:
        list_disagreements(page, found, pair)

    st.header(f"By type{of_whom(found, pair)}")
    by_type(page, found, pair)
    st.header(f"By document{of_whom(found, pair)}")
    by_document(page, found, pair)


def agreement_of(page: PageContext, names: tuple[str, ...]) -> Agreement:
    """Return how far some layers agree under the chosen criterion."""
    settings = Settings((page.criterion,), page.settings.merge, page.settings.leave_out)
    read = reference_layer.as_read(page.loaded)
    units = units_of(page)
    systems = compared_systems(page, names)
    gamma = "gamma" in page.view.layout
    return _agreement(read, names, systems, settings, plan_of(page), gamma, units.by, units)


@memoized("Counting what annotators agree on …")
def _agreement(
    read: Loaded,
    names: tuple[str, ...],
    systems: tuple[str, ...],
    settings: Settings,
    plan: ResamplingPlan,
    gamma: bool,
    units_by: str,
    _units: ResamplingUnits,
) -> Agreement:
    layers = reference_layer.layers(read)
    annotators, others = ({name: layers[name] for name in some} for some in (names, systems))
    return compute(
        read,
        "Agreement",
        measure_agreement,
        annotators,
        settings,
        plan=plan,
        resampled=_units,
        systems=others,
        gamma=gamma,
    )


def say_agreement(page: PageContext, found: Agreement) -> None:
    """Say in sentences what the tables show."""
    lines = [f"{line[0].upper()}{line[1:]}." for line in agreement_sentences(found, page.by)]
    st.markdown(plain(" ".join(lines), 2_000))
    for line in identity_warnings(found):
        st.warning(plain(f"{line}.", 400))
    show_warnings(interval_warnings(found))


def all_annotators(page: PageContext, found: Agreement) -> None:
    """Show each figure of all annotators with its interval."""
    group = found.everyone
    table = figures_table(found, group, [page.by])
    notes = [f"{row['figure']}: {row['note']}." for row in table.to_dict("records") if row["note"]]
    table = table.drop(columns="note")
    column = st.column_config.Column
    number = {name: st.column_config.NumberColumn(name, width=75, format="%.3f") for name in ("value", "low", "high")}
    title = f"Agreement of {_who(found, group)} under {page.by}"
    count_table(
        table,
        "agreement_all",
        (page.view, found.annotators),
        columns={"figure": column("figure", width=190, pinned=True), "over": column("over", width=110), **number},
        choose=(),
        export=_export(page, found, table, "agreement", title),
        caption=_caption(" ".join((*notes, f"{interval_words(found.plan, found.resampled)}."))),
        width="content",
    )


def systems_against_annotators(page: PageContext, found: Agreement) -> None:
    """Say and show how F1 of each system with annotators compares with theirs with one another."""
    if found.ceiling is None:
        st.caption("Take a system out of the annotators above to hold it against their agreement.")
        return
    st.header("Systems against the human ceiling")
    lines = [f"{line[0].upper()}{line[1:]}." for line in ceiling_sentences(found.ceiling, page.by, found.plan)]
    st.markdown(plain(" ".join(lines), 2_000))
    table = ceiling_table(found.ceiling, found.plan).drop(columns="criterion")
    column = st.column_config.Column
    count_table(
        table,
        "agreement_ceiling",
        (page.view, found.annotators),
        columns={"system": column("system", width=150, pinned=True)}
        | {name: st.column_config.NumberColumn(name, width=WIDE, format="%.3f") for name in CEILING_F1S},
        choose=(),
        export=_export(page, found, table, "agreement-ceiling", f"Systems against the human ceiling under {page.by}"),
        caption=_caption(f"{CEILING_TEST}. {interval_words(found.plan, found.resampled)}."),
        width="content",
    )


def annotator_matrix(page: PageContext, found: Agreement) -> Pair | None:
    """Show a figure of each two annotators; return the two of the cell chosen.

    Without one, they are the reference and the system of the context bar; of a pair of annotators, the pair.
    """
    shown = choose_word(page, "figure", "Figure", {figure: figure_label(figure, (0, 1)) for figure in FIGURES})
    values = pair_matrix(found, shown, page.by)
    columns = headings(found.annotators)
    table = values.set_axis(columns, axis=1).reset_index(names="")
    title = f"{LABELS[shown]} of each pair" + (f" under {page.by}" if shown == "f1" else "")
    lopsided = shown == "f1" and not is_symmetric(page.criterion)
    undefined = (f" {line}." for line in pair_reasons(found, shown, [page.by]))
    gold = " Here the annotator of the row is gold." if lopsided else ""
    said = f"{LABELS[shown]}: {METHODS[shown].sentence}{gold}{''.join(undefined)}"
    named = table.rename(columns={"": free_name("annotator", columns)})
    cell = count_table(
        table,
        "agreement_matrix",
        (found.annotators, shown, page.by, page.settings.merge),
        columns={
            "": st.column_config.Column("", width=150, pinned=True),
            **{
                name: st.column_config.ProgressColumn(
                    name, width=WIDE, format="%.3f", min_value=0, max_value=1, color=BAR
                )
                for name in columns
            },
        },
        choose=columns,
        export=_export(page, found, named, f"agreement-{shown}", title),
        caption=_caption(said),
        width="content",
    )
    if cell is not None and columns[cell[0]] != cell[1]:
        return cell[0], columns.index(cell[1])
    one, other = reference_layer.pair_of_view(page.view, page.loaded)
    if page.view.reference and one in found.annotators and other in found.annotators:
        return found.annotators.index(one), found.annotators.index(other)
    return (0, 1) if len(found.annotators) == 2 else None


def of_whom(found: Agreement, pair: Pair | None) -> str:
    """Return the end of a heading as Markdown: the names of two of several annotators; "" if there are only two."""
    return "" if len(found.annotators) == 2 else f": {plain(_who(found, pair))}"


def _who(found: Agreement, group: Group) -> str:
    names = found.annotators
    return " and ".join(names[number] for number in group) if group else f"all {len(names)} annotators"


def list_disagreements(page: PageContext, found: Agreement, pair: Pair) -> None:
    """Show the formula of F1 of two annotators, the records in which they differ, and links to read them."""
    one, other = (found.annotators[number] for number in pair)
    there = with_pair(page, one, other)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            said = "" if one == reference_layer.gold_name(page.loaded) else ", the reference"
            st.markdown(f"**{plain(other)} compared with {plain(one)}{said}**")
            for title in ("Inspect", "Overview"):
                navigation.link_to(title, f":primary[{title} →]", there.view)
        if there.by != page.by:
            st.caption(f"{plain(page.by)} does not apply: {plain(one)} has not what it needs.")
            return
        formula_box(there, there.by, "F1", there.scores().counts(there.by), None)
        open_records(
            there,
            there.by,
            Query(decision=ERRORS),
            f"What {plain(one)} and {plain(other)} disagree on",
            name="agreement",
        )


def by_type(page: PageContext, found: Agreement, pair: Pair | None) -> None:
    """Show all figures by type; of two annotators a row opens the records of its type."""
    group = pair or found.everyone
    table = types_table(found, group, page.by)
    if table.empty:
        st.caption("There are no spans.")
        return
    title = f"Agreement of {_who(found, group)} by type, F1 under {page.by}"
    cell = count_table(
        table,
        "agreement_types",
        (page.view, found.annotators, group),
        columns={"type": st.column_config.Column("type", width=150, pinned=True)}
        | {"spans": st.column_config.NumberColumn("spans", width=65, format="localized")}
        | {name: st.column_config.Column(name, width=150) for name in table.columns[2:]},
        export=_export(page, found, table, "agreement-types", title),
        caption=_caption(
            " ".join(f"{line[0].upper()}{line[1:]}." for line in undefined_reasons(found, group, page.by))
        ),
        height=560,
    )
    if cell is None:
        return
    if pair is None:
        st.caption("Choose two annotators above to open their records of a type.")
        return
    kind = str(table["type"].iat[cell[0]])
    there = with_pair(page, *(found.annotators[number] for number in pair))
    if there.by == page.by:
        with st.container(border=True):
            formula_box(there, there.by, "F1", there.scores().by_type(there.by).get(kind, Counts()), kind)
            open_records(
                there,
                there.by,
                Query(decision=ERRORS, types=(kind,)),
                f"Disagreements with {plain(kind)}",
                name="agreement_type",
            )


def by_document(page: PageContext, found: Agreement, pair: Pair | None) -> None:
    """Show all figures by document; a row opens the document with one annotator as the reference."""
    group = pair or found.everyone
    table = _by_document(_key(page, found), group, page.by, found)
    title = f"Agreement of {_who(found, group)} by document, F1 under {page.by}"
    cell = count_table(
        table,
        "agreement_documents",
        (page.view, found.annotators, group),
        columns={"document": st.column_config.Column("document", width=150, pinned=True)}
        | {name: st.column_config.NumberColumn(name, width=70, format="localized") for name in ("spans", "tokens")}
        | {figure_label(one, group): st.column_config.NumberColumn(width=WIDE, format="%.3f") for one in FIGURES},
        export=_export(page, found, table, "agreement-documents", title),
        caption="Choose a row to read its document.",
        height=390,
    )
    if cell is not None:
        doc = str(table["document"].iat[cell[0]])
        one, other = (found.annotators[number] for number in group or (0, 1))
        view = replace(with_pair(page, one, other).view, doc=doc)
        label = f":primary[Read {plain(doc)} with {plain(one)} as the reference for {plain(other)} →]"
        navigation.link_to("Inspect", label, view)


@memoized()
def _by_document(key: str, group: Group, criterion: str, _found: Agreement) -> pd.DataFrame:
    table = documents_table(_found, group, criterion)
    return table if table["note"].ne("").any() else table.drop(columns="note")


def _caption(text: str) -> str:
    return plain(text, 600)


def _export(page: PageContext, found: Agreement, table: pd.DataFrame, name: str, title: str) -> Export:
    """Return a table as files, which are printed under its title."""
    signed = _signature(_key(page, found), found, _marks(page, found))

    def printed() -> tuple[Table]:
        rows = tuple(tuple(None if pd.isna(cell) else cell for cell in row) for row in table.itertuples(index=False))
        notes = (f"{interval_words(found.plan, found.resampled)}.", signed)
        return (Table(title, columns_of(*map(str, table.columns)), rows, notes),)

    return Export(table, signed, name, key=name.replace("-", "_"), printed=printed)


def _key(page: PageContext, found: Agreement) -> str:
    read = reference_layer.as_read(page.loaded).id
    return repr((read, found.annotators, found.settings, found.plan, found.resampled.by))


# It holds a digest of all tokens where documents have tokens of their own.
@memoized()
def _signature(key: str, _found: Agreement, _marks: tuple[str, ...]) -> str:
    return agreement_signature(_found, _marks)


def _marks(page: PageContext, found: Agreement) -> tuple[str, ...]:
    marks = reference_layer.as_read(page.loaded).marks
    return tuple(f"{name}: {mark}" for name in found.annotators for mark in marks.get(name, ()))
