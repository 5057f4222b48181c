"""One pass of the CLEF-HIPE scorer: a column within a slice, from cells to figures, and its records on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.conventions.hipe import matching as rules
from nereval_core.conventions.hipe.columns import CellColumn, ColumnPair
from nereval_core.conventions.hipe.figures import LabelFigures, contributions, decisions, rows_of
from nereval_core.conventions.hipe.matching import LOST, OUTSIDE_SLICE, WHY, MatchEvents, TokenText, match_units
from nereval_core.conventions.hipe.spans import (
    LabelCodes,
    TokenUnits,
    entity_units,
    label_codes_found,
    link_units,
    mention_link_units,
    union_units,
)
from nereval_core.conventions.records import IGN, OVERALL, MatchRows, UnitColumns, record_frame
from nereval_core.corpus import Documents
from nereval_core.corpus.arrays import Int64


@dataclass(frozen=True, slots=True)
class PassRequest:
    """The request for a pass: one column (linking: more, for the union), entities or links.

    `mentions` is the column whose mentions bound the links, None for runs of equal links; `ranks` is the number of
    links of a ranked list that count. `tagset` are labels that count though gold has none of them. `tokens` are the
    tokens that a slice keeps, None for all.
    """

    columns: tuple[str, ...]
    linking: bool = False
    mentions: str | None = None
    ranks: int = 1
    whole: bool = True
    tagset: frozenset[str] = frozenset()
    tokens: Int64 | None = None


@dataclass(frozen=True, eq=False)
class ColumnPass:
    """The result of a pass; `rows` are its figures."""

    request: PassRequest
    pair: ColumnPair
    names: tuple[str, ...]
    allowed: NDArray[np.bool_]
    sides: tuple[TokenUnits, TokenUnits]
    match: MatchEvents
    rows: list[LabelFigures]

    def records(self, evaluation: str) -> pd.DataFrame:
        """Return the records of an evaluation, which ends in the schema."""
        return _records(self, evaluation)


def run_pass(pair: ColumnPair, request: PassRequest, text: TokenText) -> ColumnPass:
    """Score a column of both sides within a slice."""
    names = LabelCodes()
    gold_columns = [pair.gold[request.columns[0]]]
    pred_columns = [pair.pred[name] for name in request.columns]
    counted_labels = label_codes_found(gold_columns, names)
    predicted = label_codes_found(pred_columns, names)
    if request.linking:
        counted_labels |= predicted
    elif request.tagset:
        labels = {code: label for label, code in names.codes.items()}
        counted_labels |= {code for code in predicted if labels[code] in request.tagset}
    doc = pair.doc if request.tokens is None else pair.doc[request.tokens]
    sides = (units_of(pair, request, names, gold=True)[0], units_of(pair, request, names, gold=False)[0])
    flags = np.zeros(len(names.codes), bool)
    flags[list(counted_labels)] = True
    matched = match_units(*sides, flags, doc, text)
    labels_by_code = tuple(names.codes)
    return ColumnPass(request, pair, labels_by_code, flags, sides, matched, rows_of(matched, labels_by_code, flags))


def units_of(pair: ColumnPair, request: PassRequest, names: LabelCodes, *, gold: bool) -> tuple[TokenUnits, TokenUnits]:
    """Return the units of a side, and those that the scorer loses."""
    side = pair.gold if gold else pair.pred

    def column(name: str) -> CellColumn:
        return side[name] if request.tokens is None else side[name].take(request.tokens)

    doc = pair.doc if request.tokens is None else pair.doc[request.tokens]
    main = column(request.columns[0])
    if not request.linking:
        return entity_units(main, doc, names, whole=request.whole)
    ranks = 1 if gold else request.ranks
    if request.mentions is not None:
        units = mention_link_units(main, column(request.mentions), doc, names, ranks, gold=gold)
        return units, units.take(np.zeros(0, np.int64))
    units, lost = link_units(main, doc, names, ranks, whole=request.whole)
    if len(request.columns) > 1:
        joined = [main] if gold else [column(name) for name in request.columns]
        units, lost = union_units(units, joined, names), union_units(lost, joined, names)
    return units, lost


def _records(done: ColumnPass, evaluation: str) -> pd.DataFrame:
    schema = evaluation.rsplit("/", 1)[1]
    events = done.match
    gold, pred = (_marks(done, gold=side) for side in (True, False))
    sizes = [len(side) for side in done.sides]
    passed_over = []
    for side, ((marks, why), out) in enumerate(zip((gold, pred), events.left_out, strict=True)):
        extra = np.arange(sizes[side], len(marks))
        units = np.concatenate((out, extra))
        named = _cut_labels(done, out, gold=side == 0)
        passed_over.append((units, np.concatenate((named, why))))
    none = [np.full(len(units), -1) for units, _ in passed_over]
    g = np.concatenate((events.gold, passed_over[0][0], none[1]))
    p = np.concatenate((events.pred, none[0], passed_over[1][0]))
    decision = np.concatenate((decisions(schema)[events.kind], *(np.full(len(one), IGN) for one in none)))
    why = np.concatenate((events.why, passed_over[0][1], passed_over[1][1]))
    counted = contributions(schema, events.kind)
    ignored = np.zeros(len(none[0]) + len(none[1]), bool)
    counters = {name: np.concatenate((flags, ignored)) for name, flags in counted.items()}
    size = len(events.kind)
    own = np.flatnonzero(events.label >= 0)
    everywhere, targets = np.flatnonzero(events.label < 0), np.flatnonzero(done.allowed)
    again = np.concatenate((own, np.repeat(everywhere, len(targets))))
    labels = np.concatenate((events.label[own], np.tile(targets, len(everywhere))))
    index = np.concatenate((np.arange(size + len(ignored)), again))
    scope = np.concatenate((np.zeros(size + len(ignored), np.int64), labels + 1))
    used, scope = np.unique(scope, return_inverse=True)
    return record_frame(
        evaluation,
        gold[0],
        pred[0],
        MatchRows(g[index], p[index], decision[index], why[index]),
        WHY,
        {name: flags[index] for name, flags in counters.items()},
        scope=(scope.reshape(-1), [OVERALL if not code else done.names[code - 1] for code in used.tolist()]),
    )


def _cut_labels(done: ColumnPass, units: Int64, *, gold: bool) -> Int64:
    """Return why units were left out: a label unknown to gold and tag set, or one that the tag set cuts."""
    side = done.sides[0 if gold else 1]
    cut = np.array(["-" in name or "|" in name for name in done.names], bool)
    return np.where(cut[side.labels[side.cell[units], 0]], rules.CUT_LABEL, rules.UNKNOWN_LABEL)


def _marks(done: ColumnPass, *, gold: bool) -> tuple[UnitColumns, Int64]:
    """Return a side's units, then those lost and those outside the slice; and why the latter are passed over."""
    request = done.request
    units = done.sides[0 if gold else 1]
    _, lost = units_of(done.pair, request, LabelCodes(), gold=gold)
    spans = [(units, request.tokens), (lost, request.tokens)]
    why = [np.full(len(lost), LOST)]
    if request.tokens is not None:
        whole, _ = units_of(done.pair, replace(request, tokens=None), LabelCodes(), gold=gold)
        is_inside = np.zeros(len(done.pair.doc) + 1, np.int64)
        is_inside[request.tokens + 1] = 1
        before = np.cumsum(is_inside)
        outside = whole.take(before[whole.last + 1] == before[whole.first])
        spans.append((outside, None))
        why.append(np.full(len(outside), OUTSIDE_SLICE))
    labels = [label for part, _ in spans for label in part.written]
    types = tuple(dict.fromkeys(labels))
    number = {label: code for code, label in enumerate(types)}
    first, last, kind = [], [], []
    for part, tokens in spans:
        first.append(part.first if tokens is None else tokens[part.first])
        last.append(part.last if tokens is None else tokens[part.last])
        kind.append(np.array([number[label] for label in part.written], np.int64)[part.cell])
    marks = _placed(done.pair.documents, *(np.concatenate(column) for column in (first, last, kind)), types=types)
    return marks, np.concatenate(why)


def _placed(documents: Documents, first: Int64, last: Int64, kind: Int64, *, types: Sequence[str]) -> UnitColumns:
    """Return spans of tokens as marks; one that reaches into the next document ends with its own."""
    tokens = documents.tokens
    if tokens is None:
        none = np.zeros(0, np.int64)
        return UnitColumns(documents, none, none, none, none, tuple(types))
    doc = np.searchsorted(tokens.first, first, side="right") - 1
    last = np.minimum(last, tokens.first[doc + 1] - 1)
    return UnitColumns(documents, doc, tokens.starts[first], tokens.ends[last], kind, tuple(types))
