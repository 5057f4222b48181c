"""Revisions of the tables of verdicts, in the order of `versions`; alembic runs them by `env.py`."""
