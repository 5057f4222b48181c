"""What merging types does: scores before and after, and the confusions that disappear.

The experiment of Tsai et al. 2006 (BMC Bioinformatics 7:92) merges protein, DNA and RNA, and cell line and cell type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.pairs import same_type
from nereval_core.corpus import Layer
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import Decision

MERGING_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "criterion": "str",
        "COR": "Int64",
        "COR_after": "Int64",
        "f1": "float64",
        "f1_after": "float64",
        "difference": "float64",
    }
)
"""Columns of `before_and_after` and their dtypes; ratios are NaN where undefined."""
GONE_COLUMNS: Mapping[str, str] = MappingProxyType(
    {"gold_type": "str", "pred_type": "str", "pairs": "int64", "correct": "int64"}
)
"""Columns of `disappearing` and their dtypes: aligned pairs of two types that become one, and how many of their gold
spans are correct once they are."""


def merged(scores: Scores, merge: Mapping[str, str], names: Sequence[str] = ()) -> Scores:
    """Return the scores with some types merged (type -> merged name), on top of the merges that are in force.

    A merge of a name that others are merged into takes these along. `names` are the criteria, by default all.
    """
    before = dict(scores.settings.merge)
    after = {member: merge.get(name, name) for member, name in before.items()} | {
        kind: name for kind, name in merge.items() if kind not in before
    }
    criteria = tuple(rule for rule in scores.criteria if not names or rule.name in names)
    settings: Settings = replace(scores.settings, criteria=criteria, merge=tuple(sorted(after.items())))
    return score_layers(*scores.read, settings, marks=scores.marks)


def before_and_after(before: Scores, after: Scores) -> pd.DataFrame:
    """Return one row a criterion: MERGING_COLUMNS."""
    rows = []
    for criterion in before.criteria:
        one, two = before.counts(criterion.name), after.counts(criterion.name)
        ratios = [float("nan") if value is None else value for value in (one.f1, two.f1)]
        rows.append((criterion.name, one.cor, two.cor, *ratios, ratios[1] - ratios[0]))
    return pd.DataFrame(rows, columns=list(MERGING_COLUMNS)).astype(dict(MERGING_COLUMNS))


def disappearing(before: Scores, after: Scores, name: str) -> pd.DataFrame:
    """Return the confusions under a criterion that merging makes none, the most frequent first: GONE_COLUMNS."""
    gold, pred = before.layers(name)
    partner = before.partners(name)[0]
    g = np.flatnonzero(partner >= 0)
    p = partner[g].astype(np.int64)
    later = after.layers(name)
    places = (places_after(gold, later[0])[g], places_after(pred, later[1])[p])
    there = (places[0] >= 0) & (places[1] >= 0)
    g, p, one, two = (column[there] for column in (g, p, *places))
    gone = ~same_type(gold, pred, g, p) & same_type(*later, one, two)
    g, p, one = g[gone], p[gone], one[gone]
    correct = after.decisions(name)[0][one] == Decision.COR
    key, place = np.unique(gold.type[g].astype(np.int64) * len(pred.types) + pred.type[p], return_inverse=True)
    pairs = np.bincount(place, minlength=len(key))
    right = np.bincount(place[correct], minlength=len(key))
    rows = [
        (gold.types[kind // len(pred.types)], pred.types[kind % len(pred.types)], many, some)
        for kind, many, some in zip(key.tolist(), pairs.tolist(), right.tolist(), strict=True)
    ]
    rows.sort(key=lambda row: (-row[2], row[:2]))
    return pd.DataFrame(rows, columns=list(GONE_COLUMNS)).astype(dict(GONE_COLUMNS))


def places_after(layer: Layer, other: Layer) -> NDArray[np.int64]:
    """Return where each span of a layer stands in another made of the same reading, -1 where it is left out."""
    read, there = (np.arange(len(one)) if one.order is None else one.order.astype(np.int64) for one in (layer, other))
    found = np.full(max(int(read.max(initial=-1)), int(there.max(initial=-1))) + 1, -1, np.int64)
    found[there] = np.arange(len(other))
    placed: NDArray[np.int64] = found[read]
    return placed


__all__: Sequence[str] = (
    "GONE_COLUMNS",
    "MERGING_COLUMNS",
    "before_and_after",
    "disappearing",
    "merged",
    "places_after",
)
