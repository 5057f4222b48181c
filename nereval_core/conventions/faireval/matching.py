"""The pairs of the fair evaluation, one error at a time: its steps are those of the package's docstring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from nereval_core.alignment.candidates import overlap_blocks
from nereval_core.conventions.records import SharedTypes, at, reading_order
from nereval_core.conventions.token_places import TokenPlaces
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Bools, Int64

CLASSES = ("TP", "LE", "BES", "BEL", "BEO", "LBE", "FN", "FP")
TP, LE, BES, BEL, BEO, LBE, FN, FP = range(len(CLASSES))
FILLERS = ("EMPTY", "NONE")
BLOCK = 1 << 21
"""Overlapping pairs that are looked at together."""


class FairMatches(NamedTuple):
    """Rows of the fair evaluation: an index into CLASSES, and the numbers of the spans, -1 for none."""

    error: Int64
    gold: Int64
    pred: Int64

    def by_span(self, gold: Layer, pred: Layer) -> FairMatches:
        """Return the rows of spans in reading order with the numbers that spans have in their layers."""
        sides = ((reading_order(gold), self.gold), (reading_order(pred), self.pred))
        return FairMatches(self.error, *(np.where(units >= 0, at(order, units), -1) for order, units in sides))


class TokenSpans(NamedTuple):
    """The spans of one side, in reading order: `TokenPlaces`, and the label's number."""

    first: Int64
    last: Int64
    kind: Int64
    parts: dict[int, frozenset[int]]

    def tokens(self, span: int) -> frozenset[int]:
        return self.parts.get(span) or frozenset(range(int(self.first[span]), int(self.last[span]) + 1))

    @classmethod
    def of_layer(cls, layer: Layer, kind: Int64) -> TokenSpans:
        order = reading_order(layer)
        places = TokenPlaces.of_layer(layer)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        parts = {int(rank[span]): tokens for span, tokens in places.parts.items()}
        return cls(places.first[order], places.last[order], kind, parts)


class PairedSides(NamedTuple):
    """Both sides in reading order, with the types that their kinds are indices into, and the rows that pair them."""

    gold: TokenSpans
    pred: TokenSpans
    types: Sequence[str]
    matches: FairMatches

    @classmethod
    def of_layers(cls, gold: Layer, pred: Layer) -> PairedSides:
        """Pair the spans of two layers over the same documents.

        Raises:
            FormatError: spans that do not fit the tokens.
        """
        shared = SharedTypes.of_layers(gold, pred)
        sides = TokenSpans.of_layer(gold, shared.gold), TokenSpans.of_layer(pred, shared.pred)
        return cls(*sides, shared.types, fair_matches(*sides, shared.types))


def is_filler(kind: Int64, types: Sequence[str]) -> Bools:
    return np.isin(kind, [code for code, name in enumerate(types) if name in FILLERS])


def token_keys(gold: TokenSpans, pred: TokenSpans) -> tuple[Int64, Int64]:
    """Return a number for each span: the same for the same label, first and last token, and tokens."""
    shapes: dict[frozenset[int], int] = {}
    shape = np.zeros(len(gold.kind) + len(pred.kind), np.int64)
    for side, shift in ((gold, 0), (pred, len(gold.kind))):
        for span, tokens in side.parts.items():
            # Fragments without a gap between them are a whole span.
            if len(tokens) <= side.last[span] - side.first[span]:
                shape[span + shift] = shapes.setdefault(tokens, len(shapes) + 1)
    key = shape
    for column in (np.concatenate((getattr(gold, name), getattr(pred, name))) for name in ("first", "last", "kind")):
        key = np.unique(key, return_inverse=True)[1] * (int(column.max(initial=0)) + 1) + column
    return key[: len(gold.kind)], key[len(gold.kind) :]


