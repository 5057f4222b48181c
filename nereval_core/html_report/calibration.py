"""The section of a report on the calibration of scores, there where predictions have scores."""

from __future__ import annotations

from collections.abc import Iterator

from nereval_core.analysis.slices.calibration import Calibration, calibration
from nereval_core.analysis.slices.scores_by_slice import SLICE_PLAN, SMALL_SLICE_SPANS
from nereval_core.analysis.slices.span_values import SlicedScores
from nereval_core.analysis.slices.thresholds import sweep_thresholds
from nereval_core.html_report.page import FigureData, Lines, Paragraph, ReportTable
from nereval_core.html_report.records import ScoredSystems
from nereval_core.report.signature import signature
from nereval_core.tables import cells

_COLUMNS = {
    "slice": "score",
    "ACT": "ACT",
    "confidence": "mean score",
    "precision": "P",
    "precision_low": "P low",
    "precision_high": "P high",
}


def calibration_parts(scored: ScoredSystems, most: int) -> Iterator[Paragraph | FigureData | ReportTable | Lines]:
    """Yield figures, errors and bins of the first `most` systems whose predictions have scores.

    Nothing is yielded where no prediction has a score or the main criterion counts tokens.
    """
    main, signed = scored.main, []
    for system, scores in tuple(scored.scores.items())[:most]:
        sweep = sweep_thresholds(scores, main)
        if sweep is not None:
            given = SlicedScores(scores, main, (scored.corpus.gold, scored.corpus.system(system)))
            found = calibration(given, sweep)
            yield from _parts_of(system, main, found)
            signed.append(f"{system}: {signature(scores, main, intervals=found.units.signature(SLICE_PLAN))}")
    if signed:
        yield Lines("Signatures of these intervals", tuple(signed))


def _parts_of(system: str, main: str, found: Calibration) -> Iterator[Paragraph | FigureData | ReportTable]:
    from nereval_core.html_report.figures import figure_data
    from nereval_core.report.figures.slices import reliability, risk_curve

    said = (*found.error_sentences(), found.risk.sentence(), *found.threshold_sentences(), found.note())
    yield Paragraph((f"{system}, under {main}: {'. '.join(text[:1].upper() + text[1:] for text in said)}.",))
    for binning, table in found.bins.items():
        title = f"Precision of {system} in bins of {binning}, under {main}"
        drawn = reliability(
            table, title, found.error_sentences(binning)[0], SMALL_SLICE_SPANS, diagonal=not found.refusal
        )
        yield figure_data(drawn, above=40)
        yield ReportTable(f"{title}, in numbers", tuple(_COLUMNS.values()), cells(table[list(_COLUMNS)]), folded=True)
    risk = found.risk
    title = f"Risk of {system} by coverage, under {main}"
    yield figure_data(risk_curve(risk.points, title, risk.area, risk.risk), above=40)
