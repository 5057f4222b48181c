"""Dialogs over the workbench: the reviewer's name, a record's history, and the right span where neither is right."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from nereval_core.problems import FormatError
from nereval_core.review.verdicts import REVIEWER_CHARACTERS, Marked
from nereval_core.review.words import piece_names, word_pieces
from pages.shared.data import reviewer, verdict_store
from pages.shared.data.page_context import PageContext
from pages.shared.verdicts.case import Case, LastVerdict, case_of, give_verdict, given_line, set_outcome
from pages.shared.view import keys
from pages.shared.view.text import count, plain, show_problems

NAME = f"{keys.VERDICT}asked"
NUMBER_WIDTH = 130
"""Pixels of a field for a number."""
LINE = 300
"""Characters of a verdict and its note that stand in a line; a longer note is shown below it."""


def _dismissed() -> None:
    waiting = st.session_state.pop(keys.WAITING, ())
    set_outcome(LastVerdict(f"Not kept, as no name was given: {count(len(waiting), 'verdict')}."))


@st.dialog("Who gives the verdicts?", on_dismiss=_dismissed)
def ask_name() -> None:
    """Ask for the reviewer's name; the verdicts that were given are kept once it is known."""
    waiting = st.session_state.get(keys.WAITING, ())
    with st.form(f"{keys.VERDICT}name_form", border=False):
        st.text_input("Your name", reviewer.last_reviewer(), key=NAME, max_chars=REVIEWER_CHARACTERS)
        st.caption(f"It is kept with each verdict. {count(len(waiting), 'verdict')} waiting for it.")
        sent = st.form_submit_button("Keep", type="primary")
    if sent and reviewer.take_name(st.session_state[NAME]):
        st.rerun()


def draw_history(case: Case) -> None:
    """Show every verdict ever given on a record."""
    try:
        history = verdict_store.store().history(case.key)
    except FormatError as error:
        show_problems(error.lines())
        return
    for standing in history:
        line = given_line(standing, case.words)
        st.markdown(plain(line, LINE))
        if len(standing.verdict.note) > LINE or "\n" in standing.verdict.note:
            st.code(line, language=None, wrap_lines=True, height=160)


def begin_right_span(case: Case, note: str = "") -> None:
    st.session_state[keys.RIGHT] = (case.record, case.key.record, (), note)


def _end() -> None:
    st.session_state.pop(keys.RIGHT, None)


def draw_right_span(page: PageContext, on_kept: Callable[[], None]) -> None:
    """Ask for the right spans of a record once the verdict is that neither side is right.

    `on_kept` is called once they were kept.
    """
    record, name, _, _ = st.session_state.get(keys.RIGHT) or (-1, "", (), "")
    if record < 0:
        return
    case = case_of(page, record) if record < len(page.ledger().about.rows) else None
    if case is None or case.key.record != name:
        # Another corpus or criterion than the verdict was given under.
        _end()
        return
    _ask(page, case, on_kept)


@st.dialog("Neither is right: what is?", width="medium", on_dismiss=_end)
def _ask(page: PageContext, case: Case, on_kept: Callable[[], None]) -> None:
    if keys.RIGHT not in st.session_state:
        st.rerun()
    _, _, so_far, _ = st.session_state[keys.RIGHT]
    documents = page.loaded.corpus.documents
    number = documents.index[case.subject.document]
    text = documents.texts[number]
    _say_sides(case, text)
    if not reviewer.reviewer_name():
        reviewer.ask_name(case.widget("name"))
    for place, span in enumerate(so_far):
        st.button(
            f"“{plain(span.quote(text))}” {plain(span.type)} ×",
            key=case.widget(f"right{place}"),
            on_click=_without,
            args=(place,),
            help="Take it out",
        )
    words = _words(page, case, number, text)
    kind = _type(page, case)
    now = None
    if words is not None and kind:
        low, high = _characters(case, *words, len(text))
        now = Marked(((low, high),), kind) if low < high else None
    already = [side for side in (case.key.span, case.partner) if side is not None]
    if words is None:
        st.caption("Choose the first and the last word of the right span, or say that there is no entity.")
    elif not kind:
        st.caption("Of which type?")
    elif now is None:
        st.caption("The end must lie behind the start.")
    elif now in already:
        right = f"{case.words.reference} or {'' if case.words.annotators else 'the '}{case.words.other}"
        st.caption(f"This span is there already: then {plain(right)} is right, not neither.")
    else:
        sentence = f"“{plain(now.quote(text))}” at {now.start}–{now.end}, {plain(kind)}"
        st.markdown(f"Right is{' also' if so_far else ''}: {sentence}")
    _buttons(case, None if now in already else now, so_far, on_kept, partial=words is not None or bool(kind))


