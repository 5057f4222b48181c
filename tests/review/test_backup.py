"""Backups of a store that others write to: of one moment, whole or not there, and a store themselves."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from nereval_core.cli import main
from nereval_core.problems import FormatError
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.store import ReviewStore
from nereval_core.review.store.backup import back_up, integrity_problem
from nereval_core.review.verdicts import Draft, Key, Marked, Seen, Verdict, text_digest
from tests.support import ROOT

TEXT = "Ann took aspirin."
WRITING = """
import sys
from tests.review.test_backup import draft
from nereval_core.review.store import ReviewStore
store, number = ReviewStore(sys.argv[1]), 1000
while True:
    given = store.give([draft(number), draft(number + 1)], "Ann")
    print(*(one.uid for one in given), flush=True)
    number += 2
"""


def draft(number: int) -> Draft:
    span = Marked(((number, number + 7),), "Drug")
    return Draft(Verdict(Key(text_digest(TEXT), "gold", span), "gold", Seen.of("d1", TEXT, span)))


def test_a_copy_made_while_others_write_holds_a_prefix(empty_database: str, tmp_path: Path) -> None:
    store = ReviewStore(empty_database)
    store.give([draft(0)], "Bob")
    command = [sys.executable, "-c", WRITING, empty_database]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        acknowledged = [store.every()[0].uid]
        counts = []
        for number in range(4):
            # What was acknowledged before the backup began is in it.
            acknowledged += [uid for _ in range(5) for uid in writer.stdout.readline().split()]
            counts.append(back_up(store, tmp_path / f"{number}.sqlite"))
            copy = ReviewStore(tmp_path / f"{number}.sqlite")
            uids = [one.uid for one in copy.every()]
            copy.close()
            assert len(uids) == counts[-1]
            assert uids[: len(acknowledged)] == acknowledged
            # Verdicts that were given together are there together.
            assert len(uids) % 2 == 1
            every = [one.uid for one in store.every()]
            assert uids == every[: len(uids)]
        assert counts == sorted(set(counts))
        writer.kill()
    assert sorted(path.name for path in tmp_path.glob("[0-9].sqlite*")) == [f"{number}.sqlite" for number in range(4)]
    store.close()


def test_a_copy_is_a_store_with_playlists_and_may_be_restored(
    empty_database: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    store = ReviewStore(empty_database)
    store.give([draft(0), draft(8)], "Ann")
    PlaylistStore(store).make("Talk", "Ann")
    copy = tmp_path / "copy.sqlite"
    old = os.umask(0)
    try:
        assert main(["review", "backup", str(copy), "--review", empty_database]) == 0
    finally:
        os.umask(old)
    assert f"{store.name}: 2 verdicts copied to {copy}\n" == capfd.readouterr().err
    assert copy.stat().st_mode & 0o777 == 0o600 and integrity_problem(copy) == ""
    restored = ReviewStore(copy)
    assert restored.every() == store.every()
    talk, copied = (PlaylistStore(one).playlists().standing for one in (store, restored))
    assert copied == talk and len(talk) == 1
    # It goes on where the other one was.
    restored.give([draft(16)], "Bob")
    assert [one.number for one in restored.every()] == [1, 2, 3]
    restored.close()
    # From a copy back to a store of either kind.
    with closing(ReviewStore(tmp_path / "other.sqlite")) as other:
        assert main(["review", "export", str(tmp_path / "all.jsonl"), "--review", str(copy)]) == 0
        assert main(["review", "import", str(tmp_path / "all.jsonl"), "--review", str(tmp_path / "other.sqlite")]) == 0
        assert {one.uid for one in other.every()} == {one.uid for one in ReviewStore(copy).every()}
    store.close()


@pytest.mark.parametrize("name", [".", "..", "/"])
def test_a_folder_is_no_name_of_a_copy(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with closing(ReviewStore(tmp_path / "own.sqlite")) as store:
        store.give([draft(1)], "Ann")
    assert main(["review", "backup", name, "--review", str(tmp_path / "own.sqlite")]) == 2
    assert capfd.readouterr().err == f"{name}: there is such a file, and it is not overwritten; name a new FILE\n"


@pytest.mark.parametrize("name", ["copy.sqlite", "copy.sqlite-wal", "copy.sqlite-journal"])
def test_no_file_is_overwritten(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    store = ReviewStore(tmp_path / "own.sqlite")
    store.give([draft(0)], "Ann")
    (tmp_path / name).write_bytes(b"mine")
    command = ["review", "backup", str(tmp_path / "copy.sqlite"), "--review", str(tmp_path / "own.sqlite")]
    assert main(command) == 2
    assert capfd.readouterr().err == (
        f"{tmp_path / name}: there is such a file, and it is not overwritten; name a new FILE\n"
    )
    assert (tmp_path / name).read_bytes() == b"mine"
    store.close()


def test_nothing_half_written_has_the_name(tmp_path: Path) -> None:
    store = ReviewStore(tmp_path / "own.sqlite")
    with pytest.raises(FormatError, match="no verdict was ever given"):
        back_up(store, tmp_path / "copy.sqlite")
    store.give([draft(number) for number in range(300)], "Ann")
    store.close()
    with closing(sqlite3.connect(tmp_path / "own.sqlite")) as opened:
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (place,) = opened.execute("SELECT rootpage FROM sqlite_master WHERE name = 'verdict_event_who'").fetchone()
        (size,) = opened.execute("PRAGMA page_size").fetchone()
    with (tmp_path / "own.sqlite").open("r+b") as file:
        file.seek((place - 1) * size)
        file.write(b"\xff" * 200)
    with pytest.raises(FormatError, match=r"copy\.sqlite: the copy is not whole"):
        back_up(store, tmp_path / "copy.sqlite")
    with pytest.raises(FormatError, match="cannot be written: No such file or directory"):
        back_up(store, tmp_path / "none" / "copy.sqlite")
    store.close()
    assert not [path for path in tmp_path.iterdir() if "copy" in path.name]
