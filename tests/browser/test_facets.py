"""The facets beside the queue: names of types that share their beginning can be told apart."""

from __future__ import annotations

from typing import Any

from pages.shared.components.component_events import EVENTS
from pages.shared.components.highlighted_text import DRAWING
from tests.browser.test_reading_view import MOUNT
from tests.support import ROOT

HERE = ROOT / "pages" / "shared" / "inspect"
FAMILY = [f"organisation.company.{part}" for part in ("public", "private", "public.subsidiary")]


def test_names_of_a_family_of_types_are_whole(browser: Any) -> None:
    page = browser.new_page(viewport={"width": 184, "height": 700})
    page.set_content("<!doctype html><html><body style='margin:0'></body></html>")
    script = (HERE / "facets.js").read_text(encoding="utf-8")
    page.evaluate(MOUNT, [DRAWING + EVENTS + script, (HERE / "facets.css").read_text(encoding="utf-8")])
    values = [[name, name, 1234] for name in FAMILY]
    facet = {"name": "gold", "label": "Gold type", "values": values, "on": FAMILY[0]}
    page.evaluate("data => window.show(data)", {"facets": [facet], "chosen": 1})
    page.locator("summary").click()
    names = page.locator(".nf-value bdi")
    assert names.all_inner_texts() == FAMILY
    cut = (
        "all => all.filter((name) => name.scrollHeight > name.clientHeight + 1 || name.scrollWidth > name.clientWidth)"
    )
    assert names.count() == len(FAMILY) and names.evaluate_all(f"{cut}.length") == 0
    page.close()
