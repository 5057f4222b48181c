"""The ways through a document and on to the next one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from nereval_core.problems import one_line
from pages.shared.documents.document import OpenDocument
from pages.shared.documents.highlighted_text import ColourBy
from pages.shared.view import keys, state

MANY = 3_000
"""Documents up to which they are offered in a list; beyond it their id is typed."""

PART = f"{keys.LIST}part"
COLOUR_BY = f"{keys.LIST}colour"
"""The choice of colours: the widget loses it on a page switch, this keeps it."""
NAMES: dict[ColourBy, str] = {"decision": "Decision", "type": "Type"}

Go = Callable[[str, str], None]


def chosen_part(wanted: tuple[str, str]) -> int | None:
    """Return the part of a long text that was turned to, None once another document or record is wanted."""
    place, part = st.session_state.get(PART, (None, None))
    return part if place == wanted else None


def _turn(wanted: tuple[str, str], part: int) -> None:
    st.session_state[PART] = (wanted, part)


def draw_controls(
    there: OpenDocument,
    ids: Sequence[str],
    go: Go,
    others: Sequence[str] = (),
    done: str = "",
    star: Callable[[], None] = lambda: None,
) -> ColourBy:
    """Draw the choice of document, the steps through the records, and what is shown beside the prediction.

    That is one of `others`. The choice of colours is returned. `done` is said of the records to go through, and `star`
    draws beside it.
    """
    document = state.mirror("document", there.name, lambda name: go(str(name), ""))
    colour = state.mirror("colour", st.session_state.get(COLOUR_BY, "decision"), state.keep(COLOUR_BY))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(ids) <= MANY:
            st.selectbox("Document", tuple(ids), format_func=one_line, width=280, **document)
        else:
            st.text_input("Document id", width=280, **document)
        for label, forward in (("Previous (k)", False), ("Next (j)", True)):
            step = there.step(forward)
            st.button(label, disabled=step is None, on_click=go, args=step or ())
        by: ColourBy = st.selectbox("Colour by", tuple(NAMES), format_func=NAMES.__getitem__, width=140, **colour)
        if others:
            beside = state.mirror("beside_text", there.beside.system if there.beside else None, state.take_beside)
            st.selectbox("Beside it", tuple(others), index=None, placeholder="none", width=160, **beside)
    place = f"Record {there.number:,} of {there.total:,}" if there.number else f"{there.total:,} records to go through"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{place} · {done}" if done else place, width="content")
        star()
    return by


def turn_parts(there: OpenDocument, wanted: tuple[str, str]) -> None:
    """Draw the way through a long text, part by part."""
    if there.parts == 1:
        return
    low, high = there.window
    last = there.part == there.parts - 1
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Earlier part", disabled=there.part == 0, on_click=_turn, args=(wanted, there.part - 1))
        st.button("Later part", disabled=last, on_click=_turn, args=(wanted, there.part + 1))
        st.caption(f"Part {there.part + 1} of {there.parts}: characters {low:,} to {high:,} of {len(there.text):,}")
