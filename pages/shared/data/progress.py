"""How far a reading is, and whether it is still wanted. No Streamlit in here."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from time import monotonic

UNITS = {"brat": "documents", "jsonl": "documents", "parquet": "files"}
"""What readers count as they go; those of columns count lines, or bytes where they read by the block."""
BYTES = "bytes"


class CancelledError(Exception):
    """Nobody waits for this reading any more."""


class Watch:
    """How far a reading is, and whether to go on: written by the thread that reads, looked at by others.

    `stage` says what is being done; `done` of `total` are counted in `unit`, total 0 where nothing is counted.
    """

    def __init__(self) -> None:
        self._cancelled = Event()
        self._end: Callable[[], None] = lambda: None
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
        """Take over what another watch shows."""
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

    def ends(self, end: Callable[[], None]) -> None:
        """Have this called when the reading is cancelled, at once where it is already."""
        self._end = end
        if self._cancelled.is_set():
            end()

    def cancel(self) -> None:
        self._cancelled.set()
        self._end()

    @property
    def speed(self) -> float:
        """Units a second, 0 where too little was done to say."""
        seconds = monotonic() - self._since
        return self.done / seconds if seconds > 0.1 else 0.0
