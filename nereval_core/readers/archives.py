"""The files of a zip, which may come from anywhere."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import PurePosixPath

from nereval_core.errors import FormatError, Problem, quoted
from nereval_core.readers.origins import BROKEN, EXPANDED_BYTES, RATIO, InZip

ZIP_FILES = 200_000
"""How many files a zip may hold."""


def zipped(shown: str, raw: bytes) -> list[tuple[str, str, InZip]]:
    """Return name, name in problems and bytes of the files of a zip, without the one folder they may all lie in.

    Raises:
        FormatError: broken, or not safe: it would leave its place or outgrow the machine.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(raw))
        entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
    except BROKEN as error:
        raise FormatError.single(shown, None, f"not a readable zip: {error}", "pack it again") from None
    if len(entries) > ZIP_FILES:
        raise FormatError.single(shown, None, f"{len(entries)} files", f"pack at most {ZIP_FILES} files")
    total = sum(entry.file_size for entry in entries)
    if total > EXPANDED_BYTES:
        found = f"{total} bytes when expanded"
        raise FormatError.single(shown, None, found, f"pack at most {EXPANDED_BYTES} bytes, or give the folder")
    problems = []
    kept: list[tuple[tuple[str, ...], zipfile.ZipInfo]] = []
    for entry in entries:
        name = entry.filename.replace("\\", "/")
        parts = PurePosixPath(name).parts
        if (
            not parts
            or name.startswith("/")
            or ".." in parts
            or ":" in parts[0]
            or stat.S_ISLNK(entry.external_attr >> 16)
        ):
            problems.append(Problem(shown, None, f"the entry {quoted(name)} leads outside", "pack plain files only"))
        elif entry.flag_bits & 1:
            problems.append(Problem(shown, None, f"the entry {quoted(name)} is encrypted", "pack without a password"))
        elif entry.file_size > max(1 << 20, RATIO * entry.compress_size):
            found = f"the entry {quoted(name)} expands from {entry.compress_size} to {entry.file_size} bytes"
            problems.append(Problem(shown, None, found, "give the file unpacked"))
        elif parts[0] != "__MACOSX" and not any(part.startswith(".") for part in parts):
            kept.append((parts, entry))
    if problems:
        raise FormatError(problems)
    tops = {parts[0] for parts, _ in kept}
    inside = 1 if len(tops) == 1 and all(len(parts) > 1 for parts, _ in kept) else 0
    return [
        ("/".join(parts[inside:]), f"{shown}/{'/'.join(parts)}", InZip(archive, entry, shown)) for parts, entry in kept
    ]
