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

from nereval_core.corpus.arrays import Bools, Int64

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
    has_same = np.zeros(len(theirs), np.bool_)
    for block in _blocks(theirs, ours):
        pred_letters, gold_letters = letters_of(theirs[block], kinds), letters_of(ours[block], kinds)
        size = np.diff(pred_letters.first)
        same = size == np.diff(gold_letters.first)
        in_pred, in_gold = (np.repeat(same, np.diff(side.first)) for side in (pred_letters, gold_letters))
        odd = np.flatnonzero(pred_letters.codes[in_pred] != gold_letters.codes[in_gold])
        same_texts = np.flatnonzero(same)
        same[same_texts[np.searchsorted(np.cumsum(size[same_texts]), odd, side="right")]] = False
        has_same[block] = same
    return has_same


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


def cause_of_difference(pred_text: str, gold_text: str) -> str | None:
    """Return in words all in which two texts with the same letters differ; None if their letters differ."""
    if not _same(pred_text, gold_text, WRITING):
        return None
    differences = [words for words in (describe(pred_text, gold_text) for describe in STORAGE_DIFFERENCES) if words]
    if not _same(_normalized_storage(pred_text), _normalized_storage(gold_text), WRITING - {QUOTES}):
        differences.append(QUOTES)
    # White space other than line ends, once all else is unified.
    if not _same(_normalized_storage(pred_text), _normalized_storage(gold_text), WRITING - {SPACE}):
        differences.append(SPACE)
    # Line ends of the same kinds may stand in other places.
    return " and ".join(filter(None, (", ".join(differences[:-1]), *differences[-1:]))) or "line ends"


def first_letter_difference(pred_text: str, gold_text: str) -> tuple[int, int]:
    """Return the character of each text at which their letters first differ; its length if the text has ended."""
    pred_letters, gold_letters = letters_of([pred_text]), letters_of([gold_text])
    shared = min(len(pred_letters.codes), len(gold_letters.codes))
    odd = np.flatnonzero(pred_letters.codes[:shared] != gold_letters.codes[:shared])
    at = int(odd[0]) if len(odd) else shared
    places = (
        int(side.source[at]) if at < len(side.source) else int(side.base[-1]) for side in (pred_letters, gold_letters)
    )
    return next(places), next(places)


def _line_ends(pred_text: str, gold_text: str) -> str:
    pred_ends, gold_ends = _ends(pred_text), _ends(gold_text)
    return (
        f"line ends ({pred_ends} here, {gold_ends} there)" if pred_ends != gold_ends and pred_ends and gold_ends else ""
    )


def _ends(text: str) -> str:
    """Return the kinds of line ends in a text, "" where it has one line."""
    bare = text.replace("\r\n", "")
    endings = (("CR LF", "\r\n" in text), ("LF", "\n" in bare), ("CR", "\r" in bare))
    return " and ".join(name for name, is_in_text in endings if is_in_text)


def _byte_order_marks(pred_text: str, gold_text: str) -> str:
    pred_has_mark, gold_has_mark = pred_text.startswith("\ufeff"), gold_text.startswith("\ufeff")
    return f"a byte-order mark ({'here' if pred_has_mark else 'there'})" if pred_has_mark != gold_has_mark else ""


def _normal_forms(pred_text: str, gold_text: str) -> str:
    if _same(pred_text, gold_text, WRITING - {FORMS}):
        return ""
    named = ["NFC" if unicodedata.is_normalized("NFC", text) else "NFD" for text in (pred_text, gold_text)]
    return f"Unicode normal forms ({named[0]} here, {named[1]} there)" if named[0] != named[1] else FORMS


STORAGE_DIFFERENCES: tuple[Callable[[str, str], str], ...] = (_line_ends, _byte_order_marks, _normal_forms)
"""Differences that come from the way in which texts are stored, each in words, or "" without it."""


def _normalized_storage(text: str) -> str:
    """Return a text with LF as line ends and without a byte-order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def letter_key(text: str, kinds: Kinds = WRITING) -> bytes:
    """Return bytes that are equal for two texts if and only if their letters are."""
    return letters_of([text], kinds).codes.tobytes()


def _same(pred_text: str, gold_text: str, kinds: Kinds) -> bool:
    return letter_key(pred_text, kinds) == letter_key(gold_text, kinds)


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
    marks = np.array(sorted(ranks), np.uint32)
    rank = np.array([ranks[code] for code in marks.tolist()], np.int64)
    ranks_before, ranks_after = (rank[np.searchsorted(marks, codes[places])] for places in (after, after + 1))
    sealed: list[int] = []
    done = 0
    edges = {0, len(codes), *first.tolist()}
    for place in after[(ranks_before > ranks_after) & (ranks_after > 0)].tolist():
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
    own_letters: Letters, other_letters: Letters, words: tuple[str, str], text: Int64, place: Int64, *, starts: bool
) -> tuple[Int64, NDArray[np.int8]]:
    """Project starts, or ends, from one side to the other; `words` are the concatenated texts of each side."""
    at = place + own_letters.base[text]
    letter = own_letters.before[at].astype(np.int64)
    # A start belongs to the character after it, an end to the one before.
    beside = at if starts else at - 1
    spaced = own_letters.before[beside] == own_letters.before[beside + 1]
    # The letter that determines the character of the other text.
    letter_inside = (letter if starts else letter - 1).clip(0, max(len(other_letters.source) - 1, 0))
    edges = (
        other_letters.source[letter_inside].astype(np.int64) + (not starts)
        if len(other_letters.source)
        else np.zeros(len(at), np.int64)
    )
    why = np.where(other_letters.before[edges] == letter, MOVED, IN_CHARACTER).astype(np.int8)
    for side in (own_letters, other_letters):
        if len(side.sealed):
            why[np.isin(letter, side.sealed)] = IN_CHARACTER
    for row in np.flatnonzero(spaced).tolist():
        own = int(text[row])
        gap, other = (_gap(side, int(letter[row]), own) for side in (own_letters, other_letters))
        if words[0][slice(*gap)] == words[1][slice(*other)]:
            edges[row], why[row] = other[0] + int(at[row]) - gap[0], MOVED
        else:
            why[row] = IN_SPACE
    return edges - other_letters.base[text], why


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
    low = n_characters = 0
    for number, pair in enumerate(zip(theirs, ours, strict=True)):
        size = max(map(len, pair))
        if number > low and n_characters + size > BLOCK_CHARACTERS:
            yield slice(low, number)
            low, n_characters = number, 0
        n_characters += size
    if low < len(theirs):
        yield slice(low, len(theirs))
