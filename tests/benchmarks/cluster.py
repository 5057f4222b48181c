"""Two Dask workers against one over shards of Parquet, and what a span costs: the numbers of docs/cluster.md.

Other programs on the machine slow the clock, so that beside the clock stands what the CPU says: all work of the job
with one worker, over that of the busiest worker of two and of what is not shared (scheduling and merging).
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nereval_core.engine.merged_scores import merge_scores
from nereval_core.engine.run import run_on_dask
from nereval_core.engine.shards import list_shards
from nereval_core.engine.work import Job
from nereval_core.report.json_results import results
from nereval_core.scoring import Settings
from tests.benchmarks.scales import Scale
from tests.benchmarks.shards import enough_disk, shards


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    spans, each = scale.of((20_000_000, 1_000_000), (2_000_000, 250_000), (2_000, 500))
    with tempfile.TemporaryDirectory(prefix="nereval-cluster-") as folder:
        enough_disk(Path(folder), spans)
        places = shards(Path(folder), spans, each=each)
        one, found = measured(places, Path(folder, "work-1"), 1)
        two, again = measured(places, Path(folder, "work-2"), 2)
        assert found == again
        what = f"{spans:,} gold spans, four schemas"
        yield f"{what}: one worker / two, by the clock", one["clock"] / two["clock"], ">= 1.7"
        alone, shared = one["workers"][0] + one["rest"], max(two["workers"]) + two["rest"]
        yield f"{what}: one worker / two, by CPU", alone / shared, ">= 1.7"
        yield "thousand gold spans a second and core", spans / one["workers"][0] / 1000, "reported"
        yield "microseconds a gold span that are not shared", 1e6 * one["rest"] / spans, "reported"
        yield "bytes a gold span, shards on disk", size(Path(folder, "gold"), Path(folder, "pred")) / spans, "reported"
        yield "bytes a gold span, counts on disk", size(Path(folder, "work-1")) / spans, "reported"
        yield "peak memory of a worker, bytes a gold span of its shard", two["peak"] / each, "reported"


def measured(places: tuple[Path, Path], work: Path, workers: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Score all shards anew; return seconds by clock and of CPU (by worker, and of the rest), and the result."""
    from distributed import Client, LocalCluster

    found = list_shards(str(places[0]), {"pred": str(places[1])}).shards
    job = Job(settings=Settings(), work=str(work))
    work.mkdir()
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        # Workers import what they need before the clock runs.
        client.run(warmed)
        before = client.run(time.process_time)
        began, here = time.perf_counter(), time.process_time()
        done = list(run_on_dask(found, job, scheduler=cluster.scheduler_address))
        whole = merge_scores(found, done, job)
        result = results(whole.gold, whole.systems)
        clock, rest = time.perf_counter() - began, time.process_time() - here
        after = client.run(time.process_time)
        peak = max(client.run(peak_memory).values())
    return {
        "clock": clock,
        "rest": rest,
        "workers": [after[name] - before[name] for name in before],
        "peak": peak,
    }, result


def warmed() -> None:
    import nereval_core.engine.work
    import nereval_core.readers.parquet  # noqa: F401


def peak_memory() -> int:
    """Return the most memory the process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def size(*folders: Path) -> int:
    return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())
