"""Verdicts as rows of their table: what an import writes and compares without making objects of them."""

from __future__ import annotations

from sys import intern
from typing import NamedTuple, get_args

from nereval_core.review.verdicts import WITHDRAWN, Kind, StoredVerdict, body_of, verdict_of


class VerdictRow(NamedTuple):
    """A verdict as a row of the table EVENTS, with its columns in their order; `body` is without a checksum.

    `number` is 0 before the verdict is stored.
    """

    number: int
    uid: str
    record: str
    version: int
    kind: str
    body: str
    note: str
    who: str
    at: str
    batch: str
    undoes: str


def row_of(stored: StoredVerdict) -> VerdictRow:
    """Return the row of a verdict."""
    verdict = stored.verdict
    return VerdictRow(
        stored.number,
        stored.uid,
        verdict.key.record,
        stored.version,
        verdict.kind,
        body_of(verdict),
        verdict.note,
        stored.who,
        stored.at,
        stored.batch,
        stored.undoes,
    )


def verdict_in(row: VerdictRow) -> StoredVerdict:
    """Return the verdict in a row; one of a kind that this version does not know withdraws.

    Raises:
        ValueError: the body is none of `body_of`.
    """
    kind: Kind = row.kind if row.kind in _KNOWN else WITHDRAWN  # type: ignore[assignment]
    verdict = verdict_of(kind, row.note, row.body)
    # Many verdicts share these strings, and are held together.
    batch = row.uid if row.batch == row.uid else row.batch
    return StoredVerdict(verdict, intern(row.who), intern(row.at), row.version, row.uid, batch, row.undoes, row.number)


_KNOWN = get_args(Kind)
