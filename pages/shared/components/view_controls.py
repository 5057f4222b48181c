"""Controls for fields of the view: the tab of a page that is shown, and how its tables are laid out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.shared.data.page_context import PageContext
from pages.shared.view import state


def toggle_layout(page: PageContext, word: str, label: str, help: str) -> bool:
    """Ask whether a switch of the layout is on; return the answer."""

    def take(on: bool) -> None:
        state.put(state.view().with_layout(word, on))

    return st.toggle(label, help=help, **state.mirror(word, word in page.view.layout, take))


def toggle_all_criteria(page: PageContext) -> bool:
    """Ask whether all criteria are shown or the four schemas; the answer is kept in the link."""
    return toggle_layout(page, "all-criteria", "All criteria", "Beside the four schemas of SemEval, all others.")


def choose_word(
    page: PageContext,
    field: str,
    label: str,
    choices: Mapping[str, str],
    *,
    visible: bool = False,
    help: str | None = None,
) -> str:
    """Ask for the word of a field of the view, among choices given with their labels; return it.

    The first choice is the default, for which the field is empty. It is returned too where the field has another word.
    """
    default = next(iter(choices))
    value = getattr(page.view, field)

    def take(word: str) -> None:
        values: dict[str, Any] = {field: "" if word == default else word}
        state.put(replace(state.view(), **values))

    return str(
        st.segmented_control(
            label,
            list(choices),
            format_func=choices.__getitem__,
            required=True,
            label_visibility="visible" if visible else "collapsed",
            help=help,
            width="content",
            **state.mirror(field, value if value in choices else default, take),
        )
    )
