"""Tables of scores: of each system under each criterion, by type, document and confusion, with their signatures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from nereval_core.report.signature import signature
from nereval_core.scoring import Counts, Scores
from nereval_core.scoring.criteria import Decision
from nereval_core.tables import (
    CRITERION,
    RATIO_KEYS,
    RATIOS,
    SHARED_COUNTS,
    SIDED_COUNTS,
    SYSTEM,
    Cell,
    Column,
    Table,
    cell_text,
    columns_by_name,
)

if TYPE_CHECKING:
    from nereval_core.scoring.averages import Average
    from nereval_core.scoring.protocols import CountedScores, SystemScores

PARTS = ("type", "document", "confusion")
"""What scores are broken down by."""
CONFUSION = (
    Column("gold_type", kind="name"),
    Column("pred_type", "predicted type", "name"),
    Column("count", kind="count"),
)
UNTESTED = "not tested (`nereval compare` tests differences of F1)"


def score_tables(systems: SystemScores, *, by: Collection[str] = ()) -> tuple[Table, ...]:
    """Return a table that compares systems where there are several, then the tables of each system.

    `by` may hold PARTS: a further table each for every criterion, of types and documents with the macro average below.
    """
    tables = [_comparison(systems)] if len(systems) > 1 else []
    for layer, scores in systems:
        tables.append(_overall(layer.name, scores))
        for criterion in scores.criteria:
            name = criterion.name
            for part, rows, macro in parts(scores, name, by):
                title = f"{layer.name}: {name} by {part}"
                tables.append(_broken_down(title, part, rows, macro, _shared(part, scores), signature(scores, name)))
            if "confusion" in by:
                tables.append(confusion_table(layer.name, scores, name))
    return tuple(tables)


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


def confusion_table(system: str, scores: CountedScores, name: str) -> Table:
    """Return the confusions of a criterion as a table to be read; a note counts the same type on both sides."""
    cells = ranked_confusions(scores, name)
    confusions = tuple(cell for cell in cells if cell[0] != cell[1])
    same = sum(count for gold_type, pred_type, count in cells if gold_type == pred_type)
    note = f"same type on both sides: {same}; --csv and --json count them by type"
    return Table(f"{system}: {name} by confusion", CONFUSION, confusions, (note, signature(scores, name)))


def _shared(part: str, scores: CountedScores) -> bool:
    """Tell whether gold spans and predictions share COR, INC and PAR."""
    return part != "type" and scores.settings.counting == "one-to-one"


def _comparison(systems: SystemScores) -> Table:
    names = [criterion.name for criterion in systems[0][1].criteria]
    rows = tuple((layer.name, *(scores.counts(name).f1 for name in names)) for layer, scores in systems)
    columns = enumerate(zip(*rows, strict=True))
    strong = frozenset((best, at) for at, column in columns if at for best in best_places(column))
    return Table(
        "F1 of all systems",
        (SYSTEM, *columns_by_name(names, "ratio", "F1")),
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


def _overall(system: str, scores: CountedScores) -> Table:
    shared = _shared("all", scores)
    names = [criterion.name for criterion in scores.criteria]
    rows = tuple((name, *_cells(scores.counts(name), shared)) for name in names)
    columns = (CRITERION, *(SHARED_COUNTS if shared else SIDED_COUNTS), *RATIOS)
    return Table(system, columns, rows, tuple(signature(scores, name) for name in names))


def _broken_down(
    title: str, part: str, rows: Mapping[str, Counts], macro: Mapping[str, Average], shared: bool, signed: str
) -> Table:
    counts = SHARED_COUNTS if shared else SIDED_COUNTS
    averages = {ratio: macro[key] for ratio, key in RATIO_KEYS.items()}
    last = (f"macro over {part}s", *(None for _ in counts), *(average.value for average in averages.values()))
    undefined = ", ".join(f"{average.undefined} of {ratio}" for ratio, average in averages.items() if average.undefined)
    notes = [f"macro over {part}s: undefined and left out: {undefined}"] if undefined else []
    cells = tuple((member, *_cells(counts_of_member, shared)) for member, counts_of_member in rows.items())
    return Table(title, (Column(part, kind="name"), *counts, *RATIOS), (*cells, last), (*notes, signed))


def _cells(counts: Counts, shared: bool) -> tuple[Cell, ...]:
    cor, inc, par, mis, spu = Decision
    gold, pred = counts.gold, counts.pred
    numbers = (
        (counts.cor, counts.inc, counts.par, counts.mis, counts.spu)
        if shared
        else (gold[cor], gold[inc], gold[par], gold[mis], pred[cor], pred[inc], pred[par], pred[spu])
    )
    return (*numbers, counts.pos, counts.act, counts.precision, counts.recall, counts.f1)


_PLACE = (SYSTEM, CRITERION, Column("part"), Column("name"))
_SIGNATURE = Column("signature", kind="text")
LONG = (
    *_PLACE,
    *SHARED_COUNTS,
    *RATIOS,
    *(column for column in SIDED_COUNTS if column not in SHARED_COUNTS),
    _SIGNATURE,
)


def long_table(systems: SystemScores, *, by: Collection[str] = ()) -> Table:
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
                values = tuple(macro[ratio].value for ratio in RATIO_KEYS.values())
                rows.append(
                    (*head, f"macro over {part}s", None, *(None,) * len(SHARED_COUNTS), *values, *(None,) * 6, *last)
                )
            if confused:
                numbers = (None,) * (len(LONG) - len(head) - 3)
                cells = ranked_confusions(scores, criterion.name)
                rows += [(*head, "confusion", None, *numbers, *cell, last[-1]) for cell in cells]
    return Table("scores", (*LONG[:-1], *(CONFUSION if confused else ()), LONG[-1]), tuple(rows))


def _long(counts: Counts, shared: bool) -> tuple[Cell, ...]:
    sides = _cells(counts, False)
    both = _cells(counts, True)
    # gold COR, INC, PAR and pred COR, INC, PAR: see SIDED_COUNTS.
    return (*(both[:3] if shared else (None,) * 3), *both[3:], *sides[:3], *sides[4:7])
