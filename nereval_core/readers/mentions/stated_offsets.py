"""Offsets that mentions state under any key, read where the mentions confirm them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nereval_core.corpus import Place
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.mentions.answers import ALIGNMENT, PAIR, NamedMention
from nereval_core.readers.mentions.placing import WHITE
from nereval_core.readers.shared.offset_units import CountedSpans, Offsets, code_points

WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
COMPOUND = re.compile(r"(char|character|entity)?(start|begin|end|stop)(pos|idx|index|offset|char)?")
STARTS = frozenset(
    (
        *("start", "starts", "begin", "begins", "beginning", "from", "s", "b", "beg", "lo", "low", "left"),
        *("offset", "position", "pos", "location"),
    )
)
ENDS = frozenset(("end", "ends", "stop", "stops", "finish", "to", "e", "hi", "high", "right"))
LENGTHS = frozenset(("length", "len", "l", "size", "width"))
INDICES = frozenset(("index", "idx", "i", "first", "last"))
"""Words of keys that are offsets or ordinal numbers: read where mentions confirm them, else named as not read."""
OTHER_NUMBERS = frozenset(
    (
        *("score", "scores", "confidence", "conf", "prob", "probs", "probability", "probabilities", "p"),
        *("certainty", "likelihood", "weight", "logprob", "logprobs", "relevance", "salience", "id", "ids"),
        *("uid", "rank", "number", "num", "no", "count", "freq", "frequency", "occurrence", "occurrences"),
        *("page", "line", "row", "column", "sentence", "sent", "paragraph", "section", "chunk", "token"),
        *("tokens", "tok", "word", "words", "year", "age", "version"),
    )
)
"""Words of keys whose numbers are not offsets of characters."""
TOKENS = frozenset(("token", "tokens", "tok", "word", "words"))
"""Words of keys whose numbers count tokens."""
RANGES = frozenset(
    ("offset", "offsets", "span", "spans", "range", "position", "positions", "pos", "indices", "location")
)
"""Words of keys under which `47-55` is a start and an end; elsewhere it may be a time."""
FARTHEST = 2**40
REMEDY = "leave them out, and mentions are placed by their words"


class Statement(NamedTuple):
    """Where a mention says that it stands, as its answer counts; and the keys that say so."""

    start: int
    end: int
    keys: tuple[str, ...]
    certain: bool
    """False where the keys may be other numbers."""


class Located(NamedTuple):
    """Places of mentions in code points by their number, a note on what their offsets count, and keys not read.

    `of_tokens` are the statements of tokens, by the number of their mention.
    """

    places: Mapping[int, tuple[int, int]]
    note: str
    unread: Counter[str]
    of_tokens: Mapping[int, Statement]


def locate(
    mentions: Sequence[NamedMention],
    doc: Sequence[int],
    texts: Sequence[str],
    lines: Sequence[Place],
    counting: Offsets | None,
) -> Located:
    """Return the places that mentions state and confirm; `doc` is the number of each one's document, never falling.

    All mentions with offsets must be confirmed by one way to count, `counting` where the user names one.

    Raises:
        FormatError: offsets, or numbers under keys that are not known, which mentions do not confirm.
    """
    unread: Counter[str] = Counter()
    statements = {
        number: statement
        for number, mention in enumerate(mentions)
        if mention.details and (statement := _statement(mention, unread)) is not None
    }
    places: dict[int, tuple[int, int]] = {}
    note = ""
    of_tokens: dict[int, Statement] = {}
    kinds: dict[bool, list[int]] = {True: [], False: []}
    for number, statement in statements.items():
        if not statement.certain and all(TOKENS.intersection(_words(key)) for key in statement.keys):
            of_tokens[number] = statement
        else:
            kinds[statement.certain].append(number)
    for certain, numbers in kinds.items():
        if not numbers:
            continue
        offsets = (statements[number][:2] for number in numbers)
        bounds = np.array([[min(max(offset, -FARTHEST), FARTHEST) for offset in pair] for pair in offsets], np.int64)
        spans = CountedSpans(
            np.array([doc[number] for number in numbers], np.int64),
            bounds[:, 0],
            bounds[:, 1],
            {at: mentions[number].text for at, number in enumerate(numbers) if not _is_aligned(mentions[number])},
            lambda at, numbers=numbers: lines[numbers[at]],  # type: ignore[misc]
            lambda words: WHITE.sub(" ", words.lower()),
        )
        try:
            converted = code_points(spans, texts, expected=Offsets(), stated=counting)
        except FormatError as error:
            keys = dict.fromkeys(key for number in numbers for key in statements[number].keys)
            if not certain and all(set(_words(key)) & (INDICES | OTHER_NUMBERS) for key in keys):
                unread.update(key for number in numbers for key in statements[number].keys)
                continue
            raise FormatError(_problems(error, ", ".join(map(quoted, keys)))) from None
        note = converted.note
        for number, start, end in zip(numbers, converted.start.tolist(), converted.end.tolist(), strict=True):
            places[number] = start, end
    return Located(places, note, unread, of_tokens)


def _is_aligned(mention: NamedMention) -> bool:
    """Return whether LangExtract found a place for a mention whose words are others than those of the text."""
    return mention.details.get(ALIGNMENT) not in (None, "match_exact")


def _problems(error: FormatError, keys: str) -> list[Problem]:
    first, *others = error.problems
    ambiguous = "--offsets" in first.remedy
    remedy = first.remedy if ambiguous else REMEDY
    return [Problem(first.source, first.line, f"the numbers under {keys}: {first.found}", remedy), *others]


def _statement(mention: NamedMention, unread: Counter[str]) -> Statement | None:
    """Return where a mention says that it stands, None where no key says so; other numbers are counted as not read."""
    starts: dict[str, int] = {}
    ends: dict[str, int] = {}
    lengths: dict[str, int] = {}
    indices: dict[str, int] = {}
    unknown: dict[str, int] = {}
    for key, value in _numbers(mention.details, ()):
        words = set(_words(key))
        if not isinstance(value, int) or (words & OTHER_NUMBERS and not words & (STARTS | ENDS)):
            unread[key] += 1
        elif words & OTHER_NUMBERS:
            indices[key] = value
        elif words & ENDS:
            ends[key] = value
        elif words & LENGTHS:
            lengths[key] = value
        elif words & STARTS:
            starts[key] = value
        else:
            (indices if words & INDICES else unknown)[key] = value
    certain = bool(starts or ends)
    rest = {**indices, **unknown}
    if starts and (ends or lengths or len(starts) == 1):
        start_key, start = next(iter(starts.items()))
        end_key, end = next(iter(ends.items()), ("", None))
        length_key, length = next(iter(lengths.items()), ("", len(mention.text)))
        used: tuple[str, ...] = (start_key, end_key if end is not None else length_key)
        stop = end if end is not None else start + length
        spare = [*starts, *ends, *lengths, *rest]
    elif ends:
        end_key, stop = next(iter(ends.items()))
        start, used, spare = stop - len(mention.text), (end_key,), [*ends, *lengths, *rest]
    elif len(rest) in (1, 2):
        keys = list(rest)
        start = rest[keys[0]]
        stop = rest[keys[1]] if len(keys) == 2 else start + len(mention.text)
        used, spare = tuple(keys), list(lengths)
    else:
        unread.update([*starts, *lengths, *rest])
        return None
    unread.update(key for key in spare if key not in used)
    return Statement(start, stop, tuple(filter(None, used)), certain)


def _numbers(details: Mapping[str, Any], path: tuple[str, ...]) -> list[tuple[str, Any]]:
    """Return the numbers of a mention by their keys; a pair of numbers is a start and an end."""
    numbers: list[tuple[str, Any]] = []
    for key, value in details.items():
        name = ".".join((*path, str(key)))
        pair = PAIR.fullmatch(value) if isinstance(value, str) and RANGES.intersection(_words(name)) else None
        if pair is not None:
            value = [int(pair[1]), int(pair[2])]
        elif isinstance(value, str) and value.strip().isdecimal() and value.isascii():
            value = int(value)
        if isinstance(value, float) and value.is_integer() and set(_words(name)) & (STARTS | ENDS):
            value = int(value)
        if isinstance(value, (list, tuple)) and len(value) == 1 and isinstance(value[0], (list, tuple)):
            value = value[0]
        if isinstance(value, bool):
            continue
        if isinstance(value, (int, float)):
            numbers.append((name, value))
        elif isinstance(value, (list, tuple)) and len(value) == 2 and all(type(bound) is int for bound in value):
            numbers += [(f"{name}.start", value[0]), (f"{name}.end", value[1])]
        elif isinstance(value, Mapping) and len(path) < 2:
            numbers += _numbers(value, (*path, str(key)))
        elif isinstance(value, (list, tuple)) and value and all(type(item) is int for item in value):
            numbers.append((name, value))
    return numbers


def _words(key: str) -> list[str]:
    """Return the words of a key in small letters: `characterOffsetBegin` has three, `CHAR_START` two."""
    words = [word.lower() for word in WORDS.findall(key)]
    parts = [COMPOUND.fullmatch(word) for word in words]
    split = [part.groups() if part else (word,) for word, part in zip(words, parts, strict=True)]
    return [word for group in split for word in group if word]
