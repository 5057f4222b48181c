"""The store of verdicts: every verdict ever given, in order; the last one on a record stands.

Reviewers give a verdict with the version of the record's history that they had seen. Where another reviewer has decided
since, the verdict is refused with that decision (`ConflictError`).
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from msgspec import structs
from sqlalchemy import Connection, Row, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from nereval_core.problems import FormatError, Problem
from nereval_core.readers import garbage_collection_off
from nereval_core.review.standing_verdicts import RecordHistory, Reviewed
from nereval_core.review.store.databases import VARIABLE, Database, default_file
from nereval_core.review.store.rows import VerdictRow, row_of, verdict_in
from nereval_core.review.store.schema import (
    EVENTS,
    HEAD,
    REVISION,
    UNCHAINED,
    CheckedBody,
    checked_body,
    checksum_of,
    create_tables,
    read_revision,
    with_checksum,
)
from nereval_core.review.verdicts import (
    KINDS,
    WITHDRAWN,
    ConflictError,
    Draft,
    Key,
    StoredVerdict,
    name_problems,
    raise_problems,
    verdict_problems,
)

_MANY = 500
"""Records that one query to the database names."""
_BATCH = 1_000
"""Verdicts that are read or written at once."""


class MissingVerdictsError(FormatError):
    """Verdicts are gone from between or after others: `ReviewStore.accept_losses` has the others read again."""


class ReviewStore:
    """The verdicts in one database; safe to use from several threads."""

    def __init__(self, where: str | Path, *, by_text_alone: bool = False) -> None:
        """Name a SQLite file or the URL of a database, which is opened when it is first used.

        `by_text_alone` is that of the `Reviewed` that it gives.

        Raises:
            FormatError: an invalid URL, or one of another kind of database.
        """
        self.database = Database(where)
        self._ready = False
        self._lock = Lock()
        self._reviewed = Reviewed(by_text_alone=by_text_alone)

    @classmethod
    def of_environment(
        cls,
        file: str | Path | None = None,
        environment: Mapping[str, str] = os.environ,
        *,
        by_text_alone: bool = False,
    ) -> ReviewStore:
        """Return the store in a file, else the one that NEREVAL_REVIEW_URL names, else the user's own.

        Raises:
            FormatError: as the constructor.
        """
        where = file or environment.get(VARIABLE) or default_file(environment)
        return cls(where, by_text_alone=by_text_alone)

    @property
    def name(self) -> str:
        """The file, or the URL without its password."""
        return self.database.name

    def reviewed(self) -> Reviewed:
        """Return all verdicts that stand now; only those added since the last call are read.

        Raises:
            MissingVerdictsError: some are missing.
            FormatError: the database cannot be read.
        """
        with self._lock:
            with self.database.reading() as connection:
                if connection is None or not self.has_tables(connection):
                    return self._reviewed
                reviewed = self._reviewed
                news = self._all(connection, reviewed.number)
            if reviewed.number and (not news or news[0].uid != reviewed.uid):
                # Another database took the place of the one that was read: a copy from another day.
                reviewed = Reviewed(by_text_alone=reviewed.by_text_alone)
                with self.database.reading() as connection:
                    assert connection is not None
                    news = self._all(connection)
            elif reviewed.number:
                news = news[1:]
            with garbage_collection_off():
                self._reviewed = reviewed.after(news)
            return self._reviewed

    def history(self, key: Key) -> tuple[StoredVerdict, ...]:
        """Return every verdict ever given on a record, oldest first, including those taken back."""
        with self.database.reading() as connection:
            if connection is None or not self.has_tables(connection):
                return ()
            return self._given(connection, EVENTS.c.record == key.record)

    def every(self) -> tuple[StoredVerdict, ...]:
        """Return every verdict ever given, in the order in which they were stored.

        Raises:
            MissingVerdictsError: some are missing.
        """
        with self.database.reading() as connection:
            if connection is None or not self.has_tables(connection):
                return ()
            return self._all(connection)

    def accept_losses(self) -> None:
        """Go on without the verdicts that are missing: the others are read again.

        Raises:
            FormatError: the database refuses it.
        """
        with self.database.writing() as connection:
            before = ""
            for row in connection.execute(_IN_ORDER).all():
                _, checked = self._checked(row)
                if checked.previous not in (None, before):
                    body = with_checksum(checked.body, checked.checksum, before)
                    connection.execute(update(EVENTS).where(EVENTS.c.number == row.number).values(body=body))
                before = checked.checksum
            self._keep_end(connection)

    def each_row(self) -> Iterator[VerdictRow]:
        """Yield the rows of the verdicts of `every` without holding them; the database is read until the last.

        Raises:
            MissingVerdictsError: after the last, some are missing.
        """
        with self.database.reading() as connection:
            if connection is not None and self.has_tables(connection):
                yield from self._consecutive(connection)

    def each_standing(self) -> Iterator[StoredVerdict]:
        """Yield the verdicts of `Reviewed.standing` without holding them; the database is read until the last.

        Raises:
            MissingVerdictsError: after the last, some are missing between others.
        """
        with self.database.reading(one_moment=True) as connection:
            if connection is None or not self.has_tables(connection):
                return
            replaced = _replaced_numbers(connection)
            for row in self._consecutive(connection):
                if row.number not in replaced and row.kind in KINDS:
                    yield self.verdict_in(row)

    def verdict_in(self, row: VerdictRow) -> StoredVerdict:
        """Return the verdict in a row.

        Raises:
            FormatError: its body is damaged.
        """
        try:
            return verdict_in(row)
        except ValueError as error:
            raise self._damaged(row) from error

    def give(self, drafts: Sequence[Draft], who: str) -> tuple[StoredVerdict, ...]:
        """Store verdicts, all of them or none; return them as stored.

        Raises:
            ConflictError: others have decided on some of the records since.
            FormatError: an invalid verdict, or the database refuses it.
        """
        raise_problems([problem for draft in drafts for problem in verdict_problems(draft.verdict, who, "verdict")])
        draft_of_record: dict[str, Draft] = {}
        for draft in drafts:
            # Documents of one text share their records.
            first = draft_of_record.setdefault(draft.verdict.key.record, draft)
            if (first.verdict.kind, first.verdict.right) != (draft.verdict.kind, draft.verdict.right):
                raise FormatError.single("verdict", None, "two verdicts on one span", "give one after the other")
        if not draft_of_record:
            return ()
        batch, at = uuid.uuid4().hex, moment()
        verdicts = [
            StoredVerdict(draft.verdict, who, at, draft.seen + 1, uuid.uuid4().hex, batch, draft.undoes)
            for draft in draft_of_record.values()
        ]
        n_seen = {draft.verdict.key.record: draft.seen for draft in draft_of_record.values()}
        with self._kept(map(row_of, verdicts), n_seen) as (connection, last):
            return self._given(connection, EVENTS.c.number > last)

    def undo(self, who: str, records: Collection[str] | None = None) -> tuple[StoredVerdict, ...]:
        """Take back a reviewer's last verdict, or last batch of verdicts, that is not taken back yet.

        The verdicts before them stand again. Return the verdicts stored to do so, none where the reviewer has none.
        With `records`, of `Key.record`, verdicts on others stay as they are.

        Raises:
            ConflictError: somebody else has decided on one of these records since; nothing is taken back.
            FormatError: the database refuses it.
        """
        raise_problems(name_problems(who, "verdict"))
        undone = select(EVENTS.c.undoes).where(EVENTS.c.who == who, EVENTS.c.undoes != "")
        with self.database.reading() as connection:
            if connection is None or not self.has_tables(connection):
                return ()
            mine = EVENTS.c.who == who, EVENTS.c.undoes == "", EVENTS.c.uid.not_in(undone)
            newest_first = select(EVENTS.c.batch, EVENTS.c.record).where(*mine).order_by(EVENTS.c.number.desc())
            with connection.execute(newest_first.limit(1) if records is None else newest_first) as rows:
                batch = next((row.batch for row in rows if records is None or row.record in records), None)
            if batch is None:
                return ()
            verdicts = [
                stored
                for stored in self._given(connection, EVENTS.c.batch == batch, *mine)
                if records is None or stored.verdict.key.record in records
            ]
            courses = self._courses(connection, {stored.verdict.key.record for stored in verdicts})
        drafts, changed = [], []
        for stored in verdicts:
            course = courses[stored.verdict.key.record]
            if course.in_force != stored:
                changed.append(course.last)
            old = course.before(stored)
            verdict = structs.replace(stored.verdict, kind=WITHDRAWN, right=(), note="") if old is None else old.verdict
            drafts.append(Draft(verdict, course.last.version, undoes=stored.uid))
        if changed:
            raise ConflictError(changed)
        return self.give(drafts, who)

    def take(self, rows: Iterable[VerdictRow], n_stored: Mapping[str, int]) -> None:
        """Store valid verdicts of another store as they were given there, each after the version before its own.

        Valid are those in which `verdict_problems` finds nothing: whoever reads them says on which line it does.
        `n_stored` has the number of verdicts on each of their records that they follow.

        Raises:
            ConflictError: the records have other verdicts here.
            FormatError: the database refuses them.
        """
        if n_stored:
            with self._kept(rows, n_stored):
                pass

    def close(self) -> None:
        self.database.close()

    @contextmanager
    def _kept(self, rows: Iterable[VerdictRow], n_seen: Mapping[str, int]) -> Iterator[tuple[Connection, int]]:
        """Store verdicts in one transaction, and yield it with the number of the last verdict before them.

        They follow so many verdicts on each of their records (`n_seen`).
        """
        try:
            with self.database.writing() as connection:
                self.prepare(connection)
                versions = self._versions(connection, n_seen)
                if any(versions.get(record, 0) != number for record, number in n_seen.items()):
                    raise self._unseen(self._last(connection, n_seen), n_seen)
                del versions
                last = connection.execute(select(EVENTS).order_by(EVENTS.c.number.desc()).limit(1)).first()
                if problems := self._lost_end(connection, 0 if last is None else last.number):
                    raise MissingVerdictsError(problems)
                previous = "" if last is None else self._checked(last)[1].checksum
                values = _chained(rows, previous)
                while batch := list(islice(values, _BATCH)):
                    connection.execute(insert(EVENTS), batch)
                self._keep_end(connection)
                yield connection, 0 if last is None else last.number
            # Not before they are there for good: a transaction that fails takes the tables with it.
            self._ready = True
        except IntegrityError as error:
            # Written past the line that writers stand in; nothing of ours was kept.
            with self.database.reading() as connection:
                assert connection is not None
                raise ConflictError(self._last(connection, n_seen).values()) from error

    def prepare(self, connection: Connection) -> None:
        """Make the tables where there are none; those of the revision before become of this one.

        Raises:
            FormatError: they have a revision that this version does not know.
        """
        if not self._ready:
            revision = read_revision(connection)
            if revision is None:
                create_tables(connection)
            elif revision == UNCHAINED:
                connection.execute(update(REVISION).values(version_num=HEAD))
            elif revision != HEAD:
                raise self._unknown(revision)

    def has_tables(self, connection: Connection) -> bool:
        """Return whether the database has the tables.

        Raises:
            FormatError: they have a revision that this version does not know.
        """
        if self._ready:
            return True
        revision = read_revision(connection)
        if revision not in (None, UNCHAINED, HEAD):
            raise self._unknown(str(revision))
        self._ready = revision == HEAD
        return revision is not None

    def _unknown(self, revision: str) -> FormatError:
        finding = f"verdicts of revision {revision}, which this version does not know"
        return FormatError.single(self.name, None, finding, "install a newer nereval")

    def _given(self, connection: Connection, *where: Any) -> tuple[StoredVerdict, ...]:
        with garbage_collection_off():
            return tuple(self._rows(connection, *where))

    def _rows(self, connection: Connection, *where: Any) -> Iterator[StoredVerdict]:
        for row in connection.execute(select(EVENTS).where(*where).order_by(EVENTS.c.number)):
            yield self.verdict_in(self._checked(row)[0])

    def _versions(self, connection: Connection, records: Collection[str]) -> dict[str, int]:
        """Return the last version of each of these records that has verdicts; of many, that of others too."""
        last = select(EVENTS.c.record, func.max(EVENTS.c.version).label("last")).group_by(EVENTS.c.record)
        query = last if len(records) > _MANY else last.where(EVENTS.c.record.in_(records))
        return {row.record: row.last for row in connection.execute(query)}

    def _all(self, connection: Connection, first: int = 0) -> tuple[StoredVerdict, ...]:
        with garbage_collection_off():
            return tuple(map(self.verdict_in, self._consecutive(connection, first)))

    def _consecutive(self, connection: Connection, first: int = 0) -> Iterator[VerdictRow]:
        """Yield all verdicts from a number on, or all; each row names the one before it.

        Raises:
            MissingVerdictsError: after the last, some are missing between them, or after them.
        """
        gaps: list[Problem] = []
        before, number = None if first else "", 0
        query = _IN_ORDER.where(EVENTS.c.number >= first)
        # All rows at once would be held by the driver of PostgreSQL; few come faster without a cursor on the server.
        rows = connection.execute(query if first else query.execution_options(yield_per=_BATCH))
        for batch in rows.partitions(_BATCH):
            for values in batch:
                row, checked = self._checked(values)
                yield row
                if None not in (before, checked.previous) and checked.previous != before:
                    place = f"between numbers {number} and {row.number}" if number else f"before number {row.number}"
                    gaps.append(Problem(self.name, None, f"verdicts are missing {place}", MISSING))
                before, number = checked.checksum, row.number
        if number or not first:
            gaps += self._lost_end(connection, number)
        if gaps:
            raise MissingVerdictsError(gaps)

    def _lost_end(self, connection: Connection, last: int) -> list[Problem]:
        """Return the problem of a SQLite file whose header names a later verdict than its last."""
        kept = connection.exec_driver_sql(_END_OF_FILE).scalar_one() if self.database.file is not None else 0
        finding = f"verdicts are missing after number {last}, up to {kept}"
        return [Problem(self.name, None, finding, MISSING)] if kept > last else []

    def _keep_end(self, connection: Connection) -> None:
        """Write the number of the last verdict into the header of a SQLite file: no row that follows could tell it."""
        if self.database.file is not None:
            last = connection.execute(select(func.max(EVENTS.c.number))).scalar() or 0
            connection.exec_driver_sql(f"{_END_OF_FILE} = {last:d}")

    def _unseen(self, stand: Mapping[str, StoredVerdict], n_seen: Mapping[str, int]) -> Exception:
        """Return the error for records whose last version is not the one that the reviewer had seen."""
        theirs = [stand[record] for record in sorted(stand) if stand[record].version != n_seen[record]]
        if theirs:
            return ConflictError(theirs)
        finding = "verdicts that you had seen are there no more"
        return FormatError.single(self.name, None, finding, "look at what stands, and decide again")

    def _last(self, connection: Connection, records: Iterable[str]) -> dict[str, StoredVerdict]:
        """Return the last verdict on each of these records that has verdicts."""
        last_of_record = {}
        for part in _parts(records):
            last = select(func.max(EVENTS.c.number)).where(EVENTS.c.record.in_(part)).group_by(EVENTS.c.record)
            for stored in self._given(connection, EVENTS.c.number.in_(last)):
                last_of_record[stored.verdict.key.record] = stored
        return last_of_record

    def _courses(self, connection: Connection, records: Iterable[str]) -> dict[str, RecordHistory[StoredVerdict]]:
        """Return the history of each of these records that has verdicts."""
        courses: dict[str, RecordHistory[StoredVerdict]] = {}
        for part in _parts(records):
            for stored in self._given(connection, EVENTS.c.record.in_(part)):
                record = stored.verdict.key.record
                courses[record] = courses.get(record, RecordHistory()).then(stored)
        return courses

    def _checked(self, row: Row[Any]) -> tuple[VerdictRow, CheckedBody]:
        """Return a row without its checksum, and what that says."""
        values = tuple(row)
        try:
            checked = checked_body(values[_BODY], _fields(values))
        except (TypeError, ValueError) as error:
            raise self._damaged(row) from error
        return VerdictRow._make((*values[:_BODY], checked.body, *values[_BODY + 1 :])), checked

    def _damaged(self, row: VerdictRow | Row[Any]) -> FormatError:
        finding = f"verdict number {row.number} is damaged"
        return FormatError.single(self.name, None, finding, "restore a copy, or name another one")


_BODY = VerdictRow._fields.index("body")
_INSERTED = VerdictRow._fields[1:]
MISSING = "restore a copy, or go on without them by `nereval doctor --mend`"
_END_OF_FILE = "PRAGMA user_version"
"""A number in the header of a SQLite file: here that of the last verdict, 0 in files of earlier versions."""
_IN_ORDER = select(EVENTS).order_by(EVENTS.c.number)


def _fields(row: Sequence[Any]) -> Sequence[str | int]:
    """Return the columns that the checksum in a row's body covers besides the body, in the order of the table."""
    return *row[1:_BODY], *row[_BODY + 1 :]


