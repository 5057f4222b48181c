"""Scores of one system as the library returns them: they show themselves, a report by type and a confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nereval_core.problems import FormatError, counted, quoted
from nereval_core.records.queries import ABSENT
from nereval_core.report.displayed import Displayed
from nereval_core.report.notebook import in_notebook, table_html
from nereval_core.report.score_tables import confusion_cells, confusion_grid, criterion_table, grid_values
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import not_scored
from nereval_core.tables import TYPE, Cell, Column, Table
from nereval_core.tables.terminal import as_screen

if TYPE_CHECKING:
    import pandas as pd

    from nereval_core.report.figures.files import Figure

REPORT_COLUMNS = (
    TYPE,
    Column("precision", "precision", "ratio", "P"),
    Column("recall", "recall", "ratio", "R"),
    Column("f1", "f1-score", "ratio", "F1"),
    Column("support", "support", "count", "POS"),
)
AVERAGES = ("micro avg", "macro avg", "weighted avg")
_SHADE = "rgba(0,114,178,{:.2f})"
_DARKEST = 0.6


@dataclass(frozen=True, eq=False, repr=False)
class ScoredSystem(Scores, Displayed):
    """The scores of one system that show themselves: everything else is of `Scores`."""

    @classmethod
    def of(cls, scores: Scores) -> ScoredSystem:
        return cls(**{field.name: getattr(scores, field.name) for field in fields(Scores)})

    def displayed_table(self) -> Table:
        """Return the scores under each criterion, with their signatures as notes."""
        gold, pred = self.read
        names = [criterion.name for criterion in self.criteria]
        spans = f"{counted(len(gold), 'gold span')}, {counted(len(pred), 'prediction')}"
        title = f"{pred.name} against {gold.name}: {counted(self.documents, self.unit)}, {spans}"
        return criterion_table(title, {pred.name: self}, names, tuple(signature(self, name) for name in names))

    def report(self, criterion: str | None = None, *, zero_division: float | None = 0.0) -> ClassificationReport:
        """Return precision, recall, F1 and support of each type and their averages, as seqeval and scikit-learn do.

        `criterion` is the first one by default. Where nothing was predicted or nothing is gold, a ratio is
        `zero_division`, as in seqeval; with None it is undefined, and left out of the averages over types.

        Raises:
            FormatError: these scores have no such criterion.
        """
        return ClassificationReport(self, self._criterion_name(criterion), zero_division)

    def confusion(self, criterion: str | None = None) -> ConfusionMatrix:
        """Return how often each gold type met each predicted type; `criterion` is the first one by default.

        Raises:
            FormatError: these scores have no such criterion.
        """
        return ConfusionMatrix(self, self._criterion_name(criterion))

    def _criterion_name(self, name: str | None) -> str:
        names = [criterion.name for criterion in self.criteria]
        if name is not None and name not in names:
            raise not_scored(name, names)
        return names[0] if name is None else name


@dataclass(frozen=True, eq=False, repr=False)
class ClassificationReport(Displayed):
    """Precision, recall, F1 and support of each type, with their micro, macro and weighted averages.

    Support is the number of gold spans. The micro average is that of all spans together, the macro average the mean
    over types, the weighted average that weighted by support.
    """

    scores: Scores
    criterion: str
    zero_division: float | None = 0.0

    @cached_property
    def table(self) -> Table:
        """The declared table: REPORT_COLUMNS, the averages in the last rows."""
        by_type = self.scores.by_type(self.criterion)
        whole = self.scores.counts(self.criterion)
        values = {name: (counts.precision, counts.recall, counts.f1) for name, counts in by_type.items()}
        support = [counts.pos for counts in by_type.values()]
        notes = []
        for at, column in enumerate(REPORT_COLUMNS[1:4]):
            undefined = [name for name, ratios in values.items() if ratios[at] is None]
            if undefined:
                rule = "left out of averages" if self.zero_division is None else f"counted as {self.zero_division:g}"
                notes.append(f"{column.label} undefined and {rule}: {', '.join(map(quoted, undefined))}")
        filled = [tuple(map(self._filled, ratios)) for ratios in values.values()]
        columns = list(zip(*filled, strict=True)) or [(), (), ()]
        averages = (
            tuple(map(self._filled, (whole.precision, whole.recall, whole.f1))),
            tuple(_mean(column, [1] * len(column)) for column in columns),
            tuple(_mean(column, support) for column in columns),
        )
        rows: list[tuple[Cell, ...]] = [
            (name, *ratios, n) for name, ratios, n in zip(values, filled, support, strict=True)
        ]
        rows += [(name, *ratios, whole.pos) for name, ratios in zip(AVERAGES, averages, strict=True)]
        notes.append(signature(self.scores, self.criterion))
        title = f"{self.scores.read[1].name} under {self.criterion}, by type"
        return Table(title, REPORT_COLUMNS, tuple(rows), tuple(notes), averages=len(AVERAGES), name="report")

    def _filled(self, ratio: float | None) -> float | None:
        return self.zero_division if ratio is None else ratio

    def displayed_table(self) -> Table:
        return self.table

    def to_frame(self) -> pd.DataFrame:
        """Return the rows by the keys of REPORT_COLUMNS; undefined ratios are NaN."""
        return self.table.to_frame().astype(dict.fromkeys(("precision", "recall", "f1"), "float64"))

    def to_dict(self) -> dict[str, dict[str, Cell]]:
        """Return the rows by name, as `classification_report(output_dict=True)` of scikit-learn has them."""
        keys = [column.label for column in REPORT_COLUMNS[1:]]
        return {str(name): dict(zip(keys, numbers, strict=True)) for name, *numbers in self.table.rows}

    def __repr__(self) -> str:
        """Return the whole report as text."""
        return as_screen([self.table]).rstrip("\n")


def _mean(values: tuple[float | None, ...], weights: list[int]) -> float | None:
    """Return the weighted mean of the values that are defined, None where these have no weight."""
    pairs = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    total = sum(weight for _, weight in pairs)
    return sum(value * weight for value, weight in pairs) / total if total else None


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionMatrix(Displayed):
    """How often each gold type (rows) met each predicted type (columns) under a criterion.

    Spurious predictions stand in the last row, missed gold spans in the last column. Pairs of equal type with other
    boundaries are on the diagonal.
    """

    scores: Scores
    criterion: str

    @cached_property
    def cells(self) -> Mapping[tuple[str, str], int]:
        """The counts by (gold type, predicted type), zeros left out; ABSENT ("") for no span on that side."""
        return confusion_cells(self.scores, self.criterion)

    @cached_property
    def table(self) -> Table:
        """The declared table: gold types down, predicted types across, sorted by name."""
        types = sorted({name for pair in self.cells for name in pair} - {ABSENT})
        title = f"Gold types and what {self.scores.read[1].name} made of them, under {self.criterion}"
        return confusion_grid(title, self.cells, types, self.criterion, (signature(self.scores, self.criterion),))

    def displayed_table(self) -> Table:
        return self.table

    def to_frame(self) -> pd.DataFrame:
        """Return the counts as integers, indexed by gold type, with a column for each predicted type."""
        return grid_values(self.table).counts

    def _repr_html_(self) -> str:
        """Return the matrix with darker cells for larger shares of their row."""
        fills = {}
        for number, (_, *row) in enumerate(self.table.rows):
            total = sum(int(cell or 0) for cell in row)
            for at, cell in enumerate(row, start=1):
                if cell:
                    # The square root keeps small counts visible beside a large diagonal.
                    fills[number, at] = _SHADE.format(_DARKEST * (int(cell) / total) ** 0.5)
        return in_notebook(table_html(self.table, fills=fills))

    def plot(self) -> Figure:
        """Return the matrix as Plotly's figure, which a notebook shows.

        Raises:
            FormatError: Plotly is not installed.
        """
        try:
            from nereval_core.report.figures.parts import on_paper
            from nereval_core.report.figures.scores import confusion_map
        except ModuleNotFoundError as error:
            raise FormatError.single("plot", None, "Plotly is not installed", "pip install plotly") from error
        grid = grid_values(self.table)
        places: list[list[Any]] = [[() for _ in row] for row in grid.counts.to_numpy()]
        total = int(grid.counts.to_numpy().sum())
        title = self.table.title
        return on_paper(confusion_map(grid.values, grid.texts, places, title, "counts of match records", total))
