"""How fast files of columns are read, with all checks, beside their bytes, pyarrow.csv and HIPE-scorer's loading."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from pyarrow import Table, csv

from nereval_core.readers import Reading, read
from tests.benchmarks import files
from tests.benchmarks.scales import Scale

MILLION = 1_000_000
HIPE_SECONDS = 225.0
"""Seconds of CPU in which HIPE-scorer (c2a5684, Python 3.11) loads a million gold spans drawn as by `files.hipe`.

It does not install beside us. Measured on 20,000 spans by `read_conll_annotations` of its hipe_evaluation.utils alone,
with `open` in place of smart_open's, on a machine that read `files.conll` by `Path.read_bytes` at 1.3 GB/s.
"""


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    spans = scale.of(MILLION, MILLION // 5, 500)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        for what, columns, separator, accents, aims in (
            ("four columns", 4, " ", 0.0, (">= 300", "<= 6", ">= 2")),
            ("two columns, accents", 2, "\t", 0.02, (">= 200", "reported", "reported")),
        ):
            files.conll(path, spans, columns=columns, separator=separator, accents=accents)
            size = path.stat().st_size / MILLION
            ours, theirs = beside(lambda: loaded(path, "conll"), path.read_bytes)
            named = f"CoNLL, {what}, {spans:,} gold spans"
            yield f"{named}, MB a second of CPU", size / statistics.median(ours), aims[0]
            yield f"{named} / a plain read()", ratio(ours, theirs), aims[1]
            ours, theirs = beside(lambda: loaded(path, "conll"), partial(arrow_table, path, columns, separator))
            yield f"{named}: pyarrow.csv / read()", ratio(theirs, ours), aims[2]
        if scale is Scale.FULL:
            files.conll(path, spans)
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
            ours, theirs = beside(lambda: loaded(path, "conll"), path.read_bytes)
            yield f"CoNLL, CRLF, {spans:,} gold spans / a plain read()", ratio(ours, theirs), "reported"
        few = spans // 5
        files.hipe(path, few)
        ours, theirs = beside(lambda: loaded(path, "hipe"), path.read_bytes)
        yield f"CLEF-HIPE, {few:,} gold spans / a plain read()", ratio(ours, theirs), "reported"
        seconds = HIPE_SECONDS * few / MILLION
        yield f"HIPE-scorer's loading / ours, {few:,} gold spans", seconds / statistics.median(ours), ">= 150"


def loaded(path: Path, form: str) -> Reading:
    return read(path, format=form)


def arrow_table(path: Path, columns: int, separator: str) -> Table:
    """Return the cells of a file as pyarrow.csv reads them with one thread, without marks of documents."""
    return csv.read_csv(
        path,
        csv.ReadOptions(use_threads=False, column_names=[str(column) for column in range(columns)]),
        csv.ParseOptions(delimiter=separator, quote_char=False, invalid_row_handler=lambda row: "skip"),
    )


def beside(one: Callable[[], object], other: Callable[[], object]) -> tuple[list[float], list[float]]:
    """Return the CPU seconds of neighbouring runs of both, after a warm-up of each."""
    one(), other()
    pairs = [(clock(one), clock(other)) for _ in range(7)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def ratio(ones: list[float], others: list[float]) -> float:
    return statistics.median(one / other for one, other in zip(ones, others, strict=True))


def clock(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start
