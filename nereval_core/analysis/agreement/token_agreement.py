"""Tokens as units of agreement: the category of each token by annotator, counted by document.

A token's category is the set of types whose spans share a character with it, so that nested spans of two types are a
category of their own, and no type at all is one too. For a single type there are two: the token is in it or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.agreement.chance import Numbers, alpha, cohen, fleiss, share
from nereval_core.arrays import Float64, Int64
from nereval_core.corpus import Intervals, Layer
from nereval_core.scoring.token_counting import token_cells

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """What agreement on tokens is made of; sums over documents are again such counts.

    The last axis is documents (or resamples): `tokens` has the shape (n,), `agreed` (pairs, n) tokens with the same
    category from both annotators, `categories` (annotators, categories, n) those with each category but "no type".
    """

    tokens: Numbers
    agreed: Numbers
    categories: Numbers

    @property
    def annotators(self) -> int:
        return len(self.categories)

    @property
    def pairs(self) -> Pairs:
        return pairs_of(self.annotators)

    def rows(self) -> Numbers:
        """Return all counts as rows, shape (rows, n)."""
        return np.concatenate((self.tokens[None], self.agreed, self.categories.reshape(-1, self.tokens.shape[-1])))

    def of_rows(self, rows: Numbers) -> TokenCounts:
        """Return counts of the same kind from `rows`, whose last axis may have another length."""
        stop = 1 + len(self.agreed)
        shape = (*self.categories.shape[:2], rows.shape[-1])
        return replace(self, tokens=rows[0], agreed=rows[1:stop], categories=rows[stop:].reshape(shape))

    def of_pair(self, pair: tuple[int, int]) -> TokenCounts:
        """Return the counts of two annotators alone."""
        number = self.pairs.index(pair)
        return TokenCounts(self.tokens, self.agreed[number : number + 1], self.categories[list(pair)])


def pairs_of(annotators: int) -> Pairs:
    return tuple(combinations(range(annotators), 2))


def figures(counts: TokenCounts) -> dict[str, Float64]:
    """Return observed agreement, kappa (Cohen's of two annotators, Fleiss' of more) and alpha, each of shape (n,).

    Observed agreement of more than two is the mean over their pairs.
    """
    annotators = counts.annotators
    untyped = counts.tokens - counts.categories.sum(axis=1)
    categories = np.concatenate((counts.categories, untyped[:, None]), axis=1)
    agreed, whole = counts.agreed.sum(axis=0), categories.sum(axis=0)
    if annotators == 2:
        kappa = cohen(agreed, counts.tokens, categories[0], categories[1])
    else:
        kappa = fleiss(agreed, counts.tokens, whole, annotators)
    return {
        "observed": share(agreed, counts.tokens * len(counts.pairs)),
        "kappa": kappa,
        "alpha": alpha(agreed * (2 / (annotators - 1)), whole),
    }


def count_tokens(
    layers: Sequence[Layer], types: tuple[str, ...], tokens: Intervals
) -> tuple[TokenCounts, Mapping[str, TokenCounts]]:
    """Count the tokens of layers over the same documents, of all types together and of each type.

    `types` are sorted and hold those of all layers.
    """
    number = max(1, len(types))
    cells = [token_cells(layer, _codes(layer, types), number, tokens) for layer in layers]
    sizes = np.diff(tokens.first).astype(np.int32)
    doc = np.repeat(np.arange(len(sizes)), sizes)
    return _together(cells, number, doc, tokens.first), _by_type(cells, types, doc, sizes)


def _codes(layer: Layer, types: tuple[str, ...]) -> Int64:
    place = {name: code for code, name in enumerate(types)}
    return np.array([place[name] for name in layer.types], np.int64)[layer.type]


def _together(cells: Sequence[Int64], types: int, doc: Int64, first: Int64) -> TokenCounts:
    categories, number = _categories(cells, types, len(doc))
    documents = len(first) - 1
    found = np.zeros((len(cells), number, documents), np.int32)
    for mine, row in zip(found, categories, strict=True):
        there = np.flatnonzero(row)
        key = (row[there] - 1).astype(np.int64) * documents + doc[there]
        mine[:] = np.bincount(key, minlength=number * documents).reshape(number, documents)
    agreed = [_by_document(categories[one] == categories[other], first) for one, other in pairs_of(len(cells))]
    return TokenCounts(np.diff(first).astype(np.int32), np.array(agreed, np.int32).reshape(-1, documents), found)


def _categories(cells: Sequence[Int64], types: int, tokens: int) -> tuple[NDArray[np.int32], int]:
    """Return the category of each token by annotator, 0 where it has no type, and the number of the others."""
    found = np.zeros((len(cells), tokens), np.int32)
    every = np.concatenate([mine + who * tokens * types for who, mine in enumerate(cells)])
    key, kind = np.divmod(every, types)
    opens = np.flatnonzero(np.diff(key, prepend=-1))
    size = np.diff(opens, append=len(key))
    # Sets of types are numbered from their first on, so that equal sets have equal numbers, whoever gave them.
    code = kind[opens]
    number = types
    for step in range(1, int(size.max(initial=0))):
        more = np.flatnonzero(size > step)
        joined = code[more] * types + kind[opens[more] + step]
        distinct, place = np.unique(joined, return_inverse=True)
        code[more] = number + place
        number += len(distinct)
    used, place = np.unique(code, return_inverse=True)
    found.reshape(-1)[key[opens]] = place + 1
    return found, len(used)


def _by_document(chosen: NDArray[np.bool_], first: Int64) -> Int64:
    """Return how many tokens of each document are chosen."""
    reached: Int64 = np.concatenate((np.zeros(1, np.int64), np.cumsum(chosen, dtype=np.int64)))
    found: Int64 = reached[first[1:]] - reached[first[:-1]]
    return found


def _by_type(
    cells: Sequence[Int64], types: tuple[str, ...], doc: Int64, sizes: NDArray[np.int32]
) -> Mapping[str, TokenCounts]:
    number, documents = max(1, len(types)), len(sizes)

    def counted(some: Int64) -> NDArray[np.int32]:
        token, kind = np.divmod(some, number)
        table = np.bincount(kind * documents + doc[token], minlength=number * documents)
        return table.reshape(number, documents).astype(np.int32)

    alone = np.array([counted(mine) for mine in cells])
    pairs = pairs_of(len(cells))
    agreed = np.empty((len(pairs), number, documents), np.int32)
    for place, (one, other) in enumerate(pairs):
        both = counted(np.intersect1d(cells[one], cells[other], assume_unique=True))
        agreed[place] = sizes - alone[one] - alone[other] + 2 * both
    return {name: TokenCounts(sizes, agreed[:, code], alone[:, code : code + 1]) for code, name in enumerate(types)}
