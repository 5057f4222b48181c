"""Parquet, for large corpora: the spans in one file, a row each, their texts in one beside it; lossless.

`NAME.spans.parquet` has one row a span: document, start, end (code points, end exclusive) and type, and where known id,
links (list of strings), fragments and alternatives (lists of structs of start and end), core (such a struct), score and
meta (a JSON object as a string). `NAME.texts.parquet` has one row a document: document, text, and where known tokens
and sentences (lists of structs of start and end) and meta. A folder holds any number of such pairs; the spans of a
document stand in the file beside its text. What some row has no value for is null there. Rows count from 1.

Spans without texts are scored against gold that has them; a document of gold without a row is one without spans.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from nereval_core.corpus import Documents, Intervals, Labels, Layer, Place, document_problems, frozen, layer
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.texts import Texts
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.parquet import columns
from nereval_core.readers.parquet.columns import INTEGER, MAGIC, NUMBER, PAIR, PAIRS, STRING, STRINGS
from nereval_core.readers.shared.layer_parts import rowless_note

if TYPE_CHECKING:
    import pyarrow as pa


SUFFIX = ".parquet"
SPANS = ".spans.parquet"
TEXTS = ".texts.parquet"

SPAN_COLUMNS = {
    "document": STRING,
    "start": INTEGER,
    "end": INTEGER,
    "type": STRING,
    "id": STRING,
    "links": STRINGS,
    "fragments": PAIRS,
    "core": PAIR,
    "alternatives": PAIRS,
    "score": NUMBER,
    "meta": STRING,
}
SPAN_REQUIRED = ("document", "start", "end", "type")
TEXT_COLUMNS = {"document": STRING, "text": STRING, "tokens": PAIRS, "sentences": PAIRS, "meta": STRING}
TEXT_REQUIRED = ("document", "text")
EXTRAS = {
    "fragments": "fragments",
    "id": "ids",
    "links": "links",
    "core": "cores",
    "alternatives": "alternatives",
    "score": "scores",
    "meta": "meta",
}
"""Columns of what only some spans have, and what a layer calls it."""


class ParquetReader(Reader):
    name = "parquet"
    description = "Parquet spans and texts, a pair of files or a folder of pairs: for large corpora, lossless"
    suffixes = (SUFFIX,)

    def recognise(self, source: Source) -> float:
        """Claim a file that begins as Parquet does and is named as these are, or stands alone."""
        files = source.pick(SUFFIX)
        if not source.head_of(files[0]).raw.startswith(MAGIC):
            return 0.0
        if any(file.name.endswith((SPANS, TEXTS)) for file in files):
            return 1.0
        return 0.9 if len(source.files) == 1 else 0.5

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read all pairs of files in the order of their names; spans without texts take those of `options.texts`.

        Raises:
            FormatError: with every problem found: damaged files, columns, rows without a value, offsets, documents that
                stand in no file of texts, or in another one.
        """
        import pyarrow as pa

        pairs = _pairs(source)
        texts = _Texts()
        if any(pair.texts for pair in pairs):
            for pair in pairs:
                texts.read(pair)
            documents = texts.documents()
            texts.problems += document_problems(documents, texts.places.__getitem__)
        elif options.texts is not None:
            documents = options.texts
            texts.homes = dict.fromkeys((pair.name for pair in pairs), (0, pa.array(documents.ids, pa.string())))
        else:
            remedy = "put the file of texts beside it, named alike, or score it against gold that has the texts"
            raise FormatError(Problem(pair.spans.shown, None, "no texts", remedy) for pair in pairs if pair.spans)
        spans = _Spans(documents, texts)
        for number, pair in enumerate(pairs):
            if pair.spans:
                spans.read(pair.spans, texts.homes.get(pair.name))
            if options.progress:
                options.progress(number + 1, len(pairs))
        checked = spans.layer(options.name or source.label)
        notes = unread_files_note(source, [file for pair in pairs for file in (pair.spans, pair.texts) if file])
        if documents is options.texts:
            notes = rowless_note(documents, np.flatnonzero(np.diff(checked.first) == 0).tolist()) + notes
        return Reading(documents, checked, self.name, tuple(notes), places=tuple(texts.places))


READER = ParquetReader()


@dataclass(frozen=True, slots=True)
class _Pair:
    name: str
    spans: SourceFile | None
    texts: SourceFile | None


def _pairs(source: Source) -> list[_Pair]:
    """Return the files that belong together in the order of their names; files named otherwise hold spans."""
    files = source.pick(SUFFIX)
    spans, texts = (
        {file.name.removesuffix(ending): file for file in files if file.name.endswith(ending)}
        for ending in (SPANS, TEXTS)
    )
    if not spans and not texts:
        return [_Pair(file.name, file, None) for file in files]
    return [_Pair(name, spans.get(name), texts.get(name)) for name in sorted({*spans, *texts})]


