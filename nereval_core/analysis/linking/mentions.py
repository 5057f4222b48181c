"""Mentions, which are spans with links, and their alignment.

Mentions are aligned one to one as spans are, by the criterion `exact` (strict) or `lenient` (overlapping), whatever
their links and types. A link that holds `|` is several, best first (as the NEL columns of CLEF-HIPE have it).
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

from nereval_core.arrays import Bools, Int64
from nereval_core.corpus import Fragments, Layer
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, Decision

Boundaries = Literal["strict", "overlapping"]
Mentions = Literal["end-to-end", "gold"]
Links = Mapping[int, tuple[str, ...]]

NIL = "NIL"
"""The id of what has no entry."""
CRITERION: Mapping[Boundaries, str] = {"strict": "exact", "overlapping": "lenient"}
"""The criterion by which mentions are aligned; only its correct pairs are pairs of mentions."""


class Why(IntEnum):
    """Why a mention has no partner."""

    PAIRED = 0
    UNLINKED = 1
    MOVED = 2
    TAKEN = 3
    ALONE = 4


@dataclass(frozen=True, eq=False)
class LinkAlignment:
    """The mentions of two layers, aligned: one row a pair of mentions or a mention without partner.

    `gold_span` and `pred_span` index the layers, -1 where there is none, and `why` says why. `truth` and `ranking` hold
    the links as indices into `ids`, -1 for none, shape (rows, links). `unjudged` counts the gold and predicted mentions
    left out because boundaries differ: given gold's mentions these are no errors of linking.
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
        """The document's number of each row."""
        own = self.gold_span >= 0
        found = np.empty(len(own), np.int64)
        found[own] = self.gold.doc[self.gold_span[own]]
        found[~own] = self.pred.doc[self.pred_span[~own]]
        return found


