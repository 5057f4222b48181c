"""Match records and the tables made of them, as pandas frames with declared columns.

Long form: one row a record, a criterion, a type or a document. Undefined ratios are NaN.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Layer
from nereval_core.records.match_records import Rows, record_ids, rows
from nereval_core.records.reasons import BOUNDARIES, boundaries, is_discontinuous, reasons
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import COUNT_COLUMNS, TEXT_DTYPE, Columns, ratio_row
from nereval_core.scoring.criteria import Criterion, Decision
from nereval_core.scoring.protocols import CountedScores

DECISIONS = tuple(decision.name for decision in Decision)
SIDES = ("both", "gold", "pred")
SPURIOUS, MISSED = "spurious", "missed"
"""The confusion table's row for predictions without gold, and its column for gold without predictions."""

SIDE_COLUMNS: Columns = {
    f"{side}_{name}": dtype
    for side in SIDES[1:]
    for name, dtype in (("start", "Int32"), ("end", "Int32"), ("type", "category"), ("text", TEXT_DTYPE))
}
"""Columns of the gold span and of the prediction of a record, and their dtypes."""

RECORD_COLUMNS: Columns = {
    "criterion": "category",
    "document": "category",
    "record": TEXT_DTYPE,
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

TOKEN_REASONS = (
    "tokens with this type on both sides",
    "tokens not predicted with this type",
    "tokens not of this type in gold",
)


def records(scores: Scores, name: str) -> pd.DataFrame:
    """Return the match records under a criterion, in document order, with the columns of RECORD_COLUMNS."""
    return frame(scores, name, rows(scores, name))


class Judged(Protocol):
    """The part of scores that `frame` needs."""

    def criterion(self, name: str) -> Criterion: ...

    def layers(self, name: str) -> tuple[Layer, Layer]: ...


def frame(
    scores: Judged, name: str, judged_rows: Rows, numbers: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None = None
) -> pd.DataFrame:
    """Return some rows of `rows` as a frame with the columns of RECORD_COLUMNS; the work grows with these alone.

    `numbers` are those of document, gold span and prediction, where the rows are part of a larger whole.
    """
    gold, pred = scores.layers(name)
    g, p, anchored = judged_rows.gold, judged_rows.pred, judged_rows.anchored
    ids = np.empty(len(judged_rows), object)
    ids[anchored] = record_ids(gold, "g", g[anchored])
    ids[~anchored] = record_ids(pred, "p", p[~anchored])
    reason: Any
    if scores.criterion(name).unit == "token":
        reason = categories(np.where(p < 0, 1, np.where(g < 0, 2, 0)), TOKEN_REASONS)
    else:
        reason = pd.Categorical(pd.array(reasons(gold, pred, g, p), dtype=TEXT_DTYPE))
    return pd.DataFrame(
        {
            "criterion": categories(np.zeros(len(g), np.int8), [name]),
            "document": pd.Categorical.from_codes(judged_rows.doc, dtype=_documents(gold.documents)),
            "record": pd.array(ids, dtype=TEXT_DTYPE),
            "side": categories(judged_rows.side, SIDES),
            "decision": categories(judged_rows.decision, DECISIONS),
            **side_columns("gold", gold, g),
            **side_columns("pred", pred, p),
            "boundary": categories(boundaries(gold, pred, g, p), BOUNDARIES),
            "reason": reason,
            "weight": judged_rows.weight,
            **dict(zip(("doc", "gold", "pred"), numbers or (judged_rows.doc, g, p), strict=True)),
        },
        columns=list(RECORD_COLUMNS),
    )


_DOCUMENTS: WeakKeyDictionary[Documents, pd.CategoricalDtype] = WeakKeyDictionary()


def _documents(documents: Documents) -> pd.CategoricalDtype:
    """Return the column of document ids: made once, as there may be very many."""
    if documents not in _DOCUMENTS:
        _DOCUMENTS[documents] = pd.CategoricalDtype(pd.Index(list(documents.ids), dtype=TEXT_DTYPE))
    return _DOCUMENTS[documents]


def by_type(scores: CountedScores, name: str) -> pd.DataFrame:
    """Return one row a type: `type`, the decisions of its gold spans and of its predictions, COUNT_COLUMNS' ratios.

    Each side has its own decisions: gold_COR counts gold spans of the type, pred_COR predictions of it.
    """
    rows = []
    for kind, counts in scores.by_type(name).items():
        row: dict[str, Any] = {"type": kind}
        row |= {f"gold_{d.name}": counts.gold[d] for d in Decision if d is not Decision.SPU}
        row |= {f"pred_{d.name}": counts.pred[d] for d in Decision if d is not Decision.MIS}
        row |= {"POS": counts.pos, "ACT": counts.act} | ratio_row(counts)
        rows.append(row)
    columns = ["type"]
    columns += [f"gold_{d.name}" for d in Decision if d is not Decision.SPU]
    columns += [f"pred_{d.name}" for d in Decision if d is not Decision.MIS]
    table = pd.DataFrame(rows, columns=[*columns, "POS", "ACT", "precision", "recall", "f1"])
    return table.astype({"type": TEXT_DTYPE})


def by_document(scores: Scores, name: str) -> pd.DataFrame:
    """Return one row a document that has spans: `document` and COUNT_COLUMNS."""
    table = scores.by_document(name)
    gold, pred = table.gold, table.pred
    columns: dict[str, Any] = {"document": pd.Series(list(table), dtype=TEXT_DTYPE)}
    for decision in (Decision.COR, Decision.INC, Decision.PAR):
        columns[decision.name] = _agreed(gold[:, decision], pred[:, decision])
    columns |= {"MIS": gold[:, Decision.MIS], "SPU": pred[:, Decision.SPU]}
    columns |= {"POS": gold.sum(axis=1), "ACT": pred.sum(axis=1)}
    return pd.DataFrame(columns | dict(zip(COUNT_COLUMNS[-3:], table.ratios, strict=True)))


def _agreed(gold_codes: NDArray[np.int64], pred_codes: NDArray[np.int64]) -> Any:
    """Return the number of both sides, None where they differ."""
    if np.array_equal(gold_codes, pred_codes):
        return gold_codes
    return pd.Series([a if a == b else None for a, b in zip(gold_codes.tolist(), pred_codes.tolist(), strict=True)])


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
    distinct, place = np.unique(cells, return_inverse=True)
    counts = np.bincount(place, weight, minlength=len(distinct)).astype(np.int64)
    return pd.DataFrame(
        [
            (rows[cell // len(columns)], columns[cell % len(columns)], count)
            for cell, count in zip(distinct.tolist(), counts.tolist(), strict=True)
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
    all_names = tuple(names)
    return pd.Categorical.from_codes(codes, dtype=(_few if len(all_names) < _FEW else _categories)(all_names))


_FEW = 1_000
"""Names up to which a column's categories are kept, being made again and again for a page of records each."""


def _categories(names: tuple[str, ...]) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(pd.Index(list(names), dtype=TEXT_DTYPE))


_few = lru_cache(64)(_categories)


def side_columns(side: str, layer: Layer, spans: NDArray[Any]) -> dict[str, Any]:
    absent = spans < 0
    position = np.where(absent, 0, spans)
    kinds = layer.type[position] if len(layer) else np.zeros(len(spans), np.int16)
    starts, ends = (
        pd.arrays.IntegerArray(np.where(absent, 0, column[position] if len(layer) else 0).astype(np.int32), absent)
        for column in (layer.start, layer.end)
    )
    return {
        f"{side}_start": starts,
        f"{side}_end": ends,
        f"{side}_type": categories(np.where(absent, -1, kinds), layer.types),
        f"{side}_text": pd.array(_texts(layer, spans), dtype=TEXT_DTYPE),
    }


def _texts(layer: Layer, spans: NDArray[Any]) -> list[str | None]:
    """Return the text of each span, None for -1; a document's text is looked up once for spans of it in a row."""
    texts = layer.documents.texts
    quotes: list[str | None] = [None] * len(spans)
    present = np.flatnonzero(spans >= 0)
    own = spans[present]
    last, text = -1, ""
    columns = (present, layer.doc[own], layer.start[own], layer.end[own])
    for place, doc, start, end in zip(*(column.tolist() for column in columns), strict=True):
        if doc != last:
            last, text = doc, texts[doc]
        quotes[place] = text[start:end]
    apart = layer.unplaced[own] if not layer.fragments else layer.unplaced[own] | is_discontinuous(layer)[own]
    for place in present[apart].tolist():
        quotes[place] = layer.text(int(spans[place]))
    return quotes
