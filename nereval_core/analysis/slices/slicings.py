"""Slicings: the properties by which spans are sliced; each gives every gold span and prediction one of a few values.

A slice contains the gold spans and the predictions with one value, each by its own property: a gold span of three
tokens and its paired prediction of two tokens are in different slices. So the slices of each side add up to the corpus.
Most of these slicings are those of Fu, Liu and Neubig (EMNLP 2020), with bounds that do not depend on the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote
from weakref import WeakKeyDictionary, ref

from nereval_core.analysis.slices import span_values, thresholds
from nereval_core.analysis.slices.decades_and_noise import UNDATED, document_decades
from nereval_core.analysis.slices.span_values import SlicedScores, SpanValues
from nereval_core.analysis.slices.user_columns import UserColumns
from nereval_core.corpus import Layer


@dataclass(frozen=True)
class Slicing:
    """A property to slice by: its title, its explanation, and the function that finds the values of spans.

    `of_documents`: all spans of a document have the same value, so that it applies to criteria that count tokens too.
    `listed` is False if other parts of a page show it. `find` gets the argument in its name, after the first blank.
    """

    title: str
    explanation: str
    find: Callable[[SlicedScores, str], SpanValues | None]
    of_documents: bool = False
    listed: bool = True


def find_values(sliced: SlicedScores, name: str) -> SpanValues | None:
    """Return the values of a slicing by its name, None where it is unknown or does not apply."""
    word, _, argument = name.partition(" ")
    slicing = SLICINGS.get(word)
    if slicing is None or (sliced.by_token and not slicing.of_documents):
        return None
    if argument:
        return slicing.find(sliced, unquote(argument))
    gold, pred = sliced.layers
    cached = _KEPT.setdefault(pred, {})
    key = (name, ref(gold))
    if key not in cached:
        cached[key] = slicing.find(sliced, "")
    return cached[key]


_KEPT: WeakKeyDictionary[Layer, dict[tuple[str, ref[Layer]], SpanValues | None]] = WeakKeyDictionary()


def applicable_slicings(
    sliced: SlicedScores,
    training: Layer | None = None,
    columns: UserColumns | None = None,
    years: Iterable[int] = (),
) -> tuple[str, ...]:
    """Return the names of all slicings that apply, one for each possible argument; of years only those given."""
    names: list[str] = []
    for word, slicing in SLICINGS.items():
        if not slicing.listed or (sliced.by_token and not slicing.of_documents):
            continue
        if word == "meta":
            names += [slicing_name(word, key) for key in meta_keys(sliced.layers[0])]
        elif word in ("seen", "head"):
            names += [slicing_name(word, training.digest[:DIGEST_DIGITS])] if training is not None else []
        elif word == "column":
            own = () if columns is None or (columns.of_spans and sliced.by_token) else columns.names
            names += [
                slicing_name(word, f"{columns.digest[:DIGEST_DIGITS]} {name}") for name in own if columns is not None
            ]
        elif word == "year":
            names += [slicing_name(word, str(year)) for year in years if applies(sliced, word)]
        elif applies(sliced, word):
            names.append(word)
    return tuple(names)


DIGEST_DIGITS = 16
"""Hexadecimal digits of a digest in a name."""


def applies(sliced: SlicedScores, word: str) -> bool:
    """Tell without computing values whether a slicing without an argument has any."""
    gold = sliced.layers[0]
    if word in ("period", "year"):
        return any(period != UNDATED for period in document_decades(gold.documents))
    if word == "noise":
        return any("LED" in meta for meta in gold.meta.values())
    texts = gold.documents.sizes is None
    return texts or word not in ("tokens", "shape", "frequency", "consistency")


def slicing_name(word: str, argument: str) -> str:
    """Return the name of a slicing with an argument, which may be any text."""
    return f"{word} {quote(argument, safe=' ')}"


def slicing_title(name: str) -> str:
    """Return the title of a slicing on a page."""
    word, _, argument = name.partition(" ")
    text = unquote(argument)
    return SLICINGS[word].title.replace("{}", text.partition(" ")[2] if word == "column" else text)


def title_in_sentence(name: str) -> str:
    """Return the title of a slicing within a sentence."""
    title = slicing_title(name)
    return title[:1].lower() + title[1:]


def slicing_explanation(name: str) -> str:
    """Return the explanation of a slicing, a sentence."""
    return SLICINGS[name.partition(" ")[0]].explanation


def meta_keys(gold: Layer) -> tuple[str, ...]:
    """Return the keys of the documents' metadata without the date, sorted."""
    keys = {key for row in gold.documents.meta or () for key in row}
    return tuple(sorted(keys - {"date"}))


SLICINGS: Mapping[str, Slicing] = {
    "length": Slicing(
        "Span length in characters",
        "The characters of a span; gaps do not count.",
        span_values.length_values,
    ),
    "tokens": Slicing(
        "Span length in tokens",
        "The tokens that share a character with a span: the documents' own, else words and single other characters.",
        span_values.tokens_values,
    ),
    "shape": Slicing(
        "Capitalisation and shape",
        "How the letters and digits of a span look.",
        span_values.shape_values,
    ),
    "frequency": Slicing(
        "Frequency of the surface form in gold",
        "How many gold spans have the same words; 0: none.",
        span_values.frequency_values,
    ),
    "consistency": Slicing(
        "Consistency of the label in gold",
        "How alike gold types the spans that have the same words.",
        span_values.consistency_values,
    ),
    "seen": Slicing(
        "Seen in training",
        "Whether a training span has the same words, and with which type.",
        span_values.seen_values,
    ),
    "head": Slicing(
        "Head word seen in training",
        "Whether a training span has the same head word (the last, or the last before a preposition), with which type.",
        span_values.head_values,
    ),
    "position": Slicing(
        "Position in the document",
        "Where a span begins, as a share of its document.",
        span_values.position_values,
    ),
    "document-length": Slicing(
        "Document length in characters",
        "The characters of the document.",
        span_values.document_length_values,
        of_documents=True,
    ),
    "spans": Slicing(
        "Gold spans in the document",
        "How many gold spans the document has.",
        span_values.spans_values,
        of_documents=True,
    ),
    "period": Slicing(
        "Decade",
        "The decade of the document's date.",
        span_values.period_values,
        of_documents=True,
    ),
    "year": Slicing(
        "Before and from {}",
        "Whether the document's date is before a year.",
        span_values.year_values,
        of_documents=True,
    ),
    "noise": Slicing(
        "Noise (LED)",
        "The share of characters that the OCR got wrong, by HIPE's levels.",
        span_values.noise_values,
    ),
    "meta": Slicing(
        "Document's {}",
        "What the document's metadata say.",
        span_values.meta_values,
        of_documents=True,
    ),
    "column": Slicing(
        "Your column {}",
        "Your own column, joined by document or by span.",
        span_values.column_values,
        of_documents=True,
    ),
    "score": Slicing(
        "Score of the prediction",
        "The system's confidence, in tenths.",
        thresholds.score_values,
        listed=False,
    ),
    "score-mass": Slicing(
        "Score of the prediction, in bins of equal mass",
        "The system's confidence, in ten bins of about equally many predictions.",
        thresholds.score_mass_values,
        listed=False,
    ),
    "at": Slicing(
        "Decision at score {}",
        "The decision with only the predictions scored so high.",
        thresholds.at_values,
        listed=False,
    ),
    "kept": Slicing(
        "Kept at score {}",
        "Whether a prediction is scored so high, or not at all.",
        thresholds.kept_values,
        listed=False,
    ),
}
"""All slicings, in the order in which they are offered."""
