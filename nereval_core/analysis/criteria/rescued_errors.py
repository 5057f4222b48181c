"""What could be recovered: gold spans that a strict criterion misses, by the first looser one that credits them.

The fourth experiment of Tsai et al. 2006 (BMC Bioinformatics 7:92) asks how many false negatives are near misses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.criteria.gap import check
from nereval_core.analysis.pairs import overlapping
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision

CHAIN = ("strict", "left", "right", "either", "approximate", "type", "exact", "lenient")
"""From strict to lenient: none of these credits fewer spans in all than one before it that is stricter."""
OVERLAPPED, WHOLLY = "overlapped only", "wholly missed"
"""What no criterion credits: spans whose overlapping predictions are aligned with others, and spans with none."""
RECOVERED_COLUMNS: Mapping[str, str] = MappingProxyType(
    {"recovered": "str", "spans": "int64", "share": "float64", "recall": "float64"}
)
"""Columns of `Recovered.table` and their dtypes. `share` is of the false negatives; `recall` is the share of gold spans
that this criterion or an earlier one credits (NaN below the criteria, and without gold spans)."""


@dataclass(frozen=True, eq=False)
class Recovered:
    """By gold span the first criterion that credits it, as an index into `names`; -1 where the first of all does."""

    names: tuple[str, ...]
    codes: NDArray[np.int8]

    def table(self) -> pd.DataFrame:
        """Return one row a name, with RECOVERED_COLUMNS."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        missed, spans = int(counts.sum()), len(self.codes)
        credited = spans - missed + np.cumsum(counts)
        rows = []
        for number, name in enumerate(self.names):
            recall = credited[number] / spans if spans and number < len(self.names) - 2 else float("nan")
            share = counts[number] / missed if missed else float("nan")
            rows.append((name, int(counts[number]), share, recall))
        return pd.DataFrame(rows, columns=list(RECOVERED_COLUMNS)).astype(dict(RECOVERED_COLUMNS))


def recovered(scores: Scores, chain: Sequence[str] = CHAIN) -> Recovered:
    """Split the gold spans that the first criterion of a chain does not find correct; names are the others of it.

    Raises:
        FormatError: a criterion that is not scored, counts tokens, or merges or leaves out other types.
    """
    check(scores, *chain)
    gold, pred = scores.layers(chain[0])
    names = (*chain[1:], OVERLAPPED, WHOLLY)
    codes = np.full(len(gold), len(names) - 1, np.int8)
    codes[overlapping(gold, pred)[0].gold] = len(names) - 2
    for number in range(len(chain) - 1, 0, -1):
        codes[scores.decisions(chain[number])[0] == Decision.COR] = number - 1
    codes[scores.decisions(chain[0])[0] == Decision.COR] = -1
    return Recovered(names, codes)


__all__: Sequence[str] = ("CHAIN", "OVERLAPPED", "RECOVERED_COLUMNS", "WHOLLY", "Recovered", "recovered")
