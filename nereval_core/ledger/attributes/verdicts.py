"""What queries ask of verdicts: which one stands on a record, who gave it, whether it is stale or has a note."""

from __future__ import annotations

import numpy as np

from nereval_core.records.attribute import Attribute, Records
from nereval_core.records.queries import YES
from nereval_core.review.verdicts import KINDS
from nereval_core.review.verdicts_on_records import attached

NONE = "none"
"""The value of the attribute `verdict` where none stands."""
CHANGING = ("verdict", "reviewer", "stale", "noted", "reviewed")
"""Attributes that another verdict changes."""


def verdict(about: Records, argument: str) -> Attribute | None:
    """Attribute `verdict`: the kind of the verdict that stands on each record, NONE where none does."""
    if about.others is None:
        return None
    found, names = attached(about), (*KINDS, NONE)
    codes = np.array([names.index(one.verdict.kind) for one in found.given] + [len(KINDS)], np.int8)
    return Attribute(codes[found.at], names)


def reviewer(about: Records, argument: str) -> Attribute | None:
    """Attribute `reviewer`: who gave it."""
    if about.others is None:
        return None
    found = attached(about)
    names = tuple(sorted({one.who for one in found.given}))
    return Attribute(np.array([names.index(one.who) for one in found.given] + [-1], np.int32)[found.at], names)


def stale(about: Records, argument: str) -> Attribute | None:
    """Attribute `stale`: whether the text or the span has changed since."""
    return None if about.others is None else Attribute(np.where(attached(about).stale, 0, -1).astype(np.int8), (YES,))


def noted(about: Records, argument: str) -> Attribute | None:
    """Attribute `noted`: whether there is a note with it."""
    if about.others is None:
        return None
    found = attached(about)
    return Attribute(np.array([0 if one.verdict.note else -1 for one in found.given] + [-1], np.int8)[found.at], (YES,))


def reviewed(about: Records, argument: str) -> Attribute | None:
    """Attribute `reviewed`: whether a verdict stands on it, whatever it says."""
    return None if about.others is None else Attribute(np.where(attached(about).at >= 0, 0, -1).astype(np.int8), (YES,))
