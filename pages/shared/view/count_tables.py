"""Tables of Overview and Confusion as they are shown, and the queries behind their cells. No Streamlit in here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from nereval_core.records.queries import ABSENT
from nereval_core.records.tables import by_type
from nereval_core.scoring import Counts
from nereval_core.scoring.averages import Average
from nereval_core.scoring.count_tables import count_table, free_name
from nereval_core.scoring.protocols import CountedScores
from nereval_core.tables.glossary import DECISIONS, GLOSSARY
from pages.shared.view.layer_words import GOLD_AND_PREDICTION, LayerWords
from pages.shared.view.queries import Query, Side, overall_query, side_query

RATIOS = {"P": "precision", "R": "recall", "F1": "f1"}
COUNTS = ("COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT")
SIDES: tuple[Side, Side] = ("gold", "pred")
_SIDED: Mapping[Side, tuple[str, ...]] = {
    "gold": ("COR", "INC", "PAR", "MIS", "POS"),
    "pred": ("COR", "INC", "PAR", "SPU", "ACT"),
}


def criteria_table(scores: CountedScores, names: Sequence[str]) -> pd.DataFrame:
    """Return a row for each criterion: `criterion`, P, R, F1 and the counts."""
    table = count_table("criterion", {name: scores.counts(name) for name in names})
    return table.rename(columns={long: short for short, long in RATIOS.items()})[["criterion", *RATIOS, *COUNTS]]


def types_table(scores: CountedScores, name: str) -> pd.DataFrame:
    """Return a row for each type: `type`, `support`, ratios, and counts as `gold COR` … and `predicted COR` …"""
    table = by_type(scores, name)
    columns = {"type": "type", "POS": "support"}
    columns |= {long: short for short, long in RATIOS.items()}
    columns |= {f"gold_{code}": f"gold {code}" for code in _SIDED["gold"][:-1]}
    columns |= {f"pred_{code}": f"predicted {code}" for code in _SIDED["pred"][:-1]} | {"ACT": "predicted ACT"}
    return table[list(columns)].rename(columns=columns)


def documents_table(counts: Mapping[str, Counts]) -> pd.DataFrame:
    """Return a row for each document: `document`, P, R, F1 and the counts."""
    table = count_table("document", counts).rename(columns={long: short for short, long in RATIOS.items()})
    return table[["document", *RATIOS, *COUNTS]]


def averages_table(
    counts: Counts, over_types: Mapping[str, Average], over_documents: Mapping[str, Average]
) -> pd.DataFrame:
    """Return micro, macro over types and macro over documents: P, R, F1, and over how many each mean is taken."""
    rows: list[dict[str, object]] = [
        {"average": "micro", "P": counts.precision, "R": counts.recall, "F1": counts.f1, "over": "all spans together"}
    ]
    for label, unit, means in (
        ("macro over types", "types", over_types),
        ("macro over documents", "documents", over_documents),
    ):
        ratios = {short: means[long].value for short, long in RATIOS.items()}
        rows.append({"average": label, **ratios, "over": _over(means, unit)})
    table = pd.DataFrame(rows, columns=["average", *RATIOS, "over"])
    return table.astype(dict.fromkeys(RATIOS, "float64"))


def _over(means: Mapping[str, Average], unit: str) -> str:
    parts = (f"{short} {means[long].n}" + _undefined(means[long].undefined) for short, long in RATIOS.items())
    return f"{unit}: " + ", ".join(parts)


def _undefined(number: int) -> str:
    return f" ({number} undefined)" if number else ""


def sided(column: str) -> tuple[Side | None, str]:
    """Return the side and the code of a column of `types_table`: `gold COR` -> gold, COR."""
    side, _, code = column.rpartition(" ")
    if column == "support":
        return "gold", "POS"
    return {"gold": "gold", "predicted": "pred"}.get(side), code  # type: ignore[return-value]


def criteria_cell(column: str) -> Query | None:
    return overall_query(column)


def types_cell(column: str, kind: str) -> Query | None:
    """Return the query behind a count of `types_table`, None where the column is a ratio."""
    side, code = sided(column)
    return None if side is None else side_query(side, code, kind)


@dataclass(frozen=True)
class Formula:
    """A ratio with its counts: `text` is the calculation, `counts` are (label, count, query) of its terms."""

    text: str
    counts: tuple[tuple[str, int, Query], ...]


def formula(ratio: str, counts: Counts, kind: str | None = None, words: LayerWords = GOLD_AND_PREDICTION) -> Formula:
    """Return the formula of a ratio from counts, of a type where `kind` names one.

    A type's precision counts its predictions and its recall its gold spans; its F1 is 2PR / (P + R) of the two.
    """
    value = {"P": counts.precision, "R": counts.recall, "F1": counts.f1}[ratio]
    result = number(value)
    gold = _terms("gold", counts.gold, counts.pos, kind, words)
    pred = _terms("pred", counts.pred, counts.act, kind, words)
    if ratio == "P" or ratio == "R":
        used = pred if ratio == "P" else gold
        cor, par, whole = (count for _, count, _ in used)
        terms = f"{GLOSSARY[ratio].formula} = ({cor} + 0.5 × {par}) / {whole}"
        return Formula(f"{ratio} = {terms} = {result}", used)
    if counts.cor is not None and counts.par is not None:
        terms = f"2 × ({counts.cor} + 0.5 × {counts.par}) / ({counts.pos} + {counts.act})"
        used = (*gold, pred[-1]) if kind is None else (*gold, *pred)
        return Formula(f"F1 = {GLOSSARY['F1'].formula} = {terms} = {result}", used)
    p, r = number(counts.precision), number(counts.recall)
    return Formula(f"F1 = 2 × P × R / (P + R) = 2 × {p} × {r} / ({p} + {r}) = {result}", (*gold, *pred))


def side_counts(side: Side, counts: Counts, words: LayerWords) -> tuple[tuple[str, int, Query], ...]:
    """Return (label, count, query) of one side's spans and of each of their decisions."""
    row = counts.gold if side == "gold" else counts.pred
    whole = counts.pos if side == "gold" else counts.act
    values = dict(zip(DECISIONS, row, strict=True)) | {"POS": whole, "ACT": whole}
    codes = (*_SIDED[side][-1:], *_SIDED[side][:-1])
    queries = {code: query for code in codes if (query := side_query(side, code)) is not None}
    return tuple((words.label(code), values[code], query) for code, query in queries.items())


