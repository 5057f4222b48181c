"""Rows of the Hugging Face datasets library: `tokens` and `ner_tags`, in Parquet or JSON lines.

Tags are strings, or numbers of a list of labels, which stands in the metadata that the library writes into Parquet, or
in a file beside: `labels.txt` (one a line), `dataset_info.json` or a model's `config.json`. A row is a document, its
text the tokens with one blank between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from nereval_core.corpus import Documents, Intervals, Labels, Place, document_problems, layer
from nereval_core.errors import FormatError, Problem, quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.conll import REPAIR, TAG, settled
from nereval_core.readers.parquet_columns import MAGIC, opened
from nereval_core.readers.schemes import SCHEMES, Tags, decode, faults
from nereval_core.readers.source import SourceFile, left_out
from nereval_core.readers.strict_json import RefusedError, first_keys, items, kind, loads, named

NAME = "datasets"
COLUMNS = True
DESCRIPTION = "tokens and ner_tags of Hugging Face datasets, in Parquet or JSON lines"

SUFFIXES = (".parquet", ".jsonl", ".json")
METADATA = b"huggingface"
"""Under what key of Parquet's metadata the library keeps its own."""
TOKENS = ("tokens", "words")
TAGS = ("ner_tags", "ner", "tags", "labels", "ner_tags_fine")
BESIDE = ("labels.txt", "label_list.txt", "dataset_info.json", "dataset_infos.json", "config.json")
"""Files that may hold the list of labels, by how their names end."""


@dataclass(frozen=True)
class Row:
    """A row as it stands: the list of labels is that of its file, None where it has none."""

    place: Place
    name: str | None
    tokens: Any
    tags: Any
    labels: Sequence[str] | None


def recognise(source: Source) -> float:
    """Be sure of rows with tokens and tags."""
    keys = _columns(source.pick(*SUFFIXES)[0]) or first_keys(source, *SUFFIXES)
    return 1.0 if keys & set(TOKENS) and keys & set(TAGS) and "text" not in keys else 0.0


def read(source: Source, options: ReadOptions) -> Reading:
    """Read a document a row; `options.column` names the tags' column.

    Raises:
        FormatError: with every problem found: rows, labels, tags, sequences that break the scheme.
    """
    files = _files(source)
    problems: list[Problem] = []
    beside = [file for file in source.files if file.name.endswith(BESIDE)]
    rows = [row for file in files for row in _rows(file, options, beside, problems)]
    written = [_tags(row, problems) for row in rows]
    if problems:
        raise FormatError(problems)
    first = [0, *accumulate(map(len, written))]
    places = tuple(row.place for row in rows)
    row_of = np.repeat(np.arange(len(rows)), [len(tags) for tags in written])

    def place(token: int) -> Place:
        return places[row_of[token]]

    flat = [tag for tags in written for tag in tags]
    tags = Tags.of(flat, first)
    scheme, notes = settled(tags, place, options)
    problems += [Problem(*place(token), f"{quoted(flat[token])} is no tag", TAG) for token in tags.odd]
    if scheme and not options.repair and not tags.odd:
        problems += [Problem(*place(token), said, REPAIR) for token, said in faults(tags, scheme)]
    documents = _documents(rows)
    problems += document_problems(documents, places.__getitem__)
    if problems:
        raise FormatError(problems)
    chunks = decode(tags, scheme or SCHEMES["IOB2"], options.repair)
    assert documents.tokens is not None
    made = layer(
        options.name or source.label,
        documents,
        row_of[chunks.start],
        documents.tokens.starts[chunks.start],
        documents.tokens.ends[chunks.end - 1],
        Labels(chunks.type, tags.names),
        where=lambda span: place(int(chunks.start[span])),
    )
    mended = ""
    if chunks.mended:
        done = "cut as conlleval does" if options.repair == "conlleval" else "discarded"
        mended = f"{chunks.mended} malformed chunk{'s' * (chunks.mended > 1)} {done}"
        notes.append(mended)
    notes += left_out(source, [*files, *beside])
    name = scheme.name if scheme else None
    return Reading(documents, made, NAME, tuple(notes), scheme=name, places=places, mended=mended)


def _files(source: Source) -> tuple[SourceFile, ...]:
    files = tuple(file for file in source.pick(*SUFFIXES) if not file.name.endswith(BESIDE))
    return files or source.pick(*SUFFIXES)


def _documents(rows: Sequence[Row]) -> Documents:
    names = [row.name for row in rows]
    ids = tuple(str(at) if name is None else name for at, name in enumerate(names, start=1))
    sizes = [np.fromiter(map(len, row.tokens), np.int64, len(row.tokens)) for row in rows]
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum([len(row.tokens) for row in rows], dtype=np.int64)))
    ends = [np.cumsum(size + 1) - 1 for size in sizes]
    starts = [end - size for end, size in zip(ends, sizes, strict=True)]
    flat = [np.concatenate([np.zeros(0, np.int64), *side]).astype(np.int32) for side in (starts, ends)]
    texts = tuple(" ".join(row.tokens) for row in rows)
    return Documents(ids, texts, Intervals(first, *flat), named=any(name is not None for name in names))


