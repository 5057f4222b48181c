"""Heavy neighbours on one server: two large readings, a question about a million spans, and a hostile file.

While one of them has something computed, somebody else clicks through the demo; what a click takes then is compared
with what it took just before.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import cycle
from pathlib import Path

from nereval_core.corpus import Corpus
from pages.shared.data.loading import load_demo
from tests.benchmarks.app import environment, keep
from tests.benchmarks.consistency import layers_of
from tests.endurance import Wanted
from tests.endurance.person import log_of, logged_faults
from tests.support.browser import serve_app_process
from tests.support.http_requests import MB
from tests.support.samples import nested
from tests.support.visitors import Visitor

SIDES = ("gold", "system")
QUESTIONS = ("Annotators", "consistency"), ("Systems", "types-of-systems"), ("Annotators", "figures")
"""Pages and words of links that look at all spans of a corpus."""


def run(
    folder: Path, wanted: Wanted, *, spans: int = 1_000_000, megabytes: int = 55, tangled: int = 3_000, quiet: int = 24
) -> Counter[str]:
    """Have each neighbour compute once, however long is wanted, after some `quiet` clicks of somebody who clicks on.

    Return for each neighbour the median milliseconds of a click before it came and beside it, the latter in percent of
    the former, and how many clicks there were beside it; and the number of `errors`.
    """
    counts: Counter[str] = Counter()
    gold, system, _ = layers_of(spans)
    kept = Corpus("large", gold.documents, gold, (system,))
    files = [_rows(megabytes * MB, seed) for seed in range(2)]
    with ExitStack() as stack:
        store = folder / "store"
        stack.enter_context(environment(NEREVAL_CACHE=str(store), NEREVAL_CACHE_BYTES=str(10**11)))
        keep(kept, store)
        options = ("--memory", "8", "--seconds", "600")
        address, _ = stack.enter_context(serve_app_process(*options, log=log_of(folder)))
        pool = stack.enter_context(ThreadPoolExecutor(len(files)))
        clicks = _clicks(stack.enter_context(Visitor(address)))
        neighbours = {
            "readings": [partial(_read, address, {"gold.jsonl": file, "system.jsonl": file}) for file in files],
            **{f"{page} {word}": [partial(_ask, address, page, kept.digest, word)] for page, word in QUESTIONS},
            "tangled": [partial(_read, address, {f"{side}.jsonl": nested(tangled, side == "gold") for side in SIDES})],
        }
        for name, works in neighbours.items():
            for _ in range(quiet):
                next(clicks)
            before = [next(clicks) for _ in range(quiet)]
            running = [pool.submit(work) for work in works]
            beside = [next(clicks)]
            while not all(one.done() for one in running):
                beside.append(next(clicks))
            for one in running:
                one.result()
            alone, loaded = map(statistics.median, (before, beside))
            counts[f"{name}: ms before"], counts[f"{name}: ms"] = round(1_000 * alone), round(1_000 * loaded)
            counts[f"{name}: %"], counts[f"{name}: clicks"] = round(100 * loaded / alone), len(beside)
    counts["errors"] = logged_faults(folder)
    return counts


def _clicks(visitor: Visitor) -> Iterator[float]:
    """Click through the demo for ever; yield the seconds of each click."""
    demo = load_demo("pharmacology").corpus.digest
    for page in cycle(("Overview", "Confusion", "Inspect")):
        for criterion in ("strict", "exact", "partial", "type"):
            yield visitor.open(page, f"corpus={demo}&criterion={criterion}")


def _ask(address: str, page: str, corpus: str, word: str) -> None:
    with Visitor(address) as visitor:
        visitor.open(page, f"corpus={corpus}&{page.lower()}_tab={word}")
        assert not list(visitor.shown.faults())


def _read(address: str, files: Mapping[str, str]) -> None:
    """Upload files, have them read, and look at the scores."""
    with Visitor(address) as visitor:
        visitor.open()
        visitor.upload("upload_files", {name: file.encode() for name, file in files.items()})
        visitor.click("upload_read")
        visitor.wait()
        assert "corpus=" in visitor.query, list(visitor.shown.texts())
        visitor.open("Overview", visitor.query)
        assert not list(visitor.shown.faults())


def _rows(size: int, seed: int) -> str:
    """Return about so many bytes of documents that are a page long."""
    text = "Aspirin helps against fever, ibuprofen too. " * 40
    spans = [{"start": at, "end": at + 7, "label": "Drug"} for at in range(0, len(text), 44)]
    row = json.dumps({"id": "NUMBER", "text": text, "spans": spans})
    return "".join(f"{row.replace('NUMBER', f'{seed}-{number}')}\n" for number in range(1 + size // len(row)))
