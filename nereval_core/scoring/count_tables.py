"""Counts as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from nereval_core.scoring.counts import Counts

COUNT_COLUMNS = ("COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT", "precision", "recall", "f1")


def count_table(key: str, rows: Mapping[str, Counts]) -> pd.DataFrame:
    """Return one row for each counts: the column `key` with their names, and COUNT_COLUMNS."""
    return pd.DataFrame(
        [{key: name} | count_row(counts) for name, counts in rows.items()], columns=[key, *COUNT_COLUMNS]
    )


def count_row(counts: Counts) -> dict[str, Any]:
    """Return COUNT_COLUMNS of some counts; COR, INC and PAR are None where the two sides differ."""
    return {
        "COR": counts.cor,
        "INC": counts.inc,
        "PAR": counts.par,
        "MIS": counts.mis,
        "SPU": counts.spu,
        "POS": counts.pos,
        "ACT": counts.act,
    } | ratio_row(counts)


def ratio_row(counts: Counts) -> dict[str, float]:
    """Return precision, recall and F1 of some counts, NaN where they are undefined."""
    values = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
    return {name: float("nan") if value is None else value for name, value in values.items()}
