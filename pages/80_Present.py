"""Present: playlists of records, their order and comments, and slides in large type."""

from __future__ import annotations

from pages.shared import present as presenting
from pages.shared.frame import Here, page
from pages.shared.present import lobby


@page(
    "Present",
    needs_corpus=False,
    # A playlist knows its corpora.
    demo=lambda view: not view.playlist,
    bare=presenting.shows_slides,
    filters=lambda view: True,
)
def present(here: Here | None) -> None:
    if here is None:
        lobby.find_corpus()
    elif presenting.shows_slides(here.view):
        presenting.draw_slides(here)
    else:
        lobby.draw_lobby(here)
