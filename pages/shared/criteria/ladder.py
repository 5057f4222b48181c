"""The ladder of a record: a view of the Criteria page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.analysis.criteria.ladder import LEFT_OUT, ladder
from nereval_core.records.tables import records
from nereval_core.report.colours import LOOKS
from nereval_core.scoring import Scores
from pages.shared.components.count_table import count_table, short
from pages.shared.components.downloads import Export
from pages.shared.components.record_list import record_box, record_table
from pages.shared.data.page_context import PageContext
from pages.shared.view.text import plain

CHANGE = "smallest change of the prediction that flips the record"
GLYPHS = {code: look.glyph for code, look in LOOKS.items()}


def draw_ladder(page: PageContext) -> None:
    """Show the ladder of the record that is chosen, or of one chosen from the list."""
    if page.criterion.unit != "span":
        st.caption(f"{plain(page.by)} counts tokens: choose a matching criterion that counts spans.")
        return
    if page.view.record and page.view.doc:
        one = page.reading(page.view.doc)
        rows = records(one, page.by)
        found = np.flatnonzero((rows["record"] == page.view.record).to_numpy())
        if len(found):
            _ladder(page, page.by, one, rows.iloc[found[0]])
            return
    st.caption("Choose a record to see what each criterion makes of it.")
    record_table(page, page.by, page.query(), name="ladder", card=ladder_card)


def ladder_card(page: PageContext, criterion: str, record: pd.Series) -> None:
    """Show one record of a list with its ladder."""
    one = page.reading(str(record["document"]), criterion)
    rows = records(one, criterion)
    (place,) = np.flatnonzero((rows["record"] == record["record"]).to_numpy())
    _ladder(page, criterion, one, rows.iloc[place])


def _ladder(page: PageContext, criterion: str, one: Scores, record: pd.Series) -> None:
    record_box(page, one, page.view, record)
    table = ladder(one, criterion, int(record["gold"]), int(record["pred"]))
    if not len(table):
        side = "gold span" if record["gold"] >= 0 else "prediction"
        other = "prediction" if record["gold"] >= 0 else "gold span"
        st.caption(f"No {other} overlaps this {side}: every criterion leaves it alone.")
        return
    gold, pred = one.layers(criterion)
    pairs = table.drop_duplicates("pair")
    wide = pd.DataFrame(
        {
            "gold span": [f"{short(gold.text(g))} [{gold.label(g)}]" for g in pairs["gold"].tolist()],
            "prediction": [f"{short(pred.text(p))} [{pred.label(p)}]" for p in pairs["pred"].tolist()],
        }
    )
    names = table["criterion"].iloc[: len(table) // len(pairs)].tolist()
    for name in names:
        rows = table[table["criterion"] == name]
        wide[name] = [_cell(*row) for row in zip(rows["decision"].tolist(), rows["aligned"].tolist(), strict=True)]
    column = st.column_config.TextColumn
    cell = count_table(
        wide,
        "ladder",
        (page.view, criterion, record["document"], record["record"]),
        columns={"gold span": column(width=170, pinned=True), "prediction": column(width=170, pinned=True)}
        | {name: column(plain(name), width=85) for name in names},
        caption="A row is a pair that the record could be judged by, a column a criterion. In brackets: what the pair "
        "would get, had the criterion aligned it. Choose another row to see what of its prediction flips the record.",
    )
    chosen = pairs["pair"].tolist()[cell[0] if cell is not None else 0]
    steps = table[table["pair"] == chosen]
    shown = pd.DataFrame(
        {
            "criterion": steps["criterion"],
            "decision": [_cell(code, True) for code in steps["decision"].tolist()],
            CHANGE: steps["change"],
            "aligned with": steps["partner"],
        }
    )
    row = wide.iloc[int(pairs["pair"].tolist().index(chosen))]
    st.markdown(f"**{plain(str(row['gold span']))} and {plain(str(row['prediction']))}**")
    count_table(
        shown,
        "steps",
        (page.view, criterion, record["record"], chosen),
        columns={
            "criterion": column(width=110),
            "decision": column(width=95),
            CHANGE: column(width=330),
            "aligned with": column(width=350),
        },
        choose=(),
        export=Export(table, page.signature(criterion), "ladder"),
        height=500,
    )


def _cell(decision: str, aligned: bool) -> str:
    if decision == LEFT_OUT:
        return LEFT_OUT
    return f"{GLYPHS[decision]} {decision}" if aligned else f"({decision})"
