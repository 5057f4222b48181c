"""A walk through the views of a server without a browser: all widgets are used, all messages searched."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

import pyarrow as pa

from pages.shared.start import LOCAL
from tests.support.markers import Search
from tests.support.visitors import Visitor

LEFT_ALONE = ("remove", "delete", "cancel", "logout", "withdraw", "clear")
"""Parts of the keys of buttons that would take away what is walked through."""
SLOW = ("pdf_", "svg_")
"""Beginnings of the keys of files that a browser of their own has to draw."""
OPTIONS = 6
"""Options of one choice that are tried."""


class Walk:
    """A visitor whose every message is searched; the first of `words` is typed into fields."""

    def __init__(self, address: str, search: Search, counts: Counter[str], words: Sequence[str]) -> None:
        self._search, self._counts, self._words = search, counts, words
        self._typed: Sequence[str] = ()
        self._given: set[str] = set()
        """The word that was typed into fields: what it names or comments on may show it from then on."""
        self._place = "the first answer"
        self._seen: set[str] = set()
        self._said: set[tuple[str, str]] = set()
        self.visitor = Visitor(address, received=self._received)

    def close(self) -> None:
        self.visitor.leave()

    def _received(self, raw: bytes) -> None:
        self._counts["messages"] += 1
        if found := self._search.found(raw, {*self._typed, *self._given}):
            self._counts["leaks"] += 1
            self._tell("leak", f"{sorted(found)[0]} in {_around(raw, found)}")

    def _tell(self, kind: str, words: str) -> None:
        place = self._place.partition("?")[0]
        if (kind, place) not in self._said:
            self._said.add((kind, place))
            print(f"{kind} at {self._place}: {words}")

    def view(self, page: str, query: str, typed: Sequence[str] = ()) -> None:
        """Open a view and use all its widgets; words that its link has are shown again."""
        self._typed = typed
        self._place = f"{page}?{query}"
        self._counts["views"] += 1
        self.visitor.open("" if page == "Start" else page, query)
        self._check()
        if page == "Inspect" and "q" in parse_qs(query) and typed and self._records():
            self._counts["leaks"] += 1
            self._tell("leak", f"a search for {typed[0]} finds records")
        for use in (self._unfold, self._save, self._choose):
            use()
            self._check()
        if page not in self._seen:
            self._seen.add(page)
            self._write()
            self._press(page, query)
        self._typed = ()

    def upload(self, files: Mapping[str, bytes]) -> None:
        """Drop files at Start, and read them."""
        visitor = self.visitor
        self._place = f"upload of {', '.join(files)}"
        visitor.open("", "")
        visitor.choose("files_from", LOCAL)
        visitor.upload("upload_files", files)
        self._counts["uploads"] += 1
        if not visitor.shown.widget("upload_read").disabled:
            visitor.click("upload_read")
            visitor.wait()
            visitor.rerun()
        self._check()

    def _check(self) -> None:
        for fault in self.visitor.shown.faults():
            self._counts["faults"] += 1
            self._tell("fault", fault)

    def _widgets(self, *kinds: str) -> list[Any]:
        return [one for one in self.visitor.shown.widgets() if type(one).__name__ in kinds]

    def _unfold(self) -> None:
        """Unfold popovers and expanders, also those inside."""
        for _ in range(2):
            for one in self._widgets("Popover", "Expandable"):
                if self._here(one.id):
                    self._counts["unfolded"] += 1
                    self.visitor.unfold(name_of(one))

    def _save(self) -> None:
        for one in self._widgets("DownloadButton"):
            if not name_of(one).startswith(SLOW) and not one.disabled:
                self._counts["files"] += 1
                self.visitor.download(name_of(one))

    def _choose(self) -> None:
        """Choose rows and cells of tables, options of selections."""
        for one in self._widgets("Dataframe"):
            for chosen in ({"rows": [0]}, {"cells": [[0, _column(one)]]}):
                if self._here(one.id):
                    self._counts["chosen"] += 1
                    self.visitor.select(name_of(one), **{"rows": [], "columns": [], "cells": [], **chosen})
        for one in self._widgets("Selectbox"):
            for option in list(one.options)[:OPTIONS]:
                if self._here(one.id) and not one.disabled:
                    self._counts["chosen"] += 1
                    self.visitor.write(name_of(one), option)

        for one in self._widgets("ButtonGroup"):
            for option in list(one.options)[:OPTIONS]:
                if self._here(one.id) and not one.disabled:
                    self._counts["chosen"] += 1
                    self.visitor.choose(name_of(one), option.content)

    def _write(self) -> None:
        """Type a word of the texts into each field: no other word is sent."""
        self._given = {self._words[0]}
        for one in self._widgets("TextInput", "TextArea"):
            if self._here(one.id):
                self._counts["written"] += 1
                self.visitor.write(name_of(one), self._words[0])
                self._check()

    def _press(self, page: str, query: str) -> None:
        """Press each button of a view once."""
        for name in [name_of(one) for one in self._widgets("Button") if not one.disabled]:
            if any(part in name for part in LEFT_ALONE):
                continue
            self.visitor.open("" if page == "Start" else page, query)
            self._unfold()
            if self.visitor.shown.has(name):
                self._counts["pressed"] += 1
                self.visitor.click(name)
                self._check()

    def _records(self) -> int:
        """Return the number of records that Inspect lists."""
        every = [
            json.loads(one.bidi_component.json or "{}") for one in self.visitor.shown.elements() if _is_component(one)
        ]
        return int(next(one for one in every if "entries" in one)["total"])

    def _here(self, number: str) -> bool:
        return any(one.id == number for one in self.visitor.shown.widgets())


def name_of(widget: Any) -> str:
    """Return the key of a widget."""
    return str(widget.id).split("-", 2)[-1]


def _is_component(drawn: Any) -> bool:
    return drawn.WhichOneof("type") == "bidi_component"


def _column(table: Any) -> str:
    """Return the name of the last column of a table."""
    return str(pa.ipc.open_stream(table.arrow_data.data).schema.names[-1])


def _around(raw: bytes, found: set[str]) -> str:
    """Return what stands around a word that was found."""
    text = raw.decode(errors="replace")
    at = min((place for word in found if (place := text.lower().find(word.lower()[:4])) >= 0), default=0)
    return repr(text[max(0, at - 200) : at + 60])
