"""The tables of the store of verdicts, as SQLAlchemy knows them; `migrations` brings a database to this state."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, String, Table, Text, UniqueConstraint

HEAD = "0001"
"""The newest revision of `migrations`: what a database is brought to."""
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
