"""The databases that may hold verdicts, SQLite and PostgreSQL: opening, locking, and their errors in plain words.

SQLite writes each commit into its file and waits for the disk (`synchronous=EXTRA`), so that acknowledged verdicts
outlive a killed process. It keeps no log of commits beside the file (WAL), as earlier versions had it: of a damaged one
it drops the rest without a word, and a chain of rows tells gaps, not a lost end. Its journal holds the pages as they
were before a commit that is not done. A commit waits for the disk five times where a log waits once, which is 2.8 ms a
verdict in place of 1.3 on a quiet machine. Only one writer works at a time, in SQLite by its own lock, in PostgreSQL by
an advisory lock, so that verdicts are numbered in the order of their commits.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakSet

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.pool import NullPool

from nereval_core.problems import FormatError, one_line
from nereval_core.readers.input.temporaries import foreign_place, private_folder

VARIABLE = "NEREVAL_REVIEW_URL"
FILE = "review.sqlite"
WRITER_WAIT_SECONDS: float = 30
"""Seconds that a writer waits for the lock before the database is reported as busy."""
SILENT_WRITER_SECONDS = 300
"""Seconds after which a server ends the transaction of a silent writer, which holds up the others."""
CONNECT_SECONDS = 5
"""Seconds in which a server must answer: pages wait for it."""
LOGS = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite may keep beside a database; one of another database would be taken for this one's.

The first two are those of a file of earlier versions, which is converted when it is first opened by nobody else.
"""
_LOCK = 0x6E657265
"""The advisory lock of PostgreSQL under which verdicts are written: an arbitrary, constant number."""
_WRITES = "nereval_writes"
_SECRETS = ("password", "sslpassword", "passfile")


def default_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the default file of verdicts, in the user's data directory."""
    home = Path("~").expanduser()
    if sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        folder = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    return folder / "nereval" / FILE


