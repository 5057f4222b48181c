"""A week of a server in a few hours: sessions that come and go, verdicts and uploads, while it is killed at times.

It is killed in each of the first tenths of the week and lives through the others: its memory, threads and open files at
the end are compared with those in the middle of its last life, when it has seen all that it will see.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from threading import Event, Lock
from urllib.parse import parse_qs

from nereval_core.review.store import ReviewStore
from nereval_core.store import Store
from tests.endurance import Wanted
from tests.endurance.people import GROWTH, MB, kept_notes, memory_at_rest
from tests.endurance.person import PAGES, TOKEN, Person, logged_faults, serve_people
from tests.support.browser import free_port
from tests.support.processes import open_file_count, resident_bytes, thread_count
from tests.support.reviewers import RECORDS, give_one, verdict
from tests.support.visitors import Visitor

VERDICTS, UPLOADS = 10, 0.1
"""Verdicts and uploads for each session."""
STORE_BYTES = 1_500_000
DAYS = 7
"""Days for which the server keeps uploads."""
DAY = 86_400
PASSERS, WRITERS, UPLOADERS = 3, 3, 2
"""People who come and go, who give verdicts, and who upload, at the same time."""
SPARE = 4
"""Threads and open files by which a server at rest may differ from itself."""


@dataclass(frozen=True)
class Upload:
    """An upload that the server has acknowledged: the link to it, its owner's cookies, and the owner's word."""

    link: str
    cookies: dict[str, str]
    word: str

    @property
    def digest(self) -> str:
        return parse_qs(self.link)["corpus"][0]


def run(folder: Path, wanted: Wanted, *, sessions: int = 10_000, tenths: int = 10, killed: int = 3) -> Counter[str]:
    """Have so many sessions, and verdicts and uploads in proportion, as long as `wanted` says so of the sessions.

    Return their numbers, those of `errors`, of `lost verdicts` and `lost uploads`, `temporaries` and `processes` that
    are left, `more threads` and `more open files`, and MB of the server's memory.
    """
    week = Week(folder, wanted)
    rests = []
    with week.served():
        for tenth in range(1, tenths + 1):
            week.go_on(sessions, tenth / tenths, kill=tenth <= killed)
            if tenth == killed:
                week.expire()
            if tenth > killed:
                rests.append(week.at_rest())
                week.counts[f"MB after tenth {tenth}"] = rests[-1]["bytes"] // MB
        week.revisit()
    before, after = rests[len(rests) // 2], rests[-1]
    each = _bytes_of_a_verdict(folder)
    counts = week.counts
    counts["MB of verdicts since the middle"] = round(each * (after["verdicts"] - before["verdicts"]) / MB)
    counts["grown"] = int(after["bytes"] - counts["MB of verdicts since the middle"] * MB > GROWTH * before["bytes"])
    for name in ("threads", "open files"):
        counts[f"more {name}"] = max(0, after[name] - before[name] - SPARE)
    counts["errors"] += logged_faults(folder)
    counts["temporaries"] = len([path for path in folder.rglob("*") if "nereval-" in path.name])
    counts["processes"] = len(_processes_of(folder))
    return counts


class Week:
    """What was done so far, and the server, which is killed and started again at one address."""

    def __init__(self, folder: Path, wanted: Wanted) -> None:
        self._wanted = wanted
        self.counts: Counter[str] = Counter()
        self.uploads: list[Upload] = []
        self._folder = folder
        self._port = free_port()
        self._store = Store(folder / "store", STORE_BYTES)
        self._given: set[str] = set()
        self._notes: set[str] = set()
        self._lock = Lock()
        self._running = ExitStack()
        self._up = Event()
        self._lives = 0
        self._address, self._process = "", 0

    @contextmanager
    def served(self) -> Iterator[None]:
        self._start()
        try:
            yield
        finally:
            self._running.close()
        with self._verdicts() as store:
            kept = {one.uid for one in store.every()}
        self.counts["lost verdicts"] = len(self._given - kept) + len(self._notes - kept_notes(self._folder))

    def _start(self) -> None:
        served = serve_people(self._folder, "--keep", str(DAYS), port=self._port, NEREVAL_CACHE_BYTES=str(STORE_BYTES))
        self._address, self._process = self._running.enter_context(served)
        self._up.set()

    def _kill(self) -> None:
        """Kill the server and start another one; what people were doing is cut off."""
        self._up.clear()
        self._lives += 1
        os.kill(self._process, signal.SIGKILL)
        self._running.close()
        self._start()
        self.counts["kills"] += 1

    @contextmanager
    def _verdicts(self) -> Iterator[ReviewStore]:
        store = ReviewStore(self._folder / "review.sqlite", by_text_alone=True)
        try:
            yield store
        finally:
            store.close()

    def go_on(self, sessions: int, share: float, *, kill: bool) -> None:
        """Go on until there was a share of the sessions of the week, and of its verdicts and uploads."""

        def lacks(name: str, number: float) -> bool:
            return self.counts[name] < round(number * sessions * share) and self._wanted(self.counts["sessions"], share)

        def repeat(name: str, number: float, act: Callable[[], None]) -> None:
            while lacks(name, number):
                self._attempt(act)

        with ThreadPoolExecutor(PASSERS + WRITERS + UPLOADERS) as pool:
            running = [pool.submit(repeat, "sessions", 1, self._pass_by) for _ in range(PASSERS)]
            running += [
                pool.submit(self._write, f"writer {number}", partial(lacks, "verdicts", VERDICTS))
                for number in range(WRITERS)
            ]
            running += [pool.submit(repeat, "uploads", UPLOADS, self._upload) for _ in range(UPLOADERS)]
            if kill:
                time.sleep(1)
                self._kill()
            for one in running:
                one.result()

    def _attempt(self, act: Callable[[], None]) -> None:
        """Do something with the server, and count what fails though it was not killed meanwhile."""
        life = self._lives
        self._up.wait()
        try:
            act()
        except Exception:
            cut = life != self._lives
            self._count("cut off" if cut else "errors")
            if not cut:
                traceback.print_exc()

    def _count(self, name: str) -> int:
        with self._lock:
            self.counts[name] += 1
            return self.counts[name]

    def _pass_by(self) -> None:
        """Come, look at a page, and leave, in the middle of drawing at times."""
        rng = Random(self._count("sessions"))
        with Visitor(self._address, token=TOKEN) as visitor:
            if rng.random() < 0.3:
                visitor.ask_for(rng.choice(PAGES))
                time.sleep(rng.uniform(0, 0.2))
                self._count("left in the middle")
            else:
                visitor.open(rng.choice(PAGES))
                assert not visitor.shown.faults(), visitor.shown.faults()

    def _write(self, who: str, lacks: Callable[[], bool]) -> None:
        """Give verdicts as pages do, over those that others gave on the same records."""
        with self._verdicts() as store:
            while lacks():
                number = self._count("verdicts")
                # Each record gets some verdicts.
                one = verdict(number, f"{who} {number}", f"Ann took aspirin {number // (RECORDS * VERDICTS)}")
                self._given.add(give_one(store, one, who).uid)

    def _upload(self) -> None:
        """Bring an upload and use it."""
        person = Person(self._address, self._count("uploads"))
        try:
            person.bring()
            self.uploads.append(Upload(person.link, dict(person.visitor.cookies), person.word))
            person.turn()
        finally:
            person.leave()
            self._notes.update(person.notes)
            with self._lock:
                self.counts.update({name: person.counts[name] for name in ("clicks", "foreign texts", "errors")})
                self.counts["verdicts by clicking"] += len(person.notes)

    def expire(self) -> None:
        """Make half of the uploads too old while the server is down: the next one removes them and keeps the rest."""
        old = self._store.entries()[1::2]
        if not old:
            return
        for entry in old:
            os.utime(entry.path, (time.time() - (DAYS + 1) * DAY,) * 2)
        self._kill()
        until = time.monotonic() + 10
        while any(entry.path.exists() for entry in old) and time.monotonic() < until:
            time.sleep(0.1)
        self.counts["expired"] += sum(not entry.path.exists() for entry in old)
        self.counts["errors"] += sum(entry.path.exists() for entry in old)
        self.revisit()

    def revisit(self) -> None:
        """Have owners open their uploads: those that are stored open, of others the page says that they are gone."""
        stored = {entry.digest for entry in self._store.entries()}
        for one in self.uploads:
            here = any(digest.startswith(one.digest) for digest in stored)
            if here or one in self.uploads[-3:]:
                self._attempt(partial(self._reopen, one, here))

    def _reopen(self, upload: Upload, stored: bool) -> None:
        with Visitor(self._address, cookies=upload.cookies) as visitor:
            visitor.open("Inspect", f"corpus={upload.digest}")
            assert not visitor.shown.faults(), visitor.shown.faults()
            shown = any(upload.word in text for text in visitor.shown.texts())
        self._count("opened again" if shown else "gone")
        if stored and not shown:
            self._count("lost uploads")
            print(upload.digest, "is stored and does not open", file=sys.stderr)

    def at_rest(self) -> dict[str, int]:
        """Return what the server takes when nobody is there, and the number of verdicts by then."""
        return {
            "bytes": memory_at_rest(self._process),
            "threads": thread_count(self._process),
            "open files": open_file_count(self._process),
            "verdicts": self.counts["verdicts"],
        }


def _bytes_of_a_verdict(folder: Path) -> float:
    """Return the memory that a verdict takes in a process that has read all of them."""
    before = resident_bytes(os.getpid())
    store = ReviewStore(folder / "review.sqlite")
    read = store.reviewed()
    taken = resident_bytes(os.getpid()) - before
    store.close()
    return max(0, taken) / max(1, read.number)


def _processes_of(folder: Path) -> list[str]:
    """Return the processes that keep their temporaries in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"TMPDIR={folder}\0".encode() in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found
