"""The command `doctor`: it names what is wrong with what is kept, changes nothing unless it is to mend, and mends."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from nereval_core.problems import FormatError
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.store import ReviewStore
from nereval_core.store import Store
from tests.readers.input.test_temporaries import holding
from tests.review.test_backup import draft
from tests.review.test_playlists import star
from tests.store.test_store import example, stored
from tests.support.commands import Cli, corpus, written
from tests.support.databases import as_user, emptied

ANOTHER = 65_534
"""The number of an account that is not ours."""
Rows = list[dict[str, Any]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a stored corpus, a verdict, and folders for temporaries and scored shards."""
    for variable, name in (("NEREVAL_CACHE", "store"), ("XDG_DATA_HOME", "data"), ("TMPDIR", "spare")):
        monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.delenv("NEREVAL_REVIEW_URL")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "spare"))
    (tmp_path / "spare").mkdir()
    stored(tmp_path / "store", example())
    store = Store.of_environment()
    assert store is not None
    store.remark(store.entries()[0].key, name="mine")
    with closing(ReviewStore.of_environment()) as verdicts:
        verdicts.give([draft(0)], "Ann")
    return tmp_path


def examined(command: Cli, *arguments: str) -> tuple[int, Rows, Rows]:
    """Run `doctor`, and return its exit status, what is kept and the findings."""
    status, _, err = command("doctor", *arguments, "--json", "health.json")
    assert err == ""
    found = json.loads(Path("health.json").read_text())
    return status, found["kept"], found["findings"]


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
        if path.name != "health.json"
    }


def test_a_sound_home_has_no_findings(home: Path, command: Cli) -> None:
    before = everything(home)
    status, kept, findings = examined(command)
    assert (status, findings) == (0, [])
    assert everything(home) == before
    places = {row["kind"]: (row["place"], row["entries"]) for row in kept}
    assert places["corpora"] == (str(home / "store"), 1)
    assert places["verdicts"] == (str(home / "data/nereval/review.sqlite"), 1)
    assert all(row["bytes"] > 0 and row["days"] == 0 for row in kept if row["entries"])
    assert command("doctor")[:1] == (0,) and "findings" not in command("doctor")[1]