def fair_matches(gold: TokenSpans, pred: TokenSpans, types: Sequence[str]) -> FairMatches:
    """Pair spans as the fair evaluation does; fillers are left out."""
    free = [~is_filler(side.kind, types) for side in (gold, pred)]
    equal = _equal_pairs(*token_keys(gold, pred), *free)
    free[0][equal[0]] = free[1][equal[1]] = False
    labels = _pair_columns(_label_errors(gold, pred, free))
    links = _overlapping_pairs(gold, pred, free)
    apart = links[:, _are_apart(links, len(gold.kind), len(pred.kind))]
    free[0][apart[0]] = free[1][apart[1]] = False
    crowded = links[:, free[0][links[0]] & free[1][links[1]]]
    boundaries = np.concatenate((apart, _pair_columns(_BoundaryErrors(gold, pred, free, crowded).pair_all())), axis=1)
    alone = [np.flatnonzero(each) for each in free]
    none = [np.full(len(units), -1) for units in alone]
    errors = (
        *(np.full(len(equal[0]), TP), np.full(len(labels[0]), LE), _boundary_errors(gold, pred, *boundaries)),
        *(np.full(len(alone[0]), FN), np.full(len(alone[1]), FP)),
    )
    return FairMatches(
        np.concatenate(errors),
        np.concatenate((equal[0], labels[0], boundaries[0], alone[0], none[1])),
        np.concatenate((equal[1], labels[1], boundaries[1], none[0], alone[1])),
    )


def _pair_columns(pairs: Sequence[tuple[int, int]]) -> Int64:
    """Return pairs as two rows: gold spans, and predictions."""
    return np.array(pairs, np.int64).reshape(-1, 2).T


def _equal_pairs(gold_key: Int64, pred_key: Int64, gold_free: Bools, pred_free: Bools) -> tuple[Int64, Int64]:
    """Return the pairs of equal spans: the first gold span of a key with its first prediction, and so on."""
    sides = []
    for key, is_free in ((gold_key, gold_free), (pred_key, pred_free)):
        units = np.flatnonzero(is_free)
        order = units[np.argsort(key[units], kind="stable")]
        by_key = key[order]
        rank = np.arange(len(order)) - np.searchsorted(by_key, by_key)
        sides.append((order, by_key, rank))
    (gold_order, gold_keys, gold_rank), (pred_order, pred_keys, pred_rank) = sides
    width = max(len(gold_key), len(pred_key)) + 1
    numbers = np.unique(np.concatenate((gold_keys, pred_keys)), return_inverse=True)[1]
    g = numbers[: len(gold_keys)] * width + gold_rank
    p = numbers[len(gold_keys) :] * width + pred_rank
    _, on_gold, on_pred = np.intersect1d(g, p, assume_unique=True, return_indices=True)
    order = np.argsort(gold_order[on_gold], kind="stable")
    return gold_order[on_gold][order], pred_order[on_pred][order]


def _label_errors(gold: TokenSpans, pred: TokenSpans, free: Sequence[Bools]) -> list[tuple[int, int]]:
    """Pair gold spans with the first free prediction of the same ends and another label."""
    longest = 1 + max(int((side.last - side.first).max(initial=0)) for side in (gold, pred))
    places = tuple(side.first * longest + side.last - side.first for side in (gold, pred))
    golds, preds = (
        np.flatnonzero(free[side] & np.isin(places[side], places[1 - side][free[1 - side]])) for side in (0, 1)
    )
    of_place: dict[int, list[int]] = {}
    for place, p in zip(places[1][preds].tolist(), preds.tolist(), strict=True):
        of_place.setdefault(place, []).append(p)
    rows = []
    for place, g in zip(places[0][golds].tolist(), golds.tolist(), strict=True):
        p = next((p for p in of_place[place] if pred.kind[p] != gold.kind[g]), -1)
        if p >= 0:
            of_place[place].remove(p)
            free[0][g] = free[1][p] = False
            rows.append((g, p))
    return rows


def _overlapping_pairs(gold: TokenSpans, pred: TokenSpans, free: Sequence[Bools]) -> Int64:
    """Return the free gold spans and predictions that overlap with other ends, shape (2, pairs)."""
    g, p = (
        units[np.argsort(side.first[units], kind="stable")]
        for side, units in ((gold, np.flatnonzero(free[0])), (pred, np.flatnonzero(free[1])))
    )
    blocks = [np.zeros((2, 0), np.int64)]
    for rows, columns in overlap_blocks(gold.first[g], gold.last[g] + 1, pred.first[p], pred.last[p] + 1, BLOCK):
        pairs = np.stack((g[rows], p[columns]))
        differ = (gold.first[pairs[0]] != pred.first[pairs[1]]) | (gold.last[pairs[0]] != pred.last[pairs[1]])
        blocks.append(pairs[:, differ])
    return np.concatenate(blocks, axis=1)


