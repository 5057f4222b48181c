"""Mentions (spans with links) and their alignment.

Mentions are aligned one to one as spans are, by the criterion `exact` (strict) or `lenient` (overlapping), regardless
of links and types. A link that contains `|` is several, best first (as in the NEL columns of CLEF-HIPE).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from itertools import groupby, product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Fragments, Layer
from nereval_core.corpus.arrays import Bools, Int64
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, Decision

Boundaries = Literal["strict", "overlapping"]
Mentions = Literal["end-to-end", "gold"]
Links = Mapping[int, tuple[str, ...]]

NIL = "NIL"
"""The id of mentions without an entry."""
CRITERION: Mapping[Boundaries, str] = {"strict": "exact", "overlapping": "lenient"}
"""The criterion that aligns mentions; only pairs that are correct under it are pairs of mentions."""


class UnpairedReason(IntEnum):
    """The reason why a mention has no partner."""

    PAIRED = 0
    UNLINKED = 1
    MOVED = 2
    TAKEN = 3
    ALONE = 4


@dataclass(frozen=True, eq=False)
class LinkAlignment:
    """The aligned mentions of two layers: a row for each pair of mentions and for each mention without partner.

    `gold_span` and `pred_span` index the layers, -1 where there is none; `why` is an UnpairedReason. `truth` and
    `ranking` are the links as indices into `ids`, -1 for none, shape (rows, links). `unjudged` are the numbers of gold
    and predicted mentions left out because boundaries differ: given gold's mentions these are not errors of linking.
    """

    gold: Layer
    pred: Layer
    boundaries: Boundaries
    mentions: Mentions
    gold_span: Int64
    pred_span: Int64
    why: NDArray[np.int8]
    ids: tuple[str, ...]
    truth: NDArray[np.int32]
    ranking: NDArray[np.int32]
    unjudged: tuple[int, int]

    @cached_property
    def doc(self) -> Int64:
        """The number of each row's document."""
        own = self.gold_span >= 0
        docs = np.empty(len(own), np.int64)
        docs[own] = self.gold.doc[self.gold_span[own]]
        docs[~own] = self.pred.doc[self.pred_span[~own]]
        return docs


