"""Files of CoNLL-U as they stand: sentences of words, multiword tokens and empty nodes, and what comments say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nereval_core.errors import Problem, counted, quoted
from nereval_core.readers.source import SourceFile

COLUMNS = 10
MISC = COLUMNS - 1
NUMBER = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6})|\.[0-9]{1,6})?")
DOCUMENT, PARAGRAPH, SENTENCE, TEXT, FIELDS = "newdoc", "newpar", "sent_id", "text", "global.Entity"


class Row(NamedTuple):
    """A line of ten columns: a word, a multiword token of the words from `first` to `last`, or an empty node (0)."""

    line: int
    first: int
    last: int
    form: str
    misc: str


@dataclass(slots=True)
class Sentence:
    """The rows between two blank lines, and what the comments above them say.

    `document` is the id of the document that begins here, "" for one without, None where none begins; `fields` are
    those of an entity, as `# global.Entity` has them.
    """

    file: SourceFile
    line: int
    comments: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    document: str | None = None
    fields: Sequence[str] = ()


def value_of(misc: str, key: str) -> str | None:
    """Return the value under a key of MISC, None where it has none."""
    if key not in misc:
        return None
    start = f"{key}="
    for one in misc.split("|"):
        if one.startswith(start):
            return one[len(start) :]
    return None


def sentences_of(file: SourceFile, problems: list[Problem]) -> list[Sentence]:
    """Return the sentences of a file; what is wrong goes to the problems."""
    found: list[Sentence] = []
    current: Sentence | None = None
    fields: Sequence[str] = ()
    document: str | None = None
    for number, line in enumerate(file.lines(), start=1):
        if not line or line.isspace():
            current = None
            continue
        if current is None:
            current = Sentence(file, number)
        if line.startswith("#"):
            name, _, said = map(str.strip, line[1:].partition("="))
            name = name.removesuffix(" id")
            if name == FIELDS:
                fields = said.split("-")
            if name == DOCUMENT:
                # It may stand above a blank line of its own.
                document = said
            current.comments.setdefault(name, said)
            continue
        row = _row(line, number, file.shown, problems)
        if row is None:
            continue
        if not current.rows:
            current.document, document, current.fields = document, None, fields
            found.append(current)
        current.rows.append(row)
    return found


def _row(line: str, number: int, shown: str, problems: list[Problem]) -> Row | None:
    columns = line.split("\t")
    if len(columns) != COLUMNS:
        found = f"{counted(len(columns), 'column')} where CoNLL-U has {COLUMNS}"
        problems.append(Problem(shown, number, found, "write ten with tabs between, _ where there is nothing to say"))
        return None
    at = NUMBER.fullmatch(columns[0])
    first, last = (int(at[1]), int(at[2] or at[1])) if at else (0, -1)
    if last < first or not columns[1]:
        found = f"{quoted(columns[0])} for a number" if columns[1] else "a word without a form"
        remedy = "write 1 for a word, 1-2 for a multiword token, 1.1 for an empty node, then its form"
        problems.append(Problem(shown, number, found, remedy))
        return None
    empty = "." in columns[0]
    return Row(number, 0 if empty else first, 0 if empty else last, columns[1], columns[MISC])
