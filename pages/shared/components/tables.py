"""Declared tables and lists of records on a page: drawn by the kinds of their columns, and what a cell opens."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from unicodedata import east_asian_width

import pandas as pd
import pyarrow as pa
import streamlit as st

from nereval_core.analysis.criteria.tables import decisions_in_words
from nereval_core.problems import capitalised, shortened_name
from nereval_core.records.queries import FIELDS, ORDERS, Query, Side
from nereval_core.report.colours import decision_look
from nereval_core.report.slides import from_word, to_word
from nereval_core.review.layer_words import GOLD_AND_PREDICTION, LayerWords
from nereval_core.scoring import Counts
from nereval_core.scoring.count_tables import free_name
from nereval_core.tables import UNDEFINED, Cell, Column, FormulaOf, Kind, RecordsOf, Table, readable_text
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components import navigation
from pages.shared.components.downloads import Export, Pieces, layer_file_name, offer_layer, table_key
from pages.shared.components.records import RECORD_COLUMNS, record_card, record_rows
from pages.shared.data.page_context import PageContext
from pages.shared.view import View, keys
from pages.shared.view.formulas import formula
from pages.shared.view.queries import ERRORS, view_of
from pages.shared.view.text import as_markdown, count, count_words, explained, named, noun, plain

ROWS = 100
"""Rows on one page of a long table: no message to the browser grows beyond that."""
WHOLE_ROWS = 40
"""Rows of a table that is shown whole, so that it needs no scrolling of its own."""
NAME_WIDTH, WIDEST, WIDEST_OF_LIST, CONTEXT_WIDTH, DECISION_WIDTH = 100, 330, 165, 115, 140
"""Pixels of the column that names the row, the widest of texts, in a list, of words beside a span, of decisions."""
CHARACTER_WIDTH, CAPITAL_WIDTH, PADDING, CELL_PADDING = 7, 2, 28, 20
"""Pixels of a character, how many more of a capital, and beside a heading and a number."""
NARROW_CHARACTER_WIDTH, TEXT_PADDING = 6, 16
"""Pixels of most characters of a sentence, and beside it."""
_RATIO_CHARACTERS = 6
LONGEST_CAPTION = 800
"""Characters of a caption."""
BESIDE_FIGURE = ("span", "pred_text", "why", "document")
"""The columns of a list that stands beside a figure."""
_FORMATS = {"count": "localized", "ratio": "%.3f", "difference": "%+.3f", "share": "percent"}


class ChosenCell(NamedTuple):
    """The number of a row, from 0, and the key of a column."""

    row: int
    column: str


def show_table(
    page: PageContext,
    table: Table,
    *,
    signature: str | None = None,
    data: pd.DataFrame | Table | Pieces | None = None,
    rows: int | None = None,
    file: str = "",
    notes: Sequence[str] = (),
    choose: Collection[str] = (),
    on_choose: Callable[[ChosenCell], None] | None = None,
    facts: tuple[object, ...] | None = None,
    figure: Callable[[], Any] | None = None,
    caption: str | None = None,
    hint: str = "",
    below: Callable[[], None] | None = None,
    height: int | None = 560,
    prefix: str = keys.TABLE,
) -> ChosenCell | None:
    """Draw a table, offer its files, and open what stands behind the chosen cell; return that cell, or None.

    Files are offered if there is a `signature`. `data` is what programs read in place of the rows shown; where it comes
    in pieces, `rows` is their number. Files to be read have the `notes` and the signature below, and `below` draws what
    else there is to be had; `file` is their name, by default that of the table. `choose` are keys of further columns
    whose cells can be chosen, which the page itself opens, by `on_choose` before it runs again. The caption is the
    notes of the table unless another is given, and the `hint` as long as nothing is chosen. A choice is given up once
    one of the `facts` changes, by default the view.
    """
    name = table.name.replace("-", "_")
    columns = _by_heading(table, page.words)
    openable = [heading for heading, column in columns.items() if column.opens or column.key in choose]
    key = steady_key(prefix + name, table.keys, *((page.view,) if facts is None else facts))

    def chosen_cell(event: Any) -> ChosenCell | None:
        cell = selected_cell(event, len(table.rows), openable)
        return cell and ChosenCell(cell.row, columns[cell.column].key)

    def take() -> None:
        if on_choose is not None and (cell := chosen_cell(st.session_state[key])) is not None:
            on_choose(cell)

    on_select = "ignore" if not openable else "rerun" if on_choose is None else take
    event = draw_rows(table, page.words, height=height, key=key, on_select=on_select)
    cell = chosen_cell(event) if openable else None
    if signature is not None:
        control = name if prefix == keys.TABLE else f"records_{name}"
        export = table_export(table, signature, data=data, notes=notes, file=file, key=control, figure=figure)
        replace(export, rows=rows, below=below).draw()
    captions = (_sentences(table.notes, page.systems) if caption is None else caption, "" if cell is not None else hint)
    for text in filter(None, captions):
        st.caption(plain(page.words.by_names(text), LONGEST_CAPTION))
    if cell is not None and (opens := table.columns[table.keys.index(cell.column)].opens) is not None:
        open_cell(page, opens(table.row(cell.row)), table.name)
    return cell


def table_export(
    table: Table,
    signature: str,
    *,
    data: pd.DataFrame | Table | Pieces | None = None,
    notes: Sequence[str] = (),
    file: str = "",
    key: str = "",
    figure: Callable[[], Any] | None = None,
) -> Export:
    """Return the files of a table, whether or not it is shown; arguments as those of `show_table`."""
    printed = replace(table, notes=(*table.notes, *notes, signature))
    return Export(
        table if data is None else data,
        signature,
        file or table.name,
        key or table.name.replace("-", "_"),
        figure=figure,
        printed=None if callable(data) else lambda: (printed,),
    )


def draw_rows(
    table: Table,
    words: LayerWords = GOLD_AND_PREDICTION,
    *,
    height: int | None = None,
    whole_rows: int = WHOLE_ROWS,
    key: str | None = None,
    on_select: Any = "ignore",
) -> Any:
    """Draw the rows of a table as they are; return Streamlit's event of the chosen cell.

    A table of more rows than `whole_rows`, or a list, scrolls within `height` pixels.
    """
    headings = list(_by_heading(table, words))
    widths = [_column_width(table, at, heading) for at, heading in enumerate(headings)]
    is_list = _is_list(table)
    is_whole = not is_list and len(table.rows) <= whole_rows
    return st.dataframe(
        table_of({heading: _cells(table, at, widths[at], words) for at, heading in enumerate(headings)}),
        key=key,
        on_select=on_select,
        selection_mode="single-cell",
        hide_index=True,
        placeholder="" if is_list else UNDEFINED,
        height="content" if is_whole else "auto" if height is None else min(35 * (len(table.rows) + 1) + 3, height),
        column_config={heading: _setting(at, heading, widths[at], table, words) for at, heading in enumerate(headings)},
    )


def open_cell(page: PageContext, target: RecordsOf | FormulaOf | None, name: str) -> None:
    """Show the records or the formula that stand behind a cell of the table of this name."""
    if isinstance(target, RecordsOf):
        context = page if target.system in ("", page.system) else page.of(target.system)
        criterion = target.criterion or page.by
        title = plain(target.title, 200) if target.title else _records_title(target, criterion, as_markdown(page.words))
        open_records(context, criterion, target.query, title, name=name)
    elif isinstance(target, FormulaOf):
        criterion, counts = target.criterion or page.by, target.counts()
        if target.now is None:
            of_system = "" if target.system == page.system else target.system
            formula_box(page, criterion, target.ratio, counts, target.type, system=of_system, within=target.within)
            return
        st.markdown(f"**{plain(target.title, 200)}, under {plain(criterion)}**")
        show_formula(target.ratio, counts)
        st.caption("As it is:")
        show_formula(target.ratio, target.now)


def _records_title(target: RecordsOf, criterion: str, words: LayerWords) -> str:
    """Return what the records of a count are called: its code, the type and the document."""
    query, label = target.query, words.label(target.term)
    of_type = [
        f"{words.spans(side)} of {named(type_name)}, "
        for side, types in (("gold", query.gold), ("pred", query.pred))
        for type_name in types
    ]
    place = "".join(f" in {named(name)}" for name in (query.doc, query.period) if name)
    return f"{''.join(of_type)}{label}{place} under {plain(criterion)}"


def _sentences(notes: Sequence[str], names: Sequence[str]) -> str:
    """Return notes as sentences in one line."""
    return " ".join(f"{capitalised(note, names)}." for note in notes)


def _by_heading(table: Table, words: LayerWords) -> dict[str, Column]:
    """Return the columns by headings that Streamlit can tell apart and does not take for something else."""
    columns: dict[str, Column] = {}
    for column in table.columns:
        (heading,) = streamlit_headings([words.heading(column)])
        number = sum(other == heading or other.startswith(f"{heading} (") for other in columns)
        columns[f"{heading} ({number + 1})" if number and heading in columns else heading] = column
    return columns


def streamlit_headings(names: Sequence[str]) -> list[str]:
    """Return a column heading for each name of the data, in parentheses where Streamlit means something else by it."""
    return [free_name(name, [*names, name]) if _STREAMLIT.match(name) else name for name in names]


_STREAMLIT = re.compile(r"_index$|_pos:")


def _is_list(table: Table) -> bool:
    """Tell whether the rows are spans in their context, which have no width to spare."""
    return any(column.kind == "before" for column in table.columns)


def _cells(table: Table, at: int, width: int, words: LayerWords) -> list[Any]:
    cells, kind = [row[at] for row in table.rows], table.columns[at].kind
    if kind == "decision":
        return [[decision_text(cell, words)] for cell in cells]
    column = table.columns[at]
    texts = [words.cell(readable_text(cell, kind), column) if isinstance(cell, str) else cell for cell in cells]
    if not _is_list(table) or kind in _FORMATS:
        return texts
    return [cut_to_fit(text, kind, width - TEXT_PADDING) if isinstance(text, str) else text for text in texts]


def cut_to_fit(text: str, kind: Kind, pixels: int) -> str:
    """Return a text of a list as far as its column has room: the browser would cut it without a sign.

    Names are cut in the middle, as their ends tell them apart; words beside a span at their far end, between words.
    """
    width = text_width(text, NARROW_CHARACTER_WIDTH)
    if width <= pixels:
        return text
    most = max(2, len(text) * pixels // width)
    if kind == "name":
        return shortened_name(text, most)
    if kind in ("before", "after"):
        return (from_word if kind == "before" else to_word)(text, most - 2)
    return f"{text[: most - 1].rstrip()}…"


def decision_text(decision: Cell, words: LayerWords = GOLD_AND_PREDICTION) -> str:
    """Return a decision as it is listed, after its glyph; another text as it is."""
    if decision in DECISIONS:
        return words.with_glyph(str(decision))
    look = decision_look(str(decision))
    return f"{look.glyph} {decision}" if look else decisions_in_words(str(decision))


def text_width(text: str, character: int = CHARACTER_WIDTH) -> int:
    """Return about how many pixels a text takes in a cell: capitals and wide scripts take more than other letters."""
    wide = sum(east_asian_width(char) in "FW" for char in text) if not text.isascii() else 0
    capitals = sum(map(str.isupper, text))
    return character * (len(text) + wide) + CAPITAL_WIDTH * capitals


def _column_width(table: Table, at: int, heading: str) -> int:
    """Return the pixels of a column: as wide as what it holds, of texts within bounds."""
    column = table.columns[at]
    if column.kind in _FORMATS:
        numbers = [len(f"{row[at]:,}") for row in table.rows if isinstance(row[at], int)]
        longest = max([_RATIO_CHARACTERS, *numbers] if column.kind != "count" else [1, *numbers])
        return max(PADDING + CHARACTER_WIDTH * len(heading), CELL_PADDING + CHARACTER_WIDTH * longest)
    if column.kind == "decision":
        return DECISION_WIDTH
    if column.kind in ("before", "after"):
        return CONTEXT_WIDTH
    longest = max(text_width(text) for text in (heading, *(str(row[at]) for row in table.rows if row[at] is not None)))
    width = min(PADDING + longest, WIDEST_OF_LIST if _is_list(table) else WIDEST)
    return max(width, NAME_WIDTH) if not at and column.kind == "name" else width


def _setting(at: int, heading: str, width: int, table: Table, words: LayerWords) -> Any:
    """Return Streamlit's setting of a column of some pixels."""
    column = table.columns[at]
    meaning = f"{as_markdown(words).by_names(column.meaning)}." if column.meaning else None
    tooltip = explained(column.term, words=words) if column.term else meaning
    if column.kind in _FORMATS:
        form = _FORMATS[column.kind]
        return st.column_config.NumberColumn(heading, width=width, format=form, help=tooltip, pinned=False)
    if column.kind == "decision":
        cells = [str(row[at]) for row in table.rows if row[at] is not None]
        looks = {decision_text(cell, words): decision_look(cell) for cell in cells}
        theme = int(st.context.theme.type == "dark")
        # On a fill the browser writes in black or white, whichever reads better; a hue itself is too dim for either.
        colours = [look.colour.fill[theme] if look else "gray" for look in looks.values()]
        tooltip = explained(*DECISIONS, words=words) if set(cells) <= set(DECISIONS) else tooltip
        return st.column_config.MultiselectColumn(
            heading, width=width, help=tooltip, options=list(looks), color=colours, disabled=True
        )
    return st.column_config.Column(
        heading,
        width=width,
        help=tooltip,
        pinned=not at and column.kind == "name",
        alignment=None if column.is_left else "right",
    )


