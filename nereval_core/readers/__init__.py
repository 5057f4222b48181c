"""Read annotations: one module per format, found by listing this folder.

A reader module is named like its format and has `NAME`, `DESCRIPTION`, `recognise(source)` (how sure it is, 0 to 1, by
content, never failing) and `read(source, options)`. Modules without a NAME are no formats.
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
from nereval_core.readers.input.source import Source, SourceFile, packed_within, passed_over
from nereval_core.readers.reading import Reading, ReadOptions
from nereval_core.readers.shared.table_columns import OPTION, TAGS

if TYPE_CHECKING:
    from nereval_core.readers.shared.layer_parts import Part

__all__ = ["ReadOptions", "Reading", "Source", "SourceFile", "read", "readers", "recognised"]


class Reader(Protocol):
    """What a reader module offers."""

    NAME: str
    DESCRIPTION: str
    # And, where columns hold what `ReadOptions.columns` says, has_columns(source, columns) -> whether they may,
    # where a file may hold several layers, layers(source, options) -> their names, the first of them first;
    # where annotations stand in columns that `ReadOptions.column` chooses among, COLUMNS = True, where these are
    # of plain text, TABLES = True, where cores are spans of the type or attribute `ReadOptions.core_type`,
    # CORES = True, where tags may be numbers of `ReadOptions.labels`, LABELS = True, and where zips within zips are
    # opened, ZIPS = True.

    def recognise(self, source: Source) -> float: ...

    def read(self, source: Source, options: ReadOptions) -> Reading: ...


@cache
def readers() -> Mapping[str, Reader]:
    """Return the readers by name."""
    modules = (import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    return MappingProxyType({module.NAME: cast(Reader, module) for module in modules if hasattr(module, "NAME")})


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
    tags = columns.pop(TAGS, None)
    if options.column is None and tags is not None:
        options = replace(options, column=tags)
    format = told_format(source, format, columns)
    wanted = options.layer or source.layer or None
    if wanted is not None and not hasattr(readers()[format], "layers"):
        found = f"the layer {quoted(wanted)} is asked for, and the format '{format}' has one"
        raise FormatError.single(source.name, None, found, "leave it out")
    options = replace(options, layer=wanted, columns=columns or None)
    if options.column is not None and not getattr(readers()[format], "COLUMNS", False):
        found = f"column {options.column} is asked for, and the format '{format}' has no columns"
        raise FormatError.single(source.name, None, found, "leave the column out, or name the other side's only")
    with uncollected():
        reading = replace(readers()[format].read(source, options), source=source.name)
    if not len(reading.documents):
        raise FormatError.single(source.name, None, "no document in it", f"give a file in the format '{format}'")
    unused = columns and not hasattr(readers()[format], "has_columns")
    said = ["the columns chosen are for tables of spans, which this is not"] if unused else []
    if options.labels is not None and not getattr(readers()[format], "LABELS", False):
        said.append("the labels given are for tags that are numbers, which this format has not")
    reading = replace(reading, notes=(*reading.notes, *passed_over(source), *said))
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
    from nereval_core.readers.shared.layer_parts import joined

    found: list[Part] = []
    problems: list[Problem] = []
    for part in source.parts:
        try:
            found.append(_read_part(part, format, options))
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(dict.fromkeys(problems))
    return joined(found, source=source.name, name=options.name or source.label)


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
    """Return the names of the layers in a file that may hold several, one an annotator or model; else nothing.

    Raises:
        FormatError: as `read`.
    """
    module = readers()[told_format(source, format)]
    named: Callable[[Source, ReadOptions], tuple[str, ...]] | None = getattr(module, "layers", None)
    if named is None:
        return ()
    with uncollected():
        return named(source, options or ReadOptions())


def one_layer(source: Source, wanted: str | None, names: Sequence[str]) -> str:
    """Return which of the layers of a file is to be read.

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
def uncollected() -> Iterator[None]:
    """Keep Python from looking for cycles: what is read has none, and would be walked over and over."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def recognised(source: Source) -> str | None:
    """Return the format that claims the source most surely, None where none or several do."""
    try:
        return _recognised(source)
    except FormatError:
        return None


def told_format(source: Source, format: str = "auto", columns: Mapping[str, int | str] | None = None) -> str:
    """Return the format that is named, or that the content and the columns chosen show.

    Raises:
        FormatError: there is no such format, it cannot be told, or it has no use for a zip within a zip.
    """
    if format == "auto":
        format = _of_columns(source, columns) if columns else _recognised(source)
    elif format not in readers():
        known = ", ".join(readers())
        raise FormatError.single(source.name, None, f"no reader for the format '{format}'", f"choose one of {known}")
    nested = [] if getattr(readers()[format], "ZIPS", False) else packed_within(source)
    if nested:
        raise FormatError(nested)
    return format


def _of_columns(source: Source, columns: Mapping[str, int | str]) -> str:
    """Return the format whose columns can be chosen, unless they are not there and the content shows another."""
    tables = _tables()
    for name, module in tables.items():
        if module.has_columns(source, columns):
            return name
    found = recognised(source)
    # A table of tags looks like one of spans whose columns are named wrongly.
    return next(iter(tables)) if found is None or getattr(readers()[found], "TABLES", False) else found


def _tables() -> Mapping[str, Any]:
    """Return the readers of tables of spans, whose columns can be chosen."""
    return {name: module for name, module in readers().items() if hasattr(module, "has_columns")}


def _recognised(source: Source) -> str:
    """Return the format that claims the source most surely.

    Raises:
        FormatError: none claims it, or two do equally.
    """
    if source.parts:
        forms = sorted({_recognised(part) for part in source.parts})
        if len(forms) > 1:
            raise FormatError.single(source.name, None, f"its parts are {' and '.join(forms)}", "name one of them")
        return forms[0]
    claims = {name: reader.recognise(source) for name, reader in readers().items()}
    best = max(claims.values(), default=0.0)
    names = [name for name, claim in claims.items() if claim == best]
    if best <= 0:
        # Wrongly encoded text looks like no format: what is wrong with it comes first.
        nested = packed_within(source)
        if nested:
            raise FormatError(nested)
        source.files[0].text()
        from nereval_core.readers.recognition import seen

        found, advice = seen(source)
        remedy = f"{advice}; or " if advice else ""
        remedy += f"name the format: --format {'|'.join(claims)}"
        tables = {ending for module in _tables().values() for ending in module.SUFFIXES}
        if tables & source.by_suffix.keys():
            remedy += f"; of a table of spans, say its columns: {OPTION} document=NAME,start=NAME,end=NAME,type=NAME"
        said = f"the format cannot be recognised: {found}" if found else "the format cannot be recognised"
        raise FormatError.single(source.name, None, said, remedy)
    if names == ["jsonl"] and best < 1:
        from nereval_core.readers.recognition import unknown_object
        from nereval_core.readers.shared.strict_json import first_keys

        other = unknown_object(first_keys(source, ".jsonl", ".ndjson"))
        if other is not None:
            raise FormatError.single(source.name, None, *other)
    if len(names) > 1:
        remedy = f"name the format: --format {'|'.join(names)}"
        if len(source.files) > 1:
            remedy += ", or name its files one by one as parts of one layer"
        raise FormatError.single(source.name, None, f"this may be {' or '.join(names)}", remedy)
    return names[0]
