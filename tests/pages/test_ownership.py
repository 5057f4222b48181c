"""Ownership of uploads: owners, keys of shared corpora, and what of them outlasts the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from nereval_core.store import Store
from pages.shared.server.ownership import KEY, Ownership

ONE, OTHER = "0" * 64, "1" * 64


@pytest.fixture(params=["stored", "not stored"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store | None:
    return Store(tmp_path) if request.param == "stored" else None


def test_a_corpus_belongs_to_who_brought_it(store: Store | None) -> None:
    owned = Ownership(store)
    owned.add(ONE, "ada")
    assert owned.is_of(ONE, "ada") and not owned.is_of(ONE, "eve") and not owned.is_of(OTHER, "ada")
    owned.add(ONE, "ben")
    assert owned.give_up(ONE, "ada") and not owned.is_of(ONE, "ada") and owned.is_of(ONE, "ben")
    assert not owned.give_up(ONE, "ben") and not owned.is_of(ONE, "ben")


def test_a_key_opens_until_it_is_withdrawn(store: Store | None) -> None:
    owned = Ownership(store)
    owned.add(ONE, "ada")
    assert owned.shared("") == "" == owned.shared("s-" + "0" * 32)
    key = owned.share(ONE)
    assert KEY.fullmatch(key) and owned.share(ONE) == key and owned.shared(key) == ONE
    owned.withdraw(ONE)
    assert owned.shared(key) == "" and owned.share(ONE) != key
    last = owned.share(ONE)
    owned.give_up(ONE, "ada")
    assert owned.shared(last) == ""


def test_what_is_stored_outlasts_the_server(tmp_path: Path) -> None:
    first = Ownership(Store(tmp_path))
    first.add(ONE, "ada")
    key = first.share(ONE)
    # Of an entry only its name counts here.
    (tmp_path / f"{ONE}-{'0' * 64}.columns").touch()
    later = Ownership(Store(tmp_path))
    assert later.shared(key) == ONE and later.is_of(ONE, "ada") and not later.is_of(ONE, "eve")
