"""Scores as papers print them: a row a type, columns of all systems side by side, micro and macro averages below."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nereval_core.report import PAPER_COLUMNS
from nereval_core.report.score_tables import UNTESTED, best_places, confusion_table, parts, score_tables
from nereval_core.report.signature import signature, together
from nereval_core.scoring import Counts
from nereval_core.scoring.averages import Average
from nereval_core.scoring.protocols import SystemScores
from nereval_core.tables import RATIO_KEYS, RATIOS, Cell, Column, Table, columns_by_name

SUPPORT = "support"
"""The column that all systems share: gold spans, under criteria of tokens gold's tokens."""
BEST = f"bold: the highest value of the systems as printed, {UNTESTED}"
DEFAULT_COLUMNS = PAPER_COLUMNS[:4]
Values = Mapping[str, Cell]
"""The values of a row by PAPER_COLUMNS."""


@dataclass(frozen=True, slots=True)
class TableStyle:
    """Columns of LaTeX and Markdown tables (some of PAPER_COLUMNS, () where none were named), and form of ratios.

    `digits` are decimal places, by default 4, in percent 2.
    """

    columns: tuple[str, ...] = ()
    digits: int | None = None
    percent: bool = False

    def number(self, value: Cell) -> Cell:
        """Return a ratio as text; other values stay as they are."""
        if not isinstance(value, float):
            return value
        digits = self.digits if self.digits is not None else 2 if self.percent else 4
        return f"{value:.{digits}%}".removesuffix("%") if self.percent else f"{value:.{digits}f}"

    @property
    def notes(self) -> tuple[str, ...]:
        return ("P, R and F1 in percent",) if self.percent else ()


def styled_tables(
    form: str, systems: SystemScores, by: Collection[str], style: TableStyle, ratios: Sequence[Column] = RATIOS
) -> Iterator[Table]:
    """Yield the tables of scores in the form "latex" or "markdown".

    They are those of `paper_tables` where columns are named, and in LaTeX where scores are broken down by type or
    document; otherwise those of `score_tables`, with some `ratios`.
    """
    broken_down = not {"type", "document"}.isdisjoint(by)
    if style.columns or (form == "latex" and broken_down):
        yield from paper_tables(systems, by, style)
        return
    for table in score_tables(systems, by=by, ratios=ratios):
        rows = tuple(tuple(map(style.number, row)) for row in table.rows)
        yield replace(table, rows=rows, notes=(*style.notes, *table.notes))


def paper_tables(systems: SystemScores, by: Collection[str], style: TableStyle) -> Iterator[Table]:
    """Yield a table for each criterion and each of "type" and "document" in `by`; without either, one of all criteria.

    Confusions follow, if they are in `by`.
    """
    names = [criterion.name for criterion in systems[0][1].criteria]
    labels = [layer.name for layer, _ in systems]
    signatures = {name: tuple(signature(scores, name) for _, scores in systems) for name in names}
    if {"type", "document"}.isdisjoint(by):
        overall = [{name: scores.counts(name) for name in names} for _, scores in systems]
        signed = together(line for name in names for line in signatures[name])
        yield _sheet("scores", "criterion", labels, overall, [], signed, style)
    for name in names:
        whole: list[Values] = [_values(scores.counts(name)) for _, scores in systems]
        for broken_down in zip(*(parts(scores, name, by) for _, scores in systems), strict=True):
            part = broken_down[0][0]
            macro: list[Values] = [
                {
                    **values,
                    **{ratio: average.value for ratio, average in zip(RATIO_KEYS, averages.values(), strict=True)},
                }
                for values, (_, _, averages) in zip(whole, broken_down, strict=True)
            ]
            notes = (*_undefined(labels, [averages for _, _, averages in broken_down]), *signatures[name])
            rows = [members for _, members, _ in broken_down]
            below = [("micro average", whole), ("macro average", macro)]
            yield _sheet(f"{name} by {part}", part, labels, rows, below, notes, style)
        if "confusion" in by:
            yield from (confusion_table(layer.name, scores, name) for layer, scores in systems)


def _sheet(
    title: str,
    heading: str,
    systems: Sequence[str],
    members: Sequence[Mapping[str, Counts]],
    averages: Sequence[tuple[str, Sequence[Values]]],
    notes: tuple[str, ...],
    style: TableStyle,
) -> Table:
    """Return a table with a row a member and the `averages` below; each holds the counts or values of all systems.

    Several systems share the column SUPPORT, which stands first or last.
    """
    columns = style.columns or DEFAULT_COLUMNS
    several = len(systems) > 1
    own = tuple(column for column in columns if not several or column != SUPPORT)
    first = (SUPPORT,) if several and columns[0] == SUPPORT else ()
    last = (SUPPORT,) if several and SUPPORT in columns[1:] else ()
    names = dict.fromkeys(name for rows in members for name in rows)
    lines = [
        *((name, [_values(rows.get(name, Counts())) for rows in members]) for name in _ordered(names, heading)),
        *averages,
    ]
    rows = [
        (
            name,
            *(values[0][column] for column in first),
            *(style.number(of_system[column]) for of_system in values for column in own),
            *(values[0][column] for column in last),
        )
        for name, values in lines
    ]
    places = [
        [1 + len(first) + number * len(own) + at for number in range(len(systems))]
        for at, column in enumerate(own)
        if several and column in RATIO_KEYS
    ]
    strong = frozenset(
        (number, compared[best])
        for number, row in enumerate(rows)
        for compared in places
        for best in best_places([row[at] for at in compared])
    )
    return Table(
        title if several else f"{systems[0]}: {title}",
        (
            Column(heading, kind="name"),
            *columns_by_name(first, "count"),
            *columns_by_name(
                (f"{system} {column}" if several else column for system in systems for column in own), "value"
            ),
            *columns_by_name(last, "count"),
        ),
        tuple(rows),
        (*style.notes, *notes),
        strong,
        (BEST,) if strong else (),
        groups=(("", 1 + len(first)), *((system, len(own)) for system in systems)) if several and own else (),
        averages=len(averages),
    )


def _ordered(names: Iterable[str], heading: str) -> Iterable[str]:
    """Return types sorted, as the tables of one system have them, and other names as they are."""
    return sorted(names) if heading == "type" else names


def _values(counts: Counts) -> Values:
    ratios = (counts.precision, counts.recall, counts.f1)
    return dict(zip(PAPER_COLUMNS, (*ratios, counts.pos, counts.act, counts.mis, counts.spu, counts.ser), strict=True))


def _undefined(systems: Sequence[str], averages: Sequence[Mapping[str, Average]]) -> Iterator[str]:
    """Yield a note for each system on the ratios that its macro averages leave out."""
    for system, by_ratio in zip(systems, averages, strict=True):
        left_out = [
            f"{average.undefined} of {ratio}"
            for ratio, average in zip(RATIO_KEYS, by_ratio.values(), strict=True)
            if average.undefined
        ]
        if left_out:
            yield f"{system}: macro average: undefined and left out: {', '.join(left_out)}"
