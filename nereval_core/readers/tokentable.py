"""Tables of tokens in CSV with a header: a row a token, with columns for the word, its tag and its sentence.

The columns are found by their names, as in the corpus of Kaggle's "Annotated Corpus for Named Entity Recognition":
`Sentence #,Word,POS,Tag`. A sentence begins at a row whose cell for it is filled and another than that above; without
such a column the file is one document. The text is rebuilt: words joined by one blank.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from nereval_core.corpus import Labels, Place, document_problems, layer
from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.datasets import documents_of_words
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.table_columns import QUOTING, first_rows
from nereval_core.readers.shared.tag_decoding import decode_tags, scheme_of_tags, tag_problems
from nereval_core.readers.shared.tag_notation import notation_of
from nereval_core.readers.shared.tag_schemes import Tags

NAME = "tokentable"
DESCRIPTION = "CSV with a row a token: columns for the word, its tag and its sentence, as on Kaggle"
COLUMNS = True

SUFFIXES = (".csv", ".tsv")
DELIMITERS = (",", ";", "\t")
WORD = ("word", "token", "words", "tokens")
TAG = ("tag", "ner_tag", "ner", "ner_tags", "tags", "bio", "iob", "label")
SENTENCE = ("sentence_#", "sentence", "sentence_id", "sent_id", "sent", "sentence_idx", "document", "doc", "doc_id")


@dataclass(slots=True)
class _Sentence:
    name: str | None
    place: Place
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def recognise(source: Source) -> float:
    """Claim a header with a word and a tag, and no start of spans."""
    files = source.pick(*SUFFIXES)
    found = _header("\n".join(source.head_of(files[0]).lines)) if files else None
    names = [] if found is None else found[1]
    return 0.95 if _first(names, WORD) is not None and _first(names, TAG) is not None and "start" not in names else 0.0


def read(source: Source, options: ReadOptions) -> Reading:
    """Read a document a sentence; `options.column` names the tags' column.

    Raises:
        FormatError: with every problem found: columns, rows, tags, sequences that break the scheme, ids.
    """
    files = source.pick(*SUFFIXES)
    problems: list[Problem] = []
    sentences = [one for file in files for one in _sentences(file, options.column, problems)]
    if problems:
        raise FormatError(problems)
    places = [(sentence.place[0], line) for sentence in sentences for line in sentence.lines]
    flat = [tag for sentence in sentences for tag in sentence.tags]
    notation = notation_of(set(flat), options)
    tags = Tags.of(flat, [0, *accumulate(len(sentence.tags) for sentence in sentences)], notation.parse)
    scheme, notes = scheme_of_tags(tags, places.__getitem__, options, notation)
    documents = documents_of_words([one.name for one in sentences], [one.words for one in sentences])
    problems += tag_problems(tags, scheme, flat.__getitem__, places.__getitem__, options)
    problems += document_problems(documents, lambda number: sentences[number].place)
    if problems:
        raise FormatError(problems)
    chunks, mended = decode_tags(tags, scheme, options)
    assert documents.tokens is not None
    doc_of = np.repeat(np.arange(len(sentences)), [len(one.words) for one in sentences])
    made = layer(
        options.name or source.label,
        documents,
        doc_of[chunks.start],
        documents.tokens.starts[chunks.start],
        documents.tokens.ends[chunks.end - 1],
        Labels(chunks.type, tags.names),
        where=lambda span: places[int(chunks.start[span])],
    )
    notes += [*filter(None, [mended]), *unread_files_note(source, files)]
    name = scheme.name if scheme else None
    starts = tuple(sentence.place for sentence in sentences)
    return Reading(documents, made, NAME, tuple(notes), scheme=name, places=starts, mended=mended)


def _header(text: str) -> tuple[str, list[str]] | None:
    """Return the delimiter of a text and the plain names in its first row, None where it has no two columns."""
    for delimiter in DELIMITERS:
        rows = first_rows(text, 1, delimiter)
        if rows and len(rows[0]) > 1:
            return delimiter, [name.strip().lower().replace(" ", "_").replace("-", "_") for name in rows[0]]
    return None


def _first(names: Sequence[str], known: Sequence[str]) -> int | None:
    return next((names.index(name) for name in known if name in names), None)


def _sentences(file: SourceFile, column: int | str | None, problems: list[Problem]) -> Iterator[_Sentence]:
    """Yield the sentences of a file; what is wrong with it goes to the problems."""
    text = file.text()
    delimiter, names = _header(text) or (",", [])
    word, tag, sentence = (_first(names, known) for known in (WORD, TAG, SENTENCE))
    if isinstance(column, int):
        tag = column - 1 if 1 <= column <= len(names) else None
    elif column is not None:
        tag = _first(names, (column.strip().lower(),))
    if word is None or tag is None:
        lacking = f"the words: call it one of {', '.join(WORD)}" if word is None else "the tags: name it by --column"
        there = ", ".join(map(quoted, names)) or "no header"
        problems.append(Problem(file.shown, 1, f"no column for {lacking.partition(':')[0]} among {there}", lacking))
        return
    current: _Sentence | None = None
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in rows:
            number, line = line, rows.line_num + 1
            if number == 1 or not any(row):
                continue
            if len(row) != len(names):
                found = f"{counted(len(row), 'cell')} under {counted(len(names), 'column')}"
                problems.append(Problem(file.shown, number, found, 'write as many, those with delimiters in "…"'))
                continue
            name = row[sentence].strip() if sentence is not None else ""
            if current is None or (name and name != current.name):
                if current is not None:
                    yield current
                current = _Sentence(name or None, (file.shown, number))
            if not row[word].strip():
                problems.append(Problem(file.shown, number, "a row without a word", "give each token"))
                continue
            current.words.append(row[word].strip())
            current.tags.append(row[tag].strip())
            current.lines.append(number)
    except csv.Error as error:
        problems.append(Problem(file.shown, line, f"no row of a table: {error}", QUOTING))
    if current is not None:
        yield current
