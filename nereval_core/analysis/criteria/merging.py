"""Merging of types: scores before and after, and the confusions that vanish.

The experiment of Tsai et al. 2006 (BMC Bioinformatics 7:92) merges protein, DNA and RNA, and cell line and cell type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from nereval_core.analysis.result_tables import nan_for_none, typed_table
from nereval_core.analysis.span_relations import corresponding_spans, have_same_type
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import Decision

MERGING_COLUMNS: Mapping[str, str] = {
    "criterion": "str",
    "COR": "Int64",
    "COR_after": "Int64",
    **dict.fromkeys(("f1", "f1_after", "difference"), "float64"),
}
"""Columns of `merging_table` and their dtypes; ratios are NaN where undefined."""
VANISHED_COLUMNS: Mapping[str, str] = {"gold_type": "str", "pred_type": "str", "pairs": "int64", "correct": "int64"}
"""Columns of `vanished_confusions` and their dtypes: aligned pairs of two types that are merged into one, and the gold
spans among them that are correct after merging."""


def merge_types(scores: Scores, merge: Mapping[str, str], names: Sequence[str] = ()) -> Scores:
    """Return the scores with some types merged (type -> merged name), in addition to the merges already in force.

    Merging a merged name merges its members too. `names` are the criteria, by default all.
    """
    before = dict(scores.settings.merge)
    after = {member: merge.get(name, name) for member, name in before.items()} | {
        kind: name for kind, name in merge.items() if kind not in before
    }
    criteria = tuple(rule for rule in scores.criteria if not names or rule.name in names)
    settings: Settings = replace(scores.settings, criteria=criteria, merge=tuple(sorted(after.items())))
    return score_layers(*scores.read, settings, marks=scores.marks)


def merging_table(before: Scores, after: Scores) -> pd.DataFrame:
    """Return a row for each criterion: MERGING_COLUMNS."""
    rows = []
    for criterion in before.criteria:
        one, two = before.counts(criterion.name), after.counts(criterion.name)
        ratios = [nan_for_none(value) for value in (one.f1, two.f1)]
        rows.append((criterion.name, one.cor, two.cor, *ratios, ratios[1] - ratios[0]))
    return typed_table(rows, MERGING_COLUMNS)


def vanished_confusions(before: Scores, after: Scores, name: str) -> pd.DataFrame:
    """Return the confusions under a criterion that merging removes, most frequent first: VANISHED_COLUMNS."""
    gold, pred = before.layers(name)
    partner = before.partners(name)[0]
    g = np.flatnonzero(partner >= 0)
    p = partner[g].astype(np.int64)
    later = after.layers(name)
    places = (corresponding_spans(gold, later[0])[g], corresponding_spans(pred, later[1])[p])
    there = (places[0] >= 0) & (places[1] >= 0)
    g, p, one, two = (column[there] for column in (g, p, *places))
    gone = ~have_same_type(gold, pred, g, p) & have_same_type(*later, one, two)
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
    return typed_table(rows, VANISHED_COLUMNS)
