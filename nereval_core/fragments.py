"""Counting by token: distinct (token, type) on both sides, in gold only, predicted only; Tsai et al. 2006.

A token is in a span if they share a character. What comes out are token runs: adjacent tokens of one document with the
same type and decision, as layers whose spans are the runs.
"""

from __future__ import annotations

import hashlib
import re
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment import Decision, ranges
from nereval_core.corpus import Documents, Intervals, Layer

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

WORD = re.compile(r"(\w+)|[^\w\s]")
"""A token where a document has none of its own: a run of word characters, or any other character but white space."""

_BLANK, _WORD, _OTHER = 0, 1, 2
_PIECE = 1 << 20
"""Characters whose tokens are found at once."""
_TOKENS: WeakKeyDictionary[Documents, Intervals] = WeakKeyDictionary()


def tokens_of(documents: Documents) -> Intervals:
    """Return the tokens of each document: its own, or, where it has none, those that WORD finds in its text."""
    if documents not in _TOKENS:
        _TOKENS[documents] = _tokens_of(documents)
    return _TOKENS[documents]


def _tokens_of(documents: Documents) -> Intervals:
    own = documents.tokens
    bare = np.arange(len(documents)) if own is None else np.flatnonzero(np.diff(own.first) == 0)
    if own is not None and not len(bare):
        return own
    columns = _found(documents, bare)
    if own is not None:
        doc = np.repeat(np.arange(len(documents)), np.diff(own.first))
        given = (doc, own.starts.astype(np.int64), own.ends.astype(np.int64))
        columns = tuple(np.concatenate(pair) for pair in zip(given, columns, strict=True))
        columns = tuple(column[np.lexsort((columns[1], columns[0]))] for column in columns)
    doc, starts, ends = columns
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(doc, minlength=len(documents)))))
    return Intervals(_frozen(first), _frozen(starts.astype(np.int32)), _frozen(ends.astype(np.int32)))


def _found(documents: Documents, numbers: Int64) -> tuple[Int64, ...]:
    """Return document, start and end of the tokens that WORD finds in some documents' texts."""
    found = [(np.zeros(0, np.int64),) * 3]
    lengths = np.cumsum(documents.lengths[numbers])
    at = 0
    while at < len(numbers):
        done = int(lengths[at - 1]) if at else 0
        stop = max(at + 1, int(np.searchsorted(lengths, done + _PIECE, side="right")))
        some = numbers[at:stop]
        begin = np.concatenate((np.zeros(1, np.int64), lengths[at:stop] - done))
        text = "".join(documents.texts[number] for number in some.tolist())
        code = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        kind = _kinds(int(code.max(initial=0)).bit_length())[code]
        # A word ends at the end of its document.
        joined = np.zeros(len(code) + 1, bool)
        joined[1:-1] = (kind[1:] == _WORD) & (kind[:-1] == _WORD)
        joined[begin] = False
        start = np.flatnonzero((kind != _BLANK) & ~joined[:-1])
        end = np.flatnonzero((kind != _BLANK) & ~joined[1:]) + 1
        row = np.searchsorted(begin, start, side="right") - 1
        found.append((some[row], start - begin[row], end - begin[row]))
        at = stop
    return tuple(np.concatenate(column) for column in zip(*found, strict=True))


@cache
def _kinds(bits: int) -> NDArray[np.uint8]:
    """Return of every character with a code below 2 to the power of `bits` what it is to WORD."""
    # Half a surrogate pair is in no text; chr of it would be no string to search.
    codes = range(min(1 << bits, sys.maxunicode + 1))
    text = "".join(" " if 0xD800 <= code <= 0xDFFF else chr(code) for code in codes)
    kinds = np.zeros(len(text), np.uint8)
    for match in WORD.finditer(text):
        kinds[match.start() : match.end()] = _WORD if match[1] else _OTHER
    return kinds


