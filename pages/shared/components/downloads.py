"""Tables, figures and layers as files: the signature of its numbers in each, and no cell that a spreadsheet runs.

What a page draws is offered in its one menu, see `export_menu.py`. A file is made when it is asked for, not before.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import unescape
from typing import Any, Literal

import pandas as pd
import streamlit as st

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, capitalised
from nereval_core.report.export import frame_as
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables import Cell, Table, columns_of
from nereval_core.tables.excel import excel_of
from nereval_core.tables.rendering import RENDERED, as_csv, as_html
from nereval_core.writers import escape_formula, pack_layer, writers
from pages.shared.components import export_menu
from pages.shared.components.export_menu import FIGURE_CONFIG
from pages.shared.data.memo import memoized
from pages.shared.view import keys
from pages.shared.view.text import count, plain, show_problems

Pieces = Callable[[], Iterable[pd.DataFrame]]
Printed = Callable[[], Sequence[Table]]

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


def with_system(table: pd.DataFrame, system: str) -> pd.DataFrame:
    """Return a table on one system with its name in a column: files are put together, and renamed."""
    return pd.concat([pd.Series(system, table.index, name="system", dtype=TEXT_DTYPE), table], axis=1)


def csv_of(table: pd.DataFrame, signature: str) -> bytes:
    """Return a table as CSV in UTF-8; missing values are empty."""
    rows = tuple((*row, signature) for row in _cells(table))
    columns = columns_of(*(escape_formula(str(column)) for column in (*table.columns, "signature")))
    return as_csv(Table("", columns, rows)).encode()


def csv_of_pieces(pieces: Pieces, signature: str) -> bytes:
    """Return a table that comes in pieces as one CSV."""
    file = io.BytesIO()
    for number, piece in enumerate(pieces()):
        text = csv_of(piece, signature)
        # Every piece has the line of names, which stands in the file once.
        file.write(text if number == 0 else text[text.index(b"\n") + 1 :])
    return file.getvalue()


def file_of(form: str, pieces: Pieces, signature: str, name: str, printed: Printed | None = None) -> bytes:
    """Return a table that comes in pieces as a file in one of FORMS; forms to be read are of `printed`, if given."""
    if form == "csv":
        return csv_of_pieces(pieces, signature)
    if form == "parquet":
        return frame_as(".parquet", pd.concat(list(pieces())).assign(signature=signature))
    if printed is not None and form in RENDERED:
        return RENDERED[form](printed()).encode()
    frames = iter(pieces())
    first = next(frames)
    columns = columns_of(*map(str, first.columns))

    def rows() -> Iterator[tuple[Cell, ...]]:
        yield from _cells(first)
        for piece in frames:
            yield from _cells(piece)

    if form == "excel":
        return excel_of([(name, columns, rows())], [(name, signature)])
    return RENDERED[form]([Table(name, columns, tuple(rows()), (signature,))]).encode()


def _cells(table: pd.DataFrame) -> Iterator[tuple[Cell, ...]]:
    plain = table.astype("object").where(table.notna(), None)
    for row in plain.itertuples(index=False, name=None):
        yield tuple(cell.item() if hasattr(cell, "item") else cell for cell in row)


@dataclass(frozen=True)
class Export:
    """A table offered as files called `name`, whole or in pieces to come, with the signature of its numbers.

    A declared table is made a frame when its files are asked for.

    `key` is that of the control, by default the name. `rows` is how many there are of a table in pieces: a long one is
    offered to programs only. `figure` makes the figure of the table, which is offered as a page that stands alone.
    `printed` makes what people read in place of the table, where that is not the same. `below` draws what else there
    is to be had.
    """

    table: pd.DataFrame | Table | Pieces
    signature: str
    name: str
    key: str = ""
    rows: int | None = None
    figure: Callable[[], Any] | None = None
    printed: Printed | None = None
    below: Callable[[], None] | None = None

    def draw(self) -> None:
        """Offer the table in the menu of the page, in the order in which the page draws."""
        page = None if self.figure is None else partial(page_of, self.figure, self.signature, self.name)
        export_menu.register(self.name, table=self.draw_files, figure=self.figure, page=page)

    def draw_files(self) -> None:
        """Draw the downloads of the table, and what else there is to be had."""
        key = self.key or self.name
        table = self.table.to_frame() if isinstance(self.table, Table) else self.table
        whole: Pieces = (lambda: (table,)) if isinstance(table, pd.DataFrame) else table
        size = len(table) if isinstance(table, pd.DataFrame) else self.rows or 0
        with st.container(horizontal=True, gap="small"):
            for form, (label, ending, mime) in FORMS.items():
                if size > _most(form, size, self.printed):
                    continue
                st.download_button(
                    label,
                    partial(file_of, form, whole, self.signature, self.name, self.printed),
                    file_name=f"nereval-{self.name}.{ending}",
                    mime=mime,
                    key=f"{form}_{key}",
                    on_click="ignore",
                )
        if size > PRINTED:
            st.caption(_LONG)
        if self.below is not None:
            self.below()


def _most(form: str, size: int, printed: Printed | None) -> int:
    """Return how many rows of a table are offered in a form."""
    return {"csv": size, "parquet": size, "excel": CALCULATED}.get(form, PRINTED if printed is None else size)


_LONG = f"A table of over {PRINTED:,} rows is offered as CSV, Parquet and Excel, of over {CALCULATED:,} not as Excel."


def page_of(figure: Callable[[], Any], signature: str, name: str) -> bytes:
    """Return a figure as a page that stands alone, with the signature of its numbers where it has one."""
    from nereval_core.report.figures.parts import embedded

    html = embedded(figure(), f"nereval-{name}")
    signed = [Table("Signature", columns_of("signature"), ((signature,),))] if signature else []
    return as_html(signed, title=name, figure=html).encode()


COPY_FORMAT = f"{keys.WIDGET}copy_format"
AT_ONCE = 50_000
"""Spans up to which a copy is made as soon as a format is chosen."""
LOSSY = "--lossy"
"""The option that a refusal names if leaving something out would mend it."""
WITHOUT = "without what it cannot hold"
"""Behind the name of a file on the button of a download that leaves something out."""
LEFT_OUT = "left out"
"""Words of the notes on what a format cannot hold."""
JSONL_HOLDS_ALL = "The file is then without that; jsonl holds everything."

Copy = tuple[str, bytes, tuple[str, ...]]


def layer_file_name(layer: str) -> str:
    """Return a name for a layer's file that any operating system allows."""
    return re.sub(r"[^\w-]+", "-", layer).strip("-") or "layer"