@dataclass
class _Texts:
    """The documents read so far, and by the name of a pair the first of its own and the ids of these."""

    problems: ProblemList = field(default_factory=ProblemList)
    ids: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    homes: dict[str, tuple[int, pa.Array]] = field(default_factory=dict)
    texts: list[Texts] = field(default_factory=list)
    beside: dict[str, list[Intervals]] = field(default_factory=lambda: {"tokens": [], "sentences": []})
    meta: dict[int, Mapping[str, Any]] = field(default_factory=dict)

    def read(self, pair: _Pair) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        file = pair.texts
        if file is None or pair.spans is None:
            lacking, other = (SPANS, file) if file else (TEXTS, pair.spans)
            assert other is not None
            finding, remedy = f"the file {quoted(pair.name + lacking)} is missing", "put it beside this one"
            self.problems.append(Problem(other.shown, None, finding, remedy))
        if file is None:
            return
        complain = partial(_complain, self.problems, file)
        table = columns.table(file, TEXT_COLUMNS, TEXT_REQUIRED, (), complain)
        if table is None:
            return
        for row in np.flatnonzero(~columns.present(table["text"])).tolist():
            complain(row, "a document without a text", "give it in every row")
        base = len(self.ids)
        # Missing ids are reported with the other problems of documents.
        names = pc.fill_null(table["document"].cast(pa.string()), "").combine_chunks()
        self.ids += names.to_pylist()
        self.homes[pair.name] = (base, names)
        self.places += zip(repeat(file.shown, len(table)), range(1, len(table) + 1), strict=True)
        self.texts.append(columns.texts(table["text"]))
        for key, pieces in self.beside.items():
            if key in table.column_names:
                pieces.append(columns.intervals(table[key], key, complain))
            else:
                none = np.zeros(0, np.int32)
                pieces.append(Intervals(np.zeros(len(table) + 1, np.int64), none, none))
        if "meta" in table.column_names:
            objects = columns.meta(columns.values(table["meta"], STRING, "meta", complain), complain)
            self.meta |= {base + row: value for row, value in objects.items()}

    def documents(self) -> Documents:
        meta = tuple(self.meta.get(number, {}) for number in range(len(self.ids))) if self.meta else None
        return Documents(
            tuple(self.ids),
            columns.join_texts(self.texts),
            _joined(self.beside["tokens"]),
            _joined(self.beside["sentences"]),
            meta,
        )


def _joined(pieces: list[Intervals]) -> Intervals | None:
    """Return the intervals of all documents, None where there are none."""
    if not any(len(piece.starts) for piece in pieces):
        return None
    if len(pieces) == 1:
        return pieces[0]
    sizes = np.concatenate([np.diff(piece.first) for piece in pieces])
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    starts, ends = (np.concatenate([getattr(piece, key) for piece in pieces]) for key in ("starts", "ends"))
    return Intervals(frozen(first), frozen(starts), frozen(ends))


