"""Inputs of the library's verbs: a place, what `read` returned, a layer, or Python objects."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from nereval_core import readers
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, quoted
from nereval_core.readers import Reading, ReadOptions, Source

Single = Source | str | os.PathLike[str]
Input = Single | Sequence[Single]
"""A file, a folder, or several of them: the parts of one layer, each in a format of its own."""
Objects = Sequence[Sequence[Any]]
Texts = Sequence[str] | Sequence[Sequence[str]]
Annotations = Reading | Layer | Input
Given = Annotations | Objects

NO_INPUT = (
    "give a path, several paths, what read() returned, a layer, or a list with a list of spans or tags for each "
    "document; a table or data set is saved first"
)
"""The remedy for an object that is no input."""


def source_of(place: Input) -> Source:
    """Return what is to be read from a place or from several, the parts of one layer.

    Raises:
        FormatError: no such file or folder, nothing in it, or an object that is no place.
    """
    if isinstance(place, Source):
        return place
    if isinstance(place, (str, os.PathLike)):
        return Source.of_path(place)
    if not isinstance(place, Sequence) or isinstance(place, (bytes, bytearray)):
        found = f"{type(place).__module__}.{type(place).__name__} is nothing to read from".removeprefix("builtins.")
        raise FormatError.single("input", None, found, NO_INPUT)
    return Source.of_parts([source_of(part) for part in place])


def source_names(place: Input) -> tuple[str, ...]:
    """Return the name that problems call a place by, or the names of each of several."""
    if isinstance(place, Source):
        return (place.name, *(part.name for part in place.parts))
    if isinstance(place, (str, os.PathLike)):
        return (os.fspath(place),)
    return tuple(name for part in place for name in source_names(part))


def both_readings(
    gold: Given, pred: Given, *, format: str, core_type: str | None = None, texts: Texts | None = None
) -> tuple[Reading, Reading]:
    """Return the readings of both sides; where neither has texts, over the same documents.

    Raises:
        FormatError: as the readers do, `levelled`, and for texts that belong to nothing.
    """
    from nereval_core.readers.objects import levelled

    ours = gold_reading(gold, format=format, core_type=core_type, texts=texts)
    return levelled(ours, prediction_reading(pred, ours, format=format, core_type=core_type))


def gold_reading(gold: Given, *, format: str, core_type: str | None = None, texts: Texts | None = None) -> Reading:
    """Return the reading of gold.

    Raises:
        FormatError: as the readers do, and for texts that belong to nothing.
    """
    from nereval_core.readers.objects import is_objects, read_objects

    if is_objects(gold):
        ours = read_objects(cast(Objects, gold), texts=texts)
    elif texts is not None:
        raise FormatError.single("texts", None, "gold is no list of Python objects", "leave them out, it has its own")
    else:
        check_core_type(core_type)
        ours = reading_of(cast(Annotations, gold), format=format, core_type=core_type)
    check_cores(ours, core_type)
    return ours


def prediction_reading(pred: Given, gold: Reading, *, format: str, core_type: str | None = None) -> Reading:
    """Return the reading of a prediction, by the scheme of gold and with its texts where it has none.

    Raises:
        FormatError: as the readers do.
    """
    from nereval_core.readers.objects import is_objects, read_objects

    if is_objects(pred):
        held = gold.documents if gold.documents.sizes is None else None
        return read_objects(cast(Objects, pred), texts=held, name="pred", scheme=gold.scheme)
    return reading_of(cast(Annotations, pred), format=format, gold=gold, core_type=core_type)


def reading_of(
    given: Annotations, *, format: str, gold: Reading | None = None, core_type: str | None = None
) -> Reading:
    """Return the reading of annotations, files by the scheme of `gold` and with its texts where they have none.

    Raises:
        FormatError: as the readers do.
    """
    if isinstance(given, Reading):
        return given
    if isinstance(given, Layer):
        return Reading(given.documents, given, "", source=given.name)
    options = ReadOptions(core_type=core_type)
    if gold is not None:
        options = replace(options, scheme=gold.scheme, texts=gold.documents)
    return readers.read(source_of(given), format=format, options=options)


def check_core_type(core_type: str | None) -> None:
    """Refuse a name of a core type that no type or attribute can have.

    Raises:
        FormatError: such a name.
    """
    if core_type is not None and len(core_type.split()) != 1:
        raise FormatError.single("core type", None, f"{quoted(core_type)} is no name", "give a brat type or attribute")


def check_cores(reading: Reading, core_type: str | None) -> None:
    """Refuse a core type where the format has none.

    Raises:
        FormatError: the format has no types of cores.
    """
    if core_type is None:
        return
    from nereval_core.readers.shared.layer_parts import BETWEEN

    known = [readers.reader(name) for name in reading.format.split(BETWEEN) if name in readers.formats()]
    if not any(getattr(reader, "CORES", False) for reader in known):
        form = f"the format '{reading.format}'" if reading.format else "a layer"
        found = f"core type {quoted(core_type)} is asked for, and {form} has no types of cores"
        raise FormatError.single(reading.source, None, found, "leave it out; jsonl says cores with its key core")
