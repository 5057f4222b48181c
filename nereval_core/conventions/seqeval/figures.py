"""The figures of seqeval from what was counted, and how it prints them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.conventions.outcome import OVERALL, Outcome, apart, figures
from nereval_core.conventions.shares import NO_DOCUMENTS, Share, without_records
from nereval_core.problems import FormatError
from nereval_core.readers.shared.token_tags import found_note

ENTITIES, ACCURACY = "entities", "accuracy"
AVERAGES = ("micro avg", "macro avg", "weighted avg")
COUNTS = ("support", "pred_sum", "tp_sum")
RATIOS = ("precision", "recall", "f1-score")


def name_of(strict: bool) -> str:
    return "seqeval-strict" if strict else "seqeval"


def of_share(share: Share, options: Mapping[str, Any], *, strict: bool = False) -> Outcome:
    """Return the figures of what was counted, without records.

    Without any entity they are those of classification_report with output_dict: no macro average, and what 0/0 gives.
    """
    counts = {name: list(row) for name, row in sorted(share.tables.get("types", {}).items())}
    types = list(counts)
    columns = list(np.array(list(counts.values()), np.int64).reshape(-1, len(COUNTS)).T)
    support, pred_sum, tp_sum = columns
    counts[AVERAGES[0]] = [int(column.sum()) for column in columns]
    report = _report(types, support, pred_sum, tp_sum, options["zero_division"])
    rows = [row for name, section in report.items() for row in _rows(name, section, counts.get(name))]
    tokens, right = share.tables["tokens"]["all"]
    accuracy = {"tokens": tokens, "correct": right, "accuracy_score": right / tokens}
    rows += [(ACCURACY, OVERALL, name, value, name != "accuracy_score") for name, value in accuracy.items()]
    return Outcome(
        name_of(strict),
        options,
        NO_DOCUMENTS,
        share.gold,
        share.pred,
        {
            "classification_report": report,
            "accuracy_score": accuracy["accuracy_score"],
            "tokens": accuracy,
            "counts": {name: dict(zip(COUNTS, values, strict=True)) for name, values in counts.items()},
        },
        figures(rows),
        without_records,
        found_note(share.number("bare", "documents"), share.gold.documents),
    )


def _report(
    types: list[str], support: NDArray[Any], pred_sum: NDArray[Any], tp_sum: NDArray[Any], zero_division: str
) -> dict[str, dict[str, float | None]]:
    """Return classification_report's dictionary; the macro average of no type, which is NaN there, is None."""
    undefined = 1.0 if zero_division == "1" else 0.0
    columns = _ratios(tp_sum, pred_sum, support, undefined=undefined)
    report: dict[str, dict[str, float | None]] = {}
    for number, name in enumerate(types):
        report[name] = {ratio: float(column[number]) for ratio, column in zip(RATIOS, columns, strict=True)}
        report[name]["support"] = int(support[number])
    sums = (np.array([column.sum()]) for column in (tp_sum, pred_sum, support))
    averages: list[list[float | None]] = [[float(column[0]) for column in _ratios(*sums, undefined=undefined)]]
    averages.append([float(np.average(column)) if types else None for column in columns])
    if support.sum():
        averages.append([float(np.average(column, weights=support)) for column in columns])
    else:
        value = 0.0 if pred_sum.sum() else undefined
        averages.append([value, undefined, value])
    for name, values in zip(AVERAGES, averages, strict=True):
        report[name] = dict(zip(RATIOS, values, strict=True)) | {"support": int(support.sum())}
    return report


def _rows(
    name: str, row: Mapping[str, float | None], counts: list[int] | None
) -> list[tuple[str, str, str, float | None, bool]]:
    """Return a row of the report for the table: the micro average is what is scored over all types."""
    scope = OVERALL if name == AVERAGES[0] else apart(name)
    found: list[tuple[str, str, str, float | None, bool]] = [
        (ENTITIES, scope, ratio, row[ratio], False) for ratio in RATIOS
    ]
    # The other averages are over types, and count nothing.
    return found + [(ENTITIES, scope, *pair, True) for pair in zip(COUNTS, counts or (), strict=counts is not None)]


def _ratios(
    right: NDArray[Any], found: NDArray[Any], wanted: NDArray[Any], *, undefined: float
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return precision, recall and F1 in the order of operations that gives seqeval's last digits."""
    precision, recall = (
        np.where(whole == 0, undefined, right / np.where(whole == 0, 1, whole)) for whole in (found, wanted)
    )
    both = precision + recall
    return precision, recall, 2.0 * precision * recall / np.where(both == 0, 1.0, both)


def text(outcome: Outcome) -> str:
    """Return classification_report's text.

    Raises:
        FormatError: there is no entity, where the report stops.
    """
    report, digits = outcome.scores["classification_report"], outcome.options["digits"]
    types = [name for name in report if name not in AVERAGES]
    if not types:
        found = "no entity is left on either side: the text of seqeval's classification_report stops with a ValueError"
        raise FormatError.single(outcome.convention, None, found, "take the JSON, or give at least one entity")
    width = max(*map(len, types), len(AVERAGES[-1]), digits)
    lines = [" " * width + " " + "".join(f" {name:>9}" for name in (*RATIOS, "support")), ""]
    for names in (types, AVERAGES):
        for name in names:
            ratios = "".join(f" {report[name][ratio]:>9.{digits}f}" for ratio in RATIOS)
            lines.append(f"{name:>{width}} {ratios} {report[name]['support']:>9}")
        lines.append("")
    return "\n".join(lines)


def as_json(outcome: Outcome) -> str:
    """Return what classification_report gives with output_dict."""
    return json.dumps(outcome.scores["classification_report"], ensure_ascii=False, indent=1) + "\n"
