"""The tables of the store of verdicts and playlists, their revision, and the checksums of their rows.

A checksum stands at the end of the JSON that a row holds: databases have none, and give back what a byte became. A
verdict's row has that of the row before it too, so that a row cannot vanish from between others.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
)

from nereval_core.review.verdicts import ascii_json

HEAD = "0003"
"""The revision of the tables."""
UNCHAINED = "0002"
"""The revision whose rows do not name the row before them; the next verdict makes it HEAD."""
METADATA = MetaData()
REVISION = Table("verdict_revision", MetaData(), Column("version_num", String(32), primary_key=True))
"""The table with the revision of a database."""

EVENTS = Table(
    "verdict_event",
    METADATA,
    # In the order in which they were kept: only one writer at a time holds the lock.
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("uid", String(32), nullable=False, unique=True),
    Column("record", String(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("body", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("who", String(100), nullable=False),
    Column("at", String(32), nullable=False),
    Column("batch", String(32), nullable=False),
    Column("undoes", String(32), nullable=False),
    # Two verdicts that follow the same one cannot both be kept, whatever a client does.
    UniqueConstraint("record", "version", name="verdict_event_record_version"),
    Index("verdict_event_who", "who"),
)
"""Every verdict ever given, one row each; rows never change. The last version of a record stands. `body` is JSON (see
`verdicts.body_of`)."""

NAMES = Table(
    "playlist",
    METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("playlist", String(32), nullable=False),
    Column("version", Integer, nullable=False),
    Column("name", String(100), nullable=False),
    Column("gone", Boolean, nullable=False),
    Column("who", String(100), nullable=False),
    Column("at", String(32), nullable=False),
    UniqueConstraint("playlist", "version", name="playlist_version"),
)
"""Every name that a playlist ever had; the last version stands, and `gone` says that the playlist was removed."""
ITEMS = Table(
    "playlist_item",
    METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("playlist", String(32), nullable=False),
    Column("item", String(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("place", Integer, nullable=False),
    Column("gone", Boolean, nullable=False),
    Column("body", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("who", String(100), nullable=False),
    Column("at", String(32), nullable=False),
    UniqueConstraint("playlist", "item", "version", name="playlist_item_version"),
)
"""Every change of a playlist's item: added, moved, commented on, removed (`gone`). `body` is JSON (see
`playlists.body_of`)."""


def read_revision(connection: Connection) -> str | None:
    """Return the revision of the tables, None where there are none."""
    if not inspect(connection).has_table(REVISION.name):
        return None
    revision: str | None = connection.execute(select(REVISION.c.version_num)).scalar()
    return revision


def create_tables(connection: Connection) -> None:
    """Create the tables, within the transaction of the connection."""
    METADATA.create_all(connection, checkfirst=False)
    REVISION.create(connection)
    connection.execute(insert(REVISION), {"version_num": HEAD})


_END = re.compile(r',"checksum":"([0-9a-f]{8})"(?:,"previous":"([0-9a-f]{8}|)")?\}\Z')
_END_CHARACTERS = len(',"checksum":"01234567","previous":"01234567"}')


class CheckedBody(NamedTuple):
    """The JSON of a row, the row's checksum, and that of the row before it: "" before the first, None of old rows."""

    body: str
    checksum: str
    previous: str | None


def add_checksum(body: str, fields: Sequence[str | int]) -> str:
    """Return a row's JSON object with a checksum of itself and of the row's other fields, for rows without an order."""
    return with_checksum(body, checksum_of(body, fields), None)


def with_checksum(body: str, checksum: str, previous: str | None) -> str:
    """Return a row's JSON object with its checksum, and that of the row before where these have an order."""
    link = "" if previous is None else f',"previous":"{previous}"'
    return f'{body[:-1]},"checksum":"{checksum}"{link}}}'


def checked_body(body: str, fields: Sequence[str | int]) -> CheckedBody:
    """Return the JSON that was passed to `with_checksum`; rows of early versions have no checksum.

    Raises:
        ValueError: the row is not as it was written.
    """
    end = _END.search(body, len(body) - _END_CHARACTERS)
    plain = body if end is None else body[: end.start()] + "}"
    checksum = checksum_of(plain, fields)
    if end is not None and checksum != end[1]:
        raise ValueError("the row is not as it was written")
    return CheckedBody(plain, checksum, None if end is None else end[2])


def checksum_of(body: str, fields: Sequence[str | int]) -> str:
    """Return the checksum of a row: the CRC-32 of its values as a list of JSON."""
    values = ", ".join([str(value) if isinstance(value, int) else ascii_json(value) for value in fields])
    content = f"[{ascii_json(body)}, {values}]"
    return f"{zlib.crc32(content.encode()):08x}"
