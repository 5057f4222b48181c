"""Words with their tags behind a slash, `Ann/PERSON left/O ./O`, as Stanford NER writes `slashTags`.

A line is a document, blanks stand between words, and the tag is what stands behind a word's last slash: a type, where
runs of one type are one span, or a tag of any scheme. WikiNER has bars and parts of speech, `Ann|NNP|I-PER left|VBD|O`.
The text is rebuilt: words joined by one blank. See the manual of Stanford's CRFClassifier, `-outputFormat slashTags`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from nereval_core.corpus import Place
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.tag_cells import kind_of_cells, notation_of
from nereval_core.readers.shared.tag_reading import TagCells, documents_of_words, reading_of_tags

WORD = re.compile(r"(.+)/([^/]+)")
BARRED = re.compile(r"(.+)\|[^|]+\|([^|]+)")
"""A word with its part of speech and its tag, as WikiNER has them."""
CANNOT_TELL = "write a blank between words; in Stanford NER leave -outputFormatOptions preserveSpacing out"
SEEN_LINES = 50
"""Lines by which a file is recognised."""
SEEN_WORDS = 1000
"""The words that say whether two tags stand behind each."""
SHARE = 0.5
"""The least share of words tagged O in them."""


@dataclass(slots=True)
class _Words:
    """The words of all lines in a row, with their tags and places; `sizes` holds the number of words of each line."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)


class SlashTagReader(Reader):
    name = "slashtags"
    description = "words with tags behind a slash, Ann/PERSON left/O, as Stanford NER writes them"
    suffixes = (".slashtags", ".tagged", ".txt", ".out")
    has_labels = True

    def recognise(self, source: Source) -> float:
        """Claim lines in which each word has a slash and a tag, many of them O."""
        lines = [line for line in source.head(*self.suffixes).lines if line.strip()][:SEEN_LINES]
        if not lines or lines[0].lstrip().startswith(("{", "[", "<", "#")) or "\t" in lines[0]:
            return 0.0
        pattern = _pattern(lines[0])
        pairs = [pattern.fullmatch(word) for line in lines for word in line.split()]
        tags = [pair[2] for pair in pairs if pair]
        return 0.9 if len(tags) == len(pairs) > 1 and tags.count("O") >= SHARE * len(tags) else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read a document a line.

        Raises:
            FormatError: with every problem found: words without tags, tags, sequences that break the scheme.
        """
        files = source.pick(*self.suffixes)
        problems = ProblemList()
        words = _Words()
        for file in files:
            _read_file(file, words, problems)
        inner = [pair[2] for word in words.words[:SEEN_WORDS] if (pair := WORD.fullmatch(word))]
        if len(inner) == len(words.words[:SEEN_WORDS]) and kind_of_cells(inner):
            finding, remedy = "two tags behind each word", "write one of them behind each word, in a file for each side"
            problems.append(Problem(*words.places[0], finding, remedy))
        notation = notation_of(set(words.tags), options)
        problems += _run_together(words) if notation.types else []
        if problems:
            raise FormatError(problems)
        bounds = list(pairwise([0, *accumulate(words.sizes)]))
        return reading_of_tags(
            options.name or source.label,
            self.name,
            documents_of_words([None] * len(bounds), [words.words[low:high] for low, high in bounds]),
            TagCells(words.tags, [0, *accumulate(words.sizes)], words.places.__getitem__),
            options,
            places=tuple(words.places[low] for low, _ in bounds),
            notes=unread_files_note(source, files),
        )


READER = SlashTagReader()


def _pattern(line: str) -> re.Pattern[str]:
    """Return the pattern of the words of a file, as its first line shows it."""
    return BARRED if all(map(BARRED.fullmatch, line.split())) else WORD


def _read_file(file: SourceFile, words: _Words, problems: list[Problem]) -> None:
    lines = file.lines()
    pattern = _pattern(next(filter(str.strip, lines), ""))
    for number, line in enumerate(lines, start=1):
        if parts := line.split():
            words.sizes.append(len(parts))
        for word in parts:
            pair = pattern.fullmatch(word)
            if pair is None:
                remedy = "write word/TAG, or word/O" if pattern is WORD else "write word|POS|TAG, or word|POS|O"
                problems.append(Problem(file.shown, number, f"{quoted(word)} has no tag", remedy))
            words.words.append(pair[1] if pair else word)
            words.tags.append(pair[2] if pair else "O")
            words.places.append((file.shown, number))


def _run_together(words: _Words) -> list[Problem]:
    """Return a problem for each word that has a tag and punctuation in it: another word without a blank before it."""
    tags = "|".join(map(re.escape, sorted(set(words.tags) - {"O"})))
    inside = re.compile(rf".+/(?:(?:{tags})[^\w/-]|O[^\w/]+$)")
    return [
        Problem(*place, f"{quoted(word)} has a tag in it", CANNOT_TELL)
        for word, place in zip(words.words, words.places, strict=True)
        if inside.match(word)
    ]
