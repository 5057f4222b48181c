"""Tables to be read: sheets made from scores and from frames, each with the signatures of its numbers; and printed."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nereval_core.problems import one_line
from nereval_core.report.signature import signature
from nereval_core.scoring import Counts, Scores
from nereval_core.scoring.criteria import Decision

if TYPE_CHECKING:
    import pandas as pd

    from nereval_core.scoring.averages import Average
    from nereval_core.scoring.protocols import CountedScores, SystemScores

Cell = str | int | float | None

SHARED = ("COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT")
SIDES = ("gold COR", "gold INC", "gold PAR", "MIS", "pred COR", "pred INC", "pred PAR", "SPU", "POS", "ACT")
RATIOS = ("P", "R", "F1")
PARTS = ("type", "document", "confusion")
"""What scores are broken down by."""
CONFUSION = ("gold_type", "pred_type", "count")
"""Columns of the confusions in long form and in JSON."""
UNDEFINED = "–"
HEADING, STRONG, NOTE, WARNING = "1", "1;32", "2", "33"
"""Parameters of ANSI escape sequences: bold; bold and green; dim; yellow."""
UNTESTED = "not tested (`nereval compare` tests differences of F1)"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of text, integers and ratios (None where undefined); `notes` hold signatures and what was left out.

    `strong` are the cells (row, column) in bold, in formats that have it, which then say the `strong_notes` too.
    `groups` are headings over so many columns each, from the first on, where a format has them: there the columns below
    are named without the heading. The last `averages` rows are averages of those above. `texts` are the columns that
    stand to the left; others stand to the right.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    strong: frozenset[tuple[int, int]] = frozenset()
    strong_notes: tuple[str, ...] = ()
    groups: tuple[tuple[str, int], ...] = ()
    averages: int = 0
    texts: tuple[int, ...] = (0,)


def frame_sheet(
    title: str,
    frame: pd.DataFrame,
    notes: tuple[str, ...] = (),
    *,
    columns: tuple[str, ...] | None = None,
    strong: frozenset[tuple[int, int]] = frozenset(),
    strong_notes: tuple[str, ...] = (),
) -> Sheet:
    """Return a frame as a sheet; `columns` are its headings, by default the names of its columns."""
    names = tuple(map(str, frame.columns)) if columns is None else columns
    return Sheet(title, names, cells(frame), notes, strong, strong_notes)


def cells(frame: pd.DataFrame) -> tuple[tuple[Cell, ...], ...]:
    """Return the rows of a frame, as a `Sheet` holds them."""
    return tuple(tuple(map(cell, row)) for row in frame.itertuples(index=False, name=None))


def cell(value: Any) -> Cell:
    """Return a value of a frame as text, integer or ratio; None for an undefined one."""
    import pandas as pd

    if pd.isna(value):
        return None
    found: Cell = value.item() if hasattr(value, "item") else value
    return found


def objects(frame: pd.DataFrame) -> list[dict[str, Cell]]:
    """Return the rows of a frame by the names of its columns, as JSON holds them."""
    columns = list(map(str, frame.columns))
    return [dict(zip(columns, row, strict=True)) for row in cells(frame)]


def as_screen(sheets: Iterable[Sheet], *, names: int = 1, colour: bool = False) -> str:
    """Return aligned columns of text, the first `names` and those of texts to the left, numbers to the right.

    With `colour` headings and strong cells stand out, and notes are dim.
    """
    blocks = []
    for sheet in sheets:
        grid = [sheet.columns, *([cell_text(cell) for cell in row] for row in sheet.rows)]
        widths = [max(map(_width, column)) for column in zip(*grid, strict=True)]
        texts = {*range(names), *sheet.texts}
        strong = sheet.strong if colour else frozenset()
        heading, *rows = (
            "  ".join(_padded(row, widths, texts, {at for place, at in strong if place == number})).rstrip()
            for number, row in enumerate(grid, start=-1)
        )
        notes = (*(sheet.strong_notes if colour else ()), *sheet.notes)
        headings = [painted(line, HEADING, colour) for line in (one_line(sheet.title), heading)]
        blocks.append("\n".join((*headings, *rows, *(painted(one_line(note), NOTE, colour) for note in notes))))
    return "\n\n".join(blocks) + "\n"


def painted(text: str, parameters: str, colour: bool) -> str:
    """Return text in the colour of ANSI escape sequences if `colour`, else as it is."""
    return f"\x1b[{parameters}m{text}\x1b[0m" if colour else text


def cell_text(cell: Cell) -> str:
    """Return a cell as text, with four places of a ratio."""
    if cell is None:
        return UNDEFINED
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def _padded(
    row: Sequence[str], widths: Sequence[int], texts: Collection[int], strong: Collection[int]
) -> Iterable[str]:
    for number, (cell, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - _width(cell))
        word = painted(one_line(cell), STRONG, number in strong)
        yield word + space if number in texts else space + word


def _width(text: str) -> int:
    """Return the width of a text in columns of a terminal."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in one_line(text)
    )


