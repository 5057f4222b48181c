"""Surface forms of spans as texts: their numbers, their frequency and types in gold, and their masks.

Two spans have the same surface form if their words are the same, whatever white space separates them. Case matters,
except for folded forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.running_words import form_of
from nereval_core.corpus import Layer, frozen
from nereval_core.corpus.arrays import Array, Int32, Int64
from nereval_core.corpus.masking import masked_text, unmasked
from nereval_core.records.text_search import span_texts

CONSISTENCIES = ("only once", "always one type", "one type in 80% or more", "one type in under 80%", "not in gold")
"""The agreement of gold spans of a form on their type: the share of the most frequent type is at least NEARLY, or
less."""
NEARLY = 0.8
SEEN = ("with this type", "with another type", "unseen")
"""The occurrence of a span's surface form, or of its head word, in a training layer."""
PREPOSITIONS = frozenset(["of", "for", "in", "at", "on", "de", "du", "des", "del", "della", "di", "do"])
"""Words that a head word stands before, without case: the last word is the head where these are missing."""
MOST_KEPT_FORMS = 200_000
"""Layers with more forms are numbered anew each time."""
_SPANS_AT_ONCE = 5_000
_PUNCTUATION = re.compile(r"\A\W+|\W+\Z")
_ASIDE = re.compile(r"(?<=\w)\s*[,(\[]")
"""Where a comma or bracket after a word begins what adds to a name."""
_UNEVEN = re.compile(r"[^\S ]|  | \0|\0 |\A |\s\Z")
"""White space that is not one blank between words, in texts with NUL between them."""


class FormNumbers(NamedTuple):
    """The surface forms of some spans: `codes` (spans,) are their numbers, `forms` maps texts to numbers."""

    codes: Int32
    forms: Mapping[str, int]


_FORMS: WeakKeyDictionary[Layer, FormNumbers] = WeakKeyDictionary()


def number_forms(layer: Layer) -> FormNumbers:
    """Number the surface forms of a layer in the order of their first occurrences."""
    if layer in _FORMS:
        return _FORMS[layer]
    number: dict[str, int] = {}
    codes = np.empty(len(layer), np.int32)
    texts = span_texts(layer)
    for low in range(0, len(layer), _SPANS_AT_ONCE):
        chunk = list(islice(texts, _SPANS_AT_ONCE))
        if _UNEVEN.search("\0".join(chunk)):
            chunk = [" ".join(text.split()) for text in chunk]
        for text in dict.fromkeys(chunk):
            number.setdefault(text, len(number))
        codes[low : low + len(chunk)] = np.fromiter(map(number.__getitem__, chunk), np.int32, len(chunk))
    numbers = FormNumbers(frozen(codes), number)
    if len(number) <= MOST_KEPT_FORMS:
        _FORMS[layer] = numbers
    return numbers


def head_word(form: str) -> str:
    """Return the head word of a surface form, without case.

    It is the last word before the first comma, bracket or one of PREPOSITIONS after it, punctuation around it left out:
    `university` of "University of Oxford", `hospital` of "St Mary's Hospital (Paddington)". So heads are right for
    languages that put them last, as English and German do, and for most French or Italian names with a preposition. A
    form without blanks is its own head.
    """
    words = [_PUNCTUATION.sub("", word).casefold() for word in _ASIDE.split(form, maxsplit=1)[0].split()]
    words = [word for word in words if word]
    ends = (place for place, word in enumerate(words) if place and word in PREPOSITIONS)
    return words[next(ends, len(words)) - 1] if words else form


def number_heads(layer: Layer) -> FormNumbers:
    """Number the head words of a layer's surface forms."""
    spelt = number_forms(layer)
    number: dict[str, int] = {}
    heads = np.fromiter((number.setdefault(head_word(form), len(number)) for form in spelt.forms), np.int32)
    return FormNumbers(frozen(heads[spelt.codes] if len(heads) else spelt.codes), number)


