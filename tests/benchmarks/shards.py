"""Shards of generated spans as Parquet, and as many as a disk can hold: what the benchmarks of the engine score."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nereval_core.alignment.codes import Spans
from tests.benchmarks.generated import STRIDE, TYPES, generate

BY_DOCUMENT = 10
BYTES = 120
"""On disk a gold span, its share of the text and its prediction take about so many."""
LETTERS = np.frombuffer(b"aaabcdeeeefghiiijklmnnooopqrrsstttuvwxyz      ,.", np.uint8)


def enough_disk(folder: Path, spans: int) -> int:
    """Return the bytes that so many gold spans need.

    Raises:
        SystemExit: the folder has less.
    """
    needed, free = spans * BYTES, shutil.disk_usage(folder).free
    print(f"{spans:,} spans need {needed / 1e9:.1f} GB in {folder}, {free / 1e9:.1f} GB are free", flush=True)
    if needed > 0.9 * free:
        raise SystemExit("too little disk: name another folder with TMPDIR")
    return needed


def shards(folder: Path, spans: int, *, each: int = 1_000_000) -> tuple[Path, Path]:
    """Write gold and predictions as shards of so many gold spans each; return the two folders.

    The predictions have no texts: gold's serve.
    """
    gold, pred = folder / "gold", folder / "pred"
    for place in (gold, pred):
        place.mkdir(parents=True)
    for number in range(-(-spans // each)):
        size = min(each, spans - number * each)
        data = generate(size, by_document=BY_DOCUMENT, seed=number)
        ids = pa.array([f"{number:05}-{document:06}" for document in range(data.documents)])
        for place, side in ((gold, data.gold), (pred, data.pred)):
            pq.write_table(_spans(side, ids), place / f"part-{number:05}.spans.parquet", compression="zstd")
        text = pa.table({"document": ids, "text": _texts(np.diff(data.base), number)})
        pq.write_table(text, gold / f"part-{number:05}.texts.parquet", compression="zstd", row_group_size=1 << 14)
    return gold, pred


def _spans(side: Spans, ids: pa.Array) -> pa.Table:
    names = pa.array([f"T{code:02}" for code in range(TYPES)])
    return pa.table(
        {
            "document": ids.take(pa.array(side.doc)),
            "start": pa.array(side.start, pa.int32()),
            "end": pa.array(side.end, pa.int32()),
            "type": pa.DictionaryArray.from_arrays(pa.array(side.type), names),
        }
    )


def _texts(lengths: np.ndarray, seed: int) -> pa.Array:
    """Draw texts of so many letters. A span at the end of a document may reach into room that is added for it."""
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths + STRIDE)))
    letters = LETTERS[np.random.default_rng(seed).integers(0, len(LETTERS), offsets[-1], np.uint8)]
    return pa.LargeStringArray.from_buffers(len(lengths), pa.py_buffer(offsets), pa.py_buffer(letters))