def _chained(rows: Iterable[VerdictRow], previous: str) -> Iterator[dict[str, str | int]]:
    """Yield the values of rows to be inserted, without their numbers; each names the checksum before its own."""
    for row in rows:
        checksum = checksum_of(row.body, _fields(row))
        body = with_checksum(row.body, checksum, previous)
        yield dict(zip(_INSERTED, (*row[1:_BODY], body, *row[_BODY + 1 :]), strict=True))
        previous = checksum


def _replaced_numbers(connection: Connection) -> Collection[int]:
    """Return the numbers of verdicts that are not in force, as another one on their record is."""
    several = select(EVENTS.c.record).group_by(EVENTS.c.record).having(func.count() > 1)
    columns = EVENTS.c.record, EVENTS.c.number, EVENTS.c.uid, EVENTS.c.version, EVENTS.c.undoes
    courses: dict[str, RecordHistory[_Place]] = {}
    none: RecordHistory[_Place] = RecordHistory()
    for record, *place in connection.execute(
        select(*columns).where(EVENTS.c.record.in_(several)).order_by(EVENTS.c.number)
    ):
        courses[record] = courses.get(record, none).then(_Place(*place))
    return {
        place.number
        for course in courses.values()
        for place in course.history
        if place is not (course.in_force or course.last)
    }


class _Place(NamedTuple):
    """What decides which verdict of a record is in force."""

    number: int
    uid: str
    version: int
    undoes: str


def _parts(records: Iterable[str]) -> Iterator[Sequence[str]]:
    names = sorted(records)
    for low in range(0, len(names), _MANY):
        yield names[low : low + _MANY]


def moment() -> str:
    """Return the present moment in ISO 8601, UTC, as it is stored."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
