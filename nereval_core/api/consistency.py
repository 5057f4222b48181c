"""The library's verb for what a careful reader would question within one layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Unpack

from nereval_core.analysis.consistency import Consistency, check_texts, consistency
from nereval_core.analysis.consistency.indexed_layer import LetterCase
from nereval_core.analysis.consistency.kinds import check_kinds
from nereval_core.api.inputs import Given, Texts, gold_reading, prediction_reading
from nereval_core.corpus import Layer
from nereval_core.pairing import Pairing, pair
from nereval_core.problems import FormatError, Problem

NONE: Mapping[str, Given] = MappingProxyType({})


def consistency_of(
    layer: Given,
    others: Mapping[str, Given] = NONE,
    *,
    kinds: str | Iterable[str] = (),
    case: LetterCase = "differs",
    format: str = "auto",
    core_type: str | None = None,
    texts: Texts | None = None,
    **pairing: Unpack[Pairing],
) -> Consistency:
    """Find phenomena that a layer, gold or any other, annotates in different ways: see `analysis.consistency`.

    `others` by name are compared with the layer and shown beside it. `kinds` names kinds of findings, by default all:
    "types", "not-everywhere", "edges", "nesting", "odd-ends" and "against-all". `case` says whether spellings of a form
    are told apart: "differs" where these are annotated differently, "ignore" never, "keep" always. The other options
    are those of `score`.

    Raises:
        FormatError: as `score`, with the problems of all layers; an unknown kind; a layer without texts.
    """
    asked = [kinds] if isinstance(kinds, str) else list(kinds)
    check_kinds(asked)
    ours = gold_reading(layer, format=format, core_type=core_type, texts=texts)
    check_texts(ours.layer)
    problems: list[Problem] = []
    found: list[Layer] = []
    for name, other in others.items():
        try:
            theirs = prediction_reading(other, ours, format=format, core_type=core_type)
            found.append(pair(ours, theirs, **pairing).layer.renamed(name))
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(dict.fromkeys(problems))
    return consistency(ours.layer, found, asked, case)
