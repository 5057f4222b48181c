"""Alembic's revisions of the store's tables: `versions` in their order, run by `env.py`."""
