"""Controls for the words of `sort`: how a page lays its tables out, and which of its views it shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import streamlit as st

from pages.shared.data.page_context import PageContext
from pages.shared.view import state


def toggle_word(page: PageContext, word: str, label: str, help: str) -> bool:
    """Ask whether the link has a word of `sort`; return the answer."""

    def take(on: bool) -> None:
        state.put(state.view().with_sort(word, on))

    return st.toggle(label, help=help, **state.mirror(word, word in page.view.sort, take))


def toggle_all_criteria(page: PageContext) -> bool:
    """Ask whether all criteria are shown or the four schemas; the answer is kept in the link."""
    return toggle_word(page, "all-criteria", "All criteria", "Beside the four schemas of SemEval, all others.")


def choose_word(
    page: PageContext,
    name: str,
    label: str,
    choices: Mapping[str, str],
    *,
    chosen: str | None = None,
    gives_up: Collection[str] = (),
    visible: bool = False,
    help: str | None = None,
) -> str:
    """Ask for one of several words of `sort`, given with their labels; return it.

    The first choice is the default, for which the link has none of the words. `name` is that of the widget; `chosen`
    is the choice where other words of the link imply it; another choice gives up those of `gives_up`.
    """
    default, *words = choices

    def take(word: str) -> None:
        state.put(state.view().with_choice((*words, *gives_up), word))

    return str(
        st.segmented_control(
            label,
            list(choices),
            format_func=choices.__getitem__,
            required=True,
            label_visibility="visible" if visible else "collapsed",
            help=help,
            width="content",
            **state.mirror(name, chosen or page.view.choice(words) or default, take),
        )
    )
