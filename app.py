"""The front page: what this is, three ways in, and the choice of a corpus."""

from pages.shared import start, waiting
from pages.shared.frame import Here, page


@page("Start", needs_corpus=False)
def draw(here: Here | None) -> None:
    start.headline()
    start.doors(here)
    start.choice(here)
    waiting.draw()
    start.problems()
    if here is not None:
        start.account(here)
