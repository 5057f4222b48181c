"""Scores by period and by noise of the OCR, as the CLEF-HIPE scorer slices them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.conventions import Given, Outcome, named, settled
from nereval_core.conventions.hipe.files import dates_and_noise
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.readers import Source

LEVELS = ("0.0-0.0", "0.001-0.1", "0.1-0.3", "0.3-1.1")
"""Noise levels, from and to (not in it; equal ends are that very level): LED is the share of characters to change.

Tokens without LED, as most outside entities are, stay in every level, so that a spurious prediction counts in each.
"""

ELSEWHERE = "in no level"
UNKNOWN = "none given"
NOISE = (*LEVELS, ELSEWHERE, UNKNOWN)
"""What a span may be by its LED."""

SLICE_COLUMNS: Mapping[str, str] = {
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
    "precision": "float64",
    "recall": "float64",
    "f1": "float64",
    "macro_f1": "float64",
}
"""Columns of `slice_table` and their dtypes.

`period` and `level` are the scorer's names (TIME-1790-1800, LED-0.0-0.1); years and noise are NA for all, `last_year`
and `most_noise` are not in the slice. `gold` and `pred` are counts of spans (possible, actual). Ratios are the
scorer's: 0 for a zero denominator, so look at `gold`; `macro_f1` is the mean over documents, NaN of none. `ranks` is
the number of ranked links that count, NA for entities.
"""


class Ranges(NamedTuple):
    """Periods and noise levels that gold has data for, as the options --time-period and --noise-level take them."""

    periods: tuple[str, ...]
    levels: tuple[str, ...]


def decades(dates: Iterable[str]) -> tuple[str, ...]:
    """Return the decades of dates (YYYY-MM-DD or YYYY) in order, each as `1790-1800`; other text is passed over."""
    found = {int(date[:4]) // 10 * 10 for date in dates if date[:4].isdigit() and len(date) >= 4}
    return tuple(f"{year:04}-{year + 10:04}" for year in sorted(found) if year > 0)


def ranges(gold: Source) -> Ranges:
    """Return the decades in which gold has dated documents, and LEVELS if it says how noisy its tokens are.

    Raises:
        FormatError: no file in the format of CLEF-HIPE.
    """
    dates, noisy = dates_and_noise(gold)
    return Ranges(decades(dates), LEVELS if noisy else ())


def noise_of(layer: Layer) -> NDArray[np.int8]:
    """Return how noisy each span is by the number `LED` in its metadata, as an index into NOISE, shape (spans,)."""
    codes = np.full(len(layer), NOISE.index(UNKNOWN), np.int8)
    known = {span: noise for span, meta in layer.meta.items() if _is_number(noise := meta.get("LED"))}
    if not known:
        return codes
    spans = np.fromiter(known, np.int64, len(known))
    noise = np.fromiter(known.values(), np.float64, len(known))
    codes[spans] = NOISE.index(ELSEWHERE)
    for number, level in enumerate(LEVELS):
        low, high = map(float, level.split("-"))
        codes[spans[((low <= noise) & (noise < high)) | ((noise == low) & (low == high))]] = number
    return codes


def _is_number(value: object) -> bool:
    # Whole numbers of JSON may be larger than any float.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def slices(
    given: Given,
    *,
    convention: str = "hipe-2022",
    periods: Sequence[str] | None = None,
    levels: Sequence[str] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Return scores by period, noise level and both, as SLICE_COLUMNS; by default of all `ranges` of gold.

    Raises:
        FormatError: as the convention, or a convention without slices.
    """
    scorer = named(convention)
    if not any(option.name == "time-period" for option in scorer.options):
        found = f"{convention} knows no periods and noise levels"
        raise FormatError.single("--convention", None, found, "choose hipe-2022 or hipe-2020-july")
    there = ranges(given.gold) if periods is None or levels is None else Ranges((), ())
    periods = there.periods if periods is None else periods
    levels = there.levels if levels is None else levels
    asked = {**options, "time-period": list(periods) or None, "noise-level": list(levels) or None}
    return slice_table(scorer.score(given, settled(scorer, asked)))


def slice_table(outcome: Outcome) -> pd.DataFrame:
    """Return what an outcome of CLEF-HIPE says of each slice, over all labels, as SLICE_COLUMNS.

    Slices without spans on either side are there too.
    """
    by_rank = outcome.scores if outcome.options["task"] == "nel" else {None: outcome.scores}
    rows = [
        (
            None if rank is None else int(rank),
            column,
            period,
            *_years(period),
            level,
            *_noise(level),
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
    return pd.DataFrame(rows, columns=list(SLICE_COLUMNS)).astype(dict(SLICE_COLUMNS))


def _years(period: str) -> tuple[int | None, int | None]:
    _, *years = period.split("-")
    return (None, None) if years == ["ALL"] else (int(years[0]), int(years[1]))


def _noise(level: str) -> tuple[float, float]:
    _, *ends = level.split("-")
    return (np.nan, np.nan) if ends == ["ALL"] else (float(ends[0]), float(ends[1]))
