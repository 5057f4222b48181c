"""Link records, one per mention or pair of mentions, and the confusions of their ids."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.linking import LINK_DECISIONS, LinkDecision, LinkScores, judge_links
from nereval_core.analysis.linking.mentions import UnpairedReason, ranked_ids
from nereval_core.corpus import Layer
from nereval_core.records.tables import record_ids, side_columns

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
    **dict.fromkeys(("pred_text", "pred_links", "gold_id", "pred_id"), "str"),
    "rank": "Int32",
    "reason": "category",
    **dict.fromkeys(("doc", "gold", "pred"), "int32"),
}
"""Columns of `link_records` and their dtypes. Offsets are code points, end exclusive; links are joined by `|`.

`gold_id` is the truth and `pred_id` the id judged, both after mapping: the right id at place `rank` (from 1) of the
ranking, or else the first. `gold` and `pred` are span indices, -1 where there is none."""

CONFUSION_COLUMNS = ("gold_id", "pred_id", "count")

_MISSING: Mapping[UnpairedReason, str] = {
    UnpairedReason.UNLINKED: "the prediction here has no link",
    UnpairedReason.MOVED: "the linked prediction here has other boundaries",
    UnpairedReason.TAKEN: "every linked prediction that overlaps it is aligned elsewhere",
    UnpairedReason.ALONE: "no prediction with a link overlaps it",
}
_SPURIOUS: Mapping[UnpairedReason, str] = {
    UnpairedReason.UNLINKED: "the gold span here has no link",
    UnpairedReason.MOVED: "the linked gold span here has other boundaries",
    UnpairedReason.TAKEN: "every linked gold span that overlaps it is aligned elsewhere",
    UnpairedReason.ALONE: "no gold span with a link overlaps it",
}


def link_records(scores: LinkScores) -> pd.DataFrame:
    """Return a row for each pair of mentions and each lone mention, in document order: LINK_RECORD_COLUMNS."""
    alignment = scores.alignment
    gold, pred = alignment.gold, alignment.pred
    g, p = alignment.gold_span, alignment.pred_span
    ids = record_ids(gold, "g"), record_ids(pred, "p")
    frame = pd.DataFrame(
        {
            "document": pd.Categorical.from_codes(alignment.doc, pd.Index(list(gold.documents.ids), dtype="str")),
            "record": [ids[0][i] if i >= 0 else ids[1][j] for i, j in zip(g.tolist(), p.tolist(), strict=True)],
            "decision": pd.Categorical.from_codes(scores.decisions, pd.Index(list(LINK_DECISIONS), dtype="str")),
            **side_columns("gold", gold, g),
            **_link_column("gold", gold, g),
            **side_columns("pred", pred, p),
            **_link_column("pred", pred, p),
            **_judged_ids(scores),
            "rank": pd.array(np.where(scores.rank < 0, 0, scores.rank + 1), dtype="Int32"),
            "reason": pd.Categorical(_link_reasons(scores)),
            "doc": alignment.doc,
            "gold": g,
            "pred": p,
        },
        columns=list(LINK_RECORD_COLUMNS),
    )
    frame.loc[scores.rank < 0, "rank"] = pd.NA
    return frame.astype(dict(LINK_RECORD_COLUMNS))


def link_confusion(records: pd.DataFrame) -> pd.DataFrame:
    """Return the number of records for each pair of gold and predicted id: CONFUSION_COLUMNS, most frequent first.

    An id is "" where a side has no mention, so that the counts add up to the records.
    """
    sides = [records[name].fillna("").astype("str") for name in CONFUSION_COLUMNS[:2]]
    counted = pd.concat(sides, axis=1).value_counts(sort=False).rename("count").reset_index()
    order = ["count", *CONFUSION_COLUMNS[:2]]
    return counted.sort_values(order, ascending=[False, True, True], ignore_index=True)[list(CONFUSION_COLUMNS)]


def _link_column(side: str, layer: Layer, spans: NDArray[np.int64]) -> dict[str, list[str | None]]:
    rows = [None if span < 0 else "|".join(ranked_ids(layer.links.get(span, ()))) for span in spans.tolist()]
    return {f"{side}_links": rows}


def _judged_ids(scores: LinkScores) -> dict[str, list[str | None]]:
    """Return the ids that were compared, after mapping."""
    alignment = scores.alignment
    names = [scores.relaxed.get(link, link) for link in alignment.ids]
    truth = alignment.truth[:, 0]
    place = np.maximum(scores.rank, 0)[:, None]
    found = np.take_along_axis(alignment.ranking, place, axis=1)[:, 0] if len(truth) else truth
    right = scores.rank >= 0
    first, second = ([None if code < 0 else names[code] for code in codes.tolist()] for codes in (truth, found))
    # If any of gold's links counts, the right one is shown.
    met = [two if hit else one for one, two, hit in zip(first, second, right, strict=True)]
    return {"gold_id": met, "pred_id": second}


def _link_reasons(scores: LinkScores) -> list[str]:
    alignment = scores.alignment
    said = []
    rows = zip(scores.decisions.tolist(), scores.rank.tolist(), alignment.why.tolist(), strict=True)
    later = _rank_in_whole(scores)
    for row, (decision, rank, why) in enumerate(rows):
        if decision == LinkDecision.MISSING:
            said.append(_MISSING[UnpairedReason(why)])
        elif decision == LinkDecision.SPURIOUS:
            said.append(_SPURIOUS[UnpairedReason(why)])
        elif decision == LinkDecision.RIGHT:
            said.append(_right_reason(scores, row, rank))
        else:
            place = int(later[row])
            said.append(f"the right link is number {place + 1} of the ranking" if place >= 0 else "not in the ranking")
    return said


def _right_reason(scores: LinkScores, row: int, rank: int) -> str:
    alignment = scores.alignment
    met = alignment.ranking[row, rank] in (alignment.truth[row] if scores.truth == "any" else alignment.truth[row, :1])
    place = "the first link" if rank == 0 else f"number {rank + 1} of the ranking"
    return f"{place} is right" + ("" if met else ", by the mapping")


def _rank_in_whole(scores: LinkScores) -> NDArray[np.int64]:
    """Return the place of the right link in the whole ranking, -1 where it is not in it."""
    alignment = scores.alignment
    whole = judge_links(alignment, n=alignment.ranking.shape[1], truth=scores.truth, relaxed=scores.relaxed)
    return whole.rank.astype(np.int64)
