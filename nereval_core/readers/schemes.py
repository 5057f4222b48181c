"""Tag schemes as data: which tag may follow which, and how a row of tags is cut into chunks.

A tag is `O` or a letter, the first `-`, and a type, which may itself contain `-`. Offsets are tokens, end exclusive.
The edge of a sentence counts as `O`. Letters: B begin, I and M inside, E and L end, S and U single.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.errors import FormatError, quoted

LETTERS = "OBIMELSU"

Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
Repair = Literal["conlleval", "discard"]


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
        """Whether a transition is legal, shape (2: type changes or stays, letter before, letter after)."""
        return self.parts | _table(set(), self.continues)

    @cached_property
    def parts(self) -> Bools:
        """Whether a legal transition parts what stands before from what stands after, shape as `legal`."""
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
    one, two, three = (frozenset(pairs.split()) for pairs in (continues, touches, changes))
    return Scheme(name, one, two, three, written, **more)


# Where several fit a file and decode it alike, the first is taken.
SCHEMES: Mapping[str, Scheme] = MappingProxyType(
    {
        scheme.name: scheme
        for scheme in (
            _scheme("IOB2", "BI II", "BB IB", "OB BO IO BB IB", "BBII"),
            _bracketed("IOBES", "B", "I", "E", "S"),
            _bracketed("BILOU", "B", "I", "L", "U"),
            _bracketed("BMES", "B", "M", "E", "S"),
            _scheme("IOB1", "BI II", "BB IB", "OI BO IO BI II", "IIII", parted="B"),
            _scheme("IOE2", "II IE", "EI EE", "OI OE EO EI EE", "EIIE"),
            _scheme("IOE1", "II IE", "EI EE", "OI OE IO II IE", "IIII", parted="E", parts_end=True),
            _scheme("IO", "II", "", "OI IO II", "IIII"),
        )
    }
)
ALIASES = MappingProxyType({"BIO": "IOB2", "BIO2": "IOB2", "BIOES": "IOBES", "BILUO": "BILOU", "BIOLU": "BILOU"})

# The table of conlleval: a chunk also begins where a type changes or something of these is met.
STARTERS = "BSU"
ENDERS = "ELSU"
CONLLEVAL = _table(
    {before + after for before in LETTERS for after in LETTERS},
    {before + after for before in LETTERS for after in LETTERS if after in STARTERS or before in ENDERS},
)


def scheme_named(name: str) -> Scheme:
    """Return the scheme of this name in any case; BIO, BIOES and BILUO are known too.

    Raises:
        FormatError: there is none.
    """
    upper = name.upper()
    if (known := SCHEMES.get(ALIASES.get(upper, upper))) is None:
        remedy = f"choose one of {', '.join(SCHEMES)}"
        raise FormatError.single("--scheme", None, f"no tag scheme is called {quoted(name)}", remedy)
    return known


@dataclass(frozen=True, eq=False)
class Tags:
    """The tags of many sentences in a row.

    `letters` (index into LETTERS) and `types` (index into `names`, -1 for `O`) have shape (tokens,); sentence s is
    `[first[s], first[s + 1])`. `odd` lists the tokens whose tag is none; they count as `O`.
    """

    letters: NDArray[np.int8]
    types: NDArray[np.int32]
    names: tuple[str, ...]
    first: Int64
    odd: tuple[int, ...] = ()

    @classmethod
    def of(cls, tags: Sequence[str], first: Sequence[int] | Int64 | None = None) -> Tags:
        """Return the tags parsed; without `first` they are one sentence."""
        number = {tag: code for code, tag in enumerate(dict.fromkeys(tags))}
        codes = np.fromiter(map(number.__getitem__, tags), np.int64, len(tags))
        names: dict[str, int] = {}
        letters, types = [], []
        strange = []
        for code, tag in enumerate(number):
            letter, _, name = tag.partition("-")
            if tag == "O":
                letters.append(0)
                types.append(-1)
            elif len(letter) == 1 and letter in LETTERS[1:] and name:
                letters.append(LETTERS.index(letter))
                types.append(names.setdefault(name, len(names)))
            else:
                letters.append(0)
                types.append(-1)
                strange.append(code)
        odd = np.flatnonzero(np.isin(codes, strange)).tolist() if strange else []
        edges = np.array([0, len(tags)] if first is None else first, np.int64)
        return cls(np.array(letters, np.int8)[codes], np.array(types, np.int32)[codes], tuple(names), edges, tuple(odd))

    def __len__(self) -> int:
        return len(self.letters)

    def tag(self, token: int) -> str:
        letter = LETTERS[self.letters[token]]
        return letter if letter == "O" else f"{letter}-{self.names[self.types[token]]}"

    @cached_property
    def padded(self) -> tuple[NDArray[np.int8], Int64, Bools]:
        """Letters and token numbers with an `O` (token -1) round each sentence, and where the type stays the same."""
        sizes = np.diff(self.first)
        place = np.arange(len(self)) + np.repeat(np.arange(len(sizes)), sizes) + 1
        letters = np.zeros(len(self) + len(sizes) + 1, np.int8)
        letters[place] = self.letters
        types = np.full(len(letters), -1, np.int32)
        types[place] = self.types
        tokens = np.full(len(letters), -1, np.int64)
        tokens[place] = np.arange(len(self))
        return letters, tokens, types[1:] == types[:-1]

    def look_up(self, table: Bools) -> Bools:
        """Return what a table of transitions says of each, shape (padded tags - 1,)."""
        letters, _, same = self.padded
        return table[same.astype(np.intp), letters[:-1], letters[1:]]


@dataclass(frozen=True, eq=False)
class Chunks:
    """Decoded spans: first token, token after the last, type (index into the tags' `names`); in order.

    `mended` counts the malformed chunks that were kept by conlleval's table or discarded.
    """

    start: Int64
    end: Int64
    type: NDArray[np.int32]
    mended: int = 0


class Fault(NamedTuple):
    """A tag that breaks a scheme: the token and what is wrong."""

    token: int
    found: str


class Detection(NamedTuple):
    """The scheme that fits best and how often it is broken; `rivals` fit too but decode differently from `parting` on.

    The scheme is None where no tag but `O` occurs.
    """

    scheme: Scheme | None
    broken: int
    rivals: tuple[str, ...] = ()
    parting: int = -1


def detect(tags: Tags, schemes: Iterable[Scheme] = tuple(SCHEMES.values())) -> Detection:
    """Return the scheme under which all sentences are legal, or else the one broken least often."""
    if not tags.letters.any():
        return Detection(None, 0)
    broken = {scheme.name: int(np.count_nonzero(~tags.look_up(scheme.legal))) for scheme in schemes}
    known = {scheme.name: scheme for scheme in schemes}
    least = min(broken.values())
    fitting = [known[name] for name, count in broken.items() if count == least]
    best = fitting[0]
    if least:
        return Detection(best, least)
    chunks = decode(tags, best)
    for other in fitting[1:]:
        parting = _parting(chunks, decode(tags, other))
        if parting is not None:
            return Detection(best, 0, tuple(scheme.name for scheme in fitting), parting)
    return Detection(best, 0)


def _parting(one: Chunks, two: Chunks) -> int | None:
    """Return the first token where two decodings differ."""
    ones = set(zip(one.start.tolist(), one.end.tolist(), one.type.tolist(), strict=True))
    twos = set(zip(two.start.tolist(), two.end.tolist(), two.type.tolist(), strict=True))
    return min((start for start, _, _ in ones ^ twos), default=None)


def faults(tags: Tags, scheme: Scheme) -> list[Fault]:
    """Return each tag that breaks the scheme, in order."""
    letters, tokens, _ = tags.padded
    gaps = np.flatnonzero(~tags.look_up(scheme.legal))
    found: dict[int, str] = {}
    for gap in gaps.tolist():
        before, after = int(letters[gap]), int(letters[gap + 1])
        one, two = int(tokens[gap]), int(tokens[gap + 1])
        for token, letter, other, edge, word in (
            (one, before, two, "at the end of a sentence", "before"),
            (two, after, one, "at the start of a sentence", "after"),
        ):
            if LETTERS[letter] not in scheme.letters:
                letters_known = ", ".join(scheme.letters)
                found[token] = (
                    f"{quoted(tags.tag(token))} is no tag of {scheme.name}, whose letters are {letters_known}"
                )
            elif not (scheme.legal[0, letter, 0] if word == "before" else scheme.legal[0, 0, letter]) and letter:
                where = edge if other < 0 else f"{word} {quoted(tags.tag(other))}"
                found.setdefault(token, f"{quoted(tags.tag(token))} {where} is not legal in {scheme.name}")
    return [Fault(token, found[token]) for token in sorted(found)]


def decode(tags: Tags, scheme: Scheme, repair: Repair | None = None) -> Chunks:
    """Return the chunks of tags that are legal in the scheme, or mended: see `faults` first.

    With "conlleval" malformed chunks are cut by that program's table (an orphan I begins a chunk); with "discard" they
    are dropped. Malformed is a chunk that begins or ends with a letter that cannot, or holds a foreign letter.
    """
    letters, tokens, _ = tags.padded
    legal = tags.look_up(scheme.legal)
    sound = bool(legal.all())
    assert sound or repair, "malformed tags are refused or repaired"
    parts = tags.look_up(scheme.parts if sound else CONLLEVAL)
    begins = np.flatnonzero(parts & (letters[1:] > 0))
    ends = np.flatnonzero(parts & (letters[:-1] > 0))
    start, end = tokens[begins + 1], tokens[ends] + 1
    kind = tags.types[start]
    if sound:
        return Chunks(start, end, kind)
    # A transition is blamed on the chunk whose letter could not stand there next to O either.
    bad = ~legal[begins] & ~scheme.legal[0, 0, letters[begins + 1]]
    bad |= ~legal[ends] & ~scheme.legal[0, letters[ends], 0]
    illegal: Int64 = np.concatenate((np.zeros(1, np.int64), np.cumsum(~legal)))
    bad |= illegal[ends] > illegal[begins + 1]
    mended = int(bad.sum())
    if repair == "discard":
        start, end, kind = start[~bad], end[~bad], kind[~bad]
    return Chunks(start, end, kind, mended)


def unsayable(spans: Sequence[tuple[int, int, str]], scheme: Scheme) -> Iterator[tuple[int, str]]:
    """Yield the index of each span (start, end, type; sorted) that tags cannot express, and why."""
    reach = 0
    last = -1
    for number, (start, end, kind) in enumerate(spans):
        if number and start < reach:
            yield number, "overlaps another span, which tags cannot say"
        elif last >= 0 and start == reach and kind == spans[last][2] and not scheme.touches:
            yield number, f"touches another span of its type, which {scheme.name} cannot say"
        if end > reach:
            reach, last = end, number


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
