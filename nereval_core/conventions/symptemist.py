"""The evaluation library of SympTEMIST 2023, for mentions.

A prediction that repeats an earlier one in document, label, start and end is dropped, and so are those of documents
without gold. `strict`: equal label, start and end, each prediction once. `overlap`: gold spans in the order of the file
each take the first prediction left of their label that meets them. Places are compared as text, so that 9 stands behind
10: spans meet where one starts, as text, between the start and the end of the other, both included. Ratios are rounded
to four places.
Source: symptemist_evaluation.py and utils.py of github.com/nlp4bia-bsc/symptemist_evaluation_library 3b32c0e.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

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
    SharedTypes,
    UnitColumns,
    reading_order,
)

MODES = ("strict", "overlap")
RATIOS = RatioNames(precision="precision", recall="recall", f1="f_score", correct="tp", fp="fp", fn="fn")
NAMES = (RATIOS.precision, RATIOS.recall, RATIOS.f1)
PLACES = 4
EVALUATION = Evaluation(
    reasons=(
        "meets this gold span",
        "nothing is left that it meets",
        "given twice: left out",
        "gold has nothing in this document: left out",
    ),
    counters={"tp": (COR,), "fp": (SPU,), "fn": (MIS,)},
)
RIGHT, ALONE, REPEATED, NO_GOLD = range(4)
Mention = tuple[int, str, str]
"""Label, start and end, as text."""


def match(layers: LayerPair, options: Options) -> MatchedSides:
    """Match mentions in both modes.

    Raises:
        FormatError: discontinuous spans, which its files cannot hold.
    """
    refuse_discontinuous(layers, "which files of the task cannot hold")
    shared = SharedTypes.of_layers(layers.gold, layers.pred)
    sides = []
    for layer, kind in ((layers.gold, shared.gold), (layers.pred, shared.pred)):
        order = reading_order(layer)
        places = zip(kind.tolist(), layer.start[order].tolist(), layer.end[order].tolist(), strict=True)
        mentions = [(label, str(start), str(end)) for label, start, end in places]
        by_document: dict[int, list[int]] = {}
        for unit, doc in enumerate(layer.doc[order].tolist()):
            by_document.setdefault(doc, []).append(unit)
        sides.append((mentions, by_document))
    rows = {mode: _match_rows(sides[0], sides[1], mode) for mode in MODES}

    def records(evaluation: str) -> pd.DataFrame:
        units = [UnitColumns.of_layer(layers.gold), UnitColumns.of_layer(layers.pred)]
        return EVALUATION.records(evaluation, units, rows[evaluation])

    tables = {mode: {OVERALL: each.decisions()} for mode, each in rows.items()}
    return MatchedSides.of_layers(layers, tables, records)


Side = tuple[Sequence[Mention], dict[int, list[int]]]


def _match_rows(gold: Side, pred: Side, mode: str) -> MatchRows:
    rows = [row for doc in sorted({*gold[1], *pred[1]}) for row in _of_document(gold, pred, doc, mode)]
    columns = np.array(rows, np.int64).reshape(-1, 4).T
    return MatchRows(columns[0], columns[1], columns[2], columns[3])


def _of_document(gold: Side, pred: Side, doc: int, mode: str) -> Iterator[tuple[int, int, int, int]]:
    units = gold[1].get(doc, [])
    free: list[int] = []
    distinct: set[Mention] = set()
    for unit in pred[1].get(doc, []):
        mention = pred[0][unit]
        if mention in distinct or not units:
            yield -1, unit, IGN, REPEATED if mention in distinct else NO_GOLD
        else:
            free.append(unit)
        distinct.add(mention)
    for unit in units:
        own = gold[0][unit]
        meets = (other for other in free if _meet(own, pred[0][other], mode))
        partner = next(meets, -1)
        if partner >= 0:
            free.remove(partner)
            yield unit, partner, COR, RIGHT
        else:
            yield unit, -1, MIS, ALONE
    for unit in free:
        yield -1, unit, SPU, ALONE


def _meet(gold: Mention, pred: Mention, mode: str) -> bool:
    if mode == "strict" or gold[0] != pred[0]:
        return gold == pred
    return pred[1] <= gold[1] <= pred[2] or gold[1] <= pred[1] <= gold[2]


def figures(counts: CountTables, options: Options) -> Figures:
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    for mode in MODES:
        row = EVALUATION.counts(counts.rows(mode).get(OVERALL, (0,) * IGN))
        scores[mode] = {**row, **{name: round(value, PLACES) for name, value in RATIOS.of(row).items()}}
        rows += figure_rows(mode, {OVERALL: {**row, **RATIOS.of(row)}}, EVALUATION.counters)
    return Figures(scores, rows)


def _printed(outcome: Outcome) -> str:
    """Return the figures of the file of results."""
    lines = []
    for mode, heads in (
        ("strict", ("Micro-average precision", "Micro-average recall", "Micro-average F-score")),
        ("overlap", ("Precision (overlap)", "Recall  (overlap)", "F-score  (overlap)")),
    ):
        row = outcome.scores[mode]
        # The library says 0, not 0.0, of F without a right one, and where nothing is divided.
        whole = (row["tp"] + row["fp"], row["tp"] + row["fn"], row["tp"])
        values = (row[name] if above else 0 for name, above in zip(NAMES, whole, strict=True))
        lines += [f"{head}: {value}" for head, value in zip(heads, values, strict=True)]
    return "\n".join([*lines, ""])


CONVENTIONS = (
    Convention(
        name="symptemist",
        family="clinical mentions and codes",
        sentence="Equal mentions, and mentions of a label that overlap, with places compared as text.",
        needs="continuous spans in the order given",
        source="symptemist_evaluation_library 3b32c0e (Lima-López et al. 2023)",
        steps=ScorerSteps(read_layers, same_layers, match),
        figures=figures,
        twins={"strict": "strict", "overlap": "type"},
        forms={"text": _printed},
        ratios=RATIOS,
    ),
)
