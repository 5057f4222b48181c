"""How fast every format is read, beside parsing its files alone: the parser others would use, and nothing after it.

One corpus, written by our writers, or here where there is none: documents of 82 words with ten spans each. All files
are in the page cache; what is parsed alone is read and parsed, not looked at. Where a format has a library of its own,
its loading is measured beside.
"""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pyarrow import parquet

from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.readers import ReadOptions, read
from nereval_core.writers import write
from tests.benchmarks import files
from tests.benchmarks.matching import compared
from tests.benchmarks.reading_documents import texts
from tests.benchmarks.scales import Scale

AIM = "<= 3"
RUNS = 5


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the ratio of times, and the aim."""
    documents = scale.of(4_000, 1_000, 5)
    layer = drawn(documents)
    with tempfile.TemporaryDirectory(prefix="nereval-benchmark-") as folder:
        for what, format, name, parse in PARSERS:
            path = made(layer, format, Path(folder, name))
            options = ReadOptions(scheme="IOB2") if format in ("conll", "datasets") else ReadOptions()
            ratio = compared(
                lambda: read(path, format=format, options=options),  # noqa: B023
                lambda: parse(path),  # noqa: B023
                scale.runs(RUNS),
            )
            yield f"{format}, {documents:,} documents: read() / {what}", ratio, AIM


def drawn(documents: int) -> Layer:
    """Draw a layer with tokens; its types are letters alone, which every format can say."""
    builder = Builder("drawn")
    for number, (text, spans) in enumerate(texts(documents)):
        at, tokens = 0, []
        for word in text.split(" "):
            tokens.append((at, at + len(word)))
            at += len(word) + 1
        builder.document(f"doc{number:06d}", text, tokens=tokens)
        for start, end, label in spans:
            builder.span(start, end, label)
    return builder.finish("drawn")


def made(layer: Layer, format: str, path: Path) -> Path:
    """Write a corpus in a format, by ourselves where we have no writer, and return where it stands."""
    path.parent.mkdir(exist_ok=True)
    if path.exists():
        return path
    if path.name in BY_HAND:
        BY_HAND[path.name](layer, path)
    else:
        write(layer, path, format=format, lossy=True)
    return path


def json_lines(path: Path) -> object:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def json_whole(path: Path) -> object:
    return json.loads(path.read_bytes())


def table(path: Path) -> object:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def cells(separator: str) -> Callable[[Path], object]:
    """Return a parser of a file, or of all in a folder, into lines and cells."""

    def parse(path: Path) -> object:
        places = [Path(entry.path) for entry in os.scandir(path)] if path.is_dir() else [path]
        return [[line.split(separator) for line in place.read_text("utf-8").split("\n")] for place in places]

    return parse


def columns(path: Path) -> object:
    """Return the columns as Python has them: what is read needs the words of each row."""
    return parquet.read_table(path).to_pydict()


def arrays(path: Path) -> object:
    return [parquet.read_table(place) for place in path.parent.glob("*.parquet")]


def trees(path: Path) -> object:
    """Return the XML of a file, or of all in a folder, as trees of elements."""
    return [ElementTree.parse(place) for place in (sorted(path.iterdir()) if path.is_dir() else [path])]


def by_bioc(path: Path) -> object:
    from bioc import biocxml

    with path.open(encoding="utf-8") as file:
        return biocxml.load(file)


def by_cassis(path: Path) -> object:
    from cassis import load_cas_from_xmi, load_typesystem

    types = load_typesystem(path / "TypeSystem.xml")
    return [load_cas_from_xmi(place, typesystem=types) for place in path.glob("*.xmi")]


def by_spacy(path: Path) -> object:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    return list(DocBin().from_disk(path).get_docs(Vocab()))


def _pipeline(layer: Layer, path: Path) -> None:
    ids, found = layer.documents.ids, []
    for number, text in enumerate(layer.documents.texts):
        spans = range(int(layer.first[number]), int(layer.first[number + 1]))
        entities = [
            {"start": int(layer.start[span]), "end": int(layer.end[span]), "text": layer.text(span)}
            | {"label": layer.label(span), "score": 0.5}
            for span in spans
        ]
        found.append(json.dumps({"id": ids[number], "text": text, "entities": entities}, ensure_ascii=False) + "\n")
    path.write_text("".join(found), encoding="utf-8")


def _bioc(layer: Layer, number: int) -> dict[str, Any]:
    spans = range(int(layer.first[number]), int(layer.first[number + 1]))
    annotations = [
        {
            "id": str(span),
            "infons": {"type": layer.label(span), "identifier": "D1"},
            "text": layer.text(span),
            "locations": [{"offset": int(layer.start[span]), "length": int(layer.end[span] - layer.start[span])}],
        }
        for span in spans
    ]
    passage = {"infons": {}, "offset": 0, "text": layer.documents.texts[number], "annotations": annotations}
    return {"id": layer.documents.ids[number], "infons": {}, "passages": [passage]}


def _bioc_json(layer: Layer, path: Path) -> None:
    documents = [_bioc(layer, number) for number in range(len(layer.documents))]
    path.write_text(json.dumps({"source": "", "documents": documents}, ensure_ascii=False), encoding="utf-8")


def _bioc_xml(layer: Layer, path: Path) -> None:
    collection = ElementTree.Element("collection")
    for number in range(len(layer.documents)):
        given = _bioc(layer, number)
        document = ElementTree.SubElement(collection, "document")
        ElementTree.SubElement(document, "id").text = given["id"]
        [passage] = given["passages"]
        inner = ElementTree.SubElement(document, "passage")
        ElementTree.SubElement(inner, "offset").text = "0"
        ElementTree.SubElement(inner, "text").text = passage["text"]
        for one in passage["annotations"]:
            annotation = ElementTree.SubElement(inner, "annotation", id=one["id"])
            for key, value in one["infons"].items():
                ElementTree.SubElement(annotation, "infon", key=key).text = value
            [place] = one["locations"]
            ElementTree.SubElement(annotation, "location", {key: str(value) for key, value in place.items()})
            ElementTree.SubElement(annotation, "text").text = one["text"]
    ElementTree.indent(collection)
    ElementTree.ElementTree(collection).write(path, encoding="utf-8", xml_declaration=True)


def _webanno(layer: Layer, path: Path) -> None:
    documents = layer.documents
    path.mkdir()
    assert documents.tokens is not None
    for number, (name, text) in enumerate(zip(documents.ids, documents.texts, strict=True)):
        spans = range(int(layer.first[number]), int(layer.first[number + 1]))
        labels = {int(layer.start[span]): layer.label(span) for span in spans}
        rows = [
            f"1-{at}\t{start}-{end}\t{text[start:end]}\t*\t{labels.get(start, '_')}\t\n"
            if start in labels
            else f"1-{at}\t{start}-{end}\t{text[start:end]}\t_\t_\t\n"
            for at, (start, end) in enumerate(documents.tokens.of_document(number), start=1)
        ]
        head = "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.NamedEntity|identifier|value\n\n\n"
        (path / f"{name}.tsv").write_text(f"{head}#Text={text}\n{''.join(rows)}\n", encoding="utf-8")


def _conllu(layer: Layer, path: Path) -> None:
    documents = layer.documents
    assert documents.tokens is not None
    parts = []
    for number, (name, text) in enumerate(zip(documents.ids, documents.texts, strict=True)):
        spans = range(int(layer.first[number]), int(layer.first[number + 1]))
        labels = {int(layer.start[span]): layer.label(span) for span in spans}
        parts.append(f"# newdoc id = {name}\n# sent_id = {name}-1\n# text = {text}\n")
        for at, (start, end) in enumerate(documents.tokens.of_document(number), start=1):
            misc = f"NE=B-{labels[start]}" if start in labels else "NE=O"
            parts.append(f"{at}\t{text[start:end]}\t_\tX\t_\t_\t0\troot\t_\t{misc}\n")
        parts.append("\n")
    path.write_text("".join(parts), encoding="utf-8")


def _hipe(layer: Layer, path: Path) -> None:
    files.hipe(path, len(layer) // files.BY_DOCUMENT * files.BY_DOCUMENT)


BY_HAND: dict[str, Callable[[Layer, Path], None]] = {
    "x.xml": _bioc_xml,
    "x.json": _bioc_json,
    "webanno": _webanno,
    "x.conllu": _conllu,
    "pipeline.jsonl": _pipeline,
    "hipe.tsv": _hipe,
}
"""Files that we do not write, by their names."""

PARSERS: tuple[tuple[str, str, str, Callable[[Path], object]], ...] = (
    # what parses alone, format, name of the file, parser
    ("json.loads of its lines", "jsonl", "x.jsonl", json_lines),
    ("json.loads of its lines", "doccano", "doccano.jsonl", json_lines),
    ("json.loads of its lines", "prodigy", "prodigy.jsonl", json_lines),
    ("json.loads of its lines", "pipeline", "pipeline.jsonl", json_lines),
    ("json.loads of its lines", "datasets", "datasets.jsonl", json_lines),
    ("json.loads", "labelstudio", "labelstudio.json", json_whole),
    ("csv.reader", "csv", "spans.csv", table),
    ("splitting lines and cells", "pubtator", "x.pubtator", cells("\t")),
    ("splitting lines and cells", "conll", "x.conll", cells("\t")),
    ("splitting lines and cells", "hipe", "hipe.tsv", cells("\t")),
    ("splitting lines and cells", "brat", "brat", cells("\t")),
    ("splitting lines and cells", "bc2gm", "bc2gm", cells("|")),
    ("splitting lines and cells", "webanno", "webanno", cells("\t")),
    ("splitting lines and cells", "conllu", "x.conllu", cells("\t")),
    ("json.loads", "bioc", "x.json", json_whole),
    ("ElementTree", "bioc", "x.xml", trees),
    ("bioc.load", "bioc", "x.xml", by_bioc),
    ("ElementTree", "cas", "cas", trees),
    ("cassis.load_cas_from_xmi", "cas", "cas", by_cassis),
    ("spaCy's get_docs", "docbin", "x.spacy", by_spacy),
    ("pyarrow's read_table, to_pydict", "datasets", "train.parquet", columns),
    ("pyarrow's read_table", "parquet", "pair/x.spans.parquet", arrays),
)
