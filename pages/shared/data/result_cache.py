"""Results about a corpus, kept once for all sessions under what tells corpora and settings apart.

Data are never hashed by Streamlit, which would look at all of them, or at a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from nereval_core.scoring import Settings
from pages.shared.data.loading import Loaded

SMALL_SPANS, SMALL_DOCUMENTS = 5_000, 1_000
"""Spans of all layers, and documents, up to which a corpus is small."""
SMALL_FACTOR = 8
"""Small corpora, and results about them, that are kept in the place of one large one: many people bring small ones."""
HASHED_BY: Mapping[str | type, Callable[[Any], object]] = {
    Loaded: lambda loaded: (loaded.corpus.digest, loaded.number),
    # The whole rules, as two users may call different ones by the same name.
    Settings: repr,
    "pages.shared.data.page_context.PageContext": lambda page: (
        *(page.loaded, page.system, page.by, page.settings, page.view.resample),
    ),
    "nereval_core.analysis.comparison.Comparison": lambda found: found.plan,
}
"""Facts that tell the arguments of kept functions apart, for `hash_funcs` of Streamlit.

The marks and the metadata of a corpus are no part of its digest, yet they stand in the scores: hence the number.
"""
Given = ParamSpec("Given")
Found = TypeVar("Found")


def is_small(loaded: Loaded) -> bool:
    """Return whether a corpus is in memory and small."""
    corpus = loaded.corpus
    spans = len(corpus.gold) + sum(map(len, corpus.systems))
    return loaded.folder is None and spans <= SMALL_SPANS and len(corpus.documents) <= SMALL_DOCUMENTS


def keep_results(
    number: int, spinner: str | bool = False, *, show_time: bool = False
) -> Callable[[Callable[Given, Found]], Callable[Given, Found]]:
    """Keep the results of a function whose first argument is a corpus (`Loaded`) or a page (`PageContext`).

    Of results about large corpora the last `number` are kept, of those about small ones SMALL_FACTOR times as many.
    Arguments whose names begin with "_" do not tell results apart. `spinner` is shown while the function runs.
    """

    def decorate(function: Callable[Given, Found]) -> Callable[Given, Found]:
        @wraps(function)
        def of_small(*given: Given.args, **named: Given.kwargs) -> Found:
            return function(*given, **named)

        # Streamlit knows a function by its name.
        of_small.__qualname__ += " of small corpora"
        large, small = (
            st.cache_resource(
                max_entries=entries, show_spinner=spinner, show_time=show_time, hash_funcs=dict(HASHED_BY)
            )(one)
            for one, entries in ((function, number), (of_small, SMALL_FACTOR * number))
        )

        @wraps(function)
        def kept(*given: Given.args, **named: Given.kwargs) -> Found:
            first: Any = given[0]
            found: Found = (small if is_small(getattr(first, "loaded", first)) else large)(*given, **named)
            return found

        kept.result_caches = (large, small)  # type: ignore[attr-defined]
        return kept

    return decorate
