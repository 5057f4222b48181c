"""The forms for files: all dropped at once, or chosen from the served folder, each with a role."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from os.path import relpath
from pathlib import Path
from typing import Any

import streamlit as st

from nereval_core.problems import FormatError, name_text
from nereval_core.readers import Source
from nereval_core.readers.biomedical import bc2gm
from nereval_core.readers.input.origins import ZIP
from nereval_core.readers.input.paths import LAYER_MARK, label_of
from pages.shared.components import opening, refusals
from pages.shared.data import file_roles
from pages.shared.data.file_roles import (
    ANNOTATOR,
    GOLD,
    IGNORED,
    SYSTEM,
    TEXTS,
    VARIANTS,
    VARIED,
    first_layers,
    grouped_files,
    in_folder,
    languages_of_gold,
    names_in_folders,
    needs_no_format,
    proposed_roles,
    roles_of,
)
from pages.shared.data.loading import GOLD as GOLD_LAYER
from pages.shared.data.loading import likely_gold, likely_systems, served_entries, served_folders
from pages.shared.data.reading_orders import Part, Selection, Served, Upload, Uploaded
from pages.shared.data.refused_files import refusal_of
from pages.shared.start import reading_options, split_zips
from pages.shared.start.recognition import Recognised, recognise_files
from pages.shared.view import keys
from pages.shared.view.text import count, named, plain

DROPPED = "upload"
FILES = "upload_files"
"""Key of the files in the drop zone."""
SHARING = frozenset((VARIED, "brat", "cas", "csv", "datasets", "parquet"))
"""Formats whose texts or labels may stand in files by themselves."""
ROLE_HELP = (
    "Gold is the reference. Systems and annotators are held against it, or against the first annotator where nothing "
    "is gold. Texts are files that all layers share: texts of documents, or a list of labels. Variants are other "
    "boundaries of gold's spans that count as right. Files with one role and one name are parts of one layer."
)


ASKED = 4
"""Layers of which a button each says that it is gold; further ones have their lists of roles."""


@dataclass(frozen=True)
class Group:
    """Dropped files that belong together: their `ids` in the drop zone, the name of the first, and what they are.

    `number` counts the groups whose first file has this name, from 1; it is 0 where there is one such group.
    """

    ids: tuple[str, ...]
    file: str
    recognised: Recognised
    number: int = 0

    @property
    def mark(self) -> str:
        return _mark(self.ids)

    @property
    def label(self) -> str:
        """The name of its layer, where it holds one and the reader gives no other."""
        label = label_of(self.file.replace("\\", "/")) or self.file
        return label if self.number < 2 else f"{label} {self.number}"

    @property
    def title(self) -> str:
        """The name of its first file, told apart from others of this name."""
        return in_folder(self.file, self.number)


@dataclass(frozen=True)
class Row:
    """A layer of a group ("" where it holds one), with its role ("" where it is asked) and the name it is to have."""

    group: Group
    layer: str
    role: str
    name: str

    @property
    def key(self) -> str:
        """The key of what the user chose for it."""
        return _row_key(self.group, self.layer)

    @property
    def requested(self) -> Selection:
        recognised = self.group.recognised
        return Selection(self.layer, recognised.columns, recognised.apart, recognised.folders)


def draw_drop_zone() -> Sequence[Any]:
    """Take all files of a corpus at once, and return them."""
    most = st.get_option("server.maxUploadSize")
    return st.file_uploader(
        "Drop all files here: gold, systems, annotators; one by one or in a zip",
        accept_multiple_files=True,
        key=FILES,
        help=f"{most} MB a file; gzip and Zstandard are unpacked. {ROLE_HELP}",
    )


def draw_files(files: Sequence[Any]) -> None:
    """Propose a role for each layer of the files dropped, and offer to read them."""
    error = refusal_of(DROPPED) if files else None
    split_zips.ask_for_zips(files)
    whole_zips = split_zips.whole_zips(files)
    files = split_zips.split_zips(files)
    above = st.container()
    language = _choose_language([file.name for file in files])
    rows, names = _rows(files, error, language) if files else ([], set())
    read = partial(_read_dropped, rows)
    if error is not None:
        with above:
            refusals.draw_head(error, DROPPED, read)
            opening.offer_rest()
        refusals.draw_others(error, names, DROPPED, read)
    _ask_for_gold([row for row in rows if not row.role])
    reading_options.draw_options(DROPPED)
    lacking = _lacking(rows)
    if lacking and whole_zips:
        lacking += f" If {plain(whole_zips[0], 80)} has it, choose “{split_zips.LAYERS}” above."
    waiting = opening.is_waiting()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Reading …" if waiting else "Read and score",
            type="primary",
            key="upload_read",
            disabled=not files or bool(lacking) or waiting,
            on_click=read,
        )
        # Who stands here sees neither the progress nor the problems, which stand at the top.
        if waiting:
            st.caption("How far it is stands at the top of the page.")
        elif files and lacking:
            st.caption(lacking)
        elif error is not None:
            st.caption(f":red[Not read as it stands: {count(len(error.problems), 'problem')} above.]")


def _ask_for_gold(rows: Sequence[Row]) -> None:
    """Ask which of some layers is gold, or whether all are annotators': their names tell no role."""
    if not rows:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**Which is gold?** No name tells it.", width="content")
        for row in rows[:ASKED]:
            key = f"upload_gold_{row.key}"
            st.button(f"{plain(row.name, 60)} is gold", key=key, on_click=_give_roles, args=([row], GOLD))
        label = "None: compare two annotators" if len(rows) == 2 else f"None: compare {len(rows)} annotators"
        st.button(label, key="upload_annotators", on_click=_give_roles, args=(rows, ANNOTATOR))


