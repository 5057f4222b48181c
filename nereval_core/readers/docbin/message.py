"""Unpack a DocBin of spaCy, MessagePack in zlib, within bounds, and check it; nothing in it is run.

Messages are decoded by msgspec into declared types. srsly, which spaCy uses, would decode any type, run the decoders
of installed plug-ins, and leave all checks to be made here.

Its parts, as spaCy 3 writes them: an array of 64-bit values, tokens by attributes, most of them hashes of strings; the
strings themselves; whether a blank follows each token; how many tokens each document has; its span groups and user
data, MessagePack once more. See spaCy's documentation, "DocBin", "Serialization format".
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Int64, UInt64
from nereval_core.problems import FormatError, Problem, counted
from nereval_core.readers.input.compression import BLOCK
from nereval_core.readers.input.origins import InZip, expanded_limit
from nereval_core.readers.input.source import SourceFile

REMEDY = "write it again with DocBin.to_disk"
DECODING_ERRORS = (msgspec.DecodeError, ValueError, TypeError, RecursionError, MemoryError)
"""Errors of decoding damaged MessagePack."""


class _Flags(msgspec.Struct):
    has_unknown_spaces: bool = False


class _Message(msgspec.Struct):
    """The outer map; other keys are passed over."""

    attrs: list[int]
    tokens: memoryview
    spaces: memoryview
    lengths: memoryview
    strings: list[str]
    flags: list[_Flags] | None = None
    span_groups: list[bytes] | None = None
    user_data: list[bytes | None] | None = None


class Group(msgspec.Struct):
    """A span group: `spans` are packed once more, `attrs` what somebody put beside them."""

    spans: list[bytes]
    name: str = ""
    attrs: dict[str, Any] = {}


@dataclass(frozen=True)
class PackedDocuments:
    """The content of a DocBin: `columns` has shape (tokens, attributes), the tokens of document d from `first[d]` on.

    `spaces` says whether a blank follows a token, `unknown` of which documents spaCy was not told. `groups` holds by
    document the packed span groups by key, `user_data` the packed user data.
    """

    shown: str
    attrs: Sequence[int]
    columns: UInt64
    first: Int64
    spaces: NDArray[np.bool_]
    unknown: NDArray[np.bool_]
    strings: Strings
    groups: Sequence[Mapping[str, bytes]]
    user_data: Sequence[bytes | None]
    most: int

    def __len__(self) -> int:
        return len(self.first) - 1

    def column(self, name: str) -> UInt64 | None:
        """Return the values of an attribute by token, None where it was not stored."""
        from spacy.attrs import IDS

        return self.columns[:, self.attrs.index(IDS[name])] if IDS[name] in self.attrs else None

    @cached_property
    def document(self) -> Int64:
        """The document of each token."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def problems(self, documents: Int64, found: str) -> Iterator[Problem]:
        """Yield one problem for each of these documents, however often it is named; its line is its number from 1."""
        for number in np.unique(documents).tolist():
            yield Problem(self.shown, number + 1, found, REMEDY)


class Strings:
    """The strings of a DocBin by their hashes."""

    def __init__(self, strings: Sequence[str]) -> None:
        from spacy.strings import StringStore

        self._store = StringStore(strings)

    def get(self, value: int) -> str | None:
        """Return the string of a hash, "" for 0, None where it is not stored."""
        try:
            found: str = self._store[value]
        except (KeyError, ValueError, OverflowError):
            return None
        return found

    def of(self, values: UInt64) -> list[str | None]:
        """Return the strings of many hashes, each looked up once."""
        hashes, code = np.unique(values, return_inverse=True)
        return list(map(list(map(self.get, hashes.tolist())).__getitem__, code.tolist()))


