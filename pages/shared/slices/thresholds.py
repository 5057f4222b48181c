"""Scores of predictions: P, R and F1 by threshold, their calibration and the risk by coverage."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.analysis.methods import methods
from nereval_core.analysis.resampling_units import ResamplingUnits
from nereval_core.analysis.slices.calibration import BINNINGS, Calibration, calibration
from nereval_core.analysis.slices.scores_by_slice import SLICE_PLAN, SMALL_SLICE_SPANS
from nereval_core.analysis.slices.span_values import SlicedScores
from nereval_core.analysis.slices.tables import calibration_table, threshold_table
from nereval_core.analysis.slices.thresholds import sweep_thresholds
from nereval_core.problems import capitalised, name_text
from nereval_core.records.queries import Query, overall_query
from nereval_core.report.figures.slices import reliability, risk_curve, threshold_lines
from nereval_core.report.references import AREA, BRIER, ECE, EQUAL_MASS, INTERVAL, MCE, REFLECTED
from nereval_core.report.signature import signature
from nereval_core.review.layer_words import figure_by_names
from nereval_core.scoring import Counts
from nereval_core.tables import RATIO_KEYS
from pages.shared.components.downloads import count_figure, show_figure
from pages.shared.components.export_menu import explain_methods, offer_methods
from pages.shared.components.tables import ChosenCell, open_records, show_table
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.data.resampling import units_of
from pages.shared.slices.slicing import report_of_page, sliced_of, without_data_beside
from pages.shared.systems.tables import choose_units, show_warnings
from pages.shared.view.formulas import formula
from pages.shared.view.text import plain

CODES = ("COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT")
LACKING = (
    'Predictions need scores: `"score": 0.93` in a span of JSONL. No prediction has one, or tokens are '
    "counted, which have none."
)


def draw_thresholds(page: PageContext) -> None:
    """Show the ratios by the least score, and the calibration of the scores; counts open their records."""
    choose_units(page)
    show_warnings(units_of(page).notes)
    scored = _scored(page)
    if scored is None:
        st.info(page.words.by_names(LACKING))
        return
    table, trust = scored
    explain_methods(ECE, MCE, BRIER, EQUAL_MASS, REFLECTED, AREA, INTERVAL)
    offer_methods(lambda: methods(report_of_page(page, {}, trust)), page.words)
    _curve_shown(page, table, trust.unscored)
    draw_calibration(page, trust)


@memoized("Scoring at every threshold …")
def _scored(page: PageContext) -> tuple[pd.DataFrame, Calibration] | None:
    sliced, units = sliced_of(page), units_of(page)
    return compute(page.loaded, "Thresholds", _swept, without_data_beside(sliced), units)


def _swept(sliced: SlicedScores, units: ResamplingUnits) -> tuple[pd.DataFrame, Calibration] | None:
    sweep = sweep_thresholds(sliced.scores, sliced.criterion, units=units)
    return None if sweep is None else (sweep.curve(), calibration(sliced, sweep, units=units))


def _curve_shown(page: PageContext, table: pd.DataFrame, unscored: int) -> None:
    title = f"{name_text(page.system)} by the least score of a prediction, criterion {page.by}"

    def figure() -> Any:
        return figure_by_names(threshold_lines(table, title, unscored), page.words)

    point = count_figure(figure(), "thresholds_figure", (page.view,), file="thresholds")
    declared = threshold_table(title, table)
    cell = show_table(
        page,
        declared,
        signature=page.signature(),
        data=table,
        choose=declared.keys[1:],
        figure=figure,
        caption="Each row leaves out the predictions with a lower score and scores the rest anew. Choose a count to "
        "see its records, a ratio for its formula, a point of the figure for the predictions that stay.",
        height=400,
    )
    if cell is None and point and int(point[0]) < len(table):
        cell = ChosenCell(int(point[0]), "ACT")
    if cell is None:
        return
    row, column = table.iloc[cell[0]], cell[1]
    ratio = next((ratio for ratio, key in RATIO_KEYS.items() if key == column), None)
    if ratio is not None:
        decided = [int(row[code]) for code in ("COR", "INC", "PAR")]
        counts = Counts((*decided, int(row["MIS"]), 0), (*decided, 0, int(row["SPU"])))
        st.code(formula(ratio, counts).text, language=None, wrap_lines=True)
        return
    threshold = float(row["threshold"])
    title = f"{column} with scores of at least {plain(f'{threshold:g}')}, under {plain(page.by)}"
    open_records(page, page.by, threshold_query(threshold, column), title, name="thresholds")


def threshold_query(threshold: float, code: str) -> Query:
    """Return the query behind a count at a threshold."""
    if code == "POS":
        query = overall_query("POS")
        assert query is not None
        return query
    if code == "ACT":
        return Query(having=((f"pred kept {threshold!r}", "kept"),))
    return Query(having=((f"{'pred' if code == 'SPU' else 'gold'} at {threshold!r}", code),))


CREDIT = "A correct prediction counts 1 and a partial one 1/2; missed gold spans have no score and take no part."


def draw_calibration(page: PageContext, report: Calibration) -> None:
    """Show how far scores can be trusted; a count of a bin opens its predictions."""
    st.header("Are the scores right?")
    st.caption(f"{_sentence(page, report.note())} {plain(page.words.by_names(CREDIT), 300)}")
    if report.refusal:
        st.info(_sentence(page, report.refusal))
    names = list(report.bins)
    label = "Bins of the scores"
    binning = names[0]
    if len(names) > 1:
        binning = st.segmented_control(label, names, default=names[0], required=True, key="calibration_bins")
    _bins_shown(page, report, binning)
    title = f"Risk of {name_text(page.system)} by coverage, criterion {page.by}"
    risk = report.risk
    curve = figure_by_names(risk_curve(risk.points, title, risk.area, risk.risk), page.words)
    show_figure(curve, "risk_figure", (page.view,), file="risk-coverage")
    st.write(_sentence(page, risk.sentence()))
    if sentences := report.threshold_sentences():
        st.subheader("Would a threshold help?")
        st.markdown("\n".join(f"- {_sentence(page, text)}" for text in sentences))


def _sentence(page: PageContext, text: str) -> str:
    return plain(f"{capitalised(page.words.by_names(text), page.systems)}.", 400)


def _bins_shown(page: PageContext, report: Calibration, binning: str) -> None:
    table, sentences = report.bins[binning], report.error_sentences(binning)
    title = f"Precision of {page.system} in bins of {binning}, criterion {page.by}"

    def figure() -> Any:
        dots = reliability(table, title, sentences[0], SMALL_SLICE_SPANS, diagonal=not report.refusal)
        return figure_by_names(dots, page.words)

    show_figure(figure(), "calibration_figure", (page.view, binning), file="calibration")
    if not report.refusal:
        st.markdown("\n".join(f"- {_sentence(page, text)}" for text in sentences))
    cell = show_table(
        page,
        calibration_table(f"{name_text(page.system)}: {page.by}", report, binning),
        signature=signature(page.scores(), page.by, intervals=report.units.signature(SLICE_PLAN)),
        data=table,
        choose=("ACT",),
        facts=(page.view, binning),
        figure=figure,
        caption="Choose a count to see its predictions.",
    )
    if cell is not None:
        value = str(table["slice"].iat[cell[0]])
        query = Query(having=((f"pred {BINNINGS[binning]}", value),))
        open_records(page, page.by, query, f"Predictions scored {plain(value)}", name="calibration")
