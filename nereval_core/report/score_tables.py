"""Tables of scores: of systems under each criterion, by type, document and confusion, with their signatures.

The terminal, files, pages and the HTML report show the same tables; counts open their records, ratios their formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from nereval_core.problems import name_text
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
    TYPE,
    Cell,
    Column,
    FormulaOf,
    RecordsOf,
    Row,
    Table,
    cell_text,
    columns_by_name,
)

if TYPE_CHECKING:
    import pandas as pd

    from nereval_core.records.queries import Query
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


def score_tables(
    systems: SystemScores, *, by: Collection[str] = (), ratios: Sequence[Column] = RATIOS
) -> tuple[Table, ...]:
    """Return a table that compares systems where there are several, then the tables of each system.

    `by` may hold PARTS: a further table each for every criterion, of types and documents with the macro average below.
    `ratios` are RATIOS, perhaps with SER.
    """
    tables = [_comparison(systems)] if len(systems) > 1 else []
    for layer, scores in systems:
        names = [criterion.name for criterion in scores.criteria]
        signatures = tuple(signature(scores, name) for name in names)
        tables.append(criterion_table(layer.name, {layer.name: scores}, names, signatures, ratios=ratios))
        for name, signed in zip(names, signatures, strict=True):
            title = f"{layer.name}: {name} by"
            if "type" in by:
                table = type_table(f"{title} type", {layer.name: scores}, name, notes=(signed,), ratios=ratios)
                tables.append(_with_average(table, "types", scores.macro_types(name)))
            if "document" in by:
                documents = scores.by_document(name)
                table = document_table(f"{title} document", documents, scores, name, notes=(signed,), ratios=ratios)
                tables.append(_with_average(table, "documents", scores.macro_documents(name)))
            if "confusion" in by:
                tables.append(confusion_table(layer.name, scores, name))
    return tuple(tables)


def criterion_table(
    title: str,
    systems: Mapping[str, CountedScores],
    names: Sequence[str],
    notes: tuple[str, ...] = (),
    *,
    name: str = "criteria",
    ratios: Sequence[Column] = RATIOS,
) -> Table:
    """Return the scores of each system, named where there are several, under each criterion."""
    several, first = len(systems) > 1, next(iter(systems))
    shared = _is_shared(systems[first])

    def counts(row: Row) -> Counts:
        return systems[str(row.get("system", first))].counts(str(row["criterion"]))

    def place(row: Row) -> RecordsOf:
        return RecordsOf(_everything(), criterion=str(row["criterion"]), system=str(row.get("system", first)))

    heads = (*([SYSTEM] if several else []), CRITERION)
    rows = tuple(
        (*([system] if several else []), criterion, *_cells(scores.counts(criterion), shared, ratios))
        for system, scores in systems.items()
        for criterion in names
    )
    return Table(title, (*heads, *score_columns(shared, counts, place, ratios)), rows, notes, name=name)


def type_table(
    title: str,
    systems: Mapping[str, CountedScores],
    criterion: str,
    types: Sequence[str] | None = None,
    *,
    notes: tuple[str, ...] = (),
    ratios: Sequence[Column] = RATIOS,
) -> Table:
    """Return the scores of each type, by default all, of each system, named where there are several.

    Recall counts the gold spans of a type, precision its predictions, each with their own decisions.
    """
    several, first = len(systems) > 1, next(iter(systems))
    by_type = {system: scores.by_type(criterion) for system, scores in systems.items()}

    def counts(row: Row) -> Counts:
        return by_type[str(row.get("system", first))].get(str(row["type"]), Counts())

    def place(row: Row) -> RecordsOf:
        query = replace(_everything(), types=(str(row["type"]),))
        return RecordsOf(query, criterion=criterion, system=str(row.get("system", first)))

    heads = (TYPE, *([SYSTEM] if several else []))
    rows = tuple(
        (type_name, *([system] if several else []), *_cells(of_system.get(type_name, Counts()), False, ratios))
        for type_name in (by_type[first] if types is None else types)
        for system, of_system in by_type.items()
    )
    return Table(title, (*heads, *score_columns(False, counts, place, ratios)), rows, notes, name="types")


def document_table(
    title: str,
    counts: Mapping[str, Counts],
    scores: CountedScores,
    criterion: str,
    notes: tuple[str, ...] = (),
    ratios: Sequence[Column] = RATIOS,
) -> Table:
    """Return the scores of each document; `counts` are those of some documents by id."""
    shared = _is_shared(scores)

    def place(row: Row) -> RecordsOf:
        return RecordsOf(replace(_everything(), doc=str(row["document"])), criterion=criterion)

    of_row = score_columns(shared, lambda row: counts[str(row["document"])], place, ratios)
    columns = (Column("document", kind="name"), *of_row)
    rows = tuple((document, *_cells(of_document, shared, ratios)) for document, of_document in counts.items())
    return Table(title, columns, rows, notes, name="documents")


def average_table(
    title: str, counts: Counts, over_types: Mapping[str, Average], over_documents: Mapping[str, Average]
) -> Table:
    """Return micro, macro over types and macro over documents: P, R, F1, and over how many each mean is taken."""
    rows: list[tuple[Cell, ...]] = [("micro", *_ratios(counts, RATIOS), "all spans together")]
    for unit, averages in (("types", over_types), ("documents", over_documents)):
        of_ratio = [(ratio, averages[key]) for ratio, key in RATIO_KEYS.items()]
        numbers = ", ".join(f"{ratio} {average.n}{undefined_words(average.undefined)}" for ratio, average in of_ratio)
        rows.append((f"macro over {unit}", *(average.value for _, average in of_ratio), f"{unit}: {numbers}"))
    columns = (Column("average", kind="name"), *RATIOS, Column("over", kind="text"))
    return Table(title, columns, tuple(rows), name="averages")


def undefined_words(number: int) -> str:
    """Return how many members of a mean are undefined, in brackets; "" for none."""
    return f" ({number} undefined)" if number else ""


def _everything() -> Query:
    from nereval_core.records.queries import Query

    return Query()


def score_columns(
    shared: bool,
    counts: Callable[[Row], Counts],
    place: Callable[[Row], RecordsOf],
    ratios: Sequence[Column] = RATIOS,
) -> tuple[Column, ...]:
    """Return ratios that open their formula, and counts that open their records.

    `counts` are those of a row; `place` has the criterion and the system of a row, and a query for its type, document
    or period.
    """

    def target(column: Column, row: Row) -> FormulaOf | RecordsOf | None:
        from nereval_core.records.queries import side_query

        at = place(row)
        type_name = next(iter(at.query.types), None)
        if column.kind == "ratio":
            return FormulaOf(
                column.term,
                lambda: counts(row),
                criterion=at.criterion,
                type=type_name,
                system=at.system,
                within=replace(at.query, types=()),
            )
        of_pred = column.key.startswith("pred_") or column.key in ("SPU", "ACT")
        query = side_query("pred" if of_pred else "gold", column.term, type_name)
        if query is None:
            return None
        spans = replace(at.query, types=(), decision=query.decision, gold=query.gold, pred=query.pred)
        return replace(at, query=spans, term=column.term)

    columns = (*ratios, *(SHARED_COUNTS if shared else SIDED_COUNTS))
    return tuple(replace(column, opens=partial(target, column)) for column in columns)


def _is_shared(scores: CountedScores) -> bool:
    """Tell whether gold spans and predictions share COR, INC and PAR, except by type."""
    return scores.settings.counting == "one-to-one"


def _cells(counts: Counts, shared: bool, ratios: Sequence[Column]) -> tuple[Cell, ...]:
    return (*_ratios(counts, ratios), *_numbers(counts, shared))


def _ratios(counts: Counts, columns: Sequence[Column]) -> tuple[Cell, ...]:
    return tuple(getattr(counts, column.key) for column in columns)


def _numbers(counts: Counts, shared: bool) -> tuple[Cell, ...]:
    """Return SHARED_COUNTS, or SIDED_COUNTS where the sides do not share them."""
    cor, inc, par, mis, spu = Decision
    gold, pred = counts.gold, counts.pred
    decided = (
        (counts.cor, counts.inc, counts.par, counts.mis, counts.spu)
        if shared
        else (gold[cor], gold[inc], gold[par], gold[mis], pred[cor], pred[inc], pred[par], pred[spu])
    )
    return (*decided, counts.pos, counts.act)


def _with_average(table: Table, members: str, macro: Mapping[str, Average]) -> Table:
    """Return a table with the macro average over its members as its last row, and what that leaves out in a note."""
    averages = {ratio: macro[key] for ratio, key in RATIO_KEYS.items()}
    values = (average.value for average in averages.values())
    last = (f"macro over {members}", *values, *[None] * (len(table.columns) - 1 - len(averages)))
    undefined = ", ".join(f"{average.undefined} of {ratio}" for ratio, average in averages.items() if average.undefined)
    notes = [f"macro over {members}: undefined and left out: {undefined}"] if undefined else []
    return replace(table, rows=(*table.rows, last), notes=(*notes, *table.notes))


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


def confusion_grid(
    title: str,
    cells: Mapping[tuple[str, str], int],
    types: Sequence[str],
    criterion: str,
    notes: tuple[str, ...] = (),
    *,
    absent: tuple[str, str] = ("spurious", "missed"),
) -> Table:
    """Return counts of records by (gold, predicted) type: gold types down, predicted types across.

    Spurious predictions stand in the last row, missed gold spans in the last column, which are called as in `absent`.
    """
    from nereval_core.records.queries import ABSENT, Query
    from nereval_core.scoring.count_tables import free_name

    sides = (*types, ABSENT)
    rows, across = ((*types, free_name(name, types)) for name in absent)
    type_of_row = dict(zip(rows, sides, strict=True))
    first = Column(free_name("gold_type", across), "gold type", "name")

    def column(name: str, pred: str) -> Column:
        def target(row: Row) -> RecordsOf:
            query = Query(gold=(type_of_row[str(row[first.key])],), pred=(pred,))
            return RecordsOf(query, f"gold {row[first.key]}, predicted {name}", criterion)

        return Column(name, name_text(name), "count", opens=target)

    columns = (first, *(column(name, pred) for name, pred in zip(across, sides, strict=True)))
    counts: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(cells.get((gold, pred), 0) for pred in sides)) for name, gold in type_of_row.items()
    )
    return Table(title, columns, counts, notes, name="confusion")


def confusion_cells(scores: Scores, name: str) -> dict[tuple[str, str], int]:
    """Return the counts of `confusion` by (gold, predicted) type, ABSENT ("") for no span on that side."""
    from nereval_core.records.queries import ABSENT
    from nereval_core.records.tables import MISSED, SPURIOUS, confusion
    from nereval_core.scoring.count_tables import free_name

    types = {kind for layer in scores.layers(name) for kind in layer.types}
    spurious, missed = (free_name(word, types) for word in (SPURIOUS, MISSED))
    return {
        (ABSENT if gold == spurious else gold, ABSENT if pred == missed else pred): count
        for gold, pred, count in confusion(scores, name).itertuples(index=False, name=None)
    }


class GridValues(NamedTuple):
    """The numbers of `confusion_grid`: integers, the same as floats without zeros (NaN), and as texts ("" for 0)."""

    counts: pd.DataFrame
    values: pd.DataFrame
    texts: pd.DataFrame


def grid_values(table: Table) -> GridValues:
    """Return the numbers of a `confusion_grid`, indexed by gold type, as figures take them."""
    from nereval_core.scoring.count_tables import TEXT_DTYPE

    counts = table.to_frame().set_index(table.keys[0]).astype("int64")
    zeros = counts == 0
    return GridValues(counts, counts.astype("float64").mask(zeros), counts.astype(TEXT_DTYPE).mask(zeros, ""))


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


_PLACE = (SYSTEM, CRITERION, Column("part"), Column("name"))
_SIGNATURE = Column("signature", kind="text")
_SIDED_ALONE = tuple(column for column in SIDED_COUNTS if column not in SHARED_COUNTS)
LONG = (*_PLACE, *SHARED_COUNTS, *RATIOS, *_SIDED_ALONE, _SIGNATURE)


def long_table(systems: SystemScores, *, by: Collection[str] = (), ratios: Sequence[Column] = RATIOS) -> Table:
    """Return all numbers as one table with the columns of LONG, for programs and spreadsheets.

    Ratios beyond RATIOS stand behind these.

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
            rows.append((*head, "all", None, *_long(whole, _is_shared(scores), ratios), *last))
            for part, members, macro in parts(scores, criterion.name, by):
                shared = part != "type" and _is_shared(scores)
                rows += [(*head, part, name, *_long(counts, shared, ratios), *last) for name, counts in members.items()]
                values = tuple(macro[ratio].value for ratio in RATIO_KEYS.values())
                ends = (None,) * len(SHARED_COUNTS), (None,) * (len(ratios) - len(RATIOS) + len(_SIDED_ALONE))
                rows.append((*head, f"macro over {part}s", None, *ends[0], *values, *ends[1], *last))
            if confused:
                numbers = (None,) * (len(SHARED_COUNTS) + len(ratios) + len(_SIDED_ALONE))
                cells = ranked_confusions(scores, criterion.name)
                rows += [(*head, "confusion", None, *numbers, *cell, last[-1]) for cell in cells]
    columns = (*_PLACE, *SHARED_COUNTS, *ratios, *_SIDED_ALONE, *(CONFUSION if confused else ()), _SIGNATURE)
    return Table("scores", columns, tuple(rows))


def _long(counts: Counts, shared: bool, ratios: Sequence[Column]) -> tuple[Cell, ...]:
    sides, both = _numbers(counts, False), _numbers(counts, True)
    # gold COR, INC, PAR and pred COR, INC, PAR: see SIDED_COUNTS.
    return (*(both[:3] if shared else (None,) * 3), *both[3:], *_ratios(counts, ratios), *sides[:3], *sides[4:7])
