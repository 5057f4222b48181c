"""Decades and OCR noise of historical documents: counts by decade, and the slices of the CLEF-HIPE scorer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.conventions import Outcome
from nereval_core.conventions.hipe.files import dates_and_noise
from nereval_core.corpus import Documents, Layer
from nereval_core.readers import Source
from nereval_core.scoring import Counts, Scores
from nereval_core.scoring.count_tables import COUNT_COLUMNS, TEXT_DTYPE, Columns, count_row, typed_table

UNDATED = "no date"
_YEAR = re.compile(r"\s*(\d{4})(?!\d)")
PERIOD_COLUMNS = ("period", "documents", *COUNT_COLUMNS)
LEVELS = ("0.0-0.0", "0.001-0.1", "0.1-0.3", "0.3-1.1")
"""Noise levels as half-open ranges of LED (equal ends: that value), the share of characters that the OCR got wrong.

Tokens without LED, as most outside entities, belong to every level, so that a spurious prediction counts in each.
"""

ELSEWHERE = "in no level"
UNKNOWN = "none given"
NOISE = (*LEVELS, ELSEWHERE, UNKNOWN)
"""The levels of spans by their LED."""

HIPE_SLICE_COLUMNS: Columns = {
    "ranks": "Int32",
    "column": "category",
    "period": "category",
    "first_year": "Int32",
    "last_year": "Int32",
    "level": "category",
    "least_noise": "float64",
    "most_noise": "float64",
    "schema": "category",
    "gold": "int32",
    "pred": "int32",
    **dict.fromkeys(("precision", "recall", "f1", "macro_f1"), "float64"),
}
"""Columns of `hipe_slice_table` and their dtypes.

