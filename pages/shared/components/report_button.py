"""The download of the HTML report: all systems under the present view, and the records of its lists."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from nereval_core.html_report.records import RecordSelection, ScoredSystems
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS
from pages.shared.data import caches, playlists, verdict_store
from pages.shared.view.text import plain

if TYPE_CHECKING:
    from pages.shared.frame import Here

MOST = 200
"""Records that a report holds."""


def offer_report(here: Here) -> None:
    """Offer the report of all systems, with the first records that the lists of this view show."""
    if here.loaded.folder is not None:
        return
    st.download_button(
        "Download report",
        partial(report_html, here),
        file_name="nereval-report.html",
        mime="text/html",
        key="report",
        type="tertiary",
        on_click="ignore",
        icon=":material/download:",
        help=plain(
            "All systems in one HTML file that needs no network: scores, confusions, kinds of errors, and in their "
            f"text the records of the chosen playlist, else the first {MOST} that Inspect lists of {here.system}",
            400,
        ),
    )


def report_html(here: Here) -> bytes:
    """Return the report as HTML."""
    # Plotly and what draws records take longer to import than most pages.
    from nereval_core.api.report import page

    names = tuple(name for name in dict.fromkeys((here.by, *SCHEMAS)) if name in here.criteria)
    settings = caches.spans_only(here.settings, names)
    scores = {system: caches.scores(here.loaded, system, settings) for system in here.systems}
    found = ScoredSystems(here.loaded.corpus, scores, names, verdict_store.now())
    playlist = playlists.playlist_of(here.view)
    selection = RecordSelection(query=here.query(), system=here.system, most=MOST, playlist=playlist)
    held = f", {here.view.reference} taken as gold" if here.view.reference else ""
    title = f"{here.loaded.corpus.name}{held}"
    return page(found, title=title, command=report_command(here, names), selection=selection).encode()


def report_command(here: Here, names: tuple[str, ...]) -> str:
    """Return the command that makes such a report of the same files; criteria of one's own are not in it."""
    sources = {row.name: row.source for row in here.loaded.layers}
    parts = ["python", "-m", "nereval_core", "report", sources["gold"]]
    parts += [f"{system}={sources[system]}" for system in here.systems]
    parts += ["--criteria", ",".join(name for name in names if name in CRITERIA)]
    for name in dict.fromkeys(target for _, target in here.view.merge):
        parts += ["--merge", f"{','.join(member for member, target in here.view.merge if target == name)}={name}"]
    if here.view.leaveout:
        parts += ["--leave-out", ",".join(here.view.leaveout)]
    playlist = playlists.playlist_of(here.view)
    if (file := verdict_store.file()) is not None and (playlist is not None or len(verdict_store.now())):
        parts += ["--review", file]
    if playlist is not None:
        parts += ["--playlist", playlist.name]
    return shlex.join([*parts, *(["--mask"] if here.view.mask else []), "--out", "report.html"])
