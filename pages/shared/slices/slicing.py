"""Slices by properties of spans and documents: the choice of a slicing, the figure and the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.analysis.methods import methods
from nereval_core.analysis.resampling_units import ResamplingUnits
from nereval_core.analysis.sentences import Sentence, record_count
from nereval_core.analysis.slices import SliceReport, slicings
from nereval_core.analysis.slices.calibration import Calibration
from nereval_core.analysis.slices.scores_by_slice import (
    BOOTSTRAP,
    FEW_UNITS_OF_SLICE,
    NO_INTERVAL,
    SLICE_PLAN,
    SMALL_SLICE_SPANS,
    WILSON,
    slice_table,
    tally_slices,
)
from nereval_core.analysis.slices.span_values import SlicedScores
from nereval_core.analysis.slices.tables import score_table
from nereval_core.analysis.slices.user_columns import UserColumns, check_columns, read_columns
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, capitalised, name_text
from nereval_core.readers import Source, read
from nereval_core.records.queries import Query, Side, side_query
from nereval_core.report.figures.slices import slice_intervals
from nereval_core.report.references import INTERVAL, WILSON_INTERVAL
from nereval_core.report.signature import signature
from nereval_core.review.layer_words import figure_by_names
from nereval_core.scoring import Counts
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables import RATIO_KEYS
from pages.shared.components import sentence
from pages.shared.components.downloads import show_figure
from pages.shared.components.export_menu import explain_methods, offer_methods
from pages.shared.components.tables import open_records, show_table
from pages.shared.data import caches, masks
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.data.resampling import units_of
from pages.shared.systems.tables import choose_units, show_warnings
from pages.shared.view import SLICED_BY, keys, state
from pages.shared.view.formulas import SIDES, formula
from pages.shared.view.text import noun, plain, show_problems

COUNTED_SIDES: Mapping[str, tuple[Side, str]] = {
    **{f"{side}_{code}": (side, code) for side in SIDES for code in ("COR", "INC", "PAR")},
    **{"MIS": ("gold", "MIS"), "POS": ("gold", "POS"), "SPU": ("pred", "SPU"), "ACT": ("pred", "ACT")},
}
"""The side and the code that each count of the table counts, by its column."""
SIDE_NAMES: Mapping[Side, str] = {"gold": "gold", "pred": "predicted"}


def sliced_of(page: PageContext) -> SlicedScores:
    """Return the scores under the chosen criterion, to be sliced."""
    corpus = page.loaded.corpus
    return SlicedScores(page.scores(), page.by, (corpus.gold, corpus.system(page.system)), caches.beside().get)


def without_data_beside(sliced: SlicedScores) -> SlicedScores:
    """Return scores whose slices are known, for another process."""
    return SlicedScores(sliced.scores, sliced.criterion, sliced.read)


def choose_slices(page: PageContext) -> str:
    """Offer the slicings and what is resampled; return the name of the slicing."""
    names = offered_slicings(page)
    choice_column, more_column = st.columns([3, 1], vertical_alignment="bottom")
    widget = state.mirror("slice_by", chosen_slicing(page, names), take_slicing)
    name = str(
        choice_column.selectbox(
            "Slice by", names, format_func=lambda name: page.words.by_names(slicings.slicing_title(name)), **widget
        )
    )
    with more_column:
        _more(page)
    choose_units(page)
    explain_methods(INTERVAL, WILSON_INTERVAL)
    show_warnings(units_of(page).notes)
    if lines := st.session_state.get(keys.BESIDE_PROBLEMS):
        show_problems([masks.mask_message(line) for line in lines])
    return name


def draw_slices(page: PageContext, name: str) -> None:
    """Show P, R and F1 of the chosen system in each slice, and the records of the chosen count."""
    table, note = _table(page, name)
    if table is None or not len(table):
        st.info("No span has a value here.")
        return
    if note is not None:
        st.info(plain(f"{capitalised(note, page.systems)}.", 300))
    offer_methods(lambda: methods(report_of_page(page, {name: table})), page.words)
    title = f"{name_text(page.system)} by {slicings.title_in_sentence(name)}, criterion {page.by}"
    documents = len(page.loaded.corpus.documents)

    def figure() -> Any:
        by_slice = slice_intervals(table, title, slicings.slicing_title(name), SMALL_SLICE_SPANS, documents)
        return figure_by_names(by_slice, page.words)

    if noun(page.by) == "record":
        sentence.draw(page, _worst(table, name), "slices")
    show_figure(figure(), "slice_figure", (page.view, name), file="slices")
    explanation = f"{slicings.slicing_explanation(name)} {_rule(table, units_of(page))}"
    st.caption(plain(page.words.by_names(explanation), 600))
    _scores_shown(page, report_of_page(page, {name: table}), name, figure)


def report_of_page(
    page: PageContext, tables: Mapping[str, pd.DataFrame], trust: Calibration | None = None
) -> SliceReport:
    """Return what the page shows of slices as the library has it."""
    titles = {name: slicings.slicing_title(name) for name in tables}
    return SliceReport(page.scores(), page.by, SLICE_PLAN, units_of(page), tables, titles, calibration=trust)


def offered_slicings(page: PageContext) -> tuple[str, ...]:
    """Return the names of the slicings that apply, with those by year, training data and columns of the user's own."""
    return slicings.applicable_slicings(
        sliced_of(page),
        _beside(keys.TRAINING, Layer),
        _beside(keys.COLUMNS, UserColumns),
        [year] if (year := st.session_state.get(keys.SLICED_YEAR)) else [],
    )


