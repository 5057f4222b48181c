"""The start of the server: its options are checked and printed, and uploads that nobody opened for some days go."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping
from threading import Thread

from nereval_core.cli.options import BAD
from nereval_core.problems import FormatError
from nereval_core.store import Store
from pages.shared.data import caches, masks, verdict_store
from pages.shared.server import check_options, server_options
from pages.shared.server.access import announce_access, check_login, only_this_machine, token

DAYS = 30
"""Days without a visit after which an upload goes, where the server does not answer its own machine alone."""
HOUR = 3_600
_LOG = logging.getLogger("nereval")


def check() -> str:
    """Return where verdicts are kept.

    End the process, with one line for each problem, where an option, token, login, store or the named verdicts are bad.
    """
    check_options()
    try:
        token()
        check_login()
        Store.of_environment()
        return verdict_store.check_named()
    except FormatError as error:
        print(error, file=sys.stderr)
        sys.exit(BAD)


def announce(verdicts: str) -> None:
    """Print who may use the server, what is in force, and where corpora and verdicts are."""
    announce_access()
    options, store = server_options(), Store.of_environment()
    switches = {"--mask": masks.all_masked(), "--read-only": options.read_only, f"--data {options.data}": options.data}
    switched = ", ".join(flag if on else f"no {flag.partition(' ')[0]}" for flag, on in switches.items())
    stored = "nowhere" if store is None else f"in {store.folder}"
    print(f"In force: {switched}. Corpora are stored {stored}, verdicts in {verdicts}.", flush=True)


def days_kept() -> int | None:
    """Return after how many days without a visit uploads go, None where they stay."""
    days: int | None = server_options().keep
    return DAYS if days is None and not only_this_machine() else days


def begin_expiry() -> None:
    """Remove what has expired, from the second hour on, where uploads expire."""
    days = days_kept()
    if days is not None:
        Thread(target=_remove_every_hour, args=(days,), name="expiry", daemon=True).start()


def _remove_every_hour(days: int) -> None:
    expired: Mapping[str, float] = {}
    while True:
        try:
            expired = remove_expired(days, expired)
        except Exception:
            _LOG.exception("expired uploads could not be removed")
        time.sleep(HOUR)


def remove_expired(days: int, expired: Mapping[str, float]) -> Mapping[str, float]:
    """Remove the uploads not opened for so many days, now and at the check an hour before; return those of now.

    A clock that jumps makes all of them look old: it may be right again by the next check. `expired` are the times of
    last use by the keys of uploads.
    """
    shelf = caches.shelf()
    unused = shelf.unused(days * 24 * HOUR)
    for entry in unused:
        if expired.get(entry.key) == entry.used:
            shelf.remove_entry(entry)
            _LOG.info("the upload %s was not opened for %d days and is removed", entry.digest[:16], days)
    return {entry.key: entry.used for entry in unused}
