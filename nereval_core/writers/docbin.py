"""DocBin files of spaCy: spans as entities where these can hold them, else as the span group `sc`, spaCy's default.

Entities have a link (`kb_id`) but neither overlaps, ids nor scores. Tokens are the documents' own, or runs of word
characters and single other characters; other text between them, except a blank, becomes a token too, as in spaCy.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from nereval_core.corpus import Layer
from nereval_core.corpus.tokens import WORD
from nereval_core.readers.docbin import READER, SUFFIX
from nereval_core.readers.docbin.message import not_installed
from nereval_core.readers.docbin.texts import ID
from nereval_core.writers import packed_file
from nereval_core.writers.document_spans import (
    Pairs,
    other_metadata,
    reserved_metadata,
    spans_with_offsets,
    token_spans,
)
from nereval_core.writers.writer import Writer

if TYPE_CHECKING:
    from spacy.tokens import Doc

GROUP = "sc"
RESERVED_KEYS = frozenset((ID,))
WIDEST = 64
"""Bits of an integer of MessagePack."""
DEEPEST = 100
"""Levels to which lists and objects may be nested: spaCy's packer has a limit too."""


class Words(NamedTuple):
    """A text in spaCy's words: their places, one after the other, and whether a blank follows each."""

    places: Pairs
    blanks: list[bool]


class DocBinWriter(Writer):
    """Entities, or a span group where these cannot hold the spans; ids and metadata are user data."""

    name, description = READER.name, READER.description
    holds = frozenset(("ids", "links", "scores", "tokens", "sentences", "document_meta"))
    shard = SUFFIX

    def unsayable(self, layer: Layer) -> Iterator[tuple[int, str]]:
        for number in range(len(layer.documents)):
            yield from token_spans(layer, number).unsayable()

    def changed(self, layer: Layer) -> Iterator[str]:
        yield from reserved_metadata(layer, RESERVED_KEYS)
        wide = sum(not all(map(_holdable, meta.values())) for meta in layer.documents.meta or ())
        if wide:
            yield f"documents with metadata of integers over {WIDEST} bits or nested more than {DEEPEST} deep: {wide}"

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        try:
            from spacy.tokens import DocBin
            from spacy.vocab import Vocab
        except ImportError:
            raise not_installed(str(path)) from None
        vocabulary = Vocab()
        grouped = bool(layer.scores) or _overlapping(layer)
        packed = DocBin()
        user_data: list[bytes | None] = []
        added = respelt = 0
        for number in range(len(layer.documents)):
            text, tokens = layer.documents.texts[number], token_spans(layer, number).tokens
            words = words_of(text, tokens)
            doc, same = _document(layer, number, words, vocabulary)
            (_group if grouped else _entities)(doc, layer, number, words)
            packed.add(doc)
            # DocBin's own packer looks for plug-ins with every document, which takes longer than anything else here.
            user_data.append(msgspec.msgpack.encode(_user_data(layer, number)))
            respelt += not same
            own = set(tokens)
            added += any(not text[low:high].isspace() for low, high in words.places if (low, high) not in own)
        packed.user_data, packed.store_user_data = user_data, True
        with packed_file(path) as file:
            file.write(packed.to_bytes())
        unnamed = 0 if grouped else len(layer.ids)
        counts = {
            "documents with tokens added where text stands in none": added,
            "documents whose sentences are not from token to token, written as near as can be": respelt,
            "span ids, which entities have none of, left out": unnamed,
        }
        notes = tuple(f"{what}: {count}" for what, count in counts.items() if count)
        # The note warns those who train on entities.
        why = "spans overlap" if _overlapping(layer) else "spans have scores"
        return (f"{why}: written as the span group {GROUP!r}, no entities", *notes) if grouped else notes


def words_of(text: str, tokens: Pairs) -> Words:
    """Return a text in words: tokens, words and single characters between them, and white space except single blanks.

    The texts of the words, a blank after each that has one, make up the text.
    """
    places: list[tuple[int, int]] = []
    blanks: list[bool] = []

    def fill(low: int, high: int) -> None:
        if places and low < high and text[low] == " ":
            blanks[-1] = True
            low += 1
        if low < high:
            add(low, high)

    def add(low: int, high: int) -> None:
        places.append((low, high))
        blanks.append(False)

    at = 0
    for low, high in (*tokens, (len(text), len(text))):
        for match in WORD.finditer(text, at, low):
            fill(at, match.start())
            add(*match.span())
            at = match.end()
        fill(at, low)
        if low < high:
            add(low, high)
        at = high
    return Words(places, blanks)


def _overlapping(layer: Layer) -> bool:
    return bool(((layer.doc[1:] == layer.doc[:-1]) & (layer.start[1:] < layer.end[:-1])).any())


def _document(layer: Layer, number: int, words: Words, vocabulary: Any) -> tuple[Doc, bool]:
    """Return a document without spans, and whether its sentences are unchanged."""
    from spacy.tokens import Doc

    text = layer.documents.texts[number]
    sentences = layer.documents.sentences
    own = [] if sentences is None else sentences.of_document(number)
    opening = {low for low, _ in own}
    starts: list[bool | int | None] = [low in opening for low, _ in words.places]
    doc = Doc(
        vocabulary,
        words=[text[low:high] for low, high in words.places],
        spaces=words.blanks,
        sent_starts=starts if own else None,
    )
    solid = [at for at, (low, high) in enumerate(words.places) if not text[low:high].isspace()]
    cuts = [0, *(at for at in range(1, len(starts)) if starts[at]), len(starts)]
    parts = [[at for at in solid if start <= at < end] for start, end in pairwise(cuts)]
    read = [(words.places[part[0]][0], words.places[part[-1]][1]) for part in parts if part]
    return doc, not own or read == own


def _user_data(layer: Layer, number: int) -> dict[str, Any]:
    """Return the metadata that MessagePack can hold, and the id of a document that has one."""
    metadata = {key: value for key, value in other_metadata(layer, number, RESERVED_KEYS).items() if _holdable(value)}
    return {ID: layer.documents.ids[number], **metadata} if layer.documents.named else metadata


def _holdable(value: Any, depth: int = 1) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, int) and not -(1 << WIDEST - 1) <= value < 1 << WIDEST:
        return False
    return depth <= DEEPEST and all(_holdable(entry, depth + 1) for entry in inner)


def _spans(doc: Doc, layer: Layer, number: int, words: Words) -> Iterator[tuple[int, Any]]:
    """Yield the spans of a document in the order in which they were read."""
    from spacy.tokens import Span

    first = {low: at for at, (low, _) in enumerate(words.places)}
    last = {high: at + 1 for at, (_, high) in enumerate(words.places)}
    for span, start, end in spans_with_offsets(layer, number):
        links = layer.links.get(span, ("",))
        id = layer.ids.get(span, "")
        yield span, Span(doc, first[start], last[end], label=layer.label(span), kb_id=links[0], span_id=id)


def _entities(doc: Doc, layer: Layer, number: int, words: Words) -> None:
    spans = [span for _, span in _spans(doc, layer, number, words)]
    for span in spans:
        # Readers take the id of an entity for a link.
        span.id = 0
    doc.set_ents(spans, default="outside")


def _group(doc: Doc, layer: Layer, number: int, words: Words) -> None:
    spans = dict(_spans(doc, layer, number, words))
    doc.spans[GROUP] = list(spans.values())
    if not layer.scores.keys().isdisjoint(spans):
        doc.spans[GROUP].attrs["scores"] = np.array([layer.scores.get(span, np.nan) for span in spans])


WRITERS = (DocBinWriter(),)
