"""One export as gold and systems in a browser: what was recognised, chosen by the keyboard alone, read and scored."""

from __future__ import annotations

import re
from pathlib import Path

from tests.pages.test_recognition_page import EXPORT
from tests.support.browser import Visit


def test_an_export_of_three_layers_is_read_by_the_keyboard(visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "export.json").write_bytes(EXPORT)
    visit.go("/")
    page = visit.page
    with visit.rerun():
        page.locator("input[type=file]").first.set_input_files(tmp_path / "export.json")
    page.get_by_text("export.json · ✓ labelstudio · 1 file · 3 layers: ann@").wait_for()
    # An address is no link here.
    assert page.locator("a[href^='mailto:']").count() == 0
    page.get_by_role("combobox", name=re.compile("Role of ann@")).focus()
    with visit.rerun():
        # The list begins with Gold; the role at first is Annotator.
        for key in ("ArrowDown", "Home", "Enter"):
            page.keyboard.press(key)
            page.wait_for_timeout(100)
    page.get_by_role("button", name="Read and score").focus()
    with visit.rerun():
        page.keyboard.press("Enter")
    page.get_by_role("heading", name="Overview", exact=True).wait_for()
