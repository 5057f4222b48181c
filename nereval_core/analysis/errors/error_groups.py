"""Groups of errors that have something in common, ranked by the F1 that mending each would gain.

A group is a kind of error in a context: "predictions take in *the* at the left", "ORG for LOC before *of*", "misses
protein after a number". Kinds are KINDS_OF_ERROR, contexts are features of spans (`span_contexts`), alone or within one
type. The group counts its records among all spans that have the context: 11 of 51.

A group has to be surprising, not only frequent: its kind of error has to be more frequent in its context than among the
other spans (of the type), by the log-likelihood ratio G² of the two by two table (Dunning 1993). Groups have at least
LEAST_RECORDS records, a G² of at least LEAST_SURPRISE and an odds ratio of at least LEAST_ODDS_RATIO. As many contexts
are tried, this selects groups, and does not test them: a few may be chance.

Groups that overlap are folded, the most surprising first: a group that others cover is left out, or listed below the
larger one of its kind that holds most of its records.

The gain is the F1 with the records of the group decided correct, less F1 as it is: an aligned pair and a missed gold
span become correct, a spurious prediction is removed. All counts are those of one criterion.

Dunning, T. (1993). Accurate Methods for the Statistics of Surprise and Coincidence. Computational Linguistics 19(1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.errors.span_contexts import SpanContexts, span_contexts
from nereval_core.analysis.span_relations import have_same_type
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Bools, Int64
from nereval_core.problems import FormatError
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import nan_for_none
from nereval_core.scoring.counts import Counts
from nereval_core.scoring.criteria import Decision

LEAST_RECORDS = 3
LEAST_SURPRISE = 6.63
"""The value that chi-squared with one degree of freedom exceeds with probability .01."""
LEAST_ODDS_RATIO = 2.0
MOST_GROUPS = 24
MOST_COMPARED = 4 * MOST_GROUPS
"""Groups of the largest gains that are folded into one another."""
MOST_NARROWER = 3
"""Groups that are listed below one that holds most of their records."""
MOST_CANDIDATES = 1_500
"""Candidates that are compared with one another, the most surprising ones."""
COVERED = 0.5
"""The share of a group's records in one group, above which it is listed below that one; in all, it is left out."""
EXAMPLES = 5

MISSED, SPURIOUS, RETYPED = "missed", "spurious", "typed"
TAKES_IN_LEFT, TAKES_IN_RIGHT, LEAVES_OUT_LEFT, LEAVES_OUT_RIGHT = (
    "takes-in-left",
    "takes-in-right",
    "leaves-out-left",
    "leaves-out-right",
)
CUTS_WORD = "cuts-word"
_EVERYWHERE = (
    *("type", "before", "after", "before-kind", "after-kind", "first", "last", "form", "words", "shape", "place"),
)
KINDS_OF_ERROR: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        MISSED: _EVERYWHERE,
        RETYPED: _EVERYWHERE,
        SPURIOUS: _EVERYWHERE,
        TAKES_IN_LEFT: ("type", "before", "before-kind"),
        TAKES_IN_RIGHT: ("type", "after", "after-kind"),
        LEAVES_OUT_LEFT: ("type", "first", "first-kind", "words"),
        LEAVES_OUT_RIGHT: ("type", "last", "last-kind", "words"),
        CUTS_WORD: ("type", "shape"),
    }
)
"""The kinds of errors, and the features that their contexts are made of.

`typed NAME` is a pair whose prediction has another type, NAME. A prediction takes in or leaves out at least one whole
word; one that begins or ends inside a word cuts it. All but spurious predictions are about gold spans.
"""


SPECIFIC_FIRST = (
    *("form", "before", "after", "first", "last", "type"),
    *("before-kind", "after-kind", "first-kind", "last-kind", "place", "shape", "words"),
)
"""The features in the order in which groups of the same records are named: that which says most comes first."""


