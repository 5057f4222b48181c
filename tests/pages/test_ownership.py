"""Ownership of uploads: owners of stored entries, keys of shared corpora, and what of them outlasts the server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nereval_core.store import Store
from pages.shared.server.ownership import ACCOUNT, KEY, Ownership
from tests.store.test_store import example, kept

ONE = "0" * 64


@pytest.fixture(params=["stored", "not stored"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store | None:
    return Store(tmp_path) if request.param == "stored" else None


def test_an_entry_says_whose_it_is(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number, said in enumerate(({"owner": "ada"}, {"owner": "eve"}, {})):
        made, prints = kept(example())
        store.put(replace(made, key=f"{number:064}", account={**said, "layers": []}), prints)
    owned, entries = Ownership(store), sorted(store.entries(), key=lambda entry: entry.key)
    assert [owned.owner(entry) for entry in entries] == ["ada", "eve", ACCOUNT]
    entries[0].path.write_bytes(b"")
    assert owned.owner(entries[0]) == "ada" and Ownership(store).owner(entries[0]) is None
    owned.forget(entries[0].key)
    assert owned.owner(entries[0]) is None


def test_a_key_opens_until_it_is_withdrawn(store: Store | None) -> None:
    owned = Ownership(store)
    assert owned.shared("") == "" == owned.shared("s-" + "0" * 32) and owned.key(ONE) == ""
    key = owned.share(ONE)
    assert KEY.fullmatch(key) and owned.share(ONE) == key == owned.key(ONE) and owned.shared(key) == ONE
    owned.withdraw(ONE)
    assert owned.shared(key) == "" and owned.share(ONE) != key


def test_what_is_stored_outlasts_the_server(tmp_path: Path) -> None:
    key = Ownership(Store(tmp_path)).share(ONE)
    # Of an entry only its name counts here.
    (tmp_path / f"{'1' * 64}-{ONE}.columns").touch()
    assert Ownership(Store(tmp_path)).shared(key) == ONE


def test_a_withdrawal_holds_in_every_server_and_is_not_lost_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = Ownership(Store(tmp_path)), Ownership(Store(tmp_path))
    key = here.share(ONE)
    (tmp_path / f"{'1' * 64}-{ONE}.columns").touch()
    assert there.shared(key) == ONE

    def write_text(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", write_text)
        with pytest.raises(OSError, match="No space left"):
            here.withdraw(ONE)
    # It says so, and does not pretend until the next start.
    assert here.shared(key) == there.shared(key) == ONE
    here.withdraw(ONE)
    assert here.shared(key) == there.shared(key) == ""