def damaged_corpus(home: Path) -> Path:
    (path,) = (home / "store").glob("*.columns")
    raw = bytearray(path.read_bytes())
    # Also in the bytes of the files, which opening does not check.
    raw[len(raw) // 2] ^= 255
    path.write_bytes(raw)
    return path


def damaged_remarks(home: Path) -> Path:
    (path,) = (home / "store").glob("*.remarks")
    path.write_bytes(b"{")
    return path


def opened_store(home: Path) -> Path:
    (home / "store").chmod(0o755)
    return home / "store"


def opened_verdicts(home: Path) -> Path:
    path = home / "data/nereval/review.sqlite"
    path.chmod(0o644)
    return path


def left_temporary(home: Path) -> Path:
    with holding("TemporaryFolder()", home / "spare") as (process, place):
        process.kill()
        process.wait()
    return place


HARMS = (damaged_corpus, damaged_remarks, opened_store, opened_verdicts, left_temporary)


@pytest.mark.parametrize("harm", HARMS)
def test_what_can_be_mended_is(harm: Callable[[Path], Path], home: Path, command: Cli) -> None:
    place = harm(home)
    before = everything(home)
    status, _, findings = examined(command)
    assert status == 1 and [(row["place"], row["state"]) for row in findings] == [(str(place), "--mend mends it")]
    assert everything(home) == before
    status, _, findings = examined(command, "--mend")
    assert status == 0 and [row["state"] for row in findings] == ["mended"]
    assert examined(command)[::2] == (0, [])


def test_of_damaged_remarks_it_says_what_goes_with_them(home: Path, command: Cli) -> None:
    damaged_remarks(home)
    (finding,) = examined(command)[2]
    assert "how far its review is, and its shared link" in finding["remedy"]


def of_another(place: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(place, ANOTHER, ANOTHER)


def given_away(place: Path) -> str:
    of_another(place)
    return "belongs to another account"


def behind_a_link(place: Path) -> str:
    place.rename(place.with_name("elsewhere"))
    place.symlink_to("elsewhere")
    return "it is a link"


def replaced_by_a_pipe(place: Path) -> str:
    place.unlink()
    os.mkfifo(place)
    return "no ordinary file"


@pytest.mark.parametrize("change", [given_away, behind_a_link, replaced_by_a_pipe])
@pytest.mark.parametrize("name", ["store/*.columns", "store/*.remarks", "data/nereval/review.sqlite"])
def test_what_is_no_file_of_ours_is_named(name: str, change: Callable[[Path], str], home: Path, command: Cli) -> None:
    (place,) = home.glob(name)
    expected = change(place)
    before = place.lstat()
    status, _, findings = examined(command, "--mend")
    if change is behind_a_link and place.suffix == ".sqlite":
        # The file of verdicts may stand anywhere: it is looked at where the link leads.
        assert (status, findings) == (0, [])
        return
    assert status == 1 and [row["place"] for row in findings] == [str(place)]
    assert expected in findings[0]["found"] and findings[0]["state"] == "not to be mended by nereval"
    assert place.lstat().st_ino == before.st_ino
    store = Store.of_environment()
    assert store is not None and len(store.entries()) == (place.suffix != ".columns")


def writable_by_all(place: Path) -> str:
    place.chmod(0o777)
    return "every account may write to it"


@pytest.mark.parametrize("change", [given_away, writable_by_all])
def test_a_store_that_others_may_change_is_refused(change: Callable[[Path], str], home: Path, command: Cli) -> None:
    reasons = {place: change(place) for place in (home / "store", home / "data/nereval")}
    status, _, findings = examined(command)
    messages = {Path(row["place"]): row["found"] for row in findings if "rights on it" not in row["found"]}
    assert status == 1 and set(messages) == {home / "store", home / "data/nereval/review.sqlite"}
    for place, reason in reasons.items():
        assert any(reason in message for name, message in messages.items() if name.is_relative_to(place))
    status, out, err = command("store")
    assert (status, out) == (2, "") and "another folder as NEREVAL_CACHE" in err
    with closing(ReviewStore.of_environment()) as verdicts:
        for act in (verdicts.reviewed, lambda: verdicts.give([draft(1)], "Ann")):
            with pytest.raises(FormatError, match="verdicts are not kept in this folder"):
                act()


def test_verdicts_that_all_accounts_may_change_are_refused_anywhere(home: Path, command: Cli) -> None:
    folder = home / "team"
    with closing(ReviewStore(folder / "team.sqlite")) as store:
        store.give([draft(0)], "Ann")
    for mode in (0o777, 0o1777):
        folder.chmod(mode)
        (finding,) = examined(command, "--review", str(folder / "team.sqlite"))[2]
        assert finding["found"].startswith("verdicts are not kept in this folder: every account may ")
    of_another(folder)
    of_another(folder / "team.sqlite")
    # A team shares a file by its group.
    folder.chmod(0o770)
    assert examined(command, "--review", str(folder / "team.sqlite"))[::2] == (0, [])


def test_damaged_verdicts_are_named(home: Path, command: Cli) -> None:
    path = home / "data/nereval/review.sqlite"
    good = path.read_bytes()
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("UPDATE verdict_event SET body = '{'")
        opened.commit()
    assert "verdict number 1 is damaged" in examined(command)[2][0]["found"]
    path.write_bytes(good)
    with closing(ReviewStore(path)) as store:
        playlists = PlaylistStore(store)
        playlists.star(playlists.make("Meeting", "Ann"), [star(0)], "Ann")
        assert examined(command)[2] == []
        with store.database.writing() as connection:
            connection.exec_driver_sql("UPDATE playlist_item SET comment = 'another'")
    assert "item number 1 of the playlists is damaged" in examined(command)[2][0]["found"]
    # SQLite quotes what is damaged, which need not be UTF-8.
    path.write_bytes(good.replace(b"NOT NULL", b"\xceOT NULL"))
    assert "malformed" in examined(command)[2][0]["found"]
    path.write_bytes(good[:5000])
    for arguments in ((), ("--mend",)):
        status, _, findings = examined(command, *arguments)
        assert status == 1 and len(findings) == 1
        assert findings[0]["place"] == str(path) and "nereval review backup" in findings[0]["remedy"]
        assert findings[0]["state"] == "not to be mended by nereval"
    assert path.read_bytes() == good[:5000]


def test_verdicts_of_a_group_stay_shared(home: Path, command: Cli) -> None:
    with closing(ReviewStore(home / "team.sqlite")) as store:
        store.give([draft(0)], "Ann")
    (home / "team.sqlite").chmod(0o664)
    (finding,) = examined(command, "--review", str(home / "team.sqlite"))[2]
    assert finding["remedy"] == "chmod 0660"


def test_verdicts_on_a_server_are_read(server: Any, home: Path, command: Cli) -> None:
    with closing(emptied(ReviewStore(server.url))) as store:
        store.give([draft(0)], "Ann")
        status, kept, findings = examined(command, "--review", server.url)
        assert (status, findings) == (0, []) and {row["kind"] for row in kept} >= {"verdicts"}
        with store.database.writing() as connection:
            connection.exec_driver_sql("UPDATE verdict_event SET body = '{'")
        assert "verdict number 1 is damaged" in examined(command, "--review", server.url)[2][0]["found"]
        emptied(store)


@pytest.fixture
def scored(home: Path, command: Cli) -> Path:
    places = written(home, corpus())
    assert command("score", *places, "--engine", "local", "-q", "--out", "scored")[0] == 0
    return home / "scored"


def test_an_index_is_made_again(scored: Path, command: Cli) -> None:
    assert examined(command, str(scored))[::2] == (0, [])
    whole = everything(scored)
    (scored / "index" / "documents.columns").unlink()
    with (scored / "index" / "0.0.columns").open("r+b") as file:
        file.seek(100)
        file.write(b"\xff")
    assert [row["state"] for row in examined(command, str(scored))[2]] == ["--mend mends it"] * 2
    assert examined(command, str(scored), "--mend")[0] == 0
    assert everything(scored) == whole


def test_an_index_that_cannot_be_made_again_is_told(scored: Path, command: Cli) -> None:
    shutil.rmtree(scored / "index")
    (scored / "index").touch()
    status, _, findings = examined(command, str(scored), "--mend")
    assert status == 1 and all(row["state"].startswith("could not be mended: cannot be written") for row in findings)


def test_files_that_may_be_mapped_are_never_written_into(scored: Path, home: Path, command: Cli) -> None:
    # What is cut while it is mapped ends the process that reads it. Other names show what became of the files.
    places = [*scored.glob("columns/*"), *scored.glob("index/*"), *(home / "store").glob("*.columns")]
    for number, place in enumerate(places):
        place.write_bytes(place.read_bytes()[:-1])
        os.link(place, home / str(number))
    before = [place.read_bytes() for place in places]
    assert len(command("doctor", "--mend", str(scored))[1]) > 0
    stored(home / "store", example())
    score = ("score", *written(home, corpus()), "--engine", "local", "-q", "--out", "scored")
    assert command(*score)[0] == 0
    assert examined(command, str(scored), "--mend")[0] == 0
    one, other = min(Path(score[2]).glob("*.jsonl")), min(Path(score[1]).glob("*.jsonl"))
    one.write_bytes(other.read_bytes())
    assert command(*score)[0] == 0 and command("store", "--clear")[0] == 0
    assert [(home / str(number)).read_bytes() for number in range(len(places))] == before
    assert not any(place.exists() and place.read_bytes() in before for place in places)


@pytest.mark.parametrize("name", ["columns/*.columns", "counts/*.npz", "scored.json", "results.json"])
def test_a_pipe_in_a_scored_folder_is_named_and_not_waited_for(name: str, scored: Path, command: Cli) -> None:
    place = min(scored.glob(name))
    replaced_by_a_pipe(place)
    status, _, findings = examined(command, str(scored), "--mend")
    assert status == 1 and [(row["place"], row["found"]) for row in findings] == [
        (str(place), "it is no ordinary file")
    ]


@pytest.mark.parametrize("name", ["columns/*.columns", "counts/*.npz", "scored.json"])
def test_what_was_scored_is_named(name: str, scored: Path, command: Cli) -> None:
    place = min(scored.glob(name))
    place.write_bytes(place.read_bytes()[:-20])
    status, _, findings = examined(command, str(scored), "--mend")
    assert status == 1 and len(findings) == 1 and "score the shards again" in findings[0]["remedy"]
    assert findings[0]["place"] == (str(scored) if name == "scored.json" else str(place))


def test_columns_and_index_of_something_else_are_named(scored: Path, command: Cli) -> None:
    one, other = sorted((scored / "index").glob("0.*.columns"))[:2]
    one.write_bytes(other.read_bytes())
    (finding,) = examined(command, str(scored))[2]
    assert finding["place"] == str(one) and finding["found"].endswith("the index of something else")
    assert examined(command, str(scored), "--mend")[0] == 0
    one, other = sorted((scored / "columns").iterdir())[:2]
    # The columns of a shard do not say of what they would be the index.
    (scored / "index" / "documents.columns").write_bytes(other.read_bytes())
    assert [row["state"] for row in examined(command, str(scored), "--mend")[2]] == ["mended"]
    one.write_bytes(other.read_bytes())
    (finding,) = examined(command, str(scored))[2]
    assert finding["place"] == str(one) and finding["found"].endswith("the columns of something else")


def test_results_are_written_again_and_records_named(home: Path, command: Cli) -> None:
    places = written(home, corpus())
    assert command("score", *places, "--engine", "local", "-q", "--records", "scored")[0] == 0
    scored = home / "scored"
    assert examined(command, str(scored))[::2] == (0, [])
    place = scored / "results.json"
    good = place.read_text()
    place.write_text(good.replace('"spans": ', '"spans": 1', 1))
    assert place.read_text() != good
    assert [row["place"] for row in examined(command, str(scored))[2]] == [str(place)]
    assert examined(command, str(scored), "--mend")[0] == 0 and place.read_text() == good
    records = min(scored.glob("records/*/*/*.parquet"))
    column = parquet.read_metadata(records).row_group(0).column(0)
    raw = bytearray(records.read_bytes())
    # The last byte of the last page of the first column.
    raw[(column.dictionary_page_offset or column.data_page_offset) + column.total_compressed_size - 1] ^= 1
    records.write_bytes(raw)
    (finding,) = examined(command, str(scored), "--mend")[2]
    assert finding["place"] == str(records) and "score the shards again" in finding["remedy"]


def test_a_folder_that_is_not_there_is_wrong_usage(home: Path, command: Cli) -> None:
    status, out, err = command("doctor", str(home / "none"))
    assert (status, out) == (2, "") and "is not a folder" in err


def test_work_of_a_killed_job_is_kept_and_counted(home: Path, command: Cli) -> None:
    work = home / "cache" / "nereval-shards"
    with holding('resumable_folder(folder, "job")', work) as (process, _):
        process.kill()
        process.wait()
    status, kept, findings = examined(command)
    assert (status, findings) == (0, [])
    assert [row["entries"] for row in kept if row["kind"] == "counts of unfinished jobs"] == [1]


def test_another_account_reads_nothing_that_is_kept(command: Cli) -> None:
    if not (become := as_user()):
        pytest.skip("only root can become somebody else")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        # Nothing but the modes of what we keep is in the way: others may enter every folder.
        folder = Path(name)
        stored(folder / "store", example())
        with closing(ReviewStore(folder / "verdicts" / "own.sqlite")) as verdicts:
            verdicts.give([draft(0)], "Ann")
            assert command("review", "backup", f"{name}/copy.sqlite", "--review", verdicts.name)[0] == 0
        (folder / "open").write_text("for all")
        for place in (folder, folder / "store", folder / "verdicts"):
            place.chmod(0o755)
        places = (folder / "open", *folder.glob("store/*"), folder / "verdicts/own.sqlite", folder / "copy.sqlite")
        (folder / "open").chmod(0o644)
        read = [subprocess.run([*become, "cat", path], capture_output=True).returncode for path in places]
    assert len(read) == 4 and read[0] == 0 and all(read[1:])
