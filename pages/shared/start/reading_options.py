"""Format and reading: a field for every setting of reading, and the beginning of a reading with these settings."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nereval_core.api.load_options import LoadOptions
from nereval_core.options import FormField, offers
from nereval_core.problems import FormatError
from pages.shared.components import reading_progress
from pages.shared.data.reading_orders import Order
from pages.shared.start import selection
from pages.shared.view import keys

AUTO = "auto"


def draw_options(form: str) -> None:
    """Draw a field for every setting of reading that has one, in the form of this name."""
    with st.expander("Format and reading"):
        drawn = {_key(form, field): offer.form for field, offer in offers(LoadOptions).items() if offer.form}
        sides = cycle(st.columns(2))
        for key, field in drawn.items():
            if not field.checkbox:
                _draw(next(sides), key, field)
        for key, field in drawn.items():
            if field.checkbox:
                st.checkbox(field.label, key=key, help=field.hint)
        selection.draw_selection(form)


def _draw(place: DeltaGenerator, key: str, field: FormField) -> None:
    if field.values is None:
        place.text_input(field.label, key=key, placeholder=field.empty, help=field.hint)
        return
    values = field.values()
    place.selectbox(
        field.label,
        list(values),
        index=0 if field.empty is None else None,
        format_func=values.__getitem__,
        placeholder=field.empty,
        key=key,
        help=field.hint,
    )


def _key(form: str, field: str) -> str:
    """Return the key of a field in a form: both sides have one format."""
    return f"{form}_{'format' if field in ('gold_format', 'pred_format') else field}"


def chosen_format(form: str) -> str:
    """Return the format chosen in a form, AUTO where it is recognised."""
    return st.session_state.get(f"{form}_format") or AUTO


def begin(form: str, order: Callable[[LoadOptions], Order]) -> None:
    """Begin to read with the options of a form, or keep the problems of its fields to be shown."""
    try:
        options = _chosen_options(form)
    except FormatError as error:
        st.session_state[keys.UPLOAD_PROBLEMS] = error.lines()
        return
    reading_progress.begin_reading(order(options))


def _chosen_options(form: str) -> LoadOptions:
    """Return the settings that the fields of a form hold.

    Raises:
        FormatError: lines that are not ids or map no type.
    """
    values = {
        field: offer.form.parse(value)
        for field, offer in offers(LoadOptions).items()
        if offer.form and (value := st.session_state.get(_key(form, field))) is not None
    }
    return selection.read_selection(form, LoadOptions(**values))
