"""Exponents of growth: how CPU time grows where ten times the work has one shape, such as types or annotators.

A verb runs on work and on ten times as much, each in a process of its own; what it takes on a unit of work is taken
off both. An exponent of 1 is linear, of 1.1 is 12.6 times the time for ten times the work.
"""

from __future__ import annotations

import json
import math
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.benchmarks.children import measured_command
from tests.benchmarks.scales import Scale
from tests.benchmarks.verdicts import write_verdicts

WORDS = ("alpha", "beta", "café", "delta,", "troponin", "end.")
BY_DOCUMENT = 10
Command = Callable[[Path, int], Sequence[str]]
"""Writes so much work to a folder, and returns the command that does it."""


def exponents(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield the exponent of each shape."""
    for what, most, aim, command in SHAPES:
        size = max(scale.of(most, most // 10, most // 1_000) // 10, 2)
        seconds = []
        for work in (1, size, 10 * size):
            with tempfile.TemporaryDirectory() as folder:
                seconds.append(measured_command(command(Path(folder), work))[0])
        least, less, more = seconds
        ratio = max(more - least, 1e-3) / max(less - least, 1e-3)
        exponent = math.log(ratio) / math.log((10 * size - 1) / (size - 1))
        yield f"exponent: {what.format(size, 10 * size)}", exponent, aim


def _write_sides(folder: Path, names: Sequence[str], documents: int, by_document: int, types: int = 20) -> list[str]:
    """Write the same documents once for each name, with other spans in each; return the paths."""
    paths = [folder / f"{name}.jsonl" for name in names]
    for number, path in enumerate(paths):
        rng = random.Random(number)
        with path.open("w", encoding="utf-8") as file:
            for document in range(documents):
                spans = []
                for place in range(by_document):
                    kind = (document * by_document + place) * 7 + (rng.random() < 0.1)
                    end = 14 * place + (6 if rng.random() < 0.9 else 13)
                    if rng.random() < 0.9:
                        spans.append({"start": 14 * place, "end": end, "label": f"T{kind % types}"})
                row = {"id": f"d{document}", "text": "word1, word2. " * by_document, "spans": spans}
                file.write(json.dumps(row) + "\n")
    return list(map(str, paths))


def _one_span_each(folder: Path, documents: int) -> Sequence[str]:
    return ["score", "-q", *_write_sides(folder, ("gold", "pred"), documents, 1)]


def _one_document(folder: Path, spans: int) -> Sequence[str]:
    return ["score", "-q", *_write_sides(folder, ("gold", "pred"), 1, spans)]


def _many_types(folder: Path, types: int) -> Sequence[str]:
    return ["errors", "-q", *_write_sides(folder, ("gold", "pred"), types, BY_DOCUMENT, types)]


def _many_systems(folder: Path, systems: int) -> Sequence[str]:
    names = ("gold", *(f"system-{number}" for number in range(systems)))
    return ["score", "-q", *_write_sides(folder, names, 1_000, BY_DOCUMENT)]


def _many_annotators(folder: Path, annotators: int) -> Sequence[str]:
    names = [f"annotator-{number}" for number in range(annotators + 1)]
    return ["agreement", "-q", "--resamples", "1000", *_write_sides(folder, names, 20, BY_DOCUMENT)]


def _annotated_types(folder: Path, types: int) -> Sequence[str]:
    return ["agreement", "-q", *_write_sides(folder, ("one", "other", "third"), types, BY_DOCUMENT, types)]


def _long_text(folder: Path, size: int) -> Sequence[str]:
    rng = random.Random(0)
    words = rng.choices(WORDS, k=1 + size // 6)
    starts, at = [], 0
    for word in words:
        starts.append(at)
        at += len(word) + 1
    paths = []
    for name in ("gold", "pred"):
        places = sorted(rng.sample(range(len(words)), min(500, len(words))))
        spans = [{"start": starts[at], "end": starts[at] + len(words[at]), "label": "T"} for at in places]
        paths.append(folder / f"{name}.jsonl")
        row = {"id": "d", "text": " ".join(words), "spans": spans}
        paths[-1].write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    return ["report", "-q", *map(str, paths), "--out", str(folder / "report.html")]


def _many_verdicts(folder: Path, verdicts: int) -> Sequence[str]:
    write_verdicts(folder / "verdicts.jsonl", verdicts)
    return ["review", "import", str(folder / "verdicts.jsonl"), "--review", str(folder / "store.sqlite")]


SHAPES: tuple[tuple[str, int, str, Command], ...] = (
    ("documents of one span, {:,} to {:,}", 1_000_000, "<= 1.1", _one_span_each),
    ("spans of one document, {:,} to {:,}", 1_000_000, "<= 1.1", _one_document),
    ("classes of errors, {:,} to {:,} types", 10_000, "<= 1.1", _many_types),
    ("{:,} to {:,} systems of 10,000 spans", 50, "<= 1.1", _many_systems),
    # Each pair is a figure of its own.
    ("agreement, {:,} to {:,} annotators", 50, "<= 2", _many_annotators),
    ("agreement, {:,} to {:,} types", 8_000, "<= 1.1", _annotated_types),
    ("report on a text, {:,} to {:,} characters", 50_000_000, "<= 1.1", _long_text),
    ("import of verdicts, {:,} to {:,}", 1_000_000, "<= 1.1", _many_verdicts),
)
