"""F1 of all systems by slice: the choice of the slicing and the tables, for Overview and Systems."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from nereval_core.analysis.resampling_units import ResamplingUnits
from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.scores_by_slice import SliceTally, tally_slices
from nereval_core.analysis.slices.system_slices import compare_slices
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.slices import slicing
from pages.shared.systems.tables import units_of
from pages.shared.view import state


def choose_slicing(page: PageContext) -> str:
    """Ask for a slicing, which the link holds where it can; return its name."""
    names = slicing.offered_slicings(page)
    widget = state.mirror("slice_by", slicing.chosen_slicing(page, names), slicing.take_slicing)
    return str(st.selectbox("Slice by", names, format_func=slicings.slicing_title, width=420, **widget))


@memoized("Slicing all systems …")
def slice_tables(page: PageContext, names: tuple[str, ...], slicing_name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return F1 of the systems in each slice, and the differences of their pairs (see `compare_slices`)."""
    tallies = {}
    for name in names:
        sliced = slicing.sliced_of(page if name == page.system else page.of(name))
        if (values := slicings.find_values(sliced, slicing_name)) is not None:
            tallies[name] = tally_slices(sliced, values)
    return compute(page.loaded, "Slicing all systems", _compared, tallies, page.by, units_of(page))


def _compared(
    tallies: Mapping[str, SliceTally], criterion: str, units: ResamplingUnits
) -> tuple[pd.DataFrame, pd.DataFrame]:
    return compare_slices(tallies, criterion, units)
