"""Declared tables: what an analysis computes, with the meaning of each column, for every medium that shows it.

The kind of a column decides how its numbers look in the terminal, in documents and on pages. Programs read the same
columns by their keys: CSV, Parquet and JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from nereval_core.problems import name_text, one_line

if TYPE_CHECKING:
    import pandas as pd

    from nereval_core.records.queries import Query
    from nereval_core.scoring import Counts

Cell = str | int | float | None
Row = Mapping[str, Cell]
"""The cells of a row by the keys of their columns."""
Kind = Literal[
    "name",
    "text",
    "before",
    "after",
    "decision",
    "count",
    "ratio",
    "share",
    "difference",
    "estimate",
    "p",
    "value",
]
"""What a column holds.

A name tells the row from others. Texts stand to the left as names do, and before and after a span that they surround;
numbers stand to the right. A decision is a code, which pages show in its colour. A ratio lies between 0 and 1, a share
is shown in percent, a difference with its sign. An estimate is a number with its interval as a text, p is a p value as
a text. A value is shown as its type has it: a float as a ratio.
"""
UNDEFINED = "–"
DAGGER = "†"
"""The sign after a value that differs significantly."""
RATIO_PLACES = 4
"""Decimal places of ratios and differences, except on pages."""


@dataclass(frozen=True, slots=True)
class RecordsOf:
    """The records that a count counts; `criterion` and `system` are those of the table where they are empty.

    Without a `title` they are called after the code `term` of the count and after the query.
    """

    query: Query
    title: str = ""
    criterion: str = ""
    system: str = ""
    term: str = ""


@dataclass(frozen=True, slots=True)
class FormulaOf:
    """A ratio (P, R, F1 or SER) with the counts that it is made of, which are computed when they are looked at.

    `within` is the document or period whose counts these are. Where these are counts of changed predictions or of a
    changed rule, which no records have, `now` are those as it is.
    """

    ratio: str
    counts: Callable[[], Counts]
    title: str = ""
    criterion: str = ""
    type: str | None = None
    system: str = ""
    within: Query | None = None
    now: Counts | None = None


Opens = Callable[[Row], RecordsOf | FormulaOf | None]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `key` for programs, `heading` for readers (by default the key with spaces), and what it means.

    `term` is its code in the glossary. `meaning` says what a column holds that the glossary does not have, without
    capital and full stop; printed tables say it below the rows. `opens` returns what stands behind a cell of a row.
    """

    key: str
    heading: str = ""
    kind: Kind = "value"
    term: str = ""
    meaning: str = ""
    opens: Opens | None = field(default=None, compare=False)

    @property
    def label(self) -> str:
        """The heading, in which characters that do not print are escapes: a name of the data may have them."""
        return one_line(self.heading or self.key.replace("_", " "))

    @property
    def is_left(self) -> bool:
        """Whether the cells stand to the left."""
        return self.kind in ("name", "text", "after", "decision")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text, integers and ratios (None where undefined); `notes` hold signatures and what is left out.

    `strong` are the cells (row, column) in bold, in formats that have it, which then say the `strong_notes` too.
    `groups` are headings over so many columns each, from the first on, where a format has them: there the columns below
    are named without the heading. The last `averages` rows are averages of those above. `name` names the table among
    those of its analysis: for links, widgets and files.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    strong: frozenset[tuple[int, int]] = frozenset()
    strong_notes: tuple[str, ...] = ()
    groups: tuple[tuple[str, int], ...] = ()
    averages: int = 0
    name: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(column.key for column in self.columns)

    @property
    def headings(self) -> tuple[str, ...]:
        return tuple(column.label for column in self.columns)

    @property
    def footnotes(self) -> tuple[str, ...]:
        """The lines below the rows: the meanings of columns, then the notes."""
        return (*self.meanings, *self.notes)

    @property
    def meanings(self) -> tuple[str, ...]:
        """The meanings of columns that the glossary does not have, a line each."""
        return tuple(dict.fromkeys(f"{column.label}: {column.meaning}" for column in self.columns if column.meaning))

    def selected(self, *keys: str) -> Table:
        """Return the table with these columns only, in their order; nothing in it is strong."""
        places = [self.keys.index(key) for key in keys]
        columns = tuple(self.columns[place] for place in places)
        rows = tuple(tuple(row[place] for place in places) for row in self.rows)
        return replace(self, columns=columns, rows=rows, strong=frozenset(), strong_notes=())

    def row(self, number: int) -> Row:
        return dict(zip(self.keys, self.rows[number], strict=True))

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a frame by the keys of the columns."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(self.keys))

    def objects(self) -> list[dict[str, Cell]]:
        """Return the rows by the keys of the columns, as JSON holds them."""
        return [dict(zip(self.keys, row, strict=True)) for row in self.rows]

    def texts(self, places: int = RATIO_PLACES) -> list[list[str]]:
        """Return the cells as texts, by row."""
        return [
            [cell_text(cell, column.kind, places) for cell, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]


RATIO_KEYS: Mapping[str, str] = MappingProxyType({"P": "precision", "R": "recall", "F1": "f1"})
"""Ratios as readers know them, and their keys in data."""
PRECISION, RECALL, F1 = RATIOS = tuple(Column(key, ratio, "ratio", ratio) for ratio, key in RATIO_KEYS.items())
SER = Column("ser", "SER", "ratio", "SER")
"""The slot error rate, which tables have on request."""
SYSTEM, CRITERION, TYPE = (Column(key, kind="name") for key in ("system", "criterion", "type"))
RECORDS = Column("records", kind="count")
SHARE = Column("share", kind="share")
DIFFERENCE = tuple(Column(key, kind="difference") for key in ("difference", "low", "high"))
"""A difference with its interval."""

SHARED_COUNTS = tuple(Column(code, code, "count", code) for code in ("COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT"))
"""Counts where gold spans and predictions share COR, INC and PAR."""
SIDED_COUNTS = (
    *(Column(f"gold_{code}", f"gold {code}", "count", code) for code in ("COR", "INC", "PAR")),
    Column("MIS", "MIS", "count", "MIS"),
    *(Column(f"pred_{code}", f"pred {code}", "count", code) for code in ("COR", "INC", "PAR")),
    *(Column(code, code, "count", code) for code in ("SPU", "POS", "ACT")),
)
"""Counts where gold spans and predictions have decisions of their own."""


def columns_by_name(names: Iterable[str], kind: Kind, term: str = "") -> tuple[Column, ...]:
    """Return a column for each name of the data, such as a type or a system, shown as `name_text` has it."""
    return tuple(Column(name, name_text(name), kind, term) for name in names)


def columns_of(*keys: str) -> tuple[Column, ...]:
    """Return columns that need no explanation: the first names the row."""
    return tuple(Column(key, key, "value" if number else "name") for number, key in enumerate(keys))


def frame_table(
    title: str,
    frame: pd.DataFrame,
    columns: Sequence[Column] | None = None,
    notes: tuple[str, ...] = (),
    *,
    strong: frozenset[tuple[int, int]] = frozenset(),
    strong_notes: tuple[str, ...] = (),
    name: str = "",
) -> Table:
    """Return the columns of a frame that are declared, in their order; by default all its columns, as `columns_of`."""
    if columns is None:
        return Table(title, columns_of(*map(str, frame.columns)), cells(frame), notes, strong, strong_notes, name=name)
    rows = cells(frame[[column.key for column in columns]])
    return Table(title, tuple(columns), rows, notes, strong, strong_notes, name=name)


def cells(frame: pd.DataFrame) -> tuple[tuple[Cell, ...], ...]:
    """Return the rows of a frame, as a `Table` holds them."""
    return tuple(tuple(map(cell, row)) for row in frame.itertuples(index=False, name=None))


def cell(value: Any) -> Cell:
    """Return a value of a frame as text, integer or ratio; None for an undefined one."""
    import pandas as pd

    if pd.isna(value):
        return None
    plain: Cell = value.item() if hasattr(value, "item") else value
    return plain


def objects(frame: pd.DataFrame) -> list[dict[str, Cell]]:
    """Return the rows of a frame by the names of its columns, as JSON holds them."""
    names = list(map(str, frame.columns))
    return [dict(zip(names, row, strict=True)) for row in cells(frame)]


def cell_text(value: Cell, kind: Kind = "value", places: int = RATIO_PLACES) -> str:
    """Return a cell as text; `places` are decimal places of ratios and differences."""
    if value is None:
        return UNDEFINED
    if isinstance(value, str):
        return readable_text(value, kind)
    if not isinstance(value, float):
        return str(value)
    if kind == "difference":
        return signed(value, places)
    if kind == "share":
        return f"{value:.1%}"
    if kind == "count":
        return f"{value:.0f}"
    return f"{value:.{places}f}"


def readable_text(text: str, kind: Kind) -> str:
    """Return a text of a cell as readers see it; texts of the corpus stay as they are."""
    if kind in ("text", "before", "after"):
        return text
    return name_text(text) if kind == "name" else one_line(text)


def value_with_interval(value: float, low: float, high: float, mark: str = "") -> str:
    """Return a value with its interval, if it has one, and a mark; such texts sort as their numbers do."""
    if value != value:
        return UNDEFINED
    interval = "" if low != low else f" [{low:.3f}, {high:.3f}]"
    return f"{value:.3f}{interval}{mark}"


def signed(value: float, places: int = 3) -> str:
    """Return a difference with its sign (a true minus), without a sign where it rounds to 0."""
    size = f"{abs(value):.{places}f}"
    return size if float(size) == 0 else ("+" if value > 0 else "−") + size


def p_value_sentence(p: float, resamples: int | None = None, uncorrected: float | None = None) -> str:
    """Return a p value, see `p_value_text`, as it stands in a sentence: `p = .18`, `p ≤ .0001`; NaN: `not tested`."""
    if p != p:
        return "not tested"
    text = p_value_text(p, resamples, uncorrected).replace("0.", ".", 1)
    return f"p {text}" if text.startswith("≤") else f"p = {text}"


def p_value_text(p: float, resamples: int | None = None, uncorrected: float | None = None) -> str:
    """Return a p value as shown; the least value that so many resamples can give is shown as an upper bound.

    A corrected p is such a bound too where it is made of the least value, that is where `uncorrected` is.
    """
    if p != p:
        return UNDEFINED
    least = 0 if resamples is None else 1 / (resamples + 1)
    is_bound = 0 < (p if uncorrected is None else uncorrected) <= least * (1 + 1e-9) and p < 1
    return f"{'≤ ' if is_bound else ''}{f'{p:.2g}' if p < 0.1 else f'{p:.2f}'}"
