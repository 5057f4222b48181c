"""Match records, and other tables with one row per span, as the bytes of a file: Parquet, JSON lines or CSV."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from nereval_core.corpus import Layer
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables.rendering import one_type
from nereval_core.writers import escape_formula

if TYPE_CHECKING:
    import pandas as pd

RECORD_FORMS = (".parquet", ".jsonl", ".csv")
ROWS_AT_ONCE = 10_000
"""Rows that are written to JSON lines together."""


def record_form(name: str) -> str | None:
    """Return the suffix of a file name if it is one of RECORD_FORMS."""
    suffix = PurePath(name).suffix.lower()
    return suffix if suffix in RECORD_FORMS else None


def frame_as(form: str, frame: pd.DataFrame) -> bytes:
    """Return a frame of texts, categories and numbers in one of RECORD_FORMS; no cell can be taken for a formula."""
    import pandas as pd

    frame = frame.copy(deep=False)
    file = io.BytesIO()
    if form == ".parquet":
        # A column of Parquet has one type.
        for column in [name for name in frame.columns if frame[name].dtype == object]:
            plain = frame[column].where(frame[column].notna(), None)
            frame[column] = pd.Series(pd.arrays.ArrowExtensionArray(one_type(plain.tolist())), index=frame.index)
        frame.to_parquet(file, index=False)
    elif form == ".jsonl":
        # pandas makes an object of each cell: only of some rows at a time.
        for low in range(0, max(len(frame), 1), ROWS_AT_ONCE):
            rows = frame.iloc[low : low + ROWS_AT_ONCE]
            rows.to_json(file, orient="records", lines=True, force_ascii=False)
    else:
        for column in frame.columns:
            values = frame[column]
            if values.dtype == "category":
                frame[column] = values.cat.rename_categories(_escaped_names(values.cat.categories))
            elif isinstance(values.dtype, pd.StringDtype):
                frame[column] = values.map(escape_formula, na_action="ignore")
        frame.to_csv(file, index=False, lineterminator="\r\n")
    return file.getvalue()


def join_records(frames: Iterable[tuple[str, pd.DataFrame]]) -> pd.DataFrame:
    """Return the records of systems, given by name, in one frame: `system`, then their columns, categories as texts."""
    import pandas as pd

    joined = []
    for system, frame in frames:
        texts = {name: frame[name].astype(TEXT_DTYPE) for name in frame.columns if frame[name].dtype == "category"}
        frame = frame.assign(**texts)
        frame.insert(0, "system", pd.Series(system, index=frame.index, dtype=TEXT_DTYPE))
        joined.append(frame)
    return pd.concat(joined, ignore_index=True)


def all_records(scored: Sequence[tuple[Layer, Scores]]) -> pd.DataFrame:
    """Return the records of all systems and criteria: `system`, `signature` and the columns of RECORD_COLUMNS."""
    import pandas as pd
    from pandas.api.types import union_categoricals

    from nereval_core.records.tables import records
    from nereval_core.report.signature import signature

    frames = []
    for layer, scores in scored:
        for criterion in scores.criteria:
            frame = records(scores, criterion.name)
            frame.insert(0, "system", _constant(layer.name, len(frame)))
            frame["signature"] = _constant(signature(scores, criterion.name), len(frame))
            frames.append(frame)
    columns = {
        column: pd.Series(union_categoricals([frame[column] for frame in frames]))
        if frames[0][column].dtype == "category"
        else pd.concat([frame[column] for frame in frames], ignore_index=True)
        for column in frames[0].columns
    }
    return pd.DataFrame(columns)


def _constant(value: str, rows: int) -> pd.Series[Any]:
    import pandas as pd

    return pd.Series(pd.Categorical.from_codes([0] * rows, pd.Index([value], dtype=TEXT_DTYPE)))


def _escaped_names(names: pd.Index[str]) -> list[str]:
    """Return the names with formulas escaped, still all different: "=a" may stand beside "'=a"."""
    escaped: list[str] = []
    used = set(names)
    for name in names:
        safe = escape_formula(name)
        while safe != name and safe in used:
            safe = f"'{safe}"
        used.add(safe)
        escaped.append(safe)
    return escaped
