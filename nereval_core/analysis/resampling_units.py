"""The plan of a resampling and its units: documents, sentences where no documents are marked, or groups of either.

Resampling assumes that its units are independent. Sentences of one document are not, so that intervals over sentences
are too narrow where their documents are not marked; documents of one author or source may be dependent too. Counts are
summed by unit before any unit is drawn, left out or swapped. Where a corpus was put together from parts whose shares
are fixed (genres, periods), units are drawn within these strata.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Unit
from nereval_core.corpus.arrays import Array, Int64
from nereval_core.options import LEVEL, check_resampling
from nereval_core.problems import FormatError, quoted

RUNS_PREFIX = "runs:"
"""The length of runs follows, as in `--resample-by runs:20`."""
WITHIN = " within "
"""Between a unit and the metadata key of its strata, as in `--resample-by "author within period"`."""
OPTION = "--resample-by"
UNMARKED_DOCUMENTS = (
    "no documents are marked, so each sentence is resampled by itself: intervals may be too narrow and p values too "
    "small; resample by a metadata key or, as a last resort, by runs of sentences"
)


@dataclass(frozen=True, kw_only=True)
class ResamplingPlan:
    """The number of resamples, their seed, and the confidence level of intervals."""

    resamples: int = 10_000
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        check_resampling(self.resamples, self.seed)
        LEVEL.check(self.level)


MANY_DOCUMENTS = 20_000
"""Documents beyond which pages and reports draw fewer resamples: 10,000 of them would take a minute."""


def are_many(documents: int) -> bool:
    """Tell whether resampling so many documents takes long."""
    return documents > MANY_DOCUMENTS


def plan_for(documents: int) -> ResamplingPlan:
    """Return how often pages and reports resample so many documents."""
    return ResamplingPlan(resamples=2_000) if are_many(documents) else ResamplingPlan()


@dataclass(frozen=True, eq=False)
class ResamplingUnits:
    """The unit of each document.

    `by` is the request that made them, `singular` and `plural` name a unit, `count` is their number. `numbers` is the
    unit of each document, from 0 without gaps, shape (documents,); None where each document is a unit. `strata` is the
    stratum of each unit, from 0 without gaps, shape (units,); None where units are drawn from all. `notes` are
    warnings.
    """

    by: str
    singular: str
    plural: str
    count: int
    numbers: Int64 | None = None
    strata: Int64 | None = None
    notes: tuple[str, ...] = ()

    def sum_counts(self, counts: Array) -> Array:
        """Return the sums of counts by unit in the same dtype, shape (..., documents) to (..., units)."""
        if self.numbers is None:
            return counts
        order = np.argsort(self.numbers, kind="stable")
        first = np.searchsorted(self.numbers[order], np.arange(self.count))
        sums: Array = np.add.reduceat(counts[..., order], first, axis=-1, dtype=counts.dtype)
        return sums

    def of_documents(self, documents: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
        """Return the unit of each of some documents."""
        return documents if self.numbers is None else self.numbers[documents]

    def in_words(self, number: int) -> str:
        """Return a number of units with their name: `1 document`, `20 documents`."""
        return f"{number:,} {self.singular if number == 1 else self.plural}"

    @property
    def description(self) -> str:
        """What is drawn, and how many of it: `12 groups of documents with the same author within each of 3 periods`."""
        words = self.in_words(self.count)
        if self.strata is None:
            return words
        return f"{words}, drawn within the {int(self.strata.max()) + 1} values of {self.by.split(WITHIN, 1)[1]}"

    def signature(self, plan: ResamplingPlan) -> str:
        """Return the part of a signature that reproduces intervals."""
        within = "" if self.strata is None else f"{WITHIN}{self.by.split(WITHIN, 1)[1]}"
        return f"intervals {plan.level:.0%}, {plan.resamples} resamples of {self.plural}{within}, seed {plan.seed}"

    def no_interval_note(self, figure: str) -> str:
        """Return the reason why a figure that rests on a single unit has no interval."""
        return f"no interval and no test: {figure} rests on one {self.singular} alone"

    def intervals_in_words(self, level: float, resamples: int) -> str:
        """Return how intervals were made, for the title of a figure: `95% intervals, 10,000 resamples of documents`."""
        return f"{level:.0%} intervals, {resamples:,} resamples of {self.plural}"


def document_units(count: int, unit: Unit = "document") -> ResamplingUnits:
    """Return each document as a unit, or each sentence where no documents are marked."""
    return ResamplingUnits(
        unit, unit, f"{unit}s", count, notes=(UNMARKED_DOCUMENTS,) if unit == "sentence" and count > 1 else ()
    )


def resampling_units(documents: Documents, by: str = "") -> ResamplingUnits:
    """Return the resampling units of documents.

    `by` is "document" or "sentence", whichever was read; "runs:20" for runs of 20 consecutive ones; or a metadata key,
    under which documents with the same value are one unit. By default each document as read is a unit. " within KEY"
    after any of them draws units within the strata of a metadata key.

    Raises:
        FormatError: these documents cannot be grouped so.
    """
    unit, count = documents.unit, len(documents)
    if WITHIN in by:
        first, key = by.split(WITHIN, 1)
        return _stratified(resampling_units(documents, first), key, documents)
    if by in ("", unit):
        return document_units(count, unit)
    if by == "document":
        raise FormatError.single(
            OPTION,
            None,
            "no documents are marked: each sentence was read as one",
            f"choose {_choices_in_words(documents)}",
        )
    if by == "sentence":
        raise FormatError.single(
            OPTION, None, "sentences of one document are not independent", f"choose {_choices_in_words(documents)}"
        )
    if by.startswith(RUNS_PREFIX):
        return _run_units(by, count, unit)
    keys = _metadata_keys(documents)
    if by not in keys:
        raise FormatError.single(OPTION, None, f"no {unit} has {quoted(by)}", f"choose {_choices_in_words(documents)}")
    return _metadata_units(by, documents)


def resampling_choices(documents: Documents) -> tuple[str, ...]:
    """Return the values of `by` that these documents allow, without runs: the unit read, then metadata keys."""
    return (documents.unit, *_metadata_keys(documents))


def _metadata_keys(documents: Documents) -> tuple[str, ...]:
    return tuple(sorted({key for row in documents.meta or () for key in row} - {"document", "sentence"}))


def _choices_in_words(documents: Documents) -> str:
    keys = _metadata_keys(documents)
    choices = [documents.unit, *keys[:10], f"{RUNS_PREFIX}20 (consecutive {documents.unit}s)"]
    return " or ".join([", ".join(choices[:-1]), choices[-1]])


def _run_units(by: str, count: int, unit: Unit) -> ResamplingUnits:
    length = by.removeprefix(RUNS_PREFIX)
    if not (length.isascii() and length.isdigit() and int(length) > 1):
        raise FormatError.single(
            OPTION, None, f"{quoted(by)} is not a length of runs", f"write {RUNS_PREFIX}N, N 2 or more"
        )
    plural_name = f"runs of {int(length)} {unit}s"
    numbers = np.arange(count, dtype=np.int64) // int(length)
    return ResamplingUnits(by, plural_name.replace("runs", "run", 1), plural_name, -(-count // int(length)), numbers)


def _stratified(units: ResamplingUnits, key: str, documents: Documents) -> ResamplingUnits:
    """Return units with the strata of a metadata key; documents without it are a stratum of their own."""
    if key not in (keys := _metadata_keys(documents)):
        choice = f"choose {' or '.join(keys[:10])}" if keys else f"give {documents.unit}s metadata"
        raise FormatError.single(OPTION, None, f"no {documents.unit} has {quoted(key)} to draw within", choice)
    rows: Sequence[Mapping[str, Any]] = documents.meta or ()
    code_of_value: dict[str, int] = {}
    values = (json.dumps(row.get(key), sort_keys=True) for row in rows)
    strata = np.fromiter(
        (code_of_value.setdefault(value, len(code_of_value)) for value in values), np.int64, len(documents)
    )
    unit = units.of_documents(np.arange(len(documents)))
    stratum_of_unit = np.zeros(units.count, np.int64)
    stratum_of_unit[unit] = strata
    if split := len(np.unique(unit[stratum_of_unit[unit] != strata])):
        lies = f"{units.in_words(split)} {'lies' if split == 1 else 'lie'} in several values of {quoted(key)}"
        raise FormatError.single(OPTION, None, lies, "draw units that each lie within one, or leave out the strata")
    notes = units.notes
    if lone := int((np.bincount(stratum_of_unit) == 1).sum()):
        has = "value has" if lone == 1 else "values have"
        notes += (f"{lone:,} {has} a single unit under {key}, which every resample contains: intervals are too narrow",)
    return replace(units, by=f"{units.by}{WITHIN}{key}", strata=stratum_of_unit, notes=notes)


def _metadata_units(key: str, documents: Documents) -> ResamplingUnits:
    rows: Sequence[Mapping[str, Any]] = documents.meta or ()
    code_of_value: dict[str, int] = {}
    # A document without the key is a unit of its own: no JSON value begins with a line feed.
    values = (json.dumps(row[key], sort_keys=True) if key in row else f"\n{place}" for place, row in enumerate(rows))
    numbers = np.fromiter(
        (code_of_value.setdefault(value, len(code_of_value)) for value in values), np.int64, len(documents)
    )
    lacking = sum(key not in row for row in rows)
    notes: tuple[str, ...] = ()
    if lacking:
        have = f"{documents.unit} has" if lacking == 1 else f"{documents.unit}s have"
        notes = (f"{lacking:,} {have} no {key}: each is resampled for itself",)
    plural_name = f"groups of {documents.unit}s with the same {key}"
    return ResamplingUnits(
        key, plural_name.replace("groups", "group", 1), plural_name, len(code_of_value), numbers, notes=notes
    )
