"""The attribute `placing`: where the mention of a record's prediction was placed, which had no offsets."""

from __future__ import annotations

import numpy as np

from nereval_core.analysis.errors import PLACINGS, placings
from nereval_core.review.attribute import Attribute, Records


def placing(records: Records, argument: str) -> Attribute | None:
    """Return the placing of each record's prediction: PLACINGS, or nothing where it is exact."""
    codes = None if argument else placings(records.scores, records.criterion)
    if codes is None:
        return None
    pred = records.rows.pred
    return Attribute(np.where(pred >= 0, codes[pred], -1).astype(np.int8), PLACINGS)
