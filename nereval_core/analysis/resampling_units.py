"""The units that are resampled: documents, sentences where no documents are marked, or groups of either.

Resampling takes its units for independent. Sentences of one document are not, so intervals from sentences are too
narrow where the documents that they stem from are not marked; documents of one author or source may not be either.
Counts are summed by unit before anything is drawn, left out or swapped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.resampling import Plan
from nereval_core.arrays import Int64
from nereval_core.corpus import Documents, Unit
from nereval_core.problems import FormatError, quoted

RUNS = "runs:"
"""What is followed by the length of runs in `--resample-by runs:20`."""
OPTION = "--resample-by"
UNMARKED = (
    "each sentence is resampled for itself, as no documents are marked: where several stem from one document, "
    "intervals are too narrow and p values too small; resample by a metadata key or, as a last resort, by runs of "
    "sentences"
)


@dataclass(frozen=True, eq=False)
class ResamplingUnits:
    """Which unit each document belongs to.

    `by` is what was asked for, `one` and `many` what units are called, `count` how many there are. `numbers` is the
    unit of each document, from 0 without gaps, shape (documents,); None where each document is a unit. `notes` warn.
    """

    by: str
    one: str
    many: str
    count: int
    numbers: Int64 | None = None
    notes: tuple[str, ...] = ()

    def summed(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Return the sums of counts by unit, shape (..., documents) to (..., units); their dtype stays."""
        if self.numbers is None:
            return counts
        order = np.argsort(self.numbers, kind="stable")
        first = np.searchsorted(self.numbers[order], np.arange(self.count))
        found: NDArray[Any] = np.add.reduceat(counts[..., order], first, axis=-1, dtype=counts.dtype)
        return found

    def of(self, documents: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
        """Return the units of documents by number."""
        return documents if self.numbers is None else self.numbers[documents]

    def named(self, number: int) -> str:
        """Return a number of units in words."""
        return f"{number:,} {self.one if number == 1 else self.many}"

    def signed(self, plan: Plan) -> str:
        """Return what a signature says of intervals."""
        return f"intervals {plan.level:.0%}, {plan.resamples} resamples of {self.many}, seed {plan.seed}"

    def lone(self, figure: str) -> str:
        """Say why a figure has no interval."""
        return f"no interval and no test: {figure} rests on one {self.one} alone"


def each_document(count: int, unit: Unit = "document") -> ResamplingUnits:
    """Return units of which each is one document, or one sentence where no documents are marked."""
    return ResamplingUnits(unit, unit, f"{unit}s", count, notes=(UNMARKED,) if unit == "sentence" and count > 1 else ())


def resampling_units(documents: Documents, by: str = "") -> ResamplingUnits:
    """Return the units that documents are resampled in.

    `by` is "document" or "sentence", which must be what was read; "runs:20" for runs of so many of them as they stand;
    or a metadata key: documents with the same value are one unit. By default each document as read is a unit.

    Raises:
        FormatError: what is asked for is not known of these documents.
    """
    unit, count = documents.unit, len(documents)
    if by in ("", unit):
        return each_document(count, unit)
    if by == "document":
        raise FormatError.single(
            OPTION, None, "no documents are marked: each sentence was read as one", f"choose {_choices(documents)}"
        )
    if by == "sentence":
        raise FormatError.single(
            OPTION, None, "sentences of one document are not independent", f"choose {_choices(documents)}"
        )
    if by.startswith(RUNS):
        return _runs(by, count, unit)
    keys = _keys(documents)
    if by not in keys:
        raise FormatError.single(OPTION, None, f"no {unit} has {quoted(by)}", f"choose {_choices(documents)}")
    return _groups(by, documents)


def offered(documents: Documents) -> tuple[str, ...]:
    """Return what documents may be resampled by, but for runs: what was read, then metadata keys."""
    return (documents.unit, *_keys(documents))


def _keys(documents: Documents) -> tuple[str, ...]:
    return tuple(sorted({key for row in documents.meta or () for key in row} - {"document", "sentence"}))


def _choices(documents: Documents) -> str:
    keys = _keys(documents)
    shown = [documents.unit, *keys[:10], f"{RUNS}20 (consecutive {documents.unit}s)"]
    return " or ".join([", ".join(shown[:-1]), shown[-1]])


def _runs(by: str, count: int, unit: Unit) -> ResamplingUnits:
    length = by.removeprefix(RUNS)
    if not (length.isascii() and length.isdigit() and int(length) > 1):
        raise FormatError.single(OPTION, None, f"{quoted(by)} is no length of runs", f"write {RUNS}N, N 2 or more")
    many = f"runs of {int(length)} {unit}s"
    numbers = np.arange(count, dtype=np.int64) // int(length)
    return ResamplingUnits(by, many.replace("runs", "run", 1), many, -(-count // int(length)), numbers)


def _groups(key: str, documents: Documents) -> ResamplingUnits:
    rows: Sequence[Mapping[str, Any]] = documents.meta or ()
    known: dict[str, int] = {}
    # What lacks the key is a unit of its own: a number is no key that JSON could have.
    values = (json.dumps(row[key], sort_keys=True) if key in row else f"\n{place}" for place, row in enumerate(rows))
    numbers = np.fromiter((known.setdefault(value, len(known)) for value in values), np.int64, len(documents))
    lacking = sum(key not in row for row in rows)
    notes: tuple[str, ...] = ()
    if lacking:
        what = f"{documents.unit} has" if lacking == 1 else f"{documents.unit}s have"
        notes = (f"{lacking:,} {what} no {key}: each is resampled for itself",)
    many = f"groups of {documents.unit}s with the same {key}"
    return ResamplingUnits(key, many.replace("groups", "group", 1), many, len(known), numbers, notes)
