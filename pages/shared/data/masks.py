"""Corpora shown with their texts masked: where the view asks for it, or the server was told to mask everything."""

from __future__ import annotations

import os
from dataclasses import replace

import streamlit as st

from nereval_core.corpus.masking import masked, masked_error, masked_quotes, masked_text, said
from nereval_core.problems import FormatError, Problem
from pages.shared.data.loading import Loaded, renumbered
from pages.shared.data.server import started_with
from pages.shared.view import MASKED, View, state

VARIABLE = "NEREVAL_MASK"


@st.cache_resource
def forced() -> bool:
    """Tell whether all is masked: `streamlit run app.py -- --mask`, or the variable NEREVAL_MASK is not empty."""
    return bool(started_with().mask or os.environ.get(VARIABLE))


def on() -> bool:
    """Tell whether this session sees texts masked."""
    return forced() or bool(state.view().mask)


def following(loaded: Loaded, view: View) -> tuple[Loaded, View, tuple[str, ...]]:
    """Return the corpus as the view is to show it, the view, and in words what of it was dropped."""
    if forced():
        view = replace(view, mask=MASKED)
    if not view.mask:
        return loaded, view, ()
    if loaded.folder is not None:
        return loaded, replace(view, mask=""), ("mask: a scored folder is shown as it is",)
    return taken(loaded), view, ()


def shown(loaded: Loaded) -> Loaded:
    """Return a corpus as this session sees it."""
    return taken(loaded) if on() else loaded


def taken(loaded: Loaded) -> Loaded:
    """Return the corpus masked; one that is, as it is."""
    return loaded if loaded.original is not None else _taken(loaded.number, loaded)


# Kept, as a number of its own tells each in the caches.
@st.cache_resource(max_entries=16, show_spinner="Masking the texts …")
def _taken(number: int, _loaded: Loaded) -> Loaded:
    return with_mask(_loaded)


def with_mask(loaded: Loaded) -> Loaded:
    """Return a corpus with its texts masked, and whatever was quoted from them when it was read."""
    return replace(
        loaded,
        corpus=masked(loaded.corpus),
        layers=tuple(
            replace(row, notes=tuple(map(masked_quotes, row.notes)), lost=_masked(row.lost)) for row in loaded.layers
        ),
        marks={
            name: (*marks, said(loaded.corpus.gold, loaded.corpus.system(name))) for name, marks in loaded.marks.items()
        },
        problems=_masked(loaded.problems),
        address=loaded.digest,
        origin=None if loaded.origin is None else taken(loaded.origin),
        original=loaded,
        number=renumbered(),
    )


def _masked(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    return masked_error(FormatError(problems)).problems if problems else ()


def told(text: str) -> str:
    """Return a message as this session may read it: without what it quotes where texts are masked."""
    return masked_quotes(text) if on() else text


def hidden(text: str) -> str:
    """Return what somebody wrote, masked altogether where texts are: it may quote them anywhere."""
    return masked_text(text) if on() else text
