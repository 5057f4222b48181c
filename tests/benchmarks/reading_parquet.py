"""How fast Parquet is read, with every check, beside pyarrow reading the same columns of the same files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from nereval_core.corpus import Documents, Labels, Layer, layer
from nereval_core.corpus.texts import Texts
from nereval_core.readers import read
from nereval_core.writers import write
from tests.benchmarks.generated import STRIDE, TYPES, generate
from tests.benchmarks.matching import MILLION, compared
from tests.benchmarks.scales import Scale

BY_DOCUMENT = 10
ALPHABET = np.frombuffer(b" " * 40 + b"etaoinshr" * 16 + b"dlcumwfgypbvkjxqz" * 4 + b"., .", np.uint8)
RUNS = 9


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    processors = pa.cpu_count()
    pa.set_cpu_count(1)
    try:
        yield from _rows(scale.of(MILLION, MILLION // 10, 1_000))
    finally:
        pa.set_cpu_count(processors)


def _rows(spans: int) -> Iterator[tuple[str, float, str]]:
    plain = gold(spans)
    named = {number: f"T{number}" for number in range(spans)}
    scored = {number: number % 1000 / 1000 for number in range(spans)}
    for what, made, aim in (
        ("", plain, "<= 3"),
        (", with id and score each", replace(plain, ids=named, scores=scored), "reported"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            one = Path(folder, "gold.spans.parquet")
            write(made, one, format="parquet")
            ratio = compared(lambda one=one: read(one), lambda one=one: columns(one), RUNS)
            yield (f"Parquet, {spans:,} spans{what}: read / pyarrow's columns", ratio, aim)
            if made is plain:
                yield (f"Parquet, {spans:,} spans: bytes a span, texts aside", one.stat().st_size / spans, "reported")
                shards = Path(folder, "shards")
                write(made, shards, format="parquet", shards=8)
                ratio = compared(lambda shards=shards: read(shards), lambda one=one: columns(one), RUNS)
                yield ("the same in 8 shards: read / pyarrow's columns of one pair", ratio, "reported")


def columns(spans: Path) -> tuple[pa.Table, pa.Table]:
    """Read the columns of both files and do nothing with them."""
    texts = spans.with_name(spans.name.replace(".spans.", ".texts."))
    return (
        parquet.ParquetFile(spans, memory_map=True, read_dictionary=["document", "type"]).read(),
        parquet.ParquetFile(texts, memory_map=True).read(),
    )


def gold(spans: int) -> Layer:
    """Return generated gold spans, ten a document, over texts of about a thousand random letters."""
    data = generate(spans, by_document=BY_DOCUMENT)
    rng = np.random.default_rng(0)
    offsets = np.arange(data.documents + 1, dtype=np.int64) * (BY_DOCUMENT * STRIDE)
    letters = ALPHABET[rng.integers(0, len(ALPHABET), int(offsets[-1]), np.uint8)]
    ids = tuple(f"document-{number:07d}" for number in range(data.documents))
    labels = Labels(data.gold.type, tuple(f"TYPE-{number}" for number in range(TYPES)))
    return layer("gold", Documents(ids, Texts(letters, offsets)), data.gold.doc, data.gold.start, data.gold.end, labels)
