"""Texts reduced to their letters, so that spans can be projected between texts that differ in writing alone.

The letters of a text are its characters without white space, with quotes and dashes unified and composed characters
decomposed. In two texts with the same letters, letter i of one corresponds to letter i of the other, and spans that
begin and end with the same letters are the same span.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Bools, Int64

Kinds = frozenset[str]

SPACE, QUOTES, FORMS = "white space", "quotes or dashes", "Unicode normal forms"
SPACING: Kinds = frozenset({SPACE})
"""The difference between texts that are concatenated tokens, whatever the tokens."""
WRITING: Kinds = frozenset({SPACE, QUOTES, FORMS})
"""All differences that aligned texts may have."""

WIDTHLESS = "\ufeff\u200b\u2060"
"""The byte-order mark and spaces without width."""
# A double quote is two single ones: `` and '' stand for it in many corpora of newspapers.
UNIFIED: Mapping[str, str] = MappingProxyType(
    dict.fromkeys("'`´‘’‚‛′ʼ‹›", "'") | dict.fromkeys('"“”„‟″«»', "''") | dict.fromkeys("-‐‑‒–—―−", "-")
)
"""Quotes and dashes with the letters that they count as."""

BLOCK_CHARACTERS = 1 << 20
"""Characters that are reduced at once, unless a single document is longer."""

SHORT_CHARACTERS = 1 << 12
"""Sorting fewer characters than this is quicker than a table of all code points."""

MOVED, IN_SPACE, IN_CHARACTER = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Letters:
    """The letters of concatenated texts, with their places.

    `first` (texts + 1,) counts the letters before each text, `base` (texts + 1,) the characters. `codes` and `source`
    (letters,) are code point and character of each letter, `before` (characters + 1,) counts the letters before each
    character. `sealed` are letters before which no span may begin or end: combining marks that were reordered.
    """

    first: Int64
    base: Int64
    codes: NDArray[np.uint32]
    source: NDArray[np.int32]
    before: NDArray[np.int32]
    sealed: Int64


def letters_of(texts: Sequence[str], kinds: Kinds = WRITING) -> Letters:
    """Reduce texts to their letters, ignoring differences of these kinds."""
    base = _reached([len(text) for text in texts])
    characters = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    used, number = _numbered(characters)
    written = [_letters_of_character(code, kinds) for code in used.tolist()]
    sizes = np.array([len(letters) for letters in written], np.int32)[number]
    before = np.concatenate((np.zeros(1, np.int32), np.cumsum(sizes, dtype=np.int32)))
    widest = max(map(len, written), default=0)
    table = np.zeros((max(widest, 1), len(written)), np.uint32)
    for column, letters in enumerate(written):
        table[: len(letters), column] = letters
    source = np.repeat(np.arange(len(characters), dtype=np.int32), sizes)
    codes = table[0][number[source]]
    for further in range(1, widest):
        # Few characters have more than one letter.
        rows = np.flatnonzero(sizes > further)
        codes[before[rows] + further] = table[further][number[rows]]
    first = before[base].astype(np.int64)
    return Letters(
        first, base, codes, source, before, _sort_combining_marks(codes, first) if FORMS in kinds else first[:0]
    )


def same_letters(theirs: Sequence[str], ours: Sequence[str], kinds: Kinds = WRITING) -> Bools:
    """Return for each of their texts whether it has the letters of our text with the same number."""
    found = np.zeros(len(theirs), np.bool_)
    for block in _blocks(theirs, ours):
        one, two = letters_of(theirs[block], kinds), letters_of(ours[block], kinds)
        size = np.diff(one.first)
        same = size == np.diff(two.first)
        here, there = (np.repeat(same, np.diff(side.first)) for side in (one, two))
        odd = np.flatnonzero(one.codes[here] != two.codes[there])
        some = np.flatnonzero(same)
        same[some[np.searchsorted(np.cumsum(size[some]), odd, side="right")]] = False
        found[block] = same
    return found


def project_intervals(
    theirs: Sequence[str], ours: Sequence[str], text: Int64, start: Int64, end: Int64, kinds: Kinds = WRITING
) -> tuple[Int64, Int64, NDArray[np.int8]]:
    """Project intervals in their texts onto ours, which have the same letters.

    `text` is the number of each interval's text. Return starts, ends and a code: MOVED for an interval with a place in
    our text, IN_SPACE for one that begins or ends in white space that differs in ours, IN_CHARACTER for one that begins
    or ends inside one character of ours.
    """
    low, high, why = start.copy(), end.copy(), np.zeros(len(text), np.int8)
    order = np.argsort(text, kind="stable")
    sorted_text = text[order]
    for block in _blocks(theirs, ours):
        bounds = np.searchsorted(sorted_text, (block.start, block.stop))
        rows = order[bounds[0] : bounds[1]]
        if len(rows):
            sides = letters_of(theirs[block], kinds), letters_of(ours[block], kinds)
            words = "".join(theirs[block]), "".join(ours[block])
            own = text[rows] - block.start
            low[rows], why[rows] = _project_edges(*sides, words, own, start[rows], starts=True)
            high[rows], more = _project_edges(*sides, words, own, end[rows], starts=False)
            why[rows] = np.maximum(why[rows], more)
    return low, high, why


def cause_of_difference(here: str, there: str) -> str | None:
    """Return in words all in which two texts with the same letters differ; None if their letters differ."""
    if not _same(here, there, WRITING):
        return None
    found = [words for words in (describe(here, there) for describe in STORAGE_DIFFERENCES) if words]
    if not _same(_normalized_storage(here), _normalized_storage(there), WRITING - {QUOTES}):
        found.append(QUOTES)
    # White space other than line ends, once all else is unified.
    if not _same(_normalized_storage(here), _normalized_storage(there), WRITING - {SPACE}):
        found.append(SPACE)
    # Line ends of the same kinds may stand in other places.
    return " and ".join(filter(None, (", ".join(found[:-1]), *found[-1:]))) or "line ends"


def first_letter_difference(here: str, there: str) -> tuple[int, int]:
    """Return the character of each text at which their letters first differ; its length if the text has ended."""
    one, two = letters_of([here]), letters_of([there])
    shared = min(len(one.codes), len(two.codes))
    odd = np.flatnonzero(one.codes[:shared] != two.codes[:shared])
    at = int(odd[0]) if len(odd) else shared
    places = (int(side.source[at]) if at < len(side.source) else int(side.base[-1]) for side in (one, two))
    return next(places), next(places)


def _line_ends(here: str, there: str) -> str:
    one, two = _ends(here), _ends(there)
    return f"line ends ({one} here, {two} there)" if one != two and one and two else ""


def _ends(text: str) -> str:
    """Return the kinds of line ends in a text, "" where it has one line."""
    bare = text.replace("\r\n", "")
    held = (("CR LF", "\r\n" in text), ("LF", "\n" in bare), ("CR", "\r" in bare))
    return " and ".join(name for name, there in held if there)


def _byte_order_marks(here: str, there: str) -> str:
    one, two = here.startswith("\ufeff"), there.startswith("\ufeff")
    return f"a byte-order mark ({'here' if one else 'there'})" if one != two else ""


def _normal_forms(here: str, there: str) -> str:
    if _same(here, there, WRITING - {FORMS}):
        return ""
    named = ["NFC" if unicodedata.is_normalized("NFC", text) else "NFD" for text in (here, there)]
    return f"Unicode normal forms ({named[0]} here, {named[1]} there)" if named[0] != named[1] else FORMS


STORAGE_DIFFERENCES: tuple[Callable[[str, str], str], ...] = (_line_ends, _byte_order_marks, _normal_forms)
"""Differences that come from the way in which texts are stored, each in words, or "" without it."""


def _normalized_storage(text: str) -> str:
    """Return a text with LF as line ends and without a byte-order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def letter_key(text: str, kinds: Kinds = WRITING) -> bytes:
    """Return bytes that are equal for two texts if and only if their letters are."""
    return letters_of([text], kinds).codes.tobytes()


