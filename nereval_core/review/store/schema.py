"""The tables of the store of verdicts and playlists, their revision, and its upgrade by alembic over `migrations`."""

from __future__ import annotations

from pathlib import Path

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
    inspect,
    text,
)

HEAD = "0002"
"""The newest revision of `migrations`, to which a store is brought when something is written."""
REVISION_TABLE = "verdict_revision"
"""The table with the revision of a database; a table of alembic's usual name may be another program's."""
METADATA = MetaData()

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
    if not inspect(connection).has_table(REVISION_TABLE):
        return None
    found: str | None = connection.execute(text(f"SELECT version_num FROM {REVISION_TABLE}")).scalar()
    return found


def upgrade(connection: Connection) -> None:
    """Bring the tables to the newest revision, within the transaction of the connection."""
    # Needed once per database, and slow to import.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
