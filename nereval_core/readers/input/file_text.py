"""Text of files: encodings, lines, and the first bytes by which a format is recognised.

A head is read once, however many readers look at it. A file that no reader takes, such as another archive or a
picture, is known by its head too.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from shlex import quote
from typing import Any

from nereval_core.problems import FormatError
from nereval_core.readers.input.compression import unpacked_name
from nereval_core.readers.input.origins import ZIP

HEAD_BYTES = 1 << 16
"""The size of a head."""
OBJECT_BYTES = 1 << 24
"""The bytes of a file in which its first JSON object is followed."""
OBJECT_MARKS = 1_000_000
"""The most brackets and keys of that object: a small packed file may hold nothing else."""


FOREIGN: tuple[tuple[int, bytes, str, str], ...] = (
    # where, the bytes there, what it is, what to do instead
    (0, b"7z\xbc\xaf\x27\x1c", "an archive of 7-Zip", "pack it as zip"),
    (0, b"Rar!\x1a\x07", "a RAR archive", "pack it as zip"),
    (257, b"ustar", "a tar archive", "pack it as zip"),
    (0, b"BZh", "packed by bzip2", "pack it by gzip or Zstandard, or as zip"),
    (0, b"\xfd7zXZ\0", "packed by xz", "pack it by gzip or Zstandard, or as zip"),
    (0, b"PK\3\4", "a zip by its content", "let its name end in .zip; of a workbook, save it as .xlsx or CSV"),
    (
        0,
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old file of Office, or one with a password",
        "save it as .xlsx without, or the sheet as CSV",
    ),
    (0, b"%PDF-", "a PDF", "give a file of annotations"),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG picture", "give a file of annotations"),
    (0, b"\xff\xd8\xff", "a JPEG picture", "give a file of annotations"),
    (0, b"GIF8", "a GIF picture", "give a file of annotations"),
    (0, b"SQLite format 3\0", "a database of SQLite", "export annotations from the tool that keeps it"),
)
"""Files that no reader takes, by their first bytes."""
TARS = (".tar", ".tgz", ".tar.gz", ".tar.zst", ".tar.bz2", ".tar.xz")
"""Endings of tar archives: old ones are known by their name only."""


class Head:
    """The first bytes, lines and JSON keys of a file, each read when it is first asked for.

    `load` returns so many of the file's first bytes.
    """

    def __init__(self, load: Callable[[int], bytes]) -> None:
        self._load = load

    @cached_property
    def raw(self) -> bytes:
        """The first HEAD_BYTES bytes."""
        return self._load(HEAD_BYTES)

    @cached_property
    def text(self) -> str:
        """The text of the first HEAD_BYTES bytes; bytes that are not UTF-8 are replaced."""
        return _text(self.raw)

    @cached_property
    def lines(self) -> list[str]:
        """The first whole lines without their ends, at least one; bytes that are not UTF-8 are replaced."""
        lines = self.text.split("\n")
        if len(self.raw) == HEAD_BYTES and len(lines) > 1:
            lines.pop()
        return [line.rstrip("\r") for line in lines]

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank, "" where all are."""
        return next((line for line in self.lines if line.strip()), "")

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the first JSON object; empty where none begins the file."""
        keys, whole = _keys(self.text)
        if not whole and len(self.raw) == HEAD_BYTES:
            # A text longer than the head stands before the keys that tell one format from another.
            raw = self._load(OBJECT_BYTES)
            keys = _whole_keys(raw) or _keys(_text(raw))[0]
        return frozenset(keys)

    @cached_property
    def first_object(self) -> Mapping[str, Any] | None:
        """The first JSON object, None where it does not begin the file or the head cuts it off."""
        text = "\n".join(self.lines).lstrip("\ufeff \t\r\n")
        begin = text.find("{")
        if begin < 0 or text[:begin].strip("[ \t\r\n"):
            return None
        try:
            row, _ = json.JSONDecoder().raw_decode(text, begin)
        except (ValueError, RecursionError):
            return None
        return row if isinstance(row, dict) else None


def foreign_kind(name: str, head: bytes) -> tuple[str, str] | None:
    """Return the kind of a file that no reader reads, and the remedy; None where it may be read."""
    if name.lower().endswith(TARS):
        return "a tar archive", "pack it as zip"
    return next(((what, instead) for at, mark, what, instead in FOREIGN if head.startswith(mark, at)), None)


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace").removeprefix(UTF8_BOM)


# A string that is cut off reaches to the end: else each quote in it would be tried for the start of one.
_STRING = r'"(?P<string>[^"\\]*+(?:\\.[^"\\]*+)*+)(?:"(?P<colon>\s*:)?|\\?\Z)'
_TOKEN = re.compile(_STRING + r"|[{}\[\],]", re.DOTALL)
_TO_BRACKET = re.compile(r'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z))*+', re.DOTALL)
_OBJECT = re.compile(r"\s*(\[\s*)?\{")


def _whole_keys(raw: bytes) -> set[str]:
    """Return the keys of a file that is one JSON object, none for others: as `_keys`, thirty times as fast."""
    # It is imported where it is needed: most files are not JSON, or end their first object in the head.
    import msgspec

    try:
        return set(msgspec.json.decode(raw, type=dict[str, msgspec.Raw]))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return set()


def _keys(text: str) -> tuple[set[str], bool]:
    """Return the keys of the first object, and whether more of the text would add nothing."""
    keys: set[str] = set()
    begin = _OBJECT.match(text)
    if begin is None:
        return keys, True
    at, depth, expecting = begin.end(), 1, True
    for _ in range(OBJECT_MARKS):
        if depth > 1:
            at = _TO_BRACKET.match(text, at).end() + 1  # type: ignore[union-attr]
            if at > len(text):
                return keys, False
            depth += 1 if text[at - 1] in "{[" else -1
            continue
        token = _TOKEN.search(text, at)
        if token is None:
            return keys, False
        at, mark = token.end(), token[0][0]
        if mark == '"':
            if expecting and token["colon"]:
                keys.add(token["string"])
                expecting = False
        elif mark in "{[":
            depth += 1
        elif mark in "}]":
            return keys, True
        else:
            expecting = True
    return keys, True


UTF8_BOM = "\ufeff"
# The mark of UTF-32 little endian begins with that of UTF-16, so it is asked for first.
OTHER_BOMS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
UNUSED = frozenset((0x81, 0x8D, 0x8F, 0x90, 0x9D))
"""Bytes that are not characters of Windows-1252."""
NEAR_BYTES = 1 << 16
"""The bytes around one that is not UTF-8 by which the encoding is guessed."""


def decode_text(raw: bytes, source: str) -> str:
    """Return the bytes of a file as text.

    Raises:
        FormatError: not UTF-8.
    """
    for mark, encoding in OTHER_BOMS:
        if raw.startswith(mark):
            raise FormatError.single(
                source, None, f"the file is {encoding}", f"save it as UTF-8{iconv_command(encoding, source)}"
            )
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        finding = f"byte 0x{raw[error.start]:02X} at position {column} of the line is not UTF-8"
        near = raw[max(0, error.start - NEAR_BYTES) : error.start + NEAR_BYTES]
        guess = likely_encoding(near)
        remedy = (
            f"save the file as UTF-8{iconv_command(guess, source)}" if guess else "mend it: most of the file is UTF-8"
        )
        raise FormatError.single(source, line, finding, remedy) from None


def likely_encoding(raw: bytes) -> str:
    """Return the likely encoding of bytes that are not UTF-8, by the name of iconv; "" where most are UTF-8."""
    beyond = [byte for byte in raw if byte > 0x7F]
    # Each character of UTF-8 that is read takes at least two of these bytes.
    sound = len(raw.decode(errors="ignore").encode()) - (len(raw) - len(beyond))
    if 2 * sound > len(beyond):
        return ""
    # Latin-1 has no printed character here, and Windows-1252 has quotation marks and dashes.
    windows = any(0x80 <= byte <= 0x9F for byte in beyond)
    return "WINDOWS-1252" if windows and not any(byte in UNUSED for byte in beyond) else "ISO-8859-1"


def iconv_command(encoding: str, source: str) -> str:
    """Return the command that writes a file in UTF-8, after a colon; nothing for one that is packed."""
    if unpacked_name(source) != source or source.endswith(ZIP):
        return ""
    stem, dot, suffix = source.rpartition(".")
    target = f"{stem}.utf8.{suffix}" if dot and stem and "/" not in suffix else f"{source}.utf8"
    return f": iconv -f {encoding} -t UTF-8 {quote(source)} > {quote(target)}"


def split_lines(text: str) -> list[str]:
    """Return the lines of a text as `SourceFile.lines` does."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.rstrip("\r") for line in lines]
