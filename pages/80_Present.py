"""Present: playlists of records, their order and comments, and slides in large type."""

from __future__ import annotations

from pages.shared import frame
from pages.shared import present as presenting
from pages.shared.data.page_context import PageContext
from pages.shared.present import lobby


@frame.page(
    "Present",
    needs_corpus=False,
    # A playlist knows its corpora.
    demo=lambda view: not view.playlist,
    bare=presenting.shows_slides,
    filters=lambda view: True,
)
def present(page: PageContext | None) -> None:
    if page is None:
        lobby.find_corpus()
    elif presenting.shows_slides(page.view):
        presenting.draw_slides(page)
    else:
        lobby.draw_lobby(page)
