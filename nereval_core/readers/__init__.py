"""Read annotations: one module or folder per format, found by listing this folder.

A reader is named like its format and has `NAME`, `DESCRIPTION`, `recognise(source)` (how sure it is, 0 to 1, by the
heads of files, never failing) and `read(source, options)`. Modules of `NO_FORMATS` are no readers. A reader is imported
when its format is named, or when a file may be of that format by its signs (`recognition.py`).
"""

from __future__ import annotations

import gc
import os
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, cast

from nereval_core.problems import SHOWN, FormatError, Problem, quoted
from nereval_core.readers.input.origins import STDIN
from nereval_core.readers.input.source import Source, SourceFile, skipped_files_note, zips_in_zip
from nereval_core.readers.read_settings import Reading, ReadOptions
from nereval_core.readers.recognition import describe_object, describe_source, may_be

if TYPE_CHECKING:
    from nereval_core.readers.shared.layer_parts import Part

NO_FORMATS = frozenset(
    {"concepts", "input", "objects", "preview", "read_settings", "recognition", "shared"},
)
"""The modules of this folder that are no readers of a format."""

__all__ = [
    "ReadOptions",
    "Reading",
    "Source",
    "SourceFile",
    "formats",
    "read",
    "reader",
    "readers",
    "recognised",
]


class Reader(Protocol):
    """A reader: a module or folder of one format."""

    NAME: str
    DESCRIPTION: str
    # A reader may also have:
    # - layers(source, options): the names of the layers of a file that may hold several;
    # - has_columns(source, columns): whether the columns of a table may be those of `ReadOptions.columns`;
    # - COLUMNS = True: annotations stand in columns, and `ReadOptions.column` names one;
    # - TABLES = True: these columns are of plain text;
    # - CORES = True: spans of the type or attribute `ReadOptions.core_type` are cores;
    # - LABELS = True: tags may be numbers of `ReadOptions.labels`;
    # - ZIPS = True: zips within zips are opened;
    # - SUFFIXES: the endings of its files, of which others are passed over.

    def recognise(self, source: Source) -> float: ...

    def read(self, source: Source, options: ReadOptions) -> Reading: ...


@cache
def formats() -> tuple[str, ...]:
    """Return the names of the formats."""
    return tuple(info.name for info in pkgutil.iter_modules(__path__) if info.name not in NO_FORMATS)


def reader(format: str) -> Reader:
    """Return the reader of a format."""
    return cast(Reader, import_module(f"{__name__}.{format}"))


def readers() -> Mapping[str, Reader]:
    """Return the readers of all formats by name."""
    return MappingProxyType({format: reader(format) for format in formats()})


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
    columns = dict(options.columns or source.columns or {})
    if columns:
        from nereval_core.readers.shared.table_columns import TAGS

        tags = columns.pop(TAGS, None)
        if options.column is None and tags is not None:
            options = replace(options, column=tags)
    format = format_of(source, format, columns)
    wanted = options.layer or source.layer or None
    if wanted is not None and not hasattr(reader(format), "layers"):
        found = f"the layer {quoted(wanted)} is asked for, and the format '{format}' has one"
        raise FormatError.single(source.name, None, found, "leave it out")
    options = replace(options, layer=wanted, columns=columns or None)
    if options.column is not None and not getattr(reader(format), "COLUMNS", False):
        found = f"column {options.column} is asked for, and the format '{format}' has no columns"
        raise FormatError.single(source.name, None, found, "leave the column out, or name the other side's only")
    with garbage_collection_off():
        reading = replace(reader(format).read(source, options), source=source.name)
    if not len(reading.documents):
        raise FormatError.single(source.name, None, "no document in it", f"give a file in the format '{format}'")
    unused = columns and not hasattr(reader(format), "has_columns")
    said = ["the columns chosen are for tables of spans, which this is not"] if unused else []
    if options.labels is not None and not getattr(reader(format), "LABELS", False):
        said.append("the labels given are for tags that are numbers, which this format has not")
    reading = replace(reading, notes=(*reading.notes, *skipped_files_note(source), *said))
    of = f"of {len(reading.layer)}"
    for what, some in (("a core", reading.layer.cores), ("alternatives", reading.layer.alternatives)):
        if some:
            reading = replace(reading, notes=(*reading.notes, f"spans with {what}: {len(some)} {of}"))
    repeated = len(reading.layer.duplicates)
    if repeated:
        note = f"spans that repeat another of the same boundaries and type, kept: {repeated}"
        reading = replace(reading, notes=(*reading.notes, note))
    return reading


