"""Temporary files and folders of ours: each is locked as long as its process lives, and the next one removes the rest.

A temporary is named `[.NAME.]nereval-HOST-RANDOM`, beside the file that it is to replace or in the system's folder.
Whoever can take the lock (`flock`) of one that belongs to this account knows that its process is gone. Some network
disks lock for one machine alone: what another HOST made is left alone for a day. Where there are no such locks
(Windows), nothing is removed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
"""The modes of what we keep: corpora, verdicts and counts quote texts that are nobody else's business."""
COMMON_FILE, COMMON_FOLDER = 0o666, 0o777
"""The modes, less the umask, of outputs that users named."""
NAMED_CHARACTERS = 40
"""Characters of a file's name that the name of its temporary repeats."""
OTHER_HOST_SECONDS = 24 * 3600
"""Seconds for which the temporaries of other machines are left alone."""
RESUMABLE_SECONDS = 7 * 24 * 3600
"""Seconds for which the work of a killed process is kept for one that goes on with it."""
_OURS = re.compile(r"(?:.*\.)?nereval-([0-9a-f]{8})-[0-9a-z_]{8}", re.DOTALL)
_swept: set[Path] = set()


class TemporaryFolder(tempfile.TemporaryDirectory[str]):
    """A private folder in the system's, removed at the latest at the end of the process, or by the next one."""

    def __init__(self, *, sweep: bool = True) -> None:
        """Make the folder, and `sweep` away first what killed processes left."""
        if sweep:
            _sweep_once(Path(tempfile.gettempdir()))
        while True:
            super().__init__(prefix=_prefix(), ignore_cleanup_errors=True)
            lock = _open(Path(self.name))
            if lock is None:
                break
            weakref.finalize(self, os.close, lock)
            if _lock(lock, Path(self.name)):
                break


