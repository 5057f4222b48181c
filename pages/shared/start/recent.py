"""Recent corpora: those that the server keeps, in a table that opens them; they are renamed and removed here too.

On a server that others reach these are one's own uploads, which expire.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st

from nereval_core.problems import FormatError, name_text, one_line
from nereval_core.store import Entry, EntryAccount
from nereval_core.tables import Column, Table
from pages.shared.components import opening
from pages.shared.data import caches, refused_files, server_start, verdict_store
from pages.shared.server.access import only_this_machine
from pages.shared.server.component_files import component
from pages.shared.server.ownership import visitor
from pages.shared.view import keys, state
from pages.shared.view.link import read_link
from pages.shared.view.text import named, plain

SHOWN = 8
"""Corpora that are listed, those opened last."""
LAYERS = 3
"""Systems of a corpus that are named."""
NAME = 60
"""Characters of the name of a corpus."""
COLUMNS = (
    Column("corpus", kind="name"),
    Column("systems", kind="text"),
    Column("f1", "best F1", "ratio", meaning="The best F1 under strict of its systems, as they were read"),
    Column("decided", kind="share", meaning="Records of the list that was reviewed last that have a verdict"),
    Column("opened", "last opened", "text"),
)
DECIDED = 3
"""The number of the column that leads to the list reviewed last."""
_HERE = Path(__file__).parent
_mount = component(
    "nereval_recent_corpora",
    css=(_HERE / "recent_corpora.css").read_text(encoding="utf-8"),
    js=(_HERE / "recent_corpora.js").read_text(encoding="utf-8"),
)
TABLE = f"{keys.LIST}recent"


@dataclass(frozen=True)
class Recent:
    """A corpus of the store with its account."""

    entry: Entry
    account: EntryAccount

    @property
    def name(self) -> str:
        """The name on one line, in which nothing turns the direction of writing."""
        name = one_line(self.account.name)
        return name if len(name) <= NAME else f"{name[: NAME - 1]}…"


def recent_corpora() -> list[Recent]:
    """Return the visitor's own corpora that were opened last, the newest first.

    One that was read without refused files is left out while Start asks what to do with these.
    """
    store = caches.shelf().keeper.store
    partial = st.session_state.get(keys.PARTIAL) or ("", "")
    entries = [entry for entry in _own_entries().values() if entry.key != partial[1]]
    last = sorted(entries, key=lambda entry: -entry.used)[:SHOWN]
    accounts = ((entry, store.account(entry)) for entry in last) if store is not None else ()
    return [Recent(entry, _of_this_review(account)) for entry, account in accounts if account is not None]


def _of_this_review(account: EntryAccount) -> EntryAccount:
    """Return an account without what is decided in another store of verdicts than the server's."""
    is_here = account.verdicts == verdict_store.name()
    return account if is_here else replace(account, decided=0, records=0, link="")


def _own_entries() -> dict[str, Entry]:
    """Return the visitor's own entries of the store by digest: of several of one corpus the one opened last."""
    store, owned = caches.shelf().keeper.store, caches.shelf().ownership
    if store is None:
        return {}
    alone = only_this_machine()
    own = [entry for entry in store.entries() if alone or owned.owner(entry) == visitor()]
    return {entry.digest: entry for entry in reversed(own)}


def draw_recent(corpora: Sequence[Recent], digest: str | None) -> None:
    """List corpora, open the one that is chosen, and offer to rename and remove them; `digest` is that at hand."""
    days = server_start.days_kept()
    until = "" if days is None else f" It goes when nobody has opened it for {days} days."
    st.header(
        "Recent corpora" if only_this_machine() else "Your uploads",
        help=f"What was read is kept in a folder of the server, so that it opens again at once.{until}",
    )
    corpora = tuple(corpora)
    _mount(data=table_data(corpora, digest), key=TABLE, on_open_change=partial(_take_choice, corpora))
    with st.container(horizontal=True, vertical_alignment="center"):
        popover = st.popover("Rename or remove", type="tertiary", key=f"{keys.LIST}recent_edit", on_change="rerun")
        with popover:
            if popover.open:
                _edit(corpora)
        _draw_store()


def table_of_corpora(corpora: Sequence[Recent]) -> Table:
    rows = tuple(
        (
            recent.name,
            _layers(recent.account.layers[1:]),
            recent.account.f1,
            recent.account.decided / recent.account.records if recent.account.records else None,
            _when(datetime.fromtimestamp(recent.entry.used)),
        )
        for recent in corpora
    )
    return Table("", COLUMNS, rows, name="recent")


def _layers(names: Sequence[str]) -> str:
    listed = ", ".join(one_line(name) for name in names[:LAYERS])
    return f"{listed} and {len(names) - LAYERS} more" if len(names) > LAYERS else listed


