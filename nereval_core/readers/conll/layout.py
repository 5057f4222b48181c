"""Layout of a file of columns: its separator, and its columns of tokens and tags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from nereval_core.problems import quoted
from nereval_core.readers.shared.tag_cells import are_chunks, kind_of_cells
from nereval_core.readers.shared.tag_schemes import parse_tag

DOCSTART = "-DOCSTART-"
MEDLINE = "###MEDLINE"
BYTE_ORDER_MARK = "\ufeff"
SAMPLE_LINES = 1000
"""Lines that decide on the separator, the number of columns and those with tags."""

NUMBER_PAIR = re.compile(r"[0-9]+[-.:_][0-9]+")
"""The number of a sentence and of a token in it."""
MIN_NUMBERED = 3
"""The fewest rows that show that a column before the tags counts them, and holds no words."""


def is_mark(token: str) -> bool:
    """Return whether a line that begins with this token is taken for the beginning of a document."""
    return token == DOCSTART or token.startswith(MEDLINE)


@dataclass(frozen=True, slots=True)
class Layout:
    """Separator and number of the columns of a file, and those with tokens (`word`) and tags (`column`)."""

    columns: int
    word: int
    column: int
    split: Callable[[str], list[str]]
    scored: bool = False
    """Whether each tag stands beside its probability in one cell."""

    @property
    def tabs(self) -> bool:
        return self.split is _tabs

    def row(self, line: str) -> list[str]:
        """Return the fields of a line; blanks at its end are not a field where there would be too many."""
        row = self.split(line)
        return row if len(row) == self.columns else self.split(line.rstrip(" \t"))

    def is_row(self, row: Sequence[str]) -> bool:
        """Return whether the fields of a line are those of a token.

        One that begins with '#' or '-' may be a comment or a mark as long as the others. Between tabs a word of its own
        is a token even where its tag is none, so that the tag is complained of.
        """
        token = row[0]
        if len(row) != self.columns:
            return False
        if token[:1] not in ("#", "-"):
            return True
        if self.word and token[0] == "#":
            # Where tokens are numbered a row begins with its number: GermEval's "#", URL and date are a comment.
            return False
        return not is_mark(token) and (token[0] == "-" or is_tag(row[self.column]) or (self.tabs and " " not in token))


def is_tag(text: str) -> bool:
    return parse_tag(text) is not None


def _tabs(line: str) -> list[str]:
    return line.split("\t")


def _blanks(line: str) -> list[str]:
    # Not str.split(): a no-break space belongs to its token.
    return [part for part in line.replace("\t", " ").split(" ") if part]


def sample_rows(lines: Sequence[str]) -> tuple[list[list[str]], int, Callable[[str], list[str]]]:
    """Return the first rows, how many columns most of them have, and how lines are split."""
    filled = (line for line in lines if line and not line.isspace() and line != BYTE_ORDER_MARK)
    sample = list(islice((line for line in filled if not line.startswith(("#", DOCSTART))), SAMPLE_LINES))
    if not sample:
        # Tokens may begin with '#': where nothing else is there, a tag tells them from comments.
        tagged = (line for line in lines if line[:1] == "#" and any(map(is_tag, _blanks(line)[1:])))
        sample = list(islice(tagged, SAMPLE_LINES))
    split = _tabs if 2 * sum("\t" in line.rstrip(" \t") for line in sample) >= max(1, len(sample)) else _blanks
    rows = [split(line.rstrip(" \t")) for line in sample]
    if not _are_even(rows) and any("\t" in line for line in sample):
        # The last cells of rows may be empty, or some rows split by tabs and others by blanks.
        ways = ((way, [way(line) for line in sample]) for way in (_tabs, _blanks))
        split, rows = next(((way, even) for way, even in ways if _are_even(even)), (split, rows))
    return rows, max(Counter(map(len, rows)).most_common(1), default=(0, 0))[0], split


def _are_even(rows: Sequence[Sequence[str]]) -> bool:
    return len({len(row) for row in rows}) == 1 and len(rows[0]) > 1


def word_column(rows: Sequence[Sequence[str]], columns: int) -> int:
    """Return the index of the column of tokens: the first, or the one behind those that number tokens or sentences."""
    cells = [[row[column] for row in rows if len(row) == columns] for column in range(columns)]
    if columns > 3 and _number_runs(cells[0]) and number_tokens(cells[1]):
        return 2
    return 1 if columns > 2 and number_tokens(cells[0]) else 0


def number_tokens(cells: Sequence[str]) -> bool:
    """Return whether cells count tokens, from 0 or 1 in each sentence or on through the file, or name both: `2-1`."""
    if len(set(cells)) == len(cells) > 1 and all(map(NUMBER_PAIR.fullmatch, cells)):
        return True
    if not all(map(str.isdecimal, cells)):
        return False
    numbers = [int(cell) for cell in cells]
    restarts = [high for low, high in pairwise(numbers) if high != low + 1]
    # A sample of one-word sentences numbers nothing that could be told from words.
    return len(restarts) < len(numbers) - 1 and all(number == min(numbers[0], 1) for number in restarts)


def _number_runs(cells: Sequence[str]) -> bool:
    """Return whether cells number sentences or documents: the same number again and again, or the next."""
    return all(map(str.isdecimal, cells)) and all(int(high) - int(low) in (0, 1) for low, high in pairwise(cells))


def _are_heads(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Return whether a column of numbers is of heads: beside numbers of tokens and before relations, as parsers write.

    A head is the number of another token, 0 that of none; relations are words other than tags.
    """
    full = [row for row in rows if len(row) > column + 1]
    is_numbered = bool(full) and full[0][0] == "1" and all(row[0].isdecimal() for row in full)
    relations = [row[column + 1] for row in full]
    return (
        is_numbered
        and kind_of_cells(relations) is None
        and all(word[:1].isalpha() or word == "_" for word in relations)
    )


