"""Temporaries of killed processes are removed by the next one, and those of living ones and of others never are."""

from __future__ import annotations

import os
import pwd
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nereval_core.readers.input import temporaries
from nereval_core.readers.input.temporaries import (
    OTHER_HOST_SECONDS,
    TemporaryFolder,
    abandoned,
    is_temporary,
    remove_abandoned,
    replaced_file,
    replaced_folder,
    resumable_folder,
)
from tests.support import ROOT
from tests.support.databases import USER

HOLDING = """
import sys, time
from pathlib import Path
from nereval_core.readers.input.temporaries import *
folder = Path(sys.argv[1])
with {made} as place:
    if Path(place).is_dir():
        Path(place, "half").write_text("half")
    print(place, flush=True)
    time.sleep(600)
"""
MADE = (
    'replaced_file(folder / "scores.json")',
    'replaced_folder(folder / "shards")',
    'resumable_folder(folder, "job")',
    "TemporaryFolder()",
)


@contextmanager
def holding(made: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Run a process that holds a temporary, and yield it with the temporary's path."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    command = [sys.executable, "-c", HOLDING.format(made=made), str(folder)]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


@pytest.mark.parametrize("made", MADE)
def test_a_temporary_goes_when_its_process_was_killed_and_not_before(made: str, tmp_path: Path) -> None:
    with holding(made, tmp_path) as (process, place):
        assert place.parent == tmp_path and place.exists() and is_temporary(place.name)
        assert abandoned(tmp_path) == remove_abandoned(tmp_path) == []
        process.kill()
        process.wait()
        assert abandoned(tmp_path) == [place] and place.exists()
        assert remove_abandoned(tmp_path) == [place] and not place.exists()


@pytest.mark.parametrize("made", MADE)
def test_the_next_process_removes_it(made: str, tmp_path: Path) -> None:
    with holding(made, tmp_path) as (process, place):
        process.kill()
        process.wait()
    if made.startswith("resumable"):
        # The next one goes on with it.
        with resumable_folder(tmp_path, "job") as again:
            assert again == place and (place / "half").exists()
    else:
        with holding(made, tmp_path) as (_, other):
            assert not place.exists() and other.exists()
            other.rmdir() if other.is_dir() and not any(other.iterdir()) else None
    assert not place.exists()


def test_what_is_not_ours_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = (
        ".scores.json.abcdefgh",
        "nereval-abcdefgh",
        "nereval-pg-abcdefgh",
        f".x.{temporaries._prefix()}abc",
    )
    for name in names:
        (tmp_path / name).write_text("theirs")
    ours = tmp_path / f".x.{temporaries._prefix()}abcdefgh"
    (tmp_path / "target").write_text("text")
    ours.symlink_to(tmp_path / "target")
    assert remove_abandoned(tmp_path) == [] and ours.is_symlink()
    ours.unlink()
    ours.write_text("ours")
    if os.geteuid() == 0:
        os.chown(ours, pwd.getpwnam(USER).pw_uid, -1)
        assert remove_abandoned(tmp_path) == []
        os.chown(ours, 0, -1)
    assert remove_abandoned(tmp_path, older=60) == []
    assert remove_abandoned(tmp_path) == [ours]
    # Locks of a network disk may hold for one machine alone.
    other = tmp_path / ".x.nereval-00000000-abcdefgh"
    other.write_text("another machine's")
    assert remove_abandoned(tmp_path) == []
    long_ago = time.time() - OTHER_HOST_SECONDS - 60
    os.utime(other, (long_ago, long_ago))
    assert remove_abandoned(tmp_path) == [other]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, "target"])


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    old = os.umask(request.param)
    yield request.param
    os.umask(old)


def mode(path: Path | str) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


def test_what_we_keep_is_private_and_outputs_follow_the_umask(umask: int, tmp_path: Path) -> None:
    tmp_path = tmp_path / "made"
    tmp_path.mkdir(mode=0o755)
    for private, expected in ((True, 0o600), (False, 0o666 & ~umask)):
        with replaced_file(tmp_path / "file", private=private) as place:
            place.write_text("text")
            assert mode(place) == expected
        assert mode(tmp_path / "file") == expected
    with replaced_folder(tmp_path / "shards") as place:
        assert place.parent == tmp_path
    assert mode(tmp_path / "shards") == 0o777 & ~umask
    temporaries.private_folder(tmp_path / "a" / "b")
    assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == 0o700
    with resumable_folder(tmp_path / "a" / "jobs", "job") as place:
        assert mode(place) == mode(place.parent) == 0o700
    with TemporaryFolder() as name:
        assert mode(name) == 0o700 and Path(name).parent == Path(tempfile.gettempdir())


def test_an_error_leaves_nothing_but_work_to_go_on_with(tmp_path: Path) -> None:
    for made in (replaced_file, replaced_folder):
        with pytest.raises(ZeroDivisionError), made(tmp_path / "it"):
            raise ZeroDivisionError
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(ZeroDivisionError), resumable_folder(tmp_path, "job") as place:
        raise ZeroDivisionError
    # In the same process too, and of two at once each has its own.
    with resumable_folder(tmp_path, "job") as again, resumable_folder(tmp_path, "job") as other:
        assert again == place != other
    assert list(tmp_path.iterdir()) == []
