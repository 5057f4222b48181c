"""Notices on systems beside their scores: content identical to gold's, and types that gold does not have."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from nereval_core.pairing.notices import Notices, notices_of
from nereval_core.pairing.type_suggestions import REMEDY
from pages.shared.data.loading import Loaded
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.view.text import plain


def draw_notices(page: PageContext, systems: Iterable[str]) -> None:
    """Draw the notices on these systems."""
    for name in systems:
        draw_identical(page, name)
        if types := _notices(page.loaded, name, page.words.reference).types:
            types = types.replace(REMEDY, "Start suggests a mapping") if page.loaded.types_can_be_mapped else types
            st.caption(plain(f"{name}: {types}.", 1_000))


def draw_identical(page: PageContext, system: str) -> None:
    """Warn of a system whose content is gold's."""
    if identical := _notices(page.loaded, system, page.words.reference).identical:
        st.warning(plain(f"{system}: {identical}.", 400))


@memoized()
def _notices(loaded: Loaded, system: str, reference: str) -> Notices:
    return notices_of(loaded.corpus.gold, loaded.corpus.system(system), reference=reference)
