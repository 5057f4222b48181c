"""Links to every view of every page, over one corpus: for scripts that walk through all that the app can show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import zip_longest
from typing import Any

from nereval_core.conventions import conventions
from nereval_core.records.queries import ORDERS
from nereval_core.review.playlists import Playlist
from nereval_core.scoring.criteria import CRITERIA
from pages.shared.data.loading import Loaded
from pages.shared.view import (
    AGREEMENT_VIEWS,
    BY_CLASS,
    CONSISTENCY,
    CONSISTENCY_VIEWS,
    CRITERIA_VIEWS,
    FIGURE_SLIDES,
    FIGURES,
    LAYOUTS,
    LINKING,
    OVERVIEW_TABS,
    PUBLISHED,
    RECORDS_ONLY,
    REVIEW_VIEWS,
    SLICED_BY,
    SLICES_VIEWS,
    SLIDES,
    SYSTEMS_VIEWS,
    WHOLE,
    View,
)
from pages.shared.view.link import write_link

WORDS: dict[str, tuple[str, ...]] = {
    "Overview": (*OVERVIEW_TABS, *SLICES_VIEWS, *SLICED_BY),
    "Confusion": tuple(word for word in LAYOUTS if word not in (WHOLE, BY_CLASS)),
    "Inspect": (*ORDERS[1:], WHOLE, BY_CLASS),
    "Systems": SYSTEMS_VIEWS,
    "Criteria": (*CRITERIA_VIEWS, PUBLISHED),
    "Annotators": (FIGURES, *AGREEMENT_VIEWS, CONSISTENCY, *CONSISTENCY_VIEWS),
    "Linking": LINKING,
    "Review": REVIEW_VIEWS,
    "Present": (SLIDES, RECORDS_ONLY),
    "Guide": (),
    "Start": (),
}
"""The words of `sort` that each page knows."""


@dataclass(frozen=True)
class Subject:
    """A corpus to walk through: its view, names of its parts, and one of its records."""

    view: View
    systems: tuple[str, ...]
    types: tuple[str, ...]
    document: str
    record: tuple[str, str]
    playlist: str
    items: tuple[str, ...]


def subject_of(loaded: Loaded, playlist: Playlist) -> Subject:
    """Return a corpus, with a playlist of its records, as a subject."""
    systems = tuple(layer.name for layer in loaded.corpus.systems)
    first = playlist.items[0].starred.shown
    return Subject(
        View(corpus=loaded.digest, system=systems[0]),
        systems,
        tuple(loaded.types),
        loaded.corpus.documents.ids[0],
        (first.document, first.record),
        playlist.uid,
        tuple(item.uid for item in playlist.items),
    )


def every_view(of: Subject) -> Iterator[tuple[str, View]]:
    """Yield pages with the views of links to them."""
    view = replace(of.view, playlist=of.playlist)
    second = next(name for name in of.systems if name != view.system)
    document, record = of.record
    for page, words in WORDS.items():
        yield page, view
        for word in words:
            yield page, replace(view, beside=second).with_sort(word)
        # Another layer taken as gold, types merged and left out, and filters: chips and captions name them all.
        yield page, replace(view, reference=second)
        merged = tuple((kind, of.types[-1] + "+") for kind in of.types[:2])
        yield page, replace(view, merge=merged, leaveout=of.types[2:3], type=of.types[-1:])
    filters: tuple[dict[str, Any], ...] = (
        {"gold": of.types[:1]},
        {"pred": of.types[1:2]},
        {"q": of.types[0]},
        {"doc": of.document},
    )
    for page in ("Inspect", "Linking", "Present"):
        for one in filters:
            yield page, replace(view, **one)
        yield page, replace(view, doc=document, record=record)
    yield "Inspect", replace(view, doc=document, at="0-5", beside=second)
    for criterion in CRITERIA:
        yield "Criteria", replace(view, criterion=criterion, versus="strict").with_sort("two-criteria")
    for name in conventions():
        yield "Overview", replace(view, criterion=name)
        yield "Inspect", replace(view, criterion=name)
    for word in FIGURE_SLIDES:
        yield "Present", view.with_sort(SLIDES).with_sort(word)
    for item in of.items:
        slide = replace(view, playlist=f"{of.playlist[:12]}/{item[:12]}")
        yield "Present", slide.with_sort(SLIDES)
    yield "Annotators", replace(view, annotators=of.systems)
    yield "Annotators", replace(view, annotators=of.systems).with_sort(FIGURES)
    for unit in ("author", "document", "no such"):
        yield "Systems", replace(view, resample=unit)


def links_by_turns(of: Subject) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield pages with the parameters of the links to every view: the first view of each page, then the second."""
    by_page: dict[str, list[View]] = {}
    for page, view in every_view(of):
        by_page.setdefault(page, []).append(view)
    for views in zip_longest(*by_page.values()):
        yield from ((page, write_link(view)) for page, view in zip(by_page, views, strict=True) if view is not None)


def wrong_links(words: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield pages with the parameters of links whose values are words that a corpus does not have."""
    names = [one.name for one in fields(View) if one.name not in ("corpus", "mask")]
    for number, word in enumerate(words):
        page = tuple(WORDS)[number % len(WORDS)]
        # All parameters at once; a notice names each that is left out. The corpus has to be one that there is.
        yield page, dict.fromkeys(names, word) | {word: word}
