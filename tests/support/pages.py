"""Pages in running apps without a browser: opening one as a link does, its widgets and what it shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner

from nereval_core.tables import Table
from pages.shared.components.export_menu import MENU
from pages.shared.components.navigation import pages
from pages.shared.data import caches, playlists, verdict_store
from pages.shared.data.loading import load_demo
from pages.shared.data.memo import MEMO
from pages.shared.frame import context_bar
from pages.shared.view import View, keys
from pages.shared.view.keys import LIST
from pages.shared.view.link import read_link, write_link
from tests.support import ROOT

# Each app looks through the metadata of all installed packages for components, which takes four times as long as
# opening a page does otherwise; once is enough.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
# Nor does a server compile a page anew for each of its sessions and runs.
app_test.ScriptCache = cache(ScriptCache)


def _wait_for_end(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Wait as the function in whose place this stands does, without asking a thousand times a second."""
    assert runner._script_thread is not None
    runner._script_thread.join(timeout)
    _ask_for_end(runner, timeout if runner.script_stopped() else 0)


_ask_for_end = local_script_runner.require_widgets_deltas
local_script_runner.require_widgets_deltas = _wait_for_end

DEMO = load_demo("pharmacology")
VIEW = View(corpus=DEMO.corpus.digest, system="rules")
GOLD = '{"id": "d1", "text": "Aspirin helps.", "spans": [{"start": 0, "end": 7, "label": "Drug"}]}\n'
PREDICTION = '{"id": "d1", "text": "Aspirin helps.", "spans": [{"start": 0, "end": 13, "label": "Drug"}]}\n'


TABS = {
    "Slices": ("Overview", {"overview_tab": "by-slice"}),
    "Consistency": ("Annotators", {"annotators_tab": "consistency"}),
}
"""Tabs that tests open like pages: the page, and the field of the view that shows them."""


FOLDED = {
    "Overview": {f"{LIST}numbers": True, f"{LIST}types_unfolded": True},
    "Systems": {f"{LIST}numbers": True},
}
"""Parts of pages that are folded at first, and that tests look into: what unfolds them."""


PROBLEM = ":red[✗] "
"""The beginning of the line of a problem."""
# Tests put another folder in the place of the served one.
STORES = verdict_store._kept, playlists._kept, caches.served_folder


def start_afresh() -> None:
    """Forget what a server keeps for all its sessions, as a new one does: results, stores and the folder it serves."""
    MEMO.clear()
    for kept in STORES:
        kept.cache_clear()


def opened(page: str, view: View | None = None, *, menu: str = "", **state: object) -> AppTest:
    """Open a page, or a part of one, in a fresh session, as a link does, with a menu open and widgets preset."""
    state |= menu_state(menu) if menu else {}
    if page in TABS:
        page, tab = TABS[page]
        view = replace(view or View(), **tab)
    else:
        state = FOLDED.get(page, {}) | state
    view = with_records(page, view)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    file = pages()[page]
    if file != "app.py":
        app.switch_page(file)
    for name, value in write_link(view).items() if view else ():
        app.query_params[name] = value
    for key, value in state.items():
        app.session_state[key] = value
    return sound(app.run())


def problems(app: AppTest) -> list[str]:
    """Return the lines of problems that stand beside or below files of a form, as the reader sees them."""
    lines = (element.value for element in app.markdown if element.value.startswith(PROBLEM))
    return [unmarked(line.removeprefix(PROBLEM)) for line in lines]


def ways(app: AppTest) -> dict[str, Any]:
    """Return the buttons that read refused files all the same, by what each does and reads."""
    buttons = [button for button in app.button if button.label == "Fix and continue"]
    lines = [unmarked(element.value) for element in app.markdown]
    return {line: button for button in buttons for line in lines if line.startswith(button.help)}


def with_records(page: str, view: View | None) -> View | None:
    """Return a view that lists records on Inspect, which else begins with what there is."""
    if page != "Inspect" or (view or VIEW).inspect_tab:
        return view
    return replace(view or View(), inspect_tab="records")


def sound(app: AppTest) -> AppTest:
    """Check that nothing failed: no exception on screen, a fault of the page among them, and no failed reading."""
    faults = [exception.value for exception in app.exception]
    faults += [error.value for error in app.error if "fault of nereval" in error.value]
    assert not faults, faults
    return app


def address(app: AppTest) -> dict[str, str]:
    """Return the parameters in the address bar."""
    values = dict(app.query_params).items()
    return {name: value[0] if isinstance(value, list) else value for name, value in values}


def cell(row: int, column: str) -> dict[str, object]:
    return {"selection": {"rows": [], "columns": [], "cells": [(row, column)]}}


def menus(app: AppTest) -> list[str]:
    """Return the labels of the buttons that open something over the page, those of the bar first."""
    in_bar = [label for _, label, _ in (head(app)["bar"] or {"menus": ()})["menus"]]
    return in_bar + [block.proto.popover.label for block in app.get("popover")]


def head(app: AppTest) -> dict[str, Any]:
    """Return what the head of a page is sent: its title, and what stands in the context bar."""
    return next(data for data in component_data(app) if data.get("part") == "head")


