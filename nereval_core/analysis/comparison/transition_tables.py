"""What becomes of spans from a baseline to other systems, as tables: a matrix a side, and who gets what right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from nereval_core.analysis.comparison.transitions import GOLD_STATES, PRED_STATES, comparable, right_table, transitions
from nereval_core.analysis.sentences import in_words, transition_sentence
from nereval_core.arrays import Int64
from nereval_core.report.score_tables import Cell, Sheet
from nereval_core.scoring import Scores

Rows = tuple[tuple[Cell, ...], ...]

STATES: Mapping[str, tuple[str, ...]] = {"gold": GOLD_STATES, "pred": PRED_STATES}
TITLES: Mapping[str, str] = {"gold": "Gold spans", "pred": "Predictions"}
ALL = "all"
FROM = "from \\ to"


def matrix(counts: Int64, states: Sequence[str]) -> pd.DataFrame:
    """Return a matrix with its margins: a row and a column a state (int64), `all` last; the column FROM names rows."""
    table = pd.DataFrame(counts, columns=list(states))
    table[ALL] = table.sum(axis=1)
    table.loc[len(table)] = table.sum(axis=0)
    table.insert(0, FROM, [*states, ALL])
    return table


def transition_sheets(systems: Mapping[str, Scores], names: Iterable[str], baseline: str) -> Iterator[Sheet]:
    """Yield for each criterion that counts spans two matrices to each other system, and by how many gold is right."""
    for name in _comparable(systems, names, baseline):
        for other, scores in systems.items():
            if other == baseline:
                continue
            moved = transitions(systems[baseline], scores, name)
            said = in_words(transition_sentence(moved, baseline, other))
            for side, states in STATES.items():
                table = matrix(getattr(moved, side), states)
                rows: Rows = tuple(
                    (str(row[0]), *map(int, row[1:])) for row in table.itertuples(index=False, name=None)
                )
                title = f"{TITLES[side]} under {name}: {baseline} down, {other} across"
                yield Sheet(title, tuple(table.columns), rows, (said,) if side == "gold" and said else ())
        right = right_table(list(systems.values()), name)
        found: Rows = tuple((str(label), int(count)) for label, count in right.itertuples(index=False, name=None))
        yield Sheet(f"Gold spans by how many of {len(systems)} systems get them right under {name}", RIGHT, found)


RIGHT = ("right by", "gold spans")


def transition_records(
    systems: Mapping[str, Scores], names: Iterable[str], baseline: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the cells that are not empty, with criterion and systems, and the gold spans by how many are right."""
    cells: list[dict[str, Any]] = []
    right: list[dict[str, Any]] = []
    for name in _comparable(systems, names, baseline):
        for other, scores in systems.items():
            if other == baseline:
                continue
            head = {"criterion": name, "baseline": baseline, "system": other}
            for side, one, then, count in transitions(systems[baseline], scores, name).frame().itertuples(index=False):
                cells.append({**head, "side": side, "from": one, "to": then, "count": count})
        for label, count in right_table(list(systems.values()), name).itertuples(index=False, name=None):
            right.append({"criterion": name, "right_by": label, "gold_spans": count})
    return cells, right


def _comparable(systems: Mapping[str, Scores], names: Iterable[str], baseline: str) -> list[str]:
    return [name for name in names if all(comparable(systems[baseline], other, name) for other in systems.values())]


__all__: Sequence[str] = ("ALL", "FROM", "STATES", "TITLES", "matrix", "transition_records", "transition_sheets")