def offer_layer(
    layer: Callable[[], Layer],
    spans: int,
    name: str,
    key: Hashable,
    *,
    beside: Callable[[], None] | None = None,
    format: str = "jsonl",
) -> None:
    """Offer a layer of so many spans as a download called `name`, in a format to choose; `key` tells its content.

    `beside` draws what stands beside the download; `format` is the one chosen at first. The button says how many spans
    its file has: while a page is drawn anew, the one before is still there and gives the file before.
    """
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        formats = list(writers())
        format = st.selectbox("Format", formats, index=formats.index(format), key=f"{COPY_FORMAT}_{name}", width=220)
        wanted, copied = f"{keys.LIST}made_{name}", (key, format)
        ready = spans <= AT_ONCE or st.session_state.get(wanted) == copied
        if not ready:
            st.button("Make the copy", key=f"make_{name}", on_click=partial(st.session_state.update, {wanted: copied}))
        copy = _copy_or_refusal(key, format, name, layer) if ready else None
        refusal = copy if isinstance(copy, FormatError) and LOSSY in str(copy) else None
        if refusal is not None:
            copy = _copy_or_refusal(key, format, name, layer, lossy=True)
        if isinstance(copy, tuple):
            label = f"{copy[0]} · {count(spans, 'span')}"
            label = label if refusal is None else f"{label}, {WITHOUT}"
            kind: Literal["primary", "secondary"] = "primary" if refusal is None else "secondary"
            button = table_key(f"copy_{name}", key, format)
            st.download_button(label, copy[1], file_name=copy[0], key=button, on_click="ignore", type=kind)
        if beside is not None:
            beside()
    if isinstance(copy, FormatError):
        show_problems(copy.lines())
    elif copy is not None:
        losses = [note for note in copy[2] if LEFT_OUT in note]
        if losses:
            st.warning(f"{'; '.join(plain(note, 400) for note in losses)}. {JSONL_HOLDS_ALL}")
        for note in copy[2]:
            if note not in losses:
                st.caption(plain(note, 400))


