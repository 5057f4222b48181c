"""Read the rows of columns line by line, judging each line exactly."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, overload

import numpy as np

from nereval_core.corpus import Documents, Intervals, Place, frozen
from nereval_core.corpus.arrays import Int32, Int64
from nereval_core.problems import FormatError, Problem, ProblemList, counted
from nereval_core.readers import ReadOptions
from nereval_core.readers.conll.layout import (
    BYTE_ORDER_MARK,
    DOCSTART,
    MEDLINE,
    MIN_NUMBERED,
    Layout,
    column_index,
    number_tokens,
    sample_rows,
    tag_columns,
    word_column,
)
from nereval_core.readers.input.source import SourceFile, with_progress
from nereval_core.readers.shared.tag_cells import kind_of_cells, scored_tags, split_scores
from nereval_core.readers.shared.tag_reading import TagCells

ID_KEYS = ("id", "document_id", "document id", "doc_id", "doc id")


class DocumentMark(NamedTuple):
    """The beginning of a document: `kind` is newdoc, docstart or id; `name` is None where the mark gives none."""

    kind: str
    name: str | None
    token: int
    place: Place


@dataclass(frozen=True, eq=False)
class Places(Sequence[Place]):
    """Places of many tokens, `files` being indices into `names`."""

    names: tuple[str, ...]
    files: Int32
    lines: Int64

    def __len__(self) -> int:
        return len(self.lines)

    @overload
    def __getitem__(self, at: int) -> Place: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Place, ...]: ...
    def __getitem__(self, at: int | slice) -> Place | tuple[Place, ...]:
        if isinstance(at, slice):
            return tuple(self[number] for number in range(*at.indices(len(self))))
        return self.names[self.files[at]], int(self.lines[at])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def of(cls, tokens: Int64, lines: Int64, structure: FileStructure) -> Places:
        """Return the places of tokens, which have these lines."""
        files = np.searchsorted(structure.files, tokens, side="right") - 1
        return cls(tuple(file.shown for file in structure.sources), files.astype(np.int32), lines)


class ReadColumns(NamedTuple):
    """The columns of a file: their number, and the indices of tokens, tags, and chunks, which are not read."""

    columns: int
    word: int
    column: int
    chunks: tuple[int, ...] = ()


class AmbiguousColumns(NamedTuple):
    """A file in which several columns hold tags, by their indices, and none is asked for."""

    file: SourceFile
    columns: tuple[int, ...]


@dataclass(slots=True)
class FileStructure:
    """Marks, comments, columns and problems of files; `files` holds the number of each one's first token."""

    marks: list[DocumentMark] = field(default_factory=list)
    sentence_ids: dict[int, str] = field(default_factory=dict)
    marked: list[str] = field(default_factory=list)
    """The tags beside -DOCSTART-, where it stands in a row of the table."""
    files: list[int] = field(default_factory=list)
    sources: list[SourceFile] = field(default_factory=list)
    columns: set[ReadColumns] = field(default_factory=set)
    undecided: list[AmbiguousColumns] = field(default_factory=list)
    wordless: list[SourceFile] = field(default_factory=list)
    """Files whose tokens are numbers: scorers of tags read them."""
    comments: int = 0
    problems: ProblemList = field(default_factory=ProblemList)

    def other(self, line: str, token: int, place: Place, layout: Layout) -> bool:
        """Read a line that is not a row, before this token, and return whether it ends the sentence."""
        if line[0] != "#":
            row = layout.row(line)
            if line == BYTE_ORDER_MARK:
                self.problems.append(Problem(*place, "a byte-order mark alone", "delete the line"))
                return False
            if row[0] != DOCSTART:
                finding = f"{counted(len(row), 'column')} where the file has {layout.columns}"
                by = "tabs" if layout.tabs else "blanks"
                self.problems.append(
                    Problem(*place, finding, f"give each token {layout.columns} columns split by {by}")
                )
                return False
            if len(row) == layout.columns:
                self.marked.append(row[layout.column])
        before = len(self.marks)
        self._comment(line, token, place)
        # A mark ends the sentence too where no blank line does.
        return len(self.marks) > before

    def _comment(self, line: str, here: int, place: Place) -> None:
        """Read the mark of a document, the id of a sentence, or a comment."""
        if line.startswith(DOCSTART):
            self.marks.append(DocumentMark("docstart", None, here, place))
            return
        if line.startswith(MEDLINE):
            self.marks.append(
                DocumentMark("newdoc", line[len(MEDLINE) :].split("\t")[0].strip(" :") or None, here, place)
            )
            return
        key, equals, value = line.lstrip("#").partition("=")
        key, value = key.strip(), value.strip()
        if key == "newdoc" or (key == "newdoc id" and equals):
            self.marks.append(DocumentMark("newdoc", value or None, here, place))
        elif key in ID_KEYS and equals:
            self.marks.append(DocumentMark("id", value or None, here, place))
        elif key.startswith("id ") and not line.startswith("##"):
            # MultiCoNER: "# id 1f2e domain=en".
            self.marks.append(DocumentMark("id", key.split()[1], here, place))
        elif key == "sent_id" and equals:
            self.sentence_ids[here] = value
        else:
            self.comments += 1


