"""Rows of the Hugging Face datasets library: numbers and their labels in Parquet, tags as strings in JSON lines.

Parquet is written where the name ends in .parquet. Tags are IOB2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nereval_core.corpus import Layer
from nereval_core.readers.datasets import METADATA, READER
from nereval_core.readers.shared.tag_schemes import SCHEMES, encode
from nereval_core.readers.shared.tag_schemes import unsayable as unsayable_by
from nereval_core.writers import packed_file, whole_file
from nereval_core.writers.document_spans import token_spans
from nereval_core.writers.writer import Writer

SCHEME = SCHEMES["IOB2"]


class Row(NamedTuple):
    """A document as a row of the library."""

    id: str
    tokens: list[str]
    ner_tags: list[str]


class DatasetsWriter(Writer):
    """A document a row: its tokens, or runs of word characters and single other characters, and their tags."""

    name, description = READER.name, READER.description
    holds = frozenset(("tokens",))
    shard = ".parquet"

    def unsayable(self, layer: Layer) -> Iterator[tuple[int, str]]:
        """Yield the spans that tags cannot state, with the reason: overlaps, or off token boundaries."""
        for number in range(len(layer.documents)):
            placed = token_spans(layer, number)
            yield from placed.unsayable()
            for at, why in unsayable_by(placed.spans, SCHEME):
                yield placed.numbers[at], why

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        rows = [_row(layer, number) for number in range(len(layer.documents))]
        if path.suffix.lower() == ".parquet":
            _write_parquet(rows, path)
        else:
            with packed_file(path) as file:
                for row in rows:
                    file.write(json.dumps(row._asdict(), ensure_ascii=False).encode() + b"\n")
        respelt = sum(" ".join(row.tokens) != text for row, text in zip(rows, layer.documents.texts, strict=True))
        return (f"texts of which only the tokens are kept, not what stands between: {respelt}",) if respelt else ()


def _row(layer: Layer, number: int) -> Row:
    placed = token_spans(layer, number)
    text = layer.documents.texts[number]
    words = [text[start:end] for start, end in placed.tokens]
    return Row(layer.documents.ids[number], words, encode(placed.spans, len(words), SCHEME))


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


WRITERS = (DatasetsWriter(),)
