"""Where predictions carry scores: P, R and F1 against the threshold, and how right the scores are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.scores_by_slice import SMALL, calibration, curve
from nereval_core.analysis.slices.thresholds import scores_of
from nereval_core.report.figures.slices import reliability, threshold_lines
from nereval_core.scoring import Counts
from pages.shared.components.downloads import export, figure_config
from pages.shared.components.record_list import opened, selected_cell, table_key
from pages.shared.components.terms import explained
from pages.shared.slices import cached_key, given_of
from pages.shared.view import keys
from pages.shared.view.count_tables import RATIOS, formula
from pages.shared.view.plain_text import plain
from pages.shared.view.queries import Query, overall_query

if TYPE_CHECKING:
    from pages.shared.frame import Here

CODES = ("COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT")
LACKING = (
    'Predictions need scores: `"score": 0.93` in a span of JSONL. No prediction of this system has one, or tokens are '
    "counted, which have none."
)


def draw(here: Here) -> None:
    """Show the ratios by the least score, and precision by the scores; counts open their records."""
    found = _curve(here)
    if found is None:
        st.info(LACKING)
        return
    table, bins, gap, unscored = found
    _curve_shown(here, table, unscored)
    st.subheader("Are the scores right?")
    if bins is None:
        st.info("No score lies between 0 and 1: as shares of right predictions they cannot be read.")
    else:
        _calibration_shown(here, bins, gap)


Found = tuple[pd.DataFrame, pd.DataFrame | None, float, int]


def _curve(here: Here) -> Found | None:
    return _made(here.loaded.corpus.digest, here.system, cached_key(here), here)


@st.cache_resource(max_entries=50, show_spinner="Scoring at every threshold …")
def _made(digest: str, system: str, key: str, _here: Here) -> Found | None:
    given = given_of(_here)
    table = curve(given)
    if table is None:
        return None
    values = slicings.find(given, "score")
    bins, gap = (None, 0.0) if values is None else calibration(given, values)
    return table, bins, gap, int(np.isnan(scores_of(given.layers[1])).sum())


def _curve_shown(here: Here, table: pd.DataFrame, unscored: int) -> None:
    title = f"{here.system} by the least score of a prediction, criterion {here.by}"

    def figure() -> Any:
        return threshold_lines(table, title, unscored)

    key = table_key(f"{keys.TABLE}thresholds", here.view)
    event = st.plotly_chart(
        figure(), key=f"{key}_figure", on_select="rerun", selection_mode="points", config=figure_config("thresholds")
    )
    points = event["selection"]["points"] if event else []
    codes = [code for code in CODES if code != "PAR" or table["PAR"].any()]
    shown = table.rename(columns={long: short for short, long in RATIOS.items()})[["threshold", *RATIOS, *codes]]
    number = st.column_config.NumberColumn
    chosen = st.dataframe(
        shown,
        key=key,
        on_select="rerun",
        selection_mode="single-cell",
        hide_index=True,
        placeholder="–",
        height=min(35 * (len(shown) + 1) + 3, 400),
        column_config={"threshold": number("score at least", width=105, format="%.6g", pinned=True)}
        | {code: number(code, width=60, format="%.3f", help=explained(code)) for code in RATIOS}
        | {code: number(code, width=62, format="localized", help=explained(code)) for code in codes},
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        export(table, here.signature(), name="thresholds", key="thresholds", figure=figure)
        st.caption(
            "Each row leaves out the predictions with a lower score and scores the rest anew. Choose a count to see "
            "its records, a ratio for its formula, a point of the figure for the predictions that stay."
        )
    cell = selected_cell(chosen, len(shown), (*RATIOS, *codes))
    if cell is None and points and points[0].get("customdata") is not None:
        place = points[0]["customdata"]
        row = int(place[0] if isinstance(place, list | tuple) else place)
        cell = (row, "ACT") if row < len(shown) else None
    if cell is None:
        return
    row, column = table.iloc[cell[0]], cell[1]
    if column in RATIOS:
        decided = [int(row[code]) for code in ("COR", "INC", "PAR")]
        counts = Counts((*decided, int(row["MIS"]), 0), (*decided, 0, int(row["SPU"])))
        st.code(formula(column, counts).text, language=None, wrap_lines=True)
        return
    threshold = float(row["threshold"])
    title = f"{column} with scores of at least {plain(f'{threshold:g}')}, under {plain(here.by)}"
    opened(here, here.by, threshold_query(threshold, column), title, name="thresholds")


def threshold_query(threshold: float, code: str) -> Query:
    """Return the query behind a count at a threshold."""
    if code == "POS":
        query = overall_query("POS")
        assert query is not None
        return query
    if code == "ACT":
        return Query(having=((f"pred kept {threshold!r}", "kept"),))
    return Query(having=((f"{'pred' if code == 'SPU' else 'gold'} at {threshold!r}", code),))


def _calibration_shown(here: Here, bins: pd.DataFrame, gap: float) -> None:
    title = f"Precision of {here.system} by score, criterion {here.by}"

    def figure() -> Any:
        return reliability(bins, title, gap, SMALL)

    key = table_key(f"{keys.TABLE}calibration", here.view)
    st.plotly_chart(figure(), key=f"{key}_figure", config=figure_config("calibration"))
    shown = pd.DataFrame(
        {"score": bins["slice"], "mean score": bins["confidence"], "P": bins["precision"], "ACT": bins["ACT"]}
    )
    number = st.column_config.NumberColumn
    event = st.dataframe(
        shown,
        key=key,
        on_select="rerun",
        selection_mode="single-cell",
        hide_index=True,
        column_config={"score": st.column_config.TextColumn("score", width=90, pinned=True)}
        | {name: number(name, width=85, format="%.3f") for name in ("mean score", "P")}
        | {"ACT": number("ACT", width=70, format="localized", help=explained("ACT"))},
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        export(bins, here.signature(), name="calibration", key="calibration", figure=figure)
        st.caption(
            f"The mean gap is {gap:.3f}: how far mean score and precision lie apart, by predictions (expected "
            "calibration error)."
        )
    cell = selected_cell(event, len(shown), ("ACT",))
    if cell is not None:
        value = str(bins["slice"].iat[cell[0]])
        query = Query(having=(("pred score", value),))
        opened(here, here.by, query, f"Predictions scored {plain(value)}", name="calibration")