`period` and `level` are the scorer's names (TIME-1790-1800, LED-0.0-0.1); years and noise are NA for all, `last_year`
and `most_noise` are exclusive. `gold` and `pred` are counts of spans (possible, actual). Ratios are the scorer's: 0 for
a zero denominator, which `gold` shows; `macro_f1` is the mean over documents, NaN without any. `ranks` is the number of
ranked links that count, NA for entities.
"""


class HipeRanges(NamedTuple):
    """Periods and noise levels that gold has data for, in the form of the options --time-period and --noise-level."""

    periods: tuple[str, ...]
    levels: tuple[str, ...]


def hipe_decades(dates: Iterable[str]) -> tuple[str, ...]:
    """Return the decades of dates (YYYY-MM-DD or YYYY) in order, each as `1790-1800`; other text is ignored."""
    decades = {int(date[:4]) // 10 * 10 for date in dates if date[:4].isdigit() and len(date) >= 4}
    return tuple(f"{year:04}-{year + 10:04}" for year in sorted(decades) if year > 0)


def hipe_ranges(gold: Source) -> HipeRanges:
    """Return the decades in which gold has dated documents, and LEVELS if its tokens have LED.

    Raises:
        FormatError: gold is not in the format of CLEF-HIPE.
    """
    dates, noisy = dates_and_noise(gold)
    return HipeRanges(hipe_decades(dates), LEVELS if noisy else ())


def span_noise(layer: Layer) -> NDArray[np.int8]:
    """Return the noise of each span by `LED` in its metadata, as an index into NOISE, shape (spans,)."""
    codes = np.full(len(layer), NOISE.index(UNKNOWN), np.int8)
    noise_of_span = {span: noise for span, meta in layer.meta.items() if _is_number(noise := meta.get("LED"))}
    if not noise_of_span:
        return codes
    spans = np.fromiter(noise_of_span, np.int64, len(noise_of_span))
    noise = np.fromiter(noise_of_span.values(), np.float64, len(noise_of_span))
    codes[spans] = NOISE.index(ELSEWHERE)
    for number, level in enumerate(LEVELS):
        low, high = map(float, level.split("-"))
        codes[spans[((low <= noise) & (noise < high)) | ((noise == low) & (low == high))]] = number
    return codes


def _is_number(value: object) -> bool:
    # JSON allows whole numbers that are larger than any float.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def hipe_slice_table(outcome: Outcome) -> pd.DataFrame:
    """Return the figures of each slice in an outcome of CLEF-HIPE over all labels: HIPE_SLICE_COLUMNS.

    Slices without spans on either side are included.
    """
    by_rank = outcome.scores if outcome.options["task"] == "nel" else {None: outcome.scores}
    rows = [
        (
            None if rank is None else int(rank),
            column,
            period,
            *_years_of_period(period),
            level,
            *_bounds_of_level(level),
            schema,
            figures["possible"],
            figures["actual"],
            figures["P_micro"],
            figures["R_micro"],
            figures["F1_micro"],
            np.nan if figures["F1_macro_doc"] is None else figures["F1_macro_doc"],
        )
        for rank, columns in by_rank.items()
        for column, periods in columns.items()
        for period, levels in periods.items()
        for level, labels in levels.items()
        for schema, figures in labels["ALL"].items()
    ]
    return typed_table(rows, HIPE_SLICE_COLUMNS)


def _years_of_period(period: str) -> tuple[int | None, int | None]:
    _, *years = period.split("-")
    return (None, None) if years == ["ALL"] else (int(years[0]), int(years[1]))


def _bounds_of_level(level: str) -> tuple[float, float]:
    _, *ends = level.split("-")
    return (np.nan, np.nan) if ends == ["ALL"] else (float(ends[0]), float(ends[1]))


def year(date: object) -> int | None:
    """Return the year of a date that begins with one of four digits; None for anything else."""
    match = _YEAR.match(str(date)) if date is not None else None
    return int(match[1]) if match else None


def decade(date: object) -> str | None:
    """Return the decade of a date that begins with a year of four digits: `1790s`; None for anything else."""
    number = year(date)
    return None if number is None else f"{number // 10:03}0s"


def document_decades(documents: Documents) -> tuple[str, ...]:
    """Return the decade of each document by the `date` in its metadata, UNDATED where that is missing or unreadable."""
    return tuple(decade(row.get("date")) or UNDATED for row in _metadata(documents))


def before_or_from(documents: Documents, border: int) -> tuple[tuple[str, ...], NDArray[np.int8]]:
    """Return the names of the times before and from a year on, and UNDATED, and which of them each document is of."""
    years = [year(row.get("date")) for row in _metadata(documents)]
    codes = np.array([2 if number is None else int(number >= border) for number in years], np.int8)
    return (f"before {border}", f"{border} or later", UNDATED), codes


def _metadata(documents: Documents) -> Sequence[Mapping[str, object]]:
    return documents.meta or ({},) * len(documents)


def counts_by_decade(scores: Scores, name: str) -> dict[str, Counts]:
    """Return the counts of each decade in order, undated documents last; they add up to those of the corpus."""
    documents = scores.gold.documents
    period = dict(zip(documents.ids, document_decades(documents), strict=True))
    by_decade: dict[str, Counts] = {}
    for document, counts in scores.by_document(name).items():
        by_decade[period[document]] = by_decade.get(period[document], Counts()) + counts
    return {key: by_decade[key] for key in sorted(by_decade, key=lambda key: (key == UNDATED, key))}


def decade_table(scores: Scores, name: str) -> pd.DataFrame:
    """Return a row for each decade with spans: PERIOD_COLUMNS; `documents` includes those without spans."""
    number = pd.Series(document_decades(scores.gold.documents), dtype=TEXT_DTYPE).value_counts()
    rows = [
        {"period": period, "documents": int(number[period])} | count_row(counts)
        for period, counts in counts_by_decade(scores, name).items()
    ]
    return pd.DataFrame(rows, columns=list(PERIOD_COLUMNS)).astype({"period": TEXT_DTYPE})
