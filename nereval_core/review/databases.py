"""The databases that verdicts may be kept in: how each is opened and locked, and its faults in plain words.

SQLite keeps a log beside its file (WAL) and waits for the disk at each commit (`synchronous=FULL`): what was
acknowledged outlives a killed process. Writers stand in line, in SQLite by its own lock, in PostgreSQL by an advisory
one, so that verdicts are numbered in the order in which they are committed.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError

from nereval_core.errors import FormatError, one_line

VARIABLE = "NEREVAL_REVIEW_URL"
FILE = "review.sqlite"
WAIT = 30
"""Seconds that a writer stands in line before it is told that the database is busy."""
_LOCK = 0x6E657265
"""The advisory lock of PostgreSQL under which verdicts are written: any number that is always the same."""
_WRITES = "nereval_writes"


def default_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the file in the user's data directory that verdicts go to unless told otherwise."""
    home = Path("~").expanduser()
    if sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        folder = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    return folder / "nereval" / FILE


class Database:
    """A database: `file` is that of SQLite, None for a server; `name` has no password in it.

    Its transactions turn the database's faults into FormatError, one line each.
    """

    def __init__(self, where: str | Path) -> None:
        """Name a database by its URL, or a file of SQLite by its path; nothing is opened yet.

        Raises:
            FormatError: the URL is none, or of another kind of database, or its driver is not installed.
        """
        plain = isinstance(where, Path) or "://" not in where
        url = URL.create("sqlite", database=str(Path(where).expanduser())) if plain else _url(str(where))
        self.engine = _engine(url)
        self.file = Path(url.database or "") if url.get_backend_name() == "sqlite" else None
        self.name = url.render_as_string(hide_password=True) if self.file is None else str(self.file)

    @property
    def there(self) -> bool:
        """Whether there may be anything in it: a file of SQLite is made when something is written."""
        return self.file is None or self.file.exists()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that only reads."""
        with self._told(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that writes, one at a time: others wait."""
        with self._told():
            if self.file is not None:
                self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.engine.connect().execution_options(**{_WRITES: True}) as connection, connection.begin():
                if self.file is None:
                    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
                yield connection

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError:
            # Not a fault of the database: whoever wrote knows what it means.
            raise
        except DBAPIError as error:
            raise FormatError.single(self.name, None, *_fault(error)) from error
        except OSError as error:
            raise FormatError.single(self.name, None, str(error.strerror or error), "name another file") from error


def _url(where: str) -> URL:
    try:
        url = make_url(where)
    except ArgumentError as error:
        remedy = f"write {VARIABLE} as postgresql://user:password@host/database"
        raise FormatError.single(VARIABLE, None, "no URL of a database", remedy) from error
    if url.get_backend_name() not in ("sqlite", "postgresql", "postgres"):
        name = url.get_backend_name()
        raise FormatError.single(VARIABLE, None, f"a database of the kind {name}", "use PostgreSQL or SQLite")
    return url if url.get_backend_name() == "sqlite" else url.set(drivername="postgresql+psycopg")


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"timeout": WAIT})
        event.listen(engine, "connect", _connected)
        event.listen(engine, "begin", _begins)
        return engine
    try:
        # A server that was started again has closed the connections that were kept.
        return create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": WAIT})
    except ModuleNotFoundError as error:
        remedy = "pip install 'psycopg[binary]'"
        raise FormatError.single(VARIABLE, None, "PostgreSQL's driver is not installed", remedy) from error


def _connected(connection: sqlite3.Connection, record: Any) -> None:
    # Transactions begin by `_begins`, not when the driver thinks fit.
    connection.isolation_level = None
    cursor = connection.cursor()
    # A file that cannot be written stays as it is, and can be read.
    with suppress(sqlite3.OperationalError):
        cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _begins(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_SQLITE = (
    ("SQLITE_FULL", "the disk is full, and nothing was kept", "make room and try again"),
    ("SQLITE_READONLY", "the file cannot be written, and nothing was kept", "make it writable, or name another one"),
    ("SQLITE_BUSY", "another process is writing, and nothing was kept", "try again"),
    ("SQLITE_NOTADB", "no database of SQLite", "name another file"),
    ("SQLITE_CORRUPT", "the file is damaged", "restore a copy, or name another file"),
    ("SQLITE_CANTOPEN", "the file cannot be opened", "check its folder and its rights"),
    ("SQLITE_IOERR", "the disk failed", "check it and try again"),
)
_POSTGRES = (
    ("53100", "the server's disk is full, and nothing was kept", "make room and try again"),
    ("25006", "the server takes no changes now, and nothing was kept", "try again, or ask who runs it"),
    ("42501", "this user may not write here", "grant it the rights on the schema"),
    ("42P01", "the tables are gone", "restore them"),
)


def _fault(error: DBAPIError) -> tuple[str, str]:
    """Return what went wrong and how to mend it."""
    sqlite = str(getattr(error.orig, "sqlite_errorname", ""))
    state = str(getattr(error.orig, "sqlstate", "") or "")
    for code, found, remedy in _SQLITE:
        if sqlite.startswith(code):
            return found, remedy
    for code, found, remedy in _POSTGRES:
        if state == code:
            return found, remedy
    return one_line(str(error.orig).strip().splitlines()[0]), "check that the database runs and can be reached"
