"""Present: what do we show, in which order, with which words? Slides of records in large type."""

from __future__ import annotations

from pages.shared import present as presenting
from pages.shared.frame import Here, page
from pages.shared.present import lobby


@page("Present", needs_corpus=False, bare=presenting.on)
def present(here: Here | None) -> None:
    if here is None:
        lobby.without_corpus()
    elif presenting.on(here.view):
        presenting.draw(here)
    else:
        lobby.draw(here)