def chosen_slicing(page: PageContext, names: Sequence[str]) -> str:
    """Return the chosen slicing; one with an argument is kept in the session, as no link holds it."""
    own = st.session_state.get(keys.SLICING)
    if own in names:
        return str(own)
    return next((name for name in names if name == page.view.slice_by), names[0])


def take_slicing(name: str) -> None:
    """Slice by a property (a callback)."""
    is_linked = name in SLICED_BY
    st.session_state[keys.SLICING] = "" if is_linked else name
    state.put(replace(state.view(), slice_by=name if is_linked else ""))


def _rule(table: pd.DataFrame, units: ResamplingUnits) -> str:
    kinds = set(table["interval"].astype(TEXT_DTYPE))
    sentences = "Recall is over the gold spans of a slice, precision over its predictions."
    if WILSON in kinds:
        sentences += f" Slices in fewer than {FEW_UNITS_OF_SLICE} {units.plural}, and those all right or all wrong, "
        sentences += "have Wilson's intervals for P and R, and none for F1: a bootstrap over so few is rough."
    if BOOTSTRAP in kinds:
        sentences += f" The other intervals are by the bootstrap over {units.plural} (2,000 resamples, seed 0)."
    if NO_INTERVAL in kinds:
        sentences += f" Slices in one {units.singular} have none."
    return sentences


def _beside(key: str, kind: type) -> Any:
    stored = caches.beside().get(st.session_state.get(key, ""))
    return stored if isinstance(stored, kind) else None


def slices_of(page: PageContext, name: str) -> pd.DataFrame | None:
    """Return the table of a slicing, None where no span has a value."""
    return _table(page, name)[0]


@memoized("Slicing …")
def _table(page: PageContext, name: str) -> tuple[pd.DataFrame | None, str | None]:
    """Return the table of a slicing, and which ratios it lacks because one side has no values."""
    sliced = sliced_of(page)
    values = slicings.find_values(sliced, name)
    if values is None:
        return None, None
    counted = tally_slices(sliced, values)
    return slice_table(counted, units=units_of(page)), counted.note(slicings.title_in_sentence(name))


def _worst(table: pd.DataFrame, name: str) -> Sentence:
    """Say which slice of enough spans is worst, and which is best; where others have an F1 too, say what is enough."""
    enough = table[
        ((table["POS"] >= SMALL_SLICE_SPANS) & (table["ACT"] >= SMALL_SLICE_SPANS) & table["f1"].notna()).to_numpy()
    ]
    if len(enough) < 2:
        return ()
    order = enough["f1"].to_numpy()
    worst, best = (enough.iloc[int(place)] for place in (order.argmin(), order.argmax()))
    if worst["f1"] == best["f1"]:
        return ()

    def gold(row: pd.Series) -> Any:
        return record_count(int(row["POS"]), Query(having=((f"gold {name}", str(row["slice"])),)))

    is_all = len(enough) == table["f1"].notna().sum()
    among = "" if is_all else f"Of slices with at least {SMALL_SLICE_SPANS} gold spans and as many predictions, "
    return (
        f"{among}F1 is lowest for {worst['slice']}, {worst['f1']:.3f} with ",
        gold(worst),
        f" gold spans, and highest for {best['slice']}, {best['f1']:.3f} with ",
        gold(best),
        ".",
    )


def _signed(page: PageContext) -> str:
    return signature(page.scores(), page.by, intervals=units_of(page).signature(SLICE_PLAN))


