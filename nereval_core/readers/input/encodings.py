"""Text from bytes: UTF-8 is read, and anything else is refused with the command that converts it."""

from __future__ import annotations

import codecs
from shlex import quote

from nereval_core.problems import FormatError
from nereval_core.readers.input.compression import unpacked_name
from nereval_core.readers.input.origins import ZIP

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
