"""Classes of errors, and the score with some of them mended: each record that is not strictly correct has one class.

Classes depend on the records of the one-to-one alignment under `strict` (types merged and left out as scored) and on
the spans that share a character. A record has the first of these classes that applies:

1. `duplicate`: a prediction aligned with nothing that repeats another one, equal in boundaries, fragments and type.
   Of several equal ones the aligned are not duplicates; where none is aligned, the first is not one.
2. `split`, one gold span and several predictions: an aligned pair that is not correct where a prediction aligned with
   nothing (and no duplicate) shares a character with the gold span; and each such prediction.
3. `merged`, several gold spans and one prediction: an aligned pair that is not correct where a gold span aligned with
   nothing shares a character with the prediction; and each such gold span.
4. `type only`: any other pair of equal boundaries. 5. `boundary only`: any other pair of equal type. 6. `type and
   boundary`: any other pair. 7. `missed`: any other gold span. 8. `spurious`: any other prediction.

A span that overlaps only correct spans is missed or spurious.

All classes are mended in the same way. In an aligned pair, the prediction gets the boundaries of its gold span where
these differ, and its type where the types differ as scored. A prediction aligned with nothing is removed, and a gold
span aligned with nothing is predicted. With all classes mended the predictions equal gold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.crosstab import crosstab
from nereval_core.analysis.span_relations import corresponding_spans, have_same_type, touching_spans
from nereval_core.corpus import Labels, Layer, frozen
from nereval_core.corpus.arrays import Bools
from nereval_core.problems import FormatError
from nereval_core.records.reasons import BOUNDARIES, boundaries
from nereval_core.scoring import Scores, score_layers
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, nan_for_none, typed_table
from nereval_core.scoring.counts import Counts
from nereval_core.scoring.criteria import Decision
from nereval_core.tables.glossary import ERROR_CLASSES

Codes = NDArray[np.int8]
Spans = NDArray[Any]

STRICT = "strict"
CLASSES = ERROR_CLASSES
"""The classes in the order in which they are tried."""
DUPLICATE, SPLIT, MERGED, TYPE, BOUNDARY, BOTH, MISSED, SPURIOUS = range(len(CLASSES))
ENDS = ("left short", "left long", "right short", "right long", "both ends", "fragments")
"""The wrong ends of a prediction: it leaves words out (short) or takes words in (long) at one end, differs at both
ends, or has gold's two ends and other fragments."""
CLASS_COLUMNS: Columns = {
    "class": TEXT_DTYPE,
    "records": "int64",
    **dict.fromkeys(("share", "precision", "recall", "f1", "gain", "cumulative_f1", "cumulative_gain"), "float64"),
}
"""Columns of `class_table` and their dtypes. `records` counts strict records, `share` is their share of all that are
not correct. `precision`, `recall` and `f1` are those with this class alone mended, `gain` is `f1` less the present F1;
the cumulative columns are with all classes above mended too. Undefined ratios are NaN."""

TYPE_COLUMNS: Columns = {"class": TEXT_DTYPE, "type": TEXT_DTYPE, "records": "int64"}
"""Columns of `class_types`; the type is that of the record's gold span, else of its prediction."""

END_COLUMNS: Columns = {"class": TEXT_DTYPE, "ends": TEXT_DTYPE, "records": "int64"}
"""Columns of `class_ends`."""


@dataclass(frozen=True, eq=False)
class ErrorClasses:
    """The error class of every span, by its strict record.

    `gold` and `pred` are indices into CLASSES by span as scored under `strict`, -1 for correct spans. `gold_ends` and
    `pred_ends` are indices into ENDS for the classes `boundary only` and `type and boundary`, else -1. `partner` is the
    prediction that each gold span is aligned with, -1 for none.
    """

    gold: Codes
    pred: Codes
    gold_ends: Codes
    pred_ends: Codes
    partner: NDArray[np.int32]

    @property
    def alone(self) -> Bools:
        """The predictions that are aligned with nothing and are records of their own, shape (predictions,)."""
        alone = np.ones(len(self.pred), bool)
        alone[self.partner[self.partner >= 0]] = False
        return alone

    def counts(self) -> NDArray[np.int64]:
        """Return the number of records of each class, shape (classes,)."""
        own = self.pred[self.alone]
        codes = np.concatenate((self.gold[self.gold >= 0], own[own >= 0]))
        return np.bincount(codes, minlength=len(CLASSES)).astype(np.int64)


