"""The reading view in a browser: the card of a record names every criterion, those without a decision too."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from pages.shared.data.loading import load_demo
from pages.shared.view import View, write
from tests.support.browser import Visit


def test_the_card_names_every_criterion(browser: Any, app: str) -> None:
    loaded = load_demo("pharmacology")
    view = View(corpus=loaded.corpus.digest, system="rules", doc="en-01", record="g:133-143:PROTEINAS")
    visit = Visit(browser, app)
    visit.go(f"/Documents?{urlencode(write(view))}")
    rows = visit.page.locator(".nv-card .nv-rows li")
    rows.first.wait_for()
    name, chip = (rows.locator(at).all_inner_texts() for at in (".nv-name", ".nv-chip"))
    said = dict(zip(name, chip, strict=True))
    assert said["strict"].endswith("incorrect (INC)")
    assert said["fragment"] == "by token"
    visit.close()
