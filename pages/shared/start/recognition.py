"""Recognition of files before they are read: their format and layers, and the columns of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.conll import ALL_COLUMNS
from nereval_core.readers.recognition.preview import Columns, Preview, preview
from nereval_core.readers.records.record_shape import parse_keys
from nereval_core.readers.shared.table_columns import COLUMNS, PLACE, TAGS
from nereval_core.readers.shared.tag_cells import TagColumn
from pages.shared.data import masks
from pages.shared.data.memo import memoized
from pages.shared.view.text import count, named, plain

Chosen = tuple[tuple[str, int | str], ...]
"""Contents of columns as pairs: a key of a cache has to be hashable."""
Opened = Callable[[], Source]
HELP = {
    "document": "The id of the document that a row belongs to.",
    "start": "Where the span starts.",
    "end": "Where the span ends. Whether it is inside is found out by the quotes.",
    "type": "The type of the span.",
    "quote": "The words that the span covers: offsets are tested by them.",
    "text": "The text of the document, in each of its rows or the first.",
    "id": "The span's own id.",
    "links": "Concept ids, with semicolons between those of a ranking.",
    "score": "How sure the system is.",
}
WIDE = 3
"""Fields for columns of a table that stand side by side."""
LINES = 3
"""Problems that are shown before reading."""


@dataclass(frozen=True)
class Recognised:
    """Files as recognised: their format ("" for none), their layers (none where they hold one), and their columns.

    Files read `apart` are the parts of one layer, each in its own format. Where `folders` is true, layers are folders.
    """

    format: str = ""
    layers: tuple[str, ...] = ()
    columns: Mapping[str, int | str] | None = None
    apart: bool = False
    folders: bool = False


def recognise_files(
    place: str,
    mark: str,
    opened: Opened,
    *,
    format: str,
    keys: str,
    title: str,
    no_format: bool = False,
    is_refused: bool = False,
) -> Recognised:
    """Show the recognised format of files, and ask what it leaves open; `mark` identifies these files.

    `title` names the files; those that were refused say so. `keys` are those of JSON records, in the words of the user.
    `no_format` says that they may be texts, or no data at all: no format is expected of them.
    """
    whole = f"{place}_whole_{mark}"
    recognised = _seen(mark, format, keys, (), bool(st.session_state.get(whole)), opened)
    column_contents: Chosen = ()
    above = st.container()
    if recognised.columns is not None:
        column_contents = _columns(place, mark, recognised.columns, is_recognised=bool(recognised.format))
        if column_contents:
            recognised = _seen(mark, format, keys, column_contents, False, opened)
    with above:
        if recognised.format or not no_format:
            _line(recognised, f"**{plain(title, 80)}**", is_refused)
        else:
            st.markdown(f"**{plain(title, 80)}** · no annotations, by the look of it")
    columns: dict[str, int | str] | None = dict(column_contents) or None
    if recognised.tags and (number := _tags(f"{place}_tags_{mark}", recognised.tags)) is not None:
        columns = {**(columns or {}), TAGS: number}
    if recognised.apart:
        forms = f"{', '.join(recognised.apart[:-1])} and {recognised.apart[-1]}"
        explanation = (
            "Each is then a part of the same layer, in the format it has by itself. No document may stand in two."
        )
        if st.checkbox(f"Read each file by itself: there are {forms}", key=f"{place}_apart_{mark}", help=explanation):
            return Recognised(recognised.format, apart=True)
    if recognised.waiting:
        explanation = "This file may hold the work of several annotators and models, and is large."
        st.button("Look for its layers", key=f"{whole}_ask", help=explanation, on_click=_want, args=(whole,))
    return Recognised(recognised.format, recognised.layers, columns, folders=recognised.folders)


@memoized("Looking at the files …")
def _seen(mark: str, format: str, keys: str, columns: Chosen, whole: bool, _opened: Opened) -> Preview:
    try:
        named_keys = parse_keys(keys) if keys.strip() else None
        return preview(_opened(), format=format, columns=dict(columns), keys=named_keys, whole=whole)
    except FormatError as error:
        return Preview("", 0, problems=error.problems)


def _want(key: str) -> None:
    st.session_state[key] = True


def _line(recognised: Preview, title: str, is_refused: bool) -> None:
    """Show the recognised format in one line, and the problems below it."""
    if recognised.columns is not None and not recognised.columns.whole:
        lacking = [what for what in PLACE if what not in recognised.columns.held_by]
        st.markdown(f"{title} · a table, by the look of it. Choose below which column holds {_listed(lacking)}.")
        return
    parts = [title]
    if recognised.format:
        mark = ":red[✗ not read]" if is_refused else ":green[✓]"
        parts.append(f"{mark} {plain(recognised.format)}")
        documents = f"{count(recognised.documents, 'document')} in " if recognised.documents else ""
        parts.append(f"{documents}{count(recognised.files, 'file')}")
    if recognised.layers:
        names = ", ".join(named(name, 40) for name in recognised.layers[:LINES])
        inside = "sheets" if recognised.sheets else "folders"
        what = f"{inside}, each a layer" if recognised.folders else "layers"
        parts.append(f"{len(recognised.layers)} {what}: {names}{', …' if len(recognised.layers) > LINES else ''}")
    if recognised.unread:
        names = ", ".join(plain(masks.mask_words(name), 40) for name in recognised.unread[:LINES])
        parts.append(f"not read: {len(recognised.unread)} ({names}{', …' if len(recognised.unread) > LINES else ''})")
    st.markdown(" · ".join(parts))
    # What reading refused stands below the files, with what was seen before.
    problems = () if is_refused else recognised.problems
    for problem in problems[:LINES]:
        st.warning(plain(masks.mask_message(str(problem)), 400))
    if len(problems) > LINES:
        st.caption(f"{len(problems) - LINES:,} more problems")


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _tags(key: str, columns: Sequence[TagColumn]) -> int | str | None:
    """Ask which of several columns with tags is read; return its number, or all; None as long as none is chosen."""
    names: dict[int | str, str] = {
        column.number: f"{column.number} · {', '.join(column.types) or 'O alone'}" for column in columns
    }
    if all(isinstance(column.number, int) for column in columns):
        names[ALL_COLUMNS] = "all, as one nested layer"
    explanation = (
        "A file with nested layers, or with gold and a prediction, has several; one is read at a time, or all."
    )
    return st.selectbox(
        "Tags are read from column",
        list(names),
        index=None,
        format_func=names.__getitem__,
        placeholder=f"{len(columns)} columns hold tags: choose one",
        key=key,
        help=explanation,
    )


def _columns(place: str, mark: str, columns: Columns, *, is_recognised: bool) -> Chosen:
    """Show the first rows of a table and ask for the contents of its columns; return () if they are as recognised."""
    recognised = {what: columns.held_by.get(what) for what in COLUMNS}
    with st.expander("Columns of the table", expanded=not is_recognised):
        names = {at: f"{at} · {name}" for at, name in enumerate(columns.names, start=1)}
        if masks.is_masked():
            names = {at: str(at) for at in names}
        rows = [[masks.mask_words(cell) for cell in row] for row in columns.rows]
        st.dataframe(pd.DataFrame(rows, columns=list(names.values())), hide_index=True)
        contents: dict[str, int | None] = {}
        for at, what in enumerate(COLUMNS):
            if at % WIDE == 0:
                cells = st.columns(WIDE)
            contents[what] = cells[at % WIDE].selectbox(
                what.capitalize() + ("*" if what in PLACE else ""),
                list(names),
                index=None if recognised[what] is None else list(names).index(int(recognised[what] or 0)),
                format_func=names.__getitem__,
                placeholder="none",
                help=HELP[what],
                key=f"{place}_is_{what}_{mark}",
            )
    return () if contents == recognised else tuple((what, "" if at is None else at) for what, at in contents.items())
