"""Where verdicts are kept: every one ever given, in the order given; the last one on a record is what stands.

Two people on one record: each says which version of its verdicts they had seen, and whoever comes second is told what
the first one decided (`ConflictError`); nothing of theirs is kept until they have seen it.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, get_args

from sqlalchemy import Connection, Row, func, insert, inspect, select, text
from sqlalchemy.exc import IntegrityError

from nereval_core.errors import FormatError
from nereval_core.review.databases import VARIABLE, Database, default_file
from nereval_core.review.reviewed import Reviewed
from nereval_core.review.schema import EVENTS, HEAD, READABLE
from nereval_core.review.verdicts import (
    WITHDRAWN,
    ConflictError,
    Draft,
    Given,
    Key,
    Kind,
    Verdict,
    body_of,
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
        """Return all verdicts that stand now.

        Raises:
            FormatError: the database cannot be read.
        """
        if not self.database.there:
            return self._reviewed
        with self._lock:
            with self.database.reading() as connection:
                if not self._ready and revision(connection) is None:
                    return self._reviewed
                self.check(connection)
                news = _given(connection, EVENTS.c.number > self._reviewed.number)
            self._reviewed = self._reviewed.after(news)
            return self._reviewed

    def history(self, key: Key) -> tuple[Given, ...]:
        """Return every verdict ever given on a record, the first one first, those taken back too."""
        if not self.database.there:
            return ()
        with self.database.reading() as connection:
            return () if revision(connection) is None else _given(connection, EVENTS.c.record == key.record)

    def every(self) -> tuple[Given, ...]:
        """Return every verdict ever given, in the order in which they were kept."""
        if not self.database.there:
            return ()
        with self.database.reading() as connection:
            return () if revision(connection) is None else _given(connection, EVENTS.c.number > 0)

    def give(self, drafts: Sequence[Draft], who: str) -> tuple[Given, ...]:
        """Keep verdicts, all of them or none; return them as kept.

        Raises:
            ConflictError: others have decided on some of the records since: what stands there now is told.
            FormatError: a verdict that cannot be taken, or a database that does not take it.
        """
        refuse([problem for draft in drafts for problem in problems(draft.verdict, who, "verdict")])
        batch = uuid.uuid4().hex
        return self._keep([(draft, who, now(), uuid.uuid4().hex, batch) for draft in drafts])

    def undo(self, who: str) -> tuple[Given, ...]:
        """Take back the last verdict that somebody gave and has not taken back, or the last batch of them.

        What stood before stands again. Return what was kept to do so, nothing where there is no verdict of theirs.

        Raises:
            ConflictError: somebody else has decided on one of these records since.
            FormatError: the database does not take it.
        """
        if not self.database.there:
            return ()
        undone = select(EVENTS.c.undoes).where(EVENTS.c.who == who, EVENTS.c.undoes != "")
        with self.database.reading() as connection:
            if revision(connection) is None:
                return ()
            mine = EVENTS.c.who == who, EVENTS.c.undoes == "", EVENTS.c.uid.not_in(undone)
            last = connection.execute(select(func.max(EVENTS.c.number)).where(*mine)).scalar()
            if last is None:
                return ()
            batch = connection.execute(select(EVENTS.c.batch).where(EVENTS.c.number == last)).scalar_one()
            given = _given(connection, EVENTS.c.batch == batch)
            before = _before(connection, given)
        drafts = []
        for one in given:
            old = before.get(one.verdict.key.record)
            verdict = replace(one.verdict, kind=WITHDRAWN, right=(), note="") if old is None else old.verdict
            drafts.append(Draft(verdict, one.version, undoes=one.uid))
        return self.give(drafts, who)

    def take(self, given: Iterable[Given]) -> tuple[Given, ...]:
        """Keep verdicts that come from another store, as they were given there; `version` says what they follow.

        Raises:
            ConflictError: the records have other verdicts here.
            FormatError: the database does not take it.
        """
        rows = [
            (Draft(one.verdict, one.version - 1, undoes=one.undoes), one.who, one.at, one.uid, one.batch)
            for one in given
        ]
        return self._keep(rows)

    def close(self) -> None:
        self.database.close()

    def _keep(self, rows: Sequence[tuple[Draft, str, str, str, str]]) -> tuple[Given, ...]:
        if not rows:
            return ()
        drafts = [draft for draft, *_ in rows]
        try:
            with self.database.writing() as connection:
                self.prepare(connection)
                stand = _standing(connection, {draft.verdict.key.record for draft in drafts})
                versions = {record: one.version for record, one in stand.items()}
                kept = []
                for draft, who, at, uid, batch in rows:
                    record = draft.verdict.key.record
                    if versions.get(record, 0) != draft.seen:
                        theirs = {one.verdict.key.record for one, *_ in rows}
                        raise ConflictError(
                            stand[name] for name in sorted(theirs & stand.keys()) if _unseen(stand[name], drafts)
                        )
                    versions[record] = draft.seen + 1
                    kept.append(Given(draft.verdict, who, at, draft.seen + 1, uid, batch, draft.undoes))
                connection.execute(insert(EVENTS), [_row(one) for one in kept])
                return _given(connection, EVENTS.c.batch.in_({one.batch for one in kept}))
        except IntegrityError as error:
            # Written past the line that writers stand in; nothing of ours was kept.
            with self.database.reading() as connection:
                stand = _standing(connection, {draft.verdict.key.record for draft in drafts})
            raise ConflictError(stand.values()) from error

    def prepare(self, connection: Connection) -> None:
        """Bring the tables to the newest revision, where they are not."""
        if self._ready:
            return
        if (known := revision(connection)) != HEAD and (known is None or known < HEAD):
            _upgrade(connection)
        self.check(connection)

    def check(self, connection: Connection) -> bool:
        """Return whether the tables are of the newest revision; verdicts of one from READABLE on can be read.

        Raises:
            FormatError: they are of a revision that this version does not read.
        """
        if self._ready:
            return True
        known = revision(connection)
        if known is not None and known < READABLE:
            remedy = f"give one to bring it to {HEAD}"
            raise FormatError.single(self.name, None, f"verdicts of revision {known}", remedy)
        if known is not None and known > HEAD:
            found = f"verdicts of revision {known}, which this version does not know"
            raise FormatError.single(self.name, None, found, "install a newer nereval")
        self._ready = known == HEAD
        return self._ready


def _unseen(stands: Given, drafts: Iterable[Draft]) -> bool:
    seen = next(draft.seen for draft in drafts if draft.verdict.key.record == stands.verdict.key.record)
    return stands.version != seen


def now() -> str:
    """Return the present moment as it is kept: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def revision(connection: Connection) -> str | None:
    """Return the revision that the tables have, None where there are none."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def _upgrade(connection: Connection) -> None:
    # Needed once a database, and slow to import.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _given(connection: Connection, *where: Any) -> tuple[Given, ...]:
    return tuple(map(_read, connection.execute(select(EVENTS).where(*where).order_by(EVENTS.c.number))))


def _standing(connection: Connection, records: Iterable[str]) -> dict[str, Given]:
    """Return the last verdict on each of these records, those taken back too."""
    found: dict[str, Given] = {}
    wanted = sorted(records)
    for low in range(0, len(wanted), _MANY):
        for one in _given(connection, EVENTS.c.record.in_(wanted[low : low + _MANY])):
            found[one.verdict.key.record] = one
    return found


def _before(connection: Connection, given: Iterable[Given]) -> dict[str, Given]:
    """Return the verdict that each of these replaced."""
    versions = {one.verdict.key.record: one.version for one in given}
    found: dict[str, Given] = {}
    wanted = sorted(versions)
    for low in range(0, len(wanted), _MANY):
        for one in _given(connection, EVENTS.c.record.in_(wanted[low : low + _MANY])):
            record = one.verdict.key.record
            if one.version == versions[record] - 1 and one.stands:
                found[record] = one
    return found


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


def _read(row: Row[Any]) -> Given:
    kind: Kind = row.kind if row.kind in get_args(Kind) else WITHDRAWN
    verdict: Verdict = verdict_of(kind, row.note, json.loads(row.body))
    return Given(verdict, row.who, row.at, row.version, row.uid, row.batch, row.undoes, row.number)
