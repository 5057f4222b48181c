"""Tables of tokens in CSV with a header: a row a token, with columns for the word, its tag and its sentence.

The columns are found by their names, as in the corpus of Kaggle's "Annotated Corpus for Named Entity Recognition":
`Sentence #,Word,POS,Tag`. A sentence begins at a row whose cell for it is filled and another than that above; without
such a column the file is one document. The text is rebuilt: words joined by one blank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from nereval_core.corpus import Place
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.table_columns import checked_rows, first_rows, plain_name
from nereval_core.readers.shared.tag_cells import (
    TagColumn,
    annotation_columns,
    choice_problem,
    unread_predictions_note,
)
from nereval_core.readers.shared.tag_reading import TagCells, documents_of_words, reading_of_tags

SAMPLE_ROWS = 1000
"""The rows that say which columns hold tags."""
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


class TokenTableReader(Reader):
    name = "tokentable"
    description = "CSV with a row a token: columns for the word, its tag and its sentence, as on Kaggle"
    suffixes = (".csv", ".tsv")
    has_columns = True
    has_labels = True

    def recognise(self, source: Source) -> float:
        """Claim a header with a word and a tag, and no start of spans."""
        files = source.pick(*self.suffixes)
        table = _table("\n".join(source.head_of(files[0]).lines)) if files else None
        return 0.95 if table and table.word is not None and table.tagged and "start" not in table.names else 0.0

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the columns of the first file among which one has to be chosen, by its first rows; else nothing."""
        table = _table("\n".join(source.head_of(source.pick(*self.suffixes)[0]).lines))
        return table.choices() if table is not None and len(table.tagged) > 1 else ()

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read a document a sentence; `options.column` names the tags' column.

        Raises:
            FormatError: with every problem found: columns, rows, tags, sequences that break the scheme, ids.
        """
        files = source.pick(*self.suffixes)
        problems = ProblemList()
        notes: dict[str, None] = {}
        sentences = [sentence for file in files for sentence in _sentences(file, options.column, problems, notes)]
        if problems:
            raise FormatError(problems)
        places = [(sentence.place[0], line) for sentence in sentences for line in sentence.lines]
        cells = TagCells.of_rows([sentence.tags for sentence in sentences], [sentence.place for sentence in sentences])
        return reading_of_tags(
            options.name or source.label,
            self.name,
            documents_of_words([sentence.name for sentence in sentences], [sentence.words for sentence in sentences]),
            replace(cells, place=places.__getitem__),
            options,
            places=tuple(sentence.place for sentence in sentences),
            notes=[*notes, *unread_files_note(source, files)],
        )


READER = TokenTableReader()


FEW_ROWS = 2
"""The most rows whose words may all be numbers."""


@dataclass(frozen=True)
class _Table:
    """The columns of a table by its first rows: plain names, and the places of words, sentences and tags."""

    delimiter: str
    names: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    word: int | None
    sentence: int | None
    tagged: tuple[int, ...]

    def choices(self) -> tuple[TagColumn, ...]:
        """Return the columns of tags."""
        return tuple(TagColumn.of(self.names[at], [row[at] for row in self.rows]) for at in self.tagged)

    def place(self, column: int | str) -> int | None:
        """Return the place of a column by number, from 1, or name."""
        if isinstance(column, int):
            return column - 1 if 1 <= column <= len(self.names) else None
        return _first(self.names, (plain_name(column),))


def _table(text: str) -> _Table | None:
    """Return the columns of a table that begins so; None where its first row has no two columns.

    Tags stand in the columns whose cells are tags, else in one that is called so.
    """
    for delimiter in DELIMITERS:
        header, *below = first_rows(text, SAMPLE_ROWS, delimiter) or [[]]
        if len(header) > 1:
            break
    else:
        return None
    names = tuple(map(plain_name, header))
    rows = [[cell.strip() for cell in row] for row in below if len(row) == len(names)]
    word, sentence, usual = (_first(names, usual_names) for usual_names in (WORD, SENTENCE, TAG))
    columns = [
        ("", ()) if at in (word, sentence) else (name, [row[at] for row in rows]) for at, name in enumerate(names)
    ]
    tagged = annotation_columns(columns, TAG) or tuple(at for at in (usual,) if at is not None)
    return _Table(delimiter, names, rows, word, sentence, tagged)


def _first(header: Sequence[str], names: Sequence[str]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _sentences(
    file: SourceFile, column: int | str | None, problems: list[Problem], notes: dict[str, None]
) -> Iterator[_Sentence]:
    """Yield the sentences of a file; what is wrong with it goes to the problems, what is not read to the notes."""
    text = file.text()
    table = _table(text) or _Table(",", (), (), None, None, ())
    names, word, sentence = table.names, table.word, table.sentence
    if column is None and len(table.tagged) > 1:
        problems.append(choice_problem(file.shown, 1, table.choices()))
        return
    tag = next(iter(table.tagged), None) if column is None else table.place(column)
    if word is None or tag is None:
        lacking = f"the words: call it one of {', '.join(WORD)}" if word is None else "the tags: name it by --column"
        header = ", ".join(map(quoted, names)) or "no header"
        problems.append(Problem(file.shown, 1, f"no column for {lacking.partition(':')[0]} among {header}", lacking))
        return
    if len(table.rows) > FEW_ROWS and all(row[word].isdecimal() for row in table.rows):
        finding = f"the column of words, {quoted(names[word])}, has numbers alone"
        problems.append(Problem(file.shown, 1, finding, "give a column of words: numbers of tokens need gold's tokens"))
        return
    notes.update(dict.fromkeys(unread_predictions_note(names, (names[tag],))))
    current: _Sentence | None = None
    # The first row is the header.
    for line, row in islice(checked_rows(file.shown, text, table.delimiter, len(names), problems), 1, None):
        name = row[sentence].strip() if sentence is not None else ""
        if current is None or (name and name != current.name):
            if current is not None:
                yield current
            current = _Sentence(name or None, (file.shown, line))
        if not row[word].strip():
            problems.append(Problem(file.shown, line, "a row without a word", "give each token"))
            continue
        current.words.append(row[word].strip())
        current.tags.append(row[tag].strip())
        current.lines.append(line)
    if current is not None:
        yield current
