"""Two small files that are uploaded in a browser."""

from __future__ import annotations

from pathlib import Path

from tests.support.browser import Visit
from tests.support.pages import GOLD, PREDICTION


def upload(visit: Visit, folder: Path) -> None:
    """Upload two small files and read them."""
    files = {folder / name: text for name, text in (("gold.jsonl", GOLD), ("system.jsonl", PREDICTION))}
    for path, text in files.items():
        path.write_text(text)
    visit.drop(*files)
    visit.page.get_by_role("button", name="Read and score").first.click()
    visit.page.get_by_role("heading", name="Overview", exact=True).wait_for()
