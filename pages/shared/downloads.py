"""Tables as files: CSV with the signature beside every row, no cell of which a spreadsheet runs."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from nereval_core.report.printed import as_csv, harmless
from nereval_core.report.sheets import Sheet


def csv_of(table: pd.DataFrame, signature: str) -> bytes:
    """Return a table as CSV in UTF-8; missing values are empty."""
    cells = table.astype("object").where(table.notna(), None)
    rows = tuple((*row, signature) for row in cells.itertuples(index=False, name=None))
    columns = tuple(harmless(str(column)) for column in (*table.columns, "signature"))
    return as_csv(Sheet("", columns, rows)).encode()


def csv_button(table: pd.DataFrame, signature: str, *, name: str, key: str) -> None:
    """Offer a table as a file; it is written only when asked for."""
    st.download_button(
        "CSV",
        partial(csv_of, table, signature),
        file_name=f"nereval-{name}.csv",
        mime="text/csv",
        key=f"csv_{key}",
        on_click="ignore",
        type="tertiary",
        help="The whole table with the signature of its numbers; the table's own menu saves it as it is.",
    )
