"""The view "by class" of the Inspect page: what kinds of errors there are, what each costs, and their records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from nereval_core.analysis.errors import ErrorReport, error_report, errors_query, negative_gains_note
from nereval_core.analysis.errors.error_classes import CLASSES, STRICT
from nereval_core.analysis.errors.gains import rescore
from nereval_core.report.figures.errors import gain_bars
from nereval_core.scoring import Scores
from pages.shared.components import sentence
from pages.shared.components.count_table import ROWS, count_figure, count_table, first_row
from pages.shared.components.downloads import Export
from pages.shared.components.record_list import open_records
from pages.shared.components.view_controls import choose_word
from pages.shared.data import scored_folders
from pages.shared.data.computations import compute
from pages.shared.data.loading import Loaded
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys
from pages.shared.view.count_tables import formula
from pages.shared.view.count_tables import number as number_said
from pages.shared.view.queries import Query
from pages.shared.view.text import explained, plain

if TYPE_CHECKING:
    # It takes longer to import than most pages.
    from plotly.graph_objects import Figure


RECORDS = "records"
VIEWS = {RECORDS: "Records", "by-class": "By class"}
PARTS = {"type": "By type", "ends": "By end", "words": "By words"}
TYPES = 30
"""Types in the table by type, those with most errors; the exported table has all."""
RATIOS = {"precision": "P", "recall": "R", "f1": "F1", "cumulative_f1": "F1 so far"}
SAID = {
    "type": "The type of the gold span, else of the prediction.",
    "ends": "Short leaves words out, long takes some in; fragments: the same two ends and other parts.",
    "words": "What predictions of class boundary only leave out or take in, by short lists of frequent words in "
    "English, German, French and Spanish; other words stand as they are. A record that differs at both ends is "
    "in two rows.",
}


def is_chosen(page: PageContext) -> bool:
    """Tell whether errors are sorted into classes; the answer is kept in the link."""
    return bool(page.view.inspect_tab)


def choose_classes(page: PageContext) -> None:
    """Ask whether errors are listed or sorted into classes."""
    choose_word(page, "inspect_tab", "View", VIEWS)


def draw_classes(page: PageContext) -> None:
    """Show the sentence, the table of classes, the figure, and the classes broken down."""
    if page.loaded.folder is not None:
        scored_folders.say_elsewhere("Inspect by class")
        return
    found = errors_of(page)
    sentence.draw(page, found.sentence(page.by), "classes", STRICT)
    sentence.draw(page, found.placing_sentence(), "placing", STRICT)
    st.caption("[What the classes mean, and what mending is](Guide#error-classes)")
    counts = found.scores.counts(page.by)
    table = found.classes[page.by]
    _classes(page, found, table)
    _bars(page, table, counts.pos, counts.act)
    _broken_down(page, found)


def errors_of(page: PageContext) -> ErrorReport:
    """Return the errors of the system by class, mended under the chosen criterion."""
    rule = repr((page.settings.merge, page.settings.leave_out, page.criterion, page.loaded.number))
    scores = page.scores(names=[STRICT, page.by])
    return _report(page.loaded.corpus.digest, page.system, rule, page.by, scores, page.loaded)


@st.cache_resource(max_entries=8, show_spinner="Mending each class of errors and scoring anew …")
def _report(digest: str, system: str, rule: str, name: str, _scores: Scores, _loaded: Loaded) -> ErrorReport:
    return compute(_loaded, "Error classes", error_report, _scores, [name])


def _classes(page: PageContext, found: ErrorReport, table: pd.DataFrame) -> None:
    shown = table.rename(columns=RATIOS)[["class", "records", "share", "F1", "gain", "F1 so far", "P", "R"]]
    number = st.column_config.NumberColumn
    counts = found.scores.counts(page.by)
    cell = count_table(
        shown,
        "classes",
        (page.view,),
        columns={
            "class": st.column_config.TextColumn("error class", width=140, pinned=True, help=explained(*CLASSES)),
            "records": number("records", width=80, format="localized"),
            "share": number("share", width=70, format="percent", help="Of all errors under strict."),
            "gain": number("F1 gained", width=90, format="%+.4f", help="F1 if mended alone, less F1 as it is."),
            "F1 so far": number("F1 so far", width=90, format="%.4f", help="With all classes above mended too."),
        }
        | {code: number(code, width=75, format="%.4f", help=_HELP + explained(code)) for code in ("P", "R", "F1")},
        export=Export(
            table,
            page.signature(),
            "error-classes",
            key="classes",
            figure=lambda: gain_bars({page.system: table}, page.by, counts.pos, [counts.act]),
        ),
        caption=f"Classes of the records under strict; P, R and F1 under {plain(page.by)} if the class alone is "
        f"mended, F1 as it is {number_said(counts.f1)}. Choose a number to see its records, a ratio to see its "
        "formula.",
    )
    if falls := negative_gains_note(table):
        st.caption(f"{plain(falls, 400)}.")
    if cell is None:
        return
    name, column = str(shown["class"].iat[cell[0]]), cell[1]
    if column in ("class", "records", "share"):
        _opened(page, errors_query(("class", name)), plain(name), "classes")
    else:
        above = shown["class"].iloc[: cell[0] + 1].tolist() if column == "F1 so far" else [name]
        _formula(page, found, above, column if column in ("P", "R") else "F1")


_HELP = "If this class alone is mended. "


def _formula(page: PageContext, found: ErrorReport, classes: Sequence[str], ratio: str) -> None:
    """Show how a ratio of mended predictions is made, and how it is made now."""
    after = rescore(found.scores, found.mended(classes), page.by)
    st.markdown(f"**{ratio} under {plain(page.by)} with {plain(', '.join(classes), 200)} mended**")
    st.code(formula(ratio, after).text, language=None, wrap_lines=True)
    st.caption("As it is:")
    st.code(formula(ratio, found.scores.counts(page.by)).text, language=None, wrap_lines=True)


def _bars(page: PageContext, table: pd.DataFrame, gold: int, predicted: int) -> None:
    facts = (page.loaded.corpus.digest, page.system, page.by, *table.itertuples(index=False, name=None))
    drawn = _drawn(facts, table, page.system, page.by, gold, predicted)
    name, *_ = count_figure(drawn, "gains", file="error-classes") or [None]
    if name in CLASSES:
        _opened(page, errors_query(("class", name)), plain(name), "gains")


@st.cache_resource(max_entries=50, show_spinner=False)
def _drawn(
    facts: tuple[object, ...], _table: pd.DataFrame, _system: str, _name: str, _gold: int, _predicted: int
) -> Figure:
    return gain_bars({_system: _table}, _name, _gold, [_predicted])


def _broken_down(page: PageContext, found: ErrorReport) -> None:
    """Show the classes by type, by end or by words: what is not looked at is not drawn."""
    key = f"{keys.TABLE}class-parts"
    part = st.segmented_control("Classes", list(PARTS), format_func=PARTS.__getitem__, key=key, default="type")
    if part is None:
        return
    st.caption(SAID[part])
    if part == "words":
        _words(page, found)
    else:
        _grid(page, found, part)


def _grid(page: PageContext, found: ErrorReport, part: str) -> None:
    """Show a table of classes: down the classes and across the types, or down the ends and across the classes."""
    long = found.types if part == "type" else found.ends
    down, across = ("class", "type") if part == "type" else ("ends", "class")
    whole = long.pivot_table(index=down, columns=across, values="records", aggfunc="sum", fill_value=0, sort=False)
    if part == "type":
        kinds = whole.sum().sort_values(ascending=False, kind="stable").index
        order = [name for name in found.classes[page.by]["class"] if name in whole.index]
        whole = whole.loc[order, kinds]
        if len(kinds) > TYPES:
            st.caption(f"The {TYPES} of {len(kinds):,} types with most errors; the exported table has all.")
    shown = whole.iloc[:, :TYPES]
    columns = [str(name) for name in shown.columns]
    cell = count_table(
        shown.set_axis(columns, axis=1).rename_axis(None),
        f"class-{part}",
        (page.view,),
        # Types are the data's: one may be called like a column of ours.
        columns={"_index": st.column_config.TextColumn(_HEADS[down], width=140, pinned=True)}
        | dict.fromkeys(columns, st.column_config.NumberColumn(format="localized")),
        choose=columns,
        export=Export(long, page.signature(STRICT), f"error-classes-{part}", key=f"class-{part}"),
        index=True,
    )
    if cell is not None:
        row, column = str(shown.index[cell[0]]), cell[1]
        _opened(page, errors_query((down, row), (across, column)), f"{plain(row)}, {plain(column)}", f"class-{part}")


_HEADS = {"class": "error class", "ends": "the prediction is"}


def _words(page: PageContext, found: ErrorReport) -> None:
    table = found.patterns
    if not len(table):
        st.caption("No record has class boundary only.")
        return
    first = first_row(len(table), "patterns", page.view, "patterns")
    shown = table.iloc[first : first + ROWS].reset_index(drop=True)[["pattern", "end", "records", "share"]]
    cell = count_table(
        shown,
        "patterns",
        (page.view, *((first,) if first else ())),
        columns={
            "pattern": st.column_config.TextColumn("the prediction …", width=330, pinned=True),
            "end": st.column_config.TextColumn("at its end", width=90),
            "records": st.column_config.NumberColumn("records", width=80, format="localized"),
            "share": st.column_config.NumberColumn(
                "share", width=70, format="percent", help="Of all records of class boundary only."
            ),
        },
        export=Export(table, page.signature(STRICT), "error-patterns", key="patterns"),
        height=460,
    )
    if cell is not None:
        row: Any = shown.iloc[cell[0]]
        query = errors_query(("class", "boundary only"), (f"pattern {row['end']}", str(row["pattern"])))
        _opened(page, query, f"{plain(str(row['pattern']))}, {row['end']}", "patterns")


def _opened(page: PageContext, query: Query, title: str, name: str) -> None:
    open_records(page, STRICT, query, title, name=name)
