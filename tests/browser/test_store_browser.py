"""Waiting and coming back, in a browser: a reading shows how far it is and is cancelled; a link outlives its server."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nereval_core.store import Store
from tests.support.browser import Visit, serve_app
from tests.support.pages import GOLD, PREDICTION

DOCUMENTS = 40_000
"""So many files in a zip take seconds on any machine."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to be served, beside the store of the servers that are started meanwhile."""
    monkeypatch.setenv("NEREVAL_CACHE", str(tmp_path / "store"))
    (tmp_path / "served").mkdir()
    yield tmp_path / "served"


def read_served(visit: Visit) -> None:
    """Read what the served folder offers by itself: gold and the systems beside it."""
    visit.go("/")
    with visit.rerun():
        visit.page.get_by_role("button", name="Read and score").last.click()


def test_a_reading_is_shown_and_cancelled(browser: Any, folder: Path) -> None:
    with zipfile.ZipFile(folder / "gold.zip", "w") as archive:
        for number in range(DOCUMENTS):
            archive.writestr(f"{number}.txt", "Aspirin helps")
            archive.writestr(f"{number}.ann", "T1\tDrug 0 7\tAspirin\n")
    shutil.copy(folder / "gold.zip", folder / "system.zip")
    with serve_app("--data", str(folder)) as address:
        visit, other = Visit(browser, address), Visit(browser, address)
        other.go("/")
        files = {folder.parent / name: text for name, text in (("gold.jsonl", GOLD), ("system.jsonl", PREDICTION))}
        for path, text in files.items():
            path.write_text(text)
        with other.rerun():
            other.page.get_by_role("radio", name="Files on this computer").click()
        other.drop(*files)
        read_served(visit)
        visit.page.get_by_text(re.compile("(files|documents)/s")).wait_for()
        assert visit.page.get_by_role("button", name="Read and score").last.is_disabled()
        # Who reads something else meanwhile waits for nobody.
        other.page.get_by_role("button", name="Read and score").first.click()
        other.page.get_by_text("Files, formats and types").wait_for()
        with visit.rerun():
            visit.page.get_by_role("button", name="Cancel").click()
        visit.page.get_by_role("button", name="Cancel").wait_for(state="detached")
        assert not visit.page.get_by_text("Files, formats and types").count()
        visit.close()
        other.close()
    assert len(Store(folder.parent / "store").entries()) == 1
    assert not list((folder.parent / "store").glob(".*"))


def test_a_link_opens_in_another_server(browser: Any, folder: Path) -> None:
    for name, text in (("gold.jsonl", GOLD), ("system.jsonl", PREDICTION)):
        (folder / name).write_text(text)
    with serve_app("--data", str(folder)) as address:
        visit = Visit(browser, address)
        read_served(visit)
        visit.page.get_by_text("Files, formats and types").wait_for()
        visit.page.get_by_text("Stored corpora: 1").wait_for()
        link = visit.page.url.removeprefix(address)
        visit.close()
    shutil.rmtree(folder)
    assert "corpus=" in link
    with serve_app() as address:
        visit = Visit(browser, address)
        visit.go(link)
        visit.page.get_by_role("heading", name="served").wait_for()
        with visit.rerun():
            visit.page.get_by_role("button", name="Clear the store").click()
        visit.page.get_by_text("Stored corpora").wait_for(state="detached")
        visit.page.get_by_role("heading", name="served").wait_for()
        visit.close()
    assert not Store(folder.parent / "store").entries()


def test_whoever_leaves_while_files_are_read_gets_the_corpus_there(browser: Any, folder: Path) -> None:
    for name in ("gold.zip", "system.zip"):
        with zipfile.ZipFile(folder / name, "w") as archive:
            for number in range(DOCUMENTS // 10):
                archive.writestr(f"{number}.txt", "Aspirin helps")
                archive.writestr(f"{number}.ann", "T1\tDrug 0 7\tAspirin\n")
    with serve_app("--data", str(folder)) as address:
        visit = Visit(browser, address)
        visit.go("/")
        visit.page.get_by_role("button", name="Read and score").last.click()
        visit.page.get_by_test_id("stSidebar").get_by_role("link", name="Overview", exact=True).click()
        visit.page.get_by_role("heading", name="Overview", exact=True).wait_for()
        visit.page.locator(".nvb-row").first.get_by_text(f"✓ {DOCUMENTS // 10:,}").wait_for()
        assert not visit.page.get_by_text("no corpus").count()
        visit.close()
