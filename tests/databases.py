"""Databases to keep verdicts in: SQLite's file, and a PostgreSQL server that tests start where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAMS = "initdb", "pg_ctl", "postgres"
USER = "nobody"
"""PostgreSQL refuses to run as root: as root, the tests run it as this user."""


def programs() -> dict[str, str]:
    """Return PostgreSQL's programs by name; Debian keeps them out of the path."""
    folders = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
    path = os.pathsep.join([os.environ.get("PATH", ""), *folders])
    return {name: found for name in PROGRAMS if (found := shutil.which(name, path=path))}


@contextmanager
def postgres() -> Iterator[str]:
    """Run a server of its own and yield the URL of an empty database; skip where its programs are not installed."""
    found = programs()
    missing = sorted(set(PROGRAMS) - set(found))
    if missing:
        told = f"PostgreSQL is not installed (no {', '.join(missing)}); Debian: apt-get install postgresql"
        # CI installs it: there this is a failure.
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(told)
    folder = Path(tempfile.mkdtemp(prefix="nereval-pg-", dir="/tmp"))
    data, sockets = folder / "data", folder
    become: list[str] = []
    if os.getuid() == 0:
        shutil.chown(folder, USER)
        become = ["setpriv", "--reuid", USER, "--regid", str(folder.stat().st_gid), "--clear-groups"]

    def run(*command: str) -> None:
        done = subprocess.run(
            [*become, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout

    log = folder / "log"
    try:
        run(found["initdb"], "-D", str(data), "-U", "nereval", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
        options = f"-c listen_addresses='' -c unix_socket_directories={sockets} -c max_connections=50"
        run(found["pg_ctl"], "-D", str(data), "-l", str(log), "-w", "-o", options, "start")
        yield f"postgresql://nereval@/postgres?host={sockets}"
    finally:
        subprocess.run(
            [*become, found["pg_ctl"], "-D", str(data), "-m", "immediate", "stop"], capture_output=True, timeout=60
        )
        shutil.rmtree(folder, ignore_errors=True)
