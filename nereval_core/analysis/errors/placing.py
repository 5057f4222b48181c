"""Where mentions without offsets were placed: by edits, nowhere, or at another occurrence of a missed span's words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.sentences import RecordCount, Sentence, join_parts, number_with_noun, record_count
from nereval_core.records.queries import Query
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision
from nereval_core.tables.glossary import DECISIONS

ATTRIBUTE = "placing"
"""The attribute of records by which these predictions are asked for."""
NOWHERE, EDITED, FOLDED, ELSEWHERE = "nowhere", "by edits", "apart from case or space", "at another occurrence"
PLACINGS = (NOWHERE, EDITED, FOLDED, ELSEWHERE)
SAID = {
    NOWHERE: "made up, with words that stand nowhere in the text",
    EDITED: "written otherwise than in the text, and placed by edits",
    FOLDED: "written in other letter case or white space",
    ELSEWHERE: "placed elsewhere than a missed span of the same words and type",
}


def placings(scores: Scores, name: str) -> NDArray[np.int8] | None:
    """Return the placing of each prediction under a criterion: an index into PLACINGS, -1 where it is as it should be.

    None where no mention had to be placed otherwise than exactly: then the predictions may have had offsets. That one
    stands at another occurrence counts only where it was placed exactly.
    """
    gold, pred = scores.layers(name)
    if scores.criterion(name).unit == "token" or not any("placed" in meta for meta in pred.meta.values()):
        return None
    codes = np.full(len(pred), -1, np.int8)
    for span, meta in pred.meta.items():
        if meta.get("placed") in PLACINGS:
            codes[span] = PLACINGS.index(meta["placed"])
    gold_decision, pred_decision = scores.decisions(name)
    missed = {
        (int(gold.doc[span]), gold.label(span), gold.text(span))
        for span in np.flatnonzero(gold_decision == Decision.MIS).tolist()
    }
    for span in np.flatnonzero((pred_decision == Decision.SPU) & (codes < 0)).tolist():
        if (int(pred.doc[span]), pred.label(span), pred.text(span)) in missed:
            codes[span] = PLACINGS.index(ELSEWHERE)
    return codes


def placing_sentence(scores: Scores, name: str) -> Sentence:
    """Return the sentence on the placing of predictions under a criterion, empty where there is nothing to say."""
    codes = placings(scores, name)
    if codes is None:
        return ()
    counts = np.bincount(codes[codes >= 0], minlength=len(PLACINGS)).tolist()
    parts: list[str | RecordCount] = [f"Of {number_with_noun('prediction', len(codes))} without offsets, "]
    counted = [(kind, count) for kind, count in zip(PLACINGS, counts, strict=True) if count]
    for place, (kind, count) in enumerate(counted):
        query = Query(decision=DECISIONS, having=((ATTRIBUTE, kind),))
        words = f" {'is' if count == 1 else 'are'} {SAID[kind]}"
        parts += ["; " if place else "", record_count(count, query), words]
    return join_parts((*parts, "."))
