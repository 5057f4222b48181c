"""seqeval.scheme: the tag schemes of strict mode as classes, and the entities of tags in a scheme.

seqeval's own classes are taken as schemes as well. The transitions are those of the convention `seqeval-strict`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from nereval_core.conventions.seqeval.entities import LETTERS, SCHEMES, detect_scheme, parse_tags, strict_entities
from nereval_core.conventions.tag_sequences import number_tags

PREFIXES = "IOBESUL"
"""All letters, in the order in which seqeval lists them."""
STAYS, CHANGES = ("=", "*"), ("!", "*")
"""The signs of transitions with and without the same type."""


class Prefix(enum.Flag):
    """The letters of tags."""

    I = enum.auto()  # noqa: E741
    O = enum.auto()  # noqa: E741
    B = enum.auto()
    E = enum.auto()
    S = enum.auto()
    U = enum.auto()
    L = enum.auto()
    ANY = I | O | B | E | S | U | L


class Entity(NamedTuple):
    """An entity: the number of its sentence, its first token, the one behind its last, and its type."""

    sent_id: int | None
    start: int
    end: int
    tag: str

    def __repr__(self) -> str:
        return f"({self.sent_id}, {self.tag}, {self.start}, {self.end})"

    def to_tuple(self) -> tuple[int | None, str, int, int]:
        return self.sent_id, self.tag, self.start, self.end


class Token:
    """A tag; a scheme is a class of it."""

    allowed_prefix: Prefix | None = None

    def __init__(self, token: str, suffix: bool = False, delimiter: str = "-") -> None:
        """Take a tag apart.

        Raises:
            IndexError: an empty tag.
            KeyError: a letter of no scheme.
        """
        self.token = token
        self.prefix = Prefix[token[-1 if suffix else 0]]
        self.tag = (token[:-1] if suffix else token[1:]).strip(delimiter) or "_"

    def __repr__(self) -> str:
        return self.token

    def is_valid(self) -> bool:
        """Return True for a tag of the scheme.

        Raises:
            ValueError: its letter is none of the scheme's.
        """
        name = type(self).__name__
        if self.prefix.name not in tuple(SCHEMES[name].letters):
            raise ValueError(invalid_token(self.token, name))
        return True

    def is_start(self, prev: Token) -> bool:
        """Tell whether an entity starts here, behind another tag."""
        return self._follows(prev, "start")

    def is_inside(self, prev: Token) -> bool:
        """Tell whether an entity goes on here."""
        return self._follows(prev, "inside")

    def is_end(self, prev: Token) -> bool:
        """Tell whether an entity ended with the tag before."""
        return self._follows(prev, "end")

    def _follows(self, prev: Token, kind: str) -> bool:
        signs = STAYS if prev.tag == self.tag else CHANGES
        transitions = getattr(SCHEMES[type(self).__name__], kind).split()
        return any(
            before in ("?", prev.prefix.name) and letter in ("?", self.prefix.name) and sign in signs
            for before, letter, sign in transitions
        )


class IOB1(Token):
    """I begins and goes on; B begins where an entity of the same type ends."""

    allowed_prefix = Prefix.I | Prefix.O | Prefix.B


class IOE1(Token):
    """I begins and goes on; E ends where an entity of the same type begins."""

    allowed_prefix = Prefix.I | Prefix.O | Prefix.E


class IOB2(Token):
    """B begins, I goes on."""

    allowed_prefix = Prefix.I | Prefix.O | Prefix.B


class IOE2(Token):
    """I begins and goes on, E ends."""

    allowed_prefix = Prefix.I | Prefix.O | Prefix.E


class IOBES(Token):
    """B begins, I goes on, E ends, S is an entity of one token."""

    allowed_prefix = Prefix.I | Prefix.O | Prefix.B | Prefix.E | Prefix.S


class BILOU(Token):
    """B begins, I goes on, L ends, U is an entity of one token."""

    allowed_prefix = Prefix.B | Prefix.I | Prefix.L | Prefix.O | Prefix.U


CLASSES: dict[str, type[Token]] = {each.__name__: each for each in (IOB1, IOE1, IOB2, IOE2, IOBES, BILOU)}


class Tokens:
    """The tags of a sentence in a scheme."""

    def __init__(
        self,
        tokens: Sequence[str],
        scheme: type[Token],
        suffix: bool = False,
        delimiter: str = "-",
        sent_id: int | None = None,
    ) -> None:
        """Take tags apart.

        Raises:
            TypeError: no scheme.
            IndexError, KeyError: an empty tag, a letter of no scheme.
        """
        self.scheme = CLASSES[refuse_scheme(scheme)]
        self.outside_token = self.scheme("O", suffix=suffix, delimiter=delimiter)
        self.tokens = [self.scheme(token, suffix=suffix, delimiter=delimiter) for token in tokens]
        self.extended_tokens = [*self.tokens, self.outside_token]
        self.sent_id = sent_id
        self.suffix = suffix
        self.delimiter = delimiter

    @property
    def entities(self) -> list[Entity]:
        """The entities that are well formed.

        Raises:
            ValueError: a tag that the scheme lacks.
        """
        for token in self.tokens:
            token.is_valid()
        if not self.tokens:
            return []
        (numbers,), names = number_tags([token.token for token in self.tokens])
        parsed = parse_tags(names, suffix=self.suffix, strict=True, delimiter=self.delimiter)
        sentences = np.array([0, len(numbers)], np.int64)
        chunks = strict_entities(numbers, sentences, parsed, self.scheme.__name__)
        columns = zip(chunks.first.tolist(), chunks.last.tolist(), chunks.kind.tolist(), strict=True)
        return [Entity(self.sent_id, first, last + 1, parsed.types[kind]) for first, last, kind in columns]


class Entities:
    """The entities of sentences in a scheme, by sentence."""

    def __init__(
        self, sequences: Iterable[Sequence[str]], scheme: type[Token], suffix: bool = False, delimiter: str = "-"
    ) -> None:
        """Find the entities.

        Raises:
            TypeError: no scheme.
            IndexError, KeyError, ValueError: a tag that the scheme lacks.
        """
        self.entities = [
            Tokens(sequence, scheme, suffix, delimiter, sent_id).entities for sent_id, sequence in enumerate(sequences)
        ]

    def filter(self, tag_name: str) -> set[Entity]:
        """Return the entities of a type."""
        return {entity for entity in chain.from_iterable(self.entities) if entity.tag == tag_name}

    @property
    def unique_tags(self) -> set[str]:
        """The types of all entities."""
        return {entity.tag for entity in chain.from_iterable(self.entities)}


def auto_detect(sequences: Iterable[Sequence[str]], suffix: bool = False, delimiter: str = "-") -> type[Token]:
    """Return the scheme that seqeval detects in tags.

    Raises:
        ValueError: none fits.
    """
    letters = dict.fromkeys(tag[-1] if suffix else tag[0] for tag in set(chain.from_iterable(sequences)))
    if other := [letter for letter in letters if letter not in LETTERS]:
        raise ValueError(f"This scheme is not supported: {other[0]}")
    name = detect_scheme("".join(letter for letter in LETTERS if letter in letters))
    if name is None:
        raise ValueError(f"This scheme is not supported: {set(letters)}")
    return CLASSES[name]


def scheme_name(scheme: object) -> str | None:
    """Return the name of a scheme that is given as a class of this module or of seqeval, None for anything else."""
    name = scheme.__name__ if isinstance(scheme, type) else ""
    return name if name in SCHEMES else None


def refuse_scheme(scheme: Any) -> str:
    """Return the name of a scheme.

    Raises:
        TypeError: anything else.
    """
    name = scheme_name(scheme)
    if name is None:
        raise TypeError(f"scheme has to be one of {', '.join(SCHEMES)}, a class of seqeval.scheme")
    return name


def invalid_token(token: str, scheme: str) -> str:
    """Return what seqeval says of a tag that a scheme lacks."""
    allowed = "|".join(letter for letter in PREFIXES if letter in SCHEMES[scheme].letters)
    return f"Invalid token is found: {token}. Allowed prefixes are: {allowed}."