class FormFacts(NamedTuple):
    """Facts from gold about the surface forms of gold spans and of predictions, each a pair of arrays (spans,).

    `frequency` is the number of gold spans with the form, `consistency` an index into CONSISTENCIES.
    """

    frequency: tuple[Array, Array]
    consistency: tuple[Array, Array]


def form_facts(gold: Layer, pred: Layer) -> FormFacts:
    """Return the frequency and the consistency in gold of each span's surface form."""
    ours, theirs = number_forms(unmasked(gold)), number_forms(unmasked(pred))
    size = len(ours.forms)
    frequency = np.bincount(ours.codes, minlength=size)
    most = _most_frequent(ours.codes, gold.type, size)
    nearly = CONSISTENCIES.index("one type in under 80%")
    consistency = np.select([frequency == 1, most == frequency, most >= NEARLY * frequency], [0, 1, 2], nearly)
    # Forms that gold does not have share the last number.
    frequency, consistency = np.append(frequency, 0), np.append(consistency, CONSISTENCIES.index("not in gold"))
    in_other = _among(ours.forms, theirs)
    return FormFacts((frequency[ours.codes], frequency[in_other]), (consistency[ours.codes], consistency[in_other]))


def _most_frequent(codes: Array, types: Array, size: int) -> Int64:
    """Return the number of spans of each form that have its most frequent type, shape (forms,)."""
    width = int(types.max(initial=0)) + 1
    cells, counts = np.unique(codes.astype(np.int64) * width + types, return_counts=True)
    most = np.zeros(size, np.int64)
    np.maximum.at(most, cells // width, counts)
    return most


def seen_in(training: Layer, layer: Layer, numbered: Callable[[Layer], FormNumbers] = number_forms) -> NDArray[np.int8]:
    """Return the index into SEEN of each span, by the surface forms of a training layer, shape (spans,).

    `numbered` numbers what is looked up: surface forms, or their head words.
    """
    training_forms, own = numbered(unmasked(training)), numbered(unmasked(layer))
    in_training = _among(training_forms.forms, own)
    place = {kind: code for code, kind in enumerate(training.types)}
    # Types that training does not have share the last number, which no form of it has.
    types = np.array([place.get(kind, len(place)) for kind in layer.types], np.int64)[layer.type]
    width = len(place) + 1
    cells = np.unique(training_forms.codes.astype(np.int64) * width + training.type)
    same = np.isin(in_training * width + types, cells)
    return np.where(in_training == len(training_forms.forms), 2, np.where(same, 0, 1)).astype(np.int8)


def _among(forms: Mapping[str, int], other: FormNumbers) -> Int64:
    """Return the numbers of other spans' forms among `forms`, and len(forms) for forms that are not there."""
    size = len(forms)
    place = np.fromiter((forms.get(form, size) for form in other.forms), np.int64, len(other.forms))
    return place[other.codes] if len(place) else np.zeros(len(other.codes), np.int64)


def folded_forms(layer: Layer) -> tuple[Int32, Mapping[str, int]]:
    """Return the folded surface form of each span as a number, and the numbers of the forms.

    Forms are equal as in `consistency.form_search`, but are found from the texts of the spans alone. Masked layers have
    the forms of the original texts, to be counted.
    """
    spelt = number_forms(layer)
    number: dict[str, int] = {}
    folded = [number.setdefault(form_of(text), len(number)) for text in spelt.forms]
    return frozen(np.array(folded, np.int32)[spelt.codes] if folded else spelt.codes), number


def masked_forms(forms: Iterable[str]) -> dict[str, str]:
    """Return the names of forms of masked texts: their masks, numbered from the second form of the same mask on."""
    names: dict[str, int] = {}
    name_of_form = {}
    for form in forms:
        mask = masked_text(form)
        names[mask] = names.get(mask, 0) + 1
        name_of_form[form] = mask if names[mask] == 1 else f"{mask} ({names[mask]})"
    return name_of_form
