"""The confusion table laid out as a page shows it. No Streamlit in here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from nereval_core.corpus.arrays import Int64
from nereval_core.problems import name_text
from nereval_core.records.queries import ABSENT, Query
from nereval_core.review.layer_words import GOLD_AND_PREDICTION, LayerWords
from nereval_core.scoring.count_tables import free_name

SEPARATORS = "./:-"
"""Signs that may stand between the levels of a type's name, the first that fits the types."""
FEW = 12
"""Types up to which a table shows each: more are folded where their names have a common beginning."""
Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Confusion:
    """The confusion table laid out: `counts` and the `values` that cells show (NaN: blank), with names to read.

    `rows` and `columns` are types or names of folded ones, ABSENT for the spurious row and the missed column, which
    stand last. `mixed` has, for each folded name, how many records pair two different types of its own.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: pd.DataFrame
    values: pd.DataFrame
    mixed: Mapping[str, int]

    def share(self, row: int, column: int, share: str) -> str:
        """Return the calculation of a share in a cell, empty where cells have counts."""
        if not share or not (whole := self._wholes[share][row if share == "row" else column]):
            return ""
        value = self.counts.to_numpy()[row, column]
        name = name_text(str(self.counts.index[row] if share == "row" else self.counts.columns[column]))
        return f"{value} of {whole} in {share} {name} = {value / whole:.1%}"

    @cached_property
    def _wholes(self) -> Mapping[str, Int64]:
        counts = self.counts.to_numpy()
        return {"row": counts.sum(axis=1), "column": counts.sum(axis=0)}


@dataclass(frozen=True)
class TypeGroups:
    """Types with a common beginning, by that beginning, and which of these groups are folded into one row each."""

    members: Mapping[str, tuple[str, ...]]
    folded: frozenset[str] = frozenset()

    def row_name(self, name: str) -> str:
        """Return the name under which the table shows a type: its own, or that of its folded group."""
        return next((group for group in self.folded if name in self.members[group]), name)

    def types(self, name: str) -> tuple[str, ...]:
        """Return the types that a name stands for; a group that is unfolded has its name's type alone, if any."""
        members = self.members.get(name, ())
        return (name,) if not members or (name in members and name not in self.folded) else members

    def query(self, cell: Pair) -> Query:
        """Return the query behind a cell of the table."""
        gold, pred = map(self.types, cell)
        return Query(gold=gold, pred=pred)


def type_groups(types: Sequence[str], *, unfolded: Sequence[str] = (), fold: bool = True) -> TypeGroups:
    """Return the groups of types, `pers` for `pers.author` and `pers.ind`; those not named in `unfolded` are folded.

    Names have levels if one separator puts half of the types or more into groups of at least two. Few types stay
    apart, and with `fold` false all do.
    """
    for separator in SEPARATORS if len(types) > FEW else "":
        heads: dict[str, list[str]] = {}
        for name in types:
            heads.setdefault(name.partition(separator)[0] or name, []).append(name)
        groups = {head: tuple(names) for head, names in heads.items() if len(names) > 1}
        if sum(map(len, groups.values())) * 2 >= len(types):
            return TypeGroups(groups, frozenset(groups).difference(unfolded) if fold else frozenset())
    return TypeGroups({})


def confused_pairs(cells: Mapping[Pair, int], most: int | None = None) -> list[tuple[Pair, int]]:
    """Return the pairs of different types by (gold, predicted) type with their counts, the most frequent first."""
    pairs = [(pair, n) for pair, n in cells.items() if n and ABSENT not in pair and pair[0] != pair[1]]
    return sorted(pairs, key=lambda item: (-item[1], item[0]))[:most]


def confusion_table(
    cells: Mapping[Pair, int],
    types: Sequence[str],
    layout: Sequence[str],
    words: LayerWords = GOLD_AND_PREDICTION,
    *,
    share: str = "",
    groups: TypeGroups | None = None,
) -> Confusion:
    """Lay out counts by (gold, predicted) type: `types` in order, or those most confused first.

    `layout` holds words of `pages.shared.view.LAYOUTS`. With `share`, "row" or "column", cells show shares of the whole
    row or column, the diagonal included even where it is hidden. Types of a folded group have one row and one column.
    """
    groups = groups or TypeGroups({})
    name_of = {name: groups.row_name(name) for name in {ABSENT, *types, *(name for pair in cells for name in pair)}}
    sums, mixed = Counter[Pair](), Counter[str]()
    for (gold, pred), n in cells.items():
        pair = name_of[gold], name_of[pred]
        sums[pair] += n
        if gold != pred and pair[0] == pair[1]:
            mixed[pair[0]] += n
    order = list(dict.fromkeys(name_of[name] for name in types))
    if "by-confusion" in layout:
        off = Counter[str](mixed)
        for pair, n in sums.items():
            if pair[0] != pair[1]:
                off.update(dict.fromkeys(pair, n))
        order.sort(key=lambda name: (-off[name], name))
    rows = columns = (*order, ABSENT)
    table = np.array([[sums[gold, pred] for pred in columns] for gold in rows], np.int64)
    counts = pd.DataFrame(
        table,
        index=[*order, free_name(words.label("SPU"), order)],
        columns=[*order, free_name(words.label("MIS"), order)],
    )
    values = counts.astype("float64")
    if share == "row":
        values = values.div(counts.sum(axis=1).replace(0, np.nan), axis=0) * 100
    elif share == "column":
        values = values.div(counts.sum(axis=0).replace(0, np.nan), axis=1) * 100
    values = values.mask(counts == 0)
    if "off-diagonal" in layout:
        values = values.mask(np.eye(len(rows), dtype=bool))
    return Confusion(rows, columns, counts, values, mixed)
