"""What every test of a published scorer asks: that its counts are what its records contribute."""

from __future__ import annotations

from nereval_core.conventions import Outcome


def reconcile(outcome: Outcome) -> None:
    """Assert that each counted figure is the sum of the column of its name over the records of its scope."""
    records = outcome.records()
    counted = outcome.figures[outcome.figures["counted"]]
    assert len(counted)
    sums = records.groupby(["evaluation", "scope"], observed=True)[sorted(set(counted["figure"]))].sum()
    for row in counted.itertuples():
        # Without records there is nothing to count.
        place = (row.evaluation, row.scope)
        assert (sums.loc[place, row.figure] if place in sums.index else 0) == row.value, row
