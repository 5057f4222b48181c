"""Scored folders on the pages: found in the served folder, opened by their manifest, shown on some pages only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import streamlit as st

from nereval_core.corpus import Corpus
from nereval_core.engine.folder_records import FolderDocuments
from nereval_core.engine.merged_scores import MergedSide
from nereval_core.engine.scored_folder import MANIFEST, ScoredFolder, is_scored, read
from nereval_core.problems import FormatError
from pages.shared.data import refused_files
from pages.shared.data.loading import LayerRead, Loaded, served_folders
from pages.shared.data.memo import memoized
from pages.shared.server.ownership import EVERYBODY
from pages.shared.view import View, state
from pages.shared.view.text import plain

FIXED = (
    (("reference", "annotators"), "a layer taken as gold: a scored folder has its own"),
    (("mask",), "mask: a scored folder is shown as it is"),
    (("merge", "leaveout"), "merged and left-out types: a scored folder has its own"),
)
"""The fields of a view that a scored folder cannot follow, and what is said when one is dropped."""
FORM = "scored folder"


@dataclass(frozen=True, eq=False)
class FolderCorpus:
    """A scored folder in place of a corpus: names, numbers and digests of its layers, and texts one at a time."""

    name: str
    documents: FolderDocuments
    gold: MergedSide
    systems: tuple[MergedSide, ...]
    digest: str

    def system(self, name: str) -> MergedSide:
        return next(side for side in self.systems if side.name == name)


def offer_folders(root: Path) -> None:
    """Offer the scored folders that there are in the served one."""
    folders = [folder for folder in served_folders(root) if is_scored(root / folder)]
    if not folders:
        return
    menu, right = st.columns([3, 1], vertical_alignment="bottom")
    choice = menu.selectbox("Scored folder", folders, key="scored_folder")
    right.button("Open", key="scored_open", on_click=_open, args=(root, root / choice))


def _open(root: Path, path: Path) -> None:
    try:
        loaded = open_folder(path, root)
    except FormatError as error:
        refused_files.keep(error)
        return
    refused_files.keep(None)
    state.put(View(corpus=loaded.corpus.digest, system=loaded.start))


def find_folder(root: Path, prefix: str) -> Loaded | None:
    """Return the one scored folder in the served one whose digest begins so."""
    by_digest = {loaded.corpus.digest: loaded for loaded in _all(root) if loaded.corpus.digest.startswith(prefix)}
    return next(iter(by_digest.values())) if len(by_digest) == 1 else None


def _all(root: Path) -> Iterator[Loaded]:
    for folder in served_folders(root):
        if is_scored(root / folder):
            try:
                yield open_folder(root / folder, root)
            except FormatError:
                # It is named where it is chosen.
                continue


def open_folder(path: Path, root: Path) -> Loaded:
    """Open a scored folder in the served one, of which no file outside the latter is read.

    Raises:
        FormatError: it is none, or of another form, or damaged, or links lead outside.
    """
    try:
        stat = (path / MANIFEST).stat()
    except OSError:
        stat = None
    return _opened(str(path), str(root), stat and stat.st_mtime_ns)


@memoized("Opening the scored folder …")
def _opened(path: str, root: str, changed: int | None) -> Loaded:
    folder = read(path, within=root)
    documents = FolderDocuments(folder.records_of_pages)
    if len(documents) != len(folder.whole.gold.documents):
        raise FormatError.single(path, None, "its index has other documents", "score the shards again")
    systems = tuple(side for side, _ in folder.whole)
    name = Path(path).resolve().name
    corpus: Any = FolderCorpus(name, documents, folder.whole.gold, systems, folder.digest)
    rows = tuple(_account(folder, side) for side in (folder.whole.gold, *systems))
    marks = {side.name: scores.marks for side, scores in folder.whole}
    return Loaded(cast(Corpus, corpus), rows, marks, min(marks), folder=folder, owner=EVERYBODY)


def _account(folder: ScoredFolder, side: MergedSide) -> LayerRead:
    shards = len(folder.shards)
    source = f"{folder.path} ({shards:,} shard{'' if shards == 1 else 's'})"
    return LayerRead(side.name, source, FORM, "", len(side.documents), len(side), side.types, ())


def following(loaded: Loaded, view: View) -> tuple[View, tuple[str, ...]]:
    """Return the view without the fields that a scored folder cannot follow, and these in words."""
    if loaded.has_layers:
        return view, ()
    plain_view = View()
    unfollowed = [(fields, notice) for fields, notice in FIXED if any(getattr(view, field) for field in fields)]
    dropped = {field: getattr(plain_view, field) for fields, _ in unfollowed for field in fields}
    return replace(view, **dropped), tuple(notice for _, notice in unfollowed)


def say_elsewhere(title: str) -> None:
    """Say why a page is empty for a scored folder, and where to go instead."""
    st.info(
        f"{plain(title)} looks at all spans at once, which a scored folder is not read for. Overview, Confusion "
        "and Inspect show it; to see this page, read one of its shards as a corpus at Start."
    )
