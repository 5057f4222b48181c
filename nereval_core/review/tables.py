"""Verdicts and what comes of them as tables to be read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from nereval_core.corpus import Documents
from nereval_core.review.apply import Change
from nereval_core.review.apply.adjudication import Open
from nereval_core.review.apply.deciding_verdicts import Hanging
from nereval_core.review.apply.what_if import WhatIf
from nereval_core.review.verdicts import KINDS
from nereval_core.scoring.counts import RATIOS

WITH = "with verdicts"
SHORT = {"f1": "F1", "precision": "P", "recall": "R"}
LOG_TABLE = ("document", "text", "type", "verdict", "result", "after", "who", "at", "note")
OPEN_TABLE = ("document", "first", "first type", "second", "second type", "why")
HANGING_TABLE = ("better", "F1", "than", "its F1", "holds", "verdicts", "at least")


def scores_table(both: WhatIf) -> pd.DataFrame:
    """Return a row for each system and criterion: `system`, `criterion`, then each of F1, P and R as it is, with
    verdicts, and for F1 the difference."""
    table = both.table()
    columns = {"system": "system", "criterion": "criterion"}
    for ratio in sorted(RATIOS):
        columns |= {ratio: SHORT[ratio], f"{ratio}_after": f"{SHORT[ratio]} {WITH}"}
        columns |= {f"{ratio}_difference": "difference"} if ratio == "f1" else {}
    found = table[list(columns)].rename(columns=columns)
    return found.astype(dict.fromkeys(found.columns[2:], "float64"))


def log_table(changes: Iterable[Change]) -> pd.DataFrame:
    """Return a row for each verdict and document, with LOG_TABLE; `result` is what was done, or why nothing was."""
    rows = [
        (
            change.id,
            change.before,
            change.span.type,
            KINDS[change.given.verdict.kind],
            change.done or f"not applied: {change.reason}",
            "; ".join(f"{quote} ({span.type})" for quote, span in zip(change.quotes, change.after, strict=True)),
            change.given.who,
            change.given.at[:16].replace("T", " "),
            change.note,
        )
        for change in changes
    ]
    return pd.DataFrame(rows, columns=list(LOG_TABLE), dtype="str")


def hanging_table(rows: Sequence[Hanging]) -> pd.DataFrame:
    """Return a row for each two systems: both F1 with verdicts, how many verdicts have to fall, and the bound."""
    found = [
        (row.better, row.f1[0], row.worse, row.f1[1], row.holds, row.verdicts or None, row.least or None)
        for row in rows
    ]
    table = pd.DataFrame(found, columns=list(HANGING_TABLE))
    return table.astype({"verdicts": "Int64", "at least": "Int64"})


def open_table(rows: Iterable[Open], documents: Documents) -> pd.DataFrame:
    """Return a row for each record that is open, with OPEN_TABLE; what one of the two has not is missing."""
    found = []
    for row in rows:
        text = documents.texts[documents.index[row.document]]
        cells = [(None, None) if span is None else (span.quote(text), span.type) for span in row.spans]
        found.append((row.document, *cells[0], *cells[1], row.reason))
    return pd.DataFrame(found, columns=list(OPEN_TABLE), dtype="str")