_KEPT: WeakKeyDictionary[Scores, ErrorClasses] = WeakKeyDictionary()


def classify_errors(scores: Scores) -> ErrorClasses:
    """Return the error class of every span, kept as long as the scores.

    Raises:
        ValueError: `strict` is not scored, or each side counts for itself.
    """
    if scores.settings.counting != "one-to-one" or STRICT not in {criterion.name for criterion in scores.criteria}:
        raise ValueError("error classes need the one-to-one alignment under strict")
    if scores not in _KEPT:
        _KEPT[scores] = _classify(scores)
    return _KEPT[scores]


def _classify(scores: Scores) -> ErrorClasses:
    gold, pred = scores.layers(STRICT)
    partner, _ = scores.partners(STRICT)
    gold_decision, pred_decision = scores.decisions(STRICT)
    g = np.flatnonzero(gold_decision == Decision.INC)
    p = partner[g]
    missed = np.flatnonzero(gold_decision == Decision.MIS)
    spurious = np.flatnonzero(pred_decision == Decision.SPU)
    repeated = _repeats_another(pred, spurious)
    extra = spurious[~repeated]

    equal_types = have_same_type(gold, pred, g, p)
    relation = boundaries(gold, pred, g, p)
    pairs = np.where(equal_types, BOUNDARY, np.where(relation == BOUNDARIES.index("equal"), TYPE, BOTH))
    takes, split = touching_spans(pred, extra, gold, g)
    covered, merged = touching_spans(gold, missed, pred, p)
    pairs = np.where(split, SPLIT, np.where(merged, MERGED, pairs)).astype(np.int8)

    of_gold, of_pred = (np.full(len(layer), -1, np.int8) for layer in (gold, pred))
    of_gold[g] = pairs
    of_pred[p] = pairs
    of_gold[missed] = np.where(covered, MERGED, MISSED)
    of_pred[spurious[repeated]] = DUPLICATE
    of_pred[extra] = np.where(takes, SPLIT, SPURIOUS)

    gold_ends, pred_ends = np.full(len(gold), -1, np.int8), np.full(len(pred), -1, np.int8)
    has_wrong_ends = (pairs == BOUNDARY) | (pairs == BOTH)
    gold_ends[g[has_wrong_ends]] = pred_ends[p[has_wrong_ends]] = _wrong_ends(
        gold, pred, g[has_wrong_ends], p[has_wrong_ends]
    )
    return ErrorClasses(frozen(of_gold), frozen(of_pred), frozen(gold_ends), frozen(pred_ends), partner)


def _repeats_another(pred: Layer, spurious: Spans) -> Bools:
    """Tell which of the predictions aligned with nothing repeat another prediction."""
    if not len(pred.duplicates):
        return np.zeros(len(spurious), bool)
    first = np.ones(len(pred), bool)
    first[pred.duplicates] = False
    run = np.cumsum(first) - 1
    lone = np.zeros(len(pred), bool)
    lone[spurious] = True
    aligned = np.bincount(run, ~lone) > 0
    repeated: Bools = aligned[run[spurious]] | ~first[spurious]
    return repeated


def _wrong_ends(gold: Layer, pred: Layer, g: Spans, p: Spans) -> Codes:
    """Return the ends at which pairs differ, as indices into ENDS."""
    left, right = pred.start[p] - gold.start[g], gold.end[g] - pred.end[p]
    conditions = [(left != 0) & (right != 0), left > 0, left < 0, right > 0, right < 0]
    names = ("both ends", "left short", "left long", "right short", "right long")
    return np.select(conditions, [ENDS.index(name) for name in names], ENDS.index("fragments")).astype(np.int8)


