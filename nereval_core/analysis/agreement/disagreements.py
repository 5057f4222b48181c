"""Disagreements of two annotators by kind and type: counts of match records under a matching criterion."""

from __future__ import annotations

import numpy as np
import pandas as pd

from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision

KINDS = ("agree", "only one", "only other", "types differ", "boundaries differ")
"""A record is agreed on, or its span has no partner, or that is of another type, or else has other boundaries."""
ALL = "all"
"""The column of all disagreements."""


def count_disagreements(scores: Scores, name: str) -> pd.DataFrame:
    """Return the numbers of records by kind (KINDS and ALL), the reference being `one`.

    The index has None for all records, then each type, sorted: records with the type on either side, so that those
    whose types differ stand in two rows.
    """
    one, other = scores.layers(name)
    partners, unaligned = scores.partners(name)
    types = sorted({*one.types, *other.types})
    number = {kind: place for place, kind in enumerate(types)}
    first, second = (np.array([number[kind] for kind in layer.types], np.int64) for layer in (one, other))
    paired = np.flatnonzero(partners >= 0)
    lone = np.flatnonzero(partners < 0), np.flatnonzero(unaligned < 0)
    ours, theirs = first[one.type[paired]], second[other.type[partners[paired]]]
    kind = np.where(ours == theirs, KINDS.index("boundaries differ"), KINDS.index("types differ"))
    kind[scores.decisions(name)[0][paired] == Decision.COR] = KINDS.index("agree")
    alone = first[one.type[lone[0]]], second[other.type[lone[1]]]
    kinds = np.concatenate((kind, *(np.full(len(some), place) for place, some in enumerate(alone, start=1))))
    left, right = np.concatenate((ours, *alone)), np.concatenate((theirs, *alone))
    counts = np.zeros((len(types) + 1, len(KINDS)), np.int64)
    counts[0] = np.bincount(kinds, minlength=len(KINDS))
    np.add.at(counts, (left + 1, kinds), 1)
    twice = left != right
    np.add.at(counts, (right[twice] + 1, kinds[twice]), 1)
    table = pd.DataFrame(counts, index=pd.Index([None, *types], dtype=object, name="type"), columns=KINDS)
    table[ALL] = table[list(KINDS[1:])].sum(axis=1)
    return table[np.append(True, counts[1:].any(axis=1))]