def _read_parts(source: Source, format: str, options: ReadOptions) -> Reading:
    """Read each part of a layer on its own, in the format that its content shows if none is named.

    Raises:
        FormatError: with the problems of all parts, or as `parts.joined`.
    """
    from nereval_core.readers.shared.layer_parts import join_parts

    found: list[Part] = []
    problems: list[Problem] = []
    for part in source.parts:
        try:
            found.append(_read_part(part, format, options))
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(dict.fromkeys(problems))
    return join_parts(found, source=source.name, name=options.name or source.label)


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
    module = reader(format_of(source, format))
    named: Callable[[Source, ReadOptions], tuple[str, ...]] | None = getattr(module, "layers", None)
    if named is None:
        return ()
    with garbage_collection_off():
        return named(source, options or ReadOptions())


def select_layer(source: Source, wanted: str | None, names: Sequence[str]) -> str:
    """Return the layer of a file that is to be read: the one that is wanted, or the only one.

    Raises:
        FormatError: there are several and none is named, or there is none of that name.
    """
    more = len(names) - SHOWN
    listed = ", ".join([*map(quoted, names[:SHOWN]), *([f"{more} more"] if more > 0 else [])])
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None:
        found = f"it holds {len(names)} layers, {listed}, and one is read at a time"
        way = "save it as a file and" if source.name == STDIN else ""
        place = "FILE" if source.name == STDIN else source.name
        remedy = f"{way} name it after the path, {place}#{names[0]}, or choose it beside the upload".strip()
        raise FormatError.single(source.name, None, found, remedy)
    if wanted not in names:
        raise FormatError.single(source.name, None, f"no layer {quoted(wanted)}", f"choose among {listed}")
    return wanted


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


def likely_format(source: Source) -> str | None:
    """Return the format that claims the source most surely, None where none or several do."""
    try:
        return _surest_format(source)
    except FormatError:
        return None


def format_of(source: Source, format: str = "auto", columns: Mapping[str, int | str] | None = None) -> str:
    """Return the format that is named, or that the content and the columns chosen show.

    Raises:
        FormatError: there is no such format, it cannot be told, or it has no use for a zip within a zip.
    """
    if format == "auto":
        format = _format_of_columns(source, columns) if columns else _surest_format(source)
    elif format not in formats():
        known = ", ".join(formats())
        raise FormatError.single(source.name, None, f"no reader for the format '{format}'", f"choose one of {known}")
    nested = [] if getattr(reader(format), "ZIPS", False) else zips_in_zip(source)
    if nested:
        raise FormatError(nested)
    return format


def _format_of_columns(source: Source, columns: Mapping[str, int | str]) -> str:
    """Return the format of tables of spans, unless the columns are missing and the content shows another format."""
    tables = _table_readers()
    for name, module in tables.items():
        if module.has_columns(source, columns):
            return name
    found = likely_format(source)
    # A table of tags looks like one of spans whose columns are named wrongly.
    return next(iter(tables)) if found is None or getattr(reader(found), "TABLES", False) else found


def _table_readers() -> Mapping[str, Any]:
    """Return the readers of tables of spans, whose columns can be chosen."""
    return {name: module for name, module in readers().items() if hasattr(module, "has_columns")}


def _surest_format(source: Source) -> str:
    """Return the format that claims the source most surely.

    Raises:
        FormatError: none claims it, or two do equally.
    """
    if source.parts:
        forms = sorted({_surest_format(part) for part in source.parts})
        if len(forms) > 1:
            raise FormatError.single(source.name, None, f"its parts are {' and '.join(forms)}", "name one of them")
        return forms[0]
    claims = {name: reader(name).recognise(source) for name in formats() if may_be(name, source)}
    best = max(claims.values(), default=0.0)
    names = [name for name, claim in claims.items() if claim == best]
    if best <= 0:
        # Wrongly encoded text looks like no format: what is wrong with it comes first.
        nested = zips_in_zip(source)
        if nested:
            raise FormatError(nested)
        source.files[0].text()
        found, advice = describe_source(source)
        remedy = f"{advice}; or " if advice else ""
        remedy += f"name the format: --format {'|'.join(formats())}"
        tables = {ending for module in _table_readers().values() for ending in module.SUFFIXES}
        if tables & source.by_suffix.keys():
            from nereval_core.readers.shared.table_columns import OPTION

            remedy += f"; of a table of spans, say its columns: {OPTION} document=NAME,start=NAME,end=NAME,type=NAME"
        said = f"the format cannot be recognised: {found}" if found else "the format cannot be recognised"
        raise FormatError.single(source.name, None, said, remedy)
    if names == ["jsonl"] and best < 1:
        other = describe_object(source.head(".jsonl", ".ndjson").keys)
        if other is not None:
            raise FormatError.single(source.name, None, *other)
    if len(names) > 1:
        remedy = f"name the format: --format {'|'.join(names)}"
        if len(source.files) > 1:
            remedy += ", or name its files one by one as parts of one layer"
        raise FormatError.single(source.name, None, f"this may be {' or '.join(names)}", remedy)
    return names[0]
