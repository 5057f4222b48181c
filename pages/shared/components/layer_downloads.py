"""A layer to take along, in any format that can be written; what a format cannot hold is said before."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable

import streamlit as st

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.writers import writers
from nereval_core.writers.archive import packed
from pages.shared.view import keys
from pages.shared.view.plain_text import plain
from pages.shared.view.problems import show_problems

FORMAT = f"{keys.WIDGET}copy_format"
AT_ONCE = 50_000
"""Spans up to which a copy is made as soon as a format is chosen."""
LOSSY = "--lossy"
"""What the lines of a refusal name where leaving something out mends it."""
LEAVE_OUT = "Leave out what the format cannot hold"

Copy = tuple[str, bytes, tuple[str, ...]]


def file_name(layer: str) -> str:
    """Return what a file of a layer may be called on any system."""
    return re.sub(r"[^\w-]+", "-", layer).strip("-") or "layer"


def offer(
    layer: Callable[[], Layer], spans: int, name: str, key: Hashable, *, beside: Callable[[], None] | None = None
) -> None:
    """Offer a layer of so many spans as a download called `name`, in a format to choose; `key` tells its content.

    `beside` draws what stands beside the download.
    """
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        known = list(writers())
        format = st.selectbox("Format", known, index=known.index("jsonl"), key=f"{FORMAT}_{name}", width=220)
        ready = spans <= AT_ONCE or st.button("Make the copy", key=f"make_{name}")
        made = _packed(key, format, name, layer) if ready else None
        refused = isinstance(made, FormatError) and LOSSY in str(made)
        if refused and st.checkbox(LEAVE_OUT, key=f"lossy_{name}_{format}"):
            made = _packed(key, format, name, layer, lossy=True)
        if isinstance(made, tuple):
            st.download_button(
                f"{made[0]}", made[1], file_name=made[0], key=f"copy_{name}", on_click="ignore", type="primary"
            )
        if beside is not None:
            beside()
    if isinstance(made, FormatError):
        show_problems(made.lines())
    elif made is not None:
        for note in made[2]:
            st.caption(plain(note, 400))


# A refusal is kept like a copy: finding out takes as long.
@st.cache_resource(max_entries=4, show_spinner="Writing the copy …")
def _packed(
    key: Hashable, format: str, name: str, _layer: Callable[[], Layer], *, lossy: bool = False
) -> Copy | FormatError:
    try:
        return packed(_layer(), format, name, lossy=lossy)
    except FormatError as error:
        return error
