"""Tables of Overview: by criterion, by type, averages and by document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.report.figures.scores import decision_bars
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components.count_table import ROWS, count_table, first_row, ratio_columns
from pages.shared.components.declared_table import count_link, formula_box
from pages.shared.components.downloads import Export
from pages.shared.components.record_list import open_records
from pages.shared.data import caches
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys
from pages.shared.view.count_tables import (
    COUNTS,
    RATIOS,
    SIDES,
    criteria_cell,
    criteria_table,
    documents_table,
    mean_formula,
    reconciles,
    side_counts,
    sided,
    types_cell,
    types_table,
)
from pages.shared.view.layer_words import LayerWords
from pages.shared.view.queries import Ledger, Side, side_query
from pages.shared.view.text import as_markdown, explained, plain

PIECE = 10_000
"""Documents that are written into a file at once."""
WHOLE: Mapping[Side, str] = {"gold": "POS", "pred": "ACT"}
CHOICE = "Choose a count to see its records, a ratio to see its formula."


def reconciliation(page: PageContext) -> None:
    """Say that the decisions of each side add up to its spans; each number in the sum opens its records."""
    counts, ledger = page.scores().counts(page.by), page.ledger()
    # The records, counted for themselves, against the decisions of the spans.
    gold, pred = (ledger.total(query).weight for side in SIDES if (query := side_query(side, WHOLE[side])) is not None)
    sums = reconciles(counts, gold, pred, as_markdown(page.words))
    with st.container(horizontal=True, gap="small"):
        for side, (holds, text) in zip(SIDES, sums, strict=True):
            said = f":green-badge[✓ {text}]" if holds else f":red-badge[≠ does not reconcile: {text}]"
            with st.popover(
                said, type="tertiary", width="content", key=f"{keys.LIST}sum-{side}", on_change="rerun"
            ) as popover:
                for label, value, query in side_counts(side, counts, as_markdown(page.words)) if popover.open else ():
                    count_link(page.view, label, value, query)


def by_criterion(page: PageContext, names: Sequence[str], *, name: str = "criteria") -> None:
    scores = page.scores(names=names)
    table = criteria_table(scores, names)
    cell = count_table(
        table,
        name,
        (page.view, names),
        columns={"criterion": st.column_config.TextColumn("criterion", width=100, pinned=True)}
        | _columns(COUNTS, page.words),
        choose=(*RATIOS, *COUNTS),
        export=criteria_export(page, names, name),
        caption=CHOICE,
    )
    if cell is None:
        return
    criterion, column = names[cell[0]], cell[1]
    query = criteria_cell(column)
    if query is None:
        formula_box(page, criterion, column, scores.counts(criterion), None)
    else:
        open_records(
            page, criterion, query, f"{as_markdown(page.words).label(column)} under {plain(criterion)}", name=name
        )


def criteria_export(page: PageContext, names: Sequence[str], name: str = "criteria") -> Export:
    """Return the table of criteria as files, which can be had as bars too."""
    table = criteria_table(page.scores(names=names), names)
    signatures = " / ".join(page.signature(criterion) for criterion in names)
    return Export(table, signatures, name, figure=lambda: decision_bars(table, page.system))


def by_type(page: PageContext) -> None:
    """Show each type: recall counts its gold spans, precision its predictions, each with their own decisions."""
    scores, name = page.scores(), page.by
    table = types_table(scores, name)
    columns = [column for column in table.columns if column != "type"]
    cell = count_table(
        table,
        "types",
        (page.view,),
        columns={
            "type": st.column_config.TextColumn("type", width=150, pinned=True),
            "support": st.column_config.NumberColumn(
                plain(page.words.of_side("spans", "gold")) if page.words.annotators else "support",
                width=72,
                format="localized",
                help=page.words.tooltip("POS") if page.words.annotators else explained("support"),
            ),
        }
        | _columns([column for column in columns if column not in ("support", *RATIOS)], page.words),
        choose=columns,
        export=Export(table, page.signature(), "types"),
        caption=plain(
            f"R counts the {page.words.spans('gold')} of a type, P the {page.words.spans('pred')}, each with their own "
            f"decisions: {', '.join(map(page.words.label, DECISIONS))}.",
            600,
        ),
        height=560,
    )
    if cell is None:
        return
    kind, column = str(table["type"].iat[cell[0]]), cell[1]
    query = types_cell(column, kind)
    if query is None:
        formula_box(page, name, column, scores.by_type(name)[kind], kind)
    else:
        side, code = sided(column)
        what = f"{plain(page.words.spans(side or 'gold'))} of {plain(kind)}"
        open_records(page, name, query, f"{what}, {as_markdown(page.words).label(code)}", name="types")


def averages(page: PageContext) -> None:
    """Show micro and macro averages; each ratio opens its formula."""
    scores, name = page.scores(), page.by
    table, over_types, over_documents = caches.averages(page.loaded, page.system, page.settings, name)
    cell = count_table(
        table,
        "averages",
        (page.view,),
        columns={"average": st.column_config.TextColumn("average", width=170)} | _columns((), page.words),
        choose=tuple(RATIOS),
        export=Export(table, page.signature(), "averages"),
        caption="A ratio that is undefined is left out of a mean.",
    )
    if cell is None:
        return
    row, ratio = cell
    if row == 0:
        formula_box(page, name, ratio, scores.counts(name), None)
    elif row == 1:
        made = mean_formula(ratio, scores.by_type(name).values(), over_types[RATIOS[ratio]], "types")
        st.code(made, language=None, wrap_lines=True)
        st.caption("Each ratio stands in the table by type above, and opens its formula there.")
    else:
        some = page.ledger().documents().counts.values()
        made = mean_formula(ratio, some, over_documents[RATIOS[ratio]], "documents")
        st.code(made, language=None, wrap_lines=True)
        by_document(page)


def by_document(page: PageContext) -> None:
    """Show each document's ratios and counts, as those of the whole corpus."""
    ledger, name = page.ledger(), page.by
    sought = ""
    if (number := ledger.documents().documents) > ROWS:
        sought = st.text_input("Documents whose id holds", key=f"{keys.LIST}documents", width=280)
        number = ledger.documents(sought).documents
        if not number:
            st.caption("No documents.")
            return
    first = first_row(number, "documents", page.view, "documents")
    found = ledger.documents(sought, first, ROWS).counts
    table = documents_table(found)
    facts = (first, sought) if first or sought else ()
    cell = count_table(
        table,
        "documents",
        (page.view, *facts),
        columns={"document": st.column_config.TextColumn("document", width=100, pinned=True)}
        | _columns(COUNTS, page.words),
        choose=(*RATIOS, *COUNTS),
        export=Export(
            partial(_every_document, ledger), page.signature(), "documents", rows=ledger.documents().documents
        ),
        caption=CHOICE,
        height=360,
    )
    if cell is None:
        return
    doc, column = str(table["document"].iat[cell[0]]), cell[1]
    query = criteria_cell(column)
    if query is None:
        formula_box(page, name, column, found[doc], None, doc=doc)
    else:
        title = f"{as_markdown(page.words).label(column)} in {plain(doc)} under {plain(name)}"
        open_records(page, name, replace(query, doc=doc), title, name="documents")


def _every_document(ledger: Ledger) -> Iterator[pd.DataFrame]:
    """Yield the rows of all documents, piece by piece."""
    for first in range(0, max(1, ledger.documents().documents), PIECE):
        yield documents_table(ledger.documents("", first, PIECE).counts)


def _columns(counts: Sequence[str], words: LayerWords) -> dict[str, Any]:
    """Describe the ratios, and count columns such as `COR` or `gold COR`, with name and formula as tooltips."""
    made = ratio_columns(RATIOS, 58, words=words)
    for column in counts:
        side, _, code = column.rpartition(" ")
        # With a side before them the words would not fit beside one another; the tooltip has them.
        label = f"{side[:4]} {code}" if side else words.label(code)
        if words.annotators and side:
            label = f"{words.side('gold' if side == 'gold' else 'pred')}: {words.name(code)}"
        made[column] = st.column_config.NumberColumn(
            label,
            width=70 if side and not words.annotators else 16 + 6 * len(label),
            format="localized",
            help=explained(code, words=words),
        )
    return made
