"""Scored folders on the pages: found in the served folder, opened by their manifest, and what they cannot show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import streamlit as st

from nereval_core.corpus import Corpus
from nereval_core.engine.browse.documents import FolderDocuments
from nereval_core.engine.merged_scores import Side
from nereval_core.engine.scored_folder import MANIFEST, ScoredFolder, is_scored, read
from nereval_core.problems import FormatError
from pages.shared.data.loading import LayerRead, Loaded, served_folders
from pages.shared.view import View, keys, state
from pages.shared.view.plain_text import plain

PAGES = ("Start", "Overview", "Confusion", "Errors", "Documents", "Guide", "Present")
"""The pages that a scored folder is shown on; the others look at whole layers."""
FORM = "scored folder"


@dataclass(frozen=True, eq=False)
class FolderCorpus:
    """What pages ask of a corpus: names, numbers and digests of what was scored, and texts one at a time."""

    name: str
    documents: FolderDocuments
    gold: Side
    systems: tuple[Side, ...]
    digest: str

    def system(self, name: str) -> Side:
        return next(side for side in self.systems if side.name == name)


def offer(root: Path) -> None:
    """Offer the scored folders that there are in the served one."""
    folders = [folder for folder in served_folders(root) if is_scored(root / folder)]
    if not folders:
        return
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    chosen = left.selectbox("Scored folder", folders, key="scored_folder")
    right.button("Open", key="scored_open", on_click=_open, args=(root / chosen,))


def _open(path: Path) -> None:
    try:
        loaded = opened(path)
    except FormatError as error:
        st.session_state[keys.UPLOAD_PROBLEMS] = error.lines()
        return
    st.session_state[keys.UPLOAD_PROBLEMS] = []
    state.put(View(corpus=loaded.corpus.digest, system=loaded.start))


def find(root: Path, prefix: str) -> Loaded | None:
    """Return the one scored folder in the served one whose digest begins so."""
    found = {loaded.corpus.digest: loaded for loaded in _all(root) if loaded.corpus.digest.startswith(prefix)}
    return next(iter(found.values())) if len(found) == 1 else None


def _all(root: Path) -> Iterator[Loaded]:
    for folder in served_folders(root):
        if is_scored(root / folder):
            try:
                yield opened(root / folder)
            except FormatError:
                # It is named where it is chosen.
                continue


def opened(path: Path) -> Loaded:
    """Open a scored folder.

    Raises:
        FormatError: it is none, or of another form, or damaged.
    """
    try:
        stat = (path / MANIFEST).stat()
    except OSError:
        stat = None
    return _opened(str(path), stat and stat.st_mtime_ns)


@st.cache_resource(max_entries=16, show_spinner="Opening the scored folder …")
def _opened(path: str, changed: int | None) -> Loaded:
    folder = read(path)
    documents = FolderDocuments(folder.shown)
    if len(documents) != len(folder.whole.gold.documents):
        raise FormatError.single(path, None, "its index has other documents", "score the shards again")
    systems = tuple(side for side, _ in folder.whole)
    name = Path(path).resolve().name
    corpus: Any = FolderCorpus(name, documents, folder.whole.gold, systems, folder.digest)
    rows = tuple(_account(folder, side) for side in (folder.whole.gold, *systems))
    marks = {side.name: scores.marks for side, scores in folder.whole}
    return Loaded(cast(Corpus, corpus), rows, marks, min(marks), folder=folder)


def _account(folder: ScoredFolder, side: Side) -> LayerRead:
    shards = len(folder.shards)
    source = f"{folder.path} ({shards:,} shard{'' if shards == 1 else 's'})"
    return LayerRead(side.name, source, FORM, "", len(side.documents), len(side), side.types, ())


def fixed(view: View) -> tuple[str, ...]:
    """Return in words what of a view's type rules a scored folder cannot follow."""
    return ("merged and left-out types: a scored folder has its own",) if view.merge or view.leaveout else ()


def elsewhere(title: str) -> None:
    """Say why a page is empty for a scored folder, and where to go instead."""
    st.info(
        f"{plain(title)} looks at all spans at once, which a scored folder is not read for. Overview, Confusion, "
        "Errors and Documents show it; to see this page, read one of its shards as a corpus at Start."
    )
