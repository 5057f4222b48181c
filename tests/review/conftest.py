"""The kinds of databases that tests of the review store run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from nereval_core.review.store import ReviewStore
from tests.support.databases import emptied


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The path or URL of an empty database of each kind; tests share one PostgreSQL server."""
    if request.param == "sqlite":
        return str(tmp_path / "new folder" / "100% é?#.sqlite")
    url: str = request.getfixturevalue("server").url
    emptied(ReviewStore(url)).close()
    return url
