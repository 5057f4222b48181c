"""The forms of the front page: files to upload, or to choose in the served folder, and how to read them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from os.path import relpath
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nereval_core.api.load_options import LoadOptions
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.input.source import LAYER_MARK, label_of
from nereval_core.readers.read_settings import FormField, offers
from pages.shared.components import reading_progress
from pages.shared.data.loading import GOLD, likely_gold, likely_systems, served_entries, served_folders
from pages.shared.data.reading_orders import Order, Served, Uploaded, Wanted
from pages.shared.start import retry as start_retry
from pages.shared.start import selection as start_selection
from pages.shared.start.recognition import Taken, recognise_files
from pages.shared.view import keys

AUTO = "auto"
SERVED_SYSTEMS = 8
"""The most systems that are selected at first where a folder has a file or folder called gold."""


def upload_form() -> None:
    """Take gold and any number of systems, each as files or a zip."""
    most = st.get_option("server.maxUploadSize")
    st.caption(
        f"A file, several files or a zip for gold, and the same for each system; {most} MB a file. gzip and Zstandard "
        "are unpacked. What is recognised is said before anything is read."
    )
    gold = st.file_uploader("Gold", accept_multiple_files=True, key="upload_gold")
    format = st.session_state.get("upload_format") or AUTO
    ours = _looked("upload_gold", gold, format, gold=True) if gold else Taken()
    theirs: list[Taken] = []
    # There is always one empty place for a further system.
    while True:
        number = len(theirs)
        files = st.file_uploader(f"System {number + 1}", accept_multiple_files=True, key=f"upload_system_{number}")
        if not files:
            break
        taken = _looked(f"upload_system_{number}", files, format, gold=False)
        theirs.append(taken)
        if not taken.others:
            st.text_input(
                f"Name of system {number + 1}",
                key=f"upload_name_{number}",
                placeholder=taken.layer or _stem(files[0].name),
                max_chars=80,
            )
    _options("upload")
    st.button(
        "Read and score",
        type="primary",
        key="upload_read",
        disabled=not gold or reading_progress.is_waiting(),
        on_click=_read_upload,
        args=(ours, theirs),
    )


def _looked(place: str, files: Sequence[Any], format: str, *, gold: bool) -> Taken:
    mark = hashlib.sha256("/".join(file.file_id for file in files).encode()).hexdigest()[:16]
    return recognise_files(place, mark, lambda: Source.of_uploads(_raw(files)), format=format, gold=gold)


def _options(name: str) -> None:
    """Draw a field for every setting of reading that has one."""
    with st.expander("Format and reading"):
        drawn = {_key(name, field): offer.form for field, offer in offers(LoadOptions).items() if offer.form}
        sides = cycle(st.columns(2))
        for key, field in drawn.items():
            if not field.checkbox:
                _draw(next(sides), key, field)
        for key, field in drawn.items():
            if field.checkbox:
                st.checkbox(field.label, key=key, help=field.hint)
        start_selection.draw_selection(name)


def _draw(place: DeltaGenerator, key: str, field: FormField) -> None:
    if field.values is None:
        place.text_input(field.label, key=key, placeholder=field.empty, help=field.hint)
        return
    values = field.values()
    place.selectbox(
        field.label,
        list(values),
        index=0 if field.empty is None else None,
        format_func=values.__getitem__,
        placeholder=field.empty,
        key=key,
        help=field.hint,
    )


def _key(name: str, field: str) -> str:
    """Return the key of a field in a form: both sides have one format."""
    return f"{name}_{'format' if field in ('gold_format', 'pred_format') else field}"


def _chosen_options(name: str) -> LoadOptions:
    """Return the settings that the fields of a form hold.

    Raises:
        FormatError: lines that are no ids or map no type.
    """
    values = {
        field: offer.form.parse(value)
        for field, offer in offers(LoadOptions).items()
        if offer.form and (value := st.session_state.get(_key(name, field))) is not None
    }
    return start_selection.read_selection(name, LoadOptions(**values))


def _read_upload(ours: Taken, theirs: Sequence[Taken]) -> None:
    start_retry.remember_form("upload", _read_upload, ours, theirs)
    gold = st.session_state["upload_gold"]
    raw = _raw(gold)
    systems: dict[str, list[tuple[str, bytes]]] = {}
    wanted = {GOLD: Wanted(ours.layer, ours.columns, ours.apart, ours.folders)}

    def add(name: str, files: list[tuple[str, bytes]], layer: str, taken: Taken) -> None:
        free = _free(name, systems)
        systems[free] = files
        wanted[free] = Wanted(layer, taken.columns, taken.apart, taken.folders)

    for layer in ours.others:
        add(layer, raw, layer, ours)
    for number, taken in enumerate(theirs):
        files = st.session_state[f"upload_system_{number}"]
        own = st.session_state.get(f"upload_name_{number}", "").strip()
        theirs_raw = _raw(files)
        for layer in taken.layers:
            add((own if not taken.others else "") or layer or _stem(files[0].name), theirs_raw, layer, taken)
    _begin("upload", lambda options: Uploaded(_stem(gold[0].name), raw, systems, options, wanted))


def _begin(form: str, order: Callable[[LoadOptions], Order]) -> None:
    """Begin to read with the options of a form, or show the problems of its fields."""
    try:
        options = _chosen_options(form)
    except FormatError as error:
        st.session_state[keys.UPLOAD_PROBLEMS] = error.lines()
        return
    reading_progress.begin_reading(order(options))


def _free(name: str, taken: Mapping[str, object]) -> str:
    """Return the name, with a number where another system has it or it would be mistaken for gold."""
    found, number = name, 1
    while found in taken or found == "gold":
        number += 1
        found = f"{name} {number}"
    return found


def _raw(files: Sequence[Any]) -> list[tuple[str, bytes]]:
    return [(file.name, file.getvalue()) for file in files]


def _stem(name: str) -> str:
    return label_of(name.replace("\\", "/")) or name


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
    chosen = likely_systems(entries, gold)[:SERVED_SYSTEMS] if likely and beside == folder else []
    systems = right.multiselect("Systems", others, default=chosen, key=f"served_systems_{folder}_{beside}_{gold}")
    way = relpath(beside, folder)
    format = st.session_state.get("served_format") or AUTO
    ours = _looked_at(root, Path(folder, gold), "Gold", format, gold=True) if gold else Taken()
    theirs = [_looked_at(root, Path(beside, name), name, format, gold=False) for name in systems[:SERVED_SYSTEMS]]
    if more := len(systems) - len(theirs):
        st.caption(f"{more:,} more systems are recognised when they are read.")
        theirs += [Taken()] * more
    _options("served")
    st.button(
        "Read and score",
        type="primary",
        key="served_read",
        disabled=not gold or not (systems or ours.others) or reading_progress.is_waiting(),
        on_click=_read_served,
        args=(root, folder, gold, tuple(name if way == "." else f"{way}/{name}" for name in systems), ours, theirs),
    )


def _looked_at(root: Path, path: Path, title: str, format: str, *, gold: bool) -> Taken:
    """Look at a file or folder of the served one; one that changes is looked at anew."""
    place = root / path
    try:
        known = place.stat()
        said = f"{place} {known.st_mtime_ns} {known.st_size}"
    except OSError:
        said = str(place)
    mark = hashlib.sha256(said.encode(errors="replace")).hexdigest()[:16]
    return recognise_files(
        f"served_{path}", mark, lambda: Source.of_path(place, within=root), format=format, gold=gold, title=title
    )


def _read_served(
    root: Path, folder: str, gold: str, systems: Sequence[str], ours: Taken, theirs: Sequence[Taken]
) -> None:
    start_retry.remember_form("served", _read_served, root, folder, gold, systems, ours, theirs)
    names = [_with_layer(gold, layer) for layer in ours.others]
    names += [_with_layer(name, layer) for name, taken in zip(systems, theirs, strict=True) for layer in taken.layers]
    columns = {name: taken.columns for name, taken in zip(systems, theirs, strict=True) if taken.columns}
    if ours.columns:
        columns[gold] = ours.columns
    first = _with_layer(gold, ours.layer)
    apart = frozenset(name for name, taken in zip((gold, *systems), (ours, *theirs), strict=True) if taken.apart)
    _begin("served", lambda options: Served(root, folder, first, names, options, columns, apart))


def _with_layer(name: str, layer: str) -> str:
    return f"{name}{LAYER_MARK}{layer}" if layer else name