def _terms(
    side: Side, row: Sequence[int], whole: int, kind: str | None, words: LayerWords
) -> tuple[tuple[str, int, Query], ...]:
    prefix = "" if kind is None else ("gold " if side == "gold" else "predicted ")
    if words.annotators and kind is not None:
        prefix = f"{words.side(side)}: "
    terms = []
    for code, value in (("COR", row[0]), ("PAR", row[2]), ("POS" if side == "gold" else "ACT", whole)):
        query = side_query(side, code, kind)
        assert query is not None, "COR, PAR, POS and ACT are counts"
        terms.append((f"{prefix}{words.label(code)}", value, query))
    return tuple(terms)


def number(value: float | None) -> str:
    """Return a ratio as shown: three places, an en dash where it is undefined."""
    return "–" if value is None or np.isnan(value) else f"{value:.3f}"


def mean_formula(ratio: str, counts_of_members: Iterable[Counts], average: Average, unit: str) -> str:
    """Return the formula of a macro average from its members' ratios; of long sums `some` first members will do."""
    if average.value is None:
        return f"{ratio} is undefined for every one of the {average.undefined} {unit}"
    values = [value for counts in counts_of_members if (value := getattr(counts, RATIOS[ratio])) is not None][
        :_TERMS_SHOWN
    ]
    terms = " + ".join(map(number, values)) + (" + …" if len(values) < average.n else "")
    return f"{ratio} = ({terms}) / {average.n} {unit} = {number(average.value)}" + _undefined(average.undefined)


_TERMS_SHOWN = 12


def reconciles(
    counts: Counts, gold: int, predicted: int, words: LayerWords = GOLD_AND_PREDICTION
) -> tuple[tuple[bool, str], tuple[bool, str]]:
    """Tell of each side whether its decisions add up to the spans of its layer, and say it as a sum."""
    rows: dict[Side, tuple[int, ...]] = {"gold": counts.gold[:4], "pred": (*counts.pred[:3], counts.spu)}
    sums = {
        side: " + ".join(
            f"{words.name(code) if words.annotators else code} {value:,}"
            for code, value in zip(_SIDED[side], row, strict=False)
        )
        for side, row in rows.items()
    }
    return (
        (counts.pos == gold, f"{words.reference} {gold:,} = {sums['gold']}"),
        (counts.act == predicted, f"{words.other}{'' if words.annotators else 's'} {predicted:,} = {sums['pred']}"),
    )


@dataclass(frozen=True, eq=False)
class Confusion:
    """The confusion table laid out: `counts` and the `values` of cells (NaN: blank), with names to read.

    `rows` and `columns` are types, ABSENT for the spurious row and the missed column, which stand last.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: pd.DataFrame
    values: pd.DataFrame

    def share(self, row: int, column: int, share: str) -> str:
        """Return the calculation of a share shown in a cell, empty where counts are shown."""
        value = int(self.counts.to_numpy()[row, column])
        if not share:
            return ""
        in_row = share == "row"
        whole = int(self.counts.iloc[row].sum() if in_row else self.counts.iloc[:, column].sum())
        name = self.counts.index[row] if in_row else self.counts.columns[column]
        return f"{value} of {whole} in {share} {name} = {value / whole:.1%}"


def confusion_table(
    cells: Mapping[tuple[str, str], int],
    types: Sequence[str],
    layout: Sequence[str],
    words: LayerWords = GOLD_AND_PREDICTION,
    *,
    share: str = "",
) -> Confusion:
    """Lay out counts by (gold, predicted) type: `types` in order, or those most confused first.

    `layout` holds words of `pages.shared.view.LAYOUTS`. With `share`, "row" or "column", cells show shares of the whole
    row or column, the diagonal included even where it is hidden.
    """
    order = list(types)
    if "by-confusion" in layout:
        off = {kind: sum(n for pair, n in cells.items() if kind in pair and pair[0] != pair[1]) for kind in types}
        order.sort(key=lambda kind: (-off[kind], kind))
    rows = columns = (*order, ABSENT)
    table = np.array([[cells.get((gold, pred), 0) for pred in columns] for gold in rows], np.int64)
    across = headings(order)
    counts = pd.DataFrame(
        table,
        index=[*order, free_name(words.label("SPU"), order)],
        columns=[*across, free_name(words.label("MIS"), across)],
    )
    values = counts.astype("float64")
    if share == "row":
        values = values.div(counts.sum(axis=1).replace(0, np.nan), axis=0) * 100
    elif share == "column":
        values = values.div(counts.sum(axis=0).replace(0, np.nan), axis=1) * 100
    values = values.mask(counts == 0)
    if "off-diagonal" in layout:
        values = values.mask(np.eye(len(rows), dtype=bool))
    return Confusion(rows, columns, counts, values)


def headings(names: Sequence[str]) -> list[str]:
    """Return a column heading for each name of the data, in parentheses where Streamlit means something else by it."""
    return [free_name(name, [*names, name]) if _STREAMLIT.match(name) else name for name in names]


_STREAMLIT = re.compile(r"_index$|_pos:")
