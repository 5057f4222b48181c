"""The text of a PDF as Chromium writes it: packed, each character as the number of its shape in a font."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

STREAM = re.compile(rb"/FlateDecode[^>]*>>\s*stream\r?\n(.*?)endstream", re.DOTALL)
LETTERS = re.compile(r"beginbf(?:char|range)(.*?)endbf", re.DOTALL)
"""Lines with the number of a shape, or the first and the last number, and the letter of the first."""
CODE = re.compile(r"<([0-9A-Fa-f]+)>")
BLOCK = re.compile(r"BT\n.*?ET\n", re.DOTALL)


def pdf_texts(raw: bytes) -> Iterator[str]:
    """Yield what is packed in a PDF, but for fonts and pictures, and each block of text in the letters of each font."""
    packed = [zlib.decompressobj().decompress(one[1]) for one in STREAM.finditer(raw)]
    streams = [one.decode("latin-1") for one in packed if b"\0" not in one]
    yield from streams
    for letters in filter(None, map(_letters, streams)):
        for block in BLOCK.findall("\n".join(streams)):
            yield "".join(letters.get(int(code, 16), "") for code in CODE.findall(block))


def _letters(stream: str) -> dict[int, str]:
    """Return the letters of a font by the numbers of their shapes, none if a stream has none."""
    found: dict[int, str] = {}
    for lines in LETTERS.findall(stream):
        for line in filter(None, lines.strip().splitlines()):
            *numbers, letter = CODE.findall(line)
            first, last = int(numbers[0], 16), int(numbers[-1], 16)
            text = bytes.fromhex(letter).decode("utf-16-be")
            found |= {number: text[:-1] + chr(ord(text[-1]) + number - first) for number in range(first, last + 1)}
    return found
