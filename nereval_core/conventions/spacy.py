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
from functools import partial
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
from nereval_core.conventions.outcome import CountTables, Figures, Outcome, RatioNames, figure_rows
from nereval_core.conventions.records import (
    COR,
    MIS,
    OVERALL,
    SPU,
    Evaluation,
    MatchRows,
    SharedTypes,
    UnitColumns,
    scope_of_type,
    span_keys,
)
from nereval_core.conventions.token_places import fits_tokens
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted

ENTS, SPANS = "ents", "spans_sc"
"""The evaluations, by the beginnings of the keys that spaCy gives its figures."""
NAMES = {ENTS: "spacy-ents", SPANS: "spacy-spans"}
BY_LABEL = "types"
EVALUATION = Evaluation(
    reasons=(
        "the same label, first and last token on the other side",
        "no span of the same label, first and last token on the other side",
        "the same label, first and last token once more: counted once",
    ),
    counters={"tp": (COR,), "fp": (SPU,), "fn": (MIS,)},
    by_type=True,
)
RATIOS = RatioNames(precision="p", recall="r", f1="f", correct="tp", fp="fp", fn="fn")
TINY = 1e-100
"""What spaCy adds to denominators, so that 0 / 0 is 0."""


def match(layers: LayerPair, options: Options, *, name: str) -> MatchedSides:
    """Match spans of the same document, label, start and end.

    Raises:
        FormatError: spans that no `Doc` can hold.
    """
    gold, pred, _ = layers
    problems = [problem for layer in (gold, pred) for problem in _problems(layer, name)]
    if problems:
        raise FormatError(problems)
    shared = SharedTypes.of_layers(gold, pred)
    rows = MatchRows.of_sets(*span_keys(gold, pred, shared))

    def records(evaluation: str) -> pd.DataFrame:
        return EVALUATION.records(evaluation, [UnitColumns.of_layer(side) for side in (gold, pred)], rows)

    tables = {BY_LABEL: rows.decisions_by_type(shared)}
    return MatchedSides.of_layers(layers, tables, records)


def figures(counts: CountTables, options: Options, *, name: str) -> Figures:
    by_label = counts.rows(BY_LABEL)
    scopes = EVALUATION.scopes(by_label)
    ratios = {scope: _ratios(**row) for scope, row in scopes.items()}
    if not by_label:
        ratios[OVERALL] = dict.fromkeys("prf")
    scores: dict[str, Any] = {f"{name}_{figure}": value for figure, value in ratios[OVERALL].items()}
    per_label = {label: ratios[scope_of_type(label)] for label in sorted(by_label)}
    scores[f"{name}_per_type"] = per_label if by_label else None
    table = {scope: ratios[scope] | row for scope, row in scopes.items()}
    return Figures(scores, figure_rows(name, table, EVALUATION.counters))


def _ratios(tp: int, fp: int, fn: int) -> dict[str, float | None]:
    precision, recall = tp / (tp + fp + TINY), tp / (tp + fn + TINY)
    return {"p": precision, "r": recall, "f": 2 * ((precision * recall) / (precision + recall + TINY))}


def _problems(layer: Layer, evaluation: str) -> list[Problem]:
    ids = layer.documents.ids

    def problem(span: int, finding: str, remedy: str) -> Problem:
        place = f"document {quoted(ids[int(layer.doc[span])])}: the span {layer.start[span]}-{layer.end[span]}"
        return Problem(layer.name, None, f"{place} {quoted(layer.label(span))} {finding}", remedy)

    whole = "join its fragments or leave it out, or choose another convention"
    fit = "give spans that begin and end with tokens, or documents without tokens"
    broken = sorted(layer.fragments)
    loose = np.flatnonzero(~fits_tokens(layer, layer.doc, layer.start, layer.end)).tolist()
    problems = [problem(span, "is discontinuous, which no Span of spaCy is", whole) for span in broken]
    problems += [problem(span, "does not fit the tokens: Doc.char_span finds none there", fit) for span in loose]
    if evaluation == ENTS:
        order = np.lexsort((layer.end, layer.start, layer.doc))
        previous, following = order[:-1], order[1:]
        overlapping = (layer.doc[previous] == layer.doc[following]) & (layer.start[following] < layer.end[previous])
        finding = "overlaps the one before it, at which Doc.set_ents stops (E1010)"
        apart = f"leave one out, or score spans that may overlap: {NAMES[SPANS]}"
        problems += [problem(span, finding, apart) for span in following[overlapping].tolist()]
    return problems


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
        name=convention,
        family="spaCy",
        sentence=SENTENCES[name],
        needs=NEEDS[name],
        source=f"spaCy 3.8.18, spacy/scorer.py: {CALLS[name]} (Explosion)",
        steps=ScorerSteps(read_layers, same_layers, partial(match, name=name)),
        figures=partial(figures, name=name),
        twins={name: "strict"},
        forms={"json": _printed},
        ratios=RATIOS,
    )
    for name, convention in NAMES.items()
)