def ranked_ids(links: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of a mention, best first; a link that contains `|` is several."""
    if not any("|" in link for link in links):
        return tuple(links)
    return tuple(link for ranking in links for link in ranking.split("|") if link) or tuple(links)


def align_links(
    gold: Layer, pred: Layer, *, boundaries: Boundaries = "strict", mentions: Mentions = "end-to-end"
) -> LinkAlignment:
    """Align the mentions of two layers over the same documents.

    Given gold's mentions, only pairs of equal boundaries are judged, and gold mentions where the prediction has a span
    of the same boundaries without a link (these are missing, so that omitting links does not improve accuracy).
    """
    assert boundaries == "strict" or mentions == "end-to-end", "gold's mentions are judged where boundaries are equal"
    links = [{span: ranked_ids(row) for span, row in layer.links.items() if row} for layer in (gold, pred)]
    own, theirs = (np.array(sorted(linked), np.int64) for linked in links)
    g, p, moved = _pair_mentions(gold, pred, own, theirs, links, CRITERION[boundaries])
    lone = [_unused_spans(spans, used, len(layer)) for spans, used, layer in ((own, g, gold), (theirs, p, pred))]
    whys = [
        _unpaired_reasons(layer, other, spans, inside, others, CRITERION[boundaries])
        for layer, other, spans, inside, others in (
            (gold, pred, lone[0], moved[0], links[1]),
            (pred, gold, lone[1], moved[1], links[0]),
        )
    ]
    unjudged = (0, 0)
    if mentions == "gold":
        judged = whys[0] == UnpairedReason.UNLINKED
        unjudged = (int((~judged).sum()), len(lone[1]))
        lone, whys = [lone[0][judged], lone[1][:0]], [whys[0][judged], whys[1][:0]]
    gold_span = np.concatenate((g, lone[0], np.full(len(lone[1]), -1)))
    pred_span = np.concatenate((p, np.full(len(lone[0]), -1), lone[1]))
    why = np.concatenate((np.zeros(len(g), np.int8), *whys))
    doc, start, end = (
        np.concatenate((getattr(gold, key)[g], getattr(gold, key)[lone[0]], getattr(pred, key)[lone[1]]))
        for key in ("doc", "start", "end")
    )
    order = np.lexsort((pred_span, gold_span < 0, end, start, doc))
    gold_span, pred_span = gold_span[order], pred_span[order]
    ids: dict[str, int] = {NIL: 0}
    return LinkAlignment(
        gold,
        pred,
        boundaries,
        mentions,
        gold_span,
        pred_span,
        why[order],
        *_code_links(links[0], gold_span, links[1], pred_span, ids),
        unjudged,
    )


def _pair_mentions(
    gold: Layer, pred: Layer, own: Int64, theirs: Int64, links: Sequence[Links], criterion: str
) -> tuple[Int64, Int64, tuple[Int64, Int64]]:
    """Return the gold and predicted mentions of each pair, and the mentions whose partner has other boundaries."""
    gold_spans, pred_spans = _bare_spans(gold, own), _bare_spans(pred, theirs)
    scores = score_layers(gold_spans, pred_spans, Settings((CRITERIA[criterion],)))
    partner = scores.partners(criterion)[0].astype(np.int64)
    correct = scores.decisions(criterion)[0] == Decision.COR
    if _repeats_boundaries(gold_spans).any() or _repeats_boundaries(pred_spans).any():
        partner, correct = _pair_by_links((gold_spans, pred_spans), partner, correct, (own, theirs), links)
    met = (partner >= 0) & ~correct
    return own[correct], theirs[partner[correct]], (own[met], theirs[partner[met]])


def _bare_spans(layer: Layer, spans: Int64) -> Layer:
    """Return some spans with only the attributes that their alignment needs."""
    nothing: dict[str, Any] = {key: {} for key in ("ids", "links", "cores", "alternatives", "scores", "meta")}
    bare = replace(layer, **nothing)
    return bare if len(spans) == len(layer) else bare.take(spans)


def _pair_by_links(
    layers: tuple[Layer, Layer], partner: Int64, correct: Bools, spans: tuple[Int64, Int64], links: Sequence[Links]
) -> tuple[Int64, Bools]:
    """Return partners, and whether pairs are correct, after spans of equal boundaries are paired by their links.

    The alignment cannot tell such spans apart, and the result must not depend on the order of reading. Spans are paired
    by the place of gold's link in the ranking, then by equal type.
    """
    kinds: list[list[int]] = []
    free: list[dict[int, list[int]]] = []
    for layer in layers:
        kind = _boundary_numbers(layer)
        kinds.append(kind.tolist())
        several = np.flatnonzero(np.bincount(kind)[kind] > 1)
        order = several[np.argsort(kind[several], kind="stable")]
        free.append({key: list(group) for key, group in groupby(order.tolist(), key=kinds[-1].__getitem__)})
    partner, correct = partner.copy(), correct.copy()
    pair_counts: Counter[tuple[bool, int, int]] = Counter()
    for g in np.flatnonzero(partner >= 0).tolist():
        p = int(partner[g])
        gold_kind, pred_kind = kinds[0][g], kinds[1][p]
        if gold_kind in free[0] or pred_kind in free[1]:
            # Correct pairs choose first.
            pair_counts[not correct[g], gold_kind, pred_kind] += 1
            free[0].setdefault(gold_kind, [g])
            free[1].setdefault(pred_kind, [p])
            partner[g], correct[g] = -1, False

    def quality(pair: tuple[int, int]) -> tuple[object, ...]:
        truth, ranking = (links[side][int(spans[side][span])] for side, span in enumerate(pair))
        gold_kind, pred_kind = (layer.label(span) for layer, span in zip(layers, pair, strict=True))
        return (
            ranking.index(truth[0]) if truth[0] in ranking else len(ranking),
            gold_kind != pred_kind,
            truth,
            ranking,
            gold_kind,
            pred_kind,
        )

    for (misfit, gold_kind, pred_kind), number in sorted(pair_counts.items()):
        golds, preds = free[0][gold_kind], free[1][pred_kind]
        for g, p in sorted(product(golds, preds), key=quality):
            if number and g in golds and p in preds:
                partner[g], correct[g] = p, not misfit
                golds.remove(g)
                preds.remove(p)
                number -= 1
    return partner, correct


def _repeats_boundaries(layer: Layer) -> Bools:
    """Tell for each span but the first whether it has the boundaries of the one before."""
    same = np.ones(max(len(layer) - 1, 0), bool)
    for column in (layer.doc, layer.start, layer.end):
        same &= column[1:] == column[:-1]
    return same


def _boundary_numbers(layer: Layer) -> Int64:
    """Number the spans so that those of equal boundaries, fragments included, have the same number."""
    kind = np.concatenate(([0], np.cumsum(~_repeats_boundaries(layer)))) if len(layer) else np.zeros(0, np.int64)
    numbers: dict[tuple[int, Fragments], int] = {}
    for span, parts in sorted(layer.fragments.items()):
        kind[span] = numbers.setdefault((int(kind[span]), parts), len(layer) + len(numbers))
    return kind


def _unpaired_reasons(
    layer: Layer, other: Layer, spans: Int64, moved: Int64, linked: Links, criterion: str
) -> NDArray[np.int8]:
    """Return the UnpairedReason of mentions without partner."""
    own = _bare_spans(layer, spans)

    def met(others: Int64, name: str) -> Bools:
        if not len(others) or not len(spans):
            return np.zeros(len(spans), bool)
        settings = Settings((CRITERIA[name],), counting="each-side")
        decided = score_layers(own, _bare_spans(other, others), settings).decisions(name)[0]
        is_correct: Bools = decided == Decision.COR
        return is_correct

    with_links = np.array(sorted(linked), np.int64)
    reasons = np.full(len(spans), UnpairedReason.ALONE, np.int8)
    reasons[met(with_links, "lenient")] = UnpairedReason.TAKEN
    was_moved = np.zeros(len(layer), bool)
    was_moved[moved] = True
    reasons[was_moved[spans]] = UnpairedReason.MOVED
    reasons[met(_unused_spans(np.arange(len(other)), with_links, len(other)), criterion)] = UnpairedReason.UNLINKED
    return reasons


def _unused_spans(spans: Int64, used: Int64, size: int) -> Int64:
    """Return the spans that are not among the used ones; `size` is that of their layer."""
    free = np.ones(size, bool)
    free[used] = False
    unused: Int64 = spans[free[spans]]
    return unused


def _code_links(
    gold: Links, gold_span: Int64, pred: Links, pred_span: Int64, ids: dict[str, int]
) -> tuple[tuple[str, ...], NDArray[np.int32], NDArray[np.int32]]:
    """Return the ids, and the links of each row as indices into them."""
    tables = []
    for links, spans in ((gold, gold_span), (pred, pred_span)):
        rows = [links[span] if span >= 0 else () for span in spans.tolist()]
        sizes = np.fromiter(map(len, rows), np.int64, len(rows))
        flat = np.fromiter((ids.setdefault(link, len(ids)) for row in rows for link in row), np.int32, int(sizes.sum()))
        table = np.full((len(rows), int(sizes.max(initial=1))), -1, np.int32)
        table[np.arange(table.shape[1]) < sizes[:, None]] = flat
        tables.append(table)
    return tuple(ids), tables[0], tables[1]
