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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nereval_core.arrays import Bools, Int64
from nereval_core.conventions import Convention, Given
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
    scope_of_type,
    with_types,
)
from nereval_core.conventions.shares import precision_recall_f1
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted

TYPES = ("Drug", "Strength", "Duration", "Route", "Form", "ADE", "Dosage", "Reason", "Frequency")
"""The types that the script prints."""
MODES = ("strict", "lenient")
RATIOS = ("precision", "recall", "f1")
COUNTERS = {"tp": COR, "fp": SPU, "fn": MIS}
MOST_FRAGMENTS = 3
WHY = (
    "equals this gold span",
    "no span of the other side equals it",
    "equals a gold span that an earlier prediction equals: left out",
    "its prediction is right for another gold span already",
    "only predictions that are left out equal it",
)
RIGHT, NONE, LEFT_OUT, SHARED, LOST = range(5)


@dataclass(frozen=True, eq=False)
class SortedSpans:
    """The spans of one side in reading order: places over all documents and types, and the document of each."""

    start: Int64
    end: Int64
    doc: Int64
    kind: Int64


@dataclass(frozen=True, eq=False)
class DecidedSpans:
    """Gold and prediction by number (-1 none), decision and number of the reason of each record."""

    gold: Int64
    pred: Int64
    decision: Int64
    why: Int64


def score(given: Given, options: Mapping[str, Any]) -> Outcome:
    """Score two folders or files of any format by their layers."""
    read = given.read()
    return replace(of_layers(read.gold, read.pred, options), marks=read.marks)


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> Outcome:
    """Score layers: counters `tp`, `fp` and `fn` by type and overall; types that the script does not print come last.

    Raises:
        FormatError: spans of more fragments than the script can split; no document at all.
    """
    _refuse(gold, pred)
    types = tuple(sorted({*gold.types, *pred.types}))
    sides = _sorted_spans(gold, types), _sorted_spans(pred, types)
    decided = {mode: _decided(*sides, strict=mode == "strict") for mode in MODES}
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    for mode, found in decided.items():
        doc, kind = (
            np.where(found.gold >= 0, _taken(one, found.gold), _taken(two, found.pred))
            for one, two in ((sides[0].doc, sides[1].doc), (sides[0].kind, sides[1].kind))
        )
        counts, by_type = (
            np.column_stack([np.bincount(key[found.decision == code], minlength=size) for code in COUNTERS.values()])
            for key, size in ((doc, len(gold.documents)), (kind, len(types)))
        )
        own = dict.fromkeys(TYPES, (0, 0, 0)) | dict(zip(types, map(tuple, by_type.tolist()), strict=True))
        every = [_ratios(*row) for row in counts.tolist()]
        macro = {name: sum(one[name] for one in every) / len(every) for name in RATIOS}
        whole = tuple(counts.sum(axis=0).tolist())
        scores[mode] = {
            **dict(zip(COUNTERS, whole, strict=True)),
            "micro": _ratios(*whole),
            "macro": macro,
            "types": {name: {**dict(zip(COUNTERS, row, strict=True)), **_ratios(*row)} for name, row in own.items()},
        }
        for scope, row in ((OVERALL, whole), *((scope_of_type(name), row) for name, row in own.items())):
            rows += [(mode, scope, name, value, False) for name, value in _ratios(*row).items()]
            rows += [(mode, scope, name, value, True) for name, value in zip(COUNTERS, row, strict=True)]
        rows += [(mode, OVERALL, f"macro {name}", value, False) for name, value in macro.items()]

    def build(evaluation: str) -> Any:
        found = decided[evaluation]
        counters = {name: found.decision == code for name, code in COUNTERS.items()}
        units = UnitColumns.of_layer(gold), UnitColumns.of_layer(pred)
        why = (found.why, WHY)
        return with_types(record_frame(evaluation, *units, found.gold, found.pred, found.decision, why, counters))

    contents = Content.of_layer(gold), Content.of_layer(pred)
    return Outcome("n2c2-2018", options, gold.documents, *contents, scores, figures(rows), build)


def _taken(column: Int64, index: Int64) -> Int64:
    return column[index] if len(column) else np.full(len(index), -1)


def _ratios(tp: int, fp: int, fn: int) -> dict[str, float]:
    return dict(zip(RATIOS, precision_recall_f1(tp, tp + fp, tp + fn), strict=True))


