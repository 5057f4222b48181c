"""In which slice the gold span and the prediction of a record are: attributes `gold SLICING` and `pred SLICING`."""

from __future__ import annotations

import numpy as np

from nereval_core.analysis.slices import slicings
from nereval_core.records.attribute import Attribute, Records


def of_gold(records: Records, argument: str) -> Attribute | None:
    """Return the slice of each record's gold span, by a slicing of `analysis.slicing`; none where it has no gold."""
    return _sliced(records, argument, "gold")


def of_pred(records: Records, argument: str) -> Attribute | None:
    """Return the slice of each record's prediction, as `of_gold` does."""
    return _sliced(records, argument, "pred")


def _sliced(records: Records, name: str, side: slicings.Side) -> Attribute | None:
    beside = {} if records.others is None else {"beside": records.others.beside}
    found = slicings.find(slicings.Sliced(records.scores, records.criterion, records.read, **beside), name)
    if found is None:
        return None
    rows = records.rows
    # The last one is that of index -1, no span.
    codes = np.append(found.of(side), -1)[rows.gold if side == "gold" else rows.pred]
    # Counting each side for itself, the span that one was judged by has a record of its own.
    own = (rows.side == 0) | (rows.anchored == (side == "gold"))
    return Attribute(np.where(own, codes, -1), found.names)
