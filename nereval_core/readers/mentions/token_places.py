"""Where mentions stand by numbers of tokens, read where one way to count them gives the words of all mentions; and by
the number of an occurrence of their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from nereval_core.corpus import Documents
from nereval_core.corpus.tokens import WORD
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.mentions.answers import NamedMention
from nereval_core.readers.mentions.placing import WHITE, SearchedText
from nereval_core.readers.mentions.stated_offsets import Statement

Interval = tuple[int, int]
ORDINALS = frozenset(
    f"{stem}{ending}"
    for stem in ("occurrence", "occurence", "instance")
    for ending in ("", "_index", "_number", "_id", "Index")
)
"""Keys of the number of an occurrence."""
REMEDY = "give the tokens in the line, under tokens, or leave the numbers out, and mentions are placed by their words"


class CountedMention(NamedTuple):
    """A mention that states tokens: the number of its document, its words, its line, and what it states."""

    doc: int
    words: str
    line: tuple[str, int | None]
    statement: Statement


def places_by_tokens(
    mentions: Mapping[int, CountedMention],
    documents: Documents,
    own_tokens: Sequence[Sequence[str] | None],
    gold: Documents | None,
) -> tuple[dict[int, Interval], str]:
    """Return the places of mentions by their numbers, and a note on what was counted.

    Tokens are those that a line has (`own_tokens`, by document), else gold's, what blanks divide, or words and other
    characters; the first is 0 or 1, the last inside or behind. Nothing is returned where no way to count fits and none
    is needed: where the words of each mention stand in one place at most.

    Raises:
        FormatError: several ways to count give different places, or none gives the words of all mentions.
    """
    if not mentions:
        return {}, ""
    texts = documents.texts
    docs = sorted({mention.doc for mention in mentions.values()})
    results: dict[tuple[Interval, ...], str] = {}
    for called, tokens in _tokens(docs, documents, own_tokens, gold):
        for base, inclusive in product((0, 1), (False, True)):
            places = [
                _place(texts[mention.doc], tokens[mention.doc], mention, base, inclusive)
                for mention in mentions.values()
            ]
            whole = tuple(place for place in places if place is not None)
            if len(whole) == len(places):
                way = f"{called}, end {'inclusive' if inclusive else 'exclusive'}{', first at 1' if base else ''}"
                results.setdefault(whole, way)
    if len(results) == 1:
        ((whole, way),) = results.items()
        return dict(zip(mentions, whole, strict=True)), f"numbers of tokens are read: {way}"
    repeated = [
        mention
        for mention in mentions.values()
        if len(next(filter(None, SearchedText(texts[mention.doc]).ways(mention.words)), ())) > 1
    ]
    if not repeated:
        return {}, ""
    keys = ", ".join(dict.fromkeys(quoted(key) for mention in repeated for key in mention.statement.keys))
    ways = " or ".join(results.values())
    why = (
        f"fit several ways to count: {ways}" if results else "give the words of all mentions in no way to count tokens"
    )
    words = repeated[0].words
    finding = f"the numbers under {keys} {why}, and {quoted(words)} stands in several places"
    raise FormatError([Problem(*repeated[0].line, finding, REMEDY)])


def places_by_ordinals(
    mentions: Sequence[NamedMention], doc: Sequence[int], texts: Sequence[str]
) -> tuple[dict[int, Interval], str, set[str]]:
    """Return the places of mentions that say which occurrence of their words they are, a note, and the keys read.

    Occurrences are counted from 0 where a mention says 0, else from 1. Those that the text does not have are left out.
    """
    stated = [
        (number, key, value)
        for number, mention in enumerate(mentions)
        for key, value in mention.details.items()
        if key in ORDINALS and type(value) is int
    ]
    base = 0 if any(value == 0 for *_, value in stated) else 1
    searched = {doc[number]: SearchedText(texts[doc[number]]) for number, *_ in stated}
    places: dict[int, Interval] = {}
    for number, _, value in stated:
        occurrences = next(filter(None, searched[doc[number]].ways(mentions[number].text)), [])
        if base <= value < base + len(occurrences):
            place = occurrences[value - base]
            places[number] = place.start, place.end
    if not places:
        return {}, "", set()
    note = f"numbers of occurrences are read, counted from {base}: {len(places)} of {len(stated)} are in the text"
    return places, note, {key for _, key, _ in stated}


def _tokens(
    docs: Sequence[int], documents: Documents, own_tokens: Sequence[Sequence[str] | None], gold: Documents | None
) -> list[tuple[str, dict[int, list[Interval]]]]:
    """Return what may have been counted, each with its name and its places by document."""
    texts = documents.texts
    if all(own_tokens[doc] for doc in docs):
        return [("the tokens of the line", {doc: _find(own_tokens[doc] or (), texts[doc]) for doc in docs})]
    ways = [
        ("what blanks divide", {doc: _find(texts[doc].split(), texts[doc]) for doc in docs}),
        ("words and other characters", {doc: [match.span() for match in WORD.finditer(texts[doc])] for doc in docs}),
    ]
    if gold is not None and gold.tokens is not None:
        starts, ends, first = gold.tokens.starts, gold.tokens.ends, gold.tokens.first
        places: dict[int, list[Interval]] = {}
        for doc in docs:
            number = gold.index[documents.ids[doc]]
            part = slice(int(first[number]), int(first[number + 1]))
            places[doc] = list(zip(starts[part].tolist(), ends[part].tolist(), strict=True))
        ways.insert(0, ("gold's tokens", places))
    return ways


def _find(tokens: Sequence[str], text: str) -> list[Interval]:
    """Return the places of tokens in their text, one behind the other; nothing where one is not there."""
    places: list[Interval] = []
    end = 0
    for token in tokens:
        start = text.find(token, end)
        if start < 0:
            return []
        end = start + len(token)
        places.append((start, end))
    return places


def _place(
    text: str, tokens: Sequence[Interval], mention: CountedMention, base: int, inclusive: bool
) -> Interval | None:
    """Return where the words of a mention stand in its tokens, which have nothing beside but punctuation; else None."""
    first, last = mention.statement.start - base, mention.statement.end - base - (not inclusive)
    if not 0 <= first <= last < len(tokens) or len(mention.statement.keys) < 2:
        return None
    low, high = tokens[first][0], tokens[last][1]
    letters, words = (WHITE.sub(" ", part.lower()) for part in (text[low:high], mention.words))
    at = letters.find(words)
    if at < 0 or len(letters) != high - low or any(map(str.isalnum, letters[:at] + letters[at + len(words) :])):
        return None
    return low + at, low + at + len(words)