def tokens_in_words(documents: Documents) -> str:
    """Say where the tokens come from, with a digest of those that are the documents' own: they stand in no other."""
    own = documents.tokens
    some = np.zeros(len(documents), bool) if own is None else np.diff(own.first) > 0
    if own is None or not some.any():
        return "tokens: words and single other characters"
    sha = hashlib.sha256(b"tokens\n")
    for number in documents.by_id.tolist():
        low, high = own.first[number], own.first[number + 1]
        sha.update(int(high - low).to_bytes(8, "little"))
        for column in (own.starts, own.ends):
            sha.update(np.ascontiguousarray(column[low:high], np.int64).tobytes())
    said = f"tokens: the documents' own sha256:{sha.hexdigest()[:16]}"
    rest = int(np.count_nonzero(~some))
    return f"{said}, in {rest} without any words and single other characters" if rest else said


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
    of_token = np.repeat(np.arange(len(gold.documents)), np.diff(tokens.first))
    origin = gold.documents.base[of_token]
    edges = (origin + tokens.starts, origin + tokens.ends)
    cells = [_cells(layer, code, len(types), edges) for layer, code in zip((gold, pred), codes, strict=True)]
    sides = []
    for layer, mine, other, alone in (
        (gold, cells[0], cells[1], Decision.MIS),
        (pred, cells[1], cells[0], Decision.SPU),
    ):
        decision = np.where(np.isin(mine, other, assume_unique=True), Decision.COR, alone).astype(np.uint8)
        sides.append(_runs(layer, types, mine, decision, tokens, of_token))
    correct = [np.flatnonzero(side.decisions == Decision.COR) for side in sides]
    sides[0].partners[correct[0]] = correct[1]
    sides[1].partners[correct[1]] = correct[0]
    return TokenRuns(sides[0], sides[1])


def _cells(layer: Layer, code: NDArray[Any], types: int, edges: tuple[Int64, Int64]) -> Int64:
    """Return the distinct tokens of a layer by type, as token * types + type, sorted."""
    base, starts, ends = layer.documents.base, *edges
    plain = np.ones(len(layer), bool)
    plain[list(layer.fragments)] = False
    whole = np.flatnonzero(plain)
    origin = base[layer.doc]
    low, high, kind = [(origin + layer.start)[whole]], [(origin + layer.end)[whole]], [code[whole]]
    for span, parts in layer.fragments.items():
        edge = np.array(parts, np.int64) + origin[span]
        low.append(edge[:, 0])
        high.append(edge[:, 1])
        kind.append(np.full(len(parts), code[span], code.dtype))
    # A token shares a character with a fragment if it ends after its start and starts before its end.
    first = np.searchsorted(ends, np.concatenate(low), side="right")
    last = np.searchsorted(starts, np.concatenate(high), side="left")
    row, token = ranges(first, np.maximum(first, last))
    cells: Int64 = token * types + np.concatenate(kind)[row]
    # Spans come in the order of their tokens, nearly: this sort finds that out, np.unique does not.
    cells.sort(kind="stable")
    new = np.ones(len(cells), bool)
    new[1:] = cells[1:] != cells[:-1]
    distinct: Int64 = cells[new]
    return distinct


def _runs(
    layer: Layer,
    types: tuple[str, ...],
    cells: Int64,
    decision: NDArray[np.uint8],
    tokens: Intervals,
    of_token: Int64,
) -> Runs:
    # Both sides together may have more types than int16 can number.
    number = np.int16 if len(types) <= np.iinfo(np.int16).max else np.int32
    count = max(1, len(types))
    kind = (cells % count).astype(number)
    turn = np.argsort(kind, kind="stable")
    kind, token, decision = kind[turn], cells[turn] // count, decision[turn]
    doc = of_token[token] if len(token) else token
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
        _frozen(doc[first][order].astype(np.int32)),
        _frozen(start[order]),
        _frozen(end[order]),
        _frozen(kind[first][order]),
        types,
    )
    return Runs(runs, size[order].astype(np.int64), decision[first][order], np.full(len(first), -1, np.int32))


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


__all__ = ("WORD", "Runs", "TokenRuns", "token_runs", "tokens_in_words", "tokens_of")
