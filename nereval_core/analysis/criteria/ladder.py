"""The ladder of a match record: what each criterion makes of each pair it could be judged by, and what flips it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd

from nereval_core.alignment.candidates import shared_characters
from nereval_core.analysis.criteria.flips import Placed, in_words, judge
from nereval_core.analysis.criteria.merging import places_after
from nereval_core.analysis.criteria.record_flips import Flip, smallest_flips
from nereval_core.corpus import Layer
from nereval_core.records.tables import record_ids
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Criterion

LEFT_OUT = "left out"
NOTHING = "no change of this prediction flips the record"
LADDER_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "pair": "int64",
        "gold": "int64",
        "pred": "int64",
        "gold_record": "str",
        "pred_record": "str",
        "criterion": "str",
        "decision": "str",
        "aligned": "bool",
        "partner": "str",
        "change": "str",
    }
)
"""Columns of `ladder` and their dtypes. `gold` and `pred` are span indices of the layers that the record is of;
`decision` is that of the pair, whether or not the criterion aligns it (`aligned`); `partner` says in words what the two
are aligned with; `change` is the smallest change of the pair's prediction that flips the decision on the record, as
scoring its document again tells, or says that none does."""


def ladder(scores: Scores, name: str, gold: int, pred: int) -> pd.DataFrame:
    """Return one row a candidate pair and criterion, pairs in order of position: LADDER_COLUMNS.

    `gold` and `pred` are the spans of a match record under the criterion `name`, -1 where it has none. Candidates are
    the pairs that either of them makes with a span that it shares a character with. Criteria that count tokens have no
    rows.
    """
    layers = scores.layers(name)
    read = [places_after(layer, own) for layer, own in zip(layers, scores.read, strict=True)]
    record = (int(read[0][gold]), -1) if gold >= 0 else (-1, int(read[1][pred]))
    rules = [criterion for criterion in scores.criteria if criterion.unit == "span"]
    rows = []
    for pair, (one, other) in enumerate(candidates(*layers, gold, pred)):
        ids = (_id(layers[0], "g", one), _id(layers[1], "p", other))
        head = (pair, one, other, *ids)
        flips = smallest_flips(scores, rules, (int(read[0][one]), int(read[1][other])), record)
        rows += [(*head, rule.name, *_step(scores, rule, layers, one, other, flips[rule.name])) for rule in rules]
    return pd.DataFrame(rows, columns=list(LADDER_COLUMNS)).astype(dict(LADDER_COLUMNS))


def candidates(gold: Layer, pred: Layer, g: int, p: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs that share a character and hold the gold span `g` or the prediction `p` (-1: none), in order."""
    found = {(g, other) for other in _near(gold, g, pred)} | {(one, p) for one in _near(pred, p, gold)}
    return tuple(sorted(found, key=lambda pair: (pair[0] != g, pair[1] != p, pair)))


def _near(layer: Layer, span: int, other: Layer) -> list[int]:
    if span < 0:
        return []
    low, high = other.first[layer.doc[span] : layer.doc[span] + 2].tolist()
    hulls = (other.start[low:high] < layer.end[span]) & (other.end[low:high] > layer.start[span])
    own = Placed.of(layer, span).parts
    return [i for i in (np.flatnonzero(hulls) + low).tolist() if shared_characters(own, Placed.of(other, i).parts)]


def _step(
    scores: Scores, rule: Criterion, layers: tuple[Layer, Layer], one: int, other: int, flip: Flip
) -> tuple[str, bool, str, str]:
    """Return decision, whether aligned, partner and change of a pair under a criterion."""
    own = scores.layers(rule.name)
    g, p = (int(places_after(mine, layer)[span]) for mine, span, layer in zip(layers, (one, other), own, strict=True))
    if g < 0 or p < 0:
        return LEFT_OUT, False, "", ""
    gold, pred = Placed.of(own[0], g), Placed.of(own[1], p)
    decision = judge(rule, gold, pred)
    partners = scores.partners(rule.name)
    mine, theirs = int(partners[0][g]), int(partners[1][p])
    if mine == p:
        partner = "each other"
    else:
        ways = ((own[1], "p", mine, "the gold span"), (own[0], "g", theirs, "the prediction"))
        partner = "; ".join(
            f"{what} stays alone" if mate < 0 else f"{what} takes {_id(layer, prefix, mate)}"
            for layer, prefix, mate, what in ways
        )
    return decision.name, mine == p, partner, _change(flip, gold, pred)


def _change(flip: Flip, gold: Placed, pred: Placed) -> str:
    """Say what flips a record, or that nothing does that this prediction could do."""
    ways = [] if flip.change is None else [in_words(flip.change, gold, pred)]
    if flip.kept is not None:
        ways.append(f"any type but {' or '.join(flip.kept)}")
    return ", or ".join(ways) or NOTHING


def _id(layer: Layer, prefix: str, span: int) -> str:
    return record_ids(layer, prefix, np.array([span]))[0]


__all__: Sequence[str] = ("LADDER_COLUMNS", "LEFT_OUT", "candidates", "ladder")
