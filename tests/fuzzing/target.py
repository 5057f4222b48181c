"""Feed one reader, led by what it has not run yet: `python -m tests.fuzzing.target READER FOLDER SECONDS`.

Runs until the time is over; what went wrong stands in FOLDER/found, made small, one file for each place it came from.
Started by tests.fuzzing, a process for each reader.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["nereval_core.readers", "nereval_core.corpus", "nereval_core.corpus.texts"]):
    from nereval_core.readers import readers

    readers()

from tests.fuzzing.inputs import attempt, seeds, taken
from tests.fuzzing.mutation import changed, words_of

MEMORY = 500 * 2**20
"""No input may take a process beyond this that has just begun, Python, numpy and pyarrow included."""
BACKSTOP = 3 * 2**30
"""What is asked for beyond this is refused by the system: an error as any other."""
SECONDS = 2.0
"""An input of a few kilobytes that takes longer, in time of the processor, is found too."""
LONGEST = 1 << 14


def held() -> int:
    """Return the bytes of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


class Target:
    """Counts inputs, and keeps those a reader fails on: one for each kind of error and place in the code."""

    def __init__(self, format: str, folder: Path) -> None:
        self.format = format
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self.found: dict[str, str] = {}
        for seed in seeds(format):
            attempt(format, *taken(format, seed))
        self.allowed = MEMORY - held()

    def __call__(self, raw: bytes) -> None:
        self.counts["inputs"] += 1
        why = self.fault(raw)
        if why and why not in self.found:
            small = self.made_small(raw, why)
            name = f"{self.format}-{len(self.found)}"
            self.found[why] = name
            (self.folder / name).write_bytes(small)
            (self.folder / f"{name}.txt").write_text(self.told(small, why))
            print(f"FOUND {self.format}: {why}", flush=True)

    def fault(self, raw: bytes) -> str:
        """Return what is wrong with reading an input and where that comes from, "" where nothing is."""
        files, options = taken(self.format, raw)
        # The process grows by what atheris keeps: each input counts for itself.
        before = held()
        Path("/proc/self/clear_refs").write_text("5")
        began = time.process_time()
        try:
            self.counts["read"] += attempt(self.format, files, options)
        except Exception as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "nereval_core" in frame.filename]
            place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "outside"
            return f"{type(error).__name__} {error if isinstance(error, AssertionError) else ''} at {place}"
        if time.process_time() - began > SECONDS:
            return "slow"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return "memory" if peak - before > self.allowed else ""

    def made_small(self, raw: bytes, why: str) -> bytes:
        """Return an input of the same fault without what the fault does not need."""
        size, until = max(1, (len(raw) - 2) // 2), time.monotonic() + 20
        while size and time.monotonic() < until:
            at = 2
            while at < len(raw) and time.monotonic() < until:
                less = raw[:at] + raw[at + size :]
                if self.fault(less) == why:
                    raw = less
                else:
                    at += size
            size //= 2
        return raw

    def told(self, raw: bytes, why: str) -> str:
        files, options = taken(self.format, raw)
        try:
            attempt(self.format, files, options)
        except Exception:
            why += "\n" + traceback.format_exc()
        return f"{why}\n{files!r}\n{options!r}\n"


def main(format: str, folder: Path, seconds: str) -> None:
    corpus, found = folder / "corpus", folder / "found"
    for one in (corpus, found):
        one.mkdir(parents=True, exist_ok=True)
    given = list(seeds(format))
    for number, seed in enumerate(given):
        (corpus / f"seed-{number}").write_bytes(seed)
    words = words_of(given)
    resource.setrlimit(resource.RLIMIT_DATA, (BACKSTOP, BACKSTOP))
    target = Target(format, found)

    def mutate(raw: bytes, longest: int, seed: int) -> bytes:
        # What reaches new code is mostly broken, and stays so: one in four starts from what is whole.
        raw = given[seed // 12 % len(given)] if seed % 4 == 0 else raw
        made = changed(raw, seed, words) if seed % 3 else bytes(atheris.Mutate(raw, longest))
        return made[:longest]

    def one(raw: bytes) -> None:
        target(raw)
        # The end of the time ends the process too.
        if target.counts["inputs"] % 200 == 1:
            (folder / "counts.json").write_text(json.dumps(target.counts))

    limits = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=60", "-rss_limit_mb=2500"]
    atheris.Setup(
        [sys.argv[0], *limits, "-verbosity=0", f"-artifact_prefix={found}/{format}-", str(corpus)],
        one,
        custom_mutator=mutate,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