def title(app: AppTest) -> str:
    return str(head(app)["title"])


def bar_list(app: AppTest, act: str) -> tuple[list[str], str]:
    """Return the names in the list of the bar in which "system" or "reference" is chosen, and the chosen one."""
    part = next(part for part in head(app)["bar"]["layers"] if part.get("act") == act)
    return [name for name, *_ in part["options"]], part["chosen"]


def menu_state(name: str) -> dict[str, object]:
    """Return what is in the session while a menu of the bar, or of exports, is open."""
    return {context_bar.END if name == MENU else context_bar.MENU: {"open": name}}


def choose(app: AppTest, act: str, value: str = "") -> AppTest:
    """Choose in the context bar: a "criterion", a "system", a "reference", or "swap" the last two."""
    number = app.session_state[keys.EVENTS][context_bar.KEY].last + 1 if keys.EVENTS in app.session_state else 1
    event = {"seq": number, "act": act, "value": value}
    app.session_state[context_bar.KEY] = {"out": {"mount": "test", "events": [event]}}
    return sound(app.run())


def component_data(app: AppTest) -> list[dict[str, Any]]:
    """Return what the components of a page are sent."""
    return [
        json.loads(part.proto.json) for part in app.get("bidi_component") if part.proto.WhichOneof("data") == "json"
    ]


def sentences(app: AppTest) -> list[str]:
    """Return the sentences whose numbers are links."""
    return ["".join(part if isinstance(part, str) else part["text"] for part in parts) for parts in _sentences(app)]


def _sentences(app: AppTest) -> list[list[Any]]:
    """Return the texts and links of each sentence: some are part of a component that shows numbers too."""
    return [data[name] for data in component_data(app) for name in ("parts", "losses") if data.get(name)]


def sentence_links(app: AppTest) -> list[tuple[str, View]]:
    """Return text and view of each link in a sentence."""
    parts = [part for parts in _sentences(app) for part in parts if not isinstance(part, str)]
    return [(part["text"], read_link(dict(parse_qsl(urlsplit(part["href"]).query)))[0]) for part in parts]


def heat_map(app: AppTest) -> dict[str, Any]:
    """Return names, texts and shades of the confusion table."""
    return next(data for data in component_data(app) if "shades" in data)


def headings(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def upload(app: AppTest, gold: str | bytes, *systems: str | bytes) -> AppTest:
    def raw(text: str | bytes) -> bytes:
        return text if isinstance(text, bytes) else text.encode()

    files = {f"system{number}.jsonl": raw(system) for number, system in enumerate(systems)}
    return read(drop(app, {"gold.jsonl": raw(gold), **files}))


def drop(app: AppTest, files: Mapping[str, bytes]) -> AppTest:
    """Drop files at Start."""
    given = [(name, raw, "application/octet-stream") for name, raw in files.items()]
    return sound(app.file_uploader(key="upload_files").set_value(given).run())


def give_role(app: AppTest, layer: str, role: str) -> AppTest:
    """Give a dropped file, or a layer of one, a role."""
    box = next(box for box in app.selectbox if unmarked(box.label) == f"Role of {layer}")
    return sound(box.set_value(role).run())


def roles(app: AppTest) -> dict[str, str]:
    """Return the roles of dropped files and their layers by name."""
    found = {unmarked(box.label): box.value for box in app.selectbox}
    return {label.removeprefix("Role of "): role for label, role in found.items() if label.startswith("Role of ")}


def unmarked(text: str) -> str:
    """Return the words of Markdown that `plain` made."""
    return text.replace("\\", "").replace("\u2060", "")


def read(app: AppTest) -> AppTest:
    """Read the files that were dropped; what was read is shown by Overview, and Start is opened again."""
    return at_start(settled(app.button(key="upload_read").click().run()))


def at_start(app: AppTest) -> AppTest:
    """Return to Start from the page that a corpus was opened on."""
    return app if title(app) == "nereval" else sound(app.switch_page("app.py").run())


def account(app: AppTest) -> pd.DataFrame:
    """Return the table of the layers that were read, from Start, to which it returns."""
    app = at_start(app)
    found: pd.DataFrame = next(one.value for one in app.dataframe if "layer" in one.value and "spans" in one.value)
    return found


def settled(app: AppTest) -> AppTest:
    """Wait until nothing is being read: the page looks for itself only in a browser."""
    while any(button.key == "reading_cancel" for button in app.button):
        app = sound(app.run())
    return sound(app)


def point(*customdata: object) -> dict[str, object]:
    return {"selection": {"points": [{"customdata": list(customdata)}], "point_indices": [0], "box": [], "lasso": []}}


def assert_shows(shown: pd.DataFrame, table: Table) -> None:
    """Check that a page shows the cells of a table under its headings."""
    assert_cells_equal(shown, table.to_frame().set_axis(list(table.headings), axis=1))


def assert_cells_equal(shown: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Compare all but dtypes: before pandas 3, text that a page was sent comes back under another one."""
    plain = [frame.set_axis(frame.columns.astype(object), axis=1) for frame in (shown, expected)]
    pd.testing.assert_frame_equal(*plain, check_dtype=False, check_index_type=False)