class Database:
    """A database: `file` is the SQLite file, None for a server; `name` is free of passwords.

    Its transactions turn errors of the database into FormatError, one line each.
    """

    def __init__(self, where: str | Path) -> None:
        """Name a database by its URL, or a SQLite file by its path; nothing is opened yet.

        Raises:
            FormatError: the URL is invalid or of another kind of database, or its driver is not installed.
        """
        plain = isinstance(where, Path) or "://" not in where
        url = None if plain else _url(str(where))
        self.file = _file(url.database or "" if url else where) if url is None or _of_sqlite(url) else None
        if self.file is not None:
            self.engine = _sqlite(self.file)
            self.name = str(self.file)
        else:
            assert url is not None
            self.engine = _postgres(url)
            public_url = url.difference_update_query(_SECRETS).set(drivername="postgresql")
            self.name = public_url.render_as_string(hide_password=True)
        self._opened: tuple[int, int] | None = None
        self._whole = False
        # Looking at the file and comparing are one step: else a thread that saw no file compares it with the file that
        # another thread has made meanwhile.
        self._identity_lock = Lock()

    @contextmanager
    def reading(self, *, one_moment: bool = False) -> Iterator[Connection | None]:
        """Open a transaction that only reads; None where nothing was ever written.

        With `one_moment`, all its queries see what was committed before the first, as those of SQLite always do.
        """
        with self._told(), ExitStack() as stack:
            if self.file is None:
                connection = stack.enter_context(self.engine.connect())
                if one_moment:
                    connection = connection.execution_options(isolation_level="REPEATABLE READ")
                stack.enter_context(connection.begin())
                yield connection
            elif not self.file.exists():
                self._is_the_same()
                yield None
            else:
                self._is_the_same()
                connection = self._looked_into(self.file, stack)
                self._refuse_damage(connection)
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that writes, one at a time: others wait."""
        with self._told():
            if self.file is not None:
                self._is_the_same()
                private_folder(self.file.parent)
                # SQLite gives its log beside the file the rights of the file.
                with suppress(FileExistsError):
                    os.close(os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                    self._is_the_same()
            with self.engine.connect().execution_options(**{_WRITES: True}) as connection, connection.begin():
                if self.file is None:
                    _stand_in_line(connection)
                else:
                    self._is_the_same()
                    self._refuse_damage(connection)
                yield connection

    def close(self) -> None:
        self.engine.dispose()

    def _looked_into(self, file: Path, stack: ExitStack) -> Connection:
        """Open a SQLite file; where no log can be made beside it and nobody has it open, read it without locks."""
        logs = [file.with_name(file.name + ending) for ending in ("-wal", "-shm")]
        with ExitStack() as opened:
            try:
                connection = opened.enter_context(self.engine.connect())
                opened.enter_context(connection.begin())
                # Only a question makes SQLite open its files.
                connection.exec_driver_sql("SELECT 1 FROM sqlite_master LIMIT 1").all()
            except DBAPIError as error:
                code = str(getattr(error.orig, "sqlite_errorname", ""))
                if not code.startswith(_NO_LOG) or any(log.exists() for log in logs):
                    raise
            else:
                stack.push(opened.pop_all())
                return connection
        connection = stack.enter_context(_untouched(file).connect())
        stack.enter_context(connection.begin())
        return connection

    def _is_the_same(self) -> None:
        """Refuse a file that has replaced the open one: anything written to the open one would be lost."""
        assert self.file is not None
        with self._identity_lock:
            status = self.file.stat() if self.file.exists() else None
            if status is not None and not stat.S_ISREG(status.st_mode):
                what = "a folder stands there" if stat.S_ISDIR(status.st_mode) else "this is not an ordinary file"
                raise FormatError.single(self.name, None, what, "name a file")
            now = (status.st_dev, status.st_ino) if status is not None else None
            if self._opened is None:
                if reason := foreign_file(self.file):
                    raise FormatError.single(self.name, None, reason, FOREIGN)
                if has_lone_log(self.file):
                    raise FormatError.single(self.name, None, *LONE_LOG)
                self._opened = now
            elif self._opened != now:
                what = "the file was removed, or another one put in its place, while it was open"
                raise FormatError.single(self.name, None, what, "start nereval again")

    def _refuse_damage(self, connection: Connection) -> None:
        """Refuse a SQLite file that is damaged, once: SQLite itself passes over rows in damaged pages.

        It takes a second for 100,000 verdicts, a tenth of the time in which they are read. A whole file is kept from
        other accounts. Only SQLite may open it: whoever else closes it takes the locks of this process from SQLite.
        """
        if not self._whole:
            if connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar() != "ok":
                raise FormatError.single(self.name, None, *DAMAGED)
            assert self.file is not None
            _take_rights(self.file)
            self._whole = True

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError:
            # Not a fault of the database: whoever wrote knows what it means.
            raise
        except DBAPIError as error:
            raise FormatError.single(self.name, None, *fault(error)) from error
        except NoConnectionError as error:
            finding = f"too many read and write at once, {LOST}"
            raise FormatError.single(self.name, None, finding, "try again") from error
        except UnicodeDecodeError as error:
            # The driver fails on what SQLite says of a damaged file, where that is not UTF-8.
            raise FormatError.single(self.name, None, *DAMAGED) from error
        except OSError as error:
            raise FormatError.single(self.name, None, str(error.strerror or error), "name another file") from error


def has_lone_log(file: Path) -> bool:
    """Return whether the log of a SQLite file has verdicts while the file is empty or gone: opening would remove it."""
    log = file.with_name(file.name + "-wal")
    return log.exists() and log.stat().st_size > 0 and not (file.exists() and file.stat().st_size)


def foreign_file(file: Path) -> str:
    """Return why a SQLite file, there or not, is not to be used, "" where it may be.

    The default file and its folder are this account's. Elsewhere a team may share one, but not with all accounts.
    """
    shared = file != default_file().absolute()
    if reason := foreign_place(file.parent, shared=shared):
        return f"verdicts are not kept in this folder: {reason}"
    # SQLite takes the journal that it finds beside a file for its own, whoever laid it there.
    if hasattr(os, "geteuid") and file.parent.exists() and file.parent.stat().st_mode & stat.S_IWOTH:
        return "verdicts are not kept in this folder: every account may add files to it"
    reason = foreign_place(file, shared=shared)
    return f"the file is not used: {reason}" if reason else ""


def _take_rights(file: Path) -> None:
    """Remove the rights of other accounts on an existing file and its log, because verdicts quote the texts.

    At the default place, rights of its group and on its folder are removed too; elsewhere the owner may share the file
    with a group.
    """
    ours = file == default_file().absolute()
    removed_rights = 0o077 if ours else 0o007
    for place in (
        file,
        *(file.with_name(file.name + ending) for ending in LOGS),
        *([file.parent] if ours else []),
    ):
        # Only the owner may do so: to all others it stays as it is.
        with suppress(OSError):
            mode = stat.S_IMODE(place.stat().st_mode)
            if mode & removed_rights:
                place.chmod(mode & ~removed_rights)


_NO_LOG = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR_SHM", "SQLITE_FULL")


def _url(where: str) -> URL:
    try:
        where.encode()
        url = make_url(where)
    except (ArgumentError, ValueError) as error:
        remedy = f"write {VARIABLE} as postgresql://user:password@host/database"
        raise FormatError.single(VARIABLE, None, "no URL of a database", remedy) from error
    kind = url.get_backend_name()
    if kind not in ("sqlite", "postgresql", "postgres"):
        raise FormatError.single(VARIABLE, None, f"a database of the kind {kind}", "use PostgreSQL or SQLite")
    if _of_sqlite(url) and (url.query or url.host or url.database in (None, "", ":memory:")):
        finding = "a URL of SQLite that is more than the path of a file"
        raise FormatError.single(VARIABLE, None, finding, "write sqlite:////folder/file, or the path alone")
    return url if kind == "sqlite" else url.set(drivername="postgresql+psycopg")


def _of_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def _file(where: str | Path) -> Path:
    with suppress(RuntimeError):
        # There may be no home.
        where = Path(where).expanduser()
    if "\0" in str(where):
        raise FormatError.single(VARIABLE, None, "a path with a NUL", "name a file")
    # The place stays where it is, wherever the process goes; and a name is never taken for one of SQLite's own.
    return Path(where).absolute()


def _sqlite(file: Path) -> Engine:
    arguments = {"timeout": WRITER_WAIT_SECONDS, "factory": _SqliteConnection}
    engine = create_engine(URL.create("sqlite", database=str(file)), connect_args=arguments)
    event.listen(engine, "connect", _connected)
    event.listen(engine, "begin", _begins)
    event.listen(engine, "checkin", _given_back)
    return engine


class _SqliteConnection(sqlite3.Connection):
    """A connection that knows its cursors: a query that is not read to its end locks the file past its transaction."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def cursor(self, factory: Any = sqlite3.Cursor) -> Any:
        cursor = super().cursor(factory)
        self.cursors.add(cursor)
        return cursor


