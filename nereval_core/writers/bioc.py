"""BioC, XML or by its name JSON: a passage a document, an annotation a span, all else in infons, which are strings."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.readers.bioc import LINK, READER, SCORE, TYPE, is_known_infon, ranked_key, read_infons
from nereval_core.readers.input.compression import unpacked_name
from nereval_core.writers import packed_file
from nereval_core.writers.document_spans import spans_with_offsets
from nereval_core.writers.writer import Writer

XML, JSON, LINES = ".xml", ".json", ".jsonl"
FRAMES: Mapping[str, tuple[str, str, str]] = {
    XML: (
        "<?xml version='1.0' encoding='UTF-8'?>\n"
        "<collection><source>nereval</source><date></date><key>nereval.key</key>\n",
        "\n",
        "\n</collection>\n",
    ),
    JSON: ('{"source": "nereval", "date": "", "key": "nereval.key", "infons": {}, "documents": [\n', ",\n", "\n]}\n"),
    LINES: ("", "\n", "\n"),
}
"""Text before, between and after documents: no date, so that the same data give the same bytes."""
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot write."""
RETURNS = {"\r": "&#13;"}
"""A carriage return as it stands would be read as a line end."""


class BiocWriter(Writer):
    """Documents of one passage each: XML, JSON by the name of the file, or one document a line in .jsonl.

    Offsets are code points. Spans without an id are numbered. XML cannot write every character.
    """

    name, description = READER.name, READER.description
    holds = frozenset(("ids", "links", "rankings", "scores", "meta", "fragments", "document_meta"))
    shard = XML

    def changed(self, layer: Layer) -> Iterator[str]:
        for what, metadata in (("span", layer.meta.values()), ("document", layer.documents.meta or ())):
            other = sum(any(not isinstance(value, str) for value in meta.values()) for meta in metadata)
            if other:
                yield f"metadata that is not text, written as text: {counted(other, what)}"
        links = sum(_links(layer, span) != metadata for span, metadata in layer.links.items())
        if links:
            yield f"links that cannot stand among concepts, left out: {counted(links, 'span')}"
        meta = sum(not _meta(layer, span).items() <= _infons(layer, span).items() for span in layer.meta)
        if meta:
            yield f"metadata under keys that say type, links or score, left out: {counted(meta, 'span')}"

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        suffix = Path(unpacked_name(path.name)).suffix.lower()
        documents = (_document(layer, number) for number in range(len(layer.documents)))
        pieces: Iterator[str]
        if suffix in (JSON, LINES):
            head, between, tail = FRAMES[suffix]
            pieces = (json.dumps(document, ensure_ascii=False, allow_nan=False) for document in documents)
        else:
            head, between, tail = FRAMES[XML]
            pieces = map(_xml, documents)
        problems: list[Problem] = []
        with packed_file(path) as file:
            file.write(head.encode())
            for number, piece in enumerate(pieces):
                if suffix not in (JSON, LINES) and (match := NOT_IN_XML.search(piece)):
                    name, code = quoted(layer.documents.ids[number]), f"U+{ord(match[0]):04X}"
                    finding = f"document {name} has a character that XML cannot hold, {code}"
                    problems.append(Problem(os.fspath(path), None, finding, "write JSON, to a name that ends in .json"))
                file.write(((between if number else "") + piece).encode())
            file.write(tail.encode())
            if problems:
                raise FormatError(problems)
        return ()


def _document(layer: Layer, number: int) -> dict[str, Any]:
    """Return a document in the form of BioC JSON."""
    documents = layer.documents
    text = documents.texts[number]
    spans = list(spans_with_offsets(layer, number))
    used = {layer.ids[span] for span, _, _ in spans if span in layer.ids}
    free = (name for name in map(str, count(1)) if name not in used)
    annotations = []
    for span, start, end in spans:
        parts = layer.fragments.get(span) or ((start, end),)
        annotations.append(
            {
                "id": layer.ids[span] if span in layer.ids else next(free),
                "infons": _infons(layer, span),
                "text": layer.text(span),
                "locations": [{"offset": low, "length": high - low} for low, high in parts],
            }
        )
    passage = {"offset": 0, "infons": {}, "text": text, "sentences": [], "annotations": annotations, "relations": []}
    meta = {} if documents.meta is None else documents.meta[number]
    infons = {key: _text(value) for key, value in meta.items()}
    return {"id": documents.ids[number], "infons": infons, "passages": [passage], "annotations": [], "relations": []}


def _infons(layer: Layer, span: int) -> dict[str, str]:
    """Return the infons of a span, without metadata that would be read as its type, links or score."""
    links, meta = _links(layer, span), _meta(layer, span)
    own = {TYPE: layer.label(span), **{ranked_key(LINK, rank): link for rank, link in enumerate(links, start=1)}}
    score = layer.scores.get(span)
    if score is not None:
        own[SCORE] = repr(float(score))
    if meta and read_infons({**meta, **own}, TYPE)[1:] != (links, score, meta):
        meta = {key: value for key, value in meta.items() if not is_known_infon(key)}
    return {**own, **meta}


def _links(layer: Layer, span: int) -> tuple[str, ...]:
    """Return the links of a span that BioC readers read as links."""
    return tuple(link for link in layer.links.get(span, ()) if read_infons({LINK: link}, TYPE)[1] == (link,))


def _meta(layer: Layer, span: int) -> dict[str, str]:
    return {key: _text(value) for key, value in layer.meta.get(span, {}).items()}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _xml(document: Mapping[str, Any]) -> str:
    """Return a document as BioC XML, without white space that could be read as text."""
    [passage] = document["passages"]
    rows = ["<document>" + _element("id", document["id"]) + _infon_elements(document["infons"])]
    rows.append("<passage><offset>0</offset>" + _element("text", passage["text"]))
    for annotation in passage["annotations"]:
        places = "".join(
            '<location offset="{offset}" length="{length}"/>'.format(**place) for place in annotation["locations"]
        )
        inside = _infon_elements(annotation["infons"]) + places + _element("text", annotation["text"])
        rows.append(f"<annotation id={quoteattr(annotation['id'])}>{inside}</annotation>")
    return "\n".join((*rows, "</passage>", "</document>"))


def _infon_elements(infons: Mapping[str, str]) -> str:
    return "".join(f"<infon key={quoteattr(key)}>{escape(value, RETURNS)}</infon>" for key, value in infons.items())


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(text, RETURNS)}</{name}>"


WRITERS = (BiocWriter(),)
