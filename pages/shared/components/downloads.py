"""Tables and figures as files: the signature of its numbers in each, and no cell that a spreadsheet runs.

One small control a table. What a file holds is made when it is asked for, not before.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.report.excel import excel_of
from nereval_core.report.export import frame_as
from nereval_core.report.score_tables import Cell, Sheet
from nereval_core.report.table_formats import RENDERED, as_csv, as_html, harmless

Pieces = Callable[[], Iterable[pd.DataFrame]]
Printed = Callable[[], Sequence[Sheet]]

PRINTED = 1_000
"""Rows of a table up to which it is offered in the forms that people read."""
CALCULATED = 100_000
"""Rows up to which it is offered to Excel, which takes long to write: nobody else is served meanwhile."""
FORMS = {
    "csv": ("CSV", "csv", "text/csv"),
    "parquet": ("Parquet", "parquet", "application/vnd.apache.parquet"),
    "excel": ("Excel", "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "markdown": ("Markdown", "md", "text/markdown"),
    "latex": ("LaTeX", "tex", "text/x-tex"),
    "html": ("HTML", "html", "text/html"),
}
"""By form: its name, the ending of its files, and their type."""


def csv_of(table: pd.DataFrame, signature: str) -> bytes:
    """Return a table as CSV in UTF-8; missing values are empty."""
    rows = tuple((*row, signature) for row in _cells(table))
    columns = tuple(harmless(str(column)) for column in (*table.columns, "signature"))
    return as_csv(Sheet("", columns, rows)).encode()


def csv_of_pieces(pieces: Pieces, signature: str) -> bytes:
    """Return a table that comes in pieces as one CSV."""
    found = io.BytesIO()
    for number, piece in enumerate(pieces()):
        text = csv_of(piece, signature)
        # Every piece has the line of names, which stands in the file once.
        found.write(text if number == 0 else text[text.index(b"\n") + 1 :])
    return found.getvalue()


def file_of(form: str, pieces: Pieces, signature: str, name: str, printed: Printed | None = None) -> bytes:
    """Return a table that comes in pieces as a file in one of FORMS; forms to be read are of `printed`, if given."""
    if form == "csv":
        return csv_of_pieces(pieces, signature)
    if form == "parquet":
        return frame_as(".parquet", pd.concat(list(pieces())).assign(signature=signature))
    if printed is not None and form in RENDERED:
        return RENDERED[form](printed()).encode()
    every = iter(pieces())
    first = next(every)
    columns = tuple(map(str, first.columns))

    def rows() -> Iterator[tuple[Cell, ...]]:
        yield from _cells(first)
        for piece in every:
            yield from _cells(piece)

    if form == "excel":
        return excel_of([(name, columns, rows())], [(name, signature)])
    return RENDERED[form]([Sheet(name, columns, tuple(rows()), (signature,))]).encode()


def _cells(table: pd.DataFrame) -> Iterator[tuple[Cell, ...]]:
    plain = table.astype("object").where(table.notna(), None)
    for row in plain.itertuples(index=False, name=None):
        yield tuple(cell.item() if hasattr(cell, "item") else cell for cell in row)


def export(
    table: pd.DataFrame | Pieces,
    signature: str,
    *,
    name: str,
    key: str,
    rows: int | None = None,
    figure: Callable[[], Any] | None = None,
    printed: Printed | None = None,
    below: Callable[[], None] | None = None,
) -> None:
    """Offer a table, whole or in pieces to come, as files, and the figure drawn of it as a page that stands alone.

    `rows` is how many there are of a table in pieces: a long one is offered to programs only. `printed` makes what
    people read in place of the table, where that is not the same. `below` draws what else there is to be had.
    """
    whole: Pieces = (lambda: (table,)) if isinstance(table, pd.DataFrame) else table
    size = len(table) if isinstance(table, pd.DataFrame) else rows or 0
    with st.popover("Export", key=f"export_{key}", type="tertiary", on_change="rerun", help=_HELP) as popover:
        if not popover.open:
            return
        with st.container(horizontal=True, gap="small", width=360):
            for form, (label, ending, mime) in FORMS.items():
                if size > _most(form, size, printed):
                    continue
                st.download_button(
                    label,
                    partial(file_of, form, whole, signature, name, printed),
                    file_name=f"nereval-{name}.{ending}",
                    mime=mime,
                    key=f"{form}_{key}",
                    on_click="ignore",
                )
            if figure is not None:
                st.download_button(
                    "Figure as HTML",
                    partial(_page, figure, signature, name),
                    file_name=f"nereval-{name}-figure.html",
                    mime="text/html",
                    key=f"figure_{key}",
                    on_click="ignore",
                )
        st.caption(_LONG if size > PRINTED else _BELOW)
        if below is not None:
            below()


def _most(form: str, size: int, printed: Printed | None) -> int:
    """Return how many rows of a table are offered in a form."""
    return {"csv": size, "parquet": size, "excel": CALCULATED}.get(form, PRINTED if printed is None else size)


def figure_config(name: str) -> dict[str, Any]:
    """Return how a figure is shown: its one button saves it as SVG, drawn by the browser."""
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "svg", "filename": f"nereval-{name}"},
    }


_HELP = "The whole table as a file, with the signature of its numbers."
_LONG = f"A table of over {PRINTED:,} rows is offered as CSV, Parquet and Excel, of over {CALCULATED:,} not as Excel."
_BELOW = "Each file holds the whole table and its signature."


def _page(figure: Callable[[], Any], signature: str, name: str) -> bytes:
    from nereval_core.report.figures import embedded

    drawn = embedded(figure(), f"nereval-{name}")
    return as_html([Sheet("Signature", ("signature",), ((signature,),))], title=name, figure=drawn).encode()
