"""What goes wrong with a database is said in a line, nothing is lost, and what can be read is read."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sqlalchemy import update

from nereval_core.api.doctor import MENDED, examine, mend
from nereval_core.problems import FormatError
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.store import MissingVerdictsError, ReviewStore
from nereval_core.review.store.backup import back_up
from nereval_core.review.store.schema import EVENTS, read_revision
from nereval_core.review.verdict_lines import export_lines
from nereval_core.review.verdicts import Draft, body_of
from pages.shared.data import verdict_store
from tests.pages.test_verdicts_pages import ANN, first, press, progress, said
from tests.review.test_playlists import star
from tests.support import PYTHON_PATH, ROOT, databases
from tests.support.reviewers import verdict
from tests.support.workbench import act

LONG = "x" * 9_000


def give(store: ReviewStore, number: int, note: str = "") -> None:
    one = verdict(number, note)
    store.give([Draft(one, store.reviewed().version(one.key))], "Ann")


def refused(store: ReviewStore, said: str, number: int = 4) -> None:
    """Check that a verdict is refused with this line, and nothing of it is kept."""
    before = store.every()
    with pytest.raises(FormatError) as told:
        give(store, number, LONG)
    assert said in str(told.value) and "\n" not in str(told.value)
    assert store.every() == before


def rights(place: Path) -> int:
    return place.stat().st_mode & 0o777


@pytest.mark.skipif(os.name != "posix", reason="rights of accounts as POSIX has them")
def test_verdicts_are_for_no_other_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    before = os.umask(0)
    try:
        store = ReviewStore.of_environment(environment={"XDG_DATA_HOME": str(tmp_path)})
        file = tmp_path / "nereval" / "review.sqlite"
        assert store.name == str(file)
        give(store, 1)
        assert (rights(file.parent), rights(file)) == (0o700, 0o600)
        store.close()
        # What was looser before is tightened when it is opened, if only to be read.
        file.parent.chmod(0o755)
        file.chmod(0o644)
        again = ReviewStore(file)
        assert len(again.reviewed()) == 1 and (rights(file.parent), rights(file)) == (0o700, 0o600)
        again.close()
        # A file elsewhere may be shared with a group.
        shared = tmp_path / "shared.sqlite"
        shutil.copy(file, shared)
        shared.chmod(0o664)
        tmp_path.chmod(0o755)
        ReviewStore(shared).reviewed()
        assert (rights(tmp_path), rights(shared)) == (0o755, 0o660)
        # What is not a store of verdicts is refused, and stays as it is.
        other = tmp_path / "accounts"
        other.write_text("root:x:0:0\n")
        other.chmod(0o644)
        with pytest.raises(FormatError):
            ReviewStore(other).reviewed()
        assert rights(other) == 0o644
    finally:
        os.umask(before)


TRY_LOCK = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    # The bytes that who reads an SQLite file has locked, see "File Locking And Concurrency" of its documentation.
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
"""


@pytest.mark.skipif(os.name != "posix", reason="locks of files as POSIX has them")
def test_opening_a_store_leaves_the_locks_of_others_in_its_process(tmp_path: Path) -> None:
    # Who opens the file by itself and closes it takes the locks of its process from SQLite; another process then
    # believes to be the last one that leaves, and removes the log that is being written to.
    file = tmp_path / "review.sqlite"
    store = ReviewStore(file)
    give(store, 1)
    with store.database.writing():
        again = ReviewStore(file)
        again.reviewed()
        again.close()
        tried = subprocess.run([sys.executable, "-c", TRY_LOCK, file], capture_output=True, text=True)
    assert "BlockingIOError" in tried.stderr
    store.close()


def test_a_damaged_file_whose_message_is_no_utf_8_is_told_in_a_line(tmp_path: Path) -> None:
    file = tmp_path / "review.sqlite"
    store = ReviewStore(file)
    give(store, 1)
    store.close()
    raw = file.read_bytes()
    assert raw.count(b"CREATE TABLE") and raw.startswith(b"SQLite format 3")
    file.write_bytes(raw.replace(b"CREATE TABLE", b"CREATE \xff\xfeBLE"))
    with pytest.raises(FormatError) as told:
        ReviewStore(file).reviewed()
    assert str(told.value) == f"{file}: the file is damaged; restore a copy, or name another file"