@dataclass(frozen=True, order=True, slots=True)
class GroupKey:
    """A kind of error and its context: what a link names a group by.

    `predicted` is the type of the predictions of `typed`. An empty `type` stands for all types; an empty `feature` for
    every span of the type.
    """

    kind: str
    predicted: str = ""
    type: str = ""
    feature: str = ""
    value: str = ""

    def __str__(self) -> str:
        parts = (("kind", self.kind), ("as", self.predicted), ("type", self.type), (self.feature, self.value))
        return ";".join(f"{name}:{_escaped(value)}" for name, value in parts if value)

    @classmethod
    def of(cls, text: str) -> GroupKey | None:
        """Read what `str` writes, None where it is not a key."""
        parts = {name: unquote(value) for name, _, value in (part.partition(":") for part in text.split(";"))}
        kind, predicted, span_type = (parts.pop(name, "") for name in ("kind", "as", "type"))
        feature, value = next(iter(parts.items()), ("", ""))
        if len(parts) > 1 or kind not in KINDS_OF_ERROR or (feature and feature not in KINDS_OF_ERROR[kind]):
            return None
        return cls(kind, predicted, span_type, feature, value)


def _escaped(text: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in "%;:" else char for char in text)


@dataclass(frozen=True, eq=False)
class ErrorGroup:
    """Errors that have a kind and a context in common.

    `gold` and `pred` are the spans of its records: gold spans, or predictions that are spurious. `spans` is the number
    of gold spans (or predictions) in the context, `elsewhere` the share of the others that have the kind of error.
    `surprise` is G², `gain` the F1 gained. `quote` is the word or form of the context as the first of its texts spells
    it, "" for other contexts. `narrower` are groups most of whose records are in this one.
    """

    key: GroupKey
    gold: Int64
    pred: Int64
    spans: int
    elsewhere: float
    surprise: float
    gain: float
    quote: str = ""
    narrower: tuple[ErrorGroup, ...] = field(default=(), repr=False)

    @property
    def records(self) -> int:
        return len(self.gold) + len(self.pred)


@dataclass(frozen=True, eq=False)
class Side:
    """The spans of one side with their contexts; `of_kind` are those with an error, by its kind and predicted type."""

    layer: Layer
    contexts: SpanContexts
    of_kind: Mapping[tuple[str, str], Int64]


_SIDES: WeakKeyDictionary[Scores, dict[str, tuple[Side, Side]]] = WeakKeyDictionary()


def error_sides(scores: Scores, criterion: str) -> tuple[Side, Side]:
    """Return gold and predictions with their errors under a criterion, kept as long as the scores.

    Raises:
        FormatError: the criterion counts tokens, or each side counts for itself.
    """
    by_criterion = _SIDES.setdefault(scores, {})
    if criterion not in by_criterion:
        if scores.criterion(criterion).unit == "token" or scores.settings.counting != "one-to-one":
            raise FormatError.single(
                "patterns", None, f"{criterion} does not pair spans one to one", "choose another criterion"
            )
        by_criterion[criterion] = _error_sides(scores, criterion)
    return by_criterion[criterion]


def _error_sides(scores: Scores, criterion: str) -> tuple[Side, Side]:
    gold, pred = scores.layers(criterion)
    gold_decision, pred_decision = scores.decisions(criterion)
    partner, _ = scores.partners(criterion)
    contexts = span_contexts(gold)
    of_gold: dict[tuple[str, str], Int64] = {(MISSED, ""): np.flatnonzero(gold_decision == Decision.MIS)}
    pairs = np.flatnonzero(((gold_decision == Decision.INC) | (gold_decision == Decision.PAR)) & (partner >= 0))
    predictions = partner[pairs]
    retyped = ~have_same_type(gold, pred, pairs, predictions)
    types = pred.type[predictions]
    for code, name in enumerate(pred.types):
        of_gold[RETYPED, name] = pairs[retyped & (types == code)]
    for kind, spans in _boundary_errors(gold, pred, contexts, pairs, predictions).items():
        of_gold[kind, ""] = spans
    of_pred = {(SPURIOUS, ""): np.flatnonzero(pred_decision == Decision.SPU)}
    return Side(gold, contexts, of_gold), Side(pred, span_contexts(pred), of_pred)


