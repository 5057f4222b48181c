"""Tables of how far a review is: the verdicts on errors by type and by reviewer, each count with its records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from nereval_core.analysis.intervals import wilson_interval
from nereval_core.ledger import Ledger
from nereval_core.records.queries import Query
from nereval_core.review.verdicts import KINDS, Kind
from nereval_core.tables import Cell, Column, RecordsOf, Row, Table
from nereval_core.tables.glossary import DECISIONS


def progress_by_type(ledger: Ledger, types: Iterable[str], words: Mapping[Kind, str]) -> Table:
    """Return, of each type, how many errors have each verdict and how many have none, the most open first.

    `words` name the verdicts. An error between two types stands with both.
    """
    queries = {kind: Query(decision=DECISIONS[1:], types=(kind,)) for kind in types}
    counts = {kind: _verdict_counts(ledger, query) for kind, query in queries.items()}
    most_open = sorted((kind for kind in counts if counts[kind][-1]), key=lambda kind: (-counts[kind][-2], kind))
    rows: list[tuple[Cell, ...]] = [(kind, *counts[kind]) for kind in most_open]
    columns = [Column("type", kind="name"), *_verdict_columns(words, lambda row: queries[str(row["type"])])]
    notes = ("an error between two types stands with both",)
    return Table("Verdicts by type", tuple(columns), tuple(rows), notes, name="progress-by-type")


def progress_by_reviewer(ledger: Ledger, words: Mapping[Kind, str], reference: str) -> Table:
    """Return, of each reviewer, how many errors have each verdict, and how often the reference was right.

    That is the share of verdicts for the reference among those for one of the two, with its 95 % interval.
    """
    queries = {
        name: Query(decision=DECISIONS[1:], having=(("reviewer", name),))
        for name, number in ledger.having_counts(Query(decision=DECISIONS[1:]), "reviewer").items()
        if number
    }
    rows: list[tuple[Cell, ...]] = []
    for name, query in queries.items():
        *counts, _, total = _verdict_counts(ledger, query)
        of_kind = dict(zip(KINDS, counts, strict=True))
        rows.append((name, *counts, total, share_in_words(of_kind["gold"], of_kind["gold"] + of_kind["pred"])))
    columns = [
        column for column in _verdict_columns(words, lambda row: queries[str(row["reviewer"])]) if column.key != "open"
    ]
    share = Column(
        "reference_right",
        f"{reference} right",
        "text",
        meaning=f"of the verdicts for one of the two, the share for {reference}, with Wilson's 95 % interval",
    )
    return Table(
        "Verdicts by reviewer",
        (Column("reviewer", kind="name"), *columns, share),
        tuple(rows),
        name="progress-by-reviewer",
    )


def share_in_words(number: int, total: int) -> str:
    """Return a share with its numbers and Wilson's interval: `12 of 20, 60 % (39 to 78 %)`."""
    if not total:
        return "0 of 0"
    low, high = wilson_interval(np.array([number]), np.array([total]), 0.95)[:, 0].tolist()
    return f"{number} of {total}, {number / total:.0%} ({low:.0%} to {high:.0%})".replace("%", " %")


def _verdict_counts(ledger: Ledger, query: Query) -> tuple[int, ...]:
    """Return how many records have each verdict, how many have none, and how many there are."""
    counts, total = ledger.having_counts(query, "verdict"), ledger.total(query).records
    decided = [counts.get(kind, 0) for kind in KINDS]
    return (*decided, total - sum(decided), total)


def _verdict_columns(words: Mapping[Kind, str], query_of: Callable[[Row], Query]) -> Iterable[Column]:
    """Yield a column for each verdict, for records without one and for all of them, each of which opens its records."""

    def opens(verdict: str, heading: str, row: Row) -> RecordsOf:
        query = query_of(row)
        having = (*query.having, *((("verdict", verdict),) if verdict else ()))
        return RecordsOf(replace(query, having=having), f"{next(iter(row.values()))}, {heading}")

    for kind, heading in words.items():
        yield Column(kind, heading, "count", opens=partial(opens, kind, heading))
    yield Column("open", kind="count", meaning="without a verdict", opens=partial(opens, "none", "open"))
    yield Column("records", kind="count", opens=partial(opens, "", "all errors"))
