"""Backups of a store while others write to it: a SQLite file of one moment, checked before it gets its name."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import URL, Connection, create_engine, func, insert, select

from nereval_core.problems import FormatError
from nereval_core.readers.input.temporaries import replaced_file
from nereval_core.review.store.databases import LOGS
from nereval_core.review.store.review_store import ReviewStore
from nereval_core.review.store.schema import EVENTS, METADATA, create_tables

ROWS_AT_ONCE = 10_000
"""Rows that are copied from a server at a time."""
_LOGGED = b"\2\2"
"""What stands at the place 18 of a SQLite file whose commits go to a log."""


def back_up(store: ReviewStore, file: Path) -> int:
    """Write all verdicts and playlists to a new SQLite file, whole or not at all, and return the number of verdicts.

    The file holds what was committed at one moment, whoever writes meanwhile, and is a store itself.

    Raises:
        FormatError: there is such a file, there is nothing to copy, or the copy cannot be written or is not whole.
    """
    for ending in ("", *LOGS):
        # A name as "." has none to put an ending to, and exists.
        place = file.with_name(file.name + ending) if ending else file
        if place.exists():
            raise FormatError.single(
                str(place), None, "there is such a file, and it is not overwritten", "name a new FILE"
            )
    with store.database.reading(one_moment=True) as connection:
        if connection is None or not store.has_tables(connection):
            raise FormatError.single(store.name, None, "no verdict was ever given", "check --review")
        verdicts: int = connection.execute(select(func.count()).select_from(EVENTS)).scalar_one()
        try:
            with replaced_file(file, private=True) as place:
                if store.database.file is None:
                    _copy_rows(connection, place)
                else:
                    source = connection.connection.driver_connection
                    assert isinstance(source, sqlite3.Connection)
                    _copy_pages(source, place)
                _check(place, verdicts, str(file))
        except (OSError, sqlite3.Error) as error:
            finding = f"cannot be written: {getattr(error, 'strerror', None) or error}"
            raise FormatError.single(
                str(file), None, finding, "check the folder, its permissions and its room"
            ) from None
    return verdicts


def integrity_problem(file: str | os.PathLike[str]) -> str:
    """Return what SQLite finds wrong with a file that nobody has to write to, in one line; "" where it is whole."""
    try:
        with closing(_read_only(file)) as opened:
            result: str = opened.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        return str(error)
    except UnicodeDecodeError as error:
        # The driver fails on what SQLite says of a damaged file, where that is not UTF-8.
        return str(error.object, errors="replace")
    return "" if result == "ok" else result.splitlines()[-1]


def is_left_unfinished(file: Path) -> bool:
    """Return whether a process ended while it wrote to a SQLite file: the next who may write to it takes that back."""
    try:
        with closing(_read_only(file)) as opened:
            opened.execute("SELECT 1 FROM sqlite_master").fetchone()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return getattr(error, "sqlite_errorname", "") == "SQLITE_READONLY_ROLLBACK"
    return False


def copy_file(file: Path, place: Path) -> None:
    """Copy a SQLite file that others may write to, without a change to it.

    Raises:
        sqlite3.Error: it cannot be read, or the copy cannot be written.
    """
    with closing(_read_only(file)) as source:
        _copy_pages(source, place)


def _read_only(file: str | os.PathLike[str]) -> sqlite3.Connection:
    place = Path(file).absolute()
    is_logged = False
    with suppress(OSError), place.open("rb") as opened:
        is_logged = opened.read(20)[18:] == _LOGGED
    # Where no log lies beside such a file nobody has it open, and SQLite need not make one.
    has_log = any(place.with_name(place.name + ending).exists() for ending in LOGS)
    alone = "&immutable=1" if is_logged and not has_log else ""
    return sqlite3.connect(f"{place.as_uri()}?mode=ro{alone}", uri=True)


def _copy_pages(source: sqlite3.Connection, place: Path) -> None:
    """Copy a SQLite file as the open transaction sees it."""
    with closing(sqlite3.connect(place)) as copy:
        source.backup(copy)
        # The copy is one file, with no log beside it.
        copy.execute("PRAGMA journal_mode=DELETE")


def _copy_rows(connection: Connection, place: Path) -> None:
    """Copy the rows of a server, as the open transaction sees them."""
    engine = create_engine(URL.create("sqlite", database=str(place)))
    try:
        with engine.begin() as copy:
            create_tables(copy)
            for table in METADATA.sorted_tables:
                rows = connection.execution_options(yield_per=ROWS_AT_ONCE).execute(select(table))
                for part in rows.mappings().partitions():
                    copy.execute(insert(table), [dict(row) for row in part])
    finally:
        engine.dispose()


def _check(place: Path, verdicts: int, name: str) -> None:
    """Read the copy again.

    Raises:
        FormatError: it is damaged, or lacks verdicts.
    """
    problem = integrity_problem(place)
    if not problem:
        with closing(sqlite3.connect(place)) as copy:
            (n_copied,) = copy.execute(f"SELECT count(*) FROM {EVENTS.name}").fetchone()
        problem = "" if n_copied == verdicts else f"{n_copied} of {verdicts} verdicts"
    if problem:
        raise FormatError.single(name, None, f"the copy is not whole: {problem}", "check the disk and the store")
