"""The values of spans under each slicing: one function per slicing, and the shapes of texts.

A function takes the scores to slice and the argument in the slicing's name; it returns None where it does not apply.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.slices import user_columns
from nereval_core.analysis.slices.decades_and_noise import (
    NOISE,
    UNDATED,
    UNKNOWN,
    before_or_from,
    document_decades,
    span_noise,
)
from nereval_core.analysis.slices.user_columns import UserColumns
from nereval_core.analysis.span_relations import carry_over
from nereval_core.analysis.surface_forms import (
    CONSISTENCIES,
    SEEN,
    FormFacts,
    FormNumbers,
    form_facts,
    number_forms,
    number_heads,
    seen_in,
)
from nereval_core.corpus import Layer, frozen
from nereval_core.corpus.tokens import tokens_of
from nereval_core.problems import FormatError
from nereval_core.records.text_search import span_texts
from nereval_core.scoring import Scores
from nereval_core.scoring.type_merging import apply_rules

Side = Literal["gold", "pred"]
Codes = NDArray[Any]

SPAN_LENGTH_STARTS = (1, 2, 4, 7, 11, 16, 26, 51)
SPAN_TOKENS_STARTS = (0, 1, 2, 3, 4, 5, 6)
DOCUMENT_LENGTH_STARTS = (0, 101, 201, 501, 1_001, 2_001, 5_001, 10_001, 50_001)
DOCUMENT_SPANS_STARTS = (0, 1, 2, 3, 6, 11, 21, 51, 101)
FREQUENCY_STARTS = (0, 1, 2, 6, 21, 101)
"""The first numbers of slices."""
DOCUMENT_FIFTHS = ("0-20%", "20-40%", "40-60%", "60-80%", "80-100%")
SHAPES = (
    "capitalised",
    "first word capitalised",
    "all capitals",
    "lower case",
    "mixed case",
    "letters and digits",
    "digits",
    "letters without case",
    "neither letter nor digit",
)
"""Shapes of spans by their letters and digits; from the bottom up, a span has the first that applies.

A word ends at white space, a dash or a slash: `Anglo-Saxon` is capitalised, `National assembly` in its first word only.
"""
DASHES = "-/\u2010\u2011\u2012\u2013\u2014\u2015"
SPANS_AT_ONCE = 50_000
"""Spans whose texts are held in memory together."""
_BLANK, _OTHER, _DIGIT, _UNCASED, _LOWER, _UPPER = range(6)


class SpanValues(NamedTuple):
    """The value of each gold span and prediction as an index into `names`, -1 where a span has none."""

    names: tuple[str, ...]
    gold: Codes
    pred: Codes

    def of(self, side: Side) -> Codes:
        return self.gold if side == "gold" else self.pred


@dataclass(frozen=True, eq=False)
class SlicedScores:
    """Scores under a criterion to slice, the layers as they were read, and further data.

    `beside` returns a training layer, or columns of the user, by the first digits of its digest.
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
    """Return the index of the last start that each number reaches, shape (numbers,)."""
    return (np.searchsorted(starts, numbers, side="right") - 1).astype(np.int8)


def bin_names(starts: Sequence[int]) -> tuple[str, ...]:
    """Return the names of slices of whole numbers from their starts: `1`, `2-3`, ..., `51+`."""
    names = (str(low) if high == low + 1 else f"{low}-{high - 1}" for low, high in pairwise(starts))
    return (*names, f"{starts[-1]}+")


def _binned_values(starts: Sequence[int], gold: NDArray[Any], pred: NDArray[Any]) -> SpanValues:
    return SpanValues(bin_names(starts), bins(gold, starts), bins(pred, starts))


def length_values(sliced: SlicedScores, _: str) -> SpanValues:
    gold, pred = (lengths(layer) for layer in sliced.layers)
    return _binned_values(SPAN_LENGTH_STARTS, gold, pred)


def lengths(layer: Layer) -> NDArray[np.int64]:
    """Return the number of characters in each span's fragments, shape (spans,)."""
    sizes = (layer.end - layer.start).astype(np.int64)
    for span, parts in layer.fragments.items():
        sizes[span] = sum(high - low for low, high in parts)
    return sizes


def tokens_values(sliced: SlicedScores, _: str) -> SpanValues | None:
    try:
        gold, pred = (token_counts(layer) for layer in sliced.layers)
    except FormatError:
        return None
    return _binned_values(SPAN_TOKENS_STARTS, gold, pred)


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
    counts = touched(at + layer.start, at + layer.end)
    for span, parts in layer.fragments.items():
        edges = np.array(parts, np.int64) + at[span]
        first = np.searchsorted(ends, edges[:, 0], side="right").tolist()
        last = np.searchsorted(starts, edges[:, 1], side="left").tolist()
        counts[span] = len({token for pair in zip(first, last, strict=True) for token in range(*pair)})
    return counts


