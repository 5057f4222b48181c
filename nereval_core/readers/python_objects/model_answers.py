"""Answers of language models as Python objects: a string, a dict or a list of mentions for each document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nereval_core.corpus import Documents
from nereval_core.readers import Reading, ReadOptions
from nereval_core.readers.mentions.keys import ANSWER_MARKS, TEXT_KEYS, TYPE_KEYS
from nereval_core.readers.mentions.reading import read_answers
from nereval_core.readers.shared.tag_reading import documents_of_words

OFFSETS = frozenset(("start", "end"))


def are_answers(documents: Any) -> bool:
    """Return whether a list holds an answer for each document, rather than paths, tags or spans with offsets."""
    if not isinstance(documents, (list, tuple)) or not documents:
        return False
    if all(isinstance(answer, str | Mapping) for answer in documents):
        spans = [answer for answer in documents if isinstance(answer, Mapping) and OFFSETS.issubset(answer)]
        return not spans and any(map(_is_answer, documents))
    if not all(isinstance(answer, (list, tuple)) for answer in documents):
        return False
    first = next((mention for answer in documents for mention in answer), None)
    if isinstance(first, Mapping):
        is_mention = any(key in first for key in TEXT_KEYS) and any(key in first for key in TYPE_KEYS)
        return is_mention and not first.keys() & OFFSETS
    return isinstance(first, (list, tuple)) and len(first) == 2 and all(isinstance(part, str) for part in first)


def _is_answer(answer: Any) -> bool:
    if isinstance(answer, Mapping):
        return True
    if ANSWER_MARKS.search(answer) is None:
        return False
    try:
        return not Path(answer).exists()
    except (OSError, ValueError):
        # Too long for a path, or with characters that none has.
        return True


def reading_of_answers(
    answers: Sequence[Any], texts: Documents | Sequence[Any] | None, name: str, options: ReadOptions
) -> Reading:
    """Return the reading of answers, by the ids of dicts that have some, else in the order of the documents of `texts`.

    Raises:
        FormatError: as `read_answers`; places are written as `pred[3]`.
    """
    if texts is not None and not isinstance(texts, Documents):
        ids = tuple(map(str, range(len(texts))))
        words = bool(texts) and not isinstance(texts[0], str)
        documents = documents_of_words(ids, texts) if words else Documents(ids, tuple(texts))
        texts = replace(documents, named=False)
    rows = [((f"{name}[{number}]", None), answer) for number, answer in enumerate(answers)]
    return read_answers(rows, replace(options, texts=texts), source=name, name=name, in_order=True)
