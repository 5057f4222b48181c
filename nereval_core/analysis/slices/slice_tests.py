"""Tests of slices: against the rest of their slicing, from system to system, and the worst combinations of two slices.

Differences are of F1, or of the one ratio that is defined where the spans of one side have no value. Errors are those
of the delete-one jackknife over units, in which spans inside and outside of a slice, and both systems, leave out the
same unit. The effective units are at most the units with spans on either side of the difference.

Combinations compare recall with that of all other gold spans by a score test that treats the spans of a resampling
unit, such as a document, as dependent. Under the hypothesis that recall in the combination is the same as elsewhere,
each unit adds the sum of its spans' credit less the overall recall, and the sum over units, divided by its standard
deviation, is normal. P values are one-sided, for a lower recall, and corrected by the methods of Holm, which is valid
although combinations share spans, and of Benjamini and Hochberg. Which combinations are tested depends on gold alone,
not on decisions, so that those left out are not part of the family.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from nereval_core.alignment.codes import Decision
from nereval_core.analysis.bootstrap import RATIOS, Bootstrap, DocumentCounts, leave_one_out, ratios
from nereval_core.analysis.intervals import RATIO_TOLERANCE, jackknife
from nereval_core.analysis.multiple_tests import tested_table
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.analysis.slices.scores_by_slice import SLICE_PLAN, SliceTally, slice_bootstrap
from nereval_core.analysis.slices.slicings import title_in_sentence
from nereval_core.analysis.slices.span_values import SlicedScores, SpanValues
from nereval_core.problems import counted
from nereval_core.report.displayed import Displayed
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns
from nereval_core.tables import p_value_text

_TESTED: Columns = {
    **dict.fromkeys(("by", "slice", "measure"), TEXT_DTYPE),
    **dict.fromkeys(("POS", "ACT", "units"), "int64"),
    **dict.fromkeys(("value", "reference", "difference", "low", "high", "p", "p_holm", "p_bh"), "float64"),
    "why": TEXT_DTYPE,
}
APART_COLUMNS = _TESTED
"""Columns of the tests against the rest and their dtypes.

`by` is the name of the slicing; `measure` is f1, or recall or precision where only one side has values; POS, ACT and
`units` are the spans of the slice and the units that have some. `reference` is the value of all other slices together,
`difference` the value of the slice less that. `p_holm` and `p_bh` are corrected over the family. `why` is the reason
for no test."""
CHANGE_COLUMNS: Columns = {**dict.fromkeys(("system", "baseline"), TEXT_DTYPE), **_TESTED}
"""The same of changes: POS, ACT, `units` and `value` are those of the system, `reference` is the baseline's value."""
SIGNIFICANT = 0.05
"""Slices differ where p after Holm's correction is at most this."""
_MEASURES = {(): "f1", ("pred",): "recall", ("gold",): "precision"}
"""The ratio that is tested, by the sides without values."""
_SPANS = {"f1": slice(2, 4), "recall": slice(2, 3), "precision": slice(3, 4)}
"""The PARTS that count the spans of a ratio."""
SHORT = {"precision": "P", "recall": "R", "f1": "F1"}
LEAST_SPANS, LEAST_DOCUMENTS = 20, 5
"""Combinations with fewer gold spans, or in fewer documents, are not tested."""
WORST_COLUMNS: Columns = {
    **dict.fromkeys(("by", "slice", "and_by", "and_slice"), TEXT_DTYPE),
    "POS": "int64",
    "documents": "int64",
    **dict.fromkeys(("recall", "difference", "p", "p_holm", "p_bh"), "float64"),
    "tests": "int64",
}
"""Columns of `worst_table`: two slicings, a slice of each, the gold spans in both, their recall, its difference to that
of all other spans, p before and after the corrections of Holm and of Benjamini and Hochberg over `tests` tests."""


@dataclass(frozen=True, eq=False, repr=False)
class SliceTests(Displayed):
    """A family of tests: a table with APART_COLUMNS or CHANGE_COLUMNS, and the family in words."""

    table: pd.DataFrame
    family: str

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table

    @property
    def significant(self) -> pd.DataFrame:
        """The rows whose p after Holm's correction is at most SIGNIFICANT, in the order of p."""
        return self.table[self.table["p_holm"] <= SIGNIFICANT].sort_values("p", kind="stable")


