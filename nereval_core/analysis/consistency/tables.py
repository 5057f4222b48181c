"""The table of the findings of one kind within a layer."""

from __future__ import annotations

import pandas as pd

from nereval_core.analysis.consistency import Consistency
from nereval_core.analysis.consistency.kinds import KINDS
from nereval_core.tables import Column, Table, frame_table

SUBJECTS = {"types": "form", "not-everywhere": "form", "edges": "word", "nesting": "text", "odd-ends": "what"}
"""Heading of the first column, by kind; "form" for all others."""


def finding_table(consistency: Consistency, kind: str, findings: pd.DataFrame, notes: tuple[str, ...] = ()) -> Table:
    """Return findings of a kind; place or type and share only where some finding has them."""
    met = [name for name in ("where", "share") if findings[name].replace("", None).notna().any()]
    columns = [
        Column("what", SUBJECTS.get(kind, "form"), "name"),
        Column("where", kind="text"),
        Column("settles", kind="count", meaning="places that would change if what is done most often were done always"),
        Column("places", kind="count", meaning="all places, of all ways"),
        Column("share", kind="share", meaning="of the places that stand for one way or another, the most frequent"),
        Column("how", kind="text", meaning="how often each way"),
    ]
    title = f"{consistency.layer.name}: {KINDS[kind].title.lower()}"
    shown = [column for column in columns if column.key in met or column.key not in ("where", "share")]
    return frame_table(title, findings, shown, notes, name=f"consistency-{kind}")