def tag_columns(rows: Sequence[Sequence[str]], columns: int, word: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the indices of the columns after the tokens that hold tags, and of those with syntactic chunks beside.

    The layout of CoNLL-2003 has chunks beside entities. Where all columns hold chunks, as in CoNLL-2000, these are what
    is annotated. Numbers are labels in a column behind one of tags, and where no column has other tags: before these
    stand the features of a tagger.
    """
    full = [row for row in rows if len(row) == columns]
    cells = {column: [row[column] for row in full] for column in range(word + 1, columns)}
    kinds = {column: kind_of_cells(cells[column]) for column in cells}
    tagged = [column for column, kind in kinds.items() if kind in ("tags", "types", "labels")]
    first = min(tagged, default=word)
    tagged = [
        column
        for column, kind in kinds.items()
        if column in tagged or (kind == "numbers" and column > first and not (tagged and _are_heads(rows, column)))
    ]
    chunks = tuple(column for column in tagged if are_chunks(cells[column])) if len(tagged) > 1 else ()
    if len(chunks) == len(tagged):
        chunks = ()
    return tuple(column for column in tagged if column not in chunks), chunks


def column_index(column: int | str, columns: int, word: int) -> tuple[int, tuple[str, str] | None]:
    """Return the index of a column by its number, or what is wrong with it and the remedy."""
    remedy = f"give the number of the column with the tags, {word + 2} to {columns}"
    try:
        number = int(column)
    except ValueError:
        return 0, (f"no column is called {quoted(str(column))}", remedy)
    index = number - 1 if number > 0 else columns + number
    if number == 0 or not 0 <= index < columns:
        return 0, (f"there is no column {number}", remedy)
    if index <= word:
        return 0, (f"column {index + 1} holds {'the tokens' if index == word else 'their numbers'}", remedy)
    return index, None
