"""Opening files and folders inside one folder only, whatever links there are and whoever swaps them meanwhile.

A link that is checked first and followed later may lead elsewhere by then. So a path is resolved, and the result, in
which no link is left, is opened folder by folder, each relative to the one before (`dir_fd`) and none through a link
(`O_NOFOLLOW`): a link that was put there after the path was resolved is refused. Systems without these (Windows) check
the resolved path and open it.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import PurePath
from typing import BinaryIO

from nereval_core.problems import FormatError

READ_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)
STEPWISE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd and hasattr(os, "O_NOFOLLOW")
LINK_FOUND = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)
"""The errors of systems that find a link where none may be followed."""

AnyPath = str | os.PathLike[str]


def open_file(path: AnyPath, within: AnyPath | None = None) -> BinaryIO:
    """Return a file opened to read its bytes, without a buffer.

    Raises:
        FormatError: as `open_descriptor`.
        OSError: it cannot be read.
    """
    handle = open_descriptor(path, within)
    try:
        return os.fdopen(handle, "rb", buffering=0)
    except OSError:
        os.close(handle)
        raise


def folder_entries(path: AnyPath, within: AnyPath | None = None) -> list[tuple[str, str]]:
    """Return name and kind ("file", "folder", "" for links and all else) of the entries of a folder.

    Raises:
        FormatError: as `open_descriptor`.
        OSError: it cannot be read.
    """
    if within is None or not STEPWISE:
        return _entries(path if within is None else resolve_inside(path, within))
    handle = open_descriptor(path, within)
    try:
        return _entries(handle)
    finally:
        os.close(handle)


def open_descriptor(path: AnyPath, within: AnyPath | None = None) -> int:
    """Return a descriptor to read a file or folder by; with `within`, of one in that folder.

    Raises:
        FormatError: it lies outside, is neither a file nor a folder, or a link was swapped meanwhile.
        OSError: it cannot be read.
    """
    if within is None:
        return os.open(path, READ_FLAGS)
    place = resolve_inside(path, within)
    if not STEPWISE:
        return os.open(place, READ_FLAGS)
    top = os.path.realpath(within)
    steps = PurePath(place).relative_to(top).parts
    handle = os.open(top, READ_FLAGS | os.O_DIRECTORY)
    try:
        for number, step in enumerate(steps, 1):
            # Neither a pipe nor a device may keep us waiting.
            flags = os.O_NONBLOCK if number == len(steps) else os.O_DIRECTORY
            inner = os.open(step, READ_FLAGS | os.O_NOFOLLOW | flags, dir_fd=handle)
            os.close(handle)
            handle = inner
        mode = os.fstat(handle).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise FormatError.single(
                shown_path(path, within), None, "neither a file nor a folder", "give a file or a folder"
            )
    except BaseException as error:
        os.close(handle)
        if isinstance(error, OSError) and error.errno in LINK_FOUND:
            finding = "a link on its way was changed while it was opened"
            raise FormatError.single(shown_path(path, within), None, finding, "try again") from None
        raise
    return handle


def is_inside(path: AnyPath, within: AnyPath) -> bool:
    """Return whether a path leads into a folder now; only opening it tells for certain."""
    return PurePath(os.path.realpath(path)).is_relative_to(os.path.realpath(within))


def shown_path(path: AnyPath, within: AnyPath | None) -> str:
    """Return what problems call a path: its way from the folder `within`, whose own place is nobody's concern."""
    name = os.fspath(path)
    return name if within is None else name.removeprefix(os.path.join(within, ""))  # noqa: PTH118


def resolve_inside(path: AnyPath, within: AnyPath) -> str:
    """Return the resolved path.

    Raises:
        FormatError: it lies outside.
    """
    place = os.path.realpath(path)
    if not is_inside(place, within):
        raise FormatError.single(
            shown_path(path, within), None, "outside the folder being served", "choose a path inside it"
        )
    return place


def _entries(folder: AnyPath | int) -> list[tuple[str, str]]:
    with os.scandir(folder) as entries:
        # Most entries are plain files, which is known without asking the system.
        return [
            (
                entry.name,
                "file"
                if entry.is_file(follow_symlinks=False)
                else "folder"
                if entry.is_dir(follow_symlinks=False)
                else "",
            )
            for entry in entries
        ]
