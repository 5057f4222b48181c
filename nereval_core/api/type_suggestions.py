"""The verb `type_suggestions` of the library: types of gold that a prediction may call by other names."""

from __future__ import annotations

from typing import Unpack

from nereval_core.api.inputs import Given, load_inputs
from nereval_core.pairing import Pairing
from nereval_core.pairing.type_suggestions import Suggestion, suggest_types


def type_suggestions(
    gold: Given,
    pred: Given,
    *,
    format: str = "auto",
    **pairing: Unpack[Pairing],
) -> tuple[Suggestion, ...]:
    """Suggest a type of gold for each type of a prediction that gold does not have, with the reason.

    Nothing is applied: `mapped` and `read(…, types=…)` do that.

    Raises:
        FormatError: as `score`.
    """
    corpus = load_inputs(gold, {"": pred}, format=format, pairing=pairing).corpus
    return suggest_types(corpus.gold, corpus.systems)
