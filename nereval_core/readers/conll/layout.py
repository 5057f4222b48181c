"""Layout of a file of columns: its separator, and its columns of tokens and tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from nereval_core.problems import quoted
from nereval_core.readers.read_settings import ReadOptions
from nereval_core.readers.shared.tag_decoding import are_types
from nereval_core.readers.shared.tag_schemes import LETTERS

DOCSTART = "-DOCSTART-"
MEDLINE = "###MEDLINE"
BYTE_ORDER_MARK = "\ufeff"
SAMPLE_LINES = 1000
"""Lines that decide on the separator, the number of columns and those with tags."""
TAGGED_SHARE = 0.8
"""A column holds tags where at least this share of its cells does."""
OUTSIDE_SHARE = 0.2
"""The least share of O in a column of types without letters."""
FEW_TYPES = 8
"""The number of types that such a column may have however few rows are sampled."""
CHUNK_TYPES = frozenset(
    ("NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP", "NC", "VC", "PC")
)
"""The types of syntactic chunks in CoNLL-2000 and CoNLL-2003, English and German."""


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

    @property
    def tabs(self) -> bool:
        return self.split is _tabs

    def row(self, line: str) -> list[str]:
        """Return the fields of a line; blanks at its end are no field where there would be too many."""
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
    return text == "O" or (text[1:2] == "-" and len(text) > 2 and text[0] in LETTERS[1:])


def _tabs(line: str) -> list[str]:
    return line.split("\t")


def _blanks(line: str) -> list[str]:
    # Not str.split(): a no-break space belongs to its token.
    return [part for part in line.replace("\t", " ").split(" ") if part]


def sample_rows(lines: Sequence[str]) -> tuple[list[list[str]], int, Callable[[str], list[str]]]:
    """Return the first rows, how many columns most of them have, and how lines are split."""
    filled = (line for line in lines if line and not line.isspace() and line != BYTE_ORDER_MARK)
    some = list(islice((line.rstrip(" \t") for line in filled if not line.startswith(("#", DOCSTART))), SAMPLE_LINES))
    if not some:
        # Tokens may begin with '#': where nothing else is there, a tag tells them from comments.
        tagged = (line for line in lines if line[:1] == "#" and any(map(is_tag, _blanks(line)[1:])))
        some = list(islice((line.rstrip(" \t") for line in tagged), SAMPLE_LINES))
    split = _tabs if 2 * sum("\t" in line for line in some) >= max(1, len(some)) else _blanks
    rows = [split(line) for line in some]
    return rows, max(Counter(map(len, rows)).most_common(1), default=(0, 0))[0], split


def is_numbered(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first column counts the tokens of each sentence from 1, as in GermEval 2014."""
    numbers = [row[0] for row in rows]
    follows = all(two in ("1", str(int(one) + 1)) for one, two in pairwise(numbers) if one.isdecimal())
    return numbers[0] == "1" and "2" in numbers and follows and all(map(str.isdecimal, numbers))


def tag_columns(rows: Sequence[Sequence[str]], columns: int, word: int) -> tuple[int, ...]:
    """Return the indices of the columns after the tokens in which most sampled rows have a tag, `O` or another."""
    full = [row for row in rows if len(row) == columns]
    return tuple(
        column
        for column in range(word + 1, columns)
        if full and sum(is_tag(row[column]) for row in full) >= TAGGED_SHARE * len(full)
    )


def type_columns(rows: Sequence[Sequence[str]], columns: int, word: int) -> tuple[int, ...]:
    """Return the indices of the columns after the tokens in which sampled rows have O or a type without a letter.

    A column of words may hold an O too: of tags many are O, and few types come again and again.
    """
    full = [row for row in rows if len(row) == columns]
    found = []
    for column in range(word + 1, columns):
        cells = Counter(row[column] for row in full)
        few = len(cells) - 1 <= max(FEW_TYPES, len(full) / 4)
        if few and cells["O"] >= OUTSIDE_SHARE * len(full) and are_types(cells, ReadOptions()):
            found.append(column)
    return tuple(found)


def chunk_columns(rows: Sequence[Sequence[str]], columns: int, tagged: Sequence[int]) -> tuple[int, ...]:
    """Return which of the columns with tags hold syntactic chunks, beside others that do not.

    The layout of CoNLL-2003 has chunks beside entities. Where all columns hold chunks, as in CoNLL-2000, these are what
    is annotated, and none is returned.
    """
    found = []
    for column in tagged:
        types = {row[column][2:] for row in rows if len(row) == columns and is_tag(row[column])} - {""}
        if types and types <= CHUNK_TYPES:
            found.append(column)
    return tuple(found) if len(found) < len(tagged) else ()


def column_index(wanted: int | str, columns: int, word: int) -> tuple[int, tuple[str, str] | None]:
    """Return the index of the column wanted, or what is wrong with it and the remedy."""
    remedy = f"give the number of the column with the tags, {word + 2} to {columns}"
    try:
        number = int(wanted)
    except ValueError:
        return 0, (f"no column is called {quoted(str(wanted))}", remedy)
    index = number - 1 if number > 0 else columns + number
    if number == 0 or not 0 <= index < columns:
        return 0, (f"there is no column {number}", remedy)
    if index <= word:
        return 0, (f"column {index + 1} holds {'the tokens' if index == word else 'their numbers'}", remedy)
    return index, None
