"""Files of CoNLL-U as they stand: sentences of words, multiword tokens and empty nodes, and what comments say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from nereval_core.problems import Problem, counted, quoted
from nereval_core.readers.input.source import SourceFile

STANDARD = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
NUMBER = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6})|\.[0-9]{1,6})?")
MOST_DIGITS = 6
NAMES = "global.columns"
UNSAID = ("_", "*")
"""Cells of columns of CoNLL-U Plus that say nothing."""
DOCUMENT, PARAGRAPH, SENTENCE, TEXT, FIELDS = "newdoc", "newpar", "sent_id", "text", "global.Entity"


@dataclass(frozen=True)
class ColumnNames:
    """Names of the columns of a file: the ten of CoNLL-U, or those that a file of CoNLL-U Plus declares."""

    names: tuple[str, ...] = STANDARD

    @cached_property
    def extra(self) -> tuple[str, ...]:
        """The columns that CoNLL-U does not have."""
        return tuple(name for name in self.names if name not in STANDARD)

    def cell(self, cells: Sequence[str], name: str) -> str | None:
        return cells[self.names.index(name)] if name in self.names else None

    def misc(self, cells: Sequence[str]) -> str:
        """Return MISC with the columns that CoNLL-U does not have as further keys."""
        parts = [self.cell(cells, "MISC") or ""]
        for name, cell in zip(self.names, cells, strict=True) if self.extra else ():
            if name not in STANDARD and cell not in UNSAID and "|" not in cell:
                parts.append(f"{name}={cell}")
        return "|".join(part for part in parts if part not in ("", "_")) or "_"


def layout_of(line: str) -> ColumnNames | None:
    """Return the layout that a comment `# global.columns = …` gives, None where it is another or has no FORM."""
    name, equals, said = line.removeprefix("#").partition("=")
    names = tuple(said.split())
    fine = equals and name.strip() == NAMES and "FORM" in names and len(set(names)) == len(names)
    return ColumnNames(names) if fine else None


class WordRow(NamedTuple):
    """A line of ten columns: a word, a multiword token of the words from `first` to `last`, or an empty node (0)."""

    line: int
    first: int
    last: int
    form: str
    misc: str


@dataclass(slots=True)
class WordSentence:
    """The rows between two blank lines, and what the comments above them say.

    `document` is the id of the document that begins here, "" for one without, None where none begins; `fields` are
    those of an entity, as `# global.Entity` has them, `layout` what the columns are.
    """

    file: SourceFile
    line: int
    comments: dict[str, str] = field(default_factory=dict)
    rows: list[WordRow] = field(default_factory=list)
    document: str | None = None
    fields: Sequence[str] = ()
    layout: ColumnNames = ColumnNames()


def value_of(misc: str, key: str) -> str | None:
    """Return the value under a key of MISC, None where it has none."""
    if key not in misc:
        return None
    start = f"{key}="
    for one in misc.split("|"):
        if one.startswith(start):
            return one[len(start) :]
    return None


def sentences_of(file: SourceFile, problems: list[Problem]) -> list[WordSentence]:
    """Return the sentences of a file; problems are added to `problems`."""
    found: list[WordSentence] = []
    current: WordSentence | None = None
    fields: Sequence[str] = ()
    document: str | None = None
    layout = ColumnNames()
    for number, line in enumerate(file.lines(), start=1):
        if not line or line.isspace():
            current = None
            continue
        if current is None:
            current = WordSentence(file, number)
        if line.startswith("#"):
            name, _, said = map(str.strip, line[1:].partition("="))
            name = name.removesuffix(" id")
            if name == FIELDS:
                fields = said.split("-")
            if name == NAMES:
                layout = layout_of(line) or layout
            if name == DOCUMENT:
                # It may stand above a blank line of its own.
                document = said
            current.comments.setdefault(name, said)
            continue
        follows = current.rows[-1].last + 1 if current.rows else 1
        row = _row(line, number, file.shown, layout, follows, problems)
        if row is None:
            continue
        if not current.rows:
            current.document, document, current.fields = document, None, fields
            current.layout = layout
            found.append(current)
        current.rows.append(row)
    return found


def _row(
    line: str, number: int, shown: str, layout: ColumnNames, follows: int, problems: list[Problem]
) -> WordRow | None:
    """Return the row of a line; where its file does not number words, `follows` is its number."""
    cells = line.split("\t")
    width = len(layout.names)
    if len(cells) != width:
        which = "CoNLL-U" if layout.names == STANDARD else f"# {NAMES}"
        found = f"{counted(len(cells), 'column')} where {which} has {width}"
        how = "ten" if width == len(STANDARD) else str(width)
        problems.append(
            Problem(shown, number, found, f"write {how} with tabs between, _ where there is nothing to say")
        )
        return None
    if layout.names == STANDARD:
        # Nearly all rows of nearly all files are words with a plain number.
        digits = cells[0]
        if cells[1] and digits.isdecimal() and digits.isascii() and len(digits) <= MOST_DIGITS:
            return WordRow(number, int(digits), int(digits), cells[1], cells[-1] or "_")
    written, form = layout.cell(cells, "ID"), layout.cell(cells, "FORM")
    at = NUMBER.fullmatch(str(follows) if written is None else written)
    first, last = (int(at[1]), int(at[2] or at[1])) if at else (0, -1)
    if last < first or not form:
        found = f"{quoted(written or '')} for a number" if form else "a word without a form"
        remedy = "write 1 for a word, 1-2 for a multiword token, 1.1 for an empty node, then its form"
        problems.append(Problem(shown, number, found, remedy))
        return None
    empty = written is not None and "." in written
    return WordRow(number, 0 if empty else first, 0 if empty else last, form, layout.misc(cells))