def apart_tests(
    tallies: Mapping[str, SliceTally], units: ResamplingUnits, plan: ResamplingPlan = SLICE_PLAN
) -> SliceTests:
    """Test each slice against all others of its slicing: APART_COLUMNS. `tallies` are by the name of the slicing.

    Spans without a value are on neither side. Of two slices only the first has a row, as the second makes the same
    test; a slice with all spans has none.
    """
    bootstrap = slice_bootstrap(plan, units)
    rows: list[dict[str, Any]] = []
    for by, tally in tallies.items():
        measure = _MEASURES.get(tally.sides_without_values)
        if measure is None:
            continue
        cells = units.sum_counts(tally.by_document[:-1])
        slices = np.flatnonzero(cells[:, _SPANS[measure]].any(axis=(1, 2)))
        tested = slices if len(slices) > 2 else slices[: len(slices) - 1]
        rest = cells.sum(axis=0, dtype=np.int32) - cells[tested]
        names = [{"by": by, "slice": tally.names[code]} for code in tested.tolist()]
        rows += _test_rows(names, cells[tested], rest, measure, bootstrap)
    return _family(rows, APART_COLUMNS, "the rest")


def change_tests(
    tallies: Mapping[str, Mapping[str, SliceTally]],
    baseline: str,
    units: ResamplingUnits,
    plan: ResamplingPlan = SLICE_PLAN,
) -> SliceTests:
    """Test within each slice the change from the baseline to every other system: CHANGE_COLUMNS.

    `tallies` are by system and by the name of the slicing; slicings and slices that only one of two systems has are
    left out.
    """
    bootstrap = slice_bootstrap(plan, units)
    rows: list[dict[str, Any]] = []
    for system, tallies_of_system in tallies.items():
        if system == baseline:
            continue
        for by, tally in tallies_of_system.items():
            if by not in tallies[baseline]:
                continue
            reference = tallies[baseline][by]
            measures = {_MEASURES.get(each.sides_without_values) for each in (tally, reference)} - {"f1"} or {"f1"}
            if len(measures) > 1 or (measure := measures.pop()) is None:
                continue
            code_of_name = {name: code for code, name in enumerate(reference.names)}
            names = [name for name in tally.names if name in code_of_name]
            codes = np.array([name in code_of_name for name in tally.names]), [code_of_name[name] for name in names]
            both = ((tally, codes[0]), (reference, np.array(codes[1], np.int64)))
            sides = [units.sum_counts(each.by_document[:-1])[rows] for each, rows in both]
            has_spans = np.any([side[:, _SPANS[measure]].any(axis=(1, 2)) for side in sides], axis=0)
            key = {"system": system, "baseline": baseline, "by": by}
            keys = [key | {"slice": name} for name, has in zip(names, has_spans.tolist(), strict=True) if has]
            rows += _test_rows(keys, sides[0][has_spans], sides[1][has_spans], measure, bootstrap, of_change=True)
    return _family(rows, CHANGE_COLUMNS, baseline)


