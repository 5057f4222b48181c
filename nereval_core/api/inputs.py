"""Inputs of the library's verbs: a place, what `read` returned, a layer, or Python objects; and settings of scoring."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from nereval_core import readers
from nereval_core.api.load import Input, check_core_type, check_cores, source_of
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, one_of
from nereval_core.readers import Reading, ReadOptions
from nereval_core.scoring import Counting, Settings
from nereval_core.scoring.criteria import Criterion, choose_criteria
from nereval_core.scoring.type_merging import parse_merge

Objects = Sequence[Any]
Texts = Sequence[str] | Sequence[Sequence[str]]
Annotations = Reading | Layer | Input
Given = Annotations | Objects
Criteria = str | Iterable[str | Criterion]
Merge = Mapping[str, str] | str | Iterable[str]


def both_readings(
    gold: Given,
    pred: Given,
    *,
    format: str,
    core_type: str | None = None,
    texts: Texts | None = None,
    gold_scheme: str | None = None,
    pred_scheme: str | None = None,
) -> tuple[Reading, Reading]:
    """Return the readings of both sides; where neither has texts, over the same documents.

    Raises:
        FormatError: as the readers do, `levelled`, and for texts that belong to nothing.
    """
    from nereval_core.readers.python_objects import levelled

    ours = gold_reading(gold, format=format, core_type=core_type, texts=texts, scheme=gold_scheme)
    return levelled(ours, prediction_reading(pred, ours, format=format, core_type=core_type, scheme=pred_scheme))


def gold_reading(
    gold: Given,
    *,
    format: str,
    core_type: str | None = None,
    texts: Texts | None = None,
    scheme: str | None = None,
) -> Reading:
    """Return the reading of gold.

    Raises:
        FormatError: as the readers do, and for texts that belong to nothing.
    """
    from nereval_core.readers.python_objects import is_objects, read_objects

    if is_objects(gold):
        ours = read_objects(cast(Objects, gold), texts=texts, scheme=scheme)
    elif texts is not None:
        finding = "gold is not a list of Python objects"
        raise FormatError.single("texts", None, finding, "leave them out, it has its own")
    else:
        check_core_type(core_type)
        ours = reading_of(cast(Annotations, gold), format=format, core_type=core_type, scheme=scheme)
    check_cores(ours, core_type)
    return ours


def prediction_reading(
    pred: Given, gold: Reading, *, format: str, core_type: str | None = None, scheme: str | None = None
) -> Reading:
    """Return the reading of a prediction, by the scheme of gold where it fits, with gold's texts where it has none.

    Raises:
        FormatError: as the readers do.
    """
    from nereval_core.readers.python_objects import is_objects, read_objects

    if is_objects(pred):
        held = gold if gold.documents.sizes is None else None
        return read_objects(
            cast(Objects, pred),
            texts=held,
            name="pred",
            scheme=scheme,
            gold_scheme=gold.scheme,
            side="prediction",
            gold=gold.documents,
        )
    return reading_of(cast(Annotations, pred), format=format, gold=gold, core_type=core_type, scheme=scheme)


def reading_of(
    given: Annotations,
    *,
    format: str,
    gold: Reading | None = None,
    core_type: str | None = None,
    scheme: str | None = None,
) -> Reading:
    """Return the reading of annotations, files by the scheme of `gold` and with its texts where they have none.

    Raises:
        FormatError: as the readers do.
    """
    if isinstance(given, Reading):
        return given
    if isinstance(given, Layer):
        return Reading(given.documents, given, "", source=given.name)
    options = ReadOptions(core_type=core_type, scheme=scheme)
    if gold is not None:
        options = replace(options, gold_scheme=gold.scheme, texts=gold.documents, gold_types=gold.layer.types)
    return readers.read(source_of(given), format=format, options=options)


def settings_of(
    criteria: Criteria, merge: Merge = (), leave_out: str | Iterable[str] = (), counting: Counting = "one-to-one"
) -> Settings:
    """Return settings of scoring; one name may stand for a list of one.

    Raises:
        FormatError: an unknown criterion, a bad merge or counting.
    """
    one_of("counting", counting, Counting)
    chosen = choose_criteria(_several(criteria))
    merged = merge if isinstance(merge, Mapping) else parse_merge(_several(merge))
    return Settings(chosen, tuple(sorted(merged.items())), tuple(sorted(set(_several(leave_out)))), counting)


def _several(values: Any) -> Any:
    """Return a single string as a list of one: its letters are not meant."""
    return (values,) if isinstance(values, str) else values