def mend_classes(scores: Scores, classes: Collection[str]) -> Layer:
    """Return the predictions as they were read, with some of CLASSES mended.

    Predictions keep their reading order and all their attributes, except that a span that moves loses core and
    alternatives. Added spans come last and have boundaries, fragments and type only. Types that scoring merges keep
    their own names, and spans of types left out do not change.

    Raises:
        FormatError: there would be more types than can be told apart.
    """
    assert set(classes) <= set(CLASSES)
    errors = classify_errors(scores)
    is_mended = np.append(np.isin(CLASSES, list(classes)), False)
    gold, pred = scores.read
    g, p = np.flatnonzero(is_mended[errors.gold]), np.flatnonzero(is_mended[errors.pred] & errors.alone)
    to = errors.partner[g]
    own, theirs = scores.layers(STRICT)
    pairs, added = g[to >= 0], g[to < 0]
    places = [corresponding_spans(*layers) for layers in ((own, gold), (theirs, pred))]
    moved, source = places[1][to[to >= 0]], places[0][pairs]
    is_kept = np.ones(len(pred), bool)
    is_kept[places[1][p]] = False
    retyped = ~have_same_type(own, theirs, pairs, to[to >= 0])
    return _changed_layer(gold, pred, is_kept, moved, source, retyped, places[0][added])


def _changed_layer(
    gold: Layer,
    pred: Layer,
    is_kept: NDArray[np.bool_],
    moved: NDArray[Any],
    source: NDArray[Any],
    retyped: NDArray[np.bool_],
    added: NDArray[Any],
) -> Layer:
    """Return the predictions `is_kept`, with changes, and the gold spans `added`.

    The predictions `moved` get the boundaries of the gold spans `source`, and their types where `retyped`.
    """
    start, end = pred.start.copy(), pred.end.copy()
    start[moved], end[moved] = gold.start[source], gold.end[source]
    names = tuple(dict.fromkeys((*pred.types, *gold.types)))
    gold_kind = gold.type_codes(names)
    kind = pred.type.astype(np.int64)
    kind[moved[retyped]] = gold_kind[source[retyped]]
    order = np.arange(len(pred), dtype=np.int32) if pred.order is None else pred.order
    last = int(order.max(initial=-1)) + 1

    spans = np.flatnonzero(is_kept)
    columns: dict[str, Any] = {
        "doc": np.concatenate((pred.doc[spans], gold.doc[added])),
        "start": np.concatenate((start[spans], gold.start[added])),
        "end": np.concatenate((end[spans], gold.end[added])),
        "order": np.concatenate((order[spans], np.arange(last, last + len(added), dtype=np.int32))),
    }
    codes = np.concatenate((kind[spans], gold_kind[added]))
    used, types = Labels(codes, names).sorted()
    if len(types) > np.iinfo(np.int16).max:
        raise FormatError.single(pred.name, None, f"{len(types)} types", "at most 32,767 types can be told apart")

    back, place = _sorted_places(pred, columns, used, len(types))
    of_kept, of_added = (np.full(len(layer), -1, np.int64) for layer in (pred, gold))
    of_kept[spans] = back[: len(spans)]
    of_added[added] = back[len(spans) :]
    extras = {key: _renumber(values, of_kept) for key, values in _changed_attributes(gold, pred, moved, source).items()}
    extras["fragments"] |= _renumber(gold.fragments, of_added)
    placed: dict[str, Any] = {key: frozen(values[place]) for key, values in columns.items()}
    placed |= {key: MappingProxyType(values) for key, values in extras.items()}
    changed = replace(pred, **placed)
    return changed.retyped(used[place].astype(np.int16), types)


