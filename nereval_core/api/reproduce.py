"""The verb `reproduce` of the library: the figures of a published scorer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack, cast

from nereval_core.api.inputs import AnyAnnotations, load_inputs
from nereval_core.api.load import Input, source_of
from nereval_core.api.scoring import PythonWarnings, check_pairing
from nereval_core.conventions import LayerPair, Outcome, ScorerInput, apply, apply_to_layers, find_convention
from nereval_core.corpus import Layer
from nereval_core.pairing import IdenticalContentWarning, Pairing
from nereval_core.readers import Reading
from nereval_core.readers.python_objects import is_objects


def reproduce(
    gold: AnyAnnotations,
    pred: AnyAnnotations,
    *,
    convention: str,
    options: Mapping[str, Any] | None = None,
    format: str = "auto",
    **pairing: Unpack[Pairing],
) -> Outcome:
    """Score as a published scorer does: its figures under its own names, and the records that make them.

    `convention` is a name that `nereval conventions` lists. Files of the scorer's own format are read as it reads them;
    readings, layers and Python objects are scored by their spans. `options` are the scorer's own; a dash and an
    underscore in their names are alike.

    Raises:
        FormatError: an unknown convention or option, unreadable input, or data that the scorer cannot have.
    """
    check_pairing(pairing)
    if isinstance(gold, (Reading, Layer)) or isinstance(pred, (Reading, Layer)) or is_objects(gold) or is_objects(pred):
        loaded = load_inputs(gold, {"": pred}, format=format, pairing=pairing)
        ((name, layer),) = loaded.named_layers().items()
        layers = LayerPair(loaded.corpus.gold, layer, loaded.marks[name])
        return _warned(apply_to_layers(find_convention(convention), layers, options or {}), name)
    source = source_of(cast(Input, pred))
    files = ScorerInput(
        gold=source_of(cast(Input, gold)),
        pred=source,
        gold_format=format,
        pred_format=format,
        pairing=pairing,
    )
    return _warned(apply(find_convention(convention), files, options or {}), source.name)


def _warned(outcome: Outcome, name: str) -> Outcome:
    """Return an outcome, and warn where both sides have the same content; `name` is that of the prediction."""
    for notice in outcome.notices:
        PythonWarnings().warn(f"{name}: {notice}", IdenticalContentWarning)
    return outcome
