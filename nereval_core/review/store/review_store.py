"""The store of verdicts: every verdict ever given, in order; the last one on a record stands.

Reviewers give a verdict with the version of the record's history that they had seen. Where another reviewer has decided
since, the verdict is refused with that decision (`ConflictError`).
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, get_args

import msgspec
from sqlalchemy import Connection, Row, func, insert, select
from sqlalchemy.exc import IntegrityError

from nereval_core.problems import FormatError
from nereval_core.readers import garbage_collection_off
from nereval_core.review.standing_verdicts import RecordHistory, Reviewed
from nereval_core.review.store.databases import VARIABLE, Database, default_file
from nereval_core.review.store.schema import (
    EVENTS,
    HEAD,
    add_checksum,
    create_tables,
    read_revision,
    remove_checksum,
)
from nereval_core.review.verdicts import (
    WITHDRAWN,
    ConflictError,
    Draft,
    Given,
    Key,
    Kind,
    body_of,
    name_problems,
    raise_problems,
    verdict_of,
    verdict_problems,
)

_MANY = 500
"""Records that one query to the database names."""


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
            FormatError: the database cannot be read.
        """
        with self._lock:
            with self.database.reading() as connection:
                if connection is None or not self.has_tables(connection):
                    return self._reviewed
                known = self._reviewed
                news = self._given(connection, EVENTS.c.number >= known.number)
            if known.number and (not news or news[0].uid != known.uid):
                # Another database took the place of the one that was read: a copy from another day.
                known = Reviewed(by_text_alone=known.by_text_alone)
                with self.database.reading() as connection:
                    assert connection is not None
                    news = self._given(connection)
            elif known.number:
                news = news[1:]
            with garbage_collection_off():
                self._reviewed = known.after(news)
            return self._reviewed

    def history(self, key: Key) -> tuple[Given, ...]:
        """Return every verdict ever given on a record, oldest first, including those taken back."""
        return self._all(EVENTS.c.record == key.record)

    def every(self) -> tuple[Given, ...]:
        """Return every verdict ever given, in the order in which they were stored."""
        return self._all()

    def give(self, drafts: Sequence[Draft], who: str) -> tuple[Given, ...]:
        """Store verdicts, all of them or none; return them as stored.

        Raises:
            ConflictError: others have decided on some of the records since.
            FormatError: an invalid verdict, or the database refuses it.
        """
        raise_problems([problem for draft in drafts for problem in verdict_problems(draft.verdict, who, "verdict")])
        chosen: dict[str, Draft] = {}
        for draft in drafts:
            # Documents of one text share their records.
            first = chosen.setdefault(draft.verdict.key.record, draft)
            if (first.verdict.kind, first.verdict.right) != (draft.verdict.kind, draft.verdict.right):
                raise FormatError.single("verdict", None, "two verdicts on one span", "give one after the other")
        batch = uuid.uuid4().hex
        return self._keep([(draft, who, moment(), uuid.uuid4().hex, batch) for draft in chosen.values()])

    def undo(self, who: str, texts: Collection[str] | None = None) -> tuple[Given, ...]:
        """Take back a reviewer's last verdict, or last batch of verdicts, that is not taken back yet.

        The verdicts before them stand again. Return the verdicts stored to do so, none where the reviewer has none.
        With `texts`, digests of texts, verdicts on other texts stay as they are.

        Raises:
            ConflictError: somebody else has decided on one of these records since; nothing is taken back.
            FormatError: the database refuses it.
        """
        raise_problems(name_problems(who, "verdict"))
        records = None if texts is None else self.reviewed().records_on(texts)
        undone = select(EVENTS.c.undoes).where(EVENTS.c.who == who, EVENTS.c.undoes != "")
        with self.database.reading() as connection:
            if connection is None or not self.has_tables(connection):
                return ()
            mine = EVENTS.c.who == who, EVENTS.c.undoes == "", EVENTS.c.uid.not_in(undone)
            newest_first = select(EVENTS.c.batch, EVENTS.c.record).where(*mine).order_by(EVENTS.c.number.desc())
            rows = connection.execute(newest_first.limit(1) if records is None else newest_first)
            batch = next((row.batch for row in rows if records is None or row.record in records), None)
            if batch is None:
                return ()
            given = [
                one
                for one in self._given(connection, EVENTS.c.batch == batch, *mine)
                if records is None or one.verdict.key.record in records
            ]
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
        """Store verdicts of another store as they were given there; each follows the version before its own.

        Raises:
            ConflictError: the records have other verdicts here.
            FormatError: an invalid verdict, or the database refuses it.
        """
        taken = tuple(given)
        raise_problems([problem for one in taken for problem in verdict_problems(one.verdict, one.who, "verdict")])
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
        """Make the tables where there are none.

        Raises:
            FormatError: they have a revision that this version does not know.
        """
        if not self._ready:
            known = read_revision(connection)
            if known is None:
                create_tables(connection)
            elif known != HEAD:
                raise self._unknown(known)

    def has_tables(self, connection: Connection) -> bool:
        """Return whether the database has the tables.

        Raises:
            FormatError: they have a revision that this version does not know.
        """
        if not self._ready:
            known = read_revision(connection)
            if known is not None and known != HEAD:
                raise self._unknown(known)
            self._ready = known is not None
        return self._ready

    def _unknown(self, known: str) -> FormatError:
        found = f"verdicts of revision {known}, which this version does not know"
        return FormatError.single(self.name, None, found, "install a newer nereval")

    def _all(self, *where: Any) -> tuple[Given, ...]:
        with self.database.reading() as connection:
            if connection is None or not self.has_tables(connection):
                return ()
            return self._given(connection, *where)

    def _given(self, connection: Connection, *where: Any) -> tuple[Given, ...]:
        rows = connection.execute(select(EVENTS).where(*where).order_by(EVENTS.c.number))
        with garbage_collection_off():
            return tuple(map(self._read, rows))

    def _unseen(self, stand: Mapping[str, Given], drafts: Iterable[Draft]) -> Exception:
        """Return the error for records whose last version is not the one that the reviewer had seen."""
        seen = {draft.verdict.key.record: draft.seen for draft in reversed(list(drafts))}
        theirs = [stand[record] for record in sorted(stand) if stand[record].version != seen[record]]
        if theirs:
            return ConflictError(theirs)
        found = "verdicts that you had seen are there no more"
        return FormatError.single(self.name, None, found, "look at what stands, and decide again")

    def _last(self, connection: Connection, records: Iterable[str]) -> dict[str, Given]:
        """Return the last verdict on each of these records that has verdicts."""
        found = {}
        for some in _parts(records):
            last = select(func.max(EVENTS.c.number)).where(EVENTS.c.record.in_(some)).group_by(EVENTS.c.record)
            for one in self._given(connection, EVENTS.c.number.in_(last)):
                found[one.verdict.key.record] = one
        return found

    def _courses(self, connection: Connection, records: Iterable[str]) -> dict[str, RecordHistory]:
        """Return the history of each of these records that has verdicts."""
        found: dict[str, RecordHistory] = {}
        for some in _parts(records):
            for one in self._given(connection, EVENTS.c.record.in_(some)):
                record = one.verdict.key.record
                found[record] = found.get(record, RecordHistory()).then(one)
        return found

    def _read(self, row: Row[Any]) -> Given:
        kind: Kind = row.kind if row.kind in _KNOWN else WITHDRAWN
        try:
            body = remove_checksum(row.body, [getattr(row, name) for name in CHECKED])
            verdict = verdict_of(kind, row.note, msgspec.json.decode(body))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            found = f"verdict number {row.number} is damaged"
            raise FormatError.single(self.name, None, found, "restore a copy, or name another one") from error
        return Given(verdict, row.who, row.at, row.version, row.uid, row.batch, row.undoes, row.number)


_KNOWN = get_args(Kind)
CHECKED = ("uid", "record", "version", "kind", "note", "who", "at", "batch", "undoes")
"""The columns that the checksum in a row's body covers, besides the body."""


def _parts(records: Iterable[str]) -> Iterator[Sequence[str]]:
    wanted = sorted(records)
    for low in range(0, len(wanted), _MANY):
        yield wanted[low : low + _MANY]


def moment() -> str:
    """Return the present moment in ISO 8601, UTC, as it is stored."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _row(given: Given) -> dict[str, Any]:
    verdict = given.verdict
    row: dict[str, Any] = {
        "uid": given.uid,
        "record": verdict.key.record,
        "version": given.version,
        "kind": verdict.kind,
        "note": verdict.note,
        "who": given.who,
        "at": given.at,
        "batch": given.batch,
        "undoes": given.undoes,
    }
    return row | {"body": add_checksum(body_of(verdict), [row[name] for name in CHECKED])}
