"""Words that stand nowhere but in the texts of a corpus, and the search for pieces of them in what a server sends."""

from __future__ import annotations

import base64
import binascii
import gzip
import html
import io
import random
import re
import zipfile
from collections.abc import Collection, Iterator
from itertools import product
from urllib.parse import unquote_to_bytes

from pyarrow import parquet

from tests.support.pdf_text import pdf_texts

PIECE = 4
"""Letters in a row that give a word away."""
LETTERS = ("qzjvkw", "žķŵĵǩṽ", "ъэщфжы")
"""Letters that neither our words nor hexadecimal digits have four of in a row: ASCII, Latin with marks, Cyrillic."""
PIECE_DECODED = 6
"""The same in what was decoded from base64, as numbers may be letters by chance."""
PACKED = re.compile(rb"[A-Za-z0-9+/_-]{24,}={0,2}")
"""What may be base64: longer than any word."""
DIGITS = re.compile(rb"[0-9a-fA-F]+")
URL_SAFE = bytes.maketrans(b"-_", b"+/")
ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")


def markers(number: int, seed: int = 0, *, apart: Collection[str] = ()) -> list[str]:
    """Return words of eight letters, no two with a piece in common, nor with one of `apart`."""
    drawn = random.Random(seed)
    found: list[str] = []
    taken = {piece for word in apart for piece in pieces(word)}
    while len(found) < number:
        word = "".join(drawn.choices(LETTERS[len(found) % len(LETTERS)], k=8))
        if not taken & (own := pieces(word)):
            taken |= own
            found.append(word.capitalize() if len(found) % 2 else word)
    return found


def pieces(word: str, size: int = PIECE) -> set[str]:
    """Return the pieces of a word, forwards and backwards, in small letters."""
    small = word.lower()
    return {one[at : at + size] for one in (small, small[::-1]) for at in range(len(small) - size + 1)}


class Search:
    """Searches for pieces of words, in whichever way they are written."""

    def __init__(self, words: Collection[str]) -> None:
        self._short, self._long = (
            {piece: word for word in words for piece in pieces(word, size)} for size in (PIECE, PIECE_DECODED)
        )
        self._any_short, self._any_long = (
            re.compile("|".join(map(re.escape, one))) for one in (self._short, self._long)
        )

    def found(self, raw: bytes, typed: Collection[str] = ()) -> set[str]:
        """Return the words of which pieces stand in what was sent, but for those that were typed."""
        hits = {self._short[hit] for part in (raw, *_unpacked(raw)) for hit in self._hits(part, self._any_short)}
        hits |= {self._long[hit] for part in _decoded(raw) for hit in self._hits(part, self._any_long)}
        return hits - set(typed)

    def _hits(self, raw: bytes, any_piece: re.Pattern[str]) -> Iterator[str]:
        for text in _readings(raw):
            yield from any_piece.findall(text)


def _readings(raw: bytes) -> Iterator[str]:
    """Yield what bytes may be read as, in small letters: with and without escapes, in UTF-8 and UTF-16."""
    bare = PACKED.sub(b" ", raw)
    text = bare.decode(errors="replace")
    yield text.lower()
    if "\\" in text:
        yield ESCAPED.sub(lambda code: chr(int(code[1], 16)), text).lower()
    if "&" in text:
        yield html.unescape(text).lower()
    if "%" in text:
        yield unquote_to_bytes(bare).decode(errors="replace").lower()
    if b"\0" in raw:
        yield bare.replace(b"\0", b"").decode(errors="replace").lower()
        for place, order in product((0, 1), ("utf-16-le", "utf-16-be")):
            yield raw[place:].decode(order, errors="replace").lower()


def _decoded(raw: bytes) -> Iterator[bytes]:
    """Yield what base64 and hexadecimal digits hold."""
    for one in set(PACKED.findall(raw)):
        if DIGITS.fullmatch(one):
            yield binascii.unhexlify(one[: len(one) - len(one) % 2])
            continue
        letters = one.rstrip(b"=").translate(URL_SAFE)
        # A run may begin with letters that are not part of it.
        for part in (letters[cut:] for cut in range(4)):
            yield base64.b64decode(part[: len(part) - len(part) % 4])


def _unpacked(raw: bytes) -> Iterator[bytes]:
    """Yield what files of Excel, of Parquet, compressed ones and PDFs hold."""
    if raw.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            yield from map(archive.read, archive.namelist())
    elif raw.startswith(b"PAR1"):
        table = parquet.read_table(io.BytesIO(raw))
        yield f"{table.schema} {table.to_pydict()}".encode()
    elif raw.startswith(b"\x1f\x8b"):
        yield gzip.decompress(raw)
    elif raw.startswith(b"%PDF"):
        yield "\n".join(pdf_texts(raw)).encode()
