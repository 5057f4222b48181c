"""Remedies that a message names: each is tried on the input first, and named only if what is read looks right."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from nereval_core.corpus import Documents
from nereval_core.problems import FormatError
from nereval_core.readers.input.source import Source
from nereval_core.readers.read_settings import Reading, ReadOptions

TRIED_BYTES = 1 << 20
"""The largest size of files, as stored, that are tried whole; of larger ones the heads are."""
TRIED_FILES = 20
"""The most files of which heads are tried."""
NAMED = 3
"""The most remedies that a message names."""
OUTSIDE_FORMATS = ("conll", "tokentable")
"""The formats of columns of tags, which a word for outside may make out."""
WORDS = 200
"""The first words of a reading that are looked at."""
TAG = re.compile(r"[BIOMELSUW]|[BIOMELSUW][-_/]\S+|\S+[-_/][BIOES]|LABEL_\d+|\d+")
"""A type that is a tag, or its number."""
TAG_WORD = re.compile(r"O|[BIMELSUW]-\S+|\d+")
"""A word that is a tag or the number of a token; texts hold few."""


@dataclass(frozen=True)
class Remedy:
    """Options with which a source may be read: a format, and what its reader is to be told."""

    format: str
    scheme: str | None = None
    column: str | None = None
    outside: str | None = None

    def __str__(self) -> str:
        outside = shlex.quote(self.outside) if self.outside else None
        options = {"--format": self.format, "--scheme": self.scheme, "--column": self.column, "--outside": outside}
        return " ".join(f"{flag} {value}" for flag, value in options.items() if value)

    def options(self, texts: Documents | None) -> ReadOptions:
        """Return the settings of reading; `texts` are gold's documents."""
        return ReadOptions(scheme=self.scheme, column=self.column, outside=self.outside, texts=texts)


def working_remedies(
    source: Source, remedies: Iterable[Remedy], read: Callable[[Source, Remedy], Reading]
) -> list[Remedy]:
    """Return the first remedies with which the source, or the head of a large one, reads plausibly."""
    part = _tried_part(source)
    return list(islice((remedy for remedy in remedies if _reads(part, remedy, read)), NAMED))


def _reads(source: Source, remedy: Remedy, read: Callable[[Source, Remedy], Reading]) -> bool:
    try:
        return not implausible(read(source, remedy))
    except FormatError:
        return False


def _tried_part(source: Source) -> Source:
    """Return the source where it is small, else whole lines of the heads of its first files."""
    if sum(file.origin.size() for file in source.files) <= TRIED_BYTES:
        return source
    heads = ((file.name, "\n".join(source.head_of(file).lines).encode()) for file in source.files[:TRIED_FILES])
    return Source.of_uploads(((name, raw) for name, raw in heads if raw), name=source.name)


def implausible(reading: Reading) -> str:
    """Return why a reading looks wrong: no span, a type that is a tag or has blanks, tags or markup as words.

    So does one whose spans cover all of its texts.
    """
    layer = reading.layer
    if not len(layer):
        return "no span"
    if tag := next((kind for kind in layer.types if TAG.fullmatch(kind) or any(map(str.isspace, kind))), ""):
        return f"a type that is a tag or has blanks: {tag}"
    words = list(islice(_words(reading.documents), WORDS))
    if 2 * sum(TAG_WORD.fullmatch(word) is not None for word in words) > len(words):
        return "tags or numbers read as words"
    if words and words[0].startswith(('{"', "[{", "<?xml")):
        return "markup read as words"
    # Spans may overlap: those of a text that is covered are as long together as its words, or longer.
    if int((layer.end - layer.start).sum()) >= sum(len("".join(text.split())) for text in layer.documents.texts):
        return "every word in a span"
    return ""


def _words(documents: Documents) -> Iterator[str]:
    for number, text in enumerate(documents.texts):
        if documents.tokens is None:
            yield from text.split()
        else:
            yield from (text[start:end] for start, end in documents.tokens.of_document(number))
