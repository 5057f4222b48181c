"""Preview a source before it is read: its format, layers and columns, and files that would not be read.

Formats are recognised by the first bytes of files. Layers are known only once a file is read, so those of large files
are looked for on request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from nereval_core.problems import FormatError, Problem
from nereval_core.readers import ReadOptions, Source, layers, reader
from nereval_core.readers import csv as tables_of_spans
from nereval_core.readers.input.compression import ANNOTATION_SUFFIXES
from nereval_core.readers.recognition import format_of, likely_format
from nereval_core.readers.recognition.unread_shapes import unread_shape
from nereval_core.readers.shared.table_columns import ColumnChoice, Table, column_problems, first_rows
from nereval_core.readers.shared.tag_cells import TagColumn

LAYERS_BYTES = 4 << 20
"""The largest size of files, as stored, in which layers are looked for without request."""
ROWS = 5
"""The rows of a table that are shown."""
CELL = 60
"""The characters of a cell that are shown."""
FILES = 40
"""The most files of which each is recognised by itself."""
NARROW = 3
"""The fewest columns of a table of spans: document or start, end and type."""


@dataclass(frozen=True)
class Columns:
    """The columns of a table: their names, or numbers where the first line is a row; the first rows, cells cut short.

    `held_by` says by number, from 1, what they hold as far as that is known.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    held_by: ColumnChoice
    whole: bool
    """True where a start, an end and a type are among them."""


@dataclass(frozen=True)
class Preview:
    """A preview: `format` is "" where none was recognised, `layers` are empty where a format has but one.

    `apart` are the formats of the files, each taken by itself, where that makes a difference and all are recognised.
    `waiting` says that layers have not been looked for; `unread` are names of files and columns that would be passed
    over, `problems` what would keep the source from being read, as far as is known. `tags` are
    the columns with tags among which one has to be chosen. Where `folders` is true, the layers are
    folders of the source, or `sheets` of a workbook. `documents` are those whose texts have files of their own.
    """

    format: str
    files: int
    layers: tuple[str, ...] = ()
    waiting: bool = False
    columns: Columns | None = None
    unread: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    apart: tuple[str, ...] = ()
    tags: tuple[TagColumn, ...] = ()
    folders: bool = False
    sheets: bool = False
    documents: int = 0


def preview(
    source: Source,
    *,
    format: str = "auto",
    columns: ColumnChoice | None = None,
    keys: Mapping[str, str] | None = None,
    whole: bool = False,
) -> Preview:
    """Preview a source by its first bytes; look for layers in small files, or in the `whole` of any."""
    if folders := source.folders():
        first = preview(source.in_folder(folders[0]), format=format, columns=columns, keys=keys)
        if first.format and not first.layers:
            sheets = bool(source.sheets())
            return replace(first, files=len(source.files), layers=folders, folders=True, sheets=sheets)
    problems: tuple[Problem, ...] = ()
    try:
        recognised = format_of(source, format, columns, keys=keys)
    except FormatError as error:
        recognised, problems = "", error.problems
    table = _table(source, columns) if recognised in ("", tables_of_spans.READER.name) else None
    unread = source.passed + _others(source, recognised)
    if table is not None:
        unread += tuple(f"column {name}" for name in table.rest)
        problems = problems if table.has_spans else tuple(column_problems(table))
    names: tuple[str, ...] = ()
    several = bool(recognised) and reader(recognised).has_layers
    waiting = several and not whole and sum(file.origin.size() for file in source.files) > LAYERS_BYTES
    if several and not waiting:
        try:
            names = layers(source, format=recognised, options=ReadOptions(keys=keys))
        except FormatError as error:
            problems = error.problems
    column_preview = None if table is None else _columns(table)
    layer_names = names if len(names) > 1 else ()
    tags = reader(recognised).tag_column_choices(source) if recognised else ()
    return Preview(
        recognised,
        len(source.files),
        layer_names,
        waiting,
        column_preview,
        unread,
        problems,
        _apart(source),
        tags,
        documents=_texts(source) if recognised else 0,
    )


def _texts(source: Source) -> int:
    """Return how many documents have their text in a file of its own beside that of their annotations, if all do."""
    stems = [file.name.removesuffix(file.suffix) for file in source.files]
    texts = source.by_suffix.get(".txt", ())
    return len(texts) if texts and len(set(stems)) == len(texts) < len(stems) else 0


def _apart(source: Source) -> tuple[str, ...]:
    """Return the formats of the files, each by itself; nothing where one is not recognised or all are alike."""
    if not 1 < len(source.files) <= FILES:
        return ()
    forms = {likely_format(part) for part in source.apart().parts}
    return tuple(sorted(form for form in forms if form)) if len(forms) > 1 and None not in forms else ()


def _others(source: Source, format: str) -> tuple[str, ...]:
    """Return the files of other endings than annotations have, where a reader picks files by their endings."""
    if not format:
        return ()
    picked = source.pick(*reader(format).suffixes)
    others = tuple(file.name for file in source.files if file.suffix not in ANNOTATION_SUFFIXES)
    return others if len(picked) < len(source.files) else ()


def _table(source: Source, columns: ColumnChoice | None) -> Table | None:
    """Return the table of spans among the first files, or one that may be; None where no file looks like it."""
    head = source.head()
    if head.first_line.lstrip().startswith(("{", "[")) or unread_shape(head):
        return None
    tables = tables_of_spans.first_tables(source, columns)
    first_two = [(table, first_rows(table.text, 2, table.delimiter)) for table in tables if table.width >= NARROW]
    likely = [table for table, rows in first_two if len({*map(len, rows)}) == 1]
    return max(likely, key=lambda table: (table.has_spans, not table.has_texts), default=None)


def _columns(table: Table) -> Columns:
    rows = first_rows(table.text, ROWS + 1, table.delimiter)
    below = rows[:ROWS] if table.header is None else rows[1:]
    names = table.header or [str(number) for number in range(1, table.width + 1)]
    return Columns(
        tuple(name.strip() for name in names),
        tuple(tuple(map(_cut, row)) for row in below if len(row) == table.width),
        {what: at + 1 for what, at in table.columns.items()},
        table.has_spans,
    )


def _cut(cell: str) -> str:
    return cell if len(cell) <= CELL else cell[: CELL - 1] + "…"
