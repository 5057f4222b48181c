"""A place without annotation in a browser: Inspect marks it in the text of its document."""

from __future__ import annotations

from pages.shared.data.loading import load_demo
from pages.shared.view import View
from tests.support.browser import Visit


def test_a_place_is_marked_in_its_document(visit: Visit) -> None:
    corpus = load_demo("biology").corpus
    doc, text = corpus.documents.ids[0], corpus.documents.texts[0]
    visit.open("Inspect", View(corpus=corpus.digest, system="rules", doc=doc, at="0-12"))
    # Read at once: the text may be drawn anew between two questions.
    read = "places => places.map(place => [place.innerText, place.getBoundingClientRect().width])"
    places = visit.page.locator(".nv-place")
    assert visit.eventually(
        lambda: any(text.startswith(words.strip()) and width > 60 for words, width in places.evaluate_all(read)[:1])
    )
