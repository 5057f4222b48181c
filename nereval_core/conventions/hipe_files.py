"""CLEF-HIPE files as the scorer reads them: columns of cells over the tokens of both sides, documents and dates."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from nereval_core.conventions.hipe_versions import Version
from nereval_core.corpus import Builder, Documents, Int64, Place
from nereval_core.errors import FormatError, Problem, quoted
from nereval_core.readers import Source
from nereval_core.readers.hipe_rows import Document, Parsed, Row, add_documents, parse
from nereval_core.tagged import Tagged, matched

LED = re.compile(r"LED(\d+(\.\d+)?)")
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
NO_DAY = "2022-01-01"
"""The day that the scorer of 2022 takes where a date comment has none."""
PATCHED = 20
"""So many kinds of differing tokens the scorer of 2022 puts up with in a prediction without comments."""
ABSENT = "_"
NEW = "# hipe2022:"
DOCUMENTS = ("# document", f"{NEW}document_id")
DATES = ("# date", f"{NEW}date")
"""What comments on documents and dates begin with: those of 2022 are read as those of 2020, whatever the version."""
FULL_ROWS = "give each row every cell of the header, _ where there is nothing"

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Column:
    """A cell a token: `codes` of shape (tokens,) index `cells`, the distinct cells as the file has them."""

    codes: Codes
    cells: tuple[str, ...]

    @classmethod
    def of(cls, cells: Sequence[str]) -> Column:
        seen: dict[str, int] = {}
        codes = np.fromiter((seen.setdefault(cell, len(seen)) for cell in cells), np.int32, len(cells))
        return cls(codes, tuple(seen))

    def take(self, tokens: Int64) -> Column:
        return replace(self, codes=self.codes[tokens])

    def changed(self, change: Callable[[str], str]) -> Column:
        """Return the column with every cell changed."""
        return replace(self, cells=tuple(map(change, self.cells)))


@dataclass(frozen=True, eq=False)
class Pair:
    """Both sides over gold's tokens.

    `doc` is the document of a token as the scorer parts them, `day` its date (ordinal, 0 for none), `noise` the
    distance of its OCR from the manual transcript (NaN for none); `words` are the tokens of gold and prediction, None
    where both are the same. `known` says whether noise is known at all.
    """

    documents: Documents
    gold: Mapping[str, Column]
    pred: Mapping[str, Column]
    doc: Int64
    day: Int64
    noise: NDArray[np.float64]
    words: tuple[Sequence[str], Sequence[str]] | None
    source: str
    noisy: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Side:
    """A file or several, row after row: `segments` and `documents` hold the number of the first row of each."""

    source: str
    rows: list[Row]
    place: Callable[[int], Place]
    columns: Mapping[str, Column]
    segments: list[int]
    documents: list[int]
    days: list[tuple[int, int]]
    parsed: list[Document]
    newer: bool

    @property
    def words(self) -> list[str]:
        return [row.cells[0] for row in self.rows]

    def shape(self) -> list[list[int]]:
        """Return the number of tokens in each segment of each document."""
        size = len(self.rows)
        cuts = [*self.segments, size]
        lengths = dict(zip(self.segments, (high - low for low, high in pairwise(cuts)), strict=True))
        edges = [*self.documents, size]
        return [[lengths[start] for start in self.segments if low <= start < high] for low, high in pairwise(edges)]


def read_pair(gold: Source, pred: Source, version: Version, columns: Sequence[str], glue: Sequence[str]) -> Pair:
    """Read both sides as this version of the scorer does, with these columns (`A+B` in `glue`: B's label is A.B).

    Raises:
        FormatError: what the reader refuses, a column that is not there, rows on which the scorer stops, or sides whose
            tokens do not agree.
    """
    pairs = _glued(glue)
    needed = tuple(dict.fromkeys([*columns, *(name for pair in pairs for name in pair)]))
    problems: list[Problem] = []
    sides = []
    for source in (gold, pred):
        try:
            sides.append(_side(source, version, needed, pairs))
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(problems)
    one, two = sides
    builder = Builder(gold.name)
    for _ in add_documents(one.parsed, builder):
        pass
    documents = builder.finish(gold.label).documents
    _check_same_tokens(documents, one, two, version)
    size = len(one.rows)
    words = (one.words, two.words)
    noise = [LED.search(cell) for cell in one.columns["MISC"].cells] if "MISC" in one.columns else []
    levels = np.array([float(match[1]) if match else np.nan for match in noise], np.float64)
    return Pair(
        documents,
        one.columns,
        two.columns,
        _spread([(start, number) for number, start in enumerate(one.documents)], size),
        _spread(one.days, size),
        levels[one.columns["MISC"].codes] if len(levels) else np.full(size, np.nan),
        None if words[0] == words[1] else words,
        one.source,
        notes=_notes(one, two, version),
    )


def _notes(gold: Side, pred: Side, version: Version) -> tuple[str, ...]:
    newer = [side.source for side in (gold, pred) if side.newer]
    if not newer or version.patches:
        return ()
    said = f"read as those of 2020; {version.commit} of the scorer itself knows only these"
    return (f"comments of HIPE-2022 on documents and dates ({', '.join(newer)}): {said}",)


def _glued(glue: Sequence[str]) -> list[tuple[str, str]]:
    pairs = [tuple(pair.split("+")) for pair in glue]
    wrong = [pair for pair in pairs if len(pair) != 2]
    if wrong:
        found = f"{quoted('+'.join(wrong[0]))} is no pair of columns"
        raise FormatError.single("--glue", None, found, "write two columns joined by +, as NE-FINE-LIT+NE-NESTED")
    return [(one, two) for one, two in pairs]


def _spread(marks: Sequence[tuple[int, int]], size: int) -> Int64:
    """Return a value a token, each from the token it is marked at to the next mark, 0 before the first."""
    starts = np.array([start for start, _ in marks], np.int64)
    values = np.array([0, *(value for _, value in marks)], np.int64)
    return values[np.searchsorted(starts, np.arange(size), side="right")]


def _side(source: Source, version: Version, needed: Sequence[str], glue: Sequence[tuple[str, str]]) -> Side:
    builder = Builder(source.name)
    files = [parse(file, builder) for file in source.pick(".tsv")]
    if builder.problems:
        raise FormatError(builder.problems)
    problems: list[Problem] = []
    side = Side(source.name, [], _nowhere, {}, [], [], [], [], False)
    cells: dict[str, list[str]] = {name: [] for name in needed}
    misc: list[str] = []
    shown: list[tuple[int, str]] = []
    for file in files:
        header = file.header.split("\t")
        problems += _header_problems(file, header, version, needed)
        if problems:
            continue
        shown.append((len(side.rows), file.shown))
        kept = _take_rows(file)
        problems += _row_problems(file, header, version)
        problems += _take_comments(file, kept, len(side.rows), version, side)
        rows = [row for document in file.documents for row in document.rows]
        side.rows.extend(rows)
        side.parsed.extend(file.documents)
        for name in () if problems else needed:
            cells[name] += _cells(rows, header.index(name))
        if "MISC" in header:
            misc += _cells(rows, header.index("MISC"))
    if not problems:
        problems += _glue_cells(cells, glue, version, side, shown)
    if problems:
        raise FormatError(problems)
    columns = {name: Column.of(column) for name, column in cells.items()}
    if version.iobes and not glue:
        columns = {name: column.changed(_iob) if name.startswith("NE-") else column for name, column in columns.items()}
    if len(misc) == len(side.rows):
        columns["MISC"] = Column.of(misc)
    newer = any(text.startswith((DOCUMENTS[1], DATES[1])) for file in files for _, _, text in file.comments)
    return replace(side, columns=columns, place=_places(side.rows, shown, source.name), newer=newer)


def _nowhere(row: int) -> Place:
    return "", row


def _places(rows: Sequence[Row], shown: Sequence[tuple[int, str]], name: str) -> Callable[[int], Place]:
    starts = [start for start, _ in shown]

    def place(row: int) -> Place:
        return (shown[bisect_right(starts, row) - 1][1] if shown else name), rows[row].line

    return place


def _cells(rows: Sequence[Row], column: int) -> list[str]:
    return [cells[column] if column < len(cells) else ABSENT for _, cells in rows]


def _iob(cell: str) -> str:
    return {"S-": "B-", "E-": "I-"}.get(cell[:2], cell[:2]) + cell[2:]


def _header_problems(file: Parsed, header: Sequence[str], version: Version, needed: Sequence[str]) -> Iterator[Problem]:
    if file.header_line != 1:
        found = f"line 1 is no header, and {version.commit} of the scorer takes the first line as the header and stops"
        yield Problem(file.shown, 1, found, "move the header to line 1")
    elif version.rows == "full" and "MISC" not in header:
        found = f"no column MISC, and {version.commit} of the scorer stops without it"
        yield Problem(file.shown, 1, found, "add the column, with _ in each row")
    for name in needed:
        if name not in header:
            found = f"no column {quoted(name)}, and {version.commit} of the scorer stops without it"
            known = ", ".join(column for column in header[1:] if column != "MISC")
            yield Problem(file.shown, file.header_line, found, f"add it, or choose another task; it has {known}")


def _take_rows(file: Parsed) -> list[int]:
    """Take out the rows with an empty first cell, as the scorer does; return how many rows were kept before each."""
    flags = [bool(row.cells[0]) for document in file.documents for row in document.rows]
    if not all(flags):
        for document in file.documents:
            document.rows = [row for row in document.rows if row.cells[0]]
    return [0, *accumulate(flags)]


def _row_problems(file: Parsed, header: Sequence[str], version: Version) -> Iterator[Problem]:
    """Yield the rows on which the scorer stops."""
    width = len(header)
    misc = header.index("MISC") if "MISC" in header else -1
    stops = f"and {version.commit} of the scorer stops on such rows"
    for document in file.documents:
        for line, cells in document.rows:
            size = len(cells)
            if size == width and (version.rows != "full" or all(cells)):
                continue
            if size > width:
                found = f"{size} cells under a header of {width}, {stops}"
                yield Problem(file.shown, line, found, "write one cell a column")
            elif version.rows == "misc" and size < width and misc >= size:
                yield Problem(file.shown, line, f"{size} cells, so none in column MISC, {stops}", FULL_ROWS)
            elif version.rows == "full":
                row = [*cells, *[""] * (width - size)]
                empty = [name for name, cell in zip(header, row, strict=True) if not cell and name != "MISC"]
                if empty:
                    found = f"nothing in column {empty[0]}, {stops}"
                    yield Problem(file.shown, line, found, FULL_ROWS)


def _take_comments(file: Parsed, kept: Sequence[int], before: int, version: Version, side: Side) -> Iterator[Problem]:
    """Add to the side where its segments, documents and dates begin; yield the dates on which the scorer stops."""
    last = 0
    side.segments.append(before)
    side.documents.append(before)
    side.days.append((before, 0))
    total = kept[-1]
    for line, rows, text in file.comments:
        row = kept[rows]
        segment = text.startswith("# segment")
        if row > last and (segment or text.startswith(DOCUMENTS)):
            last = row
            if row < total:
                side.segments.append(before + row)
                side.documents.extend([] if segment else [before + row])
        elif version.slices and text.startswith(DATES):
            day = DAY.search(text)
            try:
                if day is None and not version.patches:
                    raise ValueError
                found = datetime.strptime(day[0] if day else NO_DAY, "%Y-%m-%d").date()
                side.days.append((before + row, found.toordinal()))
            except ValueError:
                said = f"{quoted(text)} holds no day, and {version.commit} of the scorer stops on it"
                yield Problem(file.shown, line, said, "write the date as YYYY-MM-DD")
    if not total:
        side.segments.pop()
        side.documents.pop()


def _glue_cells(
    cells: dict[str, list[str]],
    glue: Sequence[tuple[str, str]],
    version: Version,
    side: Side,
    shown: Sequence[tuple[int, str]],
) -> Iterator[Problem]:
    """Write A.B over the labels of B, after S- and E- are read as B- and I-."""
    place = _places(side.rows, shown, side.source)
    if glue and version.iobes:
        for name in cells:
            if name.startswith("NE-"):
                cells[name] = [_iob(cell) for cell in cells[name]]
    for one, two in glue:
        for row, (outer, inner) in enumerate(zip(cells[one], cells[two], strict=True)):
            if inner == "O":
                continue
            parts = outer.split("-"), inner.split("-")
            if len(parts[0]) == len(parts[1]) == 2:
                cells[two][row] = f"{parts[1][0]}-{parts[0][1]}.{parts[1][1]}"
                continue
            found = f"{quoted(inner)} in {two} cannot be glued to {quoted(outer)} in {one}"
            remedy = f"give each label of both the form B-type; {version.commit} of the scorer stops here"
            yield Problem(*place(row), found, remedy)


def _check_same_tokens(documents: Documents, gold: Side, pred: Side, version: Version) -> None:
    """Check what the scorer checks: the tokens of every segment, or, without comments, the text of every token."""
    if len(gold.rows) != len(pred.rows):
        one, two = (
            Tagged(documents, side.words, side.words, np.zeros(1, np.int64), side.source, side.place)
            for side in (gold, pred)
        )
        matched(one, two)
    shapes = gold.shape(), pred.shape()
    if shapes[0] != shapes[1] and len(shapes[1]) == 1 and len(shapes[0]) != 1:
        if len(shapes[1][0]) == 1:
            return _check_same_text(gold, pred, version)
        found = f"segments but no documents, where gold has {len(shapes[0])}; {version.commit} of the scorer stops here"
        raise FormatError.single(pred.source, None, found, "write gold's document comments too, or no comments")
    if shapes[0] != shapes[1]:
        cuts = sorted({*gold.segments} ^ {*pred.segments} or {*gold.documents} ^ {*pred.documents})
        file, line = pred.place(cuts[0])
        here, there = ("gold", "the prediction")
        if cuts[0] in {*pred.segments, *pred.documents} - ({*gold.segments} & {*gold.documents}):
            here, there = there, here
        found = (
            f"{here} begins a segment or document at {quoted(pred.rows[cuts[0]].cells[0])}, {there} does not, and "
            f"{version.commit} of the scorer stops on such files"
        )
        raise FormatError.single(file, line, found, "write gold's comments, or none")
    return None


def _check_same_text(gold: Side, pred: Side, version: Version) -> None:
    differ: dict[tuple[str, str], int] = {}
    for row, (one, two) in enumerate(zip(gold.words, pred.words, strict=True)):
        if one != two:
            differ.setdefault((one, two), row)
            if not version.patches or len(differ) > PATCHED:
                break
    else:
        return
    (one, two), row = next(iter(differ.items()))
    kinds = f"the first of more than {PATCHED} kinds of differing tokens; " if version.patches else ""
    file, line = gold.place(row)
    found = (
        f"{quoted(two)} against gold's {quoted(one)} ({file}:{line}): {kinds}{version.commit} of the scorer stops on "
        "them in a prediction without document comments"
    )
    raise FormatError.single(*pred.place(row), found, "write gold's tokens, or its document comments")


def day_of(text: str) -> int:
    """Return a date as an ordinal number, 0 where it is none."""
    match = DAY.search(text)
    try:
        return date.fromisoformat(match[0]).toordinal() if match else 0
    except ValueError:
        return 0
