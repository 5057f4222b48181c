"""A walk through the views of a server without a browser: all widgets are used, all messages searched.

What the views of a page have in common is used once: an option of a menu, a button, a field, a cell of a table. Each
view is unfolded, and saves each of its tables in one form: over the views in all of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

import pyarrow as pa
from plotly.offline import get_plotlyjs
from streamlit.proto.Selectbox_pb2 import Selectbox

from nereval_core.review.verdicts import KINDS
from pages.shared.inspect.workbench import KEY
from pages.shared.start import LOCAL
from tests.support.markers import Search
from tests.support.visitors import Visitor
from tests.support.workbench import sent_by

LEFT_ALONE = ("remove", "delete", "cancel", "logout", "withdraw", "clear")
"""Parts of the keys of buttons that would take away what is walked through."""
DRAWN = ("pdf", "svg")
"""Forms of files that a browser of their own has to draw."""
REPORTED_EACH = 5
"""One of so many views saves its report, which takes as long as all its tables."""
PRESSED: tuple[tuple[str, dict[str, Any]], ...] = (
    *((key, {}) for key in ("j", "k", "star", "star", *KINDS, "undo")),
    *((key, {"value": True}) for key in ("whole", "jump")),
)
"""Keys of the workbench, with what they send."""
OPTIONS = 4
"""Options of one choice that are tried on one view."""
SCRIPT = get_plotlyjs().encode()
"""Most of each figure's page, and the same in all of them."""


