"""Tables of Overview: by criterion, by type, averages and by document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from nereval_core.ledger import Ledger
from nereval_core.records.queries import Query
from nereval_core.report.figures.scores import decision_bars
from nereval_core.report.score_tables import average_table, criterion_table, document_table, type_table
from nereval_core.tables import RATIO_KEYS, Table
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components.downloads import Export
from pages.shared.components.tables import ROWS, count_link, first_row, formula_box, show_table
from pages.shared.data import caches
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys
from pages.shared.view.formulas import SIDES, mean_formula, reconciles, side_counts
from pages.shared.view.text import as_markdown

PIECE = 10_000
"""Documents that are written into a file at once."""
WHOLE = {"gold": ("COR", "INC", "PAR", "MIS"), "pred": ("COR", "INC", "PAR", "SPU")}
CHOICE = "Choose a count to see its records, a ratio to see its formula."


def reconciliation(page: PageContext) -> None:
    """Say that the decisions of each side add up to its spans; each number in the sum opens its records."""
    counts, ledger = page.scores().counts(page.by), page.ledger()
    # The records, counted for themselves, against the decisions of the spans.
    gold, pred = (ledger.total(Query(decision=decisions)).weight for decisions in WHOLE.values())
    sums = reconciles(counts, gold, pred, as_markdown(page.words))
    with st.container(horizontal=True, gap="small"):
        for side, (holds, text) in zip(SIDES, sums, strict=True):
            badge = f":green-badge[✓ {text}]" if holds else f":red-badge[≠ does not reconcile: {text}]"
            key = f"{keys.LIST}sum-{side}"
            with st.popover(badge, type="tertiary", width="content", key=key, on_change="rerun") as popover:
                for label, value, query in side_counts(side, counts, as_markdown(page.words)) if popover.open else ():
                    count_link(page.view, label, value, query)


def by_criterion(page: PageContext, names: Sequence[str], *, name: str = "criteria") -> None:
    """Show the scores under each criterion; its files can be had as bars too."""
    table, export = _criteria(page, names, name), criteria_export(page, names, name)
    show_table(
        page,
        table,
        signature=export.signature,
        facts=(page.view, names),
        figure=export.figure,
        caption=CHOICE,
        height=None,
    )


def criteria_export(page: PageContext, names: Sequence[str], name: str = "criteria") -> Export:
    """Return the table of criteria as files, which can be had as bars too."""
    frame = _criteria(page, names, name).to_frame()
    signatures = " / ".join(page.signature(criterion) for criterion in names)
    return Export(frame, signatures, name, figure=lambda: decision_bars(frame, page.system))


def _criteria(page: PageContext, names: Sequence[str], name: str) -> Table:
    return criterion_table(page.system, {page.system: page.scores(names=names)}, names, name=name)


def by_type(page: PageContext) -> None:
    """Show each type: recall counts its gold spans, precision its predictions, each with their own decisions."""
    words = page.words
    show_table(
        page,
        type_table(f"{page.system}: {page.by} by type", {page.system: page.scores()}, page.by),
        signature=page.signature(),
        caption=f"R counts the {words.spans('gold')} of a type, P the {words.spans('pred')}, each with their own "
        f"decisions: {', '.join(map(words.label, DECISIONS))}.",
    )


def averages(page: PageContext) -> None:
    """Show micro and macro averages; each ratio opens its formula."""
    scores, name = page.scores(), page.by
    over_types, over_documents = caches.averages(page.loaded, page.system, page.settings, name)
    cell = show_table(
        page,
        average_table(f"{page.system}: averages under {name}", scores.counts(name), over_types, over_documents),
        signature=page.signature(),
        choose=tuple(RATIO_KEYS.values()),
        caption="A ratio that is undefined is left out of a mean.",
        height=None,
    )
    if cell is None:
        return
    ratio = next(ratio for ratio, key in RATIO_KEYS.items() if key == cell.column)
    if cell.row == 0:
        formula_box(page, name, ratio, scores.counts(name))
    elif cell.row == 1:
        calculation = mean_formula(ratio, scores.by_type(name).values(), over_types[cell.column], "types")
        st.code(calculation, language=None, wrap_lines=True)
        st.caption("Each ratio stands in the table by type above, and opens its formula there.")
    else:
        documents = page.ledger().documents().counts.values()
        st.code(
            mean_formula(ratio, documents, over_documents[cell.column], "documents"), language=None, wrap_lines=True
        )
        by_document(page)


def by_document(page: PageContext) -> None:
    """Show each document's ratios and counts, as those of the whole corpus."""
    ledger = page.ledger()
    search = ""
    total = number = ledger.documents().documents
    if total > ROWS:
        search = st.text_input("Documents whose id holds", key=f"{keys.LIST}documents", width=280)
        number = ledger.documents(search).documents
        if not number:
            st.caption("No documents.")
            return
    first = first_row(number, "documents", page.view, "documents")
    show_table(
        page,
        _documents(page, ledger, search, first, ROWS),
        signature=page.signature(),
        data=partial(_every_document, page, ledger),
        rows=total,
        facts=(page.view, first, search),
        caption=CHOICE,
        height=360,
    )


def _documents(page: PageContext, ledger: Ledger, search: str, first: int, rows: int) -> Table:
    counts = ledger.documents(search, first, rows).counts
    return document_table(f"{page.system}: {page.by} by document", counts, page.scores(), page.by)


def _every_document(page: PageContext, ledger: Ledger) -> Iterator[pd.DataFrame]:
    """Yield the rows of all documents, piece by piece."""
    for first in range(0, max(1, ledger.documents().documents), PIECE):
        yield _documents(page, ledger, "", first, PIECE).to_frame()
