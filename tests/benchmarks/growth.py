"""Time and memory from CoNLL files to `--json` as the work grows, each size in a process of its own."""

from __future__ import annotations

import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.children import measured_command
from tests.benchmarks.growth_of_shapes import exponents
from tests.benchmarks.scales import Scale

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
BY_DOCUMENT = 10
SENTENCES = 5
"""Sentences a document."""
TOKENS = 14
"""Tokens from one gold span to the next."""
TYPES = 20
TEMPLATES = 500
"""Different documents: what is read, compared and scored is not remembered, so that they may come again."""
DISK = 400
"""Bytes of both files by gold span, at most."""
RUNS = {10_000: 7, 100_000: 5, 1_000_000: 3}
OFFSET, COLUMN, CODE = 8, 4, 2
"""Bytes of an offset in int64, of a number in int32, of a type."""


@dataclass(frozen=True)
class Written:
    """Two files of columns, gold and prediction, and the bytes that the arrays take that they are read into."""

    gold: Path
    pred: Path
    arrays: int


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim.

    The arrays counted are: the texts (UTF-8) and where each begins; start and end of each token and sentence, and the
    number of each document's first; document, start, end and type of each gold span and prediction. Texts, tokens and
    sentences are counted once, though both files are read into them.
    """
    sizes = scale.of(SIZES, SIZES[:3], (100,))
    by_span = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        idle = statistics.median(scored(written(place, BY_DOCUMENT))[0] for _ in range(scale.runs(7)))
        for size in sizes:
            needed = DISK * size
            free = shutil.disk_usage(place).free
            if free < needed:
                sys.exit(f"{size:,} spans need {needed / 1e9:.1f} GB under {place}, and {free / 1e9:.1f} GB are free")
            files = written(place, size)
            runs = [scored(files) for _ in range(RUNS.get(size, 1))]
            by_span[size] = (statistics.median(seconds for seconds, _ in runs) - idle) / size
            peak = statistics.median(peak for _, peak in runs)
            yield f"{size:,} gold spans, files to --json, microseconds of CPU a span", by_span[size] * 1e6, "reported"
            aim = "<= 4" if size == SIZES[-1] else "reported"
            yield f"{size:,} gold spans, peak memory / size of the arrays", peak / files.arrays, aim
    yield "slowest / fastest of these, by span", max(by_span.values()) / min(by_span.values()), "<= 1.5"
    yield from exponents(scale)


def scored(files: Written) -> tuple[float, int]:
    """Score the files in a child process; return its seconds of CPU and the bytes it held at its peak."""
    target = files.gold.with_suffix(".json")
    measured = measured_command(["score", "--quiet", str(files.gold), str(files.pred), "--json", str(target)])
    if not target.stat().st_size:
        sys.exit(f"{target} is empty")
    return measured


def written(folder: Path, spans: int) -> Written:
    """Write documents of BY_DOCUMENT gold spans with predictions: 70% equal, 10% each longer, retyped or missing."""
    rng = random.Random(0)
    drawn = [_document(rng) for _ in range(TEMPLATES)]
    paths = (folder / "gold.conll", folder / "pred.conll")
    arrays = 0
    with paths[0].open("wb") as gold, paths[1].open("wb") as pred:
        for number in range(spans // BY_DOCUMENT):
            one = drawn[rng.randrange(TEMPLATES)]
            head = b"# newdoc id = d%d\n" % number
            gold.write(head + one.gold)
            pred.write(head + one.pred)
            arrays += one.arrays
    return Written(*paths, arrays)


@dataclass(frozen=True)
class _Document:
    gold: bytes
    pred: bytes
    arrays: int


def _document(rng: random.Random) -> _Document:
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyzé", k=rng.randint(1, 13))) for _ in range(10 * TOKENS)]
    sides = [["O"] * len(words) for _ in range(2)]
    found = [0, 0]
    for span in range(BY_DOCUMENT):
        start = span * TOKENS + rng.randrange(4)
        end, kind, fate = start + rng.randint(1, 4), rng.randrange(TYPES), rng.random()
        predicted = (end + (0.7 < fate <= 0.8), (kind + (0.8 < fate <= 0.9)) % TYPES)
        for side, (last, code) in enumerate(((end, kind), predicted)):
            if side == 0 or fate <= 0.9:
                found[side] += 1
                for token in range(start, last):
                    sides[side][token] = f"{'I' if token > start else 'B'}-T{code:02}"
    size = len(words) // SENTENCES
    files = []
    for tags in sides:
        lines = [f"{word} {tag}\n" for word, tag in zip(words, tags, strict=True)]
        files.append("".join("".join(lines[low : low + size]) + "\n" for low in range(0, len(lines), size)).encode())
    text = len(" ".join(words).encode())
    pieces = (len(words) + SENTENCES) * 2 * COLUMN + 3 * OFFSET
    return _Document(*files, text + pieces + sum(found) * (3 * COLUMN + CODE))
