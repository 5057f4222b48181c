"""Published scorers beside the ladder: computed one after another while the page fills, and stopped on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

import streamlit as st

from nereval_core.analysis.criteria.convention_differences import CriterionRow
from nereval_core.conventions import conventions
from nereval_core.problems import FormatError, counted
from nereval_core.tables import Column, Table
from pages.shared.components.navigation import toggle_layout
from pages.shared.components.tables import draw_rows
from pages.shared.data import caches
from pages.shared.data.convention_results import NO_F1
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys
from pages.shared.view.text import refusal_words

AT_ONCE = 1.0
"""Seconds that scorers may take before the ladder is drawn, where each is fast."""


@dataclass
class Progress:
    """The scorers that this session has scored a system by, the seconds of the slow ones, and whether to stop."""

    done: set[str] = field(default_factory=set)
    seconds: list[float] = field(default_factory=list)
    stopped: bool = False


@dataclass(frozen=True)
class Published:
    """The rows of published scorers so far, the reasons of those without a figure, and the names still to come."""

    rows: tuple[CriterionRow, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()


def draw_choice(page: PageContext, criteria: Sequence[CriterionRow]) -> Published:
    """Ask whether published scorers stand beside the ladder; return those scored so far, and show how far they are.

    `criteria` are the rows of ours.
    """
    number = len(caches.scorer_names())
    slow = " With so many spans each may take a minute." if caches.are_scorers_slow(page.loaded) else ""
    with st.container(horizontal=True, vertical_alignment="center", key="published_choice"):
        is_chosen = toggle_layout(
            page,
            "published",
            "Published scorers",
            f"Each of the {number} stands beside the criterion that means the same. They are computed one after "
            f"another, and kept.{slow}",
        )
        scorers = published_so_far(page, criteria) if is_chosen else Published()
        _draw_progress(page, scorers)
    return scorers


def published_so_far(page: PageContext, criteria: Sequence[CriterionRow]) -> Published:
    """Return what is scored already, and what takes no time. `criteria` are the rows of ours."""
    progress, began = _progress(page), monotonic()
    rows: list[CriterionRow] = []
    reasons: dict[str, str] = {}
    waiting: list[str] = []
    is_slow = caches.are_scorers_slow(page.loaded)
    for name in caches.scorer_names():
        is_free = not (is_slow or progress.stopped or waiting) and monotonic() - began < AT_ONCE
        if name not in progress.done and not is_free:
            waiting.append(name)
            continue
        try:
            rows += caches.scorer_rows(page.loaded, page.system, name)
        except FormatError as error:
            reasons[name] = refusal_words(error)
        progress.done.add(name)
    reasons |= {row.label: reason for row in rows if (reason := reason_without(row, criteria))}
    return Published(tuple(row for row in rows if row.label not in reasons), reasons, tuple(waiting))


def reason_without(row: CriterionRow, criteria: Sequence[CriterionRow]) -> str:
    """Return why the row of a scorer stands beside no step, "" where it does.

    A scorer that finds nothing where the criterion that means the same finds something has rules that do not fit the
    data, such as tags of another kind than it expects: a 0 that compares with nothing.
    """
    f1 = row.ratios[2]
    if f1 is None:
        return f"it has no F1 here: {NO_F1}"
    if not f1 and any(ours.ratios[2] for ours in criteria if ours.name == row.criterion):
        return f"finds no span, though some are correct under {row.criterion}: its rules do not fit"
    return ""


def _draw_progress(page: PageContext, published: Published) -> None:
    """Show how far the scorers are, with the way to stop or to go on."""
    if not published.waiting:
        return
    progress, number = _progress(page), len(caches.scorer_names())
    done = number - len(published.waiting)
    if progress.stopped:
        st.caption(f"Stopped after {done} of {number}; these are kept.", width="content")
        st.button("Go on", key="published_go_on", type="tertiary", on_click=_stop, args=(page, False))
        return
    text = f"{done} of {number} · now {published.waiting[0]}{_rest(page, published)}"
    st.progress(done / number, text, width=420)
    st.button("Stop", key="published_stop", on_click=_stop, args=(page, True))


def _rest(page: PageContext, published: Published) -> str:
    """Return how long the others will take by those so far, "" before one was timed."""
    seconds = _progress(page).seconds
    if not seconds:
        return ""
    rest = sum(seconds) / len(seconds) * len(published.waiting)
    return f" · about {counted(max(1, round(rest)), 'second')} left"


def score_next(page: PageContext, published: Published) -> None:
    """Score by the next scorer, once the page is drawn, and draw the page anew with it."""
    progress = _progress(page)
    if not published.waiting or progress.stopped:
        return
    name, began = published.waiting[0], monotonic()
    # A refusal is kept too; the page says why.
    with suppress(FormatError):
        caches.scorer_rows(page.loaded, page.system, name)
    progress.done.add(name)
    progress.seconds.append(monotonic() - began)
    st.rerun()


def list_reasons(published: Published) -> None:
    """List the scorers that stand beside no step, each with its needs and the reason."""
    if not published.reasons:
        return
    with st.expander(f"{counted(len(published.reasons), 'published scorer')} without a figure here"):
        columns = (Column("scorer", kind="name"), Column("needs", kind="text"), Column("reason", "here", "text"))
        rows = tuple(
            (name, conventions()[name.partition(":")[0]].needs, why) for name, why in published.reasons.items()
        )
        draw_rows(Table("", columns, rows, name="unfit"))


def _progress(page: PageContext) -> Progress:
    """Return the progress of this session with a system; that of another system is forgotten."""
    about = (page.loaded.id, page.system)
    kept: tuple[tuple[str, str], Progress] | None = st.session_state.get(keys.PUBLISHED)
    if kept is None or kept[0] != about:
        kept = (about, Progress())
        st.session_state[keys.PUBLISHED] = kept
    return kept[1]


def _stop(page: PageContext, stopped: bool) -> None:
    _progress(page).stopped = stopped
