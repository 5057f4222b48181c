"""The form for files of the served folder: which are gold and systems, and how they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from os.path import relpath
from pathlib import Path

import streamlit as st

from nereval_core.readers import Source
from nereval_core.readers.input.source import LAYER_MARK
from pages.shared.components import reading_progress
from pages.shared.data import file_roles
from pages.shared.data.loading import likely_gold, likely_systems, served_entries, served_folders
from pages.shared.data.reading_orders import Served
from pages.shared.start import reading_options, retry
from pages.shared.start.recognition import Recognised, recognise_files

FORM = "served"
SYSTEMS = 8
"""The most systems that are selected at first where a folder has a file or folder called gold."""
HELD = f"Each is held against gold. At first the first {file_roles.LAYERS}; choose others from the list."
EACH = f"Each becomes a system. At first the first {file_roles.LAYERS}; choose others from the list."


@dataclass(frozen=True)
class Taken:
    """Selection from files: `layer` ("" where they hold one) and `others` of them."""

    layer: str = ""
    others: tuple[str, ...] = ()
    found: Recognised = field(default_factory=Recognised)

    @property
    def layers(self) -> tuple[str, ...]:
        return (self.layer, *self.others)


def served_form(root: Path) -> None:
    """Take gold and systems from the served folder."""
    folders = served_folders(root)
    left, right = st.columns(2)
    folder = left.selectbox("Folder", folders, key="served_folder")
    entries = served_entries(root, folder)
    likely = likely_gold(entries)
    place = entries.index(likely) if likely in entries else None
    gold = left.selectbox("Gold", entries, index=place, key=f"served_gold_{folder}", placeholder="file or folder")
    beside = right.selectbox("Systems are in", folders, index=folders.index(folder), key=f"served_beside_{folder}")
    others = [entry for entry in served_entries(root, beside) if beside != folder or entry != gold]
    chosen = likely_systems(entries, gold)[:SYSTEMS] if likely and beside == folder else []
    systems = right.multiselect("Systems", others, default=chosen, key=f"served_systems_{folder}_{beside}_{gold}")
    way = relpath(beside, folder)
    ours = _gold(root, Path(folder, gold)) if gold else Taken()
    theirs = [_system(root, Path(beside, name), name) for name in systems[:SYSTEMS]]
    if more := len(systems) - len(theirs):
        st.caption(f"{more:,} more systems are recognised when they are read.")
        theirs += [Taken()] * more
    reading_options.draw_options(FORM)
    st.button(
        "Read and score",
        type="primary",
        key="served_read",
        disabled=not gold or not (systems or ours.others) or reading_progress.is_waiting(),
        on_click=_read,
        args=(root, folder, gold, tuple(name if way == "." else f"{way}/{name}" for name in systems), ours, theirs),
    )


def _gold(root: Path, path: Path) -> Taken:
    """Ask which layer of the files is gold, and which others are systems."""
    found, key = _looked_at(root, path, "Gold")
    if not found.layers:
        return Taken(found=found)
    left, right = st.columns(2)
    layer = left.selectbox("Gold is the layer", found.layers, key=f"{key}_layer")
    rest = tuple(name for name in found.layers if name != layer)
    others = right.multiselect(
        "Systems from the same file",
        rest,
        default=file_roles.first_layers(rest),
        key=f"{key}_others_{layer}",
        help=HELD,
    )
    return Taken(layer, tuple(others), found)


def _system(root: Path, path: Path, title: str) -> Taken:
    """Ask which layers of the files are systems."""
    found, key = _looked_at(root, path, title)
    if not found.layers:
        return Taken(found=found)
    names = st.multiselect(
        "Layers", found.layers, default=file_roles.first_layers(found.layers), key=f"{key}_layers", help=EACH
    )
    return Taken(names[0], tuple(names[1:]), found) if names else Taken()


def _looked_at(root: Path, path: Path, title: str) -> tuple[Recognised, str]:
    """Look at a file or folder of the served one, and return it with a key; one that changes is looked at anew."""
    place = root / path
    try:
        known = place.stat()
        said = f"{place} {known.st_mtime_ns} {known.st_size}"
    except OSError:
        said = str(place)
    mark = hashlib.sha256(said.encode(errors="replace")).hexdigest()[:16]
    format = reading_options.chosen_format(FORM)
    key = f"served_{path}"
    found = recognise_files(key, mark, lambda: Source.of_path(place, within=root), format=format, title=title)
    return found, f"{key}_{mark}"


def _read(root: Path, folder: str, gold: str, systems: Sequence[str], ours: Taken, theirs: Sequence[Taken]) -> None:
    retry.remember_form(FORM, _read, root, folder, gold, systems, ours, theirs)
    names = [_with_layer(gold, layer) for layer in ours.others]
    names += [_with_layer(name, layer) for name, taken in zip(systems, theirs, strict=True) for layer in taken.layers]
    every = list(zip((gold, *systems), (ours, *theirs), strict=True))
    columns = {name: taken.found.columns for name, taken in every if taken.found.columns}
    first = _with_layer(gold, ours.layer)
    apart = frozenset(name for name, taken in every if taken.found.apart)
    reading_options.begin(FORM, lambda options: Served(root, folder, first, names, options, columns, apart))


def _with_layer(name: str, layer: str) -> str:
    return f"{name}{LAYER_MARK}{layer}" if layer else name
