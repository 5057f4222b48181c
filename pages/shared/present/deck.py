"""The deck of a view: which slides in which order, suggested where nobody has chosen. No drawing in here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nereval_core.analysis.errors.error_groups import ErrorGroup
from nereval_core.analysis.errors.group_words import group_examples
from nereval_core.problems import name_text
from nereval_core.review.playlists import Item, Playlist
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.data.playlists import FIRST
from pages.shared.inspect import patterns
from pages.shared.present import systems_slides
from pages.shared.view import (
    FIGURE_SLIDES,
    FIGURES_OF_SYSTEM,
    PATTERN_SLIDE,
    RECORD_SLIDES,
    SYSTEM_SLIDES,
    TITLE_SLIDE,
    View,
    is_pattern,
)
from pages.shared.view.text import count

SUGGESTED_PATTERNS = 5
FIGURE_NAMES: Mapping[str, str] = dict(
    zip(FIGURE_SLIDES, ("Scores", "Confusions", "Systems", "Systems by type"), strict=True)
)


@dataclass(frozen=True, eq=False)
class Deck:
    """A deck: its `slides` are the figures and patterns after the title, in order.

    With `has_records` the records of the playlist follow, or those that Inspect lists where there is no playlist.
    `n_missing` patterns that the view names are none of the errors here. A file has `most_records` at most.
    """

    page: PageContext
    playlist: Playlist | None
    slides: tuple[str, ...]
    has_records: bool
    n_missing: int = 0
    most_records: int | None = None

    @property
    def first_ids(self) -> list[str]:
        """The ids of the slides before the records; the title's is ""."""
        return ["", *self.slides]

    @property
    def items(self) -> tuple[Item, ...]:
        """The items of its playlist that it shows."""
        return self.playlist.items[: self.most_records] if self.playlist is not None and self.has_records else ()

    @cached_property
    def n_records(self) -> int:
        """The number of its records, of which a file may have the first alone."""
        if not self.has_records:
            return 0
        if self.playlist is not None:
            return len(self.playlist.items)
        return self.page.ledger().total(self.page.query()).records

    @property
    def n_record_slides(self) -> int:
        return self.n_records if self.most_records is None else min(self.n_records, self.most_records)

    @property
    def n_slides(self) -> int:
        return len(self.first_ids) + self.n_record_slides

    @property
    def records(self) -> str:
        """Its records in words."""
        records = count(self.n_records, "record")
        return records if self.n_record_slides == self.n_records else f"the first {self.n_record_slides:,} of {records}"

    @property
    def patterns(self) -> list[str]:
        return [word for word in self.slides if is_pattern(word)]

    @property
    def heading(self) -> str:
        """The name of the deck."""
        if self.playlist is not None and self.playlist.name == FIRST:
            systems = {item.starred.shown.system for item in self.playlist.items}
            return f"Starred records{f' of {name_text(*systems)}' if len(systems) == 1 else ''}"
        if self.playlist is not None:
            return name_text(self.playlist.name)
        words = self.page.words
        if words.annotators:
            return f"{words.reference} and {words.other}"
        return (
            f"Records of {name_text(self.page.system)}"
            if self.has_records
            else f"Errors of {name_text(self.page.system)}"
        )

    @property
    def contents(self) -> str:
        """The slides after the title in words."""
        parts = [FIGURE_NAMES[word].lower() for word in self.slides if word in FIGURE_NAMES]
        parts += [count(len(self.patterns), "pattern")] if self.patterns else []
        parts += [self.records] if self.has_records else []
        return ", ".join(parts) or "nothing else"

    def words(self, slides: Sequence[str], *, has_records: bool | None = None) -> tuple[str, ...]:
        """Return what a view holds of the deck with other slides."""
        has_records = self.has_records if has_records is None else has_records
        return (TITLE_SLIDE, *slides, *((RECORD_SLIDES,) if has_records else ()))

    def view(self) -> View:
        """Return the view with the deck named slide by slide, so that it does not depend on what is suggested."""
        return replace(self.page.view, deck=self.words(self.slides))


def deck_of(page: PageContext, playlist: Playlist | None, *, with_patterns: bool = True) -> Deck:
    """Return the deck of a view: the one that it names, the records of its playlist, or the suggested one.

    Without patterns it is what can be drawn of it before these are found.
    """
    view = page.view
    if view.deck:
        groups = groups_by_key(page)
        slides = tuple(word for word in view.deck if word in figures_of(page) or word in groups)
        n_missing = sum(is_pattern(word) and word not in groups for word in view.deck)
        return Deck(page, playlist, slides, RECORD_SLIDES in view.deck, n_missing)
    is_list = bool(view.slide and view.record) or "records-only" in view.layout
    if is_list or (playlist is not None and playlist.items):
        # In older links a show had no more slides than these.
        return Deck(page, playlist, () if "records-only" in view.layout else FIGURES_OF_SYSTEM, True)
    figures = (*FIGURES_OF_SYSTEM, *(SYSTEM_SLIDES[:1] if systems_slides.are_suggested(page) else ()))
    if not with_patterns:
        return Deck(page, playlist, figures, False)
    suggested = tuple(groups_by_key(page))[:SUGGESTED_PATTERNS]
    return Deck(page, playlist, (*figures, *suggested), not suggested)


def figures_of(page: PageContext) -> tuple[str, ...]:
    """Return the slides with figures that a corpus has: systems are compared where there are several."""
    return FIGURE_SLIDES if systems_slides.are_compared(page) else FIGURES_OF_SYSTEM


def groups_by_key(page: PageContext) -> Mapping[str, ErrorGroup]:
    """Return the patterns of errors by key, the largest gain first; none where they are not found or take long."""
    if not _has_patterns(page) or (not _names_patterns(page.view) and waits_for_patterns(page)):
        return {}
    return {str(group.key): group for group in patterns.groups_of(page)}


def _has_patterns(page: PageContext) -> bool:
    return page.loaded.has_layers and page.loaded.corpus.documents.sizes is None and not patterns.is_unpaired(page)


def _names_patterns(view: View) -> bool:
    return view.slide == PATTERN_SLIDE or any(map(is_pattern, view.deck))


def finds_patterns_last(page: PageContext) -> bool:
    """Tell whether patterns are looked for, and take so long that the rest of the deck is to be drawn before."""
    if not _has_patterns(page) or _names_patterns(page.view) or waits_for_patterns(page):
        return False
    return sum(map(len, page.scores().layers(page.by))) > patterns.SPANS_AT_ONCE


def waits_for_patterns(page: PageContext) -> bool:
    """Tell whether there are too many spans to look for patterns before somebody asks for it."""
    if not page.loaded.has_layers or patterns.is_unpaired(page):
        return False
    return sum(map(len, page.scores().layers(page.by))) > patterns.SPANS


def sentence_of(page: PageContext, group: ErrorGroup) -> str:
    """Return the sentence on a pattern."""
    return "".join(phrase.text for phrase in page.words.pattern(group.key, group.quote))


@memoized()
def example_of(page: PageContext, word: str) -> tuple[str, str]:
    """Return document and record of the example of a pattern."""
    example = group_examples(page.scores(), page.by, groups_by_key(page)[word], 1)[0]
    return example.document, example.record
