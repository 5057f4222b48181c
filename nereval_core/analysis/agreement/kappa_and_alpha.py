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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nereval_core.corpus import Intervals, Layer
from nereval_core.corpus.arrays import Array, Bools, Float64, Int32, Int64, edges_of
from nereval_core.scoring.token_counting import token_cells

AnnotatorPairs = tuple[tuple[int, int], ...]
ROWS_AT_ONCE = 24
"""Categories times annotators whose counts are in memory together; the fewer, the fewer documents have one of them."""


@dataclass(frozen=True, eq=False)
class CategoryCounts:
    """Tokens of each category but "no type" by annotator and document: tables are made of few categories at a time.

    `category` and `doc` have an entry for each token of a category, sorted by category, one array an annotator.
    """

    number: int
    category: tuple[Int64, ...]
    doc: tuple[Int64, ...]
    documents: int

    @property
    def n_tables(self) -> int:
        return -(-max(self.number, 1) // self._step)

    @property
    def _step(self) -> int:
        return max(1, ROWS_AT_ONCE // len(self.doc))

    def tables(self) -> Iterator[Int32]:
        """Yield the counts of some categories after another, shape (annotators, categories, documents).

        There is one table at least, of no categories where there are none.
        """
        for low in range(0, max(self.number, 1), self._step):
            size = min(self._step, self.number - low)
            table = np.zeros((len(self.doc), size * self.documents), np.int32)
            for row, category, doc in zip(table, self.category, self.doc, strict=True):
                first, last = np.searchsorted(category, (low, low + size))
                cell = (category[first:last] - low) * self.documents + doc[first:last]
                row += np.bincount(cell, minlength=len(row)).astype(np.int32)
            yield table.reshape(len(table), size, self.documents)


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """Counts by document that kappa and alpha are computed from.

    `tokens` has the shape (documents,), `differing` (pairs, documents) counts tokens with different categories from two
    annotators, which are few for a type that is in few documents.
    """

    tokens: Array
    differing: Array
    categories: CategoryCounts

    def blocks(self) -> Iterator[Array]:
        """Yield the counts as rows, shape (rows, documents): tokens, differing and first categories, then others."""
        head = [self.tokens[None], self.differing]
        for table in self.categories.tables():
            yield np.concatenate((*head, *table))
            head = []

    def product_sums(self) -> ProductSums:
        """Return what adds up products of `blocks`."""
        return ProductSums(len(self.differing), len(self.categories.doc))

    def by_document(self) -> TokenProducts:
        """Return the products of each document."""
        sums = self.product_sums()
        for block in self.blocks():
            sums.add(block)
        return sums.finish()


@dataclass(frozen=True, eq=False)
class TokenProducts:
    """Sums over categories, with "no type", from which kappa and alpha follow: for documents, or samples of them.

    `tokens` has the shape (n,), `differing` (pairs, n), `squares` (annotators, n) are the sums of squares of an
    annotator's counts, `crossed` (pairs, n) those of products of two annotators' counts.
    """

    tokens: Float64
    differing: Float64
    squares: Float64
    crossed: Float64

    def of_pair(self, pair: tuple[int, int]) -> TokenProducts:
        """Return the products of two of the annotators."""
        first, second = pair
        # Its place in `annotator_pairs`: a search for each pair would take the square of their number.
        number = first * (2 * len(self.squares) - first - 1) // 2 + second - first - 1
        row = slice(number, number + 1)
        return TokenProducts(self.tokens, self.differing[row], self.squares[list(pair)], self.crossed[row])


class ProductSums:
    """Products of counts that are added up over blocks of categories.

    The first block begins with tokens and `n_differing` further rows. Whole numbers below 2 to the power of 53 are
    exact, in whatever order they are summed.
    """

    def __init__(self, n_differing: int, annotators: int) -> None:
        self._n_head = 1 + n_differing
        self._annotators, self._pairs = annotators, annotator_pairs(annotators)
        self._head: Float64 | None = None

    def add(self, block: Array) -> None:
        """Add a block of counts of documents, or of sums of them, shape (rows, n)."""
        rows = block.astype(np.float64)
        n = rows.shape[-1]
        if self._head is None:
            self._head, rows = rows[: self._n_head], rows[self._n_head :]
            self._typed = np.zeros((self._annotators, n))
            self._squares, self._crossed = np.zeros((self._annotators, n)), np.zeros((len(self._pairs), n))
        counts = rows.reshape(self._annotators, len(rows) // self._annotators, n)
        self._typed += counts.sum(axis=1)
        self._add_products(counts)

    def finish(self) -> TokenProducts:
        """Return the products, to which those of tokens without a type are added."""
        assert self._head is not None
        self._add_products((self._head[0] - self._typed)[:, None])
        return TokenProducts(self._head[0], self._head[1:], self._squares, self._crossed)

    def _add_products(self, counts: Float64) -> None:
        """Add products of counts, shape (annotators, categories, n)."""
        self._squares += np.square(counts).sum(axis=1)
        for row, (left, right) in zip(self._crossed, self._pairs, strict=True):
            row += (counts[left] * counts[right]).sum(axis=0)


@dataclass(frozen=True, eq=False)
class PairableCounts:
    """Counts by document that alpha is computed from where not all annotators saw all documents.

    `numbers` are the different numbers of annotators who saw a document, `values` those of all annotators, and `agreed`
    has for each of `numbers` the pairs of equal values in the documents that so many saw, shape (numbers, documents).
    """

    numbers: tuple[int, ...]
    values: Int64
    agreed: Int64
    categories: CategoryCounts

    def blocks(self) -> Iterator[Array]:
        """Yield the counts as rows, shape (rows, documents): values, agreed and first categories, then others."""
        head = [self.values[None], self.agreed]
        for table in self.categories.tables():
            yield np.concatenate((*head, table.sum(axis=0)))
            head = []

    def product_sums(self) -> ProductSums:
        """Return what adds up products of `blocks`."""
        return ProductSums(len(self.numbers), 1)

    def alpha(self, products: TokenProducts) -> Float64:
        """Return alpha from products of `blocks`, shape (n,)."""
        agreeing = weigh_pairs(products.differing, self.numbers)
        return krippendorff_alpha(agreeing, products.tokens, products.squares[0])


def pairable_counts(counts: TokenCounts, saw: Bools) -> PairableCounts:
    """Return the values of those who saw a document, and their pairs of equal values.

    `saw` tells which annotators saw which documents, shape (annotators, documents), at least two each. Annotators have
    no span in a document that they did not see.
    """
    both = np.array([saw[first] & saw[second] for first, second in annotator_pairs(len(saw))])
    numbers, agreed = split_by_number(((counts.tokens - counts.differing) * both).sum(axis=0, dtype=np.int64), saw)
    return PairableCounts(numbers, counts.tokens.astype(np.int64) * saw.sum(axis=0), agreed, counts.categories)


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


def token_coefficients(products: TokenProducts) -> dict[str, Float64]:
    """Return observed agreement, kappa (Cohen's of two annotators, Fleiss' of more) and alpha, each of shape (n,).

    Observed agreement of more than two is the mean over their pairs.
    """
    annotators, n_pairs = len(products.squares), len(products.crossed)
    agreed = products.tokens * n_pairs - products.differing.sum(axis=0)
    squares = products.squares.sum(axis=0) + 2 * products.crossed.sum(axis=0)
    if annotators == 2:
        kappa = cohen_kappa(agreed, products.tokens, products.crossed[0])
    else:
        kappa = fleiss_kappa(agreed, products.tokens, squares, annotators)
    return {
        "observed": ratio_or_nan(agreed, products.tokens * n_pairs),
        "kappa": kappa,
        "alpha": krippendorff_alpha(agreed * (2 / (annotators - 1)), products.tokens * annotators, squares),
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
    return _count_all_types(cells, number, doc, tokens.first), TypeTokens(types, cells, doc, sizes)


class TypeTokens(Mapping[str, TokenCounts]):
    """The counts of tokens of each type, made when they are asked for: few documents have one of many types."""

    def __init__(self, types: tuple[str, ...], cells: Sequence[Int64], doc: Int64, sizes: Int32) -> None:
        """Sort the tokens of each annotator by type; `cells` are token * types + type."""
        self._codes = {name: code for code, name in enumerate(types)}
        self._doc, self._sizes = doc, sizes
        self._tokens: list[Int64] = []
        self._edges: list[Int64] = []
        for mine in cells:
            token, kind = np.divmod(mine, max(1, len(types)))
            self._tokens.append(token[np.argsort(kind, kind="stable")])
            self._edges.append(edges_of(np.bincount(kind, minlength=len(types))))

    def __getitem__(self, name: str) -> TokenCounts:
        code = self._codes[name]
        tokens = [mine[edges[code] : edges[code + 1]] for mine, edges in zip(self._tokens, self._edges, strict=True)]
        documents = len(self._sizes)
        docs = tuple(self._doc[mine] for mine in tokens)
        pairs = annotator_pairs(len(tokens))
        differing = np.empty((len(pairs), documents), np.int32)
        for row, (left, right) in zip(differing, pairs, strict=True):
            one_sided = np.setxor1d(tokens[left], tokens[right], assume_unique=True)
            row[:] = np.bincount(self._doc[one_sided], minlength=documents)
        categories = CategoryCounts(1, tuple(np.zeros(len(mine), np.int64) for mine in docs), docs, documents)
        return TokenCounts(self._sizes, differing, categories)

    def __iter__(self) -> Iterator[str]:
        return iter(self._codes)

    def __len__(self) -> int:
        return len(self._codes)


def _count_all_types(cells: Sequence[Int64], types: int, doc: Int64, first: Int64) -> TokenCounts:
    categories, number = _token_categories(cells, types, len(doc))
    documents = len(first) - 1
    sorted_categories, docs = [], []
    for row in categories:
        typed = np.flatnonzero(row)
        order = typed[np.argsort(row[typed], kind="stable")]
        sorted_categories.append(row[order].astype(np.int64) - 1)
        docs.append(doc[order])
    differing = [
        _document_sums(categories[left] != categories[right], first) for left, right in annotator_pairs(len(cells))
    ]
    counts = CategoryCounts(number, tuple(sorted_categories), tuple(docs), documents)
    return TokenCounts(np.diff(first).astype(np.int32), np.array(differing, np.int32).reshape(-1, documents), counts)


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


def ratio_or_nan(part: Array, whole: Array) -> Float64:
    """Return part / whole, NaN where the whole is 0."""
    top, bottom = np.broadcast_arrays(np.asarray(part, np.float64), np.asarray(whole, np.float64))
    ratios = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=ratios, where=bottom != 0)
    return ratios


def cohen_kappa(agreed: Array, units: Array, crossed: Array) -> Float64:
    """Return Cohen's kappa of two annotators who give the same category to `agreed` of all `units`, shape (n,) each.

    `crossed` is the sum over categories of the product of both numbers of units in it. Kappa is undefined where both
    annotators give a single category to all units.
    """
    whole = np.asarray(units, np.float64)
    return ratio_or_nan(whole * agreed - crossed, whole**2 - crossed)


def fleiss_kappa(agreed: Array, units: Array, squares: Array, annotators: int) -> Float64:
    """Return Fleiss' kappa; `agreed` is summed over all pairs of annotators.

    `squares` is the sum over categories of the square of the values of all annotators in it. Kappa is undefined where
    only one category is used. Of two annotators it is Scott's pi.
    """
    whole = np.asarray(units, np.float64)
    observed = ratio_or_nan(agreed, whole * (annotators * (annotators - 1) / 2))
    # All is multiplied by the square of all values, so that a single category is recognised exactly.
    square = (annotators * whole) ** 2
    return ratio_or_nan(observed * square - squares, square - squares)


def krippendorff_alpha(agreeing: Array, number: Array, squares: Array) -> Float64:
    """Return Krippendorff's alpha for nominal data.

    A unit with m values adds to `agreeing` the ordered pairs of equal values among them, divided by m - 1. `number`
    counts the values of units with at least two, `squares` is the sum over categories of the square of the values in
    it. Alpha is undefined where only one category is used.
    """
    expected = number * (number - 1) - (squares - number)
    return 1 - ratio_or_nan((number - agreeing) * (number - 1), expected)