def _are_apart(links: Int64, n_gold: int, n_pred: int) -> Bools:
    """Tell which pairs overlap nothing else: each is an error, whatever the order of the steps."""
    numbers = np.bincount(links[0], minlength=n_gold)[links[0]], np.bincount(links[1], minlength=n_pred)[links[1]]
    is_apart: Bools = (numbers[0] == 1) & (numbers[1] == 1)
    return is_apart


def _boundary_errors(gold: TokenSpans, pred: TokenSpans, g: Int64, p: Int64) -> Int64:
    """Return the class of each pair that overlaps with other ends."""
    before, after = pred.first[p] <= gold.first[g], pred.last[p] >= gold.last[g]
    within = (pred.first[p] >= gold.first[g]) & (pred.last[p] <= gold.last[g])
    same_label = gold.kind[g] == pred.kind[p]
    return np.select([~same_label, within, before & after], [LBE, BES, BEL], BEO).astype(np.int64)


class _BoundaryErrors:
    """Pairs the spans that are left over with overlapping ones, first those of the same label.

    `links` are the free spans that overlap, shape (2, pairs).
    """

    def __init__(self, gold: TokenSpans, pred: TokenSpans, free: Sequence[Bools], links: Int64) -> None:
        self.sides = (gold, pred)
        self.free = free
        self.pairs: list[tuple[int, int]] = []
        self.links: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})
        for pair in links.T.tolist():
            for side in (0, 1):
                self.links[side].setdefault(pair[side], []).append(pair[1 - side])
        self.free_tokens = tuple(
            {span: set(side.tokens(span)) for span in of} for side, of in zip(self.sides, self.links, strict=True)
        )
        self.order = tuple(sorted(of, key=by_length(side)) for side, of in zip(self.sides, self.links, strict=True))
        self.place = tuple({span: place for place, span in enumerate(order)} for order in self.order)
        self.paired: tuple[dict[int, int], dict[int, int]] = ({}, {})
        """The spans that are in an error already, with the order in which they came into one."""

    def pair_all(self) -> list[tuple[int, int]]:
        """Return the gold span and the prediction of each error."""
        for same_label in (True, False):
            self._pair(0, same_label, again=False)
            self._pair(0, same_label, again=True)
            self._pair(1, same_label, again=True)
        return self.pairs

    def _pair(self, side: int, same_label: bool, *, again: bool) -> None:
        """Give each free span of a side the most similar one of the other; `again`: one that is in an error already."""
        own, other = self.sides[side], self.sides[1 - side]
        for span in self.order[side]:
            if not self.free[side][span]:
                continue
            tokens = self.free_tokens[side][span]
            listed = [
                other_span
                for other_span in self.links[side][span]
                if (own.kind[span] == other.kind[other_span]) == same_label
                and (
                    other_span in self.paired[1 - side]
                    and not tokens.isdisjoint(self.free_tokens[1 - side][other_span])
                    if again
                    else self.free[1 - side][other_span]
                )
            ]
            if listed:
                place = self.paired[1 - side] if again else self.place[1 - side]
                distances = [self._distance(side, span, other_span, place) for other_span in listed]
                self._decide(side, span, listed[distances.index(min(distances))])

    def _distance(self, side: int, span: int, other_span: int, place: Mapping[int, int]) -> tuple[int, ...]:
        tokens, others = self.free_tokens[side][span], self.free_tokens[1 - side][other_span]
        shared = len(tokens & others)
        other = self.sides[1 - side]
        return (
            -shared,
            len(tokens) - shared,
            len(others) - shared,
            int(other.last[other_span] - other.first[other_span]),
            place[other_span],
        )

    def _decide(self, side: int, span: int, other_span: int) -> None:
        g, p = (span, other_span) if side == 0 else (other_span, span)
        self.pairs.append((g, p))
        for at_side, unit in ((1 - side, other_span), (side, span)):
            self.free[at_side][unit] = False
            self.paired[at_side].setdefault(unit, len(self.paired[at_side]))
        shared = self.free_tokens[0][g] & self.free_tokens[1][p]
        self.free_tokens[0][g] -= shared
        self.free_tokens[1][p] -= shared


def by_length(side: TokenSpans) -> Callable[[int], tuple[int, int]]:
    """Return the key that sorts spans by length, those of one length in reading order."""
    return lambda span: (int(side.last[span] - side.first[span]), span)
