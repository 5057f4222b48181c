"""The evaluation program of SemEval-2013 task 9.1 (names of drugs), which the four default schemas come from.

The program takes each prediction by itself: it meets the first gold span of its sentence, in the order of the file,
that it overlaps, whatever other predictions meet that one too. `strict` is right where that gold span has the same
fragments and type, `exact` the same fragments, `type` the same type; else the prediction is incorrect, in `partial`
partial. Discontinuous spans overlap by their hulls. Without a gold span to meet a prediction is spurious; in a sentence
without gold it costs nothing. What is missed is not looked for: `mis` is the number of gold spans less the predictions
that meet one, and below zero where several meet the same. Precision gives no credit for partial matches, recall half.
`exact per type` is `exact` among the spans of a type; `macro` are means over the four types of the task. Types are
compared without regard to case. The program refuses predictions of other types; they are counted here.
A document is the sentence of the program.
Source: evaluateNER.jar of the task (Segura-Bedmar, Martínez and Herrero-Zazo 2013), its byte code and runs of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nereval_core.alignment.candidates import overlap_blocks
from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    PartWeights,
    ScorerSteps,
    read_layers,
    same_layers,
)
from nereval_core.conventions.outcome import CountTables, FigureRow, Figures, Outcome, RatioNames, figure_rows
from nereval_core.conventions.records import (
    COR,
    IGN,
    INC,
    MIS,
    OVERALL,
    PAR,
    SPU,
    MatchRows,
    UnitColumns,
    at,
    other_units,
    record_frame,
    scope_of_type,
    stretch_starts,
)
from nereval_core.corpus.arrays import Array, Bools, Int64
from nereval_core.problems import counted, quoted

TYPES = ("drug", "brand", "group", "drug_n")
"""The types of the task, in the order of the printout."""


class Pairs(NamedTuple):
    """The gold span that each prediction meets, -1 for none, and what the two have in common; shape (predictions,).

    Spans are numbered in reading order. `has_gold`: there is gold to meet in the sentence.
    """

    gold: Int64
    has_same_place: Bools
    has_same_type: Bools
    has_gold: Bools


SCHEMAS: Mapping[str, Callable[[Pairs], Bools]] = {
    "strict": lambda pairs: pairs.has_same_place & pairs.has_same_type,
    "exact": lambda pairs: pairs.has_same_place,
    "partial": lambda pairs: pairs.has_same_place,
    "type": lambda pairs: pairs.has_same_type,
}
"""Which predictions are right, by evaluation over all types."""
HEADS = {"strict": "Strict matching (boundaries + type)", "exact": "Exact matching", "partial": "Partial matching"}
HEADS |= {"type": "type matching"}
"""How the program heads the figures."""
PER_TYPE = "exact per type"
COUNTS = ("cor", "inc", "par", "mis", "spu")
COUNTED = (*COUNTS, "total")
RATIOS = RatioNames(precision="prec", recall="recall", f1="F1", correct="cor", gold="total")
REASONS = (
    "meets this gold span, and is what the schema asks for",
    "meets this gold span, the first that it overlaps",
    "no prediction meets it",
    "overlaps no gold span of its sentence",
    "gold has nothing to meet in this sentence: left out",
)
RIGHT, OTHER, MISSED, ALONE, NO_GOLD = range(5)
PREDICTED = dict.fromkeys(("cor", "inc", "par", "spu"), 1.0)
"""What makes up the predictions."""
BLOCK = 1 << 21
"""Overlapping pairs that are looked at together."""
OMITTED = "predictions left out"
MACRO = {"P": "prec", "R": "recall", "F1": "F1"}
"""The ratios by the names that the program gives to their means."""


def match(layers: LayerPair, options: Options) -> MatchedSides:
    """Match spans under the four schemas, and `exact` among the spans of each type."""
    types = tuple(sorted({name.lower() for layer in layers[:2] for name in layer.types}))
    gold, pred = UnitColumns.of_layer(layers.gold), UnitColumns.of_layer(layers.pred)
    kinds = [np.array([types.index(name.lower()) for name in side.types], np.int64)[side.kind] for side in (gold, pred)]
    pairs, pairs_of_types = (_meet((gold, pred), kinds, len(types), apart=apart) for apart in (False, True))
    rows = {schema: _match_rows(pairs, is_right(pairs), len(gold), schema) for schema, is_right in SCHEMAS.items()}
    rows[PER_TYPE] = by_type = _match_rows(pairs_of_types, pairs_of_types.has_same_place, len(gold), PER_TYPE)
    kind = np.where(by_type.gold >= 0, at(kinds[0], by_type.gold), at(kinds[1], by_type.pred))
    scopes: dict[str, tuple[Array, Sequence[str]]] = {PER_TYPE: (kind, [scope_of_type(name) for name in types])}

    def records(evaluation: str) -> pd.DataFrame:
        matched = rows[evaluation]
        scope = scopes.get(evaluation, OVERALL)
        return record_frame(evaluation, gold, pred, matched, REASONS, _contributions(matched), scope=scope)

    added = {name: np.stack(list(_contributions(matched).values())) for name, matched in rows.items()}
    tables = {schema: {OVERALL: tuple(added[schema].sum(axis=1).tolist())} for schema in SCHEMAS}
    tables[PER_TYPE] = {
        name: tuple(added[PER_TYPE][:, kind == code].sum(axis=1).tolist()) for code, name in enumerate(types)
    }
    tables[OMITTED] = {"predictions": (int((rows["strict"].decision == IGN).sum()),)}
    return MatchedSides.of_layers(layers, tables, records)


def figures(counts: CountTables, options: Options) -> Figures:
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    for schema in SCHEMAS:
        row = counts.rows(schema).get(OVERALL, (0,) * len(COUNTED))
        scores[schema] = _figures_of(row, credit=schema == "partial")
        rows += figure_rows(schema, {OVERALL: scores[schema]}, COUNTED)
    by_type = dict.fromkeys(TYPES, (0,) * len(COUNTED)) | dict(counts.rows(PER_TYPE))
    types = {name: _figures_of(row) for name, row in by_type.items()}
    macro = {name: sum(types[kind][name] for kind in TYPES) / len(TYPES) for name in MACRO.values()}
    scores[PER_TYPE] = {"types": types, "macro": macro}
    rows += figure_rows(PER_TYPE, {scope_of_type(name): row for name, row in types.items()}, COUNTED)
    rows += figure_rows(PER_TYPE, {OVERALL: {f"macro {name}": value for name, value in macro.items()}}, ())
    scores[OMITTED] = counts.number(OMITTED, "predictions")
    return Figures(scores, rows, _notes(by_type, scores[OMITTED]))


def _notes(types: Iterable[str], n_omitted: int) -> tuple[str, ...]:
    notes = []
    if others := ", ".join(quoted(name) for name in types if name not in TYPES):
        notes.append(f"the program refuses types other than its four: counted here, but not in macro: {others}")
    if n_omitted:
        notes.append(f"{counted(n_omitted, 'prediction')} in sentences without gold: left out")
    return tuple(notes)


def _figures_of(row: Sequence[int], *, credit: bool = False) -> dict[str, float]:
    """Return the counts of a row, and the ratios that the program makes of them; `credit` is half for partial ones."""
    counts = dict(zip(COUNTED, row, strict=True))
    total = counts["total"]
    predicted = total - counts["mis"] + counts["spu"]
    precision = counts["cor"] / predicted if predicted else 0.0
    recall = (counts["cor"] + 0.5 * counts["par"] * credit) / total if total else 0.0
    both = precision + recall
    ratios = {"prec": precision, "recall": recall, "F1": 2 * precision * recall / both if both else 0.0}
    return {**counts, **ratios}


def _meet(sides: Sequence[UnitColumns], kinds: Sequence[Int64], n_types: int, *, apart: bool) -> Pairs:
    """Return what each prediction meets; `apart`: only spans of its type."""
    gold, pred = sides
    gold_kind, pred_kind = kinds
    columns = []
    for units, kind in zip(sides, kinds, strict=True):
        doc = units.doc.astype(np.int64)
        stretch = stretch_starts(units.documents, doc, kind, n_types) if apart else units.documents.base[doc]
        columns.append((stretch + units.start, stretch + units.end, doc * n_types + kind if apart else doc))
    (gold_start, gold_end, gold_group), (pred_start, pred_end, pred_group) = columns
    orders = [np.argsort(start, kind="stable") for start in (gold_start, pred_start)]
    by_start = (gold_start[orders[0]], gold_end[orders[0]], pred_start[orders[1]], pred_end[orders[1]])
    first = np.full(len(pred), len(gold))
    for g, p in overlap_blocks(*by_start, BLOCK):
        np.minimum.at(first, orders[1][p], orders[0][g])
    first[first == len(gold)] = -1
    is_met = first >= 0
    has_same_place = is_met & (at(gold_start, first) == pred_start) & (at(gold_end, first) == pred_end)
    broken = [p for p in np.flatnonzero(has_same_place).tolist() if p in pred.fragments or first[p] in gold.fragments]
    has_same_place[broken] = [pred.fragments.get(p) == gold.fragments.get(int(first[p])) for p in broken]
    has_same_type = is_met & (at(gold_kind, first) == pred_kind)
    return Pairs(first, has_same_place, has_same_type, np.isin(pred_group, gold_group))


def _match_rows(pairs: Pairs, is_right: Bools, n_gold: int, evaluation: str) -> MatchRows:
    """Return a row for each prediction, then one for each gold span that none meets."""
    is_met = pairs.gold >= 0
    wrong = PAR if evaluation == "partial" else INC
    decision = np.where(is_right, COR, np.where(is_met, wrong, np.where(pairs.has_gold, SPU, IGN)))
    reason = np.where(is_right, RIGHT, np.where(is_met, OTHER, np.where(pairs.has_gold, ALONE, NO_GOLD)))
    missed = other_units(pairs.gold[is_met], n_gold)
    return MatchRows(
        np.concatenate((pairs.gold, missed)),
        np.concatenate((np.arange(len(pairs.gold)), np.full(len(missed), -1))),
        np.concatenate((decision, np.full(len(missed), MIS))),
        np.concatenate((reason, np.full(len(missed), MISSED))),
    )


def _contributions(rows: MatchRows) -> dict[str, Array]:
    """Return what each row adds to each count: a gold span that is met once more takes 1 from `mis`."""
    is_pair = (rows.gold >= 0) & (rows.pred >= 0)
    pairs = np.flatnonzero(is_pair)
    again = np.delete(pairs, np.unique(rows.gold[pairs], return_index=True)[1])
    codes = zip(COUNTS, (COR, INC, PAR, MIS, SPU), strict=True)
    contributions = {name: (rows.decision == code).astype(np.int64) for name, code in codes}
    contributions["mis"][again] -= 1
    total = contributions["cor"] + contributions["inc"] + contributions["par"] + contributions["mis"]
    return contributions | {"total": total}


def _printed(outcome: Outcome) -> str:
    """Return the figures as the program prints them, without its lines about files."""
    lines = []
    scores = outcome.scores
    sections = [(HEADS[schema], scores[schema]) for schema in SCHEMAS]
    sections += [(f"Exact matching on {name}", scores[PER_TYPE]["types"][name]) for name in TYPES]
    for head, row in sections:
        values = [*(str(row[name]) for name in COUNTED), *(_rounded(row[name]) for name in MACRO.values())]
        lines += [head, "\t".join([*COUNTED, *MACRO.values()]), "\t".join(values), ""]
    macro = [_rounded(scores[PER_TYPE]["macro"][name]) for name in MACRO.values()]
    return "\n".join([*lines, "MACRO-AVERAGE MEASURES:", "\t".join(MACRO), "\t".join(macro), ""])


def _rounded(value: float) -> str:
    """Return a ratio to two places, half to even, without zeros at its end."""
    text = str(Decimal(value).quantize(Decimal("0.01"), ROUND_HALF_EVEN))
    return text.rstrip("0").rstrip(".")


CONVENTIONS = (
    Convention(
        name="semeval-2013-9.1",
        family="clinical mentions and codes",
        sentence="The four schemas as first programmed: each prediction meets the first gold span that it overlaps.",
        needs="spans in the order given; a document is a sentence",
        source="evaluateNER.jar of SemEval-2013 task 9.1 (Segura-Bedmar et al. 2013)",
        steps=ScorerSteps(read_layers, same_layers, match),
        figures=figures,
        twins={name: name for name in SCHEMAS},
        forms={"figures": _printed},
        ratios=RATIOS,
        parts={
            "": PartWeights({"cor": 1}, {"cor": 1}, {"total": 1}, PREDICTED),
            "partial": PartWeights({"cor": 1, "par": 0.5}, {"cor": 1}, {"total": 1}, PREDICTED),
        },
        other_formulas={
            "prec": "cor / (cor + inc + par + spu)",
            "partial/recall": "(cor + 0.5 × par) / total",
        },
    ),
)