def _rows(
    file: SourceFile, options: ReadOptions, beside: Sequence[SourceFile], problems: list[Problem]
) -> Iterator[Row]:
    """Yield the rows of a file; what is no row goes to the problems."""
    columns = _columns(file)
    wanted = TAGS if options.column is None else (str(options.column),)
    if columns is not None:
        yield from _parquet_rows(file, columns, wanted, beside, problems)
        return
    labels = _labels_beside(beside, wanted)
    for line, row in items(file, problems):
        keys = row.keys() if isinstance(row, dict) else set()
        words, tags = (next((key for key in known if key in keys), None) for known in (TOKENS, wanted))
        if words is None or tags is None:
            found = f"no {'tokens' if words is None else ' or '.join(wanted)}" if keys else f"{kind(row)}"
            problems.append(Problem(file.shown, line, f"{found} in a row", "write objects with tokens and ner_tags"))
        else:
            yield Row((file.shown, line), named(row.get("id")), row[words], row[tags], labels)


def _parquet_rows(
    file: SourceFile,
    columns: frozenset[str],
    wanted: Sequence[str],
    beside: Sequence[SourceFile],
    problems: list[Problem],
) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    words, tags = (next((key for key in known if key in columns), None) for known in (TOKENS, wanted))
    if words is None or tags is None:
        remedy = "name the tags' column by --column" if words else "give a column of tokens"
        found = f"no column {' or '.join(TOKENS if words is None else wanted)} among {', '.join(sorted(columns))}"
        problems.append(Problem(file.shown, None, found, remedy))
        return
    try:
        table = pq.ParquetFile(opened(file)).read([one for one in ("id", words, tags) if one in columns])
        table.validate(full=True)
        kept = table.to_pydict()
    except (pa.ArrowException, OSError, ValueError, NotImplementedError) as error:
        problems.append(Problem(file.shown, None, f"damaged: {error}", "export it again"))
        return
    own = _labels_of(_json((table.schema.metadata or {}).get(METADATA, b"")), (tags,))
    labels = own or _labels_beside(beside, (tags,))
    names = kept.get("id", [None] * len(table))
    for at, (name, tokens, given) in enumerate(zip(names, kept[words], kept[tags], strict=True), start=1):
        yield Row((file.shown, at), named(name), tokens, given, labels)


def _columns(file: SourceFile) -> frozenset[str] | None:
    """Return the columns of a Parquet file, None where it is none that can be read."""
    if file.load(len(MAGIC)) != MAGIC:
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return frozenset(pq.read_schema(opened(file)).names)
    except (pa.ArrowException, OSError, ValueError, NotImplementedError):
        return frozenset()


def _labels_beside(files: Sequence[SourceFile], columns: Sequence[str]) -> Sequence[str] | None:
    for file in files:
        if file.name.endswith(".txt"):
            return [line for line in file.lines() if line]
        labels = _labels_of(_json(file.read()), columns)
        if labels:
            return labels
    return None


def _json(raw: bytes) -> Any:
    try:
        return loads(raw.decode())
    except (UnicodeDecodeError, RefusedError):
        return None


def _labels_of(found: Any, columns: Sequence[str]) -> list[str] | None:
    """Return the labels of a column from a description of features, or those of a model."""
    if not isinstance(found, dict):
        return None
    if isinstance(found.get("id2label"), dict):
        return _in_order(found["id2label"])
    features = found.get("features")
    if isinstance(features, dict):
        known = [names for column in columns if (names := _names(features.get(column)))]
        return known[0] if known else None
    return next((labels for inner in found.values() if (labels := _labels_of(inner, columns))), None)


def _names(feature: Any) -> list[str] | None:
    """Return the names of a class label, wherever it stands in a feature."""
    inner = feature if isinstance(feature, list) else list(feature.values()) if isinstance(feature, dict) else []
    if isinstance(feature, dict) and "names" in feature:
        return _in_order(feature["names"])
    return next((names for one in inner if (names := _names(one))), None)


def _in_order(names: Any) -> list[str] | None:
    if isinstance(names, dict) and all(isinstance(key, str) and key.isdecimal() for key in names):
        names = [names[key] for key in sorted(names, key=int)]
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def _tags(row: Row, problems: list[Problem]) -> list[str]:
    """Return the tags of a row as strings; what is wrong with it goes to the problems."""

    def complain(found: str, remedy: str) -> list[str]:
        problems.append(Problem(*row.place, found, remedy))
        return []

    tokens, tags, labels = row.tokens, row.tags, row.labels
    if not isinstance(tokens, list) or not set(map(type, tokens)) <= {str} or not all(tokens):
        return complain("tokens are no list of strings with something in them", "write one string a token")
    if not isinstance(tags, list) or len(tags) != len(tokens):
        count = f"{len(tags)} tags" if isinstance(tags, list) else "no list of tags"
        return complain(f"{count} for {len(tokens)} tokens", "write one tag a token")
    if set(map(type, tags)) <= {str}:
        return tags
    if set(map(type, tags)) != {int}:
        return complain("tags that are neither all strings nor all integers", "write one kind")
    if labels is None:
        return complain("tags are numbers, and there is no list of labels", f"put one beside it: {', '.join(BESIDE)}")
    if min(tags) < 0 or max(tags) >= len(labels):
        beyond = next(tag for tag in tags if not 0 <= tag < len(labels))
        return complain(f"the tag {beyond} is none of {len(labels)} labels", "give the list that the tags were made by")
    return [labels[tag] for tag in tags]
