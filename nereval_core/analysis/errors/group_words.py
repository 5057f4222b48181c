"""Groups of errors in words: a sentence as a linguist would say it, and examples in their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

from nereval_core.analysis.errors.boundary_patterns import PUNCTUATION
from nereval_core.analysis.errors.error_groups import (
    CUTS_WORD,
    EXAMPLES,
    LEAVES_OUT_LEFT,
    LEAVES_OUT_RIGHT,
    MISSED,
    RETYPED,
    SPURIOUS,
    TAKES_IN_LEFT,
    TAKES_IN_RIGHT,
    ErrorGroup,
    GroupKey,
)
from nereval_core.corpus import Layer
from nereval_core.problems import name_text
from nereval_core.records.match_records import record_ids
from nereval_core.records.queries import Side
from nereval_core.report.span_difference import Piece, difference_text, span_difference
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table

CONTEXT_CHARACTERS = 32
"""Characters of text on either side of an example."""
_WORDS = {"1": "one token", "2-3": "2 or 3 tokens", "4+": "4 or more tokens"}
_SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "capitalised": "in capitalised words",
        "first word capitalised": "with a capital in the first word only",
        "all capitals": "in capitals",
        "lower case": "in lower case",
        "mixed case": "in mixed case",
        "letters and digits": "with letters and digits",
        "digits": "of digits",
        "letters without case": "in letters without case",
        "neither letter nor digit": "without letters and digits",
    }
)
_WITHOUT_ARTICLE = (PUNCTUATION, "white space")
_VERBS = {
    TAKES_IN_LEFT: ("take in", "takes in", "left"),
    TAKES_IN_RIGHT: ("take in", "takes in", "right"),
    LEAVES_OUT_LEFT: ("leave out", "leaves out", "left"),
    LEAVES_OUT_RIGHT: ("leave out", "leaves out", "right"),
}


class Phrase(NamedTuple):
    """A part of a sentence; one that is quoted is a word of the texts or the name of a type."""

    text: str
    is_quoted: bool = False


class Annotators(NamedTuple):
    """The names of the reference and of the other annotator, where two annotators are compared."""

    reference: str
    other: str


def group_phrases(key: GroupKey, quote: str = "", annotators: Annotators | None = None) -> list[Phrase]:
    """Return the sentence on a group: "Misses protein after a number".

    `quote` is the word or form of the context as the texts spell it, by default without case.
    """
    quote = quote or key.value
    if key.kind in _VERBS:
        return _boundary_phrases(key, quote, annotators)
    if key.kind == CUTS_WORD:
        subject = f"{annotators.other} begins or ends" if annotators else "Predictions begin or end"
        return [Phrase(f"{subject} inside a word"), *_of_type(key), *_context(key, quote)]
    if key.kind == RETYPED:
        other = [Phrase(name_text(key.type), True)] if key.type else [Phrase("another type")]
        if annotators:
            start = [
                Phrase(f"{annotators.other}: "),
                Phrase(name_text(key.predicted), True),
                Phrase(f", {annotators.reference}: "),
            ]
        else:
            start = [Phrase(name_text(key.predicted), True), Phrase(" for ")]
        return [*start, *other, *_context(key, quote)]
    verb = {MISSED: "Misses", SPURIOUS: "Spurious"}[key.kind]
    if annotators:
        verb = f"Only {annotators.reference if key.kind == MISSED else annotators.other} marks"
    if key.feature == "form":
        what = [*([Phrase(name_text(key.type), True), Phrase(" ")] if key.type else []), Phrase(f"“{quote}”", True)]
    elif key.type:
        what = [Phrase(name_text(key.type), True)]
    else:
        what = [Phrase("predictions" if key.kind == SPURIOUS and not annotators else "spans")]
    return [Phrase(f"{verb} "), *what, *(() if key.feature == "form" else _context(key, quote))]


def _boundary_phrases(key: GroupKey, quote: str, annotators: Annotators | None) -> list[Phrase]:
    plural, singular, end = _VERBS[key.kind]
    start = f"{annotators.other} {singular} " if annotators else f"Predictions {plural} "
    is_lexical = key.feature in ("before", "after", "first", "last")
    is_kind = key.feature.endswith("-kind")
    what = Phrase(f"“{quote}”", True) if is_lexical else Phrase(_kind(key.value) if is_kind else "words")
    rest = () if is_lexical or is_kind else _context(key, quote)
    of_spans = [*_of_type(key), *([Phrase(" spans" if key.type else " of spans")] if rest else [])]
    return [Phrase(start), what, Phrase(f" at the {end}"), *of_spans, *rest]


def _of_type(key: GroupKey) -> list[Phrase]:
    return [Phrase(" of "), Phrase(name_text(key.type), True)] if key.type else []


def _kind(kind: str) -> str:
    """Return a kind of words with its article."""
    article = "" if kind in _WITHOUT_ARTICLE else "an " if kind[:1] in "aeiou" else "a "
    return f"{article}{kind}"


def _context(key: GroupKey, quote: str) -> list[Phrase]:
    """Return the context of a group in words, with the blank before it."""
    word = Phrase(f"“{quote}”", True)
    phrases = {
        "before": [Phrase(" after "), word],
        "after": [Phrase(" before "), word],
        "before-kind": [Phrase(f" after {_kind(key.value)}")],
        "after-kind": [Phrase(f" before {_kind(key.value)}")],
        "first": [Phrase(" beginning with "), word],
        "last": [Phrase(" ending with "), word],
        "form": [Phrase(": "), word],
        "words": [Phrase(f" of {_WORDS.get(key.value, key.value)}")],
        "shape": [Phrase(f" {_SHAPES.get(key.value, key.value)}")],
        "place": [Phrase(f" at the {key.value}")],
    }
    return phrases.get(key.feature, [])


def group_sentence(key: GroupKey, quote: str = "", annotators: Annotators | None = None) -> str:
    """Return the sentence on a group as plain text."""
    return "".join(phrase.text for phrase in group_phrases(key, quote, annotators))


class GroupExample(NamedTuple):
    """A record of a group in its text: words before, the difference of both sides, words after; ids and types."""

    before: str
    pieces: Sequence[Piece]
    after: str
    document: str
    record: str
    types: tuple[str, ...]

    @property
    def text(self) -> str:
        """The example on one line, with what is taken in in brackets and what is left out between tildes."""
        middle = difference_text(self.pieces)
        return f"{self.before}«{middle}»{self.after}"


def group_examples(scores: Scores, criterion: str, group: ErrorGroup, limit: int = EXAMPLES) -> list[GroupExample]:
    """Return some records of a group in their texts, see `record_examples`."""
    side: Side = "gold" if len(group.gold) else "pred"
    return record_examples(scores, criterion, side, (group.gold if side == "gold" else group.pred).tolist(), limit)


def record_examples(
    scores: Scores, criterion: str, side: Side, spans: Sequence[int], limit: int = EXAMPLES
) -> list[GroupExample]:
    """Return some records of spans of a side in their texts: other words and other documents first, in text order.

    Raises:
        FormatError: spans without texts.
    """
    gold, pred = scores.layers(criterion)
    own, other = (gold, pred) if side == "gold" else (pred, gold)
    partners = scores.partners(criterion)[0 if side == "gold" else 1]
    chosen = varied_spans(own, spans, limit)
    names = record_ids(own, side[0], np.array(chosen, np.int64))
    examples = []
    for span, record in zip(chosen, names, strict=True):
        partner = int(partners[span])
        sides: list[tuple[Layer, int]] = [(own, span), *([(other, partner)] if partner >= 0 else [])]
        parts = [layer.parts(number) for layer, number in sides]
        types = tuple(dict.fromkeys(name_text(layer.label(number)) for layer, number in sides))
        document = int(own.doc[span])
        text = own.documents.texts[document]
        low, high = min(part[0][0] for part in parts), max(part[-1][1] for part in parts)
        mine, theirs = parts[0], parts[1] if len(parts) > 1 else ()
        pieces = span_difference(text, *((mine, theirs) if side == "gold" else (theirs, mine)))
        before, after = _words_before(text, low), _words_after(text, high)
        examples.append(GroupExample(before, pieces, after, own.documents.ids[document], record, types))
    return examples


def varied_spans(layer: Layer, spans: Sequence[int], limit: int) -> list[int]:
    """Return some spans, those with texts and documents of their own first, in order."""
    chosen: dict[int, None] = {}
    for must_vary in (("text", "document"), ("text",), ()):
        texts = {layer.text(span).casefold() for span in chosen}
        documents = {int(layer.doc[span]) for span in chosen}
        for span in spans:
            text, document = layer.text(span).casefold(), int(layer.doc[span])
            if len(chosen) == limit:
                return sorted(chosen)
            is_other = not ("text" in must_vary and text in texts) and not (
                "document" in must_vary and document in documents
            )
            if span not in chosen and is_other:
                chosen[span] = None
                texts.add(text)
                documents.add(document)
    return sorted(chosen)


def _words_before(text: str, end: int) -> str:
    """Return whole words before a place on one line, with the blank that parts them from it."""
    start = max(0, end - CONTEXT_CHARACTERS)
    words = text[start:end]
    if start and not text[start - 1].isspace():
        words = words.lstrip().partition(" ")[2] or words
    tail = " " if text[end - 1 : end].isspace() else ""
    return f"{'… ' if start else ''}{' '.join(words.split())}{tail}"


def _words_after(text: str, start: int) -> str:
    """Return whole words after a place on one line, with the blank that parts them from it."""
    end = min(len(text), start + CONTEXT_CHARACTERS)
    words = text[start:end]
    if end < len(text) and not text[end].isspace():
        words = words.rstrip().rpartition(" ")[0] or words
    head = " " if text[start : start + 1].isspace() else ""
    return f"{head}{' '.join(words.split())}{' …' if end < len(text) else ''}"


GROUP_COLUMNS: Columns = {
    "group": TEXT_DTYPE,
    "key": TEXT_DTYPE,
    "within": TEXT_DTYPE,
    "records": "int64",
    "spans": "int64",
    **dict.fromkeys(("share", "elsewhere", "gain", "surprise"), "float64"),
    "example": TEXT_DTYPE,
}
"""Columns of `group_frame` and their dtypes. `group` is the sentence, `key` names the group in links, and `within` is
the key of the larger group above it, NA for none. `spans` are the gold spans in the context (of spurious ones, the
predictions), `share` is the records' part of them, `elsewhere` that of the other spans. `gain` is the F1 gained,
`surprise` G². `example` has what the prediction takes in [in brackets] and leaves out ~between tildes~; NA without
texts."""


def group_frame(scores: Scores, criterion: str, groups: Sequence[ErrorGroup]) -> pd.DataFrame:
    """Return groups as a table, each followed by those within it: GROUP_COLUMNS."""
    rows: list[tuple[object, ...]] = []
    has_texts = scores.gold.documents.sizes is None
    for top in groups:
        for group in (top, *top.narrower):
            within = None if group is top else str(top.key)
            names = (group_sentence(group.key, group.quote), str(group.key), within)
            numbers = (group.records, group.spans, group.records / group.spans, group.elsewhere)
            example = group_examples(scores, criterion, group, 1)[0].text if has_texts else None
            rows.append((*names, *numbers, group.gain, group.surprise, example))
    return typed_table(rows, GROUP_COLUMNS)
