"""conlleval, the scorer of the CoNLL-2000 and later shared tasks.

A chunk ends and begins by the program's table of transitions: an I that follows no chunk of its type begins one. A
chunk is correct where the other side has the same tokens and type. Percentages are of tokens and chunks; a zero
denominator gives 0.
Source: conlleval.pl (Tjong Kim Sang, 2004-01-26), https://www.clips.uantwerpen.be/conll2000/chunking/.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nereval_core.conventions import Convention, Given
from nereval_core.conventions.outcome import (
    COR,
    MIS,
    OVERALL,
    SPU,
    Content,
    Marks,
    Outcome,
    figures,
    record_frame,
    with_types,
)
from nereval_core.corpus import Layer
from nereval_core.readers import conll
from nereval_core.readers.schemes import CONLLEVAL, Tags
from nereval_core.tagged import Tagged, matched, tagged

EVALUATION = "phrase"
WHY = ("the same tokens and type on the other side", "no phrase of the same tokens and type on the other side")


def score(given: Given, options: Mapping[str, Any]) -> Outcome:
    """Score the tags of two files, or of two columns of one."""
    gold = conll.tagged(given.gold, column=given.gold_column)
    return score_tags(gold, matched(gold, conll.tagged(given.pred, column=given.pred_column)), options)


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> Outcome:
    """Score layers by the IOB2 tags that say them."""
    return score_tags(tagged(gold, "conlleval"), tagged(pred, "conlleval"), options)


def score_tags(gold: Tagged, pred: Tagged, options: Mapping[str, Any]) -> Outcome:
    """Score tags over the same tokens.

    Counters by type and overall: `correct`, `phrases` (gold) and `found` (predicted); figures in percent.
    """
    ours, theirs = chunks(gold, Tags.of(gold.tags, gold.sentences)), chunks(gold, Tags.of(pred.tags, gold.sentences))
    types = tuple(sorted({*ours.types, *theirs.types}))
    codes = [np.searchsorted(types, side.types)[side.kind] for side in (ours, theirs)]
    # Chunks of one side do not overlap: where one starts tells which it is.
    one, two = (side.documents.base[side.doc] + side.start for side in (ours, theirs))
    _, g, p = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    same = (ours.end[g] == theirs.end[p]) & (codes[0][g] == codes[1][p])
    g, p = g[same], p[same]
    right = np.sum(np.fromiter((one == two for one, two in zip(gold.tags, pred.tags, strict=True)), bool, len(gold)))
    counts = {
        name: np.bincount(kinds, minlength=len(types)).tolist()
        for name, kinds in (
            ("correct", codes[0][g]),
            ("phrases", codes[0]),
            ("found", codes[1]),
        )
    }
    rows: list[tuple[str, str, str, float | None, bool]] = []
    scores: dict[str, Any] = {}
    for scope, row in (
        (OVERALL, {name: sum(values) for name, values in counts.items()}),
        *((kind, {name: values[code] for name, values in counts.items()}) for code, kind in enumerate(types)),
    ):
        scores[scope] = row | _ratios(row)
        rows += [(EVALUATION, scope, name, value, name in counts) for name, value in scores[scope].items()]
    tokens = {"tokens": len(gold), "correct tags": int(right), "accuracy": 100 * int(right) / max(1, len(gold))}

    def build(evaluation: str) -> Any:
        partner = np.full(len(ours), -1)
        partner[g] = p
        alone = np.setdiff1d(np.arange(len(theirs)), p)
        one = np.concatenate((np.arange(len(ours)), np.full(len(alone), -1)))
        two = np.concatenate((partner, alone))
        correct = (one >= 0) & (two >= 0)
        return with_types(
            record_frame(
                evaluation,
                ours,
                theirs,
                one,
                two,
                np.where(correct, COR, np.where(one >= 0, MIS, SPU)),
                (np.where(correct, 0, 1), WHY),
                {"correct": correct, "phrases": one >= 0, "found": two >= 0},
            )
        )

    return Outcome(
        "conlleval",
        options,
        gold.documents,
        Content.of_tags(gold, len(ours)),
        Content.of_tags(pred, len(theirs)),
        {"tokens": tokens, "phrases": scores},
        figures(rows),
        build,
        gold.notes,
    )


def chunks(gold: Tagged, tags: Tags) -> Marks:
    """Return the chunks of tags over gold's tokens, in order, by the program's table."""
    letters, tokens, _ = tags.padded
    parts = tags.look_up(CONLLEVAL)
    first = tokens[np.flatnonzero(parts & (letters[1:] > 0)) + 1]
    last = tokens[np.flatnonzero(parts & (letters[:-1] > 0))]
    order = np.argsort(tags.names)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return Marks.of_tokens(gold, first, last, rank[tags.types[first]], tuple(tags.names[code] for code in order))


def _ratios(row: Mapping[str, int]) -> dict[str, float]:
    precision = 100 * row["correct"] / row["found"] if row["found"] else 0.0
    recall = 100 * row["correct"] / row["phrases"] if row["phrases"] else 0.0
    both = precision + recall
    return {"precision": precision, "recall": recall, "FB1": 2 * precision * recall / both if both else 0.0}


CONVENTIONS = (
    Convention(
        name="conlleval",
        family="tag sequences",
        sentence="Phrases with the same tokens and type; any I that follows no phrase of its type begins one.",
        needs="one tag a token on both sides",
        source="conlleval.pl of 2004-01-26 (Tjong Kim Sang and Buchholz 2000)",
        score=score,
        of_layers=of_layers,
        formats=("conll",),
        twins={EVALUATION: "strict"},
        names={"P": "precision", "R": "recall", "F1": "FB1", "COR": "correct", "POS": "phrases", "ACT": "found"},
        percent=True,
        formulas={
            "precision": "100 × correct / found",
            "recall": "100 × correct / phrases",
            "FB1": "2 × precision × recall / (precision + recall)",
        },
    ),
)