def _boundary_errors(
    gold: Layer, pred: Layer, contexts: SpanContexts, pairs: Int64, predictions: NDArray[Any]
) -> dict[str, Int64]:
    """Return the gold spans whose predictions take in or leave out a word next to a bound, or cut one."""
    words = contexts.words
    if words is None or not len(words):
        return {}
    base = gold.documents.base[gold.doc[pairs]]
    gold_start, gold_end = base + gold.start[pairs], base + gold.end[pairs]
    pred_start, pred_end = base + pred.start[predictions], base + pred.end[predictions]
    first, last = contexts.first[pairs], contexts.last[pairs]
    has_words = (first >= 0) & (pred_start < pred_end)
    before, after = np.maximum(first - 1, 0), np.minimum(last + 1, len(words) - 1)
    cut = _inside_word(words.start, words.end, pred_start) & (pred_start != gold_start)
    cut |= _inside_word(words.start, words.end, pred_end) & (pred_end != gold_end)
    return {
        TAKES_IN_LEFT: pairs[has_words & ~cut & (first > 0) & (pred_start <= words.start[before])],
        TAKES_IN_RIGHT: pairs[has_words & ~cut & (last + 1 < len(words)) & (pred_end >= words.end[after])],
        LEAVES_OUT_LEFT: pairs[has_words & ~cut & (pred_start >= words.end[first])],
        LEAVES_OUT_RIGHT: pairs[has_words & ~cut & (pred_end <= words.start[last])],
        CUTS_WORD: pairs[has_words & cut],
    }


def _inside_word(starts: Int64, ends: Int64, places: Int64) -> Bools:
    """Tell which places lie inside a word."""
    word = np.searchsorted(starts, places, side="left") - 1
    return (word >= 0) & (ends[word] > places)


