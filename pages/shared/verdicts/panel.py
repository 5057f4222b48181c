"""The verdict panel: five verdicts on the chosen record, by button or key, a note, and the verdict that stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from nereval_core.problems import FormatError
from nereval_core.review.verdicts import KINDS, NOTE_CHARACTERS, Given, minute_of
from nereval_core.review.words import WORDS, decision_in_words, meaning
from pages.shared.data import masks, reviewer, verdict_store
from pages.shared.verdicts import right_span
from pages.shared.verdicts.case import Case, Choose, Outcome, give_verdict, set_outcome, undo_verdict
from pages.shared.view import keys, state
from pages.shared.view.text import plain, show_problems

if TYPE_CHECKING:
    from pages.shared.frame import Here

LINE = 300
"""Characters of a note that stand in a line; the whole of it is in the history."""
LISTED = 20
"""Verdicts of others that are listed where they came first."""
SHORT = 80
"""Characters of it where the text below is to stay in sight."""
BAR = f"{keys.VERDICT}bar"
PLACEHOLDER = "A note, kept with your next verdict on this record"


def panel_below(here: Here, case: Case) -> None:
    """Draw the panel beneath a record's card."""
    _waiting(case)
    # It stays in sight where the list is so long that the card is not.
    with st.container(key=f"{keys.VERDICT}row", gap="xsmall"):
        with st.container(horizontal=True, gap="small"):
            _buttons(case, KINDS)
        say_outcome(case)
        right_span.right_span_form(here, case)
    _stands(case)
    _note(case, st.text_area, height=68, width=640)
    if case.version:
        with st.expander(f"History ({case.version:,})", key=case.widget("past"), on_change="rerun") as opened:
            if opened.open:
                _history(case)


def panel_above(here: Here, case: Case | None, choose: Choose) -> None:
    """Draw the panel in a row or two that stay in sight above the text; without a record it offers nothing but undo."""
    if case is not None:
        _waiting(case)
    with st.container(key=BAR, gap="xsmall"):
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            if case is not None:
                _buttons(case, WORDS)
            draw_steps(here, choose)
            if case is not None:
                # Not in a popover: what is typed in one is lost when it is closed.
                _note(case, st.text_input, width="stretch")
                if case.version:
                    with st.popover(f"History · {case.version:,}", key=case.widget("past"), on_change="rerun") as box:
                        if box.open:
                            _history(case)
        with st.container(horizontal=True, gap="small", key=f"{keys.VERDICT}said"):
            say_outcome(case)
            if case is not None:
                _stands(case, SHORT)
            elif keys.REVIEWED not in st.session_state:
                st.caption("Click a span, or press j, to say who is right about it.", width="content")
        if case is not None:
            right_span.right_span_form(here, case)


def draw_steps(here: Here, choose: Choose) -> None:
    """Draw the controls for all records: undo, the switch "go on", and the reviewer's name."""
    st.button("Undo", key=f"{keys.VERDICT}undo", shortcut="u", on_click=undo_verdict, args=(here, choose), help=_UNDO)
    going_on = st.session_state.get(keys.GO_ON, True)
    widget = state.mirror("on", going_on, state.keep(keys.GO_ON), prefix=keys.VERDICT)
    st.toggle("go on", help="Choose the next record after a verdict.", **widget)
    reviewer.show_reviewer()


_UNDO = "Takes back your own last verdict, or your last batch of them."


def _buttons(case: Case, names: Mapping[Any, str]) -> None:
    chosen = case.standing.verdict.kind if case.standing is not None and not case.stale else None
    for number, kind in enumerate(KINDS, start=1):
        st.button(
            names[kind].capitalize(),
            key=case.widget(kind),
            shortcut=str(number),
            type="primary" if kind == chosen else "secondary",
            help=meaning(kind, case.key, case.partner),
            on_click=right_span.begin_right_span if kind == "neither" else give_verdict,
            args=(case,) if kind == "neither" else (case, kind),
        )


def _waiting(case: Case) -> None:
    """Give the verdict that waited for a name, once there is one."""
    record, *verdict = st.session_state.get(keys.WAITING) or ("", None, ())
    if record and reviewer.reviewer_name():
        del st.session_state[keys.WAITING]
        if record == case.key.record:
            give_verdict(case, *verdict)
            st.rerun()


def say_outcome(case: Case | None) -> None:
    """Show the outcome of the last verdict, until another record is shown."""
    here = "" if case is None else case.key.record
    if st.session_state.get(keys.WAITING, ("",))[0] == here != "":
        st.warning("Who gives this verdict? It is kept once you say your name.")
        reviewer.ask_name(f"{keys.VERDICT}asked")
    found: Outcome | None = st.session_state.get(keys.REVIEWED)
    if found is None:
        return
    if found.beside is None:
        set_outcome(replace(found, beside=here))
    elif found.beside != here:
        del st.session_state[keys.REVIEWED]
        return
    if found.problems:
        lines = "  \n".join(plain(line, LINE) for line in found.problems)
        st.error(f"{plain(found.text)} What you wrote is still here: try again.  \n{lines}")
    elif found.theirs:
        _conflict(case, found)
    else:
        st.caption(plain(masks.mask_message(found.text), LINE), width="content")


def _conflict(case: Case | None, found: Outcome) -> None:
    lines = "  \n".join(f"**{plain(masks.mask_message(line), LINE)}**" for line in found.theirs[:LISTED])
    if len(found.theirs) > LISTED:
        lines += f"  \nand {len(found.theirs) - LISTED:,} more"
    st.warning(f"Somebody was first:  \n{lines}  \n{plain(found.text)}")
    if case is None or found.again is None or case.key.record != found.record:
        return
    kind, right = found.again
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Give mine over it",
            key=case.widget("over"),
            on_click=give_verdict,
            args=(case, kind, right),
            help=plain(decision_in_words(kind, right), LINE),
        )
        st.button("Leave it", key=case.widget("leave"), on_click=st.session_state.pop, args=(keys.REVIEWED, None))


def _stands(case: Case, most: int = LINE) -> None:
    """Show the verdict that stands, with its old quote if it is stale; of a note `most` characters."""
    one = case.standing
    if one is None:
        return
    if case.stale:
        old = plain(masks.mask_message(f"“{one.verdict.seen.quote}”, {one.verdict.key.span.type}"))
        st.caption(f":material/history: *Stale*, as text or span changed since. It was of {old}: {_line(one, most)}")
    else:
        st.caption(f"Stands: {_line(one, most)}", width="content")


def _line(one: Given, most: int = LINE) -> str:
    """Return a verdict in a line of Markdown."""
    note = f" — {plain(masks.mask_words(one.verdict.note), most)}" if one.verdict.note else ""
    what = plain(decision_in_words(one.verdict.kind, one.verdict.right), LINE)
    return f"**{what}**, {plain(one.who)} on {minute_of(one.at)}{note}"


def _note(case: Case, field: Callable[..., object], **look: Any) -> None:
    key = case.widget("note")
    st.session_state[key] = case.note
    field("Note", key=key, max_chars=NOTE_CHARACTERS, placeholder=PLACEHOLDER, label_visibility="collapsed", **look)


def _history(case: Case) -> None:
    """Show every verdict ever given on the record."""
    try:
        every = verdict_store.store().history(case.key)
    except FormatError as error:
        show_problems(error.lines())
        return
    for one in every:
        st.markdown(_line(one))
        if len(one.verdict.note) > LINE or "\n" in one.verdict.note:
            st.code(masks.mask_words(one.verdict.note), language=None, wrap_lines=True, height=160)
