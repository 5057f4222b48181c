"""Corpora with masked texts: if the view asks for it, or if the server masks everything."""

from __future__ import annotations

import os
from dataclasses import replace

from nereval_core.corpus.masking import masked, masked_error, masked_quotes, masked_text, masking_mark
from nereval_core.problems import FormatError, Problem
from pages.shared.data.loading import Loaded
from pages.shared.data.memo import memoized
from pages.shared.server import server_options
from pages.shared.view import MASKED, View, state

VARIABLE = "NEREVAL_MASK"


def all_masked() -> bool:
    """Tell whether all is masked: `streamlit run app.py -- --mask`, or the variable NEREVAL_MASK is not empty."""
    return bool(server_options().mask or os.environ.get(VARIABLE))


def is_masked() -> bool:
    """Tell whether this session sees texts masked."""
    return all_masked() or bool(state.view().mask)


def follow_view(loaded: Loaded, view: View) -> tuple[Loaded, View]:
    """Return the corpus as the view is to show it, and the view."""
    if all_masked():
        view = replace(view, mask=MASKED)
    if not view.mask:
        return loaded, view
    return masked_corpus(loaded), view


def as_shown(loaded: Loaded) -> Loaded:
    """Return a corpus as this session sees it."""
    return masked_corpus(loaded) if is_masked() else loaded


def masked_corpus(loaded: Loaded) -> Loaded:
    """Return the corpus masked; one that is, as it is."""
    return loaded if loaded.original is not None else mask_corpus(loaded)


@memoized("Masking the texts …")
def mask_corpus(loaded: Loaded) -> Loaded:
    """Return a corpus with its texts masked, and whatever was quoted from them when it was read."""
    return replace(
        loaded,
        corpus=masked(loaded.corpus),
        layers=tuple(
            replace(row, notes=tuple(map(masked_quotes, row.notes)), lost=_masked(row.lost)) for row in loaded.layers
        ),
        marks={
            name: (*marks, masking_mark(loaded.corpus.gold, loaded.corpus.system(name)))
            for name, marks in loaded.marks.items()
        },
        problems=_masked(loaded.problems),
        address=loaded.digest,
        origin=None if loaded.origin is None else masked_corpus(loaded.origin),
        original=loaded,
        reading=f"{loaded.reading}, masked",
    )


def _masked(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    return masked_error(FormatError(problems)).problems if problems else ()


def mask_message(text: str) -> str:
    """Return a message as this session may read it: with its quotes masked if texts are, and no place of --data."""
    if (served := server_options().data) is not None:
        text = text.replace(f"{served}{os.sep}", "")
    return masked_quotes(text) if is_masked() else text


def mask_words(text: str) -> str:
    """Return a user's words, masked altogether if texts are: they may quote them anywhere."""
    return masked_text(text) if is_masked() else text
