"""The forms of the front page: files to upload, or to choose in the served folder, and how to read them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from os.path import relpath
from pathlib import Path
from typing import Any

import streamlit as st

from nereval_core.api.formats import formats
from nereval_core.api.load import LoadOptions
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.input.source import LAYER, label_of
from nereval_core.readers.shared.label_list import of_words
from nereval_core.readers.shared.offset_units import EVERY
from nereval_core.readers.shared.tag_schemes import SCHEMES
from pages.shared.data.loading import GOLD, likely_gold, likely_systems, served_entries, served_folders
from pages.shared.data.orders import Order, Served, Uploaded, Wanted
from pages.shared.start import retry as start_retry
from pages.shared.start import selection as start_selection
from pages.shared.start import waiting
from pages.shared.start.recognition import Taken, look
from pages.shared.view import keys

AUTO = "auto"
REFUSE = "refuse"
REPAIRS = {REFUSE: REFUSE, "conlleval": "repair: conlleval", "discard": "repair: discard"}
PAIRINGS = {"auto": "by id, else by text", "text": "by text, whatever the ids", "order": "by order, whatever the ids"}
SERVED_SYSTEMS = 8
"""How many systems are chosen beforehand where a folder has a file or folder called gold."""


def upload() -> None:
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
        disabled=not gold or waiting.at_all(),
        on_click=_read_upload,
        args=(ours, theirs),
    )


def _looked(place: str, files: Sequence[Any], format: str, *, gold: bool) -> Taken:
    mark = hashlib.sha256("/".join(file.file_id for file in files).encode()).hexdigest()[:16]
    return look(place, mark, lambda: Source.of_uploads(_raw(files)), format=format, gold=gold)


def _options(name: str) -> None:
    with st.expander("Format and reading"):
        left, right = st.columns(2)
        names = [AUTO, *(row.name for row in formats() if row.reads)]
        left.selectbox("Format", names, key=f"{name}_format", help="auto recognises it by content and says which.")
        right.selectbox(
            "Tag scheme",
            list(SCHEMES),
            index=None,
            placeholder="detected on gold",
            key=f"{name}_scheme",
            help="For columns of tokens and tags.",
        )
        left.text_input(
            "Column of gold",
            key=f"{name}_gold_column",
            placeholder="the one with tags",
            help="Number from 1, or name in a header.",
        )
        right.text_input(
            "Column of the prediction",
            key=f"{name}_pred_column",
            placeholder="the one with tags",
            help="With gold and prediction in one file, give this column and upload the file as gold only.",
        )
        left.selectbox(
            "Malformed tag sequences",
            list(REPAIRS),
            key=f"{name}_repair",
            format_func=REPAIRS.__getitem__,
        )
        right.selectbox(
            "A document missing from a prediction",
            ["error", "empty"],
            key=f"{name}_missing",
            format_func={"error": "refuse", "empty": "count as predicted empty"}.__getitem__,
        )
        left.text_input(
            "Type of cores",
            key=f"{name}_core_type",
            placeholder="none",
            help="For brat: spans of this type, or with this attribute, are the cores of the smallest spans around "
            "them. The criterion core needs them.",
        )
        left.text_input(
            "Labels of numbered tags",
            key=f"{name}_labels",
            placeholder="in the file, or in labels.txt beside it",
            help="For datasets whose tags are numbers: the labels in order, O, B-PER, I-PER, …",
        )
        right.selectbox(
            "Documents are paired",
            list(PAIRINGS),
            key=f"{name}_pair_by",
            format_func=PAIRINGS.__getitem__,
            help="Texts tell documents apart where ids do not meet; without ids there is their order.",
        )
        right.selectbox(
            "Offsets count",
            list(EVERY),
            index=None,
            format_func=str,
            placeholder="what fits the quotes",
            key=f"{name}_offsets",
            help="Where there are no quotes, the format's own way is taken; quotes may fit several.",
        )
        st.checkbox(
            "Score only the documents that all of them have",
            key=f"{name}_common",
            help="Where annotators have not seen the same documents. Told by their ids; the signature says how many.",
        )
        st.checkbox(
            "Align texts that differ in white space, quotes or normal forms alone",
            key=f"{name}_align_text",
            help="Spans are carried over to gold's text. Those without a place in it are left out, listed and counted "
            "in the signature.",
        )
        st.checkbox(
            "Take gold's text where tokens are spelt differently",
            key=f"{name}_token_text",
            help="Only where the token counts are equal; counted, and told in the signature.",
        )
        start_selection.fields(name)


def _chosen_options(name: str) -> LoadOptions:
    def value(option: str) -> Any:
        return st.session_state.get(f"{name}_{option}")

    options = LoadOptions(
        gold_format=value("format") or AUTO,
        pred_format=value("format") or AUTO,
        scheme=value("scheme"),
        gold_column=_column(value("gold_column")),
        pred_column=_column(value("pred_column")),
        repair=repair if (repair := value("repair")) != REFUSE else None,
        core_type=(value("core_type") or "").strip() or None,
        offsets=value("offsets"),
        labels=of_words(value("labels") or "") or None,
        missing=value("missing") or "error",
        token_text="gold" if value("token_text") else "own",
        pair_by=value("pair_by") or "auto",
        align_text=bool(value("align_text")),
        common=bool(value("common")),
    )
    return start_selection.chosen(name, options)


def _column(text: str | None) -> int | str | None:
    text = (text or "").strip()
    return int(text) if text.isdecimal() else text or None


def _read_upload(ours: Taken, theirs: Sequence[Taken]) -> None:
    start_retry.remember("upload", _read_upload, ours, theirs)
    gold = st.session_state["upload_gold"]
    raw = _raw(gold)
    systems: dict[str, list[tuple[str, bytes]]] = {}
    wanted = {GOLD: Wanted(ours.layer, ours.columns, ours.apart)}

    def add(name: str, files: list[tuple[str, bytes]], layer: str, taken: Taken) -> None:
        free = _free(name, systems)
        systems[free] = files
        wanted[free] = Wanted(layer, taken.columns, taken.apart)

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
    """Begin to read with the options of a form, or say which of its fields hold what they cannot."""
    try:
        options = _chosen_options(form)
    except FormatError as error:
        st.session_state[keys.UPLOAD_PROBLEMS] = error.lines()
        return
    waiting.begin(order(options))


def _free(name: str, taken: Mapping[str, object]) -> str:
    """Return the name, numbered where it is taken already or would be mistaken for gold."""
    found, number = name, 1
    while found in taken or found == "gold":
        number += 1
        found = f"{name} {number}"
    return found


def _raw(files: Sequence[Any]) -> list[tuple[str, bytes]]:
    return [(file.name, file.getvalue()) for file in files]


def _stem(name: str) -> str:
    return label_of(name.replace("\\", "/")) or name


def served(root: Path) -> None:
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
        disabled=not gold or not (systems or ours.others) or waiting.at_all(),
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
    return look(
        f"served_{path}", mark, lambda: Source.of_path(place, within=root), format=format, gold=gold, title=title
    )


def _read_served(
    root: Path, folder: str, gold: str, systems: Sequence[str], ours: Taken, theirs: Sequence[Taken]
) -> None:
    start_retry.remember("served", _read_served, root, folder, gold, systems, ours, theirs)
    names = [_with_layer(gold, layer) for layer in ours.others]
    names += [_with_layer(name, layer) for name, taken in zip(systems, theirs, strict=True) for layer in taken.layers]
    columns = {name: taken.columns for name, taken in zip(systems, theirs, strict=True) if taken.columns}
    if ours.columns:
        columns[gold] = ours.columns
    first = _with_layer(gold, ours.layer)
    apart = frozenset(name for name, taken in zip((gold, *systems), (ours, *theirs), strict=True) if taken.apart)
    _begin("served", lambda options: Served(root, folder, first, names, options, columns, apart))


def _with_layer(name: str, layer: str) -> str:
    return f"{name}{LAYER}{layer}" if layer else name