@dataclass(slots=True)
class ListedRows:
    """The rows of all files, an entry a token.

    `firsts` are the numbers of the sentences' first tokens; `ended` says whether a line that is not a token, such as a
    blank one, ends the last sentence.
    """

    structure: FileStructure = field(default_factory=FileStructure)
    tokens: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    ended: bool = True

    @property
    def count(self) -> int:
        return len(self.tokens)

    @property
    def sentences(self) -> Int64:
        """The first token of each sentence and, last, the number of tokens."""
        return np.array([*self.firsts, len(self.tokens)], np.int64)

    def tag_rows(self) -> TagCells:
        """Return the tags, apart from what stands beside them."""
        cells, scores = split_scores(self.words)
        return TagCells(cells, self.sentences, self.place, scores)

    def place(self, token: int) -> Place:
        return self.structure.sources[bisect_right(self.structure.files, token) - 1].shown, self.lines[token]

    def places(self, tokens: Int64) -> Places:
        return Places.of(tokens, np.array(self.lines, np.int64)[tokens], self.structure)

    def documents(self, first: Sequence[int], ids: tuple[str, ...], named: bool) -> Documents:
        """Return the documents that begin at these sentences, with text, tokens and sentences."""
        sentences = self.sentences
        edges = [*first, len(sentences) - 1]
        lines = [" ".join(self.tokens[low:high]) for low, high in pairwise(sentences.tolist())]
        texts = tuple("\n".join(lines[low:high]) for low, high in pairwise(edges))
        first_token = sentences[edges]
        doc = np.repeat(np.arange(len(texts)), np.diff(first_token))
        sizes = np.fromiter(map(len, self.tokens), np.int64, len(self.tokens))
        # One character stands between two tokens of a document, whether blank or line end.
        after = np.cumsum(sizes + 1)
        starts = after - sizes - 1
        starts -= starts[first_token[:-1].clip(max=len(starts) - 1)][doc]
        ends = starts + sizes
        tokens = Intervals(frozen(first_token), frozen(starts.astype(np.int32)), frozen(ends.astype(np.int32)))
        # A sentence holds at least one token.
        reach = Intervals(
            frozen(np.array(edges, np.int64)),
            frozen(tokens.starts[sentences[:-1]]),
            frozen(tokens.ends[sentences[1:] - 1]),
        )
        return Documents(ids, texts, tokens, reach, named=named)


def read_listed(files: Sequence[SourceFile], options: ReadOptions, *, docstarts: bool = False) -> ListedRows:
    """Return the rows of all files; problems with their lines are in `structure`.

    With `docstarts` a row of -DOCSTART- is a token too, as to scorers that do not know it.
    """
    rows = ListedRows()
    for file in files:
        _read_file(file, options, rows, docstarts)
    return rows


def _read_file(file: SourceFile, options: ReadOptions, rows: ListedRows, docstarts: bool) -> None:
    structure = rows.structure
    try:
        lines = file.lines()
    except FormatError as error:
        structure.problems.extend(error.problems)
        return
    structure.files.append(len(rows.tokens))
    structure.sources.append(file)
    if len(lines) == 1 and "\r" in lines[0] and sample_rows(lines)[0]:
        complaint = "lines end in a carriage return alone"
        structure.problems.append(Problem(file.shown, None, complaint, "save the file with line feeds"))
        return
    layout = file_layout(lines, file, options, structure)
    if layout is None:
        return
    columns, word, column, split = layout.columns, layout.word, layout.column, layout.split
    tokens, tags, numbers = rows.tokens, rows.words, rows.lines
    ended = True
    for number, line in enumerate(with_progress(lines, options.progress), start=1):
        if not line or line.isspace():
            ended = True
            continue
        row = split(line)
        if len(row) != columns:
            row = layout.row(line)
        is_docstart = docstarts and row[0] == DOCSTART
        if is_docstart:
            ended |= structure.other(line, len(tokens), (file.shown, number), layout)
            row = row if len(row) == columns else [row[0]] * columns
        if is_docstart or (len(row) == columns and (row[0][:1] not in ("#", "-") or layout.is_row(row))):
            if ended:
                rows.firsts.append(len(tokens))
                ended = False
            if not row[word]:
                remedy = f"write the token in column {word + 1}"
                structure.problems.append(Problem(file.shown, number, "a line without a token", remedy))
            tokens.append(row[word])
            tags.append(row[column])
            numbers.append(number)
        else:
            ended |= structure.other(line, len(tokens), (file.shown, number), layout)
    rows.ended = ended


def file_layout(
    lines: Sequence[str], file: SourceFile, options: ReadOptions, structure: FileStructure
) -> Layout | None:
    """Return the layout of a file that begins with these lines, None where it is empty or has none."""
    sample, columns, split = sample_rows(lines)
    if not sample:
        return None
    complaint: tuple[str, str] | None = None
    if columns < 2:
        complaint = "only one column", "give each token and its tag, split by a tab or blanks"
    word = word_column(sample, columns) if not complaint else 0
    words = [row[word] for row in sample if len(row) == columns]
    if (columns == 2 and len(words) >= MIN_NUMBERED and number_tokens(words)) or (
        word and kind_of_cells(words) == "tags"
    ):
        structure.wordless.append(file)
    column = columns - 1
    chunks: tuple[int, ...] = ()
    if options.column is not None and not complaint:
        column, complaint = column_index(options.column, columns, word)
    elif columns > 2:
        tagged, chunks = tag_columns(sample, columns, word)
        if len(tagged) > 1:
            structure.undecided.append(AmbiguousColumns(file, tagged))
            return None
        column = tagged[0] if tagged else column
    if complaint:
        structure.problems.append(Problem(file.shown, None, *complaint))
        return None
    structure.columns.add(ReadColumns(columns, word, column, chunks))
    scored = bool(scored_tags([row[column] for row in sample if len(row) == columns]))
    return Layout(columns, word, column, split, scored)