def _give_roles(rows: Sequence[Row], role: str) -> None:
    for row in rows:
        st.session_state[keys.ROLES][row.key] = role


def _choose_language(names: Sequence[str]) -> str:
    """Ask for the language that is scored where gold has several, each in a file; return "" where it has one."""
    languages = languages_of_gold(names)
    if not languages:
        return ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("Gold is there in several languages. Score", width="content")
        language = st.segmented_control(
            "Language",
            languages,
            default=languages[0],
            required=True,
            label_visibility="collapsed",
            help="Files of other languages are left out; each language is a corpus of its own.",
            key=f"upload_language_{'_'.join(languages)}",
        )
    return str(language)


def _rows(files: Sequence[Any], error: FormatError | None, language: str) -> tuple[list[Row], set[str]]:
    """Show the groups of files with a row for each layer and their problems; return the rows and the files' names."""
    files_by_group = [[files[number] for number in numbers] for numbers in grouped_files([file.name for file in files])]
    firsts = [members[0].name for members in files_by_group]
    numbers = [firsts[: place + 1].count(name) * (firsts.count(name) > 1) for place, name in enumerate(firsts)]
    files_by_name = [
        dict(zip(_names(members, number), members, strict=True))
        for members, number in zip(files_by_group, numbers, strict=True)
    ]
    refused = [refusals.is_refused(error, of_group) for of_group in files_by_name]
    groups = [_group(*group) for group in zip(files_by_group, refused, numbers, strict=True)]
    places = [(group, below, layer) for group, below, layers, _ in groups for layer in layers or ("",)]
    choices: dict[str, str] = st.session_state.setdefault(keys.ROLES, {})
    proposed = proposed_roles(
        [layer for _, _, layer in places],
        [group.file for group, _, _ in places],
        [group.recognised.format for group, _, _ in places],
        language,
        choices=[choices.get(_row_key(group, layer), "") for group, _, layer in places],
    )
    rows = [_row(below, group, layer, role) for (group, below, layer), role in zip(places, proposed, strict=True)]
    for of_group, (*_, place), is_refused in zip(files_by_name, groups, refused, strict=True):
        if error is not None and is_refused:
            with place:
                refusals.draw_beside(error, of_group, DROPPED, partial(_read_dropped, rows))
    return rows, {name for of_group in files_by_name for name in of_group}


