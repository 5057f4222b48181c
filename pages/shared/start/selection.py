"""Fields for the documents that are scored and for names of types, beneath the forms of the front page."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from nereval_core.api.load_options import LoadOptions
from nereval_core.pairing.selection import DocumentIds, listed_ids
from nereval_core.pairing.type_names import TypeNames, parse_types

DOCUMENTS, TYPES = "Documents scored", "Names of types"
"""The fields, by which problems name them too."""
SIDES = ("predictions", "gold", "both sides")


def draw_selection(name: str) -> None:
    """Draw the fields of a form."""
    left, right = st.columns(2)
    left.text_area(
        DOCUMENTS,
        key=f"{name}_documents",
        placeholder="all",
        height=100,
        help="Ids, one a line: these documents are scored and no others, on all sides.",
    )
    right.text_area(
        TYPES,
        key=f"{name}_types",
        placeholder="PERSON = PER",
        height=100,
        help="Name read = name taken, one a line; # begins a comment. The signature says what was mapped.",
    )
    right.segmented_control(
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