def formula_box(
    page: PageContext,
    criterion: str,
    ratio: str,
    counts: Counts,
    type_name: str | None = None,
    *,
    system: str = "",
    within: Query | None = None,
) -> None:
    """Show the formula of a ratio of a type, a system, a document or a period; counts in it link to their records."""
    words = as_markdown(page.words)
    calculation = formula(ratio, counts, type_name, words)
    within = within or Query()
    of = "".join(f" of {named(name)}" for name in (type_name, system, within.doc, within.period) if name)
    st.markdown(f"**{words.label(ratio)}{of} under {plain(criterion)}**")
    st.code(calculation.text, language=None, wrap_lines=True)
    view = replace(page.view, criterion=criterion, system=system or page.system)
    with st.container(horizontal=True):
        for label, value, query in calculation.counts:
            spans = replace(within, decision=query.decision, gold=query.gold, pred=query.pred)
            count_link(view, label, value, spans)


def show_formula(ratio: str, counts: Counts) -> None:
    """Show the formula of a ratio whose counts have no records of their own."""
    st.code(formula(ratio, counts).text, language=None, wrap_lines=True)


def count_link(view: View, label: str, value: int, query: Query) -> None:
    navigation.link_to("Inspect", f":primary[{label}: {count(value, noun(view.criterion))} →]", view_of(view, query))


