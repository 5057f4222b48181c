"""No message to the browser is over a megabyte, however large the corpus: lists and tables are paged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pages.shared.view import View
from tests.benchmarks.app import Clicker, corpus, environment, keep
from tests.support.browser import Visit, serve_app

SPANS, TYPES = 60_000, 100
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of a server, and the digest of a corpus of many documents and types that it has."""
    folder: Path = tmp_path_factory.mktemp("store")
    made = corpus(SPANS, TYPES)
    keep(made, folder)
    with environment(NEREVAL_CACHE=str(folder)), serve_app() as address:
        yield address, made.digest


@pytest.mark.parametrize("page", ["Overview", "Confusion", "Inspect"])
def test_no_message_is_over_a_megabyte(browser: Any, large: tuple[str, str], page: str) -> None:
    address, digest = large
    clicker = Clicker(Visit(browser, address))
    clicker.visit.open(page, View(corpus=digest))
    assert clicker.visit.page.get_by_role("heading", name=page, exact=True).count()
    assert 1_000 < clicker.largest < MEGABYTE
    clicker.visit.close()
