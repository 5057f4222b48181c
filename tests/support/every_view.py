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
from pages.shared.view import CLASSES_BY, FIGURE_SLIDES, FIGURES, LAYOUTS, QUESTIONS, SLICED_BY, TABS, View
from pages.shared.view.link import write_link

LOOKS: dict[str, tuple[dict[str, Any], ...]] = {
    "Overview": (
        *({"overview_tab": tab} for tab in TABS["overview_tab"]),
        *({"overview_tab": "by-slice", "slices_tab": tab} for tab in TABS["slices_tab"]),
        *({"overview_tab": "by-slice", "slice_by": name} for name in SLICED_BY),
    ),
    "Confusion": ({"share": "counts"}, {"share": "column"}, *({"layout": (word,)} for word in LAYOUTS)),
    "Inspect": (
        *({"order": order} for order in ORDERS[1:]),
        {"layout": ("whole-document",)},
        {"inspect_tab": "by-class"},
        *({"inspect_tab": "by-class", "classes_by": word} for word in CLASSES_BY),
    ),
    "Systems": (*({"systems_tab": tab} for tab in TABS["systems_tab"]), {"layout": ("all-criteria",)}),
    "Criteria": (*({"criteria_tab": tab} for tab in TABS["criteria_tab"]), {"layout": ("published",)}),
    "Annotators": (
        *({"annotators_tab": tab} for tab in TABS["annotators_tab"]),
        *({"annotators_tab": "figures", "figure": figure} for figure in FIGURES),
        *({"annotators_tab": "consistency", "question": question} for question in QUESTIONS),
    ),
    "Linking": (
        {"linking_tab": "ids"},
        {"mentions": "given"},
        {"rank": "3"},
        {"rank": "5"},
        {"layout": ("overlapping", "any-link")},
    ),
    "Review": tuple({"review_tab": tab} for tab in TABS["review_tab"]),
    "Present": (
        {"slide": "record"},
        {"layout": ("records-only",)},
        {"playlist": ""},
        {"playlist": "", "deck": ("title", "confusion", "records")},
        {"playlist": "", "slide": "pattern", "pattern": "kind:missed"},
    ),
    "Guide": (),
    "Start": (),
}
"""The fields of the view by which each page looks otherwise."""


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
    for page, looks in LOOKS.items():
        yield page, view
        for look in looks:
            yield page, replace(view, beside=second, **look)
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
        yield "Criteria", replace(view, criterion=criterion, versus="strict", criteria_tab="two-criteria")
    for name in conventions():
        yield "Overview", replace(view, criterion=name)
        yield "Inspect", replace(view, criterion=name)
    for word in FIGURE_SLIDES:
        yield "Present", replace(view, slide=word)
    for item in of.items:
        slide = replace(view, playlist=f"{of.playlist[:12]}/{item[:12]}")
        yield "Present", replace(slide, slide="record")
    yield "Annotators", replace(view, annotators=of.systems)
    yield "Annotators", replace(view, annotators=of.systems, annotators_tab="figures")
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
        page = tuple(LOOKS)[number % len(LOOKS)]
        # All parameters at once; a notice names each that is left out. The corpus has to be one that there is.
        yield page, dict.fromkeys(names, word) | {word: word}
