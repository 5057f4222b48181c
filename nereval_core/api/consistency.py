"""The library's verb for what a careful reader would question within one layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Unpack

from nereval_core.analysis.consistency import Consistency, check_texts, consistency
from nereval_core.analysis.consistency.indexed_layer import LetterCase
from nereval_core.api.inputs import AnyAnnotations, Texts, load_inputs
from nereval_core.api.load import Loaded
from nereval_core.api.verb_options import ConsistencyOptions
from nereval_core.pairing import Pairing, selection_marks

NONE: Mapping[str, AnyAnnotations] = MappingProxyType({})


def consistency_of(
    layer: AnyAnnotations,
    others: Mapping[str, AnyAnnotations] = NONE,
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
    options = ConsistencyOptions(kinds=(kinds,) if isinstance(kinds, str) else tuple(kinds), case=case)
    loaded = load_inputs(layer, others, format=format, core_type=core_type, texts=texts, pairing=pairing)
    return run(options, loaded)


def run(options: ConsistencyOptions, loaded: Loaded, name: str | None = None) -> Consistency:
    """Search the layer that was loaded as gold, under another `name`, with the others beside it.

    Raises:
        FormatError: the layer has no texts.
    """
    layer = loaded.corpus.gold if name is None else loaded.corpus.gold.renamed(name)
    check_texts(layer)
    others = [other.renamed(system) for system, other in loaded.named_layers().items()]
    # A layer by itself is not paired, but its signature names the selected documents and renamed types.
    marks = [f"{system}: {mark}" for system, of_system in loaded.marks.items() for mark in of_system]
    marks = marks or [*selection_marks(loaded.gold)]
    return replace(consistency(layer, others, options.kinds, options.case), marks=tuple(marks))
