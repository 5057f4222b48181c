"""Match records and the tables made of them, as pandas frames with declared columns.

Long form: one row a record, a criterion, a type or a document. Undefined ratios are NaN.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.candidates import shared_characters
from nereval_core.corpus import Layer
from nereval_core.criteria import Decision
from nereval_core.scoring import Counts, Scores

DECISIONS = tuple(decision.name for decision in Decision)
SIDES = ("both", "gold", "pred")
BOUNDARIES = ("equal", "start differs", "end differs", "both differ", "fragments differ", "unaligned")
SPURIOUS, MISSED = "spurious", "missed"
"""The confusion table's row for predictions without gold, and its column for gold without predictions."""

SIDE_COLUMNS: Mapping[str, str] = {
    f"{side}_{name}": dtype
    for side in SIDES[1:]
    for name, dtype in (("start", "Int32"), ("end", "Int32"), ("type", "category"), ("text", "str"))
}
"""Columns with what a record says of its gold span and of its prediction, and their dtypes."""

RECORD_COLUMNS: Mapping[str, str] = {
    "criterion": "category",
    "document": "category",
    "record": "str",
    "side": "category",
    "decision": "category",
    **SIDE_COLUMNS,
    "boundary": "category",
    "reason": "category",
    "weight": "int64",
    "doc": "int32",
    "gold": "int32",
    "pred": "int32",
}
"""Columns of `records` and their dtypes. Offsets are code points, end exclusive; `gold` and `pred` are span indices, -1
where there is none; `doc` is the document's number. `weight` is how much a record counts: 1, or, counted by token, the
tokens of the run that it is. A count is the sum of the weights of its records."""

_TOKEN_REASONS = (
    "tokens with this type on both sides",
    "tokens not predicted with this type",
    "tokens not of this type in gold",
)
NUMBERED = re.compile(r"~[0-9]+\Z")
COUNT_COLUMNS = ("COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT", "precision", "recall", "f1")


def records(scores: Scores, name: str) -> pd.DataFrame:
    """Return the match records under a criterion, in document order, with the columns of RECORD_COLUMNS.

    One to one, a row is an aligned pair (side "both") or an unaligned span; counting each side for itself, a row is a
    span of one side, with the span it was judged by as its partner. Counted by token, token runs stand for spans.
    """
    gold, pred = scores.layers(name)
    gold_decisions, pred_decisions = scores.decisions(name)
    gold_partner, pred_partner = scores.partners(name)
    each = scores.settings.counting == "each-side"
    own: NDArray[Any] = np.arange(len(pred)) if each else np.flatnonzero(pred_partner < 0)
    g = np.concatenate((np.arange(len(gold)), pred_partner[own] if each else np.full(len(own), -1)))
    p = np.concatenate((gold_partner, own))
    anchored = np.concatenate((np.ones(len(gold), bool), np.zeros(len(own), bool)))
    decision = np.concatenate((gold_decisions, pred_decisions[own]))
    doc, start, end = (
        np.concatenate((getattr(gold, column), getattr(pred, column)[own])) for column in ("doc", "start", "end")
    )
    order = np.lexsort((~anchored, end, start, doc))
    g, p, anchored, decision, doc = g[order], p[order], anchored[order], decision[order], doc[order]
    side = np.where(anchored, 1, 2) if each else np.where(p < 0, 1, np.where(g < 0, 2, 0))
    ids = (record_ids(gold, "g"), record_ids(pred, "p"))
    boundary, reason = _differences(gold, pred, g, p)
    if scores.criterion(name).unit == "token":
        reason = categories(np.where(p < 0, 1, np.where(g < 0, 2, 0)), _TOKEN_REASONS)
    weight = np.concatenate((scores.weights(name)[0], scores.weights(name)[1][own]))[order]
    documents = gold.documents.ids
    frame = pd.DataFrame(
        {
            "criterion": categories(np.zeros(len(g), np.int8), [name]),
            "document": categories(doc, documents),
            "record": [ids[0][i] if from_gold else ids[1][j] for i, j, from_gold in zip(g, p, anchored, strict=True)],
            "side": categories(side, SIDES),
            "decision": categories(decision, DECISIONS),
            **_columns("gold", gold, g),
            **_columns("pred", pred, p),
            "boundary": boundary,
            "reason": reason,
            "weight": weight,
            "doc": doc,
            "gold": g.astype(np.int32),
            "pred": p.astype(np.int32),
        },
        columns=list(RECORD_COLUMNS),
    )
    return frame.astype({"record": "str", "gold_text": "str", "pred_text": "str"})


