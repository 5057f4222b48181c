"""What gold spans and predictions are sliced by: each slicing gives every span of either side one of a few values.

A slice holds the gold spans with a value and the predictions with that value, each by what it is itself: a gold span of
three tokens and the prediction of two that it is paired with lie in two slices. So the slices of each side add up to
the corpus. Most of these slicings are those of Fu, Liu and Neubig (EMNLP 2020), with bounds that no corpus changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote
from weakref import WeakKeyDictionary, ref

from nereval_core.analysis.periods import UNDATED, decades_of
from nereval_core.analysis.slices import values as slices_values
from nereval_core.analysis.slices.user_columns import Columns
from nereval_core.analysis.slices.values import Side, Sliced, Values
from nereval_core.corpus import Layer


@dataclass(frozen=True)
class Slicing:
    """One thing to slice by: how it is called, in links too, what it is in words, and how its values are found.

    `of_documents`: all spans of a document have the same value, so that tokens can be counted by it too. `listed` is
    False where other parts of a page show it. The argument is what stands in a name after the first blank.
    """

    title: str
    says: str
    find: Callable[[Sliced, str], Values | None]
    of_documents: bool = False
    listed: bool = True


def find(given: Sliced, name: str) -> Values | None:
    """Return the values of a slicing by its name, None where it is not known or does not apply."""
    word, _, argument = name.partition(" ")
    slicing = SLICINGS.get(word)
    if slicing is None or (given.by_token and not slicing.of_documents):
        return None
    if argument:
        return slicing.find(given, unquote(argument))
    gold, pred = given.layers
    kept = _KEPT.setdefault(pred, {})
    key = (name, ref(gold))
    if key not in kept:
        kept[key] = slicing.find(given, "")
    return kept[key]


_KEPT: WeakKeyDictionary[Layer, dict[tuple[str, ref[Layer]], Values | None]] = WeakKeyDictionary()


def offered(given: Sliced, training: Layer | None = None, columns: Columns | None = None) -> tuple[str, ...]:
    """Return the names of all slicings that apply, those with an argument once for each they can have."""
    names: list[str] = []
    for word, slicing in SLICINGS.items():
        if not slicing.listed or (given.by_token and not slicing.of_documents):
            continue
        if word == "meta":
            names += [named(word, key) for key in meta_keys(given.layers[0])]
        elif word == "seen":
            names += [named(word, training.digest[:DIGITS])] if training is not None else []
        elif word == "column":
            own = () if columns is None or (columns.of_spans and given.by_token) else columns.names
            names += [named(word, f"{columns.digest[:DIGITS]} {name}") for name in own if columns is not None]
        elif applies(given, word):
            names.append(word)
    return tuple(names)


DIGITS = 16
"""Hexadecimal digits of a digest in a name."""


def applies(given: Sliced, word: str) -> bool:
    """Tell at a glance whether a slicing without an argument has any values."""
    gold = given.layers[0]
    if word == "period":
        return any(period != UNDATED for period in decades_of(gold.documents))
    if word == "noise":
        return any("LED" in meta for meta in gold.meta.values())
    texts = gold.documents.sizes is None
    return texts or word not in ("tokens", "shape", "frequency", "consistency")


def named(word: str, argument: str) -> str:
    """Return the name of a slicing with an argument, which may hold any text."""
    return f"{word} {quote(argument, safe=' ')}"


def title(name: str) -> str:
    """Return what a slicing is called on a page."""
    word, _, argument = name.partition(" ")
    shown = unquote(argument)
    return SLICINGS[word].title.replace("{}", shown.partition(" ")[2] if word == "column" else shown)


def within(name: str) -> str:
    """Return what a slicing is called within a sentence."""
    found = title(name)
    return found[:1].lower() + found[1:]


def says(name: str) -> str:
    """Return in a sentence what a slicing looks at."""
    return SLICINGS[name.partition(" ")[0]].says


def meta_keys(gold: Layer) -> tuple[str, ...]:
    """Return the keys of the documents' metadata, sorted, but for the date."""
    found = {key for one in gold.documents.meta or () for key in one}
    return tuple(sorted(found - {"date"}))


SLICINGS: Mapping[str, Slicing] = {
    "length": Slicing(
        "Span length in characters",
        "The characters of a span; gaps do not count.",
        slices_values.length_values,
    ),
    "tokens": Slicing(
        "Span length in tokens",
        "The tokens that share a character with a span: the documents' own, else words and single other characters.",
        slices_values.tokens_values,
    ),
    "shape": Slicing(
        "Capitalisation and shape",
        "How the letters and digits of a span look.",
        slices_values.shape_values,
    ),
    "frequency": Slicing(
        "Frequency of the surface form in gold",
        "How many gold spans have the same words; 0: none.",
        slices_values.frequency_values,
    ),
    "consistency": Slicing(
        "Consistency of the label in gold",
        "How alike gold types the spans that have the same words.",
        slices_values.consistency_values,
    ),
    "seen": Slicing(
        "Seen in training",
        "Whether a training span has the same words, and with which type.",
        slices_values.seen_values,
    ),
    "position": Slicing(
        "Position in the document",
        "Where a span begins, as a share of its document.",
        slices_values.position_values,
    ),
    "document-length": Slicing(
        "Document length in characters",
        "The characters of the document.",
        slices_values.document_length_values,
        of_documents=True,
    ),
    "spans": Slicing(
        "Gold spans in the document",
        "How many gold spans the document has.",
        slices_values.spans_values,
        of_documents=True,
    ),
    "period": Slicing(
        "Decade",
        "The decade of the document's date.",
        slices_values.period_values,
        of_documents=True,
    ),
    "noise": Slicing(
        "Noise (LED)",
        "The share of characters that the OCR got wrong, by HIPE's levels.",
        slices_values.noise_values,
    ),
    "meta": Slicing(
        "Document's {}",
        "What the document's metadata say.",
        slices_values.meta_values,
        of_documents=True,
    ),
    "column": Slicing(
        "Your column {}",
        "Your own column, joined by document or by span.",
        slices_values.column_values,
        of_documents=True,
    ),
    "score": Slicing(
        "Score of the prediction",
        "The system's confidence, in tenths.",
        slices_values.score_values,
        listed=False,
    ),
    "at": Slicing(
        "Decision at score {}",
        "The decision with only the predictions scored so high.",
        slices_values.at_values,
        listed=False,
    ),
    "kept": Slicing(
        "Kept at score {}",
        "Whether a prediction is scored so high, or not at all.",
        slices_values.kept_values,
        listed=False,
    ),
}
"""All slicings, in the order in which they are offered."""

__all__ = (
    "DIGITS",
    "SLICINGS",
    "Side",
    "Sliced",
    "Slicing",
    "Values",
    "applies",
    "find",
    "meta_keys",
    "named",
    "offered",
    "says",
    "title",
    "within",
)
