"""The criterion ladder of a match record: each criterion's decision on each candidate pair, and the smallest flip."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from nereval_core.alignment.candidates import shared_characters
from nereval_core.analysis.criteria.flips import CriterionSpan, change_in_words, decide_pair
from nereval_core.analysis.criteria.record_flips import RecordFlip, smallest_flips
from nereval_core.analysis.result_tables import typed_table
from nereval_core.analysis.span_relations import corresponding_spans, fragments_of
from nereval_core.corpus import Layer
from nereval_core.records.tables import record_ids
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Criterion

LEFT_OUT = "left out"
NOTHING = "no change of this prediction flips the record"
LADDER_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("pair", "gold", "pred"), "int64"),
    **dict.fromkeys(("gold_record", "pred_record", "criterion", "decision"), "str"),
    "aligned": "bool",
    "partner": "str",
    "change": "str",
}
"""Columns of `ladder` and their dtypes. `gold` and `pred` are span indices in the layers of the record. `decision` is
that on the pair, whether or not the criterion aligns it (`aligned`); `partner` names the spans that the two are aligned
with. `change` is the smallest change of the pair's prediction that flips the decision on the record when its document
is scored again, or the statement that there is none."""


def ladder(scores: Scores, name: str, gold: int, pred: int) -> pd.DataFrame:
    """Return a row for each candidate pair and criterion, pairs in order of position: LADDER_COLUMNS.

    `gold` and `pred` are the spans of a match record under the criterion `name`, -1 where it has none. Each makes a
    candidate pair with every span of the other side that it shares a character with. Criteria that count tokens have
    no rows.
    """
    layers = scores.layers(name)
    read = [corresponding_spans(layer, own) for layer, own in zip(layers, scores.read, strict=True)]
    record = (int(read[0][gold]), -1) if gold >= 0 else (-1, int(read[1][pred]))
    rules = [criterion for criterion in scores.criteria if criterion.unit == "span"]
    rows = []
    for pair, (one, other) in enumerate(ladder_pairs(*layers, gold, pred)):
        ids = (_record_id(layers[0], "g", one), _record_id(layers[1], "p", other))
        head = (pair, one, other, *ids)
        flips = smallest_flips(scores, rules, (int(read[0][one]), int(read[1][other])), record)
        rows += [(*head, rule.name, *_ladder_row(scores, rule, layers, one, other, flips[rule.name])) for rule in rules]
    return typed_table(rows, LADDER_COLUMNS)


def ladder_pairs(gold: Layer, pred: Layer, g: int, p: int) -> tuple[tuple[int, int], ...]:
    """Return the overlapping pairs that contain the gold span `g` or the prediction `p` (-1: none), in order."""
    found = {(g, other) for other in _overlapping_spans(gold, g, pred)} | {
        (one, p) for one in _overlapping_spans(pred, p, gold)
    }
    return tuple(sorted(found, key=lambda pair: (pair[0] != g, pair[1] != p, pair)))


def _overlapping_spans(layer: Layer, span: int, other: Layer) -> list[int]:
    if span < 0:
        return []
    low, high = other.first[layer.doc[span] : layer.doc[span] + 2].tolist()
    hulls = (other.start[low:high] < layer.end[span]) & (other.end[low:high] > layer.start[span])
    own = fragments_of(layer, span)
    return [i for i in (np.flatnonzero(hulls) + low).tolist() if shared_characters(own, fragments_of(other, i))]


def _ladder_row(
    scores: Scores, rule: Criterion, layers: tuple[Layer, Layer], one: int, other: int, flip: RecordFlip
) -> tuple[str, bool, str, str]:
    """Return the columns `decision`, `aligned`, `partner` and `change` of a pair under a criterion."""
    own = scores.layers(rule.name)
    g, p = (
        int(corresponding_spans(mine, layer)[span]) for mine, span, layer in zip(layers, (one, other), own, strict=True)
    )
    if g < 0 or p < 0:
        return LEFT_OUT, False, "", ""
    gold, pred = CriterionSpan.of(own[0], g), CriterionSpan.of(own[1], p)
    decision = decide_pair(rule, gold, pred)
    partners = scores.partners(rule.name)
    mine, theirs = int(partners[0][g]), int(partners[1][p])
    if mine == p:
        partner = "each other"
    else:
        ways = ((own[1], "p", mine, "the gold span"), (own[0], "g", theirs, "the prediction"))
        partner = "; ".join(
            f"{what} stays alone" if mate < 0 else f"{what} takes {_record_id(layer, prefix, mate)}"
            for layer, prefix, mate, what in ways
        )
    return decision.name, mine == p, partner, _flip_in_words(flip, gold, pred)


def _flip_in_words(flip: RecordFlip, gold: CriterionSpan, pred: CriterionSpan) -> str:
    """Return the flip of a record in words."""
    ways = [] if flip.change is None else [change_in_words(flip.change, gold, pred)]
    if flip.kept is not None:
        ways.append(f"any type but {' or '.join(flip.kept)}")
    return ", or ".join(ways) or NOTHING


def _record_id(layer: Layer, prefix: str, span: int) -> str:
    return record_ids(layer, prefix, np.array([span]))[0]
