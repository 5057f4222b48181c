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

from nereval_core.corpus.arrays import Array, Int64, UInt64
from nereval_core.problems import FormatError, Problem, ProblemList, counted
from nereval_core.readers.input.compression import BLOCK
from nereval_core.readers.input.origins import InZip, expanded_limit, expands_too_far
from nereval_core.readers.input.source import SourceFile

REMEDY = "write it again with DocBin.to_disk"
BLOCK_TOKENS = 1 << 16
"""Tokens whose texts and spans are made at once, about."""
READ = ("ORTH", "SENT_START", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")
"""The attributes of tokens that are read."""
ATTRS, TOKENS, LONG_BYTES, NO_BYTES = b"\xa5attrs", b"\xa6tokens", 0xC6, b"\xc4\x00"
"""Keys of the outer map as they are packed, and how bytes begin: with a length of four bytes, and with none."""
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
    """Some documents of a DocBin: `columns` are the values of attributes by token, those of document d from `first[d]`
    on; `before` says how many documents of the file stand before these.

    `spaces` says whether a blank follows a token, `unknown` for which documents spaCy does not know that. `groups`
    holds by document the packed span groups by key, `user_data` the packed user data. `most` is the number of
    characters that the texts of the file may have; `sentences_known` says whether any token in it, but the first ones
    of documents, is known to open a sentence or to open none.
    """

    source: str
    before: int
    columns: Mapping[int, UInt64]
    first: Int64
    spaces: NDArray[np.bool_]
    unknown: NDArray[np.bool_]
    strings: Strings
    groups: Sequence[Mapping[str, bytes]]
    user_data: Sequence[bytes | None]
    most: int
    sentences_known: bool

    def __len__(self) -> int:
        return len(self.first) - 1

    def column(self, name: str) -> UInt64 | None:
        """Return the values of an attribute by token, None where it was not stored."""
        from spacy.attrs import IDS

        return self.columns.get(IDS[name])

    @cached_property
    def document(self) -> Int64:
        """The document of each token."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def problems(self, documents: Int64, finding: str) -> Iterator[Problem]:
        """Yield one problem for each of these documents, however often it is named; its line is its number from 1."""
        for number in np.unique(documents).tolist():
            yield Problem(self.source, self.before + number + 1, finding, REMEDY)


@dataclass(frozen=True)
class CodedColumn:
    """The values of an attribute by token: `values[codes]`."""

    values: UInt64
    codes: Array


@dataclass(frozen=True)
class PackedFile:
    """The content of a DocBin; see `PackedDocuments`."""

    source: str
    columns: Mapping[int, CodedColumn]
    first: Int64
    spaces: NDArray[np.bool_]
    unknown: NDArray[np.bool_]
    strings: Strings
    groups: Sequence[Mapping[str, bytes]]
    user_data: Sequence[bytes | None]
    most: int

    def values(self, name: str) -> UInt64 | tuple[()]:
        """Return the values that an attribute has."""
        from spacy.attrs import IDS

        return self.columns[IDS[name]].values if IDS[name] in self.columns else ()

    @cached_property
    def _sentences_known(self) -> bool:
        from spacy.attrs import IDS

        column = self.columns.get(IDS["SENT_START"])
        if column is None:
            return False
        is_known = (column.values != 0).take(column.codes)
        is_known[self.first[:-1][np.diff(self.first) > 0]] = False
        return bool(is_known.any())

    def blocks(self) -> Iterator[PackedDocuments]:
        """Yield the documents, about BLOCK_TOKENS tokens at a time."""
        low, count = 0, len(self.first) - 1
        while low < count or low == 0:
            stop = int(np.searchsorted(self.first, self.first[low] + BLOCK_TOKENS, side="right")) - 1
            high = min(max(stop, low + 1), count)
            tokens = slice(int(self.first[low]), int(self.first[high]))
            yield PackedDocuments(
                self.source,
                low,
                {name: column.values.take(column.codes[tokens]) for name, column in self.columns.items()},
                self.first[low : high + 1] - self.first[low],
                self.spaces[tokens],
                self.unknown[low:high],
                self.strings,
                self.groups[low:high],
                self.user_data[low:high],
                self.most,
                self._sentences_known,
            )
            low = max(high, 1)


class Strings:
    """The strings of a DocBin by their hashes."""

    def __init__(self, strings: Sequence[str]) -> None:
        from spacy.strings import StringStore

        self._store = StringStore(strings)

    def get(self, value: int) -> str | None:
        """Return the string of a hash, "" for 0, None where it is not stored."""
        try:
            text: str = self._store[value]
        except (KeyError, ValueError, OverflowError):
            return None
        return text

    def of(self, values: UInt64) -> list[str | None]:
        """Return the strings of many hashes, each looked up once."""
        hashes, code = np.unique(values, return_inverse=True)
        return list(map(list(map(self.get, hashes.tolist())).__getitem__, code.tolist()))


def unpack_docbin(file: SourceFile) -> PackedFile:
    """Unpack a DocBin and check that its parts belong together.

    Raises:
        FormatError: spaCy is not installed; the file is damaged, too much packed, or its parts differ in size.
    """
    raw, most, tokens = _inflated(file)
    try:
        message = msgspec.msgpack.decode(raw, type=_Message)
    except DECODING_ERRORS as error:
        raise damaged(file.shown, error) from None
    del raw
    try:
        strings = Strings(message.strings)
    except ImportError:
        raise not_installed(file.shown) from None
    except DECODING_ERRORS as error:
        raise damaged(file.shown, error) from None
    if tokens is None:
        tokens = TokenColumns(message.attrs)
        tokens.add(message.tokens)
    finding = "; ".join(_unfit(message, tokens))
    if finding:
        raise FormatError.single(file.shown, None, finding, REMEDY)
    lengths = np.frombuffer(message.lengths, "<i4").astype(np.int64)
    count = len(lengths)
    groups: list[dict[str, bytes]] = []
    problems = ProblemList()
    for number, packed in enumerate(message.span_groups or (), start=1):
        try:
            groups.append(_groups(packed))
        except DECODING_ERRORS as error:
            problems += damaged(file.shown, error, number, "span groups").problems
    if problems:
        raise FormatError(problems)
    return PackedFile(
        file.shown,
        tokens.finished(),
        np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))),
        np.frombuffer(message.spaces, np.uint8) != 0,
        np.array([flags.has_unknown_spaces for flags in message.flags or ()] or [False] * count, bool),
        strings,
        groups or [{}] * count,
        message.user_data or [None] * count,
        most,
    )


class TokenColumns:
    """The attributes of tokens that are read, gathered piece by piece: the others are most of a DocBin.

    A token is packed as one number of 8 bytes for each attribute. Of the numbers of an attribute few differ: they are
    held as codes, of as few bytes as the pieces need.
    """

    def __init__(self, attrs: Sequence[int]) -> None:
        from spacy.attrs import IDS

        self.attrs = attrs
        self.width = 8 * len(attrs)
        self.bytes = 0
        self._rest = b""
        self._code_of_value: dict[int, dict[int, int]] = {IDS[name]: {} for name in READ if IDS[name] in attrs}
        self._codes: dict[int, list[Array]] = {name: [] for name in self._code_of_value}

    def add(self, piece: bytes | bytearray | memoryview) -> None:
        """Add the next bytes of the packed tokens."""
        self.bytes += len(piece)
        if not self.width:
            return
        buffered = b"".join((self._rest, piece)) if self._rest else piece
        whole = len(buffered) // self.width * self.width
        self._rest = bytes(buffered[whole:])
        rows = np.frombuffer(buffered, "<u8", whole // 8).reshape(-1, len(self.attrs))
        for name, code_of_value in self._code_of_value.items():
            values, which = np.unique(rows[:, self.attrs.index(name)], return_inverse=True)
            codes = np.array(
                [code_of_value.setdefault(value, len(code_of_value)) for value in values.tolist()], np.int64
            )
            self._codes[name].append(codes.astype(np.min_scalar_type(len(code_of_value)))[which])

    def finished(self) -> dict[int, CodedColumn]:
        """Return the columns by attribute."""
        columns = {}
        for name, code_of_value in self._code_of_value.items():
            parts = self._codes.pop(name)
            codes = np.concatenate(parts) if parts else np.zeros(0, np.uint8)
            columns[name] = CodedColumn(np.fromiter(code_of_value, np.uint64, len(code_of_value)), codes)
        return columns


def damaged(source: str, error: Exception, number: int | None = None, what: str = "") -> FormatError:
    """Return the error of a part that cannot be decoded; `number` is its document, from 1, where it has one."""
    finding = f"damaged {what}".rstrip()
    return FormatError.single(source, number, f"{finding}: {str(error) or type(error).__name__}", REMEDY)


def not_installed(source: str) -> FormatError:
    """Return the error where spaCy is missing."""
    return FormatError.single(source, None, "spaCy is not installed, which DocBin needs", "pip install spacy")


def is_docbin(raw: bytes) -> bool:
    """Return whether a file that begins so is a DocBin."""
    if raw[:1] != b"\x78":
        return False
    try:
        begin = zlib.decompressobj().decompress(raw, 1 << 12)
    except zlib.error:
        return False
    return begin[:1] >= b"\x80" and b"\xa5attrs" in begin and b"\xa6tokens" in begin


def _inflated(file: SourceFile) -> tuple[bytearray, int, TokenColumns | None]:
    """Return the bytes in a file, and how many it may hold in all: a small file may claim to hold any number.

    Where the packed tokens follow their attributes, as spaCy writes them, they are taken out of the bytes, and are
    returned as columns.
    """
    origin = file.origin
    size = min(origin.size(), origin.entry.compress_size) if isinstance(origin, InZip) else origin.size()
    most = expanded_limit(size)
    inflating = zlib.decompressobj()
    raw = bytearray()
    apart: _TokensApart | None = None
    n_bytes = 0
    with file.stream() as stream:
        while block := stream.read(BLOCK):
            try:
                piece = inflating.decompress(block, most + 1 - n_bytes)
            except zlib.error as error:
                raise damaged(file.shown, error) from None
            if not n_bytes:
                apart = _TokensApart.of(piece)
            n_bytes += len(piece)
            raw += piece if apart is None else apart.others(piece)
            if n_bytes > most:
                raise FormatError([expands_too_far(file.shown, "", size, f"more than {most:,}")])
            if inflating.eof:
                break
        beyond = inflating.unused_data or stream.read(1)
    if not inflating.eof or beyond:
        finding = "more bytes after its end" if inflating.eof else "the file is cut off"
        raise FormatError.single(file.shown, None, finding, REMEDY)
    if apart is not None and apart.n_remaining:
        raise damaged(file.shown, ValueError("Input data was truncated"))
    return raw, most, None if apart is None else apart.columns


class _TokensApart:
    """Takes the packed tokens out of the pieces of a message, of which `before` bytes stand before them, and
    `n_remaining` are still to come.
    """

    def __init__(self, columns: TokenColumns, before: int, header: int, n_remaining: int) -> None:
        self.columns, self.n_remaining = columns, n_remaining
        self._before, self._header = before, header

    @classmethod
    def of(cls, head: bytes) -> _TokensApart | None:
        """Return it for a message that begins so, None where tokens do not follow attributes as spaCy writes them."""
        low = head.find(ATTRS)
        key = head.find(TOKENS, low)
        at = key + len(TOKENS)
        header = head[at : at + 5]
        if low < 0 or key < 0 or len(header) < 5 or header[0] != LONG_BYTES:
            return None
        try:
            attrs = msgspec.msgpack.decode(head[low + len(ATTRS) : key], type=list[int])
            columns = TokenColumns(attrs)
        except (*DECODING_ERRORS, ImportError):
            return None
        return cls(columns, at, len(header), int.from_bytes(header[1:], "big"))

    def others(self, piece: bytes) -> bytes:
        """Return a piece without the tokens in it, which are added to the columns; no tokens stand in their place."""
        others = b""
        if self._before:
            others, piece = piece[: self._before] + NO_BYTES, piece[self._before + self._header :]
            self._before = 0
        if self.n_remaining:
            self.columns.add(piece[: self.n_remaining])
            others, piece, self.n_remaining = others, piece[self.n_remaining :], max(0, self.n_remaining - len(piece))
        return others + piece


def _unfit(message: _Message, tokens: TokenColumns) -> Iterator[str]:
    """Yield the parts whose sizes disagree."""
    from spacy.attrs import IDS

    if IDS["ORTH"] not in message.attrs or len(set(message.attrs)) < len(message.attrs):
        yield "its attributes lack the words, or name one twice"
        return
    if tokens.bytes % tokens.width or len(message.lengths) % 4:
        yield "its tokens or lengths are cut off"
        return
    lengths = np.frombuffer(message.lengths, "<i4").astype(np.int64)
    counts = (tokens.bytes // tokens.width, len(message.spaces), int(lengths.sum()))
    if len(set(counts)) > 1 or (lengths < 0).any():
        n_tokens, n_spaces, n_owned = map(counted, counts, ("token", "space", "token"))
        yield f"{n_tokens} with {n_spaces}, and documents of {n_owned}"
    for part in ("flags", "span_groups", "user_data"):
        entries = getattr(message, part)
        if entries is not None and len(entries) != len(lengths):
            yield f"{len(entries)} {part} for {counted(len(lengths), 'document')}"


def _groups(packed: bytes) -> dict[str, bytes]:
    """Return the packed span groups of a document by key; the first versions of spaCy 3 left the keys to the groups."""
    if not packed:
        return {}
    decoded = msgspec.msgpack.decode(packed, type=dict[bytes, list[str]] | list[bytes])
    if isinstance(decoded, dict):
        return {key: group for group, keys in decoded.items() for key in keys}
    return {msgspec.msgpack.decode(group, type=Group).name: group for group in decoded}
