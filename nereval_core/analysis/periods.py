"""Counts by decade, under any criterion: the documents' counts, added up by the date in their metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from nereval_core.corpus import Documents
from nereval_core.records.tables import COUNT_COLUMNS, count_row
from nereval_core.scoring import Counts, Scores

UNDATED = "no date"
MOST_DECADES = 60
_YEAR = re.compile(r"\s*(\d{4})(?!\d)")
PERIOD_COLUMNS = ("period", "documents", *COUNT_COLUMNS)


def decade(date: object) -> str | None:
    """Return the decade of a date that begins with a year of four digits: `1790s`; None for anything else."""
    found = _YEAR.match(str(date)) if date is not None else None
    return f"{found[1][:3]}0s" if found else None


def decades_of(documents: Documents) -> tuple[str, ...]:
    """Return the decade of each document by `meta`'s `date`, UNDATED where there is none that can be read."""
    meta: Sequence[Mapping[str, object]] = documents.meta or ({},) * len(documents)
    return tuple(decade(one.get("date")) or UNDATED for one in meta)


def by_decade(scores: Scores, name: str) -> dict[str, Counts]:
    """Return the counts of each decade in order, the undated documents last; together they are those of the corpus."""
    documents = scores.gold.documents
    period = dict(zip(documents.ids, decades_of(documents), strict=True))
    found: dict[str, Counts] = {}
    for document, counts in scores.by_document(name).items():
        found[period[document]] = found.get(period[document], Counts()) + counts
    return {key: found[key] for key in sorted(found, key=lambda key: (key == UNDATED, key))}


def on_a_line(table: pd.DataFrame) -> pd.DataFrame:
    """Return the dated rows of a `decade_table` with a row for each decade between that has no spans: 0 and NaN.

    A line drawn over it breaks where nothing is known. Over more than MOST_DECADES only those with spans are kept.
    """
    dated = table[(table["period"] != UNDATED).to_numpy()]
    years = [int(period[:4]) for period in dated["period"]]
    decades = [f"{year:04}s" for year in range(min(years, default=0), max(years, default=-10) + 10, 10)]
    if len(decades) > MOST_DECADES:
        return dated
    counts = [column for column in dated.columns if pd.api.types.is_integer_dtype(dated[column])]
    whole = dated.set_index("period").reindex(pd.Index(decades, name="period", dtype="str")).reset_index()
    return whole.fillna(dict.fromkeys(counts, 0)).astype(dict.fromkeys(counts, "int64"))


def decade_table(scores: Scores, name: str) -> pd.DataFrame:
    """Return one row a decade that has spans: PERIOD_COLUMNS, `documents` counting those without spans too."""
    number = pd.Series(decades_of(scores.gold.documents), dtype="str").value_counts()
    rows = [
        {"period": period, "documents": int(number[period])} | count_row(counts)
        for period, counts in by_decade(scores, name).items()
    ]
    return pd.DataFrame(rows, columns=list(PERIOD_COLUMNS))
