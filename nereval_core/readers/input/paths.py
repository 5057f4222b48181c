"""Paths of input: the files of a folder, the files that belong together, and the names that they give."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from nereval_core.readers.input.compression import SUFFIXES, unpacked_name
from nereval_core.readers.input.origins import OnDisk, unreadable_file

COMPANIONS = {".ann": ".txt", ".con": ".txt"} | {
    f".{part}.{kind}": f".{companion}.{kind}"
    for kind in ("parquet", "csv", "tsv")
    for part, companion in (("spans", "texts"), ("texts", "spans"))
}
"""The ending of the file that belongs to a single file and lies beside it, by the ending of the latter."""

COMPANIONS_OF_ALL = {".xmi": "TypeSystem.xml"}
"""The name of the file that belongs to all files of an ending beside it."""

WORKBOOKS = (".xlsx", ".xlsm")
"""The endings of workbooks, whose sheets are read as CSV."""

LAYER_MARK = "#"
"""The mark between a path and the name of a layer in it: `export.json#ann`."""

STDIN_PATH = "-"
"""The path that means standard input."""


def companion_key(name: str, names: Collection[str]) -> str:
    """Return the name of the file that one belongs to, its own where it stands alone."""
    for ending, other in COMPANIONS.items():
        if name.endswith(ending):
            return min(name, name.removesuffix(ending) + other)
    annotations = name.removesuffix(".txt") + ".ann"
    if name.endswith(".txt") and annotations in names:
        return annotations
    return next((shared for ending, shared in COMPANIONS_OF_ALL.items() if name.endswith((ending, shared))), name)


def split_layer(path: str) -> tuple[str, str] | None:
    """Return path and layer of `PATH#LAYER`; None where all of it is a path, or no path stands before a #."""
    if LAYER_MARK not in path or Path(path).exists():
        return None
    cuts = (at for at, char in enumerate(path) if char == LAYER_MARK and at + 1 < len(path))
    return next(((path[:at], path[at + 1 :]) for at in cuts if Path(path[:at]).exists()), None)


def label_of(name: str) -> str:
    """Return the name of a file without its ending, or without that of a file with a companion."""
    name = unpacked_name(name)
    ending = next((ending for ending in COMPANIONS if name.endswith(ending)), "")
    return PurePosixPath(name.removesuffix(ending)).name if ending else PurePosixPath(name).stem


def suffix_of(name: str) -> str:
    """Return the last suffix with its dot, as pathlib tells it: neither the start of a name nor a dot at its end."""
    dot = name.rfind(".")
    return name[dot:] if name.rfind("/") + 1 < dot < len(name) - 1 else ""


def files_below(root: Path, source: str, limit: str | None) -> list[tuple[str, str, OnDisk]]:
    """Return name, name in problems and origin of the files below a folder; hidden ones are passed over.

    With `limit` nothing outside that folder is reached.

    Raises:
        FormatError: a folder that cannot be read.
    """
    # Most sources are single files.
    from nereval_core.readers.input.confinement import folder_entries, is_inside

    # Without a Path for each: there may be 200,000.
    top, source_top = ("" if name == "." else name.rstrip("/") + "/" for name in (os.fspath(root), source))
    files: list[tuple[str, str, OnDisk]] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            entries = folder_entries(top + folder or ".", limit)
        except OSError as error:
            raise unreadable_file(source_top + folder, error) from None
        for name, kind in entries:
            if name[0] == ".":
                continue
            inner = folder + name
            place = top + inner
            if kind == "folder":
                folders.append(inner + "/")
            elif kind == "file" or (Path(place).is_file() and (limit is None or is_inside(place, limit))):
                name = place if limit is None else source_top + inner
                files.append((unpacked_name(inner), name, OnDisk(place, name, within=limit)))
    return files


def file_with_companion(path: Path, source: str, limit: str | None) -> list[tuple[str, str, OnDisk]]:
    """Return a file as `files_below` does and, where there is one, its companion."""
    name = unpacked_name(path.name)
    files = [(name, source, OnDisk(os.fspath(path), source, within=limit))]
    ending = next((ending for ending in COMPANIONS if name.endswith(ending)), "")
    inner = name.removesuffix(ending) + COMPANIONS[ending] if ending else COMPANIONS_OF_ALL.get(suffix_of(name), "")
    if inner:
        for packed in ("", *SUFFIXES):
            beside = path.with_name(inner + packed)
            if beside.is_file() and not beside.is_symlink():
                place = os.path.join(os.path.dirname(source), beside.name)  # noqa: PTH118, PTH120
                files.append((inner, place, OnDisk(os.fspath(beside), place, within=limit)))
                break
    return files
