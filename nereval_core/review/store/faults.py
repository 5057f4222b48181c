"""What databases say when something is wrong, in plain words: what was found, and how to mend it."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

from nereval_core.problems import one_line

LOST = "and nothing was kept"

DAMAGED = ("the file is damaged", "restore a copy, or name another file")

_SQLITE = (
    ("SQLITE_FULL", f"the disk is full, {LOST}", "make room and try again"),
    ("SQLITE_READONLY_DIRECTORY", f"its folder cannot be written, {LOST}", "make it writable, or name another file"),
    ("SQLITE_READONLY", f"the file cannot be written, {LOST}", "make it writable, or name another one"),
    ("SQLITE_BUSY", f"another process is writing, {LOST}", "try again"),
    ("SQLITE_NOTADB", "this is no database of SQLite", "name another file"),
    ("SQLITE_CORRUPT", *DAMAGED),
    ("SQLITE_CANTOPEN", "the file cannot be opened", "check its rights and those of its folder"),
    ("SQLITE_IOERR_SHM", "there is no room for the log beside the file", "make room and try again"),
    ("SQLITE_IOERR", "the disk failed", "check it and try again"),
)
_POSTGRES = (
    ("53100", f"the server's disk is full, {LOST}", "make room and try again"),
    ("25006", f"the server takes no changes now, {LOST}", "try again, or ask who runs it"),
    ("25P03", f"the server has given up waiting, {LOST}", "try again"),
    ("55P03", f"another process is writing, {LOST}", "try again"),
    ("42501", "this user has no right to do this", "grant it the rights on the schema and its tables"),
    ("42P01", "the tables are gone", "restore them"),
    ("22P05", f"the database does not hold all characters, {LOST}", "use one whose encoding is UTF8"),
    ("57P", "the server is going down or starting", "try again"),
    ("53", "the server has no room for one more", "try again, or ask who runs it"),
)
_OTHERS = "already exists"


def fault(error: DBAPIError) -> tuple[str, str]:
    """Return what went wrong and how to mend it."""
    sqlite = str(getattr(error.orig, "sqlite_errorname", ""))
    state = str(getattr(error.orig, "sqlstate", "") or "")
    for code, found, remedy in _SQLITE:
        if sqlite.startswith(code):
            return found, remedy
    for code, found, remedy in _POSTGRES:
        if state.startswith(code):
            return found, remedy
    said = str(error.orig).strip() or type(error.orig).__name__
    said = one_line(said.splitlines()[0])
    if state in ("42P07", "42710") or (sqlite == "SQLITE_ERROR" and _OTHERS in said):
        return f"{said}, and is not nereval's", "name another database"
    return said, "check that the database runs and can be reached"
