"""The ways through a document and on to the next one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from nereval_core.problems import one_line
from pages.shared.documents.document import Opened
from pages.shared.documents.view import ColourBy
from pages.shared.view import keys, state

MANY = 3_000
"""Documents up to which they are offered in a list; beyond it their id is typed."""

DOCUMENT = f"{keys.WIDGET}document"
PART = f"{keys.LIST}part"
BESIDE = f"{keys.WIDGET}beside_text"
"""Another system or annotator, shown under the prediction."""
COLOUR = f"{keys.WIDGET}colour"
COLOUR_BY = f"{keys.LIST}colour"
"""The choice of colours: the widget loses it on a page switch, this keeps it."""
NAMES: dict[ColourBy, str] = {"decision": "Decision", "type": "Type"}

Go = Callable[[str, str], None]


def part_asked_for(wanted: tuple[str, str]) -> int | None:
    """Return the part of a long text that was turned to, None once another document or record is wanted."""
    place, part = st.session_state.get(PART, (None, None))
    return part if place == wanted else None


def _turn(wanted: tuple[str, str], part: int) -> None:
    st.session_state[PART] = (wanted, part)


def _pick(go: Go) -> None:
    go(str(st.session_state[DOCUMENT]), "")


def _colour() -> None:
    st.session_state[COLOUR_BY] = st.session_state[COLOUR]


def _set_beside() -> None:
    # The record stays chosen: it is the same gold span whoever is shown beside.
    state.put(replace(state.view(), beside=st.session_state[BESIDE] or ""))


def controls(
    there: Opened,
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
    st.session_state[DOCUMENT] = there.name
    st.session_state[COLOUR] = st.session_state.get(COLOUR_BY, "decision")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(ids) <= MANY:
            st.selectbox(
                "Document", tuple(ids), format_func=one_line, key=DOCUMENT, on_change=_pick, args=(go,), width=280
            )
        else:
            st.text_input("Document id", key=DOCUMENT, on_change=_pick, args=(go,), width=280)
        for label, forward in (("Previous (k)", False), ("Next (j)", True)):
            step = there.step(forward)
            st.button(label, disabled=step is None, on_click=go, args=step or ())
        by: ColourBy = st.selectbox(
            "Colour by", tuple(NAMES), format_func=NAMES.__getitem__, key=COLOUR, on_change=_colour, width=140
        )
        if others:
            st.session_state[BESIDE] = there.beside.system if there.beside else None
            st.selectbox(
                "Beside it", tuple(others), index=None, key=BESIDE, on_change=_set_beside, placeholder="none", width=160
            )
    place = f"Record {there.number:,} of {there.total:,}" if there.number else f"{there.total:,} records to go through"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{place} · {done}" if done else place, width="content")
        star()
    return by


def parts(there: Opened, wanted: tuple[str, str]) -> None:
    """Draw the way through a long text, part by part."""
    if there.parts == 1:
        return
    low, high = there.window
    last = there.part == there.parts - 1
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Earlier part", disabled=there.part == 0, on_click=_turn, args=(wanted, there.part - 1))
        st.button("Later part", disabled=last, on_click=_turn, args=(wanted, there.part + 1))
        st.caption(f"Part {there.part + 1} of {there.parts}: characters {low:,} to {high:,} of {len(there.text):,}")