def _sorted_places(
    pred: Layer, columns: Mapping[str, NDArray[Any]], kind: NDArray[Any], kinds: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the place of each span in the order of document, start, end and type, and the span at each place."""
    key = pred.documents.base[columns["doc"]] + columns["start"]
    length = columns["end"] - columns["start"]
    longest = int(length.max(initial=0)) + 1
    # Few spans have changed, so that a stable sort of a single key is nearly free. If the key would be too large,
    # `retyped` sorts the rest.
    if int(key.max(initial=0)) < (1 << 62) // (longest * max(kinds, 1)):
        key = (key * longest + length) * max(kinds, 1) + kind
    place = np.argsort(key, kind="stable")
    back = np.empty(len(place), np.int64)
    back[place] = np.arange(len(place))
    return back, place


def _changed_attributes(
    gold: Layer, pred: Layer, moved: NDArray[Any], source: NDArray[Any]
) -> dict[str, dict[int, Any]]:
    """Return the attributes of predictions by span, where those that move have the fragments of their gold span."""
    attributes = {key: dict(getattr(pred, key)) for key in ("fragments", "cores", "alternatives")}
    if not gold.fragments and not any(attributes.values()):
        return attributes | _kept_attributes(pred)
    for span, model in zip(moved.tolist(), source.tolist(), strict=True):
        same = (pred.start[span], pred.end[span]) == (gold.start[model], gold.end[model])
        if same and pred.fragments.get(span) == gold.fragments.get(model):
            continue
        for values in attributes.values():
            values.pop(span, None)
        if model in gold.fragments:
            attributes["fragments"][span] = gold.fragments[model]
    return attributes | _kept_attributes(pred)


def _kept_attributes(pred: Layer) -> dict[str, dict[int, Any]]:
    return {key: dict(getattr(pred, key)) for key in ("ids", "links", "scores", "meta")}


def _renumber(values: Mapping[int, Any], number: NDArray[np.int64]) -> dict[int, Any]:
    """Return values by the new numbers of their spans, without spans that were removed."""
    return {int(number[span]): value for span, value in values.items() if number[span] >= 0}


def class_table(
    scores: Scores, criterion: str = STRICT, *, progress: Callable[[int, int], None] | None = None
) -> pd.DataFrame:
    """Return the gain of mending each class under a criterion, the largest first: CLASS_COLUMNS, a row for each class.

    Classes are those of the strict records under any criterion. Those of equal gain are in the order of their number of
    records, then of CLASSES. `progress` is called with the re-scorings done and their total.
    """
    number = classify_errors(scores).counts()
    records_in_all = int(number.sum())
    present = [name for name, count in zip(CLASSES, number.tolist(), strict=True) if count]
    total = 2 * len(present) - 1
    done = 0

    def reached(classes: Sequence[str]) -> Counts:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)
        return rescore(scores, mend_classes(scores, classes), criterion)

    now = scores.counts(criterion)
    alone = {name: reached([name]) for name in present}
    costs = {name: nan_for_none(alone.get(name, now).f1) for name in CLASSES}
    order = sorted(
        CLASSES, key=lambda name: (-np.nan_to_num(costs[name]), -number[CLASSES.index(name)], CLASSES.index(name))
    )
    before = nan_for_none(now.f1)
    rows = []
    above: list[str] = []
    sofar = now
    for name in order:
        if name in present:
            above.append(name)
            sofar = alone[name] if len(above) == 1 else reached(above)
        counts = alone.get(name, now)
        records = int(number[CLASSES.index(name)])
        f1, cumulative = nan_for_none(counts.f1), nan_for_none(sofar.f1)
        share = records / records_in_all if records_in_all else float("nan")
        ratios = (nan_for_none(counts.precision), nan_for_none(counts.recall), f1)
        rows.append((name, records, share, *ratios, f1 - before, cumulative, cumulative - before))
    return typed_table(rows, CLASS_COLUMNS)


def rescore(scores: Scores, layer: Layer, criterion: str) -> Counts:
    """Return the counts of another layer of predictions, scored with the same settings."""
    rule = scores.criterion(criterion)
    return score_layers(scores.read[0], layer, replace(scores.settings, criteria=(rule,))).counts(criterion)


def class_types(scores: Scores) -> pd.DataFrame:
    """Return the number of records by class and type without zeros: TYPE_COLUMNS, in the order of CLASSES."""
    errors = classify_errors(scores)
    gold, pred = scores.layers(STRICT)
    names = tuple(sorted({*gold.types, *pred.types}))
    cells = np.zeros((len(CLASSES), len(names)), np.int64)
    for layer, codes in ((gold, errors.gold), (pred, np.where(errors.alone, errors.pred, -1))):
        kinds = layer.type_codes(names)
        cells += crosstab(codes[codes >= 0], kinds[codes >= 0], cells.shape)
    rows = [(CLASSES[i], names[j], int(cells[i, j])) for i, j in np.argwhere(cells).tolist()]
    return typed_table(rows, TYPE_COLUMNS)


def class_ends(scores: Scores) -> pd.DataFrame:
    """Return the number of records by wrong ends of the two classes with wrong boundaries, zeros too: END_COLUMNS."""
    errors = classify_errors(scores)
    has_ends = errors.gold_ends >= 0
    cells = crosstab(errors.gold[has_ends], errors.gold_ends[has_ends], (len(CLASSES), len(ENDS)))
    rows = []
    for name in ("boundary only", "type and boundary"):
        counts = cells[CLASSES.index(name)].tolist()
        rows += [(name, ends, count) for ends, count in zip(ENDS, counts, strict=True)]
    return typed_table(rows, END_COLUMNS)