def record_ids(layer: Layer, prefix: str) -> list[str]:
    """Return the record id of each span without its document: `g:12-19:Drug`, `~2` for the second of two equal ones.

    A type that itself ends like that is written with `~1`, so that no two spans have the same id.
    """
    types = [f"{kind}~1" if NUMBERED.search(kind) else kind for kind in layer.types]
    ids = [
        f"{prefix}:{start}-{end}:{types[kind]}"
        for start, end, kind in zip(layer.start.tolist(), layer.end.tolist(), layer.type.tolist(), strict=True)
    ]
    for span, parts in layer.fragments.items():
        ids[span] = f"{prefix}:{','.join(f'{low}-{high}' for low, high in parts)}:{types[int(layer.type[span])]}"
    repeated = 1
    last = -2
    for span in layer.duplicates.tolist():
        repeated = repeated + 1 if span == last + 1 else 2
        ids[span] = f"{NUMBERED.sub('', ids[span])}~{repeated}"
        last = span
    return ids


def overall(scores: Scores) -> pd.DataFrame:
    """Return one row a criterion: `criterion` and COUNT_COLUMNS, micro averaged."""
    return _count_table("criterion", {c.name: scores.counts(c.name) for c in scores.criteria})


def by_type(scores: Scores, name: str) -> pd.DataFrame:
    """Return one row a type: `type`, the decisions of its gold spans and of its predictions, COUNT_COLUMNS' ratios.

    Each side has its own decisions: gold_COR counts gold spans of the type, pred_COR predictions of it.
    """
    rows = []
    for kind, counts in scores.by_type(name).items():
        row: dict[str, Any] = {"type": kind}
        row |= {f"gold_{d.name}": counts.gold[d] for d in Decision if d is not Decision.SPU}
        row |= {f"pred_{d.name}": counts.pred[d] for d in Decision if d is not Decision.MIS}
        row |= {"POS": counts.pos, "ACT": counts.act} | _ratios(counts)
        rows.append(row)
    columns = ["type"]
    columns += [f"gold_{d.name}" for d in Decision if d is not Decision.SPU]
    columns += [f"pred_{d.name}" for d in Decision if d is not Decision.MIS]
    return pd.DataFrame(rows, columns=[*columns, "POS", "ACT", "precision", "recall", "f1"])


def by_document(scores: Scores, name: str) -> pd.DataFrame:
    """Return one row a document that has spans: `document` and COUNT_COLUMNS."""
    return _count_table("document", scores.by_document(name))