def document_length_values(sliced: SlicedScores, _: str) -> SpanValues:
    documents = sliced.layers[0].documents
    return _values_of_documents(
        sliced, bin_names(DOCUMENT_LENGTH_STARTS), bins(documents.lengths, DOCUMENT_LENGTH_STARTS)
    )


def spans_values(sliced: SlicedScores, _: str) -> SpanValues:
    gold = sliced.layers[0]
    return _values_of_documents(
        sliced, bin_names(DOCUMENT_SPANS_STARTS), bins(np.diff(gold.first), DOCUMENT_SPANS_STARTS)
    )


def _values_of_documents(sliced: SlicedScores, names: tuple[str, ...], codes: Codes) -> SpanValues:
    gold, pred = sliced.layers
    return SpanValues(names, codes[gold.doc], codes[pred.doc])


def position_values(sliced: SlicedScores, _: str) -> SpanValues:
    def fifth(layer: Layer) -> Codes:
        return (layer.start.astype(np.int64) * len(DOCUMENT_FIFTHS) // layer.documents.lengths[layer.doc]).astype(
            np.int8
        )

    gold, pred = sliced.layers
    return SpanValues(DOCUMENT_FIFTHS, fifth(gold), fifth(pred))


def shape_values(sliced: SlicedScores, _: str) -> SpanValues | None:
    return None if _without_texts(sliced) else SpanValues(SHAPES, *map(shapes_of, sliced.layers))


def frequency_values(sliced: SlicedScores, _: str) -> SpanValues | None:
    return None if _without_texts(sliced) else _binned_values(FREQUENCY_STARTS, *_form_facts(sliced).frequency)


def consistency_values(sliced: SlicedScores, _: str) -> SpanValues | None:
    return None if _without_texts(sliced) else SpanValues(CONSISTENCIES, *_form_facts(sliced).consistency)


_FACTS: WeakKeyDictionary[Layer, tuple[ref[Layer], FormFacts]] = WeakKeyDictionary()


def _form_facts(sliced: SlicedScores) -> FormFacts:
    gold, pred = sliced.layers
    cached = _FACTS.get(pred)
    if cached is None or cached[0]() is not gold:
        cached = _FACTS[pred] = (ref(gold), form_facts(gold, pred))
    return cached[1]


def seen_values(sliced: SlicedScores, argument: str) -> SpanValues | None:
    return _seen_by(number_forms, sliced, argument)


def head_values(sliced: SlicedScores, argument: str) -> SpanValues | None:
    return _seen_by(number_heads, sliced, argument)


def _seen_by(numbered: Callable[[Layer], FormNumbers], sliced: SlicedScores, argument: str) -> SpanValues | None:
    training = sliced.beside(argument)
    if not isinstance(training, Layer) or _without_texts(sliced):
        return None
    rules = sliced.scores.settings.rules_for(sliced.scores.criterion(sliced.criterion))
    ruled_training = apply_rules(training, rules)
    return SpanValues(SEEN, *(seen_in(ruled_training, layer, numbered) for layer in sliced.layers))


def _without_texts(sliced: SlicedScores) -> bool:
    return sliced.layers[0].documents.sizes is not None


def period_values(sliced: SlicedScores, _: str) -> SpanValues | None:
    decades = document_decades(sliced.layers[0].documents)
    names = tuple(sorted(set(decades), key=lambda name: (name == UNDATED, name)))
    if set(names) <= {UNDATED}:
        return None
    place = {name: code for code, name in enumerate(names)}
    return _values_of_documents(sliced, names, np.fromiter(map(place.__getitem__, decades), np.int16, len(decades)))


def year_values(sliced: SlicedScores, argument: str) -> SpanValues | None:
    if not (argument.isascii() and argument.isdigit()):
        return None
    names, codes = before_or_from(sliced.layers[0].documents, int(argument))
    return None if (codes == names.index(UNDATED)).all() else _values_of_documents(sliced, names, codes)


def noise_values(sliced: SlicedScores, _: str) -> SpanValues | None:
    def layer_codes(layer: Layer) -> Codes:
        codes: Codes = span_noise(layer)
        # Predictions seldom have LED: those without it are in no slice.
        return codes if (codes != NOISE.index(UNKNOWN)).any() else np.full(len(layer), -1, np.int8)

    gold, pred = map(layer_codes, sliced.layers)
    return None if (gold < 0).all() else SpanValues(NOISE, gold, pred)


