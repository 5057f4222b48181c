"""Place mentions, which have no offsets, in the text of their document.

Each mention goes to an occurrence of its words: as they are, else apart from letter case and white space, and in both
ways rather at the edges of words than inside; else to the words of the text from which it differs by the fewest edits
(Levenshtein 1966), within a bound. A mention that is repeated goes to the next occurrence. In each of these ways the
leftmost free occurrence is taken: as all mentions that are equal apart from case and white space share their
occurrences, no other choice places more of them. By edits, mentions and occurrences are matched so that the fewest stay
unplaced, then with the fewest edits, then leftmost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

from nereval_core.readers.read_settings import Repeats

Way = Literal["exact", "folded", "edited"]
WHITE = re.compile(r"\s")
WAYS = 4
"""The lists that `SearchedText.ways` yields."""
MOST_EDITS = 8
"""The most edits of a mention, however long: with more of them the pieces looked for would be everywhere."""
CLOSEST_SHARE, CLOSEST_PIECE = 0.34, 3
"""Edits a character, and characters in a row, by which words are named as the closest to a mention without a place."""
FAR = 1 << 20
"""More than the edits of any pair that is looked at."""


class Mention(NamedTuple):
    """Words that were found, with their type; `place` is where offsets say that they stand, in code points."""

    text: str
    type: str
    place: tuple[int, int] | None = None


class Place(NamedTuple):
    """Where a mention was placed: code points, end exclusive; `edits` is 0 but where it was placed by edits."""

    start: int
    end: int
    way: Way
    edits: int = 0


@dataclass(frozen=True)
class Placing:
    """Rules of placing: what becomes of repeated mentions, and the edits allowed for a character of a mention."""

    repeats: Repeats = "next"
    edits: float = 0.2


def place_mentions(text: SearchedText, mentions: Sequence[Mention], rules: Placing) -> list[tuple[Place, ...]]:
    """Return the places of each mention in a text, in order: none where it has no place.

    A mention has several places only where `repeats` is "all": then all occurrences of its words, and equal mentions
    after it have no places and are not counted. The same holds for "first": each goes to its first occurrence.
    """
    if rules.repeats == "next":
        return [() if place is None else (place,) for place in _Next(text, mentions, rules).places()]
    places_of_mentions: list[tuple[Place, ...]] = []
    for mention in mentions:
        if mention.place is not None:
            places_of_mentions.append((Place(*mention.place, "exact"),))
            continue
        places = next(filter(None, text.ways(mention.text)), None) or text.edited(mention.text, rules.edits)[:1]
        if rules.repeats == "all" and places and places[0].way != "edited":
            at_edges = [place for way in list(text.ways(mention.text))[:2] for place in way]
            places = sorted(at_edges or [place for way in text.ways(mention.text) for place in way])
        places_of_mentions.append(tuple(places if rules.repeats == "all" else places[:1]))
    return places_of_mentions


class SearchedText:
    """A text that is searched: as it is, and folded: in small letters, with one blank for each white space."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ways: dict[str, tuple[list[list[Place]], Iterator[list[Place]]]] = {}

    @cached_property
    def folded(self) -> tuple[str, Sequence[int] | None]:
        """The folded text, and the place in the text of each of its characters and of the end; None: the same."""
        return _folded(self.text)

    def ways(self, mention: str) -> Iterator[list[Place]]:
        """Yield the occurrences of a mention, the best ones first, each list from the left.

        They are those at the edges of words: exact, folded; and those inside words: exact, folded.
        """
        # Searched as far as needed, and once for all mentions of the same words.
        lists, more = self._ways.setdefault(mention, ([], self._ways_of(mention)))
        for at in range(WAYS):
            if at == len(lists):
                lists.append(next(more))
            yield lists[at]

    def has_words(self, words: str) -> bool:
        """Return whether words stand in the text at the edges of its words, apart from letter case and white space."""
        return any(islice(self.ways(words), WAYS // 2))

    def _ways_of(self, mention: str) -> Iterator[list[Place]]:
        exact, inside = _occurrences(self.text, mention)
        yield [Place(start, start + len(mention), "exact") for start in exact]
        words = _folded(mention)[0].strip()
        folded, within = _occurrences(self.folded[0], words)
        exact_starts = {*exact, *inside}
        for starts, way in ((folded, "folded"), (inside, "exact"), (within, "folded")):
            if way == "exact":
                yield [Place(start, start + len(mention), "exact") for start in starts]
            else:
                spans = (self._span(start, start + len(words)) for start in starts)
                yield [Place(start, end, "folded") for start, end in spans if start not in exact_starts]

    def edited(self, mention: str, share: float, least_piece: int = 1) -> list[Place]:
        """Return the words of the text that differ from a mention by few edits, the fewest first, then leftmost.

        They are looked for by pieces of the mention, of `least_piece` characters at least: of one piece more than there
        are edits, at least one is as it was.
        """
        text = self.folded[0]
        words = _folded(mention)[0].strip()
        most = min(int(share * len(words)), MOST_EDITS)
        if not most:
            return []
        size = max(len(words) // (most + 1), least_piece)
        near: set[tuple[int, int]] = set()
        for at in range(0, min((most + 1) * size, len(words) - size + 1), size):
            for start_of_piece in _all_occurrences(text, words[at : at + size]):
                # What stands before the piece, and behind it, may be longer or shorter.
                starts = _edges(text, start_of_piece - at - most, start_of_piece - at + most)
                behind = start_of_piece - at + len(words)
                ends = _edges(text, behind - most, behind + most)
                near.update((start, end) for start in starts for end in ends if start < end)
        near = {(start, end) for start, end in near if text[start] != " " != text[end - 1]}
        distance = Distance(words)
        rated = [(distance.to(text[start:end], most), start, end) for start, end in near]
        return [Place(*self._span(start, end), "edited", edits) for edits, start, end in sorted(rated) if edits <= most]

    def closest(self, mention: str) -> str:
        """Return the words of the text that are nearest to a mention, "" where none are near."""
        near = self.edited(mention, CLOSEST_SHARE, CLOSEST_PIECE)
        return self.text[near[0].start : near[0].end] if near else ""

    def _span(self, start: int, end: int) -> tuple[int, int]:
        places = self.folded[1]
        return (start, end) if places is None else (places[start], places[end - 1] + 1)


class _Next:
    """Mentions of a document that go to one occurrence each."""

    def __init__(self, text: SearchedText, mentions: Sequence[Mention], rules: Placing) -> None:
        self.text, self.mentions, self.rules = text, mentions, rules
        self.used: set[tuple[int, int]] = set()
        self.used_by_type: set[tuple[int, int, str]] = set()
        self.place_of_mention: list[Place | None] = [None] * len(mentions)

    def places(self) -> list[Place | None]:
        """Return the place of each mention, None where there is none."""
        for number, mention in enumerate(self.mentions):
            if mention.place is not None:
                self._take(number, Place(*mention.place, "exact"))
        ways = [self.text.ways(mention.text) for mention in self.mentions]
        occurrences: list[list[Place]] = [[] for _ in ways]
        for _ in range(WAYS):
            for number, more in enumerate(ways):
                if self.place_of_mention[number] is None:
                    places = next(more)
                    occurrences[number] += places
                    self._take(number, next(filter(self._free, places), None))
        # Where all occurrences are taken, another type may stand at the same place.
        for number, places in enumerate(occurrences):
            if self.place_of_mention[number] is None:
                kind = self.mentions[number].type
                self._take(
                    number,
                    next((candidate for candidate in places if (*candidate[:2], kind) not in self.used_by_type), None),
                )
        unplaced = [number for number, place in enumerate(self.place_of_mention) if place is None]
        self._place_by_edits([number for number in unplaced if not occurrences[number]])
        return self.place_of_mention

    def _place_by_edits(self, numbers: Sequence[int]) -> None:
        choices = {
            number: [
                place for place in self.text.edited(self.mentions[number].text, self.rules.edits) if self._free(place)
            ]
            for number in numbers
        }
        choices = {number: places for number, places in choices.items() if places}
        firsts = [places[0][:2] for places in choices.values()]
        if len(set(firsts)) == len(firsts):
            for number, places in choices.items():
                self._take(number, places[0])
            return
        from scipy.optimize import linear_sum_assignment

        spans = sorted({place[:2] for places in choices.values() for place in places})
        column = {span: at for at, span in enumerate(spans)}
        # A column for each mention to stay unplaced in; edits count before the place.
        cost = np.full((len(choices), len(spans) + len(choices)), float(FAR))
        for row, places in enumerate(choices.values()):
            cost[row, : len(spans)] = FAR**2
            for place in places:
                cost[row, column[place[:2]]] = place.edits + column[place[:2]] / (len(spans) + 1) / (len(choices) + 1)
        rows, columns = linear_sum_assignment(cost)
        by_row = list(choices.items())
        for row, at in zip(rows.tolist(), columns.tolist(), strict=True):
            if at < len(spans):
                number, places = by_row[row]
                self._take(number, next(place for place in places if place[:2] == spans[at]))

    def _free(self, place: Place) -> bool:
        return place[:2] not in self.used

    def _take(self, number: int, place: Place | None) -> None:
        if place is not None:
            self.place_of_mention[number] = place
            self.used.add(place[:2])
            self.used_by_type.add((*place[:2], self.mentions[number].type))


class Distance:
    """Levenshtein distances from one string to others, by bits of integers (Myers 1999, Hyyro 2003)."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.bits: dict[str, int] = {}
        for at, letter in enumerate(words):
            self.bits[letter] = self.bits.get(letter, 0) | 1 << at

    def to(self, other: str, most: int) -> int:
        """Return the distance to another string, or any number above `most` where it is more than that."""
        size = len(self.words)
        if abs(size - len(other)) > most or not size:
            return max(size, len(other))
        # In a column of the table of distances, rows that are one more than the row above, and one less.
        whole, last = (1 << size) - 1, 1 << size - 1
        more, less, distance = whole, 0, size
        for letter in other:
            equal = self.bits.get(letter, 0)
            vertical = equal | less
            horizontal = (((equal & more) + more) ^ more) | equal
            rises = less | ~(horizontal | more) & whole
            falls = more & horizontal
            if rises & last:
                distance += 1
            elif falls & last:
                distance -= 1
            rises = (rises << 1 | 1) & whole
            more = (falls << 1 | ~(vertical | rises)) & whole
            less = rises & vertical
        return distance


def _edges(text: str, low: int, high: int) -> list[int]:
    """Return the places from `low` to `high` at which a word of a text begins or ends."""
    low, high = max(low, 0), min(high, len(text))
    return [
        at for at in range(low, high + 1) if at in (0, len(text)) or not (text[at - 1].isalnum() and text[at].isalnum())
    ]


def _occurrences(text: str, words: str) -> tuple[list[int], list[int]]:
    """Return where words occur in a text at the edges of its words, and where inside them."""
    at_edges: list[int] = []
    inside: list[int] = []
    for start in _all_occurrences(text, words):
        (at_edges if _at_edges(text, start, start + len(words)) else inside).append(start)
    return at_edges, inside


def _all_occurrences(text: str, words: str) -> list[int]:
    starts = []
    at = text.find(words) if words else -1
    while at >= 0:
        starts.append(at)
        at = text.find(words, at + 1)
    return starts


def _at_edges(text: str, start: int, end: int) -> bool:
    """Return whether a stretch of a text neither begins nor ends inside a word."""
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    after = end < len(text) and text[end].isalnum() and text[end - 1].isalnum()
    return not before and not after


def _folded(text: str) -> tuple[str, Sequence[int] | None]:
    """Return a text in small letters, with one blank for each white space; and the places of its characters."""
    small = text.lower()
    if not small.isprintable():
        small = WHITE.sub(" ", small)
    if len(small) == len(text) and "  " not in small:
        return small, None
    letters: list[str] = []
    places: list[int] = []
    for at, letter in enumerate(text):
        if letter.isspace():
            if letters and letters[-1] == " ":
                continue
            letter = " "
        # A letter that becomes two stays as it is.
        low = letter.lower()
        letters.append(low if len(low) == 1 else letter)
        places.append(at)
    return "".join(letters), [*places, len(text)]
