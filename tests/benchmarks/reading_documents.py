"""How fast documents are read: JSON lines beside Python's own parser, brat beside a loop that only reads the files."""

from __future__ import annotations

import gzip
import json
import os
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from nereval_core.readers import read
from tests.benchmarks.matching import clock
from tests.benchmarks.scales import Scale

SPANS = 10
WORDS = 82
"""A document has so many words, and so many of them are spans: about a kilobyte as a line of JSON."""
TYPES = 8


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    documents = scale.of(100_000, 10_000, 20)
    spans = f"{documents * SPANS:,} spans"
    with tempfile.TemporaryDirectory(prefix="nereval-benchmark-") as folder:
        plain = write_jsonl(Path(folder, "plain.jsonl"), documents)
        raw = plain.read_bytes()
        yield f"JSONL, {spans}: json.loads of its lines / read()", _beside_json(plain, raw), ">= 1.85"
        ids = write_jsonl(Path(folder, "ids.jsonl"), documents, ids=True)
        yield (
            f"JSONL, {spans} with ids: json.loads of its lines / read()",
            _beside_json(ids, ids.read_bytes()),
            "reported",
        )
        packed = Path(folder, "packed.jsonl.gz")
        packed.write_bytes(gzip.compress(raw, 1))
        yield (
            f"JSONL, {spans}, gzip: read() / unpacking and read() of the plain file",
            _ratio(lambda: read(packed), lambda: (gzip.decompress(packed.read_bytes()), read(plain))),
            "reported",
        )
    with tempfile.TemporaryDirectory(prefix="nereval-benchmark-") as folder:
        write_brat(Path(folder), documents)
        files = [entry.path for entry in os.scandir(folder)]
        what = f"brat, {documents:,} documents, {spans}: read() / a loop of"
        yield f"{what} open() and read()", _ratio(lambda: read(folder), lambda: _opened(files)), "<= 2"
        yield f"{what} os.open and os.read", _ratio(lambda: read(folder), lambda: _plainly(files)), "reported"


def _beside_json(path: Path, raw: bytes) -> float:
    """Return how many times as fast as Python's parser a file is read; 1.85 is 200 MB/s where that makes 108."""
    lines = raw.splitlines()
    return _ratio(lambda: [json.loads(line) for line in lines], lambda: read(path))


def _opened(files: list[str]) -> None:
    for path in files:
        with open(path, "rb") as file:  # noqa: PTH123
            file.read()


def _plainly(files: list[str]) -> None:
    for path in files:
        handle = os.open(path, os.O_RDONLY)
        os.read(handle, os.fstat(handle).st_size + 1)
        os.close(handle)


def _ratio(one: Callable[[], object], other: Callable[[], object], runs: int = 5) -> float:
    """Return the median ratio of CPU times of neighbouring runs, after a warm-up of both."""
    one(), other()
    return statistics.median(clock(one) / clock(other) for _ in range(runs))


def texts(documents: int, *, seed: int = 0) -> Iterator[tuple[str, list[tuple[int, int, str]]]]:
    """Draw texts, each with its spans in order as start, end and type."""
    drawn = random.Random(seed)
    words = ["".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=drawn.randint(2, 11))) for _ in range(5_000)]
    words += ["naïve", "œuvre", "Übung"]
    for _ in range(documents):
        chosen = drawn.choices(words, k=WORDS)
        starts = [0]
        for word in chosen:
            starts.append(starts[-1] + len(word) + 1)
        places = sorted(drawn.sample(range(WORDS), SPANS))
        spans = [(starts[place], starts[place] + len(chosen[place]), f"T{drawn.randrange(TYPES)}") for place in places]
        yield " ".join(chosen), spans


def write_jsonl(path: Path, documents: int, *, ids: bool = False) -> Path:
    """Write documents as JSON lines, their spans with ids if asked for, and return the file."""
    with path.open("w", encoding="utf-8") as file:
        for number, (text, spans) in enumerate(texts(documents)):
            rows = [
                {"start": start, "end": end, "label": label} | ({"id": f"T{place}"} if ids else {})
                for place, (start, end, label) in enumerate(spans, start=1)
            ]
            row = {"id": f"doc-{number:06d}", "text": text, "spans": rows}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def write_brat(folder: Path, documents: int) -> None:
    """Write documents as brat's pairs of files."""
    for number, (text, spans) in enumerate(texts(documents)):
        lines = [
            f"T{place}\t{label} {start} {end}\t{text[start:end]}\n"
            for place, (start, end, label) in enumerate(spans, start=1)
        ]
        (folder / f"doc-{number:06d}.txt").write_bytes(text.encode())
        (folder / f"doc-{number:06d}.ann").write_bytes("".join(lines).encode())
