"""What a reader is fed: files cut out of bytes, the options they are read with, and what to begin with.

An input is a byte that chooses a shape, a byte that chooses options, and the contents of the files, one after another
with BREAK between.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from nereval_core.corpus import SPAN_KEYS, Documents, Layer
from nereval_core.corpus.builder import Builder
from nereval_core.problems import ALIKE, SHOWN, FormatError, one_line, problem_groups
from nereval_core.readers import Reading, ReadOptions, Source, read, readers
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.writers import write, writers
from tests.fuzzing.packing import book_of_sheet, docbin_of_parts, parquet_of_rows, parts_of_docbin, project_of_cas
from tests.support import samples
from tests.support.samples import CAS_XMI, DKPRO, DOCBIN, SAMPLES
from tests.support.unread_annotations import unsaid_annotations
from tests.support.workbooks import rows_xml, words

BREAK = b"\n<<<>>>\n"

Pack = Callable[[bytes], bytes]
Files = dict[str, bytes]


@dataclass(frozen=True)
class Shape:
    """The names of files, the layer to read of them, and how bytes become what stands in such files."""

    files: tuple[str, ...]
    layer: str | None = None
    pack: Pack = bytes

    def cut(self, raw: bytes) -> Files:
        """Return the files of an input; those it has no bytes for are empty."""
        pieces = raw.split(BREAK, len(self.files) - 1)
        pieces += [b""] * (len(self.files) - len(pieces))
        return dict(zip(self.files, map(self.pack, pieces), strict=True))


TEXTS = [{"document": "d", "text": "Ann saw Bob", "tokens": [{"start": 0, "end": 3}], "meta": '{"n": 1}'}]
SPANS = [
    {"document": "d", "start": 0, "end": 3, "type": "PER", "id": "T1", "links": ["Q1"], "score": 0.5},
    {
        "document": "d",
        "start": 4,
        "end": 11,
        "type": "X",
        "fragments": [{"start": 4, "end": 7}, {"start": 8, "end": 11}],
    },
]
ROWS = [{"tokens": ["Ann", "saw"], "ner_tags": ["B-A", "O"], "id": "a"}, {"tokens": ["Bob"], "ner_tags": ["B-A"]}]
CUSTOM_XMI = CAS_XMI.replace(f"{DKPRO}/ner/type.ecore", "http:///webanno/custom.ecore").replace("value=", "kind=")
CUSTOM_TYPES = """<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types>
<typeDescription><name>webanno.custom.NamedEntity</name><supertypeName>uima.tcas.Annotation</supertypeName><features>
<featureDescription><name>kind</name><rangeTypeName>uima.cas.String</rangeTypeName></featureDescription>
</features></typeDescription></types></typeSystemDescription>
"""
SHEET = rows_xml(words("document", "start", "end", "label", "text"), words("d", "0", "3", "PER", "Ann"))
MADE: Mapping[str, tuple[tuple[Shape, tuple[bytes, ...]], ...]] = {
    "parquet": (
        (
            Shape(("x.spans.parquet", "x.texts.parquet"), pack=parquet_of_rows),
            (json.dumps(SPANS).encode(), json.dumps(TEXTS).encode()),
        ),
    ),
    "cas": (
        (Shape(("p.zip",), "ann", pack=project_of_cas), (CAS_XMI.encode(),)),
        (Shape(("d.xmi", "TypeSystem.xml")), (CUSTOM_XMI.encode(), CUSTOM_TYPES.encode())),
    ),
    "csv": ((Shape(("x.xlsx",), pack=book_of_sheet), (SHEET.encode(),)),),
    "datasets": ((Shape(("train.parquet",), pack=parquet_of_rows), (json.dumps(ROWS).encode(),)),),
    "docbin": ((Shape(("x.spacy",), pack=docbin_of_parts), (parts_of_docbin(DOCBIN),)),),
}
"""Shapes that no sample has, each with files to begin with, as they are before packing."""

OF_ROWS = ("parquet", "docbin")
"""Formats whose problems stand at rows or documents, which are no lines."""
GOLD = Documents(("d", "d1", "s1"), ("abc", "Ann met Bob.", "abcd efgh"))
OPTIONS = (
    # Most formats ask for nothing.
    *[ReadOptions()] * 4,
    ReadOptions(repair="conlleval", texts=GOLD),
    ReadOptions(repair="discard", column=2, scheme="BIOES"),
    ReadOptions(offsets=Offsets("UTF-16 units", 1), scheme="IOB1"),
    ReadOptions(offsets=Offsets("UTF-8 bytes", 0, True), core_type="A", texts=GOLD),
    ReadOptions(offsets=Offsets(), scheme="IO", column="ner_tags"),
    ReadOptions(columns={"document": 1, "start": 2, "end": 3, "type": 4, "quote": 5, "text": 6, "score": ""}),
)


@cache
def shapes(format: str) -> tuple[tuple[Shape, tuple[bytes, ...]], ...]:
    """Return the shapes of a format's inputs, each with files to begin with."""
    found = [
        (Shape(tuple(files), layer), tuple(map(samples.raw, files.values())))
        for form, files, layer in SAMPLES.values()
        if form == format
    ]
    found += [(Shape(tuple(files)), tuple(files.values())) for files in _written(format)]
    return (*found, *MADE.get(format, ()))


