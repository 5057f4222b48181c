"""Zips whose files are layers of their own: gold and systems in one zip are taken as if each were dropped by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.input.origins import ZIP
from pages.shared.data.file_roles import LAYERS_IN_ZIP, are_layers, grouped_files
from pages.shared.data.memo import memoized
from pages.shared.view.text import count, plain

SPLIT = "upload_split_"
"""Prefix of the choices, by the id of the zip."""
LAYERS, PARTS = "a layer each", "parts of one layer"
"""What the files of a zip are."""
LARGEST = 500_000_000
"""Bytes of all files of a zip, unpacked, up to which it is split: they are held in memory."""


@dataclass(frozen=True)
class ZippedFile:
    """A file of a dropped zip, with what Streamlit's own have: a name, an id and the content."""

    name: str
    file_id: str
    content: bytes

    @property
    def size(self) -> int:
        return len(self.content)

    def getvalue(self) -> bytes:
        return self.content


def ask_for_zips(files: Iterable[Any]) -> None:
    """Ask for each zip of a few files whether these are layers; names that tell roles answer at first."""
    for file in files:
        if parts := _parts(file):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                words = f"The {count(len(parts), 'file')} in {plain(file.name, 80)} are"
                st.markdown(words, width="content")
                st.segmented_control(
                    words,
                    (LAYERS, PARTS),
                    default=LAYERS if _are_layers(parts) else PARTS,
                    required=True,
                    label_visibility="collapsed",
                    key=f"{SPLIT}{file.file_id}",
                    help="Layers are gold, systems or annotators. Parts are documents of one of these.",
                )


def whole_zips(files: Iterable[Any]) -> list[str]:
    """Return the names of zips that are one layer so far, and whose files may be a layer each."""
    return [file.name for file in files if _parts(file) and not _is_split(file)]


def split_zips(files: Iterable[Any]) -> list[Any]:
    """Return the files dropped, with those of each zip in its place that is to be split."""
    return [part for file in files for part in _chosen_parts(file)]


def _chosen_parts(file: Any) -> Sequence[Any]:
    return _parts(file) if _is_split(file) else [file]


def _is_split(file: Any) -> bool:
    parts = _parts(file)
    choice = st.session_state.get(f"{SPLIT}{file.file_id}", LAYERS if _are_layers(parts) else PARTS)
    return bool(parts) and choice == LAYERS


def _are_layers(parts: Iterable[ZippedFile]) -> bool:
    return are_layers([part.name for part in parts])


def _parts(file: Any) -> tuple[ZippedFile, ...]:
    return _opened(file.file_id, file) if file.name.lower().endswith(ZIP) else ()


@memoized("Looking at the files …")
def _opened(file_id: str, _file: Any) -> tuple[ZippedFile, ...]:
    """Return the files of a zip that may be layers; nothing where they cannot be, or are not read: then it is whole."""
    try:
        files = Source.of_uploads([(_file.name, _file.getvalue())]).files
        names = [file.name for file in files]
        if any("/" in name for name in names) or not 1 < len(grouped_files(names)) <= LAYERS_IN_ZIP:
            return ()
        if sum(file.origin.size() for file in files) > LARGEST:
            return ()
        return tuple(ZippedFile(file.name, f"{file_id}/{file.name}", file.origin.load(-1)) for file in files)
    except FormatError:
        return ()
