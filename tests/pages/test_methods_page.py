"""The methods of a page: the paragraph in its menu is that of what it shows, and each method leads to its works."""

from __future__ import annotations

import pytest
from markupsafe import escape
from streamlit.testing.v1 import AppTest

from nereval_core import __version__
from nereval_core.report.references import HOLM, INTERVAL, METHODS, works
from pages.shared.components.export_menu import OFFERED, method_notes
from pages.shared.guide import _methods as guide_entries
from pages.shared.view import keys
from pages.shared.view.link import read_link, write_link
from tests.support.pages import VIEW, opened

POPOVER = f"{keys.LIST}methods"


def paragraph(app: AppTest) -> str:
    return next(one.value for one in app.code if f"with nereval {__version__}" in one.value)


@pytest.mark.parametrize(
    ("page", "tab", "said", "explained"),
    [
        (
            "Systems",
            "",
            ["The systems perceptron", "(Noreen 1989) with 10,000 random swaps"],
            "Approximate randomization",
        ),
        (
            "Systems",
            "slices-of-systems",
            [
                "10,000 resamples of",
                "Scores were broken down by",
                "2,000 resamples of",
                "in each slice whose gold spans are in at least 10 documents",
            ],
            "Approximate randomization",
        ),
        ("Annotators", "figures", ["The annotations of", "Cohen's kappa", "10,000 resamples"], "Cohen's kappa"),
        ("Overview", "by-slice", ["The system rules was", "broken down by", "2,000 resamples"], "Wilson's interval"),
    ],
)
def test_a_page_offers_its_paragraph_and_explains_its_methods(
    page: str, tab: str, said: list[str], explained: str
) -> None:
    view = read_link(write_link(VIEW) | {f"{page.lower()}_tab": tab})[0]
    app = opened(page, view, menu="export", **{POPOVER: True})
    text = paragraph(app)
    assert [part for part in said if part not in text] == []
    assert {f"methods_{label}" for label in OFFERED} <= {one.key for one in app.get("download_button")}
    assert any(f"- **{explained}**: " in one.value for one in app.markdown)


def test_a_method_leads_to_its_works() -> None:
    notes = method_notes(INTERVAL, HOLM)
    assert notes.startswith(f"- **Bootstrap interval**: {METHODS[INTERVAL].sentence} ([Efron 1987](https://doi.org/")
    assert notes.splitlines()[1] == f"- **Holm's correction**: {METHODS[HOLM].sentence} (Holm 1979)"


def test_the_guide_has_each_method_with_its_works() -> None:
    entries = {entry.title.lower(): entry for entry in guide_entries()}
    assert len({entry.anchor for entry in entries.values()}) == len(METHODS)
    for term in METHODS.values():
        entry = entries[term.name.lower()]
        assert all(escape(works()[key].citation) in entry.more for key in term.sources)
        assert all(works()[key].url in entry.more for key in term.sources)
