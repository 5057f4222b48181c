"""The tab *Classes* of Inspect: what kinds of errors there are, what each costs, and their records."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from nereval_core.analysis.errors import ErrorReport, error_report, errors_query
from nereval_core.analysis.errors.error_classes import CLASSES, STRICT
from nereval_core.analysis.errors.fair_classes import FairErrors, fair_class_table, fair_score_table
from nereval_core.analysis.errors.tables import end_table, error_class_table, pattern_table, type_table
from nereval_core.conventions import find_convention
from nereval_core.problems import FormatError
from nereval_core.report.figures.scores import gain_bars
from nereval_core.review.layer_words import figure_by_names
from nereval_core.tables import RATIO_KEYS
from pages.shared.components import navigation, sentence
from pages.shared.components.downloads import count_figure
from pages.shared.components.navigation import choose_word
from pages.shared.components.tables import ROWS, first_row, open_records, show_table
from pages.shared.data import masks, scored_folders
from pages.shared.data.computations import compute
from pages.shared.data.convention_results import formula
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.view.text import named, plain, refusal_words

if TYPE_CHECKING:
    # It takes longer to import than most pages.
    from plotly.graph_objects import Figure


PARTS = {"type": "By type", "ends": "By end", "words": "By words", "faireval": "FairEval"}
TYPES = 30
"""Types in the table by type, those with most errors; the exported table has all."""
SAID = {
    "type": "The type of the gold span, else of the prediction.",
    "ends": "Short leaves words out, long takes some in; fragments: the same two ends and other parts.",
    "words": "What predictions of class boundary only leave out or take in, by short lists of frequent words in "
    "English, German, French and Spanish; other words stand as they are. A record that differs at both ends is "
    "in two rows.",
    "faireval": "Every error once, as FairEval counts (Ortmann 2022): of type (LE), of boundary (BE: smaller, larger, "
    "overlapping), of both (LBE), missed or spurious. Where spans nest, an overlap counts only for tokens that no "
    "other error has used. Records show which spans strict pairs; FairEval may pair others.",
}


def draw_classes(page: PageContext) -> None:
    """Show the sentence, the table of classes, the figure, and the classes broken down."""
    if not page.loaded.has_layers:
        scored_folders.say_elsewhere("Classes on Inspect")
        return
    report = errors_of(page)
    sentence.draw(page, report.sentence(page.by), "classes", STRICT)
    sentence.draw(page, report.placing_sentence(), "placing", STRICT)
    st.caption("[What the classes mean, and what mending is](Guide#error-classes)")
    counts = report.scores.counts(page.by)
    table = report.classes[page.by]
    _classes(page, report)
    _bars(page, table, counts.pos, counts.act)
    _broken_down(page, report)


@memoized("Mending each class of errors and scoring anew …")
def errors_of(page: PageContext) -> ErrorReport:
    """Return the errors of the system by class, mended under the chosen criterion."""
    return compute(page.loaded, "Error classes", error_report, page.scores(names=[STRICT, page.by]), [page.by])


def _classes(page: PageContext, report: ErrorReport) -> None:
    counts = report.scores.counts(page.by)
    table = error_class_table(report, page.by, page.system)
    frame = report.classes[page.by]
    show_table(
        page,
        table,
        signature=page.signature(),
        data=frame,
        figure=lambda: _gain_figure(page, frame, counts.pos, counts.act),
        hint="Choose a number to see its records, a ratio to see its formula.",
    )


def _bars(page: PageContext, table: pd.DataFrame, gold: int, predicted: int) -> None:
    figure = _gain_figure(page, table, gold, predicted)
    label, *_ = count_figure(figure, "gains", file="error-classes") or [None]
    name = {page.words.error_class(name): name for name in CLASSES}.get(label)
    if name is not None:
        open_records(page, STRICT, errors_query(("class", name)), named(label), name="gains")


@memoized()
def _gain_figure(page: PageContext, _table: pd.DataFrame, _gold: int, _predicted: int) -> Figure:
    named_rows = _table.assign(**{"class": _table["class"].map(page.words.error_class)})
    return figure_by_names(gain_bars({page.system: named_rows}, page.by, _gold, [_predicted]), page.words)


def _broken_down(page: PageContext, report: ErrorReport) -> None:
    """Show the classes by type, by end or by words: what is not looked at is not drawn."""
    part = choose_word(page, "classes_by", "Classes", PARTS)
    st.caption(plain(page.words.by_names(SAID[part]), 600))
    if part == "words":
        _words(page, report)
    elif part == "faireval":
        _faireval(page, report)
    else:
        _grid(page, report, part)


def _grid(page: PageContext, report: ErrorReport, part: str) -> None:
    """Show a table of classes: down the classes and across the types, or down the ends and across the classes."""
    long = report.types if part == "type" else report.ends
    table = type_table(report, page.system, TYPES) if part == "type" else end_table(report, page.system)
    show_table(page, table, signature=page.signature(STRICT), data=long)


def _faireval(page: PageContext, report: ErrorReport) -> None:
    """Show the classes of FairEval, which open their records, and its scores, which open their formulas."""
    try:
        errors = _fair_errors(page, report)
    except FormatError as error:
        st.info(plain(f"FairEval cannot count these spans: {masks.mask_message(refusal_words(error))}.", 400))
        return
    signature = page.signature(STRICT)
    classes = fair_class_table(errors, page.system)
    show_table(page, classes, signature=signature, data=errors.classes, hint="Choose a number to see its records.")
    cell = show_table(
        page,
        fair_score_table(errors, page.system),
        signature=signature,
        data=errors.ratios,
        choose=tuple(RATIO_KEYS.values()),
        hint="Choose a ratio to see its formula.",
    )
    if cell is not None:
        evaluation = str(errors.ratios["evaluation"].iat[cell.row])
        convention = find_convention("faireval")
        ratio = next(name for name, key in RATIO_KEYS.items() if key == cell.column)
        words = formula(convention, evaluation, convention.ratios.names[ratio], errors.figures[evaluation])
        if words is not None:
            st.code(words, language=None, wrap_lines=True)
    if not (page.view.merge or page.view.leaveout):
        view = replace(page.view, criterion="faireval", inspect_tab="", classes_by="")
        navigation.link_to("Overview", ":primary[Its figures by type →]", view, key="faireval")


@memoized("Counting every error once …")
def _fair_errors(page: PageContext, _report: ErrorReport) -> FairErrors:
    return compute(page.loaded, "Errors of FairEval", ErrorReport.fair, _report)


def _words(page: PageContext, report: ErrorReport) -> None:
    if not len(report.patterns):
        st.caption("No record has class boundary only.")
        return
    first = first_row(len(report.patterns), "patterns", page.view, "patterns")
    table = pattern_table(report, page.system, slice(first, first + ROWS))
    show_table(
        page, table, signature=page.signature(STRICT), data=report.patterns, facts=(page.view, first), height=460
    )
