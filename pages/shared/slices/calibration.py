"""Calibration of scores: the reliability diagram, errors in words, risk by coverage, and a threshold tried out."""

from __future__ import annotations

from typing import Any

import streamlit as st

from nereval_core.analysis.slices.calibration import BINNINGS, Calibration
from nereval_core.analysis.slices.scores_by_slice import SLICE_PLAN, SMALL_SLICE_SPANS
from nereval_core.analysis.slices.tables import calibration_table
from nereval_core.report.figures.slices import reliability, risk_curve
from nereval_core.report.signature import signature
from pages.shared.components.figures import show_figure
from pages.shared.components.tables import open_records, show_table
from pages.shared.data.page_context import PageContext
from pages.shared.view.queries import Query
from pages.shared.view.text import plain

CREDIT = "A correct prediction counts 1 and a partial one 1/2; missed gold spans have no score and take no part."


def draw_calibration(page: PageContext, report: Calibration) -> None:
    """Show how far scores can be trusted; a count of a bin opens its predictions."""
    st.header("Are the scores right?")
    st.caption(f"{_sentence(report.note())} {CREDIT}")
    if report.refusal:
        st.info(_sentence(report.refusal))
    names = list(report.bins)
    label = "Bins of the scores"
    binning = names[0]
    if len(names) > 1:
        binning = st.segmented_control(label, names, default=names[0], required=True, key="calibration_bins")
    _bins_shown(page, report, binning)
    title = f"Risk of {page.system} by coverage, criterion {page.by}"
    risk = report.risk
    show_figure(risk_curve(risk.points, title, risk.area, risk.risk), "risk_figure", (page.view,), file="risk-coverage")
    st.write(_sentence(risk.sentence()))
    if sentences := report.threshold_sentences():
        st.subheader("Would a threshold help?")
        st.markdown("\n".join(f"- {_sentence(text)}" for text in sentences))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{plain(text[1:], 400)}."


def _bins_shown(page: PageContext, report: Calibration, binning: str) -> None:
    table, sentences = report.bins[binning], report.error_sentences(binning)
    title = f"Precision of {page.system} in bins of {binning}, criterion {page.by}"

    def figure() -> Any:
        return reliability(table, title, sentences[0], SMALL_SLICE_SPANS, diagonal=not report.refusal)

    show_figure(figure(), "calibration_figure", (page.view, binning), file="calibration")
    if not report.refusal:
        st.markdown("\n".join(f"- {_sentence(text)}" for text in sentences))
    cell = show_table(
        page,
        calibration_table(f"{page.system}: {page.by}", report, binning),
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
