"""Inputs of the library's verbs: a place, what `read` returned, a layer, or Python objects; and settings of scoring."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from nereval_core import readers
from nereval_core.api.load import Input, Loaded, check_core_type, check_cores, source_of
from nereval_core.api.load_options import LoadOptions, ScoringOptions
from nereval_core.api.scoring import check_pairing
from nereval_core.corpus import Corpus, Layer
from nereval_core.pairing import Paired, Pairing, pair
from nereval_core.problems import FormatError, Steps, quoted
from nereval_core.readers import Reading, ReadOptions
from nereval_core.readers.python_objects import is_objects, levelled, read_objects
from nereval_core.scoring import Counting
from nereval_core.scoring.criteria import Criterion

Objects = Sequence[Any]
Texts = Sequence[str] | Sequence[Sequence[str]]
Annotations = Reading | Layer | Input
AnyAnnotations = Annotations | Objects
Criteria = str | Iterable[str | Criterion]
Merge = Mapping[str, str] | str | Iterable[str]


def check_named(layers: Any, parameter: str) -> None:
    """Refuse systems or annotators that are not given by name.

    Raises:
        FormatError: they are not a mapping.
    """
    if not isinstance(layers, Mapping):
        remedy = 'give them by name: {"a": "a.jsonl", "b": "b.jsonl"}'
        raise FormatError.single(parameter, None, "not named", remedy)


def load_inputs(
    gold: AnyAnnotations,
    systems: Mapping[str, AnyAnnotations],
    *,
    format: str,
    core_type: str | None = None,
    texts: Texts | None = None,
    gold_scheme: str | None = None,
    pred_scheme: str | None = None,
    pairing: Pairing | None = None,
) -> Loaded:
    """Read gold and systems by name, and pair all with gold; a system of no name is called as its source.

    Where neither has texts, documents are as long as the farthest span of any of them asks for.

    Raises:
        FormatError: as the readers, `levelled` and `pair` do, with the problems of all systems.
        TypeError: an option of pairing that there is not.
    """
    check_pairing(pairing or {})
    options = LoadOptions(core_type=core_type, gold_scheme=gold_scheme, pred_scheme=pred_scheme, **pairing or {})
    gold_side = gold_reading(gold, format=format, core_type=core_type, texts=texts, scheme=gold_scheme)
    steps = Steps()
    readings: dict[str, Reading] = {}
    for name, system in systems.items():
        with steps.collected():
            reading = prediction_reading(system, gold_side, format=format, core_type=core_type, scheme=pred_scheme)
            gold_side = levelled(gold_side, reading)[0]
            readings[name or reading.source or "prediction"] = reading
    paired: dict[str, Paired] = {}
    for name, reading in readings.items():
        with steps.collected():
            paired[name] = pair(*levelled(gold_side, reading), **pairing or {})
    steps.refuse()
    layers = tuple(replace(each.layer, documents=gold_side.documents) for each in paired.values())
    return Loaded(
        Corpus(gold_side.source or "gold", gold_side.documents, gold_side.layer, layers),
        gold_side,
        readings,
        {name: each.marks for name, each in paired.items()},
        {},
        {name: each.lost for name, each in paired.items() if each.lost},
        options,
    )


def gold_reading(
    gold: AnyAnnotations,
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
    if is_objects(gold):
        reading = read_objects(cast(Objects, gold), texts=texts, scheme=scheme)
    elif texts is not None:
        finding = "gold is not a list of Python objects"
        raise FormatError.single("texts", None, finding, "leave them out, it has its own")
    else:
        check_core_type(core_type)
        reading = reading_of(cast(Annotations, gold), format=format, core_type=core_type, scheme=scheme)
    check_cores(reading, core_type)
    return reading


def prediction_reading(
    pred: AnyAnnotations, gold: Reading, *, format: str, core_type: str | None = None, scheme: str | None = None
) -> Reading:
    """Return the reading of a prediction, by the scheme of gold where it fits, with gold's texts where it has none.

    Raises:
        FormatError: as the readers do.
    """
    if is_objects(pred):
        return read_objects(
            cast(Objects, pred),
            texts=gold if gold.documents.sizes is None else None,
            name="pred",
            scheme=scheme,
            gold_scheme=gold.scheme,
            side="prediction",
            gold=gold.documents,
        )
    return reading_of(cast(Annotations, pred), format=format, gold=gold, core_type=core_type, scheme=scheme)


def reading_of(
    annotations: Annotations,
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
    if isinstance(annotations, Reading):
        return annotations
    if isinstance(annotations, Layer):
        return Reading(annotations.documents, annotations, "", source=annotations.name)
    options = ReadOptions(core_type=core_type, scheme=scheme)
    if gold is not None:
        options = replace(options, gold_scheme=gold.scheme, texts=gold.documents, gold_types=gold.layer.types)
    return readers.read(source_of(annotations), format=format, options=options)


def scoring_options(
    criteria: Criteria, merge: Merge = (), leave_out: str | Iterable[str] = (), counting: Counting = "one-to-one"
) -> ScoringOptions:
    """Return options of scoring; one name may stand for a list of one.

    Raises:
        FormatError: an unknown criterion, a bad merge or counting.
    """
    return ScoringOptions(
        criteria=_several(criteria, "--criteria"),
        merge=merge if isinstance(merge, Mapping) else _several(merge, "--merge"),
        leave_out=_several(leave_out, "--leave-out"),
        counting=counting,
    )


def _several(values: Any, flag: str) -> tuple[Any, ...]:
    """Return values as a tuple, a single string as one: its letters are not meant."""
    if not isinstance(values, Iterable):
        raise FormatError.single(
            flag, None, f"{quoted(str(values))} is not a list of names", "give names, or leave it out"
        )
    return (values,) if isinstance(values, str) else tuple(values)