def _test_rows(
    keys: Sequence[Mapping[str, str]],
    counts: DocumentCounts,
    other_counts: DocumentCounts,
    measure: str,
    bootstrap: Bootstrap,
    *,
    of_change: bool = False,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each test before corrections, from the counts on both sides by unit, shape (tests, 4, units)."""
    if not keys:
        return
    units, sides, ratio = bootstrap.units, (counts, other_counts), RATIOS.index(measure)
    n_units = [side[:, _SPANS[measure]].any(axis=1).sum(axis=-1) for side in sides]
    values = [ratios(side.sum(axis=-1, keepdims=True, dtype=np.int64))[:, ratio, 0] for side in sides]
    left_out = [ratios(leave_one_out(bootstrap.group_units(side)))[:, ratio] for side in sides]
    fewest = np.minimum(*n_units)
    differences = jackknife(values[0] - values[1], left_out[0] - left_out[1], units.strata, fewest)
    low, high = differences.interval(bootstrap.plan.level)
    p = differences.p_values()
    is_fixed = differences.error <= RATIO_TOLERANCE
    if not of_change:
        # A small slice all of whose spans are right seems certain, and so does such a rest.
        is_fixed |= np.any([np.ptp(side, axis=-1) <= RATIO_TOLERANCE for side in left_out], axis=0)
    totals = counts.sum(axis=-1, dtype=np.int64)
    for row, key in enumerate(keys):
        why = ""
        if np.isnan(differences.difference[row]):
            why = f"no {SHORT[measure]} on one side, for want of spans"
        elif fewest[row] < LEAST_DOCUMENTS:
            why = f"spans in {units.in_words(int(fewest[row]))} only on one side, a test takes {LEAST_DOCUMENTS}"
        elif is_fixed[row] and not (of_change and p[row] == 1):
            why = f"{SHORT[measure]} is the same on one side, whichever {units.singular} is left out"
        test = (np.nan,) * 3 if why else (low[row], high[row], p[row])
        yield {
            **key,
            "measure": measure,
            "POS": totals[row, 2],
            "ACT": totals[row, 3],
            "units": n_units[0][row],
            "value": values[0][row],
            "reference": values[1][row],
            "difference": differences.difference[row],
            **dict(zip(("low", "high", "p"), test, strict=True)),
            "why": why,
        }


def _family(rows: Sequence[Mapping[str, Any]], columns: Columns, against: str) -> SliceTests:
    table = tested_table(rows, columns)
    tested = table[table["p"].notna()]
    parts = [f"slices of {counted(tested['by'].nunique(), 'slicing')}"]
    if "system" in table:
        parts.insert(0, counted(tested["system"].nunique(), "system"))
    family = f"{counted(len(tested), 'test')}: {', '.join(parts)} against {against}"
    if untested := len(table) - len(tested):
        family += f"; {counted(untested, 'slice')} could not be tested"
    return SliceTests(table, family)


def difference_words(row: Mapping[Any, Any]) -> str:
    """Return a row of APART_COLUMNS or CHANGE_COLUMNS as words: the slice, its difference and p."""
    way = "higher" if row["difference"] > 0 else "lower"
    than = f"under {row['system']} than under {row['baseline']}" if "system" in row else "than the rest"
    return (
        f"{row['slice']} ({title_in_sentence(row['by'])}): {SHORT[row['measure']]} {abs(row['difference']):.3f} {way} "
        f"{than}, p = {p_value_text(row['p_holm'])} after Holm"
    )


def worst_table(
    sliced: SlicedScores, values: Mapping[str, SpanValues], units: ResamplingUnits | None = None
) -> pd.DataFrame:
    """Return the combinations of two slices with enough gold spans, most significant first: WORST_COLUMNS.

    `values` are slicings by name. Combinations of all gold spans, or of exactly those of one of their slices, are left
    out, and so are slices with the same gold spans as an earlier one. Spans of one of the `units` are dependent, by
    default those of one document.
    """
    gold = sliced.layers[0]
    decisions, weight = sliced.scores.decisions(sliced.criterion)[0], sliced.scores.weights(sliced.criterion)[0]
    credit = ((decisions == Decision.COR) + 0.5 * (decisions == Decision.PAR)) * weight
    doc = gold.doc if units is None else units.of_documents(gold.doc)
    repeated = _repeated_slices(values)
    rows: list[tuple[Any, ...]] = []
    for (by, first), (and_by, second) in combinations(values.items(), 2):
        if not len(gold):
            break
        width = len(second.names)
        both = (first.gold >= 0) & (second.gold >= 0)
        cell = np.where(both, first.gold.astype(np.int64) * width + second.gold, -1)
        tested_cells, cell_rows = _test_cells(cell, doc, credit, weight)
        alone = (_slice_sizes(first.gold, weight), _slice_sizes(second.gold, weight))
        for number, row in zip(tested_cells.tolist(), cell_rows, strict=True):
            a, b = divmod(number, width)
            if row[0] < min(alone[0][a], alone[1][b]) and not {(by, a), (and_by, b)} & repeated:
                rows.append((by, first.names[a], and_by, second.names[b], *row))
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
    digests: set[bytes] = set()
    repeated = set()
    for name, span_values in values.items():
        for code in range(len(span_values.names)):
            spans = hashlib.sha256(np.packbits(span_values.gold == code).tobytes()).digest()
            if spans in digests:
                repeated.add((name, code))
            digests.add(spans)
    return repeated


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
    in_cell = np.flatnonzero(cell >= 0)
    cells, place = np.unique(cell[in_cell], return_inverse=True)
    size = len(cells)
    # Each document has spans in few cells: only the pairs of cell and document that occur are counted.
    pairs, pair = np.unique(place * documents + doc[in_cell], return_inverse=True)
    of_cell, of_document = pairs // documents, pairs % documents
    sums = np.bincount(pair, rest[in_cell], len(pairs))
    spans = np.bincount(place, weight[in_cell], size)
    right = np.bincount(place, credit[in_cell], size)
    share = spans / whole
    mixed = np.bincount(of_cell, sums * by_document[of_document], size)
    variance = np.bincount(of_cell, sums**2, size) - 2 * share * mixed + share**2 * (by_document**2).sum()
    number = np.bincount(of_cell, minlength=size)
    tested = (spans >= LEAST_SPANS) & (number >= LEAST_DOCUMENTS) & (spans < whole) & (variance > 0)
    tested_cells = np.flatnonzero(tested)
    recall = right[tested_cells] / spans[tested_cells]
    others = (credit.sum() - right[tested_cells]) / (whole - spans[tested_cells])
    score = np.bincount(place, rest[in_cell], size)[tested_cells] / np.sqrt(variance[tested_cells])
    columns = (spans[tested_cells].astype(np.int64), number[tested_cells], recall, recall - others, ndtr(score))
    return cells[tested_cells], list(zip(*(column.tolist() for column in columns), strict=True))
