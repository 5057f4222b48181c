"""Opening a corpus: the demos, and the reading that a session waits for, with progress and a button to cancel."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from nereval_core.pairing import have_no_common_type
from nereval_core.problems import FormatError
from pages.shared.components import into_view, refusals
from pages.shared.data import caches, refused_files
from pages.shared.data.jobs import BYTES, Job
from pages.shared.data.loading import Loaded, demo_names
from pages.shared.data.reading_orders import Order, Served
from pages.shared.data.reading_process import read_order
from pages.shared.server import access
from pages.shared.server.ownership import EVERYBODY, visitor
from pages.shared.view import View, keys, state
from pages.shared.view.text import count, named, plain

PATIENCE = 0.5
"""Seconds that a click waits: what takes no longer needs no progress."""
PROGRESS = "reading_progress"
EVERY = 0.4
"""Seconds between two looks."""


def begin_reading(order: Order, form: str = "") -> None:
    """Start to read files of a form, if any, and cancel the reading that this session was waiting for."""
    jobs, keeper = caches.jobs(), caches.shelf().keeper
    jobs.cancel(st.session_state.get(keys.READING, ""))
    owner = EVERYBODY if isinstance(order, Served) else visitor()
    bounds = access.session_bounds()
    number = jobs.start(order.title, lambda watch: read_order(keeper, order, watch, bounds, owner))
    st.session_state[keys.READING] = number
    refused_files.keep(None, form)
    into_view.bring_into_view(PROGRESS)
    job = jobs.get(number)
    if job is not None and job.finished.wait(PATIENCE):
        _collect(job)


def is_waiting() -> bool:
    """Return whether this session waits for a reading."""
    return keys.READING in st.session_state


def draw_waiting() -> None:
    """Show the progress of the reading, or open the corpus that was read and run the page again."""
    if not is_waiting():
        return
    number = st.session_state[keys.READING]
    job = caches.jobs().get(number)
    if job is None:
        del st.session_state[keys.READING]
    elif job.fault:
        _forget()
        st.error(f"Reading failed by a fault of nereval, not of your files. The server's log has it under {job.fault}.")
    elif job.finished.is_set():
        _collect(job)
        st.rerun()
    else:
        _progress(number)


@st.fragment(run_every=EVERY)
def _progress(number: str) -> None:
    job = caches.jobs().get(number)
    if job is None or job.finished.is_set():
        st.rerun()
    watch = job.watch
    with st.container(border=True, key=PROGRESS):
        done, total, speed = watch.done, watch.total, watch.speed
        st.markdown(f"**{plain(job.title)}** · {plain(watch.stage, 200)} …")
        st.progress(min(1.0, done / total) if total else 0.0)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Cancel", key="reading_cancel", on_click=_forget)
            if total:
                st.caption(_counted(done, total, speed, watch.unit))


def _counted(done: int, total: int, speed: float, unit: str) -> str:
    if unit == BYTES:
        progress, pace = f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB", f", {speed / 1e6:,.1f} MB/s"
    else:
        progress, pace = f"{done:,} of {total:,} {unit}", f", {speed:,.0f} {unit}/s"
    return progress + (pace if speed else "")


def _forget() -> None:
    caches.jobs().cancel(st.session_state.pop(keys.READING, ""))


def _collect(job: Job[Loaded]) -> None:
    """Open the corpus that was read; problems are kept to be shown, and the present corpus stays."""
    if job.fault:
        return
    caches.jobs().take(st.session_state.pop(keys.READING))
    if job.problem is not None:
        refused_files.keep(job.problem, refused_files.refused_form())
        st.session_state[keys.READING_REFUSED] = True
        into_view.bring_into_view(refusals.HEAD)
    elif job.loaded is not None:
        caches.shelf().put(job.loaded)
        _remove_partial(job.loaded)
        open_corpus(job.loaded, refused_files.refused_form())


def _remove_partial(loaded: Loaded) -> None:
    """Remove what was read before without files that this corpus has too: nobody wants both."""
    digest, key, systems = st.session_state.pop(keys.PARTIAL, None) or ("", "", frozenset())
    if key and key != loaded.key and systems < {layer.name for layer in loaded.corpus.systems}:
        caches.shelf().remove(digest, key=key)


def offer_rest() -> None:
    """Offer to go on with what was read, where files were refused beside it."""
    if partial := st.session_state.get(keys.PARTIAL):
        st.button(
            f"Go on without these files: {count(len(partial[2]), 'system')} read",
            key="read_rest",
            type="tertiary",
            on_click=_go_on_with_rest,
        )


def _go_on_with_rest() -> None:
    loaded = caches.find(st.session_state.pop(keys.PARTIAL)[0])
    st.session_state[keys.OPENED] = _first_page(loaded) if loaded is not None else ""


def _first_page(loaded: Loaded) -> str:
    return "Annotators" if loaded.first_annotator else "Overview"


def open_corpus(loaded: Loaded, form: str = "") -> None:
    """Show a corpus; a link that waits for it keeps its filters, any other view starts anew.

    The problems of its systems that could not be read stand in the form that it was read from, if any.
    """
    digest = loaded.corpus.digest
    waiting = state.view()
    fits = waiting.corpus != "" and digest.startswith(waiting.corpus)
    state.put(replace(waiting, corpus=digest) if fits else View(corpus=digest, system=loaded.start, mask=waiting.mask))
    refused_files.keep(FormatError(loaded.problems, loaded.remedies) if loaded.problems else None, form)
    systems = frozenset(layer.name for layer in loaded.corpus.systems)
    st.session_state[keys.PARTIAL] = (digest, loaded.key, systems) if loaded.problems else None
    if loaded.problems:
        into_view.bring_into_view(refusals.HEAD)
    has_own_types = any(have_no_common_type(loaded.corpus.gold, layer) for layer in loaded.corpus.systems)
    # Start says how to mend the one and the other.
    if not loaded.problems and not has_own_types:
        st.session_state[keys.OPENED] = _first_page(loaded)


def offer_demos(digest: str | None, *, in_words: bool) -> None:
    """Offer the demo corpora in a row, or each with what it is `in_words`; `digest` is that of the corpus at hand."""
    if in_words:
        st.header("Or look at a demo")
    with st.container(horizontal=not in_words, vertical_alignment="center", gap="small"):
        if not in_words:
            st.markdown("Open a demo:", width="content")
        for name in demo_names():
            loaded = caches.demo(name)
            st.button(
                named(loaded.corpus.name),
                key=f"demo-{name}",
                icon=":material/play_arrow:",
                on_click=open_corpus,
                args=(loaded,),
                disabled=loaded.corpus.digest == digest,
                help=None if in_words else plain(loaded.description, 300),
            )
            if in_words:
                st.caption(plain(loaded.description, 300))
