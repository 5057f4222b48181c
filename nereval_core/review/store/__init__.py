"""Where verdicts are kept: every one ever given, in the order given; the last one on a record is what stands.

Two people on one record: each says which version of its verdicts they had seen, and whoever comes second is told what
the first one decided (`ConflictError`); nothing of theirs is kept until they have seen it.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, get_args

import msgspec
from sqlalchemy import Connection, Row, func, insert, select
from sqlalchemy.exc import IntegrityError

from nereval_core.problems import FormatError
from nereval_core.readers import uncollected
from nereval_core.review.standing_verdicts import Course, Reviewed
from nereval_core.review.store.databases import VARIABLE, Database, default_file
from nereval_core.review.store.revisions import revision, upgrade
from nereval_core.review.store.schema import EVENTS, HEAD, READABLE
from nereval_core.review.verdicts import (
    WITHDRAWN,
    ConflictError,
    Draft,
    Given,
    Key,
    Kind,
    body_of,
    name_problems,
    problems,
    refuse,
    verdict_of,
)

_MANY = 500
"""Records that one question to the database names."""


class ReviewStore:
    """The verdicts in one database; may be used by several threads."""

    def __init__(self, where: str | Path) -> None:
        """Name a file of SQLite or the URL of a database; nothing is opened before it is needed.

        Raises:
            FormatError: a URL that is none, or names a database of another kind.
        """
        self.database = Database(where)
        self._ready = False
        self._lock = Lock()
        self._reviewed = Reviewed()

    @classmethod
    def of_environment(cls, file: str | Path | None = None, environment: Mapping[str, str] = os.environ) -> ReviewStore:
        """Return the store in a file, else the one that NEREVAL_REVIEW_URL names, else that of the user.

        Raises:
            FormatError: as the constructor.
        """
        return cls(file or environment.get(VARIABLE) or default_file(environment))

    @property
    def name(self) -> str:
        """The file, or the URL without its password."""
        return self.database.name

    def reviewed(self) -> Reviewed:
        """Return all verdicts that stand now; only those given since the last time are read.

        Raises:
            FormatError: the database cannot be read.
        """
        with self._lock:
            with self.database.reading() as connection:
                if connection is None or self._revision(connection) is None:
                    return self._reviewed
                known = self._reviewed
                news = self._given(connection, EVENTS.c.number >= known.number)
            if known.number and (not news or news[0].uid != known.uid):
                # Another database took the place of the one that was read: a copy from another day.
                known = Reviewed()
                with self.database.reading() as connection:
                    assert connection is not None
                    news = self._given(connection)
            elif known.number:
                news = news[1:]
            with uncollected():
                self._reviewed = known.after(news)
            return self._reviewed

    def history(self, key: Key) -> tuple[Given, ...]:
        """Return every verdict ever given on a record, the first one first, those taken back too."""
        return self._all(EVENTS.c.record == key.record)

    def every(self) -> tuple[Given, ...]:
        """Return every verdict ever given, in the order in which they were kept."""
        return self._all()

    def give(self, drafts: Sequence[Draft], who: str) -> tuple[Given, ...]:
        """Keep verdicts, all of them or none; return them as kept.

        Raises:
            ConflictError: others have decided on some of the records since: what stands there now is told.
            FormatError: a verdict that cannot be taken, or a database that does not take it.
        """
        refuse([problem for draft in drafts for problem in problems(draft.verdict, who, "verdict")])
        chosen: dict[str, Draft] = {}
        for draft in drafts:
            # Documents of one text share their records.
            first = chosen.setdefault(draft.verdict.key.record, draft)
            if (first.verdict.kind, first.verdict.right) != (draft.verdict.kind, draft.verdict.right):
                raise FormatError.single("verdict", None, "two verdicts on one span", "give one after the other")
        batch = uuid.uuid4().hex
        return self._keep([(draft, who, now(), uuid.uuid4().hex, batch) for draft in chosen.values()])

    def undo(self, who: str) -> tuple[Given, ...]:
        """Take back the last verdict that somebody gave and has not taken back, or the last batch of them.

        What stood before stands again. Return what was kept to do so, nothing where there is no verdict of theirs.

        Raises:
            ConflictError: somebody else has decided on one of these records since; nothing is taken back.
            FormatError: the database does not take it.
        """
        refuse(name_problems(who, "verdict"))
        undone = select(EVENTS.c.undoes).where(EVENTS.c.who == who, EVENTS.c.undoes != "")
        with self.database.reading() as connection:
            if connection is None or self._revision(connection) is None:
                return ()
            mine = EVENTS.c.who == who, EVENTS.c.undoes == "", EVENTS.c.uid.not_in(undone)
            last = connection.execute(select(func.max(EVENTS.c.number)).where(*mine)).scalar()
            if last is None:
                return ()
            batch = connection.execute(select(EVENTS.c.batch).where(EVENTS.c.number == last)).scalar_one()
            given = self._given(connection, EVENTS.c.batch == batch, *mine)
            courses = self._courses(connection, {one.verdict.key.record for one in given})
        drafts, changed = [], []
        for one in given:
            course = courses[one.verdict.key.record]
            if course.in_force != one:
                changed.append(course.last)
            old = course.before(one)
            verdict = replace(one.verdict, kind=WITHDRAWN, right=(), note="") if old is None else old.verdict
            drafts.append(Draft(verdict, course.last.version, undoes=one.uid))
        if changed:
            raise ConflictError(changed)
        return self.give(drafts, who)

    def take(self, given: Iterable[Given]) -> tuple[Given, ...]:
        """Keep verdicts that come from another store, as they were given there; `version` says what they follow.

        Raises:
            ConflictError: the records have other verdicts here.
            FormatError: a verdict that cannot be taken, or a database that does not take it.
        """
        taken = tuple(given)
        refuse([problem for one in taken for problem in problems(one.verdict, one.who, "verdict")])
        rows = [
            (Draft(one.verdict, one.version - 1, undoes=one.undoes), one.who, one.at, one.uid, one.batch)
            for one in taken
        ]
        return self._keep(rows)

    def close(self) -> None:
        self.database.close()

    def _keep(self, rows: Sequence[tuple[Draft, str, str, str, str]]) -> tuple[Given, ...]:
        if not rows:
            return ()
        records = {draft.verdict.key.record for draft, *_ in rows}
        try:
            with self.database.writing() as connection:
                self.prepare(connection)
                stand = self._last(connection, records)
                versions = {record: one.version for record, one in stand.items()}
                kept = []
                for draft, who, at, uid, batch in rows:
                    record = draft.verdict.key.record
                    if versions.get(record, 0) != draft.seen:
                        raise self._unseen(stand, [draft for draft, *_ in rows])
                    versions[record] = draft.seen + 1
                    kept.append(Given(draft.verdict, who, at, draft.seen + 1, uid, batch, draft.undoes))
                last = connection.execute(select(func.max(EVENTS.c.number))).scalar() or 0
                connection.execute(insert(EVENTS), [_row(one) for one in kept])
                found = self._given(connection, EVENTS.c.number > last)
            # Not before they are there for good: a transaction that fails takes the tables with it.
            self._ready = True
            return found
        except IntegrityError as error:
            # Written past the line that writers stand in; nothing of ours was kept.
            with self.database.reading() as connection:
                assert connection is not None
                raise ConflictError(self._last(connection, records).values()) from error

    def prepare(self, connection: Connection) -> None:
        """Bring the tables to the newest revision, where they are not."""
        if not self._ready:
            known = revision(connection)
            if known is None or known < HEAD:
                upgrade(connection)
            elif known > HEAD:
                raise self._newer(known)

    def check(self, connection: Connection) -> bool:
        """Return whether the tables are of the newest revision; verdicts of one from READABLE on can be read.

        Raises:
            FormatError: they are of a revision that this version does not read.
        """
        return self._ready or self._revision(connection) == HEAD

    def _revision(self, connection: Connection) -> str | None:
        """Return the revision of the tables, None where there are none; refuse one that cannot be read."""
        if self._ready:
            return HEAD
        known = revision(connection)
        if known is not None and known < READABLE:
            found = f"verdicts of revision {known}"
            raise FormatError.single(self.name, None, found, f"give one to bring it to {HEAD}")
        if known is not None and known > HEAD:
            raise self._newer(known)
        self._ready = known == HEAD
        return known

    def _newer(self, known: str) -> FormatError:
        found = f"verdicts of revision {known}, which this version does not know"
        return FormatError.single(self.name, None, found, "install a newer nereval")

    def _all(self, *where: Any) -> tuple[Given, ...]:
        with self.database.reading() as connection:
            there = connection is not None and self._revision(connection) is not None
            return self._given(connection, *where) if connection is not None and there else ()

    def _given(self, connection: Connection, *where: Any) -> tuple[Given, ...]:
        rows = connection.execute(select(EVENTS).where(*where).order_by(EVENTS.c.number))
        with uncollected():
            return tuple(map(self._read, rows))

    def _unseen(self, stand: Mapping[str, Given], drafts: Iterable[Draft]) -> Exception:
        """Return what says that others have decided, or that what the reviewer had seen is gone."""
        seen = {draft.verdict.key.record: draft.seen for draft in reversed(list(drafts))}
        theirs = [stand[record] for record in sorted(stand) if stand[record].version != seen[record]]
        if theirs:
            return ConflictError(theirs)
        found = "verdicts that you had seen are there no more"
        return FormatError.single(self.name, None, found, "look at what stands, and decide again")

    def _last(self, connection: Connection, records: Iterable[str]) -> dict[str, Given]:
        """Return the last verdict on each of these records that has any."""
        found = {}
        for some in _parts(records):
            last = select(func.max(EVENTS.c.number)).where(EVENTS.c.record.in_(some)).group_by(EVENTS.c.record)
            for one in self._given(connection, EVENTS.c.number.in_(last)):
                found[one.verdict.key.record] = one
        return found

    def _courses(self, connection: Connection, records: Iterable[str]) -> dict[str, Course]:
        """Return what became of each of these records that has verdicts."""
        found: dict[str, Course] = {}
        for some in _parts(records):
            for one in self._given(connection, EVENTS.c.record.in_(some)):
                record = one.verdict.key.record
                found[record] = found.get(record, Course()).then(one)
        return found

    def _read(self, row: Row[Any]) -> Given:
        kind: Kind = row.kind if row.kind in _KNOWN else WITHDRAWN
        try:
            verdict = verdict_of(kind, row.note, msgspec.json.decode(row.body))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            found = f"verdict number {row.number} is damaged"
            raise FormatError.single(self.name, None, found, "restore a copy, or name another one") from error
        # Kept beside it, so that opening a store need not reckon it again.
        verdict.key.__dict__["record"] = row.record
        return Given(verdict, row.who, row.at, row.version, row.uid, row.batch, row.undoes, row.number)


_KNOWN = get_args(Kind)


def _parts(records: Iterable[str]) -> Iterator[Sequence[str]]:
    wanted = sorted(records)
    for low in range(0, len(wanted), _MANY):
        yield wanted[low : low + _MANY]


def now() -> str:
    """Return the present moment as it is kept: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _row(given: Given) -> dict[str, Any]:
    verdict = given.verdict
    return {
        "uid": given.uid,
        "record": verdict.key.record,
        "version": given.version,
        "kind": verdict.kind,
        "body": body_of(verdict),
        "note": verdict.note,
        "who": given.who,
        "at": given.at,
        "batch": given.batch,
        "undoes": given.undoes,
    }
