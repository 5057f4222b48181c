"""The evaluation script of MEDDOCAN 2019: de-identification.

Sets are compared: spans of a document that are given twice count once. Documents are those that both sides have.
`Subtask1`: equal type, start and end; `Leak` is the number of missed spans by that of sentences.
`Subtask2Strict`: equal start and end. `Subtask2Merged`: spans of a side, sorted, with nothing but non-alphanumeric
characters between, are merged to one, which ends where the last of them ends; right is what is equal before or after
merging, and a span that lies in a right one is neither missed nor spurious.
Source: evaluate.py of github.com/PlanTL-GOB-ES/MEDDOCAN-CODALAB-Evaluation-Script 783a6df (Marimon et al. 2019).
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
    ScorerOption,
    ScorerSteps,
    read_layers,
    same_layers,
)
from nereval_core.conventions.deidentification import (
    COUNTERS,
    RATIOS,
    REPEATED,
    RIGHT,
    SPANS,
    WITHIN,
    WRONG,
    Key,
    Side,
    equal_rows,
    lone_row,
    match_rows,
    no_type,
    refuse_unreadable,
)
from nereval_core.conventions.outcome import CountTables, FigureRow, Figures, Outcome, figure_rows
from nereval_core.conventions.records import COR, IGN, MIS, OVERALL, SPU, MatchRows, UnitColumns

EVALUATIONS = ("Subtask1", "Subtask2Strict", "Subtask2Merged")
SENTENCES = "sentences"
RATIO_NAMES = ("Precision", "Recall", "F1")


def match(layers: LayerPair, options: Options) -> MatchedSides:
    """Match spans by type and place, by place, and by place once spans are merged.

    Raises:
        FormatError: discontinuous spans.
    """
    refuse_unreadable(layers, "and the script stops at them")
    sides = Side.of_layer(layers.gold), Side.of_layer(layers.pred)
    merged = [list(_merged(side)) for side in sides]
    none = [[False] * len(side.doc) for side in sides]
    rows = {
        "Subtask1": equal_rows([side.keys(lambda name: (name,)) for side in sides], none),
        "Subtask2Strict": equal_rows([side.keys(no_type) for side in sides], none),
        "Subtask2Merged": _merged_rows([side.keys(no_type) for side in sides], merged),
    }

    def records(evaluation: str) -> pd.DataFrame:
        units = [UnitColumns.of_layer(layers.gold), UnitColumns.of_layer(layers.pred)]
        if evaluation == "Subtask2Merged":
            units = [_with_merged(each, keys) for each, keys in zip(units, merged, strict=True)]
        return SPANS.records(evaluation, units, rows[evaluation])

    tables: dict[str, dict[str, tuple[int, ...]]] = {name: {OVERALL: each.decisions()} for name, each in rows.items()}
    sentences = layers.gold.documents.sentences
    if sentences is not None:
        tables[SENTENCES] = {SENTENCES: (len(sentences.starts),)}
    return MatchedSides.of_layers(layers, tables, records)


def _merged(side: Side) -> Iterator[Key]:
    """Yield document, start and end of spans merged over what is not alphanumeric, in the order of the script."""
    texts = side.layer.documents.texts
    last: Key | None = None
    for doc, start, end in sorted(zip(side.doc, side.start, side.end, strict=True)):
        if last is not None and last[0] == doc and not any(map(str.isalnum, texts[doc][last[2] : start])):
            last = (doc, last[1], end)
            continue
        if last is not None:
            yield last
        last = (doc, start, end)
    if last is not None:
        yield last


def _merged_rows(keys: Sequence[Sequence[Key]], merged: Sequence[Sequence[Key]]) -> MatchRows:
    """Match spans as they are, then merged ones; a span within a right one is left out."""
    rows: list[tuple[int, int, int, int]] = []
    units: list[dict[Key, int]] = []
    for side, own in enumerate(keys):
        first: dict[Key, int] = {}
        for unit, key in enumerate(own):
            if first.setdefault(key, unit) != unit:
                rows.append(lone_row(side, unit, IGN, REPEATED))
        units.append(first)
    equal = {key: (units[0][key], units[1][key]) for key in units[0] if key in units[1]}
    both = [{key: len(keys[side]) + at for at, key in enumerate(merged[side])} for side in (0, 1)]
    right = {key: (both[0][key], both[1][key]) for key in both[0] if key in both[1]} | equal
    rows += [(g, p, COR, RIGHT) for g, p in right.values()]
    containers: dict[int, list[tuple[int, int]]] = {}
    for doc, start, end in sorted(right):
        containers.setdefault(doc, []).append((start, end))
    # The furthest end of the right spans up to each start.
    reach = {
        doc: (np.array([start for start, _ in spans]), np.maximum.accumulate([end for _, end in spans]))
        for doc, spans in containers.items()
    }
    for side, of_side in enumerate(units):
        for (doc, start, end), unit in of_side.items():
            if (doc, start, end) in equal:
                continue
            starts, ends = reach.get(doc, (np.array([], np.int64), np.array([], np.int64)))
            place = int(np.searchsorted(starts, start, side="right")) - 1
            within = place >= 0 and ends[place] >= end
            decision, reason = (IGN, WITHIN) if within else (MIS if side == 0 else SPU, WRONG)
            rows.append(lone_row(side, unit, decision, reason))
    return match_rows(rows)


def _with_merged(units: UnitColumns, merged: Sequence[Key]) -> UnitColumns:
    """Return units with the merged spans behind them, of the type of the first span that starts there."""
    doc, start, end = np.array(merged, np.int64).reshape(-1, 3).T
    kinds: dict[tuple[int, int], int] = {}
    for at, first, number in zip(units.doc.tolist(), units.start.tolist(), units.kind.tolist(), strict=True):
        kinds.setdefault((at, first), number)
    kind = np.array([kinds[key[0], key[1]] for key in merged], np.int64)
    own = (units.doc, units.start, units.end, units.kind)
    columns = [np.concatenate(pair) for pair in zip(own, (doc, start, end, kind), strict=True)]
    return UnitColumns(units.documents, columns[0], columns[1], columns[2], columns[3], units.types)


def figures(counts: CountTables, options: Options) -> Figures:
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    sentences = options["sentences"] or counts.number(SENTENCES, SENTENCES)
    for name in EVALUATIONS:
        row = SPANS.counts(counts.rows(name).get(OVERALL, (0,) * IGN))
        tp, fp, fn = row["tp"], row["fp"], row["fn"]
        precision, recall = tp / (tp + fp) if tp + fp else 0.0, tp / (tp + fn) if tp + fn else 0.0
        f1 = 2 * ((recall * precision) / (recall + precision)) if recall + precision else 0.0
        leak = {"Leak": fn / sentences if sentences else None} if name == "Subtask1" else {}
        scores[name] = {**leak, "Precision": precision, "Recall": recall, "F1": f1, **row}
        rows += figure_rows(name, {OVERALL: scores[name]}, COUNTERS)
    notes = () if sentences else ("the documents have no sentences, so that there is no leak score: give --sentences",)
    return Figures(scores, rows, notes)


def _printed(outcome: Outcome) -> str:
    """Return the lines of scores.txt."""
    lines = []
    for name in EVALUATIONS:
        for figure in ("Leak", *RATIO_NAMES):
            if figure in outcome.scores[name]:
                value = outcome.scores[name][figure]
                lines.append(f"{name}_{figure} : {'NA' if value is None else value}{' ' * (figure == 'Leak')}")
    return "\n".join([*lines, ""])


CONVENTIONS = (
    Convention(
        name="meddocan",
        family="clinical mentions and codes",
        sentence="Identifiers by span and type with the leak score, by span, and by span once neighbours are merged.",
        needs="continuous spans; sentences for the leak score",
        source="evaluate.py of MEDDOCAN 783a6df (Marimon et al. 2019)",
        steps=ScorerSteps(read_layers, same_layers, match),
        figures=figures,
        options=(ScorerOption("sentences", "the number of sentences, for the leak score", "integer", least=1),),
        twins={"Subtask1": "strict", "Subtask2Strict": "exact"},
        forms={"text": _printed},
        ratios=RATIOS,
        words=True,
    ),
)
