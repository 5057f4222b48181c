"""Mask texts, so that no letter or digit can be read: for data that must not be shown.

A masked text has as many code points as the original, so that offsets, tokens and decisions stay. Each character is
masked by its class alone: upper case becomes X, lower case x, a digit or number of any script 0, a letter without case
one of its width and direction, a combining mark a dot above, a pictograph a circle. White space and punctuation stay,
so that the lengths of words can still be seen.

Document ids, span ids, concept ids and the names of types stay as they are. Free text in metadata is masked; numbers,
dates and codes of languages are not, and texts that differ stay apart: `Xxxx`, `Xxxx (2)`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from nereval_core.corpus import Corpus, Documents, Layer
from nereval_core.corpus.texts import Texts
from nereval_core.problems import FormatError, Problem

UPPER, LOWER, NUMBER, MARK = "X", "x", "0", "\u0307"
CASELESS, RIGHT_TO_LEFT, WIDE = "ʔ", "א", "々"
"""Letters without case: written from left to right, from right to left, and those as wide as they are high."""
UPPER_SYMBOL, LOWER_SYMBOL, SYMBOL, TAG = "Ⓧ", "ⓧ", "○", "\U000e0020"
"""Circled letters and the like, pictographs, and the invisible characters that spell words in tags."""

SAID = "text masked"
"""The part of a signature that tells that texts were masked."""
LANGUAGES = ("language", "languages", "lang")
_LATIN_1 = 0x100
_TAGS = range(0xE0000, 0xE0080)
_DATE = re.compile(r"\d{4}([-/.]\d{1,2}){0,2}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")
_YEAR = re.compile(r"\s*\d{4}(?!\d)")
_LANGUAGE = re.compile(r"[a-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_QUOTES = re.compile(r"'(?:[^'\\]|\\.)*'|“[^”]*”")
_ESCAPES = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)")
_ORIGINALS: WeakKeyDictionary[Documents, Documents] = WeakKeyDictionary()
_UNMASKED: WeakKeyDictionary[Layer, Layer] = WeakKeyDictionary()


def masked(corpus: Corpus) -> Corpus:
    """Return a corpus with the same spans over masked texts; all decisions stay."""
    documents = masked_documents(corpus.documents)
    values = _Values()
    gold, *systems = (_over(layer, documents, values) for layer in (corpus.gold, *corpus.systems))
    return replace(
        corpus,
        documents=documents,
        gold=gold,
        systems=tuple(systems),
        notes=tuple(map(masked_quotes, corpus.notes)),
    )


def masked_documents(documents: Documents) -> Documents:
    """Return documents with masked texts and metadata; `original` returns the documents that were masked."""
    values = _Values()
    meta = documents.meta
    texts = map(masked_text, documents.texts)
    masked = replace(
        documents,
        texts=Texts.of(texts) if isinstance(documents.texts, Texts) else tuple(texts),
        meta=None if meta is None else tuple(map(values.masked, meta)),
    )
    _ORIGINALS[masked] = original(documents)
    return masked


def original(documents: Documents) -> Documents:
    """Return the original of masked documents, and other documents as they are: for counting, never to be shown."""
    return _ORIGINALS.get(documents, documents)


def unmasked(layer: Layer) -> Layer:
    """Return a layer over the `original` of its documents: for counting, never to be shown."""
    if layer.documents not in _ORIGINALS:
        return layer
    if layer not in _UNMASKED:
        _UNMASKED[layer] = replace(layer, documents=original(layer.documents))
    return _UNMASKED[layer]


def is_masked(documents: Documents) -> bool:
    return documents in _ORIGINALS


def masking_mark(gold: Layer, pred: Layer) -> str:
    """Return the part of a signature about masked texts, with the digests of the layers as read."""
    digests = (("gold", gold.digest), ("pred", pred.digest))
    return f"{SAID}, read as {' '.join(f'{side} sha256:{digest[:16]}' for side, digest in digests)}"


def masked_text(text: str) -> str:
    """Return a text with its characters masked, as long as it was."""
    return text.translate(_MASKS)


def masked_quotes(text: str) -> str:
    """Mask quotes in a message of ours, which may be pieces of text; escapes stay."""
    return _QUOTES.sub(_quote, text)


def masked_error(error: FormatError) -> FormatError:
    """Return an error with masked quotes."""
    problems = (
        Problem(problem.source, problem.line, masked_quotes(problem.found), masked_quotes(problem.remedy))
        for problem in error.problems
    )
    return FormatError(problems, error.remedies)


def _quote(match: re.Match[str]) -> str:
    quote = match[0]
    # The letters of escapes are not those of the text.
    return quote[0] + masked_text(_ESCAPES.sub("_", quote[1:-1])) + quote[-1]


def _over(layer: Layer, documents: Documents, values: _Values) -> Layer:
    assert len(layer.documents) == len(documents), "all layers lie over the same documents"
    meta = {span: values.masked(value) for span, value in layer.meta.items()}
    return replace(layer, documents=documents, meta=meta)


KEPT = frozenset(("placed",))
"""Keys whose values are words of ours: how a mention without offsets was placed."""


class _Values:
    """Masks the values of metadata; different texts of one key get different masks."""

    def __init__(self) -> None:
        self._masks: dict[str, dict[str, str]] = {}
        self._taken: dict[str, dict[str, int]] = {}

    def masked(self, meta: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value if key in KEPT else self._value(key, value) for key, value in meta.items()}

    def _value(self, key: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: self._value(name, value_inside) for name, value_inside in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(key, value_inside) for value_inside in value]
        return self._text(key, value) if isinstance(value, str) else value

    def _text(self, key: str, text: str) -> str:
        if _DATE.fullmatch(text.strip()) or (key in LANGUAGES and _LANGUAGE.fullmatch(text)):
            return text
        masks = self._masks.setdefault(key, {})
        if text not in masks:
            year = _YEAR.match(text) if key == "date" else None
            unmasked_length = year.end() if year else 0
            mask = text[:unmasked_length] + masked_text(text[unmasked_length:])
            used_masks = self._taken.setdefault(key, {})
            used_masks[mask] = used_masks.get(mask, 0) + 1
            masks[text] = mask if used_masks[mask] == 1 else f"{mask} ({used_masks[mask]})"
        return masks[text]


class _Masks(dict[int, str]):
    """The mask of each character by its code, computed when it is first needed."""

    def __missing__(self, code: int) -> str:
        mask = self[code] = _mask(chr(code))
        return mask


_MASKS = _Masks()


def _mask(char: str) -> str:
    return next((mask for holds, mask in _RULES if holds(char)), char)


_RULES: Sequence[tuple[Callable[[str], bool], str]] = (
    (lambda char: unicodedata.category(char).startswith("M"), MARK),
    (lambda char: char.isalnum() and (char.isupper() or char.istitle()), UPPER),
    (lambda char: char.isalnum() and char.islower(), LOWER),
    (lambda char: char.isalpha() and unicodedata.bidirectional(char) in ("R", "AL"), RIGHT_TO_LEFT),
    (lambda char: char.isalpha() and unicodedata.east_asian_width(char) in ("W", "F"), WIDE),
    (str.isalpha, CASELESS),
    (str.isalnum, NUMBER),
    (str.isupper, UPPER_SYMBOL),
    (str.islower, LOWER_SYMBOL),
    # A degree or copyright sign tells nothing, a pictograph may.
    (lambda char: unicodedata.category(char) == "So" and ord(char) >= _LATIN_1, SYMBOL),
    (lambda char: unicodedata.category(char) in ("Co", "Cn", "Cs"), SYMBOL),
    (lambda char: ord(char) in _TAGS, TAG),
)
"""Classes of characters and their masks; the first rule that holds applies. Any other character stays."""
