"""Tables of Overview: by criterion, by type, averages and by document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.analysis.comparison.measures import count_units_by_type
from nereval_core.analysis.comparison.significance import group_tables
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.ledger import Ledger
from nereval_core.problems import name_text
from nereval_core.records.queries import Query, Side, side_query
from nereval_core.report.colours import system_hues
from nereval_core.report.figures.parts import short_names
from nereval_core.report.figures.scores import decision_bars, type_rows
from nereval_core.report.score_tables import average_table, criterion_table, document_table, type_table
from nereval_core.tables import RATIO_KEYS, RATIOS, Column, Table
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components import export_menu, into_view
from pages.shared.components.downloads import Export, page_of, with_system
from pages.shared.components.tables import (
    ROWS,
    count_link,
    first_row,
    formula_box,
    open_records,
    show_table,
    table_export,
)
from pages.shared.data import caches
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.data.resampling import plan_of, units_of
from pages.shared.overview import headline
from pages.shared.view import keys
from pages.shared.view.formulas import SIDES, mean_formula, number, reconciles, side_counts
from pages.shared.view.queries import ERRORS
from pages.shared.view.text import as_markdown, named, plain, visible

CHOSEN_TYPE = f"{keys.TABLE}type_bars"
"""The corpus, the type and the decision ("" for its errors) that were clicked, in the session."""
RECORDS_OF_TYPE = "records_of_type"
MOST_TYPES = 16
"""Types that are drawn at first, those with most gold spans."""
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


def by_criterion(
    page: PageContext, names: Sequence[str], *, name: str = "criteria", ratios: Sequence[Column] = RATIOS
) -> None:
    """Show the scores under each criterion; its files can be had as bars too."""
    table, export = _criteria(page, names, name, ratios), criteria_export(page, names, name, ratios)
    show_table(
        page,
        table,
        signature=export.signature,
        data=export.table,
        facts=(page.view, names),
        figure=export.figure,
        caption=CHOICE,
        height=None,
    )


def criteria_export(
    page: PageContext, names: Sequence[str], name: str = "criteria", ratios: Sequence[Column] = RATIOS
) -> Export:
    """Return the table of criteria as files, which can be had as bars too."""
    signatures = " / ".join(page.signature(criterion) for criterion in names)
    frame = _criteria_rows(page, names, name, ratios)
    return Export(
        frame,
        signatures,
        name,
        figure=lambda: decision_bars(_criteria(page, names, name, ratios).to_frame(), page.system),
    )


@memoized()
def _criteria_rows(page: PageContext, names: Sequence[str], name: str, ratios: Sequence[Column]) -> pd.DataFrame:
    return with_system(_criteria(page, names, name, ratios).to_frame(), page.system)


@memoized()
def _criteria(page: PageContext, names: Sequence[str], name: str, ratios: Sequence[Column]) -> Table:
    return criterion_table(page.system, {page.system: page.scores(names=names)}, names, name=name, ratios=ratios)


def by_type(page: PageContext) -> None:
    """Draw F1 with its interval and the decisions of each type, and unfold the table; a click lists the records."""
    rows = type_scores(page)
    if rows.empty:
        st.caption("There are no spans.")
        return
    ordered = rows.sort_values("POS", ascending=False, kind="stable")
    if len(rows) > MOST_TYPES and not st.toggle(f"All {len(rows)} types", key=f"{keys.WIDGET}all_types"):
        ordered = ordered[:MOST_TYPES]
    method = ""
    if rows["f1_low"].notna().any():
        plan = plan_of(page)
        method = units_of(page).intervals_in_words(plan.level, plan.resamples)
    sides = page.words.spans("gold"), page.words.spans("pred")
    hue = system_hues(page.systems)[page.system]

    def figure() -> Any:
        return type_rows(ordered, page.system, page.by, method, hue, sides)

    export_menu.register("types", figure=figure, page=partial(page_of, figure, page.signature(), "types"))
    spans = f"in all {int(rows['POS'].sum()):,} {sides[0]}, {int(rows['ACT'].sum()):,} {sides[1]}"
    texts = {
        "heading": visible(f"F1 and decisions of {name_text(page.system)} by type under {page.by}"),
        "about": visible("; ".join(filter(None, (f"In brackets the {sides[0]}", spans, method))) + ".", 600),
    }
    key = f"{CHOSEN_TYPE}_drawn"

    def choose() -> None:
        if clicked := st.session_state[key]["choose"]:
            code = "" if clicked[1] == "F1" else str(clicked[1])
            point = (page.loaded.digest, str(ordered["type"].iat[int(clicked[0])]), code)
            # A second click on the same takes the choice back.
            st.session_state[CHOSEN_TYPE] = None if point == st.session_state.get(CHOSEN_TYPE) else point
            into_view.bring_into_view(RECORDS_OF_TYPE)

    corpus, kind, code = st.session_state.get(CHOSEN_TYPE) or ("", "", "")
    kind = kind if corpus == page.loaded.digest else ""
    is_open = kind in set(rows["type"])
    if not is_open:
        texts["hint"] = "Choose the F1 of a type for its errors, or a part of its bar for the records of a decision."
    headline.mount_bars(data=type_bars(page, ordered, hue, kind) | texts, key=key, on_choose_change=choose)
    if is_open:
        with st.container(key=RECORDS_OF_TYPE):
            _open_type(page, kind, code)
    with st.expander("By type as a table", key=f"{keys.LIST}types_unfolded", on_change="rerun") as opened:
        _type_table(page, shown=bool(opened.open))


def type_bars(page: PageContext, table: pd.DataFrame, hue: str, chosen: str = "") -> dict[str, Any]:
    """Return what the component draws: for each type of a table of `type_scores` F1, its interval and decisions."""
    rows = _type_rows(page, tuple(table["type"]), hue, table)
    chosen_rows = [row | {"chosen": kind == chosen} for kind, row in zip(table["type"], rows, strict=True)]
    return {"rows": chosen_rows, "legend": [], "axis": "F1, better →"}


@memoized()
def _type_rows(page: PageContext, types: tuple[str, ...], hue: str, _table: pd.DataFrame) -> list[dict[str, Any]]:
    rows, words = [], page.words
    for name, row in zip(short_names(types), _table.to_dict("records"), strict=True):
        kind = name_text(str(row["type"]))
        low, high = row["f1_low"], row["f1_high"]
        interval = "" if np.isnan(low) else f", 95% interval {low:.3f} to {high:.3f}"
        counted = f"{row['POS']:,} {words.spans('gold')}, {row['ACT']:,} {words.spans('pred')}"
        dot = None if np.isnan(row["f1"]) else {"at": row["f1"], "hue": hue}
        rows.append(
            {
                "name": f"{name_text(name)} ({row['POS']:,})",
                "f1": number(row["f1"]),
                "title": f"{kind}: F1 {number(row['f1'])}{interval}, {counted}: its errors",
                "dot": dot if dot is None or np.isnan(low) else dot | {"low": low, "high": high},
                "parts": headline.bar_parts(page, {code: row[code] for code in DECISIONS}, f"of {kind}"),
            }
        )
    return rows


@memoized()
def type_scores(page: PageContext) -> pd.DataFrame:
    """Return F1 with its interval and the decisions of each type, as `type_rows` draws them."""
    counts = page.scores().by_type(page.by)
    columns = ("type", "POS", "ACT", "f1", *DECISIONS)
    rows = [
        (kind, of_type.pos, of_type.act, of_type.f1, *of_type.gold[:4], of_type.spu)
        for kind, of_type in counts.items()
        if of_type.pos or of_type.act
    ]
    table = pd.DataFrame(rows, columns=list(columns)).astype({"f1": "float64"})
    if not headline.has_intervals(page):
        return table.assign(f1_low=float("nan"), f1_high=float("nan"))
    return table.merge(_type_intervals(page, plan_of(page)), on="type", how="left")


@memoized("Resampling, by type …")
def _type_intervals(page: PageContext, plan: ResamplingPlan) -> pd.DataFrame:
    scores = {page.system: page.scores()}
    intervals, _, _ = group_tables(count_units_by_type(scores, page.by, units_of(page)), plan, page.system)
    return intervals[["type", "f1_low", "f1_high"]]


def _open_type(page: PageContext, kind: str, code: str) -> None:
    """List the errors of a type, or its records with one decision."""
    words = as_markdown(page.words)
    if code:
        side: Side = "pred" if code == "SPU" else "gold"
        query, title = side_query(side, code, kind), f"{words.spans(side)} of {named(kind)}, {words.label(code)}"
    else:
        query, title = Query(types=(kind,), decision=ERRORS), f"Errors of {named(kind)}"
    if query is not None:
        open_records(page, page.by, query, f"{title} under {plain(page.by)}", name="types_figure")


def _type_table(page: PageContext, *, shown: bool) -> None:
    """Show each type: recall counts its gold spans, precision its predictions, each with their own decisions."""
    words = page.words
    table = _types(page)
    data = _type_data(page)
    if not shown:
        table_export(table, page.signature(), data=data).draw()
        return
    show_table(
        page,
        table,
        signature=page.signature(),
        data=data,
        caption=f"R counts the {words.spans('gold')} of a type, P the {words.spans('pred')}, each with their own "
        f"decisions: {', '.join(map(words.label, DECISIONS))}.",
    )


@memoized()
def _type_data(page: PageContext) -> pd.DataFrame:
    intervals = type_scores(page)[["type", "f1_low", "f1_high"]].dropna(axis="columns", how="all")
    return with_system(_types(page).to_frame().merge(intervals, on="type", how="left"), page.system)


@memoized()
def _types(page: PageContext) -> Table:
    return type_table(f"{page.system}: {page.by} by type", {page.system: page.scores()}, page.by)


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
