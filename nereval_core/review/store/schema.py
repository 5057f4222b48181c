"""The tables of the store of verdicts and playlists, as SQLAlchemy knows them; `migrations` brings a database to it."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, MetaData, String, Table, Text, UniqueConstraint

HEAD = "0002"
"""The newest revision of `migrations`: what a database is brought to."""
READABLE = "0001"
"""The oldest revision whose verdicts are read as they are: what is only read is not brought to a newer one."""
REVISION = "verdict_revision"
"""The table that says which revision a database has; alembic's usual name may be another program's."""
METADATA = MetaData()

EVENTS = Table(
    "verdict_event",
    METADATA,
    # In the order in which they were kept: writers stand in line.
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
    # Two verdicts that follow on the same one cannot both be kept, whatever a client does.
    UniqueConstraint("record", "version", name="verdict_event_record_version"),
    Index("verdict_event_who", "who"),
)
"""Every verdict ever given, one row each; rows are never changed. The last version of a record is what stands.
`body` is JSON (see `verdicts.body_of`)."""

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
"""Every name that a playlist ever had; the last version is what stands, nothing where it is `gone`."""
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
"""Every change of an item of a playlist: put on it, moved, commented on, taken out (`gone`). `body` is JSON (see
`playlists.body_of`)."""