def sheets(systems: SystemScores, *, by: Collection[str] = ()) -> tuple[Sheet, ...]:
    """Return a table that compares systems where there are several, then the tables of each system.

    `by` may hold PARTS: a further table each for every criterion, of types and documents with the macro average below.
    """
    found = [_comparison(systems)] if len(systems) > 1 else []
    for layer, scores in systems:
        found.append(_overall(layer.name, scores))
        for criterion in scores.criteria:
            name = criterion.name
            for part, rows, macro in parts(scores, name, by):
                title = f"{layer.name}: {name} by {part}"
                found.append(_broken_down(title, part, rows, macro, _shared(part, scores), signature(scores, name)))
            if "confusion" in by:
                found.append(confusion_sheet(layer.name, scores, name))
    return tuple(found)


def parts(
    scores: CountedScores, name: str, by: Collection[str]
) -> Iterable[tuple[str, Mapping[str, Counts], Mapping[str, Average]]]:
    """Yield the parts in `by`, "type" or "document", with counts by member and the macro average over them."""
    if "type" in by:
        yield "type", scores.by_type(name), scores.macro_types(name)
    if "document" in by:
        yield "document", scores.by_document(name), scores.macro_documents(name)


def ranked_confusions(scores: CountedScores, name: str) -> tuple[tuple[str, str, int], ...]:
    """Return the cells of `confusion`, same types on both sides among them, the largest counts first.

    Equal counts are in the order of their types.
    """
    from nereval_core.records.tables import confusion

    assert isinstance(scores, Scores), "counts of shards have no partners"
    cells = confusion(scores, name).itertuples(index=False, name=None)
    return tuple(sorted(cells, key=lambda cell: (-cell[2], *cell[:2])))


def confusion_sheet(system: str, scores: CountedScores, name: str) -> Sheet:
    """Return the confusions of a criterion as a table to be read; a note counts the same type on both sides."""
    cells = ranked_confusions(scores, name)
    confusions = tuple(cell for cell in cells if cell[0] != cell[1])
    same = sum(count for gold_type, pred_type, count in cells if gold_type == pred_type)
    note = f"same type on both sides: {same}; --csv and --json count them by type"
    columns = ("gold type", "predicted type", "count")
    return Sheet(f"{system}: {name} by confusion", columns, confusions, (note, signature(scores, name)), texts=(0, 1))


def _shared(part: str, scores: CountedScores) -> bool:
    """Tell whether gold spans and predictions share COR, INC and PAR."""
    return part != "type" and scores.settings.counting == "one-to-one"


def _comparison(systems: SystemScores) -> Sheet:
    names = [criterion.name for criterion in systems[0][1].criteria]
    rows = tuple((layer.name, *(scores.counts(name).f1 for name in names)) for layer, scores in systems)
    columns = enumerate(zip(*rows, strict=True))
    strong = frozenset((best, at) for at, column in columns if at for best in best_places(column))
    return Sheet(
        "F1 of all systems",
        ("system", *names),
        rows,
        strong=strong,
        strong_notes=(f"bold: the highest F1, {UNTESTED}",) if strong else (),
    )


def best_places(values: Sequence[Cell]) -> list[int]:
    """Return the places of the highest ratio as printed; none where all are equal or undefined."""
    numbers = {place: float(cell_text(value)) for place, value in enumerate(values) if value is not None}
    highest = max(numbers.values(), default=0.0)
    best = [place for place, number in numbers.items() if number == highest]
    return best if len(best) < len(numbers) else []