def group_spans(scores: Scores, criterion: str, key: GroupKey) -> tuple[Int64, Int64]:
    """Return the gold spans and the predictions of a group's records: of any group, whether it is surprising or not.

    Raises:
        FormatError: as `error_sides`.
    """
    none = np.zeros(0, np.int64)
    sides = error_sides(scores, criterion)
    side = sides[key.kind == SPURIOUS]
    spans = side.of_kind.get((key.kind, key.predicted), none)
    for feature, value in (("type", key.type), (key.feature, key.value)):
        if feature and value:
            names = side.contexts.names.get(feature, ())
            code = names.index(value) if value in names else -2
            spans = spans[side.contexts.codes[feature][spans] == code] if feature in side.contexts.codes else none
    return (none, spans) if key.kind == SPURIOUS else (spans, none)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Candidates of one kind of error and one feature, within types or not: columns, each of shape (candidates,)."""

    kind: tuple[str, str]
    feature: str
    type: NDArray[Any]
    value: NDArray[Any]
    records: Int64
    spans: Int64
    others_with: Int64
    others: Int64
    surprise: NDArray[np.float64]


def find_groups(scores: Scores, criterion: str) -> tuple[ErrorGroup, ...]:
    """Return the groups of errors under a criterion, the largest gain first.

    Raises:
        FormatError: as `error_sides`.
    """
    sides = error_sides(scores, criterion)
    parts = [part for side in sides for part in _candidates(side)]
    ranks = [
        (-float(part.surprise[row]), SPECIFIC_FIRST.index(part.feature), number, row)
        for number, part in enumerate(parts)
        for row in range(len(part.records))
    ]
    candidates = sorted(ranks)[:MOST_CANDIDATES]
    counts = scores.counts(criterion)
    groups = [_group(scores, criterion, parts[number], row, sides, counts) for _, _, number, row in candidates]
    return tuple(_fold(groups, *(len(side.layer) for side in sides)))


def _candidates(side: Side) -> Iterator[_Candidates]:
    """Yield the surprising candidates of one side by kind and feature, over all types and within each type."""
    types = side.contexts.codes["type"].astype(np.int64)
    n_types = len(side.layer.types)
    whole = np.array([len(types)])
    of_type = np.bincount(types, minlength=n_types)
    cells: dict[str, tuple[Int64, Int64, Int64]] = {}
    for kind, spans in side.of_kind.items():
        if len(spans) < LEAST_RECORDS:
            continue
        errors_of_type = np.bincount(types[spans], minlength=n_types)
        for feature in KINDS_OF_ERROR[kind[0]]:
            if feature not in side.contexts.codes:
                continue
            codes = side.contexts.codes[feature].astype(np.int64)
            if feature not in cells:
                n_values = max(len(side.contexts.names[feature]), 1)
                keys = np.where(codes >= 0, types * n_values + codes, -1)
                distinct, sizes = np.unique(keys, return_counts=True)
                cells[feature] = np.bincount(codes[codes >= 0], minlength=n_values), distinct, sizes
            in_value, distinct, sizes = cells[feature]
            values = codes[spans]
            hits = np.bincount(values[values >= 0], minlength=len(in_value))
            value = np.flatnonzero(hits >= LEAST_RECORDS)
            yield _surprising(
                kind, feature, np.full(len(value), -1), value, hits[value], in_value[value], len(spans), whole
            )
            if feature == "type" or n_types < 2:
                continue
            keys, counts = np.unique(
                types[spans[values >= 0]] * len(in_value) + values[values >= 0], return_counts=True
            )
            keys, counts = keys[counts >= LEAST_RECORDS], counts[counts >= LEAST_RECORDS]
            kinds = keys // len(in_value)
            yield _surprising(
                kind,
                feature,
                kinds,
                keys % len(in_value),
                counts,
                sizes[np.searchsorted(distinct, keys)],
                errors_of_type[kinds],
                of_type[kinds],
            )


def _surprising(
    kind: tuple[str, str],
    feature: str,
    types: NDArray[Any],
    values: NDArray[Any],
    records: Int64,
    spans: Int64,
    errors: Int64 | int,
    whole: Int64,
) -> _Candidates:
    """Return the candidates that are surprising; `errors` and `whole` count the spans that each is held against."""
    others_with, others = np.asarray(errors - records), np.asarray(whole - spans)
    surprise = log_likelihood_ratio(records, spans, others_with, others)
    odds, other_odds = records * (others - others_with), others_with * (spans - records)
    is_surprising = (surprise >= LEAST_SURPRISE) & (odds >= LEAST_ODDS_RATIO * other_odds) & (odds > 0)
    columns = (types, values, records, spans, others_with, others, surprise)
    return _Candidates(kind, feature, *(column[is_surprising] for column in columns))


def log_likelihood_ratio(
    records: NDArray[Any], spans: NDArray[Any], others_with: NDArray[Any], others: NDArray[Any]
) -> NDArray[np.float64]:
    """Return G² of two shares, `records` of `spans` and `others_with` of `others`, against one common share.

    All have shape (rows,). It is 2 Σ O ln(O / E) over the four cells (Dunning 1993).
    """
    cells = np.array([records, spans - records, others_with, others - others_with], np.float64)
    total = cells.sum(axis=0)
    rows = np.array([cells[0] + cells[1], cells[0] + cells[1], cells[2] + cells[3], cells[2] + cells[3]])
    columns = np.array([cells[0] + cells[2], cells[1] + cells[3]] * 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(cells > 0, cells * np.log(cells * total / (rows * columns)), 0.0)
    return np.asarray(2 * terms.sum(axis=0))


def _group(
    scores: Scores, criterion: str, part: _Candidates, row: int, sides: tuple[Side, Side], counts: Counts
) -> ErrorGroup:
    side = sides[part.kind[0] == SPURIOUS]
    spans = side.of_kind[part.kind]
    code, value = int(part.type[row]), int(part.value[row])
    if code >= 0:
        spans = spans[side.contexts.codes["type"][spans] == code]
    spans = spans[side.contexts.codes[part.feature][spans] == value]
    name = side.contexts.names[part.feature][value]
    if part.feature == "type":
        key = GroupKey(*part.kind, type=name)
    else:
        key = GroupKey(*part.kind, type=side.layer.types[code] if code >= 0 else "", feature=part.feature, value=name)
    none = np.zeros(0, np.int64)
    gold, pred = (none, spans) if key.kind == SPURIOUS else (spans, none)
    others = int(part.others[row])
    quote = _spelling(side, int(spans[0]), part.feature)
    return ErrorGroup(
        key,
        gold,
        pred,
        int(part.spans[row]),
        int(part.others_with[row]) / others if others else float("nan"),
        float(part.surprise[row]),
        gain_of(scores, criterion, gold, pred, counts),
        quote,
    )


def _spelling(side: Side, span: int, feature: str) -> str:
    """Return the word or the form of a span's context as its text spells it, "" for other features."""
    words, contexts = side.contexts.words, side.contexts
    if words is None or feature not in ("before", "after", "first", "last", "form"):
        return ""
    first, last = int(contexts.first[span]), int(contexts.last[span])
    low = {"before": first - 1, "after": last + 1, "last": last}.get(feature, first)
    high = {"form": last, "last": last}.get(feature, low)
    document = int(side.layer.doc[span])
    base = int(side.layer.documents.base[document])
    text = side.layer.documents.texts[document]
    return " ".join(text[int(words.start[low]) - base : int(words.end[high]) - base].split())


