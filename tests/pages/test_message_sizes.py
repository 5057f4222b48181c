"""No message to the browser is over a megabyte, however large the corpus, and a click makes few of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks.app import corpus, environment, keep
from tests.support.browser import serve_app
from tests.support.visitors import Visitor

SPANS, TYPES = 60_000, 100
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of a server, and the digest of a corpus of many documents and types that it has."""
    folder: Path = tmp_path_factory.mktemp("store")
    large_corpus = corpus(SPANS, TYPES)
    keep(large_corpus, folder)
    with environment(NEREVAL_CACHE=str(folder)), serve_app() as address:
        yield address, large_corpus.digest


@pytest.mark.parametrize("page", ["Overview", "Confusion", "Inspect"])
def test_no_message_is_over_a_megabyte(large: tuple[str, str], page: str) -> None:
    address, digest = large
    sizes: list[int] = []
    with Visitor(address, received=lambda raw: sizes.append(len(raw))) as visitor:
        visitor.open(page, f"corpus={digest}")
        assert any(f'"title": "{page}"' in text for text in visitor.shown.texts())
    assert 10_000 < max(sizes) < MEGABYTE


def test_a_click_on_overview_draws_few_elements(large: tuple[str, str]) -> None:
    address, digest = large
    sizes: list[int] = []
    with Visitor(address, received=lambda raw: sizes.append(len(raw))) as visitor:
        visitor.open("Overview", f"corpus={digest}")
        sizes.clear()
        visitor.choose_in_bar("criterion", "type")
        assert any("under type" in text for text in visitor.shown.texts())
    # A page that does nothing needs 8; an element of Streamlit is 0.4 to 1 ms in the browser, whatever it shows.
    assert 8 < len(sizes) <= 26 and sum(sizes) < 60_000
