"""Records of entity linking and their confusion, as frames with declared columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.linking import LINK_DECISIONS, LinkDecision, LinkScores, judge_links
from nereval_core.analysis.linking.mentions import Why, ranked
from nereval_core.corpus import Layer
from nereval_core.records.tables import record_ids

LINK_RECORD_COLUMNS: Mapping[str, str] = {
    "document": "category",
    "record": "str",
    "decision": "category",
    "gold_start": "Int32",
    "gold_end": "Int32",
    "gold_type": "category",
    "gold_text": "str",
    "gold_links": "str",
    "pred_start": "Int32",
    "pred_end": "Int32",
    "pred_type": "category",
    "pred_text": "str",
    "pred_links": "str",
    "gold_id": "str",
    "pred_id": "str",
    "rank": "Int32",
    "reason": "category",
    "doc": "int32",
    "gold": "int32",
    "pred": "int32",
}
"""Columns of `link_records` and their dtypes. Offsets are code points, end exclusive; links are joined by `|`.

`gold_id` is the truth and `pred_id` the id judged, both as the mapping has them: the right one at place `rank` (from 1)
of the ranking, else the first. `gold` and `pred` are span indices, -1 where there is none."""

CONFUSION_COLUMNS = ("gold_id", "pred_id", "count")

_MISSING: Mapping[Why, str] = {
    Why.UNLINKED: "the prediction here has no link",
    Why.MOVED: "the linked prediction here has other boundaries",
    Why.TAKEN: "every linked prediction that overlaps it is aligned elsewhere",
    Why.ALONE: "no prediction with a link overlaps it",
}
_SPURIOUS: Mapping[Why, str] = {
    Why.UNLINKED: "the gold span here has no link",
    Why.MOVED: "the linked gold span here has other boundaries",
    Why.TAKEN: "every linked gold span that overlaps it is aligned elsewhere",
    Why.ALONE: "no gold span with a link overlaps it",
}


def link_records(scores: LinkScores) -> pd.DataFrame:
    """Return one row a mention or pair of mentions, in document order, with the columns of LINK_RECORD_COLUMNS."""
    alignment = scores.alignment
    gold, pred = alignment.gold, alignment.pred
    g, p = alignment.gold_span, alignment.pred_span
    ids = record_ids(gold, "g"), record_ids(pred, "p")
    frame = pd.DataFrame(
        {
            "document": pd.Categorical.from_codes(alignment.doc, pd.Index(list(gold.documents.ids), dtype="str")),
            "record": [ids[0][i] if i >= 0 else ids[1][j] for i, j in zip(g.tolist(), p.tolist(), strict=True)],
            "decision": pd.Categorical.from_codes(scores.decisions, pd.Index(list(LINK_DECISIONS), dtype="str")),
            **_side("gold", gold, g),
            **_side("pred", pred, p),
            **_judged(scores),
            "rank": pd.array(np.where(scores.rank < 0, 0, scores.rank + 1), dtype="Int32"),
            "reason": pd.Categorical(_reasons(scores)),
            "doc": alignment.doc,
            "gold": g,
            "pred": p,
        },
        columns=list(LINK_RECORD_COLUMNS),
    )
    frame.loc[scores.rank < 0, "rank"] = pd.NA
    return frame.astype(dict(LINK_RECORD_COLUMNS))


def link_confusion(records: pd.DataFrame) -> pd.DataFrame:
    """Return how often each gold id met each predicted one: CONFUSION_COLUMNS, most frequent first.

    An id is "" where a side has no mention, so that the counts add up to the records.
    """
    sides = [records[name].fillna("").astype("str") for name in CONFUSION_COLUMNS[:2]]
    counted = pd.concat(sides, axis=1).value_counts(sort=False).rename("count").reset_index()
    order = ["count", *CONFUSION_COLUMNS[:2]]
    return counted.sort_values(order, ascending=[False, True, True], ignore_index=True)[list(CONFUSION_COLUMNS)]


def _side(side: str, layer: Layer, spans: NDArray[np.int64]) -> dict[str, Any]:
    absent = spans < 0
    there = np.where(absent, 0, spans)

    def offsets(column: NDArray[np.int32]) -> Any:
        values = pd.array(column[there] if len(layer) else np.zeros(len(spans), np.int32), dtype="Int32")
        values[absent] = pd.NA
        return values

    kinds = np.where(absent, -1, layer.type[there] if len(layer) else -1)
    known = [None if span < 0 else span for span in spans.tolist()]
    return {
        f"{side}_start": offsets(layer.start),
        f"{side}_end": offsets(layer.end),
        f"{side}_type": pd.Categorical.from_codes(kinds, pd.Index(list(layer.types), dtype="str")),
        f"{side}_text": [None if span is None else layer.text(span) for span in known],
        f"{side}_links": [None if span is None else "|".join(ranked(layer.links.get(span, ()))) for span in known],
    }


def _judged(scores: LinkScores) -> dict[str, list[str | None]]:
    """Return the ids that were compared, as the mapping has them."""
    alignment = scores.alignment
    names = [scores.relaxed.get(link, link) for link in alignment.ids]
    truth = alignment.truth[:, 0]
    place = np.maximum(scores.rank, 0)[:, None]
    found = np.take_along_axis(alignment.ranking, place, axis=1)[:, 0] if len(truth) else truth
    right = scores.rank >= 0
    first, second = ([None if code < 0 else names[code] for code in codes.tolist()] for codes in (truth, found))
    # By any of gold's links: the one that was met.
    met = [two if hit else one for one, two, hit in zip(first, second, right, strict=True)]
    return {"gold_id": met, "pred_id": second}


def _reasons(scores: LinkScores) -> list[str]:
    alignment = scores.alignment
    said = []
    rows = zip(scores.decisions.tolist(), scores.rank.tolist(), alignment.why.tolist(), strict=True)
    later = _later(scores)
    for row, (decision, rank, why) in enumerate(rows):
        if decision == LinkDecision.MISSING:
            said.append(_MISSING[Why(why)])
        elif decision == LinkDecision.SPURIOUS:
            said.append(_SPURIOUS[Why(why)])
        elif decision == LinkDecision.RIGHT:
            said.append(_right(scores, row, rank))
        else:
            place = int(later[row])
            said.append(f"the right link is number {place + 1} of the ranking" if place >= 0 else "not in the ranking")
    return said


def _right(scores: LinkScores, row: int, rank: int) -> str:
    alignment = scores.alignment
    met = alignment.ranking[row, rank] in (alignment.truth[row] if scores.truth == "any" else alignment.truth[row, :1])
    place = "the first link" if rank == 0 else f"number {rank + 1} of the ranking"
    return f"{place} is right" + ("" if met else ", by the mapping")


def _later(scores: LinkScores) -> NDArray[np.int64]:
    """Return the place of the right link in the whole ranking, beyond the first n too, -1 where it is not in it."""
    alignment = scores.alignment
    whole = judge_links(alignment, n=alignment.ranking.shape[1], truth=scores.truth, relaxed=scores.relaxed)
    return whole.rank.astype(np.int64)
