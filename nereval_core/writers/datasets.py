"""Rows of the Hugging Face datasets library: numbers and their labels in Parquet, tags as strings in JSON lines.

Parquet is written where the name ends in .parquet. Tags are IOB2.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nereval_core.corpus import Layer
from nereval_core.errors import FormatError, Problem, quoted
from nereval_core.readers.datasets import DESCRIPTION, METADATA, NAME
from nereval_core.readers.schemes import SCHEMES, encode, unsayable
from nereval_core.tokens import WORD
from nereval_core.writers import left_out, packed_file, whole_file

__all__ = ["DESCRIPTION", "NAME", "write"]

SHARD = ".parquet"
LOST = {
    "ids": "span ids",
    "links": "lists of links",
    "cores": "cores",
    "alternatives": "lists of alternatives",
    "scores": "scores",
    "meta": "spans' metadata",
}
OTHER = "leave it out, or write jsonl"


class Row(NamedTuple):
    """A document as the library has it."""

    id: str
    tokens: list[str]
    ner_tags: list[str]


def write(layer: Layer, path: Path) -> tuple[str, ...]:
    """Write a document a row: its tokens, or runs of word characters and single other characters, and their tags.

    Raises:
        FormatError: with every span that tags cannot say (overlapping, discontinuous, not on token boundaries), or a
            place that cannot be written.
    """
    problems: list[Problem] = []
    rows = [_row(layer, number, path, problems) for number in range(len(layer.documents))]
    if problems:
        raise FormatError(problems)
    if path.suffix.lower() == ".parquet":
        _write_parquet(rows, path)
    else:
        with packed_file(path) as file:
            for row in rows:
                file.write(json.dumps(row._asdict(), ensure_ascii=False).encode() + b"\n")
    respelt = sum(" ".join(row.tokens) != text for row, text in zip(rows, layer.documents.texts, strict=True))
    notes = (f"texts of which only the tokens are kept, not what stands between: {respelt}",) if respelt else ()
    return (*left_out(layer, NAME, LOST, beside=("sentences", "meta")), *notes)


def _row(layer: Layer, number: int, path: Path, problems: list[Problem]) -> Row:
    documents = layer.documents
    text, name = documents.texts[number], documents.ids[number]
    own = [] if documents.tokens is None else documents.tokens.of_document(number)
    tokens = own or [match.span() for match in WORD.finditer(text)]
    first = {start: at for at, (start, _) in enumerate(tokens)}
    last = {end: at + 1 for at, (_, end) in enumerate(tokens)}
    spans, origin = [], []

    def complain(span: int, why: str) -> None:
        found = f"span [{layer.start[span]}, {layer.end[span]}) of document {quoted(name)} {why}"
        problems.append(Problem(os.fspath(path), None, found, OTHER))

    for span in range(int(layer.first[number]), int(layer.first[number + 1])):
        low, high = first.get(int(layer.start[span])), last.get(int(layer.end[span]))
        if span in layer.fragments:
            complain(span, "is discontinuous, which tags cannot say")
        elif low is None or high is None:
            complain(span, "does not begin and end with a token")
        else:
            spans.append((low, high, layer.label(span)))
            origin.append(span)
    bad = dict(unsayable(spans, SCHEMES["IOB2"]))
    for at, why in bad.items():
        complain(origin[at], why)
    good = [span for at, span in enumerate(spans) if at not in bad]
    return Row(name, [text[start:end] for start, end in tokens], encode(good, len(tokens), SCHEMES["IOB2"]))


def _write_parquet(rows: Sequence[Row], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = sorted({tag.partition("-")[2] for row in rows for tag in row.ner_tags if tag != "O"})
    names = ["O", *(f"{letter}-{kind}" for kind in kinds for letter in "BI")]
    number = {name: code for code, name in enumerate(names)}
    string = {"dtype": "string", "_type": "Value"}
    features = {
        "id": string,
        "tokens": {"feature": string, "_type": "Sequence"},
        "ner_tags": {"feature": {"names": names, "_type": "ClassLabel"}, "_type": "Sequence"},
    }
    schema = pa.schema(
        {"id": pa.string(), "tokens": pa.list_(pa.string()), "ner_tags": pa.list_(pa.int64())},
        metadata={METADATA: json.dumps({"info": {"features": features}})},
    )
    columns = [
        [row.id for row in rows],
        [row.tokens for row in rows],
        [[number[tag] for tag in row.ner_tags] for row in rows],
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    with whole_file(path) as file:
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), file)
