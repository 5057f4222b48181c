"""The revision that the tables of a database have; they come to the newest by alembic, over `migrations`."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from nereval_core.review.store.schema import REVISION


def revision(connection: Connection) -> str | None:
    """Return the revision that the tables have, None where there are none."""
    if not inspect(connection).has_table(REVISION):
        return None
    found: str | None = connection.execute(text(f"SELECT version_num FROM {REVISION}")).scalar()
    return found


def upgrade(connection: Connection) -> None:
    """Bring the tables to the newest revision, within the transaction of the connection."""
    # Needed once a database, and slow to import.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
