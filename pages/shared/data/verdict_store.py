"""The store of verdicts that all sessions of a server share, and the verdicts as they stood when a page last asked."""

from __future__ import annotations

import os
import time
from functools import cache
from tempfile import TemporaryFile
from threading import Lock

from nereval_core.corpus import Documents
from nereval_core.problems import FormatError, Problem
from nereval_core.readers.input.temporaries import private_folder
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.store import ReviewStore
from nereval_core.review.store.databases import VARIABLE
from nereval_core.review.verdicts_on_records import text_digests
from pages.shared.server import server_options
from pages.shared.server.access import only_this_machine
from pages.shared.server.memory import freeze_objects

PATIENCE = 10
"""Seconds for which a database that failed is left alone: pages are not to wait for it again and again."""
MANY = 1_000
"""Verdicts read at once that are worth being frozen, so that collections pass them over."""


class Verdicts:
    """The verdicts of a store as last read, and the `problems` of the last reading."""

    def __init__(self, store: ReviewStore | None, problems: tuple[Problem, ...] = ()) -> None:
        self.store = store
        self.problems = problems
        self.reviewed = Reviewed()
        self._again = 0.0
        self._lock = Lock()

    def refresh(self) -> None:
        """Read the verdicts that others have given since."""
        with self._lock:
            if self.store is None or time.monotonic() < self._again:
                return
            try:
                before = self.reviewed.number
                self.reviewed = self.store.reviewed()
                self.problems = ()
                if self.reviewed.number - before >= MANY:
                    freeze_objects()
            except FormatError as error:
                self.problems = error.problems
                self._again = time.monotonic() + PATIENCE


@cache
def _kept() -> Verdicts:
    try:
        return Verdicts(_named())
    except FormatError as error:
        return Verdicts(None, error.problems)


def _named() -> ReviewStore:
    return ReviewStore.of_environment(server_options().review, by_text_alone=not only_this_machine())


def refresh() -> None:
    _kept().refresh()


def now() -> Reviewed:
    """Return the verdicts that stood when the page began, or as the page itself changed them."""
    return _kept().reviewed


def quoted_texts(documents: Documents) -> frozenset[str] | None:
    """Return the texts, by their digests, whose verdicts are quoted; None for any.

    Verdicts quote texts. On a server for others those on texts outside the open corpus may be other people's.
    """
    return None if only_this_machine() else frozenset(text_digests(documents))


def is_read_only() -> bool:
    """Return whether the server takes neither verdicts nor playlists."""
    return bool(server_options().read_only)


def store_to_write() -> ReviewStore:
    """Return the store to write to; call `refresh` afterwards.

    Raises:
        FormatError: the server takes no verdicts, or as `store`.
    """
    if is_read_only():
        finding, remedy = "this server takes neither verdicts nor playlists", "ask whoever runs it for one that does"
        raise FormatError.single("read-only server", None, finding, remedy)
    return store()


def store() -> ReviewStore:
    """Return the store to read from.

    Raises:
        FormatError: there is none: the address that the server was given is wrong.
    """
    verdicts = _kept()
    if verdicts.store is None:
        raise FormatError(verdicts.problems)
    return verdicts.store


def check_named() -> str:
    """Open the file or database of verdicts as it was named when the server was started, and return its name.

    The URL of a database is without its password.

    Raises:
        FormatError: it is no store of verdicts; or the one named cannot be opened, or its folder not be written.
    """
    store = _named()
    if server_options().review or os.environ.get(VARIABLE):
        place = store.database.file
        with store.database.reading() as connection:
            if connection is not None:
                store.has_tables(connection)
            elif place is not None and not is_read_only():
                try:
                    private_folder(place.parent)
                    TemporaryFile(dir=place.parent).close()
                except OSError as error:
                    raise FormatError.single(
                        store.name, None, f"its folder cannot be written: {error.strerror}", "name another file"
                    ) from None
    store.close()
    return store.name


def name() -> str:
    """Return the name of the store, without passwords; "" where there is none."""
    verdicts = _kept()
    return "" if verdicts.store is None else verdicts.store.name


def file() -> str | None:
    """Return the name of the file that holds the verdicts, None where a server does: its address may have secrets."""
    store = _kept().store
    return None if store is None or store.database.file is None else store.database.file.name


def problems() -> tuple[Problem, ...]:
    """Return why the store could not be read, nothing where it could."""
    return _kept().problems
