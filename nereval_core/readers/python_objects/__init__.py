"""Spans held as Python objects: a list for each document, of dicts, of tuples, or of the tags of its tokens.

- dicts: `{"start": 0, "end": 3, "label": "PER"}`, code points, end exclusive, the names of the native format;
- tuples: `(0, 3, "PER")`: start, end and type;
- tags: `"B-PER"`, `"O"`, one a token, in one of the tag schemes; where no words are given, offsets are tokens.

A dict for each document, with its text or tokens, is read as the same line of JSON would be, in any shape that is
recognised: `{"text": "Anna came.", "spans": [{"start": 0, "end": 4, "label": "PER"}]}`. An answer of a language model
for each document, which needs its text, is read as from a file.

Objects of other libraries are read as such lists (`other_libraries`). The ids of documents without ids are their
numbers in the list, from "0" on. Without texts only the spans or tokens of a document are known: it ends with its last
span, and results that look at words are not available.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from nereval_core import readers
from nereval_core.corpus import Documents, Intervals, document_problems, frozen, layer
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.texts import Texts
from nereval_core.problems import FormatError, Problem, counted
from nereval_core.readers import Reading, ReadOptions, Source, without_outside
from nereval_core.readers.mentions.reading import FORMAT as ANSWERS
from nereval_core.readers.mentions.reading import read_answers
from nereval_core.readers.mentions.responses import ANSWER_MARKS, TEXT_KEYS, TYPE_KEYS
from nereval_core.readers.python_objects.columns import (
    ObjectColumns,
    checked_objects,
    columns_of_objects,
    type_in_words,
)
from nereval_core.readers.python_objects.other_libraries import (
    PlainLists,
    Side,
    is_of_other_library,
    plain_lists,
    tags_of_numbers,
)
from nereval_core.readers.read_settings import Malformed, Repeats, Unplaced
from nereval_core.readers.recognition import format_of
from nereval_core.readers.shared.label_list import label_list
from nereval_core.readers.shared.tag_cells import NUMBERS_REMEDY
from nereval_core.readers.shared.tag_reading import documents_of_words, reading_of_tags
from nereval_core.readers.shared.tag_schemes import Repair

OPTION = re.compile(r"--(scheme|repair|outside) ([^\s,;)]+)")
"""An option of the command line that `read_objects` has too, and its value."""
OTHER_COLUMN = "; or choose another column"
LABELS_REMEDY = 'give the labels in order: read_objects(…, labels=["O", "B-PER", "I-PER", …])'


def is_objects(value: object) -> bool:
    """Return whether something is a list of documents, rather than a place or places to read them from."""
    if is_of_other_library(value):
        return True
    if not isinstance(value, (list, tuple)):
        return False
    return not value or not all(isinstance(entry, (Source, str, PathLike)) for entry in value) or are_answers(value)


def read_objects(
    documents: Sequence[Any],
    *,
    texts: Documents | Reading | Sequence[str] | Sequence[Sequence[str]] | None = None,
    name: str = "gold",
    scheme: str | None = None,
    gold_scheme: str | None = None,
    repair: Repair | None = None,
    outside: str | None = None,
    type: str | None = None,
    labels: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    side: Side = "gold",
    gold: Documents | None = None,
    repeated: Repeats = "next",
    edits: float = 0.2,
    unplaced: Unplaced = "spurious",
    malformed: Malformed = "refuse",
) -> Reading:
    """Return the spans of Python objects as a layer: `nereval_core.readers.python_objects` says what they may be.

    `texts` are strings, for tags the words of each document, or the documents of another layer, in the same order;
    objects with texts of their own keep these. `scheme` (None: `gold_scheme` if it fits, else the one that fits),
    `repair`, `outside`, `type` and `labels` are those of `read`. `columns` names the columns of a data frame:
    `{"document": "doc", "type": "kind"}`. Of spaCy's Examples one `side` is read. A data frame of predictions has the
    documents of `gold`.

    `repeated`, `edits`, `unplaced` and `malformed` are rules for answers of language models; where `texts` is gold's
    `Reading`, its types help to read them.

    Raises:
        FormatError: with every problem found, its place written as `gold[3][17]`: document and span, from 0.
    """
    gold_types = texts.layer.types if isinstance(texts, Reading) else ()
    texts = texts.documents if isinstance(texts, Reading) else texts
    options = ReadOptions(scheme=scheme, gold_scheme=gold_scheme, repair=repair, outside=outside, type=type)
    if (source := _as_lines(documents, name)) is not None and (form := _form_of_lines(source)):
        labelled = replace(options, labels=None if labels is None else label_list(labels))
        return _reading_of_lines(source, form, labelled, name)
    if are_answers(documents) or (texts is not None and _are_strings(documents)):
        rules = ReadOptions(repeated=repeated, edits=edits, unplaced=unplaced, malformed=malformed)
        return reading_of_answers(documents, texts, name, replace(rules, gold_types=gold_types))
    lists = plain_lists(documents, name, side, gold, columns) or PlainLists(documents)
    documents, texts = lists.documents, texts if lists.texts is None else lists.texts
    if labels is not None:
        documents = tags_of_numbers(documents, labels, name)
    reading = without_outside(_of_plain_lists(documents, texts, name, options, lists.scores))
    if lists.ids is None or isinstance(texts, Documents):
        return reading
    named_documents = replace(reading.documents, ids=lists.ids, named=True)
    return replace(reading, documents=named_documents, layer=replace(reading.layer, documents=named_documents))


def _as_lines(documents: Any, name: str) -> Source | None:
    """Return a dict for each document as lines of JSON; None for other objects."""
    if not isinstance(documents, (list, tuple)) or not documents:
        return None
    if not all(isinstance(document, Mapping) for document in documents):
        return None
    try:
        lines = "\n".join(json.dumps(dict(document), default=lambda value: value.tolist()) for document in documents)
    except (AttributeError, TypeError, ValueError):
        # Values that JSON has no form for.
        return None
    return Source.of_uploads([(f"{name}.jsonl", lines.encode())])


def _form_of_lines(source: Source) -> str:
    """Return the format of documents as lines; "" for answers of a language model, and where none fits."""
    try:
        form = format_of(source)
    except FormatError:
        return ""
    return "" if form == ANSWERS else form


def _reading_of_lines(source: Source, form: str, options: ReadOptions, name: str) -> Reading:
    """Return the reading of documents as lines.

    Raises:
        FormatError: as the reader of the format; places are written as `gold[3]`.
    """
    try:
        reading = readers.read(source, format=form, options=options)
    except FormatError as error:
        raise FormatError(
            replace(problem, source=name if problem.line is None else f"{name}[{problem.line - 1}]", line=None)
            for problem in error.problems
        ) from None
    return replace(reading, source=name)


def _of_plain_lists(
    documents: Sequence[Sequence[Any]],
    texts: Documents | Sequence[str] | Sequence[Sequence[str]] | None,
    name: str,
    options: ReadOptions,
    scores: Mapping[int, float],
) -> Reading:
    object_columns = columns_of_objects(documents, name) or checked_objects(documents, name)
    if object_columns.form == "tag":
        return _of_tags(object_columns, texts, options)
    corpus_documents = documents_of_spans(object_columns, texts)
    problems = object_columns.problems
    if corpus_documents is None:
        corpus_documents, offsets = documents_without_texts(object_columns)
        problems += offsets
    elif corpus_documents is not texts:
        problems += document_problems(corpus_documents, lambda number: (f"texts[{number}]", None))
    checked = layer(
        name,
        corpus_documents,
        object_columns.documents(),
        object_columns.start,
        object_columns.end,
        object_columns.labels,
        extras={"scores": scores},
        where=object_columns.place,
        problems=problems,
    )
    return Reading(corpus_documents, checked, "", source=name)


def levelled(gold: Reading, pred: Reading) -> tuple[Reading, Reading]:
    """Return both sides over the same documents where neither has texts; else as they are.

    A document then ends with the last span of either side.

    Raises:
        FormatError: one side alone has texts, or counts in tokens; unequal numbers of documents or of tokens.
    """
    gold_documents, pred_documents = gold.documents, pred.documents
    if gold_documents is pred_documents or (gold_documents.sizes is None and pred_documents.sizes is None):
        return gold, pred
    if gold_documents.sizes is None or pred_documents.sizes is None:
        bare, other = (gold, pred) if gold_documents.sizes is not None else (pred, gold)
        finding = f"no texts, and {other.source or 'the other side'} has some"
        raise FormatError.single(bare.source, None, finding, "give the same texts: read_objects(…, texts=…)")
    if len(gold_documents) != len(pred_documents):
        raise FormatError.single(
            pred.source, None, *count_mismatch(len(pred_documents), len(gold_documents), "gold has")
        )
    filled = [
        documents
        for documents, side in ((gold_documents, gold), (pred_documents, pred))
        if documents.tokens or len(side.layer)
    ]
    if len({documents.tokens is None for documents in filled}) > 1:
        counted = (
            "tokens where gold counts characters"
            if gold_documents.tokens is None
            else "characters where gold counts tokens"
        )
        raise FormatError.single(pred.source, None, f"offsets count {counted}", "give both sides in one form")
    if gold_documents.tokens and pred_documents.tokens:
        counts = (np.diff(pred_documents.tokens.first), np.diff(gold_documents.tokens.first))
        if problems := token_count_problems(pred.source, *counts, "gold has"):
            raise FormatError(problems)
    tokens = gold_documents.tokens or pred_documents.tokens
    common = replace(
        gold_documents, tokens=tokens, sizes=frozen(np.maximum(gold_documents.sizes, pred_documents.sizes))
    )
    levelled_gold, levelled_pred = (
        replace(side, documents=common, layer=replace(side.layer, documents=common)) for side in (gold, pred)
    )
    return levelled_gold, levelled_pred


def _of_tags(columns: ObjectColumns, texts: Any, options: ReadOptions) -> Reading:
    """Return the spans of tags over their tokens.

    Raises:
        FormatError: as `read_objects`.
    """
    documents = documents_of_tags(columns, texts)
    places = [(f"texts[{number}]", None) for number in range(len(documents))] if documents.sizes is None else []
    try:
        reading = reading_of_tags(
            columns.name, "", documents, columns, options, places=places, problems=columns.problems, spoilt=columns.odd
        )
    except FormatError as error:
        raise FormatError(replace(problem, remedy=_in_python(problem.remedy)) for problem in error.problems) from None
    return replace(reading, source=columns.name, places=())


def _in_python(remedy: str) -> str:
    """Return a remedy with arguments of `read_objects` in place of options of the command line."""
    if remedy == NUMBERS_REMEDY:
        return LABELS_REMEDY
    return OPTION.sub(r'read_objects(…, \1="\2")', remedy.replace(OTHER_COLUMN, ""))


LONGEST = np.iinfo(np.int32).max


def documents_of_spans(columns: ObjectColumns, texts: Any) -> Documents | None:
    """Return the documents of spans, None where no texts were given.

    Raises:
        FormatError: texts that are not strings, or another number of them.
    """
    if texts is None:
        return None
    if len(texts) != len(columns.sizes):
        raise FormatError([*columns.problems, _count_problem(columns, len(texts))])
    if isinstance(texts, Documents):
        return texts
    problems = [
        Problem(
            f"texts[{number}]", None, f"{type_in_words(text)} where the text of a document should be", "write a string"
        )
        for number, text in enumerate(texts)
        if not isinstance(text, str)
    ]
    if problems:
        raise FormatError([*columns.problems, *problems])
    return Documents(_ids(len(texts)), tuple(texts), named=False)


def _count_problem(columns: ObjectColumns, count: int) -> Problem:
    return Problem(columns.name, None, *count_mismatch(len(columns.sizes), count, "there are texts for"))


def count_mismatch(here: int, expected: int, of: str) -> tuple[str, str]:
    finding = f"{counted(here, 'document')} where {of} {expected}"
    return finding, "give one list for each document, empty where nothing is found"


def documents_without_texts(columns: ObjectColumns) -> tuple[Documents, list[Problem]]:
    """Return documents that end with their last spans, and what is wrong with offsets, which no text is there for."""
    bad = (columns.start < 0) | (columns.start >= columns.end) | (columns.end > LONGEST)
    problems = [
        Problem(
            *columns.place(row),
            f"span [{columns.start[row]}, {columns.end[row]})",
            f"use code points with 0 <= start < end <= {LONGEST}",
        )
        for row in np.flatnonzero(bad).tolist()
    ]
    # These are among the problems.
    columns.start[bad], columns.end[bad] = 0, 1
    sizes = np.zeros(len(columns.sizes), np.int64)
    np.maximum.at(sizes, columns.documents(), columns.end)
    return _textless(sizes), problems


def _textless(sizes: Int64, tokens: Intervals | None = None) -> Documents:
    nothing = Texts(np.zeros(0, np.uint8), np.zeros(len(sizes) + 1, np.int64))
    return Documents(_ids(len(sizes)), nothing, tokens, named=False, sizes=frozen(sizes))


def _ids(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def documents_of_tags(columns: ObjectColumns, texts: Any) -> Documents:
    """Return the documents whose tokens the tags stand beside.

    Raises:
        FormatError: other than as many documents, tokens and words, or texts that are not words.
    """
    sizes = columns.sizes
    if texts is None:
        # `first` counts tags only; `sizes` counts all items given.
        starts = np.arange(columns.first[-1], dtype=np.int32)
        starts -= np.repeat(columns.first[:-1].astype(np.int32), np.diff(columns.first))
        return _textless(sizes.copy(), Intervals(frozen(columns.first), frozen(starts), frozen(starts + np.int32(1))))
    if len(texts) != len(sizes):
        raise FormatError([*columns.problems, _count_problem(columns, len(texts))])
    if isinstance(texts, Documents):
        if texts.tokens is None:
            remedy = "give spans, with offsets in the text"
            raise FormatError.single(columns.name, None, "tags, and the texts have no tokens", remedy)
        counts = np.diff(texts.tokens.first)
        documents = texts
    else:
        problems = [
            Problem(
                f"texts[{number}]",
                None,
                f"{type_in_words(words)} where words should be",
                "give a list of words for tags",
            )
            for number, words in enumerate(texts)
            if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words)
        ]
        if problems:
            raise FormatError([*columns.problems, *problems])
        counts = np.fromiter(map(len, texts), np.int64, len(texts))
        documents = replace(documents_of_words(_ids(len(texts)), texts), named=False)
    if unequal := token_count_problems(columns.name, sizes, counts, "there are"):
        raise FormatError([*columns.problems, *unequal])
    return documents


def token_count_problems(name: str, here: Int64, expected: Int64, of: str) -> list[Problem]:
    """Return the documents whose numbers of tokens differ."""
    return [
        Problem(
            f"{name}[{doc}]",
            None,
            f"{counted(here[doc], 'tag')} where {of} {expected[doc]}",
            "give one tag for each token",
        )
        for doc in np.flatnonzero(here != expected).tolist()
    ]


OFFSETS = frozenset(("start", "end"))
IN_LINES = re.compile(r"\n|: |^\s*(?:[-*•|]|\d+[.)])\s")
"""What answers in lines have, and hardly a path."""


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


def _are_strings(documents: Any) -> bool:
    """Return whether a list has a string for each document, which is no list of spans or tags, but an answer."""
    is_list = isinstance(documents, (list, tuple)) and bool(documents)
    return is_list and all(isinstance(answer, str) for answer in documents)


def _is_answer(answer: Any) -> bool:
    if isinstance(answer, Mapping):
        return True
    if ANSWER_MARKS.search(answer) is None and IN_LINES.search(answer) is None:
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