def open_records(
    page: PageContext, criterion: str, query: Query, title: str, *, name: str, columns: Sequence[str] | None = None
) -> None:
    """Show the records of a count: title, number, list of some or all columns, and the way to Inspect.

    `title` is Markdown.
    """
    view = view_of(replace(page.view, criterion=criterion), query)
    with st.container(horizontal=True, vertical_alignment="center"):
        title = as_markdown(page.words).by_names(title)
        st.markdown(f"**{title}: {count_words(criterion, page.ledger(criterion).total(query))}**")
        navigation.link_to("Inspect", ":primary[Open in Inspect →]", view, key=name)
    record_table(page, criterion, query, name=name, columns=columns)


def record_table(
    page: PageContext,
    criterion: str,
    query: Query,
    *,
    name: str,
    order: str = ORDERS[0],
    height: int | None = None,
    columns: Sequence[str] | None = None,
    card: Callable[[PageContext, str, pd.Series], None] | None = None,
) -> None:
    """List records; choosing a cell shows its record in the text, with the link to Inspect, or by `card`."""
    ledger = page.ledger(criterion)
    total = ledger.total(query).records
    if not total:
        st.caption("No records.")
        return
    if order not in ledger.orders(query):
        st.caption(f"So many records are not sorted by {order}; they stand in document order. Narrow them down.")
        order = ORDERS[0]
    # The playlist changes nothing of the list.
    view = replace(page.view, playlist="")
    first = first_row(total, name, view)
    part = ledger.page(query, order, first, ROWS)
    rows = record_rows(ledger, part, page.loaded.corpus.documents.texts, page.words, name=name)
    export = records_export(page, criterion, query, order, name=name)
    cell = show_table(
        page,
        rows.selected(*columns) if columns else rows,
        signature=export.signature,
        data=export.table,
        rows=total,
        file=export.name,
        below=export.below,
        facts=(view, criterion, first, tuple(part["record"])),
        hint="Choose a row to read it in its text.",
        choose=[column.key for column in RECORD_COLUMNS],
        prefix=keys.LIST,
        height=height or 360,
    )
    if cell is not None:
        (card or record_card)(page, criterion, part.iloc[cell.row])


