"""Readings in progress: each in a thread of its own, watched and stopped from the pages. No Streamlit in here."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from functools import partial
from threading import BoundedSemaphore, Event, Lock, Thread
from time import monotonic
from typing import Generic, TypeVar

from cachetools import LRUCache

from nereval_core.problems import FormatError
from pages.shared.server.core_process import AT_ONCE, waited_for

FINISHED = 64
"""Finished readings that nobody has come back for."""
UNITS = {"brat": "documents", "jsonl": "documents", "parquet": "files"}
"""Units that readers count; readers of columns count lines, or bytes where they read by the block."""
BYTES = "bytes"
WAITING = "Waiting for other readings to end"
_LOG = logging.getLogger("nereval")
Result = TypeVar("Result")


class Job(Generic[Result]):
    """A reading with its progress (`watch`) and, once `finished`, its outcome: `loaded` or `problem`.

    After a fault of ours there is neither, and `fault` is the number the log has it under.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.watch = Watch()
        self.finished = Event()
        self.loaded: Result | None = None
        self.problem: FormatError | None = None
        self.fault = ""


def _tell_waiting(watch: Watch) -> None:
    if watch.stage != WAITING:
        watch.begin(WAITING)
    watch.tick()


class Jobs(Generic[Result]):
    """The readings of all sessions, by a number that nobody guesses."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._lock = Lock()
        self._running: dict[str, Job[Result]] = {}
        self._finished: LRUCache[str, Job[Result]] = LRUCache(FINISHED)
        self._places = BoundedSemaphore(at_once)

    def start(self, title: str, work: Callable[[Watch], Result]) -> str:
        """Begin to read; return the number of the job."""
        number, job = secrets.token_hex(8), Job[Result](title)
        with self._lock:
            self._running[number] = job
        Thread(target=self._run, args=(number, job, work), name=f"reading {number}", daemon=True).start()
        return number

    def _run(self, number: str, job: Job[Result], work: Callable[[Watch], Result]) -> None:
        try:
            job.watch.begin("Beginning to read")
            with waited_for(self._places, partial(_tell_waiting, job.watch)):
                job.loaded = work(job.watch)
        except CancelledError:
            pass
        except FormatError as error:
            job.problem = error
        except Exception:
            job.fault = secrets.token_hex(4)
            _LOG.exception("error %s", job.fault)
        finally:
            with self._lock:
                if self._running.pop(number, None) is not None:
                    self._finished[number] = job
            job.finished.set()

    def get(self, number: str) -> Job[Result] | None:
        with self._lock:
            return self._running.get(number) or self._finished.get(number)

    def take(self, number: str) -> Job[Result] | None:
        """Return a job and forget it."""
        with self._lock:
            return self._running.pop(number, None) or self._finished.pop(number, None)

    def cancel(self, number: str) -> None:
        """Forget a job; its thread ends at the next step of the reading."""
        job = self.take(number)
        if job is not None:
            job.watch.cancel()


class CancelledError(Exception):
    """Nobody waits for this reading any more."""


class Watch:
    """Progress and cancellation of a reading: written by the thread that reads, looked at by others.

    `stage` says what is being done; `done` of `total` are counted in `unit`, total 0 where nothing is counted.
    """

    def __init__(self) -> None:
        self._cancelled = Event()
        self.begin("Reading")

    def begin(self, stage: str, unit: str = "") -> None:
        self.stage, self.unit, self.done, self.total, self._since = stage, unit, 0, 0, monotonic()
        self.tick()

    def step(self, done: int, total: int) -> None:
        if done < self.done:
            # The next of several files.
            self._since = monotonic()
        self.done, self.total = done, total
        self.tick()

    def show(self, stage: str, unit: str, done: int, total: int) -> None:
        """Take over the progress of another watch."""
        if stage != self.stage:
            self.begin(stage, unit)
        self.unit = unit
        self.step(done, total)

    def tick(self) -> None:
        """Go on.

        Raises:
            CancelledError: or do not.
        """
        if self._cancelled.is_set():
            raise CancelledError

    def cancel(self) -> None:
        self._cancelled.set()

    @property
    def speed(self) -> float:
        """Units a second, 0 where too little was done to say."""
        seconds = monotonic() - self._since
        return self.done / seconds if seconds > 0.1 else 0.0
