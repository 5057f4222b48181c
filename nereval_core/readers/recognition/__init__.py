"""The formats that can be read, and the recognition of a source's: the reader that claims it most surely."""

from __future__ import annotations

import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from nereval_core.problems import FormatError, quoted
from nereval_core.readers.input.source import Source, zips_in_zip
from nereval_core.readers.read_settings import Reading, ReadOptions
from nereval_core.readers.recognition.signs import is_native_slip, may_be

if TYPE_CHECKING:
    from nereval_core.corpus import Documents
    from nereval_core.readers.recognition.remedies import Remedy
    from nereval_core.readers.shared.tag_cells import TagColumn

FOLDER = Path(__file__).parents[1]
NO_FORMATS = frozenset({"input", "python_objects", "read_settings", "recognition", "shared"})
"""The modules of this folder that are not readers of a format."""
KEYED = "records"
"""The format of JSON whose keys are given."""
FAMILIES = ("annotation_tools", "biomedical", "marked_text", "standoff")
"""The folders in it whose modules are readers of a format each."""


class Reader(ABC):
    """A reader of one format; its module or folder is called like the format and has an instance, `READER`."""

    name: ClassVar[str]
    description: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    """The endings of its files: others in a folder are passed over where some have one of these."""
    has_columns: ClassVar[bool] = False
    """Annotations stand in columns or under keys, and `ReadOptions.column` names one."""
    is_table: ClassVar[bool] = False
    """These columns are of plain text."""
    is_span_table: ClassVar[bool] = False
    """Spans stand in rows, whose columns may be those of `ReadOptions.columns`."""
    has_layers: ClassVar[bool] = False
    """A file may hold several layers; `layers` names them."""
    has_cores: ClassVar[bool] = False
    """Spans of the type or attribute `ReadOptions.core_type` are cores."""
    has_labels: ClassVar[bool] = False
    """Tags may be numbers of `ReadOptions.labels`."""
    opens_zips: ClassVar[bool] = False
    """Zips within zips are opened."""

    @abstractmethod
    def recognise(self, source: Source) -> float:
        """Return how sure it is that a source is of this format, 0 to 1, by the heads of its files; never fail."""

    @abstractmethod
    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read a source.

        Raises:
            FormatError: with every problem found.
        """

    def layers(self, source: Source, options: ReadOptions) -> tuple[str, ...]:
        """Return the names of the layers of a file; empty where the format has but one.

        Raises:
            FormatError: as `read`.
        """
        return ()

    def fits_columns(self, source: Source, columns: Mapping[str, int | str]) -> bool:
        """Return whether a source has rows of spans with these columns."""
        return False

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the columns of annotations, by a sample, where one of several has to be chosen; else nothing."""
        return ()


@cache
def _modules() -> Mapping[str, str]:
    """Return the module of each format's reader, below `nereval_core.readers`, by the format's name, sorted."""
    modules = {info.name: info.name for info in pkgutil.iter_modules([str(FOLDER)])}
    for family in FAMILIES:
        del modules[family]
        modules |= {info.name: f"{family}.{info.name}" for info in pkgutil.iter_modules([str(FOLDER / family)])}
    return MappingProxyType({name: modules[name] for name in sorted(modules.keys() - NO_FORMATS)})


@cache
def formats() -> tuple[str, ...]:
    """Return the names of the formats."""
    return tuple(_modules())


def reader(format: str) -> Reader:
    """Return the reader of a format."""
    instance: Reader = import_module(f"nereval_core.readers.{_modules()[format]}").READER
    return instance


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
    keys: Mapping[str, str] | None = None,
) -> str:
    """Return the format that is named, or that the content and the columns or keys chosen show; `texts` are gold's
    documents.

    `outside` is the tag of tokens outside of spans, where it is chosen: it may be what makes a column one of tags.

    Raises:
        FormatError: the format does not exist, cannot be recognised, or does not open a zip within a zip.
    """
    if format == "auto":
        if keys and _has_keys(source, keys):
            format = KEYED
        else:
            try:
                format = _format_of_columns(source, columns) if columns else _surest_format(source, texts, outside)
            except FormatError as error:
                if not keys or not source.head().keys or "--keys" not in str(error):
                    raise
                own = ", ".join(map(quoted, sorted(source.head().keys)))
                finding = f"no key {quoted(_first_key(keys))} in its first object, which has {own}"
                raise FormatError.single(source.name, None, finding, "correct --keys") from None
    elif format not in formats():
        names = ", ".join(formats())
        raise FormatError.single(source.name, None, f"no reader for the format '{format}'", f"choose one of {names}")
    nested = [] if reader(format).opens_zips else zips_in_zip(source)
    if nested:
        raise FormatError(nested)
    return format


def _has_keys(source: Source, keys: Mapping[str, str]) -> bool:
    """Return whether the first JSON object of a source has the key of spans, or that of records."""
    key = _first_key(keys)
    return bool(key) and not source.head().keys.isdisjoint((key, key.partition(".")[0].partition("(")[0]))


def _first_key(keys: Mapping[str, str]) -> str:
    """Return the key that files of these keys have: that of records or spans, or, where these are rows, of starts."""
    return next((keys[name] for name in ("records", "layers", "spans", "start") if keys.get(name)), "")


def _format_of_columns(source: Source, columns: Mapping[str, int | str]) -> str:
    """Return the format of tables of spans, unless the columns are missing and the content shows another format."""
    tables = [name for name, instance in readers().items() if instance.is_span_table]
    for name in tables:
        if reader(name).fits_columns(source, columns):
            return name
    likely = likely_format(source)
    # A table of tags looks like one of spans whose columns are named wrongly.
    return tables[0] if likely is None or reader(likely).is_table else likely


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

        # Texts may lie beside a file that is known; where nothing is claimed, files of all kinds are looked at.
        heads = [source.head()] if best else [source.head_of(files[0]) for files in source.by_suffix.values()]
        if shape := next(filter(None, map(unread_shape, heads)), None):
            raise FormatError.single(source.name, None, *shape)
    names = [name for name, claim in claims.items() if claim == best]
    keys = source.head(".jsonl", ".ndjson").keys
    if best <= 0 or (names == ["jsonl"] and best < 1 and not is_native_slip(keys)):
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
        from nereval_core.readers.recognition.remedies import begins_broken, unrecognised_problem

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


def _try(texts: Documents | None, source: Source, remedy: Remedy) -> Reading:
    return reader(remedy.format).read(source, remedy.options(texts))