def _untouched(file: Path) -> Engine:
    """Return an engine that reads a file without locks and log."""
    address = f"{file.as_uri()}?mode=ro&immutable=1"
    return create_engine("sqlite://", creator=lambda: sqlite3.connect(address, uri=True), poolclass=NullPool)


def _postgres(url: URL) -> Engine:
    arguments = {
        "connect_timeout": CONNECT_SECONDS,
        "client_encoding": "utf8",
        # A server that vanished without a word is given up.
        "keepalives_idle": round(WRITER_WAIT_SECONDS),
        "tcp_user_timeout": round(WRITER_WAIT_SECONDS * 1000),
    }
    defaults = {name: value for name, value in arguments.items() if name not in url.query}
    try:
        # A server that was started again has closed the connections that were kept. Each statement sees what was
        # committed before it, whatever the server takes by default: the line that writers stand in rests on it.
        return create_engine(url, pool_pre_ping=True, isolation_level="READ COMMITTED", connect_args=defaults)
    except ModuleNotFoundError as error:
        remedy = "pip install 'psycopg[binary]'"
        raise FormatError.single(VARIABLE, None, "PostgreSQL's driver is not installed", remedy) from error


def _stand_in_line(connection: Connection) -> None:
    """Begin a writing transaction of PostgreSQL: one query takes the lock and makes settings for it alone."""
    connection.execute(
        _IN_LINE,
        {"wait": str(round(WRITER_WAIT_SECONDS * 1000)), "pause": str(SILENT_WRITER_SECONDS * 1000), "lock": _LOCK},
    )


