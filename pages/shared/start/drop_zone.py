"""The drop zone: all files at once, each recognised and given a role, and the order to read them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from nereval_core.readers import Source
from nereval_core.readers.input.source import label_of
from pages.shared.components import reading_progress
from pages.shared.data.file_roles import (
    ANNOTATOR,
    GOLD,
    IGNORED,
    ROLES,
    SYSTEM,
    TEXTS,
    first_layers,
    grouped_files,
    may_be_texts,
    proposed_roles,
)
from pages.shared.data.loading import GOLD as GOLD_LAYER
from pages.shared.data.reading_orders import Part, Upload, Uploaded, Wanted
from pages.shared.start import reading_options, retry
from pages.shared.start.recognition import Recognised, recognise_files
from pages.shared.view import keys
from pages.shared.view.text import plain

FORM = "upload"
FILES = "upload_files"
"""Key of the files in the drop zone."""
SHARING = frozenset(("brat", "csv", "datasets", "parquet"))
"""Formats whose texts or labels may stand in files by themselves."""
ROLE_HELP = (
    "Gold is the reference. Systems and annotators are held against it, or against the first annotator where nothing "
    "is gold. Texts are files that all layers share: texts of documents, or a list of labels. Files with one role and "
    "one name are parts of one layer."
)


@dataclass(frozen=True)
class Group:
    """Dropped files that belong together: their `ids` in the drop zone, the name of the first, and what they are."""

    ids: tuple[str, ...]
    file: str
    found: Recognised

    @property
    def mark(self) -> str:
        return _mark(self.ids)

    @property
    def label(self) -> str:
        """The name of its layer, where it holds one and the reader gives no other."""
        return label_of(self.file.replace("\\", "/")) or self.file


@dataclass(frozen=True)
class Row:
    """A layer of a group ("" where it holds one), with its role and the name it is to have."""

    group: Group
    layer: str
    role: str
    name: str

    @property
    def wanted(self) -> Wanted:
        found = self.group.found
        return Wanted(self.layer, found.columns, found.apart, found.folders)


def draw_drop_zone() -> None:
    """Take all files of a corpus at once, propose a role for each layer, and offer to read them."""
    most = st.get_option("server.maxUploadSize")
    files = st.file_uploader(
        "Drop all files here: gold, systems, annotators; one or many, zip too",
        accept_multiple_files=True,
        key=FILES,
        help=f"{most} MB a file; gzip and Zstandard are unpacked. {ROLE_HELP}",
    )
    rows = _rows(files) if files else []
    reading_options.draw_options(FORM)
    lacking = _lacking(rows)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Read and score",
            type="primary",
            key="upload_read",
            disabled=not files or bool(lacking) or reading_progress.is_waiting(),
            on_click=_read,
            args=(rows,),
        )
        if files and lacking:
            st.caption(lacking)


def _rows(files: Sequence[Any]) -> list[Row]:
    """Show the groups of files with a row for each layer, and return the rows."""
    drawn = [_group([files[number] for number in numbers]) for numbers in grouped_files([one.name for one in files])]
    places = [(group, below, layer) for group, below, layers in drawn for layer in layers or ("",)]
    proposed = proposed_roles(
        [layer for _, _, layer in places],
        [group.file for group, _, _ in places],
        [group.found.format for group, _, _ in places],
    )
    return [_row(below, group, layer, role) for (group, below, layer), role in zip(places, proposed, strict=True)]


def _group(files: Sequence[Any]) -> tuple[Group, Any, Sequence[str]]:
    """Show files that belong together; return them, the place of their rows, and the layers to be read."""
    ids, first = tuple(file.file_id for file in files), files[0].name
    mark, name = _mark(ids), first if len(files) == 1 else f"{first} and {len(files) - 1:,} more"
    with st.container(border=True, gap="small"):
        top = st.container(horizontal=True, vertical_alignment="center")
        with top.container():
            found = recognise_files(
                FORM,
                mark,
                lambda: Source.of_uploads(_raw(files)),
                format=reading_options.chosen_format(FORM),
                title=name,
                may_be_texts=may_be_texts(first),
            )
        layers: Sequence[str] = found.layers
        if len(first_layers(layers)) < len(layers):
            layers = st.multiselect("Layers", layers, default=first_layers(layers), key=f"upload_layers_{mark}")
        return Group(ids, first, found), st.container(gap="small") if found.layers else top, layers


def _row(place: Any, group: Group, layer: str, proposed: str) -> Row:
    """Ask for the role and the name of a layer; `place` is the line of its files, where they hold one."""
    own, said = f"{group.mark}_{layer}", plain(layer or group.file, 80)
    roles: dict[str, str] = st.session_state.setdefault(keys.ROLES, {})
    key = f"upload_role_{own}"
    st.session_state[key] = role = roles.get(own, proposed)
    usual = layer or group.label
    line = place.container(horizontal=True, vertical_alignment="center") if layer else place
    if layer:
        line.markdown(plain(layer, 80), width="stretch")
    line.selectbox(
        f"Role of {said}",
        ROLES,
        key=key,
        label_visibility="collapsed",
        width=130,
        on_change=_keep_role,
        args=(own, key),
    )
    name = ""
    if role in (SYSTEM, ANNOTATOR):
        name = line.text_input(
            f"Name of {said}",
            key=f"upload_name_{own}",
            placeholder=usual,
            label_visibility="collapsed",
            width=200,
            max_chars=80,
        ).strip()
    return Row(group, layer, role, name or usual)


def _keep_role(own: str, key: str) -> None:
    st.session_state[keys.ROLES][own] = st.session_state[key]


def _lacking(rows: Sequence[Row]) -> str:
    """Return in words the role that has to be given yet, "" where the files can be read."""
    roles = [row.role for row in rows]
    if GOLD in roles or roles.count(ANNOTATOR) > 1 or (ANNOTATOR in roles and SYSTEM in roles):
        return ""
    return "One of them has to be Gold, or two of them Annotators."


def _read(rows: Sequence[Row]) -> None:
    retry.remember_form(FORM, _read, rows)
    given = {file.file_id: file for file in st.session_state[FILES]}
    shared = [given[one] for row in rows if row.role == TEXTS for one in row.group.ids]
    # The layers of one upload share its files: they are opened once.
    files: dict[str, list[Upload]] = {}
    for row in rows:
        more = shared if row.group.found.format in SHARING else []
        files.setdefault(row.group.mark, _raw([*(given[one] for one in row.group.ids), *more]))
    reference = next((row for row in rows if row.role == GOLD), None)
    first = reference or next(row for row in rows if row.role == ANNOTATOR)
    layers: dict[str, list[Part]] = {GOLD_LAYER: []}
    names: dict[tuple[str, str], str] = {(first.role, "" if reference else first.name): GOLD_LAYER}
    for row in rows:
        if row.role in (TEXTS, IGNORED):
            continue
        own = row.role, "" if row.role == GOLD else row.name
        name = names.setdefault(own, _free(row.name, layers))
        layers.setdefault(name, []).append(Part(files[row.group.mark], row.wanted))
    title = first.group.label if reference or len(layers) > 2 else f"{first.name} × {list(layers)[-1]}"
    annotator = "" if reference else first.name
    reading_options.begin(FORM, lambda options: Uploaded(title, layers, options, annotator))


def _free(name: str, taken: dict[str, list[Part]]) -> str:
    """Return the name, with a number where another layer has it."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name} {number}"
    return found


def _raw(files: Sequence[Any]) -> list[Upload]:
    return [(file.name, file.getvalue()) for file in files]


def _mark(ids: Sequence[str]) -> str:
    return hashlib.sha256("/".join(ids).encode()).hexdigest()[:16]
