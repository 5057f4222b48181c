"""Tables of verdicts and of their effects: scores, change log, conclusions, open records and the list of verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pandas as pd

from nereval_core.corpus import Documents, Layer
from nereval_core.review.apply import Change, places
from nereval_core.review.apply.adjudication import OpenRecord
from nereval_core.review.apply.deciding_verdicts import Conclusion
from nereval_core.review.apply.what_if import WhatIf
from nereval_core.review.verdicts import KINDS, Given, Marked, minute_of
from nereval_core.review.verdicts_on_records import text_digests
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.scoring.counts import RATIOS
from nereval_core.tables import Cell, Column, Table

WITH = "with verdicts"
SHORT = {"f1": "F1", "precision": "P", "recall": "R"}
LOG_TABLE = ("document", "text", "type", "verdict", "result", "after", "who", "at", "note")
OPEN_TABLE = ("document", "first", "first type", "second", "second type", "why")
CONCLUSION_COLUMNS = ("better", "F1", "than", "its F1", "holds", "verdicts", "at least")


def scores_table(both: WhatIf) -> pd.DataFrame:
    """Return a row for each system and criterion: F1, P and R before and with verdicts, and the difference of F1."""
    table = both.table()
    columns = {"system": "system", "criterion": "criterion"}
    for ratio in sorted(RATIOS):
        columns |= {ratio: SHORT[ratio], f"{ratio}_after": f"{SHORT[ratio]} {WITH}"}
        columns |= {f"{ratio}_difference": "difference"} if ratio == "f1" else {}
    found = table[list(columns)].rename(columns=columns)
    return found.astype(dict.fromkeys(found.columns[2:], "float64"))


def log_table(changes: Iterable[Change]) -> pd.DataFrame:
    """Return a row for each verdict and document, with LOG_TABLE; `result` is its effect, or why it has none."""
    rows = [
        (
            change.id,
            change.before,
            change.span.type,
            KINDS[change.given.verdict.kind],
            change.done or f"not applied: {change.reason}",
            "; ".join(f"{quote} ({span.type})" for quote, span in zip(change.quotes, change.after, strict=True)),
            change.given.who,
            minute_of(change.given.at),
            change.note,
        )
        for change in changes
    ]
    return pd.DataFrame(rows, columns=list(LOG_TABLE), dtype=TEXT_DTYPE)


def conclusions_table(rows: Sequence[Conclusion]) -> pd.DataFrame:
    """Return a row for each pair of systems: both F1, the number of deciding verdicts, and the bound on it."""
    found = [
        (row.better, row.f1[0], row.worse, row.f1[1], _duration(row), row.verdicts or None, row.least or None)
        for row in rows
    ]
    table = pd.DataFrame(found, columns=list(CONCLUSION_COLUMNS))
    return table.astype({"verdicts": "Int64", "at least": "Int64"})


def conclusion_in_words(row: Conclusion) -> str:
    """Say which system is better, and the verdicts on which that depends."""
    if row.firm:
        return f"{row.better} is better than {row.worse} whichever of the verdicts fall"
    if not row.verdicts:
        return f"{row.better} is better than {row.worse}; no verdicts were found that this hangs on"
    stand = "this verdict stands" if row.verdicts == 1 else f"these {row.verdicts} verdicts stand"
    claim = ""
    if row.verdicts > 1 and row.verdicts == row.least:
        claim = "; no smaller set does it"
    elif row.verdicts > 1:
        claim = f"; none of them can be left out, and no set of fewer than {row.least} does it"
    return f"{row.better} is better than {row.worse} only while {stand}{claim}"


def _duration(row: Conclusion) -> str:
    if row.firm:
        return "whichever verdicts fall"
    return f"only while these {row.verdicts} stand" if row.verdicts else "as far as is known"


def open_table(rows: Iterable[OpenRecord], documents: Documents) -> pd.DataFrame:
    """Return a row for each open record, with OPEN_TABLE; cells of a span that one side lacks are missing."""
    found = []
    for row in rows:
        text = documents.texts[documents.index[row.document]]
        cells = [(None, None) if span is None else (span.quote(text), span.type) for span in row.spans]
        found.append((row.document, *cells[0], *cells[1], row.reason))
    return pd.DataFrame(found, columns=list(OPEN_TABLE), dtype=TEXT_DTYPE)


COLUMNS = ("document", "record", "quote", "verdict", "right", "who", "at", "note")
STALE = "stale"
"""The additional column beside a corpus: yes, no, or missing where the corpus lacks the document."""


def verdicts_table(given: Iterable[Given], layers: Sequence[Layer] = ()) -> Table:
    """Return a row for each verdict; beside layers, with a column whether it is stale."""
    rows = []
    is_stale = staleness_test(layers)
    for one in given:
        row: list[Cell] = list(_cells(one))
        if layers:
            found = is_stale(one)
            row.append(None if found is None else "yes" if found else "no")
        rows.append(tuple(row))
    columns = tuple(Column(name, kind="text") for name in (*COLUMNS, *([STALE] if layers else [])))
    return Table("verdicts", columns, tuple(rows))


def staleness_test(layers: Sequence[Layer]) -> Callable[[Given], bool | None]:
    """Return a test whether a verdict is stale: its text, or its span in every layer, is gone.

    The test returns None for a document that no layer has.
    """
    # Layers may have documents of their own: each is asked by itself.
    numbers: list[dict[str, list[int]]] = []
    for layer in layers:
        by_digest: dict[str, list[int]] = {}
        for number, digest in enumerate(text_digests(layer.documents)):
            by_digest.setdefault(digest, []).append(number)
        numbers.append(by_digest)

    def is_stale(one: Given) -> bool | None:
        key = one.verdict.key
        there = [(layer, number) for layer, by in zip(layers, numbers, strict=True) for number in by.get(key.text, ())]
        if there:
            return not any(places(layer, number, key.span) for layer, number in there)
        return True if any(one.verdict.seen.document in layer.documents.index for layer in layers) else None

    return is_stale


def _cells(one: Given) -> tuple[str, ...]:
    verdict = one.verdict
    right = "; ".join(map(_span, verdict.right)) or ("no entity" if verdict.kind == "neither" else "")
    record = f"{verdict.key.side[0]}:{_span(verdict.key.span)}"
    seen = verdict.seen
    return seen.document, record, seen.quote, KINDS[verdict.kind], right, one.who, one.at, verdict.note


def _span(span: Marked) -> str:
    """Return a span as it is written in record ids."""
    return f"{','.join(f'{low}-{high}' for low, high in span.fragments)}:{span.type}"