def unpack_docbin(file: SourceFile) -> PackedDocuments:
    """Unpack a DocBin and check that its parts belong together.

    Raises:
        FormatError: spaCy is not installed; the file is damaged, too much packed, or its parts differ in size.
    """
    raw, most = _inflated(file)
    try:
        message = msgspec.msgpack.decode(raw, type=_Message)
    except DECODING_ERRORS as error:
        raise damaged(file.shown, error) from None
    try:
        strings = Strings(message.strings)
    except ImportError:
        raise not_installed(file.shown) from None
    except DECODING_ERRORS as error:
        raise damaged(file.shown, error) from None
    found = "; ".join(_unfit(message))
    if found:
        raise FormatError.single(file.shown, None, found, REMEDY)
    lengths = np.frombuffer(message.lengths, "<i4").astype(np.int64)
    count = len(lengths)
    groups: list[dict[str, bytes]] = []
    problems: list[Problem] = []
    for number, packed in enumerate(message.span_groups or (), start=1):
        try:
            groups.append(_groups(packed))
        except DECODING_ERRORS as error:
            problems += damaged(file.shown, error, number, "span groups").problems
    if problems:
        raise FormatError(problems)
    return PackedDocuments(
        file.shown,
        message.attrs,
        np.frombuffer(message.tokens, "<u8").reshape(-1, len(message.attrs)),
        np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))),
        np.frombuffer(message.spaces, np.uint8) != 0,
        np.array([flags.has_unknown_spaces for flags in message.flags or ()] or [False] * count, bool),
        strings,
        groups or [{}] * count,
        message.user_data or [None] * count,
        most,
    )


def damaged(shown: str, error: Exception, number: int | None = None, what: str = "") -> FormatError:
    """Return the error of a part that cannot be decoded; `number` is its document, from 1, where it has one."""
    said = f"damaged {what}".rstrip()
    return FormatError.single(shown, number, f"{said}: {str(error) or type(error).__name__}", REMEDY)


def not_installed(shown: str) -> FormatError:
    """Return the error where spaCy is missing."""
    return FormatError.single(shown, None, "spaCy is not installed, which DocBin needs", "pip install spacy")


def is_docbin(raw: bytes) -> bool:
    """Return whether a file that begins so is a DocBin."""
    if raw[:1] != b"\x78":
        return False
    try:
        begin = zlib.decompressobj().decompress(raw, 1 << 12)
    except zlib.error:
        return False
    return begin[:1] >= b"\x80" and b"\xa5attrs" in begin and b"\xa6tokens" in begin


def _inflated(file: SourceFile) -> tuple[bytearray, int]:
    """Return the bytes in a file, and how many it may hold in all: a small file may claim to hold any number."""
    origin = file.origin
    size = min(origin.size(), origin.entry.compress_size) if isinstance(origin, InZip) else origin.size()
    most = expanded_limit(origin, size)
    inflating = zlib.decompressobj()
    raw = bytearray()
    with file.stream() as stream:
        while block := stream.read(BLOCK):
            try:
                raw += inflating.decompress(block, most + 1 - len(raw))
            except zlib.error as error:
                raise damaged(file.shown, error) from None
            if len(raw) > most:
                raise _swollen(file.shown, size, most)
            if inflating.eof:
                break
        beyond = inflating.unused_data or stream.read(1)
    if not inflating.eof or beyond:
        found = "more bytes after its end" if inflating.eof else "the file is cut off"
        raise FormatError.single(file.shown, None, found, REMEDY)
    return raw, most


def _swollen(shown: str, size: int, most: int) -> FormatError:
    found = f"expands from {size} bytes to more than {most}"
    return FormatError.single(shown, None, found, "write its documents into several files")


def _unfit(message: _Message) -> Iterator[str]:
    """Yield the parts whose sizes disagree."""
    from spacy.attrs import IDS

    width = 8 * len(message.attrs)
    if IDS["ORTH"] not in message.attrs or len(set(message.attrs)) < len(message.attrs):
        yield "its attributes lack the words, or name one twice"
        return
    if len(message.tokens) % width or len(message.lengths) % 4:
        yield "its tokens or lengths are cut off"
        return
    lengths = np.frombuffer(message.lengths, "<i4").astype(np.int64)
    counts = (len(message.tokens) // width, len(message.spaces), int(lengths.sum()))
    if len(set(counts)) > 1 or (lengths < 0).any():
        tokens, spaces, owned = map(counted, counts, ("token", "space", "token"))
        yield f"{tokens} with {spaces}, and documents of {owned}"
    for name in ("flags", "span_groups", "user_data"):
        given = getattr(message, name)
        if given is not None and len(given) != len(lengths):
            yield f"{len(given)} {name} for {counted(len(lengths), 'document')}"


def _groups(packed: bytes) -> dict[str, bytes]:
    """Return the packed span groups of a document by key; the first versions of spaCy 3 left the keys to the groups."""
    if not packed:
        return {}
    found = msgspec.msgpack.decode(packed, type=dict[bytes, list[str]] | list[bytes])
    if isinstance(found, dict):
        return {key: group for group, keys in found.items() for key in keys}
    return {msgspec.msgpack.decode(group, type=Group).name: group for group in found}
