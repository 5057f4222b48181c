"""The parts of the front page: the headline and example of the demo, the doors, the choice of a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os.path import relpath
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.errors import FormatError
from nereval_core.library import LoadOptions
from nereval_core.readers import Source, formats
from nereval_core.readers.schemes import SCHEMES
from nereval_core.report.colours import LOOKS
from pages.shared import corpora, demos, keys, mending, navigation
from pages.shared.frame import Here
from pages.shared.lists import excerpt
from pages.shared.loading import (
    demo_names,
    likely_gold,
    likely_systems,
    load,
    load_served,
    served_entries,
    served_folders,
)
from pages.shared.plain import plain
from pages.shared.problems import show_problems
from pages.shared.queries import select, side_query, view_of
from pages.shared.url import View

SENTENCE = (
    "Compare the entities that a system found with those that people annotated: what it found, cut short, confused, "
    "missed or made up, under every matching criterion, and each one in its text."
)
AROUND = 60
"""Characters before and after the spans of the example: one line of a wide screen."""
DEMO, DEMO_SYSTEM = "pharmacology", "rules"
REFUSE = "refuse"
REPAIRS = {REFUSE: REFUSE, "conlleval": "repair: conlleval", "discard": "repair: discard"}
SERVED_SYSTEMS = 8
"""How many systems are chosen beforehand where a folder has a file or folder called gold."""


def headline() -> None:
    """Say what this is, with a number of the demo, computed and linked, and one of its records in the text."""
    st.markdown(SENTENCE)
    if DEMO not in demo_names():
        return
    loaded = corpora.demo(DEMO)
    view = View(corpus=loaded.corpus.digest, system=DEMO_SYSTEM)
    settings = corpora.settings_of(loaded.corpus.gold, view)
    scores = corpora.scores(loaded, DEMO_SYSTEM, settings)
    found = side_query("gold", "COR")
    recall = scores.counts("strict").recall
    if found is None or recall is None:
        return
    with st.container(border=True):
        counts = scores.counts("strict")
        sentence = f"In the demo, the rule-based system finds **{recall:.0%}** of the gold spans exactly."
        them = f":primary[Read these {counts.gold[0]:,} of {counts.pos:,} →]"
        navigation.link_to("Errors", f"{sentence} {them}", view_of(view, found))
        records = corpora.records(loaded, DEMO_SYSTEM, settings, "strict")
        near = select(records, replace(found, decision=("INC",)))
        near = near[near["boundary"] != "equal"] if (near["boundary"] != "equal").any() else near
        if len(near):
            record = near.iloc[0]
            st.html(excerpt(scores, "strict", record, loaded.types, around=AROUND))
            look = LOOKS[record["decision"]]
            st.caption(
                f"{look.glyph} {look.label} under strict: the prediction {plain(str(record['reason']))}. "
                "Gold stands above the text, the prediction below it."
            )


def doors(here: Here | None) -> None:
    """Offer three ways in, for the corpus at hand or the demo."""
    view = here.view if here is not None else _demo_view()
    if view is None:
        return
    offers = (
        ("Inspect errors", "Errors", view, "Go through what was missed, confused, cut short or made up, one by one."),
        (
            "Compare criteria",
            "Overview",
            view.with_sort("all-criteria"),
            "See all scores side by side: how far do they depend on what counts as a match?",
        ),
        (
            "Show in a meeting",
            "Confusion",
            view.with_sort("as-map").with_sort("off-diagonal"),
            "Show which types are taken for which as a picture; every number opens the text behind it.",
        ),
    )
    for column, (label, page, there, why) in zip(st.columns(3), offers, strict=True):
        with column.container(border=True, height="stretch"):
            navigation.link_to(page, f":primary[**{label} →**]", there)
            st.caption(why)


def _demo_view() -> View | None:
    if DEMO not in demo_names():
        return None
    loaded = corpora.demo(DEMO)
    return View(corpus=loaded.corpus.digest, system=loaded.start)


def choice(here: Here | None) -> None:
    """Offer the demo corpora, uploads and, where the server was given one, its folder."""
    st.subheader("Choose a corpus")
    folder = corpora.served_folder()
    labels = ["Demo", "Upload", *(["Folder on this server"] if folder else [])]
    tabs = st.tabs(labels)
    with tabs[0]:
        demos.cards(here.loaded.corpus.digest if here is not None else None)
    with tabs[1]:
        _upload()
    if folder is not None:
        with tabs[2]:
            _served(folder)


def _upload() -> None:
    """Take gold and any number of systems, each as files or a zip."""
    st.caption("A file, several files or a zip for gold, and the same for each system; 200 MB a file.")
    gold = st.file_uploader("Gold", accept_multiple_files=True, key="upload_gold")
    number = 0
    # There is always one empty place for a further system.
    while True:
        files = st.file_uploader(f"System {number + 1}", accept_multiple_files=True, key=f"upload_system_{number}")
        if not files:
            break
        st.text_input(
            f"Name of system {number + 1}",
            key=f"upload_name_{number}",
            placeholder=_stem(files[0].name),
            max_chars=80,
        )
        number += 1
    _options("upload")
    st.button("Read and score", type="primary", key="upload_read", disabled=not gold, on_click=_read_upload)


def _options(name: str) -> None:
    with st.expander("Format and reading"):
        left, right = st.columns(2)
        names = ["auto", *(row.name for row in formats() if row.reads)]
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
            "Column of gold", key=f"{name}_gold_column", placeholder="last", help="Number from 1, or name in a header."
        )
        right.text_input(
            "Column of the prediction",
            key=f"{name}_pred_column",
            placeholder="last",
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
        st.checkbox(
            "Take gold's text where tokens are spelt differently",
            key=f"{name}_token_text",
            help="Only where the token counts are equal; counted, and told in the signature.",
        )


def _chosen_options(name: str) -> LoadOptions:
    def value(option: str) -> Any:
        return st.session_state.get(f"{name}_{option}")

    return LoadOptions(
        gold_format=value("format") or "auto",
        pred_format=value("format") or "auto",
        scheme=value("scheme"),
        gold_column=_column(value("gold_column")),
        pred_column=_column(value("pred_column")),
        repair=repair if (repair := value("repair")) != REFUSE else None,
        core_type=(value("core_type") or "").strip() or None,
        missing=value("missing") or "error",
        token_text="gold" if value("token_text") else "own",
    )


def _column(text: str | None) -> int | str | None:
    text = (text or "").strip()
    return int(text) if text.isdecimal() else text or None


def _read_upload() -> None:
    mending.remember("upload", _read_upload)
    options = _chosen_options("upload")
    gold_files = st.session_state["upload_gold"]
    gold = _source(gold_files)
    systems: dict[str, Source | FormatError] = {}
    number = 0
    while files := st.session_state.get(f"upload_system_{number}"):
        name = st.session_state.get(f"upload_name_{number}", "").strip() or _stem(files[0].name)
        systems[_free(name, systems)] = _source(files)
        number += 1
    if not systems and options.pred_column is not None:
        systems["prediction"] = gold
    _try(lambda: load(_stem(gold_files[0].name), gold, systems, options))


def _free(name: str, taken: Mapping[str, object]) -> str:
    """Return the name, numbered where it is taken already or would be mistaken for gold."""
    found, number = name, 1
    while found in taken or found == "gold":
        number += 1
        found = f"{name} {number}"
    return found


def _source(files: Sequence[Any]) -> Source | FormatError:
    try:
        return Source.of_uploads([(file.name, file.getvalue()) for file in files])
    except FormatError as error:
        return error


def _stem(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).stem or name


def _try(reading: Any) -> None:
    """Read a corpus and show it; what is wrong with it is kept to be shown, and the corpus at hand stays."""
    try:
        loaded = reading()
    except FormatError as error:
        st.session_state[keys.UPLOAD_PROBLEMS] = error.lines()
        return
    corpora.shelf().put(loaded)
    demos.open_corpus(loaded)


def _served(root: Path) -> None:
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
    _options("served")
    st.button(
        "Read and score",
        type="primary",
        key="served_read",
        disabled=not gold or not systems,
        on_click=_read_served,
        args=(root, folder, gold, tuple(name if way == "." else f"{way}/{name}" for name in systems)),
    )


def _read_served(root: Path, folder: str, gold: str, systems: Sequence[str]) -> None:
    mending.remember("served", _read_served, root, folder, gold, systems)
    _try(lambda: load_served(root, folder, gold, systems, _chosen_options("served")))


def problems() -> None:
    lines = st.session_state.get(keys.UPLOAD_PROBLEMS, [])
    if lines:
        show_problems(lines, below=lambda: mending.offer(lines))
        if any(" --" in line for line in lines):
            st.caption("What begins with two dashes is an option: find it under Format and reading, beneath the files.")


def account(here: Here) -> None:
    """Tell what was read: for each layer where from, in which format, how much, and what is to be known of it."""
    st.subheader(f"What was read: {plain(here.loaded.corpus.name)}")
    rows = [
        {
            "layer": row.name,
            "documents": row.documents,
            "spans": row.spans,
            "types": ", ".join(row.types),
            "format": row.format + (f", {row.scheme}" if row.scheme else ""),
            "source": row.source,
        }
        for row in here.loaded.layers
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, column_config={"types": st.column_config.TextColumn(width=220)})
    with st.container(horizontal=True):
        navigation.link_to("Overview", ":primary[See the scores →]", here.view)
        navigation.link_to("Criteria", ":primary[Under every criterion and published scorer →]", here.view)
    for row in here.loaded.layers:
        if row.notes:
            st.caption(f"{plain(row.name)}: {'; '.join(plain(note, 400) for note in row.notes)}")
    st.caption(f"Content digest sha256:{here.loaded.corpus.digest[:16]}: what a link names this corpus by.")
