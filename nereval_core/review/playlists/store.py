"""The store of playlists, in the database of the verdicts: every change ever made, in order.

A change comes with the version that its author had seen. Where somebody else has changed the same since, it is refused
with that change (`ChangedError`). Additions to a playlist never contradict one another: all are stored.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select
from sqlalchemy.exc import IntegrityError

from nereval_core.problems import FormatError, quoted
from nereval_core.review.playlists import (
    COMMENT_CHARACTERS,
    NAME_CHARACTERS,
    PLAYLIST_ITEMS,
    ChangedError,
    Item,
    Playlist,
    PlaylistName,
    Playlists,
    Starred,
    body_of,
    refuse_text,
    starred_of,
)
from nereval_core.review.store import ReviewStore, moment
from nereval_core.review.store.schema import ITEMS, NAMES, add_checksum, checked_body
from nereval_core.review.verdicts import minute_of

CHECKED = ("playlist", "item", "version", "place", "gone", "comment", "who", "at")
"""The columns that the checksum in an item's body covers, besides the body."""


class PlaylistStore:
    """The playlists in the database of a store of verdicts; safe to use from several threads."""

    def __init__(self, review: ReviewStore) -> None:
        self.review = review
        self._lock = Lock()
        self._kept = Playlists()

    def playlists(self) -> Playlists:
        """Return all playlists that stand now.

        Raises:
            FormatError: the database cannot be read.
        """
        with self._lock, self.review.database.reading() as connection:
            if connection is None or not self.review.has_tables(connection):
                return self._kept
            named = connection.execute(select(NAMES).where(NAMES.c.number > self._kept.named).order_by(NAMES.c.number))
            names = [(row.number, _named(row)) for row in named]
            changed = connection.execute(
                select(ITEMS).where(ITEMS.c.number > self._kept.changed).order_by(ITEMS.c.number)
            )
            items = [(row.number, row.playlist, _item(row)) for row in changed]
            self._kept = self._kept.after(names, items)
            return self._kept

    def make(self, name: str, who: str) -> str:
        """Make a playlist and return its uid.

        Raises:
            FormatError: an invalid name, the name of another playlist, or the database refuses it.
        """
        uid = uuid.uuid4().hex
        self._name(PlaylistName(uid, name.strip(), who, moment(), 1))
        return uid

    def rename(self, playlist: Playlist, name: str, who: str) -> None:
        """Give a playlist another name.

        Raises:
            ChangedError: somebody else has named or removed it since.
            FormatError: as `make`.
        """
        self._name(PlaylistName(playlist.uid, name.strip(), who, moment(), playlist.version + 1))

    def remove(self, playlist: Playlist, who: str) -> None:
        """Remove a playlist; its items stay in the store and are no longer shown.

        Raises:
            ChangedError: somebody else has named or removed it since.
            FormatError: the database does not take it.
        """
        self._name(PlaylistName(playlist.uid, playlist.name, who, moment(), playlist.version + 1, gone=True))

    def star(self, uid: str, records: Sequence[Starred], who: str) -> int:
        """Add records to the end of a playlist; return the number of those that were not on it.

        A record that was removed returns to its former place, with its comment.

        Raises:
            ChangedError: somebody else has removed the playlist.
            FormatError: more than MOST items, or a database that does not take it.
        """
        refuse_text("who", who, NAME_CHARACTERS)
        with _told(), self.review.database.writing() as connection:
            self.review.prepare(connection)
            self._refuse_gone(connection, uid)
            stand = _items(connection, uid)
            last = max((record.place for record in stand.values()), default=0)
            rows = []
            for record in {record.uid: record for record in records}.values():
                item = stand.get(record.uid)
                if item is None:
                    last += 1
                    rows.append(Item(record, last, "", who, moment(), 1))
                elif item.gone:
                    rows.append(
                        replace(item, starred=record, who=who, at=moment(), version=item.version + 1, gone=False)
                    )
            size = sum(not record.gone for record in stand.values()) + len(rows)
            if size > PLAYLIST_ITEMS:
                raise FormatError.single(
                    "playlist", None, f"{size:,} records", f"put at most {PLAYLIST_ITEMS:,} on one"
                )
            _write(connection, uid, rows)
            return len(rows)

    def unstar(self, uid: str, item: Item, who: str) -> None:
        """Remove a record from a playlist.

        Raises:
            ChangedError: somebody else has changed it since.
            FormatError: the database does not take it.
        """
        self._change(uid, [replace(item, gone=True)], who)

    def comment(self, uid: str, item: Item, comment: str, who: str) -> None:
        """Change the comment on a record of a playlist.

        Raises:
            ChangedError: somebody else has changed it since.
            FormatError: a comment that cannot be taken, or a database that does not take it.
        """
        refuse_text("comment", comment, COMMENT_CHARACTERS)
        self._change(uid, [replace(item, comment=comment)], who)

    def order(self, uid: str, items: Sequence[Item], who: str) -> None:
        """Put the records of a playlist in this order; records added since keep their places.

        Raises:
            ChangedError: somebody else has changed one that moves.
            FormatError: the database does not take it.
        """
        places = sorted(item.place for item in items)
        moved = [replace(item, place=place) for item, place in zip(items, places, strict=True)]
        self._change(uid, [new for new, old in zip(moved, items, strict=True) if new.place != old.place], who)

    def _name(self, named: PlaylistName) -> None:
        refuse_text("playlist's name", named.name, NAME_CHARACTERS, one_line=True)
        refuse_text("who", named.who, NAME_CHARACTERS)
        with _told(), self.review.database.writing() as connection:
            self.review.prepare(connection)
            stand = _names(connection)
            current = stand.get(named.uid)
            if (current.version if current else 0) != named.version - 1 or (current is not None and current.gone):
                raise ChangedError(_said_of_name(current))
            if not named.gone and any(
                playlist.name.casefold() == named.name.casefold() and not playlist.gone and playlist.uid != named.uid
                for playlist in stand.values()
            ):
                finding = f"there is a playlist {quoted(named.name)}"
                raise FormatError.single("playlist's name", None, finding, "choose another name")
            row = {"playlist": named.uid, "version": named.version, "name": named.name, "gone": named.gone}
            connection.execute(insert(NAMES), [{**row, "who": named.who, "at": named.at}])

    def _change(self, uid: str, items: Sequence[Item], who: str) -> None:
        """Store changed items, each given with the version that it had before."""
        refuse_text("who", who, NAME_CHARACTERS)
        if not items:
            return
        with _told(), self.review.database.writing() as connection:
            self.review.prepare(connection)
            self._refuse_gone(connection, uid)
            stand = _items(connection, uid)
            for item in items:
                current = stand.get(item.uid)
                if current is None or current.version != item.version:
                    raise ChangedError(_said(current, item))
            at = moment()
            _write(
                connection, uid, [replace(changed, version=changed.version + 1, who=who, at=at) for changed in items]
            )

    def _refuse_gone(self, connection: Connection, uid: str) -> None:
        current = _names(connection, uid).get(uid)
        if current is None or current.gone:
            raise ChangedError(_said_of_name(current))


