"""Parquet that says one value very often is refused before it is unpacked; what is honest is read."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from nereval_core.errors import FormatError
from nereval_core.readers import Source, parquet_bounds, read

MEBIBYTE = 1 << 20
SPANS = {"document": ["d0"], "start": [0], "end": [1], "type": ["A"]}


def packed(columns: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns), buffer, compression="zstd", dictionary_pagesize_limit=1 << 24)
    return buffer.getvalue()


def repeated(value: str, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([value]))


def pair(spans: dict[str, Any], texts: dict[str, Any]) -> Source:
    return Source.of_uploads([("x.spans.parquet", packed(spans)), ("x.texts.parquet", packed(texts))])


def ids(count: int) -> list[str]:
    return [f"d{number}" for number in range(count)]


SWOLLEN = [
    # (what, format, files)
    (
        "rows",
        "x.spans.parquet",
        pair(
            {
                "document": repeated("d0", 50_000),
                "start": np.zeros(50_000, np.int32),
                "end": np.ones(50_000, np.int32),
                "type": repeated("A", 50_000),
            },
            {"document": ["d0"], "text": ["abc"]},
        ),
    ),
    ("a text", "x.texts.parquet", pair(SPANS, {"document": ["d0"], "text": ["a" * MEBIBYTE]})),
    (
        "a text of a dictionary in every row",
        "x.texts.parquet",
        pair(SPANS, {"document": ids(200), "text": repeated("a" * 50_000, 200)}),
    ),
    (
        "the same where the file does not say that it is one",
        "x.texts.parquet",
        pair(SPANS, {"document": ids(200), "text": ["a" * 50_000] * 200}),
    ),
    (
        "values of lists",
        "x.spans.parquet",
        pair(SPANS | {"links": [["Q1"] * 100_000]}, {"document": ["d0"], "text": ["abc"]}),
    ),
    (
        "tokens",
        "train.parquet",
        Source.of_uploads([("train.parquet", packed({"tokens": [["a"] * 9_000], "ner_tags": [["O"] * 9_000]}))]),
    ),
]


@pytest.mark.parametrize(("where", "source"), [row[1:] for row in SWOLLEN], ids=[row[0] for row in SWOLLEN])
def test_what_swells_is_refused(where: str, source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    read(source)
    monkeypatch.setattr(parquet_bounds, "SMALL", MEBIBYTE)
    monkeypatch.setattr(parquet_bounds, "RATIO", 2)
    with pytest.raises(FormatError) as caught:
        read(source)
    [problem] = caught.value.problems
    assert problem.source == where
    assert problem.found.startswith("expands from ") and problem.found.endswith(" bytes to more than 1048576")


def test_texts_of_a_dictionary_are_read_in_pieces_to_the_same_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ids(500)
    texts = {"document": names, "text": [f"text {number % 7}" for number in range(500)]}
    spans = {"document": names, "start": [0] * 500, "end": [4] * 500, "type": ["A"] * 500}
    source = pair(spans, texts)
    whole = read(source)
    monkeypatch.setattr(parquet_bounds, "SMALL", 200_000)
    monkeypatch.setattr(parquet_bounds, "RATIO", 1)
    seen = []
    monkeypatch.setattr(parquet_bounds, "_beyond", lambda column: seen.append(len(column)) or 0)
    again = read(source)
    assert len(seen) > 4
    assert (again.layer.digest, list(again.documents.texts)) == (whole.layer.digest, list(whole.documents.texts))