def _copy_or_refusal(
    key: Hashable, format: str, name: str, layer: Callable[[], Layer], *, lossy: bool = False
) -> Copy | FormatError:
    try:
        return _copy(key, format, name, lossy, layer)
    except FormatError as error:
        return error


@memoized("Writing the copy …")
def _copy(key: Hashable, format: str, name: str, lossy: bool, _layer: Callable[[], Layer]) -> Copy:
    return pack_layer(_layer(), format, name, lossy=lossy)


USUAL_HEIGHT, USUAL_MARGIN = 450, 100
"""Pixels of a figure without a height of its own, and above its plot."""


def draw_title(figure: Any, names: Iterable[str] = ()) -> Any:
    """Draw the title of a figure as text, which wraps in a narrow window; return a copy without it.

    Lines that begin with one of the `names` begin with it as it is.
    """
    from nereval_core.report.figures.parts import copied

    title, *lines = _title_lines(figure)
    st.markdown(f"**{plain(title, 300)}**")
    st.caption(plain(" ".join(f"{capitalised(line, names)}." for line in lines), 600))
    shown = copied(figure)
    # A legend above the plot makes space for itself.
    height, above = figure.layout.height or USUAL_HEIGHT, figure.layout.margin.t
    above = USUAL_MARGIN if above is None else above
    return shown.update_layout(title=None, height=height - above + 8, margin_t=8)


def count_figure(
    figure: Any,
    name: str,
    facts: tuple[object, ...] = (),
    *,
    file: str,
    names: Iterable[str] = (),
    make_saved: Callable[[], Any] | None = None,
    on_choose: Callable[[list[Any]], None] | None = None,
) -> list[Any]:
    """Draw a figure that is saved as `file`; return the data of the point that the reader chose, [] without one.

    `on_choose` is called with these data before the page runs again. The title is drawn as text, in which lines may
    begin with one of the `names`; `make_saved` makes the figure that is saved, once somebody does, if it is another.
    """
    key = table_key(keys.TABLE + name, *facts)
    title = _title_lines(figure)
    _register(make_saved or (lambda: figure), key, file, title)

    def take() -> None:
        if on_choose is not None and (data := _chosen_point(st.session_state[key])):
            on_choose(data)

    on_select: Any = "rerun" if on_choose is None else take
    alt = " ".join(f"{line}." for line in title)
    untitled = draw_title(figure, names)
    event = st.plotly_chart(
        untitled, key=key, on_select=on_select, selection_mode="points", config=FIGURE_CONFIG, alt=alt
    )
    return _chosen_point(event)


def show_figure(
    figure: Any, name: str, facts: tuple[object, ...] = (), *, file: str, names: Iterable[str] = ()
) -> None:
    """Draw a figure that is saved as `file` and has nothing to choose; `names` are as in `count_figure`."""
    key = table_key(keys.TABLE + name, *facts)
    title = _title_lines(figure)
    _register(lambda: figure, key, file, title)
    alt = " ".join(f"{line}." for line in title)
    st.plotly_chart(draw_title(figure, names), key=key, config=FIGURE_CONFIG, alt=alt)


def _title_lines(figure: Any) -> list[str]:
    """Return the lines of a figure's title without markup, which is what a screen reader says of the figure."""
    text = re.sub(r"</?(?:sub|b)>", "", figure.layout.title.text or "")
    return [unescape(line) for line in text.split("<br>")]


def _chosen_point(event: Any) -> list[Any]:
    points = event["selection"]["points"] if event else []
    data = points[0].get("customdata") if points else None
    if data is None:
        return []
    return list(data) if isinstance(data, list | tuple) else [data]


def _register(make: Callable[[], Any], key: str, file: str, title: Sequence[str]) -> None:
    export_menu.register(file, figure=make, page=partial(page_of, make, "", file), key=key, title=title)


def table_key(name: str, *facts: object) -> str:
    """Return a widget key that changes with the facts: a selection must not outlive its data."""
    return f"{name}_{zlib.crc32(repr(facts).encode()):08x}" if facts else name
