"""Expiry of uploads: those that nobody has opened for some days go, from disk and from memory."""

from __future__ import annotations

import logging
import time
from threading import Thread

from pages.shared.data import caches
from pages.shared.server import server_options
from pages.shared.server.access import only_this_machine

DAYS = 30
"""Days without a visit after which an upload goes, where the server does not answer its own machine alone."""
HOUR = 3_600
_LOG = logging.getLogger("nereval")


def days_kept() -> int | None:
    """Return after how many days without a visit uploads go, None where they stay."""
    given: int | None = server_options().keep
    return DAYS if given is None and not only_this_machine() else given


def begin() -> None:
    """Remove what has expired, now and every hour, where uploads expire."""
    days = days_kept()
    if days is not None:
        Thread(target=_remove_every_hour, args=(days,), name="expiry", daemon=True).start()


def _remove_every_hour(days: int) -> None:
    while True:
        try:
            for entry in caches.shelf().remove_unused(days * 24 * HOUR):
                _LOG.info("the upload %s was not opened for %d days and is removed", entry.digest[:16], days)
        except Exception:
            _LOG.exception("expired uploads could not be removed")
        time.sleep(HOUR)
