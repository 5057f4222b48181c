"""The store of verdicts under stress: many writers, processes and servers killed, full disks, and missing rights."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice

import pytest

from nereval_core.problems import FormatError
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import Draft
from pages.shared.data.verdict_store import Verdicts
from tests.support import PYTHON_PATH, ROOT, databases
from tests.support.reviewers import READER, RECORDS, verdict


@contextmanager
def reviewers(where: str, count: int, *names: str) -> Iterator[subprocess.Popen[str]]:
    """Run reviewers as processes of a group; whoever is left at the end is killed."""
    command = [sys.executable, "-m", "tests.support.reviewers", where, str(count), *names]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": PYTHON_PATH},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def said(process: subprocess.Popen[str], lines: int | None = None) -> dict[str, set[str]]:
    """Return the uids by who said them: in the next so many lines, or in all that are still to come."""
    assert process.stdout is not None
    found: dict[str, set[str]] = {}
    for line in islice(process.stdout, lines):
        who, uid = line.split()
        found.setdefault(who, set()).add(uid)
    return found


def whole(store: ReviewStore) -> set[str]:
    """Check that the history of each record has no gap, and that numbers follow versions; return all uids."""
    every = store.every()
    versions: dict[str, int] = {}
    for one in every:
        assert one.version == versions.get(one.verdict.key.record, 0) + 1
        versions[one.verdict.key.record] = one.version
    assert [one.number for one in every] == sorted({one.number for one in every})
    return {one.uid for one in every}


def test_four_writers_lose_nothing_and_a_reader_sees_all(empty_database: str) -> None:
    # The database is empty: all begin by making its tables.
    with reviewers(empty_database, 150, READER, "Ann", "Bob", "Eve", "Max") as running:
        found = said(running)
        assert running.wait(60) == 0
    seen = found.pop(READER)
    assert [len(uids) for uids in found.values()] == [150] * 4
    store = ReviewStore(empty_database)
    assert whole(store) == set.union(*found.values()) == seen
    assert [len(store.history(verdict(number).key)) for number in range(RECORDS)] == [120] * RECORDS
    store.close()


def test_what_was_acknowledged_outlives_killed_writers(empty_database: str) -> None:
    kept: set[str] = set()
    for _ in range(3):
        with reviewers(empty_database, 1000, "Ann", "Bob") as running:
            kept |= set.union(*said(running, 30).values())
            os.killpg(running.pid, signal.SIGKILL)
            # What was said before the kill and not yet read was acknowledged too.
            kept |= set().union(*said(running).values())
        store = ReviewStore(empty_database)
        assert kept <= whole(store)
        store.give([Draft(verdict(RECORDS - 1), store.reviewed().version(verdict(RECORDS - 1).key))], "Eve")
        store.close()


def test_what_was_acknowledged_outlives_a_killed_server(server: databases.Server) -> None:
    where = server.url
    store = databases.emptied(ReviewStore(where))
    page = Verdicts(ReviewStore(where))
    with reviewers(where, 60, "Ann", "Bob") as running:
        kept = set.union(*said(running, 20).values())
        page.refresh()
        shown = page.reviewed
        assert shown.number >= 20
        for _ in range(2):
            server.kill()
            with pytest.raises(FormatError, match=r"check that the database runs|try again"):
                ReviewStore(where).reviewed()
            # Pages show what stood when it could be read, and say what is wrong.
            page.refresh()
            assert page.reviewed is shown and page.problems
            server.start()
            kept |= set.union(*said(running, 20).values())
        kept |= set.union(*said(running).values())
        assert running.wait(60) == 0
    # A connection from before the server fell is opened anew.
    assert kept <= whole(store)
    store.close()
