"""Tag schemes as data: which tag may follow which, rows of tags as arrays, and spans written as tags.

A tag is `O` or a letter, the first `-`, and a type, which may itself contain `-`. Offsets are tokens, end exclusive.
The edge of a sentence counts as `O`. Letters: B begin, I and M inside, E and L end, S, U and W single.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus.arrays import Bools, Int64
from nereval_core.problems import FormatError, quoted

LETTERS = "OBIMELSUW"

Repair = Literal["conlleval", "discard"]
NO_LETTER = -1
"""Stands for the letter of a cell that is not a tag."""
TRANSITIONS = len(LETTERS) ** 2
"""Transitions from letter to letter; a flat table has those where the type changes, then those where it stays."""


@dataclass(frozen=True)
class Scheme:
    """The legal transitions of a scheme, each written as two letters, and the letters its writer uses.

    `continues` stays in one chunk; `touches` begins another chunk of the same type; `changes` goes from or to `O` or to
    a chunk of another type. `O` after `O` is always legal. `written` is the letter of a chunk of one token, and of a
    longer chunk's first, inner and last token; `parted` replaces the first (or, with `parts_end`, the last) letter of a
    chunk that touches one of the same type.
    """

    name: str
    continues: frozenset[str]
    touches: frozenset[str]
    changes: frozenset[str]
    written: str
    parted: str = ""
    parts_end: bool = False

    @cached_property
    def letters(self) -> str:
        """The letters of the scheme, `O` the last."""
        used = set("".join(self.continues | self.touches | self.changes))
        return "".join(letter for letter in LETTERS[1:] + "O" if letter in used)

    @cached_property
    def legal(self) -> Bools:
        """True for legal transitions, shape (2: type changes or stays, letter before, letter after)."""
        return self.parts | _table(set(), self.continues)

    @cached_property
    def parts(self) -> Bools:
        """True for legal transitions between two chunks, or a chunk and `O`; shape as `legal`."""
        return _table(self.changes, self.touches | {"OO"})


def _table(changes: Iterable[str], stays: Iterable[str]) -> Bools:
    table = np.zeros((2, len(LETTERS), len(LETTERS)), np.bool_)
    for same, pairs in ((0, changes), (1, stays)):
        for pair in pairs:
            table[same, LETTERS.index(pair[0]), LETTERS.index(pair[1])] = True
    return table


def _bracketed(name: str, first: str, inner: str, last: str, single: str) -> Scheme:
    """Return a scheme that marks where each chunk begins and ends."""
    begins, ends = (first, single), (last, single)
    touches = {end + begin for end in ends for begin in begins}
    outside = {"O" + begin for begin in begins} | {end + "O" for end in ends}
    continues = {first + inner, first + last, inner + inner, inner + last}
    return Scheme(
        name,
        frozenset(continues),
        frozenset(touches),
        frozenset(touches | outside),
        single + first + inner + last,
    )


def _scheme(name: str, continues: str, touches: str, changes: str, written: str, **more: Any) -> Scheme:
    return Scheme(
        name, frozenset(continues.split()), frozenset(touches.split()), frozenset(changes.split()), written, **more
    )


# Where several fit a file and decode it alike, the first is taken.
SCHEMES: Mapping[str, Scheme] = MappingProxyType(
    {
        scheme.name: scheme
        for scheme in (
            _scheme("IOB2", "BI II", "BB IB", "OB BO IO BB IB", "BBII"),
            _bracketed("IOBES", "B", "I", "E", "S"),
            _bracketed("BILOU", "B", "I", "L", "U"),
            _bracketed("BMES", "B", "M", "E", "S"),
            _bracketed("BMEWO", "B", "M", "E", "W"),
            _scheme("IOB1", "BI II", "BB IB", "OI BO IO BI II", "IIII", parted="B"),
            _scheme("IOE2", "II IE", "EI EE", "OI OE EO EI EE", "EIIE"),
            _scheme("IOE1", "II IE", "EI EE", "OI OE IO II IE", "IIII", parted="E", parts_end=True),
            _scheme("IO", "II", "", "OI IO II", "IIII"),
        )
    }
)
ALIASES = MappingProxyType(
    {"BIO": "IOB2", "BIO2": "IOB2", "BIOES": "IOBES", "BILUO": "BILOU", "BIOLU": "BILOU", "BMEOW": "BMEWO"}
)

# The table of conlleval: a chunk also begins where a type changes or something of these is met.
STARTERS = "BSUW"
ENDERS = "ELSUW"
CONLLEVAL = _table(
    {before + after for before in LETTERS for after in LETTERS},
    {before + after for before in LETTERS for after in LETTERS if after in STARTERS or before in ENDERS},
)


def scheme_named(name: str, *, option: str = "--scheme") -> Scheme:
    """Return the scheme of this name in any case; BIO, BIOES, BILUO and BMEOW are known too.

    `option` is the option that names it.

    Raises:
        FormatError: there is none.
    """
    upper = name.upper()
    if (scheme := SCHEMES.get(ALIASES.get(upper, upper))) is None:
        remedy = f"choose one of {', '.join(SCHEMES)}"
        raise FormatError.single(option, None, f"no tag scheme is called {quoted(name)}", remedy)
    return scheme


def parse_tag(cell: str) -> tuple[str, str] | None:
    """Return the letter and the type of a tag in the usual notation, `O` and "" for outside; None for other cells."""
    letter, _, kind = cell.partition("-")
    if cell == "O":
        return "O", ""
    return (letter, kind) if len(letter) == 1 and letter in LETTERS[1:] and kind else None


@dataclass(frozen=True, eq=False)
class Tags:
    """The tags of many sentences in a row, `O` left out.

    `tokens`, `letters` (index into LETTERS) and `types` (index into `names`) have shape (tokens tagged,), in the order
    of the tokens; sentence s is `[first[s], first[s + 1])`. `odd` lists the tokens whose cell is not a tag; they count
    as `O`.
    """

    tokens: Int64
    letters: NDArray[np.int8]
    types: NDArray[np.int32]
    names: tuple[str, ...]
    first: Int64
    odd: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        tags: Sequence[str],
        first: Sequence[int] | Int64 | None = None,
        parse: Callable[[str], tuple[str, str] | None] = parse_tag,
    ) -> Tags:
        """Return the tags parsed; without `first` they are one sentence, `parse` is as in `coded`."""
        number = {tag: code for code, tag in enumerate(dict.fromkeys(tags))}
        codes = np.fromiter(map(number.__getitem__, tags), np.int64, len(tags))
        edges = np.array([0, len(tags)] if first is None else first, np.int64)
        return cls.coded(np.arange(len(tags)), codes, tuple(number), edges, parse)

    @classmethod
    def coded(
        cls,
        tokens: Int64,
        codes: NDArray[np.integer[Any]],
        tags: Sequence[str],
        first: Int64,
        parse: Callable[[str], tuple[str, str] | None] = parse_tag,
    ) -> Tags:
        """Return the tags of these tokens, coded as places in `tags`; all other tokens have `O`.

        `parse` returns the letter and the type of a tag, None where it is not a tag.
        """
        names: dict[str, int] = {}
        letters, types = [], []
        for tag in tags:
            letter, kind = parse(tag) or ("", "")
            letters.append(LETTERS.index(letter) if letter else NO_LETTER)
            types.append(names.setdefault(kind, len(names)) if kind else -1)
        if not tags:
            return cls(tokens, np.zeros(0, np.int8), np.zeros(0, np.int32), (), first)
        token_letters = np.array(letters, np.int8)[codes]
        token_types = np.array(types, np.int32)[codes]
        odd = tuple(tokens[token_letters < 0].tolist()) if min(letters) < 0 else ()
        if min(letters) <= 0:
            is_inside = token_letters > 0
            tokens, token_letters, token_types = tokens[is_inside], token_letters[is_inside], token_types[is_inside]
        return cls(tokens, token_letters, token_types, tuple(names), first, odd)

    def __len__(self) -> int:
        return int(self.first[-1])

    def tag(self, token: int) -> str:
        place = int(np.searchsorted(self.tokens, token))
        if place == len(self.tokens) or self.tokens[place] != token:
            return "O"
        return f"{LETTERS[self.letters[place]]}-{self.names[self.types[place]]}"

    @cached_property
    def begins(self) -> Bools:
        """True where a sentence begins at a token, or ends before it, shape (tokens + 1,)."""
        begins = np.zeros(len(self) + 1, np.bool_)
        begins[self.first] = True
        return begins

    @cached_property
    def follows(self) -> Bools:
        """True where the token before a tagged one is tagged too, in the same sentence; one more entry is False."""
        follows = np.zeros(len(self.tokens) + 1, np.bool_)
        follows[1:-1] = np.diff(self.tokens) == 1
        follows[:-1] &= ~self.begins.take(self.tokens)
        return follows

    @cached_property
    def entries(self) -> NDArray[np.uint8]:
        """The transition into each tagged token, an index into a flat table of transitions."""
        before = np.zeros(len(self.tokens), np.uint8)
        before[1:] = self.letters[:-1]
        before *= self.follows[:-1]
        same = np.zeros(len(self.tokens), np.bool_)
        same[1:] = self.types[1:] == self.types[:-1]
        same &= self.follows[:-1]
        before *= len(LETTERS)
        before += self.letters.view(np.uint8)
        return before + same * np.uint8(TRANSITIONS)

    @cached_property
    def exits(self) -> NDArray[np.uint8]:
        """The transition from each tagged token to `O`, or to the end of its sentence, as in `entries`."""
        return self.letters.view(np.uint8) * np.uint8(len(LETTERS))

    @cached_property
    def counts(self) -> Int64:
        """Count of each transition but that from `O` to `O`, shape of a flat table."""
        # Those that go on to a tagged token are counted apart, and dropped: picking the others takes longer.
        out = np.bincount(self.exits + self.follows[1:] * np.uint8(TRANSITIONS), minlength=2 * TRANSITIONS)
        out[TRANSITIONS:] = 0
        return np.bincount(self.entries, minlength=2 * TRANSITIONS) + out

    def after(self, table: Bools) -> Bools:
        """Return the entry of a flat table for the transition out of each tagged token."""
        outcomes = table.take(self.exits)
        outcomes[:-1] = np.where(self.follows[1:-1], table.take(self.entries[1:]), outcomes[:-1])
        return outcomes


def unsayable(spans: Sequence[tuple[int, int, str]], scheme: Scheme) -> Iterator[tuple[int, str]]:
    """Yield the index of each span (start, end, type; sorted) that tags cannot express, and why.

    Of spans that overlap tags express the longest, of equally long ones the first.
    """
    apart = _apart(spans)
    last = -1
    for number, (start, _, kind) in enumerate(spans):
        if number not in apart:
            yield number, "overlaps another span, which tags cannot say"
            continue
        if last >= 0 and start == spans[last][1] and kind == spans[last][2] and not scheme.touches:
            yield number, f"touches another span of its type, which {scheme.name} cannot say"
        last = number


def _apart(spans: Sequence[tuple[int, int, str]]) -> Collection[int]:
    """Return spans of which no two overlap, long ones before short ones."""
    if all(span[1] <= after[0] for span, after in pairwise(spans)):
        return range(len(spans))
    apart: list[tuple[int, int, int]] = []
    for number in sorted(range(len(spans)), key=lambda number: (spans[number][0] - spans[number][1], number)):
        start, end, _ = spans[number]
        at = bisect_left(apart, (start,))
        if (at == 0 or apart[at - 1][1] <= start) and (at == len(apart) or end <= apart[at][0]):
            apart.insert(at, (start, end, number))
    return {number for *_, number in apart}


def encode(spans: Sequence[tuple[int, int, str]], length: int, scheme: Scheme) -> list[str]:
    """Return the tags of a sentence of `length` tokens with these spans (start, end, type; sorted).

    Raises:
        FormatError: a span that the scheme cannot express.
    """
    for number, why in unsayable(spans, scheme):
        start, end, kind = spans[number]
        raise FormatError.single("tags", None, f"span [{start}, {end}) {quoted(kind)} {why}", "leave it out")
    tags = ["O"] * length
    single, first, inner, last = tuple(scheme.written)
    for number, (start, end, kind) in enumerate(spans):
        letters = [first, *[inner] * (end - start - 2), last] if end - start > 1 else [single]
        if scheme.parted:
            near = number + 1 if scheme.parts_end else number - 1
            if 0 <= near < len(spans) and spans[near][2] == kind:
                if scheme.parts_end and spans[near][0] == end:
                    letters[-1] = scheme.parted
                elif not scheme.parts_end and spans[near][1] == start:
                    letters[0] = scheme.parted
        tags[start:end] = [f"{letter}-{kind}" for letter in letters]
    return tags
