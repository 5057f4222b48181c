"""The figures of the CLEF-HIPE scorer by label and schema, and the table and the JSON that it writes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.conventions.hipe.columns import NEL, HipeVersion
from nereval_core.conventions.hipe.matching import (
    MISSED,
    OTHER_TYPE,
    OVERLAP,
    OVERLAP_OTHER,
    SAME,
    SPURIOUS,
    MatchEvents,
)
from nereval_core.conventions.hipe.spans import Flags
from nereval_core.conventions.outcome import FigureRow, Outcome, figure_rows, harmonic_mean, precision_recall_f1
from nereval_core.conventions.records import COR, INC, MIS, OVERALL, PAR, SPU
from nereval_core.corpus.arrays import Int64

ALL = "ALL"
KINDS = 6
COUNTERS = ("correct", "incorrect", "partial", "missed", "spurious", "possible", "actual", "TP", "FP", "FN")
DECISION = {"correct": COR, "incorrect": INC, "partial": PAR, "missed": MIS, "spurious": SPU}
SCHEMAS: Mapping[str, Mapping[int, str]] = {
    "partial": {SAME: "correct", OTHER_TYPE: "correct", OVERLAP: "partial", OVERLAP_OTHER: "partial"},
    "strict": {SAME: "correct", OTHER_TYPE: "incorrect", OVERLAP: "incorrect", OVERLAP_OTHER: "incorrect"},
    "ent_type": {SAME: "correct", OTHER_TYPE: "incorrect", OVERLAP: "correct", OVERLAP_OTHER: "incorrect"},
    "exact": {SAME: "correct", OTHER_TYPE: "correct", OVERLAP: "incorrect", OVERLAP_OTHER: "incorrect"},
}
"""The count that a matched prediction adds to, by schema, in the scorer's order; "fuzzy" is its word for ent_type."""
DENSE = 1 << 22
"""Cells up to which the counts by label and document are a full table."""


class LabelFigures(NamedTuple):
    """A scope of the figures, ALL or a label, and its figures by schema."""

    label: str
    schemas: Mapping[str, Mapping[str, float | None]]


def decisions(schema: str) -> NDArray[np.int64]:
    """Return the decision of each kind under a schema."""
    count_of = {**SCHEMAS[schema], MISSED: "missed", SPURIOUS: "spurious"}
    return np.array([DECISION[count_of[kind]] for kind in range(KINDS)])


def contributions(schema: str, kind: Int64) -> dict[str, Int64]:
    """Return the contribution of each event to each counter of a schema."""
    decision = decisions(schema)[kind]
    return _with_totals({name: (decision == code).astype(np.int64) for name, code in DECISION.items()})


def _with_totals(counts: Mapping[str, Int64]) -> dict[str, Int64]:
    """Return COUNTERS from the counts of the five decisions."""
    met = counts["correct"] + counts["incorrect"] + counts["partial"]
    possible, actual = met + counts["missed"], met + counts["spurious"]
    return {
        **counts,
        "possible": possible,
        "actual": actual,
        "TP": counts["correct"],
        "FP": actual - counts["correct"],
        "FN": possible - counts["correct"],
    }


def rows_of(match: MatchEvents, names: Sequence[str], allowed: Flags) -> list[LabelFigures]:
    """Return the figures of every label with an event, in the order of their first events, and of ALL, last.

    Documents are those of the match; `names` are the labels by code.
    """
    documents = int(match.doc.max()) + 1 if len(match.doc) else 0
    overall = _table(match.doc, match.kind, documents)
    everywhere = np.flatnonzero(match.label < 0)
    label, doc, kind = match.label, match.doc, match.kind
    if len(everywhere):
        targets = np.flatnonzero(allowed)
        label = np.concatenate((label, np.tile(targets, len(everywhere))))
        doc = np.concatenate((doc, np.repeat(doc[everywhere], len(targets))))
        kind = np.concatenate((kind, np.repeat(kind[everywhere], len(targets))))
        label, doc, kind = (column[label >= 0] for column in (label, doc, kind))
    place, table = _by_label(label, doc, kind, documents, len(names))
    group = place // max(documents, 1)
    bounds = np.searchsorted(group, np.arange(len(names) + 1))
    codes = _in_order(label, doc, kind, len(names))
    parts = [(names[code], table[bounds[code] : bounds[code + 1]]) for code in codes]
    rows = [LabelFigures(name, {schema: _figures(part, schema) for schema in SCHEMAS}) for name, part in parts]
    whole: dict[str, Mapping[str, float | None]] = {}
    for schema in SCHEMAS:
        whole[schema] = {**_figures(overall, schema), **_over_types([row.schemas[schema] for row in rows])}
    return [*(row for row in rows if row.label != ALL), LabelFigures(ALL, whole)]


