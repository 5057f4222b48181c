"""Codecs: how the value of a field of the view is written as a parameter of a link, and read back.

Lists are written with commas; a comma, semicolon, equals or percent sign inside a name is written as %2C, %3B, %3D,
%25. In `gold` and `pred` a lone `-` means that this side has no span (the name `-` is written %2D).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import unquote

from nereval_core.problems import quoted
from nereval_core.records.queries import ABSENT

Value = TypeVar("Value")
PREFIX = 16
"""Hexadecimal digits of a corpus digest that stand in a link; at least 12 are asked for."""
_PLACE = re.compile(r"\d{1,9}-\d{1,9}")
_RECORD = re.compile(r"[gp]:\d+-\d+(,\d+-\d+)*:.+", re.DOTALL)
_PLAYLIST = re.compile(r"[0-9a-f]{12,32}(/[0-9a-f]{12,64})?")


@dataclass(frozen=True)
class Codec(Generic[Value]):
    """A pair of functions: `write` gives the text of a value; `read` gives a value, and in words what it leaves out."""

    read: Callable[[str], tuple[Value, list[str]]]
    write: Callable[[Value], str]


def checked(is_valid: Callable[[str], object], complaint: str) -> Codec[str]:
    """Return the codec of a text that has to be valid; the complaint follows the text that is not."""

    def read(text: str) -> tuple[str, list[str]]:
        return (text, []) if is_valid(text) else ("", [f"{quoted(text)} {complaint}"])

    return Codec(read, str)


def one_of(words: Collection[str], complaint: str = "is not known") -> Codec[str]:
    """Return the codec of one of several words."""
    return checked(words.__contains__, complaint)


def some_of(words: Collection[str]) -> Codec[tuple[str, ...]]:
    """Return the codec of any of several words, in the order in which they stand."""

    def read(text: str) -> tuple[tuple[str, ...], list[str]]:
        parts = dict.fromkeys(text.split(","))
        unknown = [f"{quoted(part)} is not known" for part in parts if part not in words]
        return tuple(part for part in parts if part in words), unknown

    return Codec(read, ",".join)


def _is_text(text: str) -> bool:
    # Half a surrogate pair and NUL come from hand-made links only.
    return text.isprintable() or not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)


def _is_place(text: str) -> bool:
    low, _, high = text.partition("-")
    return bool(_PLACE.fullmatch(text)) and int(low) < int(high)


def _read_names(text: str) -> tuple[tuple[str, ...], list[str]]:
    names = tuple(dict.fromkeys(unquote(part) for part in text.split(",")))
    return tuple(name for name in names if name), [] if all(names) else ["an empty name"]


def _write_names(names: Iterable[str]) -> str:
    return ",".join(map(_escaped, names))


def _escaped(name: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in "%,;=" else char for char in name)


def _read_sides(text: str) -> tuple[tuple[str, ...], list[str]]:
    parts = tuple(dict.fromkeys(text.split(",")))
    names = tuple(ABSENT if part == "-" else unquote(part) for part in parts if part)
    return names, [] if all(parts) else ["an empty name"]


def _write_sides(names: Iterable[str]) -> str:
    return ",".join("-" if name == ABSENT else "%2D" if name == "-" else _escaped(name) for name in names)


Pairs = tuple[tuple[str, str], ...]


def _read_merges(text: str) -> tuple[Pairs, list[str]]:
    merge: dict[str, str] = {}
    wrong = []
    for group in text.split(";"):
        members, equals, name = group.partition("=")
        parts = [unquote(part) for part in members.split(",")]
        if not equals or not name or not all(parts) or "=" in name or any(part in merge for part in parts):
            wrong.append(f"{quoted(group)} is not a merge (protein,DNA=macromolecule)")
        else:
            merge.update(dict.fromkeys(parts, unquote(name)))
    return tuple(merge.items()), wrong


def _write_merges(pairs: Pairs) -> str:
    groups: dict[str, list[str]] = {}
    for member, name in pairs:
        groups.setdefault(name, []).append(member)
    return ";".join(f"{_write_names(members)}={_escaped(name)}" for name, members in groups.items())


def is_key(corpus: str) -> bool:
    """Tell whether a link names its corpus by the key of a shared one, not by a digest."""
    return corpus.startswith("s-")


def _is_corpus(text: str) -> bool:
    return bool(re.fullmatch(r"[0-9a-f]{12,64}|s-[0-9a-f]{32}", text))


TEXT = checked(_is_text, "is not text")
NAMES = Codec(_read_names, _write_names)
SIDES = Codec(_read_sides, _write_sides)
MERGES = Codec(_read_merges, _write_merges)
CORPUS = Codec(
    checked(_is_corpus, "is neither a digest of a corpus (12 to 64 hexadecimal digits) nor a key of one").read,
    lambda corpus: corpus if is_key(corpus) else corpus[:PREFIX],
)
RECORD = checked(_RECORD.fullmatch, "is not a record (such as g:12-19:Drug)")
PLACE = checked(_is_place, "is not a place in a text (such as 12-19)")
PLAYLIST = checked(_PLAYLIST.fullmatch, "is not a playlist (12 or more digits)")
