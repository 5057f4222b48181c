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
"""Prefix of the checkboxes, by the id of the zip."""
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
    """Ask for each zip of a few files whether these are layers; names that tell gold and others answer at first."""
    for file in files:
        if parts := _parts(file):
            st.checkbox(
                f"Each of the {count(len(parts), 'file')} in {plain(file.name, 80)} is a layer of its own",
                value=_are_layers(parts),
                key=f"{SPLIT}{file.file_id}",
                help="Otherwise the zip is read as one layer, and its files are the documents or parts of it.",
            )


def split_zips(files: Iterable[Any]) -> list[Any]:
    """Return the files dropped, with those of each zip in its place that is to be split."""
    return [part for file in files for part in _chosen_parts(file)]


def _chosen_parts(file: Any) -> Sequence[Any]:
    parts = _parts(file)
    return parts if parts and st.session_state.get(f"{SPLIT}{file.file_id}", _are_layers(parts)) else [file]


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
