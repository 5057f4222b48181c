"""Agreement on tokens: observed agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha.

A token's category is the set of types whose spans share a character with it, so that nested spans of two types make a
category of their own, and so does no type at all. For a single type there are two categories: in a span of it, or not.

Where not all annotators saw all documents, alpha counts the values of those who saw a document; a document that fewer
than two saw has no pair of values and does not count (Krippendorff 2011, missing values).

Counts may have any last axis (documents, resamples): one figure comes out for each place of it, NaN where undefined.

Cohen 1960, A coefficient of agreement for nominal scales; Fleiss 1971, Measuring nominal scale agreement among many
raters; Krippendorff 2011, Computing Krippendorff's alpha-reliability (nominal).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from nereval_core.corpus import Intervals, Layer
from nereval_core.corpus.arrays import Array, Bools, Float64, Int32, Int64
from nereval_core.scoring.token_counting import token_cells

AnnotatorPairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """Counts that kappa and alpha are computed from; sums of them over documents are such counts too.

    The last axis is documents (or resamples): `tokens` has the shape (n,), `agreed` (pairs, n) counts tokens with the
    same category from both annotators, `categories` (annotators, categories, n) tokens of each category but "no type".
    """

    tokens: Array
    agreed: Array
    categories: Array

    @property
    def annotators(self) -> int:
        return len(self.categories)

    @property
    def pairs(self) -> AnnotatorPairs:
        return annotator_pairs(self.annotators)

    def rows(self) -> Array:
        """Return all counts as rows, shape (rows, n)."""
        return np.concatenate((self.tokens[None], self.agreed, self.categories.reshape(-1, self.tokens.shape[-1])))

    def of_rows(self, rows: Array) -> TokenCounts:
        """Return counts from rows such as `rows` gives, whose last axis may have another length."""
        stop = 1 + len(self.agreed)
        shape = (*self.categories.shape[:2], rows.shape[-1])
        return replace(self, tokens=rows[0], agreed=rows[1:stop], categories=rows[stop:].reshape(shape))

    def of_pair(self, pair: tuple[int, int]) -> TokenCounts:
        """Return the counts of two of the annotators."""
        number = self.pairs.index(pair)
        return TokenCounts(self.tokens, self.agreed[number : number + 1], self.categories[list(pair)])


@dataclass(frozen=True, eq=False)
class PairableCounts:
    """Counts that alpha is computed from where not all annotators saw all documents; sums of them are such counts too.

    `numbers` are the different numbers of annotators who saw a document. Over documents (or resamples) `rows`, shape
    (1 + categories + numbers, n), has the values of all annotators, those of each category but "no type", and for each
    of `numbers` the pairs of equal values in the documents that so many saw.
    """

    numbers: tuple[int, ...]
    rows: Array

    def alpha(self, rows: Array) -> Float64:
        """Return alpha from such rows or sums of them, shape (n,)."""
        stop = len(rows) - len(self.numbers)
        values, categories, agreed = rows[0], rows[1:stop], rows[stop:]
        whole = np.concatenate((categories, (values - categories.sum(axis=0))[None]))
        return krippendorff_alpha(weigh_pairs(agreed, self.numbers), whole)


def pairable_counts(counts: TokenCounts, saw: Bools) -> PairableCounts:
    """Return the values of those who saw a document, and their pairs of equal values.

    `saw` tells which annotators saw which documents, shape (annotators, documents), at least two each. Annotators have
    no span in a document that they did not see.
    """
    both = np.array([saw[first] & saw[second] for first, second in counts.pairs])
    numbers, agreed = split_by_number((counts.agreed * both).sum(axis=0, dtype=np.int64), saw)
    values = counts.tokens.astype(np.int64) * saw.sum(axis=0)
    return PairableCounts(numbers, np.concatenate((values[None], counts.categories.sum(axis=0), agreed)))


def split_by_number(counts: Int64, who_saw: Bools) -> tuple[tuple[int, ...], Int64]:
    """Return the numbers of annotators who saw a document, and counts by these: (documents,) to (numbers, documents).

    Pairs of annotators are weighted by these numbers, but counts stay integers that can be summed.
    """
    saw = who_saw.sum(axis=0)
    numbers = np.unique(saw[saw > 1])
    return tuple(numbers.tolist()), np.where(saw == numbers[:, None], counts, 0)


def weigh_pairs(counts: Array, numbers: Sequence[int]) -> Float64:
    """Return the sum over m of `numbers` of 2 / (m - 1) times the counts of pairs, shape (numbers, n) to (n,).

    Each pair counts in both orders, divided by m - 1 as in `krippendorff_alpha`.
    """
    weights = 2 / (np.array(numbers, np.float64) - 1)
    sums: Float64 = weights @ np.asarray(counts, np.float64)
    return sums


def annotator_pairs(annotators: int) -> AnnotatorPairs:
    """Return the pairs of annotators by number, the lower first."""
    return tuple(combinations(range(annotators), 2))


def token_coefficients(counts: TokenCounts) -> dict[str, Float64]:
    """Return observed agreement, kappa (Cohen's of two annotators, Fleiss' of more) and alpha, each of shape (n,).

    Observed agreement of more than two is the mean over their pairs.
    """
    annotators = counts.annotators
    untyped = counts.tokens - counts.categories.sum(axis=1)
    categories = np.concatenate((counts.categories, untyped[:, None]), axis=1)
    agreed, whole = counts.agreed.sum(axis=0), categories.sum(axis=0)
    if annotators == 2:
        kappa = cohen_kappa(agreed, counts.tokens, categories[0], categories[1])
    else:
        kappa = fleiss_kappa(agreed, counts.tokens, whole, annotators)
    return {
        "observed": ratio_or_nan(agreed, counts.tokens * len(counts.pairs)),
        "kappa": kappa,
        "alpha": krippendorff_alpha(agreed * (2 / (annotators - 1)), whole),
    }


def count_tokens(
    layers: Sequence[Layer], types: tuple[str, ...], tokens: Intervals
) -> tuple[TokenCounts, Mapping[str, TokenCounts]]:
    """Count the tokens of layers over the same documents, of all types together and of each type.

    `types` must be sorted and hold those of all layers.
    """
    number = max(1, len(types))
    cells = [token_cells(layer, layer.type_codes(types), number, tokens) for layer in layers]
    sizes = np.diff(tokens.first).astype(np.int32)
    doc = np.repeat(np.arange(len(sizes)), sizes)
    return _count_all_types(cells, number, doc, tokens.first), _count_each_type(cells, types, doc, sizes)


def _count_all_types(cells: Sequence[Int64], types: int, doc: Int64, first: Int64) -> TokenCounts:
    categories, number = _token_categories(cells, types, len(doc))
    documents = len(first) - 1
    counts = np.zeros((len(cells), number, documents), np.int32)
    for mine, row in zip(counts, categories, strict=True):
        in_row = np.flatnonzero(row)
        key = (row[in_row] - 1).astype(np.int64) * documents + doc[in_row]
        mine[:] = np.bincount(key, minlength=number * documents).reshape(number, documents)
    agreed = [
        _document_sums(categories[left] == categories[right], first) for left, right in annotator_pairs(len(cells))
    ]
    return TokenCounts(np.diff(first).astype(np.int32), np.array(agreed, np.int32).reshape(-1, documents), counts)


def _token_categories(cells: Sequence[Int64], types: int, tokens: int) -> tuple[Int32, int]:
    """Return the category of each token by annotator, 0 for no type, and the number of other categories."""
    categories = np.zeros((len(cells), tokens), np.int32)
    cells_of_all = np.concatenate([mine + who * tokens * types for who, mine in enumerate(cells)])
    key, kind = np.divmod(cells_of_all, types)
    opens = np.flatnonzero(np.diff(key, prepend=-1))
    size = np.diff(opens, append=len(key))
    # A set of types is numbered type by type from its first, so that equal sets of all annotators share a number.
    code = kind[opens]
    number = types
    for step in range(1, int(size.max(initial=0))):
        more = np.flatnonzero(size > step)
        joined = code[more] * types + kind[opens[more] + step]
        distinct, place = np.unique(joined, return_inverse=True)
        code[more] = number + place
        number += len(distinct)
    used, place = np.unique(code, return_inverse=True)
    categories.reshape(-1)[key[opens]] = place + 1
    return categories, len(used)


def _document_sums(is_counted: Bools, first: Int64) -> Int64:
    """Return the number of chosen tokens in each document."""
    reached: Int64 = np.concatenate((np.zeros(1, np.int64), np.cumsum(is_counted, dtype=np.int64)))
    sums: Int64 = reached[first[1:]] - reached[first[:-1]]
    return sums


def _count_each_type(
    cells: Sequence[Int64], types: tuple[str, ...], doc: Int64, sizes: Int32
) -> Mapping[str, TokenCounts]:
    number, documents = max(1, len(types)), len(sizes)

    def counted(spans: Int64) -> Int32:
        token, kind = np.divmod(spans, number)
        table = np.bincount(kind * documents + doc[token], minlength=number * documents)
        return table.reshape(number, documents).astype(np.int32)

    alone = np.array([counted(mine) for mine in cells])
    pairs = annotator_pairs(len(cells))
    agreed = np.empty((len(pairs), number, documents), np.int32)
    for place, (first, second) in enumerate(pairs):
        both = counted(np.intersect1d(cells[first], cells[second], assume_unique=True))
        agreed[place] = sizes - alone[first] - alone[second] + 2 * both
    return {name: TokenCounts(sizes, agreed[:, code], alone[:, code : code + 1]) for code, name in enumerate(types)}


def ratio_or_nan(part: Array, whole: Array) -> Float64:
    """Return part / whole, NaN where the whole is 0."""
    top, bottom = np.broadcast_arrays(np.asarray(part, np.float64), np.asarray(whole, np.float64))
    ratios = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=ratios, where=bottom != 0)
    return ratios


def cohen_kappa(agreed: Array, units: Array, counts: Array, other_counts: Array) -> Float64:
    """Return Cohen's kappa of two annotators who give the same category to `agreed` of all `units`.

    `counts` and `other_counts` are the numbers of units in each category, shape (categories, n). Kappa is undefined
    where both annotators give a single category to all units.
    """
    whole = np.asarray(units, np.float64)
    expected = (np.asarray(counts, np.float64) * other_counts).sum(axis=0)
    return ratio_or_nan(whole * agreed - expected, whole**2 - expected)


def fleiss_kappa(agreed: Array, units: Array, categories: Array, annotators: int) -> Float64:
    """Return Fleiss' kappa; `agreed` is summed over all pairs of annotators, `categories` over all annotators.

    Kappa is undefined where only one category is used. Of two annotators it is Scott's pi.
    """
    whole = np.asarray(units, np.float64)
    observed = ratio_or_nan(agreed, whole * (annotators * (annotators - 1) / 2))
    values = np.asarray(categories, np.float64)
    expected = (values**2).sum(axis=0)
    # All is multiplied by the square of all values, so that a single category is recognised exactly.
    square = (annotators * whole) ** 2
    return ratio_or_nan(observed * square - expected, square - expected)


def krippendorff_alpha(agreeing: Array, categories: Array) -> Float64:
    """Return Krippendorff's alpha for nominal data.

    A unit with m values adds to `agreeing` the ordered pairs of equal values among them, divided by m - 1. `categories`
    count the values of units with at least two. Alpha is undefined where only one category is used.
    """
    values = np.asarray(categories, np.float64)
    number = values.sum(axis=0)
    expected = number * (number - 1) - (values * (values - 1)).sum(axis=0)
    return 1 - ratio_or_nan((number - agreeing) * (number - 1), expected)