_IN_LINE = text(
    "SELECT set_config('lock_timeout', :wait, true), set_config('idle_in_transaction_session_timeout', :pause, true), "
    "pg_advisory_xact_lock(:lock)"
)


def _connected(connection: sqlite3.Connection, record: Any) -> None:
    # Transactions begin by `_begins`, not when the driver thinks fit.
    connection.isolation_level = None
    cursor = connection.cursor()
    # A file that cannot be written stays as it is, and can be read.
    with suppress(sqlite3.OperationalError):
        cursor.execute("PRAGMA journal_mode=DELETE")
    # Also for the folder, from which the journal of a commit is removed.
    cursor.execute("PRAGMA synchronous=EXTRA")
    cursor.close()


def _begins(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _given_back(connection: _SqliteConnection | None, record: Any) -> None:
    for cursor in () if connection is None else tuple(connection.cursors):
        cursor.close()


LOST = "and nothing was kept"

LONE_LOG = (
    "the file is empty or gone, and its log is there",
    "restore the file, or move the log away: it ends in -wal",
)

FOREIGN = "make file and folder this account's, or name another file"
"""The remedy for verdicts that others may change."""

DAMAGED = ("the file is damaged", "restore a copy, or name another file")

_SQLITE = (
    ("SQLITE_FULL", f"the disk is full, {LOST}", "make room and try again"),
    ("SQLITE_READONLY_DIRECTORY", f"its folder cannot be written, {LOST}", "make it writable, or name another file"),
    ("SQLITE_READONLY", f"the file cannot be written, {LOST}", "make it writable, or name another one"),
    ("SQLITE_BUSY", f"another transaction locks it, {LOST}", "try again"),
    ("SQLITE_NOTADB", "this is not a database of SQLite", "name another file"),
    ("SQLITE_CORRUPT", *DAMAGED),
    ("SQLITE_CANTOPEN", "the file cannot be opened", "check its rights and those of its folder"),
    ("SQLITE_IOERR_SHM", "there is no room for the log beside the file", "make room and try again"),
    ("SQLITE_IOERR", "the disk failed", "check it and try again"),
)
_POSTGRES = (
    ("53100", f"the server's disk is full, {LOST}", "make room and try again"),
    ("25006", f"the server takes no changes now, {LOST}", "try again, or ask who runs it"),
    ("25P03", f"the server has given up waiting, {LOST}", "try again"),
    ("55P03", f"another transaction locks it, {LOST}", "try again"),
    ("42501", "this user has no right to do this", "grant it the rights on the schema and its tables"),
    ("42P01", "the tables are gone", "restore them"),
    ("22P05", f"the database does not hold all characters, {LOST}", "use one whose encoding is UTF8"),
    ("57P", "the server is going down or starting", "try again"),
    ("53", "the server has no room for one more", "try again, or ask who runs it"),
)
_OTHERS = "already exists"


def fault(error: DBAPIError) -> tuple[str, str]:
    """Return the finding and the remedy for an error of a database."""
    sqlite = str(getattr(error.orig, "sqlite_errorname", ""))
    state = str(getattr(error.orig, "sqlstate", "") or "")
    for code, finding, remedy in _SQLITE:
        if sqlite.startswith(code):
            return finding, remedy
    for code, finding, remedy in _POSTGRES:
        if state.startswith(code):
            return finding, remedy
    message = str(error.orig).strip() or type(error.orig).__name__
    message = one_line(message.splitlines()[0])
    if state in ("42P07", "42710") or (sqlite == "SQLITE_ERROR" and _OTHERS in message):
        return f"{message}, and is not nereval's", "name another database"
    return message, "check that the database runs and can be reached"