def _refuse(gold: Layer, pred: Layer) -> None:
    problems = []
    if not len(gold.documents):
        found = "there is no document, where the script prints no figures"
        problems.append(Problem(gold.name, None, found, "give at least one"))
    for layer in (gold, pred):
        for span, parts in sorted(layer.fragments.items()):
            if len(parts) > MOST_FRAGMENTS:
                place = f"document {quoted(layer.documents.ids[int(layer.doc[span])])}: {quoted(layer.text(span))}"
                found = f"{place} has {len(parts)} fragments, of which the script takes {MOST_FRAGMENTS} at most"
                problems.append(Problem(layer.name, None, found, "join some, or choose another convention"))
    if problems:
        raise FormatError(problems)


def _sorted_spans(layer: Layer, types: tuple[str, ...]) -> SortedSpans:
    order = reading_order(layer)
    code = {name: number for number, name in enumerate(types)}
    kind = np.array([code[name] for name in layer.types], np.int64)[layer.type[order]]
    doc = layer.doc[order].astype(np.int64)
    # Each type of a document has a stretch of its own, so that spans of two never overlap.
    base = layer.documents.base
    stretch: Int64 = base[doc] * len(types) + kind * layer.documents.lengths[doc]
    start, end = (stretch + column[order].astype(np.int64) for column in (layer.start, layer.end))
    return SortedSpans(start, end, doc, kind)


def _equal_spans(gold: SortedSpans, pred: SortedSpans, *, strict: bool) -> Iterator[Int64]:
    """Yield for each prediction the gold spans that it equals, in reading order."""
    order = np.lexsort((gold.end, gold.start))
    start, end = gold.start[order], gold.end[order]
    reach = np.maximum.accumulate(end) if len(end) else end
    low = np.searchsorted(reach, pred.start, side="right").tolist()
    high = np.searchsorted(start, pred.end, side="left").tolist()
    for one, two, first, last in zip(low, high, pred.start.tolist(), pred.end.tolist(), strict=True):
        part = slice(one, max(one, two))
        equal = (start[part] == first) & (end[part] == last) if strict else end[part] > first
        yield np.sort(order[part][equal])


def _decided(gold: SortedSpans, pred: SortedSpans, *, strict: bool) -> DecidedSpans:
    reached: Bools = np.zeros(len(gold.start), bool)
    partner = np.full(len(gold.start), -1)
    why = np.full(len(gold.start), NONE)
    rest: list[tuple[int, int, int]] = []
    for number, equal in enumerate(_equal_spans(gold, pred, strict=strict)):
        if not len(equal):
            rest.append((number, SPU, NONE))
            continue
        if reached[equal].any():
            rest.append((number, IGN, LEFT_OUT))
            why[equal[~reached[equal]]] = LOST
        else:
            partner[equal[0]] = number
            why[equal[0]], why[equal[1:]] = RIGHT, SHARED
        reached[equal] = True
    others = np.array(rest, np.int64).reshape(-1, 3)
    nobody = np.full(len(others), -1)
    return DecidedSpans(
        np.concatenate((np.arange(len(partner)), nobody)),
        np.concatenate((partner, others[:, 0])),
        np.concatenate((np.where(partner >= 0, COR, MIS), others[:, 1])),
        np.concatenate((why, others[:, 2])),
    )


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
    for number, (name, both) in enumerate(sections):
        if number == len(TYPES):
            lines.append(f"{'':>20}  {'':-^48}")
        lines.append(f"{name:>20}  " + "    ".join("  ".join(f"{row[key]:<5.4f}" for key in RATIOS) for row in both))
    return "\n".join([*lines, "", ""])


CONVENTIONS = (
    Convention(
        name="n2c2-2018",
        family="clinical mentions and codes",
        sentence="Equal or overlapping spans of a type; a second prediction of a gold span is left out.",
        needs="spans in the order given, of at most three fragments",
        source="Track2-evaluate-ver4.py of n2c2 2018 track 2 (Henry et al. 2020)",
        score=score,
        of_layers=of_layers,
        twins={"strict": "strict", "lenient": "type"},
        forms={"text-tags": _printed},
        names={"P": "precision", "R": "recall", "F1": "f1", "COR": "tp"},
        formulas={
            "precision": "tp / (tp + fp)",
            "recall": "tp / (tp + fn)",
            "f1": "2 × precision × recall / (precision + recall)",
        },
    ),
)
