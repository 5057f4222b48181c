"""Every menu of every page open at once, as the owner of an upload, as a guest and on loopback: no key twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.shared.components.navigation import pages
from pages.shared.data import caches
from pages.shared.server import access
from pages.shared.server.ownership import visitor
from pages.shared.view import View, keys
from tests.support.pages import DEMO, TABS, menu_state, opened, sound

PAGES = sorted({*pages(), *TABS})
# What differs among roles stands in the bar, which is the same on all pages: the owner, who sees the most, opens each.
CASES = [
    pytest.param(
        role, page, marks=[pytest.mark.nightly] if role != "owner" and page not in ("Inspect", "Start") else []
    )
    for role in ("loopback", "owner", "guest")
    for page in PAGES
]
KEY = "5" * 64
"""The key of the input of the corpus."""


@pytest.fixture
def view(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[View]:
    """The view of an uploaded corpus on a server for this machine, or as its owner or a guest on one for others."""
    if request.param != "loopback":
        option = st.get_option
        address = {"server.address": "0.0.0.0"}
        monkeypatch.setattr(st, "get_option", lambda name: address.get(name) or option(name))
        monkeypatch.setattr(access, "browser", lambda: "Ann")
    loaded = replace(DEMO, key=KEY, owner=visitor(), description="", reading=request.param)
    caches.shelf().put(loaded)
    shared = caches.shelf().ownership
    guest = request.param == "guest"
    if guest:
        monkeypatch.setattr(access, "browser", lambda: "Eve")
    yield View(corpus=shared.share(KEY) if guest else DEMO.corpus.digest, system="rules")
    shared.withdraw(KEY)
    # To other tests the demo is no upload.
    caches.shelf()._close(KEY)


def open_menus(page: str, view: View) -> AppTest:
    """Open a page with all its menus, and those that stand in them."""
    # The menu of criteria has all of the bar's in it.
    app = opened(page, view, menu="criteria", **menu_state("export"))
    while closed := [key for key in menu_keys(app) if key not in app.session_state or not app.session_state[key]]:
        for key in closed:
            app.session_state[key] = True
        app = sound(app.run())
    return app


def menu_keys(app: AppTest) -> list[str]:
    """Return the keys of the menus that tell the server when they are opened."""
    messages: list[Any] = [block.proto.popover for block in app.get("popover")]
    return [message.id.split("-", 4)[-1] for message in messages if message.id]


@pytest.mark.parametrize(("view", "page"), CASES, indirect=["view"])
def test_every_menu_opens_on_every_page(page: str, view: View, request: pytest.FixtureRequest) -> None:
    app = open_menus(page, view)
    role = request.node.callspec.params["view"]
    assert app.selectbox(key="widget_criterion") and app.multiselect(key="widget_type"), (
        "the menus of the bar are there"
    )
    sharing = {button.label for button in app.button} & {"Make a link", "Withdraw the link"}
    assert sharing == ({"Make a link"} if role == "owner" else set())
    if sharing:
        app = sound(app.button(key=f"{keys.BAR}share").click().run())
        assert app.button(key=f"{keys.BAR}withdraw").label == "Withdraw the link"
