"""UIMA CAS for INCEpTION and others: XMI with its TypeSystem.xml, or JSON (0.4.0), a CAS a document.

A folder, or a zip where the name ends so, has a `.xmi` for each document and one `TypeSystem.xml`. A single document is
one XMI where the name ends in `.xmi`, without its type system, and one JSON file, which brings it, where it ends in
`.json`. XMI is XML 1.0, or 1.1 where there are control characters, which 1.0 cannot write.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nereval_core.corpus import Intervals, Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.cas import LINK, OFFSETS, READER, VALUE
from nereval_core.readers.cas.content import ENTITY, METADATA, SENTENCE, STRING, TOKEN, VIEW
from nereval_core.readers.cas.files import SOFA, STRUCTURES, TYPES, VIEWS
from nereval_core.readers.input.compression import unpacked_name
from nereval_core.readers.shared.offset_units import offsets_in_unit
from nereval_core.writers import ZIP_TIME, packed_file, whole_file, whole_folder
from nereval_core.writers.document_spans import spans_with_offsets
from nereval_core.writers.writer import Writer

XMI, JSON, ZIP = ".xmi", ".json", ".zip"
SYSTEM = "TypeSystem.xml"
NAME_BYTES = 150
ANNOTATION = "uima.tcas.Annotation"
DECLARED = {
    # type: its supertype and its features
    ENTITY: (ANNOTATION, (VALUE, LINK)),
    TOKEN: (ANNOTATION, ()),
    SENTENCE: (ANNOTATION, ()),
    METADATA: ("uima.tcas.DocumentAnnotation", ("documentTitle", "documentId", "documentUri")),
}
"""The types and features of DKPro Core that are written."""
NO_XML = re.compile("[\0\ufffe\uffff]")
"""Characters that neither version of XML can write."""
CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f]")
ESCAPED = re.compile('[\x01-\x1f"&<>\x7f-\x9f\u2028]')
"""Characters written as references in attributes: markup, line ends and white space, also those of XML 1.1."""
UNSAFE = re.compile(r"[^\w.-]+")


class Annotation(NamedTuple):
    """An annotation: its id, type, start and end in UTF-16 units, and features."""

    id: int
    kind: str
    begin: int
    end: int
    features: dict[str, str]


class CasWriter(Writer):
    """A folder, a zip or a single file, by the suffix; offsets are UTF-16 units.

    The id of a document stands in its DocumentMetaData; its file has the id as its name, as far as file names allow.
    """

    name, description = READER.name, READER.description
    holds = frozenset(("links", "tokens", "sentences"))

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        suffix = Path(unpacked_name(path.name)).suffix.lower()
        count = len(layer.documents)
        if suffix in (XMI, JSON) and count != 1:
            finding = f"{count} documents, and a CAS holds one"
            raise FormatError.single(os.fspath(path), None, finding, f"name a folder, or a zip that ends in {ZIP}")
        problems = [] if suffix == JSON else list(_no_xml(layer, path))
        if problems:
            raise FormatError(problems)
        if suffix in (XMI, JSON):
            with packed_file(path) as file:
                file.write((_xmi if suffix == XMI else _json)(layer, 0).encode())
            return ()
        if suffix == ZIP:
            with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, content in _files(layer):
                    entry = zipfile.ZipInfo(name, ZIP_TIME)
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    entry.external_attr = 0o644 << 16
                    archive.writestr(entry, content)
            return ()
        with whole_folder(path) as folder:
            for name, content in _files(layer):
                (folder / name).write_bytes(content.encode())
        return ()


def _files(layer: Layer) -> Iterator[tuple[str, str]]:
    """Yield names and contents of the files: the documents, and the type system that they share."""
    names: set[str] = {SYSTEM.lower()}
    for number, id in enumerate(layer.documents.ids):
        base = UNSAFE.sub("_", id).strip("._").encode()[:NAME_BYTES].decode(errors="ignore") or str(number + 1)
        name = f"{base}{XMI}" if f"{base}{XMI}".lower() not in names else f"{base}-{number + 1}{XMI}"
        names.add(name.lower())
        yield name, _xmi(layer, number)
    yield SYSTEM, _system()


def _no_xml(layer: Layer, path: Path) -> Iterator[Problem]:
    """Yield problems of documents, types and links with characters that XML cannot write."""
    documents = layer.documents
    texts = [("document", id, id + text) for id, text in zip(documents.ids, documents.texts, strict=True)]
    texts += [("type", layer.types[code], layer.types[code]) for code in sorted(set(layer.type.tolist()))]
    texts += [("link", link, link) for link in sorted({links[0] for links in layer.links.values()})]
    for what, name, text in texts:
        match = NO_XML.search(text)
        if match:
            finding = f"the {what} {quoted(name)} holds U+{ord(match[0]):04X}, which no XML can write"
            yield Problem(
                os.fspath(path), None, finding, f"take it out, or write one document as {JSON} or all as jsonl"
            )


def _annotations(layer: Layer, number: int) -> Iterator[Annotation]:
    """Yield the annotations of a CAS; their ids begin at 2."""
    documents = layer.documents
    id, text = documents.ids[number], documents.texts[number]
    unit_offsets = offsets_in_unit(text, OFFSETS.unit)
    end = len(text) if unit_offsets is None else int(unit_offsets[-1])

    def units(intervals: Intervals | None) -> Iterator[tuple[int, int]]:
        for low, high in () if intervals is None else intervals.of_document(number):
            yield (low, high) if unit_offsets is None else (int(unit_offsets[low]), int(unit_offsets[high]))

    annotations: list[tuple[str, tuple[int, int], dict[str, str]]] = []
    annotations.append((METADATA, (0, end), {"documentTitle": id, "documentId": id, "documentUri": id}))
    annotations += [(TOKEN, place, {}) for place in units(documents.tokens)]
    annotations += [(SENTENCE, place, {}) for place in units(documents.sentences)]
    for span, low, high in spans_with_offsets(layer, number, OFFSETS.unit):
        linked = {LINK: layer.links[span][0]} if span in layer.links else {}
        annotations.append((ENTITY, (low, high), {VALUE: layer.label(span), **linked}))
    for at, (kind, place, features) in enumerate(annotations, start=2):
        yield Annotation(at, kind, *place, features)


def _sofa(text: str) -> dict[str, str | int]:
    return {"sofaNum": 1, "sofaID": VIEW, "mimeType": "text", "sofaString": text}


def _xmi(layer: Layer, number: int) -> str:
    spaces = {"uima.cas": "cas"} | {kind.rpartition(".")[0]: f"ns{at}" for at, kind in enumerate(DECLARED)}
    rows: list[tuple[str, dict[str, str | int]]] = [("cas:NULL", {"xmi:id": 0})]
    members = []
    for annotation in _annotations(layer, number):
        package, _, local = annotation.kind.rpartition(".")
        place = {"xmi:id": annotation.id, "sofa": 1, "begin": annotation.begin, "end": annotation.end}
        rows.append((f"{spaces[package]}:{local}", {**place, **annotation.features}))
        members.append(str(annotation.id))
    rows.append(("cas:Sofa", {"xmi:id": 1, **_sofa(layer.documents.texts[number])}))
    rows.append(("cas:View", {"sofa": 1, "members": " ".join(members)}))
    spaced = "".join(f' xmlns:{prefix}="http:///{name.replace(".", "/")}.ecore"' for name, prefix in spaces.items())
    lines = [f'<xmi:XMI xmlns:xmi="http://www.omg.org/XMI"{spaced} xmi:version="2.0">']
    for name, attributes in rows:
        lines.append(f"<{name}" + "".join(f' {key}="{_escaped(value)}"' for key, value in attributes.items()) + "/>")
    body = "\n".join(lines)
    # Every reference below 32 but those of white space needs XML 1.1.
    version = "1.1" if any(CONTROL.search(str(value)) for _, row in rows for value in row.values()) else "1.0"
    return f'<?xml version="{version}" encoding="UTF-8"?>\n{body}\n</xmi:XMI>\n'


def _escaped(value: str | int) -> str:
    return ESCAPED.sub(lambda match: f"&#{ord(match[0])};", str(value))


def _system() -> str:
    """Return the description of the types that are written, as UIMA's tools import it."""
    rows = []
    for name, (parent, features) in DECLARED.items():
        own = "".join(
            f"<featureDescription><name>{feature}</name><description/><rangeTypeName>{STRING}</rangeTypeName>"
            "</featureDescription>"
            for feature in features
        )
        rows.append(
            f"<typeDescription><name>{name}</name><description/><supertypeName>{parent}</supertypeName>"
            f"<features>{own}</features></typeDescription>\n"
        )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier">\n<types>\n'
        f"{''.join(rows)}</types>\n</typeSystemDescription>\n"
    )


def _json(layer: Layer, number: int) -> str:
    types = {
        name: {
            "%NAME": name,
            "%SUPER_TYPE": parent,
            **{feature: {"%NAME": feature, "%RANGE": STRING} for feature in features},
        }
        for name, (parent, features) in DECLARED.items()
    }
    rows: list[dict[str, Any]] = [{"%ID": 1, "%TYPE": SOFA, **_sofa(layer.documents.texts[number])}]
    for annotation in _annotations(layer, number):
        place = {"@sofa": 1, "begin": annotation.begin, "end": annotation.end}
        rows.append({"%ID": annotation.id, "%TYPE": annotation.kind, **place, **annotation.features})
    members = [row["%ID"] for row in rows[1:]]
    cas = {TYPES: types, STRUCTURES: rows, VIEWS: {VIEW: {"%SOFA": 1, "%MEMBERS": members}}}
    return json.dumps(cas, ensure_ascii=False) + "\n"


WRITERS = (CasWriter(),)
