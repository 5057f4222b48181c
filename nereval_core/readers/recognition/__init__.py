"""The formats that can be read, and the recognition of a source's: the reader that claims it most surely."""

from __future__ import annotations

import pkgutil
from collections.abc import Collection, Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, cast

from nereval_core.problems import FormatError
from nereval_core.readers.input.source import Source, zips_in_zip
from nereval_core.readers.read_settings import Reading, ReadOptions
from nereval_core.readers.recognition.signs import may_be

if TYPE_CHECKING:
    from nereval_core.corpus import Documents
    from nereval_core.readers.recognition.remedies import Remedy

FOLDER = Path(__file__).parents[1]
NO_FORMATS = frozenset({"input", "preview", "python_objects", "read_settings", "recognition", "shared"})
"""The modules of this folder that are no readers of a format."""
FAMILIES = ("annotation_tools", "biomedical", "marked_text")
"""The folders in it whose modules are readers of a format each."""


class Reader(Protocol):
    """A reader: a module or folder of one format."""

    NAME: str
    DESCRIPTION: str
    # A reader may also have:
    # - layers(source, options): the names of the layers of a file that may hold several;
    # - has_columns(source, columns): whether the columns of a table may be those of `ReadOptions.columns`;
    # - tag_column_choices(source): the columns of annotations, by a sample, where one of several has to be chosen;
    # - COLUMNS = True: annotations stand in columns, and `ReadOptions.column` names one;
    # - TABLES = True: these columns are of plain text;
    # - CORES = True: spans of the type or attribute `ReadOptions.core_type` are cores;
    # - LABELS = True: tags may be numbers of `ReadOptions.labels`;
    # - ZIPS = True: zips within zips are opened;
    # - SUFFIXES: the endings of its files, of which others are passed over.

    def recognise(self, source: Source) -> float: ...

    def read(self, source: Source, options: ReadOptions) -> Reading: ...


@cache
def _modules() -> Mapping[str, str]:
    """Return the module of each format's reader, below `nereval_core.readers`, by the format's name, sorted."""
    found = {info.name: info.name for info in pkgutil.iter_modules([str(FOLDER)])}
    for family in FAMILIES:
        del found[family]
        found |= {info.name: f"{family}.{info.name}" for info in pkgutil.iter_modules([str(FOLDER / family)])}
    return MappingProxyType({name: found[name] for name in sorted(found.keys() - NO_FORMATS)})


@cache
def formats() -> tuple[str, ...]:
    """Return the names of the formats."""
    return tuple(_modules())


def reader(format: str) -> Reader:
    """Return the reader of a format."""
    return cast(Reader, import_module(f"nereval_core.readers.{_modules()[format]}"))


def readers() -> Mapping[str, Reader]:
    """Return the readers of all formats by name."""
    return MappingProxyType({format: reader(format) for format in formats()})


def likely_format(source: Source) -> str | None:
    """Return the format that claims the source most surely, None where none or several do."""
    try:
        return _surest_format(source)
    except FormatError:
        return None


def format_of(
    source: Source,
    format: str = "auto",
    columns: Mapping[str, int | str] | None = None,
    texts: Documents | None = None,
    outside: str | None = None,
) -> str:
    """Return the format that is named, or that the content and the columns chosen show; `texts` are gold's documents.

    `outside` is the tag of tokens outside of spans, where it is chosen: it may be what makes a column one of tags.

    Raises:
        FormatError: there is no such format, it cannot be told, or it has no use for a zip within a zip.
    """
    if format == "auto":
        format = _format_of_columns(source, columns) if columns else _surest_format(source, texts, outside)
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


def _surest_format(source: Source, texts: Documents | None = None, outside: str | None = None) -> str:
    """Return the format that claims the source most surely.

    Raises:
        FormatError: none claims it, or two do equally.
    """
    if source.parts:
        forms = sorted({_surest_format(part, texts, outside) for part in source.parts})
        if len(forms) > 1:
            raise FormatError.single(source.name, None, f"its parts are {' and '.join(forms)}", "name one of them")
        return forms[0]
    likely = [name for name in formats() if may_be(name, source)]
    claims = {name: reader(name).recognise(source) for name in likely}
    best = max(claims.values(), default=0.0)
    if claims.get("jsonl", 0.0) < 1:
        from nereval_core.readers.recognition.unread_shapes import unread_shape

        if shape := unread_shape(source.head()):
            raise FormatError.single(source.name, None, *shape)
    names = [name for name, claim in claims.items() if claim == best]
    keys = source.head(".jsonl", ".ndjson").keys
    if best <= 0 or (names == ["jsonl"] and best < 1 and not _is_native(keys)):
        # Wrongly encoded text looks like no format: what is wrong with it comes first.
        nested = zips_in_zip(source)
        if nested:
            raise FormatError(nested)
        source.files[0].text()
        if outside is not None:
            from nereval_core.readers.recognition.remedies import OUTSIDE_FORMATS, Remedy, working_remedies

            remedies = (Remedy(name, outside=outside) for name in OUTSIDE_FORMATS if name in likely)
            if working := working_remedies(source, remedies, partial(_try, texts)):
                return working[0].format
        from nereval_core.readers.recognition.unrecognised import begins_broken, unrecognised_problem

        if names == ["jsonl"] and begins_broken(source.pick(".jsonl", ".ndjson")[0]):
            # Its reader says where the JSON is broken.
            return "jsonl"
        raise unrecognised_problem(source, likely, keys, partial(_try, texts))
    if len(names) > 1:
        from nereval_core.readers.recognition.remedies import Remedy, working_remedies

        working = working_remedies(source, map(Remedy, names), partial(_try, texts))
        remedy = f"name the format: {', or '.join(map(str, working))}" if working else "name another file"
        if len(source.files) > 1:
            remedy += ", or name its files one by one as parts of one layer"
        raise FormatError.single(source.name, None, f"this may be {' or '.join(names)}", remedy)
    return names[0]


def _is_native(keys: Collection[str]) -> bool:
    from nereval_core.readers.recognition.unrecognised import is_native_slip

    return is_native_slip(keys)


def _try(texts: Documents | None, source: Source, remedy: Remedy) -> Reading:
    return reader(remedy.format).read(source, remedy.options(texts))