def meta_values(sliced: SlicedScores, key: str) -> SpanValues | None:
    meta: Sequence[Mapping[str, object]] = sliced.layers[0].documents.meta or ()
    if not any(key in row for row in meta):
        return None
    codes, names = user_columns.group_values([row.get(key) for row in meta])
    return _values_of_documents(sliced, names, codes)


def column_values(sliced: SlicedScores, argument: str) -> SpanValues | None:
    digest, _, name = argument.partition(" ")
    columns = sliced.beside(digest)
    if not isinstance(columns, UserColumns) or name not in columns.names or (columns.of_spans and sliced.by_token):
        return None
    gold, pred = sliced.read
    if not columns.of_spans:
        codes, names = user_columns.group_values(user_columns.document_values(columns, name, gold))
        return _values_of_documents(sliced, names, codes)
    ours, theirs = (
        user_columns.values_of_spans(columns, name, layer, side) for layer, side in ((gold, "g"), (pred, "p"))
    )
    codes, names = user_columns.group_values([*ours, *theirs])
    sides = zip(sliced.layers, sliced.read, (codes[: len(gold)], codes[len(gold) :]), strict=True)
    return SpanValues(names, *(carry_over(codes, read, layer) for layer, read, codes in sides))


def shapes_of(layer: Layer) -> NDArray[np.int8]:
    """Return the shape of each span as an index into SHAPES, shape (spans,)."""
    shapes = np.empty(len(layer), np.int8)
    texts = span_texts(layer)
    for low in range(0, len(layer), SPANS_AT_ONCE):
        chunk = list(islice(texts, SPANS_AT_ONCE))
        shapes[low : low + len(chunk)] = _shapes_of_texts(chunk)
    return shapes


def _shapes_of_texts(texts: list[str]) -> NDArray[np.int8]:
    # A blank after each text keeps it from being empty and separates its words from those of the next.
    code = np.frombuffer((" ".join(texts) + " ").encode("utf-32-le"), np.uint32)
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    kind = _character_kinds(int(code.max(initial=0)).bit_length())[code]
    starts = np.concatenate((np.zeros(1, np.int64), ends[:-1]))

    def number(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.add.reduceat(mask, starts, dtype=np.int64)

    upper, lower, uncased, digits = (number(kind == kind_code) for kind_code in (_UPPER, _LOWER, _UNCASED, _DIGIT))
    letters = np.flatnonzero(kind >= _UNCASED)
    before = np.cumsum(kind == _BLANK)[letters]
    begins = np.ones(len(letters), bool)
    begins[1:] = before[1:] != before[:-1]
    of_word = np.zeros(len(code), bool)
    of_word[letters[begins]] = True
    # The blank after each text is counted in `before`: the first letter of a text always begins a word.
    words, raised = number(of_word), number(of_word & (kind == _UPPER))
    first = np.zeros(len(texts), bool)
    texts_with_words = np.flatnonzero(words)
    if len(texts_with_words):
        at = np.searchsorted(letters, starts[texts_with_words])
        first[texts_with_words] = kind[letters[at]] == _UPPER
    shapes = np.full(len(texts), SHAPES.index("mixed case"), np.int8)
    for name, holds in (
        ("first word capitalised", first & (upper == 1)),
        ("capitalised", (raised == words) & (upper == raised)),
        ("lower case", upper == 0),
        ("all capitals", lower == 0),
        ("letters without case", upper + lower == 0),
        ("letters and digits", digits > 0),
        ("digits", upper + lower + uncased == 0),
        ("neither letter nor digit", upper + lower + uncased + digits == 0),
    ):
        shapes[holds] = SHAPES.index(name)
    return shapes


@cache
def _character_kinds(bits: int) -> NDArray[np.uint8]:
    """Return the kind of every character with a code below 2 to the power of `bits`."""
    kinds = np.empty(min(1 << bits, sys.maxunicode + 1), np.uint8)
    for code in range(len(kinds)):
        char = chr(code)
        if char.isspace() or char in DASHES:
            kinds[code] = _BLANK
        elif char.isupper() or char.istitle():
            kinds[code] = _UPPER
        elif char.islower():
            kinds[code] = _LOWER
        elif char.isalpha():
            kinds[code] = _UNCASED
        else:
            kinds[code] = _DIGIT if char.isnumeric() else _OTHER
    return frozen(kinds)
