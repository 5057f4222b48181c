"""Sentences with all of their tags in one row: two cells of words and of tags, or the tags alone.

Cells hold words or tags with blanks between, or a list of them as Python, JSON or numpy write it: `['Ann', 'left']`,
`["B-PER", "O"]`, `['B-PER' 'O']`. They stand in CSV or TSV, with a header or without. Tags alone, a line a sentence, as
`run_ner.py` of transformers writes `predictions.txt`, are those of gold's tokens. Each row of words is a document, its
text the words with one blank between them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np

from nereval_core.corpus import Documents, Intervals, Place
from nereval_core.corpus.arrays import Int64
from nereval_core.problems import FormatError, Problem, ProblemList, counted, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.read_settings import ReadSettings
from nereval_core.readers.shared.table_columns import checked_rows, first_rows, plain_name
from nereval_core.readers.shared.tag_cells import (
    OUTSIDE,
    TagColumn,
    choice_problem,
    kind_of_cells,
    notation_of,
    unread_predictions_note,
)
from nereval_core.readers.shared.tag_reading import TagCells, documents_of_words, reading_of_tags
from nereval_core.readers.shared.token_tags import sentence_bounds

SAMPLE_ROWS = 50
"""Rows by which a file is recognised."""
DELIMITERS = ("\t", ",", ";")
WORDS = ("tokens", "words", "token", "word", "sentence", "sentences", "text")
NAMES = ("id", "sentence_id", "sent_id", "guid")
ITEM = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s,\[\]'\"]+")
LISTS = re.compile(r"\s*\[\s*\[")
"""The beginning of lists in a list, a sentence each."""
LIST = re.compile(rf"\[\s*(?:(?:{ITEM.pattern})(?:\s*,\s*|\s+|(?=\])|(?=['\"])))*\]", re.DOTALL)
ALONE = "tags without words: gold's tokens have them"
PASTE = "put the words before the tags, split by a tab (paste WORDS TAGS), or give it as a prediction beside gold"


@dataclass(slots=True)
class _Rows:
    """The rows of all files: tags, words (None for tags alone), ids and places."""

    tags: list[list[str]] = field(default_factory=list)
    words: list[list[str] | None] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)


@dataclass(frozen=True)
class _Layout:
    """The columns of a file: `delimiter` is None where a line is one cell, `header` empty where there is none.

    `tagged` are the columns that hold tags; the place of `words` or of a `name` is None where there is no such column.
    """

    delimiter: str | None
    header: tuple[str, ...]
    tagged: tuple[int, ...]
    words: int | None
    name: int | None
    cells: Sequence[Sequence[str]]

    def label(self, column: int) -> str | int:
        return self.header[column] if self.header else column + 1


class TagRowReader(Reader):
    name = "tagrows"
    description = "a sentence a row: words and tags in two cells or lists, or tags alone for gold's tokens"
    suffixes = (".csv", ".tsv", ".txt", ".tags", ".out", ".labels", ".json")
    has_columns = True
    has_labels = True

    def recognise(self, source: Source) -> float:
        """Claim rows whose cells are whole rows of tags, alone or beside as many words.

        Tags alone need letters before their types: types without are told from words by nothing.
        """
        files = source.pick(*self.suffixes)
        layout = _layout("\n".join(source.head_of(files[0]).lines)) if files else None
        if layout is None:
            return 0.0
        tags = {tag for row in layout.cells for tag in tags_of(row[0])} if layout.delimiter is None else set()
        return 0.0 if notation_of(tags, ReadSettings()).types else 0.98

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the columns of the first file among which one has to be chosen, by its first rows; else nothing."""
        layout = _layout("\n".join(source.head_of(source.pick(*self.suffixes)[0]).lines))
        return _choices(layout) if layout is not None and len(layout.tagged) > 1 else ()

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read a document a row, or the tags of gold's sentences; `options.column` names the tags' column.

        Raises:
            FormatError: with every problem found: rows, other numbers of tags than of words, tags, sequences that break
                the scheme.
        """
        files = source.pick(*self.suffixes)
        problems = ProblemList()
        notes: dict[str, None] = {}
        rows = _Rows()
        for file in files:
            _read_file(file, options.column, rows, problems, notes)
        if problems:
            raise FormatError(problems)
        has_words = rows.words[0] is not None
        return reading_of_tags(
            options.name or source.label,
            self.name,
            _documents(source, rows, options),
            TagCells.of_rows(rows.tags, rows.places),
            options,
            places=tuple(rows.places) if has_words else (),
            notes=[*notes, *([] if has_words else [ALONE]), *unread_files_note(source, files)],
        )


READER = TagRowReader()


def _documents(source: Source, rows: _Rows, options: ReadOptions) -> Documents:
    """Return the documents of the rows, gold's for tags alone.

    Raises:
        FormatError: other numbers of tags than of tokens, or tags alone without gold's tokens.
    """
    if all(words is not None for words in rows.words):
        return documents_of_words(rows.names, [words or [] for words in rows.words])
    gold = options.texts
    if gold is None or gold.tokens is None:
        finding = "tags without words" if gold is None else "tags without words, and gold has no tokens"
        raise FormatError.single(source.name, None, finding, PASTE)
    bounds = sentence_bounds(gold)
    sizes = np.diff(bounds)
    if len(rows.tags) == len(sizes) and all(0 < len(tags) <= size for tags, size in zip(rows.tags, sizes, strict=True)):
        n_tags = np.array([len(tags) for tags in rows.tags])
        return gold if (n_tags == sizes).all() else _cut_documents(gold, bounds, n_tags)
    problems = ProblemList()
    for number, (tags, size) in enumerate(zip(rows.tags, sizes.tolist(), strict=False)):
        if len(tags) != size:
            words = " ".join(_words(gold, int(bounds[number]), int(bounds[number + 1])))
            counts = f"{counted(len(tags), 'tag')} for {counted(size, 'token')} of gold's sentence {number + 1}"
            problems.append(
                Problem(*rows.places[number], f"{counts}, {quoted(words)}", "give one tag for each of gold's tokens")
            )
    if len(rows.tags) != len(sizes):
        place = rows.places[min(len(sizes), len(rows.tags) - 1)] if rows.places else (source.name, None)
        finding = f"{counted(len(rows.tags), 'row')} of tags for {counted(len(sizes), 'sentence')} of gold"
        problems.append(Problem(*place, finding, "give one row for each of gold's sentences"))
    raise FormatError(problems)


def _cut_documents(gold: Documents, bounds: Int64, n_tags: Int64) -> Documents:
    """Return gold's documents, of each sentence its first `n_tags` tokens only; `bounds` are those of sentences.

    A model with a limit of tokens leaves out the others. Pairing says how these can be counted.
    """
    assert gold.tokens is not None
    starts, ends = gold.tokens.places
    texts: list[str] = []
    tokens: list[list[tuple[int, int]]] = []
    sentences: list[list[tuple[int, int]]] = []
    for text, low, high in zip(gold.texts, gold.tokens.first[:-1], gold.tokens.first[1:], strict=True):
        pieces: list[str] = []
        tokens.append([])
        sentences.append([])
        length = 0
        for sentence in range(*np.searchsorted(bounds, (low, high)).tolist()):
            first, last = int(bounds[sentence]), int(bounds[sentence] + n_tags[sentence])
            begin, end = int(starts[first]), int(ends[last - 1])
            by = length - begin
            tokens[-1] += zip((starts[first:last] + by).tolist(), (ends[first:last] + by).tolist(), strict=True)
            sentences[-1].append((length, end + by))
            pieces.append(text[begin:end])
            length = end + by + 1
        texts.append("\n".join(pieces))
    own = Intervals.of(sentences) if gold.sentences is not None else None
    return Documents(gold.ids, tuple(texts), Intervals.of(tokens), own, named=gold.named, unit=gold.unit)


def _words(documents: Documents, low: int, high: int) -> Iterator[str]:
    """Yield the words of tokens of one document, counted over all."""
    tokens = documents.tokens
    assert tokens is not None
    text = documents.texts[int(np.searchsorted(tokens.first, low, side="right")) - 1]
    for start, end in zip(tokens.starts[low:high].tolist(), tokens.ends[low:high].tolist(), strict=True):
        yield text[start:end]


def items_of(cell: str) -> list[str]:
    """Return the words or tags of a cell: of a list as Python, JSON or numpy write it, else those between blanks."""
    cell = cell.strip()
    if cell.startswith("[") and LIST.fullmatch(cell):
        return [_unquoted(item) for item in ITEM.findall(cell)]
    return cell.split()


def tags_of(cell: str) -> list[str]:
    """Return the tags of a cell, between which commas may stand, too."""
    items = items_of(cell)
    return items if cell.lstrip().startswith("[") else [tag for item in items for tag in item.split(",") if tag]


def _unquoted(item: str) -> str:
    if item[0] not in "'\"" or len(item) < 2:
        return item
    if "\\" not in item:
        return item[1:-1]
    try:
        return str(ast.literal_eval(item))
    except (SyntaxError, ValueError):
        return item[1:-1]


def _layout(text: str) -> _Layout | None:
    """Return the columns of a file that begins so, None where no cells are rows of tags."""
    lines = [line for line in text.splitlines() if line.strip()][:SAMPLE_ROWS]
    if LISTS.match(text):
        lines = [line for _, line in _inner_lists(text)][:SAMPLE_ROWS]
    if not lines:
        return None
    if _are_tag_rows(lines) or _are_number_rows(lines):
        return _Layout(None, (), (0,), None, None, [[line] for line in lines])
    for delimiter in DELIMITERS:
        if delimiter not in lines[0]:
            continue
        rows = first_rows(text, SAMPLE_ROWS + 1, delimiter)
        width = len(rows[0]) if rows else 0
        # The last row may be cut off.
        rows = [row for row in (rows[:-1] if len(rows) > 3 else rows) if len(row) == width]
        for header, body in (((), rows), (rows[:1], rows[1:])):
            if width > 1 and body and (layout := _layout_of_cells(delimiter, tuple(*header), body)):
                return layout
    return None


def _layout_of_cells(delimiter: str, header: tuple[str, ...], rows: Sequence[Sequence[str]]) -> _Layout | None:
    columns = range(len(rows[0]))
    tagged = tuple(at for at in columns if _are_tag_rows([row[at] for row in rows]))
    if not tagged or (header and _are_tags(tags_of(header[tagged[0]]))):
        return None
    sizes = [len(tags_of(row[tagged[0]])) for row in rows]

    def fitting(column: int) -> int:
        return sum(len(items_of(row[column])) == size for row, size in zip(rows, sizes, strict=True))

    others = [at for at in columns if at not in tagged]
    names = tuple(map(plain_name, header))
    if "start" in names:
        # A table of spans.
        return None
    named = next((names.index(name) for name in WORDS if name in names and names.index(name) in others), None)
    words = named if named is not None else max(others, key=fitting, default=None)
    # Under a header ids may stand beside tags alone; some have as many parts as a short row has tags.
    if named is None and (words is None or fitting(words) <= (len(rows) / 2 if header else 0)):
        words = None
    name = next((names.index(name) for name in NAMES if name in names), None)
    # A column of words without a name needs a header or as many words as tags: others are not ours.
    return _Layout(delimiter, names, tagged, words, name, rows) if words is not None or header else None


def _are_tag_rows(cells: Sequence[str]) -> bool:
    """Return whether cells hold rows of tags, most of them several; numbers count in lists alone."""
    rows = [tags_of(cell) for cell in cells]
    if 2 * sum(len(row) > 1 for row in rows) < len(rows):
        return False
    flat = [item for row in rows for item in row]
    if notation_of(set(flat), ReadSettings()).numbered:
        return all(cell.strip().startswith("[") for cell in cells)
    return _are_tags(flat)


def _are_number_rows(lines: Sequence[str]) -> bool:
    """Return whether lines hold the numbers of labels of a sentence each, `3 0` or `LABEL_3 LABEL_0`."""
    rows = [line.split() for line in lines]
    return 2 * sum(len(row) > 1 for row in rows) >= len(rows) and kind_of_cells(list(chain(*rows))) in (
        "labels",
        "numbers",
    )


def _inner_lists(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each list in a list."""
    outer = text.index("[") + 1
    line, at = text.count("\n", 0, outer) + 1, outer
    for match in LIST.finditer(text, outer):
        line, at = line + text.count("\n", at, match.start()), match.start()
        yield line, match[0]


