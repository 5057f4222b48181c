"""Random layers for property tests: any text, nested, crossing, doubled and discontinuous spans, all they carry."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from nereval_core.corpus import SPAN_KEYS, Layer
from nereval_core.corpus.builder import Builder

HOSTILE = [
    "\ufeff",
    "\0",
    "\r\n",
    "\n",
    "\r",
    "\t",
    "\u2028",
    "\x85",
    "\x0c",
    "👩‍⚕️",
    "e\u0301",
    "שלום",
    "سلام",
    "|",
    "{",
    '"',
    "#",
    " ",
]
UNICODE = st.characters(exclude_categories=["Cs"])


def texts(*, min_size: int = 0) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(HOSTILE) | UNICODE, min_size=min_size, max_size=12).map("".join)


def words() -> st.SearchStrategy[str]:
    """Names without blanks, as types, ids and links are in most formats."""
    return st.text("abcXYZ09_-.é症", min_size=1, max_size=5)


@st.composite
def layers(
    draw: st.DrawFn,
    *,
    plain: bool = False,
    whole: bool = False,
    names: st.SearchStrategy[str] | None = None,
    labels: st.SearchStrategy[str] | None = None,
) -> Layer:
    """Draw a layer; a plain one has no more than boundaries, fragments, types, ids and links.

    A whole one has no fragments. `names` are those of documents, `labels` those of types.
    """
    builder = Builder("drawn")
    ids = draw(st.lists(texts(min_size=1) if names is None else names, max_size=4, unique=True))
    for name in ids:
        text = draw(texts())
        meta = None if plain else draw(st.none() | st.dictionaries(texts(), st.integers() | texts(), max_size=2))
        tokens = () if plain else pieces_of(draw, len(text))
        sentences = () if plain else pieces_of(draw, len(text))
        builder.document(name, text, meta=meta, tokens=tokens, sentences=sentences)
        for number in range(draw(st.integers(0, 5)) if text else 0):
            span = _span(draw, len(text), number, plain=plain)
            if whole:
                span["fragments"] = ()
            if labels is not None:
                span["label"] = draw(labels)
            builder.span(**span)
            if draw(st.booleans()):
                builder.span(span["start"], span["end"], span["label"], id=f"T{number}00")
    return builder.finish("drawn")


def _span(draw: st.DrawFn, length: int, number: int, *, plain: bool) -> dict[str, Any]:
    parts = pieces_of(draw, length, min_size=1)
    start, end = parts[0][0], parts[-1][1]
    span: dict[str, Any] = {"start": start, "end": end, "label": draw(words()), "fragments": tuple(parts)}
    span["id"] = f"T{number + 1}"
    span["links"] = tuple(draw(st.lists(words() | words().map("db:{}".format), max_size=2)))
    if not plain:
        inside = draw(st.integers(start, end - 1))
        span["core"] = draw(st.none() | st.just((inside, end)))
        span["alternatives"] = tuple(draw(st.lists(st.just((inside, length)), max_size=2)))
        span["score"] = draw(st.none() | st.floats(-1, 1))
        span["meta"] = draw(st.none() | st.dictionaries(texts(), st.booleans() | st.none(), max_size=2))
        span["id"] = draw(st.none() | texts())
    return span


def pieces_of(draw: st.DrawFn, length: int, *, min_size: int = 0) -> list[tuple[int, int]]:
    """Draw sorted, disjoint intervals inside a text."""
    if length == 0:
        return []
    edges = sorted(draw(st.lists(st.integers(0, length), min_size=2 * min_size, max_size=6, unique=True)))
    if len(edges) < 2:
        return [(0, length)][:min_size]
    return [pair for number, pair in enumerate(pairwise(edges)) if number % 2 == 0]


def content(layer: Layer) -> dict[str, Any]:
    """Return everything a layer holds, but its name, as plain values that compare."""
    documents = layer.documents
    pieces = {
        key: None if value is None else [value.of_document(number) for number in range(len(documents))]
        for key, value in (("tokens", documents.tokens), ("sentences", documents.sentences))
    }
    return {
        "ids": documents.ids,
        "texts": documents.texts,
        **pieces,
        "meta of documents": documents.meta,
        "doc": layer.doc.tolist(),
        "start": layer.start.tolist(),
        "end": layer.end.tolist(),
        "label": [layer.label(span) for span in range(len(layer))],
        "order": list(range(len(layer))) if layer.order is None else layer.order.tolist(),
        **{f"spans' {key}": dict(getattr(layer, key)) for key in SPAN_KEYS},
    }
