"""The download of the HTML report: all systems under the present view, and the records of its lists."""

from __future__ import annotations

import shlex
from functools import partial

import streamlit as st

from nereval_core.html_report.records import RecordSelection, ScoredSystems
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS
from pages.shared.data import caches, playlists, verdict_store
from pages.shared.data.page_context import PageContext
from pages.shared.view.text import plain

MOST = 200
"""Records that a report holds."""


def offer_report(page: PageContext) -> None:
    """Offer the report of all systems, with the first records that the lists of this view show."""
    if page.loaded.folder is not None:
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
            "All systems in one HTML file that needs no network: scores, confusions, kinds of errors, and in their "
            f"text the records of the chosen playlist, else the first {MOST} that Inspect lists of {page.system}",
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
    found = ScoredSystems(page.loaded.corpus, scores, names, verdict_store.now())
    playlist = playlists.playlist_of(page.view)
    selection = RecordSelection(query=page.query(), system=page.system, most=MOST, playlist=playlist)
    held = f", {page.view.reference} taken as gold" if page.view.reference else ""
    title = f"{page.loaded.corpus.name}{held}"
    return report.page(found, title=title, command=report_command(page, names), selection=selection).encode()


def report_command(page: PageContext, names: tuple[str, ...]) -> str:
    """Return the command that makes such a report of the same files; criteria of one's own are not in it."""
    sources = {row.name: row.source for row in page.loaded.layers}
    parts = ["nereval", "report", sources["gold"]]
    parts += [f"{system}={sources[system]}" for system in page.systems]
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
    return shlex.join([*parts, *(["--mask"] if page.view.mask else []), "--out", "report.html"])