def gain_of(scores: Scores, criterion: str, gold: Int64, pred: Int64, counts: Counts) -> float:
    """Return the F1 gained if the records of some gold spans and spurious predictions were decided correct.

    NaN where F1 is undefined.
    """
    decisions = np.bincount(scores.decisions(criterion)[0][gold], minlength=len(Decision))
    gold_counts, pred_counts = list(counts.gold), list(counts.pred)
    for decision in Decision:
        number = int(decisions[decision])
        gold_counts[decision] -= number
        gold_counts[Decision.COR] += number
        if decision is not Decision.MIS:
            pred_counts[decision] -= number
        pred_counts[Decision.COR] += number
    pred_counts[Decision.SPU] -= len(pred)
    mended = Counts(tuple(gold_counts), tuple(pred_counts))
    return nan_for_none(mended.f1) - nan_for_none(counts.f1)


def _fold(groups: Sequence[ErrorGroup], n_gold: int, n_pred: int) -> list[ErrorGroup]:
    """Return groups that have records of their own, the largest gain first, with those below them that they hold."""
    spans_of = {group.key: np.concatenate((group.gold, group.pred + n_gold)) for group in groups}
    is_covered = np.zeros(n_gold + n_pred, bool)
    chosen: list[ErrorGroup] = []
    folded: list[ErrorGroup] = []
    for group in groups:
        spans = spans_of[group.key]
        if _is_mostly(is_covered[spans]):
            folded.append(group)
        else:
            chosen.append(group)
            is_covered[spans] = True
    chosen.sort(key=lambda group: (-np.nan_to_num(group.gain), -group.surprise, group.key))
    chosen = chosen[:MOST_COMPARED]
    # A group may be within one that is larger and less surprising, which has the larger gain.
    candidates = [*chosen, *folded]
    complete: list[ErrorGroup] = []
    within: set[GroupKey] = set()
    for group in chosen:
        if group.key in within or len(complete) == MOST_GROUPS:
            continue
        narrower = _groups_within(group, candidates, spans_of, len(is_covered))
        within |= {other.key for other in narrower}
        listed = sorted(_apart(narrower, spans_of, len(is_covered)), key=lambda other: (-other.records, other.key))
        complete.append(replace(group, narrower=tuple(listed)))
    return complete


def _is_mostly(mask: Bools) -> bool:
    return bool(np.count_nonzero(mask) > COVERED * len(mask))


def _groups_within(
    group: ErrorGroup, others: Sequence[ErrorGroup], spans_of: Mapping[GroupKey, Int64], size: int
) -> list[ErrorGroup]:
    """Return the smaller groups of the same kind most of whose records are in a group."""
    is_in_group = np.zeros(size, bool)
    is_in_group[spans_of[group.key]] = True
    kind = (group.key.kind, group.key.predicted)
    smaller = [
        other for other in others if (other.key.kind, other.key.predicted) == kind and other.records < group.records
    ]
    return [other for other in smaller if _is_mostly(is_in_group[spans_of[other.key]])]


def _apart(groups: Sequence[ErrorGroup], spans_of: Mapping[GroupKey, Int64], size: int) -> list[ErrorGroup]:
    """Return the first MOST_NARROWER groups of which none is mostly in one before it."""
    apart: list[ErrorGroup] = []
    masks: list[Bools] = []
    for group in groups:
        spans = spans_of[group.key]
        if len(apart) < MOST_NARROWER and not any(_is_mostly(mask[spans]) for mask in masks):
            apart.append(group)
            masks.append(np.zeros(size, bool))
            masks[-1][spans] = True
    return apart
