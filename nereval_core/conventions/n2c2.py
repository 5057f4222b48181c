"""The evaluation script of n2c2 2018, track 2 (adverse drug events and medication), for spans.

`strict` takes spans of the same type, start and end for equal, `lenient` spans of the same type that share a character.
Predictions are met in the order of the file: one that equals a gold span which an earlier prediction equals, counted or
not, is left out and costs nothing. Each of the others that equals a gold span is right once, however many gold spans it
equals; gold spans beyond the number of right predictions are missed. A discontinuous span of two or three fragments
goes from its first start to its last end; the script misreads one of more. `micro` sums over documents, `macro` is the
mean over all documents of each ratio, where a zero denominator gives 0.
Relations are not reproduced: layers have none.
Source: Track2-evaluate-ver4.py of the shared task (Henry, Buchan, Filannino, Stubbs and Uzuner 2020).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
    same_layers,
)
from nereval_core.conventions.outcome import CountTables, FigureRow, Figures, Outcome, RatioNames, Tables, figure_rows
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
    scope_of_type,
    stretch_starts,
)
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Int64
from nereval_core.problems import FormatError, Problem, ProblemList, quoted

TYPES = ("Drug", "Strength", "Duration", "Route", "Form", "ADE", "Dosage", "Reason", "Frequency")
"""The types that the script prints."""
MODES = ("strict", "lenient")
RATIOS = RatioNames(precision="precision", recall="recall", f1="f1", correct="tp", fp="fp", fn="fn")
EVALUATION = Evaluation(
    reasons=(
        "equals this gold span",
        "no span of the other side equals it",
        "equals a gold span that an earlier prediction equals: left out",
        "its prediction is right for another gold span already",
        "only predictions that are left out equal it",
    ),
    counters={"tp": (COR,), "fp": (SPU,), "fn": (MIS,)},
    by_type=True,
)
RIGHT, NONE, LEFT_OUT, SHARED, LOST = range(5)
MOST_FRAGMENTS = 3
TYPED, BY_DOCUMENT = "types/", "documents/"
"""Beginnings of the names of tables, which end in the mode."""


@dataclass(frozen=True, eq=False)
class SortedSpans:
    """The spans of one side in reading order: places over all documents and types."""

    start: Int64
    end: Int64


def match(layers: LayerPair, options: Options) -> MatchedSides:
    """Match spans in both modes; types that the script does not print are counted too.

    Raises:
        FormatError: spans of more fragments than the script can split; no document at all.
    """
    gold, pred, _ = layers
    _refuse(gold, pred)
    shared = SharedTypes.of_layers(gold, pred)
    sides = [
        _sorted_spans(layer, kind, len(shared.types)) for layer, kind in ((gold, shared.gold), (pred, shared.pred))
    ]
    docs = [layer.doc[reading_order(layer)].astype(np.int64) for layer in (gold, pred)]
    rows = {mode: _match_rows(sides[0], sides[1], strict=mode == "strict") for mode in MODES}

    def records(evaluation: str) -> pd.DataFrame:
        return EVALUATION.records(evaluation, [UnitColumns.of_layer(side) for side in (gold, pred)], rows[evaluation])

    tables: Tables = {
        **{
            TYPED + mode: dict.fromkeys(shared.types, (0,) * IGN) | rows[mode].decisions_by_type(shared)
            for mode in MODES
        },
        **{BY_DOCUMENT + mode: rows[mode].decisions_by_type(SharedTypes(gold.documents.ids, *docs)) for mode in MODES},
    }
    return MatchedSides.of_layers(layers, tables, records)


def figures(counts: CountTables, options: Options) -> Figures:
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    for mode in MODES:
        by_type = {**dict.fromkeys(TYPES, (0,) * IGN), **counts.rows(TYPED + mode)}
        scopes = EVALUATION.scopes(by_type)
        ratios = {scope: RATIOS.of(row) for scope, row in scopes.items()}
        documents = counts.rows(BY_DOCUMENT + mode).values()
        of_row = {row: RATIOS.of(EVALUATION.counts(row)) for row in set(documents)}
        # Documents without a span have ratios of 0.
        macro = {name: sum(of_row[row][name] for row in documents) / counts.gold.documents for name in ratios[OVERALL]}
        named = {name: scope_of_type(name) for name in by_type}
        scores[mode] = {
            **scopes[OVERALL],
            "micro": ratios[OVERALL],
            "macro": macro,
            "types": {name: scopes[scope] | ratios[scope] for name, scope in named.items()},
        }
        table = {scope: ratios[scope] | scopes[scope] for scope in (OVERALL, *named.values())}
        rows += figure_rows(mode, table, EVALUATION.counters)
        rows += figure_rows(mode, {OVERALL: {f"macro {name}": value for name, value in macro.items()}}, ())
    return Figures(scores, rows)


def _refuse(gold: Layer, pred: Layer) -> None:
    problems = ProblemList()
    if not len(gold.documents):
        finding = "there is no document, where the script prints no figures"
        problems.append(Problem(gold.name, None, finding, "give at least one"))
    for layer in (gold, pred):
        for span, parts in sorted(layer.fragments.items()):
            if len(parts) > MOST_FRAGMENTS:
                place = f"document {quoted(layer.documents.ids[int(layer.doc[span])])}: {quoted(layer.text(span))}"
                finding = f"{place} has {len(parts)} fragments, of which the script takes {MOST_FRAGMENTS} at most"
                problems.append(Problem(layer.name, None, finding, "join some, or choose another convention"))
    if problems:
        raise FormatError(problems)


def _sorted_spans(layer: Layer, kind: Int64, n_types: int) -> SortedSpans:
    order = reading_order(layer)
    doc = layer.doc[order].astype(np.int64)
    stretch = stretch_starts(layer.documents, doc, kind, n_types)
    start, end = (stretch + column[order].astype(np.int64) for column in (layer.start, layer.end))
    return SortedSpans(start, end)


def _equal_spans(gold: SortedSpans, pred: SortedSpans, *, strict: bool) -> Iterator[Int64]:
    """Yield for each prediction the gold spans that it equals, in reading order."""
    order = np.lexsort((gold.end, gold.start))
    start, end = gold.start[order], gold.end[order]
    reach = np.maximum.accumulate(end) if len(end) else end
    low = np.searchsorted(reach, pred.start, side="right").tolist()
    high = np.searchsorted(start, pred.end, side="left").tolist()
    for lowest, highest, first, last in zip(low, high, pred.start.tolist(), pred.end.tolist(), strict=True):
        part = slice(lowest, max(lowest, highest))
        equal = (start[part] == first) & (end[part] == last) if strict else end[part] > first
        yield np.sort(order[part][equal])


def _match_rows(gold: SortedSpans, pred: SortedSpans, *, strict: bool) -> MatchRows:
    is_reached = np.zeros(len(gold.start), bool)
    partner = np.full(len(gold.start), -1)
    reason = np.full(len(gold.start), NONE)
    others: list[tuple[int, int]] = []
    for number, equal in enumerate(_equal_spans(gold, pred, strict=strict)):
        if not len(equal):
            others.append((number, NONE))
            continue
        if is_reached[equal].any():
            others.append((number, LEFT_OUT))
            reason[equal[~is_reached[equal]]] = LOST
        else:
            partner[equal[0]] = number
            reason[equal[0]], reason[equal[1:]] = RIGHT, SHARED
        is_reached[equal] = True
    numbers, reasons = np.array(others, np.int64).reshape(-1, 2).T
    return MatchRows.of_partners(partner, reason, numbers, reasons == LEFT_OUT, reasons)


def _printed(outcome: Outcome) -> str:
    """Return what the script prints of spans, the blank line after it included."""
    modes = [outcome.scores[mode] for mode in MODES]
    columns = "  ".join(f"{name:6}" for name in ("Prec.", "Rec.", "F(b=1)"))
    lines = [
        f"{' TRACK 2 ':*^70}",
        f"{'':20}  {' strict ':-^22}    {' lenient ':-^22}",
        f"{'':20}  {columns}    {columns}",
    ]
    sections = [(name.capitalize(), [mode["types"][name] for mode in modes]) for name in TYPES]
    sections += [(f"Overall ({name})", [mode[name] for mode in modes]) for name in ("micro", "macro")]
    for number, (name, figures_by_mode) in enumerate(sections):
        if number == len(TYPES):
            lines.append(f"{'':>20}  {'':-^48}")
        lines.append(
            f"{name:>20}  "
            + "    ".join(
                "  ".join(f"{row[key]:<5.4f}" for key in (RATIOS.precision, RATIOS.recall, RATIOS.f1))
                for row in figures_by_mode
            )
        )
    return "\n".join([*lines, "", ""])


CONVENTIONS = (
    Convention(
        name="n2c2-2018",
        family="clinical mentions and codes",
        sentence="Equal or overlapping spans of a type; a second prediction of a gold span is left out.",
        needs="spans in the order given, of at most three fragments",
        source="Track2-evaluate-ver4.py of n2c2 2018 track 2 (Henry et al. 2020)",
        steps=ScorerSteps(read_layers, same_layers, match),
        figures=figures,
        not_by_shards="its macro average is over documents in the order of the whole corpus",
        twins={"strict": "strict", "lenient": "type"},
        forms={"text-tags": _printed},
        ratios=RATIOS,
    ),
)
