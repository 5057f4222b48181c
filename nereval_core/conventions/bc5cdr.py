"""The evaluation of the BioCreative V task on chemicals and diseases (BC5CDR): spans, and concepts by document.

Both evaluations compare sets. `mention` has the document, start, end and type of each span; `id` the document, type and
each concept of a span, `MESH:` before one without a namespace; -1 is not a concept. Mentions that BioC
marks as parts of a composite one are not units of `mention`. Only spans of the types asked for count, and predictions
only in documents where gold has a unit of the same evaluation. A ratio of zero by zero is printed as NaN, and None
here. Relations are not reproduced.
Source: bc5cdr_eval.jar 0.0.3 of BioCreative V (Wei et al. 2015).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
from nereval_core.conventions.outcome import CountTables, FigureRow, Figures, RatioNames, Tables, figure_rows
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
    span_keys,
)
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Int64
from nereval_core.problems import quoted

REASONS = (
    "the same on the other side",
    "not on the other side",
    "the same once more: counted once",
    "of a type that is not asked for: left out",
    "gold has nothing to compare in this document: left out",
    "a mention inside a composite one: left out",
)
OTHER_TYPE, NO_GOLD, INSIDE = range(3, 6)
COUNTERS = {"TP": (COR,), "FP": (SPU,), "FN": (MIS,)}
EVALUATIONS = {
    "mention": Evaluation(reasons=REASONS, counters=COUNTERS),
    "id": Evaluation(reasons=REASONS, counters=COUNTERS, unit="concept"),
}
RATIOS = RatioNames(precision="Precision", recall="Recall", f1="F-score", correct="TP", fp="FP", fn="FN")
NOTHING = np.zeros(0, np.int64)
COUNTS, GOLD_TYPES = "counts", "gold types"
NAMESPACE = "MESH:"
NO_CONCEPTS = ("", "-1", "NIL")
"""How files, and the reader of PubTator, write that a span has no concept."""
ROLE, INDIVIDUAL = "CompositeRole", "IndividualMention"
"""Key and value with which BioC marks the parts of a composite mention, compared by their ids alone."""


def match(layers: LayerPair, options: Options) -> MatchedSides:
    """Match mentions, and concepts by document."""
    gold, pred, _ = layers
    types = frozenset(options["types"])
    mentions = [UnitColumns.of_layer(layer) for layer in (gold, pred)]
    concepts = [_concepts(layer) for layer in (gold, pred)]
    sides = {"mention": mentions, "id": concepts}
    keys = {"mention": span_keys(gold, pred, SharedTypes.of_layers(gold, pred)), "id": _concept_keys(concepts)}
    inside = {"mention": (_composite_parts(gold), _composite_parts(pred)), "id": (NOTHING, NOTHING)}
    rows = {name: _match_rows(sides[name], keys[name], inside[name], types) for name in EVALUATIONS}

    def records(evaluation: str) -> pd.DataFrame:
        return EVALUATIONS[evaluation].records(evaluation, sides[evaluation], rows[evaluation])

    tables: Tables = {
        COUNTS: {name: matched.decisions() for name, matched in rows.items()},
        GOLD_TYPES: dict.fromkeys(gold.types, (1,)),
    }
    return MatchedSides.of_layers(layers, tables, records)


def figures(counts: CountTables, options: Options) -> Figures:
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    for name, evaluation in EVALUATIONS.items():
        row = evaluation.counts(counts.rows(COUNTS).get(name, (0,) * IGN))
        scores[name] = row | _ratios(**row)
        rows += figure_rows(name, {OVERALL: scores[name]}, COUNTERS)
    return Figures(scores, rows, _notes(counts.rows(GOLD_TYPES), frozenset(options["types"])))


def _notes(gold_types: Collection[str], types: frozenset[str]) -> tuple[str, ...]:
    """Return a note on types that count and that gold does not have."""
    absent = types.difference(gold_types)
    if not absent:
        return ()
    names = ", ".join(map(quoted, sorted(absent)))
    others = ", ".join(map(quoted, sorted(gold_types))) or "none"
    return (f"types that count and are not in gold: {names}; --types chooses among gold's, {others}",)


def _ratios(TP: int, FP: int, FN: int) -> dict[str, float | None]:  # noqa: N803
    precision = TP / (TP + FP) if TP + FP else None
    recall = TP / (TP + FN) if TP + FN else None
    both = None if precision is None or recall is None else precision + recall
    score = 2.0 * precision * recall / both if both and precision and recall else None
    return {"Precision": precision, "Recall": recall, "F-score": score}


def _composite_parts(layer: Layer) -> Int64:
    """Return the mentions inside composite ones, numbered in reading order."""
    parts = [layer.meta.get(span, {}).get(ROLE) == INDIVIDUAL for span in reading_order(layer).tolist()]
    return np.flatnonzero(parts)


def _concepts(layer: Layer) -> UnitColumns:
    rows = []
    for span in reading_order(layer).tolist():
        for link in layer.links.get(span, ()):
            for part in map(str.strip, link.split("|")):
                if part not in NO_CONCEPTS:
                    code = part if ":" in part else NAMESPACE + part
                    rows.append((int(layer.doc[span]), int(layer.type[span]), code))
    doc, kind = (np.array([row[column] for row in rows], np.int64) for column in (0, 1))
    return UnitColumns.of_codes(layer.documents, doc, kind, layer.types, [code for *_, code in rows])


def _concept_keys(sides: Sequence[UnitColumns]) -> list[Int64]:
    """Return a number for each concept of either side: the same for the same document, type and concept."""
    numbers: dict[tuple[int, str, str], int] = {}
    keys = []
    for units in sides:
        kinds = [units.types[kind] for kind in units.kind.tolist()]
        rows = zip(units.doc.tolist(), kinds, units.texts or (), strict=True)
        keys.append(np.array([numbers.setdefault(row, len(numbers)) for row in rows], np.int64))
    return keys


def _match_rows(
    sides: Sequence[UnitColumns], keys: Sequence[Int64], inside: Sequence[Int64], types: frozenset[str]
) -> MatchRows:
    """Match units of the same key; `inside` are those inside composite mentions."""
    ignored = []
    for units, parts in zip(sides, inside, strict=True):
        has_other_type = ~np.array([name in types for name in units.types], bool)[units.kind]
        reason = np.where(has_other_type, OTHER_TYPE, -1)
        reason[parts] = np.where(has_other_type[parts], OTHER_TYPE, INSIDE)
        ignored.append(reason)
    gold, pred = sides
    has_gold = np.zeros(len(gold.documents), bool)
    has_gold[gold.doc[ignored[0] < 0]] = True
    ignored[1][(ignored[1] < 0) & ~has_gold[pred.doc]] = NO_GOLD
    return MatchRows.of_sets(*keys, *ignored)


CONVENTIONS = (
    Convention(
        name="bc5cdr",
        family="clinical mentions and codes",
        sentence="BioCreative V CDR: sets of spans of a type, and of concepts of a type by document.",
        needs="spans; for `id` their concept ids",
        source="bc5cdr_eval.jar 0.0.3 of BioCreative V (Wei et al. 2015)",
        steps=ScorerSteps(read_layers, same_layers, match),
        figures=figures,
        options=(
            ScorerOption(
                "types",
                "types that count, parted by commas (the program's <concept type>); files that rename types are given "
                "by side, --gold-types and --pred-types",
                "list",
                ("Disease",),
            ),
        ),
        twins={"mention": "strict"},
        ratios=RATIOS,
    ),
)
