"""Read annotations: one module or folder per format, found by listing this folder and the families in it.

A module is named like its format and has an instance of `Reader` (`recognition/`) as `READER`. It is imported when its
format is named, or when a file may be of that format by its signs (`recognition/signs.py`).
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from nereval_core.problems import SHOWN, FormatError, ProblemList, quoted
from nereval_core.readers.input.origins import STDIN
from nereval_core.readers.input.source import Source, SourceFile, skipped_files_note
from nereval_core.readers.read_settings import Reading, ReadOptions
from nereval_core.readers.recognition import Reader, format_of, formats, reader, readers

if TYPE_CHECKING:
    from nereval_core.readers.shared.layer_parts import Part

__all__ = [
    "ReadOptions",
    "Reader",
    "Reading",
    "Source",
    "SourceFile",
    "formats",
    "read",
    "reader",
    "readers",
]


OUTSIDE = "O"


def read(
    source: Source | str | os.PathLike[str], *, format: str = "auto", options: ReadOptions | None = None
) -> Reading:
    """Read annotations in the given format, or in the one that the content shows.

    Raises:
        FormatError: with every problem found; also for an unknown format and one that cannot be told.
    """
    if not isinstance(source, Source):
        source = Source.of_path(source)
    options = options or ReadOptions()
    if source.parts:
        return _read_parts(source, format, options)
    if source.files[0].is_sheet:
        return _read_sheet(source, format, options)
    return _read_files(source, format, options)


def _read_files(source: Source, format: str, options: ReadOptions) -> Reading:
    """Read files of one layer.

    Raises:
        FormatError: as `read`.
    """
    columns = dict(options.columns or source.columns or {})
    if columns:
        from nereval_core.readers.shared.table_columns import TAGS

        tags = columns.pop(TAGS, None)
        if options.column is None and tags is not None:
            options = replace(options, column=tags)
    format = format_of(source, format, columns, options.texts, options.outside, options.keys)
    layer_name = options.layer or source.layer or None
    if layer_name is not None and not reader(format).has_layers:
        finding = f"the layer {quoted(layer_name)} is asked for, and the format '{format}' has one"
        raise FormatError.single(source.name, None, finding, "leave it out")
    options = replace(options, layer=layer_name, columns=columns or None)
    if options.column is not None and not reader(format).has_columns:
        finding = f"column {options.column} is asked for, and the format '{format}' has no columns"
        raise FormatError.single(source.name, None, finding, "leave the column out, or name the other side's only")
    with garbage_collection_off():
        reading = replace(without_outside(reader(format).read(source, options)), source=source.name)
    if not len(reading.documents):
        raise FormatError.single(source.name, None, "no document in it", f"give a file in the format '{format}'")
    unused = columns and not reader(format).is_span_table
    notes = [*reading.notes, *skipped_files_note(source)]
    notes += ["the columns chosen are for tables of spans, which this is not"] if unused else []
    if options.labels is not None and not reader(format).has_labels:
        notes.append("the labels given are for tags that are numbers, which this format has not")
    layer = reading.layer
    for what, spans in (("a core", layer.cores), ("alternatives", layer.alternatives)):
        if spans:
            notes.append(f"spans with {what}: {len(spans)} of {len(layer)}")
    if edged := [quoted(kind) for kind in layer.types if kind != kind.strip()]:
        notes.append(f"types with blanks at their edges, read as they stand: {', '.join(edged[:SHOWN])}")
    if repeated := len(layer.duplicates):
        notes.append(f"spans that repeat another of the same boundaries and type, kept: {repeated}")
    return replace(reading, notes=tuple(notes))


def _read_sheet(source: Source, format: str, options: ReadOptions) -> Reading:
    """Read a sheet of a workbook, the one that the layer names or the only one; places are rows of it.

    Raises:
        FormatError: there are several sheets and none is named, or as `read`.
    """
    from nereval_core.readers.input.workbook import Sheet, row_of_place

    sheet, layer = _choose_sheet(source, options.layer or source.layer)
    sheets = {file.shown: file.origin for file in sheet.files if isinstance(file.origin, Sheet)}
    try:
        reading = _read_files(replace(sheet, layer=""), format, replace(options, layer=layer))
    except FormatError as error:
        lines = [row_of_place((each.source, each.line), sheets)[1] for each in error.problems]
        problems = [replace(each, line=line) for each, line in zip(error.problems, lines, strict=True)]
        raise FormatError(problems, error.remedies) from None
    note = f"read from a workbook: the sheet {', '.join(quoted(each.name) for each in sheets.values())}"
    places = [row_of_place(place, sheets) for place in reading.places]
    return replace(reading, places=places, notes=(*reading.notes, note))


def _choose_sheet(source: Source, layer: str) -> tuple[Source, str | None]:
    """Return a source with one sheet of a workbook, and the layer that is named within it: `SHEET/LAYER`.

    Raises:
        FormatError: there are several sheets and none is named, or none of that name.
    """
    names = source.sheets()
    if not names:
        return source, layer or None
    name, _, rest = layer.partition("/")
    sheet = source.in_folder(select_layer(source, name or None, names, what="sheet"))
    return replace(sheet, name=source.name, columns=source.columns), rest or None


def without_outside(reading: Reading) -> Reading:
    """Return a reading without spans of the type `O`: tools write such for tokens outside of all spans."""
    if OUTSIDE not in reading.layer.types:
        return reading
    from nereval_core.corpus.subset import without_type

    layer = without_type(reading.layer, OUTSIDE)
    note = f"spans of the type {OUTSIDE}, which means outside, left out: {len(reading.layer) - len(layer)}"
    return replace(reading, layer=layer, notes=(*reading.notes, note))


def _read_parts(source: Source, format: str, options: ReadOptions) -> Reading:
    """Read each part of a layer on its own, in the format that its content shows if none is named.

    Raises:
        FormatError: with the problems of all parts, or as `parts.joined`.
    """
    from nereval_core.readers.shared.layer_parts import join_parts

    parts: list[Part] = []
    problems = ProblemList()
    for part in source.parts:
        try:
            parts.append(_read_part(part, format, options))
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(dict.fromkeys(problems))
    return join_parts(parts, source=source.name, name=options.name or source.label)


def _read_part(part: Source, format: str, options: ReadOptions) -> Part:
    """Read a part, with gold's texts only if it has none of its own."""
    from nereval_core.readers.shared.layer_parts import Part

    try:
        return Part(read(part, format=format, options=replace(options, texts=None)))
    except FormatError:
        if options.texts is None:
            raise
    return Part(read(part, format=format, options=options), borrowed=True)