def ranked(links: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of a mention, best first: a link that holds `|` is several."""
    if not any("|" in link for link in links):
        return tuple(links)
    return tuple(link for given in links for link in given.split("|") if link) or tuple(links)


def align_links(
    gold: Layer, pred: Layer, *, boundaries: Boundaries = "strict", mentions: Mentions = "end-to-end"
) -> LinkAlignment:
    """Align the mentions of two layers over the same documents.

    Given gold's mentions only pairs of equal boundaries are judged, and gold mentions where the prediction has a span
    of the same boundaries without a link (they are missing: not to link is no way to a better accuracy).
    """
    assert boundaries == "strict" or mentions == "end-to-end", "gold's mentions are judged where boundaries are equal"
    links = [{span: ranked(row) for span, row in layer.links.items() if row} for layer in (gold, pred)]
    own, theirs = (np.array(sorted(found), np.int64) for found in links)
    g, p, moved = _pairs(gold, pred, own, theirs, links, CRITERION[boundaries])
    lone = [_without(spans, used, len(layer)) for spans, used, layer in ((own, g, gold), (theirs, p, pred))]
    whys = [
        _why(layer, other, spans, inside, others, CRITERION[boundaries])
        for layer, other, spans, inside, others in (
            (gold, pred, lone[0], moved[0], links[1]),
            (pred, gold, lone[1], moved[1], links[0]),
        )
    ]
    unjudged = (0, 0)
    if mentions == "gold":
        judged = whys[0] == Why.UNLINKED
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
        *_coded(links[0], gold_span, links[1], pred_span, ids),
        unjudged,
    )


def _pairs(
    gold: Layer, pred: Layer, own: Int64, theirs: Int64, links: Sequence[Links], criterion: str
) -> tuple[Int64, Int64, tuple[Int64, Int64]]:
    """Return the gold and predicted mentions of each pair, and those whose partner has other boundaries."""
    one, two = _bare(gold, own), _bare(pred, theirs)
    scores = score_layers(one, two, Settings((CRITERIA[criterion],)))
    partner = scores.partners(criterion)[0].astype(np.int64)
    correct = scores.decisions(criterion)[0] == Decision.COR
    if _same_place(one).any() or _same_place(two).any():
        partner, correct = _interchanged((one, two), partner, correct, (own, theirs), links)
    met = (partner >= 0) & ~correct
    return own[correct], theirs[partner[correct]], (own[met], theirs[partner[met]])


def _bare(layer: Layer, spans: Int64) -> Layer:
    """Return some spans without all that does not bear on their alignment."""
    nothing: dict[str, Any] = {key: {} for key in ("ids", "links", "cores", "alternatives", "scores", "meta")}
    bare = replace(layer, **nothing)
    return bare if len(spans) == len(layer) else bare.take(spans)


def _interchanged(
    layers: tuple[Layer, Layer], partner: Int64, correct: Bools, spans: tuple[Int64, Int64], links: Sequence[Links]
) -> tuple[Int64, Bools]:
    """Return partners, and whether they fit, after spans of equal boundaries have changed places so that links agree.

    As to boundaries they are the same span, and which of them is which must not hang on the order of reading. Of each
    kind of pair those go together whose gold link stands first in the ranking, then those of equal type.
    """
    kinds: list[list[int]] = []
    free: list[dict[int, list[int]]] = []
    for layer in layers:
        kind = _kinds(layer)
        kinds.append(kind.tolist())
        several = np.flatnonzero(np.bincount(kind)[kind] > 1)
        order = several[np.argsort(kind[several], kind="stable")]
        free.append({key: list(group) for key, group in groupby(order.tolist(), key=kinds[-1].__getitem__)})
    partner, correct = partner.copy(), correct.copy()
    wanted: Counter[tuple[bool, int, int]] = Counter()
    for g in np.flatnonzero(partner >= 0).tolist():
        p = int(partner[g])
        one, two = kinds[0][g], kinds[1][p]
        if one in free[0] or two in free[1]:
            # Pairs that fit choose first.
            wanted[not correct[g], one, two] += 1
            free[0].setdefault(one, [g])
            free[1].setdefault(two, [p])
            partner[g], correct[g] = -1, False

    def quality(pair: tuple[int, int]) -> tuple[object, ...]:
        truth, ranking = (links[side][int(spans[side][span])] for side, span in enumerate(pair))
        one, two = (layer.label(span) for layer, span in zip(layers, pair, strict=True))
        return ranking.index(truth[0]) if truth[0] in ranking else len(ranking), one != two, truth, ranking, one, two

    for (misfit, one, two), number in sorted(wanted.items()):
        golds, preds = free[0][one], free[1][two]
        for g, p in sorted(product(golds, preds), key=quality):
            if number and g in golds and p in preds:
                partner[g], correct[g] = p, not misfit
                golds.remove(g)
                preds.remove(p)
                number -= 1
    return partner, correct


def _same_place(layer: Layer) -> Bools:
    """Tell of each span but the first whether it starts and ends where the one before it does."""
    same = np.ones(max(len(layer) - 1, 0), bool)
    for column in (layer.doc, layer.start, layer.end):
        same &= column[1:] == column[:-1]
    return same


def _kinds(layer: Layer) -> Int64:
    """Number the spans so that those of equal boundaries, fragments included, have the same number."""
    kind = np.concatenate(([0], np.cumsum(~_same_place(layer)))) if len(layer) else np.zeros(0, np.int64)
    seen: dict[tuple[int, Fragments], int] = {}
    for span, parts in sorted(layer.fragments.items()):
        kind[span] = seen.setdefault((int(kind[span]), parts), len(layer) + len(seen))
    return kind


def _why(layer: Layer, other: Layer, spans: Int64, moved: Int64, linked: Links, criterion: str) -> NDArray[np.int8]:
    """Say of mentions without partner why they have none."""
    own = _bare(layer, spans)

    def met(others: Int64, name: str) -> Bools:
        if not len(others) or not len(spans):
            return np.zeros(len(spans), bool)
        settings = Settings((CRITERIA[name],), counting="each-side")
        decided = score_layers(own, _bare(other, others), settings).decisions(name)[0]
        found: Bools = decided == Decision.COR
        return found

    with_links = np.array(sorted(linked), np.int64)
    found = np.full(len(spans), Why.ALONE, np.int8)
    found[met(with_links, "lenient")] = Why.TAKEN
    was_moved = np.zeros(len(layer), bool)
    was_moved[moved] = True
    found[was_moved[spans]] = Why.MOVED
    found[met(_without(np.arange(len(other)), with_links, len(other)), criterion)] = Why.UNLINKED
    return found


def _without(spans: Int64, used: Int64, size: int) -> Int64:
    """Return the spans of a layer of that size that are not among the used ones."""
    free = np.ones(size, bool)
    free[used] = False
    kept: Int64 = spans[free[spans]]
    return kept


def _coded(
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
