"""The first bytes of a file, by which its format is recognised: read once, however many readers look at them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from nereval_core.readers.input.encodings import UTF8_BOM

HEAD_BYTES = 1 << 16
"""The size of a head."""
OBJECT_BYTES = 1 << 24
"""The bytes of a file in which its first JSON object is followed."""
OBJECT_MARKS = 1_000_000
"""The most brackets and keys of that object: a small packed file may hold nothing else."""


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
    def lines(self) -> list[str]:
        """The first whole lines without their ends, at least one; bytes that are not UTF-8 are replaced."""
        lines = _text(self.raw).split("\n")
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
        found, whole = _keys(_text(self.raw))
        if not whole and len(self.raw) == HEAD_BYTES:
            # A text longer than the head stands before the keys that tell one format from another.
            found, _ = _keys(_text(self._load(OBJECT_BYTES)))
        return frozenset(found)


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace").removeprefix(UTF8_BOM)


# A string that is cut off reaches to the end: else each quote in it would be tried for the start of one.
_STRING = r'"(?P<string>[^"\\]*+(?:\\.[^"\\]*+)*+)(?:"(?P<colon>\s*:)?|\\?\Z)'
_TOKEN = re.compile(_STRING + r"|[{}\[\],]", re.DOTALL)
_TO_BRACKET = re.compile(r'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z))*+', re.DOTALL)
_OBJECT = re.compile(r"\s*(\[\s*)?\{")


def _keys(text: str) -> tuple[set[str], bool]:
    """Return the keys of the first object, and whether more of the text would add nothing."""
    found: set[str] = set()
    begin = _OBJECT.match(text)
    if begin is None:
        return found, True
    at, depth, expecting = begin.end(), 1, True
    for _ in range(OBJECT_MARKS):
        if depth > 1:
            at = _TO_BRACKET.match(text, at).end() + 1  # type: ignore[union-attr]
            if at > len(text):
                return found, False
            depth += 1 if text[at - 1] in "{[" else -1
            continue
        token = _TOKEN.search(text, at)
        if token is None:
            return found, False
        at, mark = token.end(), token[0][0]
        if mark == '"':
            if expecting and token["colon"]:
                found.add(token["string"])
                expecting = False
        elif mark in "{[":
            depth += 1
        elif mark in "}]":
            return found, True
        else:
            expecting = True
    return found, True
