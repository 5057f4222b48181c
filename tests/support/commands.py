"""What the tests of the engine score, corpora of random documents as shards of JSONL, and what jobs leave."""

from __future__ import annotations

import gzip
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.spans import random_spans

Rows = Sequence[Mapping[str, Any]]
Cli = Callable[..., tuple[int, str, str]]
"""Runs a verb, or `score`, with these arguments: exit status, standard output and standard error."""
SIDES = ("gold", "one", "two")
WAIT = 60
"""Seconds after which something will not happen any more."""


def corpus(documents: int = 24, *, seed: int = 0, tokens: bool = True) -> dict[str, list[dict[str, Any]]]:
    """Draw gold and two systems over the same documents: nested, doubled and broken spans, cores, alternatives."""
    rng = random.Random(seed)
    sides: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
    names = rng.sample(range(1000), documents)
    for place, number in enumerate(names):
        common: dict[str, Any] = {"id": f"d{number}é", "text": f"Ann saw Böb in Rome {number}"}
        if tokens and place % 3 == 0:
            common["tokens"] = [[0, 3], [4, 7], [8, 11], [12, 14]]
        for side in SIDES:
            # Some types are of few documents, so that shards differ in them.
            kinds = "AB" if place % 5 else "ABC"
            sides[side].append({**common, "spans": [_span(span) for span in random_spans(rng, 5, kinds=kinds)]})
    return sides


def _span(span: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"start": span.start, "end": span.end, "label": span.kind}
    if len(span.fragments) > 1:
        row["fragments"] = [list(part) for part in span.fragments]
    if span.core:
        row["core"] = list(span.core)
    if span.alternatives:
        row["alternatives"] = [list(part) for part in span.alternatives]
    return row


def written(folder: Path, sides: Mapping[str, Rows], *, shards: int = 5, packed: bool = False) -> list[str]:
    """Write each side as a folder of so many shards, and return the folders; gold's are gzipped if `packed`."""
    for side, rows in sides.items():
        (folder / side / "deep").mkdir(parents=True, exist_ok=True)
        size = -(-len(rows) // shards)
        for number in range(shards):
            place = folder / side / ("deep" if number % 2 else "") / f"part-{number}.jsonl"
            raw = "".join(json.dumps(row) + "\n" for row in rows[number * size : (number + 1) * size]).encode()
            if packed and side == "gold":
                place.with_name(f"{place.name}.gz").write_bytes(gzip.compress(raw))
            else:
                place.write_bytes(raw)
    return [str(folder / side) for side in sides]


def entries(folder: str) -> int:
    """Return the number of stored counts."""
    return len(list(Path(folder).glob("*.npz")))


def wait_for(condition: Callable[[], object]) -> None:
    until = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.002)


@contextmanager
def unanswered(path: Path) -> Iterator[None]:
    """Put a pipe that nobody writes to in place of a shard: the worker that takes it on never ends with it."""
    kept = path.rename(path.with_name(".kept"))
    os.mkfifo(path)
    try:
        yield
    finally:
        kept.replace(path)
