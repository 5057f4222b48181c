"""How fast spans are scored beside nervaluate and SeqScore, each given what it takes best, both warm.

nervaluate gets lists of dicts, as `score()` does; its time grows with the square of the spans of a document. SeqScore
reads flat tags from files: both commands score the same files, and must come to the same F1. SeqScore needs an
environment of its own, whose `seqscore` SEQSCORE names: without it that row is left out.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nereval_core.api.score import score
from tests.benchmarks.generated import TYPES, Generated, generate
from tests.benchmarks.growth import written
from tests.benchmarks.nested import nested
from tests.benchmarks.objects import beside
from tests.benchmarks.scales import Scale

SPANS = 100_000
SIZES = (10, 100, 1_000, 10_000)
"""Spans a document; nervaluate takes 20 s for one of the longest."""
INSIDE, DEEP = 0.16, 4
"""Share of the entities of GUM that stand inside others, and how deep they stand at most."""


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    spans = scale.of(SPANS, SPANS // 10, 200)
    for by_document in scale.of(SIZES, SIZES[:-1], (5, 10)):
        # Of the longest documents one is enough.
        data = generate(spans if by_document < SIZES[-1] else by_document, by_document=by_document)
        yield _beside_nervaluate(data, f"{by_document:,} a document")
    # Each group of outer spans stands around four innermost ones, and the outer ones around one another.
    levels = DEEP - 1
    data = nested(spans, outer=INSIDE * levels / (4 + levels - 1), levels=levels)
    yield _beside_nervaluate(data, f"{INSIDE:.0%} inside others, up to {DEEP} deep")
    if os.environ.get("SEQSCORE"):
        yield f"SeqScore {_version()} / score, two files of tags, {spans:,} spans", _beside_seqscore(spans), "reported"
    else:
        print("peers: SeqScore not measured, SEQSCORE does not name its command", flush=True)


def dicts(data: Generated, last: int) -> list[list[list[dict[str, Any]]]]:
    """Return both sides as lists of dicts whose ends are moved by `last`: -1 for inclusive ones."""
    sides = []
    for one in (data.gold, data.pred):
        rows: list[list[dict[str, Any]]] = [[] for _ in range(data.documents)]
        columns = (one.doc, one.start, one.end, one.type)
        for doc, start, end, kind in zip(*(column.tolist() for column in columns), strict=True):
            rows[doc].append({"label": f"T{kind}", "start": start, "end": end + last})
        sides.append(rows)
    return sides


def _beside_nervaluate(data: Generated, what: str) -> tuple[str, float, str]:
    from nervaluate.evaluator import Evaluator

    ours, theirs = dicts(data, 0), dicts(data, -1)
    evaluator = Evaluator(*theirs, tags=[f"T{code}" for code in range(TYPES)], loader="dict")
    # Its evaluate() takes much longer than all of ours together: once is enough.
    ratio = beside(evaluator.evaluate, lambda: score(*ours), 1)
    return f"nervaluate 1.2.1 evaluate() / score() of dicts, {len(data.gold):,}, {what}", ratio, "reported"


def _beside_seqscore(spans: int) -> float:
    """Return how many times the CPU seconds of our command SeqScore's takes; both must find the same F1."""
    with tempfile.TemporaryDirectory(prefix="nereval-benchmark-") as folder:
        files = written(Path(folder), spans)
        for path in (files.gold, files.pred):
            # SeqScore knows no marks of documents.
            lines = path.read_text("utf-8").splitlines(keepends=True)
            path.write_text("".join(line for line in lines if not line.startswith("# newdoc")), "utf-8")
        command = [os.environ["SEQSCORE"], "score", "--labels", "BIO", "--score-format", "delim", "--reference"]
        theirs, said = _seconds([*command, str(files.gold), str(files.pred)])
        command = [sys.executable, "-m", "nereval_core", "score", "--quiet", "--criteria", "strict"]
        ours, found = _seconds([*command, str(files.gold), str(files.pred)])
    f1 = next(line.split("\t")[3] for line in said.splitlines() if line.startswith("ALL"))
    strict = next(line.split()[-1] for line in found.splitlines() if line.startswith("strict"))
    assert abs(float(f1) - 100 * float(strict)) < 0.011, (f1, strict)
    return theirs / ours


def _seconds(command: list[str]) -> tuple[float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


def _version() -> str:
    said = subprocess.run([os.environ["SEQSCORE"], "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return said.split()[-1]