def seeds(format: str) -> Iterator[bytes]:
    """Yield inputs to begin with: every shape's files, with every choice of options."""
    for number, (_, contents) in enumerate(shapes(format)):
        for options in range(len(OPTIONS)):
            yield bytes((number, options)) + BREAK.join(contents)


def taken(format: str, raw: bytes) -> tuple[Files, ReadOptions]:
    """Return the files of an input and the options to read them with."""
    known = shapes(format)
    shape = known[raw[0] % len(known) if raw else 0][0]
    options = OPTIONS[raw[1] % len(OPTIONS) if len(raw) > 1 else 0]
    if not readers()[format].has_columns:
        options = replace(options, column=None)
    return shape.cut(raw[2:]), replace(options, layer=shape.layer)


def attempt(format: str, files: Files, options: ReadOptions, folder: Path | None = None) -> bool:
    """Read files in every way they are read, and say whether there was anything in them.

    Where a `folder` is given, what was read is written there, read again and removed.

    Raises:
        Exception: what a reader may not raise: anything but a FormatError, and one that points to no line of its file.
        AssertionError: what it may not return: spans outside their text, text that no encoding can write.
    """
    try:
        source = Source.of_uploads(files.items())
    except FormatError as error:
        check_problems(error)
        return False
    reader = readers()[format]
    assert 0 <= reader.recognise(source) <= 1
    names: tuple[str, ...] = ()
    try:
        if reader.has_layers:
            names = reader.layers(source, options)
            assert len(set(names)) == len(names), "two layers of one name"
    except FormatError as error:
        check_problems(error, {} if format in OF_ROWS else files)
    readings: list[Reading] = []
    for name in dict.fromkeys((options.layer, *names[:2])):
        if name is not None and not reader.has_layers:
            continue
        try:
            reading = read(source, format=format, options=replace(options, layer=name))
        except FormatError as error:
            check_problems(error, {} if format in OF_ROWS else files)
            continue
        check_layer(reading.layer)
        if folder is not None:
            check_written(reading.layer, folder / "again.jsonl")
        readings.append(reading)
    chosen = options.column is not None or options.columns is not None or options.scheme is not None
    if len(readings) == max(1, len(names)) and not chosen:
        check_nothing_unsaid(files, readings)
    return bool(readings)


def check_nothing_unsaid(files: Files, readings: Sequence[Reading]) -> None:
    """Check that every column and key that looks like annotations is read, or that a note names it.

    Raises:
        AssertionError: one is neither.
    """
    types = {kind for reading in readings for kind in reading.layer.types}
    notes = [note for reading in readings for note in reading.notes]
    for content in files.values():
        unsaid = unsaid_annotations(content, types, notes)
        assert not unsaid, f"annotations unread and unsaid: {unsaid}"


def check_problems(error: FormatError, files: Files | None = None) -> None:
    """Check that each problem says what was found and how to mend it, at a line of its file.

    Raises:
        AssertionError: one does not.
    """
    files = files or {}
    for problem in error.problems:
        assert problem.found.strip() and problem.remedy.strip(), "a problem says nothing"
        if problem.line is not None and problem.source in files and b"PAR1" not in files[problem.source]:
            # Tables may end rows in a carriage return alone.
            lines = len(re.findall(rb"\r\n?|\n", files[problem.source])) + 1
            assert 1 <= problem.line <= lines, "a problem at no line of its file"
    lines = error.lines()
    assert lines and all(line.isprintable() for line in lines), "a problem not to be printed"
    # Problems of one kind share a line where they are many, that of the first.
    groups = [group.problems for group in problem_groups(error.problems) if len(group.problems) > ALIKE]
    firsts = {problems[0] for problems in groups}
    others = {problem for problems in groups for problem in problems} - firsts
    told_problems = [(problem, problem in firsts) for problem in dict.fromkeys(error.problems) if problem not in others]
    for (problem, are_many), line in zip(told_problems[:SHOWN], lines, strict=False):
        assert line.endswith(f"; {one_line(problem.remedy)}"), "a line gives another remedy"
        finding = f": {one_line(problem.found)}{' (and ' if are_many else '; '}"
        assert finding in line, "a line says something else"


