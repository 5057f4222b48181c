"""Figures of agreement: kappa, alpha and F1 of all annotators and of each two, by type and by document."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import streamlit as st

from nereval_core.analysis.agreement import Agreement, measure_agreement
from nereval_core.analysis.agreement.coefficients import FIGURES, Group, Pair, is_symmetric
from nereval_core.analysis.agreement.human_ceiling import CEILING_TEST, ceiling_sentences
from nereval_core.analysis.agreement.summary import (
    LABELS,
    agreement_sentences,
    agreement_signature,
    figure_label,
    identical_layers,
    identity_warnings,
    interval_warnings,
    kappa_in_words,
    pair_reasons,
)
from nereval_core.analysis.agreement.tables import (
    agreement_document_table,
    agreement_type_table,
    ceiling_table,
    figure_table,
    matrix_table,
)
from nereval_core.analysis.methods import methods
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.problems import capitalised
from nereval_core.records.queries import Query
from nereval_core.report.references import HOLM, INTERVAL, METHODS, RANDOMIZATION
from nereval_core.review.layer_words import LayerWords
from nereval_core.scoring import Counts, Settings
from nereval_core.tables import Table
from pages.shared.annotators import compared_systems, with_pair
from pages.shared.components import navigation
from pages.shared.components.export_menu import explain_methods, offer_methods
from pages.shared.components.navigation import choose_word, toggle_layout
from pages.shared.components.tables import ChosenCell, formula_box, open_records, show_table
from pages.shared.data import reference_layer
from pages.shared.data.computations import compute
from pages.shared.data.loading import Loaded
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.data.resampling import plan_of, units_of
from pages.shared.systems.tables import choose_units, interval_words, show_warnings
from pages.shared.view.queries import ERRORS
from pages.shared.view.text import named, plain

SPANS = 60_000
"""Spans of all annotators up to which agreement with its intervals is computed before anybody asks for it."""


def draw_figures(page: PageContext, names: tuple[str, ...]) -> None:
    """Draw the figures of all annotators, of each pair, by type and by document."""
    agreement = agreement_of(page, names)
    say_agreement(page, agreement)
    all_annotators(page, agreement)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choose_units(page)
        toggle_layout(
            page, "gamma", "Gamma", "By the best alignment of all units, with random annotators: it takes long."
        )
    terms = (*FIGURES, *(("gamma",) if "gamma" in page.view.layout else ()))
    explain_methods(*terms, INTERVAL, *((RANDOMIZATION, HOLM) if agreement.ceiling else ()))
    words = LayerWords("one annotator", "the other", annotators=True)
    offer_methods(lambda: methods(agreement, marks=_marks(page, agreement)), words)
    systems_against_annotators(page, agreement)

    st.header("Each pair")
    pair = annotator_matrix(page, agreement)
    if pair is None:
        st.caption("Choose a cell to open what the two disagree on.")
    else:
        list_disagreements(page, agreement, pair)

    st.header(f"By type{of_whom(agreement, pair)}")
    by_type(page, agreement, pair)
    st.header(f"By document{of_whom(agreement, pair)}")
    by_document(page, agreement, pair)


def draw_headline(page: PageContext, names: tuple[str, ...]) -> None:
    """Say how far the annotators agree, and how good that is in words; of large layers *Figures* says it."""
    layers = reference_layer.layers(reference_layer.as_read(page.loaded))
    _warn(identical_layers((name, layers[name]) for name in names))
    if sum(len(layers[name]) for name in names) > SPANS:
        return
    agreement = agreement_of(page, names)
    sentences = agreement_sentences(agreement, page.by, is_named=False)
    line = f"{capitalised(sentences[0], agreement.annotators)}."
    table = agreement.rows(agreement.everyone)
    kappas = table.loc[table["type"].isna() & table["figure"].eq("kappa"), "value"].dropna()
    st.markdown(plain(line, 1_000))
    if len(kappas):
        st.caption(
            f"A kappa of {kappas.iloc[0]:.3f} is called *{kappa_in_words(float(kappas.iloc[0]))}* after Landis and "
            "Koch (1977). Their words are a convention: rare types and the tokens without a type move kappa, so read "
            "it beside F1."
        )


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
    annotators, others = ({name: layers[name] for name in group} for group in (names, systems))
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


def say_agreement(page: PageContext, agreement: Agreement) -> None:
    """Say in sentences what the tables show."""
    lines = [f"{capitalised(line, agreement.annotators)}." for line in agreement_sentences(agreement, page.by)]
    st.markdown(plain(" ".join(lines), 2_000))
    _warn(identity_warnings(agreement))
    show_warnings(interval_warnings(agreement), agreement.annotators)


def _warn(lines: Iterable[str]) -> None:
    for line in lines:
        st.warning(plain(f"{line}.", 400))


def all_annotators(page: PageContext, agreement: Agreement) -> None:
    """Show each figure of all annotators with its interval."""
    group = agreement.everyone
    table = figure_table(agreement, group, [page.by])
    frame = table.to_frame()
    why = [f"{figure}: {note}." for figure, note in zip(frame["figure"], frame["note"], strict=True) if note]
    _show(
        page,
        agreement,
        replace(table.selected(*table.keys[:-1]), title=f"{table.title} under {page.by}", name="agreement-all"),
        caption=" ".join((*why, f"{interval_words(agreement.plan, agreement.resampled)}.")),
        height=None,
    )


def systems_against_annotators(page: PageContext, agreement: Agreement) -> None:
    """Say and show how F1 of each system with annotators compares with theirs with one another."""
    if agreement.ceiling is None:
        st.caption("Take a system out of the annotators above to hold it against their agreement.")
        return
    st.header("Systems against the human ceiling")
    lines = [
        f"{capitalised(line, (*page.systems, *agreement.annotators))}."
        for line in ceiling_sentences(agreement.ceiling, page.by, agreement.plan)
    ]
    st.markdown(plain(" ".join(lines), 2_000))
    caption = f"{CEILING_TEST}. {interval_words(agreement.plan, agreement.resampled)}."
    _show(page, agreement, ceiling_table(agreement.ceiling, agreement.plan), caption=caption, height=None)


def annotator_matrix(page: PageContext, agreement: Agreement) -> Pair | None:
    """Show a figure of each two annotators; return the two of the cell chosen.

    Without one, they are the reference and the system of the context bar; of a pair of annotators, the pair.
    """
    names = agreement.annotators
    figure = choose_word(page, "figure", "Figure", {figure: figure_label(figure, (0, 1)) for figure in FIGURES})
    has_order = figure == "f1" and not is_symmetric(page.criterion)
    undefined = (f" {line}." for line in pair_reasons(agreement, figure, [page.by]))
    gold = " Here the annotator of the row is gold." if has_order else ""
    cell = _show(
        page,
        agreement,
        replace(matrix_table(agreement, figure, page.by), name="agreement-matrix"),
        file=f"agreement-{figure}",
        choose=names,
        facts=(names, figure, page.by, page.settings.merge),
        caption=f"{LABELS[figure]}: {METHODS[figure].sentence}{gold}{''.join(undefined)}",
        height=None,
    )
    if cell is not None and names[cell.row] != cell.column:
        return cell.row, names.index(cell.column)
    reference, other = reference_layer.pair_of_view(page.view, page.loaded)
    if page.view.reference and reference in names and other in names:
        return names.index(reference), names.index(other)
    return (0, 1) if len(names) == 2 else None


def of_whom(agreement: Agreement, pair: Pair | None) -> str:
    """Return the end of a heading as Markdown: the names of two of several annotators; "" if there are only two."""
    return "" if len(agreement.annotators) == 2 else f": {plain(_who(agreement, pair))}"


def _who(agreement: Agreement, group: Group) -> str:
    names = agreement.annotators
    return " and ".join(names[number] for number in group) if group else f"all {len(names)} annotators"


def list_disagreements(page: PageContext, agreement: Agreement, pair: Pair) -> None:
    """Show the formula of F1 of two annotators, the records in which they differ, and links to read them."""
    reference, other = (agreement.annotators[number] for number in pair)
    context = with_pair(page, reference, other)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            role = "" if reference == reference_layer.gold_name(page.loaded) else ", the reference"
            st.markdown(f"**{named(other)} compared with {named(reference)}{role}**")
            for title in ("Inspect", "Overview"):
                navigation.link_to(title, f":primary[{title} →]", context.view)
        if context.by != page.by:
            st.caption(f"{plain(page.by)} does not apply: {named(reference)} lacks what it needs.")
            return
        formula_box(context, context.by, "F1", context.scores().counts(context.by))
        open_records(
            context,
            context.by,
            Query(decision=ERRORS),
            f"What {named(reference)} and {named(other)} disagree on",
            name="agreement",
        )


def by_type(page: PageContext, agreement: Agreement, pair: Pair | None) -> None:
    """Show all figures by type; of two annotators a row opens the records of its type."""
    table = agreement_type_table(agreement, pair or agreement.everyone, page.by)
    if not table.rows:
        st.caption("There are no spans.")
        return
    cell = _show(page, agreement, table, choose=table.keys)
    if cell is None:
        return
    if pair is None:
        st.caption("Choose two annotators above to open their records of a type.")
        return
    type_name = str(table.rows[cell.row][0])
    context = with_pair(page, *(agreement.annotators[number] for number in pair))
    if context.by == page.by:
        with st.container(border=True):
            counts = context.scores().by_type(context.by).get(type_name, Counts())
            formula_box(context, context.by, "F1", counts, type_name)
            query, title = Query(decision=ERRORS, types=(type_name,)), f"Disagreements with {named(type_name)}"
            open_records(context, context.by, query, title, name="agreement_type")


def by_document(page: PageContext, agreement: Agreement, pair: Pair | None) -> None:
    """Show all figures by document; a row opens the document with one annotator as the reference."""
    group = pair or agreement.everyone
    table = _by_document(_key(page, agreement), group, page.by, agreement)
    caption = "Choose a row to read its document."
    cell = _show(page, agreement, table, choose=table.keys, caption=caption, height=390)
    if cell is not None:
        document = str(table.rows[cell.row][0])
        reference, other = (agreement.annotators[number] for number in group or (0, 1))
        view = replace(with_pair(page, reference, other).view, doc=document)
        label = f":primary[Read {named(document)} with {named(reference)} as the reference for {named(other)} →]"
        navigation.link_to("Inspect", label, view)


@memoized()
def _by_document(key: str, group: Group, criterion: str, _agreement: Agreement) -> Table:
    return agreement_document_table(_agreement, group, criterion)


def _show(
    page: PageContext,
    agreement: Agreement,
    table: Table,
    *,
    file: str = "",
    choose: Collection[str] = (),
    facts: tuple[object, ...] | None = None,
    caption: str | None = None,
    height: int | None = 560,
) -> ChosenCell | None:
    """Show a table with the signature of the agreement and the method of its intervals in its files."""
    return show_table(
        page,
        table,
        signature=_signature(_key(page, agreement), agreement, _marks(page, agreement)),
        file=file,
        notes=(f"{interval_words(agreement.plan, agreement.resampled)}.",),
        choose=choose,
        facts=(page.view, agreement.annotators) if facts is None else facts,
        caption=caption,
        height=height,
    )


def _key(page: PageContext, agreement: Agreement) -> str:
    read = reference_layer.as_read(page.loaded).id
    return repr((read, agreement.annotators, agreement.settings, agreement.plan, agreement.resampled.by))


# It holds a digest of all tokens where documents have tokens of their own.
@memoized()
def _signature(key: str, _agreement: Agreement, _marks: tuple[str, ...]) -> str:
    return agreement_signature(_agreement, _marks)


def _marks(page: PageContext, agreement: Agreement) -> tuple[str, ...]:
    marks = reference_layer.as_read(page.loaded).marks
    return tuple(f"{name}: {mark}" for name in agreement.annotators for mark in marks.get(name, ()))
