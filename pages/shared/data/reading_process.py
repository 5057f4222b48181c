"""Reading in a process of its own, so that pages answer meanwhile, and that ending it is certain and gives all back.

The corpus itself the process leaves in the store, or in a folder that lasts until it is opened from there.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from time import monotonic

from nereval_core.readers.input.temporaries import TemporaryFolder, remove_abandoned
from nereval_core.store import Store
from pages.shared.data.jobs import CancelledError, Watch
from pages.shared.data.kept_corpora import Keeper
from pages.shared.data.loading import Loaded
from pages.shared.data.reading_orders import Order
from pages.shared.server.core_process import EVERY, UNBOUNDED, Bounds, call_apart, tell


def read_order(keeper: Keeper, order: Order, watch: Watch, bounds: Bounds = UNBOUNDED, owner: str = "") -> Loaded:
    """Read the corpus of an order for an owner: in this process if it is small, unless the bounds ask for another.

    Raises:
        FormatError: as `load`, or a bound was reached.
        CancelledError: it is no longer wanted.
    """
    if order.small and not bounds.apart:
        return _read(keeper, order, owner, watch)

    def check_wanted() -> None:
        watch.tick()
        if not bounds.is_waited_for():
            raise CancelledError

    with TemporaryFolder() as name:
        stores = [store for store in (keeper.store, _spare(Path(name))) if store is not None]
        reading = partial(_keep, keeper.store, Path(name), order, owner)
        try:
            key, trouble = call_apart(reading, order.title, check_wanted=check_wanted, bounds=bounds, hear=watch.show)
        finally:
            for folder in (Path(name).parent, *(store.folder for store in stores)):
                remove_abandoned(folder)
        keeper.tell(trouble)
        for store in stores:
            if (loaded := keeper.take(store, key)) is not None:
                return loaded
    if bounds.apart:
        raise bounds.problem(order.title, "was read, but there is no room on the disk to keep it")
    # There is no room on any disk.
    return _read(keeper, order, owner, watch)


def _read(keeper: Keeper, order: Order, owner: str, watch: Watch) -> Loaded:
    opened = order.opened()
    return keeper.read(*opened, order.options, first_annotator=order.first_annotator, owner=owner, watch=watch)


def _keep(store: Store | None, spare: Path, order: Order, owner: str) -> tuple[str, str]:
    """Read in this process what another one opens; return the key of its input, and what was wrong with the store."""
    keeper = Keeper(store, spare=_spare(spare))
    return _read(keeper, order, owner, _Telling()).key, keeper.trouble


def _spare(folder: Path) -> Store:
    return Store(folder, sys.maxsize)


class _Telling(Watch):
    """A watch that tells how far it is, now and then, who waits for this process."""

    def __init__(self) -> None:
        self._told = 0.0
        super().__init__()

    def begin(self, stage: str, unit: str = "") -> None:
        super().begin(stage, unit)
        self._tell()

    def step(self, done: int, total: int) -> None:
        super().step(done, total)
        if monotonic() - self._told > EVERY:
            self._tell()

    def _tell(self) -> None:
        self._told = monotonic()
        tell(stage=self.stage, unit=self.unit, done=self.done, total=self.total)
