"""CLEF-HIPE files as the scorer reads them, and refusals of files on which it stops.

Columns of cells stand over the tokens of both sides, with documents and dates.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import accumulate

import numpy as np

from nereval_core.conventions.hipe.columns import DAY, CellColumn, ColumnFiles, ColumnPair, HipeVersion
from nereval_core.corpus import Documents, Place
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, ProblemList, counted, quoted, quoted_apart
from nereval_core.readers import Source
from nereval_core.readers.hipe.rows import LED, HipeFile, TokenRow, add_documents, parse_file
from nereval_core.readers.shared.token_tags import Tagged, match_tags

NO_DAY = "2022-01-01"
"""The day that the scorer of 2022 takes where a date comment has none."""
ABSENT = "_"
NEW = "# hipe2022:"
DOCUMENTS = ("# document", f"{NEW}document_id")
DATES = ("# date", f"{NEW}date")
"""Beginnings of comments on documents and dates: those of 2022 are read as those of 2020, whatever the version."""


def read_pair(
    gold: Source, pred: Source, version: HipeVersion, columns: Sequence[str], glue: Sequence[str]
) -> ColumnPair:
    """Read both sides as this version of the scorer does, with these columns (`A+B` in `glue`: B's label is A.B).

    Raises:
        FormatError: input that the reader refuses, a missing column, rows on which the scorer stops, or sides whose
            tokens do not agree.
    """
    pairs = _glued(glue)
    needed = tuple(dict.fromkeys([*columns, *(name for pair in pairs for name in pair)]))
    problems = ProblemList()
    sides = []
    for source in (gold, pred):
        try:
            sides.append(_side(source, version, needed, pairs))
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(problems)
    gold_side, pred_side = sides
    builder = Builder(gold.name)
    for _ in add_documents(gold_side.parsed, builder):
        pass
    documents = builder.finish(gold.label).documents
    check_same_tokens(documents, gold_side, pred_side, version)
    gold_side, pred_side = (replace(side, columns=_without(side.columns, gold_side.lost)) for side in sides)
    size = len(gold_side.rows)
    words = (gold_side.words, pred_side.words)
    noise = [LED.search(cell) for cell in gold_side.columns["MISC"].cells] if "MISC" in gold_side.columns else []
    levels = np.array([float(match[1]) if match else np.nan for match in noise], np.float64)
    return ColumnPair(
        documents,
        gold_side.columns,
        pred_side.columns,
        _spread([(start, number) for number, start in enumerate(gold_side.documents)], size),
        _spread(gold_side.days, size),
        levels[gold_side.columns["MISC"].codes] if len(levels) else np.full(size, np.nan),
        None if words[0] == words[1] else words,
        gold_side.source,
        notes=_notes(gold_side, pred_side, version),
    )


def _without(columns: Mapping[str, CellColumn], rows: Sequence[tuple[int, int]]) -> dict[str, CellColumn]:
    """Return the columns with nothing annotated in these rows."""
    return {name: column.filled(rows, "O" if name.startswith("NE-") else ABSENT) for name, column in columns.items()}


def _notes(gold: ColumnFiles, pred: ColumnFiles, version: HipeVersion) -> tuple[str, ...]:
    notes = []
    if gold.lost:
        file, line = gold.place(gold.lost[0][0])
        size = sum(end - first for first, end in gold.lost)
        notes.append(
            f"the last document is left out ({file}:{line}, tokens: {size}): the file ends with a comment on a segment "
            f"and no token after it, and {version.commit} of the scorer then loses the document"
        )
    newer = [side.source for side in (gold, pred) if side.newer]
    if not newer or version.patches:
        return tuple(notes)
    reading = f"read as those of 2020; {version.commit} of the scorer itself knows only these"
    return (*notes, f"comments of HIPE-2022 on documents and dates ({', '.join(newer)}): {reading}")


def _glued(glue: Sequence[str]) -> list[tuple[str, str]]:
    pairs = [tuple(pair.split("+")) for pair in glue]
    wrong = [pair for pair in pairs if len(pair) != 2]
    if wrong:
        finding = f"{quoted('+'.join(wrong[0]))} is not a pair of columns"
        raise FormatError.single("--glue", None, finding, "write two columns joined by +, as NE-FINE-LIT+NE-NESTED")
    return [(outer_name, inner_name) for outer_name, inner_name in pairs]


def _spread(marks: Sequence[tuple[int, int]], size: int) -> Int64:
    """Return a value a token, each from the token it is marked at to the next mark, 0 before the first."""
    starts = np.array([start for start, _ in marks], np.int64)
    values = np.array([0, *(value for _, value in marks)], np.int64)
    return values[np.searchsorted(starts, np.arange(size), side="right")]


def _side(source: Source, version: HipeVersion, needed: Sequence[str], glue: Sequence[tuple[str, str]]) -> ColumnFiles:
    files = _parsed(source)
    problems = ProblemList()
    side = ColumnFiles(source.name, [], _nowhere, {}, [], [], [], [], [], False)
    cells: dict[str, list[str]] = {name: [] for name in needed}
    misc: list[str] = []
    file_starts: list[tuple[int, str]] = []
    for file in files:
        header = file.header.split("\t")
        problems += header_problems(file, header, version, needed)
        if problems:
            continue
        file_starts.append((len(side.rows), file.source))
        rows_before = _take_rows(file)
        problems += row_problems(file, header, version)
        problems += _take_comments(file, rows_before, len(side.rows), version, side)
        rows = [row for document in file.documents for row in document.rows]
        side.rows.extend(rows)
        side.parsed.extend(file.documents)
        for name in () if problems else needed:
            cells[name] += _cells(rows, header.index(name))
        if "MISC" in header:
            misc += _cells(rows, header.index("MISC"))
    if not problems:
        problems += _glue_cells(cells, glue, version, side, file_starts)
    if problems:
        raise FormatError(problems)
    columns = {name: CellColumn.of(column) for name, column in cells.items()}
    if version.iobes and not glue:
        columns = {name: column.changed(_iob) if name.startswith("NE-") else column for name, column in columns.items()}
    if len(misc) == len(side.rows):
        columns["MISC"] = CellColumn.of(misc)
    newer = any(text.startswith((DOCUMENTS[1], DATES[1])) for file in files for _, _, text in file.comments)
    return replace(side, columns=columns, place=_places(side.rows, file_starts, source.name), newer=newer)


def _nowhere(row: int) -> Place:
    return "", row


def _places(rows: Sequence[TokenRow], file_starts: Sequence[tuple[int, str]], name: str) -> Callable[[int], Place]:
    starts = [start for start, _ in file_starts]

    def place(row: int) -> Place:
        return (file_starts[bisect_right(starts, row) - 1][1] if file_starts else name), rows[row].line

    return place


def _cells(rows: Sequence[TokenRow], column: int) -> list[str]:
    return [cells[column] if column < len(cells) else ABSENT for _, cells in rows]


def _iob(cell: str) -> str:
    return {"S-": "B-", "E-": "I-"}.get(cell[:2], cell[:2]) + cell[2:]


def _take_rows(file: HipeFile) -> list[int]:
    """Take out the rows with an empty first cell, as the scorer does; return how many rows were kept before each."""
    flags = [bool(row.cells[0]) for document in file.documents for row in document.rows]
    if not all(flags):
        for document in file.documents:
            document.rows = [row for row in document.rows if row.cells[0]]
    return [0, *accumulate(flags)]


def _take_comments(
    file: HipeFile, rows_before: Sequence[int], before: int, version: HipeVersion, side: ColumnFiles
) -> Iterator[Problem]:
    """Add to the side where its segments, documents and dates begin; yield the dates on which the scorer stops."""
    last = 0
    side.segments.append(before)
    side.documents.append(before)
    side.days.append((before, 0))
    total = rows_before[-1]
    lost = False
    for line, rows, text in file.comments:
        row = rows_before[rows]
        segment = text.startswith("# segment")
        if row > last and (segment or text.startswith(DOCUMENTS)):
            last = row
            # The scorer keeps the document at the end of a file only if tokens follow its last segment.
            lost = segment and row == total
            if row < total:
                side.segments.append(before + row)
                side.documents.extend([] if segment else [before + row])
        elif version.slices and text.startswith(DATES):
            day = DAY.search(text)
            try:
                if day is None and not version.patches:
                    raise ValueError
                date = datetime.strptime(day[0] if day else NO_DAY, "%Y-%m-%d").date()
                side.days.append((before + row, date.toordinal()))
            except ValueError:
                message = f"{quoted(text)} holds no day, and {version.commit} of the scorer stops on it"
                yield Problem(file.source, line, message, "write the date as YYYY-MM-DD")
    if lost:
        side.lost.append((side.documents[-1], before + total))
    if not total:
        side.segments.pop()
        side.documents.pop()


def _glue_cells(
    cells: dict[str, list[str]],
    glue: Sequence[tuple[str, str]],
    version: HipeVersion,
    side: ColumnFiles,
    file_starts: Sequence[tuple[int, str]],
) -> Iterator[Problem]:
    """Write A.B over the labels of B, after S- and E- are read as B- and I-."""
    place = _places(side.rows, file_starts, side.source)
    if glue and version.iobes:
        for name in cells:
            if name.startswith("NE-"):
                cells[name] = [_iob(cell) for cell in cells[name]]
    for outer_name, inner_name in glue:
        for row, (outer, inner) in enumerate(zip(cells[outer_name], cells[inner_name], strict=True)):
            if inner == "O":
                continue
            parts = outer.split("-"), inner.split("-")
            if len(parts[0]) == len(parts[1]) == 2:
                cells[inner_name][row] = f"{parts[1][0]}-{parts[0][1]}.{parts[1][1]}"
                continue
            finding = f"{quoted(inner)} in {inner_name} cannot be glued to {quoted(outer)} in {outer_name}"
            remedy = f"give each label of both the form B-type; {version.commit} of the scorer stops here"
            yield Problem(*place(row), finding, remedy)


def dates_and_noise(source: Source) -> tuple[list[str], bool]:
    """Return the days (YYYY-MM-DD) that date comments hold, in order, and whether any row says how noisy its token is.

    Raises:
        FormatError: no such files.
    """
    files = _parsed(source)
    days = (DAY.search(comment.text) for file in files for comment in file.comments if comment.text.startswith(DATES))
    documents = [document for file in files for document in file.documents if document.misc >= 0]
    cells = (row.cells[one.misc] for one in documents for row in one.rows if one.misc < len(row.cells))
    return [day[0] for day in days if day], any(map(LED.search, cells))


def _parsed(source: Source) -> list[HipeFile]:
    builder = Builder(source.name)
    files = [parse_file(file, builder) for file in source.pick(".tsv")]
    if builder.problems:
        raise FormatError(builder.problems)
    return files


PATCHED = 20
"""Kinds of differing tokens that the scorer of 2022 accepts in a prediction without comments."""
FULL_ROWS = "give each row every cell of the header, _ where there is nothing"


def header_problems(
    file: HipeFile, header: Sequence[str], version: HipeVersion, needed: Sequence[str]
) -> Iterator[Problem]:
    if file.header_line != 1:
        finding = f"line 1 is not a header, and {version.commit} of the scorer takes it as the header and stops"
        yield Problem(file.source, 1, finding, "move the header to line 1")
    elif version.rows == "full" and "MISC" not in header:
        finding = f"no column MISC, and {version.commit} of the scorer stops without it"
        yield Problem(file.source, 1, finding, "add the column, with _ in each row")
    for name in needed:
        if name not in header:
            finding = f"no column {quoted(name)}, and {version.commit} of the scorer stops without it"
            columns = ", ".join(column for column in header[1:] if column != "MISC")
            yield Problem(file.source, file.header_line, finding, f"add it, or choose another task; it has {columns}")


def row_problems(file: HipeFile, header: Sequence[str], version: HipeVersion) -> Iterator[Problem]:
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
                finding = f"{counted(size, 'cell')} under a header of {width}, {stops}"
                yield Problem(file.source, line, finding, "write one cell a column")
            elif version.rows == "misc" and size < width and misc >= size:
                yield Problem(file.source, line, f"{counted(size, 'cell')}, so none in column MISC, {stops}", FULL_ROWS)
            elif version.rows == "full":
                row = [*cells, *[""] * (width - size)]
                empty = [name for name, cell in zip(header, row, strict=True) if not cell and name != "MISC"]
                if empty:
                    finding = f"nothing in column {empty[0]}, {stops}"
                    yield Problem(file.source, line, finding, FULL_ROWS)


def check_same_tokens(documents: Documents, gold: ColumnFiles, pred: ColumnFiles, version: HipeVersion) -> None:
    """Refuse sides that the scorer refuses: by the tokens of every segment, or, without comments, by their text."""
    if len(gold.rows) != len(pred.rows):
        gold_tags, pred_tags = (
            Tagged(documents, side.words, side.words, np.zeros(1, np.int64), side.source, side.place)
            for side in (gold, pred)
        )
        match_tags(gold_tags, pred_tags)
    shapes = gold.shape(), pred.shape()
    if shapes[0] != shapes[1] and len(shapes[1]) == 1 and len(shapes[0]) != 1:
        if sum(map(sum, shapes[0])) > sum(shapes[1][0]):
            raise _lost_on_one_side(gold, pred, version)
        if not shapes[0]:
            return None
        if len(shapes[1][0]) == 1:
            return _check_same_text(gold, pred, version)
        finding = (
            f"segments but no documents, where gold has {len(shapes[0])}; {version.commit} of the scorer stops here"
        )
        raise FormatError.single(pred.source, None, finding, "write gold's document comments too, or no comments")
    if gold.lost != pred.lost:
        raise _lost_on_one_side(gold, pred, version)
    if shapes[0] != shapes[1]:
        starts, others, what = gold.segments, pred.segments, "segment"
        if starts == others:
            starts, others, what = gold.documents, pred.documents, "document"
        cut = min({*starts} ^ {*others})
        side_with, side_without = ("gold", "the prediction") if cut in starts else ("the prediction", "gold")
        finding = (
            f"{side_with} begins a {what} at {quoted(pred.rows[cut].cells[0])}, {side_without} does not, and "
            f"{version.commit} of the scorer stops on such files"
        )
        raise FormatError.single(*pred.place(cut), finding, "write gold's comments on documents and segments")
    return None


def _lost_on_one_side(gold: ColumnFiles, pred: ColumnFiles, version: HipeVersion) -> FormatError:
    side, other = (pred, "gold") if pred.lost else (gold, "the prediction")
    finding = (
        f"the file ends with a comment on a segment and no token after it, so {version.commit} of the scorer loses "
        f"this document, keeps that of {other}, and stops"
    )
    return FormatError.single(*side.place(side.lost[0][0]), finding, "take the last comment out of the file")


def _check_same_text(gold: ColumnFiles, pred: ColumnFiles, version: HipeVersion) -> None:
    differ: dict[tuple[str, str], int] = {}
    lost = {row for first, end in gold.lost for row in range(first, end)}
    for row, (gold_word, pred_word) in enumerate(zip(gold.words, pred.words, strict=True)):
        if gold_word != pred_word and row not in lost:
            differ.setdefault((gold_word, pred_word), row)
            if not version.patches or len(differ) > PATCHED:
                break
    else:
        return
    (gold_word, pred_word), row = next(iter(differ.items()))
    kinds = f"the first of more than {PATCHED} kinds of differing tokens; " if version.patches else ""
    file, line = gold.place(row)
    pred_quote, gold_quote = quoted_apart(pred_word, gold_word)
    finding = (
        f"{pred_quote} against gold's {gold_quote} ({file}:{line}): {kinds}{version.commit} of the scorer stops on "
        "them in a prediction without document comments"
    )
    raise FormatError.single(*pred.place(row), finding, "write gold's tokens, or its document comments")
