"""Attributes of `nereval_core.ledger.attributes` for the verdict that stands on a record."""

from __future__ import annotations

import numpy as np

from nereval_core.records.queries import YES
from nereval_core.review.attribute import Attribute, Records
from nereval_core.review.verdicts import KINDS
from nereval_core.review.verdicts_on_records import attach_verdicts

NONE = "none"
"""The value of the attribute `verdict` where none stands."""
VERDICT_ATTRIBUTES = ("verdict", "reviewer", "stale", "noted", "reviewed")
"""Attributes whose values change with another verdict."""


def verdict(about: Records, argument: str) -> Attribute | None:
    """Return the kind of the verdict that stands on each record, NONE where none does."""
    if about.others is None:
        return None
    found, names = attach_verdicts(about), (*KINDS, NONE)
    codes = np.array([names.index(one.verdict.kind) for one in found.given] + [len(KINDS)], np.int8)
    return Attribute(codes[found.at], names)


def reviewer(about: Records, argument: str) -> Attribute | None:
    """Return the reviewer who gave the verdict on each record."""
    if about.others is None:
        return None
    found = attach_verdicts(about)
    names = tuple(sorted({one.who for one in found.given}))
    return Attribute(np.array([names.index(one.who) for one in found.given] + [-1], np.int32)[found.at], names)


def stale(about: Records, argument: str) -> Attribute | None:
    """Return whether the verdict on each record is stale: its text or span has changed since."""
    return (
        None
        if about.others is None
        else Attribute(np.where(attach_verdicts(about).stale, 0, -1).astype(np.int8), (YES,))
    )


def noted(about: Records, argument: str) -> Attribute | None:
    """Return whether the verdict on each record has a note."""
    if about.others is None:
        return None
    found = attach_verdicts(about)
    return Attribute(np.array([0 if one.verdict.note else -1 for one in found.given] + [-1], np.int8)[found.at], (YES,))


def reviewed(about: Records, argument: str) -> Attribute | None:
    """Return whether a verdict stands on each record."""
    return (
        None
        if about.others is None
        else Attribute(np.where(attach_verdicts(about).at >= 0, 0, -1).astype(np.int8), (YES,))
    )
