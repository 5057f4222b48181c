"""Shares: the counts of a part of a corpus for a published score, whole numbers that add up over documents.

A convention that can be scored part by part counts in `counted` and makes its figures of the sums in `of_share`; in
one process it makes them of the one share there is, by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from nereval_core.conventions.outcome import Content, Outcome
from nereval_core.corpus import Documents, Layer
from nereval_core.problems import FormatError

Tables = Mapping[str, Mapping[str, tuple[int, ...]]]
"""Rows of numbers by table and name; the rows of a name are of one length in all parts."""

NO_DOCUMENTS = Documents((), ())


@dataclass(frozen=True, eq=False)
class Share:
    """The counts of some documents, and the content of either side.

    `source` names the prediction in problems.
    """

    tables: Tables
    gold: Content
    pred: Content
    source: str = ""

    def number(self, table: str, row: str) -> int:
        """Return a row's first number, 0 where no part has the row."""
        return self.tables.get(table, {}).get(row, (0,))[0]


@dataclass(frozen=True, slots=True)
class ByShares:
    """The functions that score a convention part by part.

    `lacks` says why some options do not allow that, None where they do.
    """

    counted: Callable[[Layer, Layer, Mapping[str, Any]], Share]
    of_share: Callable[[Share, Mapping[str, Any]], Outcome]
    lacks: Callable[[Mapping[str, Any]], str | None] = lambda _: None


def add_tables(parts: Iterable[Tables]) -> dict[str, dict[str, tuple[int, ...]]]:
    """Add up the rows of one name."""
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    for tables in parts:
        for table, rows in tables.items():
            own = found.setdefault(table, {})
            for name, row in rows.items():
                before = own.get(name)
                own[name] = (
                    tuple(row) if before is None else tuple(one + two for one, two in zip(before, row, strict=True))
                )
    return found


def precision_recall_f1(
    correct: float, found: int, wanted: int, *, undefined: float = 0.0
) -> tuple[float, float, float]:
    """Return the ratios of scorers that take a zero denominator for `undefined`."""
    precision = correct / found if found else undefined
    recall = correct / wanted if wanted else undefined
    return precision, recall, harmonic_mean(precision, recall, undefined=undefined)


def harmonic_mean(precision: float, recall: float, *, undefined: float = 0.0) -> float:
    both = precision + recall
    return 2 * precision * recall / both if both else undefined


def without_records(_: str) -> NoReturn:
    """Refuse records where only counts are left.

    Raises:
        FormatError: always.
    """
    raise FormatError.single("--records", None, "only counts are left of the parts", "score without --engine")
