"""Verdicts read from a file, of which memory holds what tells them apart; the rest waits in a temporary file."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterable, Iterator
from sys import intern
from typing import Self

import msgspec

from nereval_core.review.store.rows import VerdictRow

MEMORY_BYTES = 1_000_000
"""Bytes of rows up to which no file is made."""


class PackedVerdicts:
    """Verdicts by their numbers, from 0 in the order in which they were added; iterating gives their rows.

    `lines`, `versions`, `records`, `uids`, `times` and `undoes` have a value for each verdict. Close it in the end.
    """

    def __init__(self) -> None:
        self.lines, self.versions = array("q"), array("i")
        self.records: list[str] = []
        self.uids: list[str] = []
        self.times: list[str] = []
        self.undoes: list[str] = []
        self._ends = array("q", [0])
        self._rows = tempfile.SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._rows.close()

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[VerdictRow]:
        return self.rows(range(len(self)))

    def add(self, line: int, row: VerdictRow) -> None:
        """Add the verdict on a line of the file."""
        self.lines.append(line)
        self.versions.append(row.version)
        self.records.append(row.record)
        self.uids.append(row.uid)
        self.times.append(intern(row.at))
        self.undoes.append(row.undoes)
        self._ends.append(self._ends[-1] + self._rows.write(_ENCODER.encode(row)))

    def row(self, number: int) -> VerdictRow:
        """Return the row of a verdict."""
        start = self._ends[number]
        self._rows.seek(start)
        return _DECODER.decode(self._rows.read(self._ends[number + 1] - start))

    def rows(self, numbers: Iterable[int]) -> Iterator[VerdictRow]:
        """Yield the rows of verdicts."""
        return map(self.row, numbers)


_ENCODER, _DECODER = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(VerdictRow)