def _group(files: Sequence[Any], is_refused: bool, number: int) -> tuple[Group, Any, Sequence[str], Any]:
    """Show files that belong together; return them, the places of their rows and problems, and layers to be read."""
    ids, first = tuple(file.file_id for file in files), files[0].name
    mark, title = _mark(ids), in_folder(first, number)
    name = title if len(files) == 1 else f"{title} and {len(files) - 1:,} more"
    with st.container(border=True, gap="small"):
        top = st.container(horizontal=True, vertical_alignment="center")
        with top.container():
            recognised = recognise_files(
                DROPPED,
                mark,
                lambda: Source.of_uploads(_raw(files, number)),
                format=reading_options.chosen_format(DROPPED),
                keys=reading_options.chosen_keys(DROPPED),
                title=name,
                no_format=needs_no_format(first),
                is_refused=is_refused,
            )
        layers: Sequence[str] = recognised.layers
        if len(first_layers(layers)) < len(layers):
            layers = st.multiselect(
                "Layers", layers, format_func=name_text, default=first_layers(layers), key=f"upload_layers_{mark}"
            )
        below = st.container(gap="small") if recognised.layers else top
        return Group(ids, first, recognised, number), below, layers, st.container(gap="small")


def _row_key(group: Group, layer: str) -> str:
    return f"{group.mark}_{layer}"


def _row(place: Any, group: Group, layer: str, role: str) -> Row:
    """Ask for the role and the name of a layer; `place` is the line of its files, where they hold one."""
    own, title = _row_key(group, layer), plain(layer or group.title, 80)
    key = f"upload_role_{own}"
    st.session_state[key] = role or None
    usual = layer or group.label
    line = place.container(horizontal=True, vertical_alignment="center") if layer else place
    if layer:
        line.markdown(named(layer, 80), width="stretch")
    line.selectbox(
        f"Role of {title}",
        roles_of(group.recognised.format),
        index=0 if role else None,
        key=key,
        placeholder="Role",
        label_visibility="collapsed",
        width=130,
        on_change=_keep_role,
        args=(own, key),
    )
    name = ""
    if role in (SYSTEM, ANNOTATOR):
        name = line.text_input(
            f"Name of {title}",
            key=f"upload_name_{own}",
            placeholder=name_text(usual),
            label_visibility="collapsed",
            width=200,
            max_chars=80,
        ).strip()
    return Row(group, layer, role, name or usual)


def _keep_role(own: str, key: str) -> None:
    st.session_state[keys.ROLES][own] = st.session_state[key]


def _lacking(rows: Sequence[Row]) -> str:
    """Return in words the role or file that has to be given yet, "" where the files can be read."""
    return _lacking_role([row.role for row in rows]) or _lacking_texts(rows)


def _lacking_texts(rows: Sequence[Row]) -> str:
    """Return in words that loose files of gene mentions lack their sentences, "" where they are there or not needed."""
    reference = min(rows, key=lambda row: (row.role != GOLD, row.role != ANNOTATOR))
    is_loose = reference.group.recognised.format == VARIED and not reference.group.file.lower().endswith(ZIP)
    if is_loose and all(row.role != TEXTS for row in rows):
        return f"Drop the file with the sentences too, such as test{bc2gm.SENTENCES}."
    return ""


def _lacking_role(roles: Sequence[str]) -> str:
    if "" in roles:
        return "Say above which is gold."
    if roles.count(ANNOTATOR) > 1 or {ANNOTATOR, SYSTEM} <= set(roles):
        return ""
    if GOLD in roles:
        return "" if {ANNOTATOR, SYSTEM} & set(roles) else "Drop a system or an annotator too, to hold against gold."
    return "One of them has to be Gold, or two of them Annotators."


