"""The values that gold spans and predictions are sliced by, and how they are found: one function a slicing.

A function takes what is sliced and the argument of the slicing's name; it returns None where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.periods import UNDATED, decades_of
from nereval_core.analysis.slices import span_texts, thresholds, user_columns
from nereval_core.analysis.slices.hipe_slices import NOISE, UNKNOWN, noise_of
from nereval_core.analysis.slices.user_columns import Columns
from nereval_core.corpus import Layer
from nereval_core.corpus.tokens import tokens_of
from nereval_core.problems import FormatError
from nereval_core.scoring import Scores, apply_rules

Side = Literal["gold", "pred"]
Codes = NDArray[Any]

LENGTHS = (1, 2, 4, 7, 11, 16, 26, 51)
TOKENS = (0, 1, 2, 3, 4, 5, 6)
DOCUMENT_LENGTHS = (0, 101, 201, 501, 1_001, 2_001, 5_001, 10_001, 50_001)
SPANS = (0, 1, 2, 3, 6, 11, 21, 51, 101)
FREQUENCIES = (0, 1, 2, 6, 21, 101)
"""Where the slices of numbers begin."""
FIFTHS = ("0-20%", "20-40%", "40-60%", "60-80%", "80-100%")
CALIBRATION = tuple(f"{low / 10:.1f}-{(low + 1) / 10:.1f}" for low in range(10))
"""Tenths of the scores of predictions; the last holds 1 too."""


class Values(NamedTuple):
    """The value of each gold span and of each prediction: indices into `names`, -1 where a span has none."""

    names: tuple[str, ...]
    gold: Codes
    pred: Codes

    def of(self, side: Side) -> Codes:
        return self.gold if side == "gold" else self.pred


@dataclass(frozen=True, eq=False)
class Sliced:
    """What slicings look at: scores under a criterion, the layers as they were read, and what is given beside them.

    `beside` finds a training layer, or columns of the user's own, by the first digits of its digest.
    """

    scores: Scores
    criterion: str
    read: tuple[Layer, Layer]
    beside: Callable[[str], object | None] = lambda _: None

    @property
    def layers(self) -> tuple[Layer, Layer]:
        return self.scores.layers(self.criterion)

    @property
    def by_token(self) -> bool:
        return self.scores.criterion(self.criterion).unit == "token"


def bins(numbers: NDArray[Any], starts: Sequence[int]) -> Codes:
    """Return the last of some starts that each number is not below, as an index, shape (numbers,)."""
    return (np.searchsorted(starts, numbers, side="right") - 1).astype(np.int8)


def bin_names(starts: Sequence[int]) -> tuple[str, ...]:
    """Name slices of whole numbers by where they begin: `1`, `2-3`, ..., `51+`."""
    names = (str(low) if high == low + 1 else f"{low}-{high - 1}" for low, high in pairwise(starts))
    return (*names, f"{starts[-1]}+")


def _numbers(starts: Sequence[int], gold: NDArray[Any], pred: NDArray[Any]) -> Values:
    return Values(bin_names(starts), bins(gold, starts), bins(pred, starts))


def length_values(given: Sliced, _: str) -> Values:
    gold, pred = (lengths(layer) for layer in given.layers)
    return _numbers(LENGTHS, gold, pred)


def lengths(layer: Layer) -> NDArray[np.int64]:
    """Return the characters of each span: those of its fragments, what lies between them left out."""
    found = (layer.end - layer.start).astype(np.int64)
    for span, parts in layer.fragments.items():
        found[span] = sum(high - low for low, high in parts)
    return found


def tokens_values(given: Sliced, _: str) -> Values | None:
    try:
        gold, pred = (token_counts(layer) for layer in given.layers)
    except FormatError:
        return None
    return _numbers(TOKENS, gold, pred)


def token_counts(layer: Layer) -> NDArray[np.int64]:
    """Return the number of tokens that share a character with each span, shape (spans,).

    Raises:
        FormatError: there are neither tokens nor texts.
    """
    tokens = tokens_of(layer.documents)
    base = layer.documents.base
    by_token = np.repeat(base[:-1], np.diff(tokens.first))
    starts, ends = by_token + tokens.starts, by_token + tokens.ends

    def touched(low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.int64]:
        return np.searchsorted(starts, high, side="left") - np.searchsorted(ends, low, side="right")

    at = base[layer.doc]
    found = touched(at + layer.start, at + layer.end)
    for span, parts in layer.fragments.items():
        edges = np.array(parts, np.int64) + at[span]
        first = np.searchsorted(ends, edges[:, 0], side="right").tolist()
        last = np.searchsorted(starts, edges[:, 1], side="left").tolist()
        found[span] = len({token for pair in zip(first, last, strict=True) for token in range(*pair)})
    return found


def document_length_values(given: Sliced, _: str) -> Values:
    documents = given.layers[0].documents
    return _by_document(given, bin_names(DOCUMENT_LENGTHS), bins(documents.lengths, DOCUMENT_LENGTHS))


def spans_values(given: Sliced, _: str) -> Values:
    gold = given.layers[0]
    return _by_document(given, bin_names(SPANS), bins(np.diff(gold.first), SPANS))


def _by_document(given: Sliced, names: tuple[str, ...], codes: Codes) -> Values:
    gold, pred = given.layers
    return Values(names, codes[gold.doc], codes[pred.doc])


def position_values(given: Sliced, _: str) -> Values:
    def fifth(layer: Layer) -> Codes:
        return (layer.start.astype(np.int64) * len(FIFTHS) // layer.documents.lengths[layer.doc]).astype(np.int8)

    gold, pred = given.layers
    return Values(FIFTHS, fifth(gold), fifth(pred))


def shape_values(given: Sliced, _: str) -> Values | None:
    return None if _wordless(given) else Values(span_texts.SHAPES, *map(span_texts.shapes_of, given.layers))


def frequency_values(given: Sliced, _: str) -> Values | None:
    return None if _wordless(given) else _numbers(FREQUENCIES, *_facts(given).frequency)


def consistency_values(given: Sliced, _: str) -> Values | None:
    return None if _wordless(given) else Values(span_texts.CONSISTENCIES, *_facts(given).consistency)


_FACTS: WeakKeyDictionary[Layer, tuple[ref[Layer], span_texts.FormFacts]] = WeakKeyDictionary()


def _facts(given: Sliced) -> span_texts.FormFacts:
    gold, pred = given.layers
    kept = _FACTS.get(pred)
    if kept is None or kept[0]() is not gold:
        kept = _FACTS[pred] = (ref(gold), span_texts.form_facts(gold, pred))
    return kept[1]


def seen_values(given: Sliced, argument: str) -> Values | None:
    training = given.beside(argument)
    if not isinstance(training, Layer) or _wordless(given):
        return None
    rules = given.scores.settings.rules_for(given.scores.criterion(given.criterion))
    known = apply_rules(training, rules)
    return Values(span_texts.SEEN, *(span_texts.seen_in(known, layer) for layer in given.layers))


def _wordless(given: Sliced) -> bool:
    return given.layers[0].documents.sizes is not None


def period_values(given: Sliced, _: str) -> Values | None:
    found = decades_of(given.layers[0].documents)
    names = tuple(sorted(set(found), key=lambda name: (name == UNDATED, name)))
    if set(names) <= {UNDATED}:
        return None
    place = {name: code for code, name in enumerate(names)}
    return _by_document(given, names, np.fromiter(map(place.__getitem__, found), np.int16, len(found)))


def noise_values(given: Sliced, _: str) -> Values | None:
    def known(layer: Layer) -> Codes:
        codes: Codes = noise_of(layer)
        # Predictions seldom say how noisy their text is: those that do not are in no slice.
        return codes if (codes != NOISE.index(UNKNOWN)).any() else np.full(len(layer), -1, np.int8)

    gold, pred = map(known, given.layers)
    return None if (gold < 0).all() else Values(NOISE, gold, pred)


def meta_values(given: Sliced, key: str) -> Values | None:
    meta: Sequence[Mapping[str, object]] = given.layers[0].documents.meta or ()
    if not any(key in one for one in meta):
        return None
    codes, names = user_columns.grouped([one.get(key) for one in meta])
    return _by_document(given, names, codes)


def column_values(given: Sliced, argument: str) -> Values | None:
    digest, _, name = argument.partition(" ")
    columns = given.beside(digest)
    if not isinstance(columns, Columns) or name not in columns.names or (columns.of_spans and given.by_token):
        return None
    gold, pred = given.read
    if not columns.of_spans:
        codes, names = user_columns.grouped(user_columns.of_documents(columns, name, gold))
        return _by_document(given, names, codes)
    ours, theirs = (user_columns.of_spans(columns, name, layer, side) for layer, side in ((gold, "g"), (pred, "p")))
    codes, names = user_columns.grouped([*ours, *theirs])
    sides = zip(given.layers, given.read, (codes[: len(gold)], codes[len(gold) :]), strict=True)
    return Values(names, *(_as_scored(layer, read, codes) for layer, read, codes in sides))


def _as_scored(layer: Layer, read: Layer, codes: Codes) -> Codes:
    """Return the codes of a layer's spans from those of the spans as they were read."""
    if layer is read:
        return codes
    own, before = (np.arange(len(one)) if one.order is None else one.order for one in (layer, read))
    place = np.zeros(int(before.max(initial=-1)) + 1, np.int64)
    place[before] = np.arange(len(before))
    found: Codes = codes[place[own]]
    return found


