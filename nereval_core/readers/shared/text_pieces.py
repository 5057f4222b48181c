"""Join the tokens of a block of bytes to a text, and count its characters, for thousands of tokens at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.corpus.texts import Bytes
from nereval_core.readers.shared.byte_fields import WORD_BYTES, fetch_words
from nereval_core.readers.shared.token_columns import true_places

PIECES_AT_ONCE = 1 << 12
"""Pieces of text moved at once."""
LEAST_FIRST_BYTE = -64
"""Bytes at which a character may begin, as signed numbers, are from this one on."""


def join_pieces(data: Bytes, starts: Int64, sizes: Int64) -> tuple[Bytes, Int64]:
    """Return the pieces of `data` in a row, and where each ends in it; WORD_BYTES zeros must follow the last piece."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    out = np.empty(total + WORD_BYTES, np.uint8)
    target = np.ndarray((total + 1,), f"V{WORD_BYTES}", out.data, 0, (1,))
    at = ends - sizes
    # Whole words are written: what goes beyond a piece's end is written over by the pieces after it. So the further
    # words of long pieces come first, and the first word of every piece last and in order.
    for word in range((int(sizes.max(initial=1)) - 1) // WORD_BYTES * WORD_BYTES, 0, -WORD_BYTES):
        long = true_places(sizes > word)
        target[at[long] + word] = fetch_words(data, starts[long] + word)
    for low in range(0, len(sizes), PIECES_AT_ONCE):
        target[at[low : low + PIECES_AT_ONCE]] = fetch_words(data, starts[low : low + PIECES_AT_ONCE])
    return out[:total], ends


def without_bytes(parts: Sequence[Bytes], places: Int64) -> Bytes:
    """Return the parts of a text in a row, the bytes at these places (sorted) left out."""
    out = np.empty(sum(map(len, parts)) - len(places), np.uint8)
    here = done = low = 0
    for part in parts:
        high = int(np.searchsorted(places, here + len(part)))
        gone = places[low:high] - here
        kept = np.ones(len(part), np.bool_)
        kept[gone] = False
        size = len(part) - len(gone)
        out[done : done + size] = part[kept]
        done += size
        here, low = here + len(part), high
    return out


def character_counts(text: Bytes, sizes: Int64, stops: Int64) -> tuple[Int64, Int64]:
    """Return sizes and ends of the pieces of a text in code points."""
    # Bytes within a character, 10xxxxxx, are the lowest of the signed ones.
    inner = true_places(text.view(np.int8) < LEAST_FIRST_BYTE)
    if not len(inner):
        return sizes, stops
    if len(inner) > len(stops):
        reached = stops - np.searchsorted(inner, stops)
        return np.diff(reached, prepend=0), reached
    lengths = sizes - np.bincount(np.searchsorted(stops, inner, side="right"), minlength=len(sizes))
    return lengths, np.cumsum(lengths)
