"""Differences of systems over several corpora, as tables and JSON, from what `compare --json` wrote of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from nereval_core.analysis.comparison.replicability import DIRECTIONS, replicability_table
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.cli.files import read_json
from nereval_core.cli.output import Result
from nereval_core.problems import FormatError, Problem
from nereval_core.report.json_results import versions
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table
from nereval_core.tables import Column, Table, frame_table, objects

REMEDY = "give the file that `nereval compare GOLD A B --json FILE` wrote"
COLUMNS: Columns = {
    **dict.fromkeys(("criterion", "system", "baseline"), TEXT_DTYPE),
    **dict.fromkeys(("difference", "p"), "float64"),
}
"""Columns that are read of the differences, and their dtypes."""


def read_comparison(path: str) -> tuple[str, pd.DataFrame]:
    """Return the digest of gold and the differences of systems over all types, from a result of `compare --json`.

    The differences are of means over runs where systems have several.

    Raises:
        FormatError: no file, no JSON, or no such result.
    """
    found = read_json(path, REMEDY)
    try:
        rows = found["runs"]["differences"] if found.get("runs") else found["differences"]
        whole = [{name: row[name] for name in COLUMNS} for row in rows if row.get("type") is None]
        return str(found["gold"]["sha256"]), typed_table(whole, COLUMNS)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise FormatError.single(path, None, "no result of `nereval compare`", REMEDY) from None


def corpora_result(comparisons: Mapping[str, tuple[str, pd.DataFrame]]) -> Result:
    """Return the number of corpora that show each difference in every form.

    Raises:
        FormatError: a corpus twice, or what `replicability_table` refuses.
    """
    digests = {name: digest for name, (digest, _) in comparisons.items()}
    first = {digest: name for name, digest in reversed(digests.items())}
    if twice := {name: first[digest] for name, digest in digests.items() if first[digest] != name}:
        remedy = "give each corpus once: it would count as its own replication"
        raise FormatError(Problem(name, None, f"gold is that of {one}", remedy) for name, one in twice.items())
    level = ResamplingPlan().level
    table = replicability_table({name: one for name, (_, one) in comparisons.items()}, level)

    def json_object() -> dict[str, Any]:
        return {
            **versions(),
            "corpora": [{"name": name, "gold": digest} for name, digest in digests.items()],
            "level": level,
            "replicability": objects(table),
        }

    return Result(lambda: [_table(table, level)], lambda: frame_table("corpora", table), json_object, "corpora")


def _table(table: pd.DataFrame, level: float) -> Table:
    headings = ("criterion", "system", "direction", "seen in", "if dependent", "if independent", "these by Holm")
    keys = [name for name in table.columns if name not in ("baseline", "corpora")]
    columns = [
        Column(key, heading, "value" if number > 1 else "name")
        for number, (key, heading) in enumerate(zip(keys, headings, strict=True))
    ]
    baseline, corpora = table[["baseline", "corpora"]].iloc[0]
    notes = (
        f"seen in: the corpora in which F1 is {' or '.join(DIRECTIONS)}, whatever p",
        "if dependent, if independent: the number of corpora that show it (Bonferroni, Fisher; Dror et al. 2017), "
        f"each direction by one-sided tests at {(1 - level) / 2:.2g}",
    )
    return frame_table(f"F1 less that of {baseline} in {corpora} corpora", table, columns, notes)
