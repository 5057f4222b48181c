"""What a format holds of any layer is read back as it was, or the layer is refused: one property over all formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nereval_core.corpus import Layer
from nereval_core.corpus.tokens import WORD
from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, layers, read
from nereval_core.readers.input.source import Source
from nereval_core.writers import write, writers
from nereval_core.writers.losses import fitted, losses
from tests.support import layer_strategies
from tests.support.layer_strategies import content, texts, words

ALWAYS = ("ids", "texts", "doc", "start", "end", "label")
PLACES = {"tokens": "tokens", "sentences": "sentences", "document_meta": "meta of documents"}
"""What a document holds, and how `content` calls it."""
Content = dict[str, Any]


def in_order_of_names(found: Content) -> Content:
    """Return spans by the names of their documents: a folder has its files in the order of their names."""
    return {"spans": sorted(_rows(found)), "texts": dict(zip(found["ids"], found["texts"], strict=True))}


def in_tokens(found: Content) -> Content:
    """Return spans as their documents and tokens: what stands between these is not kept."""
    spans = []
    for doc, start, end, label in zip(*(found[key] for key in ("doc", "start", "end", "label")), strict=True):
        text, own = found["texts"][doc], (found["tokens"] or {doc: ()})[doc]
        tokens = own or [match.span() for match in WORD.finditer(text)]
        spans.append((doc, [text[low:high] for low, high in tokens if start <= low and high <= end], label))
    return {"spans": spans}


def quotes(found: Content) -> Content:
    """Return spans as their documents and words: blanks are not counted."""
    texts = [found["texts"][doc] for doc in found["doc"]]
    places = zip(found["doc"], texts, found["start"], found["end"], found["label"], strict=True)
    return {"spans": [(doc, "".join(text[start:end].split()), label) for doc, text, start, end, label in places]}


def untyped(found: Content) -> Content:
    """Return spans as `quotes` does, without their types: there is but one."""
    return quotes(found | {"label": [""] * len(found["label"])})


def in_spacy_words(found: Content) -> Content:
    """Return all but tokens and sentences, which every text has in spaCy, and integers of more than 64 bits."""
    kept = {key: value for key, value in found.items() if key not in ("tokens", "sentences")}
    of_documents = found["meta of documents"] or [{} for _ in found["ids"]]
    narrow = [{key: value for key, value in (meta or {}).items() if _fits(value)} for meta in of_documents]
    return kept | {"meta of documents": narrow}


def _fits(value: Any) -> bool:
    return not isinstance(value, int) or -(2**63) <= value < 2**64


def in_text(found: Content) -> Content:
    """Return metadata as text, without links that say that there is none."""

    def text(meta: Any) -> dict[str, str]:
        return {key: value if isinstance(value, str) else json.dumps(value) for key, value in (meta or {}).items()}

    links = {span: tuple(link for link in given if link != "-") for span, given in found["spans' links"].items()}
    metas = [text(meta) for meta in found["meta of documents"] or ()]
    return found | {
        "spans' links": {span: given for span, given in links.items() if given},
        "spans' meta": {span: text(meta) for span, meta in found["spans' meta"].items()},
        "meta of documents": metas if any(metas) else None,
    }


OTHERWISE: dict[str, Callable[[Content], Content]] = {
    "brat": in_order_of_names,
    "cas": in_order_of_names,
    "conll": in_tokens,
    "datasets": in_tokens,
    "bc2gm": untyped,
    "docbin": in_spacy_words,
    "bioc": in_text,
}
"""Formats that keep less than texts and offsets, and in what form both sides are equal."""


def _rows(found: Content) -> list[tuple[Any, ...]]:
    names = [found["ids"][doc] for doc in found["doc"]]
    extras = [found.get(key, {}) for key in ("spans' links", "spans' fragments")]
    places = zip(names, found["start"], found["end"], found["label"], strict=True)
    return [(*place, *(repr(extra.get(span)) for extra in extras)) for span, place in enumerate(places)]


def held(layer: Layer, format: str) -> Content:
    """Return of a layer what a format holds."""
    found, holds = content(layer), writers()[format].HOLDS
    keys = [*ALWAYS, *(name for what, name in PLACES.items() if what in holds)]
    keys += [
        f"spans' {what}" for what in ("fragments", "links", "cores", "alternatives", "scores", "meta") if what in holds
    ]
    return OTHERWISE.get(format, dict)({key: found[key] for key in keys})


@pytest.mark.parametrize("format", writers())
def test_what_a_format_holds_is_read_back(format: str) -> None:
    names = texts(min_size=1) | words()

    @settings(max_examples=20, deadline=None)
    @given(layer_strategies.layers(names=names, labels=names) | layer_strategies.layers(names=words()), st.booleans())
    def check(layer: Layer, lossy: bool) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder, "out")
            try:
                write(layer, path, format=format, lossy=lossy)
            except FormatError as error:
                assert not list(Path(folder).iterdir())
                assert all(problem.found and problem.remedy and problem.source for problem in error.problems)
                return
            kept = fitted(layer, losses(layer, writers()[format]))
            assert lossy or kept is layer
            # There is nothing to read in a file without a token.
            if not any(WORD.search(text) for text in layer.documents.texts):
                return
            options = ReadOptions(scheme="IOB2")
            source = Source.of_path(path)
            names = layers(source, format=format)
            assert len(names) <= 1
            reading = read(source, format=format, options=options)
        assert held(reading.layer, format) == held(kept, format)

    check()