def confusion(scores: Scores, name: str) -> pd.DataFrame:
    """Return how often each gold type met each predicted type: `gold_type`, `pred_type`, `count`, zeros left out.

    Aligned pairs, boundary mismatches included, meet; a prediction without gold stands in row SPURIOUS, a gold span
    without prediction in column MISSED; these are put in brackets where a type has that name. Counting each side for
    itself, gold spans are counted and spurious predictions. Counted by token, the counts are of tokens.
    """
    gold, pred = scores.layers(name)
    gold_partner, pred_partner = scores.partners(name)
    names = {*gold.types, *pred.types}
    rows = (*gold.types, _free(SPURIOUS, names))
    columns = (*pred.types, _free(MISSED, names))
    met = np.where(gold_partner >= 0, pred.type[gold_partner] if len(pred) else 0, len(pred.types))
    alone = pred.type[pred_partner < 0]
    cells = np.concatenate(
        (gold.type.astype(np.int64) * len(columns) + met, len(gold.types) * len(columns) + alone.astype(np.int64))
    )
    weight = np.concatenate((scores.weights(name)[0], scores.weights(name)[1][pred_partner < 0]))
    # Only the cells that occur are held: with thousands of types the whole table would not fit.
    found, place = np.unique(cells, return_inverse=True)
    counts = np.bincount(place, weight, minlength=len(found)).astype(np.int64)
    return pd.DataFrame(
        [
            (rows[cell // len(columns)], columns[cell % len(columns)], count)
            for cell, count in zip(found.tolist(), counts.tolist(), strict=True)
        ],
        columns=["gold_type", "pred_type", "count"],
    )


def _free(name: str, types: Collection[str]) -> str:
    """Return the name, in brackets where a type is called so."""
    while name in types:
        name = f"({name})"
    return name


def wide(scores: Scores) -> pd.DataFrame:
    """Return one row a span: `document`, `record`, `side` (gold or pred), `start`, `end`, `span_type`, and by
    criterion its decision.

    Spans are those of the first criterion's layers; a criterion under which a span is left out has no decision for it.
    A criterion counted by token decides over no spans and has no column, unless it is the only one: then the rows are
    its token runs.
    """
    criteria = [criterion for criterion in scores.criteria if criterion.unit == "span"] or scores.criteria
    frames = []
    for side, prefix in ((0, "g"), (1, "p")):
        layer = scores.layers(criteria[0].name)[side]
        columns: dict[str, Any] = {
            "document": categories(layer.doc, layer.documents.ids),
            "record": record_ids(layer, prefix),
            "side": SIDES[side + 1],
            "start": layer.start,
            "end": layer.end,
            "span_type": [layer.types[kind] for kind in layer.type.tolist()],
        }
        here = {read: place for place, read in enumerate(_read_order(layer).tolist())}
        for criterion in criteria:
            other, decisions = scores.layers(criterion.name)[side], scores.decisions(criterion.name)[side]
            codes = np.full(len(layer), -1, np.int8)
            if other is layer:
                codes[:] = decisions
            else:
                # Spans that only this criterion counts have no row here.
                place = np.array([here.get(read, -1) for read in _read_order(other).tolist()], np.int64)
                codes[place[place >= 0]] = decisions[place >= 0]
            columns[criterion.name] = categories(codes, DECISIONS)
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def _read_order(layer: Layer) -> NDArray[Any]:
    return np.arange(len(layer)) if layer.order is None else layer.order


def categories(codes: NDArray[Any], names: Iterable[str]) -> Any:
    """Return a categorical column: `codes` are indices into the names, which are all different; -1 is missing."""
    return pd.Categorical.from_codes(codes, pd.Index(list(names), dtype="str"))


def _count_table(key: str, rows: Mapping[str, Counts]) -> pd.DataFrame:
    return pd.DataFrame(
        [{key: name} | count_row(counts) for name, counts in rows.items()], columns=[key, *COUNT_COLUMNS]
    )


def count_row(counts: Counts) -> dict[str, Any]:
    """Return COUNT_COLUMNS of some counts; COR, INC and PAR are None where the two sides differ."""
    return {
        "COR": counts.cor,
        "INC": counts.inc,
        "PAR": counts.par,
        "MIS": counts.mis,
        "SPU": counts.spu,
        "POS": counts.pos,
        "ACT": counts.act,
    } | _ratios(counts)


def _ratios(counts: Counts) -> dict[str, float]:
    values = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
    return {name: float("nan") if value is None else value for name, value in values.items()}


def _columns(side: str, layer: Layer, spans: NDArray[Any]) -> dict[str, Any]:
    absent = spans < 0
    there = np.where(absent, 0, spans)
    kinds = layer.type[there] if len(layer) else np.zeros(len(spans), np.int16)
    starts, ends = (
        pd.array(np.where(absent, 0, column[there] if len(layer) else 0).astype(np.int32), dtype="Int32")
        for column in (layer.start, layer.end)
    )
    starts[absent], ends[absent] = pd.NA, pd.NA
    return {
        f"{side}_start": starts,
        f"{side}_end": ends,
        f"{side}_type": categories(np.where(absent, -1, kinds), layer.types),
        f"{side}_text": [layer.text(span) if span >= 0 else None for span in spans.tolist()],
    }


def _differences(
    gold: Layer,
    pred: Layer,
    g: NDArray[Any],
    p: NDArray[Any],
) -> tuple[Any, Any]:
    """Say of each record how boundaries relate, and in words what differs: where, by how much, and in type."""
    paired = np.flatnonzero((g >= 0) & (p >= 0))
    relation = np.full(len(g), BOUNDARIES.index("unaligned"), np.int8)
    words = np.empty(len(g), object)
    if len(paired):
        one, two = g[paired], p[paired]
        unit, starts, ends = _shifts(gold, pred, one, two)
        moved = (gold.start[one] != pred.start[two]) + 2 * (gold.end[one] != pred.end[two])
        if gold.fragments or pred.fragments:
            parts = [gold.fragments.get(i) != pred.fragments.get(j) for i, j in zip(one, two, strict=True)]
            moved = np.where((moved == 0) & parts, 4, moved)
        relation[paired] = moved
        rows = np.stack((starts, ends, gold.type[one], pred.type[two], moved), axis=1)
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        said = np.array([_words(unit, gold, pred, *row) for row in distinct.tolist()], object)
        words[paired] = said[which.ravel()]
    for mine, layer, spans, other, text in (
        (np.flatnonzero(p < 0), gold, g, pred, "prediction"),
        (np.flatnonzero(g < 0), pred, p, gold, "gold span"),
    ):
        met = _meets(layer, spans[mine], other)
        words[mine] = np.where(met, f"every {text} that overlaps it is aligned elsewhere", f"no {text} overlaps it")
    return categories(relation, BOUNDARIES), pd.Categorical(words)


def _meets(layer: Layer, spans: NDArray[Any], other: Layer) -> NDArray[np.bool_]:
    """Tell which spans overlap some span of the other layer."""
    if not len(other) or not len(spans):
        return np.zeros(len(spans), bool)
    base = layer.documents.base
    start = base[layer.doc[spans]] + layer.start[spans]
    end = base[layer.doc[spans]] + layer.end[spans]
    starts = base[other.doc] + other.start
    reach = np.maximum.accumulate(base[other.doc] + other.end)
    # The last span that starts before this one's end: whether any reaches past this one's start.
    last = np.searchsorted(starts, end, side="left") - 1
    met: NDArray[np.bool_] = (last >= 0) & (reach[last] > start)
    if layer.fragments or other.fragments:
        # Hulls that overlap may share no character: of those the fragments tell.
        met[met] = [_shares(layer, int(span), other) for span in spans[met]]
    return met


def _shares(layer: Layer, span: int, other: Layer) -> bool:
    low, high = other.first[layer.doc[span] : layer.doc[span] + 2].tolist()
    near = (other.start[low:high] < layer.end[span]) & (other.end[low:high] > layer.start[span])
    own = _parts(layer, span)
    return any(shared_characters(own, _parts(other, i)) for i in (np.flatnonzero(near) + low).tolist())


def _parts(layer: Layer, span: int) -> tuple[tuple[int, int], ...]:
    return layer.fragments.get(span) or ((int(layer.start[span]), int(layer.end[span])),)


def _shifts(
    gold: Layer, pred: Layer, one: NDArray[Any], two: NDArray[Any]
) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    """Return by how much the prediction starts and ends later, in tokens where all bounds lie on token bounds."""
    base, tokens = gold.documents.base, gold.documents.tokens
    doc = base[gold.doc[one]]
    bounds = [
        doc + column.astype(np.int64) for column in (gold.start[one], pred.start[two], gold.end[one], pred.end[two])
    ]
    if tokens is not None:
        origin = np.repeat(base[:-1], np.diff(tokens.first))
        edges = (origin + tokens.starts, origin + tokens.ends)
        places = [np.searchsorted(edges[i // 2], bound) for i, bound in enumerate(bounds)]
        exact = all(
            bool(np.all(edges[i // 2][np.minimum(place, len(edges[0]) - 1)] == bound)) and len(edges[0])
            for i, (place, bound) in enumerate(zip(places, bounds, strict=True))
        )
        if exact:
            return "token", places[1] - places[0], places[3] - places[2]
    return "character", bounds[1] - bounds[0], bounds[3] - bounds[2]


def _words(unit: str, gold: Layer, pred: Layer, start: int, end: int, kind: int, other: int, moved: int) -> str:
    parts = []
    for verb, shift in (("starts", start), ("ends", end)):
        if shift:
            size = f"{abs(shift)} {unit}{'s' if abs(shift) > 1 else ''}"
            parts.append(f"{verb} {size} {'later' if shift > 0 else 'earlier'}")
    if moved == 4:
        parts.append("other fragments")
    if gold.types[kind] != pred.types[other]:
        parts.append(f"type {pred.types[other]} instead of {gold.types[kind]}")
    return "; ".join(parts) or "same boundaries and type"


__all__: Sequence[str] = (
    "BOUNDARIES",
    "COUNT_COLUMNS",
    "DECISIONS",
    "MISSED",
    "RECORD_COLUMNS",
    "SIDES",
    "SPURIOUS",
    "by_document",
    "by_type",
    "confusion",
    "count_row",
    "overall",
    "record_ids",
    "records",
    "wide",
)
