"""The confusion table laid out as a page shows it. No Streamlit in here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from nereval_core.records.queries import ABSENT
from nereval_core.scoring.count_tables import free_name
from pages.shared.view.layer_words import GOLD_AND_PREDICTION, LayerWords


@dataclass(frozen=True, eq=False)
class Confusion:
    """The confusion table laid out: `counts` and the `values` that cells show (NaN: blank), with names to read.

    `rows` and `columns` are types, ABSENT for the spurious row and the missed column, which stand last.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: pd.DataFrame
    values: pd.DataFrame

    def share(self, row: int, column: int, share: str) -> str:
        """Return the calculation of a share in a cell, empty where cells have counts."""
        value = int(self.counts.to_numpy()[row, column])
        if not share:
            return ""
        in_row = share == "row"
        whole = int(self.counts.iloc[row].sum() if in_row else self.counts.iloc[:, column].sum())
        name = self.counts.index[row] if in_row else self.counts.columns[column]
        return f"{value} of {whole} in {share} {name} = {value / whole:.1%}"


def confusion_table(
    cells: Mapping[tuple[str, str], int],
    types: Sequence[str],
    layout: Sequence[str],
    words: LayerWords = GOLD_AND_PREDICTION,
    *,
    share: str = "",
) -> Confusion:
    """Lay out counts by (gold, predicted) type: `types` in order, or those most confused first.

    `layout` holds words of `pages.shared.view.LAYOUTS`. With `share`, "row" or "column", cells show shares of the whole
    row or column, the diagonal included even where it is hidden.
    """
    order = list(types)
    if "by-confusion" in layout:
        off = {kind: sum(n for pair, n in cells.items() if kind in pair and pair[0] != pair[1]) for kind in types}
        order.sort(key=lambda kind: (-off[kind], kind))
    rows = columns = (*order, ABSENT)
    table = np.array([[cells.get((gold, pred), 0) for pred in columns] for gold in rows], np.int64)
    counts = pd.DataFrame(
        table,
        index=[*order, free_name(words.label("SPU"), order)],
        columns=[*order, free_name(words.label("MIS"), order)],
    )
    values = counts.astype("float64")
    if share == "row":
        values = values.div(counts.sum(axis=1).replace(0, np.nan), axis=0) * 100
    elif share == "column":
        values = values.div(counts.sum(axis=0).replace(0, np.nan), axis=1) * 100
    values = values.mask(counts == 0)
    if "off-diagonal" in layout:
        values = values.mask(np.eye(len(rows), dtype=bool))
    return Confusion(rows, columns, counts, values)
