"""The evaluation script of SMM4H 2022 task 1b, adverse drug events in tweets.

Only spans of type ADE count, each once. Every pair of a gold span and a prediction that match is a true positive, so
that a span can be right several times. `Strict`: the same start and end. `Relaxed`: they overlap or touch. Spans that
match nothing are false negatives and false positives. The script adds 0.000001 to each denominator.
Source: SMM4H22ScoreTask1.py of the organizers (Weissenbacher et al. 2022), github.com/edgargsm/SMM4H2022 a5edff8.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nereval_core.alignment.candidates import overlap_blocks
from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    ScorerSteps,
    read_layers,
    refuse_discontinuous,
    same_layers,
)
from nereval_core.conventions.outcome import CountTables, FigureRow, Figures, Outcome, RatioNames, figure_rows
from nereval_core.conventions.records import (
    COR,
    IGN,
    MIS,
    OVERALL,
    SPU,
    Evaluation,
    MatchRows,
    UnitColumns,
    other_units,
)
from nereval_core.corpus.arrays import Int64

TYPE = "ADE"
EVALUATIONS = ("Relaxed", "Strict")
RATIOS = RatioNames(precision="P", recall="R", f1="F", correct="TP", fp="FP", fn="FN")
EPSILON = 0.000001
EVALUATION = Evaluation(
    reasons=("matches this gold span", "matches nothing", "given twice: left out", f"no {TYPE}: left out"),
    counters={"TP": (COR,), "FP": (SPU,), "FN": (MIS,)},
)
RIGHT, ALONE, REPEATED, OTHER_TYPE = range(4)
COUNTED = -1
"""Stands for a reason of spans that are not left out."""
BLOCK = 1 << 21
"""Pairs that are looked at together."""


def match(layers: LayerPair, options: Options) -> MatchedSides:
    """Match spans in both ways.

    Raises:
        FormatError: discontinuous spans.
    """
    refuse_discontinuous(layers, "which files of the task cannot hold")
    gold, pred = UnitColumns.of_layer(layers.gold), UnitColumns.of_layer(layers.pred)
    reasons = _reasons(gold), _reasons(pred)
    g, p = _touching(gold, pred, np.flatnonzero(reasons[0] == COUNTED), np.flatnonzero(reasons[1] == COUNTED))
    is_equal = (gold.start[g] == pred.start[p]) & (gold.end[g] == pred.end[p])
    rows = {"Relaxed": _rows(g, p, *reasons), "Strict": _rows(g[is_equal], p[is_equal], *reasons)}

    def records(evaluation: str) -> pd.DataFrame:
        return EVALUATION.records(evaluation, (gold, pred), rows[evaluation])

    tables = {name: {OVERALL: rows[name].decisions()} for name in EVALUATIONS}
    return MatchedSides.of_layers(layers, tables, records)


def _reasons(units: UnitColumns) -> Int64:
    """Return why spans are left out, COUNTED of others, shape (spans,)."""
    is_other = np.array([name != TYPE for name in units.types], bool)[units.kind]
    reasons = np.where(is_other, OTHER_TYPE, COUNTED)
    counted = np.flatnonzero(~is_other)
    places = np.stack([column[counted] for column in (units.doc, units.start, units.end)])
    first = np.unique(places, axis=1, return_index=True)[1]
    reasons[np.delete(counted, first)] = REPEATED
    return reasons


def _touching(gold: UnitColumns, pred: UnitColumns, gold_units: Int64, pred_units: Int64) -> tuple[Int64, Int64]:
    """Return the pairs of spans that overlap or touch, in order."""
    bounds: list[tuple[Int64, Int64]] = []
    orders: list[Int64] = []
    for side, units in ((gold, gold_units), (pred, pred_units)):
        doc = side.doc[units].astype(np.int64)
        # A place more between documents keeps the last span of one from the first of the next.
        base = side.documents.base[doc] + doc
        order = np.argsort(base + side.start[units], kind="stable")
        bounds.append(((base + side.start[units])[order], (base + side.end[units])[order] + 1))
        orders.append(units[order])
    blocks = [(orders[0][g], orders[1][p]) for g, p in overlap_blocks(*bounds[0], *bounds[1], BLOCK)]
    pairs = np.concatenate([np.stack(block) for block in blocks], axis=1) if blocks else np.zeros((2, 0), np.int64)
    g, p = pairs[:, np.lexsort((pairs[1], pairs[0]))]
    return g, p


def _rows(g: Int64, p: Int64, gold_reasons: Int64, pred_reasons: Int64) -> MatchRows:
    """Return a row for each pair, then for each span that is in none."""
    missed, spurious = other_units(g, len(gold_reasons)), other_units(p, len(pred_reasons))
    reasons = np.concatenate((gold_reasons[missed], pred_reasons[spurious]))
    wrong = np.repeat([MIS, SPU], [len(missed), len(spurious)])
    return MatchRows(
        np.concatenate((g, missed, np.full(len(spurious), -1))),
        np.concatenate((p, np.full(len(missed), -1), spurious)),
        np.concatenate((np.full(len(g), COR), np.where(reasons == COUNTED, wrong, IGN))),
        np.concatenate((np.full(len(g), RIGHT), np.where(reasons == COUNTED, ALONE, reasons))),
    )


def figures(counts: CountTables, options: Options) -> Figures:
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    for name in EVALUATIONS:
        row = EVALUATION.counts(counts.rows(name).get(OVERALL, (0,) * IGN))
        precision = row["TP"] / (row["TP"] + row["FP"] + EPSILON)
        recall = row["TP"] / (row["TP"] + row["FN"] + EPSILON)
        f1 = 2 * precision * recall / (precision + recall + EPSILON)
        scores[name] = {"F": f1, "P": precision, "R": recall, **row}
        rows += figure_rows(name, {OVERALL: scores[name]}, EVALUATION.counters)
    return Figures(scores, rows)


def _printed(outcome: Outcome) -> str:
    """Return the lines of scores.txt."""
    return "".join(
        f"Task1b{name}{ratio}:{outcome.scores[name][ratio]:.3f}\n" for name in EVALUATIONS for ratio in "FPR"
    )


CONVENTIONS = (
    Convention(
        name="smm4h-2022",
        family="clinical mentions and codes",
        sentence="Adverse drug events with the same place, and those that overlap or touch, pair by pair.",
        needs=f"continuous spans of type {TYPE}",
        source="SMM4H22ScoreTask1.py of SMM4H 2022 task 1b (Weissenbacher et al. 2022)",
        steps=ScorerSteps(read_layers, same_layers, match),
        figures=figures,
        twins={"Strict": "strict", "Relaxed": "type"},
        forms={"text": _printed},
        ratios=RATIOS,
        other_formulas={
            "P": f"TP / (TP + FP + {EPSILON:f})",
            "R": f"TP / (TP + FN + {EPSILON:f})",
            "F": f"2 × P × R / (P + R + {EPSILON:f})",
        },
    ),
)