def table_data(corpora: Sequence[Recent], digest: str | None) -> dict[str, Any]:
    """Return the component's data: texts of the declared table by row, and the columns in which a row opens something.

    `present` is the number of the row of the corpus at hand, -1 where none is.
    """
    table = table_of_corpora(corpora)
    digests = [recent.entry.digest for recent in corpora]
    return {
        "label": "Recent corpora",
        "headings": list(table.headings),
        "meanings": [column.meaning for column in COLUMNS],
        "right": [not column.is_left for column in COLUMNS],
        "rows": table.texts(places=3),
        "opens": [[0, *([DECIDED] if recent.account.link else [])] for recent in corpora],
        "present": digests.index(digest) if digest in digests else -1,
        "open_hint": "Open this corpus",
        "list_hints": [
            f"{recent.account.decided:,} of {recent.account.records:,} decided: go on with that list"
            for recent in corpora
        ],
    }


def _take_choice(corpora: Sequence[Recent]) -> None:
    if (cell := st.session_state[TABLE]["open"]) is not None:
        choose(corpora[int(cell[0])], int(cell[1]))


def choose(recent: Recent, column: int) -> None:
    """Open a corpus, or in the column of decided records the list that was reviewed last."""
    if column == DECIDED and recent.account.link:
        view, _ = read_link(dict(parse_qsl(recent.account.link)))
        state.put(view)
        st.session_state[keys.OPENED] = "Inspect"
    else:
        _open(recent.entry.digest)


def _open(digest: str) -> None:
    loaded = caches.find(digest)
    if loaded is None:
        refused_files.keep(FormatError.single("stored corpus", None, "it is damaged or gone", "read its files again"))
    else:
        opening.open_corpus(loaded)


def _edit(corpora: Sequence[Recent]) -> None:
    """Ask for another name of a corpus, or remove its stored copy."""
    by_digest = {recent.entry.digest: recent for recent in corpora}
    digest = st.selectbox(
        "Corpus", list(by_digest), format_func=lambda own: _label(by_digest[own], corpora), key="recent_corpus"
    )
    recent = by_digest[digest]
    field = f"recent_name_{digest[:16]}"
    st.text_input("Name", value=recent.account.name, max_chars=80, key=field)
    st.button("Rename", key="recent_rename", on_click=_rename, args=(recent.entry.key, field))
    size = _size(recent.entry.bytes)
    st.markdown(f"Remove the stored copy of **{named(recent.name)}** ({size})? Its verdicts stay.")
    st.button("Remove it", key="recent_remove", on_click=_remove, args=(digest,))


def _label(recent: Recent, corpora: Sequence[Recent]) -> str:
    """Return the name of a corpus, with its systems, F1 and when it was opened where others have the same name."""
    if [other.name for other in corpora].count(recent.name) == 1:
        return name_text(recent.name)
    opened = _when(datetime.fromtimestamp(recent.entry.used))
    f1 = [] if recent.account.f1 is None else [f"F1 {recent.account.f1:.3f}"]
    return " · ".join((name_text(recent.name), _layers(recent.account.layers[1:]), *f1, opened))


def _remove(digest: str) -> None:
    """Remove the visitor's corpus; what others have uploaded stays theirs."""
    caches.shelf().remove(digest, None if only_this_machine() else visitor())


def _rename(key: str, field: str) -> None:
    if name := st.session_state[field].strip():
        try:
            caches.shelf().rename(key, name)
        except OSError as error:
            finding = f"the name could not be kept: {error.strerror}"
            refused_files.keep(FormatError.single("stored corpus", None, finding, "try again"))


def _draw_store() -> None:
    """Say what the store takes, where only this machine reaches the server, and offer to empty it."""
    store, own = caches.shelf().keeper.store, _own_entries()
    if store is not None and only_this_machine():
        st.caption(f"Stored corpora: {len(own):,}, {_size(sum(entry.bytes for entry in own.values()))}")
        st.button("Clear the store", key="stored_clear", type="tertiary", on_click=store.clear)


def draw_trouble() -> None:
    """Say why the corpus read last could not be stored, if it could not."""
    if trouble := caches.shelf().keeper.trouble:
        st.caption(f"The corpus read last could not be stored: {plain(trouble, 200)}.")


def _when(time: datetime) -> str:
    days = (datetime.now().date() - time.date()).days
    return {0: f"today, {time:%H:%M}", 1: "yesterday"}.get(days, f"{time:%Y-%m-%d}")


def _size(size: int) -> str:
    units = (("GB", 1e9), ("MB", 1e6))
    return next((f"{size / factor:,.1f} {unit}" for unit, factor in units if size >= factor), f"{size / 1e3:,.0f} kB")
