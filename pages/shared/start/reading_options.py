"""Format and reading: a field for every setting of reading, and reading refused files all the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nereval_core.api.load_options import LoadOptions
from nereval_core.options import FormField, offers
from nereval_core.pairing.selection import DocumentIds, listed_ids
from nereval_core.pairing.type_names import TypeNames, parse_types
from nereval_core.problems import FormatError
from pages.shared.components import opening
from pages.shared.data import refused_files
from pages.shared.data.reading_orders import Order

AUTO = "auto"


def draw_options(form: str) -> None:
    """Draw a field for every setting of reading that has one, in the form of this name."""
    with st.expander("Format and reading"):
        fields = {_key(form, field): offer.form for field, offer in offers(LoadOptions).items() if offer.form}
        sides = cycle(st.columns(2))
        for key, field in fields.items():
            if not field.checkbox:
                _draw(next(sides), key, field)
        for key, field in fields.items():
            if field.checkbox:
                st.checkbox(field.label, key=key, help=field.hint)
        draw_selection(form)


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


def chosen_keys(form: str) -> str:
    """Return the keys of JSON records as a form has them, "" for none."""
    return st.session_state.get(_key(form, "keys")) or ""


def begin(form: str, order: Callable[[LoadOptions], Order]) -> None:
    """Begin to read with the options of a form, or keep the problems of its fields to be shown."""
    try:
        options = _chosen_options(form)
    except FormatError as error:
        refused_files.keep(error, form)
        return
    opening.begin_reading(order(options), form)


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
    return read_selection(form, LoadOptions(**values))


DOCUMENTS, TYPES = "Documents scored", "Names of types"
"""The fields, by which problems name them too."""
SIDES = ("predictions", "gold", "both sides")


def draw_selection(name: str) -> None:
    """Draw the fields of a form."""
    documents_column, types_column = st.columns(2)
    documents_column.text_area(
        DOCUMENTS,
        key=f"{name}_documents",
        placeholder="all",
        height=100,
        help="Ids, one a line: these documents are scored and no others, on all sides.",
    )
    types_column.text_area(
        TYPES,
        key=f"{name}_types",
        placeholder="PERSON = PER",
        height=100,
        help="Name read = name taken, one a line; # begins a comment. The signature says what was mapped.",
    )
    types_column.segmented_control(
        "Types are mapped in", SIDES, key=f"{name}_types_side", default=SIDES[0], label_visibility="collapsed"
    )


def read_selection(name: str, options: LoadOptions) -> LoadOptions:
    """Return the options with the contents of the fields of a form.

    Raises:
        FormatError: lines that are not ids or map no type.
    """
    types = _types(st.session_state.get(f"{name}_types"))
    side = st.session_state.get(f"{name}_types_side") or SIDES[0]
    return replace(
        options,
        documents=_documents(st.session_state.get(f"{name}_documents")),
        gold_types=types if side != SIDES[0] else None,
        pred_types=types if side != SIDES[1] else None,
    )


def _documents(text: str | None) -> DocumentIds | None:
    return listed_ids(text, source=DOCUMENTS) if (text or "").strip() and text else None


def _types(text: str | None) -> TypeNames | None:
    return parse_types(text, source=TYPES) if (text or "").strip() and text else None