@contextmanager
def _told() -> Iterator[None]:
    """Raise ChangedError where somebody wrote without the lock of writers: nothing of ours was stored."""
    try:
        yield
    except IntegrityError as error:
        raise ChangedError("somebody else has changed it just now") from error


def _names(connection: Connection, uid: str | None = None) -> dict[str, PlaylistName]:
    """Return the last row of each playlist, or of one alone."""
    rows = select(NAMES) if uid is None else select(NAMES).where(NAMES.c.playlist == uid)
    return {row.playlist: _named(row) for row in connection.execute(rows.order_by(NAMES.c.number))}


def _items(connection: Connection, uid: str) -> dict[str, Item]:
    """Return the last row of each item of a playlist, including removed items."""
    last = select(func.max(ITEMS.c.number)).where(ITEMS.c.playlist == uid).group_by(ITEMS.c.item)
    return {row.item: _item(row) for row in connection.execute(select(ITEMS).where(ITEMS.c.number.in_(last)))}


def _write(connection: Connection, uid: str, items: Iterable[Item]) -> None:
    rows = []
    for item in items:
        row: dict[str, Any] = {
            "playlist": uid,
            "item": item.uid,
            "version": item.version,
            "place": item.place,
            "gone": item.gone,
            "comment": item.comment,
            "who": item.who,
            "at": item.at,
        }
        rows.append(row | {"body": add_checksum(body_of(item.starred), [row[name] for name in CHECKED])})
    if rows:
        connection.execute(insert(ITEMS), rows)


def _named(row: Row[Any]) -> PlaylistName:
    return PlaylistName(row.playlist, row.name, row.who, row.at, row.version, bool(row.gone))


def _item(row: Row[Any]) -> Item:
    try:
        body = checked_body(row.body, [getattr(row, name) for name in CHECKED]).body
        starred = starred_of(json.loads(body))
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        finding = f"item number {row.number} of the playlists is damaged"
        raise FormatError.single("playlists", None, finding, "restore a copy, or name another one") from error
    return Item(starred, row.place, row.comment, row.who, row.at, row.version, bool(row.gone))


def _said_of_name(current: PlaylistName | None) -> str:
    if current is None:
        return "there is no such playlist"
    what = "removed it" if current.gone else f"called it {quoted(current.name)}"
    return f"{_who(current)} {what}"


def _said(current: Item | None, expected: Item) -> str:
    """Return a sentence on the change of an item since it was seen."""
    if current is None:
        return "there is no such record on the playlist"
    if current.gone:
        what = "took it out"
    elif current.comment != expected.comment:
        what = f"wrote {quoted(current.comment)}"
    else:
        what = "changed it"
    return f"{_who(current)} {what}: {quoted(current.starred.seen.quote)}"


def _who(change: PlaylistName | Item) -> str:
    return f"{change.who or 'somebody'} on {minute_of(change.at)}"