def _overall(system: str, scores: CountedScores) -> Sheet:
    shared = _shared("all", scores)
    names = [criterion.name for criterion in scores.criteria]
    rows = tuple((name, *_cells(scores.counts(name), shared)) for name in names)
    columns = ("criterion", *(SHARED if shared else SIDES), *RATIOS)
    return Sheet(system, columns, rows, tuple(signature(scores, name) for name in names))


def _broken_down(
    title: str, part: str, rows: Mapping[str, Counts], macro: Mapping[str, Average], shared: bool, signed: str
) -> Sheet:
    counted = SHARED if shared else SIDES
    averages = [macro[ratio] for ratio in ("precision", "recall", "f1")]
    last = (f"macro over {part}s", *(None for _ in counted), *(average.value for average in averages))
    undefined = ", ".join(
        f"{average.undefined} of {ratio}" for ratio, average in zip(RATIOS, averages, strict=True) if average.undefined
    )
    notes = [f"macro over {part}s: undefined and left out: {undefined}"] if undefined else []
    cells = tuple((member, *_cells(counts, shared)) for member, counts in rows.items())
    return Sheet(title, (part, *counted, *RATIOS), (*cells, last), (*notes, signed))


def _cells(counts: Counts, shared: bool) -> tuple[Cell, ...]:
    cor, inc, par, mis, spu = Decision
    gold, pred = counts.gold, counts.pred
    numbers = (
        (counts.cor, counts.inc, counts.par, counts.mis, counts.spu)
        if shared
        else (gold[cor], gold[inc], gold[par], gold[mis], pred[cor], pred[inc], pred[par], pred[spu])
    )
    return (*numbers, counts.pos, counts.act, counts.precision, counts.recall, counts.f1)


LONG = (
    "system",
    "criterion",
    "part",
    "name",
    *SHARED,
    "precision",
    "recall",
    "f1",
    "gold_COR",
    "gold_INC",
    "gold_PAR",
    "pred_COR",
    "pred_INC",
    "pred_PAR",
    "signature",
)


def long_sheet(systems: SystemScores, *, by: Collection[str] = ()) -> Sheet:
    """Return all numbers as one table with the columns of LONG, for programs and spreadsheets.

    `part` is all, type, document, a macro average or confusion; `name` is the type or document. COR, INC and PAR are
    None where gold spans and predictions do not share them. Broken down by confusion, the columns of CONFUSION stand
    before the signature.
    """
    rows: list[tuple[Cell, ...]] = []
    confused = "confusion" in by
    blank = (None,) * len(CONFUSION) if confused else ()
    for layer, scores in systems:
        for criterion in scores.criteria:
            last = (*blank, signature(scores, criterion.name))
            head = (layer.name, criterion.name)
            whole = scores.counts(criterion.name)
            rows.append((*head, "all", None, *_long(whole, _shared("all", scores)), *last))
            for part, members, macro in parts(scores, criterion.name, by):
                shared = _shared(part, scores)
                rows += [(*head, part, name, *_long(counts, shared), *last) for name, counts in members.items()]
                values = tuple(macro[ratio].value for ratio in ("precision", "recall", "f1"))
                rows.append((*head, f"macro over {part}s", None, *(None,) * len(SHARED), *values, *(None,) * 6, *last))
            if confused:
                numbers = (None,) * (len(LONG) - len(head) - 3)
                cells = ranked_confusions(scores, criterion.name)
                rows += [(*head, "confusion", None, *numbers, *cell, last[-1]) for cell in cells]
    return Sheet("scores", (*LONG[:-1], *(CONFUSION if confused else ()), LONG[-1]), tuple(rows))


def _long(counts: Counts, shared: bool) -> tuple[Cell, ...]:
    sides = _cells(counts, False)
    both = _cells(counts, True)
    # gold COR, INC, PAR and pred COR, INC, PAR: see SIDES.
    return (*(both[:3] if shared else (None,) * 3), *both[3:], *sides[:3], *sides[4:7])
