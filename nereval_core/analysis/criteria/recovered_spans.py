"""Recovered spans: gold spans that a strict criterion misses, by the first looser criterion that credits them.

The fourth experiment of Tsai et al. 2006 (BMC Bioinformatics 7:92) asks how many false negatives are near misses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.crosstab import check_comparable
from nereval_core.analysis.result_tables import typed_table
from nereval_core.analysis.sentences import RecordCount, Sentence, join_parts, number_with_noun, record_count
from nereval_core.analysis.span_relations import overlapping_pairs
from nereval_core.records.queries import Query
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision

CHAIN = ("strict", "left", "right", "either", "approximate", "type", "exact", "lenient")
"""Criteria from strict to lenient: none credits fewer spans in all than a stricter one before it."""
OVERLAPPED, WHOLLY = "overlapped only", "wholly missed"
"""Spans that no criterion credits: their overlapping predictions are aligned with others, or there are none."""
RECOVERED_COLUMNS: Mapping[str, str] = {"recovered": "str", "spans": "int64", "share": "float64", "recall": "float64"}
"""Columns of `RecoveredSpans.table` and their dtypes. `share` is of the false negatives; `recall` is the share of gold
spans that this criterion or an earlier one credits (NaN for OVERLAPPED and WHOLLY, and without gold spans)."""


@dataclass(frozen=True, eq=False)
class RecoveredSpans:
    """The first criterion to credit each gold span, as an index into `names`; -1 where the first of the chain does."""

    names: tuple[str, ...]
    codes: NDArray[np.int8]

    def table(self) -> pd.DataFrame:
        """Return a row for each of `names`: RECOVERED_COLUMNS."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        missed, spans = int(counts.sum()), len(self.codes)
        credited = spans - missed + np.cumsum(counts)
        rows = []
        for number, name in enumerate(self.names):
            recall = credited[number] / spans if spans and number < len(self.names) - 2 else float("nan")
            share = counts[number] / missed if missed else float("nan")
            rows.append((name, int(counts[number]), share, recall))
        return typed_table(rows, RECOVERED_COLUMNS)


def recover_spans(scores: Scores, chain: Sequence[str] = CHAIN) -> RecoveredSpans:
    """Find for each gold span that the first criterion of a chain does not credit the next criterion that does.

    Raises:
        FormatError: a criterion that is not scored, counts tokens, or merges or leaves out other types.
    """
    check_comparable(scores, *chain)
    gold, pred = scores.layers(chain[0])
    names = (*chain[1:], OVERLAPPED, WHOLLY)
    codes = np.full(len(gold), len(names) - 1, np.int8)
    codes[overlapping_pairs(gold, pred)[0].gold] = len(names) - 2
    for number in range(len(chain) - 1, 0, -1):
        codes[scores.decisions(chain[number])[0] == Decision.COR] = number - 1
    codes[scores.decisions(chain[0])[0] == Decision.COR] = -1
    return RecoveredSpans(names, codes)


def recovered_sentence(found: RecoveredSpans, first: str, argument: str = "") -> Sentence:
    """Return the sentence on the gold spans that the first criterion of a chain misses, and on those recovered.

    The records are those under that criterion; `argument` is the chain if it is not CHAIN.
    """
    counts = np.bincount(found.codes[found.codes >= 0], minlength=len(found.names))
    missed, spans = int(counts.sum()), len(found.codes)
    if not spans:
        return ()
    word = f"recovered {argument}".strip()
    parts: list[str | RecordCount] = [
        f"Of {number_with_noun('gold span', spans)} ",
        record_count(missed, Query(decision=("INC", "PAR", "MIS")), spans),
        f" are not found under {first}",
    ]
    near = counts[:-2]
    if near.any():
        name = found.names[int(near.argmax())]
        most = record_count(int(near.max()), Query(having=((word, name),)), missed)
        parts += ["; ", most, f" of these are first credited by {name}"]
    if missed:
        wholly = record_count(int(counts[-1]), Query(having=((word, WHOLLY),)), missed)
        parts += [", and " if near.any() else "; ", wholly, " no prediction overlaps"]
    return join_parts([*parts, "."])
