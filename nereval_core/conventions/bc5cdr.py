"""The evaluation of the BioCreative V task on chemicals and diseases (BC5CDR): spans, and concepts by document.

Both evaluations compare sets. `mention` has the document, start, end and type of each span; `id` the document, type and
each concept of a span, `MESH:` before one without a namespace; -1 is not a concept. Mentions that BioC
marks as parts of a composite one are not units of `mention`. Only spans of the types asked for count, and predictions
only in documents where gold has a unit of the same evaluation. A ratio of zero by zero is printed as NaN, and None
here. Relations are not reproduced.
Source: bc5cdr_eval.jar 0.0.3 of BioCreative V (Wei et al. 2015).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nereval_core.conventions import Convention, Given, Option
from nereval_core.conventions.outcome import (
    COR,
    IGN,
    MIS,
    OVERALL,
    SPU,
    Content,
    FigureRow,
    Outcome,
    UnitColumns,
    figures,
    reading_order,
    record_frame,
)
from nereval_core.corpus import Layer
from nereval_core.problems import quoted

EVALUATIONS = {"mention": "span", "id": "concept"}
NAMESPACE = "MESH:"
NO_CONCEPTS = ("", "-1", "NIL")
"""How files, and the reader of PubTator, write that a span has no concept."""
COUNTERS = {"TP": COR, "FP": SPU, "FN": MIS}
WHY = (
    "the same on the other side",
    "not on the other side",
    "the same once more: counted once",
    "of a type that is not asked for: left out",
    "gold has nothing to compare in this document: left out",
    "a mention inside a composite one: left out",
)
SAME, NONE, TWICE, OTHER, NO_GOLD, INSIDE = range(6)
ROLE, INDIVIDUAL = "CompositeRole", "IndividualMention"
"""Key and value with which BioC marks the parts of a composite mention, compared by their ids alone."""


@dataclass(frozen=True, eq=False)
class SideUnits:
    """One side's units: what is compared of each, and what records show.

    The key is None for types that are not asked for, and empty for mentions inside composite ones.
    """

    keys: list[tuple[Any, ...] | None]
    columns: UnitColumns


def score(given: Given, options: Mapping[str, Any]) -> Outcome:
    """Score two files of any format by their layers."""
    read = given.read()
    return replace(of_layers(read.gold, read.pred, options), marks=read.marks)


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> Outcome:
    """Score layers: counters `TP`, `FP` and `FN`."""
    types = frozenset(options["types"])
    sides = {"mention": (_spans(gold, types), _spans(pred, types)), "id": (_links(gold, types), _links(pred, types))}
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    for name, (ours, theirs) in sides.items():
        one, two = ({key for key in side.keys if key} for side in (ours, theirs))
        known = {key[0] for key in one}
        two = {key for key in two if key[0] in known}
        counts = {"TP": len(one & two), "FP": len(two - one), "FN": len(one - two)}
        ratios = _ratios(**counts)
        scores[name] = counts | ratios
        rows += [(name, OVERALL, figure, value, True) for figure, value in counts.items()]
        rows += [(name, OVERALL, figure, value, False) for figure, value in ratios.items()]

    def build(evaluation: str) -> Any:
        ours, theirs = sides[evaluation]
        g, p, decision, why = _decided(ours, theirs)
        counters = {name: decision == code for name, code in COUNTERS.items()}
        unit = EVALUATIONS[evaluation]
        return record_frame(evaluation, ours.columns, theirs.columns, g, p, decision, (why, WHY), counters, unit=unit)

    contents = Content.of_layer(gold), Content.of_layer(pred)
    return Outcome("bc5cdr", options, gold.documents, *contents, scores, figures(rows), build, _notes(gold, types))


def _notes(gold: Layer, types: frozenset[str]) -> tuple[str, ...]:
    """Return a note on types that count and that gold does not have."""
    absent = types - set(gold.types)
    if not absent:
        return ()
    names = ", ".join(map(quoted, sorted(absent)))
    known = ", ".join(map(quoted, sorted(gold.types))) or "none"
    return (f"types that count and are not in gold: {names}; --types chooses among gold's, {known}",)


def _ratios(TP: int, FP: int, FN: int) -> dict[str, float | None]:  # noqa: N803
    precision = TP / (TP + FP) if TP + FP else None
    recall = TP / (TP + FN) if TP + FN else None
    both = None if precision is None or recall is None else precision + recall
    score = 2.0 * precision * recall / both if both and precision and recall else None
    return {"Precision": precision, "Recall": recall, "F-score": score}


def _spans(layer: Layer, types: frozenset[str]) -> SideUnits:
    order = reading_order(layer)
    columns = (column[order].tolist() for column in (layer.doc, layer.start, layer.end, layer.type))
    names = layer.types
    rows = zip(*columns, strict=True)
    keys = [(*row[:3], names[row[3]]) if names[row[3]] in types else None for row in rows]
    inside = [layer.meta.get(span, {}).get(ROLE) == INDIVIDUAL for span in order.tolist()]
    keys = [() if key and within else key for key, within in zip(keys, inside, strict=True)]
    return SideUnits(list(keys), UnitColumns.of_layer(layer))


def _links(layer: Layer, types: frozenset[str]) -> SideUnits:
    rows = []
    for span in reading_order(layer).tolist():
        for link in layer.links.get(span, ()):
            rows += [(int(layer.doc[span]), int(layer.type[span]), part.strip()) for part in link.split("|")]
    rows = [
        (doc, kind, link if ":" in link else NAMESPACE + link) for doc, kind, link in rows if link not in NO_CONCEPTS
    ]
    keys = [(doc, layer.types[kind], link) if layer.types[kind] in types else None for doc, kind, link in rows]
    doc, kind = (np.array([row[column] for row in rows], np.int64) for column in (0, 1))
    nowhere = np.full(len(rows), -1)
    texts = [link for _, _, link in rows]
    return SideUnits(list(keys), UnitColumns(layer.documents, doc, nowhere, nowhere, kind, layer.types, texts=texts))


def _decided(gold: SideUnits, pred: SideUnits) -> tuple[Any, ...]:
    """Return units, decision and number of the reason of each record: gold first, then the other predictions."""
    first: list[dict[tuple[Any, ...], int]] = [{}, {}]
    for side, known in zip((gold, pred), first, strict=True):
        for number, key in enumerate(side.keys):
            if key:
                known.setdefault(key, number)
    documents = {key[0] for key in first[0]}
    rows = []
    for mine, (side, decision) in enumerate(((gold, MIS), (pred, SPU))):
        for number, key in enumerate(side.keys):
            partner = -1
            if not key:
                outcome = IGN, OTHER if key is None else INSIDE
            elif key[0] not in documents:
                outcome = IGN, NO_GOLD
            elif first[mine][key] != number:
                outcome = IGN, TWICE
            elif key not in first[1 - mine]:
                outcome = decision, NONE
            elif mine:
                continue
            else:
                outcome, partner = (COR, SAME), first[1][key]
            rows.append((-1, number, *outcome) if mine else (number, partner, *outcome))
    table = np.array(rows, np.int64).reshape(-1, 4)
    return tuple(table[:, column] for column in range(4))


CONVENTIONS = (
    Convention(
        name="bc5cdr",
        family="clinical mentions and codes",
        sentence="BioCreative V CDR: sets of spans of a type, and of concepts of a type by document.",
        needs="spans; for `id` their concept ids",
        source="bc5cdr_eval.jar 0.0.3 of BioCreative V (Wei et al. 2015)",
        score=score,
        of_layers=of_layers,
        options=(
            Option(
                "types",
                "types that count, parted by commas (the program's <concept type>); files that rename types are given "
                "by side, --gold-types and --pred-types",
                "list",
                ("Disease",),
            ),
        ),
        twins={"mention": "strict"},
        names={"P": "Precision", "R": "Recall", "F1": "F-score", "COR": "TP"},
        formulas={
            "Precision": "TP / (TP + FP)",
            "Recall": "TP / (TP + FN)",
            "F-score": "2 × Precision × Recall / (Precision + Recall)",
        },
    ),
)