def records_export(page: PageContext, criterion: str, query: Query, order: str = ORDERS[0], *, name: str) -> Export:
    """Return the records of a query as files, and their spans as a layer."""
    ledger = page.ledger(criterion)
    return Export(
        partial(ledger.pieces, query, order),
        page.signature(criterion),
        records_file_name(str(st.session_state.get(keys.PAGE, "")), page.system, criterion, query),
        key=f"records_{name}",
        rows=ledger.total(query).records,
        below=partial(_annotations, page, criterion, query, name) if noun(criterion) == "record" else None,
    )


def records_file_name(title: str, system: str, criterion: str, query: Query) -> str:
    """Return a name for the records of a system on the page of a title, by what they are narrowed down to."""
    types = [(side, kind or "none") for side, kinds in (("gold", query.gold), ("pred", query.pred)) for kind in kinds]
    fields = [(name, value) for name in FIELDS if (value := getattr(query, name))]
    decisions = () if query.decision in (ERRORS, DECISIONS) else query.decision
    parts = [title.lower(), system, criterion, *decisions, *query.types, query.doc, query.text]
    parts += [part for pair in (*types, *fields, *query.having) for part in pair]
    name = layer_file_name(" ".join(["records", *filter(None, parts)]))
    return name[:LONGEST_FILE_NAME].rstrip("-")


