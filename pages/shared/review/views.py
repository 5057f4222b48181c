"""Views of the Review page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pages.shared.components.navigation import choose_word
from pages.shared.data.page_context import PageContext
from pages.shared.review import adjudication, verdicts, what_if_scores
from pages.shared.view import TABS

FIRST = "what-if"
LABELS: Mapping[str, str] = {
    FIRST: "Progress",
    "given-verdicts": "Verdicts",
    "adjudicate": "Adjudicate",
    "take-along": "Export and import",
}
VIEWS: Mapping[str, Callable[[PageContext], None]] = {
    FIRST: what_if_scores.draw_what_if,
    "given-verdicts": verdicts.draw_verdicts,
    "adjudicate": adjudication.draw_adjudication,
    "take-along": verdicts.draw_copies,
}
assert tuple(VIEWS) == (FIRST, *TABS["review_tab"])


def choose_view(page: PageContext) -> Callable[[PageContext], None]:
    """Ask for a view; return the function that draws it. Nothing else is drawn."""
    return VIEWS[choose_word(page, "review_tab", "Show", LABELS)]
