"""Sentences on a page: its result in words, and notices on systems.

A notice names content identical to gold's, and types that gold does not have.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import streamlit as st

from nereval_core.analysis.sentences import (
    RecordCount,
    Sentence,
    confusion_sentence,
    errors_sentence,
    overview_sentence,
)
from nereval_core.ledger.attributes.own_facts import VERDICT_ATTRIBUTES
from nereval_core.pairing import Notices, notices_of
from nereval_core.pairing.type_suggestions import REMEDY
from nereval_core.problems import name_text
from nereval_core.records.queries import Query
from pages.shared.components import links
from pages.shared.data import verdict_store
from pages.shared.data.loading import Loaded
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.view.queries import view_of
from pages.shared.view.text import noun, plain, visible

LONGEST = 400
"""Characters of a piece of a sentence, of which names may be long."""


def draw(page: PageContext, sentence: Sentence, name: str, criterion: str | None = None) -> None:
    """Show a sentence under a criterion, by default the chosen one; its numbers lead to Inspect.

    `name` is its own on the page.
    """
    if parts := parts_of(page, sentence, criterion):
        links.mount_sentence(parts, f"sentence-{name}")


def parts_of(page: PageContext, sentence: Sentence, criterion: str | None = None) -> list[str | links.Link]:
    """Return the texts and links of a sentence, none where there is nothing to say."""
    # Sentences are about gold and a system, not about two annotators.
    return [] if page.words.annotators else [_part(page, part, criterion or page.by) for part in sentence]


def _part(page: PageContext, part: str | RecordCount, criterion: str) -> str | links.Link:
    if isinstance(part, str):
        return visible(page.words.by_names(part), LONGEST)
    view = view_of(replace(page.view, criterion=criterion, system=page.system), part.query)
    return links.Link(visible(part.text, LONGEST), "Inspect", view)


def overview(page: PageContext) -> list[str | links.Link]:
    """Return the sentence about the decisions of gold spans and predictions."""
    is_drawn = page.settings.counting == "one-to-one"
    return parts_of(page, _sentence(page, "overview", Query(), _verdicts(page))) if is_drawn else []


def confusion(page: PageContext) -> None:
    """Draw the sentence about the types that are confused most."""
    draw(page, _sentence(page, "confusion", Query(), _verdicts(page)), "confusion")


def errors(page: PageContext) -> list[str | links.Link]:
    """Return the sentence about the most frequent kind of the listed records, and their documents."""
    return parts_of(page, _sentence(page, "errors", page.query(), _verdicts(page)))


def _verdicts(page: PageContext) -> int:
    """Return the number of verdicts where the query asks for them: each changes which records have one."""
    return verdict_store.now().number if any(name in VERDICT_ATTRIBUTES for name, _ in page.query().having) else 0


@memoized()
def _sentence(page: PageContext, about: str, query: Query, verdicts: int) -> Sentence:
    if about == "overview":
        return overview_sentence(page.ledger(), "token" if noun(page.by) == "token" else "span")
    # The records of a folder are not asked where they stand.
    documents = len(page.loaded.corpus.documents) if page.ledger().is_in_memory else 0
    if about == "confusion":
        return confusion_sentence(page.ledger(), documents)
    return errors_sentence(page.ledger(), query, documents)


def draw_notices(page: PageContext, systems: Iterable[str]) -> None:
    """Draw the notices on these systems."""
    for name in systems:
        draw_identical(page, name)
        draw_type_notice(page, name)


def draw_type_notice(page: PageContext, system: str) -> None:
    """Name the types of a system that gold does not have."""
    if types := _notices(page.loaded, system, page.words.reference).types:
        types = types.replace(REMEDY, "Start suggests a mapping") if page.loaded.types_can_be_mapped else types
        st.caption(plain(f"{name_text(system)}: {types}.", 1_000))


def draw_identical(page: PageContext, system: str) -> None:
    """Warn of a system whose content is gold's."""
    if identical := _notices(page.loaded, system, page.words.reference).identical:
        st.warning(plain(f"{name_text(system)}: {identical}.", 400))


@memoized()
def _notices(loaded: Loaded, system: str, reference: str) -> Notices:
    return notices_of(loaded.corpus.gold, loaded.corpus.system(system), reference=reference)
