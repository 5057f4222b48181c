"""Reading refused files all the same: one button that sets the options which the refusal itself names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from pages.shared.view import keys

_COMMON = ("common", True, "score only the documents that all of them have")
MENDS: dict[str, tuple[str, str | bool, str]] = {
    "--repair": ("repair", "conlleval", "cut malformed tags as conlleval does"),
    "--token-text": ("token_text", True, "take gold's text where tokens are spelt differently"),
    "--align-text": ("align_text", True, "align texts that differ in white space, quotes or normal forms alone"),
    "--truncated outside": ("truncated", "outside", "take the missing ends of sentences as outside"),
    "is missing; add it": _COMMON,
    "leave it out, or give it the id": _COMMON,
    "--pair-by text": ("pair_by", "text", "pair documents by their text"),
    "--pair-by order": ("pair_by", "order", "pair documents by their order"),
}
"""By the option a problem names, or its words: the field under Format and reading, its value, and what that does."""

NOTE = (
    "What was mended is counted and told with the files. Published scorers read their own formats as they stand, so "
    "their figures stay those of the files as submitted."
)


def remember_form(form: str, again: Callable[..., None], *arguments: object) -> None:
    """Keep the form (`upload`, `served`) that was read last, and the function that reads it again."""
    st.session_state[keys.READ_LAST] = (form, again, arguments)


def offer_retry(lines: Sequence[str]) -> None:
    """Offer to read once more with the options that the problems name, where the files are still in the form."""
    form, again, arguments = st.session_state.get(keys.READ_LAST, ("", None, ()))
    named = list(dict.fromkeys(mend for option, mend in MENDS.items() if any(option in line for line in lines)))
    # A page switch empties the places for uploads.
    if not named or again is None or (form == "upload" and not st.session_state.get("upload_files")):
        return

    def read_again() -> None:
        for field, value, _ in named:
            st.session_state[f"{form}_{field}"] = value
        again(*arguments)

    said = " and ".join(words for _, _, words in named)
    st.button(f"Read all the same: {said}", type="primary", key="read_again", on_click=read_again)
    st.caption(NOTE)