def _are_tags(items: Sequence[str]) -> bool:
    notation = notation_of(set(items), ReadSettings())
    tags = [notation.parse(item) for item in dict.fromkeys(items)]
    # Other words for outside, such as 0, are not tags by themselves, nor beside words that may be types.
    has_tags = OUTSIDE in items or (not notation.types and any(tag and tag[0] != OUTSIDE for tag in tags))
    return has_tags and all(tags) and kind_of_cells(items) in ("tags", "types")


def _choices(layout: _Layout) -> tuple[TagColumn, ...]:
    return tuple(
        TagColumn.of(layout.label(at), [tag for row in layout.cells for tag in tags_of(row[at])])
        for at in layout.tagged
    )


def _read_file(
    file: SourceFile, column: int | str | None, rows: _Rows, problems: list[Problem], notes: dict[str, None]
) -> None:
    text = file.text()
    layout = _layout(text)
    if layout is None:
        remedy = "write the words and the tags of a sentence in two cells, as many of both, split by a tab"
        problems.append(Problem(file.shown, None, "no column of rows of tags", remedy))
        return
    tagged = layout.tagged
    if column is not None:
        at = (
            column - 1
            if isinstance(column, int)
            else dict(zip(layout.header, range(99), strict=False)).get(plain_name(column), -1)
        )
        if at not in tagged:
            labels = ", ".join(quoted(str(layout.label(at))) for at in tagged)
            finding = f"column {quoted(str(column))} does not hold rows of tags"
            problems.append(Problem(file.shown, None, finding, f"name one of {labels}"))
            return
        tagged = (at,)
    if len(tagged) > 1:
        problems.append(choice_problem(file.shown, 1, _choices(layout)))
        return
    notes.update(dict.fromkeys(unread_predictions_note(layout.header, (layout.header or ("",))[tagged[0] :][:1])))
    for number, cells in _cells(file, text, layout, problems):
        place = (file.shown, number)
        tags = tags_of(cells[tagged[0]])
        words = None if layout.words is None else items_of(cells[layout.words])
        if words is not None and len(words) != len(tags):
            counts = f"{counted(len(tags), 'tag')} for {counted(len(words), 'word')}"
            problems.append(Problem(*place, counts, "give one tag for each word"))
        elif tags:
            rows.tags.append(tags)
            rows.words.append(words)
            rows.names.append(None if layout.name is None else cells[layout.name].strip() or None)
            rows.places.append(place)


def _cells(
    file: SourceFile, text: str, layout: _Layout, problems: list[Problem]
) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the line and the cells of each row that is not blank."""
    if layout.delimiter is None and LISTS.match(text):
        if LIST.sub("", text[text.index("[") + 1 :]).strip(" \t\r\n,") != "]":
            remedy = "write a list with a list of tags for each sentence"
            problems.append(Problem(file.shown, None, "something else than lists of tags in a list", remedy))
        yield from ((number, [row]) for number, row in _inner_lists(text))
        return
    if layout.delimiter is None:
        yield from ((number, [line]) for number, line in enumerate(file.lines(), start=1) if line.strip())
        return
    rows = checked_rows(file.shown, text, layout.delimiter, len(layout.cells[0]), problems)
    yield from islice(rows, 1 if layout.header else 0, None)
