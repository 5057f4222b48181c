"""On what the CLEF-HIPE scorer stops: headers, rows, and sides whose tokens or segments do not agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nereval_core.conventions.hipe.columns import Side
from nereval_core.conventions.hipe.versions import Version
from nereval_core.corpus import Documents
from nereval_core.problems import FormatError, Problem, counted, quoted, quoted_apart
from nereval_core.readers.hipe.rows import Parsed
from nereval_core.readers.shared.token_tags import Tagged, matched

PATCHED = 20
"""So many kinds of differing tokens the scorer of 2022 puts up with in a prediction without comments."""
FULL_ROWS = "give each row every cell of the header, _ where there is nothing"


def header_problems(file: Parsed, header: Sequence[str], version: Version, needed: Sequence[str]) -> Iterator[Problem]:
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


def row_problems(file: Parsed, header: Sequence[str], version: Version) -> Iterator[Problem]:
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
                found = f"{counted(size, 'cell')} under a header of {width}, {stops}"
                yield Problem(file.shown, line, found, "write one cell a column")
            elif version.rows == "misc" and size < width and misc >= size:
                yield Problem(file.shown, line, f"{counted(size, 'cell')}, so none in column MISC, {stops}", FULL_ROWS)
            elif version.rows == "full":
                row = [*cells, *[""] * (width - size)]
                empty = [name for name, cell in zip(header, row, strict=True) if not cell and name != "MISC"]
                if empty:
                    found = f"nothing in column {empty[0]}, {stops}"
                    yield Problem(file.shown, line, found, FULL_ROWS)


def check_same_tokens(documents: Documents, gold: Side, pred: Side, version: Version) -> None:
    """Check what the scorer checks: the tokens of every segment, or, without comments, the text of every token."""
    if len(gold.rows) != len(pred.rows):
        one, two = (
            Tagged(documents, side.words, side.words, np.zeros(1, np.int64), side.source, side.place)
            for side in (gold, pred)
        )
        matched(one, two)
    shapes = gold.shape(), pred.shape()
    if shapes[0] != shapes[1] and len(shapes[1]) == 1 and len(shapes[0]) != 1:
        if sum(map(sum, shapes[0])) > sum(shapes[1][0]):
            raise _lost_on_one_side(gold, pred, version)
        if not shapes[0]:
            return None
        if len(shapes[1][0]) == 1:
            return _check_same_text(gold, pred, version)
        found = f"segments but no documents, where gold has {len(shapes[0])}; {version.commit} of the scorer stops here"
        raise FormatError.single(pred.source, None, found, "write gold's document comments too, or no comments")
    if gold.lost != pred.lost:
        raise _lost_on_one_side(gold, pred, version)
    if shapes[0] != shapes[1]:
        starts, others, what = gold.segments, pred.segments, "segment"
        if starts == others:
            starts, others, what = gold.documents, pred.documents, "document"
        cut = min({*starts} ^ {*others})
        here, there = ("gold", "the prediction") if cut in starts else ("the prediction", "gold")
        found = (
            f"{here} begins a {what} at {quoted(pred.rows[cut].cells[0])}, {there} does not, and "
            f"{version.commit} of the scorer stops on such files"
        )
        raise FormatError.single(*pred.place(cut), found, "write gold's comments on documents and segments")
    return None


def _lost_on_one_side(gold: Side, pred: Side, version: Version) -> FormatError:
    side, other = (pred, "gold") if pred.lost else (gold, "the prediction")
    found = (
        f"the file ends with a comment on a segment and no token after it, so {version.commit} of the scorer loses the "
        f"document that begins here, keeps what {other} has there, and stops"
    )
    return FormatError.single(*side.place(side.lost[0][0]), found, "take the last comment out of the file")


def _check_same_text(gold: Side, pred: Side, version: Version) -> None:
    differ: dict[tuple[str, str], int] = {}
    lost = {row for first, end in gold.lost for row in range(first, end)}
    for row, (one, two) in enumerate(zip(gold.words, pred.words, strict=True)):
        if one != two and row not in lost:
            differ.setdefault((one, two), row)
            if not version.patches or len(differ) > PATCHED:
                break
    else:
        return
    (one, two), row = next(iter(differ.items()))
    kinds = f"the first of more than {PATCHED} kinds of differing tokens; " if version.patches else ""
    file, line = gold.place(row)
    here, there = quoted_apart(two, one)
    found = (
        f"{here} against gold's {there} ({file}:{line}): {kinds}{version.commit} of the scorer stops on "
        "them in a prediction without document comments"
    )
    raise FormatError.single(*pred.place(row), found, "write gold's tokens, or its document comments")
