"""Create the tables of verdicts and of playlists, whose rows are never changed."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "verdict_event",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("uid", sa.String(32), nullable=False, unique=True),
        sa.Column("record", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("who", sa.String(100), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("batch", sa.String(32), nullable=False),
        sa.Column("undoes", sa.String(32), nullable=False),
        sa.UniqueConstraint("record", "version", name="verdict_event_record_version"),
    )
    op.create_index("verdict_event_who", "verdict_event", ["who"])
    op.create_table(
        "playlist",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("playlist", sa.String(32), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("gone", sa.Boolean, nullable=False),
        sa.Column("who", sa.String(100), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.UniqueConstraint("playlist", "version", name="playlist_version"),
    )
    op.create_table(
        "playlist_item",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("playlist", sa.String(32), nullable=False),
        sa.Column("item", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("gone", sa.Boolean, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("who", sa.String(100), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.UniqueConstraint("playlist", "item", "version", name="playlist_item_version"),
    )
