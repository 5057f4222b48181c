"""The menu that shares a page: the link to its view, the HTML report, and the switch that masks texts."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from nereval_core.html_report.records import RecordSelection, ScoredSystems
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS
from pages.shared.data import caches, masks, own_criteria, playlists, verdict_store
from pages.shared.data.page_context import PageContext
from pages.shared.data.resampling import units_of
from pages.shared.server.access import only_this_machine
from pages.shared.server.ownership import visitor
from pages.shared.view import MASKED, is_key, keys, state
from pages.shared.view.link import LIMIT
from pages.shared.view.text import plain

LOCAL = (
    "This server listens on this machine only, so the link opens here alone. Whoever starts it for a network gets an "
    "address with a token, by which visitors are let in: *Serving others* in the documentation says how."
)


def draw_content(page: PageContext, fits: bool) -> None:
    """Draw what the menu offers; `fits`: the view fits a link."""
    _link(page, fits)
    offer_report(page)
    _masking(page)


def _link(page: PageContext, fits: bool) -> None:
    local, shared = only_this_machine(), caches.shelf().ownership
    st.markdown("**Copy link** (this machine only)" if local else "**Copy link**")
    read, view = page.loaded.key, state.view()
    own = not local and page.loaded.owner == visitor()
    if own:
        if not (key := shared.key(read)):
            st.caption("What you uploaded opens in this browser alone. A link lets others in who may use this server.")
            st.button("Make a link", key=f"{keys.BAR}share", on_click=_share, args=(read,))
            return
        view = replace(view, corpus=key)
    if fits:
        params = state.link(view)
        st.code(f"{st.context.url or ''}?{urlencode(params)}", language=None, wrap_lines=True)
        own_criteria.say_not_carried(state.view(), carried="rule" in params)
    else:
        st.caption(f"What is shown does not fit a link of {LIMIT:,} characters. Clear some of it.")
    if is_key(view.corpus) and own:
        st.caption("Whoever may use this server opens what you uploaded by this link, until you withdraw it.")
        st.button("Withdraw the link", key=f"{keys.BAR}withdraw", on_click=_withdraw, args=(read,))
    if local:
        st.caption(LOCAL)


def _share(read: str) -> None:
    """Make the key under which others open what was read (a callback)."""
    try:
        caches.shelf().ownership.share(read)
    except OSError as error:
        st.error(f"No link was made, as the server could not write it down: {plain(error.strerror or str(error), 200)}")


def _withdraw(read: str) -> None:
    """Withdraw that key (a callback)."""
    try:
        caches.shelf().ownership.withdraw(read)
    except OSError as error:
        reason = plain(error.strerror or str(error), 200)
        st.error(f"The link still opens, as the server could not write down its withdrawal: {reason}")


def _masking(page: PageContext) -> None:
    """Offer to mask the texts; a server that masks everything says so."""
    if not page.loaded.has_layers:
        return
    st.toggle(
        "Mask the text",
        **state.mirror_field("mask", bool(page.view.mask), lambda on: MASKED if on else ""),
        disabled=masks.all_masked(),
        help="Letters and digits are replaced, everything else stays: for data that must not be seen. Scores and "
        "records are the same. " + ("This server masks everything." if masks.all_masked() else ""),
    )


MOST = 200
"""Records that a report holds."""


def offer_report(page: PageContext) -> None:
    """Offer the report of all systems, with the first records that the lists of this view show."""
    if not page.loaded.has_layers:
        return
    st.download_button(
        "Download report",
        partial(report_html, page),
        file_name="nereval-report.html",
        mime="text/html",
        key="report",
        type="tertiary",
        on_click="ignore",
        icon=":material/download:",
        help=plain(
            "All systems in one HTML file that needs no network: scores, a ranking, confusions, kinds of errors, and "
            "in their text the records of the chosen playlist, "
            f"else the first {MOST} that Inspect lists of {page.system}",
            400,
        ),
    )


def report_html(page: PageContext) -> bytes:
    """Return the report as HTML."""
    # Plotly and what draws records take longer to import than most pages.
    from nereval_core.api import report

    names = tuple(name for name in dict.fromkeys((page.by, *SCHEMAS)) if name in page.criteria)
    settings = caches.spans_only(page.settings, names)
    scores = {system: caches.scores(page.loaded, system, settings) for system in page.systems}
    words = page.words
    systems = ScoredSystems(
        page.loaded.corpus,
        scores,
        names,
        verdict_store.now(),
        words.reference,
        words.annotators,
        units_of(page),
    )
    playlist = playlists.playlist_of(page.view)
    selection = RecordSelection(query=page.query(), system=page.system, most=MOST, playlist=playlist)
    reference = f", {page.view.reference} taken as gold" if page.view.reference else ""
    title = f"{page.loaded.corpus.name}{reference}"
    return report.page(systems, title=title, command=report_command(page, names), selection=selection).encode()


def report_command(page: PageContext, names: tuple[str, ...]) -> str:
    """Return the command that makes such a report of the same files; criteria of one's own are not in it."""
    sources = {row.name: row.source for row in page.loaded.layers}
    parts = ["nereval", "report", sources["gold"]]
    parts += [f"{system}={sources[system]}" for system in page.systems]
    gold, options = page.loaded.sources.get("gold"), page.loaded.options
    if options.columns is None and gold is not None and gold.columns is not None:
        options = replace(options, columns=gold.columns)
    parts += options.command_words()
    parts += ["--criteria", ",".join(name for name in names if name in CRITERIA)]
    for name in dict.fromkeys(target for _, target in page.view.merge):
        parts += ["--merge", f"{','.join(member for member, target in page.view.merge if target == name)}={name}"]
    if page.view.leaveout:
        parts += ["--leave-out", ",".join(page.view.leaveout)]
    playlist = playlists.playlist_of(page.view)
    if (file := verdict_store.file()) is not None and (playlist is not None or len(verdict_store.now())):
        parts += ["--review", file]
    if playlist is not None:
        parts += ["--playlist", playlist.name]
    written = [f"printf '%s\\n' {shlex.join(lines)} > {name}" for name, lines in options.written_files().items()]
    command = shlex.join([*parts, *(["--mask"] if page.view.mask else []), "--out", "report.html"])
    return " && ".join([*written, command])