def _read_dropped(rows: Sequence[Row]) -> None:
    files_by_id = {file.file_id: file for file in split_zips.split_zips(st.session_state[FILES])}
    shared, variants = (
        [files_by_id[file_id] for row in rows if row.role == role for file_id in row.group.ids]
        for role in (TEXTS, VARIANTS)
    )
    # The layers of one upload share its files: they are opened once.
    files: dict[str, list[Upload]] = {}
    for row in rows:
        own_files = [files_by_id[file_id] for file_id in row.group.ids]
        files.setdefault(row.group.mark, _with_shared(row, own_files, shared, variants))
    reference = next((row for row in rows if row.role == GOLD), None)
    first = reference or next(row for row in rows if row.role == ANNOTATOR)
    layers: dict[str, list[Part]] = {GOLD_LAYER: []}
    names: dict[tuple[str, str], str] = {(first.role, "" if reference else first.name): GOLD_LAYER}
    for row in rows:
        if row.role in (TEXTS, VARIANTS, IGNORED):
            continue
        own = row.role, "" if row.role == GOLD else row.name
        name = names.setdefault(own, _free(row.name, layers))
        layers.setdefault(name, []).append(Part(files[row.group.mark], row.requested))
    title = first.group.label if reference or len(layers) > 2 else f"{first.name} × {list(layers)[-1]}"
    annotator = "" if reference else first.name
    reading_options.begin(DROPPED, lambda options: Uploaded(title, layers, options, annotator))


def _free(name: str, layers: dict[str, list[Part]]) -> str:
    """Return the name, with a number where another layer has it."""
    unique, number = name, 1
    while unique in layers:
        number += 1
        unique = f"{name} {number}"
    return unique


def _with_shared(row: Row, files: Sequence[Any], shared: Sequence[Any], variants: Sequence[Any]) -> list[Upload]:
    """Return the files of a row with those that its format shares with others, by the names that its reader knows."""
    format = row.group.recognised.format
    if format not in SHARING:
        return _raw(files, row.group.number)
    uploads = _raw(files, row.group.number)
    if format == VARIED:
        # Beside other files, its reader knows mentions by their ending alone.
        endings = (bc2gm.MENTIONS, ZIP)
        uploads = [(name if name.endswith(endings) else name + bc2gm.MENTIONS, raw) for name, raw in uploads]
        if row.role == GOLD:
            uploads += [(bc2gm.VARIANTS, file.getvalue()) for file in variants]
    return [*uploads, *_raw(shared)]


def _names(files: Sequence[Any], number: int) -> list[str]:
    """Return the names of the files of a group, each with its folder where other files have the same."""
    return [in_folder(name, number) for name in names_in_folders([file.name for file in files])]


def _raw(files: Sequence[Any], number: int = 0) -> list[Upload]:
    return [(name, file.getvalue()) for name, file in zip(_names(files, number), files, strict=True)]


def _mark(ids: Sequence[str]) -> str:
    return hashlib.sha256("/".join(ids).encode()).hexdigest()[:16]


SERVED_FORM = "served"
SYSTEMS = 8
"""The most systems that are selected at first where a folder has a file or folder called gold."""
HELD = f"Each is held against gold. At first the first {file_roles.LAYERS}; choose others from the list."
EACH = f"Each becomes a system. At first the first {file_roles.LAYERS}; choose others from the list."


@dataclass(frozen=True)
class LayerChoice:
    """Selection from files: `layer` ("" where they hold one) and `others` of them."""

    layer: str = ""
    others: tuple[str, ...] = ()
    recognised: Recognised = field(default_factory=Recognised)

    @property
    def layers(self) -> tuple[str, ...]:
        return (self.layer, *self.others)


