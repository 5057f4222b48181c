"""The documents that Python objects belong to: with texts, with words, or with neither."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.corpus import Documents, Intervals, frozen
from nereval_core.corpus.texts import Texts
from nereval_core.problems import FormatError, Problem, counted
from nereval_core.readers.objects.columns import Found, in_words

LONGEST = np.iinfo(np.int32).max


def documents_of_spans(found: Found, texts: Any) -> Documents | None:
    """Return the documents of spans, None where no texts were given.

    Raises:
        FormatError: texts that are none, or not as many.
    """
    if texts is None:
        return None
    if len(texts) != len(found.sizes):
        raise FormatError([*found.problems, _count_problem(found, len(texts))])
    if isinstance(texts, Documents):
        return texts
    problems = [
        Problem(f"texts[{number}]", None, f"{in_words(text)} where the text of a document should be", "write a string")
        for number, text in enumerate(texts)
        if not isinstance(text, str)
    ]
    if problems:
        raise FormatError([*found.problems, *problems])
    return Documents(_ids(len(texts)), tuple(texts), named=False)


def _count_problem(found: Found, count: int) -> Problem:
    return Problem(found.name, None, *unequal(len(found.sizes), count, "there are texts for"))


def unequal(here: int, there: int, of: str) -> tuple[str, str]:
    found = f"{counted(here, 'document')} where {of} {there}"
    return found, "give one list for each document, empty where nothing is found"


def without_texts(found: Found) -> tuple[Documents, list[Problem]]:
    """Return documents that end with their last spans, and what is wrong with offsets, which no text is there for."""
    bad = (found.start < 0) | (found.start >= found.end) | (found.end > LONGEST)
    problems = [
        Problem(
            *found.place(row),
            f"span [{found.start[row]}, {found.end[row]})",
            f"use code points with 0 <= start < end <= {LONGEST}",
        )
        for row in np.flatnonzero(bad).tolist()
    ]
    # Told of already.
    found.start[bad], found.end[bad] = 0, 1
    sizes = np.zeros(len(found.sizes), np.int64)
    np.maximum.at(sizes, found.documents(), found.end)
    return _textless(sizes), problems


def _textless(sizes: Int64, tokens: Intervals | None = None) -> Documents:
    nothing = Texts(np.zeros(0, np.uint8), np.zeros(len(sizes) + 1, np.int64))
    return Documents(_ids(len(sizes)), nothing, tokens, named=False, sizes=frozen(sizes))


def _ids(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def documents_of_tags(found: Found, texts: Any) -> Documents:
    """Return the documents whose tokens the tags stand beside.

    Raises:
        FormatError: other than as many documents, tokens and words, or texts that are no words.
    """
    sizes = found.sizes
    if texts is None:
        # What could be no tag is left out of `first`: `sizes` counts what was given.
        starts = np.arange(found.first[-1], dtype=np.int32)
        starts -= np.repeat(found.first[:-1].astype(np.int32), np.diff(found.first))
        return _textless(sizes.copy(), Intervals(frozen(found.first), frozen(starts), frozen(starts + np.int32(1))))
    if len(texts) != len(sizes):
        raise FormatError([*found.problems, _count_problem(found, len(texts))])
    if isinstance(texts, Documents):
        if texts.tokens is None:
            remedy = "give spans, with offsets in the text"
            raise FormatError.single(found.name, None, "tags, and the texts have no tokens", remedy)
        counts = np.diff(texts.tokens.first)
        known = texts
    else:
        problems = [
            Problem(
                f"texts[{number}]", None, f"{in_words(words)} where words should be", "give a list of words for tags"
            )
            for number, words in enumerate(texts)
            if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words)
        ]
        if problems:
            raise FormatError([*found.problems, *problems])
        counts = np.fromiter(map(len, texts), np.int64, len(texts))
        known = _of_words(texts)
    if unequal := other_counts(found.name, sizes, counts, "there are"):
        raise FormatError([*found.problems, *unequal])
    return known


def _of_words(texts: Sequence[Sequence[str]]) -> Documents:
    """Return documents of words with a blank between."""
    by_document = []
    for words in texts:
        ends = np.cumsum([len(word) + 1 for word in words], dtype=np.int64) - 1
        by_document.append([(end - len(word), end) for end, word in zip(ends.tolist(), words, strict=True)])
    return Documents(_ids(len(texts)), tuple(map(" ".join, texts)), Intervals.of(by_document), named=False)


def other_counts(name: str, here: Int64, there: Int64, of: str) -> list[Problem]:
    """Return the documents whose numbers of tokens differ."""
    return [
        Problem(
            f"{name}[{doc}]",
            None,
            f"{counted(here[doc], 'tag')} where {of} {there[doc]}",
            "give one tag for each token",
        )
        for doc in np.flatnonzero(here != there).tolist()
    ]