def _say_sides(case: Case, text: str) -> None:
    other = "pred" if case.key.side == "gold" else "gold"
    for side, span in ((case.key.side, case.key.span), (other, case.partner)):
        if span is not None:
            name = case.words.side(side)
            st.caption(f"{plain(name[:1].upper() + name[1:])}: “{plain(span.quote(text))}” {plain(span.type)}")


def _buttons(
    case: Case, now: Marked | None, so_far: tuple[Marked, ...], on_kept: Callable[[], None], *, partial: bool
) -> None:
    """Draw the buttons; a span that is entered in part or is there already cannot be kept."""
    spans = (*so_far, now) if now is not None and now not in so_far else so_far
    named = bool(reviewer.reviewer_name())
    ready = named and bool(spans) and (now is not None or not partial)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        label = "Keep this" if len(spans) < 2 else f"Keep these {len(spans)}"
        if st.button(label, key=case.widget("keep"), type="primary", disabled=not ready):
            _keep(case, spans, on_kept)
        if st.button("No entity", key=case.widget("none"), disabled=not named, help="No span is right here."):
            _keep(case, (), on_kept)
        st.button("Another", key=case.widget("more"), disabled=now is None, on_click=_more, args=(case, spans))
        st.toggle("by characters", key=case.widget("characters"))


def _keep(case: Case, spans: tuple[Marked, ...], on_kept: Callable[[], None]) -> None:
    note = st.session_state[keys.RIGHT][3]
    _end()
    if give_verdict(case, "neither", spans, note):
        on_kept()
    st.rerun()


def _words(page: PageContext, case: Case, number: int, text: str) -> tuple[int, int] | None:
    """Ask for the first and the last word, both empty at first; return where they start and end."""
    spans = [case.key.span, *([case.partner] if case.partner else [])]
    pieces = word_pieces(page.loaded.corpus.documents, number, spans)
    names = piece_names(pieces, text)
    with st.container(horizontal=True, gap="small"):
        first, last = (
            st.selectbox(
                label,
                range(len(pieces)),
                index=None,
                format_func=names.__getitem__,
                key=case.widget(label),
                placeholder="choose",
                width=200,
            )
            for label in ("From word", "to word")
        )
    if first is None:
        return None
    return pieces[first][0], pieces[first if last is None else last][1]


def _characters(case: Case, low: int, high: int, length: int) -> tuple[int, int]:
    """Ask for boundaries inside words, where somebody wants such."""
    if not st.session_state.get(case.widget("characters")):
        return low, high
    # Fields of their own for each choice of words: they begin where the words do.
    at = f"{low}-{high}"
    with st.container(horizontal=True, gap="small"):
        start = st.number_input("Start", 0, length - 1, low, key=case.widget(f"start{at}"), width=NUMBER_WIDTH)
        end = st.number_input("End", 1, length, high, key=case.widget(f"end{at}"), width=NUMBER_WIDTH)
    return int(start), int(end)


def _type(page: PageContext, case: Case) -> str:
    kind: str | None = st.selectbox(
        "Type",
        sorted({*page.annotated_types, case.key.span.type}),
        index=None,
        key=case.widget("type"),
        accept_new_options=True,
        placeholder="a known type, or a new one",
        width=300,
    )
    return (kind or "").strip()


def _more(case: Case, spans: tuple[Marked, ...]) -> None:
    record, name, _, note = st.session_state[keys.RIGHT]
    st.session_state[keys.RIGHT] = (record, name, spans, note)
    for label in ("From word", "to word"):
        st.session_state[case.widget(label)] = None


def _without(place: int) -> None:
    record, name, so_far, note = st.session_state[keys.RIGHT]
    st.session_state[keys.RIGHT] = (record, name, (*so_far[:place], *so_far[place + 1 :]), note)
