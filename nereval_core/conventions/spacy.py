"""spaCy's Scorer over entities (`Doc.ents`) and over a group of spans (`Doc.spans["sc"]`).

Both count spans of the same document, label, first and last token. Entities of a `Doc` never share a token: overlapping
spans are refused, as `Doc.set_ents` refuses them. The spans of a group may overlap; a span that is given twice counts
once. A figure is None where there is no span at all, and a label that either side has gets figures of its own.

Gold and prediction have the tokens of gold's documents; a span that does not fit them is refused, because
`Doc.char_span` finds none there. Documents without tokens are taken to have tokens that all spans fit. Gold documents
count as annotated: a layer holds no tokens whose entity is unknown.
Source: spaCy 3.8, spacy/scorer.py (`get_ner_prf` and `Scorer.score_spans` with overlaps, as the components "ner" and
"spancat" call them).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
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
from nereval_core.conventions.shares import NO_DOCUMENTS, ByShares, Share, without_records
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted

ENTS, SPANS = "ents", "spans_sc"
"""The evaluations, by the beginnings of the keys that spaCy gives its figures."""
NAMES = {ENTS: "spacy-ents", SPANS: "spacy-spans"}
BY_TYPE = "types"
"""The table of counts by type: true positives, false positives, false negatives."""
COUNTERS = {"tp": COR, "fp": SPU, "fn": MIS}
WHY = (
    "the same label, first and last token on the other side",
    "no span of the same label, first and last token on the other side",
    "the same label, first and last token once more: counted once",
)
SAME, NONE, TWICE = range(3)
TINY = 1e-100
"""What spaCy adds to denominators, so that 0 / 0 is 0."""


@dataclass(frozen=True, eq=False)
class MatchedSpans:
    """The spans of both sides in reading order, by number.

    `gold` and `pred` (shape (pairs,)) are equal spans; `repeated` marks on either side spans that were given before.
    `kinds` are indices into `types`, which both sides share.
    """

    gold: Int64
    pred: Int64
    repeated: tuple[Bools, Bools]
    kinds: tuple[Int64, Int64]
    types: tuple[str, ...]


def score(given: Given, options: Mapping[str, Any], *, evaluation: str) -> Outcome:
    """Score two files of any format by their layers."""
    read = given.read()
    return replace(of_layers(read.gold, read.pred, options, evaluation=evaluation), marks=read.marks)


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any], *, evaluation: str) -> Outcome:
    """Score layers: counters `tp`, `fp` and `fn` by label and overall.

    Raises:
        FormatError: spans that no `Doc` can hold.
    """
    _refuse(gold, pred, evaluation)
    matched = _matched(gold, pred)

    def build(evaluation: str) -> Any:
        g, p, decision, why = _decided(matched)
        counters = {name: decision == code for name, code in COUNTERS.items()}
        sides = UnitColumns.of_layer(gold), UnitColumns.of_layer(pred)
        return with_types(record_frame(evaluation, *sides, g, p, decision, (why, WHY), counters))

    outcome = of_share(_share(gold, pred, matched), options, evaluation=evaluation)
    return replace(outcome, documents=gold.documents, build=build)


def counted(gold: Layer, pred: Layer, options: Mapping[str, Any], *, evaluation: str) -> Share:
    """Count the spans of a part of a corpus by type."""
    _refuse(gold, pred, evaluation)
    return _share(gold, pred, _matched(gold, pred))


def of_share(share: Share, options: Mapping[str, Any], *, evaluation: str) -> Outcome:
    """Return the figures of a share, without records."""
    by_type = dict(sorted(share.tables.get(BY_TYPE, {}).items()))
    whole = tuple(sum(row[column] for row in by_type.values()) for column in range(len(COUNTERS)))
    ratios = _ratios(*whole) if any(whole) else dict.fromkeys("prf")
    scores: dict[str, Any] = {f"{evaluation}_{name}": value for name, value in ratios.items()}
    own = {name: _ratios(*row) for name, row in by_type.items()}
    scores[f"{evaluation}_per_type"] = own if any(whole) else None
    rows: list[FigureRow] = []
    for scope, counts, values in (
        (OVERALL, whole, ratios),
        *((scope_of_type(name), row, own[name]) for name, row in by_type.items()),
    ):
        rows += [(evaluation, scope, name, value, False) for name, value in values.items()]
        rows += [(evaluation, scope, name, value, True) for name, value in zip(COUNTERS, counts, strict=True)]
    name = NAMES[evaluation]
    return Outcome(name, options, NO_DOCUMENTS, share.gold, share.pred, scores, figures(rows), without_records)


def _share(gold: Layer, pred: Layer, matched: MatchedSpans) -> Share:
    sizes = [
        np.bincount(kind[~repeated], minlength=len(matched.types))
        for kind, repeated in zip(matched.kinds, matched.repeated, strict=True)
    ]
    right = np.bincount(matched.kinds[0][matched.gold], minlength=len(matched.types))
    rows = zip(right.tolist(), (sizes[1] - right).tolist(), (sizes[0] - right).tolist(), strict=True)
    found = {name: row for name, row in zip(matched.types, rows, strict=True) if any(row)}
    return Share({BY_TYPE: found}, Content.of_layer(gold), Content.of_layer(pred))


def _ratios(tp: int, fp: int, fn: int) -> dict[str, float | None]:
    precision, recall = tp / (tp + fp + TINY), tp / (tp + fn + TINY)
    return {"p": precision, "r": recall, "f": 2 * ((precision * recall) / (precision + recall + TINY))}


def _matched(gold: Layer, pred: Layer) -> MatchedSpans:
    types = tuple(sorted({*gold.types, *pred.types}))
    code = {name: number for number, name in enumerate(types)}
    tables, kinds = [], []
    for layer in (gold, pred):
        order = reading_order(layer)
        kinds.append(np.array([code[name] for name in layer.types], np.int64)[layer.type[order]])
        columns = (layer.doc[order], layer.start[order], layer.end[order], kinds[-1])
        tables.append(np.column_stack([column.astype(np.int64) for column in columns]))
    # Equal spans of either side share a number.
    number = np.unique(np.concatenate(tables), axis=0, return_inverse=True)[1].reshape(-1)
    distinct, first, repeated = [], [], []
    for side in (number[: len(gold)], number[len(gold) :]):
        values, places = np.unique(side, return_index=True)
        distinct.append(values)
        first.append(places)
        repeated.append(np.ones(len(side), bool))
        repeated[-1][places] = False
    one, two = (np.isin(mine, other) for mine, other in (distinct, distinct[::-1]))
    return MatchedSpans(first[0][one], first[1][two], (repeated[0], repeated[1]), (kinds[0], kinds[1]), types)


def _decided(matched: MatchedSpans) -> tuple[Int64, ...]:
    """Return units, decision and number of the reason of each record: gold first, then the other predictions."""
    partner = np.full(len(matched.kinds[0]), -1)
    partner[matched.gold] = matched.pred
    alone = np.ones(len(matched.kinds[1]), bool)
    alone[matched.pred] = False
    others = np.flatnonzero(alone)
    g = np.concatenate((np.arange(len(partner)), np.full(len(others), -1)))
    p = np.concatenate((partner, others))
    again = np.concatenate((matched.repeated[0], matched.repeated[1][others]))
    both = (g >= 0) & (p >= 0)
    decision = np.where(again, IGN, np.where(both, COR, np.where(g >= 0, MIS, SPU)))
    return g, p, decision, np.where(again, TWICE, np.where(both, SAME, NONE))


def _refuse(gold: Layer, pred: Layer, evaluation: str) -> None:
    """Raise a FormatError with the spans that no `Doc` can hold."""
    problems = [problem for layer in (gold, pred) for problem in _problems(layer, evaluation)]
    if problems:
        raise FormatError(problems)


def _problems(layer: Layer, evaluation: str) -> list[Problem]:
    ids = layer.documents.ids

    def problem(span: int, found: str, remedy: str) -> Problem:
        place = f"document {quoted(ids[int(layer.doc[span])])}: the span {layer.start[span]}-{layer.end[span]}"
        return Problem(layer.name, None, f"{place} {quoted(layer.label(span))} {found}", remedy)

    whole = "join its fragments or leave it out, or choose another convention"
    fit = "give spans that begin and end with tokens, or documents without tokens"
    broken, loose = sorted(layer.fragments), np.flatnonzero(~_fitting(layer)).tolist()
    problems = [problem(span, "is discontinuous, which no Span of spaCy is", whole) for span in broken]
    problems += [problem(span, "does not fit the tokens: Doc.char_span finds none there", fit) for span in loose]
    if evaluation == ENTS:
        order = np.lexsort((layer.end, layer.start, layer.doc))
        left, right = order[:-1], order[1:]
        shared = (layer.doc[left] == layer.doc[right]) & (layer.start[right] < layer.end[left])
        found = "overlaps the one before it, at which Doc.set_ents stops (E1010)"
        apart = f"leave one out, or score spans that may overlap: {NAMES[SPANS]}"
        problems += [problem(span, found, apart) for span in right[shared].tolist()]
    return problems


def _fitting(layer: Layer) -> Bools:
    """Return which spans begin and end with tokens, shape (spans,); those of documents without tokens do."""
    tokens = layer.documents.tokens
    if tokens is None:
        return np.ones(len(layer), bool)
    counts, base = np.diff(tokens.first), layer.documents.base
    offset = np.repeat(base[:-1], counts)
    found = np.isin(base[layer.doc] + layer.start, offset + tokens.starts)
    found &= np.isin(base[layer.doc] + layer.end, offset + tokens.ends)
    bare: Bools = counts[layer.doc] == 0
    return found | bare


def _printed(outcome: Outcome) -> str:
    """Return the dict that the scorer returns, as JSON with labels in order."""
    return json.dumps(outcome.scores, indent=2, ensure_ascii=False) + "\n"


SENTENCES = {
    ENTS: "Entities of the same label and tokens; none may overlap; None where there is no entity at all.",
    SPANS: "Spans of the same label and tokens, which may overlap; equal ones count once.",
}
NEEDS = {
    ENTS: "continuous spans that fit the tokens and do not overlap",
    SPANS: "continuous spans that fit the tokens",
}
CALLS = {ENTS: "get_ner_prf", SPANS: "Scorer.score_spans with overlaps"}

CONVENTIONS = tuple(
    Convention(
        name=name,
        family="spaCy",
        sentence=SENTENCES[evaluation],
        needs=NEEDS[evaluation],
        source=f"spaCy 3.8.18, spacy/scorer.py: {CALLS[evaluation]} (Explosion)",
        score=partial(score, evaluation=evaluation),
        of_layers=partial(of_layers, evaluation=evaluation),
        by_shares=ByShares(partial(counted, evaluation=evaluation), partial(of_share, evaluation=evaluation)),
        twins={evaluation: "strict"},
        forms={"json": _printed},
        names={"P": "p", "R": "r", "F1": "f", "COR": "tp"},
        formulas={"p": "tp / (tp + fp)", "r": "tp / (tp + fn)", "f": "2 × p × r / (p + r)"},
    )
    for evaluation, name in NAMES.items()
)