LONGEST_FILE_NAME = 80
"""Characters of the name of a file of records, without its ending."""


def _annotations(page: PageContext, criterion: str, query: Query, name: str) -> None:
    """Offer the spans of the records listed as a layer, to be looked at or annotated anew in another tool."""
    ledger = page.ledger(criterion)
    if not ledger.is_in_memory:
        return
    st.markdown("**Their spans, as annotations**")
    first = page.words.reference
    sides: dict[str, Side] = {first: "gold", page.view.system: "pred"}
    side = st.segmented_control(
        "Spans of",
        list(sides),
        default=first,
        required=True,
        key=f"{keys.LIST}side_{name}",
        label_visibility="collapsed",
    )
    layer = ledger.spans(query, sides[side or first])
    facts = (page.loaded.id, page.view.system, side, criterion, query, repr(page.settings))
    offer_layer(lambda: layer, len(layer), f"{layer_file_name(side or first)}-{name}", facts)


def table_of(columns: Mapping[str, Any]) -> pa.Table:
    """Return columns of text and numbers as a table that goes to the browser as it is."""
    # Through pandas, and with a Styler for the colours, a list took half of the time of its page.
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


def steady_key(name: str, *facts: object) -> str:
    """Return the key of a table that is not replaced when its data change; the choice made in it is cleared then.

    To put another table in its place takes a browser several times as long as to write other cells.
    """
    now = table_key(name, *facts)
    if st.session_state.get(keys.HELD + name, now) != now:
        st.session_state[name] = {"selection": {"rows": [], "columns": [], "cells": []}}
    st.session_state[keys.HELD + name] = now
    return name


def selected_cell(event: Any, rows: int, columns: Collection[str]) -> ChosenCell | None:
    """Return the cell chosen, None where there is none in a table of so many rows and these columns."""
    cells = event["selection"].get("cells", []) if event else []
    row, column = cells[0] if cells else (-1, "")
    return ChosenCell(int(row), str(column)) if 0 <= int(row) < rows and column in columns else None


def first_row(rows: int, name: str, view: View, what: str = "records", at: int | None = None) -> int:
    """Ask for the page of a long table; return its first row. The page that has row `at` is turned to."""
    if rows <= ROWS:
        return 0
    pages = -(-rows // ROWS)
    key = table_key(f"{keys.LIST}page_{name}", view, rows)
    if at is not None:
        st.session_state[key] = at // ROWS + 1
    number = st.number_input(f"Page of {pages:,} ({ROWS} {what} each)", 1, pages, key=key, width=220)
    return (int(number) - 1) * ROWS