def score_values(given: Sliced, _: str) -> Values | None:
    gold, pred = given.layers
    scores = thresholds.scores_of(pred)
    within = (scores >= 0) & (scores <= 1)
    if not within.any():
        return None
    codes = np.where(within, np.minimum(np.nan_to_num(scores) * 10, 9), -1).astype(np.int8)
    # Products such as 0.3 * 10 are a hair off: the bound itself decides.
    edges = np.array([float(name.partition("-")[0]) for name in CALIBRATION])
    codes[within] = np.searchsorted(edges, scores[within], side="right") - 1
    return Values(CALIBRATION, np.full(len(gold), -1, np.int8), codes)


def at_values(given: Sliced, argument: str) -> Values | None:
    """Return the decision of every span were only the predictions scored so high there."""
    try:
        threshold = float(argument)
    except ValueError:
        return None
    found = thresholds.thresholded(given.scores, given.criterion)
    return None if found is None else Values(thresholds.DECIDED, *found.at(threshold))


KEPT = ("kept", thresholds.DROPPED)


def kept_values(given: Sliced, argument: str) -> Values | None:
    """Return which predictions stay at a threshold: those scored so high, and those without a score."""
    try:
        threshold = float(argument)
    except ValueError:
        return None
    gold, pred = given.layers
    if not pred.scores:
        return None
    return Values(KEPT, np.full(len(gold), -1, np.int8), (thresholds.scores_of(pred) < threshold).astype(np.int8))
