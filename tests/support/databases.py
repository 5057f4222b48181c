"""Databases to keep verdicts in: SQLite's file, and a PostgreSQL server that tests start where it is installed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from nereval_core.review.store import ReviewStore
from nereval_core.review.store.schema import METADATA, REVISION

PROGRAMS = "initdb", "pg_ctl", "postgres"
USER = "nobody"
"""PostgreSQL refuses to run as root: as root, the tests run it as this user."""


def programs() -> dict[str, str]:
    """Return PostgreSQL's programs by name; Debian keeps them out of the path."""
    folders = sorted(
        Path("/usr/lib/postgresql").glob("[0-9]*/bin"), key=lambda one: float(one.parent.name), reverse=True
    )
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders)])
    return {name: found for name in PROGRAMS if (found := shutil.which(name, path=path))}


@dataclass
class Server:
    """A running PostgreSQL server with an empty database at `url`; `folder` is its own, sockets and all."""

    url: str
    folder: Path
    command: tuple[str, ...]
    options: str

    def control(self, *arguments: str) -> None:
        run(self.folder, *self.command, "-D", str(self.folder / "data"), *arguments)

    def start(self) -> None:
        log = self.folder / "log"
        try:
            self.control("-l", str(log), "-w", "-o", self.options, "start")
        except AssertionError as error:
            raise AssertionError(log.read_text()[-2000:]) from error

    def stop(self) -> None:
        self.control("-m", "fast", "-w", "stop")

    def kill(self) -> None:
        """End the server and all its processes by SIGKILL, wherever they are."""
        lock = self.folder / "data" / "postmaster.pid"
        first = int(lock.read_text().split()[0])
        everyone = [first, *(int(one.name) for one in Path("/proc").glob("[0-9]*") if _stat(one)[1:2] == [str(first)])]
        for process in everyone:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        while any(_stat(Path("/proc", str(process)))[:1] not in ([], ["Z"], ["X"]) for process in everyone):
            time.sleep(0.01)
        # Where nobody buries the dead, the next server would take this one for alive.
        for left in (lock, *self.folder.glob(".s.PGSQL.*.lock")):
            left.unlink(missing_ok=True)


def _stat(process: Path) -> list[str]:
    """Return the state of a process, its parent and so on; nothing of one that is gone."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def lacking(told: str) -> NoReturn:
    """Skip what needs another program; CI installs them, there this is a failure."""
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(told)


def as_user() -> list[str]:
    """Return what a command begins with to run without the rights of root; skip where that is not possible."""
    if os.getuid() != 0:
        return []
    # Not on every system.
    import pwd

    if shutil.which("setpriv") is None:
        lacking("no setpriv to run it by as another user than root; Debian: apt-get install util-linux")
    return ["setpriv", "--reuid", USER, "--regid", str(pwd.getpwnam(USER).pw_gid), "--clear-groups"]


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


@contextmanager
def server() -> Iterator[Server]:
    """Run a server of its own; skip where its programs are not installed."""
    found = programs()
    missing = sorted(set(PROGRAMS) - set(found))
    if missing:
        lacking(f"PostgreSQL is not installed (no {', '.join(missing)}); Debian: apt-get install postgresql")
    become = as_user()
    folder = Path(tempfile.mkdtemp(prefix="nereval-pg-", dir="/tmp"))
    if become:
        shutil.chown(folder, USER)
    made = ("-U", "nereval", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
    # What was written outlives a killed server in the system's memory: only a power cut would need fsync.
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=50 -c fsync=off"
    started = Server(f"postgresql://nereval@/postgres?host={folder}", folder, (*become, found["pg_ctl"]), options)
    try:
        run(folder, *become, found["initdb"], "-D", str(folder / "data"), *made)
        started.start()
        yield started
    finally:
        with suppress(AssertionError):
            started.control("-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def emptied(store: ReviewStore) -> ReviewStore:
    """Return a store after taking all tables of its database away."""
    with store.database.writing() as connection:
        METADATA.drop_all(connection)
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {REVISION.name}")
    return store
