"""The form for the right span where neither is right: its words or characters, and its type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from nereval_core.review.verdicts import Marked
from nereval_core.review.words import covered_pieces, piece_names, word_pieces
from pages.shared.verdicts.case import Case, give_verdict
from pages.shared.view import keys
from pages.shared.view.text import plain

if TYPE_CHECKING:
    from pages.shared.frame import Here

WORD, NUMBER = 160, 130
"""Pixels."""


def begin_right_span(case: Case) -> None:
    st.session_state[keys.RIGHT] = (case.key.record, ())


def _end() -> None:
    st.session_state.pop(keys.RIGHT, None)


def right_span_form(here: Here, case: Case) -> None:
    """Ask for the right spans of a record once the verdict is that neither side is right."""
    record, so_far = st.session_state.get(keys.RIGHT) or ("", ())
    if record != case.key.record:
        return
    documents = here.loaded.corpus.documents
    number = documents.index[case.seen.document]
    text = documents.texts[number]
    with st.container(border=True, gap="xsmall"):
        said = st.empty()
        for place, span in enumerate(so_far):
            st.button(
                f"“{plain(span.quote(text))}” {plain(span.type)} ×",
                key=case.widget(f"right{place}"),
                on_click=_without,
                args=(case, place),
                help="Take it out",
            )
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            words = _words(here, case, number, text)
            kind = _type(here, case)
            low, high = _characters(case, *words, len(text))
        now = Marked(((low, high),), kind) if kind and low < high else None
        wrong = "the end must lie behind the start" if low >= high else "of which type?" if now is None else ""
        right = wrong or f"“{plain(text[low:high])}” at {low}–{high}, {plain(kind)}"
        said.markdown(f"**Neither is right.** Right is{' also' if so_far else ''}: {right}")
        _buttons(case, now, so_far)


def _buttons(case: Case, now: Marked | None, so_far: tuple[Marked, ...]) -> None:
    every = (*so_far, now) if now is not None and now not in so_far else so_far
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.button(
            "Keep this" if len(every) < 2 else f"Keep these {len(every)}",
            key=case.widget("keep"),
            type="primary",
            shortcut="Ctrl+Enter",
            disabled=now is None,
            on_click=give_verdict,
            args=(case, "neither", every),
        )
        st.button(
            "No entity",
            key=case.widget("none"),
            shortcut="0",
            on_click=give_verdict,
            args=(case, "neither", ()),
            help="No span is right here, whatever is chosen above.",
        )
        st.button("Another", key=case.widget("more"), disabled=now is None, on_click=_more, args=(case, every))
        st.button("Cancel", key=case.widget("cancel"), on_click=_end)
        st.toggle("by characters", key=case.widget("characters"))


def _words(here: Here, case: Case, number: int, text: str) -> tuple[int, int]:
    """Ask for the first and the last word, beginning with the record's own; return where they start and end."""
    spans = [case.key.span, *([case.partner] if case.partner else [])]
    some = word_pieces(here.loaded.corpus.documents, number, spans)
    names = piece_names(some, text)
    first, last = (
        st.selectbox(
            label,
            range(len(some)),
            index=begin,
            format_func=names.__getitem__,
            key=case.widget(label),
            label_visibility="collapsed",
            width=WORD,
        )
        for label, begin in zip(("From word", "to word"), covered_pieces(some, case.key.span), strict=True)
    )
    return some[first][0], some[last][1]


def _characters(case: Case, low: int, high: int, length: int) -> tuple[int, int]:
    """Ask for boundaries inside words, where somebody wants such."""
    if not st.session_state.get(case.widget("characters")):
        return low, high
    # Fields of their own for each choice of words: they begin where the words do.
    at = f"{low}-{high}"
    start = st.number_input("Start", 0, length - 1, low, key=case.widget(f"start{at}"), width=NUMBER)
    end = st.number_input("End", 1, length, high, key=case.widget(f"end{at}"), width=NUMBER)
    return int(start), int(end)


def _type(here: Here, case: Case) -> str:
    options = sorted({*here.annotated_types, case.key.span.type})
    found: str | None = st.selectbox(
        "Type",
        options,
        index=options.index(case.key.span.type),
        key=case.widget("type"),
        accept_new_options=True,
        placeholder="a known type, or a new one",
        label_visibility="collapsed",
        width=WORD,
    )
    return (found or "").strip()


def _more(case: Case, every: tuple[Marked, ...]) -> None:
    st.session_state[keys.RIGHT] = (case.key.record, every)


def _without(case: Case, place: int) -> None:
    _, so_far = st.session_state[keys.RIGHT]
    st.session_state[keys.RIGHT] = (case.key.record, (*so_far[:place], *so_far[place + 1 :]))
