"""The worst combinations of two slices: recall of each combination compared with that of all other gold spans.

The test is a score test that treats the spans of a resampling unit, such as a document, as dependent. Under the
hypothesis that recall in the combination is the same as elsewhere, each unit adds the sum of its spans' credit less the
overall recall, and the sum over units, divided by its standard deviation, is normal. P values are one-sided, for a
lower recall, and corrected by the methods of Holm, which is valid although combinations share spans, and of Benjamini
and Hochberg. Which combinations are tested depends on gold alone, not on decisions, so that those left out are not part
of the family.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from nereval_core.alignment.codes import Decision
from nereval_core.analysis.multiple_tests import tested_table
from nereval_core.analysis.resampling_units import ResamplingUnits
from nereval_core.analysis.slices.span_values import SlicedScores, SpanValues
from nereval_core.problems import counted

LEAST_SPANS, LEAST_DOCUMENTS = 20, 5
"""Combinations with fewer gold spans, or in fewer documents, are not tested."""
WORST_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("by", "slice", "and_by", "and_slice"), "str"),
    "POS": "int64",
    "documents": "int64",
    **dict.fromkeys(("recall", "difference", "p", "p_holm", "p_bh"), "float64"),
    "tests": "int64",
}
"""Columns of `worst_table`: two slicings, a slice of each, the gold spans in both, their recall, its difference to that
of all other spans, p before and after the corrections of Holm and of Benjamini and Hochberg over `tests` tests."""


def worst_table(
    given: SlicedScores, values: Mapping[str, SpanValues], units: ResamplingUnits | None = None
) -> pd.DataFrame:
    """Return the combinations of two slices with enough gold spans, most significant first: WORST_COLUMNS.

    `values` are slicings by name. Combinations of all gold spans, or of exactly those of one of their slices, are left
    out, and so are slices with the same gold spans as an earlier one. Spans of one of the `units` are dependent, by
    default those of one document.
    """
    gold = given.layers[0]
    decisions, weight = given.scores.decisions(given.criterion)[0], given.scores.weights(given.criterion)[0]
    credit = ((decisions == Decision.COR) + 0.5 * (decisions == Decision.PAR)) * weight
    doc = gold.doc if units is None else units.of_documents(gold.doc)
    repeated = _repeated_slices(values)
    rows: list[tuple[Any, ...]] = []
    for (one, first), (two, second) in combinations(values.items(), 2):
        if not len(gold):
            break
        width = len(second.names)
        both = (first.gold >= 0) & (second.gold >= 0)
        cell = np.where(both, first.gold.astype(np.int64) * width + second.gold, -1)
        found, tested = _test_cells(cell, doc, credit, weight)
        alone = (_slice_sizes(first.gold, weight), _slice_sizes(second.gold, weight))
        for number, row in zip(found.tolist(), tested, strict=True):
            a, b = divmod(number, width)
            if row[0] < min(alone[0][a], alone[1][b]) and not {(one, a), (two, b)} & repeated:
                rows.append((one, first.names[a], two, second.names[b], *row))
    table = tested_table((dict(zip(WORST_COLUMNS, row, strict=False)) for row in rows), WORST_COLUMNS)
    return table.sort_values(["p", "recall"], kind="stable", ignore_index=True)


def worst_family(table: pd.DataFrame) -> str:
    """Return the tests over which a table of WORST_COLUMNS is corrected: their number, and how they were chosen."""
    return (
        f"{counted(len(table), 'test')}: combinations of two slices with at least {LEAST_SPANS} gold spans in "
        f"{LEAST_DOCUMENTS} documents, which gold alone decides"
    )


def _repeated_slices(values: Mapping[str, SpanValues]) -> set[tuple[str, int]]:
    """Return the slices, by slicing and number, with the same gold spans as an earlier one."""
    known: set[bytes] = set()
    found = set()
    for name, one in values.items():
        for code in range(len(one.names)):
            spans = hashlib.sha256(np.packbits(one.gold == code).tobytes()).digest()
            if spans in known:
                found.add((name, code))
            known.add(spans)
    return found


def _slice_sizes(codes: NDArray[Any], weight: NDArray[Any]) -> NDArray[Any]:
    return np.bincount(codes[codes >= 0], weight[codes >= 0])


def _test_cells(
    cell: NDArray[np.int64], doc: NDArray[Any], credit: NDArray[Any], weight: NDArray[Any]
) -> tuple[NDArray[np.int64], list[tuple[int, int, float, float, float]]]:
    """Return the cells to test, and for each its spans, documents, recall, difference to all others, and p."""
    whole = float(weight.sum())
    rest = credit - weight * (credit.sum() / whole)
    documents = int(doc.max()) + 1
    by_document = np.bincount(doc, rest, documents)
    there = np.flatnonzero(cell >= 0)
    cells, place = np.unique(cell[there], return_inverse=True)
    size = len(cells)
    # Each document has spans in few cells: only the pairs of cell and document that occur are counted.
    pairs, pair = np.unique(place * documents + doc[there], return_inverse=True)
    of_cell, of_document = pairs // documents, pairs % documents
    sums = np.bincount(pair, rest[there], len(pairs))
    spans = np.bincount(place, weight[there], size)
    right = np.bincount(place, credit[there], size)
    share = spans / whole
    mixed = np.bincount(of_cell, sums * by_document[of_document], size)
    variance = np.bincount(of_cell, sums**2, size) - 2 * share * mixed + share**2 * (by_document**2).sum()
    number = np.bincount(of_cell, minlength=size)
    tested = (spans >= LEAST_SPANS) & (number >= LEAST_DOCUMENTS) & (spans < whole) & (variance > 0)
    chosen = np.flatnonzero(tested)
    recall = right[chosen] / spans[chosen]
    others = (credit.sum() - right[chosen]) / (whole - spans[chosen])
    score = np.bincount(place, rest[there], size)[chosen] / np.sqrt(variance[chosen])
    columns = (spans[chosen].astype(np.int64), number[chosen], recall, recall - others, ndtr(score))
    return cells[chosen], list(zip(*(column.tolist() for column in columns), strict=True))
