"""Annotators of whom not all saw all documents: these documents in a row, and who saw which.

A document counts if two annotators or more saw it. It has the text and the tokens of the first of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nereval_core.analysis.agreement.coefficients import (
    Pair,
    Row,
    Tokens,
    missing_alpha_rows,
    resampled_rows,
    unitizing_rows,
)
from nereval_core.analysis.agreement.kappa_and_alpha import count_tokens
from nereval_core.analysis.agreement.unitizing_alpha import TypeUnits
from nereval_core.analysis.bootstrap import Bootstrap
from nereval_core.corpus import Documents, Layer
from nereval_core.corpus.arrays import Bools, Int64
from nereval_core.corpus.concatenation import join_documents, join_layers
from nereval_core.corpus.subset import select_documents, select_spans
from nereval_core.corpus.tokens import tokens_of
from nereval_core.problems import FormatError
from nereval_core.scoring.criteria import TypeRules
from nereval_core.scoring.type_merging import apply_rules


@dataclass(frozen=True, eq=False)
class UnitedAnnotators:
    """The layers of annotators over all documents that two or more saw; `seen` has the shape (annotators, documents).

    Annotators have no span in a document that they did not see.
    """

    documents: Documents
    layers: tuple[Layer, ...]
    seen: Bools


def unite_annotators(names: Sequence[str], pairs: Mapping[Pair, tuple[Layer, ...]]) -> UnitedAnnotators:
    """Return the documents of all pairs of annotators in a row, and each annotator's layer over them.

    `pairs` are two layers over the documents that both have, the lower annotator first; a pair without such documents
    is missing.
    """
    homes: dict[str, int] = {}
    parts = []
    for (first, _), (layer, _) in sorted(pairs.items()):
        new = [number for number, name in enumerate(layer.documents.ids) if name not in homes]
        homes |= {layer.documents.ids[number]: first for number in new}
        if new:
            parts.append(select_documents(layer.documents, np.array(new, np.int64)))
    documents = join_documents(parts)
    place = {name: number for number, name in enumerate(homes)}
    saw = np.zeros((len(names), len(documents)), bool)
    layers = []
    for number, name in enumerate(names):
        pieces = []
        for pair, both in sorted(pairs.items()):
            if number in pair:
                pieces.append(_spans_not_seen(both[pair.index(number)], pair[0], homes, place, saw[number]))
        joined = join_layers([piece for piece, _ in pieces], documents, name) if pieces else _empty(documents, name)
        numbers = np.concatenate([np.zeros(0, np.int64), *(places for _, places in pieces)])
        layers.append(joined.renumbered(numbers[joined.doc]))
    return UnitedAnnotators(documents, tuple(layers), saw)


def _spans_not_seen(
    layer: Layer, first: int, homes: Mapping[str, int], place: Mapping[str, int], saw: Bools
) -> tuple[Layer, Int64]:
    """Return an annotator's spans in documents whose first annotator this pair has, and the places of the documents.

    Documents that the annotator `saw` already are left out; the others are marked.
    """
    ids = layer.documents.ids
    new_documents = [at for at, name in enumerate(ids) if homes[name] == first and not saw[place[name]]]
    places = np.array([place[ids[at]] for at in new_documents], np.int64)
    saw[places] = True
    numbers = np.array(new_documents, np.int64)
    return select_spans(layer, numbers, select_documents(layer.documents, numbers)), places


def _empty(documents: Documents, name: str) -> Layer:
    nothing = np.zeros(0, np.int32)
    return Layer(name, documents, nothing, nothing, nothing, np.zeros(0, np.int16), ())


def alpha_rows(coverage: UnitedAnnotators, rules: TypeRules, bootstrap: Bootstrap) -> Iterator[Row]:
    """Return alpha on tokens and unitizing alpha of all annotators, for all types and for each type."""
    ruled = [apply_rules(layer, rules) for layer in coverage.layers]
    types = tuple(sorted({kind for layer in ruled for kind in layer.types}))
    names = [layer.name for layer in ruled]
    units = TypeUnits(ruled, types, [*coverage.seen])
    tokens: Tokens
    try:
        tokens = count_tokens(ruled, types, tokens_of(coverage.documents))
    except FormatError as error:
        tokens = error.problems[0].found
    figures = (
        missing_alpha_rows(tokens, coverage.seen, bootstrap),
        unitizing_rows(units, names, coverage.documents, bootstrap, coverage.seen),
    )
    return resampled_rows(figures, bootstrap)