class Walk:
    """A visitor whose every message is searched; the first of `words` is typed into fields.

    Files that a browser draws are saved if `drawn`, once on each page.
    """

    def __init__(
        self, address: str, search: Search, counts: Counter[str], words: Sequence[str], *, drawn: bool = True
    ) -> None:
        self._search, self._counts, self._words, self._drawn = search, counts, words, drawn
        self._typed: Sequence[str] = ()
        self._given: set[str] = set()
        """The word that was typed into fields: what it names or comments on may show it from then on."""
        self._place = "the first answer"
        self._page = ""
        self._used: Counter[tuple[str, ...]] = Counter()
        """How often something was used on a page."""
        self._unfolded: set[str] = set()
        self._said: set[tuple[str, str]] = set()
        self.visitor = Visitor(address, received=self._received)

    def close(self) -> None:
        self.visitor.leave()

    def _received(self, raw: bytes) -> None:
        self._counts["messages"] += 1
        if found := self._search.found(raw.replace(SCRIPT, b""), {*self._typed, *self._given}):
            self._counts["leaks"] += 1
            self._tell("leak", f"{sorted(found)[0]} in {_around(raw, found)}")

    def _tell(self, kind: str, words: str) -> None:
        place = self._place.partition("&")[0]
        if (kind, place) not in self._said:
            self._said.add((kind, place))
            print(f"{kind} at {self._place}: {words}")

    def view(self, page: str, query: str, typed: Sequence[str] = ()) -> None:
        """Open a view and use all its widgets; words that its link has are shown again."""
        self._typed = typed
        self._page, self._place = page, f"{page}?{query}"
        self._counts["views"] += 1
        self._open(query)
        self._check()
        if page == "Inspect" and "q" in parse_qs(query) and typed and self._records():
            self._counts["leaks"] += 1
            self._tell("leak", f"a search for {typed[0]} finds records")
        for use in (self._unfold, self._save, self._choose, self._unfold, self._switch, self._write):
            use()
            self._check()
        self._press(query)
        self._typed = ()

    def _open(self, query: str) -> None:
        """Open a view in a session of its own: one that shows this page already would not read the link."""
        self.visitor.leave()
        self._unfolded.clear()
        self.visitor = Visitor(self.visitor.address, cookies=self.visitor.cookies, received=self._received)
        self.visitor.open("" if self._page == "Start" else self._page, query)

    def _first(self, *of: str) -> bool:
        """Tell whether something is used for the first time on this page, and note that it is."""
        self._used[self._page, *of] += 1
        return self._used[self._page, *of] == 1

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
        """Open the menus, of which that of criteria has all others in it, and unfold popovers and expanders."""
        if not self._unfolded and self.visitor.shown.has("bar_menu"):
            self.visitor.open_menu("criteria")
            self.visitor.open_menu("export")
        while folded := {one.id for one in self._widgets("Popover", "Expandable")} - self._unfolded:
            self._counts["unfolded"] += len(folded)
            self.visitor.unfold_all(folded)
            self._unfolded |= folded

    def _save(self) -> None:
        """Save each file that this page has not offered yet, and each table in the form that was saved least often."""
        rarest: dict[str, tuple[int, str]] = {}
        for one in self._widgets("DownloadButton"):
            name = name_of(one)
            form, _, table = name.partition("_")
            number = self._used[self._page, name]
            if one.disabled or (form in DRAWN and (number or not self._drawn)):
                continue
            if name == "report" and self._counts["views"] % REPORTED_EACH != 1:
                continue
            if number == 0:
                self._download(name)
            else:
                rarest[table] = min(rarest.get(table, (number, name)), (number, name))
        for _, name in rarest.values():
            self._download(name)

    def _download(self, name: str) -> None:
        self._first(name)
        self._counts["files"] += 1
        self._counts["drawn"] += name.startswith(DRAWN)
        self.visitor.download(name)

    def _choose(self) -> None:
        """Choose rows and cells of tables, options of selections."""
        for one in self._widgets("Dataframe"):
            content = str(hash(one.arrow_data.data))
            for chosen in ({"rows": [0]}, {"cells": [[0, _column(one)]]}):
                if self._here(one.id) and self._first(name_of(one), content, *chosen):
                    self._counts["chosen"] += 1
                    self.visitor.select(name_of(one), **{"rows": [], "columns": [], "cells": [], **chosen})
        for one in self._widgets("Selectbox", "MultiSelect", "ButtonGroup"):
            use = self.visitor.write if isinstance(one, Selectbox) else self.visitor.choose
            options = [getattr(option, "content", option) for option in one.options]
            new = [option for option in options if not self._used[self._page, name_of(one), option]]
            for option in new[:OPTIONS]:
                if self._here(one.id) and not one.disabled and self._first(name_of(one), option):
                    self._counts["chosen"] += 1
                    use(name_of(one), option)

    def _switch(self) -> None:
        """Switch checkboxes and back, also those that a page does not let anybody switch."""
        for one in self._widgets("Checkbox"):
            for on in (not one.default, one.default):
                if self._here(one.id) and self._first(name_of(one), str(on)):
                    self._counts["switched"] += 1
                    self.visitor.unfold(name_of(one), on)

    def _write(self) -> None:
        """Type a word of the texts into each field: no other word is sent."""
        self._given = {self._words[0]}
        for one in self._widgets("TextInput", "TextArea"):
            if self._here(one.id) and self._first(name_of(one)):
                self._counts["written"] += 1
                self.visitor.write(name_of(one), self._words[0])
                self._check()

    def _press(self, query: str) -> None:
        """Press each key of the workbench, and each button."""
        buttons = [name_of(one) for one in self._widgets("Button") if not one.disabled]
        # What was chosen may have emptied the list of the workbench.
        if not self._used[self._page, KEY]:
            self._open(query)
        if self._workbench() and self._first(KEY):
            for number, (key, more) in enumerate(PRESSED):
                # A key may leave no record open.
                if data := self._workbench():
                    self._counts["pressed"] += 1
                    self.visitor.send(KEY, out=sent_by(data, key, last=number, note=self._words[0], **more))
                    self._check()
        for name in buttons:
            if any(part in name for part in LEFT_ALONE) or not self._first(name):
                continue
            self._open(query)
            self._unfold()
            if self.visitor.shown.has(name):
                self._counts["pressed"] += 1
                self.visitor.click(name)
                self._check()

    def _workbench(self) -> dict[str, Any]:
        """Return what the workbench shows, nothing where there is none or no record is open."""
        shown = json.loads(self.visitor.shown.widget(KEY).json) if self.visitor.shown.has(KEY) else {}
        return shown if "\n".join(shown.get("open", ())) in shown.get("cards", ()) else {}

    def _records(self) -> int:
        """Return the number of records that Inspect lists."""
        return int(json.loads(self.visitor.shown.widget(KEY).json)["total"])

    def _here(self, number: str) -> bool:
        return any(one.id == number for one in self.visitor.shown.widgets())


def name_of(widget: Any) -> str:
    """Return the key of a widget."""
    return str(widget.id).split("-", 2)[-1]


def _column(table: Any) -> str:
    """Return the name of the last column of a table."""
    return str(pa.ipc.open_stream(table.arrow_data.data).schema.names[-1])


def _around(raw: bytes, found: set[str]) -> str:
    """Return what stands around a word that was found."""
    text = raw.decode(errors="replace")
    at = min((place for word in found if (place := text.lower().find(word.lower()[:4])) >= 0), default=0)
    return repr(text[max(0, at - 200) : at + 60])
