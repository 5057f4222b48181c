"""Verdicts that people give on match records: what they say, where they are kept, and how they are found again.

`verdicts` is what a verdict is, `reviewed` all that stand at one moment, `records` which records they are about;
`store` keeps them in SQLite or PostgreSQL (SQLAlchemy Core, schema under alembic). Only `store` and what it is made of
import SQLAlchemy. `playlists` are records chosen to be shown, `playlist_store` keeps them beside the verdicts.
"""