def served_form(root: Path) -> None:
    """Take gold and systems from the served folder."""
    folders = served_folders(root)
    gold_column, systems_column = st.columns(2)
    folder = gold_column.selectbox("Folder", folders, key="served_folder")
    entries = served_entries(root, folder)
    likely = likely_gold(entries)
    place = entries.index(likely) if likely in entries else None
    gold = gold_column.selectbox(
        "Gold", entries, index=place, key=f"served_gold_{folder}", placeholder="file or folder"
    )
    beside = systems_column.selectbox(
        "Systems are in", folders, index=folders.index(folder), key=f"served_beside_{folder}"
    )
    others = [entry for entry in served_entries(root, beside) if beside != folder or entry != gold]
    proposed = likely_systems(entries, gold)[:SYSTEMS] if likely and beside == folder else []
    systems = systems_column.multiselect(
        "Systems", others, default=proposed, key=f"served_systems_{folder}_{beside}_{gold}"
    )
    way = relpath(beside, folder)
    ours = _gold(root, Path(folder, gold)) if gold else LayerChoice()
    theirs = [_system(root, Path(beside, name), name) for name in systems[:SYSTEMS]]
    if more := len(systems) - len(theirs):
        st.caption(f"{more:,} more systems are recognised when they are read.")
        theirs += [LayerChoice()] * more
    reading_options.draw_options(SERVED_FORM)
    paths = tuple(name if way == "." else f"{way}/{name}" for name in systems)
    read = partial(_read_served, root, folder, gold or "", paths, ours, theirs)
    st.button(
        "Read and score",
        type="primary",
        key="served_read",
        disabled=not gold or not (systems or ours.others) or opening.is_waiting(),
        on_click=read,
    )
    if gold and (error := refusal_of(SERVED_FORM)) is not None:
        refusals.draw_head(error, SERVED_FORM, read)
        opening.offer_rest()
        refusals.draw_others(error, (), SERVED_FORM, read)


def _gold(root: Path, path: Path) -> LayerChoice:
    """Ask which layer of the files is gold, and which others are systems."""
    recognised, key = _looked_at(root, path, "Gold")
    if not recognised.layers:
        return LayerChoice(recognised=recognised)
    layer_column, others_column = st.columns(2)
    layer = layer_column.selectbox("Gold is the layer", recognised.layers, key=f"{key}_layer")
    rest = tuple(name for name in recognised.layers if name != layer)
    others = others_column.multiselect(
        "Systems from the same file",
        rest,
        default=file_roles.first_layers(rest),
        key=f"{key}_others_{layer}",
        help=HELD,
    )
    return LayerChoice(layer, tuple(others), recognised)


def _system(root: Path, path: Path, title: str) -> LayerChoice:
    """Ask which layers of the files are systems."""
    recognised, key = _looked_at(root, path, title)
    if not recognised.layers:
        return LayerChoice(recognised=recognised)
    names = st.multiselect(
        "Layers", recognised.layers, default=file_roles.first_layers(recognised.layers), key=f"{key}_layers", help=EACH
    )
    return LayerChoice(names[0], tuple(names[1:]), recognised) if names else LayerChoice()


def _looked_at(root: Path, path: Path, title: str) -> tuple[Recognised, str]:
    """Look at a file or folder of the served one, and return it with a key; one that changes is looked at anew."""
    place = root / path
    try:
        status = place.stat()
        identity = f"{place} {status.st_mtime_ns} {status.st_size}"
    except OSError:
        identity = str(place)
    mark = hashlib.sha256(identity.encode(errors="replace")).hexdigest()[:16]
    format = reading_options.chosen_format(SERVED_FORM)
    key = f"served_{path}"
    keys = reading_options.chosen_keys(SERVED_FORM)
    recognised = recognise_files(
        key, mark, lambda: Source.of_path(place, within=root), format=format, keys=keys, title=title
    )
    return recognised, f"{key}_{mark}"


def _read_served(
    root: Path, folder: str, gold: str, systems: Sequence[str], ours: LayerChoice, theirs: Sequence[LayerChoice]
) -> None:
    names = [_with_layer(gold, layer) for layer in ours.others]
    names += [_with_layer(name, layer) for name, choice in zip(systems, theirs, strict=True) for layer in choice.layers]
    named_choices = list(zip((gold, *systems), (ours, *theirs), strict=True))
    columns = {name: choice.recognised.columns for name, choice in named_choices if choice.recognised.columns}
    first = _with_layer(gold, ours.layer)
    apart = frozenset(name for name, choice in named_choices if choice.recognised.apart)
    reading_options.begin(SERVED_FORM, lambda options: Served(root, folder, first, names, options, columns, apart))


def _with_layer(name: str, layer: str) -> str:
    return f"{name}{LAYER_MARK}{layer}" if layer else name