def _table(place: Int64, kind: Int64, size: int) -> Int64:
    return np.bincount(place * KINDS + kind, minlength=size * KINDS).reshape(-1, KINDS)


def _by_label(label: Int64, doc: Int64, kind: Int64, documents: int, labels: int) -> tuple[Int64, Int64]:
    """Return label times documents plus document, ascending, and the counts by kind of each such pair with events."""
    place = label * documents + doc
    if labels * documents * KINDS <= DENSE:
        table = _table(place, kind, labels * documents)
        rows = np.flatnonzero(table.any(axis=1))
        return rows, table[rows]
    rows, number = np.unique(place, return_inverse=True)
    return rows, _table(number.reshape(-1), kind, len(rows))


def _in_order(label: Int64, doc: Int64, kind: Int64, labels: int) -> list[int]:
    """Return the labels in the order in which the scorer meets them: by document, predictions before missed units.

    Events of both parts are in the order of the text; of equal indices the last one assigned stays.
    """
    ordered: list[tuple[int, int, int, int]] = []
    for part, events in enumerate((np.flatnonzero(kind != MISSED), np.flatnonzero(kind == MISSED))):
        first = np.full(labels, -1)
        first[label[events][::-1]] = events[::-1]
        ordered += [
            (int(doc[first[code]]), part, int(first[code]), code) for code in np.flatnonzero(first >= 0).tolist()
        ]
    return list(dict.fromkeys(code for *_, code in sorted(ordered)))


@dataclass(frozen=True, slots=True)
class _Ratios:
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]


def _counts(table: Int64, schema: str) -> dict[str, Int64]:
    kinds = {**SCHEMAS[schema], MISSED: "missed", SPURIOUS: "spurious"}
    return _with_totals(
        {name: table[:, [kind for kind, count in kinds.items() if count == name]].sum(axis=1) for name in DECISION}
    )


def _ratios(counts: Mapping[str, Int64]) -> _Ratios:
    """Return precision, recall and F1; 0 for a zero denominator."""
    credit = counts["correct"] + 0.5 * counts["partial"]
    precision = credit / np.maximum(counts["actual"], 1)
    recall = credit / np.maximum(counts["possible"], 1)
    total = precision + recall
    f1 = 2 * (precision * recall) / np.where(total > 0, total, 1)
    return _Ratios(precision, recall, f1)


def _figures(table: Int64, schema: str) -> dict[str, float | None]:
    """Return the figures of one label from its counts by document; a bare 0 stands for a zero denominator."""
    counts = _counts(table, schema)
    total = {name: int(value.sum()) for name, value in counts.items()}
    credit = total["correct"] + 0.5 * total["partial"]
    precision, recall, f1 = precision_recall_f1(credit, total["actual"], total["possible"], undefined=0)
    by_document = _ratios(counts)
    predicted, has_gold = counts["actual"] > 0, counts["possible"] > 0
    means = {
        "P": _mean(by_document.precision[predicted]),
        "R": _mean(by_document.recall[has_gold]),
        "F1": _mean(by_document.f1[predicted & has_gold]),
    }
    return {
        **total,
        "P_micro": precision,
        "R_micro": recall,
        "F1_micro": f1,
        **{f"{name}_macro_doc": mean for name, (mean, _) in means.items()},
        **{f"{name}_macro_doc_std": spread for name, (_, spread) in means.items()},
    }