def _scores_shown(page: PageContext, report: SliceReport, name: str, figure: Any) -> None:
    table = score_table(report, name, page.system)
    notes = "".join(f"{capitalised(note, page.systems)}. " for note in table.notes)
    cell = show_table(
        page,
        table,
        signature=_signed(page),
        data=report.tables[name],
        choose=(*RATIO_KEYS.values(), *COUNTED_SIDES),
        facts=(page.view, name),
        figure=figure,
        caption=f"{notes}Choose a count to see its records, a ratio to see its formula.",
        height=500,
    )
    if cell is not None:
        _open(page, report.tables[name].iloc[cell.row], name, cell.column)


def _open(page: PageContext, row: pd.Series, name: str, column: str) -> None:
    if column not in COUNTED_SIDES:
        ratio = next(ratio for ratio, key in RATIO_KEYS.items() if key == column)
        st.code(formula(ratio, counts_of_row(row)).text, language=None, wrap_lines=True)
        return
    side, code = COUNTED_SIDES[column]
    query = side_query(side, code)
    assert query is not None
    value = str(row["slice"])
    of_slice = f"{plain(value)}, {plain(slicings.slicing_title(name))}, under {plain(page.by)}"
    title = f"{SIDE_NAMES[side]} {code} of {of_slice}"
    open_records(page, page.by, replace(query, having=((f"{side} {name}", value),)), title, name="slices")


def counts_of_row(row: pd.Series) -> Counts:
    """Return the counts of a row of `slice_table`."""
    gold = (*(int(row[f"gold_{code}"]) for code in ("COR", "INC", "PAR")), int(row["MIS"]), 0)
    pred = (*(int(row[f"pred_{code}"]) for code in ("COR", "INC", "PAR")), 0, int(row["SPU"]))
    return Counts(gold, pred)


def _more(page: PageContext) -> None:
    """Take a year, a training layer and columns of the user's own."""
    with st.popover("More to slice by", key="slices_more", on_change="rerun", width="stretch") as popover:
        if not popover.open:
            return
        if slicings.applies(sliced_of(page), "year"):
            st.number_input(
                "Before and from the year",
                1,
                9999,
                st.session_state.get(keys.SLICED_YEAR),
                key="slices_year_input",
                help="Slices the documents by whether their date is before this year.",
                on_change=_take_year,
            )
        number = st.session_state.get(keys.BESIDE_LOADS, 0)
        for kind, label, help_text in (
            (
                "training",
                "Training data",
                "Annotations in any format that is read, to tell seen spans from unseen ones.",
            ),
            (
                "columns",
                "Your own columns (CSV)",
                "A first line of names, one of them document (its id); beside it, for single spans, span: a gold "
                "span's id or a record's, such as g:12-19:Drug. Every other column can be sliced by.",
            ),
        ):
            # Under a new key after each load, so that a file can be given again.
            key = f"slices_{kind}_{number}"
            st.file_uploader(
                label,
                accept_multiple_files=kind == "training",
                key=key,
                help=help_text,
                on_change=_load,
                args=(kind, key, page.loaded.digest),
            )
        st.caption("They stay on the server for a while; a link to a slice by them works as long.")


def _take_year() -> None:
    year = st.session_state["slices_year_input"]
    st.session_state[keys.SLICED_YEAR] = year
    st.session_state[keys.SLICING] = slicings.slicing_name("year", str(year)) if year else ""


def _load(kind: str, key: str, digest: str) -> None:
    upload = st.session_state[key]
    files: Sequence[Any] = upload if isinstance(upload, list) else [upload] if upload is not None else []
    if not files:
        return
    st.session_state[keys.BESIDE_LOADS] = st.session_state.get(keys.BESIDE_LOADS, 0) + 1
    st.session_state[keys.BESIDE_PROBLEMS] = []
    try:
        take_files(kind, [(file.name, file.getvalue()) for file in files], digest)
    except FormatError as error:
        st.session_state[keys.BESIDE_PROBLEMS] = error.lines()


def take_files(kind: str, files: Sequence[tuple[str, bytes]], corpus: str) -> None:
    """Keep training data or columns given beside a corpus (by digest), and slice by them.

    Raises:
        FormatError: it cannot be read, or names what the corpus does not have.
    """
    source = Source.of_uploads(files)
    if kind == "training":
        digest = caches.beside().put(read(source).layer)
        st.session_state[keys.TRAINING] = digest
        st.session_state[keys.SLICING] = slicings.slicing_name("seen", digest)
        return
    columns = read_columns(source.files[0].text(), files[0][0])
    loaded = caches.find(corpus)
    if loaded is not None:
        check_columns(columns, loaded.corpus.gold, loaded.corpus.systems)
    digest = caches.beside().put(columns)
    st.session_state[keys.COLUMNS] = digest
    st.session_state[keys.SLICING] = slicings.slicing_name("column", f"{digest} {columns.names[0]}")