def _same(here: str, there: str, kinds: Kinds) -> bool:
    return letter_key(here, kinds) == letter_key(there, kinds)


def _numbered(characters: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """Return the distinct code points, sorted, and for each character the index of its own."""
    if len(characters) < SHORT_CHARACTERS:
        used, number = np.unique(characters, return_inverse=True)
        return used, number.astype(np.int32)
    used = np.flatnonzero(np.bincount(characters)).astype(np.uint32)
    place = np.zeros(int(used[-1]) + 1, np.int32)
    place[used] = np.arange(len(used))
    return used, place[characters]


@cache
def _letters_of_character(code: int, kinds: Kinds) -> tuple[int, ...]:
    """Return the letters of a character."""
    text = unicodedata.normalize("NFD", chr(code)) if FORMS in kinds else chr(code)
    if SPACE in kinds:
        text = "".join(letter for letter in text if not letter.isspace() and letter not in WIDTHLESS)
    if QUOTES in kinds:
        text = "".join(UNIFIED.get(letter, letter) for letter in text)
    return tuple(map(ord, text))


def _sort_combining_marks(codes: NDArray[np.uint32], first: Int64) -> Int64:
    """Sort combining marks canonically, in place; return the letters inside the runs whose order changed."""
    # No combining mark has a lower code point.
    high = np.flatnonzero(codes >= 0x300)
    after = high[:-1][np.diff(high) == 1]
    if not len(after):
        return first[:0]
    ranks = {code: unicodedata.combining(chr(code)) for code in np.unique(codes[high]).tolist()}
    known = np.array(sorted(ranks), np.uint32)
    rank = np.array([ranks[code] for code in known.tolist()], np.int64)
    one, two = (rank[np.searchsorted(known, codes[places])] for places in (after, after + 1))
    sealed: list[int] = []
    done = 0
    edges = {0, len(codes), *first.tolist()}
    for place in after[(one > two) & (two > 0)].tolist():
        if place < done or place + 1 in edges:
            continue
        low, done = place, place + 2
        while low not in edges and ranks.get(int(codes[low - 1]), 0):
            low -= 1
        while done not in edges and ranks.get(int(codes[done]), 0):
            done += 1
        codes[low:done] = sorted(codes[low:done].tolist(), key=ranks.__getitem__)
        sealed += range(low + 1, done)
    return np.array(sealed, np.int64)


def _project_edges(
    one: Letters, two: Letters, words: tuple[str, str], text: Int64, place: Int64, *, starts: bool
) -> tuple[Int64, NDArray[np.int8]]:
    """Project starts, or ends, from one side to the other; `words` are the concatenated texts of each side."""
    at = place + one.base[text]
    letter = one.before[at].astype(np.int64)
    # A start belongs to the character after it, an end to the one before.
    beside = at if starts else at - 1
    spaced = one.before[beside] == one.before[beside + 1]
    # The letter that determines the character of the other text.
    wanted = (letter if starts else letter - 1).clip(0, max(len(two.source) - 1, 0))
    found = two.source[wanted].astype(np.int64) + (not starts) if len(two.source) else np.zeros(len(at), np.int64)
    why = np.where(two.before[found] == letter, MOVED, IN_CHARACTER).astype(np.int8)
    for side in (one, two):
        if len(side.sealed):
            why[np.isin(letter, side.sealed)] = IN_CHARACTER
    for row in np.flatnonzero(spaced).tolist():
        own = int(text[row])
        gap, other = (_gap(side, int(letter[row]), own) for side in (one, two))
        if words[0][slice(*gap)] == words[1][slice(*other)]:
            found[row], why[row] = other[0] + int(at[row]) - gap[0], MOVED
        else:
            why[row] = IN_SPACE
    return found - two.base[text], why


def _gap(side: Letters, letter: int, text: int) -> tuple[int, int]:
    """Return start and end of the characters without letters between a letter and the one before it."""
    begins, ends = int(side.first[text]), int(side.first[text + 1])
    low = int(side.base[text]) if letter == begins else int(side.source[letter - 1]) + 1
    high = int(side.base[text + 1]) if letter == ends else int(side.source[letter])
    return low, high


def _reached(sizes: Sequence[int]) -> Int64:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(np.array(sizes, np.int64))))


def _blocks(theirs: Sequence[str], ours: Sequence[str]) -> Iterator[slice]:
    """Yield runs of texts with at most BLOCK_CHARACTERS characters, or one longer text."""
    low = held = 0
    for number, pair in enumerate(zip(theirs, ours, strict=True)):
        size = max(map(len, pair))
        if number > low and held + size > BLOCK_CHARACTERS:
            yield slice(low, number)
            low, held = number, 0
        held += size
    if low < len(theirs):
        yield slice(low, len(theirs))