@contextmanager
def replaced_file(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a file to write to, which replaces the given one at the end; after an error it is removed.

    Its mode is that of a `private` file, or what the umask leaves.

    Raises:
        OSError: it cannot be written.
    """
    _sweep_once(path.parent)
    mode = PRIVATE_FILE if private else COMMON_FILE
    while True:
        place = path.with_name(f".{path.name[:NAMED_CHARACTERS]}.{_prefix()}{secrets.token_hex(4)}")
        lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode)
        if _lock(lock, place):
            break
        os.close(lock)
    if fcntl is None:
        # There, an open file cannot be renamed.
        os.close(lock)
    try:
        yield place
        place.replace(path)
    finally:
        place.unlink(missing_ok=True)
        if fcntl is not None:
            os.close(lock)


@contextmanager
def replaced_folder(path: Path) -> Iterator[Path]:
    """Yield a folder to fill, which takes the place of an empty one, or of none, at the end; after an error it goes.

    Raises:
        OSError: it cannot be written.
    """
    _sweep_once(path.parent)
    with _locked_folder(path.parent, f".{path.name[:NAMED_CHARACTERS]}.", COMMON_FOLDER) as place:
        try:
            yield place
            if path.is_dir():
                path.rmdir()
            place.replace(path)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise


@contextmanager
def resumable_folder(root: Path, name: str) -> Iterator[Path]:
    """Yield a private folder for work of this name, with what a killed process left of it; at the end it is removed.

    After an error it stays, for RESUMABLE_SECONDS.

    Raises:
        OSError: the root cannot be written to, or is one that others may change.
    """
    private_folder(root)
    if reason := foreign_place(root):
        raise PermissionError(errno.EPERM, reason, str(root))
    remove_abandoned(root, older=RESUMABLE_SECONDS)
    for path in sorted(root.glob(f"{name}.*")):
        lock = _claim(path)
        if lock is not None:
            try:
                yield path
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
            return
    with _locked_folder(root, f"{name}.", PRIVATE_FOLDER) as place:
        yield place
        shutil.rmtree(place, ignore_errors=True)


def private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this account alone.

    Raises:
        OSError: it cannot be made.
    """
    if not folder.parent.exists():
        private_folder(folder.parent)
    folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def foreign_place(place: Path, *, shared: bool = False) -> str:
    """Return why a file or folder is not to be relied on, "" where it may be, or nothing stands there.

    It, and a link that leads to it, belong to this account or to root, unless it is `shared` with others. Not every
    account may write to it; in a folder with the sticky bit they cannot change what is ours, and from a file of ours
    the right is taken.
    """
    # Windows has no such owners and modes.
    if not hasattr(os, "geteuid"):
        return ""
    try:
        link = place.lstat()
    except OSError:
        return ""
    # A link may lead to nothing yet.
    status = link
    with suppress(OSError):
        status = place.stat()
    if not (shared or {link.st_uid, status.st_uid} <= {os.geteuid(), 0}):
        return "it belongs to another account"
    is_safe = status.st_mode & stat.S_ISVTX if stat.S_ISDIR(status.st_mode) else status.st_uid == os.geteuid()
    is_open = status.st_mode & stat.S_IWOTH and not stat.S_ISLNK(status.st_mode)
    return "every account may write to it" if is_open and not is_safe else ""


def is_own_file(status: os.stat_result) -> bool:
    """Return whether a file is an ordinary one of this account or root, and no link."""
    return stat.S_ISREG(status.st_mode) and (not hasattr(os, "geteuid") or status.st_uid in (os.geteuid(), 0))


def read_own_file(path: Path) -> bytes:
    """Return the content of an ordinary file of this account or root.

    Raises:
        OSError: it cannot be read, or is another account's, a link, or no file; a pipe is not waited for.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not is_own_file(os.fstat(file.fileno())):
            raise PermissionError(errno.EPERM, "it is not a file of this account", str(path))
        return file.read()


def abandoned(folder: Path, *, older: float = 0) -> list[Path]:
    """Return the temporaries in a folder whose processes are gone, and that nobody wrote to for so many seconds."""
    paths = []
    for path, lock in _abandoned(folder, older):
        os.close(lock)
        paths.append(path)
    return paths


def remove_abandoned(folder: Path, *, older: float = 0) -> list[Path]:
    """Remove the temporaries that `abandoned` returns, and return those that are gone."""
    removed = []
    for path, lock in _abandoned(folder, older):
        try:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink()
            if not path.exists():
                removed.append(path)
        finally:
            os.close(lock)
    return removed


def is_temporary(name: str) -> bool:
    """Return whether a file or folder of this name is a temporary of ours."""
    return _OURS.fullmatch(name) is not None


def _sweep_once(folder: Path) -> None:
    """Remove what killed processes left in a folder, when this one first works there."""
    if folder not in _swept:
        _swept.add(folder)
        remove_abandoned(folder)


def _abandoned(folder: Path, older: float) -> Iterator[tuple[Path, int]]:
    """Yield the temporaries of killed processes with a descriptor that holds the lock."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if is_temporary(entry.name))
    except OSError:
        return
    for name in names:
        path = folder / name
        lock = _claim(path, older)
        if lock is not None:
            yield path, lock


def _claim(path: Path, older: float = 0) -> int | None:
    """Return a descriptor that holds the lock of a temporary whose process is gone; else None."""
    match = _OURS.fullmatch(path.name)
    lock = _open(path) if match is not None else None
    if match is None or lock is None:
        return None
    status = os.fstat(lock)
    least = older if match[1] == _host() else max(older, OTHER_HOST_SECONDS)
    kind = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    if (
        kind
        and status.st_uid == os.geteuid()
        and time.time() - status.st_mtime >= least
        and _lock(lock, path, wait=False)
    ):
        return lock
    os.close(lock)
    return None


@contextmanager
def _locked_folder(parent: Path, start: str, mode: int) -> Iterator[Path]:
    while True:
        place = parent / f"{start}{_prefix()}{secrets.token_hex(4)}"
        place.mkdir(mode)
        lock = _open(place)
        if lock is None or _lock(lock, place):
            break
        os.close(lock)
    try:
        yield place
    finally:
        if lock is not None:
            os.close(lock)


def _open(path: Path) -> int | None:
    """Return a descriptor of a file or folder to lock it by, None where it is gone or there are no locks."""
    if fcntl is None:
        return None
    with suppress(OSError):
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    return None


def _lock(descriptor: int, path: Path, *, wait: bool = True) -> bool:
    """Lock a file or folder, and return whether it still stands where it was opened: who held the lock may remove it.

    Where the disk knows no locks, nobody will ever get one.
    """
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return wait
        with suppress(OSError):
            return os.path.samestat(os.fstat(descriptor), path.lstat())
        return False
    return True


def _prefix() -> str:
    return f"nereval-{_host()}-"


@cache
def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]
