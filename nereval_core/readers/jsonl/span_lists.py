"""Lists of plain spans in JSON, taken apart as bytes: many lists at once, nothing decoded, no object made for a span.

A plain span is `{"start": 12, "end": 19, "label": "Drug"}` with its keys in this order, as all common writers leave it:
a blank after each colon and comma, or none at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Int64
from nereval_core.corpus.texts import Bytes
from nereval_core.readers.shared.byte_fields import WORD, Types, numbers, stand

QUOTE, BLANK = b'" '
QUOTES = 8
"""Quotation marks in a span."""


class Spans(NamedTuple):
    """Spans by list and in a row: `counts` has shape (lists,), the others (spans,); `codes` are those of the types."""

    counts: Int64
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    codes: Sequence[int] | Int64
    plain: bool = True


@dataclass(frozen=True, slots=True)
class _Style:
    """How lists are written: what stands between offsets and keys, as bytes."""

    colon: bytes
    comma: bytes

    @property
    def before_start(self) -> bytes:
        return b'{"start"' + self.colon

    @property
    def before_end(self) -> bytes:
        return self.comma + b'"end"' + self.colon

    @property
    def before_label(self) -> bytes:
        return self.comma + b'"label"' + self.colon + b'"'

    @property
    def between(self) -> bytes:
        return b'"}' + self.comma + b'{"'


STYLES = (_Style(b": ", b", "), _Style(b":", b","))


def plain_spans(lists: Sequence[Any], types: Types) -> Spans | None:
    """Return the spans of lists, each the bytes of one JSON list; None where one of them is not plain.

    Raises:
        UnicodeDecodeError: a type that is not UTF-8.
    """
    raw = b"".join([*lists, bytes(WORD)])
    if b"\\" in raw:
        return None
    data = np.frombuffer(raw, np.uint8)
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    high = np.cumsum(sizes)
    quotes = np.flatnonzero(data == QUOTE)
    number, rest = divmod(len(quotes), QUOTES)
    if rest or np.count_nonzero(data[:-WORD] < BLANK):
        return None
    # The spans' own quotation marks: around start, end, label and the type.
    at = [quotes[place::QUOTES] for place in range(QUOTES)]
    counts = np.diff(np.searchsorted(at[0], high), prepend=0)
    empty = counts == 0
    if np.any(sizes[empty] != 2) or not stand(data, high[empty] - 2, b"[]"):
        return None
    if not number:
        none = np.zeros(0, np.int32)
        return Spans(counts, none, none, [])
    style = STYLES[0] if data[at[1][0] + 2] == BLANK else STYLES[1]
    if not _in_place(data, at, counts, sizes, high, style):
        return None
    low = [at[1] + 1 + len(style.colon), at[3] + 1 + len(style.colon)]
    starts, wrong = numbers(data, low[0], at[2] - len(style.comma))
    ends, more = numbers(data, low[1], at[4] - len(style.comma))
    if wrong.any() or more.any():
        return None
    return Spans(counts, starts, ends, types.codes(raw, at[6] + 1, at[7]))


def _in_place(data: Bytes, at: Sequence[Int64], counts: Int64, sizes: Int64, high: Int64, style: _Style) -> bool:
    """Tell whether all that is neither a number nor a type is as it should be, to the byte."""
    comma = len(style.comma)
    if not (
        stand(data, at[0] - 1, style.before_start)
        and stand(data, at[2] - comma, style.before_end)
        and stand(data, at[4] - comma, style.before_label)
    ):
        return False
    some = np.flatnonzero(counts)
    after = np.cumsum(counts)[some]
    last, first = after - 1, after - counts[some]
    inner = np.ones(len(at[0]), np.bool_)
    inner[last] = False
    return (
        bool(np.array_equal(at[0][first] - 2, high[some] - sizes[some]))
        and bool(np.array_equal(at[7][last] + 3, high[some]))
        and stand(data, at[0][first] - 2, b"[")
        and stand(data, at[7][last] + 1, b"}]")
        and stand(data, at[7][inner], style.between)
    )