@dataclass
class _Spans:
    """The spans read so far: of each file its name, the rows taken and the columns."""

    documents: Documents
    texts: _Texts
    files: list[SourceFile] = field(default_factory=list)
    edges: list[int] = field(default_factory=lambda: [0])
    rows: list[Int64] = field(default_factory=list)
    doc: list[Int64] = field(default_factory=list)
    start: list[Int64] = field(default_factory=list)
    end: list[Int64] = field(default_factory=list)
    type: list[Int64] = field(default_factory=list)
    types: dict[str, int] = field(default_factory=dict)
    extras: dict[str, dict[int, Any]] = field(default_factory=lambda: {name: {} for name in EXTRAS.values()})

    @cached_property
    def owner(self) -> Int64:
        """The number of the file in which the spans of each document stand, -1 where they stand in none."""
        return np.full(len(self.documents), -1)

    def read(self, file: SourceFile, home: tuple[int, pa.Array] | None) -> None:
        """Read a file of spans; the documents it may speak of are those of `home`, None where these are not known."""
        complain = partial(_complain, self.texts.problems, file)
        table = columns.table(file, SPAN_COLUMNS, SPAN_REQUIRED, ("document", "type"), complain)
        if table is None:
            return
        is_complete = np.ones(len(table), np.bool_)
        for name in SPAN_REQUIRED:
            is_present = columns.present(table[name])
            is_complete &= is_present
            for row in np.flatnonzero(~is_present).tolist():
                complain(row, f"a span without {name}", "give it in every row")
        doc = self._documents(table, home, file)
        is_complete &= doc >= 0
        rows = np.flatnonzero(is_complete) if not is_complete.all() else np.arange(len(is_complete))
        base = self.edges[-1]
        self.files.append(file)
        self.rows.append(rows)
        self.edges.append(base + len(rows))
        for target, cells in (
            (self.doc, doc),
            (self.start, columns.integers(table["start"])),
            (self.end, columns.integers(table["end"])),
            (self.type, self._types(table)),
        ):
            target.append(cells if len(rows) == len(cells) else cells[rows])
        for name, key in EXTRAS.items():
            if name in table.column_names:
                values = columns.values(table[name], SPAN_COLUMNS[name], name, complain)
                if name == "meta":
                    values = columns.meta(values, complain)
                if len(rows) < len(is_complete):
                    number = dict(zip(rows.tolist(), range(len(rows)), strict=True))
                    values = {number[row]: value for row, value in values.items() if row in number}
                self.extras[key] |= {base + row: value for row, value in values.items()} if base else values

    def _documents(self, table: pa.Table, home: tuple[int, pa.Array] | None, file: SourceFile) -> Int64:
        """Return the document of each row, -1 where that is not known."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if home is None:
            return np.full(len(table), -1)
        base, own = home
        pieces = list(columns.codes(table["document"]))
        # Looked up at once: what is looked up in is hashed anew each time.
        names = pa.chunked_array([names for names, _ in pieces], pa.string())
        place = columns.integers(pc.fill_null(pc.index_in(names, value_set=own), -1 - base)) + base
        doc = np.full(len(table), -1)
        at = code = 0
        for names, codes in pieces:
            # No document stands last.
            number = np.append(place[code : code + len(names)], -1)
            doc[at : at + len(codes)] = number[codes]
            odd = np.flatnonzero((number[codes] < 0) & (codes >= 0))
            for which, first, count in zip(*np.unique(codes[odd], return_index=True, return_counts=True), strict=True):
                self._unknown(names[int(which)].as_py(), int(count), at + int(odd[first]), file)
            at, code = at + len(codes), code + len(names)
        self._owned(doc, file)
        return doc

    def _unknown(self, name: str, count: int, row: int, file: SourceFile) -> None:
        spans = "a span" if count == 1 else f"{count} spans"
        at = self.documents.index.get(name)
        if at is None:
            finding, remedy = (
                f"{spans} of document {quoted(name)}, which has no text",
                "add its text, or leave them out",
            )
        else:
            file_name, line = self.texts.places[at]
            finding = f"{spans} of document {quoted(name)}, whose text stands at {file_name}:{line}"
            remedy = "keep the spans of a document in the file beside its text"
        _complain(self.texts.problems, file, row, finding, remedy)

    def _owned(self, doc: Int64, file: SourceFile) -> None:
        """Complain of documents whose spans stand in another file already."""
        has_spans = np.zeros(len(self.documents) + 1, np.bool_)
        has_spans[doc] = True
        here = np.flatnonzero(has_spans[:-1])
        if (self.owner[here] >= 0).any():
            for number, row in zip(*np.unique(doc, return_index=True), strict=True):
                if number >= 0 and self.owner[number] >= 0:
                    other = self.files[self.owner[number]].shown
                    finding = f"document {quoted(self.documents.ids[number])}, whose spans stand in {other} already"
                    _complain(self.texts.problems, file, int(row), finding, "keep all spans of a document in one file")
        self.owner[here] = len(self.files)

    def _types(self, table: pa.Table) -> Int64:
        """Return the code of each row's type, counted over all files."""
        pieces = [np.zeros(0, np.int64)]
        for names, codes in columns.codes(table["type"]):
            number = [self.types.setdefault(name, len(self.types)) for name in names.to_pylist()]
            pieces.append(np.array([*number, -1], np.int64)[codes])
        return np.concatenate(pieces)

    def layer(self, name: str) -> Layer:
        def where(span: int) -> Place:
            at = int(np.searchsorted(self.edges, span, side="right")) - 1
            return self.files[at].shown, int(self.rows[at][span - self.edges[at]]) + 1

        doc, start, end, codes = (
            parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.int64), *parts])
            for parts in (self.doc, self.start, self.end, self.type)
        )
        labels = Labels(codes, tuple(self.types))
        problems = self.texts.problems
        return layer(name, self.documents, doc, start, end, labels, extras=self.extras, where=where, problems=problems)


def _complain(problems: list[Problem], file: SourceFile, row: int | None, finding: str, remedy: str) -> None:
    problems.append(Problem(file.shown, None if row is None else row + 1, finding, remedy))
