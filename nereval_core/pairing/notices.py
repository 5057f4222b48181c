"""Notices on a prediction that is paired with gold: identical content, and predicted types that gold does not have.

Both are legal and both are often mistakes that change the score: gold that is scored as the prediction gives F1 1, and
a type that is spelt otherwise is never correct. Every output of scores states them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nereval_core.corpus import Layer

IDENTICAL = "in content: the same documents and spans; check that they are not copies of one file"
"""The end of the notice on two layers with the same spans and no others."""


class IdenticalContentWarning(UserWarning):
    """A prediction has gold's documents and spans and no others, or an annotator those of another."""


class TypesNotInGoldWarning(UserWarning):
    """The prediction has types that gold does not have."""


class NamedLayer(Protocol):
    """A layer of this process, or one that is known by its digest, number of spans and types."""

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str: ...

    @property
    def types(self) -> tuple[str, ...]: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Notices:
    """The notices on one prediction, in words that stand after its name; "" where there is nothing to notice."""

    identical: str
    types: str

    def __iter__(self) -> Iterator[str]:
        return filter(None, (self.identical, self.types))

    def by_category(self) -> Iterator[tuple[str, type[UserWarning]]]:
        """Yield each notice with the category of its warning."""
        if self.identical:
            yield self.identical, IdenticalContentWarning
        if self.types:
            yield self.types, TypesNotInGoldWarning


def notices_of(
    gold: NamedLayer, pred: NamedLayer, *, reference: str = "gold", settled: Collection[str] = ()
) -> Notices:
    """Return the notices on a prediction, or on an annotator compared with another, the `reference`.

    Both layers lie over the same documents, and their types are not merged yet; `settled` are types that are merged or
    left out in scoring, of which nothing need be said.
    """
    identical = f"identical to {reference} {IDENTICAL}" if is_identical(gold, pred) else ""
    return Notices(identical, _types_in_words(gold, pred, settled))


def is_identical(gold: NamedLayer, pred: NamedLayer) -> bool:
    """Tell whether a prediction has gold's spans, at least one, and no others; links, cores and scores may differ.

    Layers that are known by their digests are equal where these are, with everything that the digest is made of.
    """
    if not len(gold) or len(gold) != len(pred):
        return False
    if not isinstance(gold, Layer) or not isinstance(pred, Layer):
        return gold.digest == pred.digest
    if not all(np.array_equal(getattr(gold, column), getattr(pred, column)) for column in ("doc", "start", "end")):
        return False
    # A layer may name types that none of its spans has.
    types = tuple(sorted({*gold.types, *pred.types}))
    return np.array_equal(gold.type_codes(types), pred.type_codes(types)) and gold.fragments == pred.fragments


def _types_in_words(gold: NamedLayer, pred: NamedLayer, settled: Collection[str]) -> str:
    if not gold.types or {*pred.types} <= {*gold.types, *settled}:
        return ""
    from nereval_core.pairing.type_suggestions import no_common_type_in_words, types_not_in_gold_in_words

    if not {*gold.types} & {*pred.types}:
        return no_common_type_in_words(gold, pred)
    return types_not_in_gold_in_words(gold, pred, settled)
