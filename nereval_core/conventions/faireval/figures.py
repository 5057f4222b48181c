"""Figures of the three evaluations, made of the counts of classes by label, and the printout of the program."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from nereval_core.conventions.convention import Options, PartWeights
from nereval_core.conventions.faireval.matching import CLASSES
from nereval_core.conventions.outcome import (
    CountTables,
    FigureRow,
    Figures,
    Outcome,
    RatioNames,
    figure_rows,
    harmonic_mean,
)
from nereval_core.conventions.records import OVERALL, scope_of_type
from nereval_core.problems import FormatError, quoted

COUNTS = {"traditional": ("TP", "FP", "FN")} | dict.fromkeys(
    ("fair", "weighted"), ("TP", "FP", "LE", "BE", "LBE", "FN", "BES", "BEL", "BEO")
)
"""The counts of each evaluation, in the order of the printout."""
HALVES = {"LE": (0.0, 0.5, 0.5), "BE": (0.0, 0.5, 0.5), "LBE": (0.0, 0.5, 0.5)}
WHOLE = {"TP": (1.0, 0.0, 0.0), "FP": (0.0, 1.0, 0.0), "FN": (0.0, 0.0, 1.0)}
"""What a class of errors counts as TP, FP and FN."""
PAPER = "LE = 0.5 FP + 0.5 FN, BES = 0.5 TP + 0.5 FN, BEL = 0.5 TP + 0.5 FP, BEO = 0.5 TP + 0.25 FP + 0.25 FN, "
PAPER += "LBE = 0.5 FP + 0.5 FN"
RATIO_KEYS = ("Prec", "Rec", "F1")
RATIOS = RatioNames(precision="Prec", recall="Rec", f1="F1", correct="TP", fp="FP", fn="FN")
GOLD, CONFUSIONS = "gold", "conf"
NOTHING = "_"
"""The label that the confusion matrix gives to no span."""

Weights = Mapping[str, tuple[float, float, float]]


def figures(counts: CountTables, options: Options) -> Figures:
    weights = {"traditional": WHOLE, "fair": WHOLE | HALVES, "weighted": weights_of(options["weights"])}
    labels = sorted({*counts.rows("traditional"), *counts.rows("fair")})
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    for name, names in COUNTS.items():
        table = counts.rows("traditional" if name == "traditional" else "fair")
        by_label = {label: dict(zip(names, table.get(label, (0,) * len(names)), strict=True)) for label in labels}
        total = {count: sum(row[count] for row in by_label.values()) for count in names}
        overall, *others = ({**row, **_ratios(row, weights[name])} for row in (total, *by_label.values()))
        per_label = dict(zip(labels, others, strict=True))
        scores[name] = {"overall": overall, "per_label": per_label}
        scopes = {OVERALL: overall} | {scope_of_type(label): row for label, row in per_label.items()}
        if name == "weighted":
            scopes = {scope: row | _weighted_counts(row, weights[name]) for scope, row in scopes.items()}
        rows += figure_rows(name, scopes, names)
    conf = {label: dict.fromkeys((*labels, NOTHING), 0) for label in (*labels, NOTHING)}
    for key, (number,) in counts.rows(CONFUSIONS).items():
        g, p = json.loads(key)
        conf[g][p] += number
    scores[CONFUSIONS] = conf
    scores["data_stats"] = {label: number for label, (number,) in counts.rows(GOLD).items()}
    return Figures(scores, rows)


def _ratios(counts: Mapping[str, int], weights: Weights) -> dict[str, float]:
    tp, fp, fn = _weighted_counts(counts, weights).values()
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    return {"Prec": precision, "Rec": recall, "F1": harmonic_mean(precision, recall)}


def _weighted_counts(counts: Mapping[str, float], weights: Weights) -> dict[str, float]:
    """Return what errors count as TP, FP and FN."""
    return {
        f"weighted {count}": sum(row[place] * counts.get(name, 0) for name, row in weights.items())
        for place, count in enumerate(WHOLE)
    }


def weights_of(text: str) -> Weights:
    """Return the weights of formulas such as `LE = 0.5 FP + 0.5 FN`, and those of TP, FP and FN where none gives them.

    Raises:
        FormatError: a formula of another form.
    """
    if text.strip() == "default":
        return WHOLE | HALVES
    weights: dict[str, tuple[float, float, float]] = {}
    for formula in text.split(","):
        name, is_formula, right = map(str.strip, formula.partition("="))
        if not is_formula or name not in {"BE", *CLASSES}:
            finding = f"{quoted(formula.strip())} is not a class of errors with its weights"
            raise FormatError.single("--weights", None, finding, f"write it as {PAPER}")
        numbers = [re.search(rf"(\d*\.?\d+)\s*\*?\s*{count}\b", right) for count in ("TP", "FP", "FN")]
        tp, fp, fn = (float(number[1]) if number else 0.0 for number in numbers)
        weights[name] = (tp, fp, fn)
    return weights | {name: row for name, row in WHOLE.items() if name not in weights}


def printout(outcome: Outcome) -> str:
    """Return what the program prints below its settings."""
    scores = outcome.scores
    lines: list[Iterable[Any]] = []
    weighted = list(weights_of(outcome.options["weights"]))
    for name, classes in (*((name, COUNTS[name][:6]) for name in ("traditional", "fair")), ("weighted", weighted)):
        lines += [(), (f"### {name.title()} evaluation:",), ("Label", *classes, *RATIO_KEYS)]
        rows = {**scores[name]["per_label"], OVERALL: scores[name]["overall"]}
        lines += [(label, *(row[count] for count in classes), *_percent(row)) for label, row in rows.items()]
    lines += [(), ("### Comparison:",), ("Version", *RATIO_KEYS)]
    lines += [(name.title(), *_percent(scores[name]["overall"])) for name in COUNTS]
    labels = sorted(scores[CONFUSIONS])
    lines += [(), ("### Confusion matrix:",), ("Target\\System", *labels)]
    lines += [(label, *(scores[CONFUSIONS][label][other] for other in labels)) for label in labels]
    total = sum(scores["data_stats"].values())
    lines += [(), ("### Target data stats:",), ("Label", "Freq", "%")]
    lines += [(label, size, f"{100 * size / total:.2f}") for label, size in scores["data_stats"].items()]
    return "\n".join("\t".join(map(str, line)) for line in lines).lstrip("\n") + "\n"


def part_weights(weights: Weights) -> PartWeights:
    """Return what each class adds to P and R."""
    right = {name: tp for name, (tp, _, _) in weights.items() if tp}
    gold = {name: tp + fn for name, (tp, _, fn) in weights.items() if tp + fn}
    return PartWeights(right, right, gold, {name: tp + fp for name, (tp, fp, _) in weights.items() if tp + fp})


def _percent(row: Mapping[str, float]) -> list[str]:
    return [f"{100 * row[name]:.2f}" for name in RATIO_KEYS]