def layers(source: Source, *, format: str = "auto", options: ReadOptions | None = None) -> tuple[str, ...]:
    """Return the names of the layers of a file that may hold several, one an annotator or model; else nothing.

    Raises:
        FormatError: as `read`.
    """
    options = options or ReadOptions()
    if len(source.sheets()) > 1 and not (options.layer or source.layer):
        return source.sheets()
    source, _ = _choose_sheet(source, options.layer or source.layer)
    format = format_of(source, format, texts=options.texts, outside=options.outside, keys=options.keys)
    with garbage_collection_off():
        return reader(format).layers(source, options)


def select_layer(source: Source, layer: str | None, names: Sequence[str], *, what: str = "layer") -> str:
    """Return the layer of a file that is to be read: the one that is wanted, or the only one.

    Raises:
        FormatError: there are several and none is named, or there is none of that name.
    """
    more = len(names) - SHOWN
    listed = ", ".join([*map(quoted, names[:SHOWN]), *([f"{more} more"] if more > 0 else [])])
    if layer is None and len(names) == 1:
        return names[0]
    if layer is None:
        finding = f"it holds {len(names)} {what}s, {listed}, and one is read at a time"
        way = "save it as a file and" if source.name == STDIN else ""
        place = "FILE" if source.name == STDIN else source.name
        remedy = f"{way} name it after the path, {place}#{names[0]}, or choose it beside the upload".strip()
        raise FormatError.single(source.name, None, finding, remedy)
    if layer not in names:
        raise FormatError.single(source.name, None, f"no {what} {quoted(layer)}", f"choose among {listed}")
    return layer


@contextmanager
def garbage_collection_off() -> Iterator[None]:
    """Switch the garbage collector off: annotations have no cycles, and it would walk them over and over."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