def _mean(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Return mean and population standard deviation, None of no values."""
    if len(values) < 2:
        return (float(values[0]), 0.0) if len(values) else (None, None)
    return float(np.mean(values)), float(np.std(values))


def _over_types(types: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return means over labels; F1_macro is the mean of F1s."""
    size = len(types)
    precision, recall, f1 = (
        sum(row[name] for row in types) / size if size else 0 for name in ("P_micro", "R_micro", "F1_micro")
    )
    return {
        "P_macro": precision,
        "R_macro": recall,
        "F1_macro": f1,
        "F1_macro (recomputed from P & R)": harmonic_mean(precision, recall, undefined=0),
    }


def figure_rows_of(passes: Mapping[str, Sequence[LabelFigures]]) -> Iterator[FigureRow]:
    """Yield the figures of passes, by the name of their evaluations, as rows: ALL first."""
    for name, rows in passes.items():
        for schema in SCHEMAS:
            for row in (rows[-1], *rows[:-1]):
                scope = OVERALL if row is rows[-1] else row.label
                yield from figure_rows(f"{name}/{schema}", {scope: row.schemas[schema]}, COUNTERS)


def nested_figures(rows: Sequence[LabelFigures]) -> dict[str, Any]:
    """Return rows as the scorer nests them: label, schema, figure."""
    return {row.label: {schema: dict(figures) for schema, figures in row.schemas.items()} for row in rows}


FIELDS = ("System", "Evaluation", "Label", "P", "R", "F1", "F1_std", "P_std", "R_std", "TP", "FP", "FN")
AVERAGES = ("micro", "macro_doc")
SCHEMA = {"fuzzy": "ent_type", "strict": "strict"}


def system_name(source: str, *, skip_check: bool) -> str:
    """Return the scorer's name for a submission: that of its file in lower case, or unchecked the path as given."""
    return source if skip_check else PurePath(source.lower()).stem


def to_json(version: HipeVersion, outcome: Outcome) -> str:
    """Return all figures as the scorer writes them; with several n-best the first version keeps only the last."""
    scores = outcome.scores
    if not version.slices and _ranked(outcome):
        scores = scores[str(outcome.options["n_best"][-1])]
    if outcome.options["task"] == NEL and outcome.options.get("union"):
        scores = {column: labels[ALL] for column, labels in scores.items()}
    return json.dumps(scores, indent=4)


def to_tsv(version: HipeVersion, outcome: Outcome) -> str:
    """Return the table, floats rounded to three places."""
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, delimiter="\t")
    writer.writeheader()
    linking = outcome.options["task"] == NEL
    if not linking:
        writer.writerows(_rows(outcome.scores, version, outcome, None))
    elif _ranked(outcome):
        for rank, scores in outcome.scores.items():
            writer.writerows(_rows(scores, version, outcome, rank))
    elif not outcome.options.get("union"):
        writer.writerows(_rows(outcome.scores, version, outcome, str(outcome.options["n_best"][0])))
    return text.getvalue()


def _ranked(outcome: Outcome) -> bool:
    return all(key.isdigit() for key in outcome.scores)


def _rows(
    scores: Mapping[str, Any], version: HipeVersion, outcome: Outcome, rank: str | None
) -> Iterator[dict[str, Any]]:
    suffix = outcome.options["suffix"] or ""
    regimes = version.regimes if rank is not None else ("fuzzy", "strict")
    if version.slices:
        periods = list(scores[next(iter(scores))])
        levels = list(scores[next(iter(scores))][periods[0]])
    else:
        periods, levels = [""], [""]
    for column, period, level, average, regime in product(sorted(scores), periods, levels, AVERAGES, regimes):
        at = f"@{rank}" if rank is not None else ""
        if version.slices:
            parts = [column, average, regime, suffix, period, level, at]
            labels = scores[column][period][level]
        else:
            parts = [column, average, regime, suffix if at else "", at]
            labels = scores[column]
        for label in sorted(labels):
            if rank is not None and label != ALL:
                continue
            figures = labels[label][SCHEMA[regime]]
            row = {"System": outcome.system, "Evaluation": "-".join(part for part in parts if part), "Label": label}
            row |= {name: figures[f"{name}_{average}"] for name in ("P", "R", "F1")}
            if average == "micro":
                row |= {name: figures[name] for name in ("TP", "FP", "FN")}
            else:
                row |= {f"{name}_std": figures[f"{name}_{average}_std"] for name in ("P", "R", "F1")}
            yield {name: round(value, 3) if isinstance(value, (int, float)) else value for name, value in row.items()}
