"""Words with their tags behind a slash, `Ann/PERSON left/O ./O`, as Stanford NER writes `slashTags`.

A line is a document, blanks stand between words, and the tag is what stands behind a word's last slash: a type, where
runs of one type are one span, or a tag of any scheme. The text is rebuilt: words joined by one blank. See the manual of
Stanford's CRFClassifier, `-outputFormat slashTags`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import numpy as np

from nereval_core.corpus import Labels, Place, layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.datasets import documents_of_words
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.tag_cells import kind_of_cells
from nereval_core.readers.shared.tag_decoding import decode_tags, scheme_of_tags, tag_problems
from nereval_core.readers.shared.tag_notation import notation_of, unused_labels_note
from nereval_core.readers.shared.tag_schemes import Tags

NAME = "slashtags"
DESCRIPTION = "words with tags behind a slash, Ann/PERSON left/O, as Stanford NER writes them"

LABELS = True

SUFFIXES = (".slashtags", ".tagged", ".txt", ".out")
WORD = re.compile(r"(.+)/([^/]+)")
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


def recognise(source: Source) -> float:
    """Claim lines in which each word has a slash and a tag, many of them O."""
    lines = [line for line in source.head(*SUFFIXES).lines if line.strip()][:SEEN_LINES]
    if not lines or lines[0].lstrip().startswith(("{", "[", "<", "#")) or "\t" in lines[0]:
        return 0.0
    found = [WORD.fullmatch(word) for line in lines for word in line.split()]
    tags = [one[2] for one in found if one]
    return 0.9 if len(tags) == len(found) > 1 and tags.count("O") >= SHARE * len(tags) else 0.0


def read(source: Source, options: ReadOptions) -> Reading:
    """Read a document a line.

    Raises:
        FormatError: with every problem found: words without tags, tags, sequences that break the scheme.
    """
    files = source.pick(*SUFFIXES)
    problems: list[Problem] = []
    found = _Words()
    for file in files:
        _read_file(file, found, problems)
    inner = [pair[2] for word in found.words[:SEEN_WORDS] if (pair := WORD.fullmatch(word))]
    if len(inner) == len(found.words[:SEEN_WORDS]) and kind_of_cells(inner):
        finding, remedy = "two tags behind each word", "write one of them behind each word, in a file for each side"
        problems.append(Problem(*found.places[0], finding, remedy))
    notation = notation_of(set(found.tags), options)
    problems += _run_together(found) if notation.types else []
    if problems:
        raise FormatError(problems)
    first = [0, *accumulate(found.sizes)]
    tags = Tags.of(found.tags, first, notation.parse)
    place = found.places.__getitem__
    scheme, notes = scheme_of_tags(tags, place, options, notation)
    if problems := tag_problems(tags, scheme, found.tags.__getitem__, place, options):
        raise FormatError(problems)
    lines = [found.words[low:high] for low, high in pairwise(first)]
    documents = documents_of_words([None] * len(lines), lines)
    chunks, mended = decode_tags(tags, scheme, options)
    assert documents.tokens is not None
    made = layer(
        options.name or source.label,
        documents,
        np.repeat(np.arange(len(lines)), found.sizes)[chunks.start],
        documents.tokens.starts[chunks.start],
        documents.tokens.ends[chunks.end - 1],
        Labels(chunks.type, tags.names),
        where=lambda span: place(int(chunks.start[span])),
    )
    notes += [*filter(None, [mended]), *unused_labels_note(options, notation), *unread_files_note(source, files)]
    name = scheme.name if scheme else None
    places = tuple(found.places[at] for at in first[:-1])
    return Reading(documents, made, NAME, tuple(notes), scheme=name, places=places, mended=mended)


def _read_file(file: SourceFile, found: _Words, problems: list[Problem]) -> None:
    for number, line in enumerate(file.lines(), start=1):
        words = line.split()
        if words:
            found.sizes.append(len(words))
        for word in words:
            pair = WORD.fullmatch(word)
            if pair is None:
                problems.append(Problem(file.shown, number, f"{quoted(word)} has no tag", "write word/TAG, or word/O"))
            found.words.append(pair[1] if pair else word)
            found.tags.append(pair[2] if pair else "O")
            found.places.append((file.shown, number))


def _run_together(found: _Words) -> list[Problem]:
    """Return a problem for each word that has a tag and punctuation in it: another word without a blank before it."""
    tags = "|".join(map(re.escape, sorted(set(found.tags) - {"O"})))
    inside = re.compile(rf".+/(?:(?:{tags})[^\w/-]|O[^\w/]+$)")
    return [
        Problem(*place, f"{quoted(word)} has a tag in it", CANNOT_TELL)
        for word, place in zip(found.words, found.places, strict=True)
        if inside.match(word)
    ]
