"""Changes to an input that byte by byte would be long in coming: words, numbers, lines taken out, doubled, swapped."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

PARTS = re.compile(rb'"(?:[^"\\\n]|\\.)*"|[A-Za-z_]+|-?[0-9]+(?:\.[0-9]+)?|\r?\n|.', re.DOTALL)
NUMBERS = (
    b"-1", b"0", b"1", b"2", b"3", b"4", b"1.0", b"0.5", b"-0", b"1e999", b"1e5", b"NaN", b"Infinity", b"2147483647",
    b"2147483648", b"4294967296", b"9223372036854775808", b"-9223372036854775809", b"1" + b"0" * 400, b"9" * 5000,
)  # fmt: skip
VALUES = (
    b"null", b"true", b"false", b'""', b"[]", b"{}", b"[[]]", b"[" * 1200 + b"]" * 1200, b'{"a":' * 1200, b'"a"', b"7",
    b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\u0000"', b'"\\u2028"', "\"😀\"".encode(),
)  # fmt: skip
SIGNS = """é e\u0301 😀 שלום | ; # \\ " ' , : = [ ] { } < > &amp; &#0; / B- I- O _ - * PAR1 \0 \u2028 \xa0 \ufeff"""
BLANKS = (b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b"\t\t", b"\x0c", b" ", b"# ")
BYTES = (*SIGNS.encode().split(b" "), *BLANKS, b"\xff\xfe", b"\xff", b"\xed\xa0\x80", b"A" * 300)
ODD = (*NUMBERS, *VALUES, *BYTES)


def changed(raw: bytes, seed: int, words: Sequence[bytes] = ()) -> bytes:
    """Return an input with one to four of its parts changed; `words` are those of the format."""
    drawn = random.Random(seed)
    head, body = raw[:2], raw[2:]
    if drawn.random() < 0.05:
        head = drawn.randbytes(2)
    for _ in range(drawn.choice((1, 1, 1, 2, 4))):
        body = _lines(body, drawn) if drawn.random() < 0.2 else _parts(body, drawn, words)
    return head + body


def words_of(seeds: Sequence[bytes]) -> list[bytes]:
    """Return the words that inputs to begin with have: what a format's keys and tags are."""
    return sorted({part for seed in seeds for part in PARTS.findall(seed[2:]) if len(part) > 1})


def _parts(body: bytes, drawn: random.Random, words: Sequence[bytes]) -> bytes:
    # Long inputs are changed in a window: cutting all of them up takes longer than reading them.
    low = drawn.randrange(max(1, len(body) - 2000))
    window = body[low : low + 2000]
    parts = PARTS.findall(window)
    if not parts:
        return drawn.choice(ODD)
    at = drawn.randrange(len(parts))
    other = drawn.choice(parts)
    how = drawn.randrange(7)
    if how == 0:
        del parts[at : at + drawn.choice((1, 1, 2, 5))]
    elif how == 1:
        parts[at] = other
    elif how == 2:
        parts.insert(at, parts[at] if drawn.random() < 0.5 else other)
    elif how == 3:
        numbers = [spot for spot, part in enumerate(parts) if part.lstrip(b"-").isdigit()]
        parts[drawn.choice(numbers) if numbers else at] = drawn.choice(NUMBERS)
    elif how == 4:
        parts[at] = drawn.choice(VALUES)
    elif how == 5 and words:
        parts[at] = drawn.choice(words)
    else:
        parts.insert(at, drawn.choice(BYTES))
    return body[:low] + b"".join(parts) + body[low + 2000 :]


def _lines(body: bytes, drawn: random.Random) -> bytes:
    lines = body.split(b"\n")
    at, other = drawn.randrange(len(lines)), drawn.randrange(len(lines))
    how = drawn.randrange(5)
    if how == 0:
        del lines[at]
    elif how == 1:
        lines.insert(other, lines[at])
    elif how == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 3:
        del lines[at + 1 :]
        lines[at] = lines[at][: drawn.randrange(len(lines[at]) + 1)]
    else:
        lines[at:at] = lines[at:other]
    return b"\n".join(lines)


def damaged(raw: bytes, drawn: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """Return bytes as disks and transfers damage them; parts of them, or all, may become those of one of `others`."""
    at = drawn.randrange(len(raw)) if raw else 0
    size = drawn.choice((1, 4, 64, 512, 4096))
    how = drawn.randrange(10)
    if how < 4 and raw:
        made = bytearray(raw)
        for _ in range(drawn.choice((1, 1, 1, 2, 8))):
            made[drawn.randrange(len(made))] ^= 1 << drawn.randrange(8)
        return bytes(made)
    if how == 4:
        return raw[:at]
    if how == 5:
        return raw + drawn.choice((b"\0" * size, drawn.randbytes(size), raw[:size], raw))
    if how == 6:
        return raw[:at] + b"\0" * len(raw[at : at + size]) + raw[at + size :]
    if how == 7:
        return raw[:at] + raw[at + size :]
    if how == 8 and others:
        other = drawn.choice(others)
        return drawn.choice((other, raw[:at] + other[at:], raw[:at] + other[at : at + size] + raw[at + size :]))
    return b"" if how == 9 and drawn.random() < 0.2 else raw[:at] + drawn.randbytes(size) + raw[at + size :]