def check_layer(layer: Layer) -> None:
    """Check what a layer promises: spans and their parts inside the text and sorted, and text that can be written.

    Raises:
        AssertionError: it is broken.
        UnicodeEncodeError: text that no encoding can write.
    """
    texts = list(layer.documents.texts)
    for text in (*texts, *layer.documents.ids, *map(layer.label, range(len(layer)))):
        text.encode()
    assert len(set(layer.documents.ids)) == len(texts), "two documents of one id"
    assert list(layer.types) == sorted(set(layer.types)), "types that are not sorted"
    rows = list(zip(layer.doc.tolist(), layer.start.tolist(), layer.end.tolist(), layer.type.tolist(), strict=True))
    assert all(one <= other for one, other in pairwise(rows)), "spans that are not sorted"
    order = [] if layer.order is None else layer.order.tolist()
    assert len(set(order)) == len(order) and min(order, default=0) >= 0, "an order that is none"
    for span, (doc, start, end, _) in enumerate(rows):
        if layer.documents.sizes is None:
            size = len(texts[doc])
            if start == end == size and layer.meta.get(span, {}).get("placed") == "nowhere":
                continue
            assert 0 <= start < end <= size, "a span outside its text"
        parts = layer.fragments.get(span, ())
        edges = [edge for part in parts for edge in part]
        assert edges == sorted(edges) and (not edges or (edges[0], edges[-1]) == (start, end)), "wrong fragments"
        core = layer.cores.get(span, (start, end))
        assert start <= core[0] < core[1] <= end, "a core outside its span"
    for intervals in (layer.documents.tokens, layer.documents.sentences):
        for number, text in enumerate(texts if intervals is not None else ()):
            edges = [edge for pair in intervals.of_document(number) for edge in pair]  # type: ignore[union-attr]
            inside = not edges or 0 <= edges[0] <= edges[-1] <= len(text) or layer.documents.sizes is not None
            assert inside and edges == sorted(edges), "tokens or sentences outside the text"
    for extra in (layer.ids, layer.links, layer.scores, layer.meta):
        json.dumps(dict(extra), allow_nan=False, ensure_ascii=False).encode()
    assert layer.digest


def check_written(layer: Layer, path: Path) -> None:
    """Check that a layer is the same after it was written to a file of our own format, and read.

    Words without a place are refused by writers.

    Raises:
        AssertionError: it is not.
    """
    if layer.documents.sizes is not None:
        return
    layer = layer.take(np.flatnonzero(~layer.unplaced)) if layer.unplaced.any() else layer
    write(layer, path, format="jsonl")
    again = read(path, format="jsonl").layer
    path.unlink()
    assert again.digest == layer.digest, "another digest after it was written and read"
    for key in SPAN_KEYS:
        assert dict(getattr(again, key)) == dict(getattr(layer, key)), f"other {key} after it was written and read"


def _written(format: str) -> Iterator[Files]:
    """Yield what our writer makes of a layer that has much, as far as the format can say it."""
    if format not in writers():
        return
    for layer in _layers():
        with TemporaryDirectory() as folder:
            path = Path(folder, "out")
            try:
                write(layer, path, format=format, lossy=True)
            except FormatError:
                continue
            files = sorted(path.iterdir()) if path.is_dir() else [path]
            yield {file.name: file.read_bytes() for file in files if file.stat().st_size}


def _layers() -> Iterator[Layer]:
    full = Builder("full")
    full.document("d1", "Ann 😀 met\tBob", tokens=[(0, 3), (4, 5), (6, 9), (10, 13)], meta={"n": 1})
    full.span(0, 3, "PER", id="T1", links=("Q1", "NIL"), core=(0, 1), alternatives=((0, 5),), score=0.5)
    full.span(0, 13, "X", id="T2", fragments=((0, 3), (10, 13)), meta={"a": None})
    full.document("d2", "e\u0301 שלום")
    yield full.finish("full")
    plain = Builder("plain")
    plain.document("d1", "Ann met Bob", tokens=[(0, 3), (4, 7), (8, 11)])
    plain.span(0, 3, "PER")
    plain.span(4, 11, "PER")
    plain.document("d2", "Rome", tokens=[(0, 4)])
    plain.span(0, 4, "LOC")
    yield plain.finish("plain")
