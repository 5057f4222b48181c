"""Checksums of rows, at the end of the JSON that they hold: databases have none, and give back what a byte became."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence

_END = re.compile(r',"checksum":"([0-9a-f]{8})"\}\Z')


def add_checksum(body: str, fields: Sequence[str | int]) -> str:
    """Return a row's JSON object with a checksum of itself and of the row's other fields."""
    return f'{body[:-1]},"checksum":"{_checksum(body, fields)}"}}'


def remove_checksum(body: str, fields: Sequence[str | int]) -> str:
    """Return the JSON that was given to `add_checksum`; rows of earlier versions have no checksum.

    Raises:
        ValueError: the row is not as it was written.
    """
    end = _END.search(body)
    if end is None:
        return body
    plain = body[: end.start()] + "}"
    if _checksum(plain, fields) != end[1]:
        raise ValueError("the row is not as it was written")
    return plain


def _checksum(body: str, fields: Sequence[str | int]) -> str:
    return f"{zlib.crc32(json.dumps([body, *fields]).encode()):08x}"
