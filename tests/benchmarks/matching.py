"""How fast the scoring core aligns and decides, beside a sort of as many numbers and beside nervaluate."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np

from nereval_core.alignment import align
from nereval_core.alignment.codes import EQUAL, SAME_TYPE, UNALIGNED, Alignment, Decision
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA, SCHEMAS, decision_table
from tests.benchmarks.c_floor import c_sweep
from tests.benchmarks.generated import TYPES, Generated, generate
from tests.benchmarks.scales import Scale

MILLION = 1_000_000
EXACT = EQUAL | SAME_TYPE


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    million = scale.of(MILLION, MILLION, 1_000)
    for spans in scale.of((million, 10 * million), (million,), (million,)):
        aims = (0.75, 1.4, 3.0) if spans == million else (0.55, 1.4, 3.0)
        for tangled, aim in zip((0.01, 0.10, 0.30), aims, strict=True):
            data = generate(spans, tangled=tangled)
            ratio = compared(
                lambda data=data: four(data), lambda spans=spans: sort(spans), 9 if spans == million else 3
            )
            yield (f"{spans:,} gold spans, {tangled:.0%} tangled, four schemas / sort", ratio, f"<= {aim}")
    yield from nanoseconds(million)
    sizes = {size: generate(million, by_document=size) for size in (1, 10, 1_000, 10_000)}
    yield ("slowest / fastest of 1, 10, 1,000, 10,000 spans a document", spread(list(sizes.values()), 15), "<= 1.5")
    data = sizes[10]
    yield ("ten criteria / four", compared(lambda: ten(data), lambda: four(data), 9), "<= 2")
    yield ("bytes a gold span at the peak, beyond the input", peak(data) / million, "<= 20")
    small = generate(million // 10)
    yield (f"nervaluate 1.2.1 evaluate() / ours, {million // 10:,} spans", nervaluate(small), ">= 300")
    yield ("seconds of CPU for nereval --help", help_seconds(scale.runs(5)), "< 0.3")


def nanoseconds(spans: int) -> Iterator[tuple[str, float, str]]:
    """Yield nanoseconds of CPU a gold span of aligning, and of a sweep in C where no span is tangled."""
    for tangled in (0.0, 0.01, 0.1, 0.3):
        data = generate(spans, tangled=tangled)
        times = [clock(lambda data=data: four(data)) for _ in range(6)]
        yield f"ns a gold span: {spans:,}, {tangled:.0%} tangled, four schemas", min(times) * 1e9 / spans, "reported"
        floor = c_sweep(data) if not tangled else None
        if floor is not None:
            sweep, codes = floor
            times = [clock(sweep) for _ in range(6)]
            ours = four(data)
            for side, code in zip((ours.gold, ours.pred), codes, strict=True):
                n_exact = ((code != UNALIGNED) & ((code & EXACT) == EXACT)).sum()
                assert n_exact == side.counts[:, SCHEMAS.index("strict"), Decision.COR].sum(), "C decides otherwise"
            yield f"ns a gold span: {spans:,}, none tangled, a sweep in C", min(times) * 1e9 / spans, "reported"


def clock(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def compared(one: Callable[[], object], other: Callable[[], object], runs: int) -> float:
    """Return the median ratio of CPU times of neighbouring runs, after a warm-up of both."""
    one(), other()
    return statistics.median(clock(one) / clock(other) for _ in range(runs))


def spread(corpora: list[Generated], runs: int) -> float:
    """Return the time of the slowest corpus over that of the fastest, each the median of its ratios to the first."""
    rounds = [[clock(lambda data=data: four(data)) for data in corpora] for _ in range(runs + 1)]
    # The first round is the warm-up.
    relative = [statistics.median(times[place] / times[0] for times in rounds[1:]) for place in range(len(corpora))]
    return max(relative) / min(relative)


def sort(spans: int) -> None:
    np.sort(numbers(spans), kind="stable")


_NUMBERS: dict[int, np.ndarray] = {}


def numbers(spans: int) -> np.ndarray:
    if spans not in _NUMBERS:
        _NUMBERS[spans] = np.random.default_rng(0).integers(0, 2**62, spans)
    return _NUMBERS[spans]


def four(data: Generated) -> Alignment:
    return run(data, SCHEMAS)


def ten(data: Generated) -> Alignment:
    return run(data, tuple(name for name in APPLICABLE if CRITERIA[name].unit == "span"))


def run(data: Generated, names: tuple[str, ...]) -> Alignment:
    rules = decision_table([CRITERIA[name] for name in names])
    return align(data.gold, data.pred, data.base, rules, types=TYPES)


def peak(data: Generated) -> int:
    """Return the bytes that scoring under the four schemas allocates at its peak, results included."""
    four(data)
    tracemalloc.start()
    four(data)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def nervaluate(data: Generated) -> float:
    """Return how many times as long nervaluate takes over the same spans, from its own input structures."""
    from nervaluate.evaluator import Evaluator

    names = [f"T{code}" for code in range(TYPES)]
    sides = []
    for spans in (data.gold, data.pred):
        rows: list[list[dict[str, object]]] = [[] for _ in range(data.documents)]
        columns = (column.tolist() for column in (spans.doc, spans.start, spans.end, spans.type))
        for doc, start, end, kind in zip(*columns, strict=True):
            rows[doc].append({"label": names[kind], "start": start, "end": end - 1})
        sides.append(rows)
    evaluator = Evaluator(*sides, tags=names, loader="dict")
    theirs = clock(evaluator.evaluate)
    return theirs / statistics.median(clock(lambda: four(data)) for _ in range(5))


def help_seconds(runs: int) -> float:
    """Return the CPU seconds of the command line's help, the median of so many processes."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "nereval_core", "--help"], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return statistics.median(once() for _ in range(runs))
