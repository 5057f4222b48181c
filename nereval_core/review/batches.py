"""One verdict for many records at once: what is meant by it, and the verdicts that say it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nereval_core.records.attribute import Records
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.verdicts import Draft, Given, Kind, Verdict
from nereval_core.review.verdicts_on_records import asked_each, attached

MOST = 10_000
"""Records that one batch is for at most."""
STEP = 500
"""Records after which is told how far the drafting is."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The records that a batch is for, and how many of those asked for have a verdict and are left alone.

    `records` are positions in document order, shape (records,).
    """

    records: NDArray[np.int32]
    left: int


def chosen(about: Records, positions: NDArray[np.int32], *, over: bool = False) -> Chosen:
    """Return which of some records a batch is for: those without a verdict, or, `over` what stands, all of them."""
    without = attached(about).at[positions] < 0
    return Chosen(positions if over else positions[without], 0 if over else int((~without).sum()))


def drafts(
    about: Records,
    records: NDArray[np.int32],
    kind: Kind,
    note: str,
    stands: Reviewed,
    tell: Callable[[int], None] = lambda done: None,
) -> tuple[Draft, ...]:
    """Return a verdict for each of some records, `stands` being what the reviewer has seen.

    Records of one key (the same span in a document that occurs twice) have one verdict together. `tell` is called with
    the number of records done now and then.
    """
    found: dict[str, Draft] = {}
    for done, (key, partner, seen) in enumerate(asked_each(about, records.tolist()), start=1):
        found[key.record] = Draft(Verdict(key, kind, seen, partner, note=note), stands.version(key))
        if not done % STEP:
            tell(done)
    return tuple(found.values())


def since(about: Records, positions: NDArray[np.int32], number: int) -> tuple[Given, ...]:
    """Return the verdicts that stand on some records and were kept after the one with a number of the store."""
    found = attached(about)
    places = np.unique(found.at[positions])
    given = {found.given[place].number: found.given[place] for place in places[places >= 0].tolist()}
    return tuple(given[one] for one in sorted(given) if one > number)
