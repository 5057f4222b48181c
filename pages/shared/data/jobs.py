"""Readings under way: each in a thread of its own, watched and stopped from the pages. No Streamlit in here."""

from __future__ import annotations

import logging
import os
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Event, Lock, Thread

from nereval_core.problems import FormatError
from pages.shared.data.loading import Loaded
from pages.shared.data.progress import CancelledError, Watch

AT_ONCE = max(2, os.cpu_count() or 1)
"""Readings that run at the same time; further ones wait."""
FINISHED = 64
"""Finished readings that nobody has come back for."""
_LOG = logging.getLogger("nereval")


class Job:
    """A reading: `watch` says how far it is; once `finished`, `loaded` or `problem` says what came of it.

    After a fault of ours neither does, and `fault` is the number the log has it under.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.watch = Watch()
        self.finished = Event()
        self.loaded: Loaded | None = None
        self.problem: FormatError | None = None
        self.fault = ""


class Jobs:
    """The readings of all sessions, by a number that nobody guesses."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._lock = Lock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._places = BoundedSemaphore(at_once)

    def start(self, title: str, work: Callable[[Watch], Loaded]) -> str:
        """Begin to read; return the number of the job."""
        number, job = secrets.token_hex(8), Job(title)
        with self._lock:
            self._jobs[number] = job
            finished = [name for name, one in self._jobs.items() if one.finished.is_set()]
            for name in finished[: max(0, len(finished) - FINISHED)]:
                del self._jobs[name]
        Thread(target=self._run, args=(job, work), name=f"reading {number}", daemon=True).start()
        return number

    def _run(self, job: Job, work: Callable[[Watch], Loaded]) -> None:
        try:
            with self._place(job.watch):
                job.loaded = work(job.watch)
        except CancelledError:
            pass
        except FormatError as error:
            job.problem = error
        except Exception:
            job.fault = secrets.token_hex(4)
            _LOG.exception("error %s", job.fault)
        finally:
            job.finished.set()

    @contextmanager
    def _place(self, watch: Watch) -> Iterator[None]:
        watch.begin("Waiting for other readings to end")
        while not self._places.acquire(timeout=0.1):
            watch.tick()
        try:
            yield
        finally:
            self._places.release()

    def get(self, number: str) -> Job | None:
        with self._lock:
            return self._jobs.get(number)

    def take(self, number: str) -> Job | None:
        """Return a job and forget it."""
        with self._lock:
            return self._jobs.pop(number, None)

    def cancel(self, number: str) -> None:
        """Forget a job; its thread ends at the next step of the reading."""
        job = self.take(number)
        if job is not None:
            job.watch.cancel()
