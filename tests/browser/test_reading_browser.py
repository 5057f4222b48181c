"""The reading view in a browser: the card of a record names every criterion, those without a decision too."""

from __future__ import annotations

from dataclasses import replace

from tests.support.browser import Visit
from tests.support.pages import VIEW


def test_the_card_names_every_criterion(visit: Visit) -> None:
    visit.open("Inspect", replace(VIEW, doc="en-01", record="g:133-143:PROTEINAS"))
    rows = visit.page.locator(".nv-card .nv-rows li")
    visit.page.get_by_text("all criteria").click()
    rows.first.wait_for()
    name, chip = (rows.locator(at).all_inner_texts() for at in (".nv-name", ".nv-chip"))
    said = dict(zip(name, chip, strict=True))
    assert said["strict"].endswith("incorrect (INC)")
    assert said["fragment"] == "by token"
