"""The app over the store: how soon a stored corpus is on the screen, and what memory sessions take.

Seconds are those of a clock: what a person waits, the browser's part included. Memory is that of the server's process.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nereval_core.store import Store
from pages.shared.data.jobs import Jobs
from pages.shared.data.kept_corpora import Keeper
from pages.shared.data.reading_orders import Served
from pages.shared.data.reading_process import read_order
from tests.benchmarks.app import SPANS, corpus, environment, keep
from tests.benchmarks.reading_documents import write_jsonl
from tests.benchmarks.scales import Scale
from tests.support.browser import ROOT, Visit, serve_app_process, start_browser
from tests.support.processes import resident_bytes

PAGES = ("Overview", "Confusion", "Inspect", "Overview")
PEOPLE = 4
DOCUMENTS = 100_000
"""Documents of a reading that is cancelled."""
SETTLED = 150
"""Seconds within which closed sessions are freed: Streamlit keeps them for two minutes, should they come back."""

OPEN = """
import sys, time
from pathlib import Path
from nereval_core.store import Store
import nereval_core.store.corpora
began = time.process_time()
kept = Store(Path(sys.argv[1])).of_digest(sys.argv[2])
assert kept is not None
print(time.process_time() - began)
"""


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    spans = scale.of(SPANS, SPANS // 10, 1_000)
    yield from _cancelled(scale)
    with tempfile.TemporaryDirectory(prefix="nereval-bench-") as folder:
        digest = _kept(spans, Path(folder))
        opening = [float(_run(OPEN, folder, digest)) for _ in range(scale.runs(5))]
        yield f"{spans:,} spans: seconds of CPU to open the stored corpus", statistics.median(opening), "<= 0.3"
        with environment(NEREVAL_CACHE=folder), start_browser() as browser:
            shown, busy = zip(*(_cold(browser, digest) for _ in range(scale.runs(3))), strict=True)
            yield f"{spans:,} spans: seconds from link to Overview, new server", statistics.median(shown), "<= 2"
            yield f"{spans:,} spans: of these, seconds of the server's CPU", statistics.median(busy), "reported"
            yield from _memory(browser, digest, scale)


def _cancelled(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield how long a reading goes on after it is cancelled: until its process is gone and its thread has ended."""
    documents = scale.of(DOCUMENTS, DOCUMENTS // 4, 2_000)
    with tempfile.TemporaryDirectory(prefix="nereval-bench-") as folder:
        place = Path(folder, "data")
        place.mkdir()
        for name in ("gold.jsonl", "system.jsonl"):
            write_jsonl(place / name, documents)
        store = Store(Path(folder, "store"))
        taken = []
        for share in (0.1, 0.5, 0.9):
            jobs, keeper = Jobs(), Keeper(store)
            order = Served(place, ".", "gold.jsonl", ["system.jsonl"])
            number = jobs.start(order.title, partial(read_order, keeper, order))
            job = jobs.get(number)
            assert job is not None
            # So few documents may be read before that is seen.
            while scale is not Scale.TINY and not (
                job.watch.stage.startswith("Reading") and job.watch.done > share * job.watch.total
            ):
                assert not job.finished.is_set(), "read before it could be cancelled: take more documents"
                time.sleep(0.005)
            began = time.monotonic()
            jobs.cancel(number)
            job.finished.wait()
            taken.append(time.monotonic() - began)
            assert job.loaded is None and not store.entries()
        yield f"{documents:,} documents: seconds from Cancel to a reading's end", max(taken), "<= 1"


def _kept(spans: int, folder: Path) -> str:
    """Put a corpus into the store and return its digest."""
    made = corpus(spans)
    keep(made, folder)
    return made.digest


def _cold(browser: Any, digest: str) -> tuple[float, float]:
    """Return seconds from following a link to the page, and the server's seconds of CPU.

    The server is new but for the Guide, which it has shown to the same page: that has our scripts already.
    """
    with serve_app_process() as (address, process):
        visit = Visit(browser, address)
        visit.go("/Guide")
        began, used = time.monotonic(), _used(process)
        visit.go(f"/Overview?corpus={digest[:16]}&system=system")
        found = time.monotonic() - began, _used(process) - used
        visit.close()
    return found


def _used(process: int) -> float:
    """Return the seconds of CPU that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(browser: Any, digest: str, scale: Scale) -> Iterator[tuple[str, float, str]]:
    people, pages = scale.of(PEOPLE, PEOPLE, 2), scale.of(PAGES, PAGES, PAGES[:2])
    with serve_app_process() as (address, process):
        warm = Visit(browser, address)
        warm.go("/Guide")
        warm.close()
        empty = resident_bytes(process)
        visits = [_walk(browser, address, digest, pages)]
        one = resident_bytes(process)
        visits += [_walk(browser, address, digest, pages) for _ in range(people - 1)]
        everyone = resident_bytes(process)
        for visit in visits:
            visit.close()
        deadline = time.monotonic() + scale.of(SETTLED, SETTLED, 0)
        while (after := resident_bytes(process)) > one and time.monotonic() < deadline:
            time.sleep(1)
        yield "memory of the server, MB: no corpus", empty / 1e6, "reported"
        yield f"memory of the server, MB: one person on {len(pages)} pages", one / 1e6, "reported"
        yield f"memory with {people} people / with one", everyone / one, "<= 1.3"
        yield "memory after all tabs are closed / with one person", after / one, "<= 1"


def _walk(browser: Any, address: str, digest: str, pages: Sequence[str]) -> Visit:
    """Visit the pages as a person of their own, and leave the last one open."""
    visit = Visit(browser, address)
    for page in pages:
        visit.go(f"/{page}?corpus={digest[:16]}&system=system")
    return visit


def _run(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
