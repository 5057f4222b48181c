"""Queries over match records, which a ledger answers.

A count is the sum of the weights of the records found: their number, or, counted by token, the tokens in them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

Side = Literal["gold", "pred"]
ABSENT = ""
"""In `gold` and `pred` of a query: no span on this side (spurious predictions, missed gold spans)."""
FIELDS = ("boundary", "words", "period", "noise")
FACETS = ("decision", "gold", "pred", *FIELDS, "doc")
"""Facets: queries narrow down by them, and records are counted by them."""
NO_GOLD = "no gold span"
"""The noise of a record without a gold span."""
MANY_WORDS = 6
"""Number of words from which spans are counted together."""
YES = "yes"
"""The value of attributes that a record has or has not."""
BETWEEN = ">"
"""Between two criteria in the name of an attribute that compares them."""
SAME_TYPE = ("equal", "differ")
"""The values of the attribute `types`: whether gold span and prediction have one type."""
ORDERS = ("document", "text", "gold", "prediction", "decision", "longest")
"""Orders of records, the default first; ties stay in document order."""


@dataclass(frozen=True)
class Query:
    """A choice of match records: each field narrows it down, an empty one does not.

    `types` asks for a record with the type on either side; `gold` and `pred` ask for the type on that side, ABSENT
    for no span there. `period` is the decade of the document's date, `noise` the level of the gold span. Each word of
    `text` must be in the gold text, the predicted text, the text around them or the document's id, whatever its case.
    A `text` between slashes is a regular expression (`nereval_core.records.text_search`). `having` holds attributes of
    `nereval_core.ledger.attributes`, each with the value asked for.
    """

    decision: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    pred: tuple[str, ...] = ()
    doc: str = ""
    boundary: str = ""
    words: str = ""
    period: str = ""
    noise: str = ""
    text: str = ""
    having: tuple[tuple[str, str], ...] = ()

    @property
    def by_class(self) -> bool:
        """True where the classes of records alone tell which match."""
        return not (self.doc or self.text or self.having)


def overall_query(code: str) -> Query | None:
    """Return the query behind a count of the whole corpus, None where the code is not one of a count."""
    return side_query("gold", code) or side_query("pred", code)


def side_query(side: Side, code: str, type_name: str | None = None) -> Query | None:
    """Return the query behind a count of one side: spans of a type (None: of all) with a decision, POS or ACT."""
    lone, whole = ("MIS", "POS") if side == "gold" else ("SPU", "ACT")
    decisions = ("COR", "INC", "PAR", lone)
    if code not in (*decisions, whole):
        return None
    names = () if type_name is None else (type_name,)
    decision = decisions if code == whole else (code,)
    return Query(decision=decision, gold=names) if side == "gold" else Query(decision=decision, pred=names)


def narrowed(query: Query, facet: str, value: str | None) -> Query:
    """Return the query with one facet set to one value (None: not narrowed by it)."""
    several = facet in ("decision", "gold", "pred")
    condition: Any = (() if value is None else (value,)) if several else value or ""
    return replace(query, **{facet: condition})


def in_documents(ids: Iterable[str]) -> tuple[str, str]:
    """Return what `having` of a query holds to ask for the records of some documents; a comma in an id is `%2C`."""
    listed = ",".join("".join(f"%{ord(char):02X}" if char in "%," else char for char in name) for name in ids)
    return f"in {listed}", YES


def word_class(number: int) -> str:
    return f"{number}+" if number >= MANY_WORDS else str(number)


class Total(NamedTuple):
    """The number of records that match, and their weight: as much, or, counted by token, the tokens in them."""

    records: int
    weight: int


class CountedRecords(Protocol):
    """The counts of match records that sentences are made of; `nereval_core.ledger.Ledger` has more."""

    def total(self, query: Query) -> Total:
        """Count the records that match."""

    def facet_counts(self, query: Query, facet: str, most: int | None = None) -> dict[str, int]:
        """Return, for each value of a facet, the weight of the records if the query asked for that value."""

    def confusion(self) -> dict[tuple[str, str], int]:
        """Return the weight of the records by gold and predicted type, ABSENT where a side has no span."""