@pytest.fixture
def small() -> Iterator[Path]:
    """A disk of its own with a megabyte of room."""
    folder = Path(tempfile.mkdtemp(prefix="nereval-disk-", dir="/tmp"))
    try:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "none", str(folder)], capture_output=True
        )
        if done.returncode:
            pytest.skip("only root may mount a small disk")
        yield folder
    except FileNotFoundError:
        pytest.skip("there is no mount")
    finally:
        subprocess.run(["umount", "-l", str(folder)], capture_output=True)
        with suppress(OSError):
            folder.rmdir()


def fill(disk: Path) -> Path:
    """Leave no room on a disk; return the file that takes it."""
    filler = disk / "filler"
    with suppress(OSError), filler.open("ab", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    return filler


def test_a_full_disk_is_told_and_reading_goes_on(small: Path) -> None:
    store = ReviewStore(small / "review.sqlite")
    give(store, 0)
    filler = fill(small)
    refused(store, "review.sqlite: the disk is full, and nothing was kept; make room and try again")
    store.close()
    # One that is started on the full disk reads it too.
    again = ReviewStore(small / "review.sqlite")
    assert len(again.reviewed()) == 1
    refused(again, "the disk is full")
    filler.unlink()
    give(again, 1, LONG)
    assert len(again.reviewed()) == 2
    again.close()


def test_a_disk_that_is_full_from_the_first_holds_nothing(small: Path) -> None:
    filler = fill(small)
    store = ReviewStore(small / "review.sqlite")
    refused(store, "the disk is full")
    filler.unlink()
    give(store, 0)
    assert len(store.reviewed()) == 1
    store.close()


def test_a_page_on_a_full_disk_shows_what_stands_and_keeps_what_is_typed(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{small}/review.sqlite")
    verdict_store._kept.cache_clear()
    app = press(first(ANN), "gold")
    filler = fill(small)
    app = act(app, "pred", note=LONG)
    assert "the disk is full, and nothing was kept; make room and try again" in said(app)
    # Another server on the full disk.
    verdict_store._kept.cache_clear()
    app = first(ANN)
    assert "1 of 60 reviewed" in progress(app)
    filler.unlink()
    assert "Kept as Ann: prediction is right" in said(press(app, "pred"))
    verdict_store._kept.cache_clear()


def test_a_database_that_may_not_grow_is_told_as_full(tmp_path: Path) -> None:
    store = ReviewStore(tmp_path / "review.sqlite")
    give(store, 0)
    with store.database.writing() as connection:
        # In force for the one connection that the store has.
        connection.exec_driver_sql("PRAGMA max_page_count=1")
    refused(store, "the disk is full, and nothing was kept")
    store.close()


@pytest.mark.parametrize("content", [b"", b"{}\n", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "review.sqlite"
    file.write_bytes(content)
    store = ReviewStore(file)
    if not content:
        assert store.every() == ()
        give(store, 0)
        return
    for action in (store.reviewed, lambda: give(store, 0)):
        with pytest.raises(FormatError, match=r"this is not a database of SQLite; name another|the file is damaged"):
            action()
    assert file.read_bytes() == content


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "review.sqlite"
    store = ReviewStore(file)
    for number in range(5):
        give(store, number, LONG)
    store.close()
    content = file.read_bytes()
    file.write_bytes(content[:8192] + b"\xaa" * (len(content) - 8192))
    with pytest.raises(FormatError, match="the file is damaged; restore a copy"):
        ReviewStore(file).every()


def test_a_damaged_row_is_told(tmp_path: Path) -> None:
    store = ReviewStore(tmp_path / "review.sqlite")
    give(store, 0)
    with store.database.writing() as connection:
        connection.exec_driver_sql("UPDATE verdict_event SET body = '{}'")
    with pytest.raises(FormatError, match="verdict number 1 is damaged; restore a copy"):
        store.reviewed()
    store.close()


@pytest.mark.parametrize("change", ["note = 'other'", "who = 'Bob'", "kind = 'pred'", "at = at || '1'"])
def test_a_row_that_says_something_else_is_told(change: str, tmp_path: Path) -> None:
    store = ReviewStore(tmp_path / "review.sqlite")
    give(store, 0)
    with store.database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE verdict_event SET {change}")
    with pytest.raises(FormatError, match="verdict number 1 is damaged; restore a copy"):
        store.every()
    store.close()


def test_a_row_of_an_earlier_version_has_no_checksum_and_is_read(tmp_path: Path) -> None:
    store = ReviewStore(tmp_path / "review.sqlite")
    give(store, 0)
    with store.database.writing() as connection:
        body = body_of(store.every()[0].verdict)
        connection.exec_driver_sql("UPDATE verdict_event SET body = ?", (body,))
        assert "checksum" not in body
    assert store.every()[0].verdict == verdict(0)
    store.close()


def test_verdicts_that_a_damaged_page_passes_over_are_not_lost_without_a_word(tmp_path: Path) -> None:
    file = tmp_path / "review.sqlite"
    store = ReviewStore(file)
    for number in range(5):
        give(store, number)
    with store.database.reading() as connection:
        assert connection is not None
        asked = "SELECT rootpage FROM sqlite_master WHERE name = 'verdict_event'"
        page = connection.exec_driver_sql(asked).scalar_one()
    store.close()
    raw = bytearray(file.read_bytes())
    # The number of cells of the page: the last ones are not looked at any more.
    at = 4096 * (page - 1) + 3
    assert raw[at : at + 2] == b"\0\5"
    raw[at + 1] = 3
    file.write_bytes(raw)
    for action in (ReviewStore(file).every, lambda: give(ReviewStore(file), 9)):
        with pytest.raises(FormatError, match="the file is damaged; restore a copy"):
            action()
    assert file.read_bytes() == raw


@pytest.mark.parametrize("harm", ["emptied", "removed"])
def test_a_log_without_its_file_is_kept_and_told(harm: str, tmp_path: Path) -> None:
    opened = logged(tmp_path / "review.sqlite", 1)
    file = tmp_path / "copy.sqlite"
    for ending in ("", "-wal"):
        shutil.copyfile(tmp_path / f"review.sqlite{ending}", f"{file}{ending}")
    opened.close()
    file.write_bytes(b"") if harm == "emptied" else file.unlink()
    log = Path(f"{file}-wal")
    content = log.read_bytes()
    assert content
    for action in (ReviewStore(file).every, lambda: give(ReviewStore(file), 1)):
        with pytest.raises(FormatError, match="is empty or gone, and its log is there; restore the file"):
            action()
    (finding,) = (one for one in examine(str(file)).findings if one.problem.source == str(file))
    assert "its log is there" in finding.problem.found
    assert log.read_bytes() == content


@pytest.mark.parametrize("change", ["body = '{'", "body = '[]'", "comment = 'x'", "place = 7"])
def test_an_item_of_a_playlist_that_says_something_else_is_told(change: str, tmp_path: Path) -> None:
    store = ReviewStore(tmp_path / "review.sqlite")
    playlists = PlaylistStore(store)
    playlists.star(playlists.make("Meeting", "Ann"), [star()], "Ann")
    with store.database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE playlist_item SET {change}")
    with pytest.raises(FormatError, match="item number 1 of the playlists is damaged; restore a copy"):
        PlaylistStore(store).playlists()
    store.close()


def test_a_file_that_is_replaced_while_it_is_open_is_not_written_to(tmp_path: Path) -> None:
    file = tmp_path / "review.sqlite"
    store = ReviewStore(file)
    give(store, 0)
    file.rename(tmp_path / "elsewhere")
    for action in (store.reviewed, lambda: give(store, 1)):
        with pytest.raises(FormatError, match=r"was removed, or another one put .*; start nereval again"):
            action()
    assert not file.exists()
    store.close()


def test_rights_that_lack_are_told_and_what_can_be_read_is_read() -> None:
    """By one process for all: files and folders of root's, or without the right to write."""
    folder = Path(tempfile.mkdtemp(prefix="nereval-rights-", dir="/tmp"))
    open_one = ReviewStore(folder / "open" / "review.sqlite")
    try:
        for name in ("closed", "file", "hidden"):
            store = ReviewStore(folder / name / "review.sqlite")
            give(store, 0)
            store.close()
        give(open_one, 0)
        lines = folder / "lines.jsonl"
        other = ReviewStore(folder / "other.sqlite")
        give(other, 1)
        lines.write_bytes(b"".join(export_lines(other.every())))
        other.close()
        for path in folder.rglob("*"):
            path.chmod(0o555 if path.is_dir() else 0o444)
        writable = folder / "file" / "review.sqlite"
        writable.chmod(0o600)
        if os.getuid() == 0:
            shutil.chown(writable, databases.USER)
        (folder / "hidden").chmod(0)
        folder.chmod(0o555)

        def reads(where: str) -> list[str]:
            return ["review", "list", "--review", str(folder / where)]

        def writes(where: str) -> list[str]:
            return ["review", "import", str(lines), "--review", str(folder / where)]

        # Releases of SQLite differ in which of these they find.
        cannot = ("the file cannot be written, and nothing was kept", "its folder cannot be written, and nothing")
        not_opened = "the file cannot be opened; check its rights and those of its folder"
        cases = (
            # Nobody has it open, and no log can be made beside it.
            (reads("closed/review.sqlite"), "1 verdict"),
            (writes("closed/review.sqlite"), cannot),
            # A server has it open.
            (reads("open/review.sqlite"), "1 verdict"),
            (writes("open/review.sqlite"), cannot),
            # The file may be written, its folder may not.
            (reads("file/review.sqlite"), "1 verdict"),
            (writes("file/review.sqlite"), (*cannot, not_opened)),
            (reads("hidden/review.sqlite"), "Permission denied; name another file"),
            (writes("hidden/review.sqlite"), "Permission denied; name another file"),
            (writes("new/review.sqlite"), "Permission denied; name another file"),
            (writes("open/new.sqlite"), "Permission denied; name another file"),
        )
        command = [sys.executable, "-m", "tests.support.unprivileged"]
        asked = json.dumps([arguments for arguments, _ in cases])
        environment = os.environ | {"PYTHONPATH": PYTHON_PATH}
        done = subprocess.run(command, input=asked, capture_output=True, text=True, cwd=ROOT, env=environment)
        assert done.returncode == 0, done.stderr
        for (status, _, err), (arguments, expected) in zip(json.loads(done.stdout), cases, strict=True):
            assert any(said in err for said in ((expected,) if isinstance(expected, str) else expected)), (
                arguments,
                err,
            )
            assert status == (0 if expected == "1 verdict" else 2) and len(err.splitlines()) == 1, arguments
    finally:
        open_one.close()
        for path in (folder, *folder.glob("*/")):
            path.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.parametrize(("ci", "raised"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_a_machine_without_a_server_is_told(
    monkeypatch: pytest.MonkeyPatch, ci: str, raised: type[BaseException]
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(databases, "programs", dict)
    with (
        pytest.raises(raised, match=r"not installed \(no initdb, pg_ctl, postgres\); Debian: apt-get"),
        databases.server(),
    ):
        pass


def test_a_full_disk_of_the_server_is_told(server: databases.Server, small: Path) -> None:
    space = small / "space"
    space.mkdir()
    if os.getuid() == 0:
        small.chmod(0o755)
        shutil.chown(space, databases.USER)
    own = databases.emptied(ReviewStore(server.url))
    engine = own.database.engine.execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE TABLESPACE small LOCATION '{space}'")
    store = ReviewStore(f"{server.url}&options=-c%20default_tablespace%3Dsmall")
    try:
        give(store, 0)
        filler = fill(small)
        # Pages that are there already are filled up first.
        with pytest.raises(FormatError, match="the server's disk is full, and nothing was kept; make room"):
            for _ in range(50):
                give(store, 1, os.urandom(4000).hex())
        before = len(store.every())
        assert before >= 1 and len(store.reviewed()) >= 1
        filler.unlink()
        give(store, 2, LONG)
        assert len(store.every()) == before + 1
    finally:
        store.close()
        databases.emptied(own)
        with engine.connect() as connection:
            connection.exec_driver_sql("DROP TABLESPACE small")
        own.close()


def test_rights_and_servers_that_take_no_changes_are_told(server: databases.Server) -> None:
    own = databases.emptied(ReviewStore(server.url))
    reader = ReviewStore(server.url.replace("nereval@", "reader@"))
    stranger = ReviewStore(server.url.replace("nereval@", "stranger@"))
    calm = ReviewStore(f"{server.url}&options=-c%20default_transaction_read_only%3Don")
    try:
        with own.database.writing() as connection:
            for name in ("reader", "stranger"):
                connection.exec_driver_sql(f"DROP ROLE IF EXISTS {name}")
                connection.exec_driver_sql(f"CREATE ROLE {name} LOGIN")
        with pytest.raises(FormatError, match="this user has no right to do this; grant it"):
            give(reader, 0)
        give(own, 0)
        with own.database.writing() as connection:
            connection.exec_driver_sql("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        assert len(reader.reviewed()) == 1 and len(calm.reviewed()) == 1
        refused(reader, "this user has no right to do this; grant it the rights on the schema and its tables")
        refused(calm, "the server takes no changes now, and nothing was kept; try again, or ask who runs it")
        with pytest.raises(FormatError, match="this user has no right"):
            stranger.reviewed()
        with pytest.raises(FormatError, match='role "nobody-knows" does not exist; check that'):
            ReviewStore(server.url.replace("nereval@", "nobody-knows:secret@")).reviewed()
        with pytest.raises(FormatError, match='database "none" does not exist; check that'):
            ReviewStore(server.url.replace("/postgres", "/none")).reviewed()
    finally:
        for store in (reader, stranger, calm, databases.emptied(own)):
            store.close()
        with own.database.writing() as connection:
            for name in ("reader", "stranger"):
                connection.exec_driver_sql(f"DROP ROLE IF EXISTS {name}")
        own.close()


def test_acknowledged_verdicts_stand_in_the_file_and_in_no_log(tmp_path: Path) -> None:
    # SQLite passes over all of a log from its first damaged byte on.
    store = ReviewStore(tmp_path / "review.sqlite")
    for number in range(5):
        give(store, number)
    assert [path.name for path in tmp_path.iterdir()] == ["review.sqlite"]
    copy = tmp_path / "copy.sqlite"
    shutil.copyfile(tmp_path / "review.sqlite", copy)
    assert ReviewStore(copy).every() == store.every() and len(store.every()) == 5
    store.close()


def logged(file: Path, count: int) -> sqlite3.Connection:
    """Make a file of verdicts as earlier versions did; return the connection that has it open."""
    store = ReviewStore(file)
    give(store, 0)
    store.close()
    connection = sqlite3.connect(file, isolation_level=None)
    assert connection.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
    connection.execute("UPDATE verdict_revision SET version_num = '0002'")
    body = """replace(body, ',"previous":""', '')"""
    connection.execute(f"UPDATE verdict_event SET body = {body}")
    for number in range(1, count):
        store = ReviewStore(file)
        give(store, number)
        store.close()
    connection.execute("UPDATE verdict_revision SET version_num = '0002'")
    return connection


def test_a_file_of_an_earlier_version_loses_its_log_once_nobody_else_has_it_open(tmp_path: Path) -> None:
    file = tmp_path / "review.sqlite"
    connection = logged(file, 2)
    copy = tmp_path / "killed.sqlite"
    for ending in ("", "-wal"):
        shutil.copyfile(f"{file}{ending}", f"{copy}{ending}")
        Path(f"{copy}{ending}").chmod(0o600)
    beside = ReviewStore(file)
    give(beside, 2)
    assert len(beside.every()) == 3 and Path(f"{file}-wal").exists()
    beside.close()
    connection.close()
    for place, before in ((file, 3), (copy, 2)):
        assert not [one for one in examine(str(place)).findings if one.problem.source == str(place)]
        store = ReviewStore(place)
        assert len(store.every()) == before
        give(store, 4)
        assert len(store.every()) == before + 1 and not Path(f"{place}-wal").exists()
        store.close()


def remove_row(store: ReviewStore, number: int) -> None:
    with store.database.writing() as connection:
        connection.exec_driver_sql(f"DELETE FROM verdict_event WHERE number = {number}")


def numbers(store: ReviewStore) -> list[int]:
    return [stored.number for stored in store.every()]


def test_verdicts_that_are_gone_from_between_others_are_told(empty_database: str) -> None:
    store = ReviewStore(empty_database)
    for number in range(5):
        give(store, number)
    first, second, third, fourth, fifth = numbers(store)
    for number in (first, third):
        remove_row(store, number)
    other = ReviewStore(empty_database)
    for action in (other.reviewed, store.every, lambda: give(ReviewStore(empty_database), 0)):
        with pytest.raises(FormatError) as told:
            action()
        places = [f"before number {second}", f"between numbers {second} and {fourth}"]
        assert [one.found for one in told.value.problems] == [f"verdicts are missing {place}" for place in places]
    findings = [one for one in examine(empty_database).findings if "verdicts are missing" in one.problem.found]
    assert [mend(one) for one in findings] == [MENDED] * 2
    assert numbers(other) == [second, fourth, fifth] and len(other.reviewed().courses) == 3
    give(other, 0)
    assert len(numbers(store)) == 4
    other.close()
    store.close()


@pytest.mark.parametrize("n_left", [2, 0])
def test_verdicts_that_are_gone_from_the_end_of_a_file_are_told(tmp_path: Path, n_left: int) -> None:
    file = tmp_path / "review.sqlite"
    with closing(ReviewStore(file)) as store:
        for number in range(4):
            give(store, number)
        assert len(store.reviewed().courses) == 4
        # A copy knows the end too.
        back_up(store, tmp_path / "copy.sqlite")
        for number in numbers(store)[n_left:]:
            remove_row(store, number)
        told_of = f"verdicts are missing after number {n_left}, up to 4"
        other = ReviewStore(file)
        # Whoever gives one more would hide the gap.
        for action in (other.reviewed, store.reviewed, store.every, lambda: give(other, 0)):
            with pytest.raises(MissingVerdictsError, match=told_of):
                action()
        with closing(ReviewStore(tmp_path / "copy.sqlite")) as copy:
            assert len(copy.every()) == 4
            remove_row(copy, 4)
            with pytest.raises(MissingVerdictsError, match="after number 3, up to 4"):
                copy.every()
        (finding,) = examine(str(file)).findings
        assert (finding.problem.found, mend(finding)) == (told_of, MENDED)
        give(other, 0)
        assert len(other.every()) == n_left + 1 and not examine(str(file)).findings
        other.close()


def test_verdicts_of_the_revision_before_are_read_and_followed(empty_database: str) -> None:
    store = ReviewStore(empty_database)
    for number in range(3):
        give(store, number)
    with store.database.writing() as connection:
        connection.exec_driver_sql("UPDATE verdict_revision SET version_num = '0002'")
        for number, body in connection.exec_driver_sql("SELECT number, body FROM verdict_event").all():
            body = re.sub(',"previous":"[0-9a-f]*"', "", body)
            connection.execute(update(EVENTS).where(EVENTS.c.number == number).values(body=body))
    store.close()
    later = ReviewStore(empty_database)
    assert len(later.every()) == 3
    with later.database.reading() as connection:
        assert connection is not None and read_revision(connection) == "0002"
    for number in (3, 4):
        give(later, number)
    with later.database.reading() as connection:
        assert connection is not None and read_revision(connection) == "0003"
    remove_row(later, numbers(later)[2])
    with pytest.raises(FormatError, match="verdicts are missing between numbers"):
        later.every()
    later.close()


UNFINISHED = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size=1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE verdict_event SET note = hex(zeroblob(100000))")
os._exit(0)
"""


def test_a_commit_that_a_killed_process_left_is_taken_back(tmp_path: Path) -> None:
    file = tmp_path / "review.sqlite"
    store = ReviewStore(file)
    for number in range(5):
        give(store, number, LONG)
    before = store.every()
    store.close()
    subprocess.run([sys.executable, "-c", UNFINISHED, file], check=True)
    assert Path(f"{file}-journal").stat().st_size > 4096
    raw = file.read_bytes()
    (finding,) = (one for one in examine(str(file)).findings if one.problem.source == str(file))
    assert "was being written to when a process ended" in finding.problem.found and file.read_bytes() == raw
    assert mend(finding) == MENDED
    assert ReviewStore(file).every() == before and not Path(f"{file}-journal").exists()
