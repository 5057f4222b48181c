"""Counting by token: distinct (token, type) on both sides, in gold only, predicted only; Tsai et al. 2006.

A token is in a span if they share a character. The results are token runs: adjacent tokens of one document with the
same type and decision, as layers whose spans are the runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import Decision, ranges
from nereval_core.corpus import Intervals, Layer, frozen
from nereval_core.corpus.arrays import Int32, Int64


@dataclass(frozen=True, slots=True)
class Runs:
    """One side's token runs: `layer` of them, and by run its `tokens`, its decision and its run on the other side.

    `partners` is the index of the same run there, -1 where it is on this side only.
    """

    layer: Layer
    tokens: Int64
    decisions: NDArray[np.uint8]
    partners: Int32


@dataclass(frozen=True, slots=True)
class TokenRuns:
    """Both sides' runs; those that are correct are the same on both."""

    gold: Runs
    pred: Runs


def token_runs(
    gold: Layer,
    pred: Layer,
    types: tuple[str, ...],
    codes: tuple[NDArray[Any], NDArray[Any]],
    tokens: Intervals,
) -> TokenRuns:
    """Count the tokens of two layers; `codes` are their spans' types as indices into the sorted `types`."""
    cells = [token_cells(layer, code, len(types), tokens) for layer, code in zip((gold, pred), codes, strict=True)]
    sides = []
    for layer, mine, other, alone in (
        (gold, cells[0], cells[1], Decision.MIS),
        (pred, cells[1], cells[0], Decision.SPU),
    ):
        decision = np.where(np.isin(mine, other, assume_unique=True), Decision.COR, alone).astype(np.uint8)
        sides.append(_runs(layer, types, mine, decision, tokens))
    correct = [np.flatnonzero(side.decisions == Decision.COR) for side in sides]
    sides[0].partners[correct[0]] = correct[1]
    sides[1].partners[correct[1]] = correct[0]
    return TokenRuns(sides[0], sides[1])


def token_cells(layer: Layer, code: NDArray[Any], types: int, tokens: Intervals) -> Int64:
    """Return the distinct tokens of a layer by type, as token * types + type, sorted."""
    plain = np.ones(len(layer), bool)
    plain[list(layer.fragments)] = False
    whole = np.flatnonzero(plain)
    doc, low, high, kind = [layer.doc[whole]], [layer.start[whole]], [layer.end[whole]], [code[whole]]
    for span, parts in layer.fragments.items():
        edge = np.array(parts, np.int32)
        doc.append(np.full(len(parts), layer.doc[span], layer.doc.dtype))
        low.append(edge[:, 0])
        high.append(edge[:, 1])
        kind.append(np.full(len(parts), code[span], code.dtype))
    docs = np.concatenate(doc)
    # A token shares a character with a fragment if it ends after its start and starts before its end.
    first = _beyond(tokens.ends, tokens.first, docs, np.concatenate(low))
    last = _beyond(tokens.starts, tokens.first, docs, np.concatenate(high) - 1)
    row, token = ranges(first, np.maximum(first, last))
    cells: Int64 = token * types + np.concatenate(kind)[row]
    # Spans come in the order of their tokens, nearly: this sort finds that out, np.unique does not.
    cells.sort(kind="stable")
    new = np.ones(len(cells), bool)
    new[1:] = cells[1:] != cells[:-1]
    distinct: Int64 = cells[new]
    return distinct


def _beyond(edges: Int32, first: Int64, doc: Int32, places: Int32) -> Int64:
    """Return, for places in documents, the first token of the document whose edge lies beyond, or its end.

    Only the tokens of that document are searched: there may be many times more tokens than spans.
    """
    low, high = first[doc], first[doc + 1]
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) >> 1
        # Where the search is over, low is high, and may be the end of all tokens.
        within = edges.take(middle, mode="clip") <= places
        within &= low < high
        low = np.where(within, middle + 1, low)
        high = np.where(within, high, middle)
    return low


def _runs(
    layer: Layer,
    types: tuple[str, ...],
    cells: Int64,
    decision: NDArray[np.uint8],
    tokens: Intervals,
) -> Runs:
    # Both sides together may have more types than int16 can number.
    number = np.int16 if len(types) <= np.iinfo(np.int16).max else np.int32
    count = max(1, len(types))
    kind: NDArray[Any] = (cells % count).astype(number)
    turn = np.argsort(kind, kind="stable")
    kind, token, decision = kind[turn], cells[turn] // count, decision[turn]
    doc = np.searchsorted(tokens.first, token, side="right") - 1
    opens = np.ones(len(cells), bool)
    opens[1:] = np.diff(token) != 1
    for column in (kind, doc, decision):
        opens[1:] |= column[1:] != column[:-1]
    first = np.flatnonzero(opens)
    size = np.diff(np.append(first, len(cells)))
    last = first + size - 1
    start = tokens.starts[token[first]] if len(first) else np.zeros(0, np.int32)
    end = tokens.ends[token[last]] if len(first) else np.zeros(0, np.int32)
    order = np.lexsort((kind[first], token[last], token[first]))
    runs = Layer(
        layer.name,
        layer.documents,
        frozen(doc[first][order].astype(np.int32)),
        frozen(start[order]),
        frozen(end[order]),
        frozen(kind[first][order]),
        types,
    )
    return Runs(runs, size[order].astype(np.int64), decision[first][order], np.full(len(first), -1, np.int32))
