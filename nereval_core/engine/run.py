"""Run a job over all shards: in this process, or on the worker processes of a Dask cluster."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from importlib import import_module
from multiprocessing import resource_tracker
from typing import Any

from nereval_core.engine.shards import Shard
from nereval_core.engine.work import Job, ShardResult, score_shard
from nereval_core.problems import FormatError, Problem

Run = Callable[[Sequence[Shard], Job], Iterator[ShardResult]]
"""Yields the result of each shard, in the order in which shards are finished."""

SCHEDULER_SECONDS = 15
"""Seconds within which a scheduler must answer."""
WORKER_SECONDS = 60
"""Seconds that a job waits for a scheduler without workers."""


def run_locally(shards: Sequence[Shard], job: Job) -> Iterator[ShardResult]:
    """Score one shard after another in this process."""
    for shard in shards:
        yield score_shard(shard, job)


def run_on_dask(
    shards: Sequence[Shard], job: Job, *, scheduler: str | None = None, workers: int = 0
) -> Iterator[ShardResult]:
    """Score shards on the workers of a scheduler, or on so many worker processes of this machine (0: one a processor).

    All workers read the shards and write the entries by the paths they are given, which must be the same for all. The
    work of a worker that dies is done by another.

    Raises:
        FormatError: Dask is not installed, no scheduler answers, it no longer does, or it has no workers.
    """
    try:
        dask, distributed = import_module("dask"), import_module("distributed")
    except ImportError:
        finding = "the package distributed is not installed"
        raise FormatError.single("--engine dask", None, finding, "pip install distributed") from None
    quiet = {"logging.distributed": "critical", "distributed.admin.log-format": "%(message)s"}
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(quiet))
        where: Any = scheduler
        if scheduler is None:
            # Read by the worker processes as they start.
            stack.enter_context(_variable("DASK_LOGGING__DISTRIBUTED", "critical"))
            with _deaf():
                where = stack.enter_context(
                    distributed.LocalCluster(
                        n_workers=workers or os.cpu_count() or 1,
                        threads_per_worker=1,
                        processes=True,
                        dashboard_address="127.0.0.1:0",
                        silence_logs=logging.CRITICAL,
                    )
                )
        # It writes the errors of its connection by itself, until it is closed.
        stack.enter_context(_silent("distributed.client"))
        try:
            client = stack.enter_context(distributed.Client(where, timeout=SCHEDULER_SECONDS, set_as_default=False))
        except (OSError, TimeoutError, ValueError) as error:
            finding = f"no Dask scheduler answers at {scheduler}: {error or 'no answer in time'}"
            raise FormatError.single("--scheduler", None, finding, "start one: dask scheduler") from None
        with _connected(client, scheduler):
            yield from _scored(client, shards, job, scheduler)


def _scored(client: Any, shards: Sequence[Shard], job: Job, scheduler: str | None) -> Iterator[ShardResult]:
    distributed: Any = import_module("distributed")
    # A shard is held until its future goes: what a result holds is small.
    shards_of = dict(zip(client.map(score_shard, shards, job=job, pure=False), shards, strict=True))
    try:
        for future, outcome in _finished(client, list(shards_of), scheduler):
            if isinstance(outcome, distributed.KilledWorker):
                shard = shards_of[future]
                remedy = "give workers more memory, or cut it into smaller shards"
                problem = Problem(shard.gold.path, None, "each worker that took it on died", remedy)
                yield ShardResult(shard.name, problems=(problem,))
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                yield outcome
            future.release()
    finally:
        if client.status == "running":
            client.cancel(list(shards_of), force=True)


def _finished(client: Any, futures: Sequence[Any], scheduler: str | None) -> Iterator[tuple[Any, Any]]:
    """Yield futures as they are done, each with its result or error.

    Raises:
        FormatError: the scheduler has been without workers for WORKER_SECONDS: Dask would wait for ever.
    """
    distributed: Any = import_module("distributed")
    pending, last_seen = dict.fromkeys(futures), time.monotonic()
    while pending:
        try:
            for future in distributed.as_completed(list(pending), loop=client.loop, timeout=WORKER_SECONDS / 4):
                # The worker that holds a result may be lost: then another does the work anew, if there is one.
                done = future.status != "error"
                outcome = future.result(timeout=WORKER_SECONDS / 4) if done else future.exception()
                del pending[future]
                yield future, outcome
                last_seen = time.monotonic()
        except TimeoutError:
            if client.nthreads():
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > WORKER_SECONDS:
                raise _lost(scheduler, f"has had no worker for {WORKER_SECONDS} seconds", "start workers") from None


@contextmanager
def _connected(client: Any, scheduler: str | None) -> Iterator[None]:
    """Report a lost scheduler, whatever error it causes.

    Raises:
        FormatError: the scheduler no longer answers.
    """
    try:
        yield
    except (OSError, TimeoutError, CancelledError) as error:
        # A worker's own error, as of a full disk, has a number and comes while the scheduler answers. A broken
        # connection has none, and the client may not have noticed yet.
        if client.status == "running" and isinstance(error, OSError) and error.errno is not None:
            raise
        raise _lost(scheduler, "no longer answers", "start it") from None


def _lost(scheduler: str | None, finding: str, remedy: str) -> FormatError:
    option, place = ("--scheduler", f" at {scheduler}") if scheduler else ("--engine dask", "")
    advice = "and score again: shards that were scored are kept"
    return FormatError.single(option, None, f"the Dask scheduler{place} {finding}", f"{remedy} {advice}")


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Silence a logger within the block."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextmanager
def _deaf() -> Iterator[None]:
    """Start processes and threads that Ctrl-C does not reach: it stops the job, and the job stops them.

    The mask of signals is inherited, also by processes and threads that these start later.
    """
    # Starting this one takes the mask off, so it is started first.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """Set an environment variable within the block."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
