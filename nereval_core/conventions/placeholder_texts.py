"""Texts to show records in where a shared task gives offsets and quotes without the texts themselves."""

from __future__ import annotations

from collections.abc import Iterable

FILL = "·"
"""What stands where no quote says what the text is."""
LIMIT = 1_000_000
"""Beyond this offset, in characters, nothing is laid out."""


def pieced(quotes: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with each quote at its (start, end), end exclusive; one of another length leaves a gap."""
    held = [(start, end, quote) for start, end, quote in quotes if 0 <= start < end <= LIMIT]
    chars = [FILL] * max((end for _, end, _ in held), default=0)
    for start, end, quote in held:
        if len(quote) == end - start:
            chars[start:end] = quote
    return "".join(chars)
