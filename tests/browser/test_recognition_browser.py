"""One export as gold and systems in a browser: what was recognised, chosen by the keyboard alone, read and scored."""

from __future__ import annotations

from pathlib import Path

from tests.pages.test_recognition_page import EXPORT
from tests.support.browser import Visit


def test_an_export_of_three_layers_is_read_by_the_keyboard(visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "export.json").write_bytes(EXPORT)
    visit.go("/")
    page = visit.page
    page.get_by_role("tab", name="Upload").click()
    with visit.rerun():
        page.locator("input[type=file]").first.set_input_files(tmp_path / "export.json")
    page.get_by_text("Recognised as labelstudio · 1 file · 3 layers: ann@").wait_for()
    # An address is no link here.
    assert page.locator("a[href^='mailto:']").count() == 0
    page.get_by_role("combobox", name="Gold is the layer").focus()
    with visit.rerun():
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
            page.wait_for_timeout(100)
    page.get_by_role("button", name="Read and score").focus()
    with visit.rerun():
        page.keyboard.press("Enter")
    page.get_by_text("What was read").wait_for()
